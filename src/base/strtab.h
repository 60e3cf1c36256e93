/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings kept once, known by small integers. Ids are dense from 0 (0 is always
 * "") and mean nothing outside their table: nothing is ordered or printed by id.
 * Strings may hold any byte but NUL (a NUL ends the string); at most
 * LIMIT_TEXT_BYTES bytes are kept of each. Pointers stay valid until strtab_free.
 * Not thread safe.
 *
 * A table of reftexts (reftext.h) holds a reference of each text. Texts can be forgotten: their ids are reused.
 */
#ifndef BLK_BASE_STRTAB_H
#define BLK_BASE_STRTAB_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct strtab;
struct strtab *strtab_new(void);
struct strtab *strtab_new_reftexts(void);		/* of reftexts */
void strtab_free(struct strtab *t);
uint32_t strtab_add(struct strtab *t, const char *s);		/* NULL counts as "" */
uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len);
bool strtab_has(const struct strtab *t, const char *s, size_t len);	/* "" is always there */
/* Of a table of reftexts: a reference, which costs less than reftext_ref() of a text that many threads have. */
const char *strtab_take(struct strtab *t, uint32_t id);
/* Of a table of reftexts: forgets each id for which used[id] is 0 (strtab_n() of them), but not "". */
void strtab_forget(struct strtab *t, const guint8 *used);
const char *strtab_get(const struct strtab *t, uint32_t id);	/* "" for an unknown id */
uint32_t strtab_n(const struct strtab *t);			/* ids so far: forgotten ones, too */
size_t strtab_bytes(const struct strtab *t);			/* memory used, about */

#endif
