/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the results of --doctor as JSON: see diagnosis.h. */
#include "export/diagnosis.h"

#include "base/json_write.h"

static void add_known(struct json_out *b, const char *key, int64_t n, int64_t unknown)
{
	json_put_known(b, key, n, n != unknown);
}

static void add_rate(struct json_out *b, const char *key, double rate)
{
	add_known(b, key, rate < 0 ? -1 : (int64_t)(rate + 0.5), -1);
}

static void add_texts(struct json_out *b, const char *key, const GPtrArray *texts)
{
	json_open(b, key, '[');
	for (guint i = 0; i < texts->len; i++)
		json_put_text(b, NULL, texts->pdata[i]);
	json_close(b, ']');
}

/* null: the number is unknown, for example the events of lost packets. */
static void add_lost(struct json_out *b, uint64_t events, uint64_t packets, unsigned losses)
{
	json_put_known(b, "lost_events", (int64_t)events, events || !losses);
	json_put_int(b, "lost_packets", (int64_t)packets);
	json_put_int(b, "losses", losses);
}

static void add_channel(struct json_out *b, const struct diagnosis *d, const struct diag_channel *c)
{
	json_open(b, NULL, '{');
	json_put_text(b, "host", c->host);
	json_put_text(b, "domain", c->domain);
	json_put_text(b, "session", c->session);
	json_put_text(b, "channel", c->name);
	if (c->contexts) {
		g_auto(GStrv) words = g_strsplit(c->contexts, " ", -1);
		json_open(b, "contexts", '[');
		for (char **w = words; *w && **w; w++)
			json_put_text(b, NULL, *w);
		json_close(b, ']');
	} else {
		json_put_null(b, "contexts");
	}
	json_put_int(b, "streams", c->streams);
	json_put_int(b, "events", (int64_t)c->events);
	add_rate(b, "events_per_s", diag_rate(d, c->events));
	add_known(b, "bytes", (int64_t)c->bytes, 0);
	add_known(b, "packet_bytes", (int64_t)c->packet_bytes, 0);
	add_known(b, "first_ns", c->first_ns, TIME_UNKNOWN);
	add_known(b, "last_ns", c->last_ns, TIME_UNKNOWN);
	add_lost(b, c->lost_events, c->lost_packets, c->losses);
	json_close(b, '}');
}

static void add_loss(struct json_out *b, const struct diag_loss *l)
{
	json_open(b, NULL, '{');
	json_put_text(b, "host", l->channel->host);
	json_put_text(b, "domain", l->channel->domain);
	json_put_text(b, "channel", l->channel->name);
	add_known(b, "cpu", l->cpu, -1);
	add_known(b, "vpid", l->vpid, -1);
	add_lost(b, l->events, l->packets, l->losses);
	json_close(b, '}');
}

static void add_question(struct json_out *b, const struct diag_question *q)
{
	json_open(b, NULL, '{');
	json_put_text(b, "id", q->question->id);
	json_put_text(b, "question", q->question->text);
	json_put_text(b, "answer", diag_answer_name[q->answer]);
	json_put_bool(b, "on_request", question_is_on_request(q->question));
	json_open(b, "views", '[');
	for (size_t i = 0; q->question->views[i]; i++)
		json_put_text(b, NULL, q->question->views[i]);
	json_close(b, ']');
	add_texts(b, "without", q->missing);
	json_close(b, '}');
}

static void add_repair(struct json_out *b, const struct diag_repair *r)
{
	json_open(b, NULL, '{');
	json_put_text(b, "problem", r->problem);
	add_texts(b, "commands", r->commands);
	add_rate(b, "events_per_s", r->events_per_s);
	json_put_text(b, "cost", r->cost);
	json_put_bool(b, "on_request", r->on_request);
	json_close(b, '}');
}

char *diagnosis_json(const struct diagnosis *d)
{
	GString *out = g_string_new(NULL);
	struct json_out w = { .out = out }, *b = &w;

	json_open(b, NULL, '{');
	json_put_text(b, "blktop", BLKTOP_VERSION);
	json_put_text(b, "doctor", d->label);
	json_put_text(b, "reader", d->reader);
	json_put_text(b, "isolation", d->isolation);
	json_put_text(b, "user", d->user);
	add_known(b, "from_ns", d->from_ns, TIME_UNKNOWN);
	add_known(b, "to_ns", d->to_ns, TIME_UNKNOWN);
	json_put_int(b, "events", (int64_t)d->events);
	json_open(b, "channels", '[');
	for (guint i = 0; i < d->channels->len; i++)
		add_channel(b, d, d->channels->pdata[i]);
	json_close(b, ']');
	json_open(b, "losses", '[');
	for (guint i = 0; i < d->losses->len; i++)
		add_loss(b, d->losses->pdata[i]);
	json_close(b, ']');
	json_open(b, "questions", '[');
	for (guint i = 0; i < d->questions->len; i++)
		add_question(b, d->questions->pdata[i]);
	json_close(b, ']');
	add_texts(b, "kernels", d->kernels);
	add_texts(b, "problems", d->problems);
	json_put_text(b, "left_out", d->warning);
	json_open(b, "repairs", '[');
	for (guint i = 0; i < d->repairs->len; i++)
		add_repair(b, d->repairs->pdata[i]);
	json_close(b, ']');
	json_close(b, '}');
	g_string_append_c(out, '\n');
	return g_string_free(out, FALSE);
}
