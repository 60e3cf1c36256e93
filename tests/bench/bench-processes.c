/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated day of processes with buffers of their own, 10 million a day. Prints "key value" lines: peak_kib is the
 * resident set's, of all of it.
 *
 * Usage: bench-processes PROCESSES MEMORY_BYTES
 */
#include "lib/made_processes.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define NS_A_PROCESS INT64_C(8640000)	/* 10 million a day */
#define PID_MAX 4194304			/* /proc/sys/kernel/pid_max of 64 bits: then they begin again */
#define TRIM_EVERY 1000			/* as often as the job does, for its time */
#define TELL_EVERY 100000

static int32_t pid_of(unsigned i)
{
	return (int32_t)(1000 + i % (PID_MAX - 1000));
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
	struct made_processes m = { .ns_a_process = NS_A_PROCESS, .pid_of = pid_of };

	if (argc != 3) {
		fprintf(stderr, "usage: bench-processes PROCESSES MEMORY_BYTES\n");
		return 2;
	}
	unsigned n = (unsigned)strtoul(argv[1], NULL, 10);
	made_processes_init(&m, strtoull(argv[2], NULL, 10), false);
	while (m.n < n) {
		made_processes_run(&m, MIN(TRIM_EVERY, n - m.n));
		malloc_trim(0);
		if (m.n % TELL_EVERY == 0) {
			printf("kib_after_%u %ld\n", m.n, peak_kib());
			fflush(stdout);
		}
	}
	made_processes_end(&m);
	printf("processes %u\nevents %" PRIu64 "\npeak_kib %ld\n", n, model_n_events(m.model), peak_kib());
	made_processes_clear(&m);
	return 0;
}
