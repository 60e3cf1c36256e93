/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What to do next when there is nothing to show: texts with commands, for pages of the screen and after error messages.
 * A page has one sentence or command a line; commands are indented by two blanks. All texts are visible text; free
 * them with g_free().
 */
#ifndef BLK_APP_NEXT_STEPS_H
#define BLK_APP_NEXT_STEPS_H

#include "live/live.h"

/* The two commands that start a relay daemon at this URL and a session that it receives; for another machine, also how
 * to reach it through ssh. */
char *next_steps_start_relay(const struct live_url *url);
/* The commands that make a session which this relay daemon receives. */
char *next_steps_make_session(const struct live_url *url);
/* A live session of a relay daemon from which no event came. `ended`: none will. */
char *next_steps_silent_session(const char *label, bool ended);
/* A session of this machine likewise. `program`: the one that is followed, or NULL; `no_kernel`: why the kernel is not
 * traced; "" if it is. */
char *next_steps_silent_here(const char *program, const char *no_kernel, bool ended);

/* A watched directory without slices and chunks. */
char *next_steps_watched(const char *dir);
/* If one of the paths is a program: how to run it. NULL: none is. Call it before isolation: it looks into PATH. */
char *next_steps_program(char *const *paths);
/* After a failure: if there is no trace at one of the paths, or one that cannot be read: what blktop looks for, and
 * where traces come from. needs_traces: files cannot be read, except slices. NULL: there are traces. */
char *next_steps_paths(char *const *paths, bool needs_traces);

/* Of a session that cannot be read; to be appended to a message. Static. */
extern const char next_steps_no_session[];

/* Of a recorded trace without events; begins with a line end, to be appended to a message. Static. */
extern const char next_steps_no_events[];

#endif
