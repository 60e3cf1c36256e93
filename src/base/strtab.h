/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that are stored once and have small integers as ids. Ids are dense from 0; id 0 is "". They are only valid
 * in their table, and their order has no meaning. A string ends at its first NUL; at most LIMIT_TEXT_BYTES bytes are
 * stored. Pointers are valid until strtab_free(). Not thread safe.
 *
 * A table of reftexts (reftext.h) holds one reference to each text. Its texts can be forgotten; then their ids are
 * reused.
 */
#ifndef BLK_BASE_STRTAB_H
#define BLK_BASE_STRTAB_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct strtab;
struct strtab *strtab_new(void);
struct strtab *strtab_new_reftexts(void);		/* the strings are reftexts */
void strtab_free(struct strtab *t);
uint32_t strtab_add(struct strtab *t, const char *s);		/* NULL counts as "" */
uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len);
bool strtab_has(const struct strtab *t, const char *s, size_t len);	/* "" is always there */
/* For a table of reftexts: returns a reference. Cheaper than reftext_ref() for a text that many threads use. */
const char *strtab_take(struct strtab *t, uint32_t id);
/* For a table of reftexts: forgets each id with used[id] == 0, except "". `used` has strtab_n() entries. */
void strtab_forget(struct strtab *t, const guint8 *used);
const char *strtab_get(const struct strtab *t, uint32_t id);	/* "" if the id is unknown */
uint32_t strtab_n(const struct strtab *t);			/* number of ids so far, forgotten ones included */
size_t strtab_bytes(const struct strtab *t);			/* allocated memory, about */

#endif
