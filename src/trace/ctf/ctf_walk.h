/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes a field of a packet by its type, value by value: simple, not fast. Used in rare cases (all fields of an
 * event, types that have no step), and in tests as the reference for decode programs.
 */
#ifndef BLK_TRACE_CTF_CTF_WALK_H
#define BLK_TRACE_CTF_CTF_WALK_H

#include "trace/ctf/ctf_class.h"

/*
 * Functions that are called for each value, in order; each may be NULL. `name` is that of the structure's field or of
 * the variant's option; NULL for elements and for the field where the walk began. Texts and names are hostile.
 */
struct ctf_visitor {
	/* CTF_INTEGER, CTF_ENUM: signed values are extended to 64 bits and passed as their bits. `bits`: size in the
	 * packet; LEB128 has 7 a byte. */
	void (*integer)(void *data, const char *name, const struct ctf_type *t, uint64_t value,
			unsigned bits);
	void (*real)(void *data, const char *name, const struct ctf_type *t, double value);
	/* CTF_STRING: up to its NUL. Array or sequence of text: all n bytes, even after a NUL. In the type's
	 * encoding, see ctf_text_utf8(). Points into the packet. */
	void (*text)(void *data, const char *name, const struct ctf_type *t, const char *bytes,
		     uint64_t n);
	/* n: members of a structure; elements of an array or sequence (hostile: they may not fit); the index of a
	 * variant's option. An optional is reported as its field, with the optional's name, or not at all. */
	void (*begin)(void *data, const char *name, const struct ctf_type *t, uint64_t n);
	void (*end)(void *data, const char *name, const struct ctf_type *t);
};

/*
 * Reads the field of type t at bit *pos of base; the data ends at bit `end`. Alignment is relative to base. regs
 * holds the values that lengths and tags refer to; it has the stream class's n_regs entries. `v` may be NULL: only
 * *pos moves.
 *
 * False: the field does not fit, and *pos is the least position where its data would end, behind `end`. Or a tag
 * selects no option, or a LEB128 number has more than 64 bits. Or the field has more values than a valid packet of
 * that size (values without size, counted by a hostile length). In these cases *pos is anywhere up to `end`. The
 * visitor has seen a part of it.
 */
bool ctf_walk(const struct ctf_type *t, const uint8_t *base, uint64_t *pos, uint64_t end,
	      uint64_t *regs, const struct ctf_visitor *v, void *data);

/*
 * Appends n bytes of text in the type's encoding as UTF-8, up to the first zero code unit. Invalid code units become
 * U+FFFD; UTF-8 is copied unchecked.
 */
void ctf_text_utf8(const struct ctf_type *t, const char *bytes, uint64_t n, GString *ret);

#endif
