/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans as Zipkin v2 JSON: a flat list, with each half of a shared span as an item. The explanation is in tags.
 * Times are microseconds, ids are hexadecimal text.
 */
#include "base/each.h"
#include "base/json_write.h"
#include "base/timefmt.h"
#include "export/spans.h"
#include "views/common.h"
#include "views/spans.h"

#include <string.h>

static void add_endpoint(struct json_out *b, const char *member, const struct span *s)
{
	g_autofree char *service = json_valid_text(s->service);
	g_autofree char *lower = g_utf8_strdown(service, -1);
	json_open(b, member, '{');
	if (*lower)
		json_put_text(b, "serviceName", lower);
	if (g_hostname_is_ip_address(s->ip))
		json_put_text(b, strchr(s->ip, ':') ? "ipv6" : "ipv4", s->ip);
	if (s->port > 0 && s->port <= 65535)
		json_put_int(b, "port", s->port);
	json_close(b, '}');
}

/* Leaves out core annotations, which Zipkin derives from kind and times, unless the span is partial. The others must
 * be unique. */
static void add_annotations(struct json_out *b, const struct span *s)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	json_open(b, "annotations", '[');
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		const struct span_annotation *a = &s->annotations[i];
		int64_t us = time_floor(a->ts, NS_PER_US) / NS_PER_US;
		if (attributes_is_core(s, a) && s->state != SPAN_PARTIAL)
			continue;
		g_autofree char *value = span_annotation_text(a);
		if (!g_hash_table_add(seen, g_strdup_printf("%" G_GINT64_FORMAT " %s", us, value)))
			continue;
		json_open(b, NULL, '{');
		json_put_int(b, "timestamp", us);
		json_put_text(b, "value", value);
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void add_tags(struct json_out *b, GArray *attributes)
{
	json_open(b, "tags", '{');
	ARRAY_EACH(const struct attribute, f, attributes)
		json_put_text(b, f->key, f->text);
	json_close(b, '}');
	g_array_unref(attributes);
}

/* 32 digits if the imported id had 32; blktop itself uses the lower 16. */
static void add_trace_id(struct json_out *b, const struct span *s)
{
	g_autofree char *id = export_trace_id(s, 16);
	json_put_text(b, "traceId", id);
}

static void add_kind(struct json_out *b, const struct span *s)
{
	static const char *const kinds[] = {
		[SPAN_LOCAL] = NULL, [SPAN_CLIENT] = "CLIENT", [SPAN_SERVER] = "SERVER",
	};
	static const char *const messaging[] = { "PRODUCER", "CONSUMER", NULL };
	const char *kind = attributes_tag(s, TAG_KIND);
	if (kind && g_strv_contains(messaging, kind))
		json_put_text(b, "kind", kind);
	else if (kinds[s->kind])
		json_put_text(b, "kind", kinds[s->kind]);
}

/* Microseconds: the beginning is rounded down and the duration up, so that the duration is never 0. */
static void add_times(struct json_out *b, int64_t begin_ns, int64_t duration_ns, bool has_ended)
{
	json_put_int(b, "timestamp", time_floor(begin_ns, NS_PER_US) / NS_PER_US);
	if (has_ended)
		json_put_int(b, "duration", MAX((duration_ns + NS_PER_US - 1) / NS_PER_US, 1));
}

static void append_span(struct json_out *b, struct history *h, const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	int other = export_other_half(t, node);
	json_newline(b);
	json_open(b, NULL, '{');
	add_trace_id(b, s);
	json_put_hex(b, "id", s->span_id);
	uint64_t parent = export_parent_id(s);
	if (parent)
		json_put_hex(b, "parentId", parent);
	json_put_text(b, "name", s->name);
	add_kind(b, s);
	/* The duration of an open span is unknown. Zipkin waits for a later report if there is no duration. */
	add_times(b, s->begin_ns, span_duration(s), s->state != SPAN_OPEN);
	if (other >= 0 && s->kind == SPAN_SERVER)
		json_put_bool(b, "shared", true);
	add_endpoint(b, "localEndpoint", s);
	if (other >= 0)
		add_endpoint(b, "remoteEndpoint", t->nodes[other].span);
	add_annotations(b, s);
	add_tags(b, attributes_of_span(h, t, node));
	json_close(b, '}');
}

static void append_kernel(struct json_out *b, const struct timeline *tl, const struct span *s,
			  const struct kernel_span *k)
{
	g_autofree char *name = kernel_span_name(tl, k);
	json_newline(b);
	json_open(b, NULL, '{');
	add_trace_id(b, s);
	json_put_hex(b, "id", k->id);
	json_put_hex(b, "parentId", k->parent_id);
	json_put_text(b, "name", name);
	add_times(b, k->begin_ns, k->end_ns - k->begin_ns, true);
	add_endpoint(b, "localEndpoint", s);
	add_tags(b, attributes_of_kernel(tl, k));
	json_close(b, '}');
}

static void append_node(struct json_out *b, const struct export_set *set, const struct tree *t, int node)
{
	append_span(b, set->h, t, node);
	if (!set->with_kernel)
		return;
	g_autoptr(GArray) kernel = kernel_spans(t, node);
	for (guint i = 0; i < kernel->len; i++)
		append_kernel(b, set->h->tl, t->nodes[node].span, &g_array_index(kernel, struct kernel_span, i));
}

void spans_zipkin(GString *out, const struct export_set *set)
{
	struct json_out w = { .out = out };
	json_open(&w, NULL, '[');
	for (guint k = 0; k < set->n; k++) {
		const struct export_trace *trace = &set->traces[k];
		for (int i = 0; i < trace->tree->n; i++)
			if (trace->wanted[i])
				append_node(&w, set, trace->tree, i);
	}
	g_string_append(out, "\n]\n");
}
