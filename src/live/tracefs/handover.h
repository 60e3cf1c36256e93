/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process that captures the kernel's events gets from the one that has the rights: descriptors and texts, each
 * in a message with a descriptor (base/pass.h).
 *
 *     handover_send(socket, 'k', &what, instance, &error);		// the one side
 *     handover_take(h, text, fd);					// the other side, for each message: the text
 * behind 'k' if (handover_is_complete(h)) ...
 *
 * When the sender has ended or stopped recording, .alive is at its end (POLLHUP).
 */
#ifndef BLK_LIVE_TRACEFS_HANDOVER_H
#define BLK_LIVE_TRACEFS_HANDOVER_H

#include "live/tracefs/capture.h"

struct handover {
	struct capture_setup setup;
	GByteArray *state;		/* tracefs_state_read() */
	uint64_t state_begin, state_end; /* CLOCK_MONOTONIC, ns: when it was read */
	int alive;			/* the reading end of a pipe that nothing is written to; -1: not taken */
	GArray *cpus;			/* struct tracefs_cpu */
	bool has_setup, is_complete;
};

struct handover *handover_new(void);
void handover_free(struct handover *h);		/* closes the descriptors; NULL is fine */

/* Sends all that `what` has, with the descriptors of the instance. `letter`: the first byte of each message. */
bool handover_send(int to, char letter, const struct handover *what, const struct tracefs_instance *i, GError **error);
/* Takes a message, and its descriptor (-1: none). What is not understood is dropped. */
void handover_take(struct handover *h, const char *text, int fd);
/* Was everything taken, so that capture_new() can be called? */
bool handover_is_complete(const struct handover *h);

#endif
