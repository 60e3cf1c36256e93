/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of spans as one publication: see import.h. All are read, then what belongs
 * together is joined: reports of one span, waits and calls with the span they were in.
 */
#include "export/import.h"

#include "base/timefmt.h"
#include "export/import_join.h"
#include "export/json_items.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((goffset)1 << 30)	/* of a file, and two to three times as much memory */
#define TELL_EVERY 1024			/* spans */
#define READING 0.9			/* of the time, about; the rest is joining */

bool import_is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

struct import {
	struct import_names names;
	struct joined joined;
	const struct watch *watch;
	goffset bytes, done;		/* of all files; of those that are read */
	bool stopped;
	unsigned left_out;
	char *why;			/* the first one was */
};

static void leave_out(struct import *im, const char *path, unsigned n, const char *why)
{
	im->left_out++;
	if (im->why)
		return;
	g_autofree char *name = g_path_get_basename(path);
	im->why = n ? g_strdup_printf("%s: span %u: %s", name, n, why)
		    : g_strdup_printf("%s: %s", name, why);
}

static void tell(struct import *im, uint64_t at)
{
	double progress = READING * (double)(im->done + (goffset)at) / (double)MAX(im->bytes, 1);
	im->stopped |= !watch_go_on(im->watch, MIN(progress, READING), im->joined.spans->len);
}

static void read_items(struct import *im, const char *path, int fd)
{
	struct json_items items;
	const char *item;
	size_t n;

	json_items_open(&items, fd);
	for (unsigned i = 1; !im->stopped && json_items_next(&items, &item, &n); i++) {
		g_autoptr(GError) error = NULL;
		struct read_span *r = zipkin_read(&im->names, item, n, &error);
		if (!r)
			leave_out(im, path, i, error->message);
		else if (!joined_add(&im->joined, r))
			leave_out(im, path, i, "too many spans of one id");
		if (i % TELL_EVERY == 0)
			tell(im, json_items_at(&items));
	}
	uint64_t at = json_items_at(&items);
	im->done += (goffset)at;
	g_autofree char *why = items.error ? g_strdup_printf("at byte %" G_GUINT64_FORMAT ": %s", at,
							       items.error) : NULL;
	if (why)
		leave_out(im, path, 0, why);
	json_items_clear(&items);
}

static void read_file(struct import *im, const char *path, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot read '%s': %s", path,
			    g_strerror(errno));
	else if (!S_ISREG(st.st_mode))
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
			    "cannot read '%s': directories of traces and files of spans can't be "
			    "combined", path);
	else if (st.st_size > MOST_BYTES)
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
			    "cannot read '%s': larger than 1 GiB", path);
	else
		read_items(im, path, fd);
	if (fd >= 0)
		close(fd);
}

/* ---- the publication ---- */

static int compare_int64(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
	return (a > b) - (a < b);
}

/* Seconds in which a span begins or ends: there is nothing else to tell of them. */
static void add_seconds(struct publication *pub, GArray *spans)
{
	g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (guint i = 0; i < spans->len; i++) {
		const struct span *s = g_array_index(spans, struct published_span, i).span;
		const int64_t ends[] = { time_floor(s->begin_ns, NS_PER_S),
					 time_floor(s->end_ns, NS_PER_S) };
		g_array_append_vals(begins, ends, G_N_ELEMENTS(ends));
		pub->first_ns = MIN(pub->first_ns, s->begin_ns);
		pub->last_ns = MAX(pub->last_ns, s->end_ns);
	}
	g_array_sort(begins, compare_int64);
	for (guint i = 0; i < begins->len; i++) {
		int64_t begin = g_array_index(begins, int64_t, i);
		if (i > 0 && begin == g_array_index(begins, int64_t, i - 1))
			continue;
		struct second *second = second_new(MAX(begin, pub->first_ns),
						   MIN(begin + NS_PER_S, pub->last_ns + 1));
		second_seal(second);
		g_ptr_array_add(pub->seconds, second);
	}
}

struct place_in_time { int64_t end; uint64_t trace; guint i; };

static int compare_places(const void *va, const void *vb)
{
	const struct place_in_time *a = va, *b = vb;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->trace != b->trace)
		return a->trace < b->trace ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

static int64_t *end_of(GHashTable *ends, const struct span *s)
{
	int64_t *end = g_hash_table_lookup(ends, &s->trace_id);
	if (!end) {
		end = g_memdup2(&s->end_ns, sizeof *end);
		g_hash_table_insert(ends, g_memdup2(&s->trace_id, sizeof s->trace_id), end);
	}
	return end;
}

/* As if they had come when they were over: what memory has no room for goes oldest first. */
static void add_spans(struct import *im, struct publication *pub)
{
	g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(struct place_in_time));
	g_autoptr(GHashTable) ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	GPtrArray *spans = im->joined.spans;

	for (guint i = 0; i < spans->len; i++) {
		const struct span *s = ((struct read_span *)spans->pdata[i])->span;
		if (s)
			*end_of(ends, s) = MAX(*end_of(ends, s), s->end_ns);
	}
	for (guint i = 0; i < spans->len; i++) {
		const struct span *s = ((struct read_span *)spans->pdata[i])->span;
		struct place_in_time p = { s ? *end_of(ends, s) : 0, s ? s->trace_id : 0, i };
		if (s)
			g_array_append_val(order, p);
	}
	g_array_sort(order, compare_places);
	for (guint i = 0; i < order->len; i++) {
		guint at = g_array_index(order, struct place_in_time, i).i;
		struct read_span *r = spans->pdata[at];
		span_seal(r->span);
		publication_add_span(pub, pub->spans->len, g_steal_pointer(&r->span));
	}
}

static void finish(struct import *im, struct publication *pub)
{
	joined_finish(&im->joined);
	add_spans(im, pub);
	im->left_out += im->joined.without_time;
	if (im->joined.without_time && !im->why)
		im->why = g_strdup("a span without a timestamp in microseconds");
	pub->first_ns = INT64_MAX;
	pub->last_ns = INT64_MIN;
	add_seconds(pub, pub->spans);
	pub->has_coverage = pub->spans->len > 0;
	pub->n_events = pub->spans->len;
	pub->trust.lost_events = im->left_out;
}

static goffset size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
}

struct publication *import_files(const char *const *paths, const struct watch *watch,
				 char **ret_warning, GError **error)
{
	g_autoptr(GError) why = NULL;
	struct publication *pub = publication_new();
	struct import im = { .watch = watch };

	import_names_init(&im.names, pub);
	joined_init(&im.joined, &im.names);
	for (size_t i = 0; paths[i]; i++)
		im.bytes += size_of(paths[i]);
	tell(&im, 0);
	for (size_t i = 0; paths[i] && !why && !im.stopped; i++)
		read_file(&im, paths[i], &why);
	if (!why)
		finish(&im, pub);
	if (!why && !pub->spans->len)
		g_set_error(&why, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "no spans in '%s'%s%s", paths[0],
			    im.why ? ": " : "", im.why ? im.why : "");
	if (!why && im.left_out)
		*ret_warning = im.left_out == 1 ? g_strdup(im.why) :
			g_strdup_printf("%s, and %u more", im.why, im.left_out - 1);
	joined_clear(&im.joined);
	import_names_clear(&im.names);
	g_free(im.why);
	if (!why)
		return pub;
	publication_free(pub);
	g_propagate_error(error, g_steal_pointer(&why));
	return NULL;
}
