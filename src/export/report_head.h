/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says about the trace: name, hosts, time, machine, completeness. Private to src/export/. */
#ifndef BLK_EXPORT_REPORT_HEAD_H
#define BLK_EXPORT_REPORT_HEAD_H

#include "export/report.h"

/* The language of the page. code() and text() escape a text of the trace; free with g_free(). */
struct report_markup {
	char *(*code)(const char *s), *(*text)(const char *s);
	const char *strong, *strong_end;
};

/* Gets each property and its value, which is in the language of the page. */
typedef void (*report_property)(void *data, const char *what, const char *value);
/* n: number of requests. */
void report_head(const struct timeline *tl, const struct report_options *options, const struct report_markup *markup,
		 const struct completeness *completeness, guint n, report_property visit, void *data);

#endif
