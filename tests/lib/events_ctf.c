/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>
#include <unistd.h>

#include "lib/events_ctf.h"
#include "lib/inspect.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_walk.h"
#include "trace/reader.h"

/* -- files and streams ------------------------------------------------------ */

static const struct ctf_packet *first_packet(const struct ctf_index *x)
{
	size_t n;
	const struct ctf_packet *p = ctf_index_packets(x, &n);
	return n && p->fault != CTF_GARBAGE ? p : NULL;
}

static int compare_begins(const void *a, const void *b)
{
	const struct ctf_packet *p = first_packet(*(struct ctf_index *const *)a);
	const struct ctf_packet *q = first_packet(*(struct ctf_index *const *)b);
	return (p->begin > q->begin) - (p->begin < q->begin);
}

static struct events_stream *find_group(struct events_trace *t, const struct ctf_packet *p)
{
	for (guint i = 0; p && p->has_instance && i < t->streams->len; i++) {
		struct events_stream *s = t->streams->pdata[i];
		const struct ctf_packet *q = first_packet(s->files->pdata[0]);
		if (q && q->has_instance && q->instance == p->instance &&
		    q->stream_id == p->stream_id)
			return s;
	}
	return NULL;
}

static void free_stream(void *p)
{
	struct events_stream *s = p;
	g_ptr_array_unref(s->files);
	g_free(s->regs);
	g_free(s->bytes);
	g_free(s);
}

/* What the index file does not say, the first packet's header does. */
static bool add_file(struct events_trace *t, const char *dir, const char *name, GError **error)
{
	struct ctf_index *x = ctf_index_open(t->meta, dir, name, error);
	if (!x)
		return false;
	while (ctf_index_walk(x, 4096))
		;
	const struct ctf_packet *p = first_packet(x);
	struct events_stream *s = find_group(t, p);
	if (!s) {
		s = g_new0(struct events_stream, 1);
		s->meta = t->meta;
		s->files = g_ptr_array_new_with_free_func((GDestroyNotify)ctf_index_free);
		s->sc = p ? ctf_meta_stream(t->meta, p->stream_id) : NULL;
		s->regs = g_new0(uint64_t, s->sc ? s->sc->n_regs + 1 : 1);
		g_ptr_array_add(t->streams, s);
	}
	g_ptr_array_add(s->files, x);
	return true;
}

static bool add_files(struct events_trace *t, const char *dir, GError **error)
{
	g_autoptr(GDir) d = g_dir_open(dir, 0, error);
	bool ok = d != NULL;
	for (const char *name; ok && (name = g_dir_read_name(d));) {
		g_autofree char *path = g_build_filename(dir, name, NULL);
		if (name[0] != '.' && strcmp(name, "metadata") &&
		    g_file_test(path, G_FILE_TEST_IS_REGULAR))
			ok = add_file(t, dir, name, error);
	}
	for (guint i = 0; ok && i < t->streams->len; i++) {
		struct events_stream *s = t->streams->pdata[i];
		if (s->files->len > 1)
			g_ptr_array_sort(s->files, compare_begins);
	}
	return ok;
}

struct events_trace *events_trace_open(const char *dir, GError **error)
{
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL);
	g_autofree char *bytes = NULL;
	gsize n;
	if (!g_file_get_contents(metadata, &bytes, &n, error))
		return NULL;
	struct events_trace *t = g_new0(struct events_trace, 1);
	t->meta = ctf_meta_new();
	t->streams = g_ptr_array_new_with_free_func(free_stream);
	if (ctf_meta_append(t->meta, bytes, n, error) && add_files(t, dir, error))
		return t;
	events_trace_free(t);
	return NULL;
}

void events_trace_free(struct events_trace *t)
{
	if (!t)
		return;
	g_ptr_array_unref(t->streams);
	ctf_meta_free(t->meta);
	g_free(t);
}

struct events_stream *events_trace_stream(const struct events_trace *t, const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	for (guint i = 0; i < t->streams->len; i++) {
		struct events_stream *s = t->streams->pdata[i];
		for (guint j = 0; j < s->files->len; j++) {
			g_autofree char *base =
				g_path_get_basename(ctf_index_name(s->files->pdata[j]));
			if (!strcmp(base, name))
				return s;
		}
	}
	return NULL;
}

/* -- packets ---------------------------------------------------------------- */

static bool fail(GError **error, const struct events_stream *s, const char *what)
{
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
		    "'%s', packet at byte %" G_GUINT64_FORMAT ", bit %" G_GUINT64_FORMAT ": %s",
		    ctf_index_name(s->files->pdata[s->file]), s->packet.offset, s->pos, what);
	return false;
}

static bool read_packet(struct events_stream *s, GError **error)
{
	const struct ctf_index *x = s->files->pdata[s->file];
	uint64_t n = (s->packet.content_bits + 7) / 8;
	size_t need;
	if (s->capacity < n) {
		s->bytes = g_realloc(s->bytes, n);
		s->capacity = n;
	}
	if (pread(ctf_index_fd(x), s->bytes, n, (off_t)s->packet.offset) != (ssize_t)n)
		return fail(error, s, "cannot be read whole");
	if (!ctf_packet_read(s->meta, s->bytes, n, s->packet.offset, ctf_index_size(x), &s->packet,
			     &need, error))
		return false;
	/* The same by types. */
	s->pos = 0;
	s->end = s->packet.content_bits;
	if ((s->meta->packet_header &&
	     !ctf_walk(s->meta->packet_header, s->bytes, &s->pos, s->end, s->regs, NULL, NULL)) ||
	    (s->sc->packet_context &&
	     !ctf_walk(s->sc->packet_context, s->bytes, &s->pos, s->end, s->regs, NULL, NULL)))
		return fail(error, s, "its header does not fit");
	if (s->pos != s->packet.header_bits)
		return fail(error, s, "its header ends elsewhere than ctf_packet_read() says");
	s->clock = s->packet.begin;
	return true;
}

/* Into the next packet that has anything. False: there is none, or *error. */
static bool next_packet(struct events_stream *s, GError **error)
{
	for (; s->file < s->files->len; s->file++, s->packet_index = 0) {
		size_t n;
		const struct ctf_packet *p = ctf_index_packets(s->files->pdata[s->file], &n);
		while (s->packet_index < n) {
			s->packet = p[s->packet_index++];
			if (s->packet.fault == CTF_WHOLE)
				return read_packet(s, error);
		}
	}
	return false;
}

/* -- events ----------------------------------------------------------------- */

struct header {
	uint64_t id, clock;
	bool by_roles;			/* CTF 2; else by names, as CTF 1.8 has it */
};

static uint64_t advance(uint64_t clock, uint64_t low, unsigned bits)
{
	if (bits >= 64)
		return low;
	uint64_t step = UINT64_C(1) << bits, old = clock % step;
	return clock - old + low + (low < old ? step : 0);
}

static void see_header(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct header *h = data;
	bool is_id = h->by_roles ? t->roles & CTF_ROLE_EVENT_CLASS : name && !strcmp(name, "id");
	if (h->by_roles ? t->roles & CTF_ROLE_TIMESTAMP : t->clock != NULL)
		h->clock = advance(h->clock, value, bits);
	else if (is_id)
		h->id = value;
}

bool events_stream_next(struct events_stream *s, struct events_event *ret, GError **error)
{
	static const struct ctf_visitor visitor = { .integer = see_header };
	struct header h = { .by_roles = s->meta->is_ctf2 };
	while (s->pos >= s->end)
		if (!next_packet(s, error))
			return false;
	h.clock = s->clock;
	*ret = (struct events_event){
		.cpu = s->packet.has_cpu ? s->packet.cpu : UINT32_MAX,
		.before = s->clock, .packet_offset = s->packet.offset, .begin = s->pos,
	};
	if (s->sc->event_header &&
	    !ctf_walk(s->sc->event_header, s->bytes, &s->pos, s->end, s->regs, &visitor, &h))
		return fail(error, s, "an event header does not fit");
	s->clock = h.clock;
	ret->cycles = h.clock;
	ret->id = h.id;
	ret->cls = ctf_stream_event(s->sc, h.id);
	ret->fields = s->pos;
	return ret->cls || fail(error, s, "an event of no known class");
}

static void on_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	/* As babeltrace2 has it: of a boolean or LEB128 it does not tell the bits. */
	digest_integer(data, name, t->is_signed, t->is_bool ? 1 : t->is_var ? 64 : t->bits,
		       t->is_bool ? value != 0 : value);
}

static void on_real(void *data, const char *name, const struct ctf_type *t, double value)
{
	digest_real(data, name, value);
}

static void on_text(void *data, const char *name, const struct ctf_type *t, const char *bytes,
		    uint64_t n)
{
	digest_text(data, name, bytes, strnlen(bytes, n));
}

static void on_begin(void *data, const char *name, const struct ctf_type *t, uint64_t n)
{
	digest_begin(data, name, t->kind == CTF_STRUCT ? DIGEST_STRUCT :
		     t->kind == CTF_VARIANT ? DIGEST_VARIANT : DIGEST_ARRAY, n);
}

static void on_end(void *data, const char *name, const struct ctf_type *t)
{
	digest_end(data);
}

/* As digest_root() in events_bt2.c. */
static bool digest_root(struct events_stream *s, const char *scope, const struct ctf_type *t,
			struct digest *d)
{
	static const struct ctf_visitor visitor = { on_integer, on_real, on_text, on_begin, on_end };
	bool any = t && t->n_fields;
	digest_begin(d, scope, DIGEST_SCOPE, any);
	return !t || ctf_walk(t, s->bytes, &s->pos, s->end, s->regs, any ? &visitor : NULL, d);
}

bool events_stream_digest(struct events_stream *s, struct events_event *e, struct digest *d)
{
	s->pos = e->fields;
	bool ok = digest_root(s, "common", s->sc->event_context, d) &&
		  digest_root(s, "context", e->cls->context, d) &&
		  digest_root(s, "payload", e->cls->fields, d);
	e->end = s->pos;
	return ok;
}
