/* SPDX-License-Identifier: GPL-2.0-only */
/* The order of values. It is total, also for mixed kinds and for ratios that are NaN. */
#include "base/value.h"

#include "base/sort.h"

#include <glib.h>
#include <math.h>
#include <string.h>

const char *value_unit(enum value_kind kind)
{
	static const char *const unit[] = {
		[VALUE_NONE] = "", [VALUE_COUNT] = "count", [VALUE_BYTES] = "bytes",
		[VALUE_NS] = "ns", [VALUE_TIME] = "instant", [VALUE_ID] = "id",
		[VALUE_RATIO] = "ratio", [VALUE_HEX64] = "hex", [VALUE_TEXT] = "text",
	};

	g_assert((unsigned)kind < G_N_ELEMENTS(unit));
	return unit[kind];
}

/* Values of one class are compared with each other: missing ones, numbers, hexadecimal ids, ratios, texts. */
static int class_of(enum value_kind kind)
{
	static const int class[] = {
		[VALUE_NONE] = 0, [VALUE_COUNT] = 1, [VALUE_BYTES] = 1, [VALUE_NS] = 1,
		[VALUE_TIME] = 1, [VALUE_ID] = 1, [VALUE_HEX64] = 2, [VALUE_RATIO] = 3,
		[VALUE_TEXT] = 4,
	};
	return class[kind];
}

static int compare_ratio(double a, double b)
{
	if (isnan(a) || isnan(b))
		return ORDER(!isnan(a), !isnan(b));
	return ORDER(a, b);
}

int value_compare(struct value a, struct value b)
{
	int class = class_of(a.kind);

	if (class != class_of(b.kind))
		return ORDER(class, class_of(b.kind));
	if (class == 0)
		return 0;
	if (class == 1)
		return ORDER(a.i, b.i);
	if (class == 2)
		return ORDER((uint64_t)a.i, (uint64_t)b.i);
	if (class == 3)
		return compare_ratio(a.d, b.d);
	int order = strcmp(a.s ? a.s : "", b.s ? b.s : "");
	return ORDER(order, 0);
}
