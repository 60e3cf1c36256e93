/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Imports files of spans as publications: see import.h. The first pass finds where the spans of each trace are. The
 * second pass reads several traces at a time and joins what belongs together: reports of one span, and waits and
 * calls with their span.
 */
#include "export/import.h"

#include "base/fail.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "export/import_join.h"
#include "export/import_survey.h"
#include "export/json_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (8u << 20)		/* of files in one publication; the memory is two to three times as much */
#define REPORT_EVERY 1024			/* spans between two progress reports */
#define SURVEY 0.1			/* approximate share of the survey in the total time */
#define LAST_PLACE G_MAXUINT

bool import_is_file(const char *path)
{
	struct stat st;
	return files_stat(path, &st) && S_ISREG(st.st_mode);
}

struct import {
	char **paths;
	struct survey survey;
	struct import_names names;
	const struct watch *watch;
	size_t piece_bytes;
	uint64_t size;			/* bytes of all files, once the survey is complete */
	uint64_t done;			/* bytes or survey items that are processed */
	guint at;			/* index of the next item in the survey's order */
	int fd;				/* open file paths[file], or -1 */
	guint file;
	uint32_t n_spans;		/* spans published so far */
	struct intmap seconds;		/* seconds in which published spans begin or end */
	int64_t first_ns, last_ns;	/* of the published spans */
	bool stopped, ended;
	int64_t (*offset)(const char *clock);	/* NULL: no time is changed */
	unsigned left_out;
	char *why;			/* why the first span was left out */
	guint why_at;			/* its index in the survey */
};

/* Counts a span that is left out. The reason of the first one in file order is reported. nth: its index in the file;
 * -1: the whole file. */
static void leave_out(struct import *im, guint item, guint file, int64_t nth, const char *why)
{
	im->left_out++;
	if (im->why && im->why_at <= item)
		return;
	g_autofree char *name = g_path_get_basename(im->paths[file]);
	g_free(im->why);
	im->why_at = item;
	im->why = nth >= 0 ? g_strdup_printf("%s: span %" G_GINT64_FORMAT ": %s", name, nth + 1, why)
			   : g_strdup_printf("%s: %s", name, why);
}

static void report_progress(struct import *im, double progress, uint64_t n)
{
	im->stopped |= !watch_go_on(im->watch, MIN(progress, 1), n);
}

/* ---- first pass: the survey ---- */

/* Fails if the object at that index of the file is of another format (NULL: it is not). Such a file is not read in
 * part. */
static bool check_format(const struct import *im, guint file, guint nth, const char *other, GError **error)
{
	if (!other)
		return true;
	g_autofree char *from = nth ? g_strdup_printf("from its object %u on ", nth + 1) : g_strdup("");
	return fail(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "no spans in '%s' are read: %sit is %s",
		    im->paths[file], from, other);
}

static bool survey_items(struct import *im, guint file, struct json_items *items, GError **error)
{
	struct survey *v = &im->survey;
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_problem why_not;
	guint first = v->items->len;
	const char *item;
	size_t n;

	survey_begin_file(v);
	while (!im->stopped && json_items_next(items, &item, &n)) {
		bool valid = json_scan(item, n, tokens, &why_not);
		struct json_value o = { item, tokens, 0 };
		if (!check_format(im, file, v->items->len - first, json_other_format(o, valid), error))
			return false;
		if (!survey_add(v, valid ? o : JSON_NONE, n, json_items_at(items))) {
			items->error = "too many spans";
			break;
		}
		if (v->items->len % REPORT_EVERY == 0)
			report_progress(im, SURVEY * (double)(im->done + json_items_at(items)) /
					(double)MAX(im->size, 1), 0);
	}
	uint64_t at = json_items_at(items);
	im->done += at;
	if (!items->error)
		return true;
	g_autofree char *why = g_strdup_printf("at byte %" G_GUINT64_FORMAT ": %s", at, items->error);
	leave_out(im, v->items->len, file, -1, why);
	item = json_items_failed(items, &n);
	json_scan_beginning(item, n, tokens);
	return check_format(im, file, v->items->len - first,
			    json_other_format((struct json_value){ item, tokens, 0 }, false), error);
}

static bool survey_file(struct import *im, guint file, GError **error)
{
	auto_fd fd = files_open_input(im->paths[file], error);

	if (fd < 0 && error && g_error_matches(*error, G_FILE_ERROR, G_FILE_ERROR_ISDIR))
		g_prefix_error(error, "directories of traces and files of spans cannot be combined: ");
	if (fd < 0)
		return false;
	struct json_items items;
	json_items_open(&items, fd);
	bool fine = survey_items(im, file, &items, error);
	json_items_clear(&items);
	return fine;
}

/* ---- reading ---- */

/* Reads the text of an item. False: the file no longer contains it. */
static bool read_text(struct import *im, const struct survey_item *item, guint file, char *ret)
{
	if (im->fd < 0 || im->file != file) {
		if (im->fd >= 0)
			close(im->fd);
		im->fd = files_open_input(im->paths[file], NULL);
		im->file = file;
	}
	size_t have = 0;
	while (im->fd >= 0 && have < item->n_bytes) {
		ssize_t n = pread(im->fd, ret + have, item->n_bytes - have, (off_t)(item->at + have));
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		have += n > 0 ? (size_t)n : 0;
	}
	return have == item->n_bytes;
}

static void read_item(struct import *im, struct joined *joined, guint i, GByteArray *text)
{
	const struct survey_item *item = &g_array_index(im->survey.items, struct survey_item, i);
	g_autoptr(GError) error = NULL;
	guint file, nth;

	survey_place(&im->survey, i, &file, &nth);
	g_byte_array_set_size(text, item->n_bytes);
	if (!read_text(im, item, file, (char *)text->data)) {
		leave_out(im, i, file, nth, "the file was changed meanwhile");
		return;
	}
	struct read_span *r = zipkin_read(&im->names, (const char *)text->data, text->len, &error);
	if (!r)
		leave_out(im, i, file, nth, error->message);
	else if (!joined_add(joined, r))
		leave_out(im, i, file, nth, "too many spans of one id");
}

/* Index after the last item of the next piece: whole traces until piece_bytes is reached. */
static guint end_of_piece(const struct import *im)
{
	const struct survey *v = &im->survey;
	size_t bytes = 0;
	guint end = im->at;

	for (uint32_t trace = 0; end < v->items->len; end++) {
		const struct survey_item *item = &g_array_index(v->items, struct survey_item, v->order[end]);
		if (bytes >= im->piece_bytes && item->trace != trace)
			break;
		trace = item->trace;
		bytes += item->n_bytes;
	}
	return end;
}

/* Reads items in file order: files are read sequentially, and of several reports of a span the first one takes
 * precedence. */
static void read_piece(struct import *im, struct joined *joined)
{
	struct survey *v = &im->survey;
	g_autoptr(GByteArray) text = g_byte_array_new();
	guint end = end_of_piece(im);

	g_assert(im->at <= end && end <= v->items->len);
	qsort(v->order + im->at, end - im->at, sizeof *v->order, order_u32);
	for (; im->at < end && !im->stopped; im->at++) {
		guint i = v->order[im->at];
		read_item(im, joined, i, text);
		im->done += g_array_index(v->items, struct survey_item, i).n_bytes;
		if ((im->at + 1) % REPORT_EVERY == 0)
			report_progress(im, SURVEY + (1 - SURVEY) * (double)im->done / (double)MAX(v->bytes, 1),
			     im->n_spans + joined->spans->len);
	}
}

/* ---- the publication ---- */

static void note_second(struct import *im, int64_t ns)
{
	uint64_t second = (uint64_t)(time_floor(ns, NS_PER_S) / NS_PER_S);
	if (intmap_get(&im->seconds, second) == INTMAP_NONE)
		intmap_set(&im->seconds, second, 0);
}

/* Adds seconds in which a span begins or ends. They have no other data. */
static void add_seconds(const struct import *im, struct publication *pub)
{
	g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (uint32_t i = 0; im->seconds.mask && i <= im->seconds.mask; i++) {
		if (im->seconds.values[i] == INTMAP_NONE)
			continue;
		int64_t begin = (int64_t)im->seconds.keys[i] * NS_PER_S;
		g_array_append_val(begins, begin);
	}
	g_array_sort(begins, order_i64);
	for (guint i = 0; i < begins->len; i++) {
		int64_t begin = g_array_index(begins, int64_t, i);
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
	return ORDER(a->end, b->end) ?: ORDER(a->trace, b->trace) ?: ORDER(a->i, b->i);
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

/* Publishes traces by their end, as in a live session: if memory is short, the oldest are evicted first. */
static void add_spans(struct import *im, struct joined *joined, struct publication *pub)
{
	g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(struct place_in_time));
	g_autoptr(GHashTable) ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	GPtrArray *spans = joined->spans;

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
		g_assert(r->span && r->span->begin_ns <= r->span->end_ns);
		span_seal(r->span);
		im->first_ns = MIN(im->first_ns, r->span->begin_ns);
		im->last_ns = MAX(im->last_ns, r->span->end_ns);
		note_second(im, r->span->begin_ns);
		note_second(im, r->span->end_ns);
		publication_add_span(pub, im->n_spans++, g_steal_pointer(&r->span));
	}
}

/* Until the last publication the coverage is approximate: to a microsecond, and without spans that only annotations
 * date. */
static void set_coverage(const struct import *im, struct publication *pub)
{
	pub->has_coverage = im->n_spans > 0;
	pub->first_ns = im->ended ? im->first_ns : MIN(im->first_ns, im->survey.first_ns);
	pub->last_ns = im->ended ? im->last_ns : MAX(im->last_ns, im->survey.last_ns);
}

static void fill(struct import *im, struct publication *pub)
{
	struct joined joined;

	joined_init(&joined, &im->names);
	read_piece(im, &joined);
	joined_finish(&joined, im->offset);
	add_spans(im, &joined, pub);
	im->left_out += joined.without_time;
	if (joined.without_time && !im->why) {
		im->why = g_strdup("a span without a timestamp in microseconds");
		im->why_at = LAST_PLACE;
	}
	joined_clear(&joined);
}

struct publication *import_next(struct import *im, GError **error)
{
	if (im->ended)
		return NULL;
	struct publication *pub = publication_new();
	im->names.pub = pub;
	import_string(&im->names, "");	/* string id 0 is the empty string */
	fill(im, pub);
	im->ended = im->stopped || im->at == im->survey.items->len;
	set_coverage(im, pub);
	if (im->ended)
		add_seconds(im, pub);
	pub->n_events = im->n_spans;
	pub->completeness.lost_events = im->left_out;
	pub->beside_bytes = im->ended ? 0 : survey_bytes(&im->survey) + pub->span_bytes;
	if (!im->ended || im->n_spans)
		return pub;
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "no spans in '%s'%s%s; a file is read as "
		    "spans in Zipkin's JSON or as a slice of 'blktop map', a CTF trace is a directory", im->paths[0],
		    im->why ? ": " : "", im->why ? im->why : "");
	publication_free(pub);
	return NULL;
}

char *import_warning(const struct import *im)
{
	if (!im->left_out)
		return NULL;
	return im->left_out == 1 ? g_strdup(im->why) :
		g_strdup_printf("%s, and %u more", im->why, im->left_out - 1);
}

static uint64_t size_of(const char *path)
{
	struct stat st;
	return files_stat(path, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

struct import *import_open(const char *const *paths, size_t piece_bytes, const struct watch *watch,
			   GError **error)
{
	struct import *im = g_new(struct import, 1);
	bool fine = true;

	*im = (struct import){ .paths = g_strdupv((char **)paths), .watch = watch, .fd = -1,
			       .piece_bytes = piece_bytes ? piece_bytes : PIECE_BYTES,
			       .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	survey_init(&im->survey);
	import_names_init(&im->names);
	for (guint i = 0; im->paths[i]; i++)
		im->size += size_of(im->paths[i]);
	report_progress(im, 0, 0);
	for (guint i = 0; im->paths[i] && fine && !im->stopped; i++)
		fine = survey_file(im, i, error);
	if (!fine) {
		import_free(im);
		return NULL;
	}
	survey_order(&im->survey);
	im->done = 0;
	return im;
}

void import_align(struct import *im, int64_t (*offset)(const char *clock))
{
	im->offset = offset;
}

void import_free(struct import *im)
{
	if (!im)
		return;
	if (im->fd >= 0)
		close(im->fd);
	survey_clear(&im->survey);
	import_names_clear(&im->names);
	intmap_clear(&im->seconds);
	g_strfreev(im->paths);
	g_free(im->why);
	g_free(im);
}
