/* SPDX-License-Identifier: GPL-2.0-only */
/* Plans what a session of this machine records: see plan.h. */
#include "live/session/plan.h"

#include "base/call_event.h"
#include "base/each.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "trace/reader.h"

#include <string.h>

#define SESSION BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION

#define NAME_BYTES 256		/* of an event in liblttng-ctl, with its end */

/* Size of the relay's trace files. They form a ring for each stream; else they would grow without bound. */
#define FILE_BYTES (16u << 20)
#define N_FILES 4
#define LINE 79
/* Measured on two cores at 50,000 events/s: relay and consumer daemons took 0.08 of 7.5 s. */
#define EVENTS_PER_PERCENT 50000

/* The same as in the script of --recipe. */
static const struct plan_buffers {
	const char *channel;
	unsigned subbuf_kib, n_subbufs;
	const char *contexts[4];
} buffers[PLAN_DOMAINS] = {
	[PLAN_KERNEL] = { "kernel", 1024, 16, { "pid", "tid", "procname" } },
	[PLAN_UST] = { "spans", 256, 8, { "vpid", "vtid", "procname" } },
};

const char *const plan_tracer_words[] = { "auto", "lttng", "tracefs", "none", NULL };

enum plan_origin plan_origin(const struct blk_subscription *row)
{
	if (!row->needs || strcmp(row->event, BLK_PROBES) == 0)	/* probes are requested by --kprobe only */
		return PLAN_OLD;
	if (call_event_of(row->event, NULL) != CALL_EVENT_NONE)
		return PLAN_SYSCALL;
	return strchr(row->event, ':') ? PLAN_SPAN : PLAN_TRACEPOINT;
}

/* --- values of options --- */

static const struct plan_counter counters[] = {
	{ "cpu-clock", 0, false }, { "task-clock", 1, false }, { "page-faults", 2, true },
	{ "context-switches", 3, true }, { "cpu-migrations", 4, true }, { "minor-faults", 5, true },
	{ "major-faults", 6, true }, { "alignment-faults", 7, false },
	{ "emulation-faults", 8, false },
};

const struct plan_counter *plan_counter(const char *name, GError **error)
{
	g_autoptr(GString) all = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++) {
		if (g_str_equal(counters[i].name, name))
			return &counters[i];
		g_string_append_printf(all, "%s%s", i ? ", " : "", counters[i].name);
	}
	fail(error, SESSION, "no software counter '%s'; there are %s (hardware counters crash kernels that "
	     "have none)", name, all->str);
	return NULL;
}

int plan_loglevel(const char *name)
{
	static const char *const levels[] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug-system",
		"debug-program", "debug-process", "debug-module", "debug-unit", "debug-function",
		"debug-line", "debug",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++)
		if (g_ascii_strcasecmp(levels[i], name) == 0)
			return (int)i;
	return -1;
}

bool plan_symbol(const char *text, char **ret_symbol, uint64_t *ret_offset, GError **error)
{
	static const char allowed[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.$";
	size_t n = strspn(text, allowed);
	const char *offset = text[n] == '+' ? text + n + 1 : NULL;
	char *end = NULL;

	*ret_symbol = NULL;
	*ret_offset = 0;
	if (n == 0 || n > LIMIT_PROBE_BYTES || g_ascii_isdigit(*text) || (text[n] && !offset))
		return fail(error, SESSION, "'%s' is not a symbol of the kernel, such as vfs_read or vfs_read+0x10",
			    text);
	if (offset) {
		*ret_offset = g_ascii_strtoull(offset, &end, 0);
		if (!g_ascii_isdigit(*offset) || *end)
			return fail(error, SESSION, "'%s' is not an offset after a symbol of the kernel", offset);
	}
	*ret_symbol = g_strndup(text, n);
	return true;
}

bool plan_probe_check(const struct plan_event *probe, uint64_t offset, GError **error)
{
	return offset == probe->offset ||
	       fail(error, SESSION, "cannot probe '%s+0x%" G_GINT64_MODIFIER "x': this session daemon drops the "
		    "offset (lttng-tools 2.13 does); --kprobe %s probes its beginning", probe->symbol,
		    probe->offset, probe->symbol);
}

/* --- events --- */

static void event_free(void *data)
{
	struct plan_event *e = data;
	g_free(e->name);
	g_free(e->symbol);
	g_free(e);
}

static struct plan_event *add_event(struct plan_channel *c, enum plan_kind kind, const char *name)
{
	struct plan_event *e = g_new0(struct plan_event, 1);
	e->kind = kind;
	e->name = g_strdup(name);
	g_ptr_array_add(c->events, e);
	return e;
}

static bool has_event(const struct plan_channel *c, const char *name)
{
	PTR_EACH(const struct plan_event, e, c->events)
		if (g_str_equal(e->name, name))
			return true;
	return false;
}

bool plan_records(const struct plan_channel *c, const char *event)
{
	PTR_EACH(const struct plan_event, e, c->events) {
		size_t n = strlen(e->name);
		bool is_prefix = n && e->name[n - 1] == '*';
		if (e->kind == PLAN_KIND_SYSCALLS && call_event_of(event, NULL) != CALL_EVENT_NONE)
			return true;
		if (e->kind == PLAN_KIND_TRACEPOINT &&
		    (is_prefix ? !strncmp(event, e->name, n - 1) : !strcmp(event, e->name)))
			return true;
	}
	return false;
}

static bool tracer_has(GHashTable *tracepoints, const char *pattern)
{
	size_t n = strlen(pattern);

	if (n == 0 || pattern[n - 1] != '*')
		return g_hash_table_contains(tracepoints, pattern);
	TABLE_EACH(each, tracepoints)
		if (strncmp(each.key, pattern, n - 1) == 0)
			return true;
	return false;
}

/* The tracer silently accepts events that it does not have, so only those that it lists are requested, old names
 * included. If the list is unknown, only current names are requested. */
static bool wants_tracepoint(const struct plan_wish *w, const struct blk_subscription *row)
{
	enum plan_origin origin = plan_origin(row);
	bool dump = g_str_has_prefix(row->event, "lttng_statedump_");

	if (origin == PLAN_SYSCALL || origin == PLAN_SPAN || strchr(row->event, ':'))
		return false;
	if (w->calls_only)	/* only events of the tracked tasks themselves */
		return g_str_has_prefix(row->event, "sched_process_");
	if (dump || !w->tracepoints)
		return origin == PLAN_TRACEPOINT;
	return tracer_has(w->tracepoints, row->event);
}

static void add_kernel(struct plan_channel *c, const struct plan_wish *w)
{
	for (size_t i = 0; i < w->n_rows; i++)
		if (wants_tracepoint(w, &w->rows[i]))
			add_event(c, PLAN_KIND_TRACEPOINT, w->rows[i].event);
	add_event(c, PLAN_KIND_SYSCALLS, "*");
	for (char **text = w->probes; text && *text; text++) {
		g_autofree char *symbol = NULL;
		uint64_t offset;
		if (!plan_symbol(*text, &symbol, &offset, NULL))
			continue;
		g_autofree char *name = offset ? g_strdup_printf("probe_%s_0x%" G_GINT64_MODIFIER "x",
								 symbol, offset) :
			g_strconcat("probe_", symbol, NULL);
		if (has_event(c, name))
			continue;
		struct plan_event *e = add_event(c, PLAN_KIND_KPROBE, name);
		e->symbol = g_steal_pointer(&symbol);
		e->offset = offset;
	}
}

/* "zipkin:*" for "zipkin:timestamp": all events of a provider of spans, older names included. */
static char *provider_of(const char *event)
{
	return g_strdup_printf("%.*s:*", (int)strcspn(event, ":"), event);
}

static void add_programs(struct plan_channel *c, const struct plan_wish *w)
{
	for (size_t i = 0; i < w->n_rows; i++) {
		g_autofree char *name = provider_of(w->rows[i].event);
		if (plan_origin(&w->rows[i]) == PLAN_SPAN && !has_event(c, name))
			add_event(c, PLAN_KIND_TRACEPOINT, name);
	}
	for (char **name = w->programs; name && *name; name++)
		if (!has_event(c, *name))
			add_event(c, PLAN_KIND_TRACEPOINT, *name);
	for (char **name = w->presets; name && *name; name++)
		if (!has_event(c, *name))
			add_event(c, PLAN_KIND_TRACEPOINT, *name)->of_preset = true;
	/* the other user-space rows are function entries and exits: many events, so only on request */
	for (size_t i = 0; i < w->n_rows && w->functions; i++) {
		g_autofree char *provider = provider_of(w->rows[i].event);
		if (strchr(w->rows[i].event, ':') && !has_event(c, provider))
			add_event(c, PLAN_KIND_TRACEPOINT, w->rows[i].event);
	}
}

bool plan_tracepoint_check(const char *pattern, GError **error)
{
	const char *colon = strchr(pattern, ':');
	bool good = colon && colon > pattern && colon[1] && strlen(pattern) < NAME_BYTES;

	for (const char *c = pattern; *c; c++)
		good = good && (g_ascii_isalnum(*c) || strchr("_-.:*", *c));
	if (!good)
		g_set_error(error, g_quark_from_static_string("blk-plan"), 0, "'%s' is no tracepoint of programs "
			    "(PROVIDER:NAME, PROVIDER:*)", pattern);
	return good;
}

static void channel_init(struct plan_channel *c, enum plan_domain domain)
{
	const struct plan_buffers *b = &buffers[domain];
	c->name = b->channel;
	c->subbuf_bytes = (uint64_t)b->subbuf_kib << 10;
	c->n_subbufs = b->n_subbufs;
	c->contexts = b->contexts;
	c->n_contexts = g_strv_length((char **)b->contexts);
	c->events = g_ptr_array_new_with_free_func(event_free);
}

/* --- the plan --- */

struct plan *plan_new(const struct plan_wish *w)
{
	struct plan *p = g_new0(struct plan, 1);
	struct plan_channel *kernel = &p->channel[PLAN_KERNEL], *ust = &p->channel[PLAN_UST];

	p->session = g_strdup(w->session);
	p->timer_us = w->timer_us;
	p->file_bytes = FILE_BYTES;
	p->n_files = N_FILES;
	p->loglevel = w->loglevel;
	channel_init(kernel, PLAN_KERNEL);
	channel_init(ust, PLAN_UST);
	if (w->kernel_buffer)
		kernel->subbuf_bytes = w->kernel_buffer / kernel->n_subbufs;
	kernel->used = w->kernel && !w->spans_only;
	kernel->by_tracefs = kernel->used && w->by_tracefs;
	kernel->known = g_strdup(w->known);
	kernel->unknown = g_strdup(w->unknown);
	if (kernel->used)
		add_kernel(kernel, w);
	else
		kernel->why_not = g_strdup(w->spans_only ? "not traced (--spans-only)" : w->no_kernel);
	ust->used = !w->no_programs;
	if (ust->used)
		add_programs(ust, w);
	else
		ust->why_not = g_strdup(w->no_programs);
	for (char **name = w->counters; name && *name; name++) {
		const struct plan_counter *c = plan_counter(*name, NULL);
		if (c && p->n_counters < G_N_ELEMENTS(p->counters))
			p->counters[p->n_counters++] = c;
	}
	return p;
}

struct plan *plan_new_snapshot(const struct plan_wish *w, const char *session)
{
	struct plan_wish own = *w;
	own.session = session;
	own.timer_us = 0;
	struct plan *p = plan_new(&own);
	p->file_bytes = 0;
	p->n_files = 0;
	return p;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (int i = 0; i < PLAN_DOMAINS; i++) {
		g_ptr_array_unref(p->channel[i].events);
		g_free(p->channel[i].why_not);
		g_free(p->channel[i].known);
		g_free(p->channel[i].unknown);
	}
	g_free(p->session);
	g_free(p);
}

/* --- description for the user --- */

unsigned plan_count(const struct plan_channel *c, enum plan_kind kind)
{
	unsigned n = 0;
	for (guint i = 0; i < c->events->len; i++)
		n += ((const struct plan_event *)c->events->pdata[i])->kind == kind;
	return n;
}

uint64_t plan_memory(const struct plan *p, unsigned n_cpus)
{
	uint64_t sum = 0;
	for (int i = 0; i < PLAN_DOMAINS; i++)
		if (p->channel[i].used)
			sum += p->channel[i].subbuf_bytes * p->channel[i].n_subbufs * n_cpus;
	return sum;
}

uint64_t plan_disk(const struct plan *p, unsigned n_cpus)
{
	unsigned used = 0;
	for (int i = 0; i < PLAN_DOMAINS; i++)
		used += plan_is_lttng(&p->channel[i]);
	return p->file_bytes * p->n_files * n_cpus * used;
}

void plan_line(GString *s, const char *title, const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	unsigned used = LINE;		/* no room: the first word begins a line */

	for (char **word = words; *word; word++) {
		unsigned width = text_width(*word);
		if (used + 1 + width > LINE) {
			g_string_append_printf(s, "%s  %-9s", word == words ? "" : "\n",
					       word == words ? title : "");
			used = 11;
		}
		g_string_append_printf(s, " %s", *word);
		used += 1 + width;
	}
	g_string_append_c(s, '\n');
}

static void describe_events(GString *s, const struct plan_channel *c)
{
	unsigned points = plan_count(c, PLAN_KIND_TRACEPOINT), probes = plan_count(c, PLAN_KIND_KPROBE);
	g_autoptr(GString) names = g_string_new(NULL);

	if (plan_count(c, PLAN_KIND_SYSCALLS))
		g_string_append_printf(s, "all system calls, %u tracepoints", points);
	unsigned n_of_presets = 0;
	PTR_EACH(const struct plan_event, e, c->events) {
		n_of_presets += e->of_preset;
		if (!e->of_preset && (e->kind == PLAN_KIND_KPROBE || !plan_count(c, PLAN_KIND_SYSCALLS)))
			g_string_append_printf(names, "%s%s", names->len ? " " : "", e->name);
	}
	if (n_of_presets)
		g_string_append_printf(names, ", %u patterns of presets (--list-presets)", n_of_presets);
	if (probes)
		g_string_append(s, ", ");
	g_string_append(s, names->str);
}

/* Measured on Linux 6.18: what a recorded event costs the traced thread. */
#define TRACEFS_COST "each event takes 0.25 to 0.5 us of the traced thread"

static void describe_tracefs(GString *s, const struct plan_channel *c, unsigned n_cpus)
{
	char size[TIMEFMT_LEN], all[TIMEFMT_LEN];
	g_autoptr(GString) events = g_string_new("by its own ring buffer (tracefs), without modules: ");
	describe_events(events, c);
	plan_line(s, "kernel", events->str);
	g_autofree char *buffers_text = g_strdup_printf("%s for each of %u CPUs: %s; " TRACEFS_COST,
		timefmt_bytes(size, c->subbuf_bytes * c->n_subbufs), n_cpus,
		timefmt_bytes(all, c->subbuf_bytes * c->n_subbufs * n_cpus));
	plan_line(s, "", buffers_text);
	if (c->known)
		plan_line(s, "", c->known);
	g_autofree char *unknown = g_strdup_printf("not known: %s%scounters of --perf", c->unknown ? c->unknown : "",
						   c->unknown ? ", " : "");
	plan_line(s, "", unknown);
}

static void describe_channel(GString *s, const struct plan *p, enum plan_domain domain,
			     unsigned n_cpus)
{
	static const char *const title[] = { "kernel", "programs" };
	const struct plan_channel *c = &p->channel[domain];
	char size[TIMEFMT_LEN], all[TIMEFMT_LEN];

	if (!c->used) {
		plan_line(s, title[domain], c->why_not ? c->why_not : "not traced");
		return;
	}
	if (c->by_tracefs) {
		describe_tracefs(s, c, n_cpus);
		return;
	}
	g_autoptr(GString) events = g_string_new(NULL), contexts = g_string_new("contexts");
	describe_events(events, c);
	if (domain == PLAN_UST && p->loglevel >= 0)
		g_string_append_printf(events, ", log levels 0 to %d", p->loglevel);
	plan_line(s, title[domain], events->str);
	for (unsigned i = 0; i < c->n_contexts; i++)
		g_string_append_printf(contexts, " %s", c->contexts[i]);
	for (unsigned i = 0; i < p->n_counters; i++)
		if (domain == PLAN_KERNEL || p->counters[i]->thread)
			g_string_append_printf(contexts, " perf:%s:%s",
					       domain == PLAN_KERNEL ? "cpu" : "thread",
					       p->counters[i]->name);
	plan_line(s, "", contexts->str);
	g_autofree char *buffers_text = g_strdup_printf("channel %s: %" G_GUINT64_FORMAT " sub-buffers of "
		"%s for each of %u CPUs%s: %s", c->name, c->n_subbufs,
		timefmt_bytes(size, c->subbuf_bytes), n_cpus, domain == PLAN_UST ? " and each user" : "",
		timefmt_bytes(all, c->subbuf_bytes * c->n_subbufs * n_cpus));
	plan_line(s, "", buffers_text);
}

/* What the screen cannot show if none of the events is recorded. */
static const struct {
	const char *events[2];
	const char *what;
} unseen[] = {
	{ { "sched_switch" }, "which thread ran on a CPU and how long threads waited" },
	{ { "sched_waking", "sched_wakeup" }, "which thread ended a wait" },
	{ { "*" }, "system calls with their files and sockets" },
	{ { "block_rq_issue" }, "disks" },
	{ { "irq_handler_entry" }, "interrupts" },
};

static bool records_any(const struct plan_channel *c, const char *const events[2])
{
	for (int i = 0; i < 2 && c->used && events[i]; i++)
		if (has_event(c, events[i]))
			return true;
	return false;
}

static void describe_unseen(GString *s, const struct plan *p)
{
	const struct plan_channel *kernel = &p->channel[PLAN_KERNEL];
	g_autoptr(GString) all = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(unseen); i++)
		if (!records_any(kernel, unseen[i].events))
			g_string_append_printf(all, "%s%s", all->len ? "; " : "", unseen[i].what);
	if (!records_any(kernel, unseen[0].events))
		g_string_append(all, "; so a request shows how long it took, not why");
	if (all->len)
		plan_line(s, "not seen", all->str);
}

char *plan_describe(const struct plan *p, unsigned n_cpus)
{
	GString *s = g_string_new(NULL);
	char timer[TIMEFMT_LEN], memory[TIMEFMT_LEN], disk[TIMEFMT_LEN];
	g_autofree char *session = g_strdup_printf("%s, live timer %s", p->session,
		timefmt_step(timer, (int64_t)p->timer_us * NS_PER_US));
	g_autofree char *cost = g_strdup_printf("%s of memory, %s of disk at most (rings of %u files); "
		"about 1 %% of a CPU for %u events a second",
		timefmt_bytes(memory, plan_memory(p, n_cpus)), timefmt_bytes(disk, plan_disk(p, n_cpus)),
		p->n_files, EVENTS_PER_PERCENT);

	plan_line(s, "session", session);
	for (int i = 0; i < PLAN_DOMAINS; i++)
		describe_channel(s, p, i, n_cpus);
	describe_unseen(s, p);
	plan_line(s, "cost", cost);
	return g_string_free(s, FALSE);
}
