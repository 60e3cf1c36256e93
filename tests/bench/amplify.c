/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a long trace of a short one: its packets again and again, each time later by a
 * multiple of 2^32 cycles that is greater than the trace is long. So the 27 and 32 low
 * bits of time in event headers stay right; what is wider (packet contexts, extended
 * headers) is found once, by walking all events, and rewritten for each repetition.
 * Packet numbers and counters of discarded events go on counting. Index files are
 * written too, with the entries that LTTng 2.13 writes.
 *
 * Usage: amplify (--times N | --size BYTES[K|M|G]) [--no-index] IN OUT
 *
 * Refused: broken packets, rotated traces (chunks of one trace), several clock rates.
 */
#include "lib/inspect.h"
#include "base/disk.h"
#include "trace/ctf/ctf_index_write.h"
#include "trace/ctf/ctf_bits.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_walk.h"
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* An integer of whole bytes in a stream file that each repetition counts up. */
struct patch {
	uint64_t offset;	/* bytes */
	uint64_t step;		/* what is added each time */
	uint8_t bytes;
	bool be;
};

struct stream_file {
	char *name;
	struct ctf_index *index;
};

struct trace {
	char *dir, *out;
	struct ctf_meta *meta;
	GPtrArray *files;	/* struct stream_file * */
};

struct amplify {
	const char *in, *out;
	uint64_t times, size;
	bool no_index;
	GPtrArray *traces;	/* struct trace * */
	uint64_t bytes, shift;	/* of all stream files; cycles */
};

static void fail(const char *format, ...) G_GNUC_PRINTF(1, 2) G_GNUC_NORETURN;
static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("amplify: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

/* ---- the source ---- */

static void open_file(struct trace *t, const char *name)
{
	GError *error = NULL;
	struct stream_file *f = g_new0(struct stream_file, 1);

	f->name = g_strdup(name);
	f->index = ctf_index_open(t->meta, t->dir, name, &error);
	if (!f->index)
		fail("%s", error->message);
	while (ctf_index_walk(f->index, SIZE_MAX))
		;
	g_ptr_array_add(t->files, f);
}

static bool is_stream_file(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	struct stat st;

	return name[0] != '.' && strcmp(name, "metadata") != 0 && lstat(path, &st) == 0 &&
	       S_ISREG(st.st_mode) && st.st_size > 0;
}

static struct trace *open_trace(const struct amplify *a, const char *dir)
{
	struct trace *t = g_new0(struct trace, 1);
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autofree char *text = NULL;
	GError *error = NULL;
	const char *name;
	gsize n;

	t->dir = g_strdup(dir);
	t->out = g_build_filename(a->out, dir + strlen(a->in), NULL);
	t->files = g_ptr_array_new();
	t->meta = ctf_meta_new();
	if (!g_file_get_contents(path, &text, &n, &error) ||
	    !ctf_meta_append(t->meta, text, n, &error))
		fail("%s: %s", path, error->message);
	GDir *d = g_dir_open(dir, 0, &error);
	if (!d)
		fail("%s", error->message);
	while ((name = g_dir_read_name(d)))
		if (is_stream_file(dir, name))
			open_file(t, name);
	g_dir_close(d);
	return t;
}

static const struct ctf_clock *clock_of(const struct trace *t)
{
	if (t->meta->clocks->len != 1)
		fail("%s: has %u clocks, not one", t->dir, t->meta->clocks->len);
	return g_ptr_array_index(t->meta->clocks, 0);
}

static void refuse_chunks(const struct amplify *a)
{
	for (guint i = 0; i < a->traces->len; i++) {
		const struct trace *t = a->traces->pdata[i];
		for (guint k = 0; k < i; k++) {
			const struct trace *other = a->traces->pdata[k];
			if (t->meta->has_uuid && other->meta->has_uuid &&
			    memcmp(t->meta->uuid, other->meta->uuid, 16) == 0)
				fail("%s and %s are chunks of one trace", other->dir, t->dir);
		}
	}
}

/* Begin and end of the whole in cycles since the epoch, all clocks of one rate. */
static void bounds_of_file(const struct ctf_clock *c, const struct stream_file *f,
			   uint64_t *from, uint64_t *to)
{
	size_t n;
	const struct ctf_packet *p = ctf_index_packets(f->index, &n);
	uint64_t epoch = (uint64_t)c->offset_s * c->freq + c->offset;

	for (size_t i = 0; i < n; i++) {
		if (p[i].fault != CTF_WHOLE || !p[i].has_begin || !p[i].has_end)
			fail("%s: the packet at byte %" PRIu64 " is not whole",
			     ctf_index_name(f->index), p[i].offset);
		*from = MIN(*from, epoch + p[i].begin);
		*to = MAX(*to, epoch + p[i].end);
	}
}

static void measure(struct amplify *a)
{
	uint64_t from = G_MAXUINT64, to = 0, freq = 0;

	for (guint i = 0; i < a->traces->len; i++) {
		const struct trace *t = a->traces->pdata[i];
		const struct ctf_clock *c = t->files->len ? clock_of(t) : NULL;
		if (c && freq && c->freq != freq)
			fail("%s: the clocks' rates differ", t->dir);
		for (guint k = 0; k < t->files->len; k++) {
			const struct stream_file *f = t->files->pdata[k];
			bounds_of_file(c, f, &from, &to);
			a->bytes += ctf_index_size(f->index);
			freq = c->freq;
		}
	}
	if (!a->bytes || to < from)
		fail("%s: has no packets", a->in);
	a->shift = ((to - from) / (UINT64_C(1) << 32) + 1) << 32;
	if (a->size)
		a->times = (a->size + a->bytes - 1) / a->bytes;
}

/* ---- what changes with each repetition ---- */

struct patcher {
	const struct amplify *a;
	const struct stream_file *file;
	const struct trace *trace;
	const uint8_t *bytes;		/* of the file */
	uint64_t *regs;
	uint64_t seq_step, discarded_step;
	GArray *patches;		/* struct patch */
	uint64_t n_events;
	/* of the header being read */
	uint64_t id;
	const struct ctf_type *last, *time;	/* the last integer; the last that is time */
};

static void add_patch(struct patcher *p, uint64_t base, uint64_t bit, const struct ctf_type *t,
		      uint64_t step)
{
	struct patch patch = { .offset = base + bit / 8, .step = step, .bytes = t->bits / 8,
			       .be = t->big_endian };

	if (bit % 8 || t->bits % 8)
		fail("%s: an integer of the packet at byte %" PRIu64 " begins within a byte",
		     ctf_index_name(p->file->index), base);
	g_array_append_val(p->patches, patch);
}

/* The members of a structure that count up; returns the position behind it. */
static uint64_t patch_members(struct patcher *p, const struct ctf_type *t, uint64_t base,
			      uint64_t pos, uint64_t end)
{
	const struct { const char *name; uint64_t step; } counted[] = {
		{ "timestamp_begin", p->a->shift }, { "timestamp_end", p->a->shift },
		{ "packet_seq_num", p->seq_step }, { "events_discarded", p->discarded_step },
	};
	uint64_t align = MAX(t->align, 1);

	for (uint32_t i = 0; i < t->n_fields; i++)
		align = MAX(align, t->field[i].type->align);
	pos = ctf_align(pos, align);
	for (uint32_t i = 0; i < t->n_fields; i++) {
		const struct ctf_field *f = &t->field[i];
		for (size_t k = 0; k < G_N_ELEMENTS(counted); k++)
			if (counted[k].step && strcmp(f->name, counted[k].name) == 0)
				add_patch(p, base, ctf_align(pos, MAX(f->type->align, 1)),
					  f->type, counted[k].step);
		if (!ctf_walk(f->type, p->bytes + base, &pos, end, p->regs, NULL, NULL))
			fail("%s: the packet header at byte %" PRIu64 " does not fit",
			     ctf_index_name(p->file->index), base);
	}
	return pos;
}

static void see_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct patcher *p = data;

	p->last = t;
	if (name && strcmp(name, "id") == 0)
		p->id = value;
	if (t->clock || (name && strcmp(name, "timestamp") == 0))
		p->time = t;
}

static const struct ctf_visitor see = { .integer = see_integer };

static bool walk_event(struct patcher *p, const struct ctf_stream_class *sc, uint64_t base,
		       uint64_t *pos, uint64_t end)
{
	const uint8_t *bytes = p->bytes + base;

	p->id = 0;
	p->time = NULL;
	if (!sc->event_header ||
	    !ctf_walk(sc->event_header, bytes, pos, end, p->regs, &see, p))
		return false;
	if (p->time && p->time->bits > 32) {
		if (p->time != p->last)
			fail("%s: time is not the last of its event header", p->trace->dir);
		add_patch(p, base, *pos - p->time->bits, p->time, p->a->shift);
	}
	const struct ctf_event_class *ec = ctf_stream_event(sc, p->id);
	const struct ctf_type *parts[] = { sc->event_context, ec ? ec->context : NULL,
					   ec ? ec->fields : NULL };
	for (size_t i = 0; ec && i < G_N_ELEMENTS(parts); i++)
		if (parts[i] && !ctf_walk(parts[i], bytes, pos, end, p->regs, NULL, NULL))
			return false;
	p->n_events++;
	return ec;
}

static void patch_packet(struct patcher *p, const struct ctf_packet *packet)
{
	const struct ctf_stream_class *sc = ctf_meta_stream(p->trace->meta, packet->stream_id);
	uint64_t base = packet->offset, end = packet->content_bits, pos;

	g_free(p->regs);
	p->regs = g_new0(uint64_t, sc->n_regs + 1);
	pos = patch_members(p, p->trace->meta->packet_header, base, 0, end);
	if (sc->packet_context)
		pos = patch_members(p, sc->packet_context, base, pos, end);
	while (pos < end) {
		uint64_t at = pos;
		if (!walk_event(p, sc, base, &pos, end) || pos == at)
			fail("%s: the event at bit %" PRIu64 " of the packet at byte %" PRIu64
			     " can't be read", ctf_index_name(p->file->index), at, base);
	}
}

/* ---- the copy ---- */

static void apply(uint8_t *bytes, const struct patch *p)
{
	uint64_t v = ctf_bits(bytes, p->offset * 8, p->bytes * 8u, p->be) + p->step;
	uint8_t *at = bytes + p->offset;

	for (unsigned i = 0; i < p->bytes; i++)
		at[p->be ? p->bytes - 1u - i : i] = (uint8_t)(v >> 8 * i);
}

static void write_all(int fd, const void *bytes, size_t n, const char *path)
{
	if (!disk_write(fd, bytes, n))
		fail("%s: %s", path, g_strerror(errno));
}

static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		fail("%s: %s", path, g_strerror(errno));
	return fd;
}

/* Entries as long as the packets have something to say: 72 bytes, or 56. */
static void write_index(const struct patcher *p, const struct trace *t)
{
	g_autofree char *dir = g_build_filename(t->out, "index", NULL);
	g_autofree char *path = g_strdup_printf("%s/%s.idx", dir, p->file->name);
	size_t n;
	const struct ctf_packet *all = ctf_index_packets(p->file->index, &n);
	size_t length = ctf_index_entry_size(&all[0]);
	g_autofree uint8_t *bytes = g_malloc(n * length + 16);
	uint8_t *at;

	g_mkdir_with_parents(dir, 0777);
	int fd = create(path);
	ctf_index_put_header(bytes, length);
	write_all(fd, bytes, CTF_INDEX_HEADER, path);
	for (uint64_t k = 0; k < p->a->times; k++) {
		at = bytes;
		for (size_t i = 0; i < n; i++) {
			struct ctf_packet e = all[i];
			e.offset += k * ctf_index_size(p->file->index);
			e.begin += k * p->a->shift;
			e.end += k * p->a->shift;
			e.discarded += k * p->discarded_step;
			e.discarded &= e.discarded_bits ? G_MAXUINT64 >> (64 - e.discarded_bits) : 0;
			e.seq += k * p->seq_step;
			ctf_index_put_entry(at, length, &e);
			at += length;
		}
		write_all(fd, bytes, (size_t)(at - bytes), path);
	}
	if (close(fd) != 0)
		fail("%s: %s", path, g_strerror(errno));
}

/* What is in the file, every packet's patches, and how the counters step: as if the
 * next repetition's first packet followed the last without a loss between them. */
static void prepare(struct patcher *p, const uint8_t *bytes)
{
	size_t n;
	const struct ctf_packet *all = ctf_index_packets(p->file->index, &n);
	struct ctf_packet first = all[0], last = all[n - 1];

	if (!ctf_index_check(p->file->index, &first, NULL) ||
	    !ctf_index_check(p->file->index, &last, NULL))
		fail("%s: the index does not fit", ctf_index_name(p->file->index));
	p->bytes = bytes;
	p->seq_step = first.has_seq ? last.seq - first.seq + 1 : 0;
	p->discarded_step = first.has_discarded ? last.discarded - first.discarded : 0;
	for (size_t i = 0; i < n; i++)
		patch_packet(p, &all[i]);
}

static uint64_t copy_file(const struct amplify *a, const struct trace *t,
			  const struct stream_file *f)
{
	struct patcher p = { .a = a, .file = f, .trace = t };
	g_autofree char *path = g_build_filename(t->out, f->name, NULL);
	g_autofree char *bytes = NULL;
	GError *error = NULL;
	gsize n;

	if (!g_file_get_contents(ctf_index_name(f->index), &bytes, &n, &error))
		fail("%s", error->message);
	if (n != ctf_index_size(f->index))
		fail("%s: has changed", ctf_index_name(f->index));
	p.patches = g_array_new(FALSE, FALSE, sizeof(struct patch));
	prepare(&p, (uint8_t *)bytes);
	int fd = create(path);
	for (uint64_t k = 0; k < a->times; k++) {
		for (guint i = 0; k && i < p.patches->len; i++)
			apply((uint8_t *)bytes, &g_array_index(p.patches, struct patch, i));
		write_all(fd, bytes, n, path);
	}
	if (close(fd) != 0)
		fail("%s: %s", path, g_strerror(errno));
	if (!a->no_index)
		write_index(&p, t);
	g_array_unref(p.patches);
	g_free(p.regs);
	return p.n_events;
}

static void copy_metadata(const struct trace *t)
{
	g_autofree char *from = g_build_filename(t->dir, "metadata", NULL);
	g_autofree char *to = g_build_filename(t->out, "metadata", NULL);
	g_autofree char *bytes = NULL;
	GError *error = NULL;
	gsize n;

	if (g_mkdir_with_parents(t->out, 0777) != 0)
		fail("%s: %s", t->out, g_strerror(errno));
	if (!g_file_get_contents(from, &bytes, &n, &error))
		fail("%s", error->message);
	int fd = create(to);
	write_all(fd, bytes, n, to);
	close(fd);
}

/* ---- the command ---- */

static uint64_t parse_size(const char *text)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t v = g_ascii_strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (end == text || v == 0 || (*end && (!unit || end[1])))
		fail("'%s' is no size", text);
	return unit ? v << 10 * (unit - units + 1) : v;
}

static void parse(struct amplify *a, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--no-index") == 0)
			a->no_index = true;
		else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc)
			a->times = parse_size(argv[++i]);
		else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc)
			a->size = parse_size(argv[++i]);
		else
			fail("'%s' is no option", argv[i]);
	}
	if (argc - i != 2 || !a->times == !a->size)
		fail("usage: amplify (--times N | --size BYTES[K|M|G]) [--no-index] IN OUT");
	a->in = argv[i];
	a->out = argv[i + 1];
}

int main(int argc, char **argv)
{
	struct amplify a = { .traces = g_ptr_array_new() };
	GError *error = NULL;
	uint64_t n_events = 0;

	parse(&a, argc, argv);
	const char *const paths[] = { a.in, NULL };
	GPtrArray *dirs = trace_find_dirs(paths, NULL, &error);
	if (!dirs)
		fail("%s", error->message);
	for (guint i = 0; i < dirs->len; i++)
		g_ptr_array_add(a.traces, open_trace(&a, dirs->pdata[i]));
	refuse_chunks(&a);
	measure(&a);
	for (guint i = 0; i < a.traces->len; i++) {
		const struct trace *t = a.traces->pdata[i];
		copy_metadata(t);
		for (guint k = 0; k < t->files->len; k++)
			n_events += copy_file(&a, t, t->files->pdata[k]);
	}
	printf("%" PRIu64 " events x %" PRIu64 ", %" PRIu64 " bytes, each %" PRIu64
	       " cycles later\n", n_events, a.times, a.bytes * a.times, a.shift);
	return 0;
}
