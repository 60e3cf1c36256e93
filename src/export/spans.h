/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The forms of exported spans. Private to src/export/.
 */
#ifndef BLK_EXPORT_SPANS_H
#define BLK_EXPORT_SPANS_H

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

/* Append the whole text. */
void zipkin_append(GString *out, const struct export_set *set);
void otlp_append(GString *out, const struct export_set *set);
void perfetto_append(GString *out, const struct export_set *set);
void native_append(GString *out, const struct export_set *set);

#endif
