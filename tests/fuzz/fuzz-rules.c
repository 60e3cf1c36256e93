/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules of any kind against events that meet them, or nearly: a file of rules is refused with a reason, or installed.
 * Then the spans of the events are the same however these are cut into slices, and merged in whatever order; and no
 * span pairs events of different keys, hosts or texts of stars.
 *
 * Input: choices, one byte each (0 where it ends), that build both by the grammar below. If the first is odd, the rest
 * of the input is the file as it is, and the events are fixed.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzzer.h"
#include "lib/cuts.h"
#include "lib/inspect.h"
#include "lib/report.h"
#include "lib/traces.h"
#include "state/spans/rules.h"
#include "state/store/timeline.h"

#define MOST_RULES 5
#define MOST_EVENTS 24
#define MOST_CUTS 6
#define CPUS 2
#define FILE_BYTES 4096		/* of a file that is not built */

struct choices {
	const uint8_t *at, *end;
};

static unsigned choose(struct choices *c, unsigned n)
{
	return c->at < c->end ? *c->at++ % n : 0;
}

#define PICK(c, array) ((array)[choose(c, G_N_ELEMENTS(array))])
/* The last one is wrong, mostly: few files have it. */
#define PICK_RIGHT(c, array) ((array)[choose(c, G_N_ELEMENTS(array) - (choose(c, 32) < 31))])

/* ---- what is known of both, to judge the spans ---- */

/* What the star of both events matched is the same: all behind "my:", or before the last '_'. */
enum star { NO_STAR, STAR_ALL, STAR_HEAD };

/* What a rule demands of an end; by its number. */
struct demand {
	bool same_k, same_s, same_thread, whole;
	enum star star;
};

struct event {
	int64_t ts;
	unsigned host;
	char name[32];
	int k, thread;		/* -1: it has none */
	char s[16];		/* "": it has none */
};

struct input {
	GString *rules, *script;
	struct demand demands[MOST_RULES];
	unsigned n_planned, n_rules, n_events;
	struct event events[MOST_EVENTS];
	bool has_kernel;	/* threads are what the kernel says; there is one host */
	unsigned on[CPUS];	/* the tasks that run; 0: idle */
	unsigned in_call;	/* bits: the tasks that are in a call */
};

/* ---- the grammar of rules ---- */

static const struct { const char *begin, *end; enum star star; } pairs[] = {
	{ "my:a", "my:b", NO_STAR }, { "my:*_entry", "my:${1}_exit", STAR_HEAD },
	{ "my:*_entry", "my:*_exit", NO_STAR }, { "my:a", "my:a", STAR_ALL }, { "my:*", "my:b", NO_STAR },
	{ "*", "*", NO_STAR }, { "my:*", "my:${1}", STAR_ALL }, { "*:*_*", "*:${2}_*", NO_STAR },
	{ "syscall_entry_*", "syscall_exit_${1}", NO_STAR },
	{ "my:a", "nothing:*", NO_STAR }, { "sched_switch", "my:b", NO_STAR }, { "my:*a*", "my:*b*", NO_STAR },
};

static const struct { const char *line; struct demand demand; } keys[] = {
	{ "", { .same_thread = true } }, { "key=k\n", { .same_k = true } },
	{ "key=k, thread\n", { .same_k = true, .same_thread = true } }, { "key=s\n", { .same_s = true } },
	{ "key=s, k\n", { .same_s = true, .same_k = true } }, { "key=host\n", { 0 } }, { "key=cpu\n", { 0 } },
	{ "begin_key=k\nend_key=k|s\n", { 0 } }, { "begin_key=k\nend_key=k\n", { .same_k = true } },
	{ "key=ctx.vpid\n", { 0 } }, { "key=a[0]\n", { 0 } }, { "key=event\n", { 0 } },
	{ "begin_key=next_tid\nend_key=ctx.vtid\n", { 0 } }, { "begin_key=k, s\nend_key=k\n", { 0 } },
};

static const char *const conditions[] = {
	"", "", "", "k > 1", "k == 2 || s =~ a", "s != x", "!(k == 1)", "ctx.vtid == 7", "event =~ entry",
	"missing == 1", "cpu == 0", "a[0] == 1 && k", "s =~ [",
};

static const char *const fields[] = {
	"k", "s", "event", "cpu", "ctx.vtid", "missing", "s|k", "k", "s", "a[0]", "payload.event", "missing|s",
	"ctx.procname", "1",
};

static void add_condition(struct choices *c, GString *to, const char *key)
{
	const char *text = PICK_RIGHT(c, conditions);
	if (*text)
		g_string_append_printf(to, "%s=%s\n", key, text);
}

static void add_note(struct choices *c, struct input *in)
{
	static const char *const scales[] = {
		"", "severity=k\nscale=python\n", "severity=s\nscale=lttng\n", "severity=k\n",
	};
	static const char *const events[] = { "my:log", "my:*", "*", "syscall_*" };
	const char *event = PICK(c, events), *scale = PICK(c, scales);
	g_string_append_printf(in->rules, "[annotation n%u]\nevent=%s\n%s", in->n_rules, event, scale);
	add_condition(c, in->rules, "if");
	if (choose(c, 2))
		g_string_append_printf(in->rules, "text=x ${%s} y\n", PICK_RIGHT(c, fields));
	if (choose(c, 3) == 1)
		g_string_append_printf(in->rules, "tags=%s\n", PICK_RIGHT(c, fields));
}

/* The span's service begins with the rule's number, by which check_spans() knows it. */
static void add_span(struct choices *c, struct input *in)
{
	unsigned number = in->n_rules, pair = choose(c, G_N_ELEMENTS(pairs));
	unsigned key = choose(c, G_N_ELEMENTS(keys) - (choose(c, 32) < 31));
	struct demand *d = &in->demands[number];
	*d = keys[key].demand;
	d->star = pairs[pair].star;
	g_string_append_printf(in->rules, "[r%u]\nbegin=%s\nend=%s\nservice=%u\n%s", number, pairs[pair].begin,
			       pairs[pair].end, number, keys[key].line);
	add_condition(c, in->rules, "begin_if");
	add_condition(c, in->rules, "end_if");
	add_condition(c, in->rules, "error_if");
	if (choose(c, 2))
		g_string_append_printf(in->rules, "name=n ${%s}\n", PICK_RIGHT(c, fields));
	switch (choose(c, 10)) {
	case 1:
	case 2:
		g_string_append(in->rules, "parent=thread\n");
		break;
	case 3:
		g_string_append_printf(in->rules, "parent=r%u\n", choose(c, in->n_planned));
		break;
	case 4:
		g_string_append_printf(in->rules, "parent=r%u\nparent_key=k\n", choose(c, in->n_planned));
		break;
	case 5:
	case 6:
		g_string_append(in->rules, "parent=link\nlink_in=m(k)\n");
		break;
	}
	static const char *const ways[] = { "", "nested=yes\n", "async=yes\n", "nested=yes\nasync=yes\n" };
	g_string_append(in->rules, PICK(c, ways));
	if (choose(c, 3) == 1)
		g_string_append_printf(in->rules, "tags=%s, k\n", PICK_RIGHT(c, fields));
	static const char *const more[] = {
		"", "", "every=12\n", "every=${k}0\n", "end_link_in=m(k)\n", "link_out=m(k)\nevery=5\n", "end_link_out=m(k)\n",
	};
	g_string_append(in->rules, PICK(c, more));
}

/* One event is the whole span. */
static void add_whole(struct choices *c, struct input *in)
{
	static const char *const events[] = { "my:a", "my:*_exit", "my:*", "*:log", "syscall_exit_read" };
	static const char *const units[] = { "", "unit=us\n", "unit=ms\n", "unit=s\n" };
	unsigned number = in->n_rules;
	in->demands[number].whole = true;
	unsigned duration = choose(c, 4);
	g_string_append_printf(in->rules, "[r%u]\nend=%s\nduration=%s\nservice=%u\n", number, PICK(c, events),
			       duration == 3 ? "ctx.vtid" : duration == 2 ? "0" : "k", number);
	if (duration != 2)
		g_string_append(in->rules, PICK(c, units));
	if (choose(c, 3) == 1)
		g_string_append(in->rules, choose(c, 2) ? "end_link_out=m(k)\n" : "end_link_in=m(${k}, k)\n");
	add_condition(c, in->rules, "end_if");
	if (choose(c, 2))
		g_string_append(in->rules, "parent=thread\n");
	if (choose(c, 3) == 1)
		g_string_append(in->rules, "tags=k\n");
}

static void build_rules(struct choices *c, struct input *in)
{
	for (in->n_planned = 1 + choose(c, MOST_RULES); in->n_rules < in->n_planned; in->n_rules++)
		if (choose(c, 4) == 3)
			add_note(c, in);
		else if (choose(c, 4) == 3)
			add_whole(c, in);
		else
			add_span(c, in);
}

/* ---- events ---- */

static void add_text(struct choices *c, GString *to, struct event *e)
{
	static const char *const texts[] = { "a", "x", "error", "7", "${k}", "", "*", "TRACE_ERR" };
	unsigned n = choose(c, 12);
	if (n < G_N_ELEMENTS(texts)) {
		g_string_append_printf(to, " s=\"%s\"", texts[n]);
		g_strlcpy(e->s, *texts[n] ? texts[n] : "(empty)", sizeof e->s);
		return;
	}
	unsigned byte = choose(c, 256), times = n == 11 ? 3000 : n - 7;
	g_string_append(to, " s=\"");
	for (unsigned i = 0; i < times; i++)
		g_string_append_printf(to, "\\x%02x", byte);
	g_string_append_c(to, '"');
	snprintf(e->s, sizeof e->s, "%u x %u", times, byte);
}

/* A program's events are not within its system calls. */
static void leave_call(struct input *in, int64_t ts, unsigned cpu)
{
	if (!(in->in_call & 1u << in->on[cpu]))
		return;
	g_string_append_printf(in->script, "%" G_GINT64_FORMAT " %u syscall_exit_read ctx.tid=%u fd=3 count=8 ret=8\n", ts,
			       cpu, in->on[cpu]);
	in->in_call ^= 1u << in->on[cpu];
}

static void add_user_event(struct choices *c, struct input *in, struct event *e)
{
	static const char *const names[] = {
		"my:a", "my:b", "my:f_entry", "my:f_exit", "my:g_entry", "my:g_exit", "my:log", "other:f_entry",
		"my:a_b",
	};
	static const char *const hosts[] = { "", "@h2" };
	g_strlcpy(e->name, PICK(c, names), sizeof e->name);
	e->host = choose(c, 8) == 7 && !in->has_kernel;
	unsigned cpu = choose(c, CPUS);
	if (in->has_kernel)
		leave_call(in, e->ts, cpu);
	g_string_append_printf(in->script, "%" G_GINT64_FORMAT " %u u%s:%s", e->ts, cpu, hosts[e->host], e->name);
	e->k = (int)choose(c, 5) - 1;
	if (e->k >= 0)
		g_string_append_printf(in->script, " k=%d", e->k);
	if (choose(c, 2))
		add_text(c, in->script, e);
	if (choose(c, 8) == 1)
		g_string_append_printf(in->script, " a[0]=%u a[1]=2", choose(c, 3));
	e->thread = choose(c, 8) == 7 ? -1 : (int)(7 + choose(c, 3));
	if (in->has_kernel)
		e->thread = in->on[cpu] ? (int)in->on[cpu] : -1;
	if (e->thread >= 0)
		g_string_append_printf(in->script, " ctx.vtid=%d ctx.vpid=%d", e->thread, e->thread == 9 ? 9 : 7);
	if (choose(c, 4) == 1)
		g_string_append(in->script, " ctx.procname=\"p\"");
	g_string_append_c(in->script, '\n');
}

/* A CPU goes on with another task, or its task makes a call; or events are lost. It is what a kernel can do: of other
 * orders, cuts may make other things. */
static void add_kernel_event(struct choices *c, struct input *in, struct event *e)
{
	unsigned cpu = choose(c, CPUS), other = in->on[(cpu + 1) % CPUS], kind = choose(c, 4), *on = &in->on[cpu];
	g_string_append_printf(in->script, "%" G_GINT64_FORMAT " %u ", e->ts, cpu);
	if (kind == 3) {
		g_string_append_printf(in->script, "!lost begin=%" G_GINT64_FORMAT " end=%" G_GINT64_FORMAT
				       " events=3\n", e->ts - 2, e->ts);
	} else if (kind && *on) {
		g_string_append_printf(in->script, "syscall_%s_read ctx.tid=%u fd=3 count=8 ret=8\n",
				       in->in_call & 1u << *on ? "exit" : "entry", *on);
		in->in_call ^= 1u << *on;
	} else {
		unsigned next = choose(c, 4) + 6;
		next = next == 6 || next == other || next == *on ? 0 : next;
		next = next || *on ? next : other == 9 ? 8 : 9;
		g_string_append_printf(in->script, "sched_switch prev_tid=%u prev_state=%u next_tid=%u "
				       "prev_comm=\"p\" next_comm=\"q\"\n", *on, choose(c, 2), next);
		*on = next;
	}
}

static void build_events(struct choices *c, struct input *in)
{
	int64_t ts = 1000;
	in->has_kernel = choose(c, 2);
	for (unsigned n = 2 + choose(c, MOST_EVENTS - 1); in->n_events < n;) {
		struct event *e = &in->events[in->n_events++];
		bool in_kernel = in->has_kernel && choose(c, 3) == 2;
		/* At most one loss is open at an instant: see cuts_slice(). */
		ts += (int64_t)(choose(c, 4) + in_kernel) * (choose(c, 16) == 15 ? 400000000 : 5);
		*e = (struct event){ .ts = ts, .k = -1, .thread = -1 };
		if (in_kernel)
			add_kernel_event(c, in, e);
		else
			add_user_event(c, in, e);
	}
}

static const char fixed_events[] =
	"10 0 u:my:a k=1 s=\"x\" ctx.vtid=7 ctx.vpid=7\n20 0 syscall_entry_read ctx.tid=7 fd=3 count=8\n"
	"30 0 u:my:f_entry k=2 ctx.vtid=7 ctx.vpid=7\n40 0 u:my:f_exit k=2 ctx.vtid=7 ctx.vpid=7\n"
	"50 0 syscall_exit_read ctx.tid=7 ret=8\n60 0 u:my:b k=1 s=\"x\" ctx.vtid=7 ctx.vpid=7\n";

/* ---- the spans ---- */

/* Did the pattern's star match the same texts? With a tail it did before the last '_'. */
static bool same_star(enum star star, const char *one, const char *two)
{
	const char *a = strrchr(one, '_'), *b = strrchr(two, '_');
	if (star != STAR_HEAD)
		return star == NO_STAR || !strcmp(one, two);
	return a && b && a - one == b - two && !memcmp(one, two, (size_t)(a - one));
}

static bool may_pair(const struct input *in, const struct demand *d, const struct event *a, const struct event *b)
{
	if (d->same_k && (a->k < 0 || a->k != b->k))
		return false;
	if (d->same_s && (!*a->s || strcmp(a->s, b->s) != 0))
		return false;
	if (d->same_thread && !in->has_kernel && *a->name && *b->name && (a->thread < 0 || a->thread != b->thread))
		return false;
	return a->host == b->host && same_star(d->star, a->name, b->name);
}

static bool is_proved(const struct input *in, const struct span *s)
{
	unsigned rule = (unsigned)g_ascii_strtoull(s->service, NULL, 10);
	g_assert_cmpuint(rule, <, in->n_rules);
	for (unsigned i = 0; i < in->n_events; i++)
		if (in->demands[rule].whole && in->events[i].ts == s->end_ns)
			return true;
	for (unsigned i = 0; i < in->n_events; i++)
		for (unsigned k = 0; in->events[i].ts == s->begin_ns && k < in->n_events; k++)
			if (in->events[k].ts == s->end_ns &&
			    may_pair(in, &in->demands[rule], &in->events[i], &in->events[k]))
				return true;
	return false;
}

static void fail(const struct input *in, const char *what)
{
	fprintf(stderr, "%s\n%s---- events\n%s", what, in->rules->str, in->script->str);
	abort();
}

static void check_spans(const struct input *in, struct slice *s)
{
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	size_t most = 2 * (size_t)in->n_rules * (in->n_events + 1);
	if (in->n_events && timeline_n_spans(tl) > most)
		fail(in, "there are more spans than events");
	for (size_t i = 0; in->n_events && i < timeline_n_spans(tl); i++) {
		const struct span *span = timeline_span(tl, i);
		if (span->state == SPAN_COMPLETE && !is_proved(in, span)) {
			fprintf(stderr, "[%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "] of rule %s, %s: ", span->begin_ns,
				span->end_ns, span->service, span->name);
			fail(in, "a span pairs events that do not belong together");
		}
	}
	for (size_t i = 0; i < rules_n_installed(); i++)
		g_free(rules_missing_text(i, tl));
	timeline_free(tl);
}

static void fail_unequal(const struct input *in, const char *whole, const char *got)
{
	g_auto(GStrv) a = g_strsplit(whole, "\n", -1);
	g_auto(GStrv) b = g_strsplit(got, "\n", -1);
	unsigned i = 0;
	while (a[i] && b[i] && !strcmp(a[i], b[i]))
		i++;
	fprintf(stderr, "whole: %s\ncut:   %s\n", a[i] ? a[i] : "(ends)", b[i] ? b[i] : "(ends)");
	fail(in, "cuts change the report");
}

/* Cut at some instants, merged in some order. */
static struct slice *pieces(struct choices *c, const struct recording *r)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	size_t n = recording_n(r), from = 0;
	unsigned bits = choose(c, 256) | choose(c, 256) << 8 | choose(c, 256) << 16, n_cuts = 0;
	for (size_t at = 1; at < n && n_cuts < MOST_CUTS; at++)
		if (bits >> at % 24 & 1 && recording_event(r, at)->ts != recording_event(r, at - 1)->ts) {
			g_ptr_array_add(all, cuts_slice(r, from, at, false));
			from = at;
			n_cuts++;
		}
	g_ptr_array_add(all, cuts_slice(r, from, n, false));
	while (all->len > 1) {
		unsigned i = choose(c, all->len - 1);
		all->pdata[i] = slice_stitch(all->pdata[i], all->pdata[i + 1]);
		g_ptr_array_remove_index(all, i + 1);
	}
	return slice_root(all->pdata[0]);
}

/* ---- the target ---- */

static unsigned n_inputs, n_refused, n_reports;

static void print_counts(void)
{
	fprintf(stderr, "%u inputs: %u files refused, %u sets of spans compared\n", n_inputs, n_refused, n_reports);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	atexit(print_counts);
	return 0;
}

static bool install(const GString *text)
{
	g_autoptr(GError) error = NULL;
	struct rules *rules = rules_new();
	bool read = rules_parse(rules, "rules", text->str, text->len, false, &error) && rules_check(rules, &error);
	if (!read)
		rules_free(rules);
	bool installed = read && rules_install(rules, &error);
	g_assert_true(installed == !error);
	g_assert_true(installed || strlen(error->message) > 10);
	g_assert_true(installed || g_str_has_prefix(error->message, "rules:"));
	return installed;
}

static void check(struct choices *c, const struct input *in)
{
	struct recording *r = traces_record_script(in->script->str);
	check_spans(in, cuts_slice(r, 0, recording_n(r), true));
	g_autofree char *whole = report_of_slice(cuts_slice(r, 0, recording_n(r), true));
	g_autofree char *got = report_of_slice(pieces(c, r));
	if (strcmp(whole, got) != 0)
		fail_unequal(in, whole, got);
	recording_free(r);
	n_reports++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choices c = { data, data + size };
	g_autoptr(GString) rules = g_string_new(NULL), script = g_string_new(NULL);
	struct input in = { .rules = rules, .script = script };
	if (choose(&c, 2)) {
		g_string_append_len(rules, (const char *)c.at, MIN(c.end - c.at, FILE_BYTES));
		g_string_append(script, fixed_events);
	} else {
		build_rules(&c, &in);
		build_events(&c, &in);
	}
	n_inputs++;
	if (install(rules))
		check(&c, &in);
	else
		n_refused++;
	rules_install(NULL, NULL);
	return 0;
}
