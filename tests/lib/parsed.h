/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON that blktop wrote, read by base/json_read.h. Texts are retained until the program ends. */
#ifndef BLK_TESTS_PARSED_H
#define BLK_TESTS_PARSED_H

#include "base/json_read.h"

struct json_value parsed(const char *text);		/* fails if it is not valid */
/* These fail if it is of another kind, or not there. */
const char *parsed_text(struct json_value o, const char *key);
int64_t parsed_int(struct json_value o, const char *key);
struct json_value parsed_list(struct json_value o, const char *key);
struct json_value parsed_object(struct json_value o, const char *key);
struct json_value parsed_at(struct json_value list, unsigned i);

bool parsed_has(struct json_value o, const char *key);
bool parsed_is_null(struct json_value o, const char *key);	/* it is there, and null */
unsigned parsed_count(struct json_value v);			/* members, elements */
/* The same values, members in any order. */
bool parsed_equal(struct json_value a, struct json_value b);

#endif
