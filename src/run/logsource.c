/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads ranges of a trace for the log: see logsource.h. */
#include "run/logsource.h"

#include "base/timefmt.h"
#include "state/slice/slice_file.h"
#include "trace/native/native.h"

#define BUFFERS (8 << 20)
#define INDEX_STEP 4096			/* packet headers of each file at once */

struct logsource {
	char **paths;
	struct native *all;		/* NULL: babeltrace2 reads it */
	struct native *names;		/* opened when needed */
	char *reader, *warning;
	const int *stop;		/* see logsource_stop_by() */
	bool bounded;
	int64_t first, end;		/* .bounded */
};

/* False: stopped. */
static bool index_all(const struct logsource *s, struct native *n)
{
	while (!native_indexed(n)) {
		if (s->stop && g_atomic_int_get(s->stop))
			return false;
		native_index(n, INDEX_STEP);
	}
	return true;
}

static struct source *open_range(const struct logsource *s, struct native *n, int64_t from, int64_t to)
{
	struct source *source = native_range(n, from, to, BUFFERS);
	source_stop_by(source, s->stop);
	return source;
}

void logsource_stop_by(struct logsource *s, const int *stop)
{
	s->stop = stop;
}

struct logsource *logsource_new(const char *const *paths, bool by_bt2, GError **error)
{
	size_t n;
	const struct blk_subscription *rows = calllog_subscriptions(&n);
	if (!slice_file_has_events(paths[0], error))
		return NULL;
	struct native *native = by_bt2 ? NULL : native_open(paths, rows, n, error);
	if (!native && !by_bt2)
		return NULL;
	struct logsource *s = g_new0(struct logsource, 1);
	s->paths = g_strdupv((char **)paths);
	s->all = native;
	if (!native) {
		s->reader = g_strdup("babeltrace2: as asked for");
		/* opened here only to report errors early */
		struct source *source = source_open_bt2(paths, rows, n, error);
		if (!source)
			g_clear_pointer(&s, logsource_free);
		source_free(source);
		return s;
	}
	s->reader = g_strdup("native");
	s->warning = native_left_out(native);
	return s;
}

void logsource_free(struct logsource *s)
{
	if (!s)
		return;
	native_free(s->all);
	native_free(s->names);
	g_strfreev(s->paths);
	g_free(s->reader);
	g_free(s->warning);
	g_free(s);
}

const char *logsource_reader_name(const struct logsource *s)
{
	return s->reader;
}

const char *logsource_warning(const struct logsource *s)
{
	return s->warning;
}

char *logsource_remark(const struct logsource *s)
{
	return s->all ? native_remark(s->all) : NULL;
}

/* ---- bounds ---- */

/* Extends [*first, *last] by the events of the source, which it frees; `one`: by the first event only. False:
 * *error. */
static bool widen_by_events(struct source *source, bool one, int64_t *first, int64_t *last,
		       GError **error)
{
	struct blk_batch b;
	enum source_status st = SOURCE_END;
	bool any = false;
	while (!(any && one) && (st = source_next(source, &b, error)) == SOURCE_OK)
		for (size_t i = 0; i < b.n; i++)
			if (b.ev[i].row < BLK_ROW_FIRST_PSEUDO) {
				*first = MIN(*first, b.ev[i].ts);
				*last = MAX(*last, b.ev[i].ts);
				any = true;
			}
	source_free(source);
	return st != SOURCE_ERROR;
}

static bool bounds_native(struct logsource *s, int64_t *first, int64_t *last)
{
	int64_t from, to, begin;
	if (!index_all(s, s->all) || !native_bounds(s->all, &from, &to))
		return true;
	if (!widen_by_events(open_range(s, s->all, INT64_MIN, INT64_MAX), true, first, last, NULL))
		return false;
	*last = INT64_MIN;
	/* search backwards in ranges that grow; none is searched twice */
	for (int64_t width = NS_PER_MS; *last == INT64_MIN && *first != INT64_MAX;
	     width = MIN(to - begin, INT64_MAX / 8) * 8) {
		int64_t any = INT64_MAX;
		begin = to - from > width ? native_read_from(s->all, to - width) : from;
		bool all = begin <= from;
		widen_by_events(open_range(s, s->all, all ? INT64_MIN : begin, INT64_MAX), false, &any, last, NULL);
		if (all || (s->stop && g_atomic_int_get(s->stop)))
			break;
	}
	return true;
}

bool logsource_bounds(struct logsource *s, int64_t *ret_from, int64_t *ret_to, GError **error)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	size_t n;
	if (!s->bounded) {
		if (s->all) {
			bounds_native(s, &first, &last);
		} else {
			const struct blk_subscription *rows = calllog_subscriptions(&n);
			struct source *source = source_open_bt2((const char *const *)s->paths, rows,
								n, error);
			if (!source || !widen_by_events(source, false, &first, &last, error))
				return false;
		}
		if (first == INT64_MAX || last == INT64_MIN)
			return false;
		s->bounded = true;
		s->first = first;
		s->end = last + 1;
	}
	*ret_from = s->first;
	*ret_to = s->end;
	return true;
}

/* ---- reading ---- */

struct log_pass {
	struct calllog *j;
	const struct logsource_range *range;
	struct logsource_result *result;
};

/* Where reading ends. */
static int64_t end_of(const struct logsource_range *r)
{
	return r->to_ns < INT64_MAX - r->beyond_ns ? r->to_ns + r->beyond_ns : INT64_MAX;
}

static bool is_stopped(const struct logsource_range *r)
{
	return r->stop && g_atomic_int_get(r->stop);
}

static void see_loss(const struct log_pass *p, const struct blk_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct blk_event *e = &b->ev[i];
		if (e->row != BLK_ROW_LOST_BEGIN)
			continue;
		const struct blk_loss *loss = (const struct blk_loss *)e->data;
		if (loss->silence || loss->end_ns < p->range->from_ns || loss->begin_ns >= p->range->to_ns)
			continue;
		if (loss->events || loss->packets)
			p->result->lost = true;
		else
			p->result->damaged = true;
	}
}

/* Feeds the records before `to` of the source, which it frees, to the log. */
static bool feed(const struct log_pass *p, struct source *source, bool is_native, int64_t to,
		 GError **error)
{
	struct blk_batch b;
	enum source_status st = SOURCE_CANCELLED;
	size_t n = 0;
	const struct native_loss *open = is_native ? native_range_losses(source, &n) : NULL;
	for (size_t i = 0; i < n; i++)
		calllog_begin_lost(p->j, &source->tables, open[i].stream, &open[i].loss);
	while (!is_stopped(p->range) && (st = source_next(source, &b, error)) == SOURCE_OK) {
		size_t all = b.n;
		while (b.n && b.ev[b.n - 1].ts >= to)
			b.n--;
		see_loss(p, &b);
		calllog_feed(p->j, &source->tables, b.ev, b.n);
		st = b.n < all ? SOURCE_END : SOURCE_CANCELLED;
		if (st == SOURCE_END)
			break;
	}
	calllog_change_source(p->j);
	source_free(source);
	return st == SOURCE_END;
}

/* Reads which descriptors were opened before the range. */
static bool feed_names(struct logsource *s, const struct log_pass *p, int64_t to, GError **error)
{
	size_t n;
	int64_t first, last;
	if (!native_bounds(s->all, &first, &last) || first >= to)
		return true;
	if (p->range->most_bytes && native_bytes_between(s->all, first, to) > p->range->most_bytes) {
		p->result->names = false;
		return true;
	}
	if (!s->names) {
		const struct blk_subscription *rows = calllog_name_subscriptions(&n);
		s->names = native_open((const char *const *)s->paths, rows, n, error);
		if (!s->names)
			return false;
	}
	return index_all(s, s->names) && feed(p, open_range(s, s->names, INT64_MIN, to), true, INT64_MAX, error);
}

static bool feed_native(struct logsource *s, const struct log_pass *p, GError **error)
{
	const struct logsource_range *r = p->range;
	int64_t warm = r->warm_ns ? r->warm_ns : NS_PER_S, from = INT64_MIN;
	if (r->from_ns > INT64_MIN + warm)
		from = r->from_ns - warm;
	return index_all(s, s->all) && (from == INT64_MIN || feed_names(s, p, from, error)) &&
	       feed(p, open_range(s, s->all, from, end_of(r)), true, INT64_MAX, error);
}

static bool feed_bt2(struct logsource *s, const struct log_pass *p, GError **error)
{
	size_t n;
	const struct blk_subscription *rows = calllog_subscriptions(&n);
	struct source *source = source_open_bt2((const char *const *)s->paths, rows, n, error);

	return source && feed(p, source, false, end_of(p->range), error);
}

bool logsource_run(struct logsource *s, const struct logsource_range *range, calllog_emit emit,
		   void *data, struct logsource_result *ret, struct calllog **ret_calllog,
		   GError **error)
{
	struct calllog_options o = {
		.from_ns = range->from_ns, .to_ns = range->to_ns, .hold = range->hold,
		.hold_ns = range->hold == SIZE_MAX ? INT64_MAX : 0,
	};
	struct log_pass p = { calllog_new(&o, emit, data), range, ret };
	*ret = (struct logsource_result){ .names = true };
	bool ok = s->all ? feed_native(s, &p, error) : feed_bt2(s, &p, error);
	if (ret_calllog) {
		*ret_calllog = p.j;
		return ok;
	}
	/* also after an error: reports what was read */
	calllog_finish(p.j);
	calllog_free(p.j);
	return ok;
}
