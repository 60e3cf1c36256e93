/* SPDX-License-Identifier: GPL-2.0-only */
/* Forwarding of spans: see forward.h. */
#include "send/forward.h"

#include "base/fail.h"
#include "base/intmap.h"
#include "base/timefmt.h"

#include <gio/gio.h>
#include <string.h>

#define INVALID G_IO_ERROR, G_IO_ERROR_INVALID_DATA

/* The model closes a trace 2 s after its root. Without a root, spans of other hosts may come for longer. */
#define SETTLES_NS INT64_C(2000000000)
#define SETTLES_ROOTLESS_NS INT64_C(10000000000)
#define FEW_SEEN 1000

struct forward {
	struct forward_options o;
	struct outbox *outbox;
	struct intmap seen;		/* traces that were sent or not chosen -> number of their spans then */
	int64_t closed_ns;		/* of the last look */
	uint64_t chosen, late;		/* spans; those of traces that had been sent */
};

/* ---- options ---- */

static bool parse_part(const char *part, struct forward_rule *ret, GError **error)
{
	g_autoptr(GError) why = NULL;
	ret->is_given = true;
	if (g_str_equal(part, "failed")) {
		ret->failed = true;
		return true;
	}
	if (g_str_has_prefix(part, "slow ")) {
		const char *duration = part + strlen("slow ");
		return timefmt_parse_duration(duration + strspn(duration, " "), &ret->slow_ns, &why) ||
		       fail(error, INVALID, "%s", why->message);
	}
	if (g_str_has_prefix(part, "1 in ") &&
	    g_ascii_string_to_unsigned(part + strlen("1 in "), 10, 1, G_MAXUINT32, &ret->one_in, NULL))
		return true;
	return fail(error, INVALID, "'%s' is none of: slow DURATION, failed, 1 in N", part);
}

bool forward_rule_parse(const char *text, struct forward_rule *ret, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(text, ";", -1);
	*ret = (struct forward_rule){ .slow_ns = INT64_MAX };
	for (char **part = parts; *part; part++)
		if (*g_strstrip(*part) && !parse_part(*part, ret, error))
			return false;
	return ret->is_given || fail(error, INVALID, "%s", "the rule is empty");
}

bool forward_url_parse(const char *text, struct http_url *ret, enum span_format *ret_format, GError **error)
{
	if (!http_url_parse(text, ret, error))
		return false;
	g_autofree char *path = g_strndup(ret->path, strcspn(ret->path, "?"));
	bool is_otlp = g_str_has_suffix(path, "/v1/traces");
	*ret_format = is_otlp ? SPAN_OTLP : SPAN_ZIPKIN;
	return is_otlp || g_str_has_suffix(path, "/api/v2/spans") ||
	       fail(error, INVALID, "the path '%s' does not end in /api/v2/spans (Zipkin) or /v1/traces (OTLP)", path);
}

/* ---- choice ---- */

static bool is_sampled(uint64_t id, uint64_t one_in)
{
	id = (id ^ id >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	id = (id ^ id >> 27) * UINT64_C(0x94d049bb133111eb);
	return (id ^ id >> 31) % one_in == 0;
}

static bool is_chosen(const struct forward_rule *rule, const struct trace_info *t)
{
	return !rule->is_given || (rule->failed && t->errors) || span_duration(t->root) >= rule->slow_ns ||
	       (rule->one_in && is_sampled(t->trace_id, rule->one_in));
}

static bool is_settled(const struct trace_info *t, int64_t closed_ns)
{
	return closed_ns == INT64_MAX ||
	       closed_ns - t->end_ns >= (t->has_root ? SETTLES_NS : SETTLES_ROOTLESS_NS);
}

/* Adds the trace to `due` if it is to be sent now. */
static void look(struct forward *f, const struct trace_info *t, GArray *due)
{
	uint32_t seen = intmap_get(&f->seen, t->trace_id);
	bool chosen = is_chosen(&f->o.rule, t);
	intmap_set(&f->seen, t->trace_id, t->n_spans);
	if (seen == INTMAP_NONE && chosen)
		g_array_append_val(due, t->trace_id);
	else if (chosen && t->n_spans > seen)
		f->late += t->n_spans - seen;
}

static bool is_due(const struct trace_info *t, int64_t closed_ns, int64_t from_ns, int64_t to_ns)
{
	return !t->open && t->end_ns >= from_ns && t->end_ns < to_ns && is_settled(t, closed_ns);
}

/* Forgets traces that the timeline has not. */
static void forget(struct forward *f, const struct timeline *tl)
{
	struct intmap left = { 0 };
	if (f->seen.n < FEW_SEEN + 2 * timeline_n_traces(tl))
		return;
	for (size_t i = 0; i < timeline_n_traces(tl); i++) {
		uint64_t id = timeline_trace(tl, i)->trace_id;
		uint32_t n = intmap_get(&f->seen, id);
		if (n != INTMAP_NONE)
			intmap_set(&left, id, n);
	}
	intmap_clear(&f->seen);
	f->seen = left;
}

/* ---- sending ---- */

static bool wait_for_room(struct forward *f)
{
	while (!f->o.live && !outbox_has_room(f->outbox))
		if (!f->o.wait(f->o.data))
			return false;
	return true;
}

static bool send_traces(struct forward *f, const struct timeline *tl, const GArray *due)
{
	struct span_place at = { 0 };
	const uint64_t *ids = (const uint64_t *)(const void *)due->data;
	unsigned n;
	while (at.trace < due->len) {
		if (!wait_for_room(f))
			return false;
		char *text = span_export_next(tl, ids, due->len, &at, LIMIT_FORWARD_SPANS, f->o.with_kernel,
					      f->o.format, &n);
		if (!text)
			break;
		f->chosen += n;
		outbox_push(f->outbox, text, n);
	}
	return true;
}

struct forward *forward_start(const struct forward_options *o)
{
	struct forward *f = g_new0(struct forward, 1);
	f->o = *o;
	f->closed_ns = INT64_MIN;
	f->outbox = poster_start(&f->o.url);
	return f;
}

bool forward_update(struct forward *f, const struct timeline *tl, int64_t closed_ns, int64_t from_ns, int64_t to_ns)
{
	g_autoptr(GArray) due = g_array_new(false, false, sizeof(uint64_t));
	if (closed_ns <= f->closed_ns)
		return true;
	f->closed_ns = closed_ns;
	for (size_t i = 0; i < timeline_n_traces(tl); i++) {
		const struct trace_info *t = timeline_trace(tl, i);
		if (is_due(t, closed_ns, from_ns, to_ns))
			look(f, t, due);
	}
	forget(f, tl);
	return send_traces(f, tl, due);
}

bool forward_evicting(struct forward *f, const struct timeline *tl, const uint64_t *trace_ids, size_t n,
		      int64_t from_ns, int64_t to_ns)
{
	g_autoptr(GArray) due = g_array_new(false, false, sizeof(uint64_t));
	for (size_t i = 0; i < n; i++) {
		const struct trace_info *t = timeline_find_trace(tl, trace_ids[i]);
		if (t && is_due(t, INT64_MAX, from_ns, to_ns))
			look(f, t, due);
	}
	return send_traces(f, tl, due);
}

struct outbox *forward_outbox(struct forward *f)
{
	return f->outbox;
}

struct forward_counts forward_count(const struct forward *f)
{
	struct forward_counts c = { .chosen = f->chosen + f->late };
	outbox_get_counts(f->outbox, &c.sent, &c.dropped);
	c.dropped += f->late;
	return c;
}

struct forward_counts forward_free(struct forward *f)
{
	struct forward_counts c = forward_count(f);
	c.dropped = outbox_free(f->outbox) + f->late;
	c.sent = c.chosen - c.dropped;
	intmap_clear(&f->seen);
	g_free(f);
	return c;
}
