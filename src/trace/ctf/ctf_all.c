/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads all fields of an event, one by one, by their types: see ctf_all.h. */
#include "trace/ctf/ctf_all.h"

#include "trace/ctf/ctf_walk.h"
#include "trace/ctf/ctf_wanted.h"

#include <string.h>

struct all {
	struct fields_run *to;
	GString *text;			/* scratch */
	uint8_t scope;			/* enum field_scope */
	unsigned depth;			/* 0: outside the scope's structure */
};

int blk_slot_of_all(const struct blk_subscription *row)
{
	for (unsigned i = 0; row && i < BLK_MAX_FIELDS && row->fields[i]; i++)
		if (!strcmp(row->fields[i], "*"))
			return (int)(BLK_FIELD0 + i);
	return -1;
}

static const char *label_of(const struct ctf_type *t, uint64_t value)
{
	for (uint32_t i = 0; t->kind == CTF_ENUM && i < t->n_ranges; i++)
		if (ctf_within(t->is_signed, value, t->range[i].lo, t->range[i].hi))
			return t->range[i].label;
	return NULL;
}

static bool is_set(const struct ctf_range *r, uint64_t value)
{
	uint64_t hi = MIN(r->hi, 63);
	for (uint64_t bit = r->lo; bit <= hi; bit++)
		if (value >> bit & 1)
			return true;
	return false;
}

/* The names of the flags that are set, as "A|B". */
static const char *flags_of(struct all *a, const struct ctf_type *t, uint64_t value)
{
	const char *last = NULL;
	g_string_truncate(a->text, 0);
	for (uint32_t i = 0; i < t->n_ranges; i++) {
		const char *label = t->range[i].label;
		if (!is_set(&t->range[i], value) || !g_strcmp0(label, last))
			continue;
		g_string_append_printf(a->text, "%s%s", a->text->len ? "|" : "", label);
		last = label;
	}
	return a->text->len ? a->text->str : NULL;
}

static void on_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct all *a = data;
	const char *label = t->is_flags ? flags_of(a, t, value) : label_of(t, value);
	if (fields_is_length(name))
		return;
	fields_put(a->to, &(struct field){
		.kind = t->is_signed ? FIELD_SIGNED : FIELD_UNSIGNED, .scope = a->scope,
		.base = t->base, .name = name, .value = t->is_bool ? value != 0 : value, .text = label,
		.len = label ? (uint32_t)strlen(label) : 0, .bytes = t->is_bool ? 1 : t->is_var ? 8 : (bits + 7) / 8,
	});
}

static void on_real(void *data, const char *name, const struct ctf_type *t, double value)
{
	struct all *a = data;
	fields_put(a->to, &(struct field){
		.kind = FIELD_REAL, .scope = a->scope, .name = name, .real = value, .bytes = (t->bits + 7) / 8 });
}

static void on_text(void *data, const char *name, const struct ctf_type *t, const char *bytes,
		    uint64_t n)
{
	struct all *a = data;
	if (t->encoding == CTF_UTF8) {
		n = strnlen(bytes, MIN(n, G_MAXINT32));
	} else {
		g_string_truncate(a->text, 0);
		ctf_text_utf8(t, bytes, n, a->text);
		bytes = a->text->str;
		n = a->text->len;
	}
	fields_put(a->to, &(struct field){
		.kind = FIELD_TEXT, .scope = a->scope, .name = name, .text = bytes,
		.len = (uint32_t)n });
}

static void on_begin(void *data, const char *name, const struct ctf_type *t, uint64_t n)
{
	struct all *a = data;
	bool is_list = t->kind == CTF_ARRAY || t->kind == CTF_SEQUENCE;
	if (a->depth++)
		fields_put(a->to, &(struct field){
			.kind = FIELD_BEGIN, .scope = a->scope, .name = name, .is_list = is_list,
			.value = t->kind == CTF_VARIANT ? 1 : n });
}

static void on_end(void *data, const char *name, const struct ctf_type *t)
{
	struct all *a = data;
	(void)name, (void)t;
	g_assert(a->depth > 0);
	if (--a->depth)
		fields_put(a->to, &(struct field){ .kind = FIELD_END, .scope = a->scope });
}

bool ctf_all_read(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
		  const uint8_t *base, uint64_t pos, uint64_t end, uint64_t *regs,
		  struct fields_run *to)
{
	static const struct ctf_visitor visitor = { on_integer, on_real, on_text, on_begin, on_end };
	g_autoptr(GString) text = g_string_new(NULL);
	struct all a = { .to = to, .text = text };
	fields_begin(to);
	for (unsigned scope = 0; scope < CTF_N_SCOPES; scope++) {
		const struct ctf_type *t = ctf_scope_type(sc, ec, scope);
		a.scope = (uint8_t)scope;
		a.depth = 0;
		if (t && !ctf_walk(t, base, &pos, end, regs, &visitor, &a))
			return false;
	}
	return true;
}
