/* SPDX-License-Identifier: GPL-2.0-only */
/* Packs and their notes: see pack_notes.h. */
#include "state/kernel/pack_notes.h"

struct pack *pack_new(void)
{
	struct pack *p = g_new0(struct pack, 1);

	p->hosts = g_array_new(false, false, sizeof(uint32_t));
	p->cpus = g_array_new(false, false, sizeof(uint32_t));
	p->notes = g_array_new(false, true, sizeof(struct pack_note));
	return p;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	g_clear_pointer(&p->path, g_ref_string_release);
	g_clear_pointer(&p->bytes, g_byte_array_unref);
	g_array_unref(p->hosts);
	g_array_unref(p->cpus);
	g_array_unref(p->notes);
	g_free(p);
}

static void free_pack(gpointer p)
{
	pack_free(p);
}

void packs_clear(struct packs *p)
{
	g_clear_pointer(&p->all, g_ptr_array_unref);
	g_clear_pointer(&p->pending, g_array_unref);
	intmap_clear(&p->by_thread);
}

void packs_add(struct packs *p, struct pack *x)
{
	if (!p->all) {
		p->all = g_ptr_array_new_with_free_func(free_pack);
		p->pending = g_array_new(false, true, sizeof(struct pack_pending));
	}
	g_ptr_array_add(p->all, x);
}

void packs_add_pending(struct packs *p, struct pack_pending x)
{
	x.next = intmap_get(&p->by_thread, x.thread);
	intmap_set(&p->by_thread, x.thread, p->pending->len);
	g_array_append_val(p->pending, x);
}

void packs_resolve(struct slice *s, const struct pack_note *what)
{
	enum unresolved stays = what->by_fd ? UNRESOLVED_N : unresolved_of(what->part);
	unsigned bit = 1u << what->from;
	uint32_t i = packs_n(&s->packs) ? intmap_get(&s->packs.by_thread, what->thread) : INTMAP_NONE;

	while (i != INTMAP_NONE) {
		struct pack_pending *x = pending_at(&s->packs, i);
		i = x->next;
		if (!(x->parts & bit))
			continue;
		struct pack *p = pack_at(&s->packs, x->pack);
		struct pack_note note = *what;
		note.thread -= p->thread_add;
		note.seq -= what->by_fd ? p->seq_add : 0;
		g_array_append_val(p->notes, note);
		x->parts = (uint8_t)((x->parts & ~bit) | (stays == UNRESOLVED_N ? 0 : 1u << stays));
	}
}
