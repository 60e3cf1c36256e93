/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the state dump's stream. */
#include "trace/ring/ring_dump.h"

#include "trace/ring/ring_packet.h"

#include <limits.h>

#define PACKET_SIZE (60u << 10)
#define COMM_SIZE 16
#define EVENT_ROOM (PATH_MAX + 64)		/* bytes of an event, with one text */

enum dump_event {
	DUMP_START,
	DUMP_THREAD,
	DUMP_PID_NS,
	DUMP_CGROUP_NS,
	DUMP_UTS_NS,
	DUMP_DESCRIPTOR,
	DUMP_INTERRUPT,
	DUMP_DISK,
	DUMP_END,
	DUMP_N,
};

#define U(bits, name)                                                                                                  \
	"\t\tinteger { size = " #bits "; align = 8; signed = 0; encoding = none; base = 10; } _" name ";\n"
#define I(bits, name)                                                                                                  \
	"\t\tinteger { size = " #bits "; align = 8; signed = 1; encoding = none; base = 10; } _" name ";\n"
#define TEXT(name) "\t\tstring _" name ";\n"
static const struct { const char *name, *fields;
} declarations[DUMP_N] = {
	[DUMP_START] = { "start", "" },
	[DUMP_THREAD] = { "process_state",
			  I(32, "tid") I(32, "pid")
				  I(32, "ppid") "\t\tinteger { size = 8; align = 8; signed = 1; encoding = UTF8; base "
						"= 10; } _name[16];\n" I(32, "type") U(64, "file_table_address") },
	[DUMP_PID_NS] = { "process_pid_ns",
			  I(32, "tid") I(32, "vtid") I(32, "vpid") I(32, "ns_level") U(32, "ns_inum") },
	[DUMP_CGROUP_NS] = { "process_cgroup_ns", I(32, "tid") U(32, "ns_inum") },
	[DUMP_UTS_NS] = { "process_uts_ns", I(32, "tid") U(32, "ns_inum") },
	[DUMP_DESCRIPTOR] = { "file_descriptor",
			      U(64, "file_table_address") I(32, "fd") U(32, "flags") TEXT("filename") },
	[DUMP_INTERRUPT] = { "interrupt", U(32, "irq") TEXT("name") TEXT("action") },
	[DUMP_DISK] = { "block_device", U(32, "dev") TEXT("diskname") },
	[DUMP_END] = { "end", "" },
};

struct ring_dump {
	struct ring_packets *packets;
	struct ring_stream *stream;
	uint64_t time;
	uint8_t *at, *to;		/* of the event under construction */
};

/* ---- one event ---- */

static void begin_event(struct ring_dump *d, enum dump_event which)
{
	if (d->stream->is_open && d->stream->len > PACKET_SIZE)
		ring_packets_put_state(d->packets, ring_packet_close(d->stream, d->time), d->time, d->time);
	if (!d->stream->is_open)
		ring_packet_open(d->stream, d->time);
	d->at = d->to = ring_packet_event(d->stream, which, d->time, EVENT_ROOM);
}

static void end_event(struct ring_dump *d)
{
	ring_packet_event_done(d->stream, d->at, (size_t)(d->to - d->at));
}

static void put(struct ring_dump *d, uint64_t value, unsigned size)
{
	value = GUINT64_TO_LE(value);
	memcpy(d->to, &value, size);
	d->to += size;
}

static void put_text(struct ring_dump *d, const char *text, size_t max)
{
	size_t len = strnlen(text, max - 1);
	memcpy(d->to, text, len);
	d->to[len] = '\0';
	d->to += len + 1;
}

/* ---- the dump ---- */

static void declare(struct ring_packets *p)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (unsigned i = 0; i < DUMP_N; i++)
		g_string_append_printf(text,
				       "event {\n\tname = \"lttng_statedump_%s\";\n\tid = %u;\n\tstream_id = %u;\n"
				       "\tfields := struct {\n%s\t};\n};\n\n",
				       declarations[i].name, i, RING_STREAM_STATE, declarations[i].fields);
	ring_packets_declare(p, text->str);
}

struct ring_dump *ring_dump_new(struct ring_packets *p, uint64_t cycles)
{
	struct ring_dump *d = g_new0(struct ring_dump, 1);
	d->packets = p;
	d->stream = ring_packets_state(p);
	d->time = MAX(cycles, d->stream->last);
	if (!d->stream->sequence)
		declare(p);
	begin_event(d, DUMP_START);
	end_event(d);
	return d;
}

void ring_dump_end(struct ring_dump *d, uint64_t cycles)
{
	uint64_t begin = d->time;
	d->time = MAX(d->time, cycles);
	begin_event(d, DUMP_END);
	end_event(d);
	ring_packets_put_state(d->packets, ring_packet_close(d->stream, d->time), begin, d->time);
	g_free(d);
}

void ring_dump_thread(struct ring_dump *d, const struct ring_dump_thread *t)
{
	begin_event(d, DUMP_THREAD);
	put(d, (uint32_t)t->tid, 4);
	put(d, (uint32_t)t->pid, 4);
	put(d, (uint32_t)t->ppid, 4);
	memset(d->to, 0, COMM_SIZE);
	memcpy(d->to, t->name, strnlen(t->name, COMM_SIZE - 1));
	d->to += COMM_SIZE;
	put(d, t->is_kernel, 4);
	put(d, t->files, 8);
	end_event(d);
}

void ring_dump_pid_namespace(struct ring_dump *d, int32_t tid, int32_t vtid, int32_t vpid, int32_t level, uint32_t inum)
{
	begin_event(d, DUMP_PID_NS);
	put(d, (uint32_t)tid, 4);
	put(d, (uint32_t)vtid, 4);
	put(d, (uint32_t)vpid, 4);
	put(d, (uint32_t)level, 4);
	put(d, inum, 4);
	end_event(d);
}

void ring_dump_namespace(struct ring_dump *d, enum ring_namespace which, int32_t tid, uint32_t inum)
{
	begin_event(d, which == RING_CGROUP_NS ? DUMP_CGROUP_NS : DUMP_UTS_NS);
	put(d, (uint32_t)tid, 4);
	put(d, inum, 4);
	end_event(d);
}

void ring_dump_descriptor(struct ring_dump *d, uint64_t files, int32_t fd, uint32_t flags, const char *filename)
{
	begin_event(d, DUMP_DESCRIPTOR);
	put(d, files, 8);
	put(d, (uint32_t)fd, 4);
	put(d, flags, 4);
	put_text(d, filename, PATH_MAX);
	end_event(d);
}

void ring_dump_interrupt(struct ring_dump *d, uint32_t irq, const char *action)
{
	begin_event(d, DUMP_INTERRUPT);
	put(d, irq, 4);
	put_text(d, "", 1);
	put_text(d, action, PATH_MAX);
	end_event(d);
}

void ring_dump_disk(struct ring_dump *d, uint32_t dev, const char *name)
{
	begin_event(d, DUMP_DISK);
	put(d, dev, 4);
	put_text(d, name, PATH_MAX);
	end_event(d);
}
