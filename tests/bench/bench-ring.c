/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transcodes the pages of a file of trace-cmd in memory, beside copying the same pages.
 *
 * Usage: bench-ring FILE [REPEAT]
 *
 * Prints, of the fastest repeat and in CPU time: events, pages, bytes (of the packets), ns_per_event,
 * copy_ns_per_event; check (a number that depends on all bytes of metadata and packets).
 */
#include "base/limits.h"
#include "trace/ring/ring_packets.h"
#include "trace/ring/trace_dat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct input {
	GByteArray *bytes;
	GArray *reads;			/* struct ring_read */
};

struct output {
	GChecksum *sum;			/* NULL: the time is taken */
	uint64_t bytes;
};

static void die(const char *what, const GError *error)
{
	fprintf(stderr, "bench-ring: %s: %s\n", what, error ? error->message : "?");
	exit(1);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put_metadata(void *data, const char *text, size_t len)
{
	struct output *o = data;
	if (o->sum)
		g_checksum_update(o->sum, (const guchar *)text, (gssize)len);
}

static void put_packet(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
		       uint64_t end)
{
	struct output *o = data;
	uint64_t key[] = { stream_class, instance, begin, end };
	gsize n;
	const guchar *bytes = g_bytes_get_data(packet, &n);
	if (o->sum) {
		g_checksum_update(o->sum, (const guchar *)key, sizeof(key));
		g_checksum_update(o->sum, bytes, (gssize)n);
	}
	o->bytes += n;
	g_bytes_unref(packet);
}

/* The pages of all CPUs. They are read before the first is transcoded, so that only transcoding is measured. */
static void read_pages(struct trace_dat *d, struct input *in)
{
	const struct trace_dat_info *info = trace_dat_info(d);
	in->bytes = g_byte_array_new();
	in->reads = g_array_new(FALSE, FALSE, sizeof(struct ring_read));
	for (unsigned cpu = 0; cpu < info->n_cpus; cpu++) {
		for (;;) {
			g_autoptr(GError) error = NULL;
			unsigned number;
			g_autoptr(GByteArray) bytes = trace_dat_next(d, cpu, &number, &error);
			if (!bytes)
				die("pages", error);
			if (!bytes->len)
				break;
			for (size_t at = 0; at < bytes->len; at += info->layout.page_size) {
				struct ring_read read = { number, NULL, MIN(info->layout.page_size, bytes->len - at) };
				g_array_append_val(in->reads, read);
			}
			g_byte_array_append(in->bytes, bytes->data, bytes->len);
		}
	}
	size_t at = 0;
	for (guint i = 0; i < in->reads->len; at += g_array_index(in->reads, struct ring_read, i++).n)
		g_array_index(in->reads, struct ring_read, i).bytes = in->bytes->data + at;
}

/* Returns the CPU time (ns) of transcoding all pages. */
static uint64_t transcode(int fd, const struct input *in, struct output *o, uint64_t *ret_events)
{
	static const struct ring_sink sink = { put_metadata, put_packet, NULL };
	static const struct ring_trace trace = { .hostname = "h", .tracer = "trace-cmd", .clock_name = "monotonic",
						 .clock_frequency = 1000000000 };
	g_autoptr(GError) error = NULL;
	g_autoptr(trace_dat) d = trace_dat_open(dup(fd), &error);
	if (!d)
		die("formats", error);
	g_autoptr(ring_packets) p = ring_packets_new(&trace_dat_info(d)->layout, &trace, &sink, o);
	g_autoptr(GPtrArray) formats = trace_dat_take_formats(d);
	for (guint i = 0; i < formats->len; i++)
		ring_packets_add_format(p, formats->pdata[i]);
	uint64_t begin = cpu_ns();
	/* As many at once as a round of live capture reads on a busy machine. */
	for (guint i = 0; i < in->reads->len; i += 256)
		ring_packets_pages(p, &g_array_index(in->reads, struct ring_read, i), MIN(256, in->reads->len - i));
	ring_packets_flush_all(p, 0);
	begin = cpu_ns() - begin;
	*ret_events = ring_packets_counts(p).events;
	return begin;
}

static uint64_t copy(const struct input *in)
{
	static uint8_t to[LIMIT_RING_PAGE_BYTES];
	uint64_t begin = cpu_ns();
	for (guint i = 0; i < in->reads->len; i++) {
		const struct ring_read *read = &g_array_index(in->reads, struct ring_read, i);
		memcpy(to, read->bytes, read->n);
		__asm__ volatile("" ::"r"(to) : "memory");
	}
	return cpu_ns() - begin;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct input in;
	struct output checked = { .sum = g_checksum_new(G_CHECKSUM_SHA256) };
	uint64_t events, best = UINT64_MAX, copied = UINT64_MAX;
	int repeat = argc > 2 ? atoi(argv[2]) : 5;
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		die("FILE", NULL);
	g_autoptr(trace_dat) d = trace_dat_open(dup(fd), &error);
	if (!d)
		die(argv[1], error);
	read_pages(d, &in);
	transcode(fd, &in, &checked, &events);
	for (int i = 0; i < repeat; i++) {
		struct output o = { NULL, 0 };
		copied = MIN(copied, copy(&in));
		best = MIN(best, transcode(fd, &in, &o, &events));
	}
	if (!events)
		die("no events", NULL);
	printf("events %" PRIu64 "\npages %u\nbytes %" PRIu64 "\nns_per_event %.2f\ncopy_ns_per_event %.2f\n", events,
	       in.reads->len, checked.bytes, (double)best / (double)events, (double)copied / (double)events);
	char number[14] = { 0 };
	memcpy(number, g_checksum_get_string(checked.sum), 12);
	printf("check %" PRIu64 "\n", g_ascii_strtoull(number, NULL, 16));
	g_checksum_free(checked.sum);
	g_byte_array_unref(in.bytes);
	g_array_unref(in.reads);
	close(fd);
	return 0;
}
