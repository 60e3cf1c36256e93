/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads trace-cmd's files. */
#include "trace/ring/trace_dat.h"

#include "base/fail.h"
#include "base/intmap.h"
#include "base/limits.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

enum { COMPRESS_NONE, COMPRESS_ZLIB, COMPRESS_ZSTD };

/* Ids of options, and in version 7 also of sections. */
enum {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_OFFSET = 7,
	OPTION_TRACEID = 11,
	OPTION_HEADER_INFO = 16,
	OPTION_FTRACE_EVENTS = 17,
	OPTION_EVENT_FORMATS = 18,
	OPTION_CMDLINES = 21,
};
#define SECTION_COMPRESSED 1

#define READ_BYTES (1u << 20)		/* of uncompressed pages at once */

struct cpu_data {
	unsigned number;
	uint64_t at, end;		/* of the rest, in the file */
	uint32_t n_chunks;		/* compressed: chunks left */
};

struct trace_dat {
	int fd;
	uint64_t size;			/* of the file when it was opened */
	unsigned compression;
	struct trace_dat_info info;
	char *clock, *uname;
	GArray *cpus;			/* struct cpu_data */
	struct intmap overwritten;	/* number of a CPU -> events, at most INTMAP_NONE - 1 */
	GPtrArray *formats;
	char *cmdlines;
};

/* ---- reading bytes ---- */

/* A place in the file, or in a section that was decompressed. */
struct bytes_at {
	struct trace_dat *d;
	const uint8_t *bytes;		/* NULL: the file */
	uint64_t at, end;
};

static bool cut_short(GError **error)
{
	return fail(error, RING_ERROR, 0, "the file ends too early, or its lengths are wrong; copy it again, or "
		    "look whether 'trace-cmd report' can read it");
}

static bool read_bytes(struct bytes_at *p, void *to, uint64_t n, GError **error)
{
	if (n > p->end - p->at)
		return cut_short(error);
	if (p->bytes) {
		memcpy(to, p->bytes + p->at, n);
	} else {
		for (uint64_t done = 0; done < n;) {
			ssize_t got = pread(p->d->fd, (char *)to + done, n - done, (off_t)(p->at + done));
			if (got < 0 && errno == EINTR)
				continue;
			if (got < 0)
				return fail(error, RING_ERROR, 0, "cannot read: %s", g_strerror(errno));
			if (!got)
				return cut_short(error);
			done += (uint64_t)got;
		}
	}
	p->at += n;
	return true;
}

static bool read_number(struct bytes_at *p, unsigned size, uint64_t *ret, GError **error)
{
	uint8_t bytes[8];
	if (!read_bytes(p, bytes, size, error))
		return false;
	*ret = ring_number(p->d->info.layout.machine, bytes, size);
	return true;
}

/* A text of n bytes; a NUL is put behind it. NULL: error. */
static char *read_text(struct bytes_at *p, uint64_t n, GError **error)
{
	if (n > p->end - p->at || n > LIMIT_RING_TEXT_BYTES) {
		cut_short(error);
		return NULL;
	}
	g_autofree char *text = g_malloc(n + 1);
	if (!read_bytes(p, text, n, error))
		return NULL;
	text[n] = '\0';
	return g_steal_pointer(&text);
}

/* A text that ends with a NUL. */
static char *read_word(struct bytes_at *p, GError **error)
{
	g_autoptr(GString) s = g_string_new(NULL);
	for (char c;;) {
		if (!read_bytes(p, &c, 1, error))
			return NULL;
		if (!c)
			return g_string_free(g_steal_pointer(&s), FALSE);
		if (s->len > 256) {
			cut_short(error);
			return NULL;
		}
		g_string_append_c(s, c);
	}
}

/* A text behind its length. */
static char *read_sized(struct bytes_at *p, unsigned size, uint64_t *n, GError **error)
{
	return read_number(p, size, n, error) ? read_text(p, *n, error) : NULL;
}

/* ---- compression ---- */

static bool restore_zlib(const uint8_t *from, size_t n, uint8_t *to, size_t size)
{
	g_autoptr(GConverter) zlib = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
	size_t done = 0, used = 0;
	while (used < n && done < size) {
		gsize n_read = 0, n_written = 0;
		GConverterResult r = g_converter_convert(zlib, from + used, n - used, to + done, size - done,
							 G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL);
		if (r == G_CONVERTER_ERROR || (!n_read && !n_written))
			return false;
		used += n_read;
		done += n_written;
	}
	return done == size;
}

/* A compressed block: u32 compressed bytes, u32 bytes, data. Appends what it was to `out`. */
static bool read_block(struct bytes_at *p, GByteArray *out, GError **error)
{
	uint64_t packed, size;
	if (!read_number(p, 4, &packed, error) || !read_number(p, 4, &size, error))
		return false;
	if (packed > p->end - p->at || size > LIMIT_RING_TEXT_BYTES || out->len + size > LIMIT_RING_TEXT_BYTES)
		return cut_short(error);
	g_autofree uint8_t *from = g_malloc(packed + 1);
	if (!read_bytes(p, from, packed, error))
		return false;
	guint before = out->len;
	g_byte_array_set_size(out, (guint)(before + size));
	bool is_good = p->d->compression == COMPRESS_ZSTD ?
		ZSTD_decompress(out->data + before, size, from, packed) == size :
		restore_zlib(from, packed, out->data + before, size);
	return is_good || fail(error, RING_ERROR, 0, "compressed data is damaged");
}

/* ---- parts ---- */

static bool read_header_info(struct bytes_at *p, GError **error)
{
	uint64_t n;
	g_autofree char *page_word = read_word(p, error);
	g_autofree char *page = page_word ? read_sized(p, 8, &n, error) : NULL;
	if (!page)
		return false;
	uint32_t page_size = p->d->info.layout.page_size;
	if (!ring_layout_parse(&p->d->info.layout, p->d->info.layout.machine, page, n, error))
		return false;
	if (page_size)		/* pages of the file */
		p->d->info.layout.page_size = page_size;
	g_autofree char *event_word = read_word(p, error);
	g_autofree char *event = event_word ? read_sized(p, 8, &n, error) : NULL;
	return event != NULL;
}

/* u64 length, text, of `count` events. */
static bool read_formats_of(struct bytes_at *p, const char *system, uint64_t count, GError **error)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t n;
		g_autofree char *text = read_sized(p, 8, &n, error);
		if (!text)
			return false;
		struct ring_format *f = ring_format_parse(system, text, n, p->d->info.layout.machine.long_size, NULL);
		if (f)
			g_ptr_array_add(p->d->formats, f);
	}
	return true;
}

static bool read_ftrace_events(struct bytes_at *p, GError **error)
{
	uint64_t n;
	return read_number(p, 4, &n, error) && read_formats_of(p, "ftrace", n, error);
}

static bool read_event_formats(struct bytes_at *p, GError **error)
{
	uint64_t n_systems, n;
	if (!read_number(p, 4, &n_systems, error))
		return false;
	for (uint64_t i = 0; i < n_systems; i++) {
		g_autofree char *system = read_word(p, error);
		if (!system || !read_number(p, 4, &n, error) || !read_formats_of(p, system, n, error))
			return false;
	}
	return true;
}

static bool skip_sized(struct bytes_at *p, unsigned size, GError **error)
{
	uint64_t n;
	if (!read_number(p, size, &n, error))
		return false;
	if (n > p->end - p->at)
		return cut_short(error);
	p->at += n;
	return true;
}

static bool read_cmdlines(struct bytes_at *p, GError **error)
{
	uint64_t n;
	g_free(p->d->cmdlines);
	p->d->cmdlines = read_sized(p, 8, &n, error);
	return p->d->cmdlines != NULL;
}

static bool add_cpu(struct trace_dat *d, unsigned number, uint64_t at, uint64_t n, GError **error)
{
	struct cpu_data c = { .number = number, .at = at, .end = at + n };
	if (at > d->size || n > d->size - at || number >= LIMIT_RING_CPUS || d->cpus->len >= LIMIT_RING_CPUS)
		return cut_short(error);
	if (n && d->compression) {
		struct bytes_at p = { .d = d, .at = at, .end = d->size };
		uint64_t chunks;
		if (!read_number(&p, 4, &chunks, error))
			return false;
		c.n_chunks = (uint32_t)chunks;
		c.at = p.at;
		c.end = MIN(p.at + n, d->size);		/* n does not count the number of chunks */
	}
	g_array_append_val(d->cpus, c);
	return true;
}

/* ---- options ---- */

static bool read_section(struct trace_dat *d, uint64_t at, unsigned id, GError **error);

/* Version 7's buffer: u64 section, name, clock, u32 page size, u32 CPUs, { u32 number, u64 offset, u64 size }. Only the
 * first one, which is the main instance, is read. */
static bool read_buffer(struct bytes_at *p, GError **error)
{
	uint64_t section, page_size, n, number, at, size;
	if (p->d->info.version < 7 || p->d->cpus->len)
		return true;
	if (!read_number(p, 8, &section, error))
		return false;
	g_autofree char *name = read_word(p, error), *clock = name ? read_word(p, error) : NULL;
	if (!clock || !read_number(p, 4, &page_size, error) || !read_number(p, 4, &n, error))
		return false;
	if (page_size < 64 || page_size > LIMIT_RING_PAGE_BYTES)
		return fail(error, RING_ERROR, 0, "pages of %" G_GUINT64_FORMAT " bytes", page_size);
	p->d->info.layout.page_size = (uint32_t)page_size;
	for (uint64_t i = 0; i < n; i++)
		if (!read_number(p, 4, &number, error) || !read_number(p, 8, &at, error) ||
		    !read_number(p, 8, &size, error) ||
		    !add_cpu(p->d, (unsigned)MIN(number, G_MAXUINT), at, size, error))
			return false;
	return true;
}

/* The number behind a key of a CPU's statistics. False: there is none. */
static bool read_statistic(const char *text, const char *key, guint64 *n)
{
	const char *at = strstr(text, key);
	if (!at)
		return false;
	at += strlen(key);
	g_autofree char *digits = g_strstrip(g_strndup(at, strcspn(at, "\n")));
	return g_ascii_string_to_unsigned(digits, 10, 0, INTMAP_NONE - 1, n, NULL);
}

static void read_statistics(struct trace_dat *d, const char *text)
{
	guint64 cpu, n;
	if (read_statistic(text, "CPU:", &cpu) && read_statistic(text, "\noverrun:", &n))
		intmap_set(&d->overwritten, cpu, (uint32_t)n);
}

uint64_t trace_dat_overwritten(const struct trace_dat *d, unsigned cpu)
{
	uint32_t n = intmap_get(&d->overwritten, cpu);
	return n == INTMAP_NONE ? 0 : n;
}

/* The chosen clock is the one in brackets: "local global [mono]". */
static char *chosen_clock(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
	return close ? g_strndup(open + 1, (gsize)(close - open - 1)) : g_strstrip(g_strdup(text));
}

static bool read_option(struct trace_dat *d, unsigned id, const char *data, uint64_t n, GError **error)
{
	struct bytes_at p = { .d = d, .bytes = (const uint8_t *)data, .end = n };
	uint64_t at;
	gint64 offset;
	switch (id) {
	case OPTION_DATE:
	case OPTION_OFFSET:
		if (g_ascii_string_to_signed(data, 10, G_MININT64, G_MAXINT64, &offset, NULL) ||
		    (g_str_has_prefix(data, "0x") &&
		     g_ascii_string_to_unsigned(data + 2, 16, 0, G_MAXINT64, (guint64 *)&offset, NULL))) {
			d->info.has_offset = true;
			d->info.offset_ns = offset;
		}
		return true;
	case OPTION_CPUSTAT:
		read_statistics(d, data);
		return true;
	case OPTION_TRACECLOCK:
		g_free(d->clock);
		d->clock = chosen_clock(data);
		return true;
	case OPTION_UNAME:
		g_free(d->uname);
		d->uname = g_strdup(data);
		return true;
	case OPTION_TRACEID:
		return n < 8 || read_number(&p, 8, &d->info.id, error);
	case OPTION_BUFFER:
		return read_buffer(&p, error);
	case OPTION_HEADER_INFO:
	case OPTION_FTRACE_EVENTS:
	case OPTION_EVENT_FORMATS:
	case OPTION_CMDLINES:
		return d->info.version < 7 || (read_number(&p, 8, &at, error) && read_section(d, at, id, error));
	default:
		return true;
	}
}

/* Options up to the last one. *next: where version 7 has more of them; 0: nowhere. */
static bool read_options(struct bytes_at *p, uint64_t *next, GError **error)
{
	*next = 0;
	for (;;) {
		uint64_t id, n;
		if (!read_number(p, 2, &id, error))
			return false;
		if (id == OPTION_DONE && p->d->info.version < 7)
			return true;
		g_autofree char *data = read_sized(p, 4, &n, error);
		if (!data)
			return false;
		if (id == OPTION_DONE) {
			*next = n >= 8 ? ring_number(p->d->info.layout.machine, (const uint8_t *)data, 8) : 0;
			return true;
		}
		if (!read_option(p->d, (unsigned)id, data, n, error))
			return false;
	}
}

/* A section of version 7: u16 id, u16 flags, u32 description, u64 bytes. */
static bool open_section(struct trace_dat *d, uint64_t at, unsigned id, struct bytes_at *p, GByteArray *bytes,
			 GError **error)
{
	uint64_t its_id, flags, description, n;
	*p = (struct bytes_at){ .d = d, .at = at, .end = d->size };
	if (at > d->size)
		return cut_short(error);
	if (!read_number(p, 2, &its_id, error) || !read_number(p, 2, &flags, error) ||
	    !read_number(p, 4, &description, error) || !read_number(p, 8, &n, error))
		return false;
	if (its_id != id || n > p->end - p->at)
		return cut_short(error);
	p->end = p->at + n;
	if (!(flags & SECTION_COMPRESSED))
		return true;
	if (!d->compression)
		return fail(error, RING_ERROR, 0, "a section is compressed in an unknown way");
	if (!read_block(p, bytes, error))
		return false;
	*p = (struct bytes_at){ .d = d, .bytes = bytes->data, .end = bytes->len };
	return true;
}

static bool read_section(struct trace_dat *d, uint64_t at, unsigned id, GError **error)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct bytes_at p;
	if (!open_section(d, at, id, &p, bytes, error))
		return false;
	switch (id) {
	case OPTION_HEADER_INFO:
		return read_header_info(&p, error);
	case OPTION_FTRACE_EVENTS:
		return read_ftrace_events(&p, error);
	case OPTION_EVENT_FORMATS:
		return read_event_formats(&p, error);
	default:
		return read_cmdlines(&p, error);
	}
}

/* ---- the whole file ---- */

static bool read_version_7(struct bytes_at *p, GError **error)
{
	struct trace_dat *d = p->d;
	uint64_t at;
	g_autofree char *name = read_word(p, error), *version = name ? read_word(p, error) : NULL;
	if (!version || !read_number(p, 8, &at, error))
		return false;
	if (!strcmp(name, "zstd"))
		d->compression = COMPRESS_ZSTD;
	else if (!strcmp(name, "zlib"))
		d->compression = COMPRESS_ZLIB;
	else if (strcmp(name, "none"))
		return fail(error, RING_ERROR, 0, "it is compressed with '%.40s'; only zlib and zstd can be read",
			    name);
	for (unsigned n = 0; at; n++) {
		g_autoptr(GByteArray) bytes = g_byte_array_new();
		struct bytes_at options;
		if (n == 1000)
			return cut_short(error);
		if (!open_section(d, at, OPTION_DONE, &options, bytes, error) || !read_options(&options, &at, error))
			return false;
	}
	return true;
}

static bool read_version_6(struct bytes_at *p, GError **error)
{
	struct trace_dat *d = p->d;
	uint64_t n_cpus, next, at, size;
	char word[10];
	if (!read_header_info(p, error) || !read_ftrace_events(p, error) || !read_event_formats(p, error) ||
	    !skip_sized(p, 4, error) || !skip_sized(p, 4, error) ||	/* symbols, texts of printk() */
	    !read_cmdlines(p, error) || !read_number(p, 4, &n_cpus, error) || !read_bytes(p, word, sizeof(word), error))
		return false;
	if (!memcmp(word, "options  ", sizeof(word)) &&
	    (!read_options(p, &next, error) || !read_bytes(p, word, sizeof(word), error)))
		return false;
	if (memcmp(word, "flyrecord", sizeof(word)))
		return fail(error, RING_ERROR, 0,
			    "it holds a latency trace, which is text; only files of 'trace-cmd record' "
			    "can be read");
	for (uint64_t i = 0; i < n_cpus; i++)
		if (!read_number(p, 8, &at, error) || !read_number(p, 8, &size, error) ||
		    !add_cpu(d, (unsigned)MIN(i, G_MAXUINT), at, size, error))
			return false;
	return true;
}

bool trace_dat_is(const uint8_t *bytes, size_t n)
{
	return n >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

static bool read_file(struct bytes_at *p, GError **error)
{
	struct trace_dat *d = p->d;
	uint8_t start[sizeof(magic)], endian, long_size;
	uint64_t page_size;
	if (!read_bytes(p, start, sizeof(start), error))
		return false;
	if (!trace_dat_is(start, sizeof(start)))
		return fail(error, RING_ERROR, 0, "it is no file of trace-cmd");
	g_autofree char *version = read_word(p, error);
	if (!version || !read_bytes(p, &endian, 1, error) || !read_bytes(p, &long_size, 1, error))
		return false;
	if (strcmp(version, "6") && strcmp(version, "7"))
		return fail(error, RING_ERROR, 0, "it has version '%.20s' of trace-cmd's format; 6 and 7 can be read",
			    version);
	if (endian > 1 || (long_size != 4 && long_size != 8))
		return cut_short(error);
	d->info.version = (unsigned)(version[0] - '0');
	d->info.layout.machine = (struct ring_machine){ .big_endian = endian, .long_size = long_size };
	if (!read_number(p, 4, &page_size, error))
		return false;
	if (page_size < 64 || page_size > LIMIT_RING_PAGE_BYTES)
		return cut_short(error);
	d->info.layout.page_size = (uint32_t)page_size;
	if (!(d->info.version == 7 ? read_version_7(p, error) : read_version_6(p, error)))
		return false;
	return d->info.layout.data_offset || fail(error, RING_ERROR, 0, "it does not say how pages are laid out");
}

struct trace_dat *trace_dat_open(int fd, GError **error)
{
	g_autoptr(trace_dat) d = g_new0(struct trace_dat, 1);
	struct stat st;
	d->fd = fd;
	d->cpus = g_array_new(FALSE, FALSE, sizeof(struct cpu_data));
	d->formats = g_ptr_array_new_with_free_func((GDestroyNotify)(void (*)(void))ring_format_free);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		fail(error, RING_ERROR, 0, "it is no regular file");
		return NULL;
	}
	d->size = (uint64_t)st.st_size;
	struct bytes_at p = { .d = d, .end = d->size };
	if (!read_file(&p, error))
		return NULL;
	d->info.n_cpus = d->cpus->len;
	d->info.clock = d->clock;
	d->info.uname = d->uname;
	return g_steal_pointer(&d);
}

void trace_dat_free(struct trace_dat *d)
{
	if (!d)
		return;
	close(d->fd);
	g_array_unref(d->cpus);
	intmap_clear(&d->overwritten);
	g_ptr_array_unref(d->formats);
	g_free(d->clock);
	g_free(d->uname);
	g_free(d->cmdlines);
	g_free(d);
}

const struct trace_dat_info *trace_dat_info(const struct trace_dat *d)
{
	return &d->info;
}

GPtrArray *trace_dat_take_formats(struct trace_dat *d)
{
	GPtrArray *formats = d->formats;
	d->formats = g_ptr_array_new();
	g_ptr_array_set_free_func(formats, NULL);
	return formats;
}

void trace_dat_threads(const struct trace_dat *d, trace_dat_thread f, void *data)
{
	g_auto(GStrv) lines = g_strsplit(d->cmdlines ? d->cmdlines : "", "\n", -1);
	for (char **l = lines; *l; l++) {
		char *space = strchr(*l, ' ');
		gint64 tid;
		if (!space)
			continue;
		*space = '\0';
		if (g_ascii_string_to_signed(*l, 10, 1, G_MAXINT32, &tid, NULL))
			f(data, (int32_t)tid, space + 1);
	}
}

GByteArray *trace_dat_next(struct trace_dat *d, unsigned cpu, unsigned *ret_number, GError **error)
{
	struct cpu_data *c = &g_array_index(d->cpus, struct cpu_data, cpu);
	struct bytes_at p = { .d = d, .at = c->at, .end = c->end };
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	uint32_t page = d->info.layout.page_size;
	*ret_number = c->number;
	if (d->compression) {
		if (c->n_chunks && !read_block(&p, bytes, error))
			return NULL;
		c->n_chunks -= c->n_chunks > 0;
	} else {
		uint64_t n = MIN(c->end - c->at, MAX(page, READ_BYTES / page * page));
		g_byte_array_set_size(bytes, (guint)n);
		if (n && !read_bytes(&p, bytes->data, n, error))
			return NULL;
	}
	c->at = p.at;
	return g_steal_pointer(&bytes);
}
