/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>

#include "lib/check_programs.h"
#include "lib/events_ctf.h"
#include "lib/events_program.h"

#define MAX_SHOWN 3		/* differences that are printed */

static void check_stream(struct events_programs *p, struct events_stream *s, struct check_counts *ret)
{
	struct events_event e;
	g_autoptr(GError) error = NULL;
	ret->streams++;
	while (events_stream_next(s, &e, &error)) {
		struct digest d = { 0 };
		g_autofree char *fault = NULL;
		ret->events++;
		if (!events_stream_digest(s, &e, &d))
			fault = g_strdup("its fields do not fit");
		else
			fault = events_programs_check(p, s, &e);
		if (fault && ret->different++ < MAX_SHOWN)
			printf("DIFFERENT %s, packet at byte %" PRIu64 ", bit %" PRIu64 ": %s: %s\n",
			       ctf_index_name(s->files->pdata[s->file]), e.packet_offset, e.begin, e.cls->name,
			       fault);
	}
	if (error && ret->different++ < MAX_SHOWN)
		printf("DIFFERENT %s\n", error->message);
}

void check_programs(const char *dir, struct check_counts *ret)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_events_trace) t = events_trace_open(dir, &error);
	struct events_programs *p = t ? events_programs_new(t->meta, &error) : NULL;
	if (!p) {
		printf("native refuses: %s: %s\n", dir, error->message);
		ret->refused++;
		return;
	}
	for (guint i = 0; i < t->streams->len; i++) {
		struct events_stream *s = t->streams->pdata[i];
		if (s->sc)
			check_stream(p, s, ret);
	}
	events_programs_free(p);
}
