/* SPDX-License-Identifier: GPL-2.0-only */
/* Internet addresses as text: see address.h. */
#include "base/address.h"

#include <glib.h>
#include <stdio.h>

static unsigned group(const uint8_t *a, unsigned i)
{
	return (unsigned)a[2 * i] << 8 | a[2 * i + 1];
}

/* The longest run of zero groups: its length, at least 2; else 0. */
static unsigned zeros(const uint8_t *a, unsigned *ret_at)
{
	unsigned most = 1, run = 0;
	*ret_at = 8;
	for (unsigned i = 0; i < 8; i++) {
		run = group(a, i) ? 0 : run + 1;
		if (run > most) {
			most = run;
			*ret_at = i + 1 - run;
		}
	}
	return most > 1 ? most : 0;
}

static void put_v6(char *to, const uint8_t *a)
{
	unsigned at, n = zeros(a, &at);
	for (unsigned i = 0; i < 8; i++) {
		if (i == at) {
			to += sprintf(to, "::");
			i += n - 1;
			continue;
		}
		to += sprintf(to, "%s%x", i && i != at + n ? ":" : "", group(a, i));
	}
}

void address_text(char *to, unsigned family, const uint8_t *a, int port)
{
	char text[ADDRESS_MAX - 16];
	g_assert(family == 4 || family == 6);
	if (family == 4)
		snprintf(text, sizeof text, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
	else
		put_v6(text, a);
	if (port < 0)
		snprintf(to, ADDRESS_MAX, "%s", text);
	else
		snprintf(to, ADDRESS_MAX, family == 4 ? "%s:%d" : "[%s]:%d", text, port);
}
