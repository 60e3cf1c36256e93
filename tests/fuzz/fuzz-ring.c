/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file of trace-cmd, any bytes: whatever it says, what it is transcoded to is a CTF trace that the native reader
 * reads to its last event, with as many events and losses as the transcoder counted.
 *
 * Input: the file.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"
#include "trace/native/native_feed.h"
#include "trace/ring/ring_packets.h"
#include "trace/ring/trace_dat.h"

#define MAX_PAGES 2000		/* of one input */
#define MAX_CPUS 8

static const struct blk_subscription rows[] = {
	{ .event = "sched_switch", .fields = { "prev_tid", "next_comm" } },
	{ .event = "irq_handler_entry", .fields = { "name" } },
	{ .event = "syscall_entry_unknown", .fields = { "id", "args[5]" } },
};

struct fuzz {
	struct native_feed *f;
	int streams[MAX_CPUS];		/* of CPUs; -1: not added */
};

static void put_metadata(void *data, const char *text, size_t len)
{
	native_feed_metadata(((struct fuzz *)data)->f, 0, g_bytes_new(text, len));
}

static void put_packet(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
		       uint64_t end)
{
	struct fuzz *z = data;
	int *stream = &z->streams[instance % MAX_CPUS];
	g_assert_cmpuint(stream_class, ==, RING_STREAM_CPU);
	g_assert_cmpuint(begin, <=, end);
	if (*stream < 0)
		*stream = (int)native_feed_add_stream(z->f, 0, "cpu", INT64_MAX);
	native_feed_packet(z->f, (unsigned)*stream, packet, NULL);
}

static void put_pages(struct trace_dat *d, struct ring_packets *p)
{
	const struct trace_dat_info *info = trace_dat_info(d);
	unsigned n = 0;
	for (unsigned cpu = 0; cpu < MIN(info->n_cpus, MAX_CPUS); cpu++) {
		for (;;) {
			unsigned number;
			g_autoptr(GByteArray) bytes = trace_dat_next(d, cpu, &number, NULL);
			if (!bytes || !bytes->len)
				break;
			for (size_t at = 0; at < bytes->len && n < MAX_PAGES; at += info->layout.page_size, n++) {
				struct ring_read read = { cpu, bytes->data + at,
							  MIN(info->layout.page_size, bytes->len - at) };
				ring_packets_pages(p, &read, 1);
			}
		}
	}
	ring_packets_flush_all(p, 0);
}

/* Reads all that was pushed. The number of events, those that are only counted included. */
static void check_reads(struct fuzz *z, struct ring_counts counts)
{
	struct source *s = native_feed_source(z->f);
	struct native_feed_status status;
	struct blk_batch batch;
	uint64_t lost = 0;
	native_feed_end(z->f);
	for (enum source_status st = SOURCE_OK; st != SOURCE_END;) {
		st = source_next(s, &batch, NULL);
		g_assert_cmpint(st, !=, SOURCE_ERROR);
		for (size_t i = 0; st == SOURCE_OK && i < batch.n; i++)
			if (batch.ev[i].row == BLK_ROW_LOST_BEGIN)
				lost++;
	}
	g_autofree char *troubles = native_feed_troubles(z->f);
	g_assert_cmpstr(troubles, ==, NULL);
	native_feed_get_status(z->f, &status);
	g_assert_cmpuint(status.refused, ==, 0);
	g_assert_true(!lost || counts.lost);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ring_sink sink = { put_metadata, put_packet, NULL };
	static const struct ring_trace trace = { .hostname = "h", .tracer = "trace-cmd", .clock_name = "monotonic",
						 .clock_frequency = 1000000000 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		g_error("cannot make a file");
	g_autoptr(trace_dat) d = trace_dat_open(fd, NULL);
	if (!d)
		return 0;
	struct fuzz z = { .f = native_feed_new(rows, G_N_ELEMENTS(rows)) };
	memset(z.streams, -1, sizeof(z.streams));
	native_feed_add_trace(z.f, "trace");
	g_autoptr(ring_packets) p = ring_packets_new(&trace_dat_info(d)->layout, &trace, &sink, &z);
	g_autoptr(GPtrArray) formats = trace_dat_take_formats(d);
	for (guint i = 0; i < formats->len; i++)
		ring_packets_add_format(p, formats->pdata[i]);
	put_pages(d, p);
	check_reads(&z, ring_packets_counts(p));
	native_feed_free(z.f);
	return 0;
}
