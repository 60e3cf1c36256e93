/* SPDX-License-Identifier: GPL-2.0-only */
/* Sections of a slice file, except threads and CPUs: see slice_code.h. */
#include "state/slice/slice_code.h"

#include "base/each.h"
#include "base/limits.h"
#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/coverage.h"
#include "state/kernel/facts.h"
#include "state/kernel/feed.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/sched.h"
#include "state/kernel/thread_logs.h"
#include "state/slice/slice.h"
#include "state/slice/slice_file.h"
#include "state/store/severity.h"

/* ---- arrays ---- */

static void code_elements(struct coder *c, char *first, uint32_t len, size_t size, unsigned row, code_element code,
			  const struct slice_counts *n)
{
	for (uint32_t i = 0; i < len && !c->fault; i++) {
		coder_row(c, row);
		code(c, first + i * size, n);
	}
	coder_row(c, 0);
}

void code_vec(struct coder *c, struct vec *v, size_t size, unsigned row, unsigned least, code_element code,
	      const struct slice_counts *n)
{
	uint32_t len = code_len(c, v->len, least, size);

	if (!coder_writes(c)) {
		*v = (struct vec){ 0 };
		vec_grow(v, len, size);
		v->len = len;
		if (len)
			memset(v->data, 0, len * size);
	}
	code_elements(c, v->data, len, size, row, code, n);
}

void code_array(struct coder *c, GArray **a, size_t size, unsigned row, unsigned least, code_element code,
		const struct slice_counts *n)
{
	uint32_t len = code_len(c, *a ? (*a)->len : 0, least, size);

	if (!coder_writes(c) && len) {
		*a = *a ? *a : g_array_new(false, false, (guint)size);
		g_array_set_size(*a, len);
		memset((*a)->data, 0, len * size);
	}
	code_elements(c, len ? (*a)->data : NULL, len, size, row, code, n);
}

/* ---- summary ---- */

void count_ids(const struct slice *s, struct slice_counts *n)
{
	n->strings = strtab_n(s->strings);
	n->texts = strtab_n(s->texts);
	n->hosts = s->hosts->len;
	n->channels = s->channels.all->len;
	n->cpus = s->cpus->len;
	n->threads = s->threads->len;
	n->annots = s->annots->len;
}

static void code_piece(struct coder *c, struct slice_piece *p)
{
	uint32_t n = code_len(c, p->sources ? p->sources->len : 0, 3, sizeof(struct slice_source) + CODER_OWN_BYTES);

	code_ts(c, &p->from);
	code_ts(c, &p->to);
	for (uint32_t i = 0; i < n && !c->fault; i++) {
		struct slice_source fresh = { 0 }, *x = coder_writes(c) ? g_ptr_array_index(p->sources, i) : &fresh;
		code_text(c, &x->name);
		code_ts(c, &x->from);
		code_ts(c, &x->to);
		if (x->from >= x->to || x->from < p->from || x->to > p->to)
			coder_refuse(c, "a source is of another time");
		if (!coder_writes(c) && !c->fault)
			slice_piece_add(p, fresh.name, fresh.from, fresh.to);
		g_free(fresh.name);
	}
}

#define SUMS_END (UINT64_C(1) << 60)	/* sums over merged slices do not overflow */

void code_summary(struct coder *c, struct slice *s, struct slice_counts *n)
{
	bool *const known[] = {
		&s->no_spans, &s->has_functions, &s->has_switches, &s->has_wakes, &s->has_calls, &s->has_insert,
		&s->has_issue, &s->has_complete, &s->has_interrupts, &s->has_new_wakes,
		&s->history, &s->looks_back,
	};
	uint64_t *const sums[] = { &s->seq, &s->n_events, &s->finished, &s->n_thinned };
	uint32_t *const counts[] = {
		&n->strings, &n->texts, &n->hosts, &n->channels, &n->cpus, &n->threads, &n->annots,
	};

	if (coder_writes(c))
		n->strings = n->used_strings->used->len;
	code_piece(c, n->piece);
	code_i64(c, &s->step);
	code_ts(c, &s->first);
	code_ts(c, &s->last);
	code_ts(c, &s->horizon);
	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++) {
		code_u64(c, sums[i]);
		if (*sums[i] >= SUMS_END)
			coder_refuse(c, "the summary contradicts itself");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		code_bool(c, known[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
		code_u32(c, counts[i]);
	bool inside = s->first > s->last || (s->first >= n->piece->from && s->last <= n->piece->to);
	if (!inside || n->piece->from >= n->piece->to || s->step <= 0 ||
	    !n->strings || !n->texts || (n->threads && !n->cpus) ||
	    (s->first > s->last && (s->first != INT64_MAX || s->last != INT64_MIN)))
		coder_refuse(c, "the summary contradicts itself");
}

/* ---- strings ---- */

/* 0 is "". used: only these, in this order; NULL: all. */
static void code_strtab(struct coder *c, struct strtab *t, uint32_t n, const GArray *used)
{
	for (uint32_t i = 1; i < n && !c->fault; i++) {
		uint32_t id = used ? g_array_index(used, uint32_t, i) : i;
		const char *text = coder_writes(c) ? strtab_get(t, id) : "";
		uint32_t len = (uint32_t)strlen(text);
		code_slice(c, &text, &len, LIMIT_TEXT_BYTES);
		coder_take(c, len + CODER_OWN_BYTES);
		if (!coder_writes(c) && !c->fault && strtab_add_len(t, text, len) != i)
			coder_refuse(c, "a text is there twice");
	}
}

void code_pack_strings(struct coder *c, struct slice *s, uint32_t n, const struct coder_ids *used)
{
	code_strtab(c, s->strings, n, used ? used->used : NULL);
}

void code_strings(struct coder *c, struct slice *s, struct slice_counts *n)
{
	code_pack_strings(c, s, coder_writes(c) ? n->used_strings->used->len : n->strings, n->used_strings);
	code_strtab(c, s->texts, n->texts, NULL);
}

/* ---- hosts ---- */

static void code_evidence(struct coder *c, struct machine_evidence *e)
{
	code_u16(c, &e->not_by_events);
	code_u16(c, &e->not_by_words);
	code_bool(c, &e->long32);
	code_bool(c, &e->long64);
	code_bool(c, &e->little);
	code_bool(c, &e->big);
	code_bool(c, &e->events);
	code_bool(c, &e->switches);
}

static bool is_same_host(const struct slice_host *a, const struct slice_host *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->boot, b->boot);
}

static void code_host(struct coder *c, struct slice_host *h)
{
	code_text(c, &h->name);
	code_text(c, &h->boot);
	code_text(c, &h->release);
	code_evidence(c, &h->evidence);
	code_bool(c, &h->has_kernel);
	code_ts(c, &h->begin);
	code_ts(c, &h->end);
	code_ts(c, &h->first);
}

static void code_host_table(struct coder *c, struct slice *s, uint32_t n)
{
	for (uint32_t i = 0; i < n && !c->fault; i++) {
		struct slice_host fresh = { .id = ID_NONE };
		struct slice_host *h = coder_writes(c) ? &g_array_index(s->hosts, struct slice_host, i) : &fresh;
		code_host(c, h);
		if (coder_writes(c))
			continue;
		fresh.machine = machine_of(&fresh.evidence, fresh.boot);
		g_autofree char *release = g_steal_pointer(&fresh.release);
		slice_host_set_release(&fresh, release);
		for (uint32_t k = 0; k < i; k++)
			if (is_same_host(&fresh, &g_array_index(s->hosts, struct slice_host, k)))
				coder_refuse(c, "a host is there twice");
		g_array_append_val(s->hosts, fresh);
		covered_add_host(s, &fresh);
	}
}

static void code_channels(struct coder *c, struct channels *all, uint32_t n)
{
	for (uint32_t i = 0; i < n && !c->fault; i++) {
		struct channel fresh = { 0 };
		struct channel *x = coder_writes(c) ? &g_array_index(all->all, struct channel, i) : &fresh;
		code_text(c, &x->key);
		code_ts(c, &x->from);
		code_ts(c, &x->to);
		if (coder_writes(c))
			continue;
		if (!g_hash_table_insert(all->by_key, x->key, GUINT_TO_POINTER(i + 1)))
			coder_refuse(c, "a channel is there twice");
		g_array_append_val(all->all, fresh);
	}
}

static void code_voids(struct coder *c, struct slice *s)
{
	uint32_t n = code_len(c, s->voids->len, 2, sizeof(struct time_void));
	int64_t before = INT64_MIN;

	for (uint32_t i = 0; i < n && !c->fault; i++) {
		struct time_void v = { 0 };
		if (coder_writes(c))
			v = g_array_index(s->voids, struct time_void, i);
		code_ts(c, &v.begin);
		code_ts(c, &v.end);
		if (v.begin < before || v.end <= v.begin || v.begin < s->first || v.end > s->last)
			coder_refuse(c, "gaps are not in order");
		before = v.end;
		if (!coder_writes(c) && !c->fault)
			g_array_append_val(s->voids, v);
	}
}

static void code_classes(struct coder *c, GHashTable *classes)
{
	g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(classes), (GCompareFunc)(void *)strcmp);
	uint32_t n = code_len(c, g_hash_table_size(classes), 1, CODER_OWN_BYTES);
	const GList *at = names;

	for (uint32_t i = 0; i < n && !c->fault; i++, at = at ? at->next : NULL) {
		char *name = coder_writes(c) ? at->data : NULL;
		code_text(c, &name);
		if (!coder_writes(c) && !g_hash_table_add(classes, name))
			coder_refuse(c, "an event class is there twice");
	}
}

void code_hosts(struct coder *c, struct slice *s, struct slice_counts *n)
{
	code_host_table(c, s, n->hosts);
	code_channels(c, &s->channels, n->channels);
	losses_code(c, &s->losses, c->fault ? 0 : n->hosts);
	code_voids(c, s);
	code_classes(c, s->classes);
}

/* ---- logs ---- */

/* Sets of rows, see coder_row(). */
enum { ROW_ANNOT = 1, ROW_WAKE };
enum { ROW_FACT = 1, ROW_BLOCK, ROW_SLOW, ROW_CELL };		/* of a pack; and one for each kind of cells */

/* Which fields of a fact are ids, and how large the others may be. */
static bool fact_is_fine(const struct fact *f, const struct slice_counts *n)
{
	bool of_thread = f->kind != FACT_IRQ && f->kind != FACT_DEV && f->kind != FACT_DUMP_FD &&
			 f->kind != FACT_LOST;

	if (of_thread && f->thread == ID_NONE)
		return false;
	switch ((enum fact_kind)f->kind) {
	case FACT_FORK: return f->other != ID_NONE;
	case FACT_NS: return f->a >= 0 && f->a < NS_N;
	case FACT_CONTEXT: return f->a >= 0 && f->a < CONTEXT_N && (!f->flag || (uint32_t)f->c < n->cpus) &&
		(f->a != CONTEXT_HOSTNAME || f->text < n->strings);
	default: return true;
	}
}

static void code_fact(struct coder *c, void *element, const struct slice_counts *n)
{
	struct fact *f = element;

	code_ts(c, &f->ts);
	code_seq(c, &f->seq);
	code_below(c, &f->kind, FACT_LOST + 1);
	code_below(c, &f->file_kind, FILE_KIND_N);
	code_u8(c, &f->level);
	code_bool(c, &f->flag);
	code_id(c, &f->host, n->hosts, false);
	code_id(c, &f->thread, n->threads, true);
	code_id(c, &f->other, n->threads, true);
	code_string(c, &f->text, n);
	code_i64(c, &f->a);
	code_i64(c, &f->b);
	code_i64(c, &f->c);
	if (!coder_writes(c) && !fact_is_fine(f, n))
		coder_refuse(c, "a fact is wrong");
}

static void code_facts(struct coder *c, struct slice *s, const struct slice_counts *n)
{
	code_u32(c, &s->facts_sorted);
	code_array(c, &s->facts, sizeof(struct fact), ROW_FACT, 13, code_fact, n);
	const struct fact *all = (const struct fact *)(const void *)s->facts->data;
	bool fits = s->facts_sorted <= s->facts->len;
	for (uint32_t i = 1; fits && i < s->facts_sorted && !coder_writes(c); i++)
		fits = all[i - 1].seq <= all[i].seq;
	if (!fits)
		coder_refuse(c, "a fact is wrong");
}

/* The difference to a value that is near. */
static void code_near(struct coder *c, uint64_t *v, uint64_t near)
{
	int64_t difference = (int64_t)(*v - near);

	code_i64(c, &difference);
	*v = near + (uint64_t)difference;
}

static void code_time(struct coder *c, int64_t *v, uint64_t near)
{
	uint64_t ns = (uint64_t)CLAMP(*v, 1 - CODER_NS_END, CODER_NS_END - 1);

	code_near(c, &ns, near);
	*v = CLAMP((int64_t)ns, 1 - CODER_NS_END, CODER_NS_END - 1);
}

/* The counters of the thread, as differences to those of its annotation before. What the other parts leave of
 * the time between the two is expected to be the first part. */
static void code_snap(struct coder *c, struct slice *s, struct annot *a, const struct annot *previous)
{
	static const struct snap none = { 0 };
	const struct snap *before = previous->snap ? previous->snap : &none;
	uint64_t rest = previous->snap ? (uint64_t)a->ts - (uint64_t)previous->ts : 0;
	bool has = a->snap != NULL;

	code_bool(c, &has);
	if (!has)
		return;
	if (!coder_writes(c)) {
		a->snap = slab_get(&s->snaps, sizeof(struct snap));
		*a->snap = none;
	}
	code_near(c, &a->snap->wait_index, before->wait_index);
	for (unsigned p = 1; p < PART_SLICE_N; p++) {
		code_time(c, &a->snap->part[p], (uint64_t)before->part[p]);
		rest -= (uint64_t)a->snap->part[p] - (uint64_t)before->part[p];
	}
	code_time(c, &a->snap->part[0], (uint64_t)before->part[0] + rest);
}

struct rule_codes {
	GArray *numbers;		/* uint32_t: of the rules of the section */
	GHashTable *index;		/* number -> index + 1; only to write */
};

static bool has_rule(const struct annot *a)
{
	return a->mark != MARK_NONE && a->rule != RULE_FUNCTION;
}

/* Rules are stored by their ids, as they have other numbers where the slice is read. */
static void code_rules(struct coder *c, const struct slice *s, struct rule_codes *r)
{
	*r = (struct rule_codes){ g_array_new(false, false, sizeof(uint32_t)), g_hash_table_new(NULL, NULL) };
	for (guint i = 0; coder_writes(c) && i < s->annots->len; i++) {
		const struct annot *a = &g_array_index(s->annots, struct annot, i);
		if (!has_rule(a) || g_hash_table_contains(r->index, GUINT_TO_POINTER(a->rule)))
			continue;
		g_array_append_val(r->numbers, a->rule);
		g_hash_table_insert(r->index, GUINT_TO_POINTER(a->rule), GUINT_TO_POINTER(r->numbers->len));
	}
	uint32_t n = code_len(c, r->numbers->len, 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < n && !c->fault; i++) {
		uint64_t id = coder_writes(c) ? rule_id(g_array_index(r->numbers, uint32_t, i)) : 0;
		code_u64(c, &id);
		uint32_t number = coder_writes(c) ? 0 : rule_number(id);
		if (!coder_writes(c))
			g_array_append_val(r->numbers, number);
	}
}

static void code_rule(struct coder *c, struct annot *a, const struct rule_codes *r)
{
	uint32_t index = a->rule == RULE_FUNCTION ? RULE_FUNCTION :
		GPOINTER_TO_UINT(g_hash_table_lookup(r->index, GUINT_TO_POINTER(a->rule))) - 1;

	if (a->mark == MARK_NONE)
		return;
	code_u32(c, &index);
	if (coder_writes(c))
		return;
	if (index != RULE_FUNCTION && index >= r->numbers->len)
		coder_refuse(c, "a rule is not there");
	else
		a->rule = index == RULE_FUNCTION ? index : g_array_index(r->numbers, uint32_t, index);
}

/* before: the annotation of the same thread before it, or one that is all zero. */
static void code_annot(struct coder *c, struct slice *s, struct annot *a, const struct annot *before,
		       const struct slice_counts *n, const struct rule_codes *rules)
{
	uint32_t *const texts[] = { &a->name, &a->service, &a->ip, &a->key, &a->val };

	code_event_ts(c, &a->ts);
	code_near(c, &a->trace, before->trace);
	code_near(c, &a->span, before->span);
	code_near(c, &a->parent, before->parent);
	code_below(c, &a->type, ANNOT_NOTE + 1);
	code_below(c, &a->mark, MARK_N);
	code_below(c, &a->severity, SEVERITY_END);
	code_bool(c, &a->by_kernel);
	code_bool(c, &a->in_kernel);
	code_bool(c, &a->ends);
	code_bool(c, &a->claims);
	code_bool(c, &a->is_unsure);
	code_u8(c, &a->looks_up);
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		code_id(c, texts[i], n->texts, false);
	code_u32(c, &a->port);
	code_id(c, &a->host, n->hosts, false);
	code_i32(c, &a->vpid);
	code_i32(c, &a->vtid);
	code_id(c, &a->cpu, n->cpus, false);
	code_id(c, &a->channel, n->channels, false);
	code_rule(c, a, rules);
	code_u64(c, &a->address);
	if (a->mark == MARK_WHOLE && (a->ts < 0 || a->address > (uint64_t)a->ts))
		coder_refuse(c, "a span began before the epoch");
	code_snap(c, s, a, before);
}

static void code_annots(struct coder *c, struct slice *s, const struct slice_counts *n)
{
	static const struct annot none = { 0 };
	g_autofree uint32_t *latest = g_new(uint32_t, n->threads + 1u);	/* by thread; the last one: of none */

	struct rule_codes rules;

	code_rules(c, s, &rules);
	memset(latest, 0xff, (n->threads + 1u) * sizeof *latest);
	for (uint32_t i = 0; i < n->annots && !c->fault; i++) {
		struct annot fresh = { .next = ID_NONE };
		struct annot *a = coder_writes(c) ? &g_array_index(s->annots, struct annot, i) : &fresh;
		coder_take(c, sizeof fresh);
		coder_row(c, ROW_ANNOT);
		code_id(c, &a->thread, n->threads, true);
		uint32_t *at = &latest[MIN(a->thread, n->threads)];
		code_annot(c, s, a, *at == ID_NONE ? &none : &g_array_index(s->annots, struct annot, *at), n,
			   &rules);
		if (a->snap && a->thread == ID_NONE)
			coder_refuse(c, "an annotation has the counters of no thread");
		*at = i;
		if (!coder_writes(c))
			g_array_append_val(s->annots, fresh);
		coder_bound(c, LIMIT_SLICE_BYTES);
	}
	coder_row(c, 0);
	g_array_unref(rules.numbers);
	g_hash_table_unref(rules.index);
}

static void code_binary(struct coder *c, void *element, const struct slice_counts *n)
{
	struct binary *b = element;

	code_ts(c, &b->ts);
	code_u64(c, &b->base);
	code_u64(c, &b->size);
	code_id(c, &b->host, n->hosts, false);
	code_string(c, &b->path, n);
	code_i32(c, &b->vpid);
}

/* A waker is a thread or the code of an interrupt. */
static void code_wake(struct coder *c, void *element, const struct slice_counts *n)
{
	struct provisional_wake *w = element;

	code_event_ts(c, &w->ts);
	code_ns(c, &w->latency);
	code_seq(c, &w->seq);
	code_id(c, &w->thread, n->threads, false);
	code_u32(c, &w->waker);
	if (w->waker >= n->threads && w->waker < IRQ_HARD(0))
		coder_refuse(c, "a waker is not there");
}

static void code_stop(struct coder *c, void *element, const struct slice_counts *n)
{
	struct stop_signal *x = element;

	code_event_ts(c, &x->ts);
	code_id(c, &x->thread, n->threads, false);
	code_id(c, &x->sender, n->threads, true);
}

static void code_stops(struct coder *c, struct vec *stops, const struct slice_counts *n)
{
	code_vec(c, stops, sizeof(struct stop_signal), 0, 3, code_stop, n);
	for (uint32_t i = 1; i < stops->len && !coder_writes(c); i++)
		if (vec_at(stops, struct stop_signal, i - 1)->ts > vec_at(stops, struct stop_signal, i)->ts)
			coder_refuse(c, "signals are not in order");
}

/* Only the slots that were used. */
static void code_fdops(struct coder *c, struct fdops *f)
{
	uint32_t n = 0, before = 0;

	for (unsigned i = 0; i < FDOP_SLOTS; i++)
		n += f->changed[i] != 0;
	n = code_len(c, n, 2, 0);
	for (uint32_t i = 0; i < n && !c->fault; i++) {
		uint32_t at = before;
		while (coder_writes(c) && !f->changed[at])
			at++;
		code_id(c, &at, FDOP_SLOTS, false);
		code_u64(c, &f->changed[at]);
		before = at + 1;
	}
	code_u64(c, &f->all);
}

void code_logs(struct coder *c, struct slice *s, struct slice_counts *n)
{
	code_annots(c, s, n);
	code_array(c, &s->binaries, sizeof(struct binary), 0, 6, code_binary, n);
	code_array(c, &s->provisional_wakes, sizeof(struct provisional_wake), ROW_WAKE, 5, code_wake, n);
	code_stops(c, &s->stops, n);
	code_locks(c, s, n);
	code_fdops(c, &s->fdops);
}

/* ---- seconds ---- */

static void code_completeness(struct coder *c, struct completeness *x)
{
	code_u64(c, &x->lost_events);
	code_u64(c, &x->lost_packets);
	code_u64(c, &x->damaged);
	code_u64(c, &x->provisional);
	code_u64(c, &x->late);
	code_ns(c, &x->lost_ns);
	code_u64(c, &x->lost_cpus);
	code_u64(c, &x->reordered_pairs);
	code_ns(c, &x->reordered_max_ns);
}

static void code_slow_call(struct coder *c, struct bin_slow *x, const struct slice_counts *n)
{
	coder_row(c, ROW_SLOW);
	code_id(c, &x->thread, n->threads, false);
	code_string(c, &x->name, n);
	code_u32(c, &x->cpu);
	code_i32(c, &x->fd);
	code_ts(c, &x->begin);
	code_ns(c, &x->duration);
	code_i64(c, &x->ret);
	code_seq(c, &x->seq);
	code_below(c, &x->wait, CALL_WAIT_N);
	code_below(c, &x->list, SLOW_LIST_N);
}

static void code_slow_calls(struct coder *c, struct bin *b, const struct slice_counts *n)
{
	uint32_t len = code_len(c, bin_n_slow(b), 10, sizeof(struct bin_slow));

	if (len > SLOW_LIST_N * LIMIT_SECOND_CALLS) {
		coder_refuse(c, "a second has too many calls");
		len = 0;
	}
	if (coder_writes(c))
		BIN_EACH_SLOW(b, x)
			code_slow_call(c, x, n);
	for (uint32_t i = 0; !coder_writes(c) && i < len; i++) {
		struct bin_slow fresh = { 0 };
		code_slow_call(c, &fresh, n);
		if (!c->fault)
			bin_slow(b, &fresh);
	}
	coder_row(c, 0);
}

static void code_bin(struct coder *c, struct bin *b, const struct slice_counts *n)
{
	const struct cell_ids ids = {
		.thread = n->threads, .host = n->hosts, .string = n->strings, .used_strings = n->used_strings,
	};

	code_completeness(c, &b->completeness);
	code_slow_calls(c, b, n);
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		cell_table_code(c, &b->table[k], built_layout(k), ROW_CELL + k, &ids);
		if (!coder_writes(c) && k != CELL_file)		/* as after a merge, see bin.c */
			cell_table_index(&b->table[k], built_layout(k));
	}
}

static void code_bins(struct coder *c, struct slice *s, const struct slice_counts *n)
{
	g_autoptr(GPtrArray) bins = slice_bins_in_order(s);
	uint32_t len = code_len(c, bins->len, 10, sizeof(struct bin) + CODER_OWN_BYTES);
	int64_t from = INT64_MIN / s->step, to = INT64_MAX / s->step, next = from;

	for (uint32_t i = 0; i < len && !c->fault; i++) {
		struct bin *b = coder_writes(c) ? g_ptr_array_index(bins, i) : NULL;
		int64_t index = b ? b->index : 0, after = b ? b->after : 0;
		code_i64(c, &index);
		code_i64(c, &after);
		bool ordered = index >= next && after > index && after <= to;
		if (!ordered || index * s->step > s->last || after * s->step <= s->first) {
			coder_refuse(c, ordered ? "a second is outside of the coverage" : "seconds are not in order");
			return;
		}
		next = index + 1;
		coder_bound(c, LIMIT_SLICE_BYTES);
		code_bin(c, b ? b : bin_add(s, index, after), n);
	}
	s->bin_last = NULL;
}

void code_pack(struct coder *c, struct slice *s, const struct slice_counts *n)
{
	code_facts(c, s, n);
	blocks_code(c, s->blocks, ROW_BLOCK, n->hosts, n->threads);
	code_bins(c, s, n);
}

/* Between two seconds of [first, last] that have events there is less than a minute without one, or it is a void.
 * Else a few bytes could make seconds for centuries. */
bool code_coverage_fits(const struct slice *s, uint64_t n)
{
	uint64_t most = n + 1, covered;

	if (s->first > s->last)
		return true;
	covered = (uint64_t)s->last - (uint64_t)s->first;
	ARRAY_EACH(const struct time_void, v, s->voids)
		covered -= (uint64_t)v->end - (uint64_t)v->begin;
	return covered / (COVERED_VOID_NS + 2 * (uint64_t)s->step) < most;
}
