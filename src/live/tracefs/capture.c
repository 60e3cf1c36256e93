/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads pages of tracefs. */
#include "live/tracefs/capture.h"

#include "base/each.h"
#include "base/fail.h"
#include "trace/ring/ring_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BLOCK_BYTES (1u << 20)		/* pages are read into blocks of this size */
#define BLOCKS_RETAINED 4
/* Pages of a round are transcoded at once: what says the process of a thread may be on another CPU. A round with more
 * bytes than this is divided, and such a process can be unknown. */
#define ROUND_BYTES (64u << 20)
/* An interrupt can delay the commit of the event that it interrupted: no event is later than that. Measured: 25 us. */
#define COMMIT_NS 1000000

struct capture {
	struct ring_packets *packets;
	struct ring_sink sink;
	void *data;
	const struct tracefs_cpu *cpus;
	size_t n_cpus;
	size_t page_size, pages_of_block;
	size_t most_pages;		/* of a CPU in a round */
	GPtrArray *blocks;		/* uint8_t *, of BLOCK_BYTES */
	GArray *reads;			/* struct ring_read: the pages of this round */
};

/* ---- the setup ---- */

/* The narrowest of some measurements: the time between the two readings of one clock bounds its error. */
static int64_t clock_offset(void)
{
	int64_t offset = 0;
	uint64_t narrowest = UINT64_MAX;
	for (unsigned i = 0; i < 10; i++) {
		uint64_t before = tracefs_clock(CLOCK_MONOTONIC), real = tracefs_clock(CLOCK_REALTIME),
			 after = tracefs_clock(CLOCK_MONOTONIC);
		if (after - before < narrowest) {
			narrowest = after - before;
			offset = (int64_t)(real - before - narrowest / 2);
		}
	}
	return offset;
}

void capture_setup_init(struct capture_setup *s, const struct tracefs_instance *i)
{
	struct utsname name;
	*s = (struct capture_setup){ .big_endian = G_BYTE_ORDER == G_BIG_ENDIAN };
	s->header_page = g_strdup(tracefs_instance_header(i));
	if (!uname(&name)) {
		s->hostname = g_strdup(name.nodename);
		s->kernel_release = g_strdup(name.release);
		s->kernel_version = g_strdup(name.version);
	}
	if (g_file_get_contents("/proc/sys/kernel/random/boot_id", &s->boot_id, NULL, NULL))
		g_strchomp(s->boot_id);
	s->clock_offset = clock_offset();
	if (getrandom(s->uuid, sizeof(s->uuid), 0) != sizeof(s->uuid))
		memset(s->uuid, 0, sizeof(s->uuid));
	s->formats = g_strdup(tracefs_instance_formats(i));
	s->tag = g_strdup(tracefs_instance_tag(i));
	s->user_text = (uint8_t)tracefs_instance_user_text(i);
}

void capture_setup_clear(struct capture_setup *s)
{
	g_free(s->header_page);
	g_free(s->hostname);
	g_free(s->kernel_release);
	g_free(s->kernel_version);
	g_free(s->boot_id);
	g_free(s->formats);
	g_free(s->tag);
	*s = (struct capture_setup){ 0 };
}

void code_capture_setup(struct coder *c, struct capture_setup *s)
{
	code_text(c, &s->header_page);
	code_text(c, &s->hostname);
	code_text(c, &s->kernel_release);
	code_text(c, &s->kernel_version);
	code_text(c, &s->boot_id);
	code_bool(c, &s->big_endian);
	code_u8(c, &s->user_text);
	code_i64(c, &s->clock_offset);
	code_u64(c, &s->start);
	for (unsigned i = 0; i < sizeof(s->uuid); i++)
		code_u8(c, &s->uuid[i]);
	code_text(c, &s->formats);
	code_text(c, &s->tag);
	for (unsigned i = 0; i < G_N_ELEMENTS(s->own); i++)
		code_i32(c, &s->own[i]);
}

/* ---- capturing ---- */

/* "overrun: N" of the CPU's statistics: events that were overwritten. */
static uint64_t overwritten(void *data, unsigned cpu)
{
	struct capture *c = data;
	char text[1024];
	for (size_t i = 0; i < c->n_cpus; i++) {
		if (c->cpus[i].number != cpu)
			continue;
		ssize_t n = pread(c->cpus[i].statistics, text, sizeof(text) - 1, 0);
		text[MAX(n, 0)] = '\0';
		const char *at = strstr(text, "overrun:");
		return at ? strtoull(at + strlen("overrun:"), NULL, 10) : 0;
	}
	return 0;
}

static void put_metadata(void *data, const char *text, size_t len)
{
	struct capture *c = data;
	c->sink.metadata(c->data, text, len);
}

static void put_packet(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
		       uint64_t end)
{
	struct capture *c = data;
	c->sink.packet(c->data, stream_class, instance, packet, begin, end);
}

/* struct ring_format *, which the caller owns. */
static GPtrArray *parse_formats(const char *formats, unsigned long_size)
{
	GPtrArray *all = g_ptr_array_new();
	for (const char *at = formats; *at;) {
		const char *end = strchrnul(at, TRACEFS_FORMAT_END);
		size_t len = (size_t)(end - at);
		const char *newline = memchr(at, '\n', len);
		if (newline) {
			g_autofree char *system = g_strndup(at, (gsize)(newline - at));
			struct ring_format *f = ring_format_parse(system, newline + 1, len - (size_t)(newline + 1 - at),
								  long_size, NULL);
			if (f)
				g_ptr_array_add(all, f);
		}
		at = *end ? end + 1 : end;
	}
	return all;
}

struct capture *capture_new(const struct capture_setup *setup, const struct tracefs_cpu *cpus, size_t n_cpus,
			    const struct ring_sink *sink, void *data, GError **error)
{
	struct ring_layout layout;
	struct ring_machine machine = { .big_endian = setup->big_endian, .long_size = sizeof(long),
					.user_text = setup->user_text };
	struct ring_sink own = { .metadata = put_metadata, .packet = put_packet, .overwritten = overwritten };
	if (!ring_layout_parse(&layout, machine, setup->header_page, strlen(setup->header_page), error))
		return NULL;
	layout.machine.long_size = (uint8_t)layout.commit_size;	/* the kernel's: a program of 32 bits may read it */
	if (layout.page_size > BLOCK_BYTES) {
		fail(error, TRACEFS_ERROR, 0, "the kernel's ring buffer has pages of %u bytes", layout.page_size);
		return NULL;
	}
	struct capture *c = g_new0(struct capture, 1);
	c->sink = *sink;
	c->data = data;
	c->cpus = cpus;
	c->n_cpus = n_cpus;
	c->page_size = layout.page_size;
	c->pages_of_block = BLOCK_BYTES / c->page_size;
	c->most_pages = MAX(ROUND_BYTES / c->page_size / n_cpus, 16);
	c->blocks = g_ptr_array_new_with_free_func(g_free);
	c->reads = g_array_new(FALSE, FALSE, sizeof(struct ring_read));
	g_autoptr(GPtrArray) formats = parse_formats(setup->formats, layout.machine.long_size);
	struct ring_trace trace = {
		.names = ring_names_of(formats),
		.hostname = setup->hostname,
		.kernel_release = setup->kernel_release,
		.kernel_version = setup->kernel_version,
		.tracer = "ftrace",
		.clock_name = "monotonic",
		.clock_uuid = setup->boot_id,
		.clock_frequency = 1000000000,
		.clock_offset = setup->clock_offset,
	};
	memcpy(trace.uuid, setup->uuid, sizeof(trace.uuid));
	c->packets = ring_packets_new(&layout, &trace, &own, c);
	PTR_EACH(struct ring_format, f, formats)
		ring_packets_add_format(c->packets, f);
	ring_packets_declare_events(c->packets);
	if (setup->tag)
		ring_packets_set_tag(c->packets, setup->tag);
	for (unsigned i = 0; i < G_N_ELEMENTS(setup->own); i++)
		if (setup->own[i])
			ring_packets_exclude_calls(c->packets, setup->own[i]);
	for (size_t i = 0; i < n_cpus; i++)
		ring_packets_start(c->packets, cpus[i].number, setup->start);
	return c;
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	ring_packets_free(c->packets);
	g_ptr_array_unref(c->blocks);
	g_array_unref(c->reads);
	g_free(c);
}

/* Where the next page goes. */
static uint8_t *next_page(struct capture *c)
{
	size_t block = c->reads->len / c->pages_of_block, at = c->reads->len % c->pages_of_block;
	if (block == c->blocks->len)
		g_ptr_array_add(c->blocks, g_malloc(BLOCK_BYTES));
	return (uint8_t *)c->blocks->pdata[block] + at * c->page_size;
}

/* Reads the CPU's pages. False: there may be more. Writers must not keep us here for ever. */
static bool read_cpu(struct capture *c, const struct tracefs_cpu *cpu)
{
	for (size_t n = 0; n < c->most_pages; n++) {
		uint8_t *to = next_page(c);
		ssize_t got = read(cpu->pages, to, c->page_size);
		if (got <= 0)
			return true;
		struct ring_read page = { .cpu = cpu->number, .bytes = to, .n = (size_t)got };
		g_array_append_val(c->reads, page);
	}
	return false;
}

uint64_t capture_round(struct capture *c, size_t *ret_pages)
{
	uint64_t begin = tracefs_clock(CLOCK_MONOTONIC);
	bool is_drained = true;
	for (size_t i = 0; i < c->n_cpus; i++)
		is_drained &= read_cpu(c, &c->cpus[i]);
	ring_packets_pages(c->packets, (const struct ring_read *)(const void *)c->reads->data, c->reads->len);
	ring_packets_flush_all(c->packets, 0);
	if (ret_pages)
		*ret_pages = c->reads->len;
	g_array_set_size(c->reads, 0);
	if (c->blocks->len > BLOCKS_RETAINED)
		g_ptr_array_set_size(c->blocks, BLOCKS_RETAINED);
	return is_drained ? begin - COMMIT_NS : 0;
}

struct ring_packets *capture_packets(struct capture *c)
{
	return c->packets;
}
