/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the form of a stream class's event headers (inside src/trace/). */
#ifndef BLK_TRACE_CTF_CTF_HEADER_H
#define BLK_TRACE_CTF_CTF_HEADER_H

#include "trace/ctf/ctf_program.h"

/* Fields are recognised by their roles (enum ctf_role), not by name. *ret_clock: the clock of the timestamps. False:
 * UNSUPPORTED, with the reason: there are no timestamps of a clock. */
bool ctf_header_compile(const struct ctf_stream_class *sc, struct ctf_header *ret,
			const struct ctf_clock **ret_clock, GError **error);

#endif
