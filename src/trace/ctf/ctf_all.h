/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads all fields of an event, in the format of base/fields.h (inside src/trace/). */
#ifndef BLK_TRACE_CTF_CTF_ALL_H
#define BLK_TRACE_CTF_CTF_ALL_H

#include "base/fields.h"
#include "trace/ctf/ctf_class.h"
#include "trace/event.h"

/* The slot of the row's field "*" (all fields); -1: the row does not have it. */
int blk_slot_of_all(const struct blk_subscription *row);

/*
 * Reads contexts and payload of the event whose contexts begin at bit `pos` of base. Arguments as for ctf_walk().
 * False: the event does not fit.
 */
bool ctf_all_read(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
		  const uint8_t *base, uint64_t pos, uint64_t end, uint64_t *regs,
		  struct fields_run *to);

#endif
