/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens traces for the native reader: directories, metadata, compiled classes, streams and their index files.
 * Unreadable stream files are left out and named in the warnings.
 */
#include "trace/native/native_private.h"

#include "trace/ctf/layouts.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/limits.h"

#include <errno.h>
#include <sys/stat.h>

/* Follows the reason of a refusal if it is a limit of this reader. */
#define OTHER_READER " (--reader babeltrace2 may read it; that library is not hardened against hostile traces)"
#define NO_TIME " (blktop needs to know when events were; the program babeltrace2 prints events without a time)"

#define SAMPLES 8			/* packet headers of a file that are compared with its index */

/* What may help against that reason of a refusal. is_limited: it is a limit of this reader. */
static const char *what_next(const GError *reason, bool is_limited)
{
	return reason->code == BLK_TRACE_ERROR_NO_TIME ? NO_TIME : is_limited ? OTHER_READER : "";
}

static void file_free(void *p)
{
	struct native_file *f = p;
	ctf_index_free(f->index);
	g_free(f);
}

static void class_clear(void *p)
{
	struct native_class *c = p;
	g_free(c->name);
	g_free(c->counters);
}

void native_free(struct native *n)
{
	if (!n)
		return;
	native_plan_unref(n->plan);
	g_ptr_array_unref(n->streams);
	g_ptr_array_unref(n->files);
	g_hash_table_unref(n->by_bytes);
	g_ptr_array_unref(n->metas);
	g_ptr_array_unref(n->warnings);
	g_ptr_array_unref(n->remarks);
	g_hash_table_unref(n->class_names);
	g_array_unref(n->classes);
	g_hash_table_unref(n->layouts);
	blk_matcher_free(n->matcher);
	g_mutex_clear(&n->lock);
	g_free(n);
}

/* Metadata files differ in size or in their first bytes (UUID), so only these are hashed. */
static guint hash_metadata(gconstpointer bytes)
{
	gsize n;
	const uint8_t *p = g_bytes_get_data((GBytes *)bytes, &n);
	guint h = (guint)n;
	for (gsize i = 0; i < MIN(n, 64); i++)
		h = h * 33 + p[i];
	return h;
}

struct native *native_new(const struct blk_subscription *rows, size_t n_rows)
{
	struct native *n = g_new0(struct native, 1);
	n->metas = g_ptr_array_new_with_free_func(native_meta_free);
	n->by_bytes = g_hash_table_new_full(hash_metadata, g_bytes_equal,
					    (GDestroyNotify)g_bytes_unref, NULL);
	n->files = g_ptr_array_new_with_free_func(file_free);
	n->streams = g_ptr_array_new_with_free_func(native_stream_free);
	n->warnings = g_ptr_array_new_with_free_func(g_free);
	n->remarks = g_ptr_array_new_with_free_func(g_free);
	n->classes = g_array_new(false, false, sizeof(struct native_class));
	g_array_set_clear_func(n->classes, class_clear);
	n->class_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	n->layouts = layouts_new();
	n->rows = rows;
	n->matcher = blk_matcher_new(rows, n_rows);
	g_mutex_init(&n->lock);
	return n;
}

/* ---- metadata ---- */

static GBytes *read_metadata(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autoptr(GError) reason = NULL;
	char *bytes;
	size_t size;
	if (files_read_input(path, LIMIT_METADATA_BYTES, &bytes, &size, &reason))
		return g_bytes_new_take(bytes, size);
	bool denied = g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
		      g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_PERM);
	bool long_one = g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_FAILED);
	g_set_error_literal(error, BLK_TRACE_ERROR, denied ? BLK_TRACE_ERROR_ACCESS : long_one ?
			    BLK_TRACE_ERROR_UNSUPPORTED : BLK_TRACE_ERROR_NOT_FOUND, reason->message);
	return NULL;
}

static void add_remarks(struct native *n, const char *dir, const struct ctf_meta *m)
{
	for (int i = 0; i < CTF_N_REMARKS; i++) {
		const struct ctf_remark *r = &m->remark[i];
		g_autofree char *more = r->n > 1 ? g_strdup_printf(", and %" G_GUINT64_FORMAT " more", r->n - 1) : NULL;
		if (r->n)
			g_ptr_array_add(n->remarks, g_strdup_printf("'%s/metadata': %s%s", dir, r->first,
								    more ? more : ""));
	}
}

static struct native_meta *open_metadata(struct native *n, const char *dir, GError **error)
{
	g_autoptr(GBytes) bytes = read_metadata(dir, error);
	g_autoptr(GError) reason = NULL;
	gsize size;
	if (!bytes)
		return NULL;
	struct native_meta *m = g_hash_table_lookup(n->by_bytes, bytes);
	if (m)
		return m;
	m = native_meta_new();
	const void *data = g_bytes_get_data(bytes, &size);
	if (!ctf_meta_append(m->meta, data, size, &reason)) {
		g_set_error(error, BLK_TRACE_ERROR, reason->code, "cannot read metadata '%s/metadata': %s%s",
			    dir, reason->message, what_next(reason, ctf_meta_is_limited(m->meta)));
		native_meta_free(m);
		return NULL;
	}
	add_remarks(n, dir, m->meta);
	if (!native_meta_compile(n, m, &reason)) {
		g_set_error(error, BLK_TRACE_ERROR, reason->code, "cannot read trace '%s': %s%s", dir, reason->message,
			    what_next(reason, reason->code == BLK_TRACE_ERROR_UNSUPPORTED));
		native_meta_free(m);
		return NULL;
	}
	g_ptr_array_add(n->metas, m);
	g_hash_table_insert(n->by_bytes, g_steal_pointer(&bytes), m);
	return m;
}

/* ---- streams ---- */

/* The key of the stream that a file belongs to: trace, stream class and instance. Without instance ids each file is a
 * stream. */
static char *stream_key(const struct native_meta *m, const struct ctf_packet *p, const char *file)
{
	if (p->has_instance && m->meta->has_uuid)
		return g_strdup_printf("%s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, m->uuid,
				       p->stream_id, p->instance);
	return g_strdup(file);
}

/* Do some packet headers agree with the index file? */
static bool sample_fits(const struct ctf_index *x, struct ctf_packet *ret_first)
{
	size_t n;
	const struct ctf_packet *p = ctf_index_packets(x, &n);
	for (size_t i = 0; i < MIN(n, SAMPLES); i++) {
		struct ctf_packet each = p[n <= SAMPLES ? i : i * (n - 1) / (SAMPLES - 1)];
		if (each.fault == CTF_GARBAGE)
			continue;
		if (!ctf_index_check(x, &each, NULL))
			return false;
		if (!i)
			*ret_first = each;
	}
	return true;
}

/* Leaves out a part of the trace, with a warning. The first reason is the error if nothing is left. */
static void leave_out(struct native *n, const GError *reason)
{
	if (!n->warnings->len)
		n->problem = reason->code;
	g_ptr_array_add(n->warnings, g_strdup(reason->message));
}

/* Does a packet have a beginning? Searches until one has. */
static bool has_begin(struct ctf_index *x)
{
	bool more = true;
	while (true) {
		size_t n;
		const struct ctf_packet *p = ctf_index_packets(x, &n);
		for (size_t i = 0; i < n; i++)
			if (p[i].has_begin)
				return true;
		if (!more)
			return false;
		more = ctf_index_walk(x, n + SAMPLES);
	}
}

static bool place_file(struct native *n, struct native_file *f, const struct ctf_packet *first,
		       GHashTable *by_key, GError **error)
{
	const struct ctf_decoder *d = native_decoder(f->m, first->stream_id);
	g_autofree char *key = stream_key(f->m, first, ctf_index_name(f->index));
	if (!d || !has_begin(f->index))
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NO_TIME,
			    "cannot read stream file '%s': its packets have no timestamps" NO_TIME,
			    ctf_index_name(f->index));
	f->stream = g_hash_table_lookup(by_key, key);
	if (!f->stream) {
		f->stream = native_stream_new(f->m, d, first, n->streams->len);
		g_ptr_array_add(n->streams, f->stream);
		g_hash_table_insert(by_key, g_steal_pointer(&key), f->stream);
	}
	g_ptr_array_add(f->stream->files, f);
	return true;
}

static void open_file(struct native *n, const struct native_meta *m, const char *dir,
		      const char *name, GHashTable *by_key)
{
	g_autoptr(GError) reason = NULL;
	struct ctf_packet first = { 0 };
	size_t packets;
	struct ctf_index *x = ctf_index_open(m->meta, dir, name, &reason);
	if (x && ctf_index_has_file(x) && !sample_fits(x, &first))
		ctf_index_distrust(x);
	if (!x) {
		leave_out(n, reason);
		return;
	}
	const struct ctf_packet *p = ctf_index_packets(x, &packets);
	if (!packets || p->fault == CTF_GARBAGE || !sample_fits(x, &first) ||
	    (first.packet_bits / 8 == ctf_index_size(x) && native_is_header_only(m, &first))) {
		ctf_index_free(x);
		return;			/* an empty stream, or a file without a packet */
	}
	struct native_file *f = g_new0(struct native_file, 1);
	f->index = x;
	f->m = m;
	if (!place_file(n, f, &first, by_key, &reason)) {
		leave_out(n, reason);
		ctf_index_free(x);
		g_free(f);
		return;
	}
	ctf_index_close_file(x);
	g_ptr_array_add(n->files, f);
	n->bytes += ctf_index_size(x);
}

/*
 * Without a stream class no stream file can be decoded. LTTng 2.16 writes such metadata if the context pid or tid is
 * added to a user-space channel: it accepts both, but then cannot register the program. Empty files come from a
 * session without events.
 */
static void warn_classless(struct native *n, const struct native_meta *m, const char *dir,
			   const GPtrArray *names)
{
	bool is_ust = !g_strcmp0(ctf_meta_env(m->meta, "domain"), "ust");
	unsigned files = 0;

	for (guint i = 0; i < names->len; i++) {
		g_autofree char *path = g_build_filename(dir, g_ptr_array_index(names, i), NULL);
		struct stat st;
		files += files_stat(path, &st) && st.st_size > 0;
	}
	if (!files)
		return;
	g_autoptr(GError) reason = g_error_new(
		BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
		"cannot read trace '%s': its metadata has no stream class, and there %s %u stream file%s%s",
		dir, files == 1 ? "is" : "are", files, files == 1 ? "" : "s",
		is_ust ? " (LTTng 2.16 writes it so when the context pid or tid is added to a channel of "
			 "user space: record it again, with vpid and vtid)" : "");
	leave_out(n, reason);
}

static GPtrArray *list_files(const char *dir, GError **error)
{
	g_autoptr(GPtrArray) all = files_list(dir, SIZE_MAX);
	if (!all) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS, "cannot list '%s': %s", dir,
			    g_strerror(errno));
		return NULL;
	}
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	PTR_EACH(const char, name, all) {
		g_autofree char *path = g_build_filename(dir, name, NULL);
		if (name[0] != '.' && strcmp(name, "metadata") && files_is_regular(path))
			g_ptr_array_add(names, g_strdup(name));
	}
	return names;
}

static void open_dir(struct native *n, const char *dir, GHashTable *by_key)
{
	g_autoptr(GError) reason = NULL;
	const struct native_meta *m = open_metadata(n, dir, &reason);
	g_autoptr(GPtrArray) names = m ? list_files(dir, &reason) : NULL;
	if (!names) {
		leave_out(n, reason);
		return;
	}
	if (!m->meta->streams->len) {
		warn_classless(n, m, dir, names);
		return;
	}
	for (guint i = 0; i < names->len; i++)
		open_file(n, m, dir, g_ptr_array_index(names, i), by_key);
}

/* ---- clocks ---- */

static int compare_streams(const void *a, const void *b)
{
	const struct native_stream *x = *(struct native_stream *const *)a;
	const struct native_stream *y = *(struct native_stream *const *)b;
	return strcmp(x->info.order, y->info.order);
}

/* Each host boot has one clock offset, and one name if its kernel is traced. In this order the kernel's trace comes
 * first of its boot. */
static void join_boots(struct native *n)
{
	g_autoptr(GHashTable) by_boot = g_hash_table_new(g_str_hash, g_str_equal);
	g_ptr_array_sort(n->streams, compare_streams);
	PTR_EACH(struct native_stream, st, n->streams) {
		const struct native_stream *first = st->boot[0] ? g_hash_table_lookup(by_boot, st->boot) : NULL;
		if (!first) {
			first = st;
			g_hash_table_insert(by_boot, st->boot, st);
		}
		native_stream_pin(st, first->ctf_clock);
		if (first->info.domain == BLK_DOMAIN_KERNEL)
			native_stream_join(st, first->host);
	}
}

/* ---- interface ---- */

struct native *native_open(const char *const *paths, const struct blk_subscription *rows,
			   size_t n_rows, GError **error)
{
	g_autoptr(GPtrArray) without = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, without, error);
	if (!dirs)
		return NULL;
	g_autoptr(blk_native) n = native_new(rows, n_rows);
	g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < dirs->len; i++)
		open_dir(n, g_ptr_array_index(dirs, i), by_key);
	for (guint i = 0; i < without->len; i++) {
		g_autoptr(GError) reason = g_error_new(
			BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, "cannot read trace '%s': there are stream "
			"files, and no 'metadata' file", (char *)g_ptr_array_index(without, i));
		leave_out(n, reason);
	}
	if (!n->streams->len && n->warnings->len) {
		g_autofree char *remark = native_remark(n);
		g_set_error(error, BLK_TRACE_ERROR, n->problem, "%s%s%s", (char *)g_ptr_array_index(n->warnings, 0),
			    remark ? "; " : "", remark ? remark : "");
		return NULL;
	}
	join_boots(n);
	native_index(n, 0);
	return g_steal_pointer(&n);
}

const char *const *native_warnings(const struct native *n, size_t *ret_n)
{
	*ret_n = n->warnings->len;
	return (const char *const *)n->warnings->pdata;
}

/* The first lines, and the number of the others. */
static char *summary(const GPtrArray *lines, guint shown)
{
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < MIN(shown, lines->len); i++)
		g_string_append_printf(text, "%s%s", i ? "; " : "", (char *)g_ptr_array_index(lines, i));
	if (lines->len > shown)
		g_string_append_printf(text, ", and %u more", lines->len - shown);
	return g_string_free(text, !lines->len);
}

char *native_left_out(const struct native *n)
{
	return summary(n->warnings, 1);
}

char *native_remark(const struct native *n)
{
	return summary(n->remarks, 3);
}

/* All packets of the file are known: are some of another trace? */
static void remark_uuid(struct native *n, const struct native_file *f)
{
	size_t n_packets;
	const struct ctf_packet *p = ctf_index_packets(f->index, &n_packets);
	for (size_t i = 0; i < n_packets; i++)
		if (p[i].other_uuid) {
			g_ptr_array_add(n->remarks, g_strdup_printf(
				"%s at byte %" G_GUINT64_FORMAT ": the packet has another trace's uuid",
				ctf_index_name(f->index), p[i].offset));
			return;
		}
}

static bool is_recovered(const struct native_file *f)
{
	size_t n;
	const struct ctf_packet *p = ctf_index_packets(f->index, &n);
	for (size_t i = 0; i < n; i++)
		if (p[i].is_recovered)
			return true;
	return false;
}

static void remark_recovered(struct native *n, unsigned recovered)
{
	if (recovered)
		g_ptr_array_add(n->remarks, g_strdup_printf(
			"recovered after a crash: %u of %u stream files have packets whose end was never written (as "
			"lttng-crash saves them); all events in them are read", recovered, n->files->len));
}

bool native_index(struct native *n, size_t max)
{
	unsigned recovered = 0;
	bool more = false;
	PTR_EACH(struct native_file, f, n->files) {
		if (ctf_index_complete(f->index))
			continue;
		more |= !max || ctf_index_walk(f->index, max);
		ctf_index_close_file(f->index);
	}
	if (n->indexed)
		return false;
	n->indexed = !more;
	native_plan_make(n);
	for (guint i = 0; n->indexed && i < n->files->len; i++) {
		const struct native_file *f = g_ptr_array_index(n->files, i);
		remark_uuid(n, f);
		recovered += is_recovered(f);
		ctf_index_forget_packets(f->index);
	}
	remark_recovered(n, recovered);
	return more;
}

bool native_indexed(const struct native *n)
{
	return n->indexed;
}

double native_index_progress(const struct native *n)
{
	double known = 0;
	for (guint i = 0; i < n->files->len; i++) {
		const struct ctf_index *x = ((struct native_file *)g_ptr_array_index(n->files, i))->index;
		known += ctf_index_progress(x) * (double)ctf_index_size(x);
	}
	return n->bytes ? MIN(1, known / (double)n->bytes) : 1;
}

bool native_has_kernel(const struct native *n)
{
	for (guint i = 0; i < n->streams->len; i++)
		if (((const struct native_stream *)n->streams->pdata[i])->info.domain == BLK_DOMAIN_KERNEL)
			return true;
	return false;
}

bool native_has_row(const struct native *n, bool (*is_wanted)(unsigned row))
{
	for (guint i = 0; i < n->classes->len; i++)
		if (is_wanted(g_array_index(n->classes, struct native_class, i).row))
			return true;
	return false;
}
