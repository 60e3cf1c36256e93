/* SPDX-License-Identifier: GPL-2.0-only */
/* Progress of reading, for the log file: see debug_log.h. */
#include "app/debug_log.h"

#include "base/timefmt.h"
#include "live/live.h"

#define EVERY_US (1000 * 1000)

static const char *const phases[] = {
	[JOB_OPENING] = "opening", [JOB_LOADING] = "loading", [JOB_DONE] = "done",
	[JOB_CANCELLED] = "cancelled", [JOB_FAILED] = "failed",
};

/* Nanoseconds, to be compared with the trace. */
static char *instant(int64_t ns)
{
	return ns == TIME_UNKNOWN ? g_strdup("nowhere") : ns == INT64_MAX ? g_strdup("the end") :
	       g_strdup_printf("@%" G_GINT64_FORMAT, ns);
}

static char *live_text(struct input *in)
{
	struct live_status st;

	if (!input_live_status(in, &st))
		return g_strdup("");
	return g_strdup_printf(", %s, %u attached, lag %" G_GINT64_FORMAT " ms, late %" G_GUINT64_FORMAT
			       ", stalled %u%s%s%s", st.connected ? "connected" : "not connected", st.attached,
			       st.lag_ns < 0 ? -1 : st.lag_ns / 1000000, st.late, st.stalled,
			       st.quiet_ns == INT64_MIN ? "" : ", quiet", st.message[0] ? ": " : "",
			       st.message);
}

/* A change of this text is logged at once. */
static char *state_text(const struct job_status *st, struct input *in)
{
	struct live_status live;
	bool is_live = input_live_status(in, &live);

	return g_strdup_printf("%s%s%s%s%s%s%s%s%s", phases[st->phase], st->reader ? " by " : "",
			       st->reader ? st->reader : "", st->message ? ": " : "",
			       st->message ? st->message : "", st->cache ? ", cache: " : "",
			       st->cache ? st->cache : "",
			       is_live ? live.connected ? ", connected" : ", not connected" : "",
			       st->warning ? ", something is left out" : "");
}

void debug_write(struct job *job, struct input *in, const struct timeline *tl)
{
	static char *last;
	static gint64 due_us;
	struct job_status st;

	job_get_status(job, &st);
	g_autofree char *state = state_text(&st, in);
	gint64 now_us = g_get_monotonic_time();
	if (!g_strcmp0(state, last) && (now_us < due_us || st.phase > JOB_LOADING))
		return;
	due_us = now_us + EVERY_US;
	g_free(last);
	last = g_steal_pointer(&state);
	g_autofree char *newest = instant(st.newest_ns), *final = instant(st.final_to_ns), *live = live_text(in);
	log_debug("reading: %s, %" G_GUINT64_FORMAT " events to %s, final to %s, %u of %u pieces, "
		  "%zu seconds in %zu KiB%s", last, st.n_events, newest, final, st.pieces_done, st.pieces,
		  timeline_n_seconds(tl), timeline_bytes(tl) / 1024, live);
}
