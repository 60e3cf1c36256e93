/* SPDX-License-Identifier: GPL-2.0-only */
/* See publish_io.h. */
#include "state/publish_io.h"

static void publish_devs(struct second *to, const struct bin *b, const struct publish_ids *ids)
{
	to->n_devs = b->devs->len;
	to->devs = g_new0(struct dev_cell, b->devs->len);
	for (guint i = 0; i < b->devs->len; i++) {
		const struct bin_dev *x = &g_array_index(b->devs, struct bin_dev, i);
		struct dev_cell *c = &to->devs[i];
		*c = (struct dev_cell){
			.host = x->host, .dev = x->dev, .name = names_dev(ids->names, x->host, x->dev),
			.errors = x->errors, .partial = x->partial, .merges = x->merges,
			.requeues = x->requeues, .depth_max = x->depth_max, .queued_max = x->queued_max,
			.busy_ns = x->busy_ns, .depth_ns = x->depth_ns, .queued_ns = x->queued_ns,
		};
		memcpy(c->requests, x->sums.requests, sizeof c->requests);
		memcpy(c->bytes, x->sums.bytes, sizeof c->bytes);
		hist_merge(&c->latency, &x->sums.latency);
		hist_merge(&c->queue, &x->sums.queue);
	}
}

static uint32_t registry_id(const struct publish_ids *ids, uint32_t thread)
{
	if (thread == ID_NONE || thread_at(ids->s, thread)->idle)
		return ID_NONE;
	return ids->thread(ids->data, thread);
}

/* Threads that became one since have one cell. */
static struct dev_user_cell *user_cell(struct second *to, uint32_t thread, const struct bin_dev_user *x)
{
	for (uint32_t i = to->n_dev_users; i > 0; i--) {
		struct dev_user_cell *c = &to->dev_users[i - 1];
		if (c->thread == thread && c->host == x->host && c->dev == x->dev)
			return c;
	}
	to->dev_users[to->n_dev_users] = (struct dev_user_cell){
		.thread = thread, .host = x->host, .dev = x->dev,
	};
	return &to->dev_users[to->n_dev_users++];
}

static void publish_dev_users(struct second *to, const struct bin *b, const struct publish_ids *ids)
{
	to->dev_users = g_new0(struct dev_user_cell, b->dev_users->len);
	for (guint i = 0; i < b->dev_users->len; i++) {
		const struct bin_dev_user *x = &g_array_index(b->dev_users, struct bin_dev_user, i);
		struct dev_user_cell *c = user_cell(to, registry_id(ids, x->thread), x);
		c->name = names_dev(ids->names, x->host, x->dev);
		c->errors += x->errors;
		for (unsigned k = 0; k < BLOCK_DIR_N; k++) {
			c->requests[k] += x->sums.requests[k];
			c->bytes[k] += x->sums.bytes[k];
		}
		hist_merge(&c->latency, &x->sums.latency);
		hist_merge(&c->queue, &x->sums.queue);
	}
}

void publish_io(struct second *to, const struct bin *b, const struct publish_ids *ids)
{
	publish_devs(to, b, ids);
	publish_dev_users(to, b, ids);
	to->n_nets = b->nets->len;
	to->nets = g_new0(struct net_cell, b->nets->len);
	for (guint i = 0; i < b->nets->len; i++) {
		const struct bin_net *x = &g_array_index(b->nets, struct bin_net, i);
		to->nets[i] = (struct net_cell){ x->host, x->name, x->sums };
	}
	to->n_flows = b->flows->len;
	to->flows = g_memdup2(b->flows->data, b->flows->len * sizeof(struct flow_cell));
}
