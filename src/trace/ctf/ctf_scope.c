/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of the metadata parser, and the names of types. See ctf_parse.h. */
#include "trace/ctf/ctf_parse.h"

#include "base/limits.h"

#include <string.h>
#include <sys/mman.h>

#define CHUNK (64u << 10)

struct ctf_pool {
	GPtrArray *chunks;		/* mapped: in the heap, what is freed of many traces would stay in pieces */
	GPtrArray *alone;		/* long allocations */
	char *at;
	size_t left, bytes;
};

static void unmap_chunk(void *chunk)
{
	munmap(chunk, CHUNK);
}

static char *map_chunk(void)
{
	void *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		g_error("cannot allocate %u bytes for metadata", CHUNK);
	return chunk;
}

struct ctf_pool *ctf_pool_new(void)
{
	struct ctf_pool *pool = g_new0(struct ctf_pool, 1);
	pool->chunks = g_ptr_array_new_with_free_func(unmap_chunk);
	pool->alone = g_ptr_array_new_with_free_func(g_free);
	return pool;
}

void ctf_pool_free(struct ctf_pool *pool)
{
	g_ptr_array_unref(pool->chunks);
	g_ptr_array_unref(pool->alone);
	g_free(pool);
}

void *ctf_pool_alloc(struct ctf_pool *pool, size_t n)
{
	n = (n + 7) & ~(size_t)7;
	if (n > CHUNK / 8) {
		void *alone = g_malloc0(n);
		pool->bytes += n;
		g_ptr_array_add(pool->alone, alone);
		return alone;
	}
	if (n > pool->left) {
		pool->at = map_chunk();
		pool->left = CHUNK;
		pool->bytes += CHUNK;
		g_ptr_array_add(pool->chunks, pool->at);
	}
	void *ret = pool->at;
	pool->at += n;
	pool->left -= n;
	return ret;
}

size_t ctf_pool_bytes(const struct ctf_pool *pool)
{
	return pool->bytes;
}

char *ctf_pool_string(struct ctf_pool *pool, const char *s, size_t n)
{
	char *copy = ctf_pool_alloc(pool, n + 1);
	memcpy(copy, s, n);
	return copy;
}

struct ctf_node *ctf_node_new(struct ctf_parser *p, enum ctf_kind kind)
{
	if (p->n_nodes >= LIMIT_TYPES)
		return ctf_lex_fail(&p->lex, p->lex.tok.at, CTF_LEX_OURS,
				    "more than %u types", LIMIT_TYPES);
	p->n_nodes++;
	struct ctf_node *node = ctf_pool_alloc(p->pool, sizeof *node);
	node->t.kind = (uint8_t)kind;
	node->t.align = 1;
	node->cost = node->depth = 1;
	return node;
}

/* ---- names of fields ---- */

char *ctf_field_name(struct ctf_pool *pool, const char *s, size_t n)
{
	bool strip = n > 1 && s[0] == '_';
	char *buffer = ctf_pool_alloc(pool, n + 3);
	buffer[1] = strip ? '_' : '\0';
	memcpy(buffer + 2, s + strip, n - strip);
	return buffer + 2;
}

bool ctf_field_is(const struct ctf_field *f, const char *written)
{
	if (f->name[-1] == '_')
		return written[0] == '_' && !strcmp(f->name, written + 1);
	return !strcmp(f->name, written);
}

/* ---- names of types ---- */

void ctf_scope_push(struct ctf_parser *p, struct ctf_scope *scope)
{
	*scope = (struct ctf_scope){ .up = p->scope };
	p->scope = scope;
}

void ctf_scope_pop(struct ctf_parser *p)
{
	if (p->scope->types)
		g_hash_table_unref(p->scope->types);
	g_assert(p->scope->up);		/* the global scope stays */
	p->scope = p->scope->up;
}

struct ctf_node *ctf_scope_find(const struct ctf_parser *p, const char *name)
{
	for (const struct ctf_scope *s = p->scope; s; s = s->up) {
		struct ctf_node *type = s->types ? g_hash_table_lookup(s->types, name) : NULL;
		if (type)
			return type;
	}
	return NULL;
}

bool ctf_scope_add(struct ctf_parser *p, const char *at, const char *name, struct ctf_node *type)
{
	if (!p->scope->types)
		p->scope->types = g_hash_table_new(g_str_hash, g_str_equal);
	if (g_hash_table_lookup(p->scope->types, name))
		return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT,
				    "'%.64s' is declared twice", name);
	g_hash_table_insert(p->scope->types, ctf_pool_string(p->pool, name, strlen(name)), type);
	return true;
}
