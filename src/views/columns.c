/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of columns: members of rows, and getters that views share.
 */
#include "views/common.h"

#define ROW(row) ((const struct common *)(row))

static struct value text_of(const struct member *m, const char *s)
{
	return value_text(s && !*s && m->none == IF_ZERO ? NULL : s);
}

static struct value ratio_of(const struct member *m, double d)
{
	return d < 0 && m->none == IF_NEGATIVE ? value_none() : value_ratio(d);
}

/* Reads an integer. False: it is unknown. */
static bool read_int(enum member_type type, const void *p, int64_t *ret)
{
	switch (type) {
	case MEMBER_BOOL:
		*ret = *(const bool *)p;
		return true;
	case MEMBER_U8:
		*ret = *(const uint8_t *)p;
		return true;
	case MEMBER_U16:
		*ret = *(const uint16_t *)p;
		return true;
	case MEMBER_I32:
		*ret = *(const int32_t *)p;
		return *ret >= 0;
	case MEMBER_U32:
		*ret = *(const uint32_t *)p;
		return *ret != ID_NONE;
	default:
		*ret = *(const int64_t *)p;
		return type == MEMBER_U64 || *ret != TIME_UNKNOWN;
	}
}

static struct value member_value(const struct column *c, const struct row *row, const struct rows *rows)
{
	const struct member *m = &c->member;
	const char *base = (const char *)row;
	int64_t n;

	if (m->pointer)
		base = *(const char *const *)(const void *)(base + m->pointer);
	const void *p = base + m->offset;
	if (!base || m->missing & (rows->missing | row->missing) || (m->none == IF_LEFT_OUT && rows->left_out) ||
	    (m->known && !*(const bool *)(base + m->known)))
		return value_none();
	if (m->type == MEMBER_TEXT)
		return text_of(m, *(const char *const *)p);
	if (m->type == MEMBER_DOUBLE)
		return ratio_of(m, *(const double *)p);
	if (!read_int(m->type, p, &n) || (n < 0 && m->none == IF_NEGATIVE) || (!n && m->none == IF_ZERO))
		return value_none();
	return m->words ? value_text(m->words[n]) : value_int(c->kind, n);
}

struct value column_value(const struct column *c, const struct row *row, const struct rows *rows)
{
	bool is_figure = c->kind == VALUE_COUNT || c->kind == VALUE_NS || c->kind == VALUE_BYTES ||
			 c->kind == VALUE_RATIO;

	if (rows->left_out && is_figure && !c->of_retained)
		return value_none();
	return c->get ? c->get(row, rows) : member_value(c, row, rows);
}

/* A time that is summed over parts. Null if all parts of the row are unknown, or if events in `needs` are missing. */
static struct value parts_ns(const struct row *row, const struct rows *rows, unsigned needs,
			     int64_t ns)
{
	return ROW(row)->parts_unknown || row_missing(row, rows) & needs ? value_none() :
		value_int(VALUE_NS, ns);
}

GETTER(get_count_rate)
{
	return value_int(VALUE_COUNT, ROW(row)->stat.count / rows->seconds + 0.5);
}

GETTER(get_cpu)
{
	return parts_ns(row, rows, MISSING_SWITCHES, part_sum_cpu(ROW(row)->part));
}

GETTER(get_runnable)
{
	return parts_ns(row, rows, MISSING_SWITCHES | MISSING_WAKINGS, part_sum_runnable(ROW(row)->part));
}

GETTER(get_blocked)
{
	return parts_ns(row, rows, MISSING_SWITCHES, part_sum_blocked(ROW(row)->part));
}

static struct value over_parts(const struct row *row, struct value ns)
{
	int64_t total;
	part_largest(ROW(row)->part, NULL, &total);
	return ns.kind == VALUE_NONE || total <= 0 ? value_none() : value_ratio((double)ns.i / total);
}

GETTER(get_runq_ratio)
{
	return over_parts(row, get_runnable(row, rows));
}

/* The value of one part. The time in PART_UNKNOWN is always known. */
static struct value part_ns(const struct row *row, const struct rows *rows, enum part p)
{
	int64_t ns = ROW(row)->part[p];
	bool is_two = ns && ROW(row)->of_threads && part_is_two_of_spans(row_missing(row, rows), p);
	bool is_known = p == PART_UNKNOWN || (!ROW(row)->parts_unknown &&
					  !(p == PART_WRITEBACK && ROW(row)->of_threads) && !is_two &&
					  part_is_known(row_missing(row, rows), p, ns));
	return is_known ? value_int(VALUE_NS, ns) : value_none();
}

#define PART_GETTERS(id, p) \
	GETTER(get_##id) { return part_ns(row, rows, PART_##p); } \
	GETTER(get_##id##_ratio) \
	{ \
		return ROW(row)->parts_unknown ? value_none() : \
			over_parts(row, part_ns(row, rows, PART_##p)); \
	}
PART_LIST(PART_GETTERS)

GETTER(get_file)
{
	const struct common *c = ROW(row);
	bool is_known = !c->parts_unknown && part_is_known(row_missing(row, rows), PART_DISK, c->part[PART_DISK]);
	return is_known ? value_int(VALUE_NS, c->part[PART_DISK] + c->part[PART_WRITEBACK]) : value_none();
}

GETTER(get_mainly)
{
	const struct common *c = ROW(row);
	int64_t ns, total;
	enum part p = part_largest(c->part, &ns, &total);
	if (total <= 0)
		return value_none();
	return value_text((c->of_threads ? part_word_of_threads : part_word)(row_missing(row, rows), p));
}
