/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes LTTng's index files; ctf_index.h describes the format. */
#ifndef BLK_TRACE_CTF_CTF_INDEX_WRITE_H
#define BLK_TRACE_CTF_CTF_INDEX_WRITE_H

#include "trace/ctf/ctf_index.h"

#define CTF_INDEX_HEADER 16
#define CTF_INDEX_MOST 72

/* Bytes of an entry for such a packet: 72; 56 if packets have no sequence number. */
size_t ctf_index_entry_size(const struct ctf_packet *p);
void ctf_index_put_header(uint8_t ret[CTF_INDEX_HEADER], size_t entry_size);
/* Writes entry_size bytes; of a packet at p->offset. */
void ctf_index_put_entry(uint8_t *ret, size_t entry_size, const struct ctf_packet *p);

#endif
