/* SPDX-License-Identifier: GPL-2.0-only */
/* Posting spans: see poster.h. */
#include "send/poster.h"

#include <string.h>

enum { REQUEST_TIMEOUT = 408, TOO_MANY_REQUESTS = 429, UNAVAILABLE = 503 };

struct poster {
	struct http http;
	unsigned failures;		/* since something was taken */
	struct http_answer answer;
};

static void report(const struct poster *p, struct outbox *o, const char *what, const char *why, bool again)
{
	const struct live_url *u = &p->http.url->server;
	outbox_report(o, g_strdup_printf("%s %s:%u: %s%s", what, u->host, u->port, why, again ? "; trying again" : ""));
}

/* OTLP: a server may take a request and refuse some of its spans. {"partialSuccess":{"rejectedSpans":"3"}} */
static unsigned count_refused(const char *body)
{
	static const char key[] = "\"rejectedSpans\"";
	const char *at = strstr(body, key);
	if (!at)
		return 0;
	at += strlen(key);
	at += strspn(at, ": \t\r\n\"");
	return g_ascii_isdigit(*at) ? (unsigned)MIN(g_ascii_strtoull(at, NULL, 10), G_MAXUINT) : 0;
}

/* Posts it again later, or gives it up. */
static void try_again(struct poster *p, struct outbox *o, struct parcel *parcel, bool counts, int64_t pause_s)
{
	int64_t pause = MAX(net_backoff(p->failures++), MIN(pause_s, LIMIT_FORWARD_PAUSE_SECONDS) * G_USEC_PER_SEC);
	if (counts && ++parcel->tries >= LIMIT_FORWARD_TRIES)
		outbox_drop(o, parcel);
	else
		outbox_put_back(o, parcel);
	net_sleep(outbox_cancel_fd(o), g_get_monotonic_time() + pause);
}

static void take_answer(struct poster *p, struct outbox *o, struct parcel *parcel)
{
	unsigned status = p->answer.status;
	char why[32];
	g_snprintf(why, sizeof why, "status %u", status);
	if (status < 300) {
		unsigned refused = count_refused(p->answer.body);
		p->failures = 0;
		outbox_note_sent(o, parcel, refused);
		parcel_free(parcel);
		if (refused)
			report(p, o, "some spans are refused by", "it says so in its answer", false);
	} else if (status == REQUEST_TIMEOUT || status == TOO_MANY_REQUESTS || status >= 500) {
		report(p, o, "spans are not taken by", why, true);
		bool is_busy = status == TOO_MANY_REQUESTS || status == UNAVAILABLE;
		try_again(p, o, parcel, !is_busy, p->answer.retry_after_s);
	} else {
		report(p, o, "spans are refused by", why, false);
		outbox_drop(o, parcel);
	}
}

static void deliver(void *self, struct outbox *o, struct parcel *parcel)
{
	struct poster *p = self;
	g_autoptr(GError) error = NULL;
	switch (http_post(&p->http, parcel->text, parcel->size, outbox_cancel_fd(o), &p->answer, &error)) {
	case HTTP_ANSWERED:
		take_answer(p, o, parcel);
		break;
	case HTTP_NO_ANSWER:
		report(p, o, "no valid answer from", error->message, true);
		try_again(p, o, parcel, true, 0);
		break;
	case HTTP_NOT_CONNECTED:
		report(p, o, "cannot connect to", error->message, true);
		try_again(p, o, parcel, false, 0);
		break;
	}
}

static bool finish(void *self, struct outbox *o)
{
	return true;
}

static void poster_free(void *self, struct outbox *o)
{
	struct poster *p = self;
	net_close(&p->http.net);
	g_free(p);
}

struct outbox *poster_start(const struct http_url *url)
{
	static const struct outbox_courier courier = {
		.thread = "blk-forward", .most_bytes = LIMIT_FORWARD_BYTES, .end_seconds = LIMIT_FORWARD_END_SECONDS,
		.deliver = deliver, .finish = finish, .free = poster_free,
	};
	struct poster *p = g_new0(struct poster, 1);
	p->http = (struct http){ .url = url, .net = { .fd = -1 } };
	return outbox_new(&courier, p);
}
