/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What fuzz targets do with records: the model and its timeline, as a job has them, and all that is
 * shown and exported of these.
 *
 *     struct fuzz_model m;
 *     fuzz_model_begin(&m, &options, 0);
 *     struct fuzz_taken t = { .last = INT64_MIN, .see = fuzz_model_see, .data = &m };
 *     fuzz_take(source, &t, G_MAXINT);
 *     fuzz_model_finish(&m);
 *     fuzz_model_show(&m);
 *     fuzz_model_clear(&m);
 */
#ifndef BLK_TEST_FUZZ_MODEL_H
#define BLK_TEST_FUZZ_MODEL_H

#include "lib/fuzz_take.h"
#include "state/publish/model.h"
#include "state/store/timeline.h"

struct fuzz_model {
	struct model *model;
	struct timeline *timeline;
	unsigned batches;
};

/* memory: of the timeline, bytes; 0: no bound. */
void fuzz_model_begin(struct fuzz_model *m, const struct model_options *options, size_t memory);
/* Feeds the batch, and publishes now and then; for fuzz_taken.see. */
void fuzz_model_see(void *model, const struct blk_tables *tables, const struct blk_batch *batch);
void fuzz_model_publish(struct fuzz_model *m);
/* Nothing more comes. */
void fuzz_model_finish(struct fuzz_model *m);
/* All views, exports and a report; asserts that they are what they should be. */
void fuzz_model_show(const struct fuzz_model *m);
void fuzz_model_clear(struct fuzz_model *m);

/* The same number for the same input: what is done with few of them. FUZZ_ALL=1 in the
 * environment: with each. */
uint64_t fuzz_hash(const uint8_t *data, size_t size);
bool fuzz_one_of(uint64_t hash, unsigned n);

#endif
