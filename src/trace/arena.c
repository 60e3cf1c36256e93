/* SPDX-License-Identifier: GPL-2.0-only */
/* Chunks that double in size. The newest is reused after arena_reset(). */
#include "trace/arena.h"

/* The first chunk is small: a trace may have thousands of streams with a few events each. */
#define FIRST_BYTES 2048
#define CHUNK_BYTES (1024 * 1024)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
	uint64_t bytes[];
};

void *arena_alloc_slow(struct arena *a, size_t size)
{
	size_t room = a->chunk ? MIN(a->chunk->size * 2, CHUNK_BYTES) : FIRST_BYTES;
	if (room < size)
		room = size;
	struct arena_chunk *chunk = g_malloc(sizeof *chunk + room);
	chunk->older = a->chunk;
	chunk->size = room;
	a->chunk = chunk;
	a->at = (uint8_t *)chunk->bytes;
	a->end = a->at + room;
	return arena_alloc(a, size);
}

static void free_chunks(struct arena_chunk *chunk)
{
	while (chunk) {
		struct arena_chunk *older = chunk->older;
		g_free(chunk);
		chunk = older;
	}
}

void arena_reset(struct arena *a)
{
	if (!a->chunk)
		return;
	/* The newest chunk is the largest, except for a chunk made for a single huge text. */
	free_chunks(a->chunk->older);
	a->chunk->older = NULL;
	if (a->chunk->size > CHUNK_BYTES) {
		arena_clear(a);
		return;
	}
	a->at = (uint8_t *)a->chunk->bytes;
	a->end = a->at + a->chunk->size;
}

void arena_clear(struct arena *a)
{
	free_chunks(a->chunk);
	*a = (struct arena){ 0 };
}
