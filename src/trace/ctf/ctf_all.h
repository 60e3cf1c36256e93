/* SPDX-License-Identifier: GPL-2.0-only */
/* All fields of an event as one run of base/fields.h (inside src/trace/). */
#ifndef BLK_TRACE_CTF_CTF_ALL_H
#define BLK_TRACE_CTF_CTF_ALL_H

#include "base/fields.h"
#include "trace/ctf/ctf_class.h"
#include "trace/event.h"

/* Which of the row's fields is "*" (all of them): its slot, -1 for none. */
int blk_slot_of_all(const struct blk_subscription *row);

/*
 * Reads the event whose contexts begin at bit `pos` of base, as ctf_walk() does: its
 * contexts and payload to *to. False: it does not fit.
 */
bool ctf_all_read(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
		  const uint8_t *base, uint64_t pos, uint64_t end, uint64_t *regs,
		  struct fields_run *to);

#endif
