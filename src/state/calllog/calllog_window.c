/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows of the log: see calllog_window.h. */
#include "state/calllog/calllog_window.h"

#include "base/each.h"

static void cpu_clear(void *p)
{
	GRefString *comm = ((struct calllog_cpu *)p)->comm;
	if (comm)
		g_ref_string_release(comm);
}

struct calllog_window *calllog_window_new(const struct calllog_want *want)
{
	struct calllog_window *w = g_new0(struct calllog_window, 1);
	w->want = *want;
	w->from_ns = w->to_ns = want->at_ns;
	w->lines = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
	w->cpus = g_array_new(FALSE, FALSE, sizeof(struct calllog_cpu));
	g_array_set_clear_func(w->cpus, cpu_clear);
	return w;
}

void calllog_window_free(struct calllog_window *w)
{
	if (!w)
		return;
	g_ptr_array_unref(w->lines);
	g_array_unref(w->cpus);
	g_clear_pointer(&w->fds, g_array_unref);
	g_free(w->error);
	g_free(w);
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct calllog_line *x = *(struct calllog_line *const *)a;
	const struct calllog_line *y = *(struct calllog_line *const *)b;
	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static guint hash_call(gconstpointer p)
{
	const struct calllog_line *l = p;
	return (guint)l->entry_ns * 31u + (guint)l->tid + g_str_hash(l->host);
}

static gboolean same_call(gconstpointer a, gconstpointer b)
{
	const struct calllog_line *x = a, *y = b;
	return x->entry_ns == y->entry_ns && x->tid == y->tid && g_str_equal(x->host, y->host);
}

static guint hash_thread(gconstpointer p)
{
	const struct calllog_line *l = p;
	return (guint)l->tid + g_str_hash(l->host);
}

static gboolean same_thread(gconstpointer a, gconstpointer b)
{
	const struct calllog_line *x = a, *y = b;
	return x->tid == y->tid && g_str_equal(x->host, y->host);
}

/* Completes an exit with the entry of the same call from an earlier window. */
static void complete(struct calllog_line *exit, const struct calllog_line *entry)
{
	exit->state = LINE_RESUMED;
	exit->cpu = entry->cpu;
	exit->entry_ns = entry->entry_ns;
	exit->args = entry->args ? g_bytes_ref(entry->args) : NULL;
	exit->fds = entry->fds ? g_array_ref(entry->fds) : NULL;
}

/* Finds the entries of exits: the thread's previous call, if it has no end and no loss lies between. */
static void find_entries(GPtrArray *lines)
{
	g_autoptr(GHashTable) last = g_hash_table_new(hash_thread, same_thread);
	g_ptr_array_sort(lines, by_time);
	for (guint i = 0; i < lines->len; i++) {
		struct calllog_line *l = lines->pdata[i], *before;
		if (l->kind == CALLLOG_LOSS)
			g_hash_table_remove_all(last);
		if (l->kind != CALLLOG_CALL)
			continue;
		before = g_hash_table_lookup(last, l);
		if (l->state == LINE_EXIT && before && before->state == LINE_UNFINISHED &&
		    !before->lost && g_str_equal(before->name, l->name))
			complete(l, before);
		g_hash_table_replace(last, l, l);
	}
}

void calllog_join_lines(GPtrArray *lines)
{
	find_entries(lines);
	g_autoptr(GHashTable) entries = g_hash_table_new(hash_call, same_call);
	PTR_EACH(struct calllog_line, l, lines)
		if (l->kind == CALLLOG_CALL && l->entry_ns == l->ts && l->state != LINE_NO_RETURN)
			g_hash_table_add(entries, l);
	for (guint i = 0; i < lines->len; i++) {
		struct calllog_line *l = lines->pdata[i], *entry;
		if (l->kind != CALLLOG_CALL || l->state != LINE_RESUMED ||
		    !(entry = g_hash_table_lookup(entries, l)))
			continue;
		if (entry->state == LINE_WHOLE) {
			g_ptr_array_remove_index(lines, i--);
			continue;
		}
		/* The exit was in a later window than the entry. The joined line is at the entry. */
		g_hash_table_remove(entries, entry);
		l->ts = l->entry_ns;
		l->state = LINE_WHOLE;
		g_ptr_array_remove(lines, entry);
		i = (guint)-1;
		g_hash_table_add(entries, l);
	}
	g_ptr_array_sort(lines, by_time);
}
