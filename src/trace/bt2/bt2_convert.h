/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns babeltrace2 messages into records.
 *
 * Everything is copied out of a message, so the caller can release it at once; babeltrace2 then reuses its objects.
 * Names and members are resolved once per event class; later no field is looked up by name.
 *
 *     struct bt2_convert *c = bt2_convert_new(&mine->source, rows, n_rows);
 *     struct bt2_out out = { 0 };
 *     for each message (of any streams, of one iterator or of several):
 *             if (!bt2_convert_message(c, msg, &out, &error)) ...
 *             bt_message_put_ref(msg);
 *     ... out.ev[0 .. out.n - 1] are the records, in the order they came ...
 *     bt2_out_clear(&out);
 *
 * Timestamps of records of one stream never decrease. Those of different streams in one `out` may: BLK_ROW_LOST_BEGIN
 * and BLK_ROW_TALLY are made late and have the instant of their stream's last event. A reader with several streams in
 * one iterator must sort or clamp them.
 *
 * A converter, its source and its outs belong to one thread. It adds entries to s->tables.
 */
#ifndef BLK_TRACE_BT2_BT2_CONVERT_H
#define BLK_TRACE_BT2_BT2_CONVERT_H

#include <babeltrace2/babeltrace.h>

#include "trace/arena.h"
#include "trace/reader.h"

/* A list of records. A zeroed one is empty. The records' data is in the arena; both are valid until
 * bt2_out_clear(). */
struct bt2_out {
	struct blk_event *ev;
	size_t n, cap;
	struct arena *arena;	/* borrowed; NULL: `own` is used */
	struct arena own;
};
void bt2_out_clear(struct bt2_out *o);
/* The first record must be a stream's STREAM_ADD. Moves it back to from_ns, and adds a silence (struct blk_loss) from
 * there to the old instant. */
void bt2_out_silence(struct bt2_out *o, int64_t from_ns);

/* `s` and `rows` are borrowed; the tables of `s` are filled. */
struct bt2_convert;
struct bt2_convert *bt2_convert_new(struct source *s, const struct blk_subscription *rows,
				    size_t n_rows);
void bt2_convert_free(struct bt2_convert *c);	/* NULL is fine */

/* Pins the clock offset of each host boot: that of its kernel trace, else of its first trace in sort order.
 * `streams` are all streams. Call it before the first message. */
void bt2_convert_pin_clocks(struct bt2_convert *c, const bt_stream *const *streams, size_t n);

/* `convert` is a struct bt2_convert, as the callbacks of native.h take it. Adds a pause, as native_each_pause() reports
 * it; babeltrace2 does not report pauses. */
void bt2_convert_pause(void *convert, const char *order, int64_t last_end, int64_t begin, int64_t end);

/* Adds a fall of a discarded counter, as native_each_fall() reports it; babeltrace2 2.1 does not report falls. */
void bt2_convert_fall(void *convert, const char *order, int64_t begin_ns, uint64_t fall);

/* Adds a loss of events as the native reader places it. babeltrace2 does not report how much room a packet had for more
 * events. Without this call for any loss of a stream, events may be missing anywhere in a packet that lost some. */
void bt2_convert_loss(struct bt2_convert *c, const char *order, const struct blk_loss *loss);

/* Adds from when to when a stream was recorded, as native_each_recorded() reports it. Call before the first message. */
void bt2_convert_recorded(void *convert, const char *order, int64_t from_ns, int64_t to_ns);
/* Adds what is known of a host's machine, as native_each_machine() reports it. Call before its first stream. */
void bt2_convert_machine(void *convert, const char *host, const char *boot, const struct machine_evidence *e);

/* Adds the time in which a host was traced, as native_each_extent() reports it. Call before its first stream. */
void bt2_convert_extent(void *convert, const char *host, const char *boot, const char *release, int64_t begin_ns,
			int64_t end_ns);

/* Appends the records of one message, none or several. False: the stream has no clock and cannot be read. */
bool bt2_convert_message(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
			 GError **error);

/* The latest end of a packet of a stream that has ended (ns); INT64_MAX: unknown. */
int64_t bt2_convert_end(const struct bt2_convert *c, unsigned stream);

#endif
