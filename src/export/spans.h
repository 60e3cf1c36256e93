/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The forms of exported spans. Private to src/export/.
 */
#ifndef BLK_EXPORT_SPANS_H
#define BLK_EXPORT_SPANS_H

#include "export/export.h"
#include "export/facts.h"
#include "export/json.h"

/* One trace of an export: which of its nodes. */
struct export_trace {
	struct tree *tree;
	bool *wanted;			/* by node */
	unsigned n;			/* nodes wanted */
};

/* All of an export. */
struct export_set {
	struct history *h;
	const struct export_trace *traces;
	guint n;
	bool with_kernel;
};

/* Append the whole text: spans_zipkin(), ... */
#define SPAN_FORMAT_APPEND_(name, id) void spans_##id(GString *out, const struct export_set *set);
SPAN_FORMATS(SPAN_FORMAT_APPEND_)

#endif
