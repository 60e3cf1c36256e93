/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Alerts: holds thresholds against each closed second, once, in the order of time, and remembers since when and how far
 * each was reached. The same seconds give the same alerts, live and recorded.
 *
 *     struct alerts *a = alerts_new(thresholds);		then view "alerts" with query.alerts
 *     alerts_update(a, tl, n);				whenever the timeline has changed
 *
 * The usual of a value is the p50 of its single values, or the mean sum of a second, in the seconds before the judged
 * one: it needs ALERTS_LEAST_USUAL of them. A baseline replaces it by that of another time or trace.
 *
 * What a second does not have is unknown: a percentile without values neither ends nor begins an alert. A number or sum
 * of a second without values is 0, if the trace has the events of the metric. But where events were lost, or coverage
 * cuts the second, it is only known to be at least what was counted: there < and <= are not judged. Of spans that were
 * dropped to save memory the timeline has sums. Where these do not have the threshold's fields or figure, the second is
 * not judged at all.
 */
#ifndef BLK_VIEWS_ALERTS_H
#define BLK_VIEWS_ALERTS_H

#include "views/threshold.h"

#define ALERTS_LEAST_USUAL 20

enum alert_state { ALERT_OK, ALERT_WARN, ALERT_RED };	/* .seconds not reached, or only `warn`: ALERT_WARN */
extern const char *const alert_state_words[];		/* "OK", "WARN", "ALERT" */

struct alert {
	const struct threshold *threshold;
	char *of;			/* what it is about: "thumbnail", "mysqld fsync"; "": there are no fields */
	char *where;			/* the expression that selects it; "": all; NULL: none does */
	enum alert_state state;		/* the worst that it had */
	bool open;			/* not known to have ended */
	int64_t begin_ns, end_ns;	/* first second in which it was reached, end of the last one */
	int64_t red_ns;			/* end of the second in which it was ALERT_RED at first; or TIME_UNKNOWN */
	unsigned seconds;		/* in which it was reached */
	double worst, usual;		/* and the usual there; 0: unknown */
	int64_t worst_begin_ns, worst_end_ns;	/* that second */
	uint64_t worst_trace, worst_span;	/* the slowest request or span of that second; 0: unknown */
	int worst_kind;			/* of that span: enum span_kind, or -1 */
};

struct alerts;

/* `thresholds`: struct threshold *, borrowed: they must outlive the alerts. */
struct alerts *alerts_new(const GPtrArray *thresholds);
void alerts_free(struct alerts *a);		/* NULL is fine */
/* Judges those of the timeline's first `end` seconds that were not judged yet. They must be closed: the last one is
 * when the next exists, since until then spans that end in it may be missing; or when the trace has ended. */
void alerts_update(struct alerts *a, const struct timeline *tl, size_t end);
void alerts_begin_at(struct alerts *a, int64_t ns);	/* seconds that began before are not judged */
/* alerts_worst() is about the seconds that overlap [from_ns, to_ns); without it about all. */
void alerts_note_range(struct alerts *a, int64_t from_ns, int64_t to_ns);

/* Called when a threshold is reached for as long as it says, at most once in `every`. `reason` has lines: "p99 of
 * thumbnail is 98.4ms, 3.4 times the usual 28.9ms", "threshold: ...", "second: ...", "cause: ...", "changed: ...".
 * Names are raw bytes of the trace. */
typedef void (*alerts_call)(void *data, const struct alert *alert, const char *reason);
void alerts_on_alert(struct alerts *a, alerts_call call, void *data);

size_t alerts_n(const struct alerts *a);	/* alerts, by their beginnings */
const struct alert *alerts_at(const struct alerts *a, size_t i);
bool alert_overlaps(const struct alert *a, int64_t from_ns, int64_t to_ns);	/* one that is open has no end */
const GPtrArray *alerts_thresholds(const struct alerts *a);
/* Was anything judged in [from_ns, to_ns)? */
bool alerts_have_judged(const struct alerts *a, const struct threshold *t, int64_t from_ns, int64_t to_ns);
/* The worst figure of alerts_note_range() that was judged, whether it was reached or not. False: there was none. */
bool alerts_worst(const struct alerts *a, const struct threshold *t, double *ret);
/* Were seconds not judged, since spans of them had been dropped to save memory and their figures were not known? */
bool alerts_left_out(const struct alerts *a);
/* What was not judged: values beyond the limit, seconds whose spans were gone. NULL: nothing. Free with g_free(). */
char *alerts_describe_missing(const struct alerts *a);

/* "p99 of thumbnail is 98.4ms, 3.4 times the usual 28.9ms"; raw bytes. Free with g_free(). */
char *alert_sentence(const struct alert *a);
/* Why: the cause of the slowest request of its worst second, or what has most of that second. NULL: unknown. Free with
 * g_free(). */
char *alert_cause(const struct timeline *tl, const struct alert *a);
/* What is different in its worst second from the ten seconds before the alert, as sums of a second: "part disk:
 * +412ms, 74 % of what changed". NULL: unknown. Free with g_free(). */
char *alert_changed(const struct timeline *tl, const struct alert *a);

/* ---- baselines ---- */

/* Replaces the usual by what a file has. False: *error. */
bool alerts_load_baseline(struct alerts *a, const char *path, GError **error);
/* Writes the usual of all values so far. The file is whole or not there. No value had enough: an error. */
bool alerts_save_baseline(const struct alerts *a, const char *path, GError **error);

#endif
