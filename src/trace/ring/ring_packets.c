/* SPDX-License-Identifier: GPL-2.0-only */
/* Transcodes pages of all CPUs: streams, losses, processes of threads, metadata. */
#include "trace/ring/ring_packets.h"

#include "base/intmap.h"
#include "base/text.h"
#include "trace/ring/ring_names.h"
#include "trace/ring/ring_packet.h"
#include "trace/ring/ring_printed.h"
#include "trace/ring/ring_program.h"
#include "trace/ring/ring_rules.h"

#define PACKET_SIZE (60u << 10)		/* a packet that has more is closed */
#ifndef CLONE_THREAD
#define CLONE_THREAD 0x10000		/* include/uapi/linux/sched.h */
#endif

/* An event of the kernel: its format, and the event classes made of it. */
struct event_class {
	struct ring_format *format;
	ring_program *programs[2];	/* [1]: with what only the transcoder knows; NULL: not needed yet */
	unsigned ids[2];
	const struct ring_plain *plain;	/* of programs[0], of events that need nothing else; NULL: not known to be */
	enum { PLAIN_EVENT, FORK_EVENT, NEW_TASK_EVENT, CALL_EVENT, INSTALL_EVENT, PRINTED_EVENT } kind;
	enum ring_extra extra;		/* of CALL_EVENT: exits that return descriptors */
	uint32_t result;		/* offset of their result, which has 8 bytes or (.result_size) 4 */
	uint8_t result_size;		/* 0: it is not known */
	/* INSTALL_EVENT: offsets of struct sock_common's members, if .has_peer */
	uint32_t descriptor, family, port, v4, v6[2];
	bool has_peer;
	uint32_t child;			/* offset of the new thread's id: FORK_EVENT, NEW_TASK_EVENT */
	uint32_t parent;		/* offset of its creator's: FORK_EVENT */
	uint32_t flags;			/* offset of its clone flags, which have .flags_size bytes: NEW_TASK_EVENT */
	uint8_t flags_size;
	uint32_t text;			/* offset of what says where the text is: PRINTED_EVENT */
};

struct cpu_stream {
	struct ring_stream stream;
	bool is_started;		/* its first packet was written */
	uint64_t passed;		/* cycles: end of the last packet, or its last event */
	uint64_t overwritten;		/* events, as far as they are in .stream.discarded */
	bool has_claimed;		/* .overwritten may contain what was lost later, which other pages count, too */
	uint64_t unread;		/* losses from the last event to the next one: the rest of a damaged page */
	int32_t caller;			/* thread of the last system call; 0: none */
	bool is_excluded;		/* its calls are left out */
	int32_t new_task;		/* 0: none */
	uint64_t new_task_flags;
	struct {			/* descriptors that a thread's call has got so far */
		int32_t tid;		/* 0: none */
		unsigned n;		/* of which .fds has the first two */
		int32_t fds[2];
		struct ring_address peer;	/* of the first, if it is a connected socket */
	} got;
};

struct ring_packets {
	struct ring_layout layout;
	struct ring_sink sink;
	void *data;
	uint8_t uuid[16];
	GPtrArray *classes;		/* struct event_class by the kernel's id; NULL: not known */
	GPtrArray *cpus;		/* struct cpu_stream; NULL: not seen */
	unsigned n_ids;			/* event classes that were declared */
	struct intmap processes;	/* tid -> tgid */
	struct intmap excluded;		/* processes whose calls are left out -> 1 */
	struct ring_counts counts;
	struct ring_stream state;	/* RING_STREAM_STATE */
	char tag[RING_PRINTED_TAG + 1];	/* "": no texts are calls */
	/* The pages of this call, of which new tasks are looked for once, if one is missing. */
	const struct ring_read *pages;
	size_t n_pages;
	bool are_searched;
};

/* ---- metadata ---- */

static void declare_text(GString *s, const char *key, const char *value)
{
	if (!value)
		return;
	g_string_append_printf(s, "\t%s = \"", key);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\' && *c != 0x7f)
			g_string_append_c(s, *c);
	g_string_append(s, "\";\n");
}

static const char types[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n\n";

static const char streams[] =
	"struct packet_context {\n"
	"\tuint64_clock_t timestamp_begin;\n\tuint64_clock_t timestamp_end;\n\tuint64_t content_size;\n"
	"\tuint64_t packet_size;\n\tuint64_t packet_seq_num;\n\tuint64_t events_discarded;\n\tuint32_t cpu_id;\n};\n\n"
	"struct event_header_large {\n"
	"\tenum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
	"\tvariant <id> {\n"
	"\t\tstruct {\n\t\t\tuint32_clock_t timestamp;\n\t\t} compact;\n"
	"\t\tstruct {\n\t\t\tuint32_t id;\n\t\t\tuint64_clock_t timestamp;\n\t\t} extended;\n"
	"\t} v;\n} align(8);\n\n"
	"stream {\n\tid = 0;\n\tevent.header := struct event_header_large;\n"
	"\tpacket.context := struct packet_context;\n"
	"\tevent.context := struct {\n"
	"\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _tid;\n\t};\n};\n\n"
	"stream {\n\tid = 1;\n\tevent.header := struct event_header_large;\n"
	"\tpacket.context := struct packet_context;\n};\n\n";

static void declare_trace(struct ring_packets *p, const struct ring_trace *trace)
{
	char uuid[TEXT_UUID_BYTES];
	g_autoptr(GString) s = g_string_new(types);
	text_uuid(uuid, trace->uuid);
	g_string_append_printf(s, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n\tbyte_order = le;\n"
			       "\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t  uuid[16];\n"
			       "\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n", uuid);
	g_string_append(s, "env {\n");
	declare_text(s, "hostname", trace->hostname);
	g_string_append(s, "\tdomain = \"kernel\";\n\tsysname = \"Linux\";\n");
	declare_text(s, "kernel_release", trace->kernel_release);
	declare_text(s, "kernel_version", trace->kernel_version);
	g_string_append_printf(s, "\tarchitecture_bit_width = %u;\n", p->layout.machine.long_size * 8);
	declare_text(s, "tracer_name", trace->tracer);
	declare_text(s, RING_NAMES_ENV, trace->names);
	g_string_append(s, "\ttracer_major = 1;\n\ttracer_minor = 0;\n};\n\n");
	g_string_append_printf(s, "clock {\n\tname = \"%s\";\n", trace->clock_name);
	declare_text(s, "uuid", trace->clock_uuid);
	/* babeltrace2 takes the clocks of LTTng for absolute, and merges only clocks that are alike. */
	g_string_append_printf(s, "\tfreq = %" G_GUINT64_FORMAT ";\n\toffset = %" G_GINT64_FORMAT ";\n%s};\n\n",
			       trace->clock_frequency, trace->clock_offset,
			       trace->clock_offset ? "\tabsolute = TRUE;\n" : "");
	for (unsigned bits = 32; bits <= 64; bits += 32)
		g_string_append_printf(
			s,
			"typealias integer { size = %u; align = 8; signed = false; map = clock.%s.value; } := "
			"uint%u_clock_t;\n",
			bits, trace->clock_name, bits);
	g_string_append(s, "\n");
	g_string_append(s, streams);
	ring_packets_declare(p, s->str);
}

void ring_packets_declare(struct ring_packets *p, const char *text)
{
	p->sink.metadata(p->data, text, strlen(text));
}

/* ---- making and freeing ---- */

static void event_class_free(struct event_class *c)
{
	if (!c)
		return;
	ring_format_free(c->format);
	ring_program_free(c->programs[0]);
	ring_program_free(c->programs[1]);
	g_free(c);
}

static void cpu_stream_free(struct cpu_stream *c)
{
	if (c)
		ring_stream_clear(&c->stream);
	g_free(c);
}

struct ring_packets *ring_packets_new(const struct ring_layout *layout, const struct ring_trace *trace,
				      const struct ring_sink *sink, void *data)
{
	struct ring_packets *p = g_new0(struct ring_packets, 1);
	p->layout = *layout;
	p->sink = *sink;
	p->data = data;
	memcpy(p->uuid, trace->uuid, sizeof(p->uuid));
	memcpy(p->state.uuid, trace->uuid, sizeof(p->state.uuid));
	p->state.stream_class = RING_STREAM_STATE;
	p->classes = g_ptr_array_new_with_free_func((GDestroyNotify)(void (*)(void))event_class_free);
	p->cpus = g_ptr_array_new_with_free_func((GDestroyNotify)(void (*)(void))cpu_stream_free);
	declare_trace(p, trace);
	return p;
}

void ring_packets_free(struct ring_packets *p)
{
	if (!p)
		return;
	g_ptr_array_unref(p->classes);
	g_ptr_array_unref(p->cpus);
	intmap_clear(&p->processes);
	intmap_clear(&p->excluded);
	ring_stream_clear(&p->state);
	g_free(p);
}

static bool is_event(const struct ring_format *f, const char *system, const char *name)
{
	return !strcmp(f->system, system) && !strcmp(f->name, name);
}

/* Offset of a number with this size in the event. */
static bool offset_of(const struct ring_format *f, const char *name, uint32_t size, uint32_t *offset)
{
	const struct ring_field *field = ring_fields_find(f->fields, name);
	if (!field || field->size != size || field->place != RING_INLINE)
		return false;
	*offset = field->offset;
	return true;
}

static void class_of_call(struct event_class *c)
{
	const struct ring_field *result = ring_fields_find(c->format->fields, "ret");
	c->kind = CALL_EVENT;
	c->extra = ring_event_extra(c->format);
	if (result && (result->size == 4 || result->size == 8) && result->place == RING_INLINE) {
		c->result = result->offset;
		c->result_size = (uint8_t)result->size;
	}
}

static void class_of_install(struct event_class *c)
{
	const struct ring_format *f = c->format;
	c->kind = INSTALL_EVENT;
	c->has_peer = offset_of(f, "skc_family", 2, &c->family) && offset_of(f, "skc_dport", 2, &c->port) &&
		      offset_of(f, "skc_daddr", 4, &c->v4) && offset_of(f, "skc_v6_daddr0", 8, &c->v6[0]) &&
		      offset_of(f, "skc_v6_daddr1", 8, &c->v6[1]);
}

static void class_of_printed(struct event_class *c)
{
	const struct ring_field *text = ring_fields_find(c->format->fields, RING_PRINTED_TEXT);
	if (text && text->place == RING_DATA_LOC && text->size == 4) {
		c->kind = PRINTED_EVENT;
		c->text = text->offset;
	}
}

void ring_packets_set_tag(struct ring_packets *p, const char *tag)
{
	g_strlcpy(p->tag, tag, sizeof p->tag);
}

void ring_packets_add_format(struct ring_packets *p, struct ring_format *format)
{
	struct event_class *c = g_new0(struct event_class, 1);
	const struct ring_field *flags = ring_fields_find(format->fields, "clone_flags");
	c->format = format;
	if (is_event(format, "sched", "sched_process_fork") && offset_of(format, "child_pid", 4, &c->child) &&
	    offset_of(format, "parent_pid", 4, &c->parent))
		c->kind = FORK_EVENT;
	if (is_event(format, "task", "task_newtask") && offset_of(format, "pid", 4, &c->child) && flags &&
	    (flags->size == 4 || flags->size == 8) && flags->place == RING_INLINE) {
		c->kind = NEW_TASK_EVENT;
		c->flags = flags->offset;
		c->flags_size = (uint8_t)flags->size;
	}
	if (!strcmp(format->system, "syscalls"))
		class_of_call(c);
	if (is_event(format, RING_PROBE_SYSTEM, RING_PROBE_INSTALL) && offset_of(format, "fd", 4, &c->descriptor))
		class_of_install(c);
	if (is_event(format, RING_PRINTED_SYSTEM, RING_PRINTED_EVENT))
		class_of_printed(c);
	if (format->id >= p->classes->len)
		g_ptr_array_set_size(p->classes, format->id + 1);
	event_class_free(p->classes->pdata[format->id]);
	p->classes->pdata[format->id] = c;
}

static struct cpu_stream *cpu_of(struct ring_packets *p, unsigned cpu)
{
	if (cpu >= p->cpus->len)
		g_ptr_array_set_size(p->cpus, (gint)cpu + 1);
	struct cpu_stream *c = p->cpus->pdata[cpu];
	if (!c) {
		p->cpus->pdata[cpu] = c = g_new0(struct cpu_stream, 1);
		c->stream.stream_class = RING_STREAM_CPU;
		c->stream.instance = cpu;
		memcpy(c->stream.uuid, p->uuid, sizeof(p->uuid));
	}
	return c;
}

/* ---- packets ---- */

static void close_packet(struct ring_packets *p, struct cpu_stream *c, uint64_t end)
{
	uint64_t begin = c->stream.begin;
	end = MAX(end, c->stream.last);
	p->sink.packet(p->data, RING_STREAM_CPU, c->stream.instance, ring_packet_close(&c->stream, end), begin, end);
	c->passed = MAX(c->passed, end);
}

static void put_empty(struct ring_packets *p, struct cpu_stream *c, uint64_t begin, uint64_t end)
{
	ring_packet_open(&c->stream, begin);
	close_packet(p, c, end);
	c->is_started = true;
}

/* n events were lost after what was written so far and before `until`. The first packet of a stream is the baseline of
 * its events_discarded. */
static void lose(struct ring_packets *p, struct cpu_stream *c, uint64_t n, uint64_t until)
{
	if (c->stream.is_open)
		close_packet(p, c, 0);
	c->stream.discarded += n;
	p->counts.lost += n;
	put_empty(p, c, c->is_started ? MIN(c->passed, until) : until, until);
}

/* Up to this time, nothing was read behind a damaged page. */
static void lose_unread(struct ring_packets *p, struct cpu_stream *c, uint64_t until)
{
	if (c->unread)
		lose(p, c, c->unread, MAX(until, MAX(c->passed, c->stream.last)));
	c->unread = 0;
}

void ring_packets_start(struct ring_packets *p, unsigned cpu, uint64_t cycles)
{
	struct cpu_stream *c = cpu_of(p, cpu);
	if (!c->is_started)
		put_empty(p, c, cycles, cycles);
}

void ring_packets_flush(struct ring_packets *p, unsigned cpu, uint64_t until)
{
	struct cpu_stream *c = cpu_of(p, cpu);
	lose_unread(p, c, until);
	if (c->stream.is_open)
		close_packet(p, c, until);
}

void ring_packets_flush_all(struct ring_packets *p, uint64_t until)
{
	for (unsigned cpu = 0; cpu < p->cpus->len; cpu++)
		if (p->cpus->pdata[cpu])
			ring_packets_flush(p, cpu, until);
}

void ring_packets_put_state(struct ring_packets *p, GBytes *packet, uint64_t begin, uint64_t end)
{
	p->sink.packet(p->data, RING_STREAM_STATE, 0, packet, begin, end);
}

struct ring_stream *ring_packets_state(struct ring_packets *p)
{
	return &p->state;
}

/* The page says that events are missing before it. */
static void lose_before_page(struct ring_packets *p, struct cpu_stream *c, const struct ring_page *page)
{
	uint64_t n = page->n_lost;
	bool is_asked = p->sink.overwritten && (!page->n_lost_known || c->has_claimed);
	uint64_t all = is_asked ? p->sink.overwritten(p->data, c->stream.instance) : 0;
	uint64_t rest = all > c->overwritten ? all - c->overwritten : 1;
	if (!page->n_lost_known) {
		n = rest;
		c->has_claimed = all;
	} else if (c->has_claimed) {
		n = MIN(n, rest);
	}
	c->overwritten += n;
	if (c->is_started)
		lose(p, c, n, page->time);
}

/* ---- processes of threads ---- */

static int32_t process_of(const struct ring_packets *p, int32_t tid)
{
	uint32_t tgid = intmap_get(&p->processes, (uint32_t)tid);
	return tgid == INTMAP_NONE ? -1 : (int32_t)tgid;
}

bool ring_packets_has_process(const struct ring_packets *p, int32_t tid)
{
	return process_of(p, tid) > 0;
}

void ring_packets_set_process(struct ring_packets *p, int32_t tid, int32_t tgid)
{
	if (tid > 0 && tgid > 0)
		intmap_set(&p->processes, (uint32_t)tid, (uint32_t)tgid);
	else
		intmap_remove(&p->processes, (uint32_t)tid);
}

static uint64_t number_at(const struct ring_packets *p, const struct ring_event *e, uint32_t offset, unsigned size)
{
	return offset + size <= e->size ? ring_number(p->layout.machine, e->payload + offset, size) : 0;
}

static struct event_class *class_of(const struct ring_packets *p, const struct ring_event *e)
{
	uint16_t id = (uint16_t)ring_number(p->layout.machine, e->payload, 2);
	return id < p->classes->len ? p->classes->pdata[id] : NULL;
}

/* A new process is its own; of a new thread the caller knows the creator's. */
static void new_task(struct ring_packets *p, const struct event_class *class, const struct ring_event *e,
		     int32_t creator)
{
	int32_t child = (int32_t)number_at(p, e, class->child, 4);
	bool is_thread = number_at(p, e, class->flags, class->flags_size) & CLONE_THREAD;
	int32_t process = process_of(p, creator);
	ring_packets_set_process(p, child, is_thread ? process : child);
	if (!is_thread && process > 0 && intmap_get(&p->excluded, (uint32_t)process) != INTMAP_NONE)
		ring_packets_exclude_calls(p, child);
}

void ring_packets_exclude_calls(struct ring_packets *p, int32_t pid)
{
	intmap_set(&p->excluded, (uint32_t)pid, 1);
}

/* A thread's id can be another one's now. */
static void forget_callers(struct ring_packets *p)
{
	for (guint i = 0; i < p->cpus->len && p->excluded.n; i++)
		if (p->cpus->pdata[i])
			((struct cpu_stream *)p->cpus->pdata[i])->caller = 0;
}

/* Is the call left out? */
static bool is_excluded(const struct ring_packets *p, struct cpu_stream *c, int32_t tid)
{
	if (c->caller != tid) {
		int32_t process = process_of(p, tid);
		c->caller = tid;
		c->is_excluded = process > 0 && intmap_get(&p->excluded, (uint32_t)process) != INTMAP_NONE;
	}
	return c->is_excluded;
}

/* Events of CPUs whose pages come later may tell the process of a thread. Several rounds, as a thread can create a
 * thread that creates one on yet another CPU: each round goes through CPUs in order. */
static int32_t search_process(struct ring_packets *p, int32_t tid)
{
	for (unsigned round = 0; !p->are_searched && round < 2; round++) {
		for (size_t i = 0; i < p->n_pages; i++) {
			struct ring_page page;
			struct ring_event e;
			if (!ring_page_open(&page, &p->layout, p->pages[i].bytes, p->pages[i].n))
				continue;
			while (ring_page_next(&page, &e) == RING_EVENT) {
				const struct event_class *class = class_of(p, &e);
				if (class && class->kind == NEW_TASK_EVENT)
					new_task(p, class, &e, (int32_t)number_at(p, &e, 4, 4));
			}
		}
	}
	p->are_searched = true;
	return process_of(p, tid);
}

/* Fills in the processes of a fork. False: they are not known. */
static bool fork_processes(struct ring_packets *p, const struct cpu_stream *c, const struct event_class *class,
			   struct ring_run *run)
{
	int32_t child = (int32_t)number_at(p, run->event, class->child, 4);
	int32_t parent = (int32_t)number_at(p, run->event, class->parent, 4);
	if (!child || c->new_task != child)
		return false;
	run->parent_tgid = process_of(p, parent);
	if (run->parent_tgid < 0)
		run->parent_tgid = search_process(p, parent);
	run->child_tgid = c->new_task_flags & CLONE_THREAD ? run->parent_tgid : child;
	ring_packets_set_process(p, child, run->child_tgid);
	return run->parent_tgid > 0;
}

/* ---- descriptors of calls ---- */

static void take_descriptor(const struct ring_packets *p, struct cpu_stream *c, const struct event_class *class,
			    const struct ring_event *e, int32_t tid)
{
	if (c->got.tid != tid)
		c->got.n = 0;
	c->got.tid = tid;
	if (c->got.n < G_N_ELEMENTS(c->got.fds))
		c->got.fds[c->got.n] = (int32_t)number_at(p, e, class->descriptor, 4);
	uint32_t end = MAX(class->family, class->port) + 2;
	end = MAX(end, MAX(class->v4 + 4, MAX(class->v6[0], class->v6[1]) + 8));
	struct ring_address *peer = &c->got.peer;
	*peer = (struct ring_address){ 0 };
	if (!c->got.n++ && class->has_peer && end <= e->size) {
		peer->family = (uint16_t)number_at(p, e, class->family, 2);
		memcpy(peer->port, e->payload + class->port, 2);
		if (peer->family == RING_INET) {
			memcpy(peer->bytes, e->payload + class->v4, 4);
		} else if (peer->family == RING_INET6) {
			memcpy(peer->bytes, e->payload + class->v6[0], 8);
			memcpy(peer->bytes + 8, e->payload + class->v6[1], 8);
		}
	}
}

/* Fills in what the call got. False: it is not known. A thread that was on another CPU meanwhile is left out. */
static bool call_descriptors(const struct ring_packets *p, struct cpu_stream *c, const struct event_class *class,
			     struct ring_run *run)
{
	bool is_peer = class->extra == RING_EXTRA_PEER, is_pair = class->extra == RING_EXTRA_PIPE ||
		       class->extra == RING_EXTRA_SOCKETS;
	bool is_own = c->got.tid == run->tid;
	unsigned n = c->got.n;
	c->got.tid = 0;
	if (!is_own || !class->result_size || (!is_peer && !is_pair))
		return false;
	int32_t result = (int32_t)number_at(p, run->event, class->result, class->result_size);
	run->descriptors = c->got.fds;
	run->peer = &c->got.peer;
	return is_pair ? n == 2 && result == 0 : n == 1 && result == c->got.fds[0] && run->peer->family;
}

/* ---- events ---- */

static const struct ring_program *program_of(struct ring_packets *p, struct event_class *class, bool with_known)
{
	if (!class->programs[with_known]) {
		struct ring_program *made = ring_program_new(class->format, p->layout.machine, with_known);
		g_autoptr(GString) text = g_string_new(NULL);
		class->programs[with_known] = made;
		class->ids[with_known] = p->n_ids++;
		ring_program_declare(made, text, class->ids[with_known], RING_STREAM_CPU);
		ring_packets_declare(p, text->str);
	}
	return class->programs[with_known];
}

void ring_packets_declare_events(struct ring_packets *p)
{
	for (guint i = 0; i < p->classes->len; i++) {
		struct event_class *class = p->classes->pdata[i];
		if (class && (class->kind == PLAIN_EVENT || class->kind == FORK_EVENT))
			program_of(p, class, class->kind == FORK_EVENT);
	}
}

/* Any event, also the first one of its class or of a packet. */
static void put_any_event(struct ring_packets *p, struct cpu_stream *c, struct event_class *class,
			  const struct ring_event *e)
{
	struct ring_run run = { .event = e, .tid = (int32_t)ring_number(p->layout.machine, e->payload + 4, 4) };
	bool with_known = false;
	if (class->kind == INSTALL_EVENT) {
		take_descriptor(p, c, class, e, run.tid);
		return;
	}
	if (class->kind == CALL_EVENT) {
		with_known = call_descriptors(p, c, class, &run);
	} else if (class->kind == NEW_TASK_EVENT) {
		c->new_task = (int32_t)number_at(p, e, class->child, 4);
		c->new_task_flags = number_at(p, e, class->flags, class->flags_size);
		forget_callers(p);
		new_task(p, class, e, run.tid);
	} else if (class->kind == FORK_EVENT) {
		with_known = fork_processes(p, c, class, &run);
	}
	const struct ring_program *program = program_of(p, class, with_known);
	if (class->kind == PLAIN_EVENT || (class->kind == CALL_EVENT && class->extra == RING_NO_EXTRA))
		class->plain = ring_program_plain(program);
	if (!c->is_started)
		put_empty(p, c, e->time, e->time);
	if (!c->stream.is_open)
		ring_packet_open(&c->stream, e->time);
	uint8_t *at = ring_packet_event(&c->stream, class->ids[with_known], e->time,
					4 + ring_program_bound(program, e));
	uint32_t tid = GUINT32_TO_LE((uint32_t)run.tid);
	memcpy(at, &tid, 4);
	ssize_t n = ring_program_run(program, &run, at + 4);
	if (n < 0) {
		lose(p, c, 1, e->time);
		return;
	}
	ring_packet_event_done(&c->stream, at, 4 + (size_t)n);
	p->counts.events++;
	if (c->stream.len > PACKET_SIZE)
		close_packet(p, c, 0);
}

static void put_event(struct ring_packets *p, struct cpu_stream *c, const struct ring_event *e);

/* A call that a program of ours printed. Texts of others are left out. */
static void put_printed(struct ring_packets *p, struct cpu_stream *c, const struct event_class *class,
			const struct ring_event *e)
{
	uint32_t place = (uint32_t)number_at(p, e, class->text, 4);
	size_t at = place & 0xffff, n = place >> 16, size;
	if (!*p->tag || e->size < 8 || at > e->size || n > e->size - at)
		return;
	g_autofree uint8_t *made = ring_printed_parse((const char *)e->payload + at, n, p->tag, e->payload, &size);
	if (!made)
		return;
	const struct ring_event call = {
		.payload = made, .size = (uint32_t)size, .readable = (uint32_t)size, .time = e->time,
	};
	const struct event_class *of = class_of(p, &call);
	if (of && of->kind == CALL_EVENT)
		put_event(p, c, &call);
}

static void put_event(struct ring_packets *p, struct cpu_stream *c, const struct ring_event *e)
{
	struct event_class *class = class_of(p, e);
	if (!class) {
		p->counts.unknown++;
		return;
	}
	if (class->kind == PRINTED_EVENT) {
		put_printed(p, c, class, e);
		return;
	}
	if (class->kind == CALL_EVENT && p->excluded.n && is_excluded(p, c, (int32_t)number_at(p, e, 4, 4)))
		return;
	const struct ring_plain *plain = class->plain;
	if (!plain || !ring_plain_fits(plain, e) || !c->stream.is_open) {
		put_any_event(p, c, class, e);
		return;
	}
	if (class->kind == CALL_EVENT)
		c->got.tid = 0;		/* of an earlier call */
	uint8_t *at = ring_packet_event(&c->stream, class->ids[0], e->time, 4 + plain->size + RING_PIECE);
	memcpy(at, e->payload + 4, 4);		/* common_pid: the machine is little-endian */
	ring_plain_run(plain, e, at + 4);
	ring_packet_event_done(&c->stream, at, 4 + plain->size);
	p->counts.events++;
	if (c->stream.len > PACKET_SIZE)
		close_packet(p, c, 0);
}

static void put_page(struct ring_packets *p, const struct ring_read *read)
{
	struct cpu_stream *c = cpu_of(p, read->cpu);
	struct ring_page page;
	struct ring_event e;
	enum ring_next next;
	/* A buffer's times never go back, so a page that does is damaged. */
	if (!ring_page_open(&page, &p->layout, read->bytes, read->n) || page.time < MAX(c->passed, c->stream.last)) {
		p->counts.damaged++;
		c->unread += c->is_started;
		return;
	}
	lose_unread(p, c, page.time);
	if (page.is_after_loss)
		lose_before_page(p, c, &page);
	while ((next = ring_page_next(&page, &e)) == RING_EVENT)
		put_event(p, c, &e);
	if (next == RING_DAMAGED) {
		p->counts.damaged++;
		c->unread++;
	}
}

void ring_packets_pages(struct ring_packets *p, const struct ring_read *pages, size_t n)
{
	p->pages = pages;
	p->n_pages = n;
	p->are_searched = false;
	for (size_t i = 0; i < n; i++)
		put_page(p, &pages[i]);
	p->pages = NULL;
	p->n_pages = 0;
}

struct ring_counts ring_packets_counts(const struct ring_packets *p)
{
	return p->counts;
}
