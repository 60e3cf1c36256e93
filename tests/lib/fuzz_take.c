/* SPDX-License-Identifier: GPL-2.0-only */
/* What fuzz targets take from a source: see fuzz_take.h. */
#include "fuzz_take.h"

static void read_data(struct fuzz_taken *t, const struct blk_event *e)
{
	if (e->row == BLK_ROW_TALLY)
		t->read += ((const struct blk_tally *)e->data)->count;
	if (e->row == BLK_ROW_LOST_BEGIN || e->row == BLK_ROW_LOST_END)
		t->read += (uint64_t)((const struct blk_loss *)e->data)->begin_ns;
	for (unsigned i = 0; e->layout && i < BLK_MAX_SLOTS; i++) {
		struct blk_text text = blk_text(e, i);
		t->read += (uint64_t)blk_int(e, i);
		for (uint32_t k = 0; k < text.len; k++)
			t->read += (uint8_t)text.str[k];
	}
}

enum source_status fuzz_take(struct source *s, struct fuzz_taken *t, int batches)
{
	struct blk_batch batch;
	enum source_status status = SOURCE_AGAIN;
	while (batches-- > 0 && (status = source_next(s, &batch, NULL)) == SOURCE_OK) {
		g_assert_true(batch.n > 0 && batch.n <= BLK_BATCH);
		for (size_t i = 0; i < batch.n; i++) {
			const struct blk_event *e = &batch.ev[i];
			g_assert_cmpint(e->ts, >=, t->last);
			t->last = e->ts;
			if (e->row == BLK_ROW_HORIZON)
				continue;
			g_assert_cmpuint(e->stream, <, s->tables.streams->len);
			if (e->row < BLK_ROW_FIRST_PSEUDO)
				g_assert_cmpuint(blk_class(&s->tables, e->cls)->row, ==, e->row);
			read_data(t, e);
		}
		if (t->see)
			t->see(t->data, &s->tables, &batch);
	}
	return status;
}
