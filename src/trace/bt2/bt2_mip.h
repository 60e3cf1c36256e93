/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hides what differs between versions of libbabeltrace2 (inside src/trace/). Version 2.1 has version 1 of its Message
 * Interchange Protocol (MIP), which CTF 2 needs: clocks and traces have identities instead of UUIDs, and there are
 * BLOBs and named flags. Each graph uses one version of the protocol. A function of the other version aborts the
 * process. Built with babeltrace2 2.0 all graphs use version 0.
 */
#ifndef BLK_TRACE_BT2_BT2_MIP_H
#define BLK_TRACE_BT2_BT2_MIP_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BT2_UUID_TEXT 40	/* bytes of a UUID as text, or of a digest, with the NUL */

/* babeltrace2 2.0 does not have this header. */
#if __has_include(<babeltrace2/trace-ir/field-location.h>)
#define BT2_HAS_MIP1 1
#else
#define BT2_HAS_MIP1 0
#endif

/* Why this babeltrace2 cannot read CTF 2; NULL: it can. A static text. */
const char *bt2_ctf2_fault(void);

/* The protocol version for a graph that reads these traces. */
static inline uint64_t bt2_mip_for(bool any_ctf2)
{
	return any_ctf2 && BT2_HAS_MIP1;
}

/* Clocks with the same identity have comparable cycles: the clock's UUID (of the boot), or, in CTF 2, what the native
 * reader makes of its identity. "": unknown. */
void bt2_clock_identity(const bt_clock_class *cc, char ret[BT2_UUID_TEXT]);

/* A UUID of 16 bytes as text; NULL gives "". */
void bt2_uuid_text(const uint8_t *uuid, char ret[BT2_UUID_TEXT]);

/* The trace's UUID as text; in CTF 2 its `uid`, if that is a UUID. "": unknown. */
void bt2_trace_identity(const bt_trace *trace, char ret[BT2_UUID_TEXT]);

bool bt2_is_blob(const bt_field_class *fc);
/* The bytes of a BLOB; owned by the field. */
const uint8_t *bt2_blob(const bt_field *f, uint64_t *ret_n);

/* The names of the flags that are set in a bit array, as "A|B" (g_free); NULL: none. */
char *bt2_flags(const bt_field *f);

#endif
