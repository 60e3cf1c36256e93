/* SPDX-License-Identifier: GPL-2.0-only */
/* What converted records lie in, pinned clocks, and babeltrace2's errors as GError. */
#include "trace/bt2/bt2_convert.h"
#include "trace/align.h"
#include "trace/bt2/bt2_mip.h"

void bt2_out_clear(struct bt2_out *o)
{
	g_free(o->ev);
	arena_clear(&o->own);
	*o = (struct bt2_out){ .arena = o->arena };
}

void bt2_out_silence(struct bt2_out *o, int64_t from_ns)
{
	struct blk_loss *l = arena_alloc(o->arena ? o->arena : &o->own, sizeof *l);
	*l = (struct blk_loss){ .begin_ns = from_ns, .end_ns = o->ev[0].ts, .silence = true };
	if (o->n + 2 > o->cap) {
		o->cap = o->cap * 2 + 2;
		o->ev = g_renew(struct blk_event, o->ev, o->cap);
	}
	memmove(o->ev + 3, o->ev + 1, (o->n - 1) * sizeof *o->ev);
	o->n += 2;
	o->ev[0].ts = from_ns;
	o->ev[1] = (struct blk_event){ .ts = from_ns, .row = BLK_ROW_LOST_BEGIN,
				       .stream = o->ev[0].stream, .data = (uint8_t *)l };
	o->ev[2] = o->ev[1];
	o->ev[2].ts = l->end_ns;
	o->ev[2].row = BLK_ROW_LOST_END;
}

struct bt2_clocks {
	GHashTable *by_uuid;		/* char * -> struct bt2_offset * */
};

struct bt2_clocks *bt2_clocks_new(void)
{
	struct bt2_clocks *k = g_new0(struct bt2_clocks, 1);
	k->by_uuid = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return k;
}

void bt2_clocks_free(struct bt2_clocks *k)
{
	if (k)
		g_hash_table_unref(k->by_uuid);
	g_free(k);
}

/* The offset that this boot uses; `mine` when none was pinned before. */
static struct bt2_offset pin(struct bt2_clocks *k, const char *uuid, struct bt2_offset mine)
{
	if (!uuid[0])
		return mine;
	struct bt2_offset *found = g_hash_table_lookup(k->by_uuid, uuid);
	if (found)
		return *found;
	g_hash_table_insert(k->by_uuid, g_strdup(uuid), g_memdup2(&mine, sizeof mine));
	return mine;
}

void bt2_uuid_text(const uint8_t *uuid, char ret[BT2_UUID_TEXT])
{
	ret[0] = '\0';
	for (int i = 0; uuid && i < 16; i++)
		g_snprintf(ret + strlen(ret), 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			   uuid[i]);
}

void bt2_clock_init(struct bt2_clock *ret, const bt_clock_class *cc, struct bt2_clocks *pinned)
{
	struct bt2_offset mine;
	bt2_clock_identity(cc, ret->uuid);
	bt_clock_class_get_offset(cc, &mine.seconds, &mine.cycles);
	ret->freq = bt_clock_class_get_frequency(cc);
	ret->offset = pinned ? pin(pinned, ret->uuid, mine) : mine;
	/* Wraps where the metadata is nonsense: unsigned, so that it is defined. */
	ret->base_ns = (int64_t)((uint64_t)ret->offset.seconds * 1000000000u +
				 (ret->freq == 1000000000 ? ret->offset.cycles : 0) +
				 (uint64_t)align_of(ret->uuid));
}

/* "Invalid size: msg-it-addr=0x55, packet-size=4": the list of values is for who
 * debugs babeltrace2. */
static char *human_part(const char *message)
{
	/* Where its words mislead, or the cause is only logged. */
	static const struct { const char *theirs, *ours; } words[] = {
		{ "Cannot create trace for", "its metadata does not make sense" },
		{ "No event class with ID", "an event of a kind that the metadata does not have" },
		{ "User function returned EOF", "it ends within a packet" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(message, words[i].theirs))
			return g_strdup(words[i].ours);
	g_autoptr(GRegex) values = g_regex_new(":\\s+[a-z]+(-[a-z]+)*=.*", G_REGEX_DOTALL | G_REGEX_RAW,
					       0, NULL);
	char *text = g_regex_replace_literal(values, message, -1, 0, "", 0, NULL);
	if (!text)
		return g_strdup(message);
	for (size_t n = strlen(text); n && strchr(".:\n ", text[n - 1]); n--)
		text[n - 1] = '\0';
	return text;
}

/* Causes come innermost first. The first tells a person what is wrong; the second
 * often on what; the rest is babeltrace2's call chain. */
static char *error_reason(const bt_error *e)
{
	GString *text = g_string_new(NULL);
	uint64_t n = bt_error_get_cause_count(e);
	for (uint64_t i = 0; i < n && i < 2; i++) {
		const bt_error_cause *cause = bt_error_borrow_cause_by_index(e, i);
		g_autofree char *part = human_part(bt_error_cause_get_message(cause));
		if (i && (!strpbrk(part, "`'\"") || strpbrk(text->str, "`'\"")))
			break;
		g_string_append_printf(text, "%s%s", text->len ? "; " : "", part);
	}
	return g_string_free(text, FALSE);
}

void bt2_set_error(GError **error, enum blk_trace_error code, const char *what)
{
	const bt_error *e = bt_current_thread_take_error();
	if (!e) {
		g_set_error(error, BLK_TRACE_ERROR, code, "%s: babeltrace2 gives no reason", what);
		return;
	}
	g_autofree char *reason = error_reason(e);
	bt_error_release(e);
	g_set_error(error, BLK_TRACE_ERROR, code, "%s: %s", what, reason);
}
