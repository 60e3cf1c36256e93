/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Getters of the columns that views share.
 */
#include "views/common.h"

#define COMMON(row) ((const struct common *)(row))

static struct value id_or_none(int64_t id)
{
	return id < 0 ? value_none() : value_int(VALUE_ID, id);
}

static struct value ns_or_none(int64_t ns)
{
	return ns < 0 ? value_none() : value_int(VALUE_NS, ns);
}

GETTER(get_host)
{
	return value_text(COMMON(row)->host);
}

GETTER(get_pid)
{
	return id_or_none(COMMON(row)->pid);
}

GETTER(get_tid)
{
	return id_or_none(COMMON(row)->tid);
}

GETTER(get_comm)
{
	return value_text(COMMON(row)->comm);
}

GETTER(get_container)
{
	return value_text(COMMON(row)->container);
}

GETTER(get_name)
{
	return value_text(COMMON(row)->name);
}

GETTER(get_service)
{
	return value_text(COMMON(row)->service);
}

GETTER(get_errors)
{
	return value_int(VALUE_COUNT, COMMON(row)->errors);
}

GETTER(get_partial_spans)
{
	return value_int(VALUE_COUNT, COMMON(row)->partial);
}

GETTER(get_count)
{
	return value_int(VALUE_COUNT, COMMON(row)->stat.count);
}

GETTER(get_total)
{
	return value_int(VALUE_NS, COMMON(row)->stat.total);
}

GETTER(get_min)
{
	return ns_or_none(COMMON(row)->stat.min);
}

GETTER(get_avg)
{
	return ns_or_none(COMMON(row)->stat.avg);
}

GETTER(get_p50)
{
	return ns_or_none(COMMON(row)->stat.p50);
}

GETTER(get_p95)
{
	return ns_or_none(COMMON(row)->stat.p95);
}

GETTER(get_p99)
{
	return ns_or_none(COMMON(row)->stat.p99);
}

GETTER(get_max)
{
	return ns_or_none(COMMON(row)->stat.max);
}

/* A time that is summed over parts. Null if all parts of the row are unknown, or if events in `needs` are missing. */
static struct value parts_ns(const struct row *row, const struct rows *rows, unsigned needs,
			     int64_t ns)
{
	return COMMON(row)->parts_unknown || row_missing(row, rows) & needs ? value_none() :
		value_int(VALUE_NS, ns);
}

GETTER(get_cpu)
{
	return parts_ns(row, rows, MISSING_SWITCHES, part_sum_cpu(COMMON(row)->part));
}

GETTER(get_runnable)
{
	return parts_ns(row, rows, MISSING_SWITCHES | MISSING_WAKINGS, part_sum_runnable(COMMON(row)->part));
}

GETTER(get_blocked)
{
	return parts_ns(row, rows, MISSING_SWITCHES, part_sum_blocked(COMMON(row)->part));
}

static struct value over_parts(const struct row *row, struct value ns)
{
	int64_t total;
	part_largest(COMMON(row)->part, NULL, &total);
	return ns.kind == VALUE_NONE || total <= 0 ? value_none() : value_ratio((double)ns.i / total);
}

GETTER(get_runq_ratio)
{
	return over_parts(row, get_runnable(row, rows));
}

/* The value of one part. The time in PART_UNKNOWN is always known. */
static struct value part_ns(const struct row *row, const struct rows *rows, enum part p)
{
	int64_t ns = COMMON(row)->part[p];
	bool is_two = ns && COMMON(row)->of_threads && part_is_two_of_spans(row_missing(row, rows), p);
	bool is_known = p == PART_UNKNOWN || (!COMMON(row)->parts_unknown &&
					  !(p == PART_WRITEBACK && COMMON(row)->of_threads) && !is_two &&
					  part_is_known(row_missing(row, rows), p, ns));
	return is_known ? value_int(VALUE_NS, ns) : value_none();
}

#define PART_GETTERS(id, p) \
	GETTER(get_##id) { return part_ns(row, rows, PART_##p); } \
	GETTER(get_##id##_ratio) \
	{ \
		return COMMON(row)->parts_unknown ? value_none() : \
			over_parts(row, part_ns(row, rows, PART_##p)); \
	}
PART_LIST(PART_GETTERS)

GETTER(get_file)
{
	const struct common *c = COMMON(row);
	bool is_known = !c->parts_unknown && part_is_known(row_missing(row, rows), PART_DISK, c->part[PART_DISK]);
	return is_known ? value_int(VALUE_NS, c->part[PART_DISK] + c->part[PART_WRITEBACK]) : value_none();
}

GETTER(get_mainly)
{
	const struct common *c = COMMON(row);
	int64_t ns, total;
	enum part p = part_largest(c->part, &ns, &total);
	if (total <= 0)
		return value_none();
	return value_text((c->of_threads ? part_word_of_threads : part_word)(row_missing(row, rows), p));
}
