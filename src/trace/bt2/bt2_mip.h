/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between versions of libbabeltrace2 (inside src/trace/). Version 2.1 has
 * version 1 of its Message Interchange Protocol (MIP), which CTF 2 needs: clocks and
 * traces have identities instead of UUIDs, and there are BLOBs and named flags. A graph
 * has one version of the protocol; asking an object of the other version for what it does
 * not have ends the process. Built with 2.0 all graphs have version 0.
 */
#ifndef BLK_TRACE_BT2_BT2_MIP_H
#define BLK_TRACE_BT2_BT2_MIP_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BT2_UUID_TEXT 40	/* bytes of a UUID as text, or of a digest, with the NUL */

/* 2.0 has no header of this name. */
#if __has_include(<babeltrace2/trace-ir/field-location.h>)
#define BT2_HAS_MIP1 1
#else
#define BT2_HAS_MIP1 0
#endif

/* Why this babeltrace2 cannot read CTF 2; NULL: it can. Owned by the library. */
const char *bt2_ctf2_fault(void);

/* The version of the protocol for a graph that reads these traces. */
static inline uint64_t bt2_mip_for(bool any_ctf2)
{
	return any_ctf2 && BT2_HAS_MIP1;
}

/* Whose cycles compare: the UUID of the clock (of the boot), or, in CTF 2, what the native
 * reader makes of its identity. "": not known. */
void bt2_clock_identity(const bt_clock_class *cc, char ret[BT2_UUID_TEXT]);

/* A UUID of 16 bytes as text; NULL gives "". */
void bt2_uuid_text(const uint8_t *uuid, char ret[BT2_UUID_TEXT]);

/* The trace's UUID as text; of CTF 2 its `uid`, where that is one. "": not known. */
void bt2_trace_identity(const bt_trace *trace, char ret[BT2_UUID_TEXT]);

bool bt2_is_blob(const bt_field_class *fc);
/* Its bytes, which are the field's. */
const uint8_t *bt2_blob(const bt_field *f, uint64_t *ret_n);

/* The names of a bit array's flags that are set, as "A|B"; NULL: none. A new string. */
char *bt2_flags(const bt_field *f);

#endif
