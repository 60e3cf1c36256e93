/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows of stream files: parts of a file read by pread(2) into buffers that are reused. */
#include "trace/native/native_cursor.h"

#include "base/disk.h"

#include <unistd.h>

static bool holds(const struct native_window *w, const struct native_file *f, uint64_t offset,
		  size_t need)
{
	return w->file == f && offset >= w->offset && offset - w->offset <= w->n &&
	       w->n - (offset - w->offset) >= need;
}

void native_window_close(struct native_cursor *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	k->fd_file = NULL;
}

/* Each cursor has one open file at most. */
static int descriptor(struct native_cursor *k, const struct native_file *f)
{
	if (k->fd_file != f) {
		native_window_close(k);
		k->fd = ctf_index_reopen(f->index);
		k->fd_file = f;
	}
	return k->fd;
}

enum native_fill native_window_have(struct native_cursor *k, const struct native_file *f,
				    uint64_t offset, size_t need)
{
	const struct native_source *s = k->source;
	if (holds(&k->window[k->w], f, offset, need))
		return NATIVE_FILLED;
	/* Records that wait in .ahead, or were delivered in this batch, may point into the other window if .w changed
	 * in this batch. */
	if (k->ahead_n || (k->swap_batch == s->batch_number && k->emit_batch == s->batch_number))
		return NATIVE_WAIT;
	struct native_window *w = &k->window[k->w ^ 1];
	g_assert(w->cap || !w->bytes);	/* not borrowed: packets that were pushed are in memory as a whole */
	size_t want = MAX(need, s->window);
	if (w->cap < want) {
		g_free(w->bytes);
		w->bytes = g_malloc(want);
		w->cap = want;
	} else if (w->cap > 4 * want) {	/* it has grown for one huge event */
		w->bytes = g_realloc(w->bytes, want);
		w->cap = want;
	}
	w->file = f;
	w->offset = offset;
	w->n = disk_read_some(descriptor(k, f), w->bytes, want, offset);
	if (w->n < w->cap / 2) {	/* there may be thousands of streams of a few bytes */
		w->cap = MAX(w->n, 1);
		w->bytes = g_realloc(w->bytes, w->cap);
	}
	if (s->few_files)
		native_window_close(k);
	k->w ^= 1;
	k->swap_batch = s->batch_number;
	return w->n >= need ? NATIVE_FILLED : NATIVE_SHORT;
}

size_t native_window_read(struct native_cursor *k, const struct native_file *f, uint64_t offset, uint8_t *to, size_t n)
{
	size_t have = disk_read_some(descriptor(k, f), to, n, offset);

	if (k->source->few_files)
		native_window_close(k);
	return have;
}
