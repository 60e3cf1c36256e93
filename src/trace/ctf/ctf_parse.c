/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of CTF 1.8 metadata (trace, env, clock, stream, event) and their values. See ctf_parse.h. */
#include "trace/ctf/ctf_parse.h"

#include "base/each.h"
#include "base/limits.h"

#include <string.h>

static bool corrupt(struct ctf_parser *p, const char *at, const char *why)
{
	return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT, "%s", why);
}

static bool unsupported(struct ctf_parser *p, const char *at, const char *why)
{
	return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_UNSUPPORTED, "%s", why);
}

static bool limited(struct ctf_parser *p, const char *at, const char *why)
{
	return ctf_lex_fail(&p->lex, at, CTF_LEX_OURS, "%s", why);
}

/* ---- values ---- */

bool ctf_parse_number(struct ctf_parser *p, uint64_t *ret)
{
	*ret = 0;
	if (!ctf_lex_is(&p->lex, CTF_TOKEN_NUMBER))
		return ctf_lex_unexpected(&p->lex, "a number");
	*ret = p->lex.tok.number;
	ctf_lex_next(&p->lex);
	return true;
}

bool ctf_parse_signed(struct ctf_parser *p, int64_t *ret)
{
	const char *at = p->lex.tok.at;
	bool minus = ctf_lex_skip(&p->lex, '-');
	uint64_t v;
	if (!minus)
		ctf_lex_skip(&p->lex, '+');
	if (!ctf_parse_number(p, &v))
		return false;
	if (v > (uint64_t)INT64_MAX + minus)
		return limited(p, at, "a signed number of more than 64 bits");
	*ret = (int64_t)(minus ? -v : v);
	return true;
}

bool ctf_parse_text(struct ctf_parser *p, char **ret)
{
	struct ctf_lexer *x = &p->lex;
	if (ctf_lex_is(x, CTF_TOKEN_STRING)) {
		*ret = ctf_pool_alloc(p->pool, x->tok.n + 1);
		if (!ctf_lex_unescape(x, &x->tok, *ret))
			return false;
		ctf_lex_next(x);
		return true;
	}
	struct ctf_path *path = ctf_parse_path(p);
	if (!path)
		return false;
	g_string_assign(p->key, path->part[0]);
	for (uint32_t i = 1; i < path->n; i++)
		g_string_append_printf(p->key, ".%s", path->part[i]);
	*ret = ctf_pool_string(p->pool, p->key->str, p->key->len);
	return true;
}

struct ctf_path *ctf_parse_path(struct ctf_parser *p)
{
	struct ctf_lexer *x = &p->lex;
	const char *part[LIMIT_PATH_PARTS];
	struct ctf_path path = { .at = x->tok.at };
	do {
		if (!ctf_lex_is(x, CTF_TOKEN_WORD)) {
			ctf_lex_unexpected(x, "a name");
			return NULL;
		}
		if (path.n == LIMIT_PATH_PARTS) {
			unsupported(p, path.at, "a path of so many parts");
			return NULL;
		}
		part[path.n++] = ctf_pool_string(p->pool, x->tok.s, x->tok.n);
		ctf_lex_next(x);
	} while (ctf_lex_skip(x, '.') || ctf_lex_skip(x, CTF_TOKEN_ARROW));
	struct ctf_path *ret = ctf_pool_alloc(p->pool, sizeof *ret);
	*ret = path;
	ret->part = ctf_pool_alloc(p->pool, path.n * sizeof *part);
	memcpy(ret->part, part, path.n * sizeof *part);
	return ret;
}

bool ctf_parse_choice(struct ctf_parser *p, const struct ctf_choice_word *c, size_t n,
		      const char *what, int *ret)
{
	const struct ctf_token *t = &p->lex.tok;
	if (t->kind != CTF_TOKEN_WORD && t->kind != CTF_TOKEN_STRING && t->kind != CTF_TOKEN_NUMBER)
		return ctf_lex_unexpected(&p->lex, what);
	for (size_t i = 0; i < n; i++)
		if (c[i].word[0] == t->s[0] && !strncmp(c[i].word, t->s, t->n) &&
		    !c[i].word[t->n]) {
			*ret = c[i].value;
			ctf_lex_next(&p->lex);
			return true;
		}
	return ctf_lex_fail(&p->lex, t->at, BLK_TRACE_ERROR_UNSUPPORTED, "no known %s", what);
}

bool ctf_parse_bool(struct ctf_parser *p, bool *ret)
{
	static const struct ctf_choice_word words[] = {
		{ "0", 0 }, { "1", 1 }, { "false", 0 }, { "true", 1 }, { "FALSE", 0 }, { "TRUE", 1 },
	};
	int value;
	if (!ctf_parse_choice(p, words, G_N_ELEMENTS(words), "truth value", &value))
		return false;
	*ret = value;
	return true;
}

bool ctf_parse_order(struct ctf_parser *p, enum ctf_order *ret)
{
	static const struct ctf_choice_word words[] = {
		{ "le", CTF_ORDER_LITTLE }, { "be", CTF_ORDER_BIG }, { "network", CTF_ORDER_BIG },
		{ "native", CTF_ORDER_NATIVE },
	};
	int value;
	if (!ctf_parse_choice(p, words, G_N_ELEMENTS(words), "byte order", &value))
		return false;
	*ret = (enum ctf_order)value;
	return true;
}

/* ---- blocks ---- */

/* The left side of an assignment, a.b.c; the text is valid until the next one is read. */
static bool read_left(struct ctf_parser *p, const char **s, size_t *n)
{
	struct ctf_lexer *x = &p->lex;
	if (!ctf_lex_is(x, CTF_TOKEN_WORD))
		return ctf_lex_unexpected(x, "a name");
	*s = x->tok.s;
	*n = x->tok.n;
	ctf_lex_next(x);
	if (!ctf_lex_is(x, '.'))
		return true;
	g_string_truncate(p->key, 0);
	g_string_append_len(p->key, *s, (gssize)*n);
	while (ctf_lex_skip(x, '.')) {
		if (!ctf_lex_is(x, CTF_TOKEN_WORD))
			return ctf_lex_unexpected(x, "a name");
		g_string_append_c(p->key, '.');
		g_string_append_len(p->key, x->tok.s, (gssize)x->tok.n);
		ctf_lex_next(x);
	}
	*s = p->key->str;
	*n = p->key->len;
	return true;
}

/* Skips tokens up to one of the kind, outside of the braces that begin meanwhile, or up to the '}' around them. */
static bool skip_to(struct ctf_parser *p, int kind)
{
	struct ctf_lexer *x = &p->lex;
	uint64_t depth = 0;
	for (; depth || (!ctf_lex_is(x, kind) && !ctf_lex_is(x, '}')); ctf_lex_next(x)) {
		if (ctf_lex_is(x, CTF_TOKEN_END) || ctf_lex_is(x, CTF_TOKEN_BAD))
			return ctf_lex_unexpected(x, "'}'");
		depth += ctf_lex_is(x, '{');
		depth -= ctf_lex_is(x, '}');
	}
	return true;
}

/* Skips = VALUE; or := TYPE; of an attribute that is not known: s. */
static bool skip_attribute(struct ctf_parser *p, const char *at, const char *s, size_t len, const char *what)
{
	if (ctf_meta_remark(p, CTF_REMARK_ATTRIBUTE)) {
		g_autofree char *place = ctf_lex_place(&p->lex, at);
		p->meta.remark[CTF_REMARK_ATTRIBUTE].first =
			g_strdup_printf("%s: unknown attribute '%.*s' of %s", place, (int)MIN(len, 64), s, what);
	}
	if (!ctf_lex_skip(&p->lex, CTF_TOKEN_IS_TYPE) && !ctf_lex_expect(&p->lex, '='))
		return false;
	return skip_to(p, ';') && ctf_lex_expect(&p->lex, ';');
}

static bool read_assignment(struct ctf_parser *p, const struct ctf_attribute *a, size_t n,
			    void *target, const char *what, unsigned *seen)
{
	const char *at = p->lex.tok.at, *s;
	size_t len;
	if (!read_left(p, &s, &len))
		return false;
	size_t i = 0;
	while (i < n && (a[i].name[0] != s[0] || strncmp(a[i].name, s, len) || a[i].name[len]))
		i++;
	if (i == n)
		return skip_attribute(p, at, s, len, what);
	if (*seen >> i & 1)
		return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT, "'%s' of %s twice",
				    a[i].name, what);
	*seen |= 1u << i;
	return ctf_lex_expect(&p->lex, a[i].flags & CTF_IS_TYPE ? CTF_TOKEN_IS_TYPE : '=') &&
	       a[i].read(p, target) && ctf_lex_expect(&p->lex, ';');
}

bool ctf_parse_block(struct ctf_parser *p, const struct ctf_attribute *a, size_t n,
		     void *target, const char *what)
{
	const char *at = p->lex.tok.at;
	unsigned seen = 0;
	if (!ctf_lex_expect(&p->lex, '{'))
		return false;
	struct ctf_scope scope;
	ctf_scope_push(p, &scope);
	bool ok = true;
	while (ok && !ctf_lex_is(&p->lex, '}'))
		ok = ctf_is_declaration(p) ? ctf_parse_declaration(p)
					   : read_assignment(p, a, n, target, what, &seen);
	ctf_scope_pop(p);
	for (size_t i = 0; ok && i < n; i++)
		if ((a[i].flags & CTF_REQUIRED) && !(seen >> i & 1))
			return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_UNSUPPORTED,
					    "%s without '%s'", what, a[i].name);
	return ok && ctf_lex_expect(&p->lex, '}');
}

/* Skips an unused text. */
static bool read_ignored_text(struct ctf_parser *p, void *target)
{
	char *text;
	return ctf_parse_text(p, &text);
}

static bool read_ignored_number(struct ctf_parser *p, void *target)
{
	int64_t number;
	return ctf_parse_signed(p, &number);
}

/* ---- trace ---- */

struct trace_block {
	struct ctf_node *packet_header;
	enum ctf_order order;
	const char *at;
};

static bool read_uuid(struct ctf_parser *p, uint8_t *ret)
{
	const char *at = p->lex.tok.at;
	char *text;
	if (!ctf_parse_text(p, &text))
		return false;
	bool ok = strlen(text) == 36;
	for (unsigned i = 0, n = 0; ok && i < 36; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			ok = text[i] == '-';
			continue;
		}
		int v = g_ascii_xdigit_value(text[i]);
		ok = v >= 0;
		ret[n / 2] = (uint8_t)((ret[n / 2] << 4 | (v & 15)) & 255);
		n++;
	}
	return ok || corrupt(p, at, "no uuid");
}

static bool read_trace_uuid(struct ctf_parser *p, void *target)
{
	p->meta.has_uuid = true;
	return read_uuid(p, p->meta.uuid);
}

static bool read_trace_order(struct ctf_parser *p, void *target)
{
	struct trace_block *t = target;
	const char *at = p->lex.tok.at;
	if (!ctf_parse_order(p, &t->order))
		return false;
	return t->order != CTF_ORDER_NATIVE || corrupt(p, at, "a trace of its own byte order");
}

static bool read_version(struct ctf_parser *p, uint64_t only)
{
	const char *at = p->lex.tok.at;
	uint64_t number;
	if (!ctf_parse_number(p, &number))
		return false;
	return number == only || unsupported(p, at, "a version of CTF that is not 1.8");
}

static bool read_major(struct ctf_parser *p, void *target)
{
	return read_version(p, 1);
}

static bool read_minor(struct ctf_parser *p, void *target)
{
	return read_version(p, 8);
}

static bool read_packet_header(struct ctf_parser *p, void *target)
{
	struct trace_block *t = target;
	t->at = p->lex.tok.at;
	t->packet_header = ctf_parse_type(p);
	return t->packet_header;
}

static bool parse_trace(struct ctf_parser *p)
{
	static const struct ctf_attribute attributes[] = {
		{ "major", read_major, CTF_REQUIRED },
		{ "minor", read_minor, CTF_REQUIRED },
		{ "uuid", read_trace_uuid, 0 },
		{ "byte_order", read_trace_order, CTF_REQUIRED },
		{ "packet.header", read_packet_header, CTF_IS_TYPE },
	};
	struct trace_block t = { 0 };
	const char *at = p->lex.tok.at;
	if (p->meta.has_trace)
		return corrupt(p, at, "a second trace block");
	ctf_lex_next(&p->lex);
	if (!ctf_parse_block(p, attributes, G_N_ELEMENTS(attributes), &t, "trace"))
		return false;
	p->meta.has_trace = true;
	p->meta.big_endian = t.order == CTF_ORDER_BIG;
	for (guint i = 0; i < p->native->len; i++)
		((struct ctf_node *)p->native->pdata[i])->t.big_endian = p->meta.big_endian;
	g_ptr_array_set_size(p->native, 0);
	struct ctf_binding b;
	ctf_binding_begin(&b, p, CTF_NO_REG + 1);
	if (!ctf_bind(&b, CTF_ROOT_PACKET_HEADER, t.packet_header, t.at))
		return false;
	struct ctf_node *header = b.root[CTF_ROOT_PACKET_HEADER];
	p->meta.packet_header = header ? &header->t : NULL;
	p->packet_regs = b.next_reg;
	return ctf_lex_expect(&p->lex, ';');
}

/* ---- env ---- */

static bool parse_env(struct ctf_parser *p)
{
	struct ctf_lexer *x = &p->lex;
	ctf_lex_next(x);
	if (!ctf_lex_expect(x, '{'))
		return false;
	while (!ctf_lex_is(x, '}')) {
		const char *at = x->tok.at, *s;
		size_t n;
		struct ctf_env e = { 0 };
		if (!read_left(p, &s, &n))
			return false;
		e.name = ctf_pool_string(p->pool, s, n);
		if (!ctf_lex_expect(x, '='))
			return false;
		bool is_text = ctf_lex_is(x, CTF_TOKEN_STRING);
		if (!(is_text ? ctf_parse_text(p, &e.text) : ctf_parse_signed(p, &e.number)) ||
		    !ctf_lex_expect(x, ';'))
			return false;
		if (!ctf_meta_add_env(p, &e))
			return ctf_lex_fail(x, at, CTF_LEX_OURS, "more than %u entries of env",
					    LIMIT_ENVIRONMENT);
	}
	return ctf_lex_expect(x, '}') && ctf_lex_expect(x, ';');
}

/* ---- clock ---- */

static bool read_clock_name(struct ctf_parser *p, void *target)
{
	return ctf_parse_text(p, &((struct ctf_clock *)target)->name);
}

static bool read_clock_uuid(struct ctf_parser *p, void *target)
{
	struct ctf_clock *c = target;
	uint8_t u[16];
	if (!read_uuid(p, u))
		return false;
	g_snprintf(c->uuid, sizeof c->uuid,
		   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		   u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		   u[13], u[14], u[15]);
	return true;
}

static bool read_clock_freq(struct ctf_parser *p, void *target)
{
	struct ctf_clock *c = target;
	const char *at = p->lex.tok.at;
	return ctf_parse_number(p, &c->freq) && (c->freq || corrupt(p, at, "clock frequency is 0"));
}

static bool read_clock_offset_s(struct ctf_parser *p, void *target)
{
	return ctf_parse_signed(p, &((struct ctf_clock *)target)->offset_s);
}

static bool read_clock_offset(struct ctf_parser *p, void *target)
{
	return ctf_parse_number(p, &((struct ctf_clock *)target)->offset);
}

static bool read_clock_absolute(struct ctf_parser *p, void *target)
{
	return ctf_parse_bool(p, &((struct ctf_clock *)target)->absolute);
}

static bool parse_clock(struct ctf_parser *p)
{
	static const struct ctf_attribute attributes[] = {
		{ "name", read_clock_name, CTF_REQUIRED },
		{ "uuid", read_clock_uuid, 0 },
		{ "description", read_ignored_text, 0 },
		{ "freq", read_clock_freq, 0 },
		{ "offset_s", read_clock_offset_s, 0 },
		{ "offset", read_clock_offset, 0 },
		{ "precision", read_ignored_number, 0 },
		{ "absolute", read_clock_absolute, 0 },
	};
	const char *at = p->lex.tok.at;
	struct ctf_clock c = { .freq = 1000000000 };
	ctf_lex_next(&p->lex);
	if (!ctf_parse_block(p, attributes, G_N_ELEMENTS(attributes), &c, "clock"))
		return false;
	if (__builtin_add_overflow(c.offset_s, c.offset / c.freq, &c.offset_s))
		return unsupported(p, at, "a clock that begins too late");
	if (c.offset_s > LIMIT_TIME_SECONDS || c.offset_s < -LIMIT_TIME_SECONDS)
		return unsupported(p, at, "a clock whose offset is more than 146 years");
	c.offset %= c.freq;
	const struct ctf_clock *known = ctf_meta_clock(p, c.name);
	if (known && !ctf_clock_equal(known, &c))
		return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT,
				    "a second clock '%.64s' that differs from the first", c.name);
	if (!known && p->meta.clocks->len >= LIMIT_CLOCKS)
		return limited(p, at, "so many clocks");
	if (!known)
		ctf_meta_add_clock(p, &c);
	return ctf_lex_expect(&p->lex, ';');
}

/* ---- stream ---- */

#define ANY_STREAM UINT64_MAX		/* an event that names no stream: there must be one only */

struct class_block {			/* of streams and events */
	uint64_t id;			/* 0 if it has none: then there is one class only */
	uint64_t stream;		/* of an event: the stream's id, or ANY_STREAM */
	char *name;
	struct ctf_node *type[CTF_N_ROOTS];
	const char *at[CTF_N_ROOTS];
};

static bool read_class_id(struct ctf_parser *p, void *target)
{
	return ctf_parse_number(p, &((struct class_block *)target)->id);
}

static bool read_root(struct ctf_parser *p, struct class_block *c, enum ctf_root which)
{
	c->at[which] = p->lex.tok.at;
	c->type[which] = ctf_parse_type(p);
	return c->type[which];
}

static bool read_event_header(struct ctf_parser *p, void *target)
{
	return read_root(p, target, CTF_ROOT_HEADER);
}

static bool read_packet_context(struct ctf_parser *p, void *target)
{
	return read_root(p, target, CTF_ROOT_PACKET_CONTEXT);
}

static bool read_event_context(struct ctf_parser *p, void *target)
{
	return read_root(p, target, CTF_ROOT_CONTEXT);
}

static const struct ctf_type *root_type(const struct ctf_binding *b, enum ctf_root which)
{
	return b->root[which] ? &b->root[which]->t : NULL;
}

static struct ctf_stream *add_stream(struct ctf_parser *p, uint64_t id, const struct ctf_binding *b)
{
	struct ctf_stream *s = ctf_pool_alloc(p->pool, sizeof *s);
	s->pub.id = id;
	s->pub.packet_context = root_type(b, CTF_ROOT_PACKET_CONTEXT);
	s->pub.event_header = root_type(b, CTF_ROOT_HEADER);
	s->pub.event_context = root_type(b, CTF_ROOT_CONTEXT);
	s->pub.n_regs = (uint16_t)b->next_reg;
	s->pub.events = g_ptr_array_new();
	s->next_reg = b->next_reg;
	s->by_id = g_hash_table_new(g_int64_hash, g_int64_equal);
	ctf_meta_add_stream(p, s);
	return s;
}

/* An event of a stream that is not declared yet: LTTng-UST writes these if the program was started before the
 * session. */
struct orphan {
	struct class_block c;
	const char *text;
	size_t n_text;
};

static void free_orphans(void *orphans)
{
	g_array_unref(orphans);
}

GHashTable *ctf_orphans_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_orphans);
}

static bool add_event(struct ctf_parser *p, struct ctf_stream *s, const struct class_block *c,
		      const char *text, size_t n_text);

static bool adopt(struct ctf_parser *p, struct ctf_stream *s, uint64_t stream)
{
	const GArray *orphans = g_hash_table_lookup(p->orphans, &stream);
	for (guint i = 0; orphans && i < orphans->len; i++) {
		const struct orphan *o = &g_array_index(orphans, struct orphan, i);
		if (!add_event(p, s, &o->c, o->text, o->n_text))
			return false;
	}
	g_hash_table_remove(p->orphans, &stream);
	return true;
}

static void keep_orphan(struct ctf_parser *p, const struct class_block *c, const char *text,
			size_t n_text)
{
	struct orphan o = { .c = *c, .text = text, .n_text = n_text };
	GArray *orphans = g_hash_table_lookup(p->orphans, &c->stream);
	if (!orphans) {
		orphans = g_array_new(FALSE, FALSE, sizeof o);
		g_hash_table_insert(p->orphans, g_memdup2(&c->stream, sizeof c->stream), orphans);
	}
	g_array_append_val(orphans, o);
}

bool ctf_check_orphans(struct ctf_parser *p)
{
	const struct orphan *o = NULL;
	TABLE_EACH(each, p->orphans) {
		const struct orphan *first = &g_array_index((GArray *)each.value, struct orphan, 0);
		if (!o || first->text < o->text)	/* the text is one */
			o = first;
	}
	if (!o)
		return true;
	if (o->c.stream == ANY_STREAM)
		return ctf_lex_fail(&p->lex, o->text, BLK_TRACE_ERROR_NO_TIME,
				    "no stream is declared, so that events have no time");
	return ctf_lex_fail(&p->lex, o->text, BLK_TRACE_ERROR_UNSUPPORTED,
			    "an event of stream %" G_GUINT64_FORMAT ", which is not declared",
			    o->c.stream);
}

static bool parse_stream(struct ctf_parser *p)
{
	static const struct ctf_attribute attributes[] = {
		{ "id", read_class_id, 0 },
		{ "event.header", read_event_header, CTF_IS_TYPE },
		{ "packet.context", read_packet_context, CTF_IS_TYPE },
		{ "event.context", read_event_context, CTF_IS_TYPE },
	};
	struct class_block c = { 0 };
	const char *at = p->lex.tok.at;
	if (!p->meta.has_trace)
		return limited(p, at, "a stream before the trace block");
	ctf_lex_next(&p->lex);
	if (!ctf_parse_block(p, attributes, G_N_ELEMENTS(attributes), &c, "stream"))
		return false;
	if (g_hash_table_lookup(p->by_id, &c.id))
		return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT,
				    "a second stream of id %" G_GUINT64_FORMAT, c.id);
	struct ctf_binding b;
	ctf_binding_begin(&b, p, p->packet_regs);
	b.root[CTF_ROOT_PACKET_HEADER] = p->meta.packet_header ? ctf_node_of(p->meta.packet_header)
							       : NULL;
	for (enum ctf_root r = CTF_ROOT_PACKET_CONTEXT; r <= CTF_ROOT_CONTEXT; r++)
		if (!ctf_bind(&b, r, c.type[r], c.at[r]))
			return false;
	if (b.next_reg > CTF_NO_REG + 1)
		p->meta.packet_regs = MAX(p->meta.packet_regs, (uint16_t)b.next_reg);
	struct ctf_stream *s = add_stream(p, c.id, &b);
	return adopt(p, s, c.id) && (p->meta.streams->len > 1 || adopt(p, s, ANY_STREAM)) &&
	       ctf_lex_expect(&p->lex, ';');
}

/* ---- event ---- */

static bool read_class_name(struct ctf_parser *p, void *target)
{
	return ctf_parse_text(p, &((struct class_block *)target)->name);
}

static bool read_stream_id(struct ctf_parser *p, void *target)
{
	return ctf_parse_number(p, &((struct class_block *)target)->stream);
}

static bool read_own_context(struct ctf_parser *p, void *target)
{
	return read_root(p, target, CTF_ROOT_OWN_CONTEXT);
}

static bool read_fields(struct ctf_parser *p, void *target)
{
	return read_root(p, target, CTF_ROOT_FIELDS);
}

static const struct ctf_node *node_or_null(const struct ctf_type *t)
{
	return t ? ctf_node_of(t) : NULL;
}

static bool add_event(struct ctf_parser *p, struct ctf_stream *s, const struct class_block *c,
		      const char *text, size_t n_text)
{
	const struct ctf_event *same = g_hash_table_lookup(s->by_id, &c->id);
	if (same && (n_text != same->n_text || memcmp(text, same->text, n_text)))
		return ctf_lex_fail(&p->lex, text, BLK_TRACE_ERROR_CORRUPT,
				    "another event of id %" G_GUINT64_FORMAT, c->id);
	if (same)
		return true;
	struct ctf_binding b;
	ctf_binding_begin(&b, p, s->next_reg);
	b.root[CTF_ROOT_PACKET_HEADER] = (void *)node_or_null(p->meta.packet_header);
	b.root[CTF_ROOT_PACKET_CONTEXT] = (void *)node_or_null(s->pub.packet_context);
	b.root[CTF_ROOT_HEADER] = (void *)node_or_null(s->pub.event_header);
	b.root[CTF_ROOT_CONTEXT] = (void *)node_or_null(s->pub.event_context);
	for (enum ctf_root r = CTF_ROOT_OWN_CONTEXT; r <= CTF_ROOT_FIELDS; r++)
		if (!ctf_bind(&b, r, c->type[r], c->at[r]))
			return false;
	struct ctf_event *e = ctf_pool_alloc(p->pool, sizeof *e);
	e->pub.id = c->id;
	e->pub.name = c->name;
	e->pub.context = root_type(&b, CTF_ROOT_OWN_CONTEXT);
	e->pub.fields = root_type(&b, CTF_ROOT_FIELDS);
	e->text = text;
	e->n_text = n_text;
	s->pub.n_regs = MAX(s->pub.n_regs, (uint16_t)b.next_reg);
	s->pub.header_regs = s->pub.header_regs || b.uses_header;
	g_ptr_array_add(s->pub.events, e);
	g_hash_table_insert(s->by_id, &e->pub.id, e);
	ctf_meta_grow(p, s);
	return true;
}

static bool parse_event(struct ctf_parser *p)
{
	static const struct ctf_attribute attributes[] = {
		{ "name", read_class_name, CTF_REQUIRED },
		{ "id", read_class_id, 0 },
		{ "stream_id", read_stream_id, 0 },
		{ "loglevel", read_ignored_number, 0 },
		{ "fields", read_fields, CTF_IS_TYPE },
		{ "context", read_own_context, CTF_IS_TYPE },
		{ "model.emf.uri", read_ignored_text, 0 },
	};
	struct class_block c = { .stream = ANY_STREAM };
	const char *at = p->lex.tok.at;
	ctf_lex_next(&p->lex);
	if (!ctf_parse_block(p, attributes, G_N_ELEMENTS(attributes), &c, "event"))
		return false;
	const char *end = p->lex.tok.at;
	if (!ctf_lex_expect(&p->lex, ';'))
		return false;
	struct ctf_stream *s = g_hash_table_lookup(p->by_id, &c.stream);
	if (c.stream == ANY_STREAM && p->meta.streams->len > 1)
		return corrupt(p, at, "an event without 'stream_id', though there are several streams");
	if (c.stream == ANY_STREAM && p->meta.streams->len)
		s = p->meta.streams->pdata[0];
	size_t n = (size_t)(end - at);
	if (++p->n_events > LIMIT_EVENT_CLASSES)
		return ctf_lex_fail(&p->lex, at, CTF_LEX_OURS, "more than %u events",
				    LIMIT_EVENT_CLASSES);
	if (s)
		return add_event(p, s, &c, at, n);
	keep_orphan(p, &c, at, n);
	return true;
}

/* ---- all blocks ---- */

static bool skip_callsite(struct ctf_parser *p)
{
	ctf_lex_next(&p->lex);
	return ctf_lex_expect(&p->lex, '{') && skip_to(p, '}') && ctf_lex_expect(&p->lex, '}') &&
	       ctf_lex_expect(&p->lex, ';');
}

static bool parse_one(struct ctf_parser *p)
{
	if (ctf_is_declaration(p))
		return ctf_parse_declaration(p);
	if (!ctf_lex_is(&p->lex, CTF_TOKEN_WORD))
		return ctf_lex_unexpected(&p->lex, "a declaration");
	switch (p->lex.tok.word) {
	case CTF_WORD_EVENT:
		return parse_event(p);
	case CTF_WORD_TRACE:
		return parse_trace(p);
	case CTF_WORD_ENV:
		return parse_env(p);
	case CTF_WORD_CLOCK:
		return parse_clock(p);
	case CTF_WORD_STREAM:
		return parse_stream(p);
	case CTF_WORD_CALLSITE:
		return skip_callsite(p);
	default:
		return ctf_lex_unexpected(&p->lex, "a declaration");
	}
}

bool ctf_parse_all(struct ctf_parser *p)
{
	while (!ctf_lex_is(&p->lex, CTF_TOKEN_END))
		if (!parse_one(p))
			return false;
	return true;
}
