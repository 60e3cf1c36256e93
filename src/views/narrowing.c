/* SPDX-License-Identifier: GPL-2.0-only */
/* Narrowing of views: see narrowing.h. */
#include "views/narrowing.h"

#include "base/expr.h"
#include "base/fail.h"
#include "base/text.h"

#include <string.h>

const struct narrowing narrowings[N_NARROWINGS] = {
	{ "trace", NARROWING_TRACE, offsetof(struct view_query, trace_id), ONLY_TRACE },
	{ "span", NARROWING_ID, offsetof(struct view_query, span_id), ONLY_SPAN },
	{ "pid", NARROWING_NUMBER, offsetof(struct view_query, pid), ONLY_PID },
	{ "tid", NARROWING_NUMBER, offsetof(struct view_query, tid), ONLY_TID },
	{ "service", NARROWING_TEXT, offsetof(struct view_query, service), ONLY_SERVICE },
	{ "operation", NARROWING_TEXT, offsetof(struct view_query, operation), ONLY_OPERATION },
	{ NULL, NARROWING_HOST, offsetof(struct view_query, host), ONLY_HOST },
	{ NULL, NARROWING_CONTAINER, offsetof(struct view_query, container), ONLY_CONTAINER },
};

bool narrowing_is_set(const struct narrowing *n, const struct view_query *q)
{
	const void *at = (const char *)q + n->offset;

	switch (n->kind) {
	case NARROWING_TRACE:
		return query_has_trace(q);
	case NARROWING_NUMBER:
		return *(const int32_t *)at >= 0;
	case NARROWING_TEXT:
		return *(const char *const *)at != NULL;
	case NARROWING_HOST:
		return *(const uint32_t *)at != ID_NONE;
	default:
		return *(const uint64_t *)at != 0;
	}
}

static void unset(const struct narrowing *n, struct view_query *q)
{
	static const struct view_query nothing = VIEW_QUERY_INIT;
	void *at = (char *)q + n->offset;
	const void *from = (const char *)&nothing + n->offset;

	switch (n->kind) {
	case NARROWING_TRACE:
		q->trace_id = q->trace_upper = 0;
		q->trace_zero = false;
		break;
	case NARROWING_NUMBER:
	case NARROWING_HOST:
		memcpy(at, from, sizeof(int32_t));
		break;
	case NARROWING_TEXT:
		*(const char **)at = NULL;
		break;
	default:
		memcpy(at, from, sizeof(uint64_t));
	}
	if (n->only == ONLY_SPAN)
		q->span_kind = nothing.span_kind;
}

unsigned query_narrowed(const struct view_query *q)
{
	unsigned only = 0;

	for (size_t i = 0; i < N_NARROWINGS; i++)
		if (narrowing_is_set(&narrowings[i], q))
			only |= narrowings[i].only;
	return only;
}

void query_widen(struct view_query *q, unsigned only)
{
	for (size_t i = 0; i < N_NARROWINGS; i++)
		if (!(only & narrowings[i].only))
			unset(&narrowings[i], q);
}

/* --- as text --- */

static bool parse_hex(const char *text, bool of_trace, uint64_t *ret, GError **error)
{
	if (!text_parse_id(text, of_trace ? TEXT_TRACE_ID : TEXT_ID, ret))
		return fail(error, BLK_EXPR_ERROR, 0, "an id is 1 to 16 hex digits (of a trace 32), not '%s'", text);
	return true;
}

bool narrowing_parse_id(const char *text, bool of_trace, uint64_t *ret, GError **error)
{
	return parse_hex(text, of_trace, ret, error) &&
	       (*ret != 0 || fail(error, BLK_EXPR_ERROR, 0, "'%s' is not a valid id here", text));
}

static bool set_trace(struct view_query *q, const char *text, GError **error)
{
	uint64_t id;
	if (!parse_hex(text, true, &id, error))
		return false;
	query_set_trace(q, id);
	q->trace_upper = text_id_upper(text);
	return true;
}

static bool parse_number(const char *text, int32_t *ret, GError **error)
{
	guint64 n = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &n, NULL))
		return fail(error, BLK_EXPR_ERROR, 0, "'%s' is not a process or thread id", text);
	*ret = (int32_t)n;
	return true;
}

bool narrowing_set(const struct narrowing *n, struct view_query *q, const char *text, GError **error)
{
	void *at = (char *)q + n->offset;

	if (!*text)
		return fail(error, BLK_EXPR_ERROR, 0, "'%s=' has no value", n->name);
	if (n->kind == NARROWING_TRACE)
		return set_trace(q, text, error);
	if (n->kind == NARROWING_ID)
		return narrowing_parse_id(text, false, at, error);
	if (n->kind == NARROWING_NUMBER)
		return parse_number(text, at, error);
	g_free(*(char **)at);
	*(char **)at = g_strdup(text);
	return true;
}

const struct narrowing *narrowing_find(const char *name, size_t len)
{
	for (size_t i = 0; i < N_NARROWINGS; i++) {
		const char *known = narrowings[i].name;

		if (known && strlen(known) == len && !strncmp(known, name, len))
			return &narrowings[i];
	}
	return NULL;
}

char *narrowing_text(const struct narrowing *n, const struct view_query *q)
{
	const void *at = (const char *)q + n->offset;

	if (!n->name)
		return NULL;
	if (n->kind == NARROWING_NUMBER)
		return g_strdup_printf("%d", *(const int32_t *)at);
	if (n->kind != NARROWING_TEXT)
		return g_strdup_printf("%016" G_GINT64_MODIFIER "x", *(const uint64_t *)at);
	return g_strdup(*(const char *const *)at);
}

static bool say(GString *s, const struct narrowing *n, const struct view_query *q)
{
	g_autofree char *text = narrowing_text(n, q);

	if (!text || (n->kind == NARROWING_TEXT && strchr(text, ',')))
		return false;
	g_string_append_printf(s, "%s%s=%s", s->len ? "," : "", n->name, text);
	return true;
}

char *query_only_text(const struct view_query *q)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (size_t i = 0; i < N_NARROWINGS; i++)
		if (narrowing_is_set(&narrowings[i], q) && !say(s, &narrowings[i], q))
			return NULL;
	return s->len ? g_strdup(s->str) : NULL;
}

unsigned view_honours(const struct view *v, enum view_by by)
{
	const unsigned of_threads = 1 << BY_PROCESS | 1 << BY_THREAD | 1 << BY_CONTAINER;

	if (v->narrows_threads_only && !(1u << by & of_threads))
		return v->only & ~(unsigned)(ONLY_PID | ONLY_TID | ONLY_CONTAINER);
	return v->only;
}

enum view_by view_by_narrowed(const struct view *v, enum view_by by, const struct view_query *q)
{
	unsigned wanted = query_narrowed(q) & v->only;

	if (!(wanted & ~view_honours(v, by)))
		return by;
	return wanted & ONLY_TID ? BY_THREAD : BY_PROCESS;
}
