/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of the screen: clipboard, saved tables and traces, snapshots. Also key M, which moves the clocks of hosts. */
#ifndef BLK_UI_OUTPUT_H
#define BLK_UI_OUTPUT_H

#include "ui/app_state.h"

void output_copy(struct app *app, struct place *p, enum command_id command);
void output_save(struct app *app, struct place *p, enum command_id command);
/* Asks for a file; its name begins as one with this suffix: ".txt" (ROWS_SUFFIXES). */
void output_save_with(struct app *app, struct place *p, const char *suffix);
/* false and *error: not written; the prompt stays open. */
bool output_save_as(struct app *app, struct place *p, const char *path, GError **error);
void output_screenshot(struct app *app, struct place *p, enum command_id command);
bool output_screenshot_as(struct app *app, const char *path, GError **error);
void output_suggest(struct app *app, struct place *p, enum command_id command);
bool output_rules_as(struct app *app, const char *path, GError **error);
/* What pairs of events look like spans, and the key that shows them as spans (g_free); NULL: nothing is known. */
char *output_suggestion(const struct app *app);
/* view_missing_text(); where pairs of events look like spans, it names the key for that instead of BlkKin's event. */
char *output_missing(const struct app *app, const struct view *v);
void output_save_trace(struct app *app, struct place *p, enum command_id command);
bool output_save_trace_as(struct app *app, const char *line, GError **error);
/* After the backend's pump: reports that a trace was saved, or why not. */
void output_saved_trace(struct app *app);
void output_snapshot(struct app *app, struct place *p, enum command_id command);
void output_align(struct app *app, struct place *p, enum command_id command);
/* Words for before a message about provisional figures, or "". */
const char *output_provisional_note(const struct app *app);

/* The canvas as it was drawn last, as SVG, in the theme that is shown. Free with g_free(). */
char *output_picture(const struct app *app);

#endif
