/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads one span of Zipkin's JSON: see zipkin_read.h. A member that is missing or has the wrong type is ignored.
 * Only the ids are required.
 */
#include "export/zipkin_read.h"

#include "base/json_write.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "export/attributes.h"
#include "views/spans.h"

#include <gio/gio.h>
#include <string.h>

#define MOST_ID 32
#define MOST_US (INT64_MAX / NS_PER_US / 2)	/* so that begin + duration does not overflow */

void read_span_free(void *read)
{
	struct read_span *r = read;
	if (!r)
		return;
	span_unref(r->span);
	g_free(r->remote_service);
	g_free(r->remote_ip);
	g_clear_pointer(&r->attributes, g_hash_table_unref);
	g_free(r);
}

const char *read_attribute(const struct read_span *r, const char *key)
{
	return r->attributes ? g_hash_table_lookup(r->attributes, key) : NULL;
}

bool read_attribute_int(const struct read_span *r, const char *key, int64_t *ret)
{
	const char *text = read_attribute(r, key);
	gint64 n;
	if (!text || !g_ascii_string_to_signed(text, 10, INT64_MIN, INT64_MAX, &n, NULL))
		return false;
	*ret = n;
	return true;
}

/* ---- members ---- */

/* An integer from `least` to `most`. Some programs write integers with a decimal point. */
static bool int_member(struct json_value o, const char *key, int64_t least, int64_t most, int64_t *ret)
{
	struct json_value v = json_member(o, key);
	double d;
	if (!json_int(v, ret)) {
		if (!json_real(v, &d) || !(d >= (double)least && d <= (double)most))
			return false;
		*ret = (int64_t)d;
	}
	return *ret >= least && *ret <= most;
}

/* Parses up to 32 hexadecimal digits into the lower 16 and those above. 0: not an id. */
static uint64_t parse_id(const char *text, size_t n, uint64_t *ret_upper)
{
	char upper[17] = "", lower[17] = "";
	size_t above = n > 16 ? n - 16 : 0;

	*ret_upper = 0;
	if (n < 1 || n > MOST_ID)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!g_ascii_isxdigit(text[i]))
			return 0;
	memcpy(upper, text, above);
	memcpy(lower, text + above, n - above);
	*ret_upper = g_ascii_strtoull(upper, NULL, 16);
	return g_ascii_strtoull(lower, NULL, 16);
}

static uint64_t id_member(struct json_value o, const char *key, uint64_t *ret_upper)
{
	g_autofree char *text = json_text_member(o, key);
	return parse_id(text, text ? strlen(text) : 0, ret_upper);
}

/* ---- tags ---- */

/* Tags that the exporter derives again after an import. The waker is an attribute only for waits. For spans, the
 * waker and the number of waits remain tags: the exporter derives them from waits, which the file may not contain. */
static bool is_attribute(const char *key, bool is_kernel)
{
	static const char *const exported[] = {
		"blktop.why", "blktop.neighbour", "blktop.neighbour_ns", TAG_TRACE_ID, TAG_KIND, NULL
	};
	return g_str_has_prefix(key, "blktop.") && !g_strv_contains(exported, key) &&
	       (is_kernel || (strcmp(key, "blktop.waker") && strcmp(key, TAG_WAITS)));
}

struct tag_list {
	GArray *tags;			/* struct span_tag */
	GHashTable *places;		/* a key -> its index + 1 */
};

/* Adds a tag, or changes its value: of several with the same key the last one counts. */
static void add_tag(struct tag_list *list, struct span *s, const char *key, const char *val)
{
	struct span_tag tag = { .key = reftext_new(key), .val = reftext_new(val) };
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(list->places, tag.key));
	if (place) {
		struct span_tag *old = &g_array_index(list->tags, struct span_tag, place - 1);
		reftext_unref(old->key);
		reftext_unref(old->val);
		*old = tag;
		return;
	}
	s->errors += !g_ascii_strcasecmp(key, "error");
	g_array_append_val(list->tags, tag);
	g_hash_table_insert(list->places, (gpointer)tag.key, GUINT_TO_POINTER(list->tags->len));
}

/* The value of a tag as text. Some programs write numbers and booleans instead of text. NULL: another type. */
static char *tag_text(struct json_value value)
{
	g_autoptr(GString) number = NULL;
	int64_t n;
	double d;
	if (json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE))
		return g_strdup(json_is(value, JSON_TRUE) ? "true" : "false");
	if (!json_is(value, JSON_NUMBER))
		return json_text(value);
	struct json_out w = { .out = number = g_string_new(NULL) };
	if (json_int(value, &n))
		json_put_int(&w, NULL, n);
	else if (json_real(value, &d))
		json_put_real(&w, NULL, d);
	return g_strdup(number->str);
}

static void read_tag(struct read_span *r, struct tag_list *list, const char *key, const char *text, bool is_kernel)
{
	if (is_attribute(key, is_kernel))
		g_hash_table_insert(r->attributes, g_strdup(key), g_strdup(text));
	else
		add_tag(list, r->span, key, text);
	if (strcmp(key, TAG_WAITS) == 0)
		r->n_waits = (uint32_t)MIN(g_ascii_strtoull(text, NULL, 10), LIMIT_SPAN_WAITS);
}

static void read_tags(struct read_span *r, struct json_value o)
{
	struct json_value object = json_member(o, "tags"), key, value = JSON_NONE;
	g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL);
	struct tag_list list = { g_array_new(FALSE, TRUE, sizeof(struct span_tag)), places };
	bool is_kernel = json_is(json_member(object, "blktop.kernel"), JSON_STRING);

	while (json_next_member(object, &key, &value)) {
		g_autofree char *name = json_text(key), *text = tag_text(value);
		if (name && text)
			read_tag(r, &list, name, text, is_kernel);
	}
	if (r->upper) {
		char whole[33];
		g_snprintf(whole, sizeof whole, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
			   r->upper, r->trace);
		add_tag(&list, r->span, TAG_TRACE_ID, whole);
	}
	r->span->n_tags = list.tags->len;
	r->span->tags = (struct span_tag *)g_array_free(list.tags, FALSE);
}

/* ---- identity ---- */

static void read_ids(struct read_span *r, struct json_value o)
{
	struct span *s = r->span;
	uint64_t unused;

	r->trace = s->trace_id = id_member(o, "traceId", &r->upper);
	r->id = s->span_id = id_member(o, "id", &unused);
	s->parent_id = id_member(o, "parentId", &unused);
	if (s->parent_id == s->span_id)
		s->parent_id = 0;	/* as in Zipkin's own model: a span is never its own parent */
}

static char *ip_of(struct json_value endpoint)
{
	char *ip = json_text_member(endpoint, "ipv4");
	return ip ? ip : json_text_member(endpoint, "ipv6");
}

static void read_endpoints(struct read_span *r, struct json_value o)
{
	struct json_value local = json_member(o, "localEndpoint"), remote = json_member(o, "remoteEndpoint");
	g_autofree char *service = json_text_member(local, "serviceName"), *ip = ip_of(local);
	int64_t port;

	r->span->service = reftext_new(service);
	r->span->ip = reftext_new(ip);
	if (int_member(local, "port", 1, 65535, &port))
		r->span->port = (uint32_t)port;
	r->remote_service = json_text_member(remote, "serviceName");
	r->remote_ip = ip_of(remote);
	if (int_member(remote, "port", 1, 65535, &port))
		r->remote_port = (uint32_t)port;
}

/* Zipkin's kinds for messages have no equivalent here, so they are stored in a tag. */
static enum span_kind read_kind(struct read_span *r, struct json_value o)
{
	g_autofree char *kind = json_text_member(o, "kind");
	struct span *s = r->span;

	if (!kind)
		return SPAN_LOCAL;
	if (strcmp(kind, "PRODUCER") == 0 || strcmp(kind, "CONSUMER") == 0) {
		s->tags = g_renew(struct span_tag, s->tags, s->n_tags + 1);
		s->tags[s->n_tags++] = (struct span_tag){ .key = reftext_new(TAG_KIND),
							  .val = reftext_new(kind) };
	}
	return strcmp(kind, "CLIENT") == 0 || strcmp(kind, "PRODUCER") == 0 ? SPAN_CLIENT :
		strcmp(kind, "SERVER") == 0 || strcmp(kind, "CONSUMER") == 0 ? SPAN_SERVER :
		SPAN_LOCAL;
}

static void read_thread(struct import_names *names, struct read_span *r)
{
	struct span *s = r->span;
	int64_t pid;

	s->host = import_host(names, read_attribute(r, "blktop.host"));
	if (read_attribute_int(r, "blktop.pid", &pid) && pid >= 0 && pid <= INT32_MAX)
		s->pid = (int32_t)pid;
	s->thread = import_thread(names, s->host, read_attribute(r, "blktop.thread"), s->pid, &s->tid);
}

/* ---- when ---- */

/* Sets nanosecond times that blktop wrote, if they match Zipkin's microseconds. */
static void read_exact_times(struct read_span *r)
{
	int64_t begin, duration;
	struct span *s = r->span;
	const char *state = read_attribute(r, "blktop.state");

	if (!r->has_time || !read_attribute_int(r, "blktop.begin_ns", &begin) ||
	    !read_attribute_int(r, "blktop.duration_ns", &duration) || duration < 0 ||
	    duration > MOST_US * NS_PER_US || time_floor(begin, NS_PER_US) != s->begin_ns)
		return;
	int64_t us = MAX((duration + NS_PER_US - 1) / NS_PER_US, 1);
	if (r->has_end && us * NS_PER_US != span_duration(s))
		return;
	s->begin_ns = begin;
	s->end_ns = begin + duration;
	for (int i = SPAN_COMPLETE; state && i <= SPAN_PARTIAL; i++)
		if (strcmp(state, span_state_name[i]) == 0)
			s->state = i;
}

static void read_times(struct read_span *r, struct json_value o)
{
	struct span *s = r->span;
	int64_t us;

	r->has_time = int_member(o, "timestamp", 1, MOST_US, &us);
	s->begin_ns = s->end_ns = r->has_time ? us * NS_PER_US : 0;
	r->has_end = r->has_time && int_member(o, "duration", 0, MOST_US, &us);
	if (r->has_end)
		s->end_ns += us * NS_PER_US;
	s->state = r->has_end ? SPAN_COMPLETE : SPAN_PARTIAL;
	read_exact_times(r);
}

/* ---- annotations ---- */

static void add_annotation(GArray *all, const char *event, int64_t ts, uint32_t thread)
{
	struct span_annotation a = { .ts = ts, .event = reftext_new(event), .thread = thread };
	g_array_append_val(all, a);
}

/* The instant of an annotation. Truncation to microseconds may have moved it before the beginning of the span. */
static int64_t exact_instant(const struct span *s, int64_t ns)
{
	if (ns < s->begin_ns && ns == time_floor(s->begin_ns, NS_PER_US))
		return s->begin_ns;
	return ns;
}

static int compare_annotations(const void *va, const void *vb)
{
	const struct span_annotation *a = va, *b = vb;
	return ORDER(a->ts, b->ts);
}

/* Reads annotations. The kind's core annotations follow from beginning and end, except in partial spans written by
 * blktop. If a span has no time, the annotations give it. */
static void read_annotations(struct read_span *r, struct json_value o)
{
	static const char *const core[][2] = {
		[SPAN_CLIENT] = { "cs", "cr" }, [SPAN_SERVER] = { "sr", "ss" },
	};
	struct json_value list = json_member(o, "annotations"), a = JSON_NONE;
	GArray *all = g_array_new(FALSE, TRUE, sizeof(struct span_annotation));
	struct span *s = r->span;

	while (json_is(list, JSON_ARRAY) && json_next(list, &a)) {
		g_autofree char *value = json_text_member(a, "value");
		int64_t us;
		if (!value || !int_member(a, "timestamp", 1, MOST_US, &us))
			continue;
		s->errors += !g_ascii_strcasecmp(value, "error");
		add_annotation(all, value, exact_instant(s, us * NS_PER_US), ID_NONE);
	}
	g_array_sort(all, compare_annotations);
	if (!r->has_time && all->len) {
		s->begin_ns = g_array_index(all, struct span_annotation, 0).ts;
		s->end_ns = g_array_index(all, struct span_annotation, all->len - 1).ts;
		r->has_time = true;
	}
	bool is_stated = s->state == SPAN_PARTIAL && read_attribute(r, "blktop.state");
	if (s->kind != SPAN_LOCAL && r->has_time && !is_stated) {
		add_annotation(all, core[s->kind][0], s->begin_ns, s->thread);
		if (s->state == SPAN_COMPLETE)
			add_annotation(all, core[s->kind][1], s->end_ns, s->thread);
		g_array_sort(all, compare_annotations);
	}
	s->n_annotations = all->len;
	s->annotations = (struct span_annotation *)g_array_free(all, FALSE);
}

/* Sets the parts if they sum to the whole duration. */
static void read_parts(struct read_span *r)
{
	struct span *s = r->span;
	int64_t left = span_duration(s), self;

	for (int p = 0; p < PART_N; p++) {
		g_autofree char *key = g_strdup_printf("blktop.part.%s_ns", part_info[p].id);
		int64_t ns = 0;
		if (read_attribute_int(r, key, &ns) && (ns < 0 || ns > left))
			break;
		s->part[p] = ns;
		left -= ns;
	}
	if (left != 0) {
		memset(s->part, 0, sizeof s->part);
		s->part[PART_UNKNOWN] = span_duration(s);
	}
	r->has_self = read_attribute_int(r, "blktop.self_ns", &self) && self >= 0 &&
		      self <= span_duration(s);
	if (r->has_self)
		s->self_ns = self;
}

static void read_object(struct import_names *names, struct read_span *r, struct json_value o)
{
	g_autofree char *name = json_text_member(o, "name");

	r->span->name = reftext_new(name);
	read_tags(r, o);
	r->span->kind = read_kind(r, o);
	read_endpoints(r, o);
	read_thread(names, r);
	read_times(r, o);
	read_annotations(r, o);
	for (uint32_t i = 0; i < r->span->n_tags; i++)
		r->span->tags[i].ts = r->span->begin_ns;
	read_parts(r);
	/* Frees the tags of ordinary spans to save memory: only waits and calls need them. */
	if (!read_attribute(r, "blktop.kernel"))
		g_clear_pointer(&r->attributes, g_hash_table_unref);
}

/* ---- a look ahead ---- */

static int64_t instant_of(struct json_value o, int64_t *ret_duration)
{
	int64_t begin;

	if (!int_member(o, "timestamp", 1, MOST_US, &begin))
		return TIME_UNKNOWN;
	if (!int_member(o, "duration", 0, MOST_US, ret_duration))
		*ret_duration = 0;
	return begin;
}

bool zipkin_peek(struct json_value o, struct zipkin_peek *ret)
{
	int64_t duration = 0;
	uint64_t unused;

	ret->trace = id_member(o, "traceId", &unused);
	if (!ret->trace)
		return false;
	ret->begin_ns = instant_of(o, &duration);
	if (ret->begin_ns == TIME_UNKNOWN) {
		ret->end_ns = TIME_UNKNOWN;
		return true;
	}
	ret->begin_ns *= NS_PER_US;
	ret->end_ns = ret->begin_ns + duration * NS_PER_US;
	return true;
}

/* ---- all of it ---- */

struct read_span *zipkin_read(struct import_names *names, const char *text, size_t len,
			      GError **error)
{
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_value o = { text, tokens, 0 };
	struct json_problem why;

	if (!json_scan(text, len, tokens, &why)) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "byte %" G_GSIZE_FORMAT ": %s", why.at + 1,
			    why.text);
		return NULL;
	}
	struct read_span *r = g_new0(struct read_span, 1);
	r->span = span_new();
	r->attributes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	read_ids(r, o);
	if (!r->span->trace_id || !r->span->span_id) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "no valid %s",
			    r->span->trace_id ? "id" : "traceId");
		read_span_free(r);
		return NULL;
	}
	read_object(names, r, o);
	return r;
}
