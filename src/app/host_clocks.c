/* SPDX-License-Identifier: GPL-2.0-only */
/* Aligning the clocks of hosts: see host_clocks.h. */
#include "app/host_clocks.h"

#include "base/each.h"
#include "app/messages.h"
#include "app/reading.h"

#include "state/slice/slice_file.h"
#include "trace/align.h"
#include "views/clocks.h"

#include <math.h>

#define MEASURE_US 10000000		/* longest measurement of a live session */
#define ENOUGH_CALLS 32			/* it ends earlier with this many calls between each pair of clocks */
#define CHECK_MS 250

/* Adds a line for the user. */
static G_GNUC_PRINTF(2, 3) void add(GPtrArray *lines, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_ptr_array_add(lines, g_strdup_vprintf(format, ap));
	va_end(ap);
}

/* Moves clock i to the first one. at: the instant at which they shall agree; TIME_UNKNOWN: the whole trace. */
static bool move_clock(const struct clocks *k, guint i, int64_t at, GPtrArray *lines)
{
	const struct clock *c = &g_array_index(k->clocks, struct clock, i);
	const struct clock *first = &g_array_index(k->clocks, struct clock, 0);
	char ns[TIMEFMT_LEN], error[TIMEFMT_LEN];

	if (c->offset_ns == TIME_UNKNOWN && c->is_endpoint)
		return false;
	if (c->offset_ns == TIME_UNKNOWN || !*c->boot) {
		add(lines, "the clock of %s is not moved: %s", c->host, *c->boot ?
		    "no calls show its offset from the others" : "it has no uuid");
		return false;
	}
	int64_t offset = c->drift_ppm != 0 && at != TIME_UNKNOWN ? clocks_offset_at(k, i, at) : c->offset_ns;
	timefmt_duration(error, c->error_ns);
	if (ABS(offset) <= c->error_ns) {
		add(lines, "the clock of %s is not moved: it agrees with that of %s, +-%s", c->host,
		    first->host, error);
		return false;
	}
	align_install(c->boot, align_of(c->boot) - offset);
	align_install(c->alias, align_of(c->boot));
	bool ahead = offset >= 0;
	g_autofree char *drift = c->drift_ppm == 0 ? NULL :
		g_strdup_printf("; it %s %.1f ppm", c->drift_ppm < 0 ? "loses" : "gains", fabs(c->drift_ppm));
	add(lines, "the clock of %s is moved %s by %s +-%s, to that of %s%s", c->host,
	    ahead ? "back" : "forward", clocks_text(ns, ahead ? offset : -offset), error, first->host,
	    drift ? drift : "");
	return true;
}

static bool move_clocks(const struct timeline *tl, bool newest, GPtrArray *lines)
{
	g_autoptr(blk_clocks) k = clocks_new(tl);
	int64_t first, at;
	bool moved = false;

	if (k->clocks->len < 2) {
		add(lines, "there is only one clock, so nothing to move");
		return false;
	}
	ARRAY_EACH(const struct clock_link, l, k->links)
		if (l->low_ns > l->high_ns && !l->drifts)
			add(lines, "the calls between %s and %s contradict each other: their clocks drift",
			    g_array_index(k->clocks, struct clock, l->a).host,
			    g_array_index(k->clocks, struct clock, l->b).host);
	if (!newest || !timeline_coverage(tl, &first, &at))
		at = TIME_UNKNOWN;
	for (guint i = 1; i < k->clocks->len; i++)
		moved |= move_clock(k, i, at, lines);
	if (!lines->len)
		add(lines, "no calls from one service to another tell how far their clocks are apart");
	return moved;
}

bool hosts_move(const struct timeline *tl, char **ret_message)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	bool moved = move_clocks(tl, true, lines);

	g_ptr_array_add(lines, NULL);
	*ret_message = g_strjoinv("; ", (char **)lines->pdata);
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

/* Reads a live session until there are enough calls, the time is up, or a signal came. */
static void listen_to(struct reading *r)
{
	gint64 until = g_get_monotonic_time() + MEASURE_US;

	log_error("--align-hosts: listening to calls from one host to another, for %d s at most",
		  MEASURE_US / 1000000);
	while (g_get_monotonic_time() < until && !is_enough(r->tl))
		if (reading_wait(r, CHECK_MS))
			return;
	reading_stop(r);
}

bool hosts_can_align(const struct read_options *o, char **ret_message)
{
	if (!o->paths || !o->paths[0] || !slice_file_is(o->paths[0]))
		return true;
	*ret_message = g_strdup_printf("%s is a slice file: its clocks are those of its traces and cannot be moved",
				       o->paths[0]);
	return false;
}

int hosts_align(const struct read_options *o, bool all_spans)
{
	const struct reading_purpose purpose = { .all_spans = all_spans };
	g_autofree char *message = NULL;
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	struct read_options mine = *o;
	struct reading r;

	if (!hosts_can_align(o, &message)) {
		log_error("--align-hosts: %s", message);
		return EXIT_USAGE;
	}
	mine.spool = NULL;		/* the measurement is not stored */
	int code = reading_start(&r, &mine, &purpose);
	if (code == EXIT_FINE) {
		if (o->live)
			listen_to(&r);
		else
			reading_wait(&r, -1);
		code = reading_code(&r);
	}
	if (code == EXIT_FINE)
		move_clocks(r.tl, o->live, lines);
	for (guint i = 0; i < lines->len; i++)
		log_error("--align-hosts: %s", (char *)g_ptr_array_index(lines, i));
	reading_free(&r);
	return code;
}
