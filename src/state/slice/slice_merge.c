/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges slice files: finds out how they fit together, then reads them one by one.
 *
 * Files fit together if they can be divided at an instant, or by machines, until single files are left. Parts that
 * were divided at an instant follow each other without a gap; parts that were divided by machines are of the same time.
 * Machines are known by their boot ids: clocks of one boot are only comparable if its traces are read together.
 */
#include "state/slice/slice_file.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/sort.h"
#include "state/kernel/slice_state.h"
#include "state/slice/pack.h"
#include "state/slice/slice_history.h"

#define ERROR_QUARK g_quark_from_static_string("blk-slice-merge")
#define BYTES_A_CELL 16		/* estimate: of a cell in a file */

/* A file; or parts that are merged by time, or by machines. */
struct slice_node {
	const char *path;		/* borrowed; of parts: that of the first file */
	int64_t step;			/* ns */
	int64_t first, last;		/* ns: records of a file; first > last: none */
	int64_t from, to;		/* ns: as in struct slice_piece */
	bool no_spans;
	struct slice_piece piece;	/* of a file */
	GPtrArray *machines;		/* of a file: char *, owned */
	GPtrArray *inner;		/* struct slice_node *, borrowed; NULL: a file */
	bool by_time;
};

static void part_free(gpointer p)
{
	struct slice_node *x = p;

	slice_piece_clear(&x->piece);
	g_clear_pointer(&x->machines, g_ptr_array_unref);
	g_clear_pointer(&x->inner, g_ptr_array_unref);
	g_free(x);
}

/* A new part, owned by `all`. */
static struct slice_node *part_new(GPtrArray *all)
{
	struct slice_node *x = g_new0(struct slice_node, 1);

	g_ptr_array_add(all, x);
	return x;
}

static struct slice_node *part_at(const GPtrArray *parts, guint i)
{
	return g_ptr_array_index(parts, i);
}

/* ---- files ---- */

/* Hosts of one boot are one machine. Without a boot id, a host's name identifies it. */
static char *machine_name(const struct slice_host *h)
{
	return *h->boot ? g_strdup_printf("boot %s", h->boot) : g_strdup_printf("host %s", h->name);
}

static bool add_file(GPtrArray *all, const char *path, GError **error)
{
	struct slice_piece piece = { 0 };
	struct slice *s = slice_file_open(path, SLICE_SUMMARY, &piece, error);

	if (!s)
		return false;
	struct slice_node *x = part_new(all);
	*x = (struct slice_node){
		.path = path, .step = s->step, .first = s->first, .last = s->last, .from = piece.from, .to = piece.to,
		.no_spans = s->no_spans, .piece = piece, .machines = g_ptr_array_new_with_free_func(g_free),
	};
	for (guint i = 0; i < s->hosts->len; i++)
		g_ptr_array_add(x->machines, machine_name(&g_array_index(s->hosts, struct slice_host, i)));
	slice_free(s);
	return true;
}

static gint by_from(gconstpointer a, gconstpointer b)
{
	const struct slice_node *x = *(struct slice_node *const *)a, *y = *(struct slice_node *const *)b;
	return ORDER(x->from, y->from);
}

/* The files (struct slice_node *) in order of time; NULL: one cannot be read. */
static GPtrArray *list_files(const char *const *paths, GError **error)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(part_free);

	for (; *paths; paths++)
		if (!add_file(files, *paths, error))
			return NULL;
	g_ptr_array_sort(files, by_from);
	return g_steal_pointer(&files);
}

/* ---- how they fit together ---- */

static bool refuse(const struct slice_node *a, const struct slice_node *b, const char *why, GError **error)
{
	return fail(error, ERROR_QUARK, 0, "cannot merge %s and %s: %s", a->path, b->path, why);
}

static bool shares_machine(const struct slice_node *a, const struct slice_node *b)
{
	for (guint i = 0; i < a->machines->len; i++)
		if (g_ptr_array_find_with_equal_func(b->machines, g_ptr_array_index(a->machines, i), g_str_equal, NULL))
			return true;
	return false;
}

/* Why two files, in order of time, overlap. NULL: they do not. */
static const char *overlap(const struct slice_node *a, const struct slice_node *b)
{
	if (a->to <= b->from || !shares_machine(a, b))
		return NULL;
	return a->to == INT64_MAX && b->from > a->from ?
		"the first one was the end of the trace when it was made: make it again" :
		"they overlap, and are of one machine";
}

static void refuse_overlap(const GPtrArray *parts, GError **error)
{
	const struct slice_node *a = part_at(parts, 0), *b = part_at(parts, 1);
	const char *why = NULL;

	for (guint i = 0; i < parts->len && !why; i++)
		for (guint k = i + 1; k < parts->len && !why; k++) {
			a = part_at(parts, i);
			b = part_at(parts, k);
			why = overlap(a, b);
		}
	refuse(a, b, why ? why : "they overlap", error);
}

static void unref_list(gpointer p)
{
	g_ptr_array_unref(p);
}

/* Lists of the parts (GPtrArray *), in order of time, so that none overlaps the next list. */
static GPtrArray *divide_by_time(const GPtrArray *parts)
{
	GPtrArray *lists = g_ptr_array_new_with_free_func(unref_list);
	int64_t to = INT64_MIN;

	for (guint i = 0; i < parts->len; i++) {
		struct slice_node *x = part_at(parts, i);
		if (!i || x->from >= to)
			g_ptr_array_add(lists, g_ptr_array_new());
		g_ptr_array_add(g_ptr_array_index(lists, lists->len - 1), x);
		to = MAX(to, x->to);
	}
	return lists;
}

/* The least part that is connected with part i. */
static guint root_of(guint *up, guint i)
{
	for (; up[i] != i; i = up[i])
		up[i] = up[up[i]];
	return i;
}

/* Lists of the parts (GPtrArray *) that have no machine in common. */
static GPtrArray *divide_by_machines(const GPtrArray *parts)
{
	GPtrArray *lists = g_ptr_array_new_with_free_func(unref_list);
	g_autoptr(GHashTable) newest = g_hash_table_new(g_str_hash, g_str_equal);	/* machine -> a part's index */
	g_autofree guint *up = g_new(guint, parts->len);
	g_autofree GPtrArray **list = g_new0(GPtrArray *, parts->len);

	for (guint i = 0; i < parts->len; i++) {
		const GPtrArray *machines = part_at(parts, i)->machines;
		up[i] = i;
		for (guint k = 0; k < machines->len; k++) {
			gpointer machine = g_ptr_array_index(machines, k), other;
			if (g_hash_table_lookup_extended(newest, machine, NULL, &other)) {
				guint a = root_of(up, i), b = root_of(up, GPOINTER_TO_UINT(other));
				up[MAX(a, b)] = MIN(a, b);
			}
			g_hash_table_insert(newest, machine, GUINT_TO_POINTER(i));
		}
	}
	for (guint i = 0; i < parts->len; i++) {
		guint root = root_of(up, i);
		if (!list[root])
			g_ptr_array_add(lists, list[root] = g_ptr_array_new());
		g_ptr_array_add(list[root], part_at(parts, i));
	}
	return lists;
}

/* Do the neighbours fit: b after a, or both of the same time? */
static bool check_pair(const struct slice_node *a, const struct slice_node *b, bool by_time, GError **error)
{
	bool whole = !by_time && a->from == INT64_MIN && a->to == INT64_MAX;

	if (by_time && a->to != b->from)
		return refuse(a, b, "the piece between them is missing", error);
	if (!by_time && (a->from != b->from || a->to != b->to))
		return refuse(a, b, "they are of different machines and of different times. Merge all pieces of each "
			      "machine first, or map with the same --from and --to", error);
	if (a->step != b->step)
		return refuse(a, b, "their seconds have other lengths", error);
	/* Of a whole trace it is known that no span is on its machines. */
	return whole || a->no_spans == b->no_spans ||
		refuse(a, b, "one of them has no data for spans (blktop map --with-spans)", error);
}

static struct slice_node *fit(GPtrArray *all, const GPtrArray *parts, GError **error);

static struct slice_node *fit_lists(GPtrArray *all, const GPtrArray *lists, bool by_time, GError **error)
{
	struct slice_node *x = part_new(all), *before = NULL;

	x->inner = g_ptr_array_new();
	x->by_time = by_time;
	x->no_spans = true;
	for (guint i = 0; i < lists->len; i++) {
		struct slice_node *next = fit(all, g_ptr_array_index(lists, i), error);
		if (!next || (before && !check_pair(before, next, by_time, error)))
			return NULL;
		g_ptr_array_add(x->inner, before = next);
		x->no_spans &= next->no_spans;
	}
	x->path = part_at(x->inner, 0)->path;
	x->step = before->step;
	x->from = part_at(x->inner, 0)->from;
	x->to = before->to;
	return x;
}

/* How files, in order of time, are merged to one part. `all` owns the parts. NULL: they do not fit together. */
static struct slice_node *fit(GPtrArray *all, const GPtrArray *parts, GError **error)
{
	if (parts->len == 1)
		return part_at(parts, 0);
	g_autoptr(GPtrArray) times = divide_by_time(parts);
	if (times->len > 1)
		return fit_lists(all, times, true, error);
	g_autoptr(GPtrArray) machines = divide_by_machines(parts);
	if (machines->len > 1)
		return fit_lists(all, machines, false, error);
	refuse_overlap(parts, error);
	return NULL;
}

static struct slice_node *fit_files(GPtrArray *files, GError **error)
{
	g_autoptr(GPtrArray) parts = g_ptr_array_new();

	for (guint i = 0; i < files->len; i++)
		g_ptr_array_add(parts, part_at(files, i));
	return fit(files, parts, error);
}

/* ---- sources ---- */

/* Takes the sources of `more`. A directory that goes on from one to the other is one source. */
static void add_sources(struct slice_piece *piece, struct slice_piece *more)
{
	guint n = piece->sources ? piece->sources->len : 0;

	for (guint i = 0; more->sources && i < more->sources->len; i++) {
		const struct slice_source *x = g_ptr_array_index(more->sources, i);
		struct slice_source *same = NULL;
		for (guint k = 0; k < n && !same; k++) {
			struct slice_source *have = g_ptr_array_index(piece->sources, k);
			same = have->to == x->from && g_str_equal(have->name, x->name) ? have : NULL;
		}
		if (same)
			same->to = x->to;
		else
			slice_piece_add(piece, x->name, x->from, x->to);
	}
	slice_piece_clear(more);
}

/* The piece of the parts, with the sources of all. */
static void sum_piece(const struct slice_node *x, struct slice_piece *ret)
{
	for (guint i = 0; x->inner && i < x->inner->len; i++)
		sum_piece(part_at(x->inner, i), ret);
	if (!x->inner) {
		struct slice_piece copy = { 0 };
		for (guint i = 0; x->piece.sources && i < x->piece.sources->len; i++) {
			const struct slice_source *s = g_ptr_array_index(x->piece.sources, i);
			slice_piece_add(&copy, s->name, s->from, s->to);
		}
		add_sources(ret, &copy);
	}
	ret->from = x->from;
	ret->to = x->to;
}

bool slice_file_summary(const char *const *paths, struct slice_piece *ret_piece, int64_t *ret_first, int64_t *ret_last,
			GError **error)
{
	g_autoptr(GPtrArray) files = list_files(paths, error);
	guint n = files ? files->len : 0;
	const struct slice_node *x = n ? fit_files(files, error) : NULL;

	if (!x)
		return false;
	sum_piece(x, ret_piece);
	*ret_first = INT64_MAX;
	*ret_last = INT64_MIN;
	for (guint i = 0; i < n; i++) {
		*ret_first = MIN(*ret_first, part_at(files, i)->first);
		*ret_last = MAX(*ret_last, part_at(files, i)->last);
	}
	return true;
}

/* ---- merging ---- */

struct merge { const struct watch *watch; guint done, n; bool history, packed; };

static struct slice *read_part(const struct slice_node *x, struct merge *m, GError **error)
{
	if (!watch_go_on(m->watch, (double)m->done / m->n, m->done))
		return NULL;
	m->done++;
	struct slice *s = slice_file_open(x->path, m->packed ? SLICE_PACKED : SLICE_ALL, NULL, error);
	if (s && m->history && !slice_fold(s, SLICE_HISTORY_STEP)) {
		g_set_error(error, ERROR_QUARK, 0, "%s: its steps cannot be folded to minutes", x->path);
		slice_free(g_steal_pointer(&s));
	}
	return s;
}

static struct slice *merge_part(const struct slice_node *x, struct merge *m, GError **error);

/* From left to right: the other slices are read one by one. */
static struct slice *merge_times(const struct slice_node *x, struct merge *m, GError **error)
{
	struct slice *all = merge_part(part_at(x->inner, 0), m, error);

	for (guint i = 1; all && i < x->inner->len; i++) {
		struct slice *s = merge_part(part_at(x->inner, i), m, error);
		if (!s)
			slice_free(all);
		all = s ? slice_stitch(all, s) : NULL;
		if (all && !packs_shrink(all, PACKS_OUTSIDE_BYTES, error)) {
			slice_free(all);
			return NULL;
		}
	}
	return all;
}

/* The parts [begin, end), as a tree, since all of a slice is moved by each merge. */
static struct slice *merge_machines(const struct slice_node *x, guint begin, guint end, struct merge *m, GError **error)
{
	guint middle = begin + (end - begin) / 2;

	if (end - begin == 1)
		return merge_part(part_at(x->inner, begin), m, error);
	struct slice *a = merge_machines(x, begin, middle, m, error);
	struct slice *b = a ? merge_machines(x, middle, end, m, error) : NULL;
	bool decoded = b && packs_before_unite(a, b, error);
	if (decoded && slice_unite_cells(a, b) <= LIMIT_SLICE_BYTES / BYTES_A_CELL)
		return slice_unite(a, b);
	if (decoded)
		refuse(part_at(x->inner, begin), part_at(x->inner, middle), "one machine has no events for a time in "
		       "which another one has, and the result would be too large", error);
	slice_free(a);
	slice_free(b);
	return NULL;
}

static struct slice *merge_part(const struct slice_node *x, struct merge *m, GError **error)
{
	return !x->inner ? read_part(x, m, error) :
		x->by_time ? merge_times(x, m, error) : merge_machines(x, 0, x->inner->len, m, error);
}

static struct slice *merge_files(const char *const *paths, struct merge m, struct slice_piece *ret_piece,
				 GError **error)
{
	g_autoptr(GPtrArray) files = list_files(paths, error);

	m.n = files ? files->len : 0;
	for (guint i = 0; m.history && i < m.n; i++)
		part_at(files, i)->step = SLICE_HISTORY_STEP;	/* read_part() */
	const struct slice_node *x = m.n ? fit_files(files, error) : NULL;
	struct slice *s = x ? merge_part(x, &m, error) : NULL;
	if (s && x->from == INT64_MIN)
		slice_begins_trace(s);
	if (s && m.history)
		slice_thin(s, LIMIT_HISTORY_TRACES, x->from != INT64_MIN, x->to != INT64_MAX);
	if (s && ret_piece)
		sum_piece(x, ret_piece);
	return s;
}

struct slice *slice_file_merge(const char *const *paths, struct slice_piece *ret_piece, const struct watch *watch,
			       GError **error)
{
	return merge_files(paths, (struct merge){ .watch = watch }, ret_piece, error);
}

struct slice *slice_file_merge_packed(const char *const *paths, struct slice_piece *ret_piece,
				      const struct watch *watch, GError **error)
{
	return merge_files(paths, (struct merge){ .watch = watch, .packed = true }, ret_piece, error);
}

struct slice *slice_file_merge_history(const char *const *paths, struct slice_piece *ret_piece,
				       const struct watch *watch, GError **error)
{
	return merge_files(paths, (struct merge){ .watch = watch, .history = true }, ret_piece, error);
}
