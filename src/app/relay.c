/* SPDX-License-Identifier: GPL-2.0-only */
/* The sessions of a relay daemon: see relay.h. */
#include "app/relay.h"

#include "app/next_steps.h"

#include "base/each.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "export/sessions.h"
#include "app/messages.h"

#include <poll.h>

/* If the relay daemon answers within this time and has one session, no list is shown. */
#define FIRST_PATIENCE_MS 150

struct session_choice {
	const struct read_options *o;
	const struct ui_options *pick_on;
	const struct live_url *url;
	GPtrArray *sessions;		/* struct live_session *; NULL: not known yet */
	struct live_lister *lister;
	char *error;			/* of the last answer, visible text; or NULL */
	bool answered;			/* a list of sessions came */
};

static void set_target(struct live_url *ret, const struct live_url *relay,
		       const struct live_session *session)
{
	*ret = (struct live_url){
		.host = g_strdup(relay->host), .port = relay->port, .family = relay->family,
		.target = g_strdup(session ? session->target : relay->target),
		.session = g_strdup(session ? session->name : relay->session),
	};
}

static void pad(GString *line, const char *text, unsigned width)
{
	g_autofree char *visible = text_visible(text);
	g_string_append(line, visible);
	for (unsigned w = text_width(visible); w < width; w++)
		g_string_append_c(line, ' ');
	g_string_append(line, "  ");
}

/* One aligned line for each session; *ret_title: its heading. */
static GPtrArray *session_lines(GPtrArray *sessions, char **ret_title)
{
	unsigned target_width = 4, name_width = 7;
	PTR_EACH(const struct live_session, s, sessions) {
		g_autofree char *target = text_visible(s->target);
		g_autofree char *name = text_visible(s->name);
		target_width = MAX(target_width, text_width(target));
		name_width = MAX(name_width, text_width(name));
	}
	GString *title = g_string_new(NULL);
	pad(title, "HOST", target_width);
	pad(title, "SESSION", name_width);
	g_string_append(title, " TIMER STREAMS VIEWERS");
	*ret_title = g_string_free(title, FALSE);

	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	PTR_EACH(const struct live_session, s, sessions) {
		GString *line = g_string_new(NULL);
		char timer[TIMEFMT_LEN];
		pad(line, s->target, target_width);
		pad(line, s->name, name_width);
		timefmt_duration(timer, s->timer_us * NS_PER_US);
		g_string_append_printf(line, "%6s %7u %7u", timer, s->streams, s->viewers);
		if (s->viewers)
			g_string_append(line, " (taken)");
		g_ptr_array_add(lines, g_string_free(line, FALSE));
	}
	return lines;
}

/* Removes sessions of other hosts, if the URL names a host. */
static void filter_target(const struct live_url *url, GPtrArray *all)
{
	for (guint i = 0; url->target && i < all->len; i++) {
		const struct live_session *s = g_ptr_array_index(all, i);
		if (!g_str_equal(s->target, url->target))
			g_ptr_array_remove_index(all, i--);
	}
}

/* Takes the newest answer. false: there is none. */
static bool take_answer(struct session_choice *c)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *now = live_lister_take(c->lister, &error);

	if (!now && !error)
		return false;
	g_clear_pointer(&c->error, g_free);
	if (error)
		c->error = text_visible(error->message);
	if (!now)
		return true;
	filter_target(c->url, now);
	if (c->sessions)
		g_ptr_array_unref(c->sessions);
	c->sessions = now;
	return true;
}

/* The lines of a page, below what there is. */
static void add_page(GPtrArray *lines, const char *text)
{
	g_auto(GStrv) page = g_strsplit(text, "\n", -1);
	for (char **line = page; *line; line++)
		g_ptr_array_add(lines, g_strdup(*line));
}

/* The sessions under their headings; without one, what to do. */
static void set_lines(struct session_choice *c, struct ui_pick *pick)
{
	g_autofree char *columns = NULL, *relay = live_url_format(c->url), *next = NULL;
	g_autofree char *visible = text_visible(relay);

	if (pick->lines)
		g_ptr_array_unref(pick->lines);
	pick->lines = c->sessions ? session_lines(c->sessions, &columns) :
		g_ptr_array_new_with_free_func(g_free);
	pick->n_choices = pick->lines->len;
	pick->title = pick->n_choices ? "Sessions: HOST, SESSION, TIMER, STREAMS, VIEWERS" :
		c->error ? "No relay daemon" : "Sessions of a relay daemon";
	if (c->error) {
		g_ptr_array_add(pick->lines, g_strdup_printf("%s; asking again", c->error));
		next = next_steps_start_relay(c->url);
	} else if (!c->sessions) {
		g_ptr_array_add(pick->lines, g_strdup_printf("asking %s ...", visible));
	} else if (!pick->n_choices) {
		g_ptr_array_add(pick->lines, g_strdup_printf("%s has no live session (yet)", visible));
		next = next_steps_make_session(c->url);
	}
	if (next && !pick->n_choices) {
		g_ptr_array_add(pick->lines, g_strdup(""));
		add_page(pick->lines, next);
	}
}

static bool refresh_pick(struct ui_pick *pick, void *data)
{
	struct session_choice *c = data;
	if (!take_answer(c))
		return false;
	/* Picks the only session of the first list; not one that remained when others ended. */
	pick->chosen = !c->answered && c->sessions && c->sessions->len == 1;
	c->answered |= c->sessions != NULL;
	set_lines(c, pick);
	return true;
}

static int pick_session(struct session_choice *c, struct live_url *ret, bool *ret_left)
{
	struct ui_pick pick = { .refresh = refresh_pick, .data = c, .fd = live_lister_fd(c->lister) };
	set_lines(c, &pick);
	int i = ui_pick(c->pick_on, &pick);

	if (i >= 0 && c->sessions && (guint)i < c->sessions->len)
		set_target(ret, c->url, g_ptr_array_index(c->sessions, (guint)i));
	else
		*ret_left = true;
	g_ptr_array_unref(pick.lines);
	return EXIT_FINE;
}

/* Shows the list on the screen, which opens before the relay daemon has answered. */
static int choose_on_screen(struct session_choice *c, struct live_url *ret, bool *ret_left)
{
	int code = EXIT_FINE;

	c->lister = live_lister_new(c->url, c->o->relay.timeout_ms);
	struct pollfd ring = { .fd = live_lister_fd(c->lister), .events = POLLIN };
	if (poll(&ring, 1, FIRST_PATIENCE_MS) > 0)
		take_answer(c);
	c->answered = c->sessions != NULL;
	if (c->sessions && c->sessions->len == 1)
		set_target(ret, c->url, g_ptr_array_index(c->sessions, 0));
	else
		code = pick_session(c, ret, ret_left);
	live_lister_free(c->lister);
	g_clear_pointer(&c->sessions, g_ptr_array_unref);
	g_free(c->error);
	return code;
}

static char *session_url(const struct live_url *relay, const struct live_session *session)
{
	struct live_url url;
	set_target(&url, relay, session);
	g_autofree char *text = live_url_format(&url);
	live_url_clear(&url);
	return text_visible(text);
}

static int refuse_many(const struct session_choice *c)
{
	g_autoptr(GString) urls = g_string_new(NULL);
	for (guint i = 0; i < c->sessions->len; i++) {
		g_autofree char *url = session_url(c->url, g_ptr_array_index(c->sessions, i));
		g_string_append_printf(urls, "\n  %s", url);
	}
	log_error("the relay has %u sessions; name one of them:%s", c->sessions->len, urls->str);
	return EXIT_USAGE;
}

static int refuse_none(const struct live_url *url)
{
	g_autofree char *where = live_url_format(url), *next = next_steps_make_session(url);
	log_error("relay %s has no live session\n%s", where, next);
	return EXIT_FAILED;
}

/* The relay daemon did not answer. */
static int fail_with(const struct live_url *url, const GError *error)
{
	g_autofree char *next = next_steps_start_relay(url);
	log_error("%s\n%s", error->message, next);
	return EXIT_FAILED;
}

static int choose_one(const struct read_options *o, const struct live_url *url, const struct ui_options *pick_on,
		      struct live_url *ret, bool *ret_left)
{
	g_autoptr(GError) error = NULL;
	struct session_choice c = { .o = o, .pick_on = pick_on, .url = url };
	int code = EXIT_FINE;

	if (url->target && url->session) {
		set_target(ret, url, NULL);
		return EXIT_FINE;
	}
	if (pick_on)
		return choose_on_screen(&c, ret, ret_left);
	c.sessions = live_list_sessions(url, o->relay.timeout_ms, &error);
	if (!c.sessions)
		return fail_with(url, error);
	filter_target(url, c.sessions);
	if (c.sessions->len == 0)
		code = refuse_none(url);
	else if (c.sessions->len == 1)
		set_target(ret, url, g_ptr_array_index(c.sessions, 0));
	else
		code = refuse_many(&c);
	g_ptr_array_unref(c.sessions);
	return code;
}

static void clear_url(gpointer url)
{
	live_url_clear(url);
}

static bool has_url(const GArray *urls, const struct live_url *url)
{
	ARRAY_EACH(const struct live_url, u, urls) {
		if (u->port == url->port && u->family == url->family && !strcmp(u->host, url->host) &&
		    !g_strcmp0(u->target, url->target) && !g_strcmp0(u->session, url->session))
			return true;
	}
	return false;
}

GArray *relay_choose(const struct read_options *o, const struct ui_options *pick_on, int *ret_code)
{
	g_autoptr(GArray) urls = g_array_new(FALSE, TRUE, sizeof(struct live_url));

	g_array_set_clear_func(urls, clear_url);
	*ret_code = EXIT_FINE;
	for (size_t i = 0; i < o->n_urls; i++) {
		struct live_url url = { 0 };
		bool left = false;
		*ret_code = choose_one(o, &o->urls[i], pick_on, &url, &left);
		if (*ret_code != EXIT_FINE || left)
			return NULL;
		if (has_url(urls, &url))
			live_url_clear(&url);	/* given twice: a relay daemon accepts one viewer a session */
		else
			g_array_append_val(urls, url);
	}
	return g_steal_pointer(&urls);
}

static int list_json(const struct read_options *o, const GPtrArray *sessions)
{
	g_autofree struct session_row *facts = g_new0(struct session_row, sessions->len + 1);
	g_autoptr(GPtrArray) urls = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < sessions->len; i++) {
		const struct live_session *s = g_ptr_array_index(sessions, i);
		g_ptr_array_add(urls, session_url(o->urls, s));
		facts[i] = (struct session_row){
			.host = s->target, .session = s->name, .url = g_ptr_array_index(urls, i),
			.timer_us = s->timer_us, .streams = s->streams, .viewers = s->viewers,
		};
	}
	g_autofree char *text = sessions_json(facts, sessions->len);
	fputs(text, stdout);
	return EXIT_FINE;
}

int relay_list_sessions(const struct read_options *o, bool json)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) sessions = live_list_sessions(o->urls, o->relay.timeout_ms,
								     &error);
	if (!sessions)
		return fail_with(o->urls, error);
	if (json)
		return list_json(o, sessions);
	g_autofree char *title = NULL;
	g_autoptr(GPtrArray) lines = session_lines(sessions, &title);
	printf("%s  URL\n", title);
	for (guint i = 0; i < sessions->len; i++) {
		g_autofree char *url = session_url(o->urls, g_ptr_array_index(sessions, i));
		printf("%s  %s\n", (char *)g_ptr_array_index(lines, i), url);
	}
	return EXIT_FINE;
}
