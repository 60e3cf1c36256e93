/* SPDX-License-Identifier: GPL-2.0-only */
/* Channels and the time that all of their streams cover; see channels.h. */
#include "state/kernel/channels.h"

static void clear_channel(void *data)
{
	g_free(((struct channel *)data)->key);
}

void channels_init(struct channels *c)
{
	c->all = g_array_new(false, true, sizeof(struct channel));
	g_array_set_clear_func(c->all, clear_channel);
	c->by_key = g_hash_table_new(g_str_hash, g_str_equal);
	c->free = g_array_new(false, false, sizeof(uint32_t));
}

void channels_clear(struct channels *c)
{
	g_hash_table_unref(c->by_key);
	g_array_unref(c->all);
	g_array_unref(c->free);
}

static struct channel *channel_at(const struct channels *c, uint32_t i)
{
	return &g_array_index(c->all, struct channel, i);
}

static uint32_t find(const struct channels *c, const char *key)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(c->by_key, key)) - 1;
}

/* Takes the key. */
static uint32_t add(struct channels *c, char *key)
{
	struct channel fresh = { .key = key, .from = INT64_MIN, .to = INT64_MAX };
	uint32_t i = c->all->len;
	if (c->free->len) {
		i = g_array_index(c->free, uint32_t, c->free->len - 1);
		g_array_set_size(c->free, c->free->len - 1);
		g_assert(!channel_at(c, i)->key);
		*channel_at(c, i) = fresh;
	} else {
		g_array_append_val(c->all, fresh);
	}
	g_assert(!g_hash_table_contains(c->by_key, key));
	g_hash_table_insert(c->by_key, key, GUINT_TO_POINTER(i + 1));
	return i;
}

uint32_t channels_add(struct channels *c, const struct blk_stream *s, bool live)
{
	g_autofree char *key = g_strndup(s->order ? s->order : "", blk_channel_len(s));
	uint32_t i = find(c, key);
	if (i == UINT32_MAX)
		i = add(c, g_steal_pointer(&key));
	struct channel *x = channel_at(c, i);
	if (s->recorded_from)
		x->from = MAX(x->from, s->recorded_from);
	if (s->recorded_to && !live)
		x->to = MIN(x->to, s->recorded_to);
	return i;
}

void channels_begin(struct channels *c, uint32_t channel)
{
	struct channel *x = channel_at(c, channel);
	if (!x->n_open++)
		x->to = INT64_MAX;		/* after an interruption, its streams go on */
}

void channels_end(struct channels *c, uint32_t channel, const struct blk_stream *s)
{
	struct channel *x = channel_at(c, channel);
	x->n_open -= x->n_open > 0;
	if (s->recorded_to)
		x->to = MIN(x->to, s->recorded_to);
}

uint32_t *channels_join(struct channels *c, const struct channels *from, bool follows)
{
	uint32_t *map = g_new(uint32_t, from->all->len + 1);
	for (guint i = 0; i < from->all->len; i++) {
		const struct channel *x = channel_at(from, i);
		uint32_t have = x->key ? find(c, x->key) : UINT32_MAX;
		map[i] = have != UINT32_MAX || !x->key ? have : add(c, g_strdup(x->key));
		if (map[i] == UINT32_MAX)
			continue;
		struct channel *to = channel_at(c, map[i]);
		if (follows && have != UINT32_MAX && x->from >= to->to) {
			to->to = x->to;		/* of the next rotation chunk */
			continue;
		}
		to->from = MAX(to->from, x->from);
		to->to = MIN(to->to, x->to);
	}
	return map;
}

int64_t channels_known_until(const struct channels *c, uint32_t channel, int64_t from, int64_t to)
{
	const struct channel *x = channel_at(c, channel);
	return x->from > from ? from : MAX(from, MIN(x->to, to));
}

void channels_forget(struct channels *c, const guint8 *used)
{
	for (guint i = 0; i < c->all->len; i++) {
		struct channel *x = channel_at(c, i);
		if (!x->key || x->n_open || used[i])
			continue;
		g_hash_table_remove(c->by_key, x->key);
		g_clear_pointer(&x->key, g_free);
		g_array_append_val(c->free, i);
	}
}
