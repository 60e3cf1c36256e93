/* SPDX-License-Identifier: GPL-2.0-only */
/* What waits for a server: see outbox.h. */
#include "send/outbox.h"

#include "live/viewer/net.h"

#include <string.h>
#include <unistd.h>

struct outbox {
	const struct outbox_courier *courier;
	void *self;			/* the courier's, for its thread only */
	GThread *thread;
	int cancel;			/* an eventfd: ends every call of the thread */
	GMutex lock;			/* for all below */
	GCond news;
	GQueue waiting;			/* struct parcel *, the oldest first */
	size_t n_waiting;		/* bytes in it */
	unsigned n_held;		/* parcels: see struct parcel */
	uint64_t sent, dropped;
	gint64 progress_us;		/* when something was sent at last, or all was */
	char *message;			/* not taken yet, or NULL */
	char *reason;			/* the last message */
	bool cancelled, finishing, finished;
};

void parcel_free(void *parcel)
{
	struct parcel *p = parcel;
	g_free(p->text);
	g_free(p);
}

/* ---- under the lock ---- */

static void release(struct outbox *o, struct parcel *p)
{
	o->n_held -= p->is_held;
	p->is_held = false;
}

static void count_dropped(struct outbox *o, struct parcel *p)
{
	release(o, p);
	o->dropped += p->was_sent ? 0 : p->n;
	parcel_free(p);
}

static bool has_taken_all(const struct outbox *o)
{
	return !o->waiting.length && !o->n_held;
}

static void drop_oldest(struct outbox *o)
{
	struct parcel *p = g_queue_pop_head(&o->waiting);
	o->n_waiting -= p->size;
	count_dropped(o, p);
}

/* ---- the thread ---- */

int outbox_cancel_fd(const struct outbox *o)
{
	return o->cancel;
}

void outbox_put_back(struct outbox *o, struct parcel *p)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	release(o, p);
	g_queue_push_head(&o->waiting, p);
	o->n_waiting += p->size;
}

void outbox_drop(struct outbox *o, struct parcel *p)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	count_dropped(o, p);
}

void outbox_note_sent(struct outbox *o, struct parcel *p, unsigned refused)
{
	unsigned n = p->was_sent ? 0 : p->n;
	refused = MIN(refused, n);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	release(o, p);
	p->was_sent = true;
	o->sent += n - refused;
	o->dropped += refused;
	o->progress_us = g_get_monotonic_time();
	g_clear_pointer(&o->reason, g_free);
}

void outbox_report(struct outbox *o, char *text)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	if (g_strcmp0(text, o->reason) != 0) {
		g_free(o->message);
		o->message = g_strdup(text);
	}
	g_free(o->reason);
	o->reason = text;
}

enum next { NEXT_PARCEL, NEXT_LOOK, NEXT_FINISH, NEXT_CANCELLED };

/* What is to be done next; a look at the instant `look_us`. */
static enum next take(struct outbox *o, int64_t look_us, struct parcel **ret)
{
	bool in_time = true;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	while (!o->waiting.length && !o->finishing && !o->cancelled && in_time)
		if (look_us == NET_FOREVER)
			g_cond_wait(&o->news, &o->lock);
		else
			in_time = g_cond_wait_until(&o->news, &o->lock, look_us);
	enum next next = o->cancelled ? NEXT_CANCELLED : o->waiting.length ? NEXT_PARCEL : o->finishing ? NEXT_FINISH
												: NEXT_LOOK;
	if (next == NEXT_PARCEL) {
		*ret = g_queue_pop_head(&o->waiting);
		o->n_waiting -= (*ret)->size;
		(*ret)->is_held = true;
		o->n_held++;
	}
	return next;
}

static gpointer work(gpointer data)
{
	struct outbox *o = data;
	const struct outbox_courier *c = o->courier;
	struct parcel *p;
	int64_t look_us = NET_FOREVER;
	bool goes_on = true;
	while (goes_on) {
		switch (take(o, look_us, &p)) {
		case NEXT_PARCEL:
			c->deliver(o->self, o, p);
			look_us = c->look ? 0 : NET_FOREVER;
			break;
		case NEXT_LOOK:
			look_us = c->look(o->self, o);
			break;
		case NEXT_FINISH:
			goes_on = !c->finish(o->self, o);
			break;
		case NEXT_CANCELLED:
			goes_on = false;
			break;
		}
	}
	c->free(o->self, o);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	o->finished = true;
	return NULL;
}

/* ---- the main thread ---- */

struct outbox *outbox_new(const struct outbox_courier *courier, void *self)
{
	struct outbox *o = g_new0(struct outbox, 1);
	o->courier = courier;
	o->self = self;
	o->cancel = net_wake_new();
	o->progress_us = g_get_monotonic_time();
	g_mutex_init(&o->lock);
	g_cond_init(&o->news);
	o->thread = g_thread_new(courier->thread, work, o);
	return o;
}

void outbox_push(struct outbox *o, char *text, unsigned n)
{
	struct parcel *p = g_new0(struct parcel, 1);
	*p = (struct parcel){ .text = text, .size = strlen(text), .n = n };
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	if (has_taken_all(o))
		o->progress_us = g_get_monotonic_time();
	g_queue_push_tail(&o->waiting, p);
	o->n_waiting += p->size;
	while (o->n_waiting > o->courier->most_bytes)
		drop_oldest(o);
	g_cond_signal(&o->news);
}

bool outbox_has_room(struct outbox *o)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	return o->n_waiting < o->courier->most_bytes / 2;
}

char *outbox_take_message(struct outbox *o)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	return g_steal_pointer(&o->message);
}

void outbox_get_counts(struct outbox *o, uint64_t *ret_sent, uint64_t *ret_dropped)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	*ret_sent = o->sent;
	*ret_dropped = o->dropped;
}

static bool is_moving(const struct outbox *o)
{
	return g_get_monotonic_time() - o->progress_us < o->courier->end_seconds * (gint64)G_USEC_PER_SEC;
}

bool outbox_makes_progress(struct outbox *o)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	return has_taken_all(o) || is_moving(o);
}

void outbox_end(struct outbox *o)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	o->finishing = true;
	o->progress_us = g_get_monotonic_time();
	g_cond_signal(&o->news);
}

bool outbox_is_busy(struct outbox *o)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	return !o->finished && is_moving(o);
}

uint64_t outbox_free(struct outbox *o)
{
	g_mutex_lock(&o->lock);
	o->cancelled = true;
	g_cond_signal(&o->news);
	g_mutex_unlock(&o->lock);
	net_wake(o->cancel);
	g_thread_join(o->thread);
	while (o->waiting.length)
		drop_oldest(o);
	uint64_t dropped = o->dropped;
	g_mutex_clear(&o->lock);
	g_cond_clear(&o->news);
	close(o->cancel);
	g_free(o->message);
	g_free(o->reason);
	g_free(o);
	return dropped;
}
