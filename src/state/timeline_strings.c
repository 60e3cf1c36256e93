/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that spans alone use go when their spans have gone. Their ids are the model's, which may
 * be using them again: so those that nobody here needs are offered to it, it answers with
 * those that it forgets, and only then their texts are freed and the ids may mean others.
 */
#include "state/publish.h"
#include "state/timeline_private.h"

#include <string.h>

#define STRING_COST 24			/* a string's place, and what malloc adds, about */
#define WORTH 64			/* of the budget: less is not looked through */

enum { STAYS, PASSES, OFFERED };

static size_t cost(const char *text)
{
	return strlen(text) + 1 + STRING_COST;
}

static guint8 *state_of(const struct timeline *tl, uint32_t id)
{
	return id < tl->string_states->len ? &tl->string_states->data[id] : NULL;
}

static void set_state(struct timeline *tl, uint32_t id, guint8 state)
{
	guint have = tl->string_states->len;

	if (id >= have && state == STAYS)
		return;
	if (id >= have) {
		g_byte_array_set_size(tl->string_states, id + 1 + id / 8);
		memset(tl->string_states->data + have, STAYS, tl->string_states->len - have);
	}
	tl->string_states->data[id] = state;
}

bool strings_is_offered(const struct timeline *tl, uint32_t id)
{
	const guint8 *state = state_of(tl, id);
	return state && *state == OFFERED;
}

bool strings_is_passing(const struct timeline *tl, uint32_t id)
{
	const guint8 *state = state_of(tl, id);
	return state && *state != STAYS;
}

void strings_stay(struct timeline *tl, uint32_t id)
{
	if (!strings_is_passing(tl, id) || strings_is_offered(tl, id))
		return;
	tl->passing_bytes -= cost(timeline_string(tl, id));
	set_state(tl, id, STAYS);
}

void strings_put(struct timeline *tl, uint32_t id, char *taken, bool passing)
{
	strings_stay(tl, id);			/* a text that is replaced */
	timeline_put_string(tl, id, taken);
	if (!passing)
		return;
	tl->passing_bytes += cost(taken);
	set_state(tl, id, PASSES);
}

size_t strings_passing_bytes(const struct timeline *tl)
{
	return tl->passing_bytes;
}

/* ---- which are used ---- */

struct used {
	guint8 *by_id;
	uint32_t n;
};

static inline void use(const struct used *u, uint32_t id)
{
	if (id < u->n)
		u->by_id[id] = 1;
}

static void use_span(const struct used *u, const struct span *s)
{
	use(u, s->name);
	use(u, s->service);
	use(u, s->ip);
	for (uint32_t i = 0; i < s->n_annotations; i++)
		use(u, s->annotations[i].event);
	for (uint32_t i = 0; i < s->n_tags; i++) {
		use(u, s->tags[i].key);
		use(u, s->tags[i].val);
	}
}

static void use_spans(const struct used *u, const GArray *entries)
{
	for (guint i = 0; i < entries->len; i++)
		use_span(u, g_array_index(entries, struct span_entry, i).span);
}

/* What is told of spans that are gone. */
static void use_sums(const struct used *u, const struct timeline *tl)
{
	for (guint i = 0; i < tl->operations->len; i++) {
		const struct operation_info *op = &g_array_index(tl->operations, struct operation_info, i);
		use(u, op->service);
		use(u, op->name);
	}
	for (guint i = 0; i < tl->sums.list->len; i++) {
		const struct span_sum_key *key = &g_array_index(tl->sums.list, struct span_sum, i).key;
		use(u, key->service);
		use(u, key->name);
		use(u, key->operation_service);
		use(u, key->operation);
	}
}

static guint8 *find_used(const struct timeline *tl)
{
	struct used u = { g_new0(guint8, tl->strings.n + 1), tl->strings.n };

	use_spans(&u, tl->spans);
	use_spans(&u, tl->held_back);
	use_sums(&u, tl);
	return u.by_id;
}

/* ---- the offer, and its answer ---- */

void string_offer_free(struct string_offer *offer)
{
	if (offer)
		g_array_unref(offer->ids);
	g_free(offer);
}

void strings_offer(struct timeline *tl)
{
	if (tl->offering || !tl->applied || tl->passing_bytes <= tl->budget / WORTH)
		return;
	g_autofree guint8 *used = find_used(tl);
	GArray *ids = g_array_new(false, false, sizeof(uint32_t));
	for (uint32_t id = 0; id < MIN(tl->strings.n, tl->string_states->len); id++) {
		if (tl->string_states->data[id] != PASSES || used[id])
			continue;
		tl->passing_bytes -= cost(timeline_string(tl, id));
		tl->offered_bytes += cost(timeline_string(tl, id));
		tl->string_states->data[id] = OFFERED;
		g_array_append_val(ids, id);
	}
	tl->passing_left = tl->passing_bytes;
	if (!ids->len) {
		g_array_unref(ids);
		return;
	}
	tl->offering = tl->offer_ready = true;
	tl->offer = ids;
	tl->offer_as_of = tl->applied;
}

void strings_offer_if_grown(struct timeline *tl)
{
	if (tl->passing_bytes > 2 * tl->passing_left)
		strings_offer(tl);
}

struct string_offer *timeline_take_offer(struct timeline *tl)
{
	if (!tl->offer_ready)
		return NULL;
	struct string_offer *offer = g_new(struct string_offer, 1);
	*offer = (struct string_offer){ tl->offer_as_of, g_array_ref(tl->offer) };
	tl->offer_ready = false;
	return offer;
}

static void forget(struct timeline *tl, uint32_t id)
{
	if (!strings_is_offered(tl, id))
		return;
	tl->offered_bytes -= cost(timeline_string(tl, id));
	set_state(tl, id, STAYS);
	timeline_drop_string(tl, id);
}

void strings_answer(struct timeline *tl, const GArray *forgotten)
{
	if (!tl->offering)
		return;
	for (guint i = 0; i < forgotten->len; i++)
		forget(tl, g_array_index(forgotten, uint32_t, i));
	for (guint i = 0; i < tl->offer->len; i++) {
		uint32_t id = g_array_index(tl->offer, uint32_t, i);
		if (!strings_is_offered(tl, id))
			continue;
		tl->string_states->data[id] = PASSES;
	}
	tl->passing_bytes += tl->offered_bytes;
	tl->offered_bytes = 0;
	tl->offering = false;
	g_clear_pointer(&tl->offer, g_array_unref);
}

void strings_clear(struct timeline *tl)
{
	g_byte_array_unref(tl->string_states);
	g_clear_pointer(&tl->offer, g_array_unref);
}
