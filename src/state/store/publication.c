/* SPDX-License-Identifier: GPL-2.0-only */
/* Publications: memory, adding entries, splitting. timeline_apply() moves the content out and frees the rest. */
#include "state/store/publication.h"

static void clear_string(void *entry)
{
	g_free(((struct published_string *)entry)->s);
}

static void clear_host(void *entry)
{
	host_info_clear(&((struct published_host *)entry)->info);
}

static void clear_thread(void *entry)
{
	g_free(((struct published_thread *)entry)->names);
}

static void clear_span(void *entry)
{
	span_unref(((struct published_span *)entry)->span);
}

static void unref_second(void *second)
{
	second_unref(second);
}

static GArray *array_new(unsigned size, GDestroyNotify clear)
{
	GArray *a = g_array_new(FALSE, FALSE, size);

	if (clear)
		g_array_set_clear_func(a, clear);
	return a;
}

struct publication *publication_new(void)
{
	struct publication *p = g_new0(struct publication, 1);

	p->strings = array_new(sizeof(struct published_string), clear_string);
	p->hosts = array_new(sizeof(struct published_host), clear_host);
	p->threads = array_new(sizeof(struct published_thread), clear_thread);
	p->processes = array_new(sizeof(struct published_process), NULL);
	p->ended_threads = array_new(sizeof(uint32_t), NULL);
	p->ended_processes = array_new(sizeof(uint32_t), NULL);
	p->files = array_new(sizeof(struct published_file), NULL);
	p->seconds = g_ptr_array_new_with_free_func(unref_second);
	p->host_events = array_new(sizeof(struct host_event), NULL);
	p->spans = array_new(sizeof(struct published_span), clear_span);
	p->classes = g_ptr_array_new_with_free_func(g_free);
	return p;
}

void publication_free(struct publication *p)
{
	if (!p)
		return;
	g_array_free(p->strings, TRUE);
	g_array_free(p->hosts, TRUE);
	g_array_free(p->threads, TRUE);
	g_array_free(p->processes, TRUE);
	g_array_free(p->ended_threads, TRUE);
	g_array_free(p->ended_processes, TRUE);
	g_array_free(p->files, TRUE);
	g_ptr_array_free(p->seconds, TRUE);
	second_reader_unref(p->reader);
	g_array_free(p->host_events, TRUE);
	g_array_free(p->spans, TRUE);
	g_ptr_array_free(p->classes, TRUE);
	g_free(p);
}

void publication_add_string(struct publication *p, uint32_t id, const char *s)
{
	struct published_string entry = { id, g_strdup(s ? s : "") };
	g_array_append_val(p->strings, entry);
}

void publication_add_host(struct publication *p, uint32_t id, const char *name, const char *boot)
{
	struct published_host entry = { id, { g_strdup(name ? name : ""), g_strdup(boot ? boot : "") } };
	g_array_append_val(p->hosts, entry);
}

void publication_add_thread(struct publication *p, uint32_t id, const struct thread_info *info)
{
	for (uint32_t i = 1; i < info->n_names; i++)
		g_assert(info->names[i - 1].since <= info->names[i].since);	/* timeline_comm() searches them */
	struct published_thread entry = { .id = id, .info = *info };

	entry.names = g_memdup2(info->names, info->n_names * sizeof(*info->names));
	entry.info.names = entry.names;
	g_array_append_val(p->threads, entry);
}

void publication_add_process(struct publication *p, uint32_t id, const struct process_info *info)
{
	struct published_process entry = { id, *info };
	g_array_append_val(p->processes, entry);
}

void publication_add_file(struct publication *p, uint32_t id, const struct file_info *info)
{
	struct published_file entry = { id, *info };
	g_array_append_val(p->files, entry);
}

void publication_add_span(struct publication *p, uint32_t slot, struct span *span)
{
	g_assert(span->bytes > 0);		/* sealed */
	struct published_span entry = { slot, span, SPAN_NEW };
	g_array_append_val(p->spans, entry);
	p->span_bytes += sizeof(entry) + span->bytes;
}

static uint64_t trace_at(const struct publication *p, guint i)
{
	return g_array_index(p->spans, struct published_span, i).span->trace_id;
}

struct publication *publication_split(struct publication *p, guint most)
{
	g_assert(most > 0);
	guint n = p->spans->len, from = n > most ? n - most : 0;
	while (from > 0 && trace_at(p, from - 1) == trace_at(p, from))
		from--;
	if (!from)
		return NULL;
	struct publication *tail = publication_new();
	tail->has_coverage = p->has_coverage;
	tail->first_ns = p->first_ns;
	tail->last_ns = p->last_ns;
	tail->n_events = p->n_events;
	tail->n_thinned = p->n_thinned;
	tail->completeness = p->completeness;
	tail->notes = p->notes;
	tail->beside_bytes = p->beside_bytes;
	g_array_append_vals(tail->spans, &g_array_index(p->spans, struct published_span, from), n - from);
	for (guint i = from; i < n; i++) {
		struct published_span *moved = &g_array_index(p->spans, struct published_span, i);
		tail->span_bytes += sizeof(*moved) + moved->span->bytes;
		moved->span = NULL;
	}
	g_assert(p->span_bytes >= tail->span_bytes);
	p->span_bytes -= tail->span_bytes;
	g_array_set_size(p->spans, from);
	return tail;
}
