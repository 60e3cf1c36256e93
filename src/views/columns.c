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

/* A time that is made of parts: null when the trace told nothing at all. */
static struct value parts_ns(const struct common *c, int64_t ns)
{
	return c->parts_unknown ? value_none() : value_int(VALUE_NS, ns);
}

static struct value parts_ratio(const struct common *c, int64_t ns)
{
	int64_t total;
	part_largest(c->part, NULL, &total);
	return c->parts_unknown || total <= 0 ? value_none() : value_ratio((double)ns / total);
}

GETTER(get_cpu)
{
	return parts_ns(COMMON(row), part_sum_cpu(COMMON(row)->part));
}

GETTER(get_runnable)
{
	return parts_ns(COMMON(row), part_sum_runnable(COMMON(row)->part));
}

GETTER(get_blocked)
{
	return parts_ns(COMMON(row), part_sum_blocked(COMMON(row)->part));
}

GETTER(get_runq_ratio)
{
	return parts_ratio(COMMON(row), part_sum_runnable(COMMON(row)->part));
}

/* Time charged to "unknown" is itself known, always. */
static struct value part_ns(const struct common *c, enum part p)
{
	return p == PART_UNKNOWN ? value_int(VALUE_NS, c->part[p]) : parts_ns(c, c->part[p]);
}

#define PART_GETTERS(id, p) \
	GETTER(get_##id) { return part_ns(COMMON(row), PART_##p); } \
	GETTER(get_##id##_ratio) { return parts_ratio(COMMON(row), COMMON(row)->part[PART_##p]); }
PART_LIST(PART_GETTERS)

GETTER(get_mainly)
{
	const struct common *c = COMMON(row);
	int64_t ns, total;
	enum part p = part_largest(c->part, &ns, &total);
	return total > 0 ? value_text(part_info[p].id) : value_none();
}
