/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the thread sanitizer: GLib isn't built with it, so what its locks, queues and
 * reference counts order would look like races. Linked with --wrap (see Makefile), so
 * that our calls come here and say what happens before what.
 */
#include <glib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(void, g_mutex_lock, GMutex *m)
{
	__real_g_mutex_lock(m);
	__tsan_acquire(m);
}

WRAP(gboolean, g_mutex_trylock, GMutex *m)
{
	gboolean got = __real_g_mutex_trylock(m);
	if (got)
		__tsan_acquire(m);
	return got;
}

WRAP(void, g_mutex_unlock, GMutex *m)
{
	__tsan_release(m);
	__real_g_mutex_unlock(m);
}

WRAP(void, g_cond_wait, GCond *c, GMutex *m)
{
	__tsan_release(m);
	__real_g_cond_wait(c, m);
	__tsan_acquire(m);
}

WRAP(gboolean, g_cond_wait_until, GCond *c, GMutex *m, gint64 end)
{
	__tsan_release(m);
	gboolean in_time = __real_g_cond_wait_until(c, m, end);
	__tsan_acquire(m);
	return in_time;
}

WRAP(void, g_async_queue_push, GAsyncQueue *q, gpointer data)
{
	__tsan_release(q);
	__real_g_async_queue_push(q, data);
}

WRAP(gpointer, g_async_queue_pop, GAsyncQueue *q)
{
	gpointer data = __real_g_async_queue_pop(q);
	__tsan_acquire(q);
	return data;
}

WRAP(gpointer, g_async_queue_try_pop, GAsyncQueue *q)
{
	gpointer data = __real_g_async_queue_try_pop(q);
	__tsan_acquire(q);
	return data;
}

WRAP(gboolean, g_atomic_ref_count_dec, gatomicrefcount *count)
{
	__tsan_release(count);
	gboolean last = __real_g_atomic_ref_count_dec(count);
	if (last)
		__tsan_acquire(count);
	return last;
}
