/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsed metadata as text, all of it, for comparing. */
#ifndef BLK_TEST_CTF_DUMP_H
#define BLK_TEST_CTF_DUMP_H

#include "trace/ctf/ctf_meta.h"

/* "struct/8{a:u32le/8 b#1:u8le/8 c:seq[#1](i8le/8t)}": integers as sign, bits, byte order
 * and alignment; t: text; %N: base N; @NAME: clock; #N: register. */
void ctf_dump_type(GString *out, const struct ctf_type *t);
char *ctf_dump(const struct ctf_meta *m);

/* The text of metadata in packets of at most `room` bytes of text each. */
GByteArray *ctf_packetise(const char *text, bool big_endian, gsize room);

/* Where the declarations of a text end (gsize offsets behind the ';'). */
GArray *ctf_boundaries(const char *text);

#endif
