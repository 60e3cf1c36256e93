/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks instead of threads, and their clock: see sched.h. */
#include "sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK (512u << 10)
#define LOCK_US 100			/* until a lock is tried again */
#define MOST_STEPS 4000000u		/* more: it turns in a circle */

struct task {
	ucontext_t context;
	void *stack;			/* NULL: the first one */
	GThreadFunc func;
	gpointer data, result;
	int64_t until_us;		/* ready then, */
	const void *waits_for;		/* or when this GCond is signalled, or this task has ended, */
	int wake_fd;			/* or this is woken */
	bool ready, woken, done;
};

static struct {
	GPtrArray *tasks, *stacks;
	struct task *current;
	GHashTable *woken;		/* wake_fds */
	int64_t now_us;
	uint64_t random[2], digest;
	unsigned steps, failures;
} sim;

bool sim_verbose;

/* ---- draws ---- */

/* xorshift128+ */
static uint64_t next_random(void)
{
	uint64_t a = sim.random[0], b = sim.random[1];
	sim.random[0] = b;
	a ^= a << 23;
	sim.random[1] = a ^ b ^ a >> 17 ^ b >> 26;
	return sim.random[1] + b;
}

void sim_note(uint64_t value)
{
	sim.digest = (sim.digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	sim.digest ^= sim.digest >> 29;
}

uint64_t sim_digest(void)
{
	return sim.digest;
}

uint64_t sim_below(uint64_t n)
{
	uint64_t r = next_random() % n;
	sim_note(r);
	return r;
}

bool sim_one_of(uint64_t n)
{
	return sim_below(n) == 0;
}

int64_t sim_between(int64_t from, int64_t to)
{
	return from + (int64_t)sim_below((uint64_t)(to - from) + 1);
}

/* ---- reports ---- */

void sim_say(const char *format, ...)
{
	va_list args;

	if (!sim_verbose)
		return;
	va_start(args, format);
	printf("%10.6f ", (double)sim.now_us / 1e6);
	vprintf(format, args);
	printf("\n");
	fflush(stdout);
	va_end(args);
}

void sim_fail(const char *format, ...)
{
	va_list args;

	sim.failures++;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	fprintf(stderr, "%.6f s: %s\n", (double)sim.now_us / 1e6, text);
	sim_say("FAILED: %s", text);
}

unsigned sim_failures(void)
{
	return sim.failures;
}

/* ---- tasks ---- */

static struct task *task_new(GThreadFunc func, gpointer data)
{
	struct task *t = g_new0(struct task, 1);

	t->func = func;
	t->data = data;
	t->wake_fd = -1;
	t->ready = true;
	g_ptr_array_add(sim.tasks, t);
	return t;
}

void sched_begin(uint64_t seed, int64_t now_us)
{
	memset(&sim, 0, sizeof sim);
	sim.random[0] = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	sim.random[1] = (seed ^ UINT64_C(0x5851f42d4c957f2d)) * UINT64_C(0xda942042e4dd58b5) + 1;
	for (int i = 0; i < 20; i++)
		next_random();
	sim.now_us = now_us;
	sim.tasks = g_ptr_array_new();
	sim.stacks = g_ptr_array_new();
	sim.woken = g_hash_table_new(NULL, NULL);
	sim.current = task_new(NULL, NULL);
}

int64_t sched_now(void)
{
	return sim.now_us;
}

static bool is_ready(const struct task *t)
{
	return !t->done && (t->ready || t->until_us <= sim.now_us);
}

static struct task *pick(void)
{
	for (;;) {
		unsigned n = 0;
		int64_t next = INT64_MAX;
		for (guint i = 0; i < sim.tasks->len; i++) {
			const struct task *t = sim.tasks->pdata[i];
			n += is_ready(t);
			if (!t->done)
				next = MIN(next, t->until_us);
		}
		if (n) {
			uint64_t which = n > 1 ? sim_below(n) : 0;
			for (guint i = 0;; i++)
				if (is_ready(sim.tasks->pdata[i]) && which-- == 0)
					return sim.tasks->pdata[i];
		}
		if (next == INT64_MAX)
			g_error("all threads wait for ever");
		sim.now_us = next;
	}
}

static void enter(void);

static void switch_to(struct task *to)
{
	struct task *from = sim.current;

	if (to == from)
		return;
	if (!to->stack && to->func) {
		to->stack = sim.stacks->len ? g_ptr_array_steal_index_fast(sim.stacks, sim.stacks->len - 1) :
			mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		g_assert_true(to->stack != MAP_FAILED);
		getcontext(&to->context);
		to->context.uc_stack.ss_sp = to->stack;
		to->context.uc_stack.ss_size = STACK;
		makecontext(&to->context, enter, 0);
	}
	sim.current = to;
	swapcontext(&from->context, &to->context);
}

/* Others run; returns when this one is ready. */
static void yield(int64_t until_us, const void *waits_for, int wake_fd)
{
	struct task *t = sim.current;

	if (++sim.steps > MOST_STEPS)
		g_error("it turns in a circle: %u steps", sim.steps);
	t->until_us = until_us;
	t->waits_for = waits_for;
	t->wake_fd = wake_fd;
	t->ready = wake_fd >= 0 && g_hash_table_contains(sim.woken, GINT_TO_POINTER(wake_fd));
	t->woken = false;
	sim.now_us++;
	switch_to(pick());
	t->waits_for = NULL;
	t->wake_fd = -1;
}

static void signal_waiting(const void *what)
{
	for (guint i = 0; i < sim.tasks->len; i++) {
		struct task *t = sim.tasks->pdata[i];
		if (t->waits_for == what)
			t->ready = t->woken = true;
	}
}

static void enter(void)
{
	struct task *t = sim.current;

	t->result = t->func(t->data);
	t->done = true;
	signal_waiting(t);
	switch_to(pick());
	g_assert_not_reached();
}

bool sched_wait(int64_t until_us, int wake_fd)
{
	yield(until_us, NULL, wake_fd);
	return wake_fd >= 0 && g_hash_table_contains(sim.woken, GINT_TO_POINTER(wake_fd));
}

void sched_kill_others(void)
{
	for (guint i = sim.tasks->len; i-- > 0;)
		if (sim.tasks->pdata[i] != sim.current)
			g_ptr_array_remove_index(sim.tasks, i);
}

/* ---- instead of GLib's ---- */

GThread *__wrap_g_thread_new(const char *name, GThreadFunc func, gpointer data);
gpointer __wrap_g_thread_join(GThread *thread);
void __wrap_g_thread_unref(GThread *thread);
void __wrap_g_mutex_lock(GMutex *mutex);
void __wrap_g_cond_wait(GCond *cond, GMutex *mutex);
gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 until_us);
void __wrap_g_cond_signal(GCond *cond);
void __wrap_g_cond_broadcast(GCond *cond);
void __wrap_g_usleep(gulong us);
gint64 __wrap_g_get_monotonic_time(void);
gint64 __wrap_g_get_real_time(void);
gint32 __wrap_g_random_int_range(gint32 begin, gint32 end);
void __wrap_net_wake(int wake_fd);
int __wrap_net_wake_new(void);
int __real_net_wake_new(void);
bool __wrap_net_sleep(int wake_fd, int64_t deadline);

GThread *__wrap_g_thread_new(const char *name, GThreadFunc func, gpointer data)
{
	sim_say("thread %s begins", name);
	return (GThread *)(void *)task_new(func, data);
}

gpointer __wrap_g_thread_join(GThread *thread)
{
	struct task *t = (struct task *)(void *)thread;

	while (!t->done)
		yield(INT64_MAX, t, -1);
	gpointer result = t->result;
	if (t->stack)
		g_ptr_array_add(sim.stacks, t->stack);
	g_ptr_array_remove(sim.tasks, t);
	g_free(t);
	return result;
}

/* Of one that is left to itself: it stays among the tasks. */
void __wrap_g_thread_unref(GThread *thread)
{
}

void __wrap_g_mutex_lock(GMutex *mutex)
{
	while (!g_mutex_trylock(mutex))
		yield(sim.now_us + LOCK_US, NULL, -1);
}

void __wrap_g_cond_wait(GCond *cond, GMutex *mutex)
{
	g_mutex_unlock(mutex);
	yield(INT64_MAX, cond, -1);
	__wrap_g_mutex_lock(mutex);
}

gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 until_us)
{
	g_mutex_unlock(mutex);
	yield(until_us, cond, -1);
	bool woken = sim.current->woken;
	__wrap_g_mutex_lock(mutex);
	return woken;
}

void __wrap_g_cond_signal(GCond *cond)
{
	signal_waiting(cond);
}

void __wrap_g_cond_broadcast(GCond *cond)
{
	signal_waiting(cond);
}

void __wrap_g_usleep(gulong us)
{
	yield(sim.now_us + (int64_t)us, NULL, -1);
}

gint64 __wrap_g_get_monotonic_time(void)
{
	return sim.now_us;
}

gint64 __wrap_g_get_real_time(void)
{
	return SIM_EPOCH_NS / 1000 + sim.now_us;
}

gint32 __wrap_g_random_int_range(gint32 begin, gint32 end)
{
	return begin + (gint32)sim_below((uint64_t)((int64_t)end - begin));
}

/* An eventfd that is never read: it stays readable. */
void __wrap_net_wake(int wake_fd)
{
	g_hash_table_add(sim.woken, GINT_TO_POINTER(wake_fd));
	for (guint i = 0; i < sim.tasks->len; i++) {
		struct task *t = sim.tasks->pdata[i];
		t->ready |= t->wake_fd == wake_fd;
	}
}

int __wrap_net_wake_new(void)
{
	int fd = __real_net_wake_new();
	g_hash_table_remove(sim.woken, GINT_TO_POINTER(fd));
	return fd;
}

bool __wrap_net_sleep(int wake_fd, int64_t deadline)
{
	return sched_wait(deadline, wake_fd);
}
