/* SPDX-License-Identifier: GPL-2.0-only */
/* -b --suggest-rules: see suggest.h. */
#include "cmd/suggest.h"

#include "app/next_steps.h"
#include "app/packets.h"
#include "app/reading.h"
#include "app/messages.h"
#include "cmd/local.h"
#include "cmd/output.h"
#include "live/spool/spool.h"
#include "run/suggestjob.h"

#define TICK_MS 100

/* A session may be ended by a signal: what came until then is looked at. */
static int print_found(struct reading *r, const char *const *paths)
{
	const struct read_options *o = r->options;
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) names = timeline_event_names(r->tl);
	g_autoptr(GPtrArray) found = suggestjob_read(paths, o->reader == READER_BT2, (const char *const *)names,
						     o->live ? NULL : reading_caught_by(), &error);
	if (reading_caught() && !o->live)
		return EXIT_SIGNAL + reading_caught();
	if (!found) {
		log_error("%s", error ? error->message : "stopped");
		return EXIT_FAILED;
	}
	if (!found->len) {
		log_error("no events of '%s' look like the beginning and end of a span (X_start and X_end, X_entry and "
			  "X_exit, ...): --spans FILE takes rules for any two events", input_label(r->in));
		return EXIT_FAILED;
	}
	g_autofree char *text = suggest_rules(found);
	int code = output_write(&(struct output_options){ 0 }, text, NULL);
	return code == EXIT_FINE ? reading_loss_code(r) : code;
}

/* A session, until it ends, or -n seconds of it: from its packets, which are stored meanwhile. */
static int print_of_session(const struct read_options *o, unsigned n_seconds)
{
	struct reading r = { 0 };
	struct read_options with = *o;
	const struct reading_purpose purpose = { .prints = true };
	g_autofree char *dir = spool_default_dir();

	with.spool = with.spool ? with.spool : dir;
	int code = reading_start(&r, &with, &purpose);
	if (code != EXIT_FINE) {
		reading_free(&r);
		return code;
	}
	while (!reading_wait(&r, TICK_MS)) {
		local_tick(o->running, r.in);
		if (n_seconds && timeline_n_seconds(r.tl) > n_seconds)
			reading_stop(&r);
	}
	code = reading_code(&r);
	if (timeline_has_events(r.tl)) {
		const char *const paths[] = { input_stored_path(r.in), NULL };
		int found = print_found(&r, paths);
		code = code == EXIT_FINE ? found : code;
	} else if (code == EXIT_FINE) {
		log_error("no events in '%s'%s", input_label(r.in), next_steps_no_events);
		code = EXIT_FAILED;
	}
	reading_free(&r);
	return code;
}

static int print_of_trace(const struct read_options *o)
{
	struct reading r = { 0 };
	struct packets packets = { 0 };
	const struct reading_purpose purpose = { .prints = true };
	int code = reading_start(&r, o, &purpose);

	if (code == EXIT_FINE) {
		reading_wait(&r, -1);
		code = reading_code(&r);
	}
	if (code == EXIT_FINE)
		code = packets_find(&packets, o);
	if (code == EXIT_FINE)
		code = print_found(&r, (const char *const *)packets.paths);
	packets_clear(&packets);
	reading_free(&r);
	return code;
}

int suggest_print(const struct read_options *o, unsigned n_seconds)
{
	return o->live ? print_of_session(o, n_seconds) : print_of_trace(o);
}
