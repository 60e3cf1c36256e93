/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages about late and lost events: see late_events.h. */
#include "app/late_events.h"

#include "base/each.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/repairs.h"

#define SOURCES_NAMED 4			/* hosts and domains in a message */
#define REST_US (2 * G_USEC_PER_SEC)	/* without a change, before it is reported */

char *late_report(struct late_reported *t, const struct job_status *st, int64_t now_us)
{
	char n[TIMEFMT_LEN];

	if (st->late != t->late || st->corrected != t->corrected) {
		t->late = st->late;
		t->corrected = st->corrected;
		t->changed_us = now_us;
	}
	bool changed = st->corrects && now_us != INT64_MAX ? t->corrected != t->reported_corrected
							: t->late != t->reported_late;
	if (!changed || (now_us != INT64_MAX && now_us - t->changed_us < REST_US))
		return NULL;
	t->reported_late = t->late;
	t->reported_corrected = t->corrected;
	timefmt_count(n, t->late);
	if (st->corrects)
		return g_strdup_printf("%s events came too late: %u second%s corrected since", n,
				       t->corrected, t->corrected == 1 ? " was" : "s were");
	return g_strdup_printf("%s events came too late and are not counted in their seconds, but at "
			       "their arrival: no packets are stored on disk to correct that (--spool)", n);
}

/* --- losses --- */

/* What the tracer of a domain (kernel, user space) of a host lost. */
struct source_losses { uint32_t host, kernel; uint64_t events, packets; };

static struct source_losses *losses_of(GArray *all, const struct loss_cell *cell)
{
	ARRAY_EACH(struct source_losses, l, all)
		if (l->host == cell->host && l->kernel == cell->kernel)
			return l;
	const struct source_losses none = { .host = cell->host, .kernel = cell->kernel };
	g_array_append_val(all, none);
	return &g_array_index(all, struct source_losses, all->len - 1);
}

static int by_events(const void *va, const void *vb)
{
	const struct source_losses *a = va, *b = vb;
	return a->events != b->events ? (a->events < b->events) - (a->events > b->events) :
	       (a->packets < b->packets) - (a->packets > b->packets);
}

static void append_counts(GString *s, uint64_t events, uint64_t packets)
{
	if (events)
		g_string_append_printf(s, "%" G_GUINT64_FORMAT " event%s", events, events == 1 ? "" : "s");
	if (packets)
		g_string_append_printf(s, "%s%" G_GUINT64_FORMAT " packet%s", events ? " and " : "", packets,
				       packets == 1 ? "" : "s");
}

/* "vm, kernel: 12000 events; ..." of the seconds in memory, those with the most losses first. */
static char *losses_by_source(const struct timeline *tl)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct source_losses));
	GString *s = g_string_new(NULL);

	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *second = timeline_second(tl, i);
		for (uint32_t k = 0; k < second->n_losses; k++) {
			struct source_losses *l = losses_of(all, &second->losses[k]);
			l->events += second->losses[k].events;
			l->packets += second->losses[k].packets;
		}
	}
	g_array_sort(all, by_events);
	for (guint i = 0; i < MIN(all->len, SOURCES_NAMED); i++) {
		const struct source_losses *l = &g_array_index(all, struct source_losses, i);
		const struct host_info *host = timeline_host(tl, l->host);
		if (!l->events && !l->packets)
			break;
		g_autofree char *name = text_visible(host && host->name ? host->name : "unknown host");
		g_string_append_printf(s, "%s%s, %s: ", i ? "; " : " (", name, l->kernel ? "kernel" : "user space");
		append_counts(s, l->events, l->packets);
	}
	if (s->len)
		g_string_append(s, all->len > SOURCES_NAMED ? "; ...)" : ")");
	return g_string_free(s, FALSE);
}

/* --- clocks that went back --- */

static void append_back(GString *s, const struct timeline *tl, const struct second *second, const struct loss_cell *c)
{
	char back[TIMEFMT_LEN], at[TIMEFMT_LEN];
	const struct host_info *host = timeline_host(tl, c->host);
	g_autofree char *name = text_visible(host && host->name ? host->name : "unknown host");

	g_string_append_printf(s, "%s the clock went back by %s at %s (stream of %s, %s", s->len ? ";" : "",
			       timefmt_duration(back, c->back_ns), timefmt_clock(at, second->begin_ns), name,
			       c->kernel ? "kernel" : "user space");
	if (c->cpu != UINT32_MAX)
		g_string_append_printf(s, ", CPU %u", c->cpu);
	g_string_append_c(s, ')');
}

char *clocks_back_report(const struct timeline *tl)
{
	g_autoptr(GString) s = g_string_new(NULL);
	unsigned n = 0;

	for (size_t i = 0; i < timeline_n_seconds(tl) && n <= SOURCES_NAMED; i++) {
		if (!timeline_outline(tl, i)->completeness.late)	/* it counts them, too */
			continue;
		const struct second *second = timeline_second(tl, i);
		for (uint32_t k = 0; k < second->n_losses; k++)
			if (second->losses[k].early && n++ < SOURCES_NAMED)
				append_back(s, tl, second, &second->losses[k]);
	}
	if (!n)
		return NULL;
	return g_strdup_printf("%s%s: no events are lost, but what lies across that is partial or unknown", s->str + 1,
			       n > SOURCES_NAMED ? "; ..." : "");
}

char *losses_report(const struct timeline *tl)
{
	struct completeness c = timeline_facts(tl)->completeness;
	if (!c.lost_events && !c.lost_packets)
		return NULL;
	g_autofree char *sources = losses_by_source(tl);
	GString *s = g_string_new("the tracer lost ");

	append_counts(s, c.lost_events, c.lost_packets);
	g_string_append_printf(s, "%s, which are not counted; to lose less: %s; --view losses lists the streams",
			       sources, repair_for_losses());
	return g_string_free(s, FALSE);
}
