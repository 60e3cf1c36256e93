/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What waits for a server, and the thread that sends it. A parcel is text that is sent at once. Parcels wait within a
 * bound while the server is away; above it the oldest are dropped, and counted. The calls of the main thread do not
 * block.
 */
#ifndef BLK_SEND_OUTBOX_H
#define BLK_SEND_OUTBOX_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parcel {
	char *text;
	size_t size;
	unsigned n;			/* what it has, such as lines: the unit of all counts */
	unsigned tries;			/* the courier's */
	bool was_sent;			/* noted as sent, and counted; it may be sent again */
	bool is_held;			/* the outbox's: the courier has it, and it is not noted as sent */
};

struct outbox;

/* How parcels are sent; all of it is called on the outbox's thread. */
struct outbox_courier {
	const char *thread;		/* its name */
	size_t most_bytes;		/* that wait */
	unsigned end_seconds;		/* at the end, how long to wait for a server that takes nothing */
	/* Takes ownership of the parcel: calls outbox_put_back(), outbox_drop() or outbox_note_sent(), or holds it. */
	void (*deliver)(void *self, struct outbox *o, struct parcel *p);
	/* Nothing waits: looks after what it holds. When it is to be called again (us, monotonic); NET_FOREVER: after
	 * the next parcel. NULL: it never holds any. */
	int64_t (*look)(void *self, struct outbox *o);
	/* No more parcels will come. False: it was not all taken, and was put back. */
	bool (*finish)(void *self, struct outbox *o);
	/* Drops what it holds, if it is not sent. */
	void (*free)(void *self, struct outbox *o);
};

/* ---- the main thread ---- */

/* Takes ownership of `self`; `courier` is borrowed. */
struct outbox *outbox_new(const struct outbox_courier *courier, void *self);
/* Takes ownership of `text`, which has `n` units. */
void outbox_push(struct outbox *o, char *text, unsigned n);
bool outbox_has_room(struct outbox *o);		/* is less than half of the bound in use? */
/* Why parcels wait, once for each new reason; g_free(). NULL: nothing new. */
char *outbox_take_message(struct outbox *o);
void outbox_get_counts(struct outbox *o, uint64_t *ret_sent, uint64_t *ret_dropped);
/* Has the server taken something within the last end_seconds, or has it taken all? */
bool outbox_makes_progress(struct outbox *o);
void outbox_end(struct outbox *o);		/* no more parcels will come */
/* After outbox_end(): must it be waited for? Until all is sent, or the server takes nothing for end_seconds. */
bool outbox_is_busy(struct outbox *o);
/* Drops what waits. Returns the units that were dropped in all. */
uint64_t outbox_free(struct outbox *o);

/* ---- the courier ---- */

int outbox_cancel_fd(const struct outbox *o);	/* an eventfd: every wait ends when it is readable */
void outbox_put_back(struct outbox *o, struct parcel *p);	/* it will be the next one */
void outbox_drop(struct outbox *o, struct parcel *p);		/* counts and frees it */
/* The server took it, but for `refused` of its units: progress. The parcel is still the courier's. */
void outbox_note_sent(struct outbox *o, struct parcel *p, unsigned refused);
/* Takes ownership of `text`: a message, if it is not the last one again. */
void outbox_report(struct outbox *o, char *text);
void parcel_free(void *parcel);

#endif
