/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks of hosts, moved: see hosts.h. */
#include "hosts.h"

#include "log.h"
#include "reading.h"

#include "trace/align.h"
#include "views/clocks.h"

/* The first clock is the one that stays. */
static void move_clock(const struct clocks *k, const struct clock *c)
{
	const struct clock *first = &g_array_index(k->clocks, struct clock, 0);
	char ns[TIMEFMT_LEN], error[TIMEFMT_LEN];

	if (c->offset_ns == TIME_UNKNOWN || !*c->boot) {
		log_error("the clock of %s is not moved: %s", c->host, *c->boot ?
			  "no calls tell how far it is from the others" : "it has no uuid");
		return;
	}
	align_install(c->boot, -c->offset_ns);
	bool ahead = c->offset_ns >= 0;
	log_error("the clock of %s is moved %s by %s +-%s, to that of %s", c->host,
		  ahead ? "back" : "forward", clocks_text(ns, ahead ? c->offset_ns : -c->offset_ns),
		  timefmt_duration(error, c->error_ns), first->host);
}

static void move_clocks(const struct timeline *tl)
{
	g_autoptr(blk_clocks) k = clocks_new(tl);

	if (k->clocks->len < 2) {
		log_error("--align-hosts: there is one clock only, nothing to move");
		return;
	}
	for (guint i = 0; i < k->links->len; i++) {
		const struct clock_link *l = &g_array_index(k->links, struct clock_link, i);
		if (l->low_ns > l->high_ns)
			log_error("the calls between %s and %s contradict each other: their clocks drift",
				  g_array_index(k->clocks, struct clock, l->a).host,
				  g_array_index(k->clocks, struct clock, l->b).host);
	}
	for (guint i = 1; i < k->clocks->len; i++)
		move_clock(k, &g_array_index(k->clocks, struct clock, i));
}

int hosts_align(const struct options *o)
{
	struct reading r;
	int code = reading_start(&r, o);

	if (code == EXIT_FINE) {
		reading_wait(&r, -1);
		code = reading_code(&r);
	}
	if (code == EXIT_FINE)
		move_clocks(r.tl);
	reading_free(&r);
	return code;
}
