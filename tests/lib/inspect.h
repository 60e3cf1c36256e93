/* SPDX-License-Identifier: GPL-2.0-only */
/* What tests look into, and the program does not ask for. */
#ifndef BLK_TEST_INSPECT_H
#define BLK_TEST_INSPECT_H

#include "state/publish/model.h"
#include "state/slice/slice.h"
#include "state/store/timeline.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/native/native.h"
#include "trace/native/native_feed.h"

uint64_t timeline_n_events(const struct timeline *tl);		/* that were read, of all */
size_t model_n_threads(const struct model *m);			/* that it remembers now */
uint64_t native_bytes(const struct native *n);			/* of all stream files */
/* The slice as one that begins at the trace's begin: consumes it. */
struct slice *slice_root(struct slice *s);
/* The event class of that id; NULL: there is none. */
const struct ctf_event_class *ctf_stream_event(const struct ctf_stream_class *sc, uint64_t id);
/* Why one trace can't be read, g_free(); NULL: it can, or there is no such trace. */
char *native_feed_trouble(struct native_feed *f, unsigned trace);
/* A clock (us) instead of the monotonic one. Before the first push. */
void native_feed_set_clock(struct native_feed *f, int64_t (*now)(void *data), void *data);

#endif
