/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of CTF 1.8 metadata (trace, env, clock, stream, event) and their values. See ctf_parse.h. */
#include "trace/ctf/ctf_parse.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/text.h"

#include <string.h>

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
		return ctf_limited(p, at, "a signed number of more than 64 bits");
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
		if (!ctf_lex_is(x, CTF_TOKEN_WORD))
			return ctf_lex_unexpected(x, "a name");
		if (path.n == LIMIT_PATH_PARTS)
			return ctf_unsupported(p, path.at, "a path of so many parts");
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

static bool read_value(struct ctf_parser *p, const struct ctf_attribute *a, void *target)
{
	void *to = (char *)target + a->to;
	switch (a->value) {
	case CTF_VALUE_OTHER:
		return a->read(p, target);
	case CTF_VALUE_NUMBER:
		return ctf_parse_number(p, to);
	case CTF_VALUE_SIGNED:
		return ctf_parse_signed(p, to);
	case CTF_VALUE_BOOL:
		return ctf_parse_bool(p, to);
	case CTF_VALUE_TEXT:
		return ctf_parse_text(p, to);
	case CTF_VALUE_ORDER:
		return ctf_parse_order(p, to);
	case CTF_VALUE_TYPE:
		*(struct ctf_declared *)to = (struct ctf_declared){ .at = p->lex.tok.at };
		return (((struct ctf_declared *)to)->type = ctf_parse_type(p));
	case CTF_IGNORED_TEXT:
		return ctf_parse_text(p, &(char *){ NULL });
	case CTF_IGNORED_SIGNED:
		return ctf_parse_signed(p, &(int64_t){ 0 });
	}
	return false;
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
	return ctf_lex_expect(&p->lex, a[i].value == CTF_VALUE_TYPE ? CTF_TOKEN_IS_TYPE : '=') &&
	       read_value(p, &a[i], target) && ctf_lex_expect(&p->lex, ';');
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
		if (a[i].required && !(seen >> i & 1))
			return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_UNSUPPORTED,
					    "%s without '%s'", what, a[i].name);
	return ok && ctf_lex_expect(&p->lex, '}');
}

/* ---- trace ---- */

struct trace_block {
	struct ctf_declared packet_header;
	enum ctf_order order;
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
	return ok || ctf_corrupt(p, at, "no uuid");
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
	return t->order != CTF_ORDER_NATIVE || ctf_corrupt(p, at, "a trace of its own byte order");
}

static bool read_version(struct ctf_parser *p, uint64_t only)
{
	const char *at = p->lex.tok.at;
	uint64_t number;
	if (!ctf_parse_number(p, &number))
		return false;
	return number == only || ctf_unsupported(p, at, "a version of CTF that is not 1.8");
}

static bool read_major(struct ctf_parser *p, void *target)
{
	return read_version(p, 1);
}

static bool read_minor(struct ctf_parser *p, void *target)
{
	return read_version(p, 8);
}

static bool parse_trace(struct ctf_parser *p)
{
	static const struct ctf_attribute attributes[] = {
		{ "major", .read = read_major, .required = true },
		{ "minor", .read = read_minor, .required = true },
		{ "uuid", .read = read_trace_uuid },
		{ "byte_order", .read = read_trace_order, .required = true },
		{ "packet.header", .value = CTF_VALUE_TYPE, .to = offsetof(struct trace_block, packet_header) },
	};
	struct trace_block t = { 0 };
	const char *at = p->lex.tok.at;
	if (p->meta.has_trace)
		return ctf_corrupt(p, at, "a second trace block");
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
	if (!ctf_bind(&b, CTF_ROOT_PACKET_HEADER, &t.packet_header))
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

static bool read_clock_uuid(struct ctf_parser *p, void *target)
{
	struct ctf_clock *c = target;
	uint8_t u[16];
	if (!read_uuid(p, u))
		return false;
	text_uuid(c->uuid, u);
	return true;
}

static bool read_clock_freq(struct ctf_parser *p, void *target)
{
	struct ctf_clock *c = target;
	const char *at = p->lex.tok.at;
	return ctf_parse_number(p, &c->freq) && (c->freq || ctf_corrupt(p, at, "clock frequency is 0"));
}

static bool parse_clock(struct ctf_parser *p)
{
	static const struct ctf_attribute attributes[] = {
		{ "name", .value = CTF_VALUE_TEXT, .to = offsetof(struct ctf_clock, name), .required = true },
		{ "uuid", .read = read_clock_uuid },
		{ "description", .value = CTF_IGNORED_TEXT },
		{ "freq", .read = read_clock_freq },
		{ "offset_s", .value = CTF_VALUE_SIGNED, .to = offsetof(struct ctf_clock, offset_s) },
		{ "offset", .value = CTF_VALUE_NUMBER, .to = offsetof(struct ctf_clock, offset) },
		{ "precision", .value = CTF_IGNORED_SIGNED },
		{ "absolute", .value = CTF_VALUE_BOOL, .to = offsetof(struct ctf_clock, absolute) },
	};
	const char *at = p->lex.tok.at;
	struct ctf_clock c = { .freq = 1000000000 };
	ctf_lex_next(&p->lex);
	if (!ctf_parse_block(p, attributes, G_N_ELEMENTS(attributes), &c, "clock"))
		return false;
	if (__builtin_add_overflow(c.offset_s, c.offset / c.freq, &c.offset_s))
		return ctf_unsupported(p, at, "a clock that begins too late");
	if (c.offset_s > LIMIT_TIME_SECONDS || c.offset_s < -LIMIT_TIME_SECONDS)
		return ctf_unsupported(p, at, "a clock whose offset is more than 146 years");
	c.offset %= c.freq;
	const struct ctf_clock *known = ctf_meta_clock(p, c.name);
	if (known && !ctf_clock_equal(known, &c))
		return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT,
				    "a second clock '%.64s' that differs from the first", c.name);
	if (!known && p->meta.clocks->len >= LIMIT_CLOCKS)
		return ctf_limited(p, at, "so many clocks");
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
	struct ctf_declared root[CTF_N_ROOTS];
};
#define CLASS(member) offsetof(struct class_block, member)

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
		{ "id", .value = CTF_VALUE_NUMBER, .to = CLASS(id) },
		{ "event.header", .value = CTF_VALUE_TYPE, .to = CLASS(root[CTF_ROOT_HEADER]) },
		{ "packet.context", .value = CTF_VALUE_TYPE, .to = CLASS(root[CTF_ROOT_PACKET_CONTEXT]) },
		{ "event.context", .value = CTF_VALUE_TYPE, .to = CLASS(root[CTF_ROOT_CONTEXT]) },
	};
	struct class_block c = { 0 };
	const char *at = p->lex.tok.at;
	if (!p->meta.has_trace)
		return ctf_limited(p, at, "a stream before the trace block");
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
		if (!ctf_bind(&b, r, &c.root[r]))
			return false;
	if (b.next_reg > CTF_NO_REG + 1)
		p->meta.packet_regs = MAX(p->meta.packet_regs, (uint16_t)b.next_reg);
	struct ctf_stream *s = add_stream(p, c.id, &b);
	return adopt(p, s, c.id) && (p->meta.streams->len > 1 || adopt(p, s, ANY_STREAM)) &&
	       ctf_lex_expect(&p->lex, ';');
}

/* ---- event ---- */

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
		if (!ctf_bind(&b, r, &c->root[r]))
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
		{ "name", .value = CTF_VALUE_TEXT, .to = CLASS(name), .required = true },
		{ "id", .value = CTF_VALUE_NUMBER, .to = CLASS(id) },
		{ "stream_id", .value = CTF_VALUE_NUMBER, .to = CLASS(stream) },
		{ "loglevel", .value = CTF_IGNORED_SIGNED },
		{ "fields", .value = CTF_VALUE_TYPE, .to = CLASS(root[CTF_ROOT_FIELDS]) },
		{ "context", .value = CTF_VALUE_TYPE, .to = CLASS(root[CTF_ROOT_OWN_CONTEXT]) },
		{ "model.emf.uri", .value = CTF_IGNORED_TEXT },
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
		return ctf_corrupt(p, at, "an event without 'stream_id', though there are several streams");
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
