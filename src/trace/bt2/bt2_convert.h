/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From babeltrace2 messages to records.
 *
 * Everything is copied out of the message: the caller may release it at once
 * (which is also fastest, as babeltrace2 recycles its objects). Names and members
 * are resolved once per event class; afterwards no field is looked up by name.
 *
 *     struct bt2_convert *c = bt2_convert_new(&mine->source, rows, n_rows);
 *     struct bt2_out out = { 0 };
 *     for each message (of any streams, of one iterator or of several):
 *             if (!bt2_convert_message(c, msg, &out, &error)) ...
 *             bt_message_put_ref(msg);
 *     ... out.ev[0 .. out.n - 1] are records in the order they came ...
 *     bt2_out_clear(&out);            when nobody needs them any more
 *
 * Records of one stream have timestamps that never go down. Records of different
 * streams in one `out` do not: BLK_ROW_LOST_BEGIN and BLK_ROW_TALLY are known late
 * and carry the instant they belong to (that of their stream's last event), so a
 * reader whose iterator carries several streams has to sort or clamp these.
 *
 * A converter, its source and its outs belong to one thread. The entries it adds
 * go to s->tables.
 */
#ifndef BLK_TRACE_BT2_BT2_CONVERT_H
#define BLK_TRACE_BT2_BT2_CONVERT_H

#include <babeltrace2/babeltrace.h>

#include "trace/arena.h"
#include "trace/reader.h"

/* Where records go. A zeroed one is empty. Data of the records lies in the arena,
 * so both are valid until bt2_out_clear(). */
struct bt2_out {
	struct blk_event *ev;
	size_t n, cap;
	struct arena *arena;	/* borrowed; NULL: `own` is used */
	struct arena own;
};
void bt2_out_clear(struct bt2_out *o);
/* Its first record is a stream's BLK_ROW_STREAM_ADD: that stream and a silence (struct blk_loss)
 * begin at from_ns instead, which is earlier. */
void bt2_out_silence(struct bt2_out *o, int64_t from_ns);

/* `s` is borrowed (its tables are filled), `rows` too. */
struct bt2_convert;
struct bt2_convert *bt2_convert_new(struct source *s, const struct blk_subscription *rows,
				    size_t n_rows);
void bt2_convert_free(struct bt2_convert *c);	/* NULL is fine */

/* All streams known beforehand: pins the offset of the kernel's trace where a boot
 * has one, else that of the first in sort order. Before the first message. */
void bt2_convert_pin_clocks(struct bt2_convert *c, const bt_stream *const *streams, size_t n);

/* A pause as native_each_pause() tells: babeltrace2 does not. */
void bt2_convert_pause(struct bt2_convert *c, const char *order, int64_t last_end, int64_t begin,
		       int64_t end);

/* A counter of discarded events as native_each_fall() tells: babeltrace2 2.1 does not. */
void bt2_convert_fall(struct bt2_convert *c, const char *order, int64_t begin_ns, uint64_t fall);

/* A host as native_each_extent() tells. Before its first stream. */
void bt2_convert_extent(struct bt2_convert *c, const char *host, const char *boot, int64_t begin_ns,
			int64_t end_ns);

/* Appends the records of one message, none or several. False: the stream can't be
 * read (it has no clock). */
bool bt2_convert_message(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
			 GError **error);

/* The latest end of the packets of a stream that has ended (ns); INT64_MAX: not known. */
int64_t bt2_convert_end(const struct bt2_convert *c, unsigned stream);

#endif
