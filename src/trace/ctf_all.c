/* SPDX-License-Identifier: GPL-2.0-only */
/* An event's fields one by one, by their types, to a run: see ctf_all.h. */
#include "trace/ctf_all.h"

#include "trace/ctf_walk.h"
#include "trace/ctf_wanted.h"

#include <string.h>

struct all {
	struct fields_run *to;
	uint8_t scope;			/* enum field_scope */
	unsigned depth;			/* 0: outside of the scope's own structure */
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
	for (uint32_t i = 0; t->kind == CTF_ENUM && i < t->n_ranges; i++) {
		const struct ctf_range *r = &t->range[i];
		if (t->is_signed ? (int64_t)value >= (int64_t)r->lo && (int64_t)value <= (int64_t)r->hi
				 : value >= r->lo && value <= r->hi)
			return r->label;
	}
	return NULL;
}

static void on_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value)
{
	struct all *a = data;
	const char *label = label_of(t, value);
	if (fields_is_length(name))
		return;
	fields_put(a->to, &(struct field){
		.kind = t->is_signed ? FIELD_SIGNED : FIELD_UNSIGNED, .scope = a->scope,
		.base = t->base, .name = name, .value = value, .text = label,
		.len = label ? (uint32_t)strlen(label) : 0,
	});
}

static void on_real(void *data, const char *name, const struct ctf_type *t, double value)
{
	struct all *a = data;
	(void)t;
	fields_put(a->to, &(struct field){
		.kind = FIELD_REAL, .scope = a->scope, .name = name, .real = value });
}

static void on_text(void *data, const char *name, const struct ctf_type *t, const char *bytes,
		    uint64_t n)
{
	struct all *a = data;
	(void)t;
	fields_put(a->to, &(struct field){
		.kind = FIELD_TEXT, .scope = a->scope, .name = name, .text = bytes,
		.len = (uint32_t)strnlen(bytes, MIN(n, G_MAXINT32)) });
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
	if (--a->depth)
		fields_put(a->to, &(struct field){ .kind = FIELD_END, .scope = a->scope });
}

bool ctf_all_read(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
		  const uint8_t *base, uint64_t pos, uint64_t end, uint64_t *regs,
		  struct fields_run *to)
{
	static const struct ctf_visitor visitor = { on_integer, on_real, on_text, on_begin, on_end };
	struct all a = { .to = to };
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
