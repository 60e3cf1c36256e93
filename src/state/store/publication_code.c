/* SPDX-License-Identifier: GPL-2.0-only */
/* Publications as bytes: see publication_code.h. */
#include "state/store/publication_code.h"

#include "state/store/severity.h"

#include "base/limits.h"

#include <string.h>

/* An instant that is known: differences of such ones do not overflow. */
static void code_instant(struct coder *c, int64_t *ts)
{
	code_ts(c, ts);
	if (*ts == INT64_MIN || *ts == INT64_MAX)
		coder_refuse(c, "an instant is missing");
}

/* ---- registries ---- */

/* The entries of a registry, structs that begin with their uint32_t id, and how many ids there are with them. Ids are
 * dense. Returns the number of entries; reading, all are zero. */
static uint32_t code_entries(struct coder *c, GArray *a, uint32_t *count, unsigned least)
{
	uint32_t before = *count, size = g_array_get_element_size(a), id;

	for (guint i = 0; coder_writes(c) && i < a->len; i++) {
		memcpy(&id, a->data + (size_t)i * size, sizeof id);
		*count = MAX(*count, id + 1);
	}
	code_u32(c, count);
	uint32_t n = code_len(c, a->len, least, size);
	if (coder_writes(c))
		return n;
	if (*count < before || *count - before > n)
		coder_refuse(c, "ids are missing");
	n = c->fault ? 0 : n;
	g_array_set_size(a, n);
	if (n)
		memset(a->data, 0, (size_t)n * size);
	return n;
}

static void code_names(struct coder *c, struct published_thread *t, const struct published_ids *ids)
{
	uint32_t n = t->info.n_names = code_len(c, t->info.n_names, 2, sizeof(struct name_at));

	if (!coder_writes(c))
		t->info.names = t->names = n ? g_new0(struct name_at, n) : NULL;
	for (uint32_t i = 0; i < n; i++) {
		code_ts(c, &t->names[i].since);
		code_id(c, &t->names[i].name, ids->string, false);
		if (i && t->names[i].since < t->names[i - 1].since)
			coder_refuse(c, "names are not in order");
	}
}

static void code_thread(struct coder *c, struct published_thread *t, const struct published_ids *ids)
{
	code_id(c, &t->id, ids->thread, false);
	code_id(c, &t->info.host, ids->host, false);
	code_i32(c, &t->info.tid);
	code_id(c, &t->info.process, ids->process, true);
	code_bool(c, &t->info.kernel);
	code_ts(c, &t->info.start_ns);
	code_ts(c, &t->info.exit_ns);
	code_names(c, t, ids);
}

static void code_process(struct coder *c, struct published_process *p, const struct published_ids *ids)
{
	code_id(c, &p->id, ids->process, false);
	code_id(c, &p->info.host, ids->host, false);
	code_i32(c, &p->info.pid);
	code_i32(c, &p->info.ppid);
	code_id(c, &p->info.leader, ids->thread, true);
	code_ts(c, &p->info.start_ns);
	code_ts(c, &p->info.exit_ns);
	for (unsigned i = 0; i < NS_N; i++)
		code_u32(c, &p->info.ns[i]);
	code_i32(c, &p->info.vpid);
	code_id(c, &p->info.hostname, ids->string, false);
	code_u32(c, &p->info.hostname_key);
}

static void code_file(struct coder *c, struct published_file *f, const struct published_ids *ids)
{
	uint8_t kind = (uint8_t)f->info.kind;

	code_id(c, &f->id, ids->file, false);
	code_id(c, &f->info.host, ids->host, false);
	code_below(c, &kind, FILE_KIND_N);
	code_id(c, &f->info.path, ids->string, false);
	f->info.kind = (enum file_kind)kind;
}

#define ENTRY(a, type, i) (&g_array_index(a, struct published_##type, i))

/* Counts come first: entries refer to each other. */
static void code_registries(struct coder *c, struct publication *p, struct published_ids *ids)
{
	uint32_t strings = code_entries(c, p->strings, &ids->string, 2);
	uint32_t hosts = code_entries(c, p->hosts, &ids->host, 3);
	uint32_t threads = code_entries(c, p->threads, &ids->thread, 8);
	uint32_t processes = code_entries(c, p->processes, &ids->process, 13);
	uint32_t files = code_entries(c, p->files, &ids->file, 4);

	for (uint32_t i = 0; i < strings; i++) {
		code_id(c, &ENTRY(p->strings, string, i)->id, ids->string, false);
		code_text(c, &ENTRY(p->strings, string, i)->s);
	}
	for (uint32_t i = 0; i < hosts; i++) {
		code_id(c, &ENTRY(p->hosts, host, i)->id, ids->host, false);
		code_text(c, &ENTRY(p->hosts, host, i)->info.name);
		code_text(c, &ENTRY(p->hosts, host, i)->info.boot);
	}
	for (uint32_t i = 0; i < threads; i++)
		code_thread(c, ENTRY(p->threads, thread, i), ids);
	for (uint32_t i = 0; i < processes; i++)
		code_process(c, ENTRY(p->processes, process, i), ids);
	for (uint32_t i = 0; i < files; i++)
		code_file(c, ENTRY(p->files, file, i), ids);
}

/* ---- spans ---- */

/* The texts of a publication's spans, each of which is written once. */
struct text_table {
	GHashTable *numbers;		/* writing: reftext -> its number + 1 */
	GPtrArray *texts;		/* reading: reftexts, referenced */
};

struct span_coder {
	struct coder *c;
	struct text_table texts;
	const struct published_ids *ids;
};

static void code_reftext(struct span_coder *x, const char **text)
{
	struct coder *c = x->c;
	uint32_t number = 0, len = 0;
	const char *bytes = "";

	if (coder_writes(c)) {
		number = GPOINTER_TO_UINT(g_hash_table_lookup(x->texts.numbers, *text));
		bytes = *text;
		len = (uint32_t)reftext_len(bytes);
	}
	code_u32(c, &number);
	if (!coder_writes(c) && number > x->texts.texts->len)
		coder_refuse(c, "a text is missing");
	if (!number)
		code_slice(c, &bytes, &len, LIMIT_TEXT_BYTES);
	if (coder_writes(c) && !number) {
		guint next = g_hash_table_size(x->texts.numbers) + 1;
		g_hash_table_insert(x->texts.numbers, (gpointer)*text, GUINT_TO_POINTER(next));
	} else if (!coder_writes(c) && (!number || c->fault)) {
		*text = reftext_new_len(bytes, c->fault ? 0 : len);
		g_ptr_array_add(x->texts.texts, (gpointer)reftext_ref(*text));
	} else if (!coder_writes(c)) {
		*text = reftext_ref(g_ptr_array_index(x->texts.texts, number - 1));
	}
}

static void code_thread_id(struct span_coder *x, uint32_t *id)
{
	code_id(x->c, id, x->ids->thread, true);
}

static void code_string_id(struct span_coder *x, uint32_t *id)
{
	code_id(x->c, id, x->ids->string, false);
}

static void code_file_id(struct span_coder *x, uint32_t *id)
{
	code_id(x->c, id, x->ids->file, true);
}

/* The number of elements of an array; reading, it is allocated, all zero. */
#define CODE_ARRAY(x, array, n, least) \
	G_STMT_START { \
		(n) = code_len((x)->c, n, least, sizeof *(array)); \
		if (!coder_writes((x)->c)) \
			(array) = (n) ? g_malloc0_n(n, sizeof *(array)) : NULL; \
	} G_STMT_END

static void code_wait(struct span_coder *x, struct span_wait *w)
{
	code_instant(x->c, &w->begin_ns);
	code_instant(x->c, &w->wake_ns);
	code_instant(x->c, &w->end_ns);
	code_thread_id(x, &w->thread);
	code_string_id(x, &w->call);
	code_file_id(x, &w->file);
	code_thread_id(x, &w->waker);
	code_string_id(x, &w->waker_irq);
	code_string_id(x, &w->waker_call);
	code_thread_id(x, &w->cpu_holder);
	code_thread_id(x, &w->stopper);
	code_u16(x->c, &w->cpu);
	code_below(x->c, &w->part, PART_N);
	code_bool(x->c, &w->lock);
	code_bool(x->c, &w->joined);
	code_u64(x->c, &w->arg);
}

static void code_link(struct span_coder *x, struct chain_link *l)
{
	code_instant(x->c, &l->begin_ns);
	code_instant(x->c, &l->end_ns);
	code_thread_id(x, &l->thread);
	code_string_id(x, &l->call);
	code_file_id(x, &l->file);
	code_thread_id(x, &l->waker);
	code_string_id(x, &l->waker_irq);
	code_thread_id(x, &l->cpu_holder);
	code_below(x->c, &l->part, PART_N);
	code_u8(x->c, &l->depth);
	code_bool(x->c, &l->on_cpu);
	code_bool(x->c, &l->mixed);
}

static void code_annotations(struct span_coder *x, struct span *s)
{
	CODE_ARRAY(x, s->annotations, s->n_annotations, 5);
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		code_instant(x->c, &s->annotations[i].ts);
		code_reftext(x, &s->annotations[i].event);
		code_thread_id(x, &s->annotations[i].thread);
		code_bool(x->c, &s->annotations[i].is_note);
		code_below(x->c, &s->annotations[i].severity, SEVERITY_END);
	}
	CODE_ARRAY(x, s->tags, s->n_tags, 4);
	for (uint32_t i = 0; i < s->n_tags; i++) {
		code_instant(x->c, &s->tags[i].ts);
		code_reftext(x, &s->tags[i].key);
		code_reftext(x, &s->tags[i].val);
		code_bool(x->c, &s->tags[i].is_int);
	}
	uint32_t n_links = (uint32_t)span_n_links(s);
	CODE_ARRAY(x, s->links, n_links, 11);
	code_bool(x->c, &s->is_late);
	s->is_late &= n_links > 0;
	s->n_links = n_links - s->is_late;
	for (uint32_t i = 0; i < n_links; i++) {
		code_instant(x->c, &s->links[i].out_ns);
		code_instant(x->c, &s->links[i].in_ns);
		code_u64(x->c, &s->links[i].trace_id);
		code_u64(x->c, &s->links[i].span_id);
		code_reftext(x, &s->links[i].name);
		code_ns(x->c, &s->links[i].every_ns);
		code_ns(x->c, &s->links[i].ran_ns);
		code_ns(x->c, &s->links[i].runnable_ns);
		code_ns(x->c, &s->links[i].blocked_ns);
		code_thread_id(x, &s->links[i].cpu_holder);
		code_bool(x->c, &s->links[i].unsure);
	}
}

static void code_calls(struct span_coder *x, struct span *s)
{
	CODE_ARRAY(x, s->calls, s->n_calls, 6);
	for (uint32_t i = 0; i < s->n_calls; i++) {
		code_string_id(x, &s->calls[i].name);
		code_u32(x->c, &s->calls[i].count);
		code_u32(x->c, &s->calls[i].errors);
		code_file_id(x, &s->calls[i].file);
		code_i64(x->c, &s->calls[i].total_ns);
		code_i64(x->c, &s->calls[i].max_ns);
	}
	CODE_ARRAY(x, s->slow, s->n_slow, 6);
	for (uint32_t i = 0; i < s->n_slow; i++) {
		code_instant(x->c, &s->slow[i].begin_ns);
		code_i64(x->c, &s->slow[i].duration_ns);
		code_i64(x->c, &s->slow[i].ret);
		code_string_id(x, &s->slow[i].name);
		code_file_id(x, &s->slow[i].file);
		code_thread_id(x, &s->slow[i].thread);
		code_below(x->c, &s->slow[i].wait, CALL_WAIT_N);
	}
	code_u32(x->c, &s->n_slow_more);
}

static void code_runqueue(struct span_coder *x, struct span *s)
{
	bool has = s->runqueue != NULL;
	uint32_t n = has ? s->runqueue->n : 0;

	code_bool(x->c, &has);
	if (!has)
		return;
	n = code_len(x->c, n, 2, sizeof s->runqueue->top[0]);
	if (!coder_writes(x->c))
		s->runqueue = g_malloc0(sizeof *s->runqueue + n * sizeof s->runqueue->top[0]);
	struct span_runqueue *r = s->runqueue;
	r->n = n;
	code_i64(x->c, &r->idle_ns);
	code_i64(x->c, &r->unknown_ns);
	code_i64(x->c, &r->more_ns);
	code_u32(x->c, &r->n_more);
	for (uint32_t i = 0; i < n; i++) {
		code_thread_id(x, &r->top[i].thread);
		code_i64(x->c, &r->top[i].ns);
	}
}

static void code_identity(struct span_coder *x, struct span *s)
{
	struct coder *c = x->c;
	uint8_t kind = (uint8_t)s->kind, state = (uint8_t)s->state;

	code_u64(c, &s->trace_id);
	code_u64(c, &s->span_id);
	code_u64(c, &s->parent_id);
	code_below(c, &kind, SPAN_SERVER + 1);
	code_below(c, &state, SPAN_PARTIAL + 1);
	code_reftext(x, &s->name);
	code_reftext(x, &s->service);
	code_reftext(x, &s->ip);
	code_u32(c, &s->port);
	code_id(c, &s->host, x->ids->host, true);
	code_thread_id(x, &s->thread);
	code_i32(c, &s->tid);
	code_i32(c, &s->pid);
	code_u32(c, &s->errors);
	code_instant(c, &s->begin_ns);
	code_instant(c, &s->end_ns);
	if (s->begin_ns > s->end_ns)
		coder_refuse(c, "a span ends before it begins");
	s->kind = (enum span_kind)kind;
	s->state = (enum span_state)state;
}

static void code_span(struct span_coder *x, struct span *s)
{
	struct coder *c = x->c;

	code_identity(x, s);
	code_i64(c, &s->self_ns);
	for (unsigned i = 0; i < PART_N; i++)
		code_i64(c, &s->part[i]);
	code_i64(c, &s->disk_queue_ns);
	code_bool(c, &s->disk_queue_known);
	code_bool(c, &s->lost);
	code_annotations(x, s);
	CODE_ARRAY(x, s->waits, s->n_waits, 14);
	for (uint32_t i = 0; i < s->n_waits; i++)
		code_wait(x, &s->waits[i]);
	code_u32(c, &s->n_waits_more);
	code_calls(x, s);
	CODE_ARRAY(x, s->chain, s->n_chain, 12);
	for (uint32_t i = 0; i < s->n_chain; i++)
		code_link(x, &s->chain[i]);
	code_runqueue(x, s);
}

/* Reads a span that has the memory of one that was published. */
static struct span *read_span(struct span_coder *x)
{
	struct span read = { 0 };

	code_span(x, &read);
	struct span *s = span_pack(&read);
	g_free(read.annotations);
	g_free(read.tags);
	g_free(read.links);
	g_free(read.waits);
	g_free(read.calls);
	g_free(read.slow);
	g_free(read.chain);
	g_free(read.runqueue);
	return s;
}

static void unref_text(gpointer text)
{
	reftext_unref(text);
}

static void code_spans(struct coder *c, struct publication *p, const struct published_ids *ids)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(unref_text);
	struct span_coder x = { c, { numbers, texts }, ids };
	uint32_t n = code_len(c, p->spans->len, 32, sizeof(struct span) + sizeof(struct published_span));

	for (uint32_t i = 0; i < n && !c->fault; i++) {
		struct published_span *s = coder_writes(c) ? ENTRY(p->spans, span, i) : NULL;
		uint32_t slot = s ? s->slot : 0;
		code_u32(c, &slot);
		if (s)
			code_span(&x, s->span);
		else
			publication_add_span(p, slot, read_span(&x));
	}
}

/* ---- totals ---- */

static void code_completeness(struct coder *c, struct completeness *t)
{
	uint64_t *const numbers[] = { &t->lost_events, &t->lost_packets, &t->damaged, &t->provisional, &t->late,
				      &t->lost_cpus, &t->reordered_pairs };

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		code_u64(c, numbers[i]);
	code_u32(c, &t->touched);
	code_u32(c, &t->corrected);
	code_i64(c, &t->lost_ns);
	code_i64(c, &t->reordered_max_ns);
}

static void code_classes(struct coder *c, GPtrArray *classes)
{
	uint32_t n = code_len(c, classes->len, 1, sizeof(char *));

	for (uint32_t i = 0; i < n; i++) {
		char *name = coder_writes(c) ? g_ptr_array_index(classes, i) : NULL;
		code_text(c, &name);
		if (!coder_writes(c))
			g_ptr_array_add(classes, name);
	}
}

void publication_code(struct coder *c, struct publication *p, struct published_ids *ids)
{
	code_registries(c, p, ids);
	code_classes(c, p->classes);
	code_bool(c, &p->has_coverage);
	code_ts(c, &p->first_ns);
	code_ts(c, &p->last_ns);
	code_u64(c, &p->n_events);
	code_completeness(c, &p->completeness);
	code_u64(c, &p->notes.alone);
	code_u64(c, &p->notes.over);
	code_spans(c, p, ids);
}

/* ---- seconds ---- */

static void code_totals(struct coder *c, struct second_totals *t)
{
	int64_t *const times[] = { &t->run_ns, &t->known_ns, &t->unknown_ns, &t->wakeup_p99_ns, &t->disk_p99_ns,
				   &t->slowest_call_ns, &t->waiting_ns };

	for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
		code_i64(c, times[i]);
	code_bool(c, &t->has_calls);
	code_bool(c, &t->has_unpaired);
	code_u8(c, &t->counts);
}

void second_code_outline(struct coder *c, struct second **s)
{
	struct second read = { 0 }, *x = coder_writes(c) ? *s : &read;
	uint64_t bytes = x->bytes;

	code_instant(c, &x->begin_ns);
	code_instant(c, &x->end_ns);
	code_instant(c, &x->sums_end_ns);
	code_u32(c, &x->version);
	code_ts(c, &x->fold_ns);
	code_completeness(c, &x->completeness);
	code_totals(c, &x->totals);
	code_u64(c, &bytes);
	if (x->begin_ns > x->end_ns || bytes > LIMIT_SLICE_BYTES)
		coder_refuse(c, "a second is wrong");
	x->bytes = (size_t)bytes;
	if (!coder_writes(c))
		*s = c->fault ? NULL : second_outline(&read);
}

static void code_slow_calls(struct coder *c, struct second *s, const struct published_ids *ids)
{
	uint32_t n = code_len(c, s->n_slow, 9, sizeof(struct slow_call));

	if (!coder_writes(c) && n > SLOW_LIST_N * LIMIT_SECOND_CALLS)
		coder_refuse(c, "there are too many slow calls");
	if (!coder_writes(c)) {
		s->n_slow = c->fault ? 0 : n;
		s->slow = g_new0(struct slow_call, s->n_slow);
	}
	for (uint32_t i = 0; i < s->n_slow; i++) {
		struct slow_call *x = &s->slow[i];
		code_id(c, &x->thread, ids->thread, false);
		code_id(c, &x->name, ids->string, false);
		code_u32(c, &x->cpu);
		code_id(c, &x->file, ids->file, true);
		code_instant(c, &x->begin_ns);
		code_i64(c, &x->duration_ns);
		code_i64(c, &x->ret);
		code_below(c, &x->wait, CALL_WAIT_N);
		code_below(c, &x->list, SLOW_LIST_N);
		if (i && !slow_call_precedes(&x[-1], x))
			coder_refuse(c, "slow calls are not in order");
	}
}

void second_code_cells(struct coder *c, struct second *s, const struct published_ids *ids)
{
	const struct cell_ids cell_ids = { ids->thread, ids->host, ids->string, ids->file, NULL };

	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		struct cell_table t = { 0 };
		if (coder_writes(c))
			t.cells = second_cells(s, k, &t.n);
		cell_table_code(c, &t, cell_layout(k), 0, &cell_ids);
		if (!coder_writes(c))
			second_set_cells(s, &t, k);
	}
	code_slow_calls(c, s, ids);
	hist_code(c, &s->wakeup);
	if (coder_writes(c))
		return;
	if (c->fault)
		second_empty(s);
	else
		second_fill(s);
}
