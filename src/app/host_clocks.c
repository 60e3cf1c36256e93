/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks of hosts, moved: see hosts.h. */
#include "app/host_clocks.h"

#include "cli/messages.h"
#include "app/reading.h"

#include "trace/align.h"
#include "views/clocks.h"

#include <math.h>

#define MEASURE_US 10000000		/* a live session is listened to for so long at most, */
#define ENOUGH_CALLS 32			/* or until there are so many calls of every clock */
#define LOOK_MS 250

/* Told to the user, as lines. */
static G_GNUC_PRINTF(2, 3) void add(GPtrArray *told, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_ptr_array_add(told, g_strdup_vprintf(format, ap));
	va_end(ap);
}

/* The first clock is the one that stays. Live, it is the newest instant that counts. */
static bool move_clock(const struct clocks *k, guint i, int64_t at, GPtrArray *told)
{
	const struct clock *c = &g_array_index(k->clocks, struct clock, i);
	const struct clock *first = &g_array_index(k->clocks, struct clock, 0);
	char ns[TIMEFMT_LEN], error[TIMEFMT_LEN];

	if (c->offset_ns == TIME_UNKNOWN || !*c->boot) {
		add(told, "the clock of %s is not moved: %s", c->host, *c->boot ?
		    "no calls tell how far it is from the others" : "it has no uuid");
		return false;
	}
	int64_t offset = c->drift_ppm != 0 && at != TIME_UNKNOWN ? clocks_offset_at(k, i, at) : c->offset_ns;
	timefmt_duration(error, c->error_ns);
	if (ABS(offset) <= c->error_ns) {
		add(told, "the clock of %s is not moved: it agrees with that of %s, +-%s", c->host,
		    first->host, error);
		return false;
	}
	align_install(c->boot, align_of(c->boot) - offset);
	bool ahead = offset >= 0;
	g_autofree char *drift = c->drift_ppm == 0 ? NULL :
		g_strdup_printf("; it %s %.1f ppm", c->drift_ppm < 0 ? "loses" : "gains", fabs(c->drift_ppm));
	add(told, "the clock of %s is moved %s by %s +-%s, to that of %s%s", c->host,
	    ahead ? "back" : "forward", clocks_text(ns, ahead ? offset : -offset), error, first->host,
	    drift ? drift : "");
	return true;
}

static bool move_clocks(const struct timeline *tl, bool newest, GPtrArray *told)
{
	g_autoptr(blk_clocks) k = clocks_new(tl);
	int64_t first, at;
	bool moved = false;

	if (k->clocks->len < 2) {
		add(told, "there is one clock only, nothing to move");
		return false;
	}
	for (guint i = 0; i < k->links->len; i++) {
		const struct clock_link *l = &g_array_index(k->links, struct clock_link, i);
		if (l->low_ns > l->high_ns && !l->drifts)
			add(told, "the calls between %s and %s contradict each other: their clocks drift",
			    g_array_index(k->clocks, struct clock, l->a).host,
			    g_array_index(k->clocks, struct clock, l->b).host);
	}
	if (!newest || !timeline_coverage(tl, &first, &at))
		at = TIME_UNKNOWN;
	for (guint i = 1; i < k->clocks->len; i++)
		moved |= move_clock(k, i, at, told);
	return moved;
}

bool hosts_move(const struct timeline *tl, char **ret_told)
{
	g_autoptr(GPtrArray) told = g_ptr_array_new_with_free_func(g_free);
	bool moved = move_clocks(tl, true, told);

	g_ptr_array_add(told, NULL);
	*ret_told = g_strjoinv("; ", (char **)told->pdata);
	return moved;
}

static bool is_enough(const struct timeline *tl)
{
	g_autoptr(blk_clocks) k = clocks_new(tl);
	uint64_t pairs = UINT64_MAX;

	for (guint i = 0; i < k->links->len; i++)
		pairs = MIN(pairs, g_array_index(k->links, struct clock_link, i).pairs);
	for (guint i = 1; i < k->clocks->len; i++)
		if (g_array_index(k->clocks, struct clock, i).offset_ns == TIME_UNKNOWN)
			return false;
	return k->clocks->len > 1 && pairs >= ENOUGH_CALLS;
}

/* Ended by whoever ends the program, or by us. */
static void listen_to(struct reading *r)
{
	gint64 until = g_get_monotonic_time() + MEASURE_US;

	log_error("--align-hosts: listening to calls from one host to another, for %d s at most",
		  MEASURE_US / 1000000);
	while (g_get_monotonic_time() < until && !is_enough(r->tl))
		if (reading_wait(r, LOOK_MS))
			return;
	reading_stop(r);
}

int hosts_align(const struct options *o)
{
	g_autoptr(GPtrArray) told = g_ptr_array_new_with_free_func(g_free);
	struct options mine = *o;
	struct reading r;

	mine.spool = NULL;		/* what is only listened to is not kept */
	int code = reading_start(&r, &mine);
	if (code == EXIT_FINE) {
		if (o->live)
			listen_to(&r);
		else
			reading_wait(&r, -1);
		code = reading_code(&r);
	}
	if (code == EXIT_FINE)
		move_clocks(r.tl, o->live, told);
	for (guint i = 0; i < told->len; i++)
		log_error("--align-hosts: %s", (char *)g_ptr_array_index(told, i));
	reading_free(&r);
	return code;
}
