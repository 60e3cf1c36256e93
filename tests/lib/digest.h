/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash over a field and all that is in it, told value by value by whoever reads it;
 * the same as text, to be printed where two readers differ.
 */
#ifndef BLK_TEST_DIGEST_H
#define BLK_TEST_DIGEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct digest {
	uint64_t hash;
	GString *text;		/* NULL: only the hash */
};

enum digest_kind { DIGEST_STRUCT = 1, DIGEST_ARRAY, DIGEST_VARIANT, DIGEST_SCOPE };

void digest_begin(struct digest *d, const char *name, enum digest_kind kind, uint64_t n);
void digest_end(struct digest *d);
void digest_integer(struct digest *d, const char *name, bool is_signed, unsigned bits,
		    uint64_t value);
void digest_real(struct digest *d, const char *name, double value);
void digest_text(struct digest *d, const char *name, const char *text, uint64_t n);

/* Bytes of a trace as printable ASCII. */
void digest_escape(GString *to, const char *text, uint64_t n);

#endif
