/* SPDX-License-Identifier: GPL-2.0-only */
/* What all traces in pieces share: see pieces.h. */
#include "run/pieces.h"

#include "state/slice/slice.h"

bool pieces_are_without_spans(const struct pieces *p)
{
	return p->without_spans || (!p->with_spans && !p->ops->has_row(p->trace, slice_row_makes_spans));
}

struct slice *pieces_begin_slice(const struct pieces *p, struct source *source, bool from_start,
				 int64_t step_ns)
{
	struct slice *s = slice_new(from_start, step_ns);
	size_t n;
	const struct native_loss *losses = p->ops->losses(source, &n);

	slice_read_cells(s, p->cells);
	if (pieces_are_without_spans(p))
		slice_without_spans(s);
	for (size_t i = 0; i < n; i++)
		slice_begin_lost(s, &source->tables, losses[i].stream, &losses[i].loss);
	return s;
}
