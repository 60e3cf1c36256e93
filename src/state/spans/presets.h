/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Presets: files of rules (rules.h) for programs that many people trace, with a head that says for which. Their rules
 * are installed with the user's own, and make spans where a trace has their events; doc/presets.md has the language:
 *
 *     [preset seastar]
 *     title=...                           what its spans are, in a few words
 *     program=... versions=...            what emits the events
 *     detect=seastar_io:*                 patterns of events that only this program emits
 *     on=auto                             or request: only if --presets names it
 *     events= contexts= buffers= agents=  how to record them (--recipe=seastar)
 *     kernel=sched_switch, ...            kernel events without which its spans are not explained
 *     setup=... cannot=...                what to do before; what it cannot show
 *
 * The files are read once (presets_add()), before isolation. One set is known in the process; main thread.
 */
#ifndef BLK_STATE_SPANS_PRESETS_H
#define BLK_STATE_SPANS_PRESETS_H

#include "state/spans/preset_head.h"

#include <stddef.h>

#define PRESETS_AUTO "auto"		/* --presets: those with on=auto; the default */
#define PRESETS_NONE "none"

struct rules;
/* Adds the file, whose rules are checked. A preset of the same name is there already: this one is
 * ignored. given: it is on, whatever is chosen. false: *error. */
bool presets_add(const char *file, const char *text, size_t len, bool given, GError **error);
void presets_clear(void);
size_t presets_n(void);
const struct preset *presets_at(size_t i);	/* by name */
const struct preset *presets_find(const char *name);
/* "auto", "none", or names; "auto, pthread" are several. false: nothing changes; *error names the presets. */
bool presets_choose(const char *words, GError **error);
const char *presets_chosen(void);		/* the words */
bool presets_is_on(size_t i);
/* Parses the rules of those that are on. */
bool presets_add_rules(struct rules *r, GError **error);

/* Those that are on, and have events among these names: struct preset *, borrowed; g_ptr_array_unref() the array. */
GPtrArray *presets_in_use(const char *const *events);
/* Those that are not on, and have: that could be asked for. */
GPtrArray *presets_on_offer(const char *const *events);
char *presets_names(const GPtrArray *presets, const char *between);	/* g_free() */

#endif
