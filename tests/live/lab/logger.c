/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs on two threads that log with tracef() and tracelog(), within jobs and between them. Prints what was logged: for
 * each message its job ("-": between jobs), its severity ("-": none) and its text.
 */
#include "work_tp.h"

#include <lttng/tracef.h>
#include <lttng/tracelog.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long n_jobs = 100;

#define LOG(level, severity, within, format, ...) do { \
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_##level, format, __VA_ARGS__); \
	printf("%ld %s " format "\n", (within), severity, __VA_ARGS__); \
} while (0)

static void *work(void *number)
{
	long first = (long)number * n_jobs;

	for (long job = first; job < first + n_jobs; job++) {
		LOG(INFO, "info", -1L, "before %ld", job);
		lttng_ust_tracepoint(app, work_start, job);
		lttng_ust_tracef("job %ld has begun", job);
		printf("%ld - job %ld has begun\n", job, job);
		if (job % 3 == 0)
			LOG(WARNING, "warning", job, "slow \"%ld\" \303\251 100%%", job);
		if (job % 7 == 0)
			LOG(ERR, "error", job, "timeout of %ld", job);
		if (job % 11 == 0)
			LOG(EMERG, "fatal", job, "lost %ld", job);
		LOG(DEBUG_LINE, "debug", job, "done %ld", job);
		lttng_ust_tracepoint(app, work_end, job);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	n_jobs = argc > 1 ? atol(argv[1]) : n_jobs;
	for (long i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
