/* SPDX-License-Identifier: GPL-2.0-only */
/* Works fifty times a second until it is ended, or so many times as its argument says; it says when it begins and ends,
 * and then how long it took. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "work_tp.h"

#include <stdlib.h>
#include <time.h>

static void rest_us(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long most = argc > 1 ? atol(argv[1]) : -1;

	for (long job = 0; job != most; job++) {
		long begin = now_ns();
		lttng_ust_tracepoint(app, work_start, job);
		rest_us(5000);
		lttng_ust_tracepoint(app, work_end, job);
		lttng_ust_tracepoint(app, work_took, now_ns() - begin);
		rest_us(15000);
	}
	return 0;
}
