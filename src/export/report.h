/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page about the worst requests of a range, for an incident report, as Markdown or as HTML. The views of the screen
 * supply its data.
 */
#ifndef BLK_EXPORT_REPORT_H
#define BLK_EXPORT_REPORT_H

#include "export/report_head.h"

/* The page; free it with g_free(). *ret_n: number of requests on it, which may be less than .worst. Without requests it
 * has the busiest processes, their system calls, and what the trace can tell. */
char *report_markdown(const struct timeline *tl, const struct report_options *options,
		      unsigned *ret_n);

/* The same as an HTML page with graphics, which needs no other file, no network and no script; also of a range without
 * requests. Free it with g_free(). */
char *report_html(const struct timeline *tl, const struct report_options *options);

#endif
