/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of ctf_index*.c: one stream file and what is known of its packets. */
#ifndef BLK_TRACE_CTF_CTF_INDEX_PRIVATE_H
#define BLK_TRACE_CTF_CTF_INDEX_PRIVATE_H

#include "trace/ctf/ctf_index.h"

/* Packets in a row, by offset; grows at either end. */
struct packets {
	struct ctf_packet *all;
	size_t first, n, room;
};

static inline const struct ctf_packet *packets_at(const struct packets *p, size_t i)
{
	return &p->all[p->first + i];
}

enum ctf_walk { CTF_WALK_UNDECIDED, CTF_WALK_FORWARD, CTF_WALK_BACKWARD, CTF_WALK_DONE };

struct ctf_index {
	const struct ctf_meta *meta;
	char *path;
	int fd;
	uint64_t size;
	uint64_t common;	/* bytes of the first whole packet; 0: none yet */
	bool has_file;
	enum ctf_walk walk;
	struct packets oldest;	/* from the file's begin to oldest_end */
	struct packets newest;	/* from newest_begin to the file's end; joined in the end */
	uint64_t oldest_end, newest_begin;
};

void packets_push_back(struct packets *p, const struct ctf_packet *packet);
void packets_push_front(struct packets *p, const struct ctf_packet *packet);
void packets_clear(struct packets *p);

/* The header at `offset` of a file that ends at `limit`. */
bool ctf_index_header(const struct ctf_index *x, uint64_t offset, uint64_t limit,
		      struct ctf_packet *ret, GError **error);

#endif
