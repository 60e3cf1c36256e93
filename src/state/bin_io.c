/* SPDX-License-Identifier: GPL-2.0-only */
/* The cells of devices in a bin. Those of disks only rooted slices have: see block.c. */
#include "state/slice_private.h"

#include <string.h>

void bin_io_init(struct bin *b)
{
	b->devs = g_array_new(false, true, sizeof(struct bin_dev));
	b->dev_users = g_array_new(false, true, sizeof(struct bin_dev_user));
	b->nets = g_array_new(false, true, sizeof(struct bin_net));
	b->flows = g_array_new(false, true, sizeof(struct flow_cell));
}

static void sums_clear(struct dev_sums *s)
{
	hist_clear(&s->latency);
	hist_clear(&s->queue);
}

void bin_io_free(struct bin *b)
{
	for (guint i = 0; i < b->devs->len; i++)
		sums_clear(&g_array_index(b->devs, struct bin_dev, i).sums);
	for (guint i = 0; i < b->dev_users->len; i++)
		sums_clear(&g_array_index(b->dev_users, struct bin_dev_user, i).sums);
	g_array_unref(b->devs);
	g_array_unref(b->dev_users);
	g_array_unref(b->nets);
	g_array_unref(b->flows);
	intmap_clear(&b->dev_map);
	intmap_clear(&b->dev_user_map);
	intmap_clear(&b->net_map);
	intmap_clear(&b->flow_map);
}

/* The cell of the key, zeroed when it is new. */
static void *cell(struct intmap *map, GArray *cells, uint64_t key)
{
	uint32_t i = intmap_get(map, key);
	if (i == INTMAP_NONE) {
		i = cells->len;
		g_array_set_size(cells, i + 1);
		intmap_set(map, key, i);
	}
	return cells->data + (gsize)i * g_array_get_element_size(cells);
}

struct bin_dev *bin_dev(struct bin *b, uint32_t host, uint32_t dev)
{
	struct bin_dev *c = cell(&b->dev_map, b->devs, pair(host, dev));
	c->host = host;
	c->dev = dev;
	return c;
}

struct bin_dev_user *bin_dev_user(struct bin *b, uint32_t thread, uint32_t disk, uint32_t host,
				  uint32_t dev)
{
	struct bin_dev_user *c = cell(&b->dev_user_map, b->dev_users, pair(thread, disk));
	c->thread = thread;
	c->host = host;
	c->dev = dev;
	return c;
}

struct bin_net *bin_net(struct bin *b, uint32_t host, uint32_t name)
{
	struct bin_net *c = cell(&b->net_map, b->nets, pair(host, name));
	c->host = host;
	c->name = name;
	return c;
}

/* Flows come from the network: their places in the map are nobody's to choose. */
static uint64_t flow_hash(uint32_t host, uint32_t name, const struct flow *flow)
{
	static uint64_t seed;
	static gsize once;
	uint64_t words[sizeof *flow / 8 + 1] = { 0 };
	if (g_once_init_enter(&once)) {
		seed = (uint64_t)g_random_int() << 32 | g_random_int();
		g_once_init_leave(&once, 1);
	}
	uint64_t h = seed ^ pair(host, name);
	memcpy(words, flow, sizeof *flow);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

struct flow_sums *bin_flow(struct bin *b, uint32_t host, uint32_t name, const struct flow *flow)
{
	for (uint64_t key = flow_hash(host, name, flow);; key++) {
		struct flow_cell *c = cell(&b->flow_map, b->flows, key);
		if (!c->flow.family)
			*c = (struct flow_cell){ .host = host, .name = name, .flow = *flow };
		if (c->host == host && c->name == name && !memcmp(&c->flow, flow, sizeof *flow))
			return &c->sums;
	}
}

static void flow_add(struct bin *b, const struct flow_cell *x, const struct bin_maps *maps)
{
	struct flow_sums *sums = bin_flow(b, maps->host[x->host], maps->string[x->name], &x->flow);
	sums->rx_packets += x->sums.rx_packets;
	sums->rx_bytes += x->sums.rx_bytes;
	sums->tx_packets += x->sums.tx_packets;
	sums->tx_bytes += x->sums.tx_bytes;
}

static void flows_adopt(struct bin *b, const struct bin_maps *maps)
{
	g_autoptr(GArray) had = b->flows;
	if (!had->len) {
		b->flows = g_array_ref(had);
		return;
	}
	b->flows = g_array_new(false, true, sizeof(struct flow_cell));
	intmap_clear(&b->flow_map);
	for (guint i = 0; i < had->len; i++)
		flow_add(b, &g_array_index(had, struct flow_cell, i), maps);
}

void bin_io_adopt(struct bin *b, const struct bin_maps *maps)
{
	g_assert(!b->devs->len && !b->dev_users->len);
	intmap_clear(&b->net_map);
	for (guint i = 0; i < b->nets->len; i++) {
		struct bin_net *c = &g_array_index(b->nets, struct bin_net, i);
		c->host = maps->host[c->host];
		c->name = maps->string[c->name];
		intmap_set(&b->net_map, pair(c->host, c->name), i);
	}
	flows_adopt(b, maps);
}

void bin_io_merge(struct bin *into, const struct bin *from, const struct bin_maps *maps)
{
	g_assert(!from->devs->len && !from->dev_users->len);
	for (guint i = 0; i < from->nets->len; i++) {
		const struct bin_net *x = &g_array_index(from->nets, struct bin_net, i);
		struct net_sums *sums = &bin_net(into, maps->host[x->host], maps->string[x->name])->sums;
		sums->rx_packets += x->sums.rx_packets;
		sums->rx_bytes += x->sums.rx_bytes;
		sums->queued_packets += x->sums.queued_packets;
		sums->queued_bytes += x->sums.queued_bytes;
		sums->tx_packets += x->sums.tx_packets;
		sums->tx_bytes += x->sums.tx_bytes;
		sums->tx_errors += x->sums.tx_errors;
	}
	for (guint i = 0; i < from->flows->len; i++)
		flow_add(into, &g_array_index(from->flows, struct flow_cell, i), maps);
}
