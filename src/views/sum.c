/* SPDX-License-Identifier: GPL-2.0-only */
/* Totals of a table: see sum.h. */
#include "views/sum.h"

enum how { SUM_ADD, SUM_LEAST, SUM_MOST, SUM_NOT };

/* How to sum a column, by the beginning of its id; the first match counts. */
static const struct {
	const char *begin;
	enum how how;
} rules[] = {
	{ "min_", SUM_LEAST }, { "max_", SUM_MOST }, { "avg_", SUM_NOT }, { "usual_", SUM_NOT },
	{ "x_", SUM_NOT }, { "depth", SUM_NOT }, { "critical", SUM_NOT },
	{ "services", SUM_NOT }, { "prio", SUM_NOT }, { "queue", SUM_NOT }, { "rank", SUM_NOT },
};

/* Shares of a quantity that all rows divide. Other ratios cannot be added. */
static const char *const ratios[] = {
	"cpu_ratio", "runnable_ratio", "blocked_ratio", "busy_ratio", "share_ratio", "run_ratio",
};

static bool is_percentile(const char *id)
{
	return id[0] == 'p' && g_ascii_isdigit(id[1]);
}

static enum how how_of(const struct column *c)
{
	if (c->kind == VALUE_RATIO) {
		for (size_t i = 0; i < G_N_ELEMENTS(ratios); i++) {
			if (g_str_equal(c->id, ratios[i]))
				return SUM_ADD;
		}
		return SUM_NOT;
	}
	if ((c->kind != VALUE_COUNT && c->kind != VALUE_BYTES && c->kind != VALUE_NS) ||
	    is_percentile(c->id))
		return SUM_NOT;
	for (size_t i = 0; i < G_N_ELEMENTS(rules); i++) {
		if (g_str_has_prefix(c->id, rules[i].begin))
			return rules[i].how;
	}
	return SUM_ADD;
}

static struct value join(struct value a, struct value b, enum how how)
{
	if (how == SUM_ADD && a.kind == VALUE_RATIO)
		a.d += b.d;
	else if (how == SUM_ADD)
		a.i += b.i;
	else if ((value_compare(b, a) < 0) == (how == SUM_LEAST))
		a = b;
	return a;
}

struct value rows_sum(const struct view *v, const struct rows *rows, size_t column,
		      bool (*wanted)(const struct row *row, const void *data), const void *data)
{
	const struct column *c = &v->columns[column];
	enum how how = how_of(c);
	struct value sum = value_none();

	for (guint i = 0; how != SUM_NOT && i < rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows->rows, i);
		struct value value;

		if (wanted && !wanted(row, data))
			continue;
		value = column_value(c, row, rows);
		/* A minimum or maximum ignores unknown values; a sum with an unknown value is unknown. */
		if (value.kind == VALUE_NONE && how == SUM_ADD)
			return value;
		if (value.kind != VALUE_NONE)
			sum = sum.kind == VALUE_NONE ? value : join(sum, value, how);
	}
	return sum;
}
