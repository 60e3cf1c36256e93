/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the results of --doctor as JSON: see diagnosis.h. */
#include "export/diagnosis.h"
#include "export/json.h"

static void add_known(JsonBuilder *b, const char *key, int64_t n, int64_t unknown)
{
	if (n != unknown)
		json_add_int(b, key, n);
	else
		json_add_null(b, key);
}

static void add_rate(JsonBuilder *b, const char *key, double rate)
{
	add_known(b, key, rate < 0 ? -1 : (int64_t)(rate + 0.5), -1);
}

static void add_texts(JsonBuilder *b, const char *key, const GPtrArray *texts)
{
	json_builder_set_member_name(b, key);
	json_builder_begin_array(b);
	for (guint i = 0; i < texts->len; i++)
		json_put_text(b, texts->pdata[i]);
	json_builder_end_array(b);
}

/* null: the number is unknown, for example the events of lost packets. */
static void add_lost(JsonBuilder *b, uint64_t events, uint64_t packets, unsigned losses)
{
	if (losses && !events)
		json_add_null(b, "lost_events");
	else
		json_add_int(b, "lost_events", (int64_t)events);
	json_add_int(b, "lost_packets", (int64_t)packets);
	json_add_int(b, "losses", losses);
}

static void add_channel(JsonBuilder *b, const struct diagnosis *d, const struct diag_channel *c)
{
	json_builder_begin_object(b);
	json_add_text(b, "host", c->host);
	json_add_text(b, "domain", c->domain);
	json_add_text(b, "session", c->session);
	json_add_text(b, "channel", c->name);
	json_builder_set_member_name(b, "contexts");
	if (c->contexts) {
		g_auto(GStrv) words = g_strsplit(c->contexts, " ", -1);
		json_builder_begin_array(b);
		for (char **w = words; *w && **w; w++)
			json_put_text(b, *w);
		json_builder_end_array(b);
	} else {
		json_builder_add_null_value(b);
	}
	json_add_int(b, "streams", c->streams);
	json_add_int(b, "events", (int64_t)c->events);
	add_rate(b, "events_per_s", diag_rate(d, c->events));
	add_known(b, "bytes", (int64_t)c->bytes, 0);
	add_known(b, "packet_bytes", (int64_t)c->packet_bytes, 0);
	add_known(b, "first_ns", c->first_ns, TIME_UNKNOWN);
	add_known(b, "last_ns", c->last_ns, TIME_UNKNOWN);
	add_lost(b, c->lost_events, c->lost_packets, c->losses);
	json_builder_end_object(b);
}

static void add_loss(JsonBuilder *b, const struct diag_loss *l)
{
	json_builder_begin_object(b);
	json_add_text(b, "host", l->channel->host);
	json_add_text(b, "domain", l->channel->domain);
	json_add_text(b, "channel", l->channel->name);
	add_known(b, "cpu", l->cpu, -1);
	add_known(b, "vpid", l->vpid, -1);
	add_lost(b, l->events, l->packets, l->losses);
	json_builder_end_object(b);
}

static void add_question(JsonBuilder *b, const struct diag_question *q)
{
	json_builder_begin_object(b);
	json_add_text(b, "id", q->question->id);
	json_add_text(b, "question", q->question->text);
	json_add_text(b, "answer", diag_answer_name[q->answer]);
	json_builder_set_member_name(b, "on_request");
	json_builder_add_boolean_value(b, question_is_on_request(q->question));
	json_builder_set_member_name(b, "views");
	json_builder_begin_array(b);
	for (size_t i = 0; q->question->views[i]; i++)
		json_put_text(b, q->question->views[i]);
	json_builder_end_array(b);
	add_texts(b, "without", q->missing);
	json_builder_end_object(b);
}

static void add_repair(JsonBuilder *b, const struct diag_repair *r)
{
	json_builder_begin_object(b);
	json_add_text(b, "problem", r->problem);
	add_texts(b, "commands", r->commands);
	add_rate(b, "events_per_s", r->events_per_s);
	json_add_text(b, "cost", r->cost);
	json_builder_set_member_name(b, "on_request");
	json_builder_add_boolean_value(b, r->on_request);
	json_builder_end_object(b);
}

static void begin_array(JsonBuilder *b, const char *key)
{
	json_builder_set_member_name(b, key);
	json_builder_begin_array(b);
}

char *diagnosis_json(const struct diagnosis *d)
{
	JsonBuilder *b = json_builder_new();
	GString *out = g_string_new(NULL);

	json_builder_begin_object(b);
	json_add_text(b, "blktop", BLKTOP_VERSION);
	json_add_text(b, "doctor", d->label);
	json_add_text(b, "reader", d->reader);
	json_add_text(b, "isolation", d->isolation);
	json_add_text(b, "user", d->user);
	add_known(b, "from_ns", d->from_ns, TIME_UNKNOWN);
	add_known(b, "to_ns", d->to_ns, TIME_UNKNOWN);
	json_add_int(b, "events", (int64_t)d->events);
	begin_array(b, "channels");
	for (guint i = 0; i < d->channels->len; i++)
		add_channel(b, d, d->channels->pdata[i]);
	json_builder_end_array(b);
	begin_array(b, "losses");
	for (guint i = 0; i < d->losses->len; i++)
		add_loss(b, d->losses->pdata[i]);
	json_builder_end_array(b);
	begin_array(b, "questions");
	for (guint i = 0; i < d->questions->len; i++)
		add_question(b, d->questions->pdata[i]);
	json_builder_end_array(b);
	add_texts(b, "problems", d->problems);
	json_add_text(b, "left_out", d->warning);
	begin_array(b, "repairs");
	for (guint i = 0; i < d->repairs->len; i++)
		add_repair(b, d->repairs->pdata[i]);
	json_builder_end_array(b);
	json_builder_end_object(b);
	json_append(out, b);
	g_string_append_c(out, '\n');
	return g_string_free(out, FALSE);
}
