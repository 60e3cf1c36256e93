/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes with buffers of their own that come and go, with nobody who says when they end: what is over leaves
 * nothing behind, what is kept has its names, and who is heard of again is the same one. */
#include "lib/inspect.h"
#include "lib/made_processes.h"

#define NS_A_PROCESS INT64_C(86400000)
#define MEMORY (1u << 20)
#define STEP 2500			/* processes: 216 s */
#define STEPS 6
#define MOST_THREADS 6000		/* of the last minutes, and those whose spans are kept */
#define OFTEN 50			/* each process of so many has the number of one that was there before */

/* Every 50th is heard of again, 43 s later: the pid of the one before. */
static int32_t pid_of(unsigned i)
{
	return i % OFTEN ? (int32_t)(1000 + i) : 7;
}

static unsigned count_threads(const struct timeline *tl)
{
	unsigned n = 0;

	for (uint32_t i = timeline_next_thread(tl, 0); i != ID_NONE; i = timeline_next_thread(tl, i + 1))
		n++;
	return n;
}

static void check_thread(const struct timeline *tl, uint32_t id, int32_t tid)
{
	const struct thread_info *t = timeline_thread(tl, id);

	g_assert_nonnull(t);
	if (tid >= 0)
		g_assert_cmpint(t->tid, ==, tid);
	const struct process_info *p = timeline_process(tl, t->process);
	g_assert_nonnull(p);
	g_assert_cmpint(p->pid, ==, t->tid);
	g_assert_cmpstr(timeline_comm(tl, id, INT64_MAX), ==, "worker");
}

static void check_names(const struct timeline *tl)
{
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_threads; k++)
			check_thread(tl, s->threads[k].thread, -1);
	}
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		check_thread(tl, timeline_span(tl, i)->thread, timeline_span(tl, i)->tid);
}

/* All its spans are of one thread, as long as it is never silent for long. */
static void check_same(const struct timeline *tl)
{
	uint32_t thread = ID_NONE;

	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->tid != 7)
			continue;
		thread = thread == ID_NONE ? s->thread : thread;
		g_assert_cmpuint(s->thread, ==, thread);
	}
	g_assert_cmpuint(thread, !=, ID_NONE);
}

static void test_many(void)
{
	struct made_processes m = { .ns_a_process = NS_A_PROCESS, .pid_of = pid_of };
	size_t most[STEPS];

	made_processes_init(&m, MEMORY, false);
	for (int step = 0; step < STEPS; step++) {
		made_processes_run(&m, STEP);
		check_names(m.timeline);
		check_same(m.timeline);
		g_assert_cmpuint(count_threads(m.timeline), <, MOST_THREADS);
		g_assert_cmpuint(model_n_threads(m.model), <, MOST_THREADS);
		most[step] = model_bytes(m.model);
	}
	g_assert_cmpuint(most[STEPS - 1], <, most[STEPS / 2 - 1] * 5 / 4);
	made_processes_end(&m);
	check_names(m.timeline);
	g_assert_cmpuint(timeline_n_events(m.timeline), ==, 2 * STEP * STEPS);
	made_processes_clear(&m);
}

/* Without contexts only the trace says which process it is. */
static void test_without_contexts(void)
{
	struct made_processes m = { .ns_a_process = NS_A_PROCESS, .pid_of = pid_of };

	made_processes_init(&m, MEMORY, true);
	for (int step = 0; step < STEPS; step++) {
		made_processes_run(&m, STEP);
		g_assert_cmpuint(count_threads(m.timeline), <, MOST_THREADS);
		g_assert_cmpuint(model_n_threads(m.model), <, MOST_THREADS);
	}
	made_processes_end(&m);
	g_assert_cmpuint(timeline_n_events(m.timeline), ==, 2 * STEP * STEPS);
	made_processes_clear(&m);
}

static int32_t number_of(unsigned i)
{
	return i == 0 || i == 3 * STEP ? 7 : (int32_t)(1000 + i);
}

/* It was silent for eleven minutes: the model has forgotten it. Where what it did is still kept it is the same one. */
static void test_silent(void)
{
	for (int roomy = 0; roomy < 2; roomy++) {
		struct made_processes m = { .ns_a_process = NS_A_PROCESS, .pid_of = number_of };
		uint32_t first = ID_NONE, again = ID_NONE;

		made_processes_init(&m, roomy ? MEMORY * 256 : MEMORY, false);
		made_processes_run(&m, 3 * STEP + STEP / 4);
		made_processes_end(&m);
		check_names(m.timeline);
		for (size_t i = 0; i < timeline_n_spans(m.timeline); i++) {
			const struct span *s = timeline_span(m.timeline, i);
			if (s->tid == 7)
				*(s->trace_id == 1 ? &first : &again) = s->thread;
		}
		if (roomy) {
			g_assert_cmpuint(again, !=, ID_NONE);
			g_assert_cmpuint(first, ==, again);
		}
		made_processes_clear(&m);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/processes/many", test_many);
	g_test_add_func("/processes/without-contexts", test_without_contexts);
	g_test_add_func("/processes/silent", test_silent);
	return g_test_run();
}
