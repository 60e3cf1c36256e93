/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of a preset: what it is for, and how to record it. See presets.h. */
#ifndef BLK_STATE_SPANS_PRESET_HEAD_H
#define BLK_STATE_SPANS_PRESET_HEAD_H

#include <glib.h>
#include <stdbool.h>

/* The head of a file. Texts are NULL where it has none. */
struct preset {
	char *name, *file;
	unsigned line;			/* of its group */
	char *title, *program, *versions, *buffers;	/* .buffers: "1M x 8": size and number of sub-buffers */
	/* char *, in order; empty: not given */
	GPtrArray *detect;		/* globs of events */
	GPtrArray *events, *contexts;	/* of user space, to record */
	GPtrArray *kernel;		/* events of the kernel; "a|b": one of them */
	GPtrArray *agents;		/* domains of lttng: "jul" */
	GPtrArray *setup, *cannot;	/* sentences */
	bool on_request;
	bool makes_spans;		/* it has rules for spans, not only for annotations */
	unsigned seen;			/* lines of the head so far: bits */
};

struct preset *preset_new(const char *name, const char *file, unsigned line);
void preset_free(struct preset *p);
/* Reads a line of the head, KEY=VALUE. NULL: it is valid; else what is wrong (g_free). */
char *preset_take(struct preset *p, const char *key, const char *value);
/* After the head: does it miss a line? NULL, or which (g_free). */
char *preset_lacks(const struct preset *p);
/* Globs of the events to record: those it names, or those by which it is found. */
const GPtrArray *preset_records(const struct preset *p);
/* Are there events of the preset's program among these names? */
bool preset_is_met(const struct preset *p, const char *const *events);

#endif
