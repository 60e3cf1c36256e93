/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The graphics of the HTML report, as inline SVG without text: bars of seconds, a heatmap, a waterfall. Labels are
 * HTML beside them, so that they stay legible at any width. Classes are in the style sheet of report_html.c: p-PART,
 * and heat-N. Private to src/export/.
 */
#ifndef BLK_EXPORT_REPORT_SVG_H
#define BLK_EXPORT_REPORT_SVG_H

#include "export/report.h"

/* Bars of the slowest request, and of the CPU in use, of each second (or of several) of the range. `traces`: rows of
 * the view traces. */
void svg_seconds(GString *out, const struct timeline *tl, const struct report_options *o, const struct rows *traces);
/* The heatmap of request.latency, else of call.latency. Nothing if there is no duration. */
void svg_heatmap(GString *out, const struct timeline *tl, const struct report_options *o);
/* `rows`: of the view waterfall. A bar for each span, with the states of its thread; adds the parts that it drew to
 * .seen. */
void svg_waterfall(GString *out, const struct rows *rows, bool seen[PART_N]);
/* Where the time went (view flame): a bar with parts for each frame of at least 1 %. */
void svg_flame(GString *out, const struct timeline *tl, const struct report_options *o, bool seen[PART_N]);
/* Names the parts that were drawn. */
void svg_legend(GString *out, const bool seen[PART_N]);
/* Style rules that give each part its colour: shades of the hue of its group (state/store/part.h). */
void svg_part_styles(GString *out, bool dark);

#endif
