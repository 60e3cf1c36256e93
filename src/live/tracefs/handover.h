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
	int alive;			/* one end of a socket pair, for handover_ask_state(); -1: not taken */
	GArray *cpus;			/* struct tracefs_cpu */
	bool has_setup, is_complete;
};

struct handover *handover_new(void);
void handover_free(struct handover *h);		/* closes the descriptors; NULL is fine */

/* Reads the state of this machine into h, which has none: needs root. */
void handover_read_state(struct handover *h);
/* Sends all that `what` has, with the descriptors of the instance. `letter`: the first byte of each message. */
bool handover_send(int to, char letter, const struct handover *what, const struct tracefs_instance *i, GError **error);
/* Takes a message, and its descriptor (-1: none). What is not understood is dropped. */
void handover_take(struct handover *h, const char *text, int fd);
/* Later, over .alive: asks for the state as it will be when the other side reads it. Never waits; false: it could not
 * be asked for. The answer makes .alive readable: handover_take_state() returns its bytes and when they were read (as
 * .state_begin, .state_end), or NULL: the message is something else. g_byte_array_unref(). */
bool handover_ask_state(const struct handover *h);
GByteArray *handover_take_state(const struct handover *h, uint64_t *ret_begin, uint64_t *ret_end);
/* The side that has the rights, when `asked` (its end) is readable: reads the state and answers. False: the other side
 * has ended (no error), or the answer could not be sent. */
bool handover_answer(int asked, GError **error);

/* Was everything taken, so that capture_new() can be called? */
bool handover_is_complete(const struct handover *h);

#endif
