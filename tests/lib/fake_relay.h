/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay that is made up: on every connection it goes through a script of requests it
 * waits for and replies it gives, on a thread of the test.
 */
#ifndef BLK_TEST_FAKE_RELAY_H
#define BLK_TEST_FAKE_RELAY_H

#include "live/viewer/viewer.h"

/* After `ask` bytes, which have to be `wanted` (NULL: any), it says `text`. */
struct relay_step {
	size_t ask;
	GByteArray *wanted, *text;
};

struct relay {
	GArray *steps;			/* struct relay_step */
	bool hang;			/* at the end: keeps the connection */
	int listener, wake_fd;
	uint16_t port;
	GThread *thread;
	gint unwanted;			/* requests that were not those wanted */
};

struct relay *relay_new(bool hang);
/* Begins to listen to its script. */
struct live_url relay_start(struct relay *r);
void relay_free(struct relay *r);	/* ends its thread */

void relay_add_step(struct relay *r, size_t ask, const void *text, size_t len);
/* What the client says: a request with this payload. */
void relay_add_answer(struct relay *r, enum viewer_command command, const void *payload,
		      size_t size, const void *text, size_t len);
void relay_add_hello(struct relay *r, uint32_t major, uint32_t minor);
/* The answer to LIST: says there are `claim`, then what `list` holds. */
void relay_add_list(struct relay *r, uint32_t claim, const GByteArray *list);
/* An entry of a list as it is before 2.15. */
void relay_put_session(GByteArray *list, uint64_t id, const char *host, const char *name,
		       uint32_t streams, uint32_t viewers);

#endif
