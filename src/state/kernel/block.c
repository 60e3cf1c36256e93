/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block requests, by device and start sector. A request is queued, issued to the device, merged, requeued, and
 * completed in parts or at once. Flushes have no sector: a device can have one in each hardware queue, and their events
 * do not name the queue. So the latency of a flush is known only if it was the only one in the device.
 *
 * Old kernels report the issue of a request without data and not its completion. Until there is evidence that it ended,
 * the number of requests at the device is unknown. Such a kernel has at most one flush in a device at a time. So the
 * next flush is evidence, and the completion of the write that asked for it.
 *
 * An event can be stamped before the one that it follows, by a CPU whose clock is ahead: a completion before the issue.
 * An event that finds no request of its place waits for that one, up to CLOCK_SKEW_NS, and is applied after it.
 *
 * Which request an event refers to depends on all earlier events: when a part completes, the start sector of the rest
 * moves. So a slice that does not start at the trace's beginning only stores the events. They are applied when it is
 * merged with a slice that does.
 */
#include "state/kernel/block.h"

#include "state/kernel/bin.h"
#include "state/kernel/charge.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_order.h"

#include "base/coder.h"
#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"

#define SECTOR_BYTES 512

struct disk {			/* a device */
	uint32_t host, dev;
	uint32_t queued, issued;	/* number of requests in the queue, and in the device */
	int64_t cursor;		/* time is charged and losses are applied up to here; TS_NONE: nothing yet */
	uint32_t flushes;	/* of .issued: flushes */
	uint32_t flush_thread;	/* that issued them; ID_NONE: several, or unknown */
	int64_t flush_from;	/* since when there are any */
	int64_t flush_since;	/* when the only one was issued; TS_NONE: there were several at a time */
	bool reports_empty;	/* a completion of a flush was seen */
	bool unended;		/* a request without data was issued, which may still be at the device */
	uint32_t unended_thread;	/* that issued it; ID_NONE */
	bool lossy;		/* events were lost since it was first seen, so the beginning of some requests is
				 * unknown */
};

struct block_request {
	uint64_t key;		/* the disk */
	uint64_t sector;
	int64_t begin;		/* when it was inserted, else issued */
	int64_t since;		/* when it entered its current place (queue or device) */
	int64_t queue_ns, service_ns;	/* time in queue and device before .since; .service_ns: TS_NONE: unknown */
	uint64_t bytes, sectors;	/* not completed yet */
	uint32_t thread;	/* thread that inserted it, else that issued it; ID_NONE */
	uint8_t dir;		/* enum block_dir */
	bool issued;
	bool was_queued;	/* .queue_ns is known */
};

static guint request_hash(gconstpointer p)
{
	const struct block_request *r = p;
	return intmap_hash(r->key * 31 + r->sector);
}

static gboolean request_equal(gconstpointer a, gconstpointer b)
{
	const struct block_request *x = a, *y = b;
	return x->key == y->key && x->sector == y->sector;
}

struct blocks {
	GHashTable *requests;	/* struct block_request, owned */
	GArray *disks;		/* struct disk */
	struct intmap disk_map;	/* (host, dev) */
	GArray *stored;		/* struct block_event: stored for merging */
	GArray *early;		/* struct block_event, in order: each waits for the event that it follows */
	struct vec busy;	/* struct block_busy: completed requests, by .end */
	int64_t longest;	/* of .busy, ns */
	guint busy_hint;	/* index in .busy where the last search ended */
};

struct blocks *blocks_new(void)
{
	struct blocks *k = g_new0(struct blocks, 1);
	k->requests = g_hash_table_new_full(request_hash, request_equal, NULL, g_free);
	k->disks = g_array_new(false, true, sizeof(struct disk));
	k->stored = g_array_new(false, false, sizeof(struct block_event));
	k->early = g_array_new(false, false, sizeof(struct block_event));
	return k;
}

void blocks_free(struct blocks *k)
{
	g_hash_table_unref(k->requests);
	g_array_unref(k->disks);
	g_array_unref(k->stored);
	g_array_unref(k->early);
	intmap_clear(&k->disk_map);
	vec_free(&k->busy);
	g_free(k);
}

/* ---- cells ---- */

static struct dev_cell *dev_cell(struct slice *s, const struct disk *d, int64_t ts)
{
	return BIN_CELL(s, slice_bin(s, ts), dev, .host = d->host, .dev = d->dev);
}

/* Counts in the device's cell and in the cell of the thread that made the request. */
#define COUNT_DONE(cell, r, n_bytes, whole, error) \
	do { \
		(cell)->requests[(r)->dir] += (whole); \
		(cell)->bytes[(r)->dir] += (n_bytes); \
		(cell)->errors += (error); \
		if ((whole) && (r)->service_ns != TS_NONE) \
			hist_add(&(cell)->latency, (r)->service_ns); \
		if ((whole) && (r)->was_queued) \
			hist_add(&(cell)->queue, (r)->queue_ns); \
	} while (0)

/* A part of the request, or all that was left of it (whole), was done. */
static void count_done(struct slice *s, const struct disk *d, const struct block_request *r, int64_t ts,
		       uint64_t bytes, bool whole, bool error)
{
	g_assert(r->dir < BLOCK_DIR_N);
	struct dev_cell *dev = dev_cell(s, d, ts);
	struct dev_user_cell *user = BIN_CELL(s, slice_bin(s, ts), dev_user, .thread = r->thread, .host = d->host,
					      .dev = d->dev);
	COUNT_DONE(dev, r, bytes, whole, error);
	COUNT_DONE(user, r, bytes, whole, error);
}

/* The request is not known. If its beginning was lost it counts, without a duration and a thread. */
static void end_unknown(struct slice *s, const struct disk *d, const struct block_event *e)
{
	const struct block_request r = { .thread = ID_NONE, .dir = e->dir, .service_ns = TS_NONE };
	slice_bin(s, e->ts)->completeness.provisional++;
	if (d->lossy)
		count_done(s, d, &r, e->ts, e->bytes, true, e->error);
}

static void apply_early(struct slice *s, int64_t now);

/* ---- devices over time ---- */

static struct disk *disk_of(struct blocks *k, uint32_t host, uint32_t dev)
{
	uint32_t i = intmap_get(&k->disk_map, pair(host, dev));
	if (i == INTMAP_NONE) {
		struct disk d = { .host = host, .dev = dev, .cursor = TS_NONE };
		i = k->disks->len;
		g_array_append_val(k->disks, d);
		intmap_set(&k->disk_map, pair(host, dev), i);
	}
	return &g_array_index(k->disks, struct disk, i);
}

static void note_depth(struct dev_cell *c, const struct disk *d)
{
	c->depth_max = MAX(c->depth_max, d->issued);
	c->queued_max = MAX(c->queued_max, d->queued);
}

/* Charges [from, to), with the current number of requests, or an unknown one. */
static void charge_range(struct slice *s, const struct disk *d, int64_t from, int64_t to, bool unknown)
{
	struct charge p = charge_pieces(s, from, to);
	while (charge_next(s, &p)) {
		struct dev_cell *c = dev_cell(s, d, p.from);
		int64_t ns = p.end - p.from;
		if (unknown) {
			c->unknown_ns += ns;
			continue;
		}
		c->busy_ns += d->issued ? ns : 0;
		c->depth_ns += d->issued * ns;
		c->queued_ns += d->queued * ns;
		note_depth(c, d);
	}
}

static void charge_depth(struct slice *s, struct disk *d, int64_t to)
{
	int64_t from = d->cursor;
	if (from == TS_NONE || from >= to)
		return;
	d->cursor = to;
	if (d->unended || d->queued || d->issued)
		charge_range(s, d, from, to, d->unended);
}

void blocks_each_thread(const struct blocks *k, void (*each)(uint32_t thread, void *data), void *data)
{
	TABLE_EACH(at, k->requests)
		each(((const struct block_request *)at.value)->thread, data);
	for (guint i = 0; i < k->busy.len; i++)
		each(vec_at(&k->busy, struct block_busy, i)->thread, data);
	ARRAY_EACH(const struct disk, d, k->disks) {
		each(d->flushes ? d->flush_thread : ID_NONE, data);
		each(d->unended ? d->unended_thread : ID_NONE, data);
	}
	for (guint i = 0; i < k->early->len; i++)
		each(g_array_index(k->early, struct block_event, i).thread, data);
}

static gboolean is_of_disk(gpointer key, gpointer value, gpointer disk)
{
	const struct block_request *r = value;
	const struct disk *d = disk;
	return r->key == pair(d->host, d->dev);
}

/* Charges the device up to that instant. A loss drops its pending requests. */
static void settle(struct slice *s, struct disk *d, int64_t to)
{
	int64_t lost;
	if (d->cursor != TS_NONE && d->cursor < to && slice_lost_between(s, d->host, d->cursor, to, &lost)) {
		charge_depth(s, d, lost);
		g_hash_table_foreach_remove(s->blocks->requests, is_of_disk, d);
		d->queued = d->issued = d->flushes = 0;
		d->unended = false;
		d->lossy = true;
		charge_range(s, d, lost, to, true);
	}
	charge_depth(s, d, to);
	d->cursor = MAX(d->cursor, to);
	g_assert(d->flushes <= d->issued);
}

void blocks_charge(struct slice *s, int64_t until)
{
	apply_early(s, until);
	ARRAY_EACH(struct disk, d, s->blocks->disks)
		settle(s, d, covered_until(s, d->host, until));
}

/* ---- requests ---- */

static struct block_request *find(struct slice *s, const struct disk *d, uint64_t sector)
{
	struct block_request key = { .key = pair(d->host, d->dev), .sector = sector };
	return g_hash_table_lookup(s->blocks->requests, &key);
}

static void leave(struct disk *d, const struct block_request *r)
{
	g_assert(r->issued ? d->issued > 0 : d->queued > 0);
	if (r->issued)
		d->issued--;
	else
		d->queued--;
}

static void drop(struct slice *s, struct disk *d, struct block_request *r)
{
	if (!r)
		return;
	leave(d, r);
	g_hash_table_remove(s->blocks->requests, r);
}

/* A new request at the same sector replaces the older one: its completion is missing. */
static struct block_request *begin(struct slice *s, struct disk *d, const struct block_event *e)
{
	struct block_request *r = g_new0(struct block_request, 1);
	drop(s, d, find(s, d, e->sector));
	g_assert(!find(s, d, e->sector));	/* requests have different places */
	*r = (struct block_request){
		.key = pair(d->host, d->dev), .sector = e->sector, .begin = e->ts, .since = e->ts,
		.bytes = e->bytes, .sectors = e->sectors, .thread = e->thread, .dir = e->dir,
	};
	g_hash_table_add(s->blocks->requests, r);
	d->queued++;
	return r;
}

/* Changes the start sector of a request. */
static void move(struct slice *s, struct disk *d, struct block_request *r, uint64_t sector)
{
	g_hash_table_steal(s->blocks->requests, r);
	drop(s, d, find(s, d, sector));
	r->sector = sector;
	g_hash_table_add(s->blocks->requests, r);
}

/* ---- the log of outstanding requests ---- */

static void log_busy(struct slice *s, struct block_busy b)
{
	struct blocks *k = s->blocks;
	if (!slice_keeps_logs(s))
		return;
	g_assert(b.end != INT64_MAX);		/* it is completed */
	*vec_add(&k->busy, struct block_busy) = b;
	k->longest = MAX(k->longest, b.end - b.begin);
}

static struct block_busy busy_of(const struct block_request *r, int64_t end)
{
	return (struct block_busy){ .begin = r->begin, .end = end, .host = (uint32_t)(r->key >> 32),
				    .thread = r->thread, .read = r->dir == BLOCK_READ,
				    .issue = r->issued ? r->begin + r->queue_ns : INT64_MAX };
}

static struct block_busy flush_busy(const struct disk *d, int64_t end)
{
	return (struct block_busy){ .begin = d->flush_from, .end = end, .host = d->host,
				    .thread = d->flush_thread, .issue = d->flush_from };
}

/* ---- requests whose end is not reported ---- */

static bool is_unreported(const struct slice *s, const struct disk *d, const struct block_event *e)
{
	return !e->sectors && !e->bytes && !d->reports_empty &&
	       g_array_index(s->hosts, struct slice_host, d->host).empty_unreported;
}

/* There is evidence that such a request, if any, has ended. It counts, and its latency is unknown. */
static void unended_ends(struct slice *s, struct disk *d, int64_t ts)
{
	const struct block_request r = { .thread = d->unended_thread, .dir = BLOCK_OTHER, .service_ns = TS_NONE };
	if (d->unended)
		count_done(s, d, &r, ts, 0, true, false);
	d->unended = false;
}

static void unended_begins(struct slice *s, struct disk *d, const struct block_event *e)
{
	if (e->flush)
		unended_ends(s, d, e->ts);
	d->unended = true;
	d->unended_thread = e->thread;
}

/* ---- flushes ---- */

static void flush_begins(struct disk *d, const struct block_event *e)
{
	d->flush_thread = d->flushes && d->flush_thread != e->thread ? ID_NONE : e->thread;
	d->flush_since = d->flushes ? TS_NONE : e->ts;
	d->flush_from = d->flushes ? d->flush_from : e->ts;
	d->flushes++;
	d->issued++;
}

/* One of the flushes left the device. False: its issue is missing. */
static bool flush_leaves(struct disk *d)
{
	if (!d->flushes)
		return false;
	d->flushes--;
	g_assert(d->issued > 0);	/* .flushes are some of them */
	d->issued--;
	return true;
}

static void flush_ends(struct slice *s, struct disk *d, const struct block_event *e)
{
	struct block_request r = { .thread = d->flush_thread, .dir = BLOCK_OTHER, .service_ns = TS_NONE };
	d->reports_empty = true;
	if (d->unended) {
		unended_ends(s, d, e->ts);
		return;
	}
	if (!flush_leaves(d)) {
		end_unknown(s, d, e);
		return;
	}
	log_busy(s, flush_busy(d, e->ts));
	if (d->flush_since != TS_NONE)
		r.service_ns = e->ts - d->flush_since;
	count_done(s, d, &r, e->ts, 0, true, e->error);
}

/* ---- events ---- */

/* Is the insertion that of a request which another CPU issued just before? */
static bool was_issued_early(const struct block_request *r, const struct block_event *e)
{
	return r && r->issued && !r->was_queued && r->begin == r->since && r->sectors == e->sectors &&
	       !covered_are_far(r->since, e->ts, CLOCK_SKEW_NS);
}

static void on_insert(struct slice *s, struct disk *d, const struct block_event *e)
{
	struct block_request *r = find(s, d, e->sector);
	if (e->flush || is_unreported(s, d, e))		/* how long flushes are queued is not followed */
		return;
	if (!was_issued_early(r, e)) {
		begin(s, d, e);
		return;
	}
	order_count(s, e->ts, e->ts - r->since);
	r->was_queued = true;
	r->thread = e->thread;
}

static void on_issue(struct slice *s, struct disk *d, const struct block_event *e)
{
	if (is_unreported(s, d, e)) {
		unended_begins(s, d, e);
		return;
	}
	if (e->flush) {
		flush_begins(d, e);
		return;
	}
	struct block_request *r = find(s, d, e->sector);
	if (r && !r->issued) {
		r->queue_ns += e->ts - r->since;
		r->was_queued = true;
		if (r->thread == ID_NONE)
			r->thread = e->thread;
	} else {
		r = begin(s, d, e);
	}
	r->since = e->ts;
	r->bytes = e->bytes;
	r->sectors = e->sectors;
	r->dir = e->dir;
	r->issued = true;
	g_assert(d->queued > 0);
	d->queued--;
	d->issued++;
}

static void on_complete(struct slice *s, struct disk *d, const struct block_event *e)
{
	struct block_request *r = find(s, d, e->sector);
	bool asked = e->flush == BLOCK_FLUSH_ASKED && !(e->sector && r && r->issued);
	if (e->flush == BLOCK_FLUSH)
		flush_ends(s, d, e);
	if (asked)
		unended_ends(s, d, e->ts);
	if (e->flush == BLOCK_FLUSH || asked)
		return;
	if (!r || !r->issued) {
		drop(s, d, r);
		end_unknown(s, d, e);
		return;
	}
	if (e->sectors && e->sectors < r->sectors) {	/* the rest is still pending */
		uint64_t bytes = MIN(e->sectors * SECTOR_BYTES, r->bytes);
		dev_cell(s, d, e->ts)->partial++;
		count_done(s, d, r, e->ts, bytes, false, e->error);
		r->bytes -= bytes;
		r->sectors -= e->sectors;
		move(s, d, r, e->sector + e->sectors);
		return;
	}
	r->service_ns += e->ts - r->since;
	log_busy(s, busy_of(r, e->ts));
	count_done(s, d, r, e->ts, r->bytes, true, e->error);
	drop(s, d, r);
}

static void on_requeue(struct slice *s, struct disk *d, const struct block_event *e)
{
	struct block_request *r = find(s, d, e->sector);
	dev_cell(s, d, e->ts)->requeues++;
	if (e->flush)
		flush_leaves(d);
	if (e->flush || !r || !r->issued)
		return;
	r->service_ns += e->ts - r->since;
	r->since = e->ts;
	r->issued = false;
	g_assert(d->issued > 0);
	d->issued--;
	d->queued++;
}

/* The event's request is merged into the request that ends at its start sector. */
static void on_merge(struct slice *s, struct disk *d, const struct block_event *e)
{
	struct block_request *r = find(s, d, e->sector);
	dev_cell(s, d, e->ts)->merges++;
	if (r && !r->issued)
		drop(s, d, r);
}

/* A bio was added to the end of a queued request. */
static void on_backmerge(struct slice *s, struct disk *d, const struct block_event *e)
{
	dev_cell(s, d, e->ts)->merges++;
}

/* A bio was added before a queued request: its start sector moves. */
static void on_frontmerge(struct slice *s, struct disk *d, const struct block_event *e)
{
	struct block_request *r = find(s, d, e->sector + e->sectors);
	dev_cell(s, d, e->ts)->merges++;
	if (r && !r->issued && e->sectors)
		move(s, d, r, e->sector);
}

/* Where the request that the event refers to starts. */
static uint64_t start_of(const struct block_event *e)
{
	return e->what == BLOCK_FRONTMERGE ? e->sector + e->sectors : e->sector;
}

/* Is the event one of a request that is not known, or not where the event finds it? */
static bool is_early(struct slice *s, const struct disk *d, const struct block_event *e)
{
	const struct block_request *r = find(s, d, start_of(e));
	if (e->flush == BLOCK_FLUSH && e->what == BLOCK_COMPLETE)
		return !d->flushes && !d->unended;
	if (e->flush)
		return false;
	switch ((enum block_what)e->what) {
	case BLOCK_COMPLETE:
	case BLOCK_REQUEUE:
		return !r || !r->issued;
	case BLOCK_MERGE:
	case BLOCK_FRONTMERGE:
		return !r;
	default:
		return false;
	}
}

static void apply_now(struct slice *s, const struct block_event *e)
{
	static void (*const on[])(struct slice *, struct disk *, const struct block_event *) = {
		[BLOCK_INSERT] = on_insert, [BLOCK_ISSUE] = on_issue, [BLOCK_COMPLETE] = on_complete,
		[BLOCK_REQUEUE] = on_requeue, [BLOCK_MERGE] = on_merge,
		[BLOCK_BACKMERGE] = on_backmerge, [BLOCK_FRONTMERGE] = on_frontmerge,
	};
	G_STATIC_ASSERT(G_N_ELEMENTS(on) == BLOCK_FRONTMERGE + 1);
	g_assert(s->from_start && (unsigned)e->what < G_N_ELEMENTS(on));
	struct disk *d = disk_of(s->blocks, e->host, e->dev);
	settle(s, d, e->ts);
	on[e->what](s, d, e);
	if (d->issued || d->queued)
		note_depth(dev_cell(s, d, e->ts), d);
}

/* What waits so long that the event that it follows is missing is applied as it is. */
static void apply_early(struct slice *s, int64_t now)
{
	GArray *early = s->blocks->early;
	while (early->len) {
		struct block_event e = g_array_index(early, struct block_event, 0);
		if (!covered_are_far(e.ts, now, CLOCK_SKEW_NS) && early->len <= LIMIT_EARLY_EVENTS)
			return;
		g_array_remove_index(early, 0);
		apply_now(s, &e);
	}
}

/* Can the early event follow this one, which changed only requests that start at its sector, or at its end? */
static bool may_follow(const struct block_event *early, const struct block_event *e)
{
	uint64_t start = start_of(early);
	return early->dev == e->dev && early->host == e->host &&
	       (early->flush || start == e->sector || start == e->sector + e->sectors);
}

/* What waited for the event follows it, at its instant. */
static void apply_following(struct slice *s, const struct block_event *e)
{
	GArray *early = s->blocks->early;
	for (guint i = 0; i < early->len; i++) {
		struct block_event next = g_array_index(early, struct block_event, i);
		if (!may_follow(&next, e) || is_early(s, disk_of(s->blocks, next.host, next.dev), &next))
			continue;
		g_array_remove_index(early, i);
		order_count(s, e->ts, MAX(e->ts - next.ts, 0));
		next.ts = MAX(e->ts, next.ts);
		apply_now(s, &next);
		apply_following(s, &next);
		i = (guint)-1;		/* the rest is shorter now */
	}
}

void blocks_finish(struct slice *s)
{
	apply_early(s, INT64_MAX);
}

void blocks_apply(struct slice *s, const struct block_event *e)
{
	if (!s->from_start) {
		g_array_append_val(s->blocks->stored, *e);
		return;
	}
	apply_early(s, e->ts);
	if (is_early(s, disk_of(s->blocks, e->host, e->dev), e)) {
		g_array_append_val(s->blocks->early, *e);
		return;
	}
	apply_now(s, e);
	if (G_UNLIKELY(s->blocks->early->len))
		apply_following(s, e);
}

/* ---- outstanding requests ---- */

void blocks_each_busy(const struct slice *s, uint32_t host, int64_t from, int64_t to,
		      void (*each)(const struct block_busy *b, void *data), void *data)
{
	struct blocks *k = s->blocks;
	guint i = k->busy_hint = vec_first_after(&k->busy, sizeof(struct block_busy),
						 offsetof(struct block_busy, end), from, k->busy_hint);
	for (; i < k->busy.len; i++) {
		const struct block_busy *b = vec_at(&k->busy, struct block_busy, i);
		if (b->end - k->longest >= to)
			break;		/* this one and all later ones began after it */
		if (b->host == host && b->begin < to)
			each(b, data);
	}
	ARRAY_EACH(const struct disk, d, k->disks) {
		struct block_busy b = flush_busy(d, INT64_MAX);
		if (d->flushes && b.host == host && b.begin < to)
			each(&b, data);
	}
	TABLE_EACH(at, k->requests) {
		struct block_busy b = busy_of(at.value, INT64_MAX);
		if (b.host == host && b.begin < to)
			each(&b, data);
	}
}

void blocks_forget(struct slice *s, int64_t before)
{
	struct vec *busy = &s->blocks->busy;
	guint n = 0;
	while (n < busy->len && vec_at(busy, struct block_busy, n)->end < before)
		n++;
	vec_drop(busy, n, sizeof(struct block_busy));
}

void blocks_join(struct slice *a, struct slice *b, const uint32_t *host, const uint32_t *thread)
{
	ARRAY_EACH(struct block_event, e, b->blocks->stored) {
		e->host = host[e->host];
		if (e->thread != ID_NONE)
			e->thread = thread[e->thread];
		blocks_apply(a, e);
	}
	g_array_set_size(b->blocks->stored, 0);
}

static gint by_time(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct block_event *x = a, *y = b;
	(void)data;
	return ORDER(x->ts, y->ts);
}

void blocks_sort(struct blocks *k)
{
	sort_array(k->stored->data, k->stored->len, sizeof(struct block_event), by_time, NULL);
}

uint32_t blocks_n_stored(const struct blocks *k)
{
	return k->stored->len;
}

void blocks_drop_stored(struct blocks *k)
{
	g_array_set_size(k->stored, 0);
}

void blocks_code(struct coder *c, struct blocks *k, unsigned set, uint32_t n_hosts, uint32_t n_threads)
{
	g_assert(!g_hash_table_size(k->requests) && !k->disks->len);
	uint32_t n = code_len(c, k->stored->len, 11, sizeof(struct block_event));
	for (uint32_t i = 0; i < n; i++) {
		struct block_event e = { 0 };
		if (coder_writes(c))
			e = g_array_index(k->stored, struct block_event, i);
		coder_row(c, set);
		code_event_ts(c, &e.ts);
		code_u64(c, &e.sector);
		code_u64(c, &e.sectors);
		code_u64(c, &e.bytes);
		code_id(c, &e.host, n_hosts, false);
		code_u32(c, &e.dev);
		code_id(c, &e.thread, n_threads, true);
		code_below(c, &e.what, BLOCK_FRONTMERGE + 1);
		code_below(c, &e.dir, BLOCK_DIR_N);
		code_below(c, &e.flush, BLOCK_FLUSH_ASKED + 1);
		code_bool(c, &e.error);
		if (c->fault)
			return;
		if (!coder_writes(c))
			g_array_append_val(k->stored, e);
	}
	coder_row(c, 0);
}
