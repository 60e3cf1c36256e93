/* SPDX-License-Identifier: GPL-2.0-only */
/* Bookmarks of a trace: see bookmarks.h. */
#include "views/bookmarks.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "base/text.h"
#include "views/logview.h"
#include "views/narrowing.h"

#include <string.h>

#define FORMAT_LINE "blktop bookmarks 1"
#define VALUE_PREFIX "is."	/* of the keys of values of a metric's fields */

struct bookmark *bookmark_new(const struct view *view)
{
	struct bookmark *b = g_new0(struct bookmark, 1);

	b->step_ns = 1;
	b->a_ns = b->b_ns = b->cursor_ns = b->low_ns = TIME_UNKNOWN;
	b->split = -1;
	b->view = view;
	b->by = view->default_by;
	b->narrow = (struct view_query)VIEW_QUERY_INIT;
	return b;
}

void bookmark_free(struct bookmark *b)
{
	if (!b)
		return;
	g_free((char *)b->narrow.service);
	g_free((char *)b->narrow.operation);
	for (int f = 0; f < METRIC_FIELD_N; f++)
		g_free(b->value[f]);
	g_free(b->host);
	g_free(b->filter);
	g_free(b->note);
	g_free(b);
}

static void free_bookmark(gpointer b)
{
	bookmark_free(b);
}

bool bookmark_narrow(struct bookmark *b, const struct view_query *q)
{
	bool all = true;

	for (size_t i = 0; i < N_NARROWINGS; i++) {
		const struct narrowing *n = &narrowings[i];
		g_autofree char *text = narrowing_is_set(n, q) ? narrowing_text(n, q) : NULL;

		if (text)
			all = narrowing_set(n, &b->narrow, text, NULL) && all;
		else
			all = all && (n->only == ONLY_HOST || !narrowing_is_set(n, q));
	}
	return all;
}

static bool is_same_narrowing(const struct view_query *a, const struct view_query *b)
{
	for (size_t i = 0; i < N_NARROWINGS; i++) {
		const struct narrowing *n = &narrowings[i];
		g_autofree char *x = narrowing_is_set(n, a) ? narrowing_text(n, a) : NULL;
		g_autofree char *y = narrowing_is_set(n, b) ? narrowing_text(n, b) : NULL;

		if (g_strcmp0(x, y))
			return false;
	}
	return true;
}

static bool is_same_metric(const struct bookmark *a, const struct bookmark *b)
{
	for (int f = 0; f < METRIC_FIELD_N; f++)
		if (g_strcmp0(a->value[f], b->value[f]))
			return false;
	return a->metric == b->metric;
}

bool bookmark_is_same(const struct bookmark *a, const struct bookmark *b)
{
	return a->at_ns == b->at_ns && a->view == b->view && !g_strcmp0(a->host, b->host) &&
	       is_same_narrowing(&a->narrow, &b->narrow) && is_same_metric(a, b);
}

/* "request.latency by cause, operation=thumbnail" */
static void add_metric(GString *s, const struct bookmark *b)
{
	if (b->metric)
		g_string_append_printf(s, "%s%s%s%s", s->len ? ", " : "", b->metric->id, b->split >= 0 ? " by " : "",
				       b->split >= 0 ? metric_field_words[b->split] : "");
	for (int f = 0; f < METRIC_FIELD_N; f++) {
		g_autofree char *visible = b->value[f] ? text_visible(b->value[f]) : NULL;

		if (visible)
			g_string_append_printf(s, ", %s=%s", metric_field_words[f], visible);
	}
}

char *bookmark_where(const struct bookmark *b)
{
	g_autofree char *host = b->host ? text_visible(b->host) : NULL;
	GString *s = g_string_new(host);

	for (size_t i = 0; i < N_NARROWINGS; i++) {
		const struct narrowing *n = &narrowings[i];
		g_autofree char *text = narrowing_is_set(n, &b->narrow) ? narrowing_text(n, &b->narrow) : NULL;
		g_autofree char *visible = text ? text_visible(text) : NULL;

		if (visible)
			g_string_append_printf(s, "%s%s=%s", s->len ? ", " : "", n->name, visible);
	}
	add_metric(s, b);
	if (b->filter) {
		g_autofree char *filter = text_visible(b->filter);

		g_string_append_printf(s, "%sfilter %s", s->len ? ", " : "", filter);
	}
	return g_string_free(s, FALSE);
}

/* --- the text form --- */

/* Where an instant is in struct bookmark. */
static const struct { const char *key; size_t offset; } instants[] = {
	{ "at", offsetof(struct bookmark, at_ns) }, { "step", offsetof(struct bookmark, step_ns) },
	{ "a", offsetof(struct bookmark, a_ns) }, { "b", offsetof(struct bookmark, b_ns) },
	{ "cursor", offsetof(struct bookmark, cursor_ns) }, { "low", offsetof(struct bookmark, low_ns) },
};

static int64_t *instant_of(const struct bookmark *b, size_t i)
{
	return (int64_t *)(void *)((char *)b + instants[i].offset);
}

static void put_text(GString *s, const char *key, const char *value)
{
	/* All visible ASCII characters but '%', and UTF-8, stay as they are. */
	g_autofree char *escaped = value ?
		g_uri_escape_string(value, " !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~", TRUE) : NULL;

	if (escaped)
		g_string_append_printf(s, "\t%s=%s", key, escaped);
}

static void put_metric(GString *s, const struct bookmark *b)
{
	if (b->frame)
		g_string_append_printf(s, "\tframe=%" G_GINT64_MODIFIER "x", b->frame);
	put_text(s, "metric", b->metric ? b->metric->id : NULL);
	put_text(s, "split", b->split >= 0 ? metric_field_words[b->split] : NULL);
	for (int f = 0; f < METRIC_FIELD_N; f++) {
		g_autofree char *key = g_strconcat(VALUE_PREFIX, metric_field_words[f], NULL);

		put_text(s, key, b->value[f]);
	}
}

static void put_line(GString *s, const struct bookmark *b)
{
	for (size_t i = 0; i < G_N_ELEMENTS(instants); i++)
		if (*instant_of(b, i) != TIME_UNKNOWN)
			g_string_append_printf(s, "%s%s=%" G_GINT64_FORMAT, i ? "\t" : "", instants[i].key,
					       *instant_of(b, i));
	put_text(s, "view", b->view->id);
	put_text(s, "by", b->by != b->view->default_by ? view_by_words[b->by] : NULL);
	for (size_t i = 0; i < N_NARROWINGS; i++) {
		const struct narrowing *n = &narrowings[i];
		g_autofree char *text = narrowing_is_set(n, &b->narrow) ? narrowing_text(n, &b->narrow) : NULL;

		put_text(s, n->name, text);
	}
	put_metric(s, b);
	put_text(s, "host", b->host);
	put_text(s, "filter", b->filter);
	put_text(s, "note", b->note);
	g_string_append_c(s, '\n');
}

char *bookmarks_text(const GPtrArray *bookmarks, int64_t from_ns, int64_t to_ns)
{
	GString *s = g_string_new(FORMAT_LINE "\n");

	PTR_EACH(const struct bookmark, b, bookmarks)
		if (b->at_ns + b->step_ns > from_ns && b->at_ns < to_ns)
			put_line(s, b);
	return g_string_free(s, FALSE);
}

static bool set_by(struct bookmark *b, const char *word)
{
	for (int by = 0; by < BY_N; by++)
		if (!strcmp(view_by_words[by], word)) {
			b->by = (enum view_by)by;
			return b->by == b->view->default_by || view_has_by(b->view, b->by);
		}
	return false;
}

static bool set_instant(struct bookmark *b, const char *key, const char *value, bool *ret_valid)
{
	for (size_t i = 0; i < G_N_ELEMENTS(instants); i++)
		if (!strcmp(key, instants[i].key)) {
			gint64 ns = 0;

			*ret_valid = g_ascii_string_to_signed(value, 10, -TIME_MOST_NS, TIME_MOST_NS, &ns, NULL);
			*instant_of(b, i) = ns;
			return true;
		}
	return false;
}

/* The number of the metric's field with this name; -1: it has none, or only single calls have it. */
static int field_of(const struct metric *m, const char *name)
{
	for (int f = 0; m && f < METRIC_FIELD_N; f++)
		if (m->fields & ~m->call_fields & 1u << f && !strcmp(name, metric_field_words[f]))
			return f;
	return -1;
}

static bool set_value(struct bookmark *b, const char *name, const char *value)
{
	int f = field_of(b->metric, name);

	if (f < 0 || strlen(value) > LIMIT_TYPED_BYTES ||
	    (metric_field_kind(f) != VALUE_TEXT &&
	     !g_ascii_string_to_signed(value, 10, INT64_MIN, INT64_MAX, NULL, NULL)))
		return false;
	g_free(b->value[f]);
	b->value[f] = g_strdup(value);
	return true;
}

/* The metric is before what is about it. *ret_valid: the value can be used. false: the key is another one. */
static bool set_metric(struct bookmark *b, const char *key, const char *value, bool *ret_valid)
{
	bool is_value = g_str_has_prefix(key, VALUE_PREFIX);

	if (!strcmp(key, "frame"))
		*ret_valid = g_ascii_string_to_unsigned(value, 16, 1, UINT64_MAX, &b->frame, NULL);
	else if (!strcmp(key, "metric")) {
		b->metric = b->view->of_metric && !b->metric ? metric_find(value, NULL) : NULL;
		*ret_valid = b->metric && metric_has_durations(b->metric) && !b->metric->event;
	} else if (!strcmp(key, "split")) {
		b->split = field_of(b->metric, value);
		*ret_valid = b->split >= 0;
	} else if (is_value)
		*ret_valid = set_value(b, key + strlen(VALUE_PREFIX), value);
	else
		return false;
	return true;
}

/* Is the value that the key has in a line valid, and the key known? The view is known already. */
static bool set_field(struct bookmark *b, const char *key, char *value)
{
	const struct narrowing *n = narrowing_find(key, strlen(key));
	bool valid = true;

	if (set_instant(b, key, value, &valid) || set_metric(b, key, value, &valid))
		return valid;
	if (n)
		return narrowing_set(n, &b->narrow, value, NULL);
	if (!strcmp(key, "by"))
		return set_by(b, value);
	char **to = !strcmp(key, "filter") ? &b->filter : !strcmp(key, "note") ? &b->note :
		!strcmp(key, "host") ? &b->host : NULL;
	if (!to)
		return !strcmp(key, "view");
	g_free(*to);
	*to = g_strdup(value);
	return strlen(value) <= LIMIT_TYPED_BYTES;
}

static const struct view *view_of_line(char *const *fields)
{
	for (; *fields; fields++)
		if (g_str_has_prefix(*fields, "view="))
			return strcmp(*fields + 5, view_log.id) ? view_find(*fields + 5) : &view_log;
	return NULL;
}

/* NULL: the line is damaged. */
static struct bookmark *parse_line(const char *line)
{
	g_auto(GStrv) fields = g_strsplit(line, "\t", -1);
	const struct view *view = view_of_line(fields);
	struct bookmark *b = view ? bookmark_new(view) : NULL;

	for (char **f = fields; b && *f; f++) {
		char *equal = strchr(*f, '=');
		g_autofree char *value = equal ? g_uri_unescape_string(equal + 1, NULL) : NULL;

		if (equal)
			*equal = '\0';
		if (!value || !g_utf8_validate(*f, -1, NULL) || !set_field(b, *f, value))
			g_clear_pointer(&b, bookmark_free);
	}
	if (b && (b->step_ns <= 0 || !g_str_has_prefix(line, "at=") ||
		  (b->a_ns != TIME_UNKNOWN && b->b_ns != TIME_UNKNOWN && b->a_ns >= b->b_ns)))
		g_clear_pointer(&b, bookmark_free);
	return b;
}

static int compare_time(const void *a, const void *b)
{
	const struct bookmark *x = *(const struct bookmark *const *)a, *y = *(const struct bookmark *const *)b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

GPtrArray *bookmarks_parse(const char *name, const char *text, size_t len, GError **error)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(free_bookmark);
	bool whole = !len || (!memchr(text, '\0', len) && text[len - 1] == '\n');
	g_autofree char *copy = g_strndup(text, whole && len ? len - 1 : 0);
	g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);
	unsigned damaged = 0;

	if (!whole || (len && g_strcmp0(lines[0], FORMAT_LINE)))
		damaged = 1;
	for (unsigned i = 1; len && !damaged && lines[i]; i++) {
		struct bookmark *b = parse_line(lines[i]);

		if (!b)
			damaged = i + 1;
		else if (!bookmarks_add(all, b)) {
			g_set_error(error, BLK_EXPR_ERROR, 0, "%s has more than %d bookmarks: none is read", name,
				    LIMIT_BOOKMARKS);
			return NULL;
		}
	}
	if (damaged) {
		g_set_error(error, BLK_EXPR_ERROR, 0,
			    "%s:%u is damaged: none of its bookmarks is read, and none is added", name, damaged);
		return NULL;
	}
	return g_steal_pointer(&all);
}

bool bookmarks_add(GPtrArray *bookmarks, struct bookmark *b)
{
	for (guint i = 0; i < bookmarks->len; i++)
		if (bookmark_is_same(bookmarks->pdata[i], b)) {
			bookmark_free(bookmarks->pdata[i]);
			bookmarks->pdata[i] = b;
			return true;
		}
	if (bookmarks->len >= LIMIT_BOOKMARKS) {
		bookmark_free(b);
		return false;
	}
	g_ptr_array_add(bookmarks, b);
	g_ptr_array_sort(bookmarks, compare_time);
	return true;
}
