/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading without a screen: see reading.h.
 */
#include "reading.h"

#include "log.h"
#include "relay.h"

#include "base/timefmt.h"

#include <signal.h>

#define TICK_MS 100		/* how late a signal or a lost relay may be noticed */
#define STOP_PATIENCE_MS 5000	/* for the last publication after a stop */

static volatile sig_atomic_t caught;
static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static struct sigaction before[G_N_ELEMENTS(signals)];

static void catch_signal(int signal)
{
	caught = signal;
}

static void catch_signals(void)
{
	/* Once: the second Ctrl-C ends the program whatever hangs. */
	struct sigaction action = { .sa_handler = catch_signal, .sa_flags = (int)SA_RESETHAND };
	sigemptyset(&action.sa_mask);
	caught = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)	/* nohup stays */
			sigaction(signals[i], &action, NULL);
	}
}

int reading_start(struct reading *r, const struct options *o)
{
	g_autoptr(GError) error = NULL;
	struct job_options options = {
		.model.live = o->live, .model.memory_budget = o->memory, .model.at_end = !o->live,
		.threads = o->jobs, .slices = o->slices, .memory = o->memory,
	};

	*r = (struct reading){ .live = o->live, .timeout_ms = o->timeout_ms };
	if (o->live) {
		struct live_url url;
		bool left;
		int code = relay_choose(o, false, &url, &left);
		if (code == EXIT_FINE)
			r->in = input_new_live(&url, o->timeout_ms);
		live_url_clear(&url);
		if (code != EXIT_FINE)
			return code;
	} else if (o->demo) {
		g_autofree char *demo = input_find_demo(&error);
		const char *const paths[] = { demo, NULL };
		if (!demo) {
			log_error("%s", error->message);
			return EXIT_FAILED;
		}
		r->in = input_new_paths(paths, o->reader);
	} else {
		r->in = input_new_paths((const char *const *)o->paths, o->reader);
	}
	/* A range of a recorded trace may need all of it, a live one is never over. */
	r->tl = timeline_new(o->live ? o->memory : 0);
	if (!o->live)
		options.publish_every_ns = NS_PER_S;
	catch_signals();
	log_note("reading %s", input_label(r->in));
	r->job = input_start(r->in, &options);
	return EXIT_FINE;
}

void reading_free(struct reading *r)
{
	if (r->job)
		for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
			sigaction(signals[i], &before[i], NULL);
	job_free(r->job);
	timeline_free(r->tl);
	input_unref(r->in);
	g_free(r->told);
	*r = (struct reading){ 0 };
}

/* Says on stderr what the connection says; has the relay been gone for too long? */
static bool relay_is_lost(struct reading *r)
{
	struct live_status st;
	if (!r->live || !input_live_status(r->in, &st))
		return false;
	if (st.message[0] && g_strcmp0(st.message, r->told) != 0) {
		log_error("%s", st.message);
		g_free(r->told);
		r->told = g_strdup(st.message);
	}
	return !st.connected && st.message[0] &&
	       g_get_real_time() * NS_PER_US - st.since_ns > r->timeout_ms * NS_PER_MS;
}

void reading_stop(struct reading *r)
{
	job_cancel(r->job);
	gint64 until = g_get_monotonic_time() + STOP_PATIENCE_MS * 1000;
	while (!job_wait(r->job, r->tl, TICK_MS))
		if (g_get_monotonic_time() > until)
			return;		/* it hangs: what was posted is all there is */
}

void reading_signal(struct reading *r, int signal)
{
	if (!r->signal)
		r->signal = signal;
}

bool reading_wait(struct reading *r, int ms)
{
	gint64 until = g_get_monotonic_time() + (gint64)ms * 1000;

	for (;;) {
		if (job_wait(r->job, r->tl, ms >= 0 && ms < TICK_MS ? ms : TICK_MS))
			return true;
		if (caught)
			reading_signal(r, caught);
		else if (relay_is_lost(r))
			r->lost_relay = true;
		if (r->signal || r->lost_relay) {
			reading_stop(r);
			return true;
		}
		if (ms >= 0 && g_get_monotonic_time() >= until)
			return false;
	}
}

int reading_code(struct reading *r)
{
	struct job_status st;
	job_get_status(r->job, &st);
	if (st.phase == JOB_FAILED)
		log_error("%s", st.message);
	if (r->lost_relay)
		log_error("gave up on the relay after %d s", r->timeout_ms / 1000);
	if (r->signal)
		return EXIT_SIGNAL + r->signal;
	return st.phase == JOB_FAILED || r->lost_relay ? EXIT_FAILED : EXIT_FINE;
}

bool reading_range(const struct reading *r, int64_t *ret_from, int64_t *ret_to)
{
	if (!timeline_coverage(r->tl, ret_from, ret_to))
		return false;
	*ret_to += 1;		/* the last event's instant belongs to it */
	return true;
}
