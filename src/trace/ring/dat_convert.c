/* SPDX-License-Identifier: GPL-2.0-only */
/* Transcodes files of trace-cmd. */
#include "trace/ring/dat_convert.h"

#include "base/fail.h"
#include "base/files.h"
#include "trace/ring/ring_dump.h"
#include "trace/ring/ring_names.h"
#include "trace/ring/trace_dat.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct conversion {
	const char *dir;
	GArray *files;			/* int by stream: descriptors of CPUs, then of the state; -1: not made yet */
	int metadata;
	int why;			/* errno of the first write that failed; 0: none did */
	const struct trace_dat *file;
	uint64_t first;			/* cycles of the first packet */
};

bool dat_is_file(const char *path)
{
	uint8_t start[16];
	int fd = files_is_regular(path) ? files_open(path, O_RDONLY) : -1;
	ssize_t n = fd >= 0 ? pread(fd, start, sizeof(start), 0) : -1;
	if (fd >= 0)
		close(fd);
	return n > 0 && trace_dat_is(start, (size_t)n);
}

/* ---- writing ---- */

static void write_all(struct conversion *c, int fd, const void *bytes, size_t n)
{
	for (size_t done = 0; done < n && !c->why;) {
		ssize_t got = write(fd, (const char *)bytes + done, n - done);
		if (got < 0 && errno != EINTR)
			c->why = errno;
		done += got > 0 ? (size_t)got : 0;
	}
}

static int make_file(struct conversion *c, const char *name)
{
	g_autofree char *path = g_build_filename(c->dir, name, NULL);
	int fd = files_create(path);
	if (fd < 0 && !c->why)
		c->why = errno;
	return fd;
}

static void put_metadata(void *data, const char *text, size_t len)
{
	struct conversion *c = data;
	write_all(c, c->metadata, text, len);
}

static void put_packet(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
		       uint64_t end)
{
	struct conversion *c = data;
	unsigned at = stream_class == RING_STREAM_CPU ? instance + 1 : 0;
	(void)end;
	c->first = MIN(c->first, begin);
	while (c->files->len <= at)
		g_array_append_val(c->files, (int){ -1 });
	int *fd = &g_array_index(c->files, int, at);
	if (*fd < 0) {
		g_autofree char *name = at ? g_strdup_printf("kernel_%u", instance) : g_strdup("state_0");
		*fd = make_file(c, name);
	}
	gsize n;
	const void *bytes = g_bytes_get_data(packet, &n);
	if (*fd >= 0)
		write_all(c, *fd, bytes, n);
	g_bytes_unref(packet);
}

static uint64_t overwritten(void *data, unsigned cpu)
{
	const struct conversion *c = data;
	return trace_dat_overwritten(c->file, cpu);
}

/* ---- what the file says ---- */

static void put_thread(void *data, int32_t tid, const char *comm)
{
	ring_dump_thread(data, &(struct ring_dump_thread){ .tid = tid, .pid = -1, .ppid = -1, .name = comm,
							    .files = (uint64_t)tid });
}

/* A digest of what names the recording, so that it is the same trace each time the file is opened. */
static void make_uuid(const struct trace_dat_info *info, const char *path, uint8_t uuid[16])
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree char *name = g_path_get_basename(path);
	uint8_t digest[32];
	gsize n = sizeof(digest);
	g_checksum_update(sum, (const guchar *)&info->id, sizeof(info->id));
	g_checksum_update(sum, (const guchar *)name, -1);
	g_checksum_update(sum, (const guchar *)(info->uname ? info->uname : ""), -1);
	g_checksum_get_digest(sum, digest, &n);
	memcpy(uuid, digest, 16);
}

/* "Linux HOST RELEASE VERSION... MACHINE", without the version. */
static void split_uname(const char *uname, char **host, char **release)
{
	g_auto(GStrv) words = g_strsplit(uname ? uname : "", " ", 4);
	guint n = g_strv_length(words);
	*host = n > 1 ? g_strdup(words[1]) : NULL;
	*release = n > 2 ? g_strdup(words[2]) : NULL;
}

/* Clocks in ns that are the same on all CPUs: Documentation/trace/ftrace.rst. */
static bool check_clock(const struct trace_dat_info *info, char **warning, GError **error)
{
	static const char *const good[] = { "mono", "mono_raw", "boot", "tai", "global" };
	static const char *const no_time[] = { "counter", "x86-tsc", "ppc-tb", "uptime" };
	const char *clock = info->clock ? info->clock : "local";
	for (size_t i = 0; i < G_N_ELEMENTS(no_time); i++)
		if (!strcmp(clock, no_time[i]))
			return fail(error, RING_ERROR, 0,
				    "it was recorded with the clock '%.40s', which does not count nanoseconds; "
				    "record with trace-cmd record -C mono",
				    clock);
	for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
		if (!strcmp(clock, good[i]))
			return true;
	*warning = g_strdup_printf(
		"it was recorded with the clock '%.40s', which is not the same on all CPUs: record with "
		"trace-cmd record -C mono",
		clock);
	return true;
}

/* ---- converting ---- */

static bool put_cpus(struct trace_dat *d, struct ring_packets *p, GError **error)
{
	const struct trace_dat_info *info = trace_dat_info(d);
	uint32_t page = info->layout.page_size;
	for (unsigned cpu = 0; cpu < info->n_cpus; cpu++) {
		for (;;) {
			unsigned number;
			g_autoptr(GByteArray) bytes = trace_dat_next(d, cpu, &number, error);
			if (!bytes)
				return false;
			if (!bytes->len)
				break;
			size_t n = (bytes->len + page - 1) / page;
			g_autofree struct ring_read *reads = g_new(struct ring_read, n);
			for (size_t i = 0; i < n; i++)
				reads[i] = (struct ring_read){ .cpu = number, .bytes = bytes->data + i * page,
							       .n = MIN(page, bytes->len - i * page) };
			ring_packets_pages(p, reads, n);
		}
		ring_packets_flush_all(p, 0);
	}
	return true;
}

static bool convert(struct trace_dat *d, struct conversion *c, const char *path, GError **error)
{
	const struct trace_dat_info *info = trace_dat_info(d);
	g_autofree char *host = NULL, *release = NULL;
	split_uname(info->uname, &host, &release);
	g_autoptr(GPtrArray) formats = trace_dat_take_formats(d);
	struct ring_trace trace = { .hostname = host, .kernel_release = release, .tracer = "trace-cmd",
				    .names = ring_names_of(formats),
				    .clock_name = "monotonic", .clock_frequency = 1000000000,
				    .clock_offset = info->has_offset ? info->offset_ns : 0 };
	struct ring_sink sink = { .metadata = put_metadata, .packet = put_packet, .overwritten = overwritten };
	make_uuid(info, path, trace.uuid);
	c->file = d;
	g_autoptr(ring_packets) p = ring_packets_new(&info->layout, &trace, &sink, c);
	for (guint i = 0; i < formats->len; i++)
		ring_packets_add_format(p, formats->pdata[i]);
	if (!put_cpus(d, p, error))
		return false;
	struct ring_dump *dump = ring_dump_new(p, c->first);
	trace_dat_threads(d, put_thread, dump);
	ring_dump_end(dump, c->first);
	struct ring_counts counts = ring_packets_counts(p);
	if (!counts.events)
		return fail(error, RING_ERROR, 0, "it has no events that can be read");
	if (c->why)
		return fail(error, RING_ERROR, 0, "cannot write %s: %s", c->dir, g_strerror(c->why));
	return true;
}

bool dat_convert(const char *path, const char *dir, char **ret_warning, GError **error)
{
	struct conversion c = { .dir = dir, .first = UINT64_MAX };
	*ret_warning = NULL;
	int fd = files_open_input(path, error);
	g_autoptr(trace_dat) d = fd < 0 ? NULL : trace_dat_open(fd, error);
	bool done = d && check_clock(trace_dat_info(d), ret_warning, error);
	c.files = g_array_new(FALSE, FALSE, sizeof(int));
	c.metadata = done ? make_file(&c, "metadata") : -1;
	done = done && convert(d, &c, path, error);
	for (guint i = 0; i < c.files->len; i++)
		if (g_array_index(c.files, int, i) >= 0)
			close(g_array_index(c.files, int, i));
	g_array_unref(c.files);
	if (c.metadata >= 0)
		close(c.metadata);
	if (!done)
		g_prefix_error(error, "cannot read '%s': ", path);
	return done;
}
