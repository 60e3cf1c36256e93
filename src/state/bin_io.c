/* SPDX-License-Identifier: GPL-2.0-only */
/* The cells of devices in a bin. Those of disks only rooted slices have: see block.c. */
#include "state/slice_private.h"

void bin_io_init(struct bin *b)
{
	b->devs = g_array_new(false, true, sizeof(struct bin_dev));
	b->dev_users = g_array_new(false, true, sizeof(struct bin_dev_user));
	b->nets = g_array_new(false, true, sizeof(struct bin_net));
}

static void sums_clear(struct dev_sums *s)
{
	hist_log_clear(&s->latency);
	hist_log_clear(&s->queue);
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
	intmap_clear(&b->dev_map);
	intmap_clear(&b->dev_user_map);
	intmap_clear(&b->net_map);
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
}
