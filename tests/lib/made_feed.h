/* SPDX-License-Identifier: GPL-2.0-only */
/* A feed with made-up traces and streams, and what came of it. */
#ifndef BLK_TEST_MADE_FEED_H
#define BLK_TEST_MADE_FEED_H

#include "trace/native/native_feed.h"

#define BOOT_1 "01010101-0101-0101-0101-010101010101"
#define BOOT_2 "02020202-0202-0202-0202-020202020202"

/* Metadata of a trace (g_free): event classes 0 "said" (row 0) and 1 "counted" (no row); those that
 * more_metadata adds: 300 "later" (row 1). */
char *made_metadata(int uuid, const char *domain, const char *boot, int offset);
extern const char more_metadata[];

struct made {
	int uuid;
	uint64_t instance, seq, discarded;
	uint32_t cpu;
};

enum { AT_MAGIC = 0, AT_UUID = 4, AT_CLASS = 20, AT_BEGIN = 32, AT_END = 40, AT_CONTENT = 48,
       AT_SIZE = 56, AT_EVENTS = 84 };

void made_put(GByteArray *a, uint64_t value, unsigned bytes);	/* little-endian */
/* A packet of n events `id` from `begin` on, 10 ns apart; up to `end`. */
GByteArray *made_bytes(struct made *m, uint64_t begin, uint64_t end, unsigned id, int n);
GBytes *made_packet(struct made *m, uint64_t begin, uint64_t end, unsigned id, int n);

struct live {
	struct native_feed *f;
	struct source *s;
	int64_t now;
	GArray *ev;		/* struct blk_event: as they came; losses are kept beside */
	GArray *losses;		/* struct blk_loss: of the LOST_END */
	uint64_t n[3];		/* said, later, counted */
	int64_t last, horizon;
	enum source_status status;
};

void made_init(struct live *l);
void made_clear(struct live *l);
void made_take(struct live *l, const struct blk_event *e);
/* Takes what there is. */
enum source_status made_drain(struct live *l);
void made_pass(struct live *l, int64_t us);	/* the same, while time goes by */
unsigned made_trace(struct live *l, int uuid, const char *domain, const char *boot, int offset);
struct native_feed_status made_status(struct live *l);

#endif
