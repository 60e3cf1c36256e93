/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of metrics: see metric.h. */
#include "views/metric_private.h"

#include "base/limits.h"
#include "views/common.h"
#include "views/needs.h"
#include "views/registry.h"

#include <string.h>

#define EVENT_PREFIX "field:"

const char *const metric_field_words[] = {
#define FIELD_WORD(id, kind, title, width, help) #id,
	METRIC_FIELD_LIST(FIELD_WORD)
	NULL
};

G_DEFINE_QUARK(blk-metric-error-quark, blk_metric_error)

/* ---- the list ---- */

/* What users call the kinds of cells, and the events they need. */
static const char *const of_switches[] = { "sched_switch", NULL },
	*const of_calls[] = { NEED_SYSCALLS, NEED_CALLERS, NULL },
	*const of_locks[] = { "sched_switch", NEED_WAKEUPS, NEED_SYSCALLS, NEED_CALLERS, NULL },
	*const of_wakeups[] = { "sched_switch", NEED_WAKEUPS, NULL },
	*const of_interrupts[] = { "irq_handler_entry", "irq_softirq_entry|softirq_entry", NULL },
	*const of_counts[] = { NEED_COUNTS, NULL },
	*const of_block[] = { "block_rq_issue", "block_rq_complete", "block_rq_insert", NULL },
	*const of_network[] = { "net_dev_xmit|net_dev_queue", "net_if_receive_skb|netif_receive_skb", NULL },
	*const of_peers[] = { "net_dev_queue", "net_if_receive_skb", NULL },
	*const of_spans[] = { "zipkin:timestamp", NULL }, *const of_nothing[] = { NULL };

static const struct { const char *name; const char *const *needs; } kinds[] = {
	[CELL_thread] = { "thread", of_switches }, [CELL_call] = { "call", of_calls },
	[CELL_wait] = { "wait", of_calls }, [CELL_file] = { "file", of_calls }, [CELL_cpu] = { "cpu", of_switches },
	[CELL_sched] = { "sched", of_wakeups }, [CELL_ran] = { "ran", of_switches },
	[CELL_irq] = { "interrupt", of_interrupts },
	[CELL_stolen] = { "interrupted", of_interrupts }, [CELL_loss] = { "loss", of_nothing },
	[CELL_waker] = { "wakeup", of_wakeups }, [CELL_count] = { "counter", of_counts },
	[CELL_dev] = { "device", of_block }, [CELL_dev_user] = { "block", of_block },
	[CELL_net] = { "network", of_network }, [CELL_flow] = { "peer", of_peers },
	[CELL_event] = { "event", of_nothing }, [CELL_lock] = { "lock", of_locks },
};

/* What the fields of a cell mean, where their names alone do not say it. */
static const struct { uint32_t kinds; enum metric_field field; const char *id; } meanings[] = {
	{ READS(call), METRIC_BY_call, "name" },
	{ READS(file), METRIC_BY_file, "file" },
	{ READS(dev) | READS(dev_user) | READS(net) | READS(flow), METRIC_BY_device, "name" },
	{ READS(cpu) | READS(sched) | READS(ran) | READS(irq) | READS(loss), METRIC_BY_cpu, "cpu" },
	{ READS(sched), METRIC_BY_priority, "prio" },
	{ READS(irq) | READS(stolen), METRIC_BY_interrupt, "name" },
	{ READS(waker), METRIC_BY_interrupt, "irq" },
	{ READS(count) | READS(event), METRIC_BY_event, "name" },
	{ READS(waker), METRIC_BY_waker, "waker" },
	{ READS(flow), METRIC_BY_peer, "flow" },
};

const struct cell_field *metric_cell_field(const struct cell_layout *l, const char *id)
{
	for (unsigned i = 0; i < l->n_fields; i++)
		if (g_str_equal(l->fields[i].id, id))
			return &l->fields[i];
	return NULL;
}

const struct cell_field *metric_meant(enum cell_kind kind, enum metric_field field)
{
	for (size_t i = 0; i < G_N_ELEMENTS(meanings); i++)
		if (meanings[i].field == field && meanings[i].kinds & 1u << kind)
			return metric_cell_field(cell_layout(kind), meanings[i].id);
	return NULL;
}

static const char *const *field_needs(enum cell_kind kind, const struct cell_field *figure)
{
	/* The time of threads follows from switches, their other figures from system calls. */
	return kind == CELL_thread && !g_str_equal(figure->id, "part") ? of_calls : kinds[kind].needs;
}

static enum metric_field element_field(const struct cell_field *figure)
{
	return g_str_equal(figure->element(0), "user") ? METRIC_BY_part : METRIC_BY_direction;
}

static uint32_t fields_of(enum cell_kind kind, const struct cell_field *figure)
{
	const struct cell_layout *l = cell_layout(kind);
	bool thread = metric_cell_field(l, "thread") != NULL;
	uint32_t fields = thread ? OF_THREAD | FIELD(host) : metric_cell_field(l, "host") ? FIELD(host) : 0;
	for (unsigned f = 0; f < METRIC_FIELD_N; f++)
		fields |= metric_meant(kind, f) ? 1u << f : 0;
	return fields | (figure->element ? 1u << element_field(figure) : 0);
}

/* "call.latency": without the unit, which the metric has. */
static char *name_of(enum cell_kind kind, const struct cell_field *figure)
{
	if (kind == CELL_thread && g_str_equal(figure->id, "part"))
		return g_strdup("thread.time");
	size_t n = strlen(figure->id);
	n -= g_str_has_suffix(figure->id, "_ns") ? 3 : 0;
	return g_strdup_printf("%s.%.*s", kinds[kind].name, (int)n, figure->id);
}

static GArray *list_new(void)
{
	const uint32_t fields = FIELD(host) | OF_THREAD | FIELD(service) | FIELD(span) | FIELD(operation) |
				FIELD(error) | FIELD(cause);
	static const struct { const char *id, *help; enum span_figure figure; bool parts; } spans[] = {
		{ "request.latency", "duration of traces, by their root spans", REQUEST_LATENCY, false },
		{ "request.time", "what the threads of root spans did in a request, by part", REQUEST_TIME, true },
		{ "span.latency", "duration of spans, of all phases", SPAN_LATENCY, false },
		{ "span.self", "duration of spans, without the time of their children", SPAN_SELF, false },
		{ "span.time", "what the threads of spans did in a span, by part", SPAN_TIME, true },
	};
	GArray *list = g_array_new(false, false, sizeof(struct metric));
	for (size_t i = 0; i < G_N_ELEMENTS(spans); i++) {
		struct metric m = {
			.id = spans[i].id, .help = spans[i].help, .unit = VALUE_NS, .has_values = true,
			.fields = fields | (spans[i].parts ? FIELD(part) : 0), .needs = of_spans, .kind = OF_SPANS,
			.figure = spans[i].figure,
		};
		g_array_append_val(list, m);
	}
	for (enum cell_kind kind = 0; kind < CELL_KIND_N; kind++) {
		const struct cell_layout *l = cell_layout(kind);
		for (unsigned i = l->n_keys; i < l->n_fields; i++) {
			const struct cell_field *f = &l->fields[i];
			if (f->role != CELL_IS_SUM && f->role != CELL_IS_HIST)
				continue;	/* of several cells nothing can be said */
			struct metric m = {
				.id = name_of(kind, f), .help = f->help, .unit = f->unit,
				.has_values = f->role == CELL_IS_HIST, .fields = fields_of(kind, f),
				.needs = field_needs(kind, f), .reads = 1u << kind, .kind = (int)kind, .figure = i,
			};
			if (kind == CELL_thread)
				m.reads |= READS(file);		/* without it their parts are wrong */
			m.fields |= kind == CELL_call && (m.has_values || g_str_equal(m.id, "call.busy")) ?
				FIELD(waited) : 0;
			m.call_fields = g_str_equal(m.id, "call.latency") ? OF_CALLS : 0;
			m.fields |= m.call_fields;
			g_array_append_val(list, m);
		}
	}
	return list;
}

static const GArray *list(void)
{
	static gsize all;
	if (g_once_init_enter(&all))
		g_once_init_leave(&all, (gsize)list_new());
	return (const GArray *)all;
}

size_t metrics_n(void)
{
	return list()->len;
}

const struct metric *metric_at(size_t i)
{
	return i < list()->len ? &g_array_index(list(), struct metric, i) : NULL;
}

bool metric_is_of_spans(const struct metric *m)
{
	return m->kind == OF_SPANS;
}

bool metric_is_recorded(const struct metric *m, const struct timeline *tl)
{
	if (m->kind == OF_SPANS && timeline_facts(tl)->has_spans)
		return true;
	for (const char *const *need = m->needs; need && *need; need++)
		if (!view_has_need(tl, *need))
			return false;
	return true;
}

static struct text_candidate metric_candidate(size_t i, const void *data)
{
	const struct metric *m = metric_at(i);
	return m ? (struct text_candidate){ .name = m->id, .meaning = m->help } : (struct text_candidate){ 0 };
}

/* field:EVENT.FIELD, where the event's name may have dots and colons. It lives for ever, as the others do. */
static const struct metric *event_metric(const char *id, GError **error)
{
	const char *name = id + strlen(EVENT_PREFIX), *dot = strrchr(name, '.');
	if (!dot || dot == name || !dot[1] || strlen(id) > LIMIT_RULE_LINE_BYTES) {
		g_set_error(error, BLK_METRIC_ERROR, 0, "'%s': write field:EVENT.FIELD, as field:myapp:request.bytes",
			    id);
		return NULL;
	}
	static GHashTable *all;			/* id -> struct metric */
	if (!all)
		all = g_hash_table_new(g_str_hash, g_str_equal);
	struct metric *m = g_hash_table_lookup(all, id);
	if (m)
		return m;
	g_autofree char *event = g_strndup(name, (gsize)(dot - name)), *field = g_strconcat("arg", dot, NULL);
	m = g_new(struct metric, 1);
	const char **needs = g_new0(const char *, 2);
	needs[0] = g_intern_string(event);
	*m = (struct metric){
		.id = g_intern_string(id), .help = "an integer field of events", .unit = VALUE_COUNT,
		.has_values = true, .fields = FIELD(host) | OF_THREAD | FIELD(cpu) | FIELD(event),
		.call_fields = ~UINT32_C(0),
		.needs = needs, .reads = READS(thread), .kind = OF_EVENTS, .event = g_intern_string(event),
		.event_field = g_intern_string(field),
	};
	g_hash_table_insert(all, (gpointer)m->id, m);
	return m;
}

const struct metric *metric_find(const char *id, GError **error)
{
	if (g_str_has_prefix(id, EVENT_PREFIX))
		return event_metric(id, error);
	for (size_t i = 0; i < metrics_n(); i++)
		if (g_str_equal(metric_at(i)->id, id))
			return metric_at(i);
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_printf(text, "no metric '%s'", id);
	const char *like = text_suggest(id, metric_candidate, NULL);
	if (like)
		g_string_append_printf(text, "; did you mean %s?", like);
	g_set_error(error, BLK_METRIC_ERROR, 0, "%s (blktop --list-metrics has all)", text->str);
	return NULL;
}
