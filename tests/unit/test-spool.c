/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spool: fed with the packets of a recording it is that recording; bounded, private,
 * readable at any time, whatever is pushed and however it ends.
 */
#include "lib/sources.h"
#include "lib/made_feed.h"
#include "lib/test_traces.h"
#include "live/spool/spool.h"
#include "live/spool/spool_files.h"
#include "live/spool/spool_old.h"
#include "state/publish/model.h"
#include "trace/native/native.h"

#include "base/files.h"

#include <glib/gstdio.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a recording as packets ---- */

struct packet { unsigned trace, stream; uint64_t begin; GBytes *bytes; };

struct story {
	GPtrArray *metadata;		/* GBytes *, of each trace */
	GArray *stream_trace;		/* unsigned */
	GArray *packets;		/* struct packet, in order of time */
};

static int compare_packets(const void *a, const void *b)
{
	const struct packet *x = a, *y = b;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static GBytes *bytes_of(const char *path)
{
	char *bytes;
	gsize n;
	g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
	return g_bytes_new_take(bytes, n);
}

static void add_file(struct story *s, const struct ctf_meta *m, const char *dir, const char *name)
{
	struct ctf_index *x = ctf_index_open(m, dir, name, NULL);
	unsigned trace = s->metadata->len - 1, stream = s->stream_trace->len;
	size_t n;
	if (!x)
		return;
	while (ctf_index_walk(x, SIZE_MAX))
		;
	const struct ctf_packet *p = ctf_index_packets(x, &n);
	g_autoptr(GBytes) file = bytes_of(ctf_index_name(x));
	g_array_append_val(s->stream_trace, trace);
	for (size_t i = 0; i < n; i++) {
		struct packet each = { trace, stream, p[i].begin,
				       g_bytes_new_from_bytes(file, p[i].offset, p[i].packet_bits / 8) };
		g_array_append_val(s->packets, each);
	}
	ctf_index_free(x);
}

static void add_trace(struct story *s, const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	GBytes *metadata = bytes_of(path);
	g_ptr_array_add(s->metadata, metadata);
	g_assert_true(ctf_meta_append(m, g_bytes_get_data(metadata, NULL), g_bytes_get_size(metadata), NULL));
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	for (const char *name; (name = g_dir_read_name(d));) {
		g_autofree char *file = g_build_filename(dir, name, NULL);
		if (name[0] != '.' && strcmp(name, "metadata") && g_file_test(file, G_FILE_TEST_IS_REGULAR))
			add_file(s, m, dir, name);
	}
}

static void packet_clear(void *p)
{
	g_bytes_unref(((struct packet *)p)->bytes);
}

/* False: the recording is not here. */
static bool story_init(struct story *s, const char *recording)
{
	g_autofree char *path = test_trace(recording);
	const char *const paths[] = { path, NULL };
	if (!path)
		return false;
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, NULL);
	s->metadata = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	s->stream_trace = g_array_new(FALSE, FALSE, sizeof(unsigned));
	s->packets = g_array_new(FALSE, FALSE, sizeof(struct packet));
	g_array_set_clear_func(s->packets, packet_clear);
	for (guint i = 0; i < dirs->len; i++)
		add_trace(s, dirs->pdata[i]);
	g_array_sort(s->packets, compare_packets);
	return true;
}

static void story_clear(struct story *s)
{
	g_ptr_array_unref(s->metadata);
	g_array_unref(s->stream_trace);
	g_array_unref(s->packets);
}

/* Metadata in pieces cut anywhere, as a connection gives it. */
static void push_head(struct spool *spool, const struct story *s)
{
	for (guint i = 0; i < s->metadata->len; i++) {
		GBytes *all = g_ptr_array_index(s->metadata, i);
		gsize n = g_bytes_get_size(all), at = 0;
		g_assert_cmpuint(spool_add_trace(spool, "web1/kernel"), ==, i);
		while (at < n) {
			gsize piece = (gsize)g_test_rand_int_range(1, 100000);
			piece = MIN(piece, n - at);
			spool_metadata(spool, i, g_bytes_new_from_bytes(all, at, piece));
			at += piece;
		}
	}
	for (guint i = 0; i < s->stream_trace->len; i++)
		g_assert_cmpuint(spool_add_stream(spool, g_array_index(s->stream_trace, unsigned, i), "k0"),
				 ==, i);
}

static void push_packet(struct spool *spool, const struct story *s, guint i)
{
	const struct packet *p = &g_array_index(s->packets, struct packet, i);
	spool_packet(spool, p->stream, g_bytes_ref(p->bytes));
}

/* ---- what is on disk ---- */

static char *records_of(struct source *source)
{
	GString *s = g_string_new(NULL);
	struct blk_batch b;
	g_autoptr(GError) error = NULL;
	enum source_status st = SOURCE_ERROR;

	while (source && (st = source_next(source, &b, &error)) == SOURCE_OK)
		for (size_t i = 0; i < b.n; i++)
			if (b.ev[i].row < BLK_ROW_FIRST_PSEUDO)
				g_string_append_printf(s, "%" G_GINT64_FORMAT " %u %u\n", b.ev[i].ts, b.ev[i].row,
						       blk_stream(&source->tables, b.ev[i].stream)->cpu);
	g_assert_no_error(error);
	g_assert_cmpint(st, ==, SOURCE_END);
	source_free(source);
	return g_string_free(s, FALSE);
}

static char *records(const char *path, bool bt2)
{
	const char *const paths[] = { path, NULL };
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	struct source *source = bt2 ? source_open_bt2(paths, rows, n, &error)
				    : source_open_native(paths, rows, n, &error);
	g_assert_no_error(error);
	return records_of(source);
}

static char *recording_records(const char *recording, bool bt2)
{
	g_autofree char *path = test_trace(recording);
	return records(path, bt2);
}

/* Bytes below; all of it is private, and has plain names. */
static uint64_t weigh(const char *path)
{
	GStatBuf st;
	g_assert_cmpint(g_lstat(path, &st), ==, 0);
	bool is_dir = S_ISDIR(st.st_mode);
	g_assert_true(is_dir || S_ISREG(st.st_mode));
	g_assert_cmpint(st.st_mode & 0777, ==, is_dir ? 0700 : 0600);
	uint64_t bytes = is_dir ? 0 : (uint64_t)st.st_size;
	g_autoptr(GDir) dir = is_dir ? g_dir_open(path, 0, NULL) : NULL;
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		g_assert_cmpuint(strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-"), ==,
				 strlen(name));
		bytes += weigh(child);
	}
	return bytes;
}

static unsigned entries(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	unsigned n = 0;
	while (dir && g_dir_read_name(dir))
		n++;
	return n;
}

/* ---- cases ---- */

static void test_whole(const void *recording)
{
	g_autofree char *dir = test_temp_dir(), *deep = g_build_filename(dir, "state", "spool", NULL);
	struct story s = { 0 };
	struct spool_status status;
	if (story_init(&s, recording)) {
		struct spool *spool = spool_new(deep, SPOOL_DEFAULT_LIMIT, "relay1 prod", NULL);
		g_autofree char *path = g_strdup(spool_path(spool));
		push_head(spool, &s);
		for (guint i = 0; i < s.packets->len; i++)
			push_packet(spool, &s, i);
		g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
		spool_get_status(spool, &status);
		g_assert_cmpstr(status.message, ==, "");
		g_assert_cmpuint(status.dropped + status.refused, ==, 0);
		g_assert_cmpint(status.from_ns, <, status.to_ns);
		spool_unref(spool);
		/* Older versions of babeltrace2 cannot read CTF 2. */
		int n_readers = g_str_has_prefix(recording, "ctf2/") ? 1 : 2;
		for (int bt2 = 0; bt2 < n_readers; bt2++) {
			g_autofree char *expected = recording_records(recording, bt2);
			g_autofree char *got = records(path, bt2);
			g_assert_cmpstr(expected, ==, got);
		}
		g_assert_cmpuint(weigh(deep), >, 0);
		story_clear(&s);
	}
	test_remove_tree(dir);
}

/* After every packet, as somebody finds it who looks then. */
static void test_growing(void)
{
	g_autofree char *dir = test_temp_dir();
	struct story s = { 0 };
	if (story_init(&s, "lost/trace")) {
		struct spool *spool = spool_new(dir, SPOOL_DEFAULT_LIMIT, "x", NULL);
		size_t before = 0;
		push_head(spool, &s);
		for (guint i = 0; i < s.packets->len; i++) {
			push_packet(spool, &s, i);
			g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
			g_autofree char *got = records(spool_path(spool), i % 2);
			g_assert_cmpuint(strlen(got), >=, before);
			before = strlen(got);
		}
		g_assert_cmpuint(before, >, 0);
		spool_unref(spool);
		story_clear(&s);
	}
	test_remove_tree(dir);
}

static struct spool_files *open_small(const char *dir, const struct story *s, uint64_t limit)
{
	struct spool_files *f = spool_files_new(dir, limit, "x", NULL);
	g_assert_nonnull(f);
	for (guint i = 0; i < s->metadata->len; i++) {
		gsize n;
		const void *all = g_bytes_get_data(g_ptr_array_index(s->metadata, i), &n);
		spool_files_add_trace(f, "t");
		g_assert_true(spool_files_metadata(f, i, all, n, NULL));
	}
	for (guint i = 0; i < s->stream_trace->len; i++)
		spool_files_add_stream(f, g_array_index(s->stream_trace, unsigned, i), "s");
	return f;
}

static void put_packet(struct spool_files *f, const struct story *s, guint i)
{
	const struct packet *p = &g_array_index(s->packets, struct packet, i);
	g_autoptr(GError) error = NULL;
	gsize n;
	const void *bytes = g_bytes_get_data(p->bytes, &n);
	g_assert_true(spool_files_packet(f, p->stream, bytes, n, NULL, &error));
	g_assert_no_error(error);
}

static const char *last_line(const char *text)
{
	size_t n = strlen(text);
	while (n > 1 && text[n - 2] != '\n')
		n--;
	return text + n - 1;
}

/* However much comes, what stays is less than the limit: the end of it. */
static void test_limit(void)
{
	g_autofree char *dir = test_temp_dir();
	const uint64_t limit = 640 << 10;
	struct story s = { 0 };
	if (story_init(&s, "lost/trace")) {
		struct spool_files *f = open_small(dir, &s, limit);
		for (guint i = 0; i < s.packets->len; i++) {
			put_packet(f, &s, i);
			g_assert_cmpuint(weigh(dir), <=, limit);
		}
		g_assert_cmpuint(spool_files_oldest(f), >, 1);
		g_autofree char *all = recording_records("lost/trace", false);
		g_autofree char *got = records(spool_files_path(f), false);
		g_assert_cmpuint(strlen(got), >, 0);
		g_assert_cmpuint(strlen(got), <, strlen(all));
		g_assert_cmpstr(last_line(all), ==, last_line(got));
		spool_files_free(f);
		story_clear(&s);
	}
	test_remove_tree(dir);
}

/* What runs left that are over goes first; what somebody holds stays. */
static void test_old_runs(void)
{
	g_autofree char *dir = test_temp_dir(), *foreign = g_build_filename(dir, "mine", NULL);
	struct story s = { 0 };
	if (story_init(&s, "lost/trace")) {
		g_assert_cmpint(g_mkdir(foreign, 0700), ==, 0);
		for (int run = 0; run < 2; run++) {
			struct spool_files *old = open_small(dir, &s, 64 << 20);
			for (guint i = 0; i < s.packets->len; i++)
				put_packet(old, &s, i);
			spool_files_free(old);
		}
		struct spool_files *held = open_small(dir, &s, 64 << 20);
		put_packet(held, &s, 0);
		g_assert_cmpuint(entries(dir), ==, 4);
		struct spool_files *f = open_small(dir, &s, 1 << 20);
		for (guint i = 0; i < s.packets->len; i++)
			put_packet(f, &s, i);
		g_assert_cmpuint(entries(dir), ==, 3);	/* this one, the held one, and no run at all */
		g_assert_true(g_file_test(spool_files_path(held), G_FILE_TEST_IS_DIR));
		g_assert_true(g_file_test(foreign, G_FILE_TEST_IS_DIR));
		spool_files_free(f);
		spool_files_free(held);
		story_clear(&s);
	}
	test_remove_tree(dir);
}

static guint n_chunks(const char *dir)
{
	g_autoptr(GPtrArray) names = files_list(dir, 1000);
	return names ? names->len : 0;
}

/* A ring that is held has everything; later only its first chunk and what is young enough: here nothing is. */
static void test_ring(void)
{
	g_autofree char *dir = test_temp_dir();
	struct spool_status st;
	struct story s = { 0 };
	if (story_init(&s, "lost/trace")) {
		struct spool *spool = spool_new_whole(dir, 1);
		spool_hold(spool, true, 0);
		push_head(spool, &s);
		for (guint i = 0; i + 1 < s.packets->len; i++) {
			gint64 now = g_get_monotonic_time();
			while (g_get_monotonic_time() < now + 2)
				;
			push_packet(spool, &s, i);
		}
		g_assert_true(spool_hold(spool, true, 60 * G_USEC_PER_SEC));
		guint before = n_chunks(dir);
		g_assert_cmpuint(before, >, 2);
		push_packet(spool, &s, s.packets->len - 1);
		g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
		g_assert_cmpuint(n_chunks(dir), >=, before);
		g_autofree char *all = recording_records("lost/trace", false), *held = records(dir, false);
		g_assert_cmpstr(all, ==, held);

		g_assert_true(spool_hold(spool, false, 0));
		push_packet(spool, &s, s.packets->len - 1);
		g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
		spool_get_status(spool, &st);
		g_assert_cmpuint(n_chunks(dir), <=, 4);
		g_autofree char *first = g_build_filename(dir, "00000001", NULL);
		g_autofree char *second = g_build_filename(dir, "00000002", NULL);
		g_assert_true(g_file_test(first, G_FILE_TEST_IS_DIR));
		g_assert_false(g_file_test(second, G_FILE_TEST_EXISTS));
		g_assert_cmpuint(st.packets, ==, s.packets->len + 1);
		g_assert_cmpuint(st.from_ns, <=, st.to_ns);
		spool_unref(spool);
		story_clear(&s);
	}
	test_remove_tree(dir);
}

/* A run that was killed within a packet: it reads; the next run cuts the half one off. */
static void test_killed(void)
{
	g_autofree char *dir = test_temp_dir();
	struct story s = { 0 };
	if (story_init(&s, "lost/trace")) {
		struct spool *spool = spool_new(dir, SPOOL_DEFAULT_LIMIT, "x", NULL);
		g_autofree char *path = g_strdup(spool_path(spool));
		push_head(spool, &s);
		for (guint i = 0; i < s.packets->len / 2; i++)
			push_packet(spool, &s, i);
		g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
		spool_unref(spool);
		g_autofree char *whole = records(path, false);
		g_autofree char *trace = g_build_filename(path, "00000001", "web1_kernel-0", NULL);
		g_autofree char *file = g_build_filename(trace, "k0-0", NULL);
		FILE *half = fopen(file, "a");
		g_assert_nonnull(half);
		const struct packet *p = &g_array_index(s.packets, struct packet, 0);
		fwrite(g_bytes_get_data(p->bytes, NULL), 1, g_bytes_get_size(p->bytes) / 2, half);
		fclose(half);
		g_autofree char *found = records(path, false);	/* with what it can of the half */
		g_assert_cmpuint(strlen(found), >=, strlen(whole));
		spool_unref(spool_new(dir, SPOOL_DEFAULT_LIMIT, "y", NULL));
		for (int bt2 = 0; bt2 < 2; bt2++) {
			g_autofree char *mended = records(path, bt2);
			g_assert_cmpuint(strlen(mended), ==, strlen(whole));
		}
		story_clear(&s);
	}
	test_remove_tree(dir);
}

/* Killed for real, at any moment: whatever is there reads. */
static void test_killed_any_time(void)
{
	const char *child = g_getenv("TEST_SPOOL_DIR");
	g_autofree char *dir = child ? NULL : test_temp_dir();
	struct story s = { 0 };
	if (!story_init(&s, "lost/trace")) {
		;
	} else if (child) {
		struct spool *spool = spool_new(child, SPOOL_LEAST, "x", NULL);
		push_head(spool, &s);
		for (guint i = 0;; i = (i + 1) % s.packets->len) {
			push_packet(spool, &s, i);
			if (i == s.packets->len / 3 && spool_flush(spool, 60 * G_USEC_PER_SEC))
				g_assert_cmpint(write(STDOUT_FILENO, "+", 1), ==, 1);
		}
	}
	for (int i = 0; dir && s.packets && i < 5; i++) {
		g_autofree char *exe = g_file_read_link("/proc/self/exe", NULL);
		char *argv[] = { exe, (char *)"-p", (char *)"/spool/killed-any-time", NULL };
		g_auto(GStrv) env = g_environ_setenv(g_get_environ(), "TEST_SPOOL_DIR", dir, TRUE);
		GPid pid;
		int out;
		char c = 0;
		g_assert_true(g_spawn_async_with_pipes(NULL, argv, env, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
						       &pid, NULL, &out, NULL, NULL));
		while (read(out, &c, 1) == 1 && c != '+')
			;
		g_assert_cmpint(c, ==, '+');
		g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
		while (read(out, &c, 1) > 0)
			;
		close(out);
		g_autofree char *got = records(dir, false);
		g_assert_cmpuint(strlen(got), >, 0);
	}
	if (s.packets)
		story_clear(&s);
	if (dir)
		test_remove_tree(dir);
}

/* A disk that takes no more: a message, and what is there reads. */
static void test_full(void)
{
	g_autofree char *dir = NULL;
	struct story s = { 0 };
	struct spool_status status;
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
		g_test_trap_assert_passed();
		return;
	}
	if (!story_init(&s, "demo/trace"))
		return;
	dir = test_temp_dir();
	struct rlimit most = { 2 << 20, 2 << 20 };
	signal(SIGXFSZ, SIG_IGN);
	g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &most), ==, 0);
	struct spool *spool = spool_new(dir, SPOOL_DEFAULT_LIMIT, "x", NULL);
	push_head(spool, &s);
	for (guint i = 0; i < s.packets->len; i++)
		push_packet(spool, &s, i);
	g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
	spool_get_status(spool, &status);
	g_assert_true(status.stopped);
	g_assert_nonnull(strstr(status.message, "the spool stopped: cannot write '"));
	g_assert_nonnull(strstr(status.message, "File too large"));
	g_autofree char *got = records(spool_path(spool), true);
	g_assert_cmpuint(strlen(got), >, 0);
	spool_unref(spool);
	story_clear(&s);
	test_remove_tree(dir);
}

/* How many events "said" and "later" are in the spool as it is now. */
static void count_made(struct spool *spool, unsigned said, unsigned later)
{
	static const struct blk_subscription rows[] = { { .event = "said", .fields = { "n" } },
							{ .event = "later", .fields = { "text" } } };
	const char *const paths[] = { spool_path(spool), NULL };
	g_autoptr(GError) error = NULL;
	struct blk_batch b;
	unsigned n[2] = { 0 };

	g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
	g_autoptr(blk_source) source = source_open_native(paths, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	while (source_next(source, &b, &error) == SOURCE_OK)
		for (size_t i = 0; i < b.n; i++)
			if (b.ev[i].row < G_N_ELEMENTS(n))
				n[b.ev[i].row]++;
	g_assert_no_error(error);
	g_assert_cmpuint(n[0], ==, said);
	g_assert_cmpuint(n[1], ==, later);
}

static void push_text(struct spool *spool, const char *text, size_t n)
{
	spool_metadata(spool, 0, g_bytes_new(text, n));
}

/* Metadata that ends anywhere, as when the connection breaks: what is stored can be read. The events are there once
 * their stream is declared. */
static void test_metadata_cut(void)
{
	g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
	const char *stream = strstr(text, "event { id = 0"), *said = strstr(text, "event { id = 1");
	const char *last = text + strlen(text);

	for (const char *end = text + 20; end < last; end += 31) {
		g_autofree char *dir = test_temp_dir();
		struct spool *spool = spool_new(dir, SPOOL_DEFAULT_LIMIT, "x", NULL);
		const char *const paths[] = { spool_path(spool), NULL };
		struct made m = { .uuid = 1 };
		g_autoptr(GError) error = NULL;

		spool_add_trace(spool, "t");
		unsigned s = spool_add_stream(spool, 0, "s");
		push_text(spool, text, (size_t)(end - text));
		spool_packet(spool, s, made_packet(&m, 1000, 2000, 0, 5));
		g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
		g_test_message("%.20s", end);
		if (end > said) {
			count_made(spool, 5, 0);
		} else {
			struct source *source = source_open_native(paths, NULL, 0, &error);
			source_free(source);
			if (end > stream + 1)
				g_assert_no_error(error);
			g_assert_true(!error || strstr(error->message, "no 'metadata' file"));
			if (end <= stream) {
				push_text(spool, end, strlen(end));	/* the packet before it counts */
				count_made(spool, 5, 0);
			}
		}
		spool_unref(spool);
		test_remove_tree(dir);
	}
}

/* Plain text that grows is readable at any time: half a declaration is written when the rest has
 * come. Then it begins again. */
static void test_metadata_grows(void)
{
	g_autofree char *dir = test_temp_dir(), *text = made_metadata(1, "ust", BOOT_1, 0);
	g_autofree char *again = g_strconcat(text, more_metadata, NULL);
	struct spool *spool = spool_new(dir, SPOOL_DEFAULT_LIMIT, "x", NULL);
	struct made m = { .uuid = 1 };
	size_t half = strlen(more_metadata) / 2;

	spool_add_trace(spool, "t");
	unsigned s = spool_add_stream(spool, 0, "s");
	push_text(spool, text, strlen(text));
	spool_packet(spool, s, made_packet(&m, 1000, 2000, 0, 5));
	count_made(spool, 5, 0);
	push_text(spool, more_metadata, half);
	spool_packet(spool, s, made_packet(&m, 2000, 3000, 0, 5));
	count_made(spool, 10, 0);
	push_text(spool, more_metadata + half, strlen(more_metadata) - half);
	spool_packet(spool, s, made_packet(&m, 3000, 4000, 300, 5));
	count_made(spool, 10, 5);
	spool_metadata_restart(spool, 0);
	spool_packet(spool, s, made_packet(&m, 4000, 5000, 0, 5));	/* waits: nobody knows what it is */
	count_made(spool, 10, 5);
	push_text(spool, again, strlen(again) - half);
	spool_packet(spool, s, made_packet(&m, 5000, 6000, 0, 5));
	count_made(spool, 20, 5);
	push_text(spool, again + strlen(again) - half, half);
	spool_packet(spool, s, made_packet(&m, 6000, 7000, 300, 5));
	count_made(spool, 20, 10);
	spool_unref(spool);
	test_remove_tree(dir);
}

/* A relay may deliver packets before their metadata: they wait, in order, also for the end of the trace or of the
 * spool. Without metadata they are refused: when others need the room, at the end of their trace, and at the end. */
static void test_early(void)
{
	g_autofree char *dir = test_temp_dir(), *text = made_metadata(1, "ust", BOOT_1, 0);
	struct spool *spool = spool_new(dir, SPOOL_DEFAULT_LIMIT, "x", NULL);
	struct made m = { .uuid = 1 };
	struct spool_status st;
	enum { BIG = 20 << 20 };

	for (unsigned i = 0; i < 4; i++) {
		spool_add_trace(spool, "t");
		spool_add_stream(spool, i, "s");
	}
	for (unsigned i = 0; i < 3; i++)
		spool_packet(spool, i, g_bytes_new_take(g_malloc0(BIG), BIG));
	g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
	for (uint64_t at = 1000; at < 4000; at += 1000)
		spool_packet(spool, 3, made_packet(&m, at, at + 1000, 0, 5));
	g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
	spool_get_status(spool, &st);
	g_assert_cmpuint(st.packets + st.refused + st.dropped, ==, 0);
	spool_packet(spool, 2, g_bytes_new_take(g_malloc0(BIG), BIG));
	g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
	spool_get_status(spool, &st);
	g_assert_cmpuint(st.refused, ==, 1);			/* the first trace's gave room */
	spool_end_trace(spool, 1);
	spool_metadata(spool, 3, g_bytes_new(text, 10));
	spool_metadata(spool, 3, g_bytes_new(text + 10, strlen(text) - 10));
	count_made(spool, 15, 0);
	spool_get_status(spool, &st);
	g_assert_cmpuint(st.refused, ==, 2);
	g_assert_cmpuint(st.packets, ==, 3);
	g_assert_true(spool_end(spool));
	spool_get_status(spool, &st);
	g_assert_cmpuint(st.refused, ==, 4);
	spool_unref(spool);
	test_remove_tree(dir);
}

static void test_hostile(void)
{
	static const char *const names[] = { "../../../tmp/x", "\033]0;owned\007", "", ".", "metadata", "a/b",
					     "index" };
	g_autofree char *dir = test_temp_dir();
	struct spool_status status;
	struct story s = { 0 };
	if (story_init(&s, "lost/trace")) {
		struct spool *spool = spool_new(dir, SPOOL_DEFAULT_LIMIT, "../\033[2J", NULL);
		const struct packet *p = &g_array_index(s.packets, struct packet, 0);
		gsize n = g_bytes_get_size(p->bytes);
		unsigned stream = 0;
		for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
			spool_add_trace(spool, names[i]);
			spool_metadata(spool, i, g_bytes_ref(g_ptr_array_index(s.metadata, p->trace)));
			stream = spool_add_stream(spool, i, names[i]);
			spool_packet(spool, stream, g_bytes_ref(p->bytes));
		}
		spool_packet(spool, stream, g_bytes_new_from_bytes(p->bytes, 0, n - 1));
		spool_packet(spool, stream, g_bytes_new_from_bytes(p->bytes, 8, n - 8));
		spool_packet(spool, stream, g_bytes_new(NULL, 0));
		spool_add_trace(spool, "no metadata");
		spool_packet(spool, spool_add_stream(spool, G_N_ELEMENTS(names), "x"), g_bytes_ref(p->bytes));
		g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
		spool_get_status(spool, &status);
		g_assert_cmpstr(status.message, ==, "");
		g_assert_cmpuint(status.refused, ==, 3);	/* the last waits */
		g_assert_true(g_str_has_prefix(spool_path(spool), dir));
		g_assert_cmpuint(entries(dir), ==, 1);
		weigh(dir);
		g_autofree char *got = records(spool_path(spool), false);
		g_assert_cmpuint(strlen(got), >, 0);
		spool_unref(spool);
		story_clear(&s);
	}
	test_remove_tree(dir);
}

#define PROCESSES 4000
#define GROWTH (200u << 10)		/* bytes, over three quarters of them */

static void push_process(struct spool *spool, unsigned i)
{
	struct made m = { .uuid = (int)i + 1, .instance = 1 };
	char *text = made_metadata((int)i + 1, "ust", BOOT_1, 0);

	g_assert_cmpuint(spool_add_trace(spool, "h-ust-pid-worker"), ==, i);
	spool_metadata(spool, i, g_bytes_new_take(text, strlen(text)));
	g_assert_cmpuint(spool_add_stream(spool, i, "chan_0"), ==, i);
	spool_packet(spool, i, made_packet(&m, i * UINT64_C(1000) + 1, i * UINT64_C(1000) + 900, 0, 3));
	spool_end_trace(spool, i);
}

/* Processes with buffers of their own come and go: what is over leaves nothing behind but on the disk. What is still
 * said of it is refused. */
static void test_processes(void)
{
	g_autofree char *dir = test_temp_dir();
	struct spool *spool = spool_new(dir, SPOOL_LEAST, "x", NULL);
	struct made m = { .uuid = 1, .instance = 1 };
	struct spool_status st;
	size_t early = 0;

	for (unsigned i = 0; i < PROCESSES; i++) {
		push_process(spool, i);
		if (i % 10 == 0)	/* what waits has its room kept */
			g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
		if (i == PROCESSES / 4)
			early = mallinfo2().uordblks;
	}
	g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
	g_assert_cmpuint(mallinfo2().uordblks, <, early + GROWTH);
	spool_metadata(spool, 0, g_bytes_new_static("late", 4));
	spool_metadata_restart(spool, 0);
	spool_end_trace(spool, 0);
	spool_add_stream(spool, 0, "late");
	spool_packet(spool, PROCESSES, made_packet(&m, 1, 900, 0, 3));
	spool_packet(spool, 0, made_packet(&m, 1, 900, 0, 3));
	g_assert_true(spool_flush(spool, 60 * G_USEC_PER_SEC));
	spool_get_status(spool, &st);
	g_assert_cmpuint(st.refused, ==, 2);
	g_assert_false(st.stopped);
	spool_unref(spool);
	test_remove_tree(dir);
}

static void test_cannot(void)
{
	g_autoptr(GError) error = NULL;
	g_assert_null(spool_new("/proc/nowhere", SPOOL_LEAST, "x", &error));
	g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
	g_assert_nonnull(strstr(error->message, "cannot make '/proc/nowhere'"));
	spool_unref(NULL);
}

static void test_link(void)
{
	static const char *const ends[] = { "", "/", "/.", "/./" };
	g_autofree char *dir = test_temp_dir(), *real = g_build_filename(dir, "real", NULL);
	g_autofree char *link = g_build_filename(dir, "link", NULL);
	g_autofree char *dangling = g_build_filename(dir, "dangling", NULL);

	g_assert_true(spool_make_dir(real, NULL));
	g_assert_no_errno(symlink("real", link));
	g_assert_no_errno(symlink("nowhere", dangling));
	for (size_t i = 0; i < 2 * G_N_ELEMENTS(ends); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *path = g_strconcat(i % 2 ? link : dangling, ends[i / 2], NULL);
		g_assert_null(spool_new(path, SPOOL_LEAST, "x", &error));
		g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_LOOP);
	}
	g_assert_cmpuint(entries(real), ==, 0);
	/* What is below a link is the user's own choice: a state directory on another disk. */
	g_autofree char *below = g_build_filename(link, "spool", NULL);
	struct spool *spool = spool_new(below, SPOOL_LEAST, "x", NULL);
	g_assert_nonnull(spool);
	spool_unref(spool);
	test_remove_tree(dir);
}

int main(int argc, char **argv)
{
	static const char *const recordings[] = { "demo/trace", "kernel-ust/trace", "lost/trace",
						  "snapshot/trace", "ctf2/lost/trace" };

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(recordings); i++) {
		g_autofree char *path = g_strdup_printf("/spool/whole/%s", recordings[i]);
		g_test_add_data_func(path, recordings[i], test_whole);
	}
	g_test_add_func("/spool/growing", test_growing);
	g_test_add_func("/spool/metadata-grows", test_metadata_grows);
	g_test_add_func("/spool/metadata-cut", test_metadata_cut);
	g_test_add_func("/spool/early", test_early);
	g_test_add_func("/spool/limit", test_limit);
	g_test_add_func("/spool/old-runs", test_old_runs);
	g_test_add_func("/spool/ring", test_ring);
	g_test_add_func("/spool/killed", test_killed);
	g_test_add_func("/spool/killed-any-time", test_killed_any_time);
	g_test_add_func("/spool/full", test_full);
	g_test_add_func("/spool/hostile", test_hostile);
	g_test_add_func("/spool/processes", test_processes);
	g_test_add_func("/spool/cannot", test_cannot);
	g_test_add_func("/spool/link", test_link);
	return g_test_run();
}
