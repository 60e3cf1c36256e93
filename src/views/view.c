/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of any view: creates, frees, filters and sorts them. Also determines which events are missing from a trace.
 */
#include "views/view.h"

#include "base/sort.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "state/store/container.h"

#include <string.h>

const char *const view_by_words[BY_N + 1] = {
	"system", "process", "thread", "cpu", "priority", "name", "second", "container", "cause",
	NULL
};

bool view_has_by(const struct view *v, enum view_by by)
{
	return v->by_values & 1u << by;
}

enum view_by view_next_by(const struct view *v, enum view_by by)
{
	for (unsigned i = 1; i < BY_N; i++)
		if (view_has_by(v, (by + i) % BY_N))
			return (by + i) % BY_N;
	return by;
}

char *view_container_name(const struct timeline *tl, uint32_t host, uint64_t container)
{
	char *name = timeline_container_label_new(tl, host, container);
	return name ? name : g_strdup("unknown container");
}

static int column_of_id(const struct view *v, const char *id)
{
	for (size_t i = 0; i < v->n_columns; i++)
		if (strcmp(v->columns[i].id, id) == 0)
			return i;
	return -1;
}

/* Index of the only column whose id without its unit is `name`; -1: none, or several. */
static int column_without_unit(const struct view *v, const char *name)
{
	int found = -1;
	for (size_t i = 0; i < v->n_columns; i++) {
		if (!text_is_with_unit(v->columns[i].id, name))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

static int column_of_title(const struct view *v, const char *title)
{
	int found = -1, shown = -1;
	unsigned n = 0, n_shown = 0;
	for (size_t i = 0; *title && i < v->n_columns; i++) {
		if (g_ascii_strcasecmp(v->columns[i].title, title))
			continue;
		found = (int)i;
		n++;
		if (v->columns[i].width) {
			shown = (int)i;
			n_shown++;
		}
	}
	return n_shown == 1 ? shown : n > 1 ? EXPR_SEVERAL : found;
}

int view_column(const struct view *v, const char *id)
{
	int i = column_of_id(v, id);
	return i >= 0 ? i : column_without_unit(v, id);
}

struct value view_value(const struct view *v, const struct rows *rows, const struct row *row, const char *id)
{
	int i = view_column(v, id);
	return row && i >= 0 ? column_value(&v->columns[i], row, rows) : value_none();
}

int view_column_typed(const struct view *v, const char *name)
{
	g_autofree char *lower = g_ascii_strdown(name, -1);
	int i = view_column(v, name);
	i = i == -1 ? column_of_title(v, name) : i;
	return i == -1 ? view_column(v, lower) : i;
}

const char *rows_text(struct rows *rows, const char *s)
{
	return s ? g_string_chunk_insert_const(rows->text, s) : NULL;
}

const char *rows_take_text(struct rows *rows, char *s)
{
	g_autofree char *text = s;
	return rows_text(rows, text);
}

static void unref_text(gpointer text)
{
	reftext_unref(text);
}

const char *rows_hold_text(struct rows *rows, const char *reftext)
{
	if (!rows->reftexts)
		rows->reftexts = g_ptr_array_new_with_free_func(unref_text);
	g_ptr_array_add(rows->reftexts, (gpointer)reftext_ref(reftext));
	return reftext;
}

/* --- missing events --- */

#define MOST_NAMES 8
static const struct { enum missing_events missing; const char *events[MOST_NAMES]; } missing_names[] = {
	{ MISSING_SWITCHES, { "sched_switch" } },
	{ MISSING_WAKINGS, { "sched_waking", "sched_wakeup" } },
	{ MISSING_INTERRUPTS, { "irq_handler_entry", "irq_softirq_entry", "softirq_entry",
			      "timer_hrtimer_expire_entry", "hrtimer_expire_entry",
			      "x86_irq_vectors_local_timer_entry", "x86_irq_vectors_reschedule_entry" } },
	{ MISSING_RAISES, { "irq_softirq_raise", "softirq_raise" } },
	{ MISSING_TASKS, { "lttng_statedump_process_state" } },
	{ MISSING_ISSUES, { "block_rq_issue" } },
	{ MISSING_COMPLETIONS, { "block_rq_complete" } },
	{ MISSING_INSERTS, { "block_rq_insert" } },
	{ MISSING_MERGES, { "block_rq_merge", "block_bio_backmerge", "block_bio_frontmerge" } },
	{ MISSING_REQUEUES, { "block_rq_requeue" } },
	{ MISSING_RECEIVED, { "net_if_receive_skb", "netif_receive_skb" } },
	{ MISSING_SENT, { "net_dev_xmit", "net_dev_queue" } },
	{ MISSING_TAKEN, { "net_dev_xmit" } },
	{ MISSING_HEADERS_IN, { "net_if_receive_skb" } },
	{ MISSING_HEADERS_OUT, { "net_dev_queue" } },
};

static bool has_event(const struct timeline *tl, uint32_t host, const char *name)
{
	return host == ID_NONE ? timeline_has_event(tl, name) : timeline_host_has_event(tl, host, name);
}

static unsigned found(const struct timeline *tl, uint32_t host)
{
	unsigned found = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(missing_names); i++) {
		bool there = false;
		for (size_t k = 0; !there && k < MOST_NAMES && missing_names[i].events[k]; k++)
			there = has_event(tl, host, missing_names[i].events[k]);
		found |= there ? 0 : missing_names[i].missing;
	}
	bool calls = host == ID_NONE ? timeline_facts(tl)->has_calls : timeline_host_has_calls(tl, host);
	return found | (calls ? 0 : MISSING_CALLS);
}

/* Imported spans have no events: nothing counts as missing then. */
unsigned view_missing(const struct timeline *tl)
{
	return timeline_has_events(tl) ? found(tl, ID_NONE) : 0;
}

unsigned view_host_missing(const struct timeline *tl, uint32_t host)
{
	bool several = timeline_n_hosts(tl) > 1 && timeline_has_events(tl);
	return view_missing(tl) | (several ? found(tl, host) : 0);
}

bool view_had_losses(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = timeline_n_seconds(tl); i-- > 0;) {
		const struct second *s = timeline_outline(tl, i);
		if (s->end_ns <= from_ns)
			return false;
		if (s->begin_ns <= to_ns && s->completeness.touched)
			return true;
	}
	return false;
}

/* The same host in another timeline of the trace; ID_NONE: none. */
static uint32_t same_host(const struct timeline *tl, uint32_t host, const struct timeline *other)
{
	const struct host_info *x = timeline_host(tl, host);
	for (uint32_t i = 0; x && i < timeline_n_hosts(other); i++) {
		const struct host_info *y = timeline_host(other, i);
		if (y && !strcmp(x->name, y->name) && !g_strcmp0(x->boot, y->boot))
			return i;
	}
	return ID_NONE;
}

/* What is missing from the part that `tl` has can be in the rest of the trace, which `names` has (NULL: none). */
static unsigned *missing_by_host(const struct timeline *tl, const struct timeline *names)
{
	uint32_t n = timeline_n_hosts(tl);
	bool several = n > 1 || (n == 1 && names && timeline_n_hosts(names) > 1);
	if (!several || !timeline_has_events(tl))
		return NULL;
	unsigned *missing = g_new(unsigned, n);
	for (uint32_t i = 0; i < n; i++)
		missing[i] = found(tl, i);
	for (uint32_t i = 0; names && i < n; i++) {
		uint32_t same = same_host(tl, i, names);
		missing[i] &= same == ID_NONE ? ~0U : view_host_missing(names, same);
	}
	return missing;
}

unsigned rows_missing(const struct rows *rows, uint32_t host)
{
	bool known = rows->host_missing && host < timeline_n_hosts(rows->tl);
	return rows->missing | (known ? rows->host_missing[host] : 0);
}

/* --- rows --- */

struct rows *rows_new(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = g_new0(struct rows, 1);
	rows->rows = g_ptr_array_new_with_free_func(g_free);
	rows->text = g_string_chunk_new(1024);
	rows->tl = tl;
	rows->query = *query;
	rows->query.operation = rows_text(rows, query->operation);
	rows->query.service = rows_text(rows, query->service);
	rows->missing = view_missing(tl) & (query->names ? view_missing(query->names) : ~0U);
	rows->host_missing = missing_by_host(tl, query->names);
	size_t n = timeline_n_seconds(tl);
	bool all = query->from_ns == 0 && query->to_ns == 0;
	for (size_t i = all ? 0 : timeline_find(tl, query->from_ns); i < n; i++) {
		const struct second *s = timeline_outline(tl, i);
		if (!all && s->begin_ns >= query->to_ns)
			break;
		completeness_add(&rows->completeness, &s->completeness);
		rows->completeness.touched += s->completeness.touched;
		rows->completeness.corrected += s->completeness.corrected != 0;
	}
	return rows;
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	if (rows->free_extra)
		rows->free_extra(rows->extra);
	g_ptr_array_unref(rows->rows);
	g_clear_pointer(&rows->spans, g_ptr_array_unref);
	g_clear_pointer(&rows->reftexts, g_ptr_array_unref);
	g_string_chunk_free(rows->text);
	g_free(rows->host_missing);
	g_free(rows);
}

/* --- filter --- */

struct cell_source {
	const struct view *v;
	const struct rows *rows;
};

static int lookup_column(const char *column, const void *data)
{
	const struct view *v = data;
	int i = column_of_id(v, column);
	if (i < 0 && v->has_named && v->has_named(column))
		return (int)(v->n_columns + g_quark_from_string(column));
	return i < 0 ? view_column_typed(v, column) : i;
}

static struct value get_cell(int column, const void *row, const void *data)
{
	const struct cell_source *s = data;
	if ((size_t)column >= s->v->n_columns)
		return s->v->get_named(row, s->rows,
				       g_quark_to_string((GQuark)column - (GQuark)s->v->n_columns));
	return column_value(&s->v->columns[column], row, s->rows);
}

static enum value_kind kind_of_column(int column, const void *data)
{
	const struct view *v = data;
	return (size_t)column < v->n_columns ? v->columns[column].kind : VALUE_NONE;
}

static struct text_candidate column_at(size_t i, const void *data)
{
	const struct view *v = data;
	return i < v->n_columns ? (struct text_candidate){ v->columns[i].id, v->columns[i].help, v->columns[i].title } :
				  (struct text_candidate){ 0 };
}

bool view_line(const char *filter, int64_t *ret_ns)
{
	g_autofree char *text = g_strstrip(g_strdup(filter ? filter : ""));
	bool equal = text[0] == '>' && text[1] == '=';
	int64_t ns;
	/* A number without a unit is ns in a filter. */
	if (*text != '>' || !g_ascii_isalpha(text[strlen(text) - 1]) ||
	    !timefmt_parse_duration(g_strchug(text + 1 + equal), &ns, NULL) || ns - equal < 1)
		return false;
	*ret_ns = ns - equal;
	return true;
}

char *rows_count_text(const struct rows *rows, const char *filter)
{
	int64_t line;
	if (!rows->n_all || !view_line(filter, &line))
		return g_strdup_printf("%u of %zu rows", rows->rows->len, rows->n_before_filter);
	return g_strdup_printf("%s%u of %" G_GUINT64_FORMAT, line < rows->all_above_ns ? "at least " : "",
			       rows->rows->len, rows->n_all);
}

struct expr *view_expr(const struct view *v, const char *text, GError **error)
{
	g_autofree char *about_sorted = NULL;
	int64_t line;
	while (g_ascii_isspace(*text))
		text++;
	if (v->kind == VIEW_DISTRIBUTION && view_line(text, &line))
		text = "";
	else if (v->default_sort && *text && strchr("<>=", *text))
		text = about_sorted = g_strdup_printf("%s %s", v->default_sort, text);
	struct expr *e = expr_parse(text, lookup_column, column_at, v, v->n_columns, error);
	if (!e || expr_check(e, kind_of_column, v, error))
		return e;
	expr_free(e);
	return NULL;
}

void rows_keep(struct rows *rows, const bool *keep)
{
	guint n = 0;
	for (guint i = 0; i < rows->rows->len; i++) {
		void *row = rows->rows->pdata[i];
		if (!keep[i])
			continue;
		rows->rows->pdata[i] = rows->rows->pdata[n];
		rows->rows->pdata[n++] = row;
	}
	g_ptr_array_set_size(rows->rows, n);
}

/* Keeps the ancestors of the rows in `keep`. */
static void keep_ancestors(const struct rows *rows, bool *keep)
{
	int wanted = -1;		/* depth of the next ancestor while going up */
	for (guint i = rows->rows->len; i-- > 0;) {
		int depth = ((struct row *)rows->rows->pdata[i])->depth;
		if (depth == wanted)
			keep[i] = true;
		if (keep[i])
			wanted = depth - 1;
	}
}

void rows_filter(struct rows *rows, const struct view *v, const struct expr *filter)
{
	rows->n_before_filter = rows->rows->len;
	if (!filter || !rows->rows->len)
		return;
	struct cell_source source = { v, rows };
	g_autofree bool *keep = g_new(bool, rows->rows->len);
	for (guint i = 0; i < rows->rows->len; i++)
		keep[i] = expr_match(filter, get_cell, rows->rows->pdata[i], &source);
	if (v->kind == VIEW_WATERFALL || rows->tree)
		keep_ancestors(rows, keep);
	rows_keep(rows, keep);
}

/* --- sort --- */

struct sort_item {
	struct value value;
	guint index;
	struct row *row;
};

/* Missing values come last in both directions; equal values retain their order. */
static int compare_items(const void *va, const void *vb, void *data)
{
	const struct sort_item *a = va, *b = vb;
	bool descending = *(const bool *)data;
	bool a_none = a->value.kind == VALUE_NONE, b_none = b->value.kind == VALUE_NONE;
	int order;
	if (a->row->last != b->row->last)
		return (int)a->row->last - (int)b->row->last;
	if (a_none != b_none)
		return a_none ? 1 : -1;
	order = value_compare(a->value, b->value);
	if (order)
		return descending ? -order : order;
	return a->index < b->index ? -1 : a->index > b->index;
}

void rows_sort(struct rows *rows, const struct view *v, int column, bool descending)
{
	guint n = rows->rows->len;
	if (column < 0 || (size_t)column >= v->n_columns || v->kind == VIEW_WATERFALL || rows->tree || n < 2)
		return;
	g_autofree struct sort_item *items = g_new(struct sort_item, n);
	for (guint i = 0; i < n; i++) {
		items[i].row = rows->rows->pdata[i];
		items[i].index = i;
		items[i].value = column_value(&v->columns[column], items[i].row, rows);
	}
	sort_array(items, n, sizeof(*items), compare_items, &descending);
	for (guint i = 0; i < n; i++)
		rows->rows->pdata[i] = items[i].row;
}

#define LEAST_VOID_NS (58 * NS_PER_S)	/* between whole seconds, if there is no record for a minute */

/* How much of the second its CPUs were followed, at most (ns). */
static int64_t followed_ns(const struct timeline *tl, size_t second)
{
	const struct second *s = timeline_second(tl, second);
	int64_t known = 0;

	for (uint32_t i = 0; i < s->n_cpus; i++)
		known = MAX(known, s->cpus[i].run_ns + s->cpus[i].idle_ns + s->cpus[i].unknown_ns);
	return known;
}

int64_t range_sum_begin(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	const struct second *s = timeline_n_seconds(tl) ? timeline_outline(tl, 0) : NULL;

	if (!s || s->end_ns <= from_ns || s->begin_ns >= to_ns)
		return from_ns;
	int64_t known = followed_ns(tl, 0);
	return known > 0 ? MAX(from_ns, s->sums_end_ns - known) : from_ns;
}

int64_t range_sum_end(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	size_t i = timeline_find(tl, to_ns - 1);
	const struct second *s = i < timeline_n_seconds(tl) ? timeline_outline(tl, i) : NULL;
	return s && s->end_ns == to_ns ? MAX(s->sums_end_ns, from_ns + 1) : to_ns;
}

static bool has_switches(const struct timeline *tl, size_t second)
{
	const struct second *s = timeline_second(tl, second);
	bool any = false;

	for (uint32_t i = 0; i < s->n_cpus; i++)
		any |= s->cpus[i].run_ns + s->cpus[i].idle_ns > 0;
	return any;
}

/* A void (state/kernel/coverage.h) of less than a day is one second; of a longer one there is none. */
static bool is_void(const struct timeline *tl, size_t second)
{
	const struct second *s = timeline_outline(tl, second);

	return s->end_ns - s->begin_ns >= LEAST_VOID_NS && !followed_ns(tl, second);
}

/*
 * How much of [from_ns, to_ns) lies between recordings (ns): voids, if switches were recorded before and after them.
 * Other events may be as rare as that.
 */
static int64_t range_voids(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	const size_t n = timeline_n_seconds(tl), first = timeline_find(tl, from_ns);
	size_t a = first ? first - 1 : 0;
	int64_t voids = 0;

	while (a && is_void(tl, a))
		a--;
	for (size_t i = a + 1; i < n && timeline_outline(tl, a)->end_ns < to_ns; i++) {
		if (is_void(tl, i))
			continue;
		const struct second *before = timeline_outline(tl, a), *after = timeline_outline(tl, i);
		if (after->begin_ns - before->end_ns >= LEAST_VOID_NS && has_switches(tl, a) && has_switches(tl, i)) {
			/* The first second of all ends with the void, and may begin late: range_sum_begin(). */
			int64_t begin = a ? MIN(before->begin_ns + followed_ns(tl, a), before->end_ns) : before->end_ns;
			int64_t end = MAX(after->sums_end_ns - followed_ns(tl, i), after->begin_ns);
			voids += MAX(MIN(end, to_ns) - MAX(begin, from_ns), 0);
		}
		a = i;
	}
	return voids;
}

int64_t range_recorded(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	size_t n = timeline_n_seconds(tl);

	if (!n)
		return 0;
	int64_t begin = MAX(from_ns, timeline_outline(tl, 0)->begin_ns);
	int64_t end = MIN(to_ns, timeline_outline(tl, n - 1)->end_ns);
	if (begin >= end)
		return 0;
	begin = range_sum_begin(tl, begin, end);
	end = range_sum_end(tl, begin, end);
	return MAX(end - begin - range_voids(tl, begin, end), 0);
}

int64_t range_recorded_part(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	int64_t recorded = range_recorded(tl, from_ns, to_ns);
	return recorded < (to_ns - from_ns) / 100 * 99 ? recorded : 0;
}

double range_seconds(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	return (double)MAX(range_recorded(tl, from_ns, to_ns), 1) / NS_PER_S;
}
