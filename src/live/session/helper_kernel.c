/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's events by its own ring buffer (live/tracefs/), where LTTng's modules are missing: makes an instance of
 * the kernel's tracer, reads the state of the machine, and hands both to the client.
 *
 * The system calls of blktop itself are left out (capture_setup.own). To record them would cost time, so the kernel
 * gets a filter with each of its threads; new ones are looked for now and then.
 */
#include "live/session/helper_private.h"

#include "live/session/proc.h"
#include "live/tracefs/handover.h"

#include "base/fail.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FOLLOW_ROUNDS 20
#define FREE_PATIENCE_MS 3000		/* for the client to close its descriptors */

struct helper_kernel {
	char *name;			/* of the instance: the client's process id is in it, for the sweep */
	struct tracefs_instance *instance;
	int alive;			/* one end of a socket pair: the client asks there for the state; when it is
					 * closed, the client knows that recording has stopped. -1: it is closed */
	GArray *excluded;		/* int: threads whose system calls are not recorded, sorted */
	gint64 looked_at;		/* monotonic, us: when its threads were last looked for */
};
#define LOOK_US (2 * G_USEC_PER_SEC)

static bool wants(void *data, const char *event)
{
	return plan_records(data, event);
}

/* ---- threads of blktop ---- */

static void add_threads(GArray *to, int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", pid);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));)
		g_array_append_val(to, (int){ atoi(name) });
}

static bool are_equal(const GArray *a, const GArray *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len * sizeof(int)));
}

/* Those of the client and of its other processes, without the program that is followed. */
static GArray *own_threads(const struct helper_state *w)
{
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(int));
	g_autoptr(GArray) all = follow_descendants(w->client);
	g_autoptr(GArray) followed = w->follow.program ? follow_descendants(w->follow.program) : NULL;
	for (guint i = 0; i < all->len; i++) {
		int pid = g_array_index(all, int, i);
		bool is_followed = false;
		for (guint k = 0; followed && k < followed->len; k++)
			is_followed |= g_array_index(followed, int, k) == pid;
		if (!is_followed)
			add_threads(threads, pid);
	}
	g_array_sort(threads, order_u32);
	return threads;
}

void kernel_tick(struct helper_state *w)
{
	struct helper_kernel *k = w->kernel;
	g_autoptr(GError) error = NULL;
	if (!k || (k->looked_at && g_get_monotonic_time() - k->looked_at < LOOK_US))
		return;
	k->looked_at = g_get_monotonic_time();
	g_autoptr(GArray) threads = own_threads(w);
	if (k->excluded && are_equal(threads, k->excluded))
		return;
	if (!tracefs_instance_exclude(k->instance, (const int *)(const void *)threads->data, threads->len, &error))
		helper_send(w, HELPER_MSG_WARNING, "%s", error->message);
	g_clear_pointer(&k->excluded, g_array_unref);
	k->excluded = g_steal_pointer(&threads);
}

int kernel_fd(const struct helper_state *w)
{
	return w->kernel ? w->kernel->alive : -1;
}

void kernel_answer(struct helper_state *w)
{
	g_autoptr(GError) error = NULL;
	if (handover_answer(w->kernel->alive, &error))
		return;
	if (error)
		helper_send(w, HELPER_MSG_WARNING, "%s", error->message);
	kernel_stop(w);
}

/* ---- making ---- */

static bool hand_over(struct helper_state *w, uint64_t start, GError **error)
{
	int ends[2];
	struct handover *h = handover_new();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		handover_free(h);
		return fail(error, TRACEFS_ERROR, 0, "cannot make a socket pair: %s", g_strerror(errno));
	}
	h->alive = ends[0];
	w->kernel->alive = ends[1];
	capture_setup_init(&h->setup, w->kernel->instance);
	h->setup.start = start;
	h->setup.own[0] = w->client;
	h->setup.own[1] = getpid();
	handover_read_state(h);
	bool done = handover_send(w->fd, HELPER_MSG_KERNEL, h, w->kernel->instance, error);
	handover_free(h);
	return done;
}

static GArray *followed_threads(const struct helper_state *w)
{
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(int));
	g_autoptr(GArray) followed = follow_descendants(w->o->program ? w->follow.program : w->o->pid);
	for (guint i = 0; i < followed->len; i++)
		add_threads(threads, g_array_index(followed, int, i));
	g_array_sort(threads, order_u32);
	return threads;
}

/* --calls-only, --program-only: nothing of other processes. A thread may make another one between the search and the
 * kernel's beginning to follow it: the search is done again until it finds nothing new. */
static bool follow_only(struct helper_state *w, GError **error)
{
	g_autoptr(GArray) known = g_array_new(FALSE, FALSE, sizeof(int));
	for (unsigned n = 0; n < FOLLOW_ROUNDS; n++) {
		g_autoptr(GArray) threads = followed_threads(w);
		if (!threads->len)
			return fail(error, TRACEFS_ERROR, 0, "the process to follow has ended");
		if (are_equal(threads, known))
			return true;
		if (!tracefs_instance_follow(w->kernel->instance, (const int *)(const void *)threads->data,
					     threads->len, error))
			return false;
		g_array_unref(known);
		known = g_steal_pointer(&threads);
	}
	return true;
}

bool kernel_begin(struct helper_state *w, GError **error)
{
	struct plan_channel *c = &w->plan->channel[PLAN_KERNEL];
	g_autofree char *name = g_strdup_printf(HELPER_SESSION_PREFIX "%d", (int)w->client);
	struct tracefs_wish wish = {
		.name = name, .buffer_bytes = c->subbuf_bytes * c->n_subbufs, .wants = wants, .data = c
	};
	uint64_t start;
	struct tracefs_instance *i = tracefs_instance_new(&wish, error);
	if (!i)
		return false;
	if (tracefs_instance_refused(i))
		helper_send(w, HELPER_MSG_MESSAGE, "the kernel refuses these probes, so that their events say less: %s",
			    tracefs_instance_refused(i));
	w->kernel = g_new0(struct helper_kernel, 1);
	w->kernel->instance = i;
	w->kernel->name = g_steal_pointer(&name);
	w->kernel->alive = -1;
	kernel_tick(w);
	bool all = !w->o->calls_only && !w->o->program_only;
	if ((all || follow_only(w, error)) && tracefs_instance_start(i, &start, error) &&
	    hand_over(w, start, error))
		return true;
	kernel_end(w);
	return false;
}

void kernel_stop(struct helper_state *w)
{
	if (!w->kernel)
		return;
	tracefs_instance_stop(w->kernel->instance);
	if (w->kernel->alive >= 0)
		close(w->kernel->alive);
	w->kernel->alive = -1;
}

void kernel_end(struct helper_state *w)
{
	struct helper_kernel *k = w->kernel;
	if (!k)
		return;
	kernel_stop(w);
	if (!tracefs_instance_free(k->instance, FREE_PATIENCE_MS))
		helper_send(w, HELPER_MSG_MESSAGE,
			    "the kernel's tracing instance %s is still in use; remove it: blktop --sweep", k->name);
	g_free(k->name);
	if (k->excluded)
		g_array_unref(k->excluded);
	g_clear_pointer(&w->kernel, g_free);
}
