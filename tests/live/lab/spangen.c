/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A traced program for the live tests: requests that nest spans 3, 4, 5 deep, and
 * the truth about them.
 *
 *     spangen [-t THREADS] [-r REQUESTS_PER_SECOND] [-n REQUESTS] [-s SECONDS]
 *             [-l LEAF_US] [-u STEP_US] [-S SEED] [-k] [--truth FILE]
 *
 * Rate and number are each thread's; rate 0 is as fast as possible, number and
 * seconds 0 are without end; -k stays, silent, until a signal. A span has the events
 * sr op size ss, all but the root also cs (before) and cr (after) by the caller's
 * service: 4 + 6 * (depth - 1) in a request. FILE gets a line a span when it ends, tab-separated:
 *
 *     span TRACE_ID SPAN_ID PARENT_ID LEVEL THREAD SERVICE NAME BEGIN_NS END_NS
 *
 * (monotonic clock) and last: total REQUESTS SPANS EVENTS
 */
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "zipkin_tp.h"

#define MAX_THREADS 64
#define NS INT64_C(1000000000)

static const struct {
	const char *service, *name;
} levels[] = {
	{ "frontend", "request" }, { "gateway", "dispatch" }, { "osd.0", "write" },
	{ "journal", "commit" }, { "disk", "io" },
};

static struct {
	int threads;
	double rate, seconds;
	long count, leaf_us, step_us;
	int keep;
	uint64_t seed;
	const char *truth;
} opt = { .threads = 2, .rate = 10, .leaf_us = 1000, .step_us = 200 };

struct worker {
	pthread_t id;
	int number;
	uint64_t random, requests, spans, events;
};

static volatile sig_atomic_t stopped;
static FILE *truth;
static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* Until the instant, or a signal to end. */
static void wait_until(int64_t ns)
{
	while (!stopped && now_ns() < ns) {
		int64_t until = ns < now_ns() + NS / 10 ? ns : now_ns() + NS / 10;
		struct timespec t = { until / NS, until % NS };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static void wait_us(long us)
{
	if (us)
		wait_until(now_ns() + us * 1000);
}

/* xorshift64*; never 0, which would be "no parent" */
static long new_id(struct worker *w)
{
	uint64_t x = w->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	w->random = x;
	return (long)((x * UINT64_C(0x2545f4914f6cdd1d)) | 1);
}

static void annotate(struct worker *w, struct span *s, int level, const char *text)
{
	s->service = levels[level].service;
	s->port = 6800 + level;
	lttng_ust_tracepoint(zipkin, timestamp, s, text);
	w->events++;
}

static void write_truth(const struct worker *w, const struct span *s, int level, int64_t begin,
			int64_t end)
{
	if (!truth)
		return;
	pthread_mutex_lock(&truth_lock);
	fprintf(truth, "span\t%ld\t%ld\t%ld\t%d\t%d\t%s\t%s\t%" PRId64 "\t%" PRId64 "\n",
		s->trace_id, s->span_id, s->parent_id, level, w->number, levels[level].service,
		s->name, begin, end);
	pthread_mutex_unlock(&truth_lock);
}

static void run_span(struct worker *w, int level, int depth, long trace, long parent)
{
	struct span s = { .name = levels[level].name, .ip = "127.0.0.1", .trace_id = trace,
			  .span_id = level ? new_id(w) : trace, .parent_id = parent };
	int64_t begin = now_ns();

	if (level)
		annotate(w, &s, level - 1, "cs");
	annotate(w, &s, level, "sr");
	lttng_ust_tracepoint(zipkin, keyval_string, &s, "op", trace & 2 ? "read" : "write");
	lttng_ust_tracepoint(zipkin, keyval_integer, &s, "size", INT64_C(4096) << level);
	w->events += 2;
	if (level + 1 < depth) {
		wait_us(opt.step_us);
		run_span(w, level + 1, depth, trace, s.span_id);
		wait_us(opt.step_us);
	} else {
		wait_us(opt.leaf_us);
	}
	annotate(w, &s, level, "ss");
	if (level)
		annotate(w, &s, level - 1, "cr");
	w->spans++;
	write_truth(w, &s, level, begin, now_ns());
}

static void *work(void *data)
{
	struct worker *w = data;
	int64_t begin = now_ns(), next = begin;

	while (!stopped && (!opt.count || w->requests < (uint64_t)opt.count) &&
	       (opt.seconds <= 0 || now_ns() - begin < opt.seconds * NS)) {
		run_span(w, 0, 3 + (int)(w->requests % 3), new_id(w), 0);
		w->requests++;
		if (opt.rate > 0) {
			next += (int64_t)(NS / opt.rate);
			wait_until(next);
		}
	}
	return NULL;
}

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static int parse_options(int argc, char **argv)
{
	static const struct option longs[] = { { "truth", 1, NULL, 'g' }, { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "t:r:n:s:l:u:S:kg:", longs, NULL)) != -1) {
		switch (c) {
		case 't': opt.threads = atoi(optarg); break;
		case 'r': opt.rate = atof(optarg); break;
		case 'n': opt.count = atol(optarg); break;
		case 's': opt.seconds = atof(optarg); break;
		case 'l': opt.leaf_us = atol(optarg); break;
		case 'u': opt.step_us = atol(optarg); break;
		case 'S': opt.seed = strtoull(optarg, NULL, 0); break;
		case 'k': opt.keep = 1; break;
		case 'g': opt.truth = optarg; break;
		default: return 0;
		}
	}
	return optind == argc && opt.threads >= 1 && opt.threads <= MAX_THREADS;
}

int main(int argc, char **argv)
{
	struct worker workers[MAX_THREADS] = { 0 }, sum = { 0 };

	if (!parse_options(argc, argv)) {
		fputs("usage: spangen [-t N] [-r R] [-n N] [-s S] [-l US] [-u US] [-S SEED] "
		      "[-k] [--truth FILE]\n", stderr);
		return 2;
	}
	if (opt.truth && !(truth = fopen(opt.truth, "w"))) {
		perror(opt.truth);
		return 1;
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	if (!opt.seed)
		opt.seed = (uint64_t)now_ns();
	for (int i = 0; i < opt.threads; i++) {
		workers[i].number = i;
		workers[i].random = (opt.seed + 1) * UINT64_C(0x9e3779b97f4a7c15) +
				    (uint64_t)i * 7919;
		if (pthread_create(&workers[i].id, NULL, work, &workers[i]))
			return 1;
	}
	for (int i = 0; i < opt.threads; i++) {
		pthread_join(workers[i].id, NULL);
		sum.requests += workers[i].requests;
		sum.spans += workers[i].spans;
		sum.events += workers[i].events;
	}
	fprintf(truth ? truth : stdout, "total\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
		sum.requests, sum.spans, sum.events);
	fflush(NULL);
	while (opt.keep && !stopped)
		wait_until(INT64_MAX);
	return truth && fclose(truth) ? 1 : 0;
}
