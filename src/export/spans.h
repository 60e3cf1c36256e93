/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two forms of exported spans. Private to src/export/.
 */
#ifndef BLK_EXPORT_SPANS_H
#define BLK_EXPORT_SPANS_H

#include "views/why.h"

/* One trace of an export: which of its nodes. */
struct export_trace {
	struct tree *tree;
	bool *wanted;			/* by node */
	unsigned n;			/* nodes wanted */
};

/* Appends the spans, comma separated. */
void zipkin_append(GString *out, struct history *h, const struct export_trace *trace,
		   bool first);
/* Appends the trace as one object. */
void native_append(GString *out, struct history *h, const struct export_trace *trace,
		   bool first);

#endif
