/* SPDX-License-Identifier: GPL-2.0-only */
/* Which form the event headers of a stream class have (inside src/trace/). */
#ifndef BLK_TRACE_CTF_CTF_HEADER_H
#define BLK_TRACE_CTF_CTF_HEADER_H

#include "trace/ctf/ctf_program.h"

/* False: UNSUPPORTED, named: no timestamps of a clock. *ret_clock: theirs. Fields are
 * known by their roles (enum ctf_role), whatever they are called. */
bool ctf_header_compile(const struct ctf_stream_class *sc, struct ctf_header *ret,
			const struct ctf_clock **ret_clock, GError **error);

#endif
