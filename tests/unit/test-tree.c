/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is whose parent, where several spans have one id: the half that is nearest, of all that there
 * are, as a look at every one finds it.
 */
#include "lib/fake_timeline.h"
#include "state/store/span_tree.h"

#include <string.h>

#define TRACE 7

struct made {
	struct fake *f;
	uint32_t thread[6];	/* of the processes 100, 100, 200 on one host, 100, 300 on another; nobody's */
};

static void made_init(struct made *m)
{
	m->f = fake_new();
	uint32_t other = fake_host(m->f, "web2");

	m->thread[0] = fake_thread(m->f, 0, 100, 100, "a");
	m->thread[1] = fake_thread(m->f, 0, 100, 101, "a");
	m->thread[2] = fake_thread(m->f, 0, 200, 200, "b");
	m->thread[3] = fake_thread(m->f, other, 100, 100, "c");
	m->thread[4] = fake_thread(m->f, other, 300, 300, "d");
	m->thread[5] = ID_NONE;
}

static struct span *add(struct made *m, uint64_t id, uint64_t parent, enum span_kind kind, const char *service,
			unsigned thread, int64_t begin)
{
	struct span *s = fake_span(m->f, &(struct fake_span){
		.trace = TRACE, .id = id, .parent = parent, .kind = kind, .name = "op", .service = service,
		.thread = m->thread[thread], .begin = begin, .end = begin + 1, .state = SPAN_COMPLETE });

	s->host = thread == 3 || thread == 4;
	return s;
}

/* The one that fits is the ninth. */
static void test_ninth(void)
{
	static const struct { const char *what, *service; enum span_kind kind; unsigned thread; } best[] = {
		{ "thread", "other", SPAN_LOCAL, 1 }, { "process", "other", SPAN_LOCAL, 0 },
		{ "service", "mine", SPAN_LOCAL, 5 }, { "server", "other", SPAN_SERVER, 5 },
	};

	for (size_t k = 0; k < G_N_ELEMENTS(best); k++) {
		struct made m;

		made_init(&m);
		for (int i = 0; i < 8; i++)
			add(&m, 1, 0, SPAN_LOCAL, "other", 4, i);
		add(&m, 1, 0, best[k].kind, best[k].service, best[k].thread, 8);
		add(&m, 1, 0, SPAN_LOCAL, "other", 4, 9);
		add(&m, 2, 1, SPAN_LOCAL, "mine", 1, 10);
		g_autoptr(blk_timeline) tl = fake_done(m.f);
		g_autoptr(blk_tree) t = timeline_tree_new(tl, TRACE);
		int child = tree_find(t, 2, -1);

		g_test_message("%s", best[k].what);
		g_assert_cmpint(t->nodes[child].parent, >=, 0);
		g_assert_cmpint(t->nodes[t->nodes[child].parent].span->begin_ns, ==, FAKE_T0 + 8);
	}
}

/* The client half of a server's span is the ninth. */
static void test_client_half(void)
{
	struct made m;

	made_init(&m);
	for (int i = 0; i < 9; i++)
		add(&m, 1, 0, SPAN_LOCAL, "other", 0, i);
	add(&m, 1, 0, SPAN_CLIENT, "other", 4, 9);
	add(&m, 1, 0, SPAN_SERVER, "mine", 0, 10);
	g_autoptr(blk_timeline) tl = fake_done(m.f);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, TRACE);
	int server = tree_find(t, 1, SPAN_SERVER);

	g_assert_cmpint(t->nodes[server].parent, >=, 0);
	g_assert_cmpint(t->nodes[t->nodes[server].parent].span->kind, ==, SPAN_CLIENT);
}

/* --- against a look at every one --- */

/* many: the instants are not compared. */
static int fit(const struct span *s, const struct span *p, bool many)
{
	int fit = p->kind == SPAN_SERVER;

	if (s->kind != SPAN_SERVER && s->service == p->service)
		fit += 16;
	if (s->thread != ID_NONE && s->thread == p->thread)
		fit += 8;
	if (s->pid >= 0 && s->host == p->host && s->pid == p->pid)
		fit += 4;
	if (!many && s->host == p->host && s->begin_ns >= p->begin_ns && s->begin_ns <= p->end_ns)
		fit += 2;
	return fit;
}

static unsigned count(const GPtrArray *spans, uint64_t id)
{
	unsigned n = 0;

	for (guint i = 0; i < spans->len; i++)
		n += ((const struct span *)g_ptr_array_index(spans, i))->span_id == id;
	return n;
}

/* All begin at instants of their own, so what comes first is plain. NULL: a root. */
static const struct span *parent_of(const GPtrArray *spans, const struct span *s)
{
	const struct span *best = NULL;

	for (guint i = 0; s->kind == SPAN_SERVER && i < spans->len; i++) {
		const struct span *p = g_ptr_array_index(spans, i);

		if (p->span_id == s->span_id && p->kind == SPAN_CLIENT)
			return p;
	}
	for (guint i = 0; s->parent_id && s->parent_id != s->span_id && i < spans->len; i++) {
		const struct span *p = g_ptr_array_index(spans, i);

		if (p->span_id != s->parent_id)
			continue;
		bool many = count(spans, s->parent_id) > 8;
		if (!best || fit(s, p, many) > fit(s, best, many))
			best = p;
	}
	return best;
}

static void test_every(void)
{
	static const char *const services[] = { "a", "b", "c" };
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (int round = 0; round < 60; round++) {
		g_autoptr(GPtrArray) spans = g_ptr_array_new();
		struct made m;
		int n = g_rand_int_range(rand, 2, 150), ids = g_rand_int_range(rand, 1, 8);

		made_init(&m);
		for (int i = 0; i < n; i++) {
			uint64_t id = (uint64_t)g_rand_int_range(rand, 1, ids + 1);
			/* Of a greater id: there are no circles. */
			uint64_t parent = id < (uint64_t)ids && g_rand_int_range(rand, 0, 5) ? id + 1 : 0;

			g_ptr_array_add(spans, add(&m, id, parent, (enum span_kind)g_rand_int_range(rand, 0, 3),
						   services[g_rand_int_range(rand, 0, 3)],
						   (unsigned)g_rand_int_range(rand, 0, 6), i));
		}
		g_autoptr(blk_timeline) tl = fake_done(m.f);
		g_autoptr(blk_tree) t = timeline_tree_new(tl, TRACE);
		g_assert_cmpint(t->n, ==, n);
		for (int i = 0; i < n; i++) {
			const struct tree_node *node = &t->nodes[i];
			const struct span *want = parent_of(spans, node->span);

			g_assert_true((node->parent < 0 ? NULL : t->nodes[node->parent].span) == want);
		}
	}
}

#define MANY 100000		/* looked at by one another it would take minutes */

static void test_many(void)
{
	struct made m;

	made_init(&m);
	for (int i = 0; i < MANY; i++) {
		add(&m, 1, 0, SPAN_LOCAL, "other", (unsigned)i % 2 + 3, i);
		add(&m, 2, 1, SPAN_LOCAL, "mine", (unsigned)i % 3, MANY + i);
	}
	add(&m, 1, 0, SPAN_LOCAL, "other", 2, MANY - 1);
	g_autoptr(blk_timeline) tl = fake_done(m.f);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, TRACE);

	g_assert_cmpint(t->n, ==, 2 * MANY + 1);
	for (int i = 0; i < t->n; i++) {
		const struct tree_node *node = &t->nodes[i];

		if (node->span->span_id == 2)
			g_assert_cmpint(t->nodes[node->parent].span->begin_ns, ==,
					FAKE_T0 + (node->span->thread == m.thread[2] ? MANY - 1 : 0));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tree/ninth", test_ninth);
	g_test_add_func("/tree/client-half", test_client_half);
	g_test_add_func("/tree/every", test_every);
	g_test_add_func("/tree/many", test_many);
	return g_test_run();
}
