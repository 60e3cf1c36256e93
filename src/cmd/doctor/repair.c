/* SPDX-License-Identifier: GPL-2.0-only */
/* Repairs: lttng commands with their cost, sizes of buffers after losses, and problems of clocks. See
 * doctor_private.h. */
#include "cmd/doctor/doctor_private.h"

#include "base/each.h"
#include "base/timefmt.h"
#include "state/kernel/thread_order.h"
#include "views/repairs.h"

#include <string.h>

struct diag_repair *doctor_repair(struct doctor *doc, char *problem, GPtrArray *commands,
				  double events_per_s, char *cost)
{
	struct diag_repair *r = g_new0(struct diag_repair, 1);
	r->problem = problem;
	r->commands = commands;
	r->events_per_s = events_per_s;
	r->cost = cost;
	g_ptr_array_add(doc->d->repairs, r);
	return r;
}

/* The channel of the domain with the most events, or NULL. */
const struct diag_channel *doctor_find_channel(const struct doctor *doc, const char *domain)
{
	const struct diag_channel *found = NULL;
	PTR_EACH(const struct diag_channel, c, doc->d->channels)
		if (strcmp(c->domain, domain) == 0 && (!found || c->events > found->events))
			found = c;
	return found;
}

/* "--kernel --session S --channel C". */
char *doctor_where(const struct doctor *doc, const char *domain, const struct diag_channel *c)
{
	const char *known = c && c->session ? c->session : doc->session;

	for (guint i = 0; !known && i < doc->d->channels->len; i++)
		known = ((struct diag_channel *)doc->d->channels->pdata[i])->session;
	return repair_where(domain, known ? known : "SESSION", c && c->name ? c->name : "CHANNEL");
}

/* --- costs --- */

/* Frequency of an event relative to another. The factors for the scheduler are typical of servers: about half of the
 * switches begin a wait that a wakeup ends. */
static const struct {
	const char *event, *like;
	double factor;
} comparable[] = {
	{ "sched_waking", "sched_switch", 0.5 },
	{ "sched_switch", "sched_waking|sched_wakeup", 2 },
	{ "sched_wakeup_new", "sched_process_fork", 1 },
	{ "sched_process_fork", "sched_process_exit", 1 },
	{ "sched_process_exit", "sched_process_fork", 1 },
	{ "sched_process_exec", "sched_process_fork", 1 },
	{ "block_rq_issue", "block_rq_complete", 1 },
	{ "block_rq_complete", "block_rq_issue", 1 },
	{ "block_rq_insert", "block_rq_issue", 1 },
	{ "irq_handler_entry", "irq_handler_exit", 1 },
	{ "irq_handler_exit", "irq_handler_entry", 1 },
	{ "irq_softirq_entry", "irq_softirq_exit|softirq_exit", 1 },
	{ "irq_softirq_exit", "irq_softirq_entry|softirq_entry", 1 },
	{ "irq_softirq_raise", "irq_softirq_entry|softirq_entry", 1 },
	{ "net_dev_queue", "net_if_receive_skb", 1 },
	{ "net_if_receive_skb", "net_dev_queue", 1 },
	{ "zipkin:keyval_string", "zipkin:timestamp", 0.5 },
	{ "zipkin:keyval_integer", "zipkin:timestamp", 0.5 },
	{ "zipkin:timestamp", "zipkin:keyval_string|zipkin:keyval", 2 },
};

double doctor_estimate(const struct doctor *doc, const char *event, char **ret_why)
{
	g_autofree char *name = g_strndup(event, strcspn(event, "|"));

	if (g_str_has_prefix(name, "lttng_statedump_")) {
		*ret_why = g_strdup("only when the session starts");
		return 0;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(comparable); i++) {
		if (strcmp(comparable[i].event, name) != 0)
			continue;
		int64_t n = doctor_count(doc, comparable[i].like);
		double rate = diag_rate(doc->d, (uint64_t)MAX(n, 0));
		if (n < 0 || rate < 0)
			continue;
		g_autofree char *like = g_strndup(comparable[i].like,
						  strcspn(comparable[i].like, "|"));
		*ret_why = g_strdup_printf("%g for each %s", comparable[i].factor, like);
		return rate * comparable[i].factor;
	}
	*ret_why = g_strdup("unknown: no recorded event is about as frequent");
	return -1;
}

/* --- buffers --- */

static uint64_t power_of_two(uint64_t least)
{
	uint64_t n = 1;
	while (n < least && n < (UINT64_C(1) << 40))
		n *= 2;
	return n;
}

#define LEAST_SUBBUF (256 << 10)
#define LEAST_RECORD_BUFFER (32 << 20)	/* twice the usual of blktop record */
#define LEAST_SUBBUFS 32	/* twice the usual; the trace does not say how many there were */

/* "k0 of the kernel lost 53255 events in 46 times, ..." */
static char *loss_words(const struct diag_channel *c, uint64_t bytes, bool overwrote)
{
	GString *text = g_string_new(NULL);
	char length[TIMEFMT_LEN], size[TIMEFMT_LEN];

	g_string_append_printf(text, "%s (%s) lost ", c->name ? c->name : "a channel", c->domain);
	if (c->lost_events)
		g_string_append_printf(text, "%" G_GUINT64_FORMAT " events%s", c->lost_events,
				       c->lost_packets ? " and " : "");
	if (c->lost_packets)
		g_string_append_printf(text, "%" G_GUINT64_FORMAT " packets", c->lost_packets);
	if (!c->lost_events && !c->lost_packets)
		g_string_append(text, "an unknown number of events");
	g_string_append_printf(text, ", %u time%s", c->losses, c->losses == 1 ? "" : "s");
	if (c->lost_events || c->lost_packets)
		g_string_append_printf(text, ", at most about %s in %s", timefmt_bytes(size, bytes),
				       timefmt_duration(length, c->longest_ns));
	g_string_append_printf(text, ": its buffers were %s; their size can be changed only before the session's "
			       "first start", overwrote ? "overwritten" : "full");
	return g_string_free(text, FALSE);
}

/* Recommends room for twice the largest single loss beside what was there, in sub-buffers that are not smaller than
 * before. */
static void repair_loss(struct doctor *doc, const struct diag_channel *c)
{
	GPtrArray *commands = g_ptr_array_new_with_free_func(g_free);
	double event_bytes = c->events && c->bytes ? (double)c->bytes / (double)c->events : 64;
	uint64_t lost = (uint64_t)(event_bytes * (double)c->worst_events) +
			(c->losses ? c->lost_packets / c->losses + 1 : 0) * c->packet_bytes;
	uint64_t subbuf = power_of_two(MAX(c->packet_bytes, LEAST_SUBBUF));
	uint64_t n = power_of_two(LEAST_SUBBUFS + 2 * lost / subbuf);
	char held[TIMEFMT_LEN];
	bool overwrote = c->lost_packets && !c->lost_events;

	if (doc->other_tracer && strcmp(c->domain, "kernel") == 0) {
		uint64_t least = power_of_two(MAX(2 * lost, LEAST_RECORD_BUFFER));
		g_ptr_array_add(commands, repair_record_buffer(least));
		doctor_repair(doc, loss_words(c, lost, true), commands, diag_rate(doc->d, c->lost_events),
			      g_strdup_printf("what was lost is then recorded (the trace does not say how large the "
					      "buffers were); needs %s of memory for each CPU",
					      timefmt_bytes(held, least)));
		return;
	}
	g_ptr_array_add(commands, repair_buffers(c->domain, c->session ? c->session : "SESSION",
						 c->name, subbuf, n, overwrote));
	doctor_repair(doc, loss_words(c, lost, overwrote), commands,
		      c->lost_events ? diag_rate(doc->d, c->lost_events) : -1,
		      g_strdup_printf("what was lost is then recorded (the trace does not say how many sub-buffers "
				      "there were: of %u or more, take twice as many); needs %s of memory for each "
				      "CPU, for each user or process", LEAST_SUBBUFS, timefmt_bytes(held, subbuf * n)));
}

void doctor_problem(struct doctor *doc, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	if (!g_ptr_array_find_with_equal_func(doc->d->problems, text, g_str_equal, NULL))
		g_ptr_array_add(doc->d->problems, g_steal_pointer(&text));
}

/* Larger buffers would not have helped. */
static void report_damage(struct doctor *doc, const struct diag_channel *c)
{
	const bool one = c->damaged == 1;

	doctor_problem(doc, "%" G_GUINT64_FORMAT " packet%s of channel %s (%s) cannot be decoded to %s end: "
		       "the file is damaged or cut off there, or the tracer was killed; how many events "
		       "are missing is unknown",
		       c->damaged, one ? "" : "s", c->name, c->domain, one ? "its" : "their");
}

void doctor_repair_losses(struct doctor *doc)
{
	PTR_EACH(const struct diag_channel, c, doc->d->channels) {
		if (c->damaged)
			report_damage(doc, c);
		if (c->lost_events || c->lost_packets || (c->losses && !c->damaged))
			repair_loss(doc, c);
	}
}

/* --- clocks --- */

#define OFFSET_REPORTED_NS NS_PER_MS	/* smaller differences are measurement errors of LTTng, which readers correct */

static void compare_clocks(struct doctor *doc, const struct doctor_clock *a,
			   const struct doctor_clock *b)
{
	char buf[TIMEFMT_LEN];
	bool same_boot = strcmp(a->uuid, b->uuid) == 0;

	if (g_strcmp0(a->host, b->host) != 0 && !(same_boot && *a->uuid)) {
		doctor_problem(doc, "traces of several hosts (%s, %s): blktop does not compare their clocks, "
			       "so instants may differ by their offset",
			       a->host ? a->host : "?", b->host ? b->host : "?");
		return;
	}
	if (!same_boot) {
		doctor_problem(doc, "clocks of %s and %s (host %s) have different uuids: the traces are "
			       "of different boots, and one cannot explain the spans of "
			       "the other", a->where, b->where, a->host ? a->host : "?");
		return;
	}
	__int128 off = a->offset_ns - b->offset_ns;
	int64_t ns = (int64_t)(off < 0 ? -off : off);
	if (ns >= OFFSET_REPORTED_NS)
		doctor_problem(doc, "clock offsets of the %s and %s traces of %s differ by %s: "
			       "the kernel's is used for both", a->domain, b->domain,
			       a->host ? a->host : "?", timefmt_duration(buf, ns));
}

static void report_back(struct doctor *doc, const struct diag_channel *c)
{
	char back[TIMEFMT_LEN], at[TIMEFMT_LEN];

	doctor_problem(doc, "the clock of a stream of channel %s (%s of %s) went back by %s at %s: what lies "
		       "across that is partial or unknown", c->name, c->domain, c->host,
		       timefmt_duration(back, c->back_ns), timefmt_clock(at, c->back_at_ns));
}

#define SKEW_USUAL_NS 1000	/* synchronised time stamp counters differ by less */
#define PAIRS_USUAL 10
#define PAIRS_USUAL_OF 1000	/* one in so many events */

static void report_reordered(struct doctor *doc)
{
	const uint64_t n = doc->reordered_pairs;
	char most[TIMEFMT_LEN], limit[TIMEFMT_LEN];

	if (doc->reordered_max_ns <= SKEW_USUAL_NS && (n <= PAIRS_USUAL || n <= doc->d->events / PAIRS_USUAL_OF))
		return;
	timefmt_duration(most, doc->reordered_max_ns);
	timefmt_duration(limit, CLOCK_SKEW_NS);
	doctor_problem(doc, "clocks of CPUs differ: %" G_GUINT64_FORMAT " pair%s of events of two CPUs %s stamped in "
		       "the wrong order or equally, by %s at most, and %s put in order; shorter times are uncertain, "
		       "and pairs more than %s apart stay as they are. Record with a clock that all CPUs share: "
		       "/sys/devices/system/clocksource/clocksource0/current_clocksource should be tsc, and dmesg "
		       "should not call it unstable", n, n == 1 ? "" : "s", n == 1 ? "was" : "were", most,
		       n == 1 ? "was" : "were", limit);
}

void doctor_check_clocks(struct doctor *doc)
{
	report_reordered(doc);
	PTR_EACH(const struct diag_channel, c, doc->d->channels)
		if (c->back_ns)
			report_back(doc, c);
	for (guint i = 0; i < doc->clocks->len; i++) {
		const struct doctor_clock *c = doc->clocks->pdata[i];
		if (!c->host)
			doctor_problem(doc, "%s does not say which host recorded it", c->where);
		if (!*c->uuid)
			doctor_problem(doc, "the clock of %s has no uuid: it may differ from that of "
				       "the other traces", c->where);
		/* Comparing each with the first suffices to find a difference. */
		if (i)
			compare_clocks(doc, doc->clocks->pdata[0], c);
	}
}
