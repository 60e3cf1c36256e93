/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The snapshots of a flight recorder (blktop record --last): of a live input whose packets are stored for some time
 * only (input_record()). Each is a trace, DIR/snapshot-N, with a note of its cause. The main thread.
 */
#ifndef BLK_CMD_FLIGHT_H
#define BLK_CMD_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct flight;
struct reading;

/* to: DIR. From here on, SIGUSR1 takes a snapshot. */
struct flight *flight_new(const char *to, int64_t last_ns);
/* Where the packets are stored until a snapshot has them: DIR/ring. Borrowed. */
const char *flight_ring(const struct flight *f);
/* A snapshot will be taken. If one is wanted already, that serves both. */
void flight_want(struct flight *f, const char *cause);
/* To be called regularly, from the start of reading on: takes what is wanted, and prints what was written. */
void flight_tick(struct flight *f, const struct reading *r);
/* The last snapshot, once reading has ended; then the ring is deleted. False: a snapshot failed, which was printed. */
bool flight_end(struct flight *f, const struct reading *r);
void flight_free(struct flight *f);	/* before the reading; NULL is fine */

#endif
