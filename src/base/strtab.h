/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings kept once, known by small integers. Ids are dense from 0 (0 is always
 * "") and mean nothing outside their table: nothing is ordered or printed by id.
 * Strings may hold any byte but NUL (a NUL ends the string); at most
 * LIMIT_TEXT_BYTES bytes are kept of each. Pointers stay valid until strtab_free.
 * Not thread safe.
 *
 * Passing strings (what many spans say once) may be forgotten: pointers to these are valid
 * until then, and their ids are given to other strings. One that is also added by
 * strtab_add() stays like any other from then on.
 */
#ifndef BLK_BASE_STRTAB_H
#define BLK_BASE_STRTAB_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct strtab;
struct strtab *strtab_new(void);
void strtab_free(struct strtab *t);
uint32_t strtab_add(struct strtab *t, const char *s);		/* NULL counts as "" */
uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len);
uint32_t strtab_add_passing(struct strtab *t, const char *s, size_t len);
bool strtab_is_passing(const struct strtab *t, uint32_t id);
/* Somebody else may need it until then: any number that grows. */
void strtab_set_used(struct strtab *t, uint32_t id, uint32_t when);
uint32_t strtab_used(const struct strtab *t, uint32_t id);	/* 0: never told */
void strtab_forget(struct strtab *t, const uint32_t *ids, guint n);	/* all of them passing */
/* Ids (uint32_t) of before that were given to other strings since this was emptied last. */
GArray *strtab_given_again(struct strtab *t);
size_t strtab_passing_bytes(const struct strtab *t);
const char *strtab_get(const struct strtab *t, uint32_t id);	/* "" for an unknown id */
uint32_t strtab_n(const struct strtab *t);			/* ids so far: forgotten ones, too */
size_t strtab_bytes(const struct strtab *t);			/* memory used, about */

#endif
