/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds events that look like the beginnings and ends of spans, and proposes rules (rules.h) for them. Two events
 * belong together by their names (X_entry and X_exit, X_start and X_end, XBegin and XDone, ...); one event does with
 * itself if a field says which it is (phase: "begin", "end").
 *
 * Each pair of events is counted with several keys at once: the thread, and fields that both events have (an address,
 * a number). A field replaces the thread if it pairs more events, or if the thread pairs events whose fields
 * differ. The counts are those of the spans that the proposed rule makes, also around lost events.
 *
 *     struct suggest *g = suggest_new(names);
 *     ... source with suggest_subscriptions(), suggest_feed(g, &source->tables, batch.ev, batch.n) ...
 *     GPtrArray *found = suggest_finish(g);
 *     char *rules = suggest_rules(found);
 *
 * One thread.
 */
#ifndef BLK_STATE_SPANS_SUGGEST_H
#define BLK_STATE_SPANS_SUGGEST_H

#include "trace/event.h"

struct suggestion {
	char *rule;			/* its name, unique among the suggestions */
	char *begin, *end;		/* names of events; equal if a field tells them apart. Or patterns, as in rules,
					 * of pairs by thread whose names are alike */
	char *begin_if, *end_if;	/* conditions; NULL: none */
	char *key;			/* as in rules: "thread", "ctx.vpid, callback" */
	char *name;			/* template of the spans' names */
	bool nested;
	uint64_t pairs;			/* complete spans */
	uint64_t open;			/* begins without an end */
	uint64_t ends;			/* ends without a begin */
	uint64_t unsure;		/* pairs around lost events: their spans are partial */
};

struct suggest;
/* names: those of the trace's events, NULL-terminated. Events that blktop interprets itself are left out. NULL: there
 * are no others. */
struct suggest *suggest_new(const char *const *names);
void suggest_free(struct suggest *g);		/* NULL is fine */
/* The rows that sources must be opened with; borrowed. */
const struct blk_subscription *suggest_subscriptions(const struct suggest *g, size_t *ret_n);
void suggest_feed(struct suggest *g, const struct blk_tables *tables, const struct blk_event *ev, size_t n);
/* struct suggestion *, most pairs first, LIMIT_RULES at most; no event is in two of them. Free with
 * g_ptr_array_unref(). */
GPtrArray *suggest_finish(struct suggest *g);

/* A file of these rules, with their counts as comments; g_free(). */
char *suggest_rules(const GPtrArray *found);
/* "a_start and a_end look like the beginning and end of a span: 480 pairs, none open"; "" without suggestions. Raw
 * bytes of the trace; g_free(). */
char *suggest_text(const GPtrArray *found);

/* The same by names alone, where single events are not at hand: "a_start and a_end look like the beginning and end of a
 * span"; NULL: no two names do. */
char *suggest_names_text(const char *const *names);

/* What a name says: SUGGEST_NONE, or what it begins or ends. *ret_stem (g_free): the name without the word that says
 * so, in lower case; *ret_family: words of one family belong together most (entry and exit). */
enum suggest_role { SUGGEST_NONE, SUGGEST_BEGIN, SUGGEST_END };
enum suggest_role suggest_role(const char *name, char **ret_stem, unsigned *ret_family);

#endif
