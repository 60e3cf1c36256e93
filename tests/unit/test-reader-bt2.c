/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The babeltrace2 reader against the babeltrace2 program: every event of the
 * recordings by name and count, of some also instant, CPU and fields; and what is
 * special about records: order, streams, losses, tallies, clocks.
 */
#include "lib/sources.h"
#include "lib/test_traces.h"
#include "lib/traces.h"
#include "trace/reader.h"

enum { SWITCH, NEWFSTATAT, PIPE, ALL };
static const struct blk_subscription rows[] = {
	[SWITCH] = { .event = "sched_switch", .fields = { "prev_comm", "prev_tid", "prev_state", "next_tid", NULL } },
	[NEWFSTATAT] = { .event = "syscall_entry_newfstatat", .fields = { "filename", "flag", NULL } },
	[PIPE] = { .event = "syscall_exit_pipe2", .fields = { "fildes[1]", "fildes", "fildes[7]", NULL } },
	[ALL] = { .event = "*", .fields = { NULL } },
};

static const struct blk_subscription no_rows[] = { { .event = "no such event", .fields = { NULL } } };

static struct source *open_path(const char *path, const struct blk_subscription *r, size_t n)
{
	g_autoptr(GError) error = NULL;
	const char *paths[] = { path, NULL };
	struct source *s = source_open_bt2(paths, r, n, &error);
	g_assert_no_error(error);
	return s;
}

static struct source *open_all(const char *path)
{
	return open_path(path, rows, G_N_ELEMENTS(rows));
}

/* Reads all; `each` NULL just counts. */
typedef void (*on_record)(const struct blk_tables *t, const struct blk_event *e, void *data);
static uint64_t run(struct source *s, on_record each, void *data)
{
	g_autoptr(GError) error = NULL;
	struct blk_batch batch;
	enum source_status status;
	uint64_t n = 0;
	while ((status = source_next(s, &batch, &error)) == SOURCE_OK) {
		g_assert_cmpuint(batch.n, >, 0);
		g_assert_cmpuint(batch.n, <=, BLK_BATCH);
		n += batch.n;
		for (size_t i = 0; each && i < batch.n; i++)
			each(&s->tables, &batch.ev[i], data);
	}
	g_assert_no_error(error);
	g_assert_cmpint(status, ==, SOURCE_END);
	source_free(s);
	return n;
}

static void add_count(GHashTable *counts, const char *key, gsize n)
{
	gsize *known = g_hash_table_lookup(counts, key);
	if (!known) {
		known = g_new0(gsize, 1);
		g_hash_table_insert(counts, g_strdup(key), known);
	}
	*known += n;
}

static gsize count_of(GHashTable *counts, const char *key)
{
	gsize *known = g_hash_table_lookup(counts, key);
	return known ? *known : 0;
}

static GHashTable *new_counts(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void assert_same_counts(GHashTable *is, GHashTable *want)
{
	GHashTableIter iter;
	void *key, *n;
	g_hash_table_iter_init(&iter, want);
	while (g_hash_table_iter_next(&iter, &key, &n)) {
		if (count_of(is, key) == *(gsize *)n)
			continue;
		g_test_message("%s: %zu, not %zu", (char *)key, count_of(is, key), *(gsize *)n);
		g_test_fail();
	}
	g_assert_cmpuint(g_hash_table_size(is), ==, g_hash_table_size(want));
}

/* -- what the babeltrace2 program says ------------------------------------ */

/* "... host NAME: { ..."; false: no event. */
static bool name_in(const char *line, char name[256])
{
	const char *end = strstr(line, ": {");
	const char *begin = end;
	while (begin && begin > line && begin[-1] != ' ')
		begin--;
	if (begin)
		g_strlcpy(name, begin, MIN(256, end - begin + 1));
	return begin != NULL;
}

/* Its text output; NULL with the test skipped where there is none. */
static char *oracle(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *program = g_find_program_in_path("babeltrace2");
	char *out = NULL;
	int status;
	char *argv[] = { program, "--clock-seconds", "--no-delta", (char *)path, NULL };
	if (!program) {
		g_test_skip("no babeltrace2 program");
		return NULL;
	}
	if (g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, &status,
			 &error) && !status)
		return out;
	g_free(out);
	g_test_skip("the babeltrace2 program failed");
	return NULL;
}

/* Cuts the next line off. */
static char *next_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');
	if (!*line)
		return NULL;
	if (end)
		*end++ = '\0';
	*at = end ? end : line + strlen(line);
	return line;
}

static void count_name(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	if (e->row < BLK_ROW_FIRST_PSEUDO)
		add_count(data, blk_class(t, e->cls)->name, 1);
	else if (e->row == BLK_ROW_TALLY)
		add_count(data, blk_class(t, e->cls)->name,
			  ((const struct blk_tally *)e->data)->count);
}

/* -- order, streams, losses ------------------------------------------------ */

struct order {
	int64_t last;
	unsigned state[64];		/* of streams: 0 not there, 1 added, 2 ended */
	struct blk_loss open[64];
	bool lost[64];
	uint64_t events, packets, losses;
	unsigned adds, ends;
	unsigned domains[3];
	GHashTable *counts;
};

static void check_loss(struct order *o, const struct blk_event *e)
{
	struct blk_loss l;
	memcpy(&l, e->data, sizeof l);
	g_assert_cmpint(l.begin_ns, <=, l.end_ns);
	if (e->row == BLK_ROW_LOST_BEGIN) {
		g_assert_cmpint(e->ts, ==, l.begin_ns);
		g_assert_false(o->lost[e->stream]);
		o->lost[e->stream] = true;
		o->open[e->stream] = l;
		o->events += l.events;
		o->packets += l.packets;
		o->losses++;
		return;
	}
	g_assert_cmpint(e->ts, ==, l.end_ns);
	g_assert_true(o->lost[e->stream]);
	g_assert_cmpmem(&l, sizeof l, &o->open[e->stream], sizeof l);
	o->lost[e->stream] = false;
}

static void check_order(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	struct order *o = data;
	g_assert_cmpint(e->ts, >=, o->last);
	o->last = e->ts;
	g_assert_cmpuint(e->stream, <, t->streams->len);
	g_assert_cmpuint(e->stream, <, 64);
	if (e->row == BLK_ROW_STREAM_ADD) {
		g_assert_cmpuint(o->state[e->stream]++, ==, 0);
		o->domains[blk_stream(t, e->stream)->domain]++;
		o->adds++;
		return;
	}
	g_assert_cmpuint(o->state[e->stream], ==, 1);
	if (e->row == BLK_ROW_STREAM_END) {
		o->state[e->stream]++;
		o->ends++;
	} else if (e->row == BLK_ROW_LOST_BEGIN || e->row == BLK_ROW_LOST_END) {
		check_loss(o, e);
	} else if (e->row == BLK_ROW_TALLY) {
		const struct blk_tally *tally = (const struct blk_tally *)e->data;
		g_assert_cmpint(tally->second, ==, e->ts / 1000000000);
		g_assert_cmpuint(tally->count, >, 0);
	} else {
		/* Nothing of a stream while its loss lasts. */
		g_assert_false(o->lost[e->stream]);
	}
}

static struct order ordered(const char *path, const struct blk_subscription *r, size_t n)
{
	struct order o = { .last = G_MININT64 };
	run(open_path(path, r, n), check_order, &o);
	g_assert_cmpuint(o.adds, ==, o.ends);
	return o;
}

static void check_and_count(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	struct order *o = data;
	check_order(t, e, o);
	count_name(t, e, o->counts);
}

/* All events with a row, and none: the same names, counts, streams and losses. */
static void test_counts(const void *name)
{
	g_autofree char *path = test_trace(name);
	g_autofree char *text = path ? oracle(path) : NULL;
	g_autoptr(GHashTable) want = new_counts(), is = new_counts(), tallied = new_counts();
	struct order all = { .last = G_MININT64, .counts = is };
	struct order none = { .last = G_MININT64, .counts = tallied };
	char event[256], *at = text;
	if (!path)
		return;
	run(open_all(path), check_and_count, &all);
	run(open_path(path, no_rows, 1), check_and_count, &none);
	assert_same_counts(tallied, is);
	g_assert_cmpuint(all.losses, ==, none.losses);
	g_assert_cmpuint(all.events, ==, none.events);
	g_assert_cmpuint(all.adds, >=, none.adds);	/* perf: a stream a CPU seen */
	g_assert_cmpuint(all.adds, ==, all.ends);
	for (char *line; text && (line = next_line(&at));)
		if (name_in(line, event))
			add_count(want, event, 1);
	if (text)
		assert_same_counts(is, want);
}

/* -- every event's instant, CPU, thread and, of some, fields --------------- */

static char *field_in(const char *line, const char *field)
{
	g_autofree char *key = g_strdup_printf(" %s = ", field);
	const char *p = strstr(line, key);
	if (!p)
		return g_strdup("none");
	p += strlen(key);
	if (*p == '"')
		return g_strndup(p + 1, strcspn(p + 1, "\""));
	return g_strndup(p, strcspn(p, " ,"));
}

static void line_key(GString *key, const char *line)
{
	static const char *const fields[] = { "cpu_id", "tid", "procname", "prev_comm", "prev_tid",
					      "prev_state", "next_tid", "flag" };
	char event[256];
	name_in(line, event);
	g_string_append_printf(key, "%.10s%.9s %s", line + 1, line + 12, event);
	bool is_switch = !strcmp(event, "sched_switch");
	bool is_stat = !strcmp(event, "syscall_entry_newfstatat");
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		g_autofree char *value = field_in(line, fields[i]);
		if (i == 1) {		/* tid: the context's, before the payload */
			const char *context = strstr(line, "}, {");
			g_free(value);
			value = field_in(context ? context : line, "tid");
		}
		if (i < 3 || (is_switch && i < 7) || (is_stat && i == 7))
			g_string_append_printf(key, " %s", value);
	}
}

static void text_key(GString *key, const struct blk_event *e, unsigned slot)
{
	struct blk_text t = blk_text(e, slot);
	g_string_append_printf(key, " %.*s", (int)t.len, t.str);
}

static void count_key(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	g_autoptr(GString) key = g_string_new(NULL);
	if (e->row >= BLK_ROW_FIRST_PSEUDO)
		return;
	g_string_append_printf(key, "%" G_GINT64_FORMAT " %s %u", e->ts, blk_class(t, e->cls)->name,
			       blk_stream(t, e->stream)->cpu);
	g_string_append_printf(key, " %" G_GINT64_FORMAT, blk_int(e, BLK_CTX_TID));
	text_key(key, e, BLK_CTX_PROCNAME);
	if (e->row == SWITCH) {
		text_key(key, e, BLK_FIELD0);
		for (unsigned i = 1; i < 4; i++)
			g_string_append_printf(key, " %" G_GINT64_FORMAT, blk_int(e, BLK_FIELD0 + i));
	}
	if (e->row == NEWFSTATAT)
		g_string_append_printf(key, " %" G_GINT64_FORMAT, blk_int(e, BLK_FIELD0 + 1));
	add_count(data, key->str, 1);
}

static void test_fields(const void *name)
{
	g_autofree char *path = test_trace(name);
	g_autofree char *text = path ? oracle(path) : NULL;
	g_autoptr(GHashTable) want = new_counts(), is = new_counts();
	char *at = text;
	if (!text)
		return;
	for (char *line; (line = next_line(&at));) {
		g_autoptr(GString) key = g_string_new(NULL);
		if (!strstr(line, ": {"))
			continue;
		line_key(key, line);
		add_count(want, key->str, 1);
	}
	run(open_all(path), count_key, is);
	assert_same_counts(is, want);
}

struct special {
	unsigned pipes, empty_names, names;
};

static void check_special(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	struct special *s = data;
	if (e->row == NEWFSTATAT) {
		/* AT_EMPTY_PATH: the name is "", never the one of the event before. */
		bool empty = blk_int(e, BLK_FIELD0 + 1) & 0x1000;
		g_assert_true(blk_has(e, BLK_FIELD0));
		g_assert_true(!empty || !blk_text(e, BLK_FIELD0).len);
		s->empty_names += empty;
		s->names += blk_text(e, BLK_FIELD0).len > 0;
	} else if (e->row == PIPE) {
		struct blk_text both = blk_text(e, BLK_FIELD0 + 1);
		int32_t fd;
		g_assert_cmpuint(both.len, ==, 8);
		memcpy(&fd, both.str + 4, 4);
		g_assert_cmpint(blk_int(e, BLK_FIELD0), ==, GINT32_FROM_LE(fd));
		g_assert_false(blk_has(e, BLK_FIELD0 + 2));	/* behind the end */
		s->pipes++;
	}
}

static void test_special_fields(void)
{
	g_autofree char *path = test_trace("kernel-small/trace");
	struct special s = { 0 };
	if (!path)
		return;
	run(open_all(path), check_special, &s);
	g_assert_cmpuint(s.pipes, >, 0);
	g_assert_cmpuint(s.empty_names, >, 0);
	g_assert_cmpuint(s.names, >, 0);
}

/* -- losses, chunks -------------------------------------------------------- */

static void test_lost_events(void)
{
	g_autofree char *path = test_trace("lost/trace");
	if (!path)
		return;
	struct order o = ordered(path, rows, G_N_ELEMENTS(rows));
	g_assert_cmpuint(o.events, ==, 53255);
	g_assert_cmpuint(o.packets, ==, 0);
}

static void test_lost_packets(void)
{
	g_autofree char *path = test_trace("lost/trace-overwrite");
	if (!path)
		return;
	struct order o = ordered(path, rows, G_N_ELEMENTS(rows));
	g_assert_cmpuint(o.packets, ==, 727);
}

/* Rotation chunks of a trace are one: two CPUs, two domains, nothing more. */
static void test_rotation(void)
{
	g_autofree char *path = test_trace("rotation/trace");
	if (!path)
		return;
	struct order o = ordered(path, rows, G_N_ELEMENTS(rows));
	g_assert_cmpuint(o.adds, ==, 4);
	g_assert_cmpuint(o.domains[BLK_DOMAIN_KERNEL], ==, 2);
	g_assert_cmpuint(o.domains[BLK_DOMAIN_UST], ==, 2);
	g_assert_cmpuint(o.losses, ==, 0);
}

/* -- clocks ---------------------------------------------------------------- */

struct current {
	int64_t tid[64];		/* by cpu; -1 unknown */
	unsigned right, wrong;
	bool other_boot;
};

static void check_current(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	struct current *c = data;
	const struct blk_stream *s = blk_stream(t, e->stream);
	if (e->row >= BLK_ROW_FIRST_PSEUDO)
		return;
	if (e->row == SWITCH)
		c->tid[s->cpu] = blk_int(e, BLK_FIELD0 + 3);
	c->other_boot |= s->host != 0;
	if (s->domain != BLK_DOMAIN_UST || c->tid[s->cpu] < 0)
		return;
	if (c->tid[s->cpu] == blk_int(e, BLK_CTX_VTID))
		c->right++;
	else
		c->wrong++;
}

/* Domains of one boot compare by raw cycles: whoever emits a UST event is the
 * kernel's current task on its CPU. */
static void test_clocks(const void *name)
{
	g_autofree char *path = test_trace(name);
	struct current c = { 0 };
	if (!path)
		return;
	memset(c.tid, 0xff, sizeof c.tid);
	run(open_all(path), check_current, &c);
	g_assert_false(c.other_boot);
	g_assert_cmpuint(c.right, >, 500);
	g_assert_cmpuint(c.wrong, ==, 0);
}

/* -- what callers rely on -------------------------------------------------- */

static void add_record(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	GChecksum *sum = data;
	g_checksum_update(sum, (const guchar *)&e->ts, sizeof e->ts);
	g_checksum_update(sum, (const guchar *)&e->row, sizeof e->row);
	for (unsigned i = 0; e->layout && i < BLK_MAX_SLOTS; i++) {
		int64_t v = blk_int(e, i);
		struct blk_text text = blk_text(e, i);
		g_checksum_update(sum, (const guchar *)&v, sizeof v);
		g_checksum_update(sum, (const guchar *)text.str, text.len);
	}
	if (e->row == BLK_ROW_TALLY)
		g_checksum_update(sum, e->data, sizeof(struct blk_tally));
}

/* A batch looked at after it is whole, a recording played later: the same bytes. */
static void test_recording(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = test_trace("kernel-ust/trace");
	g_autoptr(GChecksum) direct = g_checksum_new(G_CHECKSUM_MD5);
	g_autoptr(GChecksum) played = g_checksum_new(G_CHECKSUM_MD5);
	if (!path)
		return;
	uint64_t n = run(open_path(path, rows, ALL), add_record, direct);
	struct recording *r = recording_new(open_path(path, rows, ALL), &error);
	g_assert_no_error(error);
	g_assert_cmpuint(recording_n(r), ==, n);
	for (size_t i = 0; i < recording_n(r); i++)
		add_record(recording_tables(r), recording_event(r, i), played);
	recording_free(r);
	g_assert_cmpstr(g_checksum_get_string(direct), ==, g_checksum_get_string(played));
}

static void test_parts_and_whole(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = test_trace("kernel-ust/trace");
	g_autoptr(GChecksum) whole = g_checksum_new(G_CHECKSUM_MD5);
	g_autoptr(GChecksum) parts = g_checksum_new(G_CHECKSUM_MD5);
	if (!path)
		return;
	g_autofree char *ust = g_build_filename(path, "ust", NULL);
	g_autofree char *kernel = g_build_filename(path, "kernel", NULL);
	const char *paths[] = { ust, kernel, path, NULL };
	struct source *s = source_open_bt2(paths, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	run(open_all(path), add_record, whole);
	run(s, add_record, parts);
	g_assert_cmpstr(g_checksum_get_string(whole), ==, g_checksum_get_string(parts));
}

static void test_progress_and_cancel(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = test_trace("demo/trace");
	struct blk_batch batch;
	double last = 0;
	if (!path)
		return;
	struct source *s = open_all(path);
	for (int i = 0; i < 50; i++) {
		double now;
		g_assert_cmpint(source_next(s, &batch, &error), ==, SOURCE_OK);
		now = source_progress(s);
		g_assert_cmpfloat(now, >=, last);
		last = now;
	}
	g_assert_cmpfloat(last, >, 0);
	g_assert_cmpfloat(last, <, 1);
	source_cancel(s);
	g_assert_cmpint(source_next(s, &batch, &error), ==, SOURCE_CANCELLED);
	g_assert_cmpint(source_next(s, &batch, &error), ==, SOURCE_CANCELLED);
	g_assert_no_error(error);
	source_free(s);
	s = open_all(path);
	while (source_next(s, &batch, &error) == SOURCE_OK)
		;
	g_assert_cmpfloat(source_progress(s), ==, 1);
	g_assert_cmpint(source_next(s, &batch, &error), ==, SOURCE_END);
	source_free(s);
}

/* perf writes one stream for all CPUs; its events say theirs. */
static void check_perf(const struct blk_tables *t, const struct blk_event *e, void *data)
{
	if (e->row >= BLK_ROW_FIRST_PSEUDO)
		return;
	g_assert_true(g_str_has_prefix(blk_class(t, e->cls)->name, "sched:"));
	g_assert_cmpuint(blk_stream(t, e->stream)->cpu, <, 16);
	g_assert_true(blk_has(e, BLK_CTX_TID));
	++*(unsigned *)data;
}

static void test_perf(void)
{
	g_autofree char *path = test_trace("public/perf-taskset2");
	unsigned n = 0;
	if (!path)
		return;
	run(open_all(path), check_perf, &n);
	g_assert_cmpuint(n, ==, 1500);
}

int main(int argc, char **argv)
{
	static const char *const all[] = { "demo/trace", "kernel-small/trace", "kernel-ust/trace",
					   "lost/trace", "lost/trace-overwrite", "rotation/trace",
					   "snapshot/trace", "live/trace" };
	static const char *const foreign[] = { "context-switches-ust", "flipping-endianness",
					       "glxgears-cyg-profile", "perf-taskset2", "ros2",
					       "uneven-streams" };
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		if (traces_too_long(all[i]))
			continue;
		g_autofree char *counts = g_strdup_printf("/reader-bt2/counts/%s", all[i]);
		g_test_add_data_func(counts, all[i], test_counts);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
		g_autofree char *counts = g_strdup_printf("/reader-bt2/counts/public/%s", foreign[i]);
		g_test_add_data_func_full(counts, g_strconcat("public/", foreign[i], NULL), test_counts,
					  g_free);
	}
	g_test_add_data_func("/reader-bt2/fields/kernel-small", "kernel-small/trace", test_fields);
	g_test_add_data_func("/reader-bt2/fields/lost", "lost/trace/kernel", test_fields);
	g_test_add_func("/reader-bt2/fields/special", test_special_fields);
	g_test_add_func("/reader-bt2/lost/events", test_lost_events);
	g_test_add_func("/reader-bt2/lost/packets", test_lost_packets);
	g_test_add_func("/reader-bt2/rotation", test_rotation);
	g_test_add_data_func("/reader-bt2/clocks/kernel-ust", "kernel-ust/trace", test_clocks);
	g_test_add_data_func("/reader-bt2/clocks/rotation", "rotation/trace", test_clocks);
	g_test_add_func("/reader-bt2/recording", test_recording);
	g_test_add_func("/reader-bt2/parts-and-whole", test_parts_and_whole);
	g_test_add_func("/reader-bt2/progress-and-cancel", test_progress_and_cancel);
	g_test_add_func("/reader-bt2/perf", test_perf);
	return g_test_run();
}
