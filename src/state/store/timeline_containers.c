/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers the containers of a timeline's processes and finds their hostnames. */
#include "base/sort.h"
#include "state/store/container.h"
#include "state/store/timeline_private.h"

static uint64_t key_of(uint32_t host, uint64_t container)
{
	return (uint64_t)host << 36 | container;	/* container numbers have at most 36 bits */
}

uint32_t containers_id(struct timeline *tl, const struct process_info *p)
{
	struct container_entry new = { .host = p->host, .container = container_of(p) };
	uint64_t key = key_of(new.host, new.container);
	uint32_t id = intmap_get(&tl->by_container, key);

	if (new.container == CONTAINER_UNKNOWN)
		return ID_NONE;
	g_assert(new.container >> 36 == 0);	/* key_of() */
	if (id == INTMAP_NONE) {
		id = tl->containers->len;
		intmap_set(&tl->by_container, key, id);
		g_array_append_val(tl->containers, new);
	}
	g_assert(id < tl->containers->len);
	return id;
}

static struct container_entry *entry_at(const struct timeline *tl, uint32_t id)
{
	return id < tl->containers->len ? &g_array_index(tl->containers, struct container_entry, id) : NULL;
}

static int compare_names(const struct timeline *tl, const struct container_entry *a,
			 const struct container_entry *b)
{
	int order = (a->host > b->host) - (a->host < b->host);
	if (order || a->hostname == b->hostname)
		return order;
	return strcmp(timeline_string(tl, a->hostname), timeline_string(tl, b->hostname));
}

static int by_name(gconstpointer a, gconstpointer b, gpointer tl)
{
	return compare_names(tl, *(struct container_entry *const *)a, *(struct container_entry *const *)b);
}

static void find_namesakes(struct timeline *tl)
{
	g_autofree struct container_entry **named = g_new(struct container_entry *, tl->containers->len + 1);
	guint n = 0;

	for (uint32_t i = 0; i < tl->containers->len; i++) {
		entry_at(tl, i)->several = false;
		if (entry_at(tl, i)->hostname)
			named[n++] = entry_at(tl, i);
	}
	sort_array(named, n, sizeof *named, by_name, tl);
	for (guint i = 1; i < n; i++)
		if (!compare_names(tl, named[i - 1], named[i]))
			named[i - 1]->several = named[i]->several = true;
}

static void name_by(struct timeline *tl, uint32_t process)
{
	const struct process_info *p = timeline_process(tl, process);
	struct container_entry *c = p ? entry_at(tl, p->container) : NULL;

	if (!c || c->container == CONTAINER_HOST || p->hostname_key <= HOSTNAME_OF_HOST)
		return;
	if (!c->hostname || strcmp(timeline_string(tl, p->hostname), timeline_string(tl, c->hostname)) < 0)
		c->hostname = p->hostname;
}

/* A container gets the alphabetically first hostname, so that the result does not depend on the order of
 * publication. */
void containers_name(struct timeline *tl)
{
	for (uint32_t i = 0; i < tl->containers->len; i++)
		entry_at(tl, i)->hostname = 0;
	PAGES_EACH(&tl->processes, i)
		name_by(tl, i);
	find_namesakes(tl);
}

const char *timeline_container_hostname(const struct timeline *tl, uint32_t host,
					uint64_t container, bool *ret_several)
{
	const struct container_entry *c =
		entry_at(tl, intmap_get(&tl->by_container, key_of(host, container)));

	*ret_several = c && c->several;
	return c && c->hostname ? timeline_string(tl, c->hostname) : NULL;
}

char *timeline_container_label_new(const struct timeline *tl, uint32_t host, uint64_t container)
{
	bool several;
	const char *hostname = timeline_container_hostname(tl, host, container, &several);
	g_autofree char *name = container_name_new(container);

	if (!hostname)
		return g_steal_pointer(&name);
	return several && name ? g_strdup_printf("%s (%s)", hostname, name) : g_strdup(hostname);
}
