/* SPDX-License-Identifier: GPL-2.0-only */
/* See fed.h. */
#include "lib/fed.h"

#include "trace/ctf/ctf_index.h"

#include <sys/stat.h>

static void packet_clear(void *p)
{
	g_bytes_unref(((struct fed_packet *)p)->bytes);
}

static void stream_free(void *p)
{
	struct fed_stream *s = p;
	g_array_unref(s->packets);
	g_free(s->key);
	g_free(s);
}

static void bytes_free(void *p)
{
	g_bytes_unref(p);
}

static struct fed_stream *stream_of(struct fed *d, unsigned trace, const char *file,
				    const struct ctf_packet *p)
{
	g_autofree char *key = p->has_instance
		? g_strdup_printf("%u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, trace, p->stream_id,
				  p->instance)
		: g_strdup(file);
	for (guint i = 0; i < d->streams->len; i++) {
		struct fed_stream *s = g_ptr_array_index(d->streams, i);
		if (!strcmp(s->key, key))
			return s;
	}
	struct fed_stream *s = g_new0(struct fed_stream, 1);
	s->trace = trace;
	s->key = g_steal_pointer(&key);
	s->class_id = p->stream_id;
	s->packets = g_array_new(FALSE, FALSE, sizeof(struct fed_packet));
	g_array_set_clear_func(s->packets, packet_clear);
	g_ptr_array_add(d->streams, s);
	return s;
}

static void add_file(struct fed *d, unsigned trace, const struct ctf_meta *m, const char *dir,
		     const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	struct stat st;
	size_t n;
	char *all;
	gsize size;
	if (!strcmp(name, "metadata") || name[0] == '.' || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	struct ctf_index *x = ctf_index_open(m, dir, name, NULL);
	if (!x)
		return;
	ctf_index_distrust(x);
	while (ctf_index_walk(x, 1000))
		;
	g_assert_true(g_file_get_contents(path, &all, &size, NULL));
	g_autoptr(GBytes) bytes = g_bytes_new_take(all, size);
	const struct ctf_packet *p = ctf_index_packets(x, &n);
	for (size_t i = 0; i < n; i++) {
		struct fed_packet k = {
			.bytes = g_bytes_new_from_bytes(bytes, p[i].offset, p[i].packet_bits / 8),
			.begin = p[i].begin, .end = p[i].end, .seq = p[i].seq, .has_seq = p[i].has_seq,
			.discarded = p[i].discarded,
		};
		g_array_append_val(stream_of(d, trace, path, &p[0])->packets, k);
	}
	ctf_index_free(x);
}

static unsigned trace_of(struct fed *d, const struct ctf_meta *m, const char *dir, GBytes *bytes)
{
	g_autofree char *id = m->has_uuid ? g_compute_checksum_for_data(G_CHECKSUM_SHA1, m->uuid, 16)
					  : g_strdup(dir);
	for (guint i = 0; i < d->uuids->len; i++)
		if (!strcmp(g_ptr_array_index(d->uuids, i), id))
			return i;
	gsize none = 0;
	g_ptr_array_add(d->uuids, g_steal_pointer(&id));
	g_ptr_array_add(d->traces, g_bytes_ref(bytes));
	g_array_append_val(d->trace_at, none);
	return d->uuids->len - 1;
}

static int compare_packets(const void *a, const void *b)
{
	const struct fed_packet *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static void add_dir(struct fed *d, const char *dir)
{
	g_autofree char *file = g_build_filename(dir, "metadata", NULL);
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	g_autoptr(GDir) list = g_dir_open(dir, 0, NULL);
	char *all;
	gsize n;
	g_assert_true(g_file_get_contents(file, &all, &n, NULL));
	g_autoptr(GBytes) bytes = g_bytes_new_take(all, n);
	g_assert_true(ctf_meta_append(m, all, n, NULL));
	unsigned trace = trace_of(d, m, dir, bytes);
	for (const char *name; (name = g_dir_read_name(list));)
		add_file(d, trace, m, dir, name);
}

struct fed *fed_open(const char *dir)
{
	const char *const paths[] = { dir, NULL };
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, NULL);
	struct fed *d = g_new0(struct fed, 1);
	d->traces = g_ptr_array_new_with_free_func(bytes_free);
	d->trace_at = g_array_new(FALSE, TRUE, sizeof(gsize));
	d->uuids = g_ptr_array_new_with_free_func(g_free);
	d->streams = g_ptr_array_new_with_free_func(stream_free);
	g_assert_nonnull(dirs);
	for (guint i = 0; i < dirs->len; i++)
		add_dir(d, g_ptr_array_index(dirs, i));
	for (guint i = 0; i < d->streams->len; i++)
		g_array_sort(((struct fed_stream *)g_ptr_array_index(d->streams, i))->packets,
			     compare_packets);
	return d;
}

void fed_free(struct fed *d)
{
	g_ptr_array_unref(d->traces);
	g_array_unref(d->trace_at);
	g_ptr_array_unref(d->uuids);
	g_ptr_array_unref(d->streams);
	g_free(d);
}

void fed_rewind(struct fed *d)
{
	for (guint i = 0; i < d->trace_at->len; i++)
		g_array_index(d->trace_at, gsize, i) = 0;
	for (guint i = 0; i < d->streams->len; i++) {
		struct fed_stream *s = g_ptr_array_index(d->streams, i);
		s->at = 0;
		s->ended = false;
	}
}

void fed_add(struct fed *d, struct native_feed *f)
{
	for (guint i = 0; i < d->traces->len; i++)
		g_assert_cmpuint(native_feed_add_trace(f, "t"), ==, i);
	for (guint i = 0; i < d->streams->len; i++) {
		struct fed_stream *s = g_ptr_array_index(d->streams, i);
		s->id = native_feed_add_stream(f, s->trace, s->key, INT64_MAX);
	}
}

void fed_push_metadata(struct fed *d, struct native_feed *f, unsigned trace, gsize n)
{
	GBytes *all = g_ptr_array_index(d->traces, trace);
	gsize *at = &g_array_index(d->trace_at, gsize, trace);
	n = MIN(n, g_bytes_get_size(all) - *at);
	if (n)
		native_feed_metadata(f, trace, g_bytes_new_from_bytes(all, *at, n));
	*at += n;
}

bool fed_push_next(struct native_feed *f, struct fed_stream *s)
{
	if (s->ended)
		return false;
	if (s->at < s->packets->len) {
		struct fed_packet *p = &g_array_index(s->packets, struct fed_packet, s->at++);
		native_feed_packet(f, s->id, g_bytes_ref(p->bytes), NULL);
	} else {
		native_feed_end_stream(f, s->id);
		s->ended = true;
	}
	return true;
}

void fed_push_all(struct fed *d, struct native_feed *f)
{
	for (guint i = 0; i < d->traces->len; i++)
		fed_push_metadata(d, f, i, G_MAXSIZE);
	for (guint i = 0; i < d->streams->len; i++)
		while (fed_push_next(f, g_ptr_array_index(d->streams, i)))
			;
	native_feed_end(f);
}
