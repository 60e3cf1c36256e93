/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader fed with packets: however a recording is cut into pushes, and in which
 * order they come, its records are those of the files. Damage is marked, lateness counted,
 * nobody waits for ever.
 */
#include "lib/sources.h"
#include "lib/check_records.h"
#include "lib/fed.h"
#include "lib/test_traces.h"
#include "lib/traces.h"
#include "state/slice/slice.h"
#include "trace/ctf/ctf_index.h"
#include "trace/native/native.h"

/* What a run of records says: one number a record, tallies summed by their cells. */
struct account {
	GArray *all;		/* uint64_t: every record as it comes, tallies too */
	GArray *records;	/* uint64_t: events and losses */
	GHashTable *tallies;	/* "stream class second" -> count */
	GHashTable *marks;	/* streams that began, that ended: "order row" -> times */
	uint64_t n_events, n_late;
	int64_t last;
};

static struct account *account_new(void)
{
	struct account *a = g_new0(struct account, 1);
	a->all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	a->records = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	a->tallies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	a->marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	a->last = INT64_MIN;
	return a;
}

static void account_free(struct account *a)
{
	g_array_unref(a->all);
	g_array_unref(a->records);
	g_hash_table_unref(a->tallies);
	g_hash_table_unref(a->marks);
	g_free(a);
}

static void add_to(GHashTable *cells, char *key, uint64_t n)
{
	uint64_t *sum = g_hash_table_lookup(cells, key);
	if (sum) {
		*sum += n;
		g_free(key);
		return;
	}
	sum = g_new(uint64_t, 1);
	*sum = n;
	g_hash_table_insert(cells, key, sum);
}

static char *describe(const struct blk_tables *t, const struct blk_event *e)
{
	GString *s = g_string_new(NULL);
	g_string_append_printf(s, "%" G_GINT64_FORMAT " %s %x ", e->ts, blk_stream(t, e->stream)->order,
			       e->row);
	if (e->row == BLK_ROW_LOST_BEGIN || e->row == BLK_ROW_LOST_END) {
		struct blk_loss loss;
		memcpy(&loss, e->data, sizeof loss);
		g_string_append_printf(s, "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT
				       " %" G_GUINT64_FORMAT, loss.begin_ns, loss.end_ns, loss.events, loss.packets);
	}
	if (e->layout)
		g_string_append(s, blk_class(t, e->cls)->name);
	for (unsigned i = 0; e->layout && i < BLK_MAX_SLOTS; i++) {
		if (!blk_has(e, i))
			continue;
		struct blk_text text = blk_text(e, i);
		g_string_append_printf(s, " %u=%" G_GINT64_FORMAT ":", i, blk_int(e, i));
		g_string_append_len(s, text.str, text.len);
	}
	return g_string_free(s, FALSE);
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037u;
	for (const char *p = text; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 1099511628211u;
	return hash;
}

static void account_add(struct account *a, const struct blk_tables *t, const struct blk_event *e)
{
	g_assert_cmpint(e->ts, >=, a->last);
	a->last = e->ts;
	if (e->row == BLK_ROW_HORIZON)
		return;
	g_autofree char *text = describe(t, e);
	uint64_t hash = hash_of(text);
	const char *order = blk_stream(t, e->stream)->order;
	g_array_append_val(a->all, hash);
	if (e->row == BLK_ROW_TALLY) {
		struct blk_tally tally;
		memcpy(&tally, e->data, sizeof tally);
		add_to(a->tallies, g_strdup_printf("%s %s %" G_GINT64_FORMAT, order,
						   blk_class(t, e->cls)->name, tally.second), tally.count);
		a->n_events += tally.count;
	} else if (e->row == BLK_ROW_STREAM_ADD || e->row == BLK_ROW_STREAM_END) {
		add_to(a->marks, g_strdup_printf("%s %x", order, e->row), 1);
	} else {
		g_array_append_val(a->records, hash);
		a->n_events += e->row < BLK_ROW_FIRST_PSEUDO;
	}
}

/* All that comes until there is nothing now. */
static enum source_status drain(struct source *s, struct account *a)
{
	g_autoptr(GError) error = NULL;
	struct blk_batch batch;
	enum source_status status;
	while ((status = source_next(s, &batch, &error)) == SOURCE_OK) {
		g_assert_cmpuint(batch.n, >, 0);
		for (size_t i = 0; i < batch.n; i++)
			account_add(a, &s->tables, &batch.ev[i]);
	}
	g_assert_no_error(error);
	return status;
}

static void assert_same_cells(GHashTable *a, GHashTable *b)
{
	GHashTableIter it;
	gpointer key, value;
	g_assert_cmpuint(g_hash_table_size(a), ==, g_hash_table_size(b));
	g_hash_table_iter_init(&it, a);
	while (g_hash_table_iter_next(&it, &key, &value)) {
		const uint64_t *other = g_hash_table_lookup(b, key);
		g_assert_nonnull(other);
		g_assert_cmpuint(*other, ==, *(uint64_t *)value);
	}
}

static void assert_same(const struct account *a, const struct account *b)
{
	g_assert_cmpuint(a->records->len, ==, b->records->len);
	for (guint i = 0; i < a->records->len; i++)
		if (g_array_index(a->records, uint64_t, i) != g_array_index(b->records, uint64_t, i))
			g_error("record %u of %u differs", i, a->records->len);
	assert_same_cells(a->tallies, b->tallies);
	assert_same_cells(a->marks, b->marks);
}

static const struct blk_subscription *rows;
static size_t n_rows;

static struct account *of_files(const char *path)
{
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { path, NULL };
	struct source *s = source_open_native(paths, rows, n_rows, &error);
	struct account *a = account_new();
	g_assert_no_error(error);
	g_assert_cmpint(drain(s, a), ==, SOURCE_END);
	source_free(s);
	return a;
}

static const char *const traces[] = {
	"demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace", "lost/trace",
	"lost/trace-overwrite", "rotation/trace", "snapshot/trace", "ust-fields/trace",
	"ctf2/lost/trace", "ctf2/ust-both/ctf-2",
};

/* Everything is there before anybody asks: not only the same records, in the same places. */
static void test_at_once(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	if (!path)
		return;
	struct account *files = of_files(path), *fed = account_new();
	struct fed *d = fed_open(path);
	g_autoptr(blk_native_feed) f = native_feed_new(rows, n_rows);
	fed_add(d, f);
	fed_push_all(d, f);
	g_assert_cmpuint(native_feed_queued(f), >, 1000);
	g_assert_cmpint(drain(native_feed_source(f), fed), ==, SOURCE_END);
	g_assert_cmpuint(native_feed_queued(f), ==, 0);
	assert_same(files, fed);
	g_assert_cmpmem(files->all->data, files->all->len * 8, fed->all->data, fed->all->len * 8);
	account_free(files);
	account_free(fed);
	fed_free(d);
}

/* What the stream has passed for certain before its next packet; 0: nothing to say. */
static uint64_t beacon_of(const struct fed_stream *s)
{
	if (s->at >= s->packets->len)
		return 0;
	const struct fed_packet *p = &g_array_index(s->packets, struct fed_packet, s->at);
	if (!s->at)
		return p->begin;
	const struct fed_packet *before = p - 1;
	bool gap = (p->has_seq && before->has_seq && p->seq != before->seq + 1) || p->discarded != before->discarded;
	return gap ? before->end : p->begin;
}

static void push_randomly(struct fed *d, struct native_feed *f, struct account *a)
{
	guint left = d->streams->len;
	for (guint i = 0; i < d->traces->len; i++) {
		while (g_array_index(d->trace_at, gsize, i) < g_bytes_get_size(d->traces->pdata[i])) {
			fed_push_metadata(d, f, i, (gsize)g_test_rand_int_range(1, 20000));
			if (g_test_rand_int_range(0, 20) == 0)
				g_assert_cmpint(drain(native_feed_source(f), a), ==, SOURCE_AGAIN);
		}
	}
	while (left) {
		struct fed_stream *s = g_ptr_array_index(d->streams,
			(guint)g_test_rand_int_range(0, (gint32)d->streams->len));
		int what = g_test_rand_int_range(0, 10);
		if (what == 0 && !s->ended && beacon_of(s))
			native_feed_beacon(f, s->id, g_test_rand_bit() ? s->class_id : NATIVE_FEED_ANY_CLASS,
					   beacon_of(s));
		else if (what < 4)
			g_assert_cmpint(drain(native_feed_source(f), a), ==, SOURCE_AGAIN);
		else if (!s->ended)
			fed_push_next(f, s);
		if (s->ended && s->id != G_MAXUINT) {
			s->id = G_MAXUINT;
			left--;
		}
	}
	native_feed_end(f);
	g_assert_cmpint(drain(native_feed_source(f), a), ==, SOURCE_END);
}

static void test_random(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	if (!path)
		return;
	struct account *files = of_files(path);
	struct fed *d = fed_open(path);
	for (int round = 0; round < 5; round++) {
		g_autoptr(blk_native_feed) f = native_feed_new(rows, n_rows);
		struct native_feed_status status;
		struct account *fed = account_new();
		fed_rewind(d);
		fed_add(d, f);
		push_randomly(d, f, fed);
		native_feed_get_status(f, &status);
		g_assert_cmpuint(status.late, ==, 0);
		g_assert_cmpuint(status.refused, ==, 0);
		g_assert_cmpuint(native_feed_queued(f), ==, 0);
		assert_same(files, fed);
		account_free(fed);
	}
	account_free(files);
	fed_free(d);
}

struct pusher {
	struct fed *d;
	struct native_feed *f;
};

static gpointer push_all(gpointer data)
{
	struct pusher *p = data;
	struct fed *d = p->d;
	bool more = true;
	for (guint i = 0; i < d->traces->len; i++)
		while (g_array_index(d->trace_at, gsize, i) < g_bytes_get_size(d->traces->pdata[i]))
			fed_push_metadata(d, p->f, i, 4096);
	while (more) {
		more = false;
		for (guint i = 0; i < d->streams->len; i++) {
			struct fed_stream *s = g_ptr_array_index(d->streams, i);
			more |= !s->ended;
			if (native_feed_queued(p->f) < 1000000 || native_feed_wants(p->f, s->id))
				fed_push_next(p->f, s);
		}
		g_thread_yield();
	}
	native_feed_end(p->f);
	return NULL;
}

/* One thread pushes, not more than a bound, another takes. */
static void test_threads(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	if (!path)
		return;
	struct account *files = of_files(path), *fed = account_new();
	struct fed *d = fed_open(path);
	g_autoptr(blk_native_feed) f = native_feed_new(rows, n_rows);
	struct pusher p = { d, f };
	struct native_feed_status status;
	fed_add(d, f);
	GThread *thread = g_thread_new("push", push_all, &p);
	while (drain(native_feed_source(f), fed) == SOURCE_AGAIN) {
		g_assert_cmpuint(native_feed_queued(f), <, 20000000);
		native_feed_wait(f, 10000);
	}
	g_thread_join(thread);
	native_feed_get_status(f, &status);
	g_assert_cmpuint(status.late, ==, 0);
	assert_same(files, fed);
	account_free(files);
	account_free(fed);
	fed_free(d);
}

static void damage_file(const char *dir, const char *name, int round)
{
	enum { HEADER = 256 };
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	g_autofree char *meta = g_build_filename(dir, "metadata", NULL);
	g_autofree char *text = NULL, *bytes = NULL;
	gsize n_text, size;
	size_t n;
	g_assert_true(g_file_get_contents(meta, &text, &n_text, NULL));
	g_assert_true(ctf_meta_append(m, text, n_text, NULL));
	struct ctf_index *x = ctf_index_open(m, dir, name, NULL);
	while (ctf_index_walk(x, 1000))
		;
	const struct ctf_packet *p = ctf_index_packets(x, &n);
	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	for (size_t i = 0; i < n && round < 3; i++) {
		gsize content = p[i].content_bits / 8;
		if (content <= HEADER || g_test_rand_int_range(0, 3))
			continue;
		gsize at = (gsize)g_test_rand_int_range(HEADER, (gint32)content);
		bytes[p[i].offset + at] ^= (char)g_test_rand_int_range(1, 256);
	}
	if (n && round >= 2 && p[n - 1].content_bits / 8 > HEADER)
		size -= (gsize)g_test_rand_int_range(1, (gint32)(p[n - 1].packet_bits / 8 - HEADER));
	ctf_index_free(x);
	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
}

static void damage_tree(const char *path, int round)
{
	const char *const paths[] = { path, NULL };
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, NULL);
	for (guint i = 0; i < dirs->len; i++) {
		g_autofree char *index = g_build_filename(dirs->pdata[i], "index", NULL);
		g_autoptr(GDir) list = g_dir_open(dirs->pdata[i], 0, NULL);
		test_remove_tree(index);
		for (const char *name; (name = g_dir_read_name(list));)
			if (strcmp(name, "metadata") && strcmp(name, "index"))
				damage_file(dirs->pdata[i], name, round);
	}
}

/* Bytes that are no events, files that end too soon: what files tell of it, packets do. */
static void test_damage(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	if (!path)
		return;
	for (int round = 0; round < 4; round++) {
		g_autofree char *dir = test_temp_dir();
		g_autofree char *copy = g_build_filename(dir, "trace", NULL);
		test_copy_tree(path, copy);
		damage_tree(copy, round);
		struct account *files = of_files(copy), *fed = account_new();
		struct fed *d = fed_open(copy);
		g_autoptr(blk_native_feed) f = native_feed_new(rows, n_rows);
		fed_add(d, f);
		fed_push_all(d, f);
		g_assert_cmpint(drain(native_feed_source(f), fed), ==, SOURCE_END);
		assert_same(files, fed);
		account_free(files);
		account_free(fed);
		fed_free(d);
		test_remove_tree(dir);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	rows = slice_subscriptions(&n_rows);
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++) {
		if (traces_too_long(traces[i]))
			continue;
		g_autofree char *once = g_strdup_printf("/native-feed/at-once/%s", traces[i]);
		g_autofree char *random = g_strdup_printf("/native-feed/random/%s", traces[i]);
		g_test_add_data_func(once, traces[i], test_at_once);
		g_test_add_data_func(random, traces[i], test_random);
		g_autofree char *damage = g_strdup_printf("/native-feed/damage/%s", traces[i]);
		if (strncmp(traces[i], "rotation", 8))	/* chunks: damage ends the stream, or one of its files */
			g_test_add_data_func(damage, traces[i], test_damage);
	}
	g_test_add_data_func("/native-feed/threads", "kernel-ust/trace", test_threads);
	return g_test_run();
}
