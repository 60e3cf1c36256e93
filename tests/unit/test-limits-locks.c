/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of waits for locks: pairs in a second, what a holder did, when locks were released. */
#include "base/limits.h"
#include "lib/limit_test.h"
#include "lib/sources.h"
#include "state/publish/model.h"
#include "state/store/timeline.h"

#define SWITCH "%u %u sched_switch prev_tid=%u prev_state=%u next_tid=%u prev_comm=\"t%u\" next_comm=\"t%u\"\n"

static void add_switch(GString *s, unsigned at, unsigned cpu, unsigned prev, unsigned state, unsigned next)
{
	g_string_append_printf(s, SWITCH, at, cpu, prev, state, next, prev, next);
}

/* 7 is on CPU 0, 8 on CPU 1, 9 on CPU 2. */
static GString *begin(void)
{
	GString *s = g_string_new(NULL);

	add_switch(s, 1, 0, 0, 0, 7);
	add_switch(s, 2, 1, 0, 0, 8);
	add_switch(s, 3, 2, 0, 0, 9);
	return s;
}

static struct timeline *end(GString *s)
{
	struct timeline *tl = timeline_of_script(s->str, &(struct model_options){ .at_end = true });

	g_string_free(s, true);
	return tl;
}

static void waits(GString *s, unsigned at, unsigned cpu, unsigned thread, unsigned lock)
{
	g_string_append_printf(s, "%u %u syscall_entry_futex uaddr=%u op=128 val=2\n", at, cpu, lock);
	add_switch(s, at + 1, cpu, thread, 1, 0);
}

/* By 8. */
static void released(GString *s, unsigned at, unsigned cpu, unsigned thread, unsigned lock)
{
	g_string_append_printf(s, "%u 1 syscall_entry_futex uaddr=%u op=129 val=1\n"
			       "%u 1 sched_waking tid=%u target_cpu=%u\n%u 1 syscall_exit_futex ret=1\n", at, lock,
			       at + 1, thread, cpu, at + 2);
	add_switch(s, at + 3, cpu, 0, 0, thread);
	g_string_append_printf(s, "%u %u syscall_exit_futex ret=0\n", at + 4, cpu);
}

static const struct lock_cell *cell_of(const struct timeline *tl, enum lock_kind kind, uint64_t address)
{
	const struct second *second = timeline_second(tl, 0);

	for (uint32_t i = 0; i < second->n_locks; i++)
		if (second->locks[i].kind == kind && second->locks[i].address == address)
			return &second->locks[i];
	return NULL;
}

/* The waits of locks that are left out are counted. */
static bool second_locks(uint64_t n)
{
	GString *s = begin();
	unsigned at = 10;

	for (unsigned i = 1; i <= n; i++, at += 10) {
		waits(s, at, 0, 7, i * 16);
		released(s, at + 3, 0, 7, i * 16);
	}
	g_autoptr(blk_timeline) tl = end(s);
	const struct lock_cell *more = cell_of(tl, LOCK_LEFT_OUT, 0);
	uint32_t left_out = more ? more->waits : 0;
	g_assert_cmpuint(timeline_second(tl, 0)->n_locks + left_out - (more != NULL), ==, n);
	g_assert_true(!more || more->holder == ID_NONE);
	return !left_out;
}

/* 8 waits as often while 7 waits for its lock. */
static bool holder_waits(uint64_t n)
{
	GString *s = begin();
	unsigned at = 20;

	waits(s, 10, 0, 7, 16);
	for (unsigned i = 0; i < n; i++, at += 10) {
		add_switch(s, at, 1, 8, 1, 0);
		g_string_append_printf(s, "%u 2 sched_waking tid=8 target_cpu=1\n", at + 5);
		add_switch(s, at + 7, 1, 0, 0, 8);
	}
	released(s, at, 0, 7, 16);
	g_autoptr(blk_timeline) tl = end(s);
	const struct lock_cell *c = cell_of(tl, LOCK_FUTEX, 16);
	g_assert_nonnull(c);
	g_assert_cmpint(c->part[PART_WAKEUP], ==, (int64_t)MIN(n, LIMIT_HOLDER_WAITS) * 2);
	return !c->part[PART_UNKNOWN];
}

/* 7 and 9 wait for one lock; n - 1 others are released between the ends of their waits. */
static bool locks(uint64_t n)
{
	GString *s = begin();
	unsigned at = 50;

	waits(s, 10, 0, 7, 16);
	waits(s, 20, 2, 9, 16);
	released(s, 30, 0, 7, 16);
	for (unsigned i = 2; i <= n; i++, at += 10) {
		waits(s, at, 0, 7, i * 16);
		released(s, at + 3, 0, 7, i * 16);
	}
	released(s, at, 2, 9, 16);
	g_autoptr(blk_timeline) tl = end(s);
	const struct second *second = timeline_second(tl, 0);
	int64_t earlier = 0;
	for (uint32_t i = 0; i < second->n_locks; i++)
		earlier += second->locks[i].earlier_ns;
	g_assert_cmpint(earlier, ==, earlier ? 10 : 0);
	return earlier;
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "second-locks", second_locks, 0 }, { "holder-waits", holder_waits, 0 }, { "locks", locks, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
