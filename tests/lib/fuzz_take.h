/* SPDX-License-Identifier: GPL-2.0-only */
/* What fuzz targets take from a source: every byte of it, in the order of time. */
#ifndef BLK_TEST_FUZZ_TAKE_H
#define BLK_TEST_FUZZ_TAKE_H

#include "trace/reader.h"

struct fuzz_taken {
	int64_t last;			/* of the record before; begin with INT64_MIN */
	volatile uint64_t read;		/* so that it is */
	/* Gets each batch, too; NULL: nobody does. */
	void (*see)(void *data, const struct blk_tables *tables, const struct blk_batch *batch);
	void *data;
};

/* At most so many batches; asserts what every source promises. */
enum source_status fuzz_take(struct source *s, struct fuzz_taken *t, int batches);

#endif
