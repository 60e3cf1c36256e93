/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is read: see input.h. The job's thread opens and closes the source while the main thread asks for the state of
 * the connection. `source` is guarded by `lock`, and is cleared before the source is freed.
 */
#include "app/input.h"

#include "app/messages.h"

#include "live/spool/spool.h"
#include "trace/reader.h"

#include "base/disk.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "export/import.h"
#include "run/cache.h"
#include "run/chunks.h"
#include "run/map.h"
#include "run/slice_dir.h"
#include "state/publish/model.h"
#include "state/slice/slice_file.h"
#include "state/slice/slice_history.h"
#include "state/spans/rules.h"
#include "trace/align.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_US 50000		/* longest wait for a slow disk */
/* A recording of the last seconds has a state dump so often, and each costs 20 to 100 us a thread. */
#define STATES_A_RANGE 3
#define STATE_EVERY_US (2 * G_USEC_PER_SEC)

struct input {
	gatomicrefcount refs;
	char **paths;			/* NULL: live */
	enum reader reader;
	bool watched;			/* .paths is a directory of slices that appear later */
	int64_t step_ns;		/* length of a "second"; from the first input_start() on */
	bool count_threads;
	bool records, only_stores;	/* input_record() */
	struct cache_place cache;
	char **chunks;			/* --chunks; NULL: not given */
	GArray *urls;			/* struct live_url */
	struct live_options options;
	char *label;
	GMutex lock;
	struct source *source;		/* live, while it is open */
};

static struct input *input_new(void)
{
	struct input *in = g_new0(struct input, 1);
	g_atomic_ref_count_init(&in->refs);
	g_mutex_init(&in->lock);
	return in;
}

void input_unref(struct input *in)
{
	if (!in || !g_atomic_ref_count_dec(&in->refs))
		return;
	g_strfreev(in->paths);
	if (in->urls)
		g_array_unref(in->urls);
	g_free(in->label);
	g_free(in->cache.dir);
	g_strfreev(in->chunks);
	spool_unref(in->options.spool);
	g_mutex_clear(&in->lock);
	g_free(in);
}

/* The last component of a path that is not generic: "demo" of ".../demo/trace/". */
static char *label_path(const char *path)
{
	static const char *const generic[] = { "trace", "kernel", "ust", ".", "..", "/", NULL };
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	g_autofree char *name = g_path_get_basename(absolute);

	while (g_strv_contains(generic, name)) {
		g_autofree char *parent = g_path_get_dirname(absolute);
		if (g_str_equal(parent, absolute))
			break;
		g_free(absolute);
		absolute = g_steal_pointer(&parent);
		g_free(name);
		name = g_path_get_basename(absolute);
	}
	return text_visible(name);
}

struct input *input_new_paths(const char *const *paths, enum reader reader, bool watched)
{
	struct input *in = input_new();
	in->reader = reader;
	in->watched = watched;
	in->paths = g_strdupv((char **)paths);
	in->label = label_path(paths[0]);
	guint more = g_strv_length(in->paths) - 1;
	if (more > 0) {
		g_autofree char *first = in->label;
		in->label = g_strdup_printf("%s +%u", first, more);
	}
	return in;
}

struct input *input_new_live(GArray *urls, const struct live_options *options)
{
	struct input *in = input_new();
	in->urls = urls;
	in->options = *options;
	in->options.spool = NULL;
	if (!urls->len) {
		in->label = g_strdup(options->stream ? "stream" : "this machine");
		return in;
	}
	const struct live_url *url = &g_array_index(urls, struct live_url, 0);
	g_autofree char *text = g_strdup_printf("%s/%s %s", url->host, url->target, url->session);
	g_autofree char *first = text_visible(text);
	in->label = urls->len > 1 ? g_strdup_printf("%s +%u", first, urls->len - 1)
				  : g_steal_pointer(&first);
	return in;
}

bool input_has_events(const struct input *in, GError **error)
{
	if (in->watched)
		g_set_error(error, g_quark_from_static_string("blk-input"), 0,
			    "the slice files in %s have no single events", in->paths[0]);
	return !in->watched && (!in->paths || slice_file_has_events(in->paths[0], error));
}

void input_count_threads(struct input *in, bool count)
{
	in->count_threads = count;
}

void input_cache(struct input *in, uint64_t most, int64_t after_ns)
{
	g_free(in->cache.dir);
	in->cache = (struct cache_place){ cache_default_dir(), most, after_ns };
}

void input_chunks(struct input *in, const char *const *dirs)
{
	g_strfreev(in->chunks);
	in->chunks = g_strdupv((char **)dirs);
}

static const struct blk_subscription *subscriptions(const struct input *in, size_t *ret_n)
{
	return in->count_threads ? slice_subscriptions_counting(ret_n) : slice_subscriptions(ret_n);
}

void input_again(struct input *in)
{
	in->options.from_beginning = true;
	g_clear_pointer(&in->options.spool, spool_unref);
}

bool input_again_stored(struct input *in)
{
	const char *path = in->options.spool ? input_stored_path(in) : NULL;

	if (!path)
		return false;
	in->paths = g_new0(char *, 2);
	in->paths[0] = g_strdup(path);
	g_clear_pointer(&in->urls, g_array_unref);
	g_clear_pointer(&in->options.spool, spool_unref);	/* the files stay */
	return true;
}

bool input_store(struct input *in, const char *dir, uint64_t limit, GError **error)
{
	g_assert(!in->paths && !in->options.spool);
	in->options.spool = spool_new(dir, limit, in->label, error);
	return in->options.spool != NULL;
}

bool input_record(struct input *in, const char *dir, gint64 last_us, bool decodes, GError **error)
{
	g_assert(!in->paths && !in->options.spool);
	in->options.state_every_us = last_us ? MAX(last_us / STATES_A_RANGE, STATE_EVERY_US) : 0;
	in->options.spool = g_str_equal(dir, "-") ? spool_new_stream(STDOUT_FILENO, error) :
		spool_new_whole(dir, last_us ? last_us + in->options.state_every_us + G_USEC_PER_SEC : 0);
	in->records = true;
	in->only_stores = !decodes;
	return in->options.spool != NULL;
}

int64_t input_state_every_ns(const struct input *in)
{
	return in->options.state_every_us * NS_PER_US;
}

bool input_end_record(struct input *in)
{
	return spool_end(in->options.spool);
}

bool input_hold_stored(struct input *in, bool held)
{
	return spool_hold(in->options.spool, held, FLUSH_US);
}

bool input_stored(struct input *in, struct spool_status *ret)
{
	if (!in->options.spool)
		return false;
	spool_flush(in->options.spool, FLUSH_US);
	spool_get_status(in->options.spool, ret);
	return true;
}

const char *input_stored_path(struct input *in)
{
	if (!in->options.spool)
		return NULL;
	spool_flush(in->options.spool, FLUSH_US);
	return spool_path(in->options.spool);
}

bool input_stored_from(struct input *in, int64_t *ret_from)
{
	struct spool_status st;

	if (!in->options.spool)
		return false;
	spool_get_status(in->options.spool, &st);
	*ret_from = st.from_ns > st.to_ns ? TIME_UNKNOWN : st.from_ns;
	return true;
}

char *input_store_trouble(struct input *in)
{
	struct spool_status st = { 0 };
	if (in->options.spool)
		spool_get_status(in->options.spool, &st);
	return st.message[0] ? g_strdup(st.message) : NULL;
}

/* A table of which no event has the name. */
static const struct blk_subscription no_events[] = { { .event = "blktop:nothing" } };

static bool open_live(void *data, struct job_trace *ret, GError **error)
{
	struct input *in = data;
	size_t n;
	const struct blk_subscription *rows = in->count_threads ? slice_subscriptions_counting(&n) :
		slice_subscriptions_counting_user(&n);

	if (in->only_stores) {
		rows = no_events;
		n = G_N_ELEMENTS(no_events);
	}
	struct source *source = live_open((const struct live_url *)in->urls->data, in->urls->len,
					  &in->options, rows, n, error);
	g_mutex_lock(&in->lock);
	in->source = source;
	g_mutex_unlock(&in->lock);
	ret->source = source;
	if (source && in->options.spool && !in->records)
		ret->pieces = pieces_spool(in->options.spool, rows, n);
	return source != NULL;
}

/* All warnings are written to the log file. */
static char *warning_of(const struct native *native)
{
	size_t n;
	const char *const *warnings = native_warnings(native, &n);

	for (size_t i = 0; i < n; i++)
		log_note("%s", warnings[i]);
	return native_left_out(native);
}

static void add_machine(void *data, const char *host, const char *boot, const struct machine_evidence *e)
{
	g_string_append_printf(data, "%s %s is machine %d\n", host ? host : "", boot ? boot : "",
			       machine_of(e, boot ? boot : ""));
}

/* All that slices depend on besides the trace and the program. */
static char *model_text(const struct input *in, const struct native *native)
{
	GString *text = g_string_new(NULL);
	g_autofree char *clocks = align_text();

	g_string_append_printf(text, "step %" G_GINT64_FORMAT "\ncounts threads %d\nrules %s\nclocks\n%s",
			       in->step_ns, in->count_threads, rules_digest(), clocks);
	native_each_machine(native, add_machine, text);
	return g_string_free(text, false);
}

static struct cache *open_cache(const struct input *in, const struct native *native, int64_t since_ns)
{
	if (!in->cache.dir)
		return NULL;
	g_autofree char *model = model_text(in, native);
	return cache_new(&in->cache, (const char *const *)in->paths, model, since_ns);
}

static bool open_reader(const struct input *in, struct job_trace *ret, GError **error)
{
	int64_t since_ns = g_get_real_time() * 1000;
	const char *const *paths = (const char *const *)in->paths;

	if (in->reader == READER_BT2) {
		size_t n;
		const struct blk_subscription *rows = in->count_threads || pieces_have_kernel(paths) ?
			subscriptions(in, &n) : slice_subscriptions_counting(&n);
		ret->source = source_open_bt2(paths, rows, n, error);
		if (!ret->source)
			return false;
		ret->reader = g_strdup("babeltrace2: as asked for");
		return true;
	}
	struct native *native = pieces_open(paths, in->count_threads, error);
	if (!native)
		return false;
	ret->cache = open_cache(in, native, since_ns);
	ret->warning = warning_of(native);
	ret->pieces = pieces_native(native);
	ret->reader = g_strdup("native");
	return true;
}

/* ---- spans from files of JSON ---- */

static struct publication *next_spans(void *self, GError **error)
{
	return import_next(self, error);
}

static char *import_messages(void *self)
{
	char *warning = import_warning(self);
	if (warning)
		log_note("%s", warning);
	return warning;
}

static void free_import(void *self)
{
	import_free(self);
}

static bool open_files(const struct input *in, struct job_trace *ret, GError **error)
{
	ret->maker = (struct job_maker){ next_spans, import_messages, free_import,
		import_open((const char *const *)in->paths, 0, ret->watch, error) };
	g_autofree char *moved = align_text();
	if (ret->maker.self && *moved)
		import_align(ret->maker.self, align_of);
	ret->reader = g_strdup("import of Zipkin JSON");
	return ret->maker.self != NULL;
}

/* ---- slice files ---- */

struct slice_input { struct slice *s; struct slice_piece piece; };

static struct publication *next_of_slice(void *self, GError **error)
{
	struct slice_input *x = self;
	(void)error;
	if (!x->s)
		return NULL;
	x->s = slice_stitch(slice_new(true, slice_step(x->s)), x->s);
	struct publication *p = slice_finish(x->s);
	slice_free(g_steal_pointer(&x->s));
	return p;
}

static char *no_messages(void *self)
{
	(void)self;
	return NULL;
}

static void free_slice_input(void *self)
{
	struct slice_input *x = self;
	slice_free(x->s);
	slice_piece_clear(&x->piece);
	g_free(x);
}

/* The chunks of a watched directory that has no slice files. */
static char **watched_chunks(const struct input *in, GError **error)
{
	GPtrArray *chunks = map_chunks_of(in->paths[0], error);

	if (!chunks)
		return NULL;
	bool any = chunks->len;
	g_ptr_array_add(chunks, NULL);
	char **all = (char **)g_ptr_array_free(chunks, false);
	if (!any) {
		g_clear_pointer(&all, g_strfreev);
		g_set_error(error, g_quark_from_static_string("blk-input"), 0, "nothing is in %s yet",
			    in->paths[0]);
	}
	return all;
}

char **input_packets(const struct input *in, int64_t from_ns, int64_t to_ns, GError **error)
{
	g_auto(GStrv) files = in->watched ? slice_dir_files(in->paths[0]) : NULL;
	const char *const *paths = (const char *const *)(files ? files : in->paths);
	const struct chunks_range range = { from_ns, to_ns };

	if (in->watched && !files)
		return watched_chunks(in, error);

	if (!slice_file_is(paths[0]))
		return g_strdupv(in->paths);
	if (!in->chunks) {
		slice_file_has_events(paths[0], error);
		return NULL;
	}
	GPtrArray *dirs = chunks_find(paths, (const char *const *)in->chunks, &range, error);
	return dirs ? (char **)g_ptr_array_free(dirs, false) : NULL;
}

/* For steps below a second: the directories of the slices, if all are there. */
static void open_packets(const struct input *in, struct job_trace *ret)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) dirs = input_packets(in, INT64_MIN, INT64_MAX, &error);
	struct native *native = dirs ? pieces_open((const char *const *)dirs, in->count_threads, &error) : NULL;

	if (native) {
		ret->warning = warning_of(native);
		ret->pieces = pieces_native(native);
	} else {
		log_note("%s", error->message);
		ret->warning = g_strdup(error->message);
	}
}

static bool open_slices(const struct input *in, struct job_trace *ret, GError **error)
{
	struct slice_input *x = g_new0(struct slice_input, 1);

	x->s = slice_file_merge((const char *const *)in->paths, &x->piece, ret->watch, error);
	bool same = !x->s || slice_is_history(x->s) || slice_step(x->s) == in->step_ns;
	if (!same)
		g_set_error(error, g_quark_from_static_string("blk-input"), 0,
			    "the slice was made with --step %" G_GINT64_FORMAT "ms: open it with the same",
			    slice_step(x->s) / 1000000);
	if (!x->s || !same) {
		free_slice_input(x);
		return false;
	}
	if (slice_is_history(x->s))
		ret->warning = g_strdup_printf("history: all but the slowest %d traces of each minute (%"
					       G_GUINT64_FORMAT " traces) and all spans of rules and functions",
					       LIMIT_HISTORY_TRACES, slice_n_thinned(x->s));
	ret->maker = (struct job_maker){ next_of_slice, no_messages, free_slice_input, x };
	ret->reader = g_strdup(slice_is_history(x->s) ? "slice files of history" : "slice files");
	if (in->chunks)
		open_packets(in, ret);
	return true;
}

/* ---- slices that appear in a directory ---- */

static struct slice *next_slice(void *self, bool *ret_more)
{
	return slice_dir_next(self, ret_more);
}

static char *left_out_slices(void *self)
{
	return slice_dir_message(self);
}

static void free_slices(void *self)
{
	slice_dir_free(self);
}

static bool open_watched(const struct input *in, struct job_trace *ret, GError **error)
{
	ret->slices = (struct job_slices){ next_slice, left_out_slices, free_slices,
		slice_dir_new(in->paths[0], in->step_ns, ret->stop, error) };
	ret->reader = g_strdup("slices of a directory");
	return ret->slices.self != NULL;
}

static bool open_trace(void *data, struct job_trace *ret, GError **error)
{
	const struct input *in = data;
	bool ok = in->watched ? open_watched(in, ret, error) :
		slice_file_is(in->paths[0]) ? open_slices(in, ret, error) :
		import_is_file(in->paths[0]) ? open_files(in, ret, error) : open_reader(in, ret, error);
	if (ok)
		log_note("%s is read by %s", in->label, ret->reader);
	return ok;
}

static void forget_source(void *data)
{
	struct input *in = data;
	g_mutex_lock(&in->lock);
	in->source = NULL;
	g_mutex_unlock(&in->lock);
	input_unref(in);
}

struct job *input_start(struct input *in, const struct job_options *options)
{
	g_atomic_ref_count_inc(&in->refs);
	in->step_ns = options->model.step_ns ? options->model.step_ns : INT64_C(1000000000);
	return job_start(in->paths ? open_trace : open_live, in, forget_source, options);
}

bool input_live_status(struct input *in, struct live_status *ret)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&in->lock);
	bool open = in->source != NULL;
	if (open)
		live_get_status(in->source, ret);
	return open;
}

void input_history_step(const char *path, int64_t *ret_step)
{
	slice_file_is_history(path, ret_step);
}

const char *const *input_paths(const struct input *in)
{
	return (const char *const *)in->paths;
}

const char *input_label(const struct input *in)
{
	return in->label;
}

/* --- identity --- */

#define HEAD_BYTES 4096
#define MAGIC_BYTES 4			/* of a metadata packet, which the trace's UUID follows */
#define UUID_BYTES 16

/* A digest of the UUID of this metadata, else of the file's beginning and size; NULL: it cannot be read. */
static char *file_digest(const char *path)
{
	static const guint8 magics[2][MAGIC_BYTES] = { { 0x75, 0xd1, 0x1d, 0x57 }, { 0x57, 0x1d, 0xd1, 0x75 } };
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 head[HEAD_BYTES];
	struct stat st;
	int fd = files_open_input(path, NULL);

	if (fd < 0)
		return NULL;
	guint64 size = fstat(fd, &st) ? 0 : (guint64)st.st_size;
	size_t n = MIN(size, sizeof head);
	bool ok = disk_read_at(fd, head, n, 0);
	close(fd);
	if (!ok)
		return NULL;
	bool packet = n > MAGIC_BYTES + UUID_BYTES && (!memcmp(head, magics[0], MAGIC_BYTES) ||
						       !memcmp(head, magics[1], MAGIC_BYTES));
	if (packet) {
		g_checksum_update(sum, head + MAGIC_BYTES, UUID_BYTES);
	} else {
		g_checksum_update(sum, head, (gssize)n);
		g_checksum_update(sum, (const guint8 *)&size, sizeof size);
	}
	return g_strdup(g_checksum_get_string(sum));
}

char *input_identity(const struct input *in)
{
	g_autoptr(GPtrArray) digests = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) dirs = in->paths ? trace_find_dirs((const char *const *)in->paths, NULL, NULL) : NULL;
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	for (guint i = 0; dirs && i < dirs->len; i++) {
		g_autofree char *path = g_build_filename(dirs->pdata[i], "metadata", NULL);

		g_ptr_array_add(digests, file_digest(path));
	}
	for (char **p = in->paths; p && *p && (!dirs || !dirs->len); p++)
		g_ptr_array_add(digests, file_digest(*p));
	while (g_ptr_array_remove(digests, NULL))
		;
	g_ptr_array_sort(digests, order_texts);
	/* Directories of one trace, such as chunks of a rotation, count once. */
	for (guint i = 0; i < digests->len; i++)
		if (!i || strcmp(digests->pdata[i], digests->pdata[i - 1]))
			g_checksum_update(sum, digests->pdata[i], -1);
	if (!in->paths)
		g_checksum_update(sum, (const guchar *)in->label, -1);
	if (in->watched) {
		g_autofree char *path = g_canonicalize_filename(in->paths[0], NULL);

		g_checksum_update(sum, (const guchar *)path, -1);
	}
	return g_strdup_printf("%s-%s", in->paths ? "trace" : "live", g_checksum_get_string(sum));
}

char *input_find_demo(GError **error)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = '\0';
	g_autofree char *dir = g_path_get_dirname(exe);
	g_autofree char *root = g_path_get_dirname(dir);
	/* First the recording of this very program: in its source tree, or beside the place where it is installed. */
	char *places[] = {
		g_build_filename(root, "tests", "traces", "ctf2", "demo", "trace", NULL),
		g_build_filename(root, "share", "blktop", "demo", NULL),
		g_build_filename(BLKTOP_DATADIR, "demo", NULL),
	};
	char *found = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
		if (!found && files_is_dir(places[i]))
			found = g_steal_pointer(&places[i]);
		g_free(places[i]);
	}
	if (!found)
		g_set_error(error, g_quark_from_static_string("blk-input"), 0,
			    "the bundled recording is neither in %s/demo nor in %s/tests/traces/ctf2/demo",
			    BLKTOP_DATADIR, root);
	return found;
}
