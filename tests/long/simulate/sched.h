/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads and time of the simulator. Threads of the program are tasks on one thread, of which one runs at a time, and
 * change only where they wait. Which of those that are ready runs next is drawn from the seed. The clock goes on when all
 * wait. The functions for that are replaced (--wrap, see simulate.mk): nothing waits, and a seed always does the same.
 */
#ifndef BLK_TEST_SIMULATE_SCHED_H
#define BLK_TEST_SIMULATE_SCHED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_EPOCH_NS INT64_C(1795244812000000000)	/* wall clock when the monotonic one is 0 */

void sched_begin(uint64_t seed, int64_t now_us);
int64_t sched_now(void);		/* monotonic, us */

/* Draws: a number below n (n > 0); true once in n times; a number of [from, to]. Each is part of the digest. */
uint64_t sim_below(uint64_t n);
bool sim_one_of(uint64_t n);
int64_t sim_between(int64_t from, int64_t to);
/* Adds to the digest of what was drawn and found. */
void sim_note(uint64_t value);
uint64_t sim_digest(void);

/* Waits until `until_us`, or until `wake_fd` (-1: none) is woken; true: it was. */
bool sched_wait(int64_t until_us, int wake_fd);

/* As SIGKILL: no other task runs again. What they hold is leaked. */
void sched_kill_others(void);

/* Says what happens (SEED=n): to stdout, with the time. */
extern bool sim_verbose;
void sim_say(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* What went wrong; the seed goes on. */
void sim_fail(const char *format, ...) G_GNUC_PRINTF(1, 2);
unsigned sim_failures(void);

#endif
