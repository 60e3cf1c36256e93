/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats of exported spans. Private to src/export/.
 */
#ifndef BLK_EXPORT_SPANS_H
#define BLK_EXPORT_SPANS_H

#include "export/attributes.h"
#include "export/export.h"

/* The exported nodes of one trace. */
struct export_trace {
	struct tree *tree;
	bool *wanted;			/* by node */
	unsigned n;			/* number of wanted nodes */
};

/* All traces of an export. */
struct export_set {
	struct history *h;
	const struct export_trace *traces;
	guint n;
	bool with_kernel;
};

/* Append the whole text, for example spans_zipkin(). */
#define SPAN_FORMAT_APPEND_(name, id) void spans_##id(GString *out, const struct export_set *set);
SPAN_FORMATS(SPAN_FORMAT_APPEND_)

#endif
