/* SPDX-License-Identifier: GPL-2.0-only */
/* What fuzz targets take from a native_feed: every byte of it, in the order of time. */
#ifndef BLK_TEST_FUZZ_TAKE_H
#define BLK_TEST_FUZZ_TAKE_H

#include "trace/native_feed.h"

struct fuzz_taken {
	int64_t last;			/* of the record before; begin with INT64_MIN */
	volatile uint64_t read;		/* so that it is */
};

/* At most so many batches; asserts what every source promises. */
enum source_status fuzz_take(struct source *s, struct fuzz_taken *t, int batches);

#endif
