/* SPDX-License-Identifier: GPL-2.0-only */
/* The messages of the screen: see messages.h. */
#include "ui/messages.h"

#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

#define INDENT 13		/* of continuation lines */

struct message {
	int64_t first_ns, last_ns;
	unsigned n;
	bool error;
	char *text;
};

struct messages {
	GQueue queue;		/* struct message * */
	uint64_t n_dropped, version;
};

struct messages *messages_new(void)
{
	return g_new0(struct messages, 1);
}

static void message_free(gpointer data)
{
	struct message *m = data;

	g_free(m->text);
	g_free(m);
}

void messages_free(struct messages *m)
{
	if (!m)
		return;
	g_queue_clear_full(&m->queue, message_free);
	g_free(m);
}

void messages_add(struct messages *m, int64_t at_ns, bool error, const char *text)
{
	struct message *last = g_queue_peek_tail(&m->queue);

	m->version++;
	if (last && last->error == error && !strcmp(last->text, text)) {
		last->n++;
		last->last_ns = at_ns;
		return;
	}
	last = g_new0(struct message, 1);
	*last = (struct message){ at_ns, at_ns, 1, error, g_strdup(text) };
	g_queue_push_tail(&m->queue, last);
	if (m->queue.length > LIMIT_MESSAGES) {
		message_free(g_queue_pop_head(&m->queue));
		m->n_dropped++;
	}
}

uint64_t messages_version(const struct messages *m)
{
	return m->version;
}

static char *line_of(const struct message *m)
{
	char first[TIMEFMT_LEN], last[TIMEFMT_LEN];
	g_autofree char *text = text_visible(m->text), *times = NULL;

	timefmt_clock(first, m->first_ns);
	timefmt_clock(last, m->last_ns);
	if (m->n > 1)
		times = strcmp(first, last) ? g_strdup_printf("   (%u times, until %s)", m->n, last) :
			g_strdup_printf("   (%u times)", m->n);
	return g_strdup_printf("  %s %s%s%s", first, m->error ? "! " : "", text, times ? times : "");
}

GPtrArray *messages_lines(const struct messages *m, unsigned cols)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	cols = MAX(cols, 2 * INDENT);
	if (m->n_dropped)
		g_ptr_array_add(lines, g_strdup_printf("  %" G_GUINT64_FORMAT " older messages were dropped; "
						       "--log FILE stores all", m->n_dropped));
	for (const GList *l = m->queue.head; l; l = l->next) {
		g_autofree char *line = line_of(l->data);

		text_wrap(lines, line, cols, INDENT, INDENT);
	}
	if (!lines->len)
		g_ptr_array_add(lines, g_strdup("  none so far"));
	return lines;
}
