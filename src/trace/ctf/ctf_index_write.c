/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes index files: see ctf_index_write.h. */
#include "trace/ctf/ctf_index_write.h"

#include <string.h>

#define MAGIC_AND_MAJOR (UINT64_C(0xc1f1dcc1) << 32 | 1)
#define LENGTH_1_0 56

static void put64(uint8_t *at, uint64_t v)
{
	v = GUINT64_TO_BE(v);
	memcpy(at, &v, sizeof v);
}

size_t ctf_index_entry_size(const struct ctf_packet *p)
{
	return p->has_instance && p->has_seq ? CTF_INDEX_MOST : LENGTH_1_0;
}

void ctf_index_put_header(uint8_t ret[CTF_INDEX_HEADER], size_t entry_size)
{
	uint64_t minor = entry_size == CTF_INDEX_MOST;

	put64(ret, MAGIC_AND_MAJOR);
	put64(ret + 8, minor << 32 | entry_size);
}

void ctf_index_put_entry(uint8_t *ret, size_t entry_size, const struct ctf_packet *p)
{
	const uint64_t values[] = { p->offset, p->packet_bits, p->content_bits, p->begin, p->end,
				  p->discarded, p->stream_id, p->instance, p->seq };

	for (size_t i = 0; i < entry_size / sizeof values[0]; i++)
		put64(ret + i * sizeof values[0], values[i]);
}
