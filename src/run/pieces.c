/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces in pieces: see pieces.h. */
#include "run/pieces.h"

#include "state/slice.h"

bool pieces_lack_spans(const struct source *source)
{
	const GPtrArray *classes = source->tables.classes;

	for (guint i = 0; i < classes->len; i++)
		if (slice_row_makes_spans(blk_class(&source->tables, i)->row))
			return false;
	return classes->len > 0;
}

struct slice *pieces_begin_slice(const struct pieces *p, struct source *source, bool rooted,
				 int64_t step_ns)
{
	struct slice *s = slice_new(rooted, step_ns);
	size_t n;
	const struct native_loss *losses = p->ops->losses(source, &n);

	if (pieces_lack_spans(source))
		slice_without_spans(s);
	for (size_t i = 0; i < n; i++)
		slice_begin_lost(s, &source->tables, losses[i].stream, &losses[i].loss);
	return s;
}
