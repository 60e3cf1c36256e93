/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader: pieces of a trace are the trace, windows of any size read the same,
 * damage costs what it hits and is marked, and the outline counts every byte. That its
 * records are babeltrace2's is tests/truth/readers.* (make check-readers).
 */
#include "lib/inspect.h"
#include "lib/sources.h"
#include "lib/made_feed.h"
#include "lib/test_traces.h"
#include "trace/native/native.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct blk_subscription rows[] = {
	{ .event = "sched_switch", .fields = { "prev_comm", "prev_tid", "prev_state", "next_tid" } },
	{ .event = "syscall_entry_*", .fields = { "filename|pathname", "fd", "flags", "buf" } },
	{ .event = "syscall_exit_*", .fields = { "ret", "fildes[1]", "fildes" } },
	{ .event = "zipkin:*", .fields = { "trace_name", "service_name", "trace_id", "event|key", "val" } },
};

static struct native *open_native(const char *path)
{
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { path, NULL };
	struct native *n = native_open(paths, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	while (native_index(n, 100))
		;
	g_assert_true(native_indexed(n));
	return n;
}

/* What a run of records says: one number a record, tallies summed by their cells. */
struct account {
	GArray *records;	/* uint64_t */
	GHashTable *tallies;	/* "stream class second" -> count */
	uint64_t lost_events, n_losses, n_events;
};

static struct account *account_new(void)
{
	struct account *a = g_new0(struct account, 1);
	a->records = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	a->tallies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return a;
}

static void account_free(struct account *a)
{
	g_array_unref(a->records);
	g_hash_table_unref(a->tallies);
	g_free(a);
}

static void count_tally(struct account *a, const struct blk_tables *t, const struct blk_event *e)
{
	struct blk_tally tally;
	memcpy(&tally, e->data, sizeof tally);
	g_autofree char *key = g_strdup_printf("%s %s %" G_GINT64_FORMAT, blk_stream(t, e->stream)->order,
					       blk_class(t, e->cls)->name, tally.second);
	uint64_t *sum = g_hash_table_lookup(a->tallies, key);
	if (!sum) {
		sum = g_new0(uint64_t, 1);
		g_hash_table_insert(a->tallies, g_steal_pointer(&key), sum);
	}
	*sum += tally.count;
	a->n_events += tally.count;
}

static char *describe(const struct blk_tables *t, const struct blk_event *e)
{
	GString *s = g_string_new(NULL);
	g_string_append_printf(s, "%" G_GINT64_FORMAT " %s %x ", e->ts, blk_stream(t, e->stream)->order, e->row);
	if (!e->layout) {
		struct blk_loss loss;
		memcpy(&loss, e->data, sizeof loss);
		g_string_append_printf(s, "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT
				       " %" G_GUINT64_FORMAT, loss.begin_ns, loss.end_ns, loss.events, loss.packets);
		return g_string_free(s, FALSE);
	}
	g_string_append(s, blk_class(t, e->cls)->name);
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++) {
		if (!blk_has(e, i))
			continue;
		struct blk_text text = blk_text(e, i);
		g_string_append_printf(s, " %u=%" G_GINT64_FORMAT ":", i, blk_int(e, i));
		g_string_append_len(s, text.str, text.len);
	}
	return g_string_free(s, FALSE);
}

static void account_add(struct account *a, const struct blk_tables *t, const struct blk_event *e)
{
	if (e->row == BLK_ROW_TALLY) {
		count_tally(a, t, e);
		return;
	}
	if (e->row == BLK_ROW_STREAM_ADD || e->row == BLK_ROW_STREAM_END)
		return;
	g_autofree char *text = describe(t, e);
	uint64_t hash = 14695981039346656037u;
	for (const char *p = text; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 1099511628211u;
	g_array_append_val(a->records, hash);
	a->n_events += e->row < BLK_ROW_FIRST_PSEUDO;
	if (e->row == BLK_ROW_LOST_END) {
		struct blk_loss loss;
		memcpy(&loss, e->data, sizeof loss);
		a->lost_events += loss.events;
		a->n_losses++;
	}
}

static void read_range(struct native *n, int64_t from, int64_t to, size_t budget, struct account *a)
{
	g_autoptr(GError) error = NULL;
	struct source *s = native_range(n, from, to, budget);
	struct blk_batch batch;
	enum source_status status;
	int64_t last = INT64_MIN;
	while ((status = source_next(s, &batch, &error)) == SOURCE_OK) {
		g_assert_cmpuint(batch.n, >, 0);
		for (size_t i = 0; i < batch.n; i++) {
			g_assert_cmpint(batch.ev[i].ts, >=, MAX(last, from));
			g_assert_true(to == INT64_MAX || batch.ev[i].ts < to);
			last = batch.ev[i].ts;
			account_add(a, &s->tables, &batch.ev[i]);
		}
	}
	g_assert_no_error(error);
	g_assert_cmpint(status, ==, SOURCE_END);
	source_free(s);
}

static struct account *whole(struct native *n, size_t budget)
{
	struct account *a = account_new();
	read_range(n, INT64_MIN, INT64_MAX, budget, a);
	return a;
}

static void assert_same(const struct account *a, const struct account *b)
{
	GHashTableIter it;
	gpointer key, value;
	g_assert_cmpuint(a->records->len, ==, b->records->len);
	g_assert_cmpmem(a->records->data, a->records->len * 8, b->records->data, b->records->len * 8);
	g_assert_cmpuint(g_hash_table_size(a->tallies), ==, g_hash_table_size(b->tallies));
	g_hash_table_iter_init(&it, a->tallies);
	while (g_hash_table_iter_next(&it, &key, &value)) {
		const uint64_t *other = g_hash_table_lookup(b->tallies, key);
		g_assert_nonnull(other);
		g_assert_cmpuint(*other, ==, *(uint64_t *)value);
	}
}

static const char *const traces[] = {
	"demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace", "lost/trace",
	"lost/trace-overwrite", "lost", "rotation/trace", "snapshot/trace", "ctf2/lost/trace", "ctf2/ust-both/ctf-2",
};

static int compare_instants(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void test_pieces(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	if (!path)
		return;
	g_autoptr(blk_native) n = open_native(path);
	struct account *all = whole(n, 0);
	int64_t from, to, cut[40];
	g_assert_true(native_bounds(n, &from, &to));
	g_assert_cmpuint(all->n_events, >, 1000);
	for (int round = 0; round < 6; round++) {
		struct account *sum = account_new();
		size_t n_cuts = (size_t)g_test_rand_int_range(1, 40);
		if (round % 2)
			n_cuts = native_cuts(n, from, to, n_cuts + 1, cut);
		for (size_t i = 0; round % 2 == 0 && i < n_cuts; i++)
			cut[i] = from + (int64_t)(g_test_rand_double() * (double)(to - from));
		qsort(cut, n_cuts, sizeof *cut, compare_instants);
		for (size_t i = 0; i <= n_cuts; i++)
			read_range(n, i ? cut[i - 1] : INT64_MIN, i < n_cuts ? cut[i] : INT64_MAX,
				   round % 3 ? 0 : 1, sum);
		assert_same(all, sum);
		account_free(sum);
	}
	account_free(all);
}

/* Windows of 16 KiB instead of 256: events lie across their borders everywhere. */
static void test_windows(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	if (!path)
		return;
	g_autoptr(blk_native) n = open_native(path);
	struct account *a = whole(n, 0), *b = whole(n, 1);
	assert_same(a, b);
	account_free(a);
	account_free(b);
}

/* The limit counts whatever is open already, so a few more than that are left. */
static void test_few_files(void)
{
	g_autofree char *path = test_trace("kernel-ust/trace");
	if (!path)
		return;
	g_autoptr(blk_native) n = open_native(path);
	struct account *a = whole(n, 0);
	struct rlimit was, few;
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &was), ==, 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)next + 2, .rlim_max = was.rlim_max };
	g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
	struct account *b = whole(n, 0);
	g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &was), ==, 0);
	assert_same(a, b);
	close(next);
	account_free(a);
	account_free(b);
}

static void test_outline(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	if (!path)
		return;
	g_autoptr(blk_native) n = open_native(path);
	struct account *a = whole(n, 0);
	struct outline *o = native_outline(n, 64);
	uint64_t bytes = 0, lost = 0;
	g_assert_nonnull(o);
	g_assert_true(o->complete);
	g_assert_cmpuint(o->n, <=, 64);
	for (size_t i = 0; i < o->n; i++) {
		bytes += o->cell[i].bytes;
		lost += o->cell[i].lost_events;
	}
	g_assert_cmpuint(bytes, ==, native_bytes(n));
	g_assert_cmpuint(lost, ==, a->lost_events);
	outline_unref(o);
	account_free(a);
}

/* ---- a made-up stream: many kinds of events that nobody wants, one that is copied ---- */

#define N_KINDS 100

static void put(GByteArray *a, uint64_t value, unsigned bytes)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(a, (const guint8 *)&value, bytes);
}

static void put_event(GByteArray *a, unsigned id, uint64_t ts, const char *text)
{
	put(a, id, 2);
	put(a, ts, 8);
	if (text)
		g_byte_array_append(a, (const guint8 *)text, (guint)strlen(text) + 1);
}

static void write_kinds(const char *dir)
{
	g_autofree char *file = g_build_filename(dir, "metadata", NULL);
	GString *m = g_string_new("/* CTF 1.8 */\n"
		"typealias integer { size = 16; align = 8; } := u16;\n"
		"typealias integer { size = 32; align = 8; } := u32;\n"
		"typealias integer { size = 64; align = 8; } := u64;\n"
		"trace { major = 1; minor = 8; byte_order = le;\n"
		"	packet.header := struct { u32 magic; u32 stream_id; }; };\n"
		"clock { name = c; freq = 1000000000; };\n"
		"typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
		"stream { id = 0; event.header := struct { u16 id; ts timestamp; };\n"
		"	packet.context := struct { ts timestamp_begin; ts timestamp_end;\n"
		"		u64 content_size; u64 packet_size; }; };\n"
		"event { id = 0; stream_id = 0; name = \"said\"; fields := struct { string text; }; };\n");
	for (int i = 1; i <= N_KINDS; i++)
		g_string_append_printf(m, "event { id = %d; stream_id = 0; name = \"kind%d\"; "
				       "fields := struct { }; };\n", i, i);
	g_assert_true(g_file_set_contents(file, m->str, (gssize)m->len, NULL));
	g_string_free(m, TRUE);
}

/* All kinds in second 0, then texts `step` ns apart; the one after `before` of them begins
 * second 1 and a burst. */
static void write_said(const char *dir, const char *name, int before, int all, uint64_t step)
{
	g_autofree char *file = g_build_filename(dir, name, NULL);
	g_autoptr(GByteArray) a = g_byte_array_new();
	uint64_t ts = 1;
	put(a, 0xc1fc1fc1, 4);
	put(a, 0, 4);
	for (int i = 0; i < 4; i++)
		put(a, 0, 8);
	for (unsigned i = 1; i <= N_KINDS; i++)
		put_event(a, i, ts++, NULL);
	for (int i = 0; i < all; i++) {
		g_autofree char *text = g_strdup_printf("text %d", i);
		ts = i == before ? 1000000000 : ts + (i < before ? step : 1);
		put_event(a, 0, ts, text);
	}
	uint64_t context[] = { GUINT64_TO_LE(UINT64_C(1)), GUINT64_TO_LE(ts),
			       GUINT64_TO_LE(UINT64_C(8) * a->len), GUINT64_TO_LE(UINT64_C(8) * a->len) };
	memcpy(a->data + 8, context, sizeof context);
	g_assert_true(g_file_set_contents(file, (char *)a->data, (gssize)a->len, NULL));
}

/* At the second's end there are more tallies than are decoded ahead: rows that were
 * copied wait behind them, and have to stay what they are until they are delivered. That
 * takes batches here: the other stream has events all the time, this one then a burst. */
static void test_many_tallies(void)
{
	static const struct blk_subscription said[] = { { .event = "said", .fields = { "text" } } };
	enum { ALL = 4000 };
	g_autofree char *dir = test_temp_dir();
	const char *const paths[] = { dir, NULL };
	write_kinds(dir);
	for (int before = 0; before < 200; before += 3) {
		g_autoptr(GError) error = NULL;
		struct blk_batch batch;
		int n[2] = { 0 };
		uint64_t tallied = 0;
		write_said(dir, "s_0", before, ALL, 500000000 / (before + 1));
		write_said(dir, "s_1", ALL, ALL, 300000);
		struct source *s = source_open_native(paths, said, G_N_ELEMENTS(said), &error);
		g_assert_no_error(error);
		while (source_next(s, &batch, &error) == SOURCE_OK) {
			for (size_t i = 0; i < batch.n; i++) {
				const struct blk_event *e = &batch.ev[i];
				struct blk_tally tally = { 0 };
				if (e->row == BLK_ROW_TALLY)
					memcpy(&tally, e->data, sizeof tally);
				tallied += tally.count;
				if (e->row >= BLK_ROW_FIRST_PSEUDO)
					continue;
				g_autofree char *text = g_strdup_printf("text %d", n[e->stream]++);
				struct blk_text is = blk_text(e, BLK_FIELD0);
				g_assert_cmpmem(is.str, is.len, text, strlen(text));
			}
		}
		g_assert_no_error(error);
		g_assert_cmpint(n[0], ==, ALL);
		g_assert_cmpint(n[1], ==, ALL);
		g_assert_cmpuint(tallied, ==, 2 * N_KINDS);
		source_free(s);
	}
	test_remove_tree(dir);
}

/* All loss that begins before and ends in a piece is told at its begin. */
static void test_open_losses(void)
{
	g_autofree char *path = test_trace("lost/trace");
	if (!path)
		return;
	g_autoptr(blk_native) n = open_native(path);
	struct source *s = native_range(n, INT64_MIN, INT64_MAX, 0);
	g_autoptr(GArray) losses = g_array_new(FALSE, FALSE, sizeof(struct blk_loss));
	struct blk_batch batch;
	size_t n_open;
	native_range_losses(s, &n_open);
	g_assert_cmpuint(n_open, ==, 0);
	while (source_next(s, &batch, NULL) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++)
			if (batch.ev[i].row == BLK_ROW_LOST_END)
				g_array_append_vals(losses, batch.ev[i].data, 1);
	source_free(s);
	g_assert_cmpuint(losses->len, >, 10);
	for (guint i = 0; i < losses->len; i++) {
		struct blk_loss l = g_array_index(losses, struct blk_loss, i);
		if (l.end_ns - l.begin_ns < 2)
			continue;
		int64_t at = l.begin_ns + (l.end_ns - l.begin_ns) / 2;
		s = native_range(n, at, INT64_MAX, 0);
		const struct native_loss *open = native_range_losses(s, &n_open);
		bool found = false;
		for (size_t k = 0; k < n_open; k++) {
			g_assert_cmpint(open[k].loss.begin_ns, <, at);
			g_assert_cmpint(open[k].loss.end_ns, >=, at);
			found |= !memcmp(&open[k].loss, &l, sizeof l);
		}
		g_assert_true(found);
		source_free(s);
	}
}

/* Wherever the trace of two packets is cut, its pieces are the whole. */
static void check_cuts(const GByteArray *first, const GByteArray *second, unsigned losses, int64_t step)
{
	g_autofree char *dir = test_temp_dir();
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL), *file = g_build_filename(dir, "s", NULL);
	g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_byte_array_append(bytes, first->data, first->len);
	g_byte_array_append(bytes, second->data, second->len);
	g_assert_true(g_file_set_contents(metadata, text, -1, NULL));
	g_assert_true(g_file_set_contents(file, (const char *)bytes->data, bytes->len, NULL));
	g_autoptr(blk_native) n = open_native(dir);
	struct account *all = whole(n, 0);
	int64_t from, to;
	g_assert_true(native_bounds(n, &from, &to));
	g_assert_cmpuint(all->n_losses, ==, losses);
	for (int64_t cut = from; cut <= to; cut += step) {
		struct account *sum = account_new();
		read_range(n, INT64_MIN, cut, 0, sum);
		read_range(n, cut, INT64_MAX, 0, sum);
		assert_same(all, sum);
		account_free(sum);
	}
	account_free(all);
	test_remove_tree(dir);
}

/* Events behind their packet's end, and packets missing behind it: one piece tells that loss. */
static void test_gap_behind_events(void)
{
	struct made m = { .uuid = 1 };
	g_autoptr(GByteArray) first = made_bytes(&m, 1000, 1020, 0, 6);
	m.seq = 9;
	g_autoptr(GByteArray) second = made_bytes(&m, 1030, 1200, 0, 3);
	check_cuts(first, second, 1, 1);
}

/* Sets the time of an event, which is behind its id. */
static void stamp(GByteArray *packet, unsigned event, uint64_t time)
{
	uint64_t le = GUINT64_TO_LE(time);
	memcpy(packet->data + AT_EVENTS + event * 14 + 2, &le, sizeof le);
}

/* A packet that was never finished, with an event long after the next one begins: no piece looks for
 * it there, so none has it. */
static void test_late_in_unfinished(void)
{
	struct made m = { .uuid = 1 };
	g_autoptr(GByteArray) first = made_bytes(&m, 1000, 0, 0, 6);
	g_autoptr(GByteArray) second = made_bytes(&m, 100000000, 300000000, 0, 3);
	const uint64_t unknown = UINT64_MAX;
	stamp(first, 4, 400000000);
	memcpy(first->data + AT_CONTENT, &unknown, sizeof unknown);
	check_cuts(first, second, 1, 1000000);
}

/* Where the clock of a stream goes back, each event whose time is unknown is announced, and nothing is lost. */
static void test_clock_back(void)
{
	static const struct {
		uint64_t begin[2], end[2];
		uint64_t stamps[2][6];		/* 0: as made, 10 ns apart */
		unsigned unknown;
	} cases[] = {		/* the last but one: a packet that ends before it began */
		{ { 1000, 1200 }, { 1100, 1300 }, { { 0 }, { 0 } }, 0 },
		{ { 1000, 1200 }, { 1100, 1300 }, { { 0, 0, 0, 1029 }, { 0 } }, 0 },
		{ { 1000, 1200 }, { 1100, 1300 }, { { 0, 0, 0, 1019 }, { 0 } }, 1 },
		{ { 1000, 1200 }, { 1100, 1300 }, { { 0, 0, 0, 500, 510, 520 }, { 0 } }, 3 },
		{ { 1000, 1030 }, { 1020, 1300 }, { { 0 }, { 0 } }, 0 },	/* events behind it */
		{ { 1000, 1030 }, { 1100, 1300 }, { { 0, 0, 0, 0, 1080 }, { 0 } }, 6 },	/* the packets overlap */
		{ { 5000, 1000 }, { 5100, 1100 }, { { 0 }, { 0 } }, 6 },			/* between packets */
		{ { 5000, 1000 }, { 5100, 1100 }, { { 0 }, { 0, 0, 0, 0, 5090, 5095 } }, 4 },
		{ { 5000, 1010 }, { 1010, 1100 }, { { 0, 0, 0, 1000, 1005, 1008 }, { 0 } }, 9 },
		{ { 1000, 30000000 }, { 2000, 30001000 }, { { 0, 20000000, 20000001, 1010, 1020, 1030 }, { 0 } }, 5 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct made m = { .uuid = 1 };
		GByteArray *p[2];
		for (int k = 0; k < 2; k++) {
			p[k] = made_bytes(&m, cases[i].begin[k], cases[i].end[k], 0, 6);
			for (unsigned e = 0; e < 6; e++)
				if (cases[i].stamps[k][e])
					stamp(p[k], e, cases[i].stamps[k][e]);
		}
		g_test_message("case %zu", i);
		check_cuts(p[0], p[1], cases[i].unknown, cases[i].stamps[0][1] ? 100000 : 1);
		g_byte_array_unref(p[0]);
		g_byte_array_unref(p[1]);
	}
}

/* Where a CPU has several streams, no piece begins while one of them loses events: what the
 * others tell then of who runs, only the piece before it knows. */
static void test_cuts_beside_losses(void)
{
	g_autofree char *path = test_trace("lost");	/* two sessions */
	if (!path)
		return;
	g_autoptr(blk_native) n = open_native(path);
	int64_t from, to, cut[64];
	g_assert_true(native_bounds(n, &from, &to));
	size_t found = 0;
	for (size_t pieces = 2; pieces <= G_N_ELEMENTS(cut); pieces++) {
		size_t n_cuts = native_cuts(n, from, to, pieces, cut);
		found += n_cuts;
		for (size_t i = 0; i < n_cuts; i++) {
			size_t n_open;
			struct source *s = native_range(n, cut[i], INT64_MAX, 0);
			native_range_losses(s, &n_open);
			g_assert_cmpuint(n_open, ==, 0);
			source_free(s);
			g_assert_cmpint(cut[i], >, i ? cut[i - 1] : from);
			g_assert_cmpint(cut[i], <, to);
		}
	}
	g_assert_cmpuint(found, >, 100);
}

static void count_pause(void *data, const char *order, int64_t last_end, int64_t begin, int64_t end)
{
	int64_t *sum = data;
	g_assert_cmpint(last_end, <, begin);
	g_assert_cmpint(end - begin, >, 2300 * INT64_C(1000000));
	g_assert_cmpint(end - begin, <, 2400 * INT64_C(1000000));
	sum[0]++;
}

/* Between lttng stop and start nobody traced; packets of idle CPUs, of losses, and of rotations lie
 * apart as well. */
static void test_pauses(void)
{
	static const struct { const char *name; int64_t n; } cases[] = {
		{ "pause/trace", 2 }, { "rotation/trace", 0 }, { "lost/trace-overwrite", 0 }, { "live/trace", 0 },
		{ "kernel-small/trace", 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *path = test_trace(cases[i].name);
		if (!path)
			return;
		g_autoptr(blk_native) n = open_native(path);
		int64_t sum[1] = { 0 };
		while (native_index(n, 4096)) {
		}
		native_each_pause(n, count_pause, sum);
		g_assert_cmpint(sum[0], ==, cases[i].n);
	}
}

/* ---- damage ---- */

/* Also of a broken trace pieces are the whole, wherever it is cut. */
static void assert_pieces(struct native *n, const struct account *all)
{
	int64_t from, to, cut[12];
	if (!native_bounds(n, &from, &to))
		return;
	for (int round = 0; round < 2; round++) {
		struct account *sum = account_new();
		for (size_t i = 0; i < G_N_ELEMENTS(cut); i++)
			cut[i] = from + (int64_t)(g_test_rand_double() * (double)(to - from) * 1.1);
		qsort(cut, G_N_ELEMENTS(cut), sizeof *cut, compare_instants);
		for (size_t i = 0; i <= G_N_ELEMENTS(cut); i++)
			read_range(n, i ? cut[i - 1] : INT64_MIN,
				   i < G_N_ELEMENTS(cut) ? cut[i] : INT64_MAX, 0, sum);
		assert_same(all, sum);
		account_free(sum);
	}
}

static char *copy_of(const char *name)
{
	g_autofree char *path = test_trace(name);
	if (!path)
		return NULL;
	char *dir = test_temp_dir();
	g_autofree char *to = g_build_filename(dir, "trace", NULL);
	test_copy_tree(path, to);
	return dir;
}

/* A piece in which only programs tell has a kernel for all that: who runs is not theirs to say. */
static void test_kernel_is_known(void)
{
	g_autofree char *path = test_trace("kernel-ust/trace");
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { path, NULL };
	if (!path) {
		g_test_skip("the recording is not there");
		return;
	}
	struct native *n = native_open(paths, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	while (native_index(n, 65536))
		;
	struct source *s = native_range(n, INT64_MIN, INT64_MAX, 0);
	struct blk_batch batch;
	int64_t at = INT64_MIN;
	while (at == INT64_MIN && source_next(s, &batch, &error) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++)
			if (blk_stream(&s->tables, batch.ev[i].stream)->domain == BLK_DOMAIN_UST)
				at = batch.ev[i].ts;
	source_free(s);
	s = native_range(n, at, at + 1, 0);
	g_assert_cmpint(source_next(s, &batch, &error), ==, SOURCE_OK);
	for (guint i = 0; i < s->tables.streams->len; i++)
		g_assert_cmpint(blk_stream(&s->tables, i)->domain, ==, BLK_DOMAIN_UST);
	g_assert_true(blk_host(&s->tables, 0)->has_kernel);
	source_free(s);
	native_free(n);
}

static void test_cut_off(void)
{
	g_autofree char *dir = copy_of("kernel-small/trace");
	if (!dir)
		return;
	g_autofree char *file = g_build_filename(dir, "trace", "kernel", "k0_1", NULL);
	if (!g_file_test(file, G_FILE_TEST_EXISTS)) {
		g_free(file);
		file = g_build_filename(dir, "trace", "kernel", "k0_0", NULL);
	}
	g_autofree char *bytes = NULL;
	gsize size;
	g_assert_true(g_file_get_contents(file, &bytes, &size, NULL));
	struct native *n = open_native(dir);
	struct account *all = whole(n, 0);
	native_free(n);
	uint64_t fewest = all->n_events;
	for (int i = 1; i < 12; i++) {
		gsize length = size - (gsize)((double)size * i / 12.5) - (gsize)g_test_rand_int_range(0, 4000);
		g_assert_cmpint(truncate(file, (off_t)length), ==, 0);
		n = open_native(dir);
		struct account *less = whole(n, 0);
		g_assert_cmpuint(less->n_events, <=, fewest);
		g_assert_cmpuint(less->n_events, >, all->n_events / 3);
		g_assert_cmpuint(less->n_losses, >, 0);
		assert_pieces(n, less);
		fewest = less->n_events;
		account_free(less);
		native_free(n);
	}
	account_free(all);
	test_remove_tree(dir);
}

/* Overwrites some bytes: of a packet's header too, or all to the file's end. */
static void spoil(char *bytes, gsize size, int how)
{
	gsize at = (gsize)g_test_rand_int_range(0, (gint32)size - 100);
	if (how % 4 == 1)	/* one of the numbers in the first header */
		memset(bytes + 8 * g_test_rand_int_range(3, 9), 0, 8);
	else if (how % 4 == 2)
		memset(bytes + size / 2 + at / 2, 0, size - (size / 2 + at / 2));
	else if (how % 4 == 3)
		memset(bytes + size - 5000, 0x55, 5000);
	for (int k = 0; how % 4 == 0 && k < 64; k++)
		bytes[at + (gsize)k] = (char)g_test_rand_int();
}

/* No crash, the other packets stay, loss is marked. */
static void test_garbage(void)
{
	g_autofree char *dir = copy_of("kernel-small/trace");
	if (!dir)
		return;
	g_autofree char *file = g_build_filename(dir, "trace", "kernel", "k0_0", NULL);
	g_autofree char *index = g_build_filename(dir, "trace", "kernel", "index", "k0_0.idx", NULL);
	g_autofree char *bytes = NULL;
	gsize size;
	g_assert_true(g_file_get_contents(file, &bytes, &size, NULL));
	struct native *n = open_native(dir);
	struct account *all = whole(n, 0);
	native_free(n);
	for (int i = 0; i < 30; i++) {
		g_autofree char *bad = g_memdup2(bytes, size);
		spoil(bad, size, i);
		if (i == 15)
			g_assert_cmpint(remove(index), ==, 0);
		g_assert_true(g_file_set_contents(file, bad, (gssize)size, NULL));
		g_autoptr(GError) error = NULL;
		const char *const paths[] = { dir, NULL };
		n = native_open(paths, rows, G_N_ELEMENTS(rows), &error);
		if (!n)
			continue;
		while (native_index(n, 100))
			;
		struct account *less = whole(n, 0);
		g_assert_cmpuint(less->n_events, >, all->n_events / 4);
		assert_pieces(n, less);
		account_free(less);
		native_free(n);
	}
	account_free(all);
	test_remove_tree(dir);
}

/* Without its index a trace reads the same; all packets are found by a walk. */
static void test_no_index(void)
{
	static const char *const names[] = { "kernel-small/trace", "lost/trace", "kernel-ust/trace",
					     "ctf2/lost/trace" };
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *dir = copy_of(names[i]);
		if (!dir)
			return;
		struct native *n = open_native(dir);
		struct account *a = whole(n, 0);
		native_free(n);
		g_autofree char *command = g_strdup_printf("find '%s' -name '*.idx' -delete", dir);
		g_assert_cmpint(system(command), ==, 0);
		n = open_native(dir);
		struct account *b = whole(n, 0);
		assert_same(a, b);
		native_free(n);
		account_free(a);
		account_free(b);
		test_remove_tree(dir);
	}
}

/* A tracer that died: the last packet has events, but sizes and end were never written. */
static void test_unfinished(gconstpointer data)
{
	bool middle = data != NULL;	/* not the last packet: another follows it */
	enum { END = 40, CONTENT = 48, PACKET = 56 };	/* in this recording's packets */
	g_autofree char *dir = copy_of("kernel-small/trace");
	if (!dir)
		return;
	g_autofree char *file = g_build_filename(dir, "trace", "kernel", "k0_0", NULL);
	g_autofree char *index = g_build_filename(dir, "trace", "kernel", "index", "k0_0.idx", NULL);
	g_autofree char *idx = NULL, *bytes = NULL;
	gsize idx_size, size;
	g_assert_true(g_file_get_contents(index, &idx, &idx_size, NULL));
	g_assert_true(g_file_get_contents(file, &bytes, &size, NULL));
	struct native *n = open_native(dir);
	struct account *all = whole(n, 0);
	native_free(n);
	uint64_t at, content;
	g_assert_cmpuint(idx_size, >=, 16 + 2 * 72);
	memcpy(&at, idx + idx_size - (middle ? 2 : 1) * 72, 8);
	at = GUINT64_FROM_BE(at);
	gsize end = size;
	if (middle) {
		memcpy(&content, idx + idx_size - 72, 8);
		end = GUINT64_FROM_BE(content);
	}
	memcpy(&content, bytes + at + CONTENT, 8);
	content = GUINT64_FROM_LE(content) / 8;
	g_assert_cmpuint(content, >, 1000);
	memset(bytes + at + END, 0, PACKET + 8 - END);
	memset(bytes + at + content, 0, end - at - content);
	g_assert_true(g_file_set_contents(file, bytes, (gssize)size, NULL));
	for (int with_index = 1; with_index >= 0; with_index--) {
		if (!with_index)
			g_assert_cmpint(unlink(index), ==, 0);
		n = open_native(dir);
		struct account *a = whole(n, 0);
		g_assert_cmpuint(a->n_events, ==, all->n_events);
		g_assert_cmpuint(a->n_losses, ==, all->n_losses + 1);
		account_free(a);
		native_free(n);
	}
	account_free(all);
	test_remove_tree(dir);
}

static void test_refused(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = test_temp_dir();
	g_autofree char *file = g_build_filename(dir, "metadata", NULL);
	const char *const paths[] = { dir, NULL };
	const char *text = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n"
			   "stream { };\n";
	g_assert_true(g_file_set_contents(file, text, -1, NULL));
	g_assert_null(native_open(paths, rows, G_N_ELEMENTS(rows), &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NO_TIME);
	g_assert_nonnull(strstr(error->message, dir));
	g_assert_nonnull(strstr(error->message, "has no time: "));
	g_assert_nonnull(strstr(error->message, "the program babeltrace2 prints"));
	g_assert_null(strstr(error->message, "--reader"));	/* babeltrace2 has no time either */
	test_remove_tree(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++) {
		g_autofree char *pieces = g_strdup_printf("/native/pieces/%s", traces[i]);
		g_autofree char *windows = g_strdup_printf("/native/windows/%s", traces[i]);
		g_autofree char *outline = g_strdup_printf("/native/outline/%s", traces[i]);
		g_test_add_data_func(pieces, traces[i], test_pieces);
		g_test_add_data_func(windows, traces[i], test_windows);
		g_test_add_data_func(outline, traces[i], test_outline);
	}
	g_test_add_func("/native/few-files", test_few_files);
	g_test_add_func("/native/many-tallies", test_many_tallies);
	g_test_add_func("/native/open-losses", test_open_losses);
	g_test_add_func("/native/pauses", test_pauses);
	g_test_add_func("/native/gap-behind-events", test_gap_behind_events);
	g_test_add_func("/native/late-in-unfinished", test_late_in_unfinished);
	g_test_add_func("/native/clock-back", test_clock_back);
	g_test_add_func("/native/cuts-beside-losses", test_cuts_beside_losses);
	g_test_add_func("/native/kernel-is-known", test_kernel_is_known);
	g_test_add_func("/native/cut-off", test_cut_off);
	g_test_add_func("/native/garbage", test_garbage);
	g_test_add_func("/native/no-index", test_no_index);
	g_test_add_data_func("/native/unfinished/last", NULL, test_unfinished);
	g_test_add_data_func("/native/unfinished/middle", "middle", test_unfinished);
	g_test_add_func("/native/refused", test_refused);
	return g_test_run();
}
