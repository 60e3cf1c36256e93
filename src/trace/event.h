/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record: what a reader delivers for an event. This is the only interface between the readers and the model.
 *
 * A reader delivers batches of 32-byte records. A record of a subscribed event class points at its payload and at a
 * layout. With the layout the inline getters below read the wanted fields in place, without a call. Other records
 * (a loss, a horizon, a new stream) are in the same sequence and have row numbers of their own (BLK_ROW_*).
 *
 * This header is the only one of src/trace/ that src/state/ may include.
 */
#ifndef BLK_TRACE_EVENT_H
#define BLK_TRACE_EVENT_H

#include "base/limits.h"
#include "base/machine.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * One row of the subscription table: an event, and which of its fields are wanted.
 *
 * event   exact name ("sched_switch") or a prefix with a trailing '*'
 *         ("syscall_entry_*"). An exact row wins over a prefix row, a longer
 *         prefix over a shorter one. BLK_PROBES: the kernel's dynamic probes, whatever
 *         their names are, unless another row than "*" takes them: see blk_is_probe().
 *         BLK_USER: events of LTTng's user space (PROVIDER:NAME) that no other row takes.
 * fields  wanted payload fields, NULL-terminated, at most BLK_MAX_FIELDS. A name
 *         may list alternatives in order ("fd|fildes") and may pick one element
 *         of an array or sequence ("fildes[1]"). Names are written without the leading '_'
 *         of CTF. An absent field reads as "none" (blk_has() is false).
 *         "*" is all fields, contexts included, in the format of base/fields.h (bytes).
 *         BLK_COUNTERS is all contexts that are perf counters: see blk_class.counters.
 * needs   short text: what blktop shows if this event is recorded (--list-events), or NULL.
 * row_of_class
 *         not NULL: `event` is a pattern with '*' anywhere, as in LTTng's event rules, and takes no event itself. A
 *         reader calls the function of the first such row once for each event class, with the row that takes the event
 *         otherwise (G_MAXUINT16: none). The function returns the row to use, which may have been added behind the n
 *         rows of the table. Any thread may call it.
 */
#define BLK_MAX_FIELDS 16
#define BLK_COUNTERS "perf_*"
#define BLK_PROBES "(probe)"
#define BLK_USER "(user)"
struct blk_subscription {
	const char *event;
	const char *fields[BLK_MAX_FIELDS + 1];
	const char *needs;
	uint16_t (*row_of_class)(const char *event, uint16_t row);
};

/* Slots of a layout: first the contexts, then the counters, then the row's fields. */
enum blk_slot {
	BLK_CTX_TID, BLK_CTX_PID, BLK_CTX_PPID, BLK_CTX_PROCNAME,
	BLK_CTX_VPID, BLK_CTX_VTID,
	BLK_CTX_HOSTNAME, BLK_CTX_PID_NS, BLK_CTX_CGROUP_NS, BLK_CTX_UTS_NS,
	BLK_N_CONTEXTS,
	BLK_CTX_COUNTER0 = BLK_N_CONTEXTS,	/* the class's counters, if the row requests them */
	BLK_FIELD0 = BLK_CTX_COUNTER0 + LIMIT_EVENT_COUNTERS,	/* fields[0] of the row */
	BLK_MAX_SLOTS = BLK_FIELD0 + BLK_MAX_FIELDS,
};

_Static_assert(BLK_MAX_SLOTS <= 32, "sets of slots are masks of 32 bits: one more context, counter or "
	       "field needs wider ones (ctf_class.wanted, ctf_run.present, missing in bt2_bind.c)");

/* How the value of a slot is stored in the payload. */
enum blk_repr {
	BLK_NONE,		/* the class does not have it */
	BLK_INT,		/* integer of size 1, 2, 4 or 8 bytes */
	BLK_TEXT_INLINE,	/* at off: ends with a NUL, or has `size` bytes */
	BLK_TEXT_REF,		/* a struct blk_text at off (aligned) */
	BLK_BYTES_REF,		/* the same, raw bytes (an address, say) */
	BLK_REAL,		/* IEEE 754 binary number of size 4 or 8 bytes */
};

struct blk_text {
	const char *str;	/* not necessarily NUL-terminated */
	uint32_t len;		/* bytes */
};

struct blk_slot_layout {
	uint32_t off;		/* bytes from blk_event.data */
	uint16_t size;		/* bytes (BLK_INT, BLK_TEXT_INLINE, BLK_REAL) */
	uint8_t repr;		/* enum blk_repr */
	bool is_signed : 1, big_endian : 1;
	bool is_hex : 1;	/* the trace wants the integer shown in base 16: an address, a pointer */
};

/* A reader that copies an integer field stores it so at `to` (8 bytes): on every machine in the byte order of most
 * traces, so that the same traces take the same ways through the program. */
static inline void blk_store_int(uint8_t *to, uint64_t v)
{
	v = GUINT64_TO_LE(v);
	memcpy(to, &v, sizeof v);
}

struct blk_layout {
	struct blk_slot_layout slot[BLK_MAX_SLOTS];
};

/* Row numbers of records that are not events of the trace. */
enum {
	BLK_ROW_FIRST_PSEUDO = 0xfff0,
	BLK_ROW_LOST_BEGIN = 0xfff0,	/* data: struct blk_loss; ts: last instant before it */
	BLK_ROW_LOST_END,		/* data: the same struct blk_loss; ts: its end */
	BLK_ROW_HORIZON,		/* no record with a smaller ts will come */
	BLK_ROW_STREAM_ADD,		/* .stream is new; ts: the beginning of its first packet */
	BLK_ROW_STREAM_END,		/* .stream has ended; ts: the end of its last packet */
	BLK_ROW_TALLY,			/* data: struct blk_tally; cls: class without a row */
};

/* A loss: events that were recorded or should have been, and are not in the trace; or a time without tracing. */
struct blk_loss {
	uint64_t events;	/* discarded events; 0: unknown how many */
	uint64_t packets;	/* lost packets */
	uint64_t damaged;	/* packets that exist but cannot be decoded to their end; how many events are
				 * missing is unknown */
	int64_t begin_ns, end_ns;
	int64_t earlier_ns, later_ns;	/* its window begins this much before begin_ns and ends this much after end_ns:
				 * some events of the window were recorded */
	bool is_part;		/* the events lost in it are counted in another loss of the same packet */
	bool silence;		/* nothing was lost: this CPU was not traced. Either between two sessions of one
				 * boot: on the stream of the later session, from 1 ns after the packets of the
				 * earlier one. Or in a pause of a session: on each of its streams, from the
				 * stream's last event. Only in recorded traces of kernels. Or .back_ns is set */
	int64_t back_ns;	/* > 0: the stream's clock went back by so much, so it is unknown when the stream's
				 * next event was; its record has .begin_ns (= .end_ns) */
};

/*
 * Counts events of classes without a row. The first event of each stream is reported at once (count 1), so that its
 * coverage begins right. All others are counted per second; the count is reported when the second or the stream ends.
 */
struct blk_tally {
	int64_t second;		/* floor(ts / 1e9) */
	uint64_t count;		/* events of class .cls on .stream in that second */
	int64_t last_ns;	/* time of the newest of them */
};

/* One record; 32 bytes. */
struct blk_event {
	int64_t ts;			/* ns since the epoch */
	const uint8_t *data;		/* valid until the next batch is asked for */
	const struct blk_layout *layout;/* NULL for pseudo rows */
	uint32_t cls;			/* index for blk_class(): the event's name */
	uint16_t row;			/* index in the subscription table, or BLK_ROW_* */
	uint16_t stream;		/* index for blk_stream() */
};
G_STATIC_ASSERT(sizeof(struct blk_event) == 32);

/* Streams and classes are numbered per source, from 0. A class exists as long as the source. A stream's number can be
 * reused after its STREAM_END: then a STREAM_ADD comes before the records of the new stream. */
enum blk_domain { BLK_DOMAIN_KERNEL, BLK_DOMAIN_UST, BLK_DOMAIN_OTHER };

struct blk_stream {
	uint32_t cpu;		/* of its packets; UINT32_MAX when unknown */
	uint16_t host;		/* index for blk_host() */
	uint8_t domain;		/* enum blk_domain */
	int32_t vpid;		/* for per-process UST buffers: the process's pid; else -1 */
	char *vpid_procname;	/* name of that process when it registered, or NULL */
	char *hostname;		/* the host's name in the stream's trace, if .host has another: its session daemon
				 * runs in a container. Then pids of its events may be of that container, too. NULL:
				 * the same name */
	char *order;		/* sort key for equal timestamps: host boot, domain,
				 * trace uuid, stream class, cpu or instance. All but the last, blk_channel_len()
				 * bytes, identifies the channel */
	int64_t recorded_from;	/* ns: beginning of its first packet, if earlier packets are missing (a snapshot, a
				 * rotation chunk alone); 0: they are not, or unknown */
	int64_t recorded_to;	/* ns: end of its last packet; 0: unknown. Live: set before STREAM_END */
};

struct blk_host {
	char *name;		/* as in the trace of its kernel, if there is one; "?": unknown */
	char *boot;		/* clock uuid = boot id, or "" */
	char *kernel_release;	/* "6.1.0-56-cloud-amd64", or "" */
	bool has_kernel;	/* the trace has streams of its kernel, even if it has no event of them */
	int64_t begin_ns, end_ns;	/* beginning of its first packet, end of its last one; INT64_MIN, INT64_MAX:
					 * unknown */
	struct machine_evidence machine;	/* from the metadata of its traces */
};

struct blk_class {
	char *name;		/* "sched_switch" */
	uint16_t row;		/* G_MAXUINT16: no row takes it */
	char *counters;		/* "cpu_instructions cpu_cycles": the counters in the slots from
				 * BLK_CTX_COUNTER0 on; NULL: none. Classes of the same name may differ in
				 * their counters */
};

/*
 * The tables that records refer to. The source owns them. Entries are added and never removed; only the entry of a
 * stream that has ended may change. Pointers to entries stay valid. Only the thread that calls the source may read
 * them.
 */
struct blk_tables {
	GPtrArray *streams;	/* struct blk_stream * */
	GPtrArray *hosts;	/* struct blk_host * */
	GPtrArray *classes;	/* struct blk_class * */
};

static inline const struct blk_stream *blk_stream(const struct blk_tables *t, unsigned i)
{
	return g_ptr_array_index(t->streams, i);
}

static inline size_t blk_channel_len(const struct blk_stream *s)
{
	const char *last = s->order ? strrchr(s->order, '|') : NULL;
	return last ? (size_t)(last - s->order) : 0;
}

static inline const struct blk_host *blk_host(const struct blk_tables *t, unsigned i)
{
	return g_ptr_array_index(t->hosts, i);
}

static inline const struct blk_class *blk_class(const struct blk_tables *t, unsigned i)
{
	return g_ptr_array_index(t->classes, i);
}

/* Does this event have the slot? */
static inline bool blk_has(const struct blk_event *e, unsigned slot)
{
	return e->layout->slot[slot].repr != BLK_NONE;
}

/* The integer, or the bits of the number, that the layout describes; data: the record's. */
static inline int64_t blk_int_at(const struct blk_slot_layout *l, const uint8_t *data)
{
	const uint8_t *p = data + l->off;
	switch (l->size) {
	case 8: {
		uint64_t v;
		memcpy(&v, p, 8);
		return (int64_t)(l->big_endian ? GUINT64_FROM_BE(v) : GUINT64_FROM_LE(v));
	}
	case 4: {
		uint32_t v;
		memcpy(&v, p, 4);
		v = l->big_endian ? GUINT32_FROM_BE(v) : GUINT32_FROM_LE(v);
		return l->is_signed ? (int64_t)(int32_t)v : (int64_t)v;
	}
	case 2: {
		uint16_t v;
		memcpy(&v, p, 2);
		v = l->big_endian ? GUINT16_FROM_BE(v) : GUINT16_FROM_LE(v);
		return l->is_signed ? (int64_t)(int16_t)v : (int64_t)v;
	}
	default:
		return l->is_signed ? (int64_t)(int8_t)*p : (int64_t)*p;
	}
}

/* The slot as a signed 64-bit integer; `absent` if the event does not have it, or if it is not an integer. Unsigned
 * 64-bit values have the same bits. */
static inline int64_t blk_int_or(const struct blk_event *e, unsigned slot, int64_t absent)
{
	const struct blk_slot_layout *l = &e->layout->slot[slot];
	return l->repr == BLK_INT ? blk_int_at(l, e->data) : absent;
}

static inline int64_t blk_int(const struct blk_event *e, unsigned slot)
{
	return blk_int_or(e, slot, 0);
}

/* The slot as a floating-point number, with its sign of zero, infinities and NaN; 0 if it is not one. A number of 4
 * bytes has the same value in 8. */
static inline double blk_real(const struct blk_event *e, unsigned slot)
{
	const struct blk_slot_layout *l = &e->layout->slot[slot];
	if (l->repr != BLK_REAL)
		return 0;
	uint64_t bits = (uint64_t)blk_int_at(l, e->data);
	if (l->size == 4) {
		uint32_t half = (uint32_t)bits;
		float single;
		memcpy(&single, &half, sizeof single);
		return (double)single;
	}
	double ret;
	memcpy(&ret, &bits, sizeof ret);
	return ret;
}

/* The slot as text or bytes, with its length; ("", 0) if the event does not have it. Hostile: may contain any byte.
 * Valid as long as the record. */
static inline struct blk_text blk_text(const struct blk_event *e, unsigned slot)
{
	const struct blk_slot_layout *l = &e->layout->slot[slot];
	struct blk_text t = { "", 0 };
	if (l->repr == BLK_TEXT_REF || l->repr == BLK_BYTES_REF) {
		memcpy(&t, e->data + l->off, sizeof t);
	} else if (l->repr == BLK_TEXT_INLINE) {
		t.str = (const char *)e->data + l->off;
		t.len = strnlen(t.str, l->size);
	}
	return t;
}

#endif
