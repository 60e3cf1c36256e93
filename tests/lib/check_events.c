/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/check_events.h"
#include "lib/events_bt2.h"
#include "lib/events_ctf.h"
#include "lib/events_program.h"
#include "trace/bt2/bt2_mip.h"

#define MAX_SHOWN 3		/* differences printed of one stream */

struct check {
	struct check_counts *counts;
	struct events_trace *ours;
	struct events_programs *programs;
	struct events_stream *stream;	/* ours of the one being read; NULL: unknown */
	char *name;
	uint64_t n;			/* events of it so far */
	unsigned shown;
	bool over;			/* no more of this stream can be compared */
};

/* Prints a difference, but not too many of them. */
static void G_GNUC_PRINTF(2, 3) differ(struct check *c, const char *format, ...)
{
	c->counts->different++;
	if (c->shown++ >= MAX_SHOWN)
		return;
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	printf("DIFFERENT stream %s, event %" PRIu64 ": %s\n", c->name, c->n, text);
}

/* -- clocks ----------------------------------------------------------------- */

static const struct ctf_clock *clock_of(const struct ctf_type *t)
{
	if (t->clock)
		return t->clock;
	if (t->kind != CTF_STRUCT && t->kind != CTF_VARIANT)
		return NULL;
	for (uint32_t i = 0; i < t->n_fields; i++) {
		const struct ctf_clock *k = clock_of(t->field[i].type);
		if (k)
			return k;
	}
	return NULL;
}

static void check_clock(struct check *c, const bt_stream_class *sc)
{
	const bt_clock_class *theirs = bt_stream_class_borrow_default_clock_class_const(sc);
	const struct ctf_clock *ours = clock_of(c->stream->sc->event_header);
	int64_t seconds;
	uint64_t cycles;
	char uuid[BT2_UUID_TEXT];
	if (!theirs || !ours) {
		if (theirs || ours)
			differ(c, "only one reader knows a clock");
		return;
	}
	bt_clock_class_get_offset(theirs, &seconds, &cycles);
	bt2_clock_identity(theirs, uuid);
	if (bt_clock_class_get_frequency(theirs) != ours->freq || seconds != ours->offset_s ||
	    cycles != ours->offset || strcmp(uuid, ours->uuid))
		differ(c, "clock: babeltrace2 %" PRIu64 " Hz %" PRId64 " s %" PRIu64 " cycles %s, native %"
		       PRIu64 " Hz %" PRId64 " s %" PRIu64 " cycles %s",
		       bt_clock_class_get_frequency(theirs), seconds, cycles, uuid, ours->freq,
		       ours->offset_s, ours->offset, ours->uuid);
}

/* -- events ----------------------------------------------------------------- */

static void on_stream(void *data, const bt_stream *stream)
{
	struct check *c = data;
	const bt_stream_class *sc = bt_stream_borrow_class_const(stream);
	g_free(c->name);
	c->name = g_strdup(bt_stream_get_name(stream));
	c->stream = c->name ? events_trace_stream(c->ours, c->name) : NULL;
	c->n = c->shown = 0;
	c->over = false;
	c->counts->streams++;
	if (!c->stream || c->stream->taken || !c->stream->sc) {
		differ(c, "the native reader has no such stream");
		c->stream = NULL;
		c->over = true;
		return;
	}
	c->stream->taken = true;
	if (bt_stream_class_get_id(sc) != c->stream->sc->id)
		differ(c, "stream class %" PRIu64 ", native %" PRIu64, bt_stream_class_get_id(sc),
		       c->stream->sc->id);
	check_clock(c, sc);
}

static char *their_text(const bt_event *event, uint64_t cycles, uint32_t cpu)
{
	const bt_event_class *ec = bt_event_borrow_class_const(event);
	struct digest d = { .text = g_string_new(NULL) };
	g_string_printf(d.text, "%" PRIu64 " cpu %d %" PRIu64 " ", cycles, (int)cpu,
			bt_event_class_get_id(ec));
	const char *name = bt_event_class_get_name(ec);
	if (name)
		digest_escape(d.text, name, strlen(name));
	events_bt2_digest(event, &d);
	return g_string_free(d.text, FALSE);
}

static char *our_text(struct events_stream *s, struct events_event *e)
{
	struct digest d = { .text = g_string_new(NULL) };
	g_string_printf(d.text, "%" PRIu64 " cpu %d %" PRIu64 " ", e->cycles, (int)e->cpu, e->id);
	digest_escape(d.text, e->cls->name, strlen(e->cls->name));
	if (!events_stream_digest(s, e, &d))
		g_string_append(d.text, " (does not fit)");
	g_string_append_printf(d.text, "\n    (packet at byte %" PRIu64 ", bits %" PRIu64 " to %" PRIu64
			       ")", e->packet_offset, e->begin, e->end);
	return g_string_free(d.text, FALSE);
}

static void differ_event(struct check *c, const bt_event *event, uint64_t cycles, uint32_t cpu,
			 struct events_event *e)
{
	g_autofree char *theirs = their_text(event, cycles, cpu);
	g_autofree char *ours = our_text(c->stream, e);
	differ(c, "\n  babeltrace2 %s\n  native      %s", theirs, ours);
}

static void on_event(void *data, const bt_event *event, uint64_t cycles, uint32_t cpu)
{
	struct check *c = data;
	struct events_event e;
	g_autoptr(GError) error = NULL;
	c->n++;
	if (c->over)
		return;
	if (!events_stream_next(c->stream, &e, &error)) {
		g_autofree char *theirs = their_text(event, cycles, cpu);
		differ(c, "native: %s; babeltrace2: %s", error ? error->message : "the stream has ended",
		       theirs);
		c->over = true;
		return;
	}
	const bt_event_class *ec = bt_event_borrow_class_const(event);
	const char *name = bt_event_class_get_name(ec);
	struct digest theirs = { 0 }, ours = { 0 };
	events_bt2_digest(event, &theirs);
	bool fits = events_stream_digest(c->stream, &e, &ours);
	c->counts->events++;
	if (!fits || theirs.hash != ours.hash || cycles != e.cycles || cpu != e.cpu ||
	    bt_event_class_get_id(ec) != e.id || g_strcmp0(name, e.cls->name))
		differ_event(c, event, cycles, cpu, &e);
	g_autofree char *fault = events_programs_check(c->programs, c->stream, &e);
	if (fault) {
		g_autofree char *text = our_text(c->stream, &e);
		differ(c, "%s: %s", fault, text);
	}
}

static void on_stream_end(void *data, const char *fault)
{
	struct check *c = data;
	struct events_event e;
	g_autoptr(GError) error = NULL;
	if (fault) {
		printf("babeltrace2 refuses: stream %s after %" PRIu64 " events: %s\n",
		       c->name ? c->name : "?", c->n, fault);
		c->counts->refused++;
		return;
	}
	if (c->over || !c->stream)
		return;
	if (events_stream_next(c->stream, &e, &error)) {
		g_autofree char *ours = our_text(c->stream, &e);
		differ(c, "babeltrace2's stream has ended; native: %s", ours);
	} else if (error) {
		differ(c, "babeltrace2's stream has ended; native: %s", error->message);
	}
}

/* Streams that babeltrace2 does not tell have no events. */
static void check_left(struct check *c)
{
	for (guint i = 0; i < c->ours->streams->len; i++) {
		struct events_event e;
		g_autoptr(GError) error = NULL;
		c->stream = c->ours->streams->pdata[i];
		if (c->stream->taken || !events_stream_next(c->stream, &e, &error))
			continue;
		g_free(c->name);
		c->name = g_strdup(ctf_index_name(c->stream->files->pdata[0]));
		c->n = c->shown = 0;
		g_autofree char *ours = our_text(c->stream, &e);
		differ(c, "babeltrace2 has no such stream; native: %s", ours);
	}
}

void check_events(const char *dir, struct check_counts *ret)
{
	static const struct events_bt2_visitor visitor = { on_stream, on_event, on_stream_end };
	g_autoptr(GError) error = NULL;
	g_autofree char *reason = NULL;
	struct check c = { .counts = ret };
	c.ours = events_trace_open(dir, &error);
	if (!c.ours) {
		printf("native refuses: %s: %s\n", dir, error->message);
		ret->refused++;
		return;
	}
	c.programs = events_programs_new(c.ours->meta, &error);
	if (!c.programs) {
		printf("native refuses: %s: %s\n", dir, error->message);
		ret->refused++;
	} else if (!events_bt2_read(dir, &visitor, &c, &reason)) {
		printf("babeltrace2 refuses: %s: %s\n", dir, reason);
		ret->refused++;
	} else {
		check_left(&c);
	}
	events_programs_free(c.programs);
	events_trace_free(c.ours);
	g_free(c.name);
}
