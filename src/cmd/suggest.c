/* SPDX-License-Identifier: GPL-2.0-only */
/* -b --suggest-rules: see suggest.h. */
#include "cmd/suggest.h"

#include "app/packets.h"
#include "app/reading.h"
#include "app/messages.h"
#include "cmd/output.h"
#include "run/suggestjob.h"

static int print_found(struct reading *r, const struct options *o, const struct packets *packets)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) names = timeline_event_names(r->tl);
	g_autoptr(GPtrArray) found = suggestjob_read((const char *const *)packets->paths, o->read.reader == READER_BT2,
						     (const char *const *)names, reading_caught_by(), &error);
	if (reading_caught())
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

int suggest_print(const struct options *o)
{
	struct reading r;
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
		code = print_found(&r, o, &packets);
	packets_clear(&packets);
	reading_free(&r);
	return code;
}
