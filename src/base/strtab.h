/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings kept once, known by small integers. Ids are dense from 0 (0 is always
 * "") and mean nothing outside their table: nothing is ordered or printed by id.
 * Strings may hold any byte but NUL (a NUL ends the string); at most
 * STRTAB_MAX_LEN bytes are kept of each. Pointers stay valid until strtab_free.
 * Not thread safe.
 */
#ifndef BLK_BASE_STRTAB_H
#define BLK_BASE_STRTAB_H

#include <glib.h>
#include <stdint.h>

#define STRTAB_MAX_LEN 4096

struct strtab;
struct strtab *strtab_new(void);
void strtab_free(struct strtab *t);
uint32_t strtab_add(struct strtab *t, const char *s);		/* NULL counts as "" */
uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len);
const char *strtab_get(const struct strtab *t, uint32_t id);	/* "" for an unknown id */
uint32_t strtab_find(const struct strtab *t, const char *s);	/* UINT32_MAX if absent */
uint32_t strtab_n(const struct strtab *t);
size_t strtab_bytes(const struct strtab *t);			/* memory used, about */

#endif
