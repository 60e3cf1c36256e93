/* SPDX-License-Identifier: GPL-2.0-only */
/* Captures the kernel of this machine for the live source. */
#include "live/viewer/kernel_link.h"

#include "live/tracefs/instance.h"
#include "live/tracefs/state.h"

#include <poll.h>

#define NAME "kernel"			/* of its directory in the spool */
#define NO_STREAM UINT_MAX
/* How long a second stays open while the thread that reads all CPUs does not get a CPU itself. Its beacons are exact,
 * so on a machine that is not busy nothing waits. */
#define KERNEL_LATE_US (2 * G_USEC_PER_SEC)
#define STATE_WAIT_US (20 * G_USEC_PER_SEC)	/* for the answer; then it is asked for again */

struct kernel_link {
	struct link link;		/* first member: a link is cast to it */
	struct attach_sink *sink;
	const struct handover *handover;
	unsigned trace;			/* in the native feed and the spool */
	unsigned state_stream;		/* likewise; NO_STREAM: none yet */
	uint64_t asked;			/* CLOCK_MONOTONIC, ns: when the state was asked for; 0: it is not awaited */
	uint64_t state_passed;		/* likewise: the newest beacon of its stream */
	gint64 next_us;			/* monotonic: when it is asked for again */
	GArray *streams;		/* unsigned by CPU: likewise */
};

/* ---- pushing ---- */

static void put_metadata(void *data, const char *text, size_t len)
{
	struct kernel_link *k = data;
	GBytes *bytes = g_bytes_new(text, len);
	g_mutex_lock(&k->sink->push);
	if (k->sink->spool)
		spool_metadata(k->sink->spool, k->trace, g_bytes_ref(bytes));
	native_feed_metadata(k->sink->feed, k->trace, bytes);
	g_mutex_unlock(&k->sink->push);
}

/* The place of the stream's number, which is made on first use. Pushing. */
static unsigned stream_of(struct kernel_link *k, unsigned stream_class, unsigned instance)
{
	while (stream_class == RING_STREAM_CPU && k->streams->len <= instance)
		g_array_append_val(k->streams, (unsigned){ NO_STREAM });
	unsigned *number =
		stream_class == RING_STREAM_CPU ? &g_array_index(k->streams, unsigned, instance) : &k->state_stream;
	if (*number == NO_STREAM) {
		g_autofree char *name =
			g_strdup_printf("%s_%u", stream_class == RING_STREAM_CPU ? "kernel" : "state", instance);
		int64_t late_us = k->sink->late_us >= 0 ? k->sink->late_us : KERNEL_LATE_US;
		if (k->sink->spool)
			spool_add_stream(k->sink->spool, k->trace, name);
		*number = native_feed_add_stream(k->sink->feed, k->trace, name, late_us);
	}
	return *number;
}

static void put_packet(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
		       uint64_t end)
{
	struct kernel_link *k = data;
	(void)begin;
	(void)end;
	g_mutex_lock(&k->sink->push);
	unsigned stream = stream_of(k, stream_class, instance);
	if (k->sink->spool)
		spool_packet(k->sink->spool, stream, g_bytes_ref(packet));
	native_feed_packet(k->sink->feed, stream, packet, NULL);
	g_mutex_unlock(&k->sink->push);
}

/* No older event will come; not of the state either, unless it is awaited. Pushing. */
static void put_state_beacon(struct kernel_link *k, uint64_t passed)
{
	passed = k->asked ? MIN(passed, k->asked) : passed;
	if (!k->sink->state_every_us || k->state_stream == NO_STREAM || passed <= k->state_passed)
		return;
	k->state_passed = passed;
	if (k->sink->spool)
		spool_beacon(k->sink->spool, k->state_stream, RING_STREAM_STATE, passed);
	native_feed_beacon(k->sink->feed, k->state_stream, RING_STREAM_STATE, passed);
}

/* No older event will come. */
static void put_beacons(struct kernel_link *k, uint64_t passed)
{
	g_mutex_lock(&k->sink->push);
	put_state_beacon(k, passed);
	for (guint i = 0; i < k->streams->len && passed; i++) {
		unsigned stream = g_array_index(k->streams, unsigned, i);
		if (stream == NO_STREAM)
			continue;
		if (k->sink->spool)
			spool_beacon(k->sink->spool, stream, RING_STREAM_CPU, passed);
		native_feed_beacon(k->sink->feed, stream, RING_STREAM_CPU, passed);
	}
	g_mutex_unlock(&k->sink->push);
}

/* Pushing. */
static void end_stream(struct kernel_link *k, unsigned stream)
{
	if (stream == NO_STREAM)
		return;
	if (k->sink->spool)
		spool_end_stream(k->sink->spool, stream);
	native_feed_end_stream(k->sink->feed, stream);
}

static void end_state_stream(struct kernel_link *k)
{
	g_mutex_lock(&k->sink->push);
	end_stream(k, k->state_stream);
	k->state_stream = NO_STREAM;
	g_mutex_unlock(&k->sink->push);
}

static void end_all(struct kernel_link *k)
{
	g_mutex_lock(&k->sink->push);
	end_stream(k, k->state_stream);
	for (guint i = 0; i < k->streams->len; i++)
		end_stream(k, g_array_index(k->streams, unsigned, i));
	native_feed_end_trace(k->sink->feed, k->trace);
	if (k->sink->spool)
		spool_end_trace(k->sink->spool, k->trace);
	g_mutex_unlock(&k->sink->push);
}

/* ---- the thread ---- */

/* Asks for the state of the machine again when it is time. */
static void ask_state(struct kernel_link *k)
{
	gint64 now_us = g_get_monotonic_time();
	if (!k->sink->state_every_us || now_us < k->next_us)
		return;
	uint64_t now = tracefs_clock(CLOCK_MONOTONIC);
	k->asked = handover_ask_state(k->handover) ? now : 0;
	k->next_us = now_us + MAX(k->sink->state_every_us, STATE_WAIT_US * (k->asked != 0));
}

/* A state dump that comes after it was given up is dropped: the stream was reported complete up to a later time. */
static void take_state(struct kernel_link *k, struct capture *c)
{
	uint64_t begin, end;
	g_autoptr(GByteArray) state = handover_take_state(k->handover, &begin, &end);
	if (state && begin >= k->state_passed)
		tracefs_state_put(capture_packets(c), state->data, state->len, begin, end, NULL);
	if (state)
		k->next_us = g_get_monotonic_time() + k->sink->state_every_us;
	k->asked = 0;
}

/* Waits for the next round. True: nothing is recorded any more. */
static bool wait_round(struct kernel_link *k, struct capture *c)
{
	struct pollfd p[] = { { .fd = k->handover->alive, .events = POLLIN },
			      { .fd = k->link.wake_fd, .events = POLLIN } };
	poll(p, G_N_ELEMENTS(p), CAPTURE_PERIOD_US / 1000);
	if (p[0].revents & POLLIN)
		take_state(k, c);
	return p[0].revents & (POLLHUP | POLLERR);
}

static void capture_until_end(struct kernel_link *k, struct capture *c)
{
	for (bool is_over = false; !link_stopped(&k->link);) {
		size_t pages = 0;
		bool has_room = attach_room(k->sink) != ATTACH_FULL;
		if (has_room)
			put_beacons(k, capture_round(c, &pages));
		if (is_over && has_room && !pages)
			return;
		ask_state(k);
		is_over = wait_round(k, c);
	}
}

static enum link_end run(struct link *link, char **why)
{
	struct kernel_link *k = (struct kernel_link *)link;
	const struct handover *h = k->handover;
	const struct ring_sink sink = { .metadata = put_metadata, .packet = put_packet };
	g_autoptr(GError) error = NULL;
	g_mutex_lock(&k->sink->push);
	k->trace = native_feed_add_trace(k->sink->feed, NAME);
	if (k->sink->spool)
		spool_add_trace(k->sink->spool, NAME);
	g_mutex_unlock(&k->sink->push);
	struct capture *c = capture_new(&h->setup, (const struct tracefs_cpu *)(const void *)h->cpus->data,
					h->cpus->len, &sink, k, &error);
	bool is_good = c && tracefs_state_put(capture_packets(c), h->state->data, h->state->len, h->state_begin,
					      h->state_end, &error);
	k->next_us = g_get_monotonic_time() + k->sink->state_every_us;
	if (!k->sink->state_every_us)
		end_state_stream(k);
	link_set_attached(link);
	if (is_good)
		capture_until_end(k, c);
	end_all(k);
	capture_free(c);
	*why = is_good ? NULL : g_strdup_printf("cannot read the kernel's events: %s", error->message);
	return is_good ? LINK_SESSION_ENDED : LINK_BROKEN;
}

static void free_link(struct link *link)
{
	struct kernel_link *k = (struct kernel_link *)link;
	g_array_unref(k->streams);
	g_free(k);
}

struct link *kernel_link_new(struct link_owner *owner, struct attach_sink *sink, const struct handover *h)
{
	static const struct link_ops ops = { .run = run, .free = free_link };
	static const struct live_url here = { .host = (char *)"this machine" };
	struct kernel_link *k = g_new0(struct kernel_link, 1);
	link_init(&k->link, &ops, owner, &here, &(struct viewer_session){ .timer_us = CAPTURE_PERIOD_US });
	k->sink = sink;
	k->handover = h;
	k->state_stream = NO_STREAM;
	k->streams = g_array_new(FALSE, FALSE, sizeof(unsigned));
	return &k->link;
}
