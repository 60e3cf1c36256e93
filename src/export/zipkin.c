/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans as Zipkin v2 JSON: a list of flat spans, each half of a shared one its own,
 * the explanation as tags. Times are microseconds, ids hexadecimal text.
 */
#include "base/timefmt.h"
#include "export/json.h"
#include "export/spans.h"
#include "views/common.h"
#include "views/spans.h"

#include <string.h>

static void add_endpoint(JsonBuilder *b, const struct timeline *tl, const struct span *s)
{
	g_autofree char *service = json_valid_text(timeline_string(tl, s->service));
	g_autofree char *lower = g_utf8_strdown(service, -1);
	const char *ip = timeline_string(tl, s->ip);
	json_builder_set_member_name(b, "localEndpoint");
	json_builder_begin_object(b);
	if (*lower)
		json_add_text(b, "serviceName", lower);
	if (g_hostname_is_ip_address(ip))
		json_add_text(b, strchr(ip, ':') ? "ipv6" : "ipv4", ip);
	if (s->port > 0 && s->port <= 65535)
		json_add_int(b, "port", s->port);
	json_builder_end_object(b);
}

static bool is_core(const char *event)
{
	static const char *const core[] = { "cs", "cr", "sr", "ss" };
	for (size_t i = 0; i < G_N_ELEMENTS(core); i++)
		if (strcmp(event, core[i]) == 0)
			return true;
	return false;
}

/* Core annotations are the span's kind and times already; the rest must be unique. */
static void add_annotations(JsonBuilder *b, const struct timeline *tl, const struct span *s)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	json_builder_set_member_name(b, "annotations");
	json_builder_begin_array(b);
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		const struct span_annotation *a = &s->annotations[i];
		const char *event = timeline_string(tl, a->event);
		int64_t us = time_floor(a->ts, NS_PER_US) / NS_PER_US;
		if (s->kind != SPAN_LOCAL && is_core(event))
			continue;
		if (!g_hash_table_add(seen, g_strdup_printf("%" G_GINT64_FORMAT " %s", us, event)))
			continue;
		json_builder_begin_object(b);
		json_add_int(b, "timestamp", us);
		json_add_text(b, "value", event);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

/* Tags by name, so that none is there twice: the last one wins. */
static void set_tag(GHashTable *tags, GPtrArray *order, const char *key, char *value)
{
	g_autofree char *name = json_valid_text(key);
	if (!g_hash_table_contains(tags, name))
		g_ptr_array_add(order, g_strdup(name));
	g_hash_table_insert(tags, g_steal_pointer(&name), value);
}

static char *ns_text(int64_t ns)
{
	return g_strdup_printf("%" G_GINT64_FORMAT, ns);
}

static void set_waker(GHashTable *tags, GPtrArray *order, const struct timeline *tl,
		      const struct span *s)
{
	const struct span_wait *w = why_longest_wait(s, PART_N);
	if (!w || w->part == PART_PREEMPTED)
		return;
	if (w->waker != ID_NONE)
		set_tag(tags, order, "blktop.waker", thread_label_new(tl, w->waker, w->wake_ns));
	else if (*timeline_string(tl, w->waker_irq))
		set_tag(tags, order, "blktop.waker", g_strdup(timeline_string(tl, w->waker_irq)));
}

static void set_explanation(GHashTable *tags, GPtrArray *order, struct history *h,
			    const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	const struct host_info *host = timeline_host(h->tl, s->host);
	struct why why;
	why_find(h, t, node, &why);
	set_tag(tags, order, "blktop.why", why_sentence(h, t, node, &why));
	for (int p = 0; p < PART_N; p++) {
		g_autofree char *key = g_strdup_printf("blktop.part.%s_ns", part_info[p].id);
		if (s->part[p])
			set_tag(tags, order, key, ns_text(s->part[p]));
	}
	set_tag(tags, order, "blktop.begin_ns", ns_text(s->begin_ns));
	set_tag(tags, order, "blktop.duration_ns", ns_text(span_duration(s)));
	set_tag(tags, order, "blktop.self_ns", ns_text(s->self_ns));
	set_tag(tags, order, "blktop.state", g_strdup(span_state_name[s->state]));
	if (s->thread != ID_NONE)
		set_tag(tags, order, "blktop.thread", thread_label_new(h->tl, s->thread, s->end_ns));
	if (s->pid >= 0)
		set_tag(tags, order, "blktop.pid", ns_text(s->pid));
	if (host && *host->name)
		set_tag(tags, order, "blktop.host", g_strdup(host->name));
	set_waker(tags, order, h->tl, s);
}

static void add_tags(JsonBuilder *b, struct history *h, const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	g_autoptr(GHashTable) tags = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autoptr(GPtrArray) order = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t i = 0; i < s->n_tags; i++)
		set_tag(tags, order, timeline_string(h->tl, s->tags[i].key),
			g_strdup(timeline_string(h->tl, s->tags[i].val)));
	set_explanation(tags, order, h, t, node);
	json_builder_set_member_name(b, "tags");
	json_builder_begin_object(b);
	for (guint i = 0; i < order->len; i++)
		json_add_text(b, order->pdata[i], g_hash_table_lookup(tags, order->pdata[i]));
	json_builder_end_object(b);
}

/* Is this the server half of a span whose client half is there as well? */
static bool is_shared(const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	return s->kind == SPAN_SERVER && tree_find(t, s->span_id, SPAN_CLIENT) >= 0;
}

static void append_span(GString *out, struct history *h, const struct tree *t, int node)
{
	static const char *const kind[] = {
		[SPAN_LOCAL] = NULL, [SPAN_CLIENT] = "CLIENT", [SPAN_SERVER] = "SERVER",
	};
	const struct span *s = t->nodes[node].span;
	JsonBuilder *b = json_builder_new();
	json_builder_begin_object(b);
	json_add_hex(b, "traceId", s->trace_id);
	json_add_hex(b, "id", s->span_id);
	if (s->parent_id)
		json_add_hex(b, "parentId", s->parent_id);
	json_add_text(b, "name", timeline_string(h->tl, s->name));
	if (kind[s->kind])
		json_add_text(b, "kind", kind[s->kind]);
	json_add_int(b, "timestamp", time_floor(s->begin_ns, NS_PER_US) / NS_PER_US);
	/* Of an open span nobody knows it; whoever has sent none yet waits for it. */
	if (s->state != SPAN_OPEN)
		json_add_int(b, "duration", MAX((span_duration(s) + NS_PER_US - 1) / NS_PER_US, 1));
	if (is_shared(t, node)) {
		json_builder_set_member_name(b, "shared");
		json_builder_add_boolean_value(b, TRUE);
	}
	add_endpoint(b, h->tl, s);
	add_annotations(b, h->tl, s);
	add_tags(b, h, t, node);
	json_builder_end_object(b);
	json_append(out, b);
}

void zipkin_append(GString *out, struct history *h, const struct export_trace *trace, bool first)
{
	for (int i = 0; i < trace->tree->n; i++) {
		if (!trace->wanted[i])
			continue;
		g_string_append(out, first ? "\n" : ",\n");
		append_span(out, h, trace->tree, i);
		first = false;
	}
}
