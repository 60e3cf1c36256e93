/* SPDX-License-Identifier: GPL-2.0-only */
/* Advice: which questions have an answer, and what is wrong with clocks, contexts and the state dump. See
 * doctor_private.h. */
#include "cmd/doctor/doctor_private.h"

#include "base/call_event.h"
#include "base/each.h"
#include "base/text.h"
#include "state/publish/model.h"
#include "state/spans/presets.h"
#include "views/registry.h"
#include "views/repairs.h"

#include <string.h>

/* --- what is there --- */

static int64_t count_syscalls(const struct doctor *doc)
{
	int64_t n = -1;

	TABLE_EACH(each, doc->counts)
		if (call_event_of(each.key, NULL) == CALL_EVENT_ENTRY)
			n = MAX(n, 0) + (int64_t)*(uint64_t *)each.value;
	return n;
}

int64_t doctor_count(const struct doctor *doc, const char *names)
{
	g_auto(GStrv) each = g_strsplit(names, "|", -1);
	int64_t n = -1;
	for (char **name = each; *name; name++) {
		const uint64_t *count = g_hash_table_lookup(doc->counts, *name);
		int64_t more = strcmp(*name, NEED_SYSCALLS) == 0 ? count_syscalls(doc) : count ? (int64_t)*count : -1;
		if (more >= 0)
			n = MAX(n, 0) + more;
	}
	return n;
}

/* "ust.vtid": do all channels of the domain that had events have it? */
static bool has_context(const struct doctor *doc, const char *need)
{
	const char *dot = strchr(need, '.');

	PTR_EACH(const struct diag_channel, c, doc->d->channels) {
		if (strncmp(c->domain, need, (size_t)(dot - need)) != 0 || !c->contexts)
			continue;
		g_auto(GStrv) words = g_strsplit(c->contexts, " ", -1);
		if (!g_strv_contains((const char *const *)words, dot + 1))
			return false;
	}
	return true;
}

/* Events of the state dump are in the metadata of every kernel trace that enables them; here it must also have been
 * taken. */
static bool is_there(const struct doctor *doc, const char *need)
{
	if (repair_is_context(need))
		return has_context(doc, need);
	if (strcmp(need, NEED_CALLERS) == 0)
		return doctor_count(doc, "sched_switch") >= 0 || has_context(doc, "kernel.tid") ||
		       has_context(doc, "kernel.vtid");
	if (strcmp(need, NEED_LATENCY_CALLERS) == 0)
		return is_there(doc, NEED_SPANS) || is_there(doc, NEED_CALLERS);
	if (g_str_has_prefix(need, NEED_SPANS) && doctor_has_spans(doc))
		return true;
	if (g_str_has_prefix(need, "zipkin:keyval") && doctor_count(doc, NEED_SPANS) < 0)
		return true;		/* BlkKin's tags belong to BlkKin's spans */
	int64_t n = doctor_count(doc, need);
	return g_str_has_prefix(need, "lttng_statedump_") ? n > 0 : n >= 0;
}

/* --- questions --- */

static struct diag_question *answer(struct doctor *doc, const struct question *q)
{
	struct diag_question *a = g_new0(struct diag_question, 1);
	a->question = q;
	a->missing = g_ptr_array_new_with_free_func(g_free);
	for (size_t i = 0; q->needs[i]; i++) {
		if (is_there(doc, q->needs[i]))
			continue;
		a->answer = ANSWER_NO;
		if (!question_is_on_request(q))	/* those are listed one by one in the wants */
			g_ptr_array_add(a->missing, repair_words(q->needs[i]));
	}
	for (size_t i = 0; q->wants[i].need; i++) {
		if (is_there(doc, q->wants[i].need))
			continue;
		g_autofree char *name = repair_words(q->wants[i].need);
		a->answer = a->answer == ANSWER_NO ? ANSWER_NO : ANSWER_PARTLY;
		g_ptr_array_add(a->missing, g_strdup_printf("%s: %s", name, q->wants[i].unknown));
	}
	g_ptr_array_add(doc->d->questions, a);
	return a;
}

/* --- repairs of what is missing --- */

static GPtrArray *command(char *text)
{
	GPtrArray *commands = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(commands, text);
	return commands;
}

/* Cost of what is not an event of its own, such as contexts. NULL: it is an event. */
static char *special_cost(const struct doctor *doc, const char *need, const struct diag_channel *c,
			  double *ret_events_per_s)
{
	*ret_events_per_s = -1;
	if (strcmp(need, NEED_PROBES) == 0)
		return g_strdup("one for each call of these functions, with a trap into the kernel");
	if (strcmp(need, NEED_FAULTS) == 0)
		return g_strdup("one for each page that is used first, most of them when programs start");
	if (strcmp(need, NEED_PERF) != 0 && strcmp(need, NEED_CALLERS) != 0)
		return NULL;
	bool caller = strcmp(need, NEED_CALLERS) == 0;
	double rate = c ? diag_rate(doc->d, (caller ? sizeof(int32_t) : 3 * sizeof(uint64_t)) * c->events) : -1;
	*ret_events_per_s = 0;
	if (caller)
		return g_strdup_printf("no more events, %.1f kB/s; only before the session's first start",
				       MAX(rate, 0) / 1000);
	return g_strdup_printf("no more events, %.1f kB/s, and counters are read at every event; only "
			       "before the session's first start, and if the machine has such "
			       "counters", MAX(rate, 0) / 1000);
}

static void repair_event(struct doctor *doc, const char *need, const char *what)
{
	bool plural = repair_is_plural(need);
	const char *domain = repair_domain(need);
	const struct diag_channel *c = doctor_find_channel(doc, domain);
	g_autofree char *name = repair_words(need);
	g_autofree char *where = doctor_where(doc, domain, c);
	double rate;

	if (doc->other_tracer && strcmp(domain, "kernel") == 0) {
		if (!repair_is_plural(need) || strcmp(need, NEED_SYSCALLS) == 0)	/* else not by tracefs */
			g_ptr_array_add(doc->by_record, g_strdup_printf(what ? "%s (%s)" : "%s", name, what));
		return;
	}
	char *why = special_cost(doc, need, c, &rate);
	if (!why)
		rate = doctor_estimate(doc, need, &why);
	char *problem = g_strdup_printf("%s%s%s%s %s", name, what ? " (" : "", what ? what : "",
					what ? ")" : "",
					doc->live ? "did not occur while blktop listened" :
					plural ? "are not recorded" : "is not recorded");
	struct diag_repair *r = doctor_repair(doc, problem, repair_commands(need, where), rate, why);
	r->on_request = repair_is_plural(need) && strcmp(need, NEED_SYSCALLS) != 0 && strcmp(need, NEED_SPANS) != 0;
	if (strcmp(need, NEED_SPANS) == 0)
		g_ptr_array_add(r->commands, g_strdup("blktop --list-presets"));
}

static void repair_statedumps(struct doctor *doc)
{
	const struct diag_channel *c = doctor_find_channel(doc, "kernel");

	if (doc->other_tracer) {
		g_ptr_array_add(doc->by_record, g_strdup("the state dump (names of processes and files from before)"));
		return;
	}
	doctor_repair(doc, g_strdup("the state dump is not in the trace: processes and open files from "
				    "before it have no names"),
		      command(repair_statedump(c && c->session ? c->session : "SESSION")), 0,
		      g_strdup("one burst: some events for each process and open file"));
}

/* Adds " --type vpid" and its bytes if the channel does not have it. */
static void add_type(GString *types, uint64_t *bytes, const struct diag_channel *c,
		     const char *type, unsigned size)
{
	g_auto(GStrv) words = g_strsplit(c->contexts ? c->contexts : "", " ", -1);
	if (g_strv_contains((const char *const *)words, type))
		return;
	g_string_append_printf(types, " --type %s", type);
	*bytes += size * c->events;
}

/* Adds missing contexts to each channel of user space. */
static void repair_contexts(struct doctor *doc)
{
	GPtrArray *commands = g_ptr_array_new_with_free_func(g_free);
	uint64_t bytes = 0;

	PTR_EACH(const struct diag_channel, c, doc->d->channels) {
		g_autoptr(GString) types = g_string_new(NULL);
		g_autofree char *where = doctor_where(doc, "ust", c);
		if (strcmp(c->domain, "ust") != 0)
			continue;
		add_type(types, &bytes, c, "vpid", 4);
		add_type(types, &bytes, c, "vtid", 4);
		add_type(types, &bytes, c, "procname", 17);
		if (types->len)
			g_ptr_array_add(commands, g_strdup_printf("lttng add-context %s%s", where,
								  types->str));
	}
	double rate = diag_rate(doc->d, bytes);
	doctor_repair(doc, g_strdup("events of user space do not say which thread made them; a session "
				    "takes new contexts only before its first start"), commands, 0,
		      rate < 0 ? NULL : g_strdup_printf("no more events, %.1f kB/s", rate / 1000));
}

static void repair_whole_kernel(struct doctor *doc)
{
	GPtrArray *commands = command(g_strdup("blktop --recipe >record.sh"));
	g_ptr_array_add(commands, g_strdup("sh record.sh NEW_SESSION"));
	doctor_repair(doc, g_strdup("no kernel events are recorded; a session takes new channels "
				    "only before its first start"), commands, -1,
		      g_strdup("unknown: no recorded event is about as frequent"));
}

/* Another tracer recorded the kernel: one new recording by blktop has all of it. */
static void repair_by_record(struct doctor *doc)
{
	g_autoptr(GString) text = g_string_new("not recorded: ");

	if (!doc->by_record->len)
		return;
	for (guint i = 0; i < doc->by_record->len; i++)
		g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)doc->by_record->pdata[i]);
	g_string_append_printf(text, ". %s recorded these kernel events; blktop records all of them, without modules",
			       doc->other_tracer);
	doctor_repair(doc, g_strdup(text->str), command(g_strdup(REPAIR_RECORD)), -1,
		      g_strdup("unknown: 0.25 to 0.5 us of the traced thread for each event"));
}

/* The lines of the recipe that are about spans. */
static void repair_whole_ust(struct doctor *doc)
{
	const struct diag_channel spans = { .name = (char *)"spans" };

	if (doc->other_tracer) {	/* without a session of LTTng */
		g_ptr_array_add(doc->by_record, g_strdup("spans of services (zipkin:*, or events of a preset)"));
		return;
	}
	g_autofree char *where = doctor_where(doc, "ust", &spans);
	g_autofree char *session = g_strndup(where, strlen(where) - strlen(" --channel spans"));
	GPtrArray *commands = command(g_strdup_printf(
		"lttng enable-channel %s --buffers-uid --subbuf-size=256K --num-subbuf=8 spans",
		session));
	g_ptr_array_add(commands, g_strdup_printf("lttng add-context %s --type vpid --type vtid "
						  "--type procname", where));
	g_ptr_array_add(commands, g_strdup_printf("lttng enable-event %s 'zipkin:*'", where));
	g_ptr_array_add(commands, g_strdup("blktop --list-presets"));
	doctor_repair(doc, g_strdup("no spans of services are recorded: BlkKin's events (zipkin:*), or those of a "
				    "preset (--recipe=PRESET); a session takes new channels only before its start"),
		      commands, -1, g_strdup("as many as the services emit"));
}

/* Spans of events that are there. */
static void repair_by_rules(struct doctor *doc)
{
	GPtrArray *commands = command(g_strdup_printf("blktop -b --suggest-rules %s%s >suggested.spans",
						      doc->session ? "-n 10 " : "", doc->suggest_from));
	g_ptr_array_add(commands, g_strdup_printf("blktop --spans suggested.spans %s", doc->suggest_from));
	doctor_repair(doc, g_strdup_printf("there are no spans, but %s", doc->suggestion), commands, 0,
		      g_strdup("nothing: the events are there"));
}

static void repair_missing(struct doctor *doc, const char *need, const char *what, GHashTable *done)
{
	g_autofree char *name = repair_words(need);

	/* If the domain has no channel, one repair covers everything. */
	if (doc->suggestion && g_str_has_prefix(need, "zipkin:")) {
		if (g_hash_table_add(done, g_strdup("suggestion")))
			repair_by_rules(doc);
		return;
	}
	if (is_there(doc, need) || !doctor_find_channel(doc, repair_domain(need)))
		return;
	if (repair_is_context(need)) {
		if (g_hash_table_add(done, g_strdup("ust.")))
			repair_contexts(doc);
	} else if (doctor_count(doc, need) == 0) {
		if (g_hash_table_add(done, g_strdup("statedump")))
			repair_statedumps(doc);
	} else if (g_hash_table_add(done, g_steal_pointer(&name))) {
		repair_event(doc, need, what);
	}
}

/* The purpose of an event in the subscription table; NULL: it is not in it. */
static const char *purpose(const char *need)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	g_autofree char *name = repair_words(need);
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].event, name) == 0)
			return rows[i].needs;
	return NULL;
}

/* Events that the model reads beside those of the questions. System calls count as one. */
static void repair_rest(struct doctor *doc, GHashTable *done)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);

	for (size_t i = 0; i < n; i++) {
		const char *event = rows[i].event;
		if (!rows[i].needs || strpbrk(event, "*(") || call_event_of(event, NULL) != CALL_EVENT_NONE)
			continue;
		const char *names = question_names(event);
		g_autofree char *first = repair_words(names);
		if (strcmp(first, event) == 0)
			repair_missing(doc, names, rows[i].needs, done);
	}
}

/* --- presets --- */

static void add_words(GString *text, const char *word)
{
	g_string_append_printf(text, "%s%s", text->len ? ", " : "", word);
}

/* What a preset that is used needs beside its events, and the recording does not have. */
static void check_preset(struct doctor *doc, const struct preset *p)
{
	g_autoptr(GString) missing = g_string_new(NULL);

	PTR_EACH(const char, context, p->contexts) {
		g_autofree char *need = g_strconcat("ust.", context, NULL);
		g_autofree char *words = repair_words(need);
		if (!has_context(doc, need))
			add_words(missing, words);
	}
	if (p->kernel->len && !doctor_find_channel(doc, "kernel"))
		add_words(missing, "events of the kernel");
	else
		PTR_EACH(const char, event, p->kernel) {
			g_autofree char *words = repair_words(event);
			if (doctor_count(doc, event) < 0)
				add_words(missing, words);
		}
	if (!missing->len)
		return;
	GPtrArray *commands = command(g_strdup_printf("blktop --recipe=%s >record.sh", p->name));
	g_ptr_array_add(commands, g_strdup("sh record.sh NEW_SESSION"));
	doctor_repair(doc, g_strdup_printf("for the preset %s (%s), this is not recorded: %s", p->name, p->title,
					   missing->str), commands, -1, g_strdup("it depends on the program"));
}

static void check_presets(struct doctor *doc)
{
	g_autoptr(GPtrArray) events = doctor_events(doc);
	g_autoptr(GPtrArray) used = presets_in_use((const char *const *)events->pdata);

	PTR_EACH(const struct preset, p, used)
		check_preset(doc, p);
}

/* --- the rest of the findings --- */

static void check_trace(struct doctor *doc)
{
	const struct diag_channel *kernel = doctor_find_channel(doc, "kernel");
	const struct diag_channel *ust = doctor_find_channel(doc, "ust");

	if (doc->d->to_ns == TIME_UNKNOWN)
		doctor_problem(doc, doc->live ? "no event came while blktop listened" : "the trace has no events");
	if (kernel && ust && kernel->first_ns != TIME_UNKNOWN && ust->first_ns != TIME_UNKNOWN &&
	    (kernel->last_ns < ust->first_ns || ust->last_ns < kernel->first_ns))
		doctor_problem(doc, "the kernel's and the user-space part do not overlap in time: no span can be "
			       "explained");
	if (kernel && doc->d->to_ns != TIME_UNKNOWN && doctor_count(doc, "lttng_statedump_start") == 0 &&
	    doctor_count(doc, "lttng_statedump_process_state") == 0)
		doctor_problem(doc, "state dump events are enabled, but the trace has none");
}

void doctor_advise(struct doctor *doc)
{
	g_autoptr(GHashTable) done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct diagnosis *d = doc->d;

	PTR_EACH(const struct diag_channel, c, d->channels) {
		if (c->first_ns == TIME_UNKNOWN)
			continue;
		d->from_ns = d->from_ns == TIME_UNKNOWN ? c->first_ns : MIN(d->from_ns, c->first_ns);
		d->to_ns = d->to_ns == TIME_UNKNOWN ? c->last_ns : MAX(d->to_ns, c->last_ns);
	}
	for (guint i = 0; i < d->all_questions->len; i++)
		answer(doc, d->all_questions->pdata[i]);
	doctor_check_clocks(doc);
	check_trace(doc);
	doctor_repair_losses(doc);
	if (!doctor_find_channel(doc, "kernel"))
		repair_whole_kernel(doc);
	if (!doctor_find_channel(doc, "ust"))
		repair_whole_ust(doc);
	PTR_EACH(const struct question, q, d->all_questions) {
		/* For questions on request any one event is enough; each is also in the wants. */
		for (size_t k = 0; q->needs[k] && !question_is_on_request(q); k++)
			repair_missing(doc, q->needs[k], purpose(q->needs[k]), done);
		for (size_t k = 0; q->wants[k].need; k++)
			repair_missing(doc, q->wants[k].need, purpose(q->wants[k].need), done);
	}
	repair_rest(doc, done);
	check_presets(doc);
	repair_by_record(doc);
}
