/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One field of a packet read by its type, value by value: plain and obviously right
 * rather than fast. For what is rare (details of an event on the screen, classes that
 * are not worth a program) and for holding the fast decoder against.
 */
#ifndef BLK_TRACE_CTF_CTF_WALK_H
#define BLK_TRACE_CTF_CTF_WALK_H

#include "trace/ctf/ctf_class.h"

/*
 * What is called for each value, in order; any of them may be NULL. `name` is that of
 * the structure's field or the variant's option, NULL for elements and the field that
 * the walk began with. Text and names are hostile.
 */
struct ctf_visitor {
	/* CTF_INTEGER, CTF_ENUM: signed ones by their bits, extended to 64. `bits` are in
	 * the packet: of LEB128 7 a byte. */
	void (*integer)(void *data, const char *name, const struct ctf_type *t, uint64_t value,
			unsigned bits);
	void (*real)(void *data, const char *name, const struct ctf_type *t, double value);
	/* CTF_STRING: up to its NUL. Array or sequence of text: all n bytes, what is behind
	 * a NUL included. In the type's encoding: see ctf_text_utf8(). Points into the packet. */
	void (*text)(void *data, const char *name, const struct ctf_type *t, const char *bytes,
		     uint64_t n);
	/* n: members of a structure, elements of an array or sequence (hostile: they may
	 * turn out not to fit), or, of a variant, the index of its option. An optional is
	 * its field, by the optional's name, or nothing. */
	void (*begin)(void *data, const char *name, const struct ctf_type *t, uint64_t n);
	void (*end)(void *data, const char *name, const struct ctf_type *t);
};

/*
 * Reads the field of type t at bit *pos of base (before its alignment, which is counted
 * from base), where the data end at bit `end`. Values that lengths and tags refer to go
 * to and come from regs, of the stream class's n_regs. `v` may be NULL: only *pos moves.
 *
 * False: the field does not fit (*pos is then where its data would end at least, behind
 * `end`), a variant's tag selects nothing, a LEB128 has more than 64 bits, or it is more
 * work than a sound packet of that size can be (values of no size, counted by a hostile
 * length): *pos is then anywhere up to `end`. The visitor has seen a part of it.
 */
bool ctf_walk(const struct ctf_type *t, const uint8_t *base, uint64_t *pos, uint64_t end,
	      uint64_t *regs, const struct ctf_visitor *v, void *data);

/*
 * Appends n bytes of text in the type's encoding as UTF-8, up to the first zero code unit.
 * What is no character becomes U+FFFD; UTF-8 itself is not checked.
 */
void ctf_text_utf8(const struct ctf_type *t, const char *bytes, uint64_t n, GString *ret);

#endif
