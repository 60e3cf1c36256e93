/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>

#include "lib/events_program.h"
#include "lib/wide_table.h"
#include "trace/ctf/ctf_program.h"
#include "trace/ctf/layouts.h"

#define MAX_TABLES 6

/* All stream classes compiled for one subscription table. */
struct table {
	struct wide_table wide;
	struct blk_matcher *matcher;
	GPtrArray *decoders;		/* struct ctf_decoder *, as meta->streams */
};

struct events_programs {
	GHashTable *layouts;
	struct table table[MAX_TABLES + 1];	/* the first subscribes to nothing */
	unsigned n_tables;
	uint64_t *regs;
	struct arena arena;
	GByteArray *row;
};

static uint32_t number(void *data, const char *name, uint16_t row, const char *counters)
{
	return 0;
}

static bool compile(struct events_programs *p, const struct ctf_meta *m, struct table *t,
		    GError **error)
{
	for (guint i = 0; i < m->streams->len; i++) {
		struct ctf_decoder *d = ctf_decoder_new(m->streams->pdata[i], t->wide.rows,
							t->matcher, p->layouts, number, NULL, error);
		if (!d)
			return false;
		g_ptr_array_add(t->decoders, d);
	}
	return true;
}

struct events_programs *events_programs_new(const struct ctf_meta *m, GError **error)
{
	struct events_programs *p = g_new0(struct events_programs, 1);
	struct wide_names *names = wide_names_new();
	bool ok = true;
	unsigned most = 1;
	wide_names_add(names, m);
	p->layouts = layouts_new();
	p->row = g_byte_array_new();
	p->n_tables = 1 + wide_names_tables(names, MAX_TABLES);
	for (unsigned i = 0; i < p->n_tables; i++) {
		struct table *t = &p->table[i];
		wide_table_init(&t->wide, names, i - (i > 0));
		t->matcher = blk_matcher_new(t->wide.rows, i ? t->wide.n_rows : 0);
		t->decoders = g_ptr_array_new_with_free_func((GDestroyNotify)ctf_decoder_free);
		ok = ok && compile(p, m, t, error);
	}
	wide_names_free(names);
	for (guint i = 0; i < m->streams->len; i++)
		most = MAX(most, ((struct ctf_stream_class *)m->streams->pdata[i])->n_regs);
	p->regs = g_new0(uint64_t, most + 1);
	if (ok)
		return p;
	events_programs_free(p);
	return NULL;
}

void events_programs_free(struct events_programs *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->n_tables; i++) {
		g_ptr_array_unref(p->table[i].decoders);
		blk_matcher_free(p->table[i].matcher);
		wide_table_clear(&p->table[i].wide);
	}
	g_hash_table_unref(p->layouts);
	g_byte_array_unref(p->row);
	arena_clear(&p->arena);
	g_free(p->regs);
	g_free(p);
}

static const struct ctf_decoder *decoder_of(const struct table *t, const struct ctf_stream_class *sc)
{
	for (guint i = 0; i < t->decoders->len; i++) {
		const struct ctf_decoder *d = t->decoders->pdata[i];
		if (d->sc == sc)
			return d;
	}
	return NULL;
}

static char *check_table(struct events_programs *p, const struct table *t,
			 const struct events_stream *s, const struct events_event *e)
{
	const struct ctf_decoder *d = decoder_of(t, s->sc);
	uint64_t pos = e->begin, clock = e->before, id = 0;
	if (s->sc->packet_regs)
		ctf_packet_registers(s->meta, s->sc, s->bytes, s->end, p->regs);
	if (!ctf_header_read(&d->header, s->bytes, &pos, s->end, &clock, &id, p->regs))
		return g_strdup("the compiled event header does not fit");
	if (pos != e->fields || clock != e->cycles || id != e->id)
		return g_strdup_printf("the compiled event header says id %" PRIu64 ", time %" PRIu64
				       ", end %" PRIu64 ", walked: id %" PRIu64 ", time %" PRIu64
				       ", end %" PRIu64,
				       id, clock, pos, e->id, e->cycles, e->fields);
	const struct ctf_class *c = ctf_decoder_class(d, id);
	if (!c || c->ec != e->cls)
		return g_strdup("the decoder has another class, or none");
	g_byte_array_set_size(p->row, MAX(p->row->len, c->row_bytes + 8));
	arena_reset(&p->arena);
	struct ctf_run run = { .regs = p->regs, .arena = &p->arena, .row = p->row->data };
	uint64_t end = c->n_steps ? ctf_class_run(c, s->bytes, pos, s->end, &run) : pos + c->bits;
	if (end == e->end)
		return NULL;
	return g_strdup_printf("the compiled program ends at bit %" PRIu64 ", the walk at %" PRIu64, end,
			       e->end);
}

char *events_programs_check(struct events_programs *p, const struct events_stream *s,
			    const struct events_event *e)
{
	for (unsigned i = 0; i < p->n_tables; i++) {
		g_autofree char *fault = check_table(p, &p->table[i], s, e);
		if (fault)
			return g_strdup_printf("table %u: %s", i, fault);
	}
	return NULL;
}
