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
static int print_found(struct reading *r, const struct options *o, const char *const *paths)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) names = timeline_event_names(r->tl);
	g_autoptr(GPtrArray) found = suggestjob_read(paths, o->read.reader == READER_BT2, (const char *const *)names,
						     o->read.live ? NULL : reading_caught_by(), &error);
	if (reading_caught() && !o->read.live)
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
	int code = output_write(o, text, NULL);
	return code == EXIT_FINE ? reading_loss_code(r) : code;
}

/* A session, until it ends, or -n seconds of it: from its packets, which are stored meanwhile. */
static int print_of_session(const struct options *o)
{
	struct reading r = { 0 };
	struct read_options with = o->read;
	const struct reading_purpose purpose = options_purpose(o);
	g_autofree char *dir = spool_default_dir();

	with.spool = with.spool ? with.spool : dir;
	int code = reading_start(&r, &with, &purpose);
	if (code != EXIT_FINE) {
		reading_free(&r);
		return code;
	}
	while (!reading_wait(&r, TICK_MS)) {
		local_tick(o->running, r.in);
		if (o->n_seconds && timeline_n_seconds(r.tl) > o->n_seconds)
			reading_stop(&r);
	}
	code = reading_code(&r);
	if (timeline_has_events(r.tl)) {
		const char *const paths[] = { input_stored_path(r.in), NULL };
		int found = print_found(&r, o, paths);
		code = code == EXIT_FINE ? found : code;
	} else if (code == EXIT_FINE) {
		log_error("no events in '%s'%s", input_label(r.in), next_steps_no_events);
		code = EXIT_FAILED;
	}
	reading_free(&r);
	return code;
}

static int print_of_trace(const struct options *o)
{
	struct reading r = { 0 };
	struct packets packets = { 0 };
	const struct reading_purpose purpose = options_purpose(o);
	int code = reading_start(&r, &o->read, &purpose);

	if (code == EXIT_FINE) {
		reading_wait(&r, -1);
		code = reading_code(&r);
	}
	if (code == EXIT_FINE)
		code = packets_find(&packets, &o->read);
	if (code == EXIT_FINE)
		code = print_found(&r, o, (const char *const *)packets.paths);
	packets_clear(&packets);
	reading_free(&r);
	return code;
}

int suggest_print(const struct options *o)
{
	return o->read.live ? print_of_session(o) : print_of_trace(o);
}
