/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Captures the scheduling and system calls of this machine by tracefs, as a live session does, without a model.
 *
 * Usage: bench-capture SECONDS BUFFER_BYTES    (root)
 *
 * Prints: events, lost, rate (events a second), packet_bytes; ns_per_event (CPU time of the thread that reads and
 * transcodes, calls of the kernel included), and best_ns_per_event, of the best of some parts of the time: others that
 * share the CPU's caches make it slower.
 */
#include "live/tracefs/capture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PART_ROUNDS 10

static void die(const char *what, const GError *error)
{
	fprintf(stderr, "bench-capture: %s: %s\n", what, error ? error->message : "?");
	exit(1);
}

static bool wants(void *data, const char *event)
{
	(void)data;
	return g_str_has_prefix(event, "sched_") || g_str_has_prefix(event, "syscall_");
}

static void put_metadata(void *data, const char *text, size_t len)
{
	(void)data;
	(void)text;
	(void)len;
}

static void put_packet(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
		       uint64_t end)
{
	(void)stream_class;
	(void)instance;
	(void)begin;
	(void)end;
	*(uint64_t *)data += g_bytes_get_size(packet);
	g_bytes_unref(packet);
}

static void run(struct tracefs_instance *i, double seconds)
{
	static const struct ring_sink sink = { .metadata = put_metadata, .packet = put_packet };
	g_autoptr(GError) error = NULL;
	struct capture_setup setup;
	uint64_t bytes = 0;
	size_t n_cpus;
	const struct tracefs_cpu *cpus = tracefs_instance_cpus(i, &n_cpus);
	int self = getpid();
	capture_setup_init(&setup, i);
	if (!tracefs_instance_exclude(i, &self, 1, &error) || !tracefs_instance_start(i, &setup.start, &error))
		die("start", error);
	struct capture *c = capture_new(&setup, cpus, n_cpus, &sink, &bytes, &error);
	if (!c)
		die("capture", error);
	uint64_t begin = tracefs_clock(CLOCK_MONOTONIC), used = 0;
	double best = INFINITY;
	while (tracefs_clock(CLOCK_MONOTONIC) - begin < (uint64_t)(seconds * 1e9)) {
		uint64_t cpu = tracefs_clock(CLOCK_THREAD_CPUTIME_ID);
		uint64_t before = ring_packets_counts(capture_packets(c)).events;
		for (unsigned round = 0; round < PART_ROUNDS; round++) {
			g_usleep(CAPTURE_PERIOD_US);
			capture_round(c, NULL);
		}
		uint64_t n = ring_packets_counts(capture_packets(c)).events - before;
		cpu = tracefs_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
		used += cpu;
		if (n)
			best = MIN(best, (double)cpu / (double)n);
	}
	double took = (double)(tracefs_clock(CLOCK_MONOTONIC) - begin) / 1e9;
	tracefs_instance_stop(i);
	struct ring_counts counts = ring_packets_counts(capture_packets(c));
	if (!counts.events)
		die("no events", NULL);
	printf("events %" PRIu64 "\nlost %" PRIu64 "\nrate %.0f\npacket_bytes %" PRIu64 "\nns_per_event %.1f\n"
	       "best_ns_per_event %.1f\n", counts.events, counts.lost, (double)counts.events / took, bytes,
	       (double)used / (double)counts.events, best);
	capture_free(c);
	capture_setup_clear(&setup);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	if (argc != 3)
		die("SECONDS BUFFER_BYTES", NULL);
	/* As blktop names its own, so that a later start removes it if this is killed. */
	g_autofree char *name = g_strdup_printf("blktop-%d", (int)getpid());
	struct tracefs_wish wish = { .name = name, .buffer_bytes = strtoull(argv[2], NULL, 10), .wants = wants };
	struct tracefs_instance *i = tracefs_instance_new(&wish, &error);
	if (!i)
		die("instance", error);
	run(i, atof(argv[1]));
	if (!tracefs_instance_free(i, 1000))
		die("the instance could not be removed", NULL);
	return 0;
}
