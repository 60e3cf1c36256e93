/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What it costs that spans are explained: the records of a kernel and user-space trace are read
 * once into memory, then fed to the model and finished, in turns: those of the kernel alone,
 * with nothing kept for spans; those of user space alone, whose spans have no account of their
 * threads then; and all. What all cost more than the two is the explanation: logs of what
 * threads waited for and called, accounts at annotations, and what is made of them.
 *
 * Usage: bench-explain TRACE_DIR [ROUNDS [SET]]
 *
 * Prints medians of ROUNDS (9) turns; the explanation's part is the median of the turns' own, so
 * the machine's speed does not matter. SET (kernel, user, all): only that is run, ROUNDS times,
 * to be looked at in callgrind (--toggle-collect=run).
 */
#include "lib/sources.h"
#include "state/publish/model.h"
#include "state/slice/slice.h"
#include "trace/native/native.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 1024
#define STEP INT64_C(1000000000)

enum set { KERNEL, USER, ALL, SETS };
static const char *const names[] = { "kernel", "user", "all" };

struct records {
	GArray *of[SETS];		/* struct blk_event */
	uint64_t events[SETS];
	size_t spans;
	const struct blk_tables *tables;
};

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A record that belongs to no stream is told to all. */
static bool belongs(const struct blk_tables *t, const struct blk_event *e, enum set set)
{
	if (set == ALL || e->stream >= t->streams->len)
		return true;
	return (blk_stream(t, e->stream)->domain == BLK_DOMAIN_KERNEL) == (set == KERNEL);
}

static void split(struct records *to, const struct recording *from)
{
	to->tables = recording_tables(from);
	for (enum set set = 0; set < SETS; set++) {
		to->of[set] = g_array_new(FALSE, FALSE, sizeof(struct blk_event));
		for (size_t i = 0; i < recording_n(from); i++)
			if (belongs(to->tables, recording_event(from, i), set))
				g_array_append_vals(to->of[set], recording_event(from, i), 1);
	}
}

/* CPU time, ns. */
static G_NO_INLINE double run(struct records *r, enum set set)
{
	double begin = now_ns();
	struct slice *s = slice_new(true, STEP);
	const struct blk_event *ev = (const struct blk_event *)(void *)r->of[set]->data;
	size_t n = r->of[set]->len;

	if (set == KERNEL)
		slice_without_spans(s);
	for (size_t i = 0; i < n; i += BATCH)
		slice_feed(s, r->tables, &ev[i], MIN((size_t)BATCH, n - i));
	struct publication *p = slice_finish(s);
	double took = now_ns() - begin;

	r->events[set] = slice_n_events(s);
	r->spans = p->spans->len;
	publication_free(p);
	slice_free(s);
	return took;
}

static bool run_one(struct records *r, const char *name, int rounds)
{
	for (enum set set = 0; set < SETS; set++) {
		for (int i = 0; i < rounds && !strcmp(names[set], name); i++)
			run(r, set);
		if (!strcmp(names[set], name))
			return true;
	}
	fprintf(stderr, "bench-explain: %s is none of kernel, user, all\n", name);
	return false;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *all, int n)
{
	qsort(all, (size_t)n, sizeof(*all), compare);
	return all[n / 2];
}

static void bench(struct records *r, int rounds)
{
	g_autofree double *took = g_new(double, (SETS + 1) * (size_t)rounds);
	double *part = took + SETS * rounds;

	for (int i = -1; i < rounds; i++) {		/* the first warms up */
		double t[SETS];
		for (enum set set = 0; set < SETS; set++)
			t[set] = run(r, set);
		for (enum set set = 0; set < SETS && i >= 0; set++)
			took[(int)set * rounds + i] = t[set];
		if (i >= 0)
			part[i] = (t[ALL] - t[KERNEL] - t[USER]) / t[KERNEL];
	}
	printf("events %" G_GUINT64_FORMAT "\nspans %zu\n", r->events[ALL], r->spans);
	for (enum set set = 0; set < SETS; set++)
		printf("%s_ns_per_event %.2f\n", names[set],
		       median(took + (int)set * rounds, rounds) / (double)r->events[set]);
	printf("kernel_ms %.3f\nexplanation_part %.4f\n", median(took + KERNEL * rounds, rounds) / 1e6,
	       median(part, rounds));
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { argc > 1 ? argv[1] : ".", NULL };
	int rounds = argc > 2 ? MAX(atoi(argv[2]), 1) : 9;
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct source *source = source_open_native(paths, rows, n_rows, &error);
	struct recording *from = source ? recording_new(source, &error) : NULL;
	struct records r = { 0 };

	if (from)
		split(&r, from);
	if (!from || !r.of[KERNEL]->len || !r.of[USER]->len) {
		fprintf(stderr, "bench-explain: %s\n", error ? error->message :
			"the trace has no kernel or no user-space part");
		return 1;
	}
	bool done = true;
	if (argc > 3)
		done = run_one(&r, argv[3], rounds);
	else
		bench(&r, rounds);
	for (enum set set = 0; set < SETS; set++)
		g_array_unref(r.of[set]);
	recording_free(from);
	return done ? 0 : 1;
}
