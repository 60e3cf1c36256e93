/* SPDX-License-Identifier: GPL-2.0-only */
/* A slice's texts and facts; see facts.h. */
#include "state/kernel/facts.h"

#include "base/sort.h"
#include "state/kernel/slice_state.h"

uint32_t slice_string(struct slice *s, struct blk_text t)
{
	return strtab_add_len(s->strings, t.str, t.len);
}

#define PATH_BYTES 256		/* estimate: bytes of a file in registries besides its path */

/* Shortens a path to its folder or address and a star; `more`: to the kind of socket and a star, or a star. The buffer
 * has room for a byte more. */
static void shorten_path(char *path, bool more)
{
	char *kind = g_str_has_prefix(path, "socket ") ? strchr(path + strlen("socket "), ' ') : NULL;
	char *slash = strrchr(path, '/'), *end = more ? kind : slash ? slash : strrchr(path, ':');

	strcpy(end ? end + 1 : path, "*");
}

uint32_t slice_path(struct slice *s, struct blk_text t)
{
	if (!s->path_room || strtab_has(s->strings, t.str, t.len))
		return slice_string(s, t);
	g_autofree char *path = g_strdup_printf("%.*s ", (int)MIN(t.len, LIMIT_TEXT_BYTES), t.str);
	path[strlen(path) - 1] = '\0';		/* room for the star */
	if (s->path_bytes >= s->path_room)
		shorten_path(path, s->path_bytes >= 2 * s->path_room);
	if (!strtab_has(s->strings, path, strlen(path)))
		s->path_bytes += strlen(path) + PATH_BYTES;
	return strtab_add(s->strings, path);
}

uint32_t slice_text(struct slice *s, struct blk_text t)
{
	return strtab_add_len(s->texts, t.str, t.len);
}

void slice_fact(struct slice *s, uint32_t thread, int64_t ts, uint64_t seq, const struct fact *what)
{
	g_assert(thread == ID_NONE || thread < s->threads->len);
	struct fact f = *what;
	f.ts = ts;
	f.seq = seq;
	f.thread = thread;
	if (thread != ID_NONE)
		f.host = thread_at(s, thread)->host;
	if (f.kind != FACT_FORK && f.kind != FACT_EXEC)
		f.other = ID_NONE;
	g_array_append_val(s->facts, f);
}

void event_fact(const struct fed_event *f, const struct thread *t, const struct fact *what)
{
	struct fact of_host = *what;
	of_host.host = f->host;
	slice_fact(f->s, t ? t->self : ID_NONE, f->ts, f->seq, &of_host);
}

static int fact_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct fact *x = a, *y = b;
	return ORDER(x->seq, y->seq);
}

void slice_sort_facts(struct slice *s, guint from, guint to)
{
	struct fact *all = (struct fact *)(void *)s->facts->data;
	for (guint i = from + 1; i < to; i++)
		if (all[i - 1].seq > all[i].seq) {
			sort_array(&all[from], to - from, sizeof(struct fact), fact_order, NULL);
			return;
		}
}
