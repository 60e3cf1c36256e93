/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The monotonic clock of a test: slower than the real one, so that what follows is within the program's time limits on
 * any machine, and set forward where a limit is to pass. For one file of a program that is linked with --wrap of these
 * functions (Makefile); it has their definitions. Any thread.
 */
#ifndef BLK_TEST_TEST_CLOCK_H
#define BLK_TEST_TEST_CLOCK_H

#include <glib.h>

static struct {
	GMutex lock;
	gint64 real, shown;		/* us: at some instant the real clock was .real, and this one .shown */
	gint64 slower;			/* real microseconds in one of this clock; 0: 1 */
} test_clock;

gint64 __real_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void);
gboolean __real_g_cond_wait_until(GCond *cond, GMutex *lock, gint64 end);
gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *lock, gint64 end);

static inline gint64 test_clock_now(void)
{
	return test_clock.shown + (__real_g_get_monotonic_time() - test_clock.real) / MAX(test_clock.slower, 1);
}

gint64 __wrap_g_get_monotonic_time(void)
{
	g_mutex_lock(&test_clock.lock);
	gint64 now = test_clock_now();
	g_mutex_unlock(&test_clock.lock);
	return now;
}

gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *lock, gint64 end)
{
	gint64 left = MAX(end - __wrap_g_get_monotonic_time(), 0) * MAX(test_clock.slower, 1);
	return __real_g_cond_wait_until(cond, lock, __real_g_get_monotonic_time() + left);
}

/* From now on; `forward` us are skipped. */
static inline void test_clock_set(gint64 slower, gint64 forward)
{
	g_mutex_lock(&test_clock.lock);
	test_clock.shown = test_clock_now() + forward;
	test_clock.real = __real_g_get_monotonic_time();
	test_clock.slower = slower;
	g_mutex_unlock(&test_clock.lock);
}

#endif
