/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors of an endless run: what is dropped changes no name that is still looked up, and what is retained does not
 * grow with the run.
 */
#include "state/names/fdtable.h"

#include "state/store/registry.h"

#define FD 3
#define N_EVENTS 40

struct run {
	struct fdtable *table;
	GPtrArray *all;
	GArray *losses, *needed;	/* uint64_t seq */
};

static void run_init(struct run *r)
{
	r->losses = g_array_new(false, false, sizeof(uint64_t));
	r->needed = g_array_new(false, false, sizeof(uint64_t));
	r->table = fdtable_new(r->losses);
	r->all = g_ptr_array_new_with_free_func((GDestroyNotify)fdtable_free);
	g_ptr_array_add(r->all, r->table);
}

static void run_clear(struct run *r)
{
	g_ptr_array_unref(r->all);
	g_array_unref(r->losses);
	g_array_unref(r->needed);
}

static void put(struct run *r, uint64_t seq, bool dumped)
{
	fdtable_put(r->table, FD, &(struct fd_version){ .seq = seq, .file = (uint32_t)seq, .dumped = dumped });
}

static void forget(struct run *r, uint64_t seq)
{
	fdtable_note_forks(r->all);
	fdtable_forget(r->all, r->needed, seq);
	fdtable_forget_losses(r->losses, r->needed, seq);
}

/* An event is a loss, an open, or needed: at random. The state dump may name what was open before. */
static void test_same_names(void)
{
	for (int round = 0; round < 2000; round++) {
		uint32_t file[N_EVENTS];
		bool begun = false;
		struct run r;
		run_init(&r);
		for (uint64_t seq = 1; seq < N_EVENTS; seq++) {
			int what = g_test_rand_int_range(0, 8);
			if (what < 2) {
				g_array_append_val(r.losses, seq);
			} else if (what == 2) {
				put(&r, seq, !begun && g_test_rand_bit());
				begun = true;
			} else if (what == 3) {
				g_array_append_val(r.needed, seq);
			}
		}
		uint64_t now = (uint64_t)g_test_rand_int_range(1, N_EVENTS);
		for (uint64_t seq = 1; seq < N_EVENTS; seq++)
			file[seq] = fdtable_file(r.table, FD, seq);
		forget(&r, now);
		for (guint i = 0; i < r.needed->len; i++) {
			uint64_t seq = g_array_index(r.needed, uint64_t, i);
			g_assert_cmpuint(fdtable_file(r.table, FD, seq), ==, file[seq]);
		}
		for (uint64_t seq = now + 1; seq < N_EVENTS; seq++)
			g_assert_cmpuint(fdtable_file(r.table, FD, seq), ==, file[seq]);
		run_clear(&r);
	}
}

/* A read that began long ago, and a ring that loses events all the time. */
static void test_endless(void)
{
	struct run r;
	run_init(&r);
	put(&r, 1, false);
	uint64_t seq = 2;
	g_array_append_val(r.needed, seq);
	for (seq = 3; seq < 200000; seq++) {
		g_array_append_val(r.losses, seq);
		if (seq % 1000)
			continue;
		forget(&r, seq);
		g_assert_cmpuint(r.losses->len, <=, 2 * r.needed->len + 1);
		g_assert_cmpuint(fdtable_file(r.table, FD, 2), ==, 1);
		g_assert_cmpuint(fdtable_file(r.table, FD, seq), ==, ID_NONE);
	}
	put(&r, seq, false);
	g_assert_cmpuint(fdtable_file(r.table, FD, seq), ==, seq);
	run_clear(&r);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/fdtable/same-names", test_same_names);
	g_test_add_func("/fdtable/endless", test_endless);
	return g_test_run();
}
