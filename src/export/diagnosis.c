/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the results of --doctor as text: see diagnosis.h. */
#include "export/diagnosis.h"

#include "base/each.h"
#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

const char *const diag_answer_name[] = {
	[ANSWER_YES] = "yes", [ANSWER_PARTLY] = "partly", [ANSWER_NO] = "no",
};

static void free_channel(void *data)
{
	struct diag_channel *c = data;
	g_free(c->host);
	g_free(c->session);
	g_free(c->name);
	g_free(c->contexts);
	g_free(c);
}

static void free_question(void *data)
{
	struct diag_question *q = data;
	g_ptr_array_unref(q->missing);
	g_free(q);
}

static void free_repair(void *data)
{
	struct diag_repair *r = data;
	g_free(r->problem);
	g_free(r->cost);
	g_ptr_array_unref(r->commands);
	g_free(r);
}

struct diagnosis *diagnosis_new(const char *label)
{
	struct diagnosis *d = g_new0(struct diagnosis, 1);
	d->label = g_strdup(label);
	d->from_ns = d->to_ns = TIME_UNKNOWN;
	d->channels = g_ptr_array_new_with_free_func(free_channel);
	d->losses = g_ptr_array_new_with_free_func(g_free);
	d->questions = g_ptr_array_new_with_free_func(free_question);
	d->kernels = g_ptr_array_new_with_free_func(g_free);
	d->problems = g_ptr_array_new_with_free_func(g_free);
	d->repairs = g_ptr_array_new_with_free_func(free_repair);
	d->all_questions = questions_all();
	return d;
}

void diagnosis_free(struct diagnosis *d)
{
	if (!d)
		return;
	g_ptr_array_unref(d->losses);
	g_ptr_array_unref(d->channels);
	g_ptr_array_unref(d->questions);
	g_ptr_array_unref(d->kernels);
	g_ptr_array_unref(d->problems);
	g_ptr_array_unref(d->repairs);
	g_ptr_array_unref(d->all_questions);
	g_free(d->label);
	g_free(d->reader);
	g_free(d->warning);
	g_free(d->isolation);
	g_free(d->user);
	g_free(d);
}

double diag_rate(const struct diagnosis *d, uint64_t events)
{
	if (d->to_ns == TIME_UNKNOWN || d->to_ns <= d->from_ns)
		return -1;
	return (double)events * NS_PER_S / (double)(d->to_ns - d->from_ns);
}

/* --- text --- */

static void put(FILE *out, const char *text)
{
	g_autofree char *visible = text_visible(text);
	fputs(visible, out);
}

static void put_extent(FILE *out, const struct diagnosis *d)
{
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN], length[TIMEFMT_LEN];

	if (d->to_ns == TIME_UNKNOWN) {
		fputs(": no events\n", out);
		return;
	}
	fprintf(out, ": %" G_GUINT64_FORMAT " events in %s, %s to %s\n", d->events,
		timefmt_duration(length, d->to_ns - d->from_ns), timefmt_date(from, d->from_ns),
		timefmt_clock(to, d->to_ns));
	if (d->live)
		fputs("a live session: rare events may be recorded that did not occur while blktop listened\n", out);
}

static void put_head(FILE *out, const struct diagnosis *d)
{
	put(out, d->label);
	if (d->reader) {
		fputs(", read by ", out);
		put(out, d->reader);
	}
	put_extent(out, d);
	if (d->isolation)
		fprintf(out, "isolation: %s\n", d->isolation);
	if (d->user)
		fprintf(out, "user: %s\n", d->user);
	PTR_EACH(const char, kernel, d->kernels) {
		fputs("kernel of ", out);
		put(out, kernel);
		fputc('\n', out);
	}
}

/* The number of events is unknown if packets cannot be read, or were lost before the beginning of the trace. */
static void put_lost(FILE *out, uint64_t events, uint64_t packets)
{
	if (events)
		fprintf(out, "%" G_GUINT64_FORMAT " events%s", events, packets ? ", " : "");
	if (packets)
		fprintf(out, "%" G_GUINT64_FORMAT " packets", packets);
	if (!events && !packets)
		fputs("an unknown number of events", out);
}

static void put_channel(FILE *out, const struct diagnosis *d, const struct diag_channel *c)
{
	double rate = diag_rate(d, c->events);

	fprintf(out, "  %-6s ", c->domain);
	put(out, c->name ? c->name : "(unknown channel)");
	if (c->session) {
		fputs(" of session ", out);
		put(out, c->session);
	}
	fputs(" on ", out);
	put(out, c->host ? c->host : "?");
	fprintf(out, ": %" G_GUINT64_FORMAT " events", c->events);
	if (rate >= 0)
		fprintf(out, ", %.0f/s", rate);
	fputs("; contexts ", out);
	put(out, !c->contexts ? "not known" : *c->contexts ? c->contexts : "none");
	fputs(c->losses ? "; LOST " : "; nothing lost", out);
	if (c->losses)
		put_lost(out, c->lost_events, c->lost_packets);
	fputc('\n', out);
}

static void put_loss(FILE *out, const struct diag_loss *l)
{
	fprintf(out, "  %s ", l->channel->domain);
	put(out, l->channel->name ? l->channel->name : "?");
	if (l->cpu >= 0)
		fprintf(out, " cpu%" G_GINT64_FORMAT, l->cpu);
	if (l->vpid >= 0)
		fprintf(out, " of process %" G_GINT64_FORMAT, l->vpid);
	fputs(": ", out);
	put_lost(out, l->events, l->packets);
	fprintf(out, ", %u time%s\n", l->losses, l->losses == 1 ? "" : "s");
}

static void put_question(FILE *out, const struct diag_question *q)
{
	g_autofree char *views = g_strjoinv(", ", (char **)q->question->views);

	fprintf(out, "  %-7s %s", diag_answer_name[q->answer], q->question->text);
	fprintf(out, "%s%s%s\n", *views ? " (" : "", views, *views ? ")" : "");
	for (guint i = 0; i < q->missing->len; i++)
		fprintf(out, "          without %s\n", (char *)q->missing->pdata[i]);
}

static void put_repair(FILE *out, const struct diag_repair *r)
{
	fputs("  ", out);
	put(out, r->problem);
	fputc('\n', out);
	for (guint i = 0; i < r->commands->len; i++) {
		fputs("      ", out);
		put(out, r->commands->pdata[i]);
		fputc('\n', out);
	}
	if (r->events_per_s >= 0)
		fprintf(out, "    costs about %.0f events/s", r->events_per_s);
	else
		fputs("    costs: not known", out);
	fputs(r->cost ? ": " : "", out);
	put(out, r->cost ? r->cost : "");
	fputc('\n', out);
}

static unsigned put_repairs(FILE *out, const struct diagnosis *d, bool on_request)
{
	unsigned n = 0;
	PTR_EACH(const struct diag_repair, r, d->repairs)
		if (r->on_request == on_request) {
			put_repair(out, r);
			n++;
		}
	return n;
}

void diagnosis_print_text(FILE *out, const struct diagnosis *d)
{
	put_head(out, d);
	fputs("\nCHANNELS\n", out);
	for (guint i = 0; i < d->channels->len; i++)
		put_channel(out, d, d->channels->pdata[i]);
	if (d->losses->len)
		fputs("\nLOSSES\n", out);
	for (guint i = 0; i < d->losses->len; i++)
		put_loss(out, d->losses->pdata[i]);
	fputs("\nQUESTIONS\n", out);
	for (guint i = 0; i < d->questions->len; i++)
		put_question(out, d->questions->pdata[i]);
	fputs("\nPROBLEMS\n", out);
	for (guint i = 0; i < d->problems->len; i++) {
		fputs("  ", out);
		put(out, d->problems->pdata[i]);
		fputc('\n', out);
	}
	if (d->warning) {
		fputs("  left out: ", out);
		put(out, d->warning);
		fputc('\n', out);
	}
	if (!d->problems->len && !d->warning)
		fputs("  none\n", out);
	fputs("\nREPAIRS\n", out);
	if (!put_repairs(out, d, false))
		fputs("  none needed\n", out);
	g_autofree char *more = NULL;
	size_t n;
	FILE *text = open_memstream(&more, &n);
	put_repairs(text, d, true);
	fclose(text);
	if (n)
		fprintf(out, "\nON REQUEST\n%s", more);
}
