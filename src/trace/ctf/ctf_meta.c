/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads metadata from packets, plain text or fragments, and answers queries about it. See ctf_meta.h. */
#include "trace/ctf/ctf_meta.h"

#include "trace/ctf/ctf2.h"
#include "trace/ctf/ctf_bits.h"
#include "trace/ctf/ctf_parse.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/limits.h"

#include <string.h>

#define PACKET_MAGIC 0x75d11d57u
#define PACKET_HEADER 37	/* bytes */
#define CLASS_BESIDE 128	/* bytes of tables for each event class and entry of env */
#define META_BESIDE 8192	/* bytes: parser, empty tables */

struct ctf_meta *ctf_meta_new(void)
{
	struct ctf_parser *p = g_new0(struct ctf_parser, 1);
	p->meta.clocks = g_ptr_array_new();
	p->meta.streams = g_ptr_array_new();
	p->meta.grown = g_ptr_array_new();
	p->meta.env = g_array_new(FALSE, TRUE, sizeof(struct ctf_env));
	p->pool = ctf_pool_new();
	p->scope = &p->global;
	p->texts = g_ptr_array_new_with_free_func(g_free);
	p->by_id = g_hash_table_new(g_int64_hash, g_int64_equal);
	p->native = g_ptr_array_new();
	p->fields = g_array_new(FALSE, FALSE, sizeof(struct ctf_field));
	p->ranges = g_array_new(FALSE, FALSE, sizeof(struct ctf_range));
	p->integers = g_hash_table_new(g_str_hash, g_str_equal);
	p->env_index = g_hash_table_new(g_str_hash, g_str_equal);
	p->orphans = ctf_orphans_new();
	p->name = g_string_new(NULL);
	p->key = g_string_new(NULL);
	p->packet_regs = CTF_NO_REG + 1;
	return &p->meta;
}

void ctf_meta_free(struct ctf_meta *m)
{
	if (!m)
		return;
	struct ctf_parser *p = (struct ctf_parser *)(void *)m;
	PTR_EACH(struct ctf_stream, s, m->streams) {
		g_ptr_array_unref(s->pub.events);
		g_hash_table_unref(s->by_id);
	}
	g_ptr_array_unref(m->clocks);
	g_ptr_array_unref(m->streams);
	g_ptr_array_unref(m->grown);
	g_array_unref(m->env);
	for (int i = 0; i < CTF_N_REMARKS; i++)
		g_free(m->remark[i].first);
	g_clear_pointer(&p->global.types, g_hash_table_unref);
	g_hash_table_unref(p->by_id);
	g_ptr_array_unref(p->native);
	g_array_unref(p->fields);
	g_array_unref(p->ranges);
	g_hash_table_unref(p->orphans);
	g_hash_table_unref(p->env_index);
	g_hash_table_unref(p->integers);
	g_string_free(p->name, TRUE);
	g_string_free(p->key, TRUE);
	g_ptr_array_unref(p->texts);
	ctf2_free(p->ctf2);
	ctf_pool_free(p->pool);
	g_clear_error(&p->lex.error);
	g_free(p);
}

/* ---- packets ---- */

struct meta_packet {
	uint32_t content, size;		/* bytes, header included */
	const uint8_t *uuid;
};

static bool refuse(GError **error, int code, size_t at, const char *why)
{
	return fail(error, BLK_TRACE_ERROR, code, "metadata packet at byte %" G_GSIZE_FORMAT ": %s",
		    at, why);
}

static bool is_packet(const uint8_t *s, size_t n, bool *ret_be)
{
	*ret_be = n >= 4 && ctf_bits(s, 0, 32, true) == PACKET_MAGIC;
	return *ret_be || (n >= 4 && ctf_bits(s, 0, 32, false) == PACKET_MAGIC);
}

/* Reads the header of the packet at byte `at`. If the packet is cut off: an error; with ret_more no error, and
 * whether its rest may still come. */
static bool read_packet(const uint8_t *bytes, size_t n, size_t at, struct meta_packet *ret,
			bool *ret_more, GError **error)
{
	const uint8_t *s = bytes + at;
	size_t left = n - at;
	bool be;
	if (!is_packet(s, left, &be))
		return refuse(error, BLK_TRACE_ERROR_CORRUPT, at, "no magic number");
	if (ret_more)
		*ret_more = left < PACKET_HEADER;
	if (left < PACKET_HEADER)
		return !ret_more && refuse(error, BLK_TRACE_ERROR_CORRUPT, at, "cut off in its header");
	uint64_t content = ctf_bits(s, 24 * 8, 32, be), size = ctf_bits(s, 28 * 8, 32, be);
	if (s[32] || s[33] || s[34])
		return refuse(error, BLK_TRACE_ERROR_UNSUPPORTED, at,
			      "compressed, encrypted or with a checksum");
	if (s[35] != 1 || s[36] != 8)
		return refuse(error, BLK_TRACE_ERROR_UNSUPPORTED, at, "a version of CTF that is not 1.8");
	if (content % 8 || size % 8 || content < PACKET_HEADER * 8 || content > size)
		return refuse(error, BLK_TRACE_ERROR_CORRUPT, at, "impossible sizes");
	if (ret_more)
		*ret_more = size / 8 > left && size / 8 <= LIMIT_METADATA_BYTES;
	if (size / 8 > left)
		return !(ret_more && *ret_more) &&
		       refuse(error, BLK_TRACE_ERROR_CORRUPT, at, "cut off");
	*ret = (struct meta_packet){ (uint32_t)(content / 8), (uint32_t)(size / 8), s + 4 };
	return true;
}

bool ctf_meta_unpack(struct ctf_parser *p, const uint8_t *bytes, size_t n, GString *text,
		     size_t *ret_used, GError **error)
{
	size_t at = 0;
	bool more = false;
	while (at < n && !(ret_used && n - at < PACKET_HEADER)) {
		struct meta_packet k = { 0 };
		if (!read_packet(bytes, n, at, &k, ret_used ? &more : NULL, error)) {
			if (!more)
				return false;
			break;
		}
		if (p->has_packet_uuid && memcmp(p->packet_uuid, k.uuid, 16))
			return refuse(error, BLK_TRACE_ERROR_CORRUPT, at, "belongs to another trace");
		p->has_packet_uuid = true;
		memcpy(p->packet_uuid, k.uuid, 16);
		g_string_append_len(text, (const char *)bytes + at + PACKET_HEADER,
				    (gssize)(k.content - PACKET_HEADER));
		at += k.size;
	}
	if (ret_used)
		*ret_used = at;
	return true;
}

/* ---- text ---- */

/* Metadata of another version has it in its first comment. Metadata of 1.8 may have no such comment. */
static bool check_plain(const uint8_t *bytes, size_t n, GError **error)
{
	static const char begin[] = "/* CTF 1.8";
	size_t i = 0;
	if (n >= 7 && !memcmp(bytes, "/* CTF ", 7)) {
		if (n >= strlen(begin) && !memcmp(bytes, begin, strlen(begin)))
			return true;
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
			    "1:1: metadata of a version of CTF that is neither 1.8 nor 2");
	}
	while (i < n && g_ascii_isspace(bytes[i]))
		i++;
	if (i == n || g_ascii_isalpha(bytes[i]) || bytes[i] == '/')
		return true;
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
		    "1:1: this is metadata of neither CTF 1.8 nor CTF 2");
}

bool ctf_meta_begin(struct ctf_parser *p, const uint8_t *bytes, size_t n, GError **error)
{
	bool be;
	if (p->started)
		return true;
	p->meta.packetised = is_packet(bytes, n, &be);
	p->meta.is_ctf2 = n && bytes[0] == CTF_RS;
	if (p->meta.is_ctf2)
		p->ctf2 = ctf2_new(p);
	p->started = p->meta.packetised || p->meta.is_ctf2 || check_plain(bytes, n, error);
	return p->started;
}

bool ctf_meta_count(struct ctf_parser *p, size_t n, GError **error)
{
	if (n <= LIMIT_METADATA_BYTES && p->n_text + n <= LIMIT_METADATA_BYTES) {
		p->n_text += n;
		return true;
	}
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
		    "metadata of more than %u MiB", LIMIT_METADATA_BYTES >> 20);
}

/* The text is stored: repeated declarations are compared by their text. */
bool ctf_meta_parse(struct ctf_parser *p, const char *text, size_t n, GError **error)
{
	char *copy = g_malloc(n + 1);
	memcpy(copy, text, n);
	copy[n] = '\0';
	g_ptr_array_add(p->texts, copy);
	ctf_lex_begin(&p->lex, copy, n);
	if (ctf_parse_all(p))
		return true;
	g_propagate_error(error, g_steal_pointer(&p->lex.error));
	return false;
}

/* The text is complete: the streams of all events must be declared. */
static bool parse_all(struct ctf_parser *p, const char *text, size_t n, GError **error)
{
	if (!ctf_meta_parse(p, text, n, error))
		return false;
	if (ctf_check_orphans(p))
		return true;
	g_propagate_error(error, g_steal_pointer(&p->lex.error));
	return false;
}

bool ctf_meta_fragment(struct ctf_parser *p, const char *text, size_t n, GError **error)
{
	if (ctf2_fragment(p->ctf2, text, n))
		return true;
	g_propagate_error(error, g_steal_pointer(&p->ctf2->error));
	return false;
}

/* Parses all fragments: each from its RS to the next one or the end. */
static bool parse_fragments(struct ctf_parser *p, const char *text, size_t n, GError **error)
{
	const char *end = text + n;
	if (*text != CTF_RS)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
			    "metadata continues without a record separator");
	while (text < end) {
		const char *next = memchr(text + 1, CTF_RS, (size_t)(end - text) - 1);
		next = next ? next : end;
		if (!ctf_meta_fragment(p, text + 1, (size_t)(next - text) - 1, error))
			return false;
		text = next;
	}
	return true;
}

bool ctf_meta_append(struct ctf_meta *m, const void *bytes, size_t n, GError **error)
{
	struct ctf_parser *p = (struct ctf_parser *)(void *)m;
	if (!n)
		return true;
	if (!ctf_meta_count(p, n, error) || !ctf_meta_begin(p, bytes, n, error))
		return false;
	if (m->is_ctf2)
		return parse_fragments(p, bytes, n, error);
	if (!m->packetised)
		return parse_all(p, bytes, n, error);
	GString *text = g_string_sized_new(n);
	bool ok = ctf_meta_unpack(p, bytes, n, text, NULL, error) &&
		  parse_all(p, text->str, text->len, error);
	g_string_free(text, TRUE);
	return ok;
}

bool ctf_meta_is_limited(const struct ctf_meta *m)
{
	const struct ctf_parser *p = (const struct ctf_parser *)(const void *)m;
	return p->lex.is_limit;
}

/* ---- what was parsed ---- */

struct ctf_clock *ctf_meta_clock(const struct ctf_parser *p, const char *name)
{
	PTR_EACH(struct ctf_clock, c, p->meta.clocks)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

struct ctf_clock *ctf_meta_add_clock(struct ctf_parser *p, const struct ctf_clock *c)
{
	struct ctf_clock *copy = ctf_pool_alloc(p->pool, sizeof *copy);
	*copy = *c;
	g_ptr_array_add(p->meta.clocks, copy);
	return copy;
}

void ctf_meta_grow(struct ctf_parser *p, struct ctf_stream *s)
{
	if (!s->pub.in_grown)
		g_ptr_array_add(p->meta.grown, s);
	s->pub.in_grown = true;
}

void ctf_meta_add_stream(struct ctf_parser *p, struct ctf_stream *s)
{
	s->pub.number = p->meta.streams->len;
	g_ptr_array_add(p->meta.streams, s);
	g_hash_table_insert(p->by_id, &s->pub.id, s);
	ctf_meta_grow(p, s);
}

void ctf_meta_compiled(struct ctf_meta *m)
{
	for (guint i = 0; i < m->grown->len; i++)
		((struct ctf_stream *)m->grown->pdata[i])->pub.in_grown = false;
	g_ptr_array_set_size(m->grown, 0);
}

bool ctf_meta_add_env(struct ctf_parser *p, const struct ctf_env *e)
{
	guint i = GPOINTER_TO_UINT(g_hash_table_lookup(p->env_index, e->name));
	if (i) {
		g_array_index(p->meta.env, struct ctf_env, i - 1) = *e;
		return true;
	}
	if (p->meta.env->len >= LIMIT_ENVIRONMENT)
		return false;
	g_array_append_val(p->meta.env, *e);
	g_hash_table_insert(p->env_index, e->name, GUINT_TO_POINTER(p->meta.env->len));
	return true;
}

/* ---- queries ---- */

size_t ctf_meta_bytes(const struct ctf_meta *m)
{
	const struct ctf_parser *p = (const struct ctf_parser *)(const void *)m;
	return META_BESIDE + ctf_pool_bytes(p->pool) + (size_t)p->n_text +
	       ((size_t)p->n_events + m->env->len) * CLASS_BESIDE;
}

const struct ctf_stream_class *ctf_meta_stream(const struct ctf_meta *m, uint64_t id)
{
	const struct ctf_parser *p = (const struct ctf_parser *)(const void *)m;
	return g_hash_table_lookup(p->by_id, &id);
}

static const struct ctf_env *find_env(const struct ctf_meta *m, const char *name)
{
	const struct ctf_parser *p = (const struct ctf_parser *)(const void *)m;
	guint i = GPOINTER_TO_UINT(g_hash_table_lookup(p->env_index, name));
	return i ? &g_array_index(m->env, struct ctf_env, i - 1) : NULL;
}

const char *ctf_meta_env(const struct ctf_meta *m, const char *name)
{
	const struct ctf_env *e = find_env(m, name);
	return e ? e->text : NULL;
}

bool ctf_meta_env_number(const struct ctf_meta *m, const char *name, int64_t *ret)
{
	const struct ctf_env *e = find_env(m, name);
	if (!e || e->text)
		return false;
	*ret = e->number;
	return true;
}
