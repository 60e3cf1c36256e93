/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines link_out= and link_in= of rules (rules.h): "NAME(field, ...), NAME(field, ...)". */
#ifndef BLK_STATE_SPANS_RULE_LINKS_H
#define BLK_STATE_SPANS_RULE_LINKS_H

#include "state/spans/rule_text.h"

GArray *rule_links_new(void);		/* of struct rule_link, which it frees; empty */

/* Adds the links of the text to the event of the names, and their fields. Returns NULL, or what is wrong (g_free).
 * Fields: at least one; "host" is the host of the event. With "${" it is a text; of a link_out it may name entries of
 * tables (what is taken is looked for at once). */
char *rule_links_take(const struct rule_names *n, bool out, const char *text);

#endif
