/* SPDX-License-Identifier: GPL-2.0-only */
/* What tracegen.c passes to the functions that make-providers makes. */
#ifndef BLK_TESTS_ARGUMENTS_H
#define BLK_TESTS_ARGUMENTS_H

#include <stdint.h>

#define MAX_POINTERS 8

struct pointers {
	uint64_t n, at[MAX_POINTERS];
};

union argument {
	uint64_t u;
	int64_t i;
	double f;
	const char *text;			/* of a gid: 16 bytes */
	const struct pointers *pointers;
};

/* One letter for each argument: u unsigned or address, i signed, f floating point, s text, g gid, p addresses. */
struct event {
	const char *name, *letters;
	void (*emit)(const union argument *a);
};

#endif
