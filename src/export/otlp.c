/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans as OTLP/JSON: one ExportTraceServiceRequest on one line. A file may have several such lines. Resources are
 * processes of services.
 *
 * Ids are hexadecimal and 64-bit integers are decimal text, as the OTLP/JSON specification requires. A span id must
 * be unique: the server half of a shared span gets a new id, and is the parent of the spans below it.
 */
#include "export/spans.h"

#include "base/each.h"
#include "base/json_write.h"
#include "state/store/severity.h"
#include "views/common.h"
#include "views/spans.h"

#include <string.h>

/* Numbers from opentelemetry-proto. */
enum { KIND_INTERNAL = 1, KIND_SERVER, KIND_CLIENT, KIND_PRODUCER, KIND_CONSUMER };
enum { STATUS_ERROR = 2 };

struct resource {
	const char *service;
	uint32_t host;
	int32_t pid;
	GString *spans;
};

struct otlp {
	const struct export_set *set;
	GArray *resources;		/* struct resource */
	GHashTable *by_key;		/* -> spans of the resource */
	GHashTable *used;		/* uint64_t: span ids in use in the trace */
	uint64_t *ids;			/* id of each node */
};

static void clear_resource(void *v)
{
	struct resource *r = v;
	g_string_free(r->spans, TRUE);
}

static GString *resource_of(struct otlp *o, const struct span *s)
{
	g_autofree char *key = g_strdup_printf("%p %u %d", s->service, s->host, s->pid);
	GString *known = g_hash_table_lookup(o->by_key, key);
	if (known)
		return known;
	struct resource r = { s->service, s->host, s->pid, g_string_new(NULL) };
	g_array_append_val(o->resources, r);
	g_hash_table_insert(o->by_key, g_steal_pointer(&key), r.spans);
	return r.spans;
}

/* ---- values ---- */

static void begin_attribute(struct json_out *b, const char *key)
{
	json_open(b, NULL, '{');
	json_put_text(b, "key", key);
	json_open(b, "value", '{');
}

static void end_attribute(struct json_out *b)
{
	json_close(b, '}');
	json_close(b, '}');
}

static void add_text_attribute(struct json_out *b, const char *key, const char *text)
{
	begin_attribute(b, key);
	json_put_text(b, "stringValue", text);
	end_attribute(b);
}

static void add_int_attribute(struct json_out *b, const char *key, int64_t n)
{
	begin_attribute(b, key);
	json_put_decimal(b, "intValue", n);
	end_attribute(b);
}

/* OTLP does not allow attributes without a key. */
static void add_attributes(struct json_out *b, GArray *attributes)
{
	json_open(b, "attributes", '[');
	ARRAY_EACH(const struct attribute, f, attributes) {
		if (*f->key && f->is_int)
			add_int_attribute(b, f->key, f->n);
		else if (*f->key)
			add_text_attribute(b, f->key, f->text);
	}
	json_close(b, ']');
	g_array_unref(attributes);
}

static void add_events(struct json_out *b, const struct span *s)
{
	json_open(b, "events", '[');
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		const struct span_annotation *a = &s->annotations[i];
		if (attributes_is_core(s, a))
			continue;
		json_open(b, NULL, '{');
		json_put_decimal(b, "timeUnixNano", MAX(a->ts, 0));
		json_put_text(b, "name", a->event);
		if (a->severity != SEVERITY_NONE) {
			json_open(b, "attributes", '[');
			add_text_attribute(b, ATTRIBUTE_SEVERITY, severity_word(a->severity));
			add_int_attribute(b, ATTRIBUTE_SEVERITY_NUMBER, a->severity);
			json_close(b, ']');
		}
		json_close(b, '}');
	}
	json_close(b, ']');
}

/* The span that sent the message may be in another trace, or not in the trace at all. */
static void add_span_links(struct json_out *b, const struct span *s)
{
	if (!s->n_links)
		return;
	json_open(b, "links", '[');
	for (uint32_t i = 0; i < s->n_links; i++) {
		const struct span_link *l = &s->links[i];
		g_autofree char *trace_id = g_strdup_printf("%016x%016" G_GINT64_MODIFIER "x", 0, l->trace_id);
		json_open(b, NULL, '{');
		json_put_text(b, "traceId", trace_id);
		json_put_hex(b, "spanId", l->span_id);
		json_open(b, "attributes", '[');
		add_text_attribute(b, "blktop.link", l->name);
		add_int_attribute(b, "blktop.link_out_ns", l->out_ns);
		add_int_attribute(b, "blktop.link_in_ns", l->in_ns);
		if (l->unsure)
			add_text_attribute(b, "blktop.link_state", "unsure");
		json_close(b, ']');
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void add_status(struct json_out *b, const struct span *s)
{
	const char *message = attributes_tag(s, "error");
	json_open(b, "status", '{');
	if (s->errors) {
		json_put_int(b, "code", STATUS_ERROR);
		if (message && *message)
			json_put_text(b, "message", message);
	}
	json_close(b, '}');
}

/* ---- spans ---- */

static int kind_of(const struct span *s)
{
	static const int kinds[] = {
		[SPAN_LOCAL] = KIND_INTERNAL, [SPAN_CLIENT] = KIND_CLIENT, [SPAN_SERVER] = KIND_SERVER,
	};
	const char *kind = attributes_tag(s, TAG_KIND);
	return g_strcmp0(kind, "PRODUCER") == 0 ? KIND_PRODUCER :
		g_strcmp0(kind, "CONSUMER") == 0 ? KIND_CONSUMER : kinds[s->kind];
}

/* Writes to the spans of the resource of `s`. */
static struct json_out writer_of(struct otlp *o, const struct span *s)
{
	GString *out = resource_of(o, s);
	return (struct json_out){ .out = out, .follows = out->len > 0 };
}

static void begin_span(struct json_out *b, const struct span *s, uint64_t id, uint64_t parent)
{
	g_autofree char *trace_id = export_trace_id(s, 32);
	json_open(b, NULL, '{');
	json_put_text(b, "traceId", trace_id);
	json_put_hex(b, "spanId", id);
	if (parent)
		json_put_hex(b, "parentSpanId", parent);
}

/* Times of a trace may be before 1970; those of OTLP may not. */
static void add_times(struct json_out *b, int64_t begin_ns, int64_t end_ns)
{
	json_put_decimal(b, "startTimeUnixNano", MAX(begin_ns, 0));
	json_put_decimal(b, "endTimeUnixNano", MAX(end_ns, 0));
}

/* id: the exported id of the span. Ids of waits and calls derive from the span's own id, even if its half is exported
 * with another one. */
static void append_kernel(struct otlp *o, const struct span *s, uint64_t id,
			  const struct kernel_span *k)
{
	const struct timeline *tl = o->set->h->tl;
	struct json_out text = writer_of(o, s), *b = &text;
	g_autofree char *name = kernel_span_name(tl, k);
	begin_span(b, s, k->id, k->parent_id == s->span_id ? id : k->parent_id);
	json_put_text(b, "name", name);
	json_put_int(b, "kind", KIND_INTERNAL);
	add_times(b, k->begin_ns, k->end_ns);
	add_attributes(b, attributes_of_kernel(tl, k));
	json_close(b, '}');
}

static void append_span(struct otlp *o, const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	int parent = t->nodes[node].parent;
	struct json_out text = writer_of(o, s), *b = &text;

	begin_span(b, s, o->ids[node], parent >= 0 ? o->ids[parent] : export_parent_id(s));
	json_put_text(b, "name", s->name);
	json_put_int(b, "kind", kind_of(s));
	add_times(b, s->begin_ns, s->end_ns);
	add_attributes(b, attributes_of_span(o->set->h, t, node));
	add_events(b, s);
	add_span_links(b, s);
	add_status(b, s);
	json_close(b, '}');
	if (!o->set->with_kernel)
		return;
	g_autoptr(GArray) kernel = kernel_spans(t, node);
	for (guint i = 0; i < kernel->len; i++)
		append_kernel(o, s, o->ids[node], &g_array_index(kernel, struct kernel_span, i));
}

static void number_nodes(struct otlp *o, const struct tree *t)
{
	g_hash_table_remove_all(o->used);
	o->ids = g_new(uint64_t, t->n + 1);
	for (int i = 0; i < t->n; i++) {
		const struct span *s = t->nodes[i].span;
		uint64_t id = s->span_id ? s->span_id : derived_id(s, 0);
		for (uint64_t salt = 1; g_hash_table_contains(o->used, &id); salt++)
			id = derived_id(s, salt);
		o->ids[i] = id;
		g_hash_table_add(o->used, &o->ids[i]);
	}
}

/* ---- the request ---- */

static void append_resource(struct json_out *b, const struct otlp *o, const struct resource *r)
{
	const struct timeline *tl = o->set->h->tl;
	const struct host_info *host = timeline_host(tl, r->host);
	json_open(b, NULL, '{');
	json_open(b, "resource", '{');
	json_open(b, "attributes", '[');
	add_text_attribute(b, "service.name", *r->service ? r->service : "unknown_service");
	if (host && *host->name)
		add_text_attribute(b, "host.name", host->name);
	if (r->pid >= 0)
		add_int_attribute(b, "process.pid", r->pid);
	json_close(b, ']');
	json_close(b, '}');
	json_open(b, "scopeSpans", '[');
	json_open(b, NULL, '{');
	json_open(b, "scope", '{');
	json_put_text(b, "name", "blktop");
	json_put_text(b, "version", BLKTOP_VERSION);
	json_close(b, '}');
	json_open(b, "spans", '[');
	g_string_append_len(b->out, r->spans->str, (gssize)r->spans->len);
	json_close(b, ']');
	json_close(b, '}');
	json_close(b, ']');
	json_close(b, '}');
}

void spans_otlp(GString *out, const struct export_set *set)
{
	g_autoptr(GArray) resources = g_array_new(FALSE, FALSE, sizeof(struct resource));
	struct json_out w = { .out = out };
	struct otlp o = { .set = set, .resources = resources,
			  .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
			  .used = g_hash_table_new(g_int64_hash, g_int64_equal) };

	g_array_set_clear_func(resources, clear_resource);
	for (guint k = 0; k < set->n; k++) {
		const struct export_trace *trace = &set->traces[k];
		number_nodes(&o, trace->tree);
		for (int i = 0; i < trace->tree->n; i++)
			if (trace->wanted[i])
				append_span(&o, trace->tree, i);
		g_hash_table_remove_all(o.used);
		g_clear_pointer(&o.ids, g_free);
	}
	json_open(&w, NULL, '{');
	json_open(&w, "resourceSpans", '[');
	for (guint i = 0; i < resources->len; i++)
		append_resource(&w, &o, &g_array_index(resources, struct resource, i));
	g_string_append(out, "]}\n");
	g_hash_table_unref(o.by_key);
	g_hash_table_unref(o.used);
}
