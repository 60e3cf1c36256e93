/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the fields of the subscription table in the types of an event class. */
#include "trace/ctf/ctf_wanted.h"

#include "trace/reader.h"

#include "base/limits.h"

#include <stdlib.h>

const struct ctf_type *ctf_scope_type(const struct ctf_stream_class *sc,
				      const struct ctf_event_class *ec, enum ctf_scope scope)
{
	return scope == CTF_PAYLOAD ? ec->fields :
	       scope == CTF_SPECIFIC ? ec->context : sc->event_context;
}

/* Index of the field of that name. The field may have one '_' more before it; an option may not. */
static bool find_member(const struct ctf_type *t, const char *name, size_t len, uint32_t *ret)
{
	for (int underscore = 0; underscore < 2 - (t->kind == CTF_VARIANT); underscore++) {
		for (uint32_t i = 0; i < t->n_fields; i++) {
			const char *is = t->field[i].name;
			if (underscore && *is++ != '_')
				continue;
			if (*is == *name && !strncmp(is, name, len) && !is[len]) {
				*ret = i;
				return true;
			}
		}
	}
	return false;
}

/* Goes one level down from t; removes the used part from *path. NULL: no such field. */
static const struct ctf_type *step_down(const struct ctf_type *t, const char **path, const char *end,
					uint32_t *way)
{
	if (t->kind == CTF_ARRAY || t->kind == CTF_SEQUENCE) {
		char *after;
		if (t->is_text || **path != '[' || !g_ascii_isdigit((*path)[1]))
			return NULL;
		unsigned long n = strtoul(*path + 1, &after, 10);
		if (after >= end || *after != ']' || n > UINT32_MAX)
			return NULL;
		*way = n;
		*path = after + 1;
		return t->kind == CTF_ARRAY && n >= t->length ? NULL : t->element;
	}
	if (t->kind != CTF_STRUCT && t->kind != CTF_VARIANT)
		return NULL;
	if (**path == '.')
		++*path;
	const char *name = *path;
	size_t len = 0;
	while (name + len < end && name[len] != '.' && name[len] != '[')
		len++;
	*path += len;
	return len && find_member(t, name, len, way) ? t->field[*way].type : NULL;
}

static bool is_name(unsigned slot)
{
	return slot == BLK_CTX_PROCNAME || slot == BLK_CTX_HOSTNAME;
}

/* How a field of this type is delivered. False: it is not delivered (a structure, a context that is a
 * floating-point number). */
static bool leaf_kind(const struct ctf_type *t, struct ctf_wanted *w)
{
	w->leaf = t;
	if (t->kind == CTF_INTEGER || t->kind == CTF_ENUM) {
		w->kind = CTF_WANT_INT;
		return true;
	}
	if (t->kind == CTF_FLOAT && t->bits) {
		w->kind = CTF_WANT_REAL;
		return w->slot >= BLK_FIELD0;
	}
	if (t->kind == CTF_STRING) {
		w->kind = CTF_WANT_TEXT;
		return true;
	}
	if (t->kind != CTF_ARRAY && t->kind != CTF_SEQUENCE)
		return false;
	if (t->element->kind != CTF_INTEGER && t->element->kind != CTF_ENUM)
		return false;
	w->kind = t->is_text || is_name(w->slot) ? CTF_WANT_TEXT : CTF_WANT_BYTES;
	return true;
}

/* An optional has no separate name: enters it. NULL: too deep. */
static const struct ctf_type *into_optional(const struct ctf_type *t, struct ctf_wanted *w)
{
	while (t && t->kind == CTF_OPTIONAL) {
		if (w->n_ways == LIMIT_FIELD_DEPTH)
			return NULL;
		w->way[w->n_ways++] = 0;
		t = t->field[0].type;
	}
	return t;
}

static bool resolve(const struct ctf_type *t, const char *path, const char *end, struct ctf_wanted *w)
{
	w->n_ways = 0;
	while (t && path < end) {
		if (w->n_ways == LIMIT_FIELD_DEPTH)
			return false;
		t = into_optional(step_down(t, &path, end, &w->way[w->n_ways++]), w);
	}
	return t && leaf_kind(t, w);
}

/* The first of the alternatives ("a|b") that the scope has. */
static bool find_field(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
		       enum ctf_scope scope, const char *names, struct ctf_wanted *w)
{
	const struct ctf_type *t = ctf_scope_type(sc, ec, scope);
	w->scope = scope;
	for (const char *p = names; t;) {
		const char *end = strchrnul(p, '|');
		if (end > p && resolve(t, p, end, w))
			return true;
		if (!*end)
			return false;
		p = end + 1;
	}
	return false;
}

static bool is_counter(const struct ctf_field *f)
{
	return f->type->kind == CTF_INTEGER && blk_counter_name(f->name);
}

char *ctf_wanted_counters(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
			  struct ctf_wanted *ret, unsigned *ret_n)
{
	static const enum ctf_scope scopes[] = { CTF_SPECIFIC, CTF_COMMON };
	GString *names = g_string_new(NULL);
	unsigned n = 0;
	for (size_t s = 0; s < G_N_ELEMENTS(scopes); s++) {
		const struct ctf_type *t = ctf_scope_type(sc, ec, scopes[s]);
		for (uint32_t i = 0; t && i < t->n_fields && n < LIMIT_EVENT_COUNTERS; i++) {
			if (!is_counter(&t->field[i]))
				continue;
			g_string_append_printf(names, "%s%s", n ? " " : "",
					       blk_counter_name(t->field[i].name));
			ret[n] = (struct ctf_wanted){
				.slot = BLK_CTX_COUNTER0 + n, .scope = scopes[s],
				.kind = CTF_WANT_INT, .n_ways = 1, .leaf = t->field[i].type,
				.way = { i },
			};
			n++;
		}
	}
	*ret_n = n;
	return g_string_free(names, !n);
}

bool ctf_wanted_is_probe(const struct ctf_event_class *ec)
{
	const struct ctf_type *t = ec->fields;
	const char *name[2] = { "", "" };
	for (uint32_t i = 0; t && i < MIN(t->n_fields, 2); i++)
		name[i] = t->field[i].name + (t->field[i].name[0] == '_');
	return t && blk_is_probe(ec->name, t->n_fields, name[0], name[1]);
}

void ctf_contexts_find(const struct ctf_stream_class *sc, struct ctf_contexts *ret)
{
	ret->sc = sc;
	for (unsigned i = 0; i < BLK_N_CONTEXTS; i++) {
		ret->w[i] = (struct ctf_wanted){ .slot = i };
		ret->has[i] = find_field(sc, NULL, CTF_COMMON, blk_context_names[i], &ret->w[i]);
	}
}

/* The event class's own context comes before that of the stream class; perf's copy in the payload comes last. */
static bool find_context(const struct ctf_contexts *common, const struct ctf_event_class *ec, unsigned i,
			 struct ctf_wanted *w)
{
	*w = (struct ctf_wanted){ .slot = i };
	if (find_field(common->sc, ec, CTF_SPECIFIC, blk_context_names[i], w))
		return true;
	if (common->has[i]) {
		*w = common->w[i];
		return true;
	}
	const char *perf = strchr(blk_context_names[i], '|');
	return perf && find_field(common->sc, ec, CTF_PAYLOAD, perf + 1, w);
}

unsigned ctf_wanted_find(const struct ctf_contexts *common, const struct ctf_event_class *ec,
			 const struct blk_subscription *row, struct ctf_wanted *ret)
{
	unsigned n = 0;
	for (unsigned i = 0; i < BLK_N_CONTEXTS; i++)
		n += find_context(common, ec, i, &ret[n]);
	if (blk_wants_counters(row)) {
		unsigned more;
		g_free(ctf_wanted_counters(common->sc, ec, ret + n, &more));
		n += more;
	}
	for (unsigned i = 0; i < BLK_MAX_FIELDS && row->fields[i]; i++) {
		struct ctf_wanted *w = &ret[n];
		*w = (struct ctf_wanted){ .slot = BLK_FIELD0 + i };
		n += find_field(common->sc, ec, CTF_PAYLOAD, row->fields[i], w);
	}
	g_assert(n <= BLK_MAX_SLOTS);
	return n;
}
