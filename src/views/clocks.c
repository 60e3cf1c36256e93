/* SPDX-License-Identifier: GPL-2.0-only */
/* Offsets between clocks: see clocks.h. */
#include "views/clocks.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

#define MOST_NS (INT64_MAX / 4)		/* so that the sum of two does not overflow */
#define WINDOWS 64			/* time windows; each retains its tightest bounds */
#define MOST_DRIFT 1000.0		/* ppm: a clock that seems to drift faster was set instead */
#define TELLING_DRIFT 200.0		/* ppm: wider bounds do not determine the drift */
#define LINKS (16 * LIMIT_ENDPOINTS)	/* pairs of clocks, at most; 2 KiB each */
#define PAIRS_NAMED 16		/* pairs of endpoints in a sentence */
#define SLOPES 9			/* number of allowed slopes that are tried for the bounds of the offset */

/* a - b, clamped to MOST_NS because damaged traces contain any times. */
static int64_t apart(int64_t a, int64_t b)
{
	int64_t ns;
	if (__builtin_sub_overflow(a, b, &ns))
		return a < b ? -MOST_NS : MOST_NS;
	return CLAMP(ns, -MOST_NS, MOST_NS);
}

/* ---- clocks ---- */

static const char *name_of(const struct host_info *h)
{
	return h && h->name ? h->name : "";
}

static const char *boot_of(const struct host_info *h)
{
	return h && h->boot ? h->boot : "";
}

static int compare_clocks(const void *va, const void *vb)
{
	const struct clock *a = va, *b = vb;
	return strcmp(a->host, b->host) ?: strcmp(a->boot, b->boot);
}

/* Adds the host's clock, or reuses the clock of another host with the same boot id. The clock is named after the
 * host whose name sorts first. Hosts without a boot id have separate clocks. */
static void add_clock(GArray *clocks, const struct host_info *h)
{
	struct clock new = { .host = name_of(h), .boot = boot_of(h), .offset_ns = TIME_UNKNOWN };
	ARRAY_EACH(struct clock, have, clocks) {
		if (strcmp(have->boot, new.boot) || (!*new.boot && strcmp(have->host, new.host)))
			continue;
		if (strcmp(new.host, have->host) < 0)
			have->host = new.host;
		return;
	}
	g_array_append_val(clocks, new);
}

static uint32_t find_clock(const GArray *clocks, const char *host, const char *boot)
{
	for (guint i = 0; i < clocks->len; i++) {
		const struct clock *have = &g_array_index(clocks, struct clock, i);
		if (!strcmp(have->boot, boot) && (*have->boot || !strcmp(have->host, host)))
			return i;
	}
	return ID_NONE;
}

/* ---- endpoints ---- */

struct endpoint {
	const char *service, *ip;	/* reftexts */
	const char *boot;
	bool is_only;			/* the only one of its service with an address */
};

static bool is_endpoint(const struct span *s)
{
	return s->host == ID_NONE && (*s->service || *s->ip);
}

static const char *hold(struct clocks *k, char *text)
{
	g_ptr_array_add(k->texts, text);
	return text;
}

/* struct endpoint: those of calls. Sets k->endpoints. */
static GArray *find_endpoints(struct clocks *k, const struct timeline *tl)
{
	GArray *found = g_array_new(false, false, sizeof(struct endpoint));
	size_t n = timeline_facts(tl)->has_hostless ? timeline_n_spans(tl) : 0;
	for (size_t i = 0; i < n && found->len < LIMIT_ENDPOINTS; i++) {
		const struct span *s = timeline_span(tl, i);
		uint64_t key = reftext_pair(s->service, s->ip);
		if (s->kind == SPAN_LOCAL || !is_endpoint(s) || intmap_get(&k->endpoints, key) != INTMAP_NONE)
			continue;
		struct endpoint e = { s->service, s->ip, hold(k, span_endpoint_clock(s->service, s->ip)), *s->ip };
		for (guint o = 0; *s->ip && o < found->len; o++) {
			struct endpoint *other = &g_array_index(found, struct endpoint, o);
			if (other->service != s->service || !*other->ip)
				continue;
			other->is_only = e.is_only = false;
		}
		intmap_set(&k->endpoints, key, k->n_hosts + found->len);
		g_array_append_val(found, e);
	}
	return found;
}

/* The only address of that service; NULL: none, or several. */
static const struct endpoint *only_of(const GArray *endpoints, const char *service)
{
	ARRAY_EACH(const struct endpoint, e, endpoints)
		if (e->service == service && e->is_only)
			return e;
	return NULL;
}

/* Adds the clocks of endpoints. One without an address shares the clock of the only one of its service that has one. */
static void add_endpoints(struct clocks *k, GArray *endpoints)
{
	ARRAY_EACH(const struct endpoint, e, endpoints) {
		if (!*e->ip && only_of(endpoints, e->service))
			continue;
		struct clock new = {
			.host = *e->ip ? hold(k, g_strdup_printf("%s (%s)", e->service, e->ip)) : e->service,
			.boot = e->boot, .offset_ns = TIME_UNKNOWN, .is_endpoint = true,
			.alias = e->is_only ? hold(k, span_endpoint_clock(e->service, "")) : NULL,
		};
		g_array_append_val(k->clocks, new);
	}
}

static const char *boot_of_endpoint(const GArray *endpoints, guint i)
{
	const struct endpoint *e = &g_array_index(endpoints, struct endpoint, i);
	const struct endpoint *only = *e->ip ? NULL : only_of(endpoints, e->service);
	return only ? only->boot : e->boot;
}

/* Adds all clocks, and sets those of the places. */
static void add_clocks(struct clocks *k, const struct timeline *tl)
{
	g_autoptr(GArray) endpoints = find_endpoints(k, tl);
	k->n_places = k->n_hosts + endpoints->len;
	k->of_place = g_new(uint32_t, k->n_places + 1);
	for (uint32_t i = 0; i < k->n_hosts; i++)
		if (timeline_host(tl, i))
			add_clock(k->clocks, timeline_host(tl, i));
	add_endpoints(k, endpoints);
	g_array_sort(k->clocks, compare_clocks);
	for (uint32_t i = 0; i < k->n_hosts; i++) {
		const struct host_info *h = timeline_host(tl, i);
		k->of_place[i] = find_clock(k->clocks, name_of(h), boot_of(h));
	}
	for (guint i = 0; i < endpoints->len; i++)
		k->of_place[k->n_hosts + i] = find_clock(k->clocks, "", boot_of_endpoint(endpoints, i));
}

uint32_t clocks_place(const struct clocks *k, const struct span *s)
{
	if (s->host < k->n_hosts)
		return s->host;
	return is_endpoint(s) ? intmap_get(&k->endpoints, reftext_pair(s->service, s->ip)) : ID_NONE;
}

static uint32_t clock_of(const struct clocks *k, const struct span *s)
{
	uint32_t place = clocks_place(k, s);
	return place < k->n_places ? k->of_place[place] : ID_NONE;
}

/* ---- pairs ---- */

struct timed_half { uint64_t trace, span; int64_t begin, end; uint32_t clock; };

static int compare_halves(const void *va, const void *vb)
{
	const struct timed_half *a = va, *b = vb;
	return ORDER(a->trace, b->trace) ?: ORDER(a->span, b->span);
}

static GArray *clients_of(const struct timeline *tl, const struct clocks *k)
{
	GArray *halves = g_array_new(false, false, sizeof(struct timed_half));
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		struct timed_half h = { s->trace_id, s->span_id, s->begin_ns, s->end_ns, ID_NONE };
		if (s->kind == SPAN_CLIENT && s->state == SPAN_COMPLETE && !span_is_message(s))
			h.clock = clock_of(k, s);
		if (h.clock != ID_NONE)
			g_array_append_val(halves, h);
	}
	g_array_sort(halves, compare_halves);
	return halves;
}

/* The only client half with these ids. NULL: none, or several, so that the caller is ambiguous. */
static const struct timed_half *client_of(const GArray *clients, uint64_t trace, uint64_t span)
{
	const struct timed_half key = { .trace = trace, .span = span };
	guint at;
	if (!g_array_binary_search((GArray *)clients, &key, compare_halves, &at))
		return NULL;
	const struct timed_half *h = &g_array_index(clients, struct timed_half, at);
	bool twice = (at > 0 && !compare_halves(h - 1, h)) ||
		     (at + 1 < clients->len && !compare_halves(h + 1, h));
	return twice ? NULL : h;
}

/* One bound of an offset, and its instant by a's clock. */
struct bound { int64_t at, ns; };

/* The tightest bounds of each time window. */
struct windows { struct bound low[WINDOWS], high[WINDOWS]; };

struct pairing {
	struct clocks *k;
	struct intmap by_clocks;
	GArray *windows;		/* struct windows, one for each link */
	int64_t from_ns, window_ns;
};

/* ID_NONE: there are too many. */
static uint32_t link_of(struct pairing *p, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t at = intmap_get(&p->by_clocks, key);
	if (at != INTMAP_NONE || p->k->links->len >= LINKS)
		return at;
	intmap_set(&p->by_clocks, key, p->k->links->len);
	struct clock_link new = { .a = a, .b = b, .low_ns = -MOST_NS, .high_ns = MOST_NS,
				  .delay_ns = INT64_MAX, .from_ns = INT64_MAX, .to_ns = INT64_MIN };
	struct windows none;
	for (int i = 0; i < WINDOWS; i++) {
		none.low[i] = (struct bound){ 0, -MOST_NS };
		none.high[i] = (struct bound){ 0, MOST_NS };
	}
	g_array_append_val(p->k->links, new);
	g_array_append_val(p->windows, none);
	return p->k->links->len - 1;
}

static int window_of(const struct pairing *p, int64_t at)
{
	return (int)CLAMP(apart(at, p->from_ns) / p->window_ns, 0, WINDOWS - 1);
}

/* Adds a pair: the offset of b to a is in [low, high]. */
static void bound(struct pairing *p, uint32_t link, struct bound low_at, struct bound high_at)
{
	if (link == ID_NONE)
		return;
	struct clock_link *l = &g_array_index(p->k->links, struct clock_link, link);
	struct windows *w = &g_array_index(p->windows, struct windows, link);
	struct bound *lows = &w->low[window_of(p, low_at.at)];
	struct bound *highs = &w->high[window_of(p, high_at.at)];
	int64_t low = low_at.ns, high = high_at.ns, delay = high - low, at = low + delay / 2;
	if (low > lows->ns)
		*lows = low_at;
	if (high < highs->ns)
		*highs = high_at;
	l->from_ns = MIN(l->from_ns, MIN(low_at.at, high_at.at));
	l->to_ns = MAX(l->to_ns, MAX(low_at.at, high_at.at));
	l->pairs++;
	l->low_ns = MAX(l->low_ns, low);
	l->high_ns = MIN(l->high_ns, high);
	if (delay > l->delay_ns || (delay == l->delay_ns && at >= l->at_ns))
		return;
	l->delay_ns = delay;
	l->at_ns = at;
}

static void add_pair(struct pairing *p, const struct timed_half *client, const struct span *server)
{
	struct clocks *k = p->k;
	uint32_t to = clock_of(k, server);
	int64_t high = apart(server->begin_ns, client->begin), low = apart(server->end_ns, client->end);
	if (client->clock == to || low > high)	/* the server worked longer than the client waited: no bound */
		return;
	g_array_index(k->clocks, struct clock, client->clock).calls++;
	if (client->clock < to)
		bound(p, link_of(p, client->clock, to), (struct bound){ client->end, low },
		      (struct bound){ client->begin, high });
	else
		bound(p, link_of(p, to, client->clock), (struct bound){ server->begin_ns, -high },
		      (struct bound){ server->end_ns, -low });
}

/* Pairs each server span with the client half of the same span, or with its parent client span. */
static void add_pairs(struct pairing *p, const struct timeline *tl)
{
	const struct clocks *k = p->k;
	g_autoptr(GArray) clients = clients_of(tl, k);
	for (size_t i = 0; clients->len && i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->kind != SPAN_SERVER || s->state != SPAN_COMPLETE || clock_of(k, s) == ID_NONE)
			continue;
		const struct timed_half *client = client_of(clients, s->trace_id, s->span_id);
		if (!client && s->parent_id)
			client = client_of(clients, s->trace_id, s->parent_id);
		if (client)
			add_pair(p, client, s);
	}
}

/* ---- estimates ---- */

/* Bounds of the drift in ns per ns, from pairs of bounds at different instants. *ret_low and *ret_high are the
 * possible slopes, infinite if unbounded. Returns whether any line satisfies all bounds. */
static bool slopes_of(const struct windows *w, double *ret_low, double *ret_high)
{
	*ret_low = -INFINITY;
	*ret_high = INFINITY;
	for (int i = 0; i < WINDOWS; i++)
		for (int j = 0; j < WINDOWS; j++) {
			const struct bound *low = &w->low[i], *high = &w->high[j];
			if (low->ns == -MOST_NS || high->ns == MOST_NS)
				continue;
			double more = (double)(low->ns - high->ns), dt = (double)(low->at - high->at);
			if (dt > 0)
				*ret_low = MAX(*ret_low, more / dt);
			else if (dt < 0)
				*ret_high = MIN(*ret_high, more / dt);
			else if (more > 0)
				return false;
		}
	return *ret_low <= *ret_high;
}

/* The bounds of the offset at an instant for a given slope. */
static void offsets_at(const struct windows *w, double slope, int64_t at, double *low, double *high)
{
	double lowest = -INFINITY, highest = INFINITY;
	for (int i = 0; i < WINDOWS; i++) {
		const struct bound *l = &w->low[i], *h = &w->high[i];
		if (l->ns != -MOST_NS)
			lowest = MAX(lowest, (double)l->ns - slope * (double)(l->at - at));
		if (h->ns != MOST_NS)
			highest = MIN(highest, (double)h->ns - slope * (double)(h->at - at));
	}
	*low = MIN(*low, lowest);
	*high = MAX(*high, highest);
}

static int64_t rounded(double ns)
{
	return (int64_t)CLAMP(round(ns), (double)-MOST_NS, (double)MOST_NS);
}

/* Estimates the offset in the middle of the line's time; the error holds for all of that time. */
static void estimate_line(struct clock_link *l, const struct windows *w, double low, double high)
{
	int64_t middle = l->from_ns + apart(l->to_ns, l->from_ns) / 2;
	double from = INFINITY, to = -INFINITY, slope = low + (high - low) / 2;
	for (int i = 0; i < SLOPES; i++)
		offsets_at(w, low + (high - low) * i / (SLOPES - 1), middle, &from, &to);
	l->offset_ns = rounded(from + (to - from) / 2);
	l->error_ns = rounded(fabs(to - from) / 2 + fabs(slope) * (double)apart(l->to_ns, l->from_ns) / 2);
}

static void estimate(struct clock_link *l, const struct windows *w)
{
	double low, high;
	bool known = slopes_of(w, &low, &high);
	l->drift_low_ppm = 1;		/* low > high: unknown */
	if (known && high - low <= 2 * TELLING_DRIFT / 1e6) {
		l->drift_low_ppm = low * 1e6;
		l->drift_high_ppm = high * 1e6;
		l->drifts = (low > 0 || high < 0) && fabs(low + high) / 2 * 1e6 <= MOST_DRIFT;
	}
	if (l->drifts) {
		estimate_line(l, w, low, high);
		return;
	}
	if (l->low_ns <= l->high_ns) {
		int64_t width = l->high_ns - l->low_ns;
		l->offset_ns = l->low_ns + width / 2;
		l->error_ns = width - width / 2;
		return;
	}
	l->offset_ns = l->at_ns;
	l->error_ns = MAX(l->delay_ns - l->delay_ns / 2,
			  MAX(l->low_ns - l->at_ns, l->at_ns - l->high_ns));
}

/* The reference is the clock that is the client most often. */
static void choose_reference(struct clocks *k)
{
	g_autofree struct clock *all = g_memdup2(k->clocks->data, k->clocks->len * sizeof(struct clock));
	guint best = 0, n = k->clocks->len, at = 1;
	for (guint i = 1; i < n; i++)
		if (all[i].calls > all[best].calls)
			best = i;
	g_autofree uint32_t *moved = g_new0(uint32_t, n);
	for (guint i = 0; i < n; i++) {
		moved[i] = i == best ? 0 : at++;
		g_array_index(k->clocks, struct clock, moved[i]) = all[i];
	}
	for (guint i = 0; i < k->n_places; i++)
		k->of_place[i] = k->of_place[i] == ID_NONE ? ID_NONE : moved[k->of_place[i]];
	ARRAY_EACH(struct clock_link, l, k->links) {
		l->a = moved[l->a];
		l->b = moved[l->b];
	}
}

/* Follows the link from one of its ends: computes the offset of the other end to the reference. */
static bool reach(const struct clocks *k, const struct clock_link *l, const bool *done,
		  uint32_t *ret_to, struct clock *ret)
{
	if (done[l->a] == done[l->b])
		return false;
	uint32_t from = done[l->a] ? l->a : l->b;
	const struct clock *c = &g_array_index(k->clocks, struct clock, from);
	*ret_to = from == l->a ? l->b : l->a;
	bool onwards = from == l->a;
	double drift = l->drifts ? (l->drift_low_ppm + l->drift_high_ppm) / 2 : 0;
	ret->offset_ns = CLAMP(c->offset_ns + (onwards ? l->offset_ns : -l->offset_ns), -MOST_NS, MOST_NS);
	ret->error_ns = MIN(c->error_ns + l->error_ns, MOST_NS);
	ret->drift_ppm = c->drift_ppm + (onwards ? drift : -drift);
	ret->at_ns = l->from_ns + apart(l->to_ns, l->from_ns) / 2;
	return true;
}

/* Computes offsets from the reference outwards; the next clock is always the one with the smallest error. */
static void spread(struct clocks *k)
{
	g_autofree bool *done = g_new0(bool, k->clocks->len);
	g_array_index(k->clocks, struct clock, 0).offset_ns = 0;
	done[0] = true;
	for (;;) {
		struct clock reached, nearest = { .error_ns = INT64_MAX };
		uint32_t to, best = ID_NONE;
		ARRAY_EACH(const struct clock_link, l, k->links) {
			if (!reach(k, l, done, &to, &reached) || reached.error_ns > nearest.error_ns ||
			    (reached.error_ns == nearest.error_ns && to >= best))
				continue;
			best = to;
			nearest = reached;
		}
		if (best == ID_NONE)
			return;
		done[best] = true;
		struct clock *c = &g_array_index(k->clocks, struct clock, best);
		c->offset_ns = nearest.offset_ns;
		c->error_ns = nearest.error_ns;
		c->drift_ppm = nearest.drift_ppm;
		c->at_ns = nearest.at_ns;
	}
}

static int compare_links(const void *va, const void *vb)
{
	const struct clock_link *a = va, *b = vb;
	return ORDER(a->a, b->a) ?: ORDER(a->b, b->b);
}

struct clocks *clocks_new(const struct timeline *tl)
{
	struct clocks *k = g_new0(struct clocks, 1);
	k->n_hosts = timeline_n_hosts(tl);
	k->clocks = g_array_new(false, false, sizeof(struct clock));
	k->links = g_array_new(false, false, sizeof(struct clock_link));
	k->texts = g_ptr_array_new_with_free_func(g_free);
	add_clocks(k, tl);
	int64_t first, last;
	struct pairing p = { .k = k, .windows = g_array_new(false, false, sizeof(struct windows)) };
	if (timeline_coverage(tl, &first, &last) && k->clocks->len > 1) {
		p.from_ns = first;
		p.window_ns = apart(last, first) / WINDOWS + 1;
		add_pairs(&p, tl);
	}
	for (guint i = 0; i < k->links->len; i++)
		estimate(&g_array_index(k->links, struct clock_link, i),
			 &g_array_index(p.windows, struct windows, i));
	g_array_unref(p.windows);
	intmap_clear(&p.by_clocks);
	if (k->clocks->len) {
		choose_reference(k);
		spread(k);
	}
	g_array_sort(k->links, compare_links);
	return k;
}

void clocks_free(struct clocks *k)
{
	if (!k)
		return;
	g_array_unref(k->clocks);
	g_array_unref(k->links);
	g_ptr_array_unref(k->texts);
	intmap_clear(&k->endpoints);
	g_free(k->of_place);
	g_free(k);
}

/* ---- questions ---- */

static const struct clock_link *find_link(const struct clocks *k, uint32_t a, uint32_t b)
{
	ARRAY_EACH(const struct clock_link, l, k->links)
		if ((l->a == a && l->b == b) || (l->a == b && l->b == a))
			return l;
	return NULL;
}

bool clocks_between(const struct clocks *k, uint32_t from, uint32_t to, int64_t *ret_offset_ns,
		    int64_t *ret_error_ns)
{
	uint32_t a = from < k->n_places ? k->of_place[from] : ID_NONE;
	uint32_t b = to < k->n_places ? k->of_place[to] : ID_NONE;
	*ret_offset_ns = *ret_error_ns = 0;
	if (a == ID_NONE || b == ID_NONE)
		return false;
	if (a == b)
		return true;
	const struct clock_link *l = find_link(k, a, b);
	if (l) {
		*ret_offset_ns = l->a == a ? l->offset_ns : -l->offset_ns;
		*ret_error_ns = l->error_ns;
		return true;
	}
	const struct clock *x = &g_array_index(k->clocks, struct clock, a);
	const struct clock *y = &g_array_index(k->clocks, struct clock, b);
	if (x->offset_ns == TIME_UNKNOWN || y->offset_ns == TIME_UNKNOWN)
		return false;
	*ret_offset_ns = apart(y->offset_ns, x->offset_ns);
	*ret_error_ns = MIN(x->error_ns + y->error_ns, MOST_NS);
	return true;
}

int64_t clocks_offset_at(const struct clocks *k, guint i, int64_t at_ns)
{
	const struct clock *c = &g_array_index(k->clocks, struct clock, i);
	return rounded((double)c->offset_ns + c->drift_ppm / 1e6 * (double)apart(at_ns, c->at_ns));
}

/* Adjusts the offset to the span's instant if the clocks drift. */
static void follow_drift(const struct clocks *k, const struct span *client, const struct span *server,
			 int64_t *offset, int64_t *error)
{
	uint32_t from = clock_of(k, client);
	const struct clock_link *l = find_link(k, from, clock_of(k, server));
	if (!l || !l->drifts)
		return;
	double slope = (l->drift_low_ppm + l->drift_high_ppm) / 2e6;
	int64_t half = apart(l->to_ns, l->from_ns) / 2;
	int64_t at = l->a == from ? client->begin_ns : server->begin_ns;
	int64_t more = rounded(slope * (double)apart(at, l->from_ns + half));
	*offset = apart(*offset, l->a == from ? -more : more);
	*error = MAX(*error - rounded(fabs(slope) * (double)half), 0);
}

struct clock_gap clocks_gap(const struct clocks *k, const struct span *client,
			    const struct span *server)
{
	struct clock_gap gap = { apart(span_duration(client), span_duration(server)),
				 TIME_UNKNOWN, TIME_UNKNOWN, 0 };
	int64_t offset;
	if (!clocks_between(k, clocks_place(k, client), clocks_place(k, server), &offset, &gap.error_ns))
		return gap;
	follow_drift(k, client, server, &offset, &gap.error_ns);
	gap.there_ns = apart(apart(server->begin_ns, client->begin_ns), offset);
	gap.back_ns = apart(apart(client->end_ns, server->end_ns), -offset);
	return gap;
}

char *clocks_text(char buf[TIMEFMT_LEN], int64_t ns)
{
	bool long_one = ns <= -NS_PER_S || ns >= NS_PER_S;
	g_snprintf(buf, TIMEFMT_LEN, long_one ? "%.6fs" : "%.3fms",
		   (double)ns / (double)(long_one ? NS_PER_S : NS_PER_MS));
	return buf;
}

/* Appends ", gaining 12.3 +-0.4 ppm", which is about the first of the two named clocks. */
static void add_drift(GString *to, const struct clock_link *l, bool ahead)
{
	double middle = (l->drift_low_ppm + l->drift_high_ppm) / 2 * (ahead ? 1 : -1);
	if (l->drifts)
		g_string_append_printf(to, ", %s %.1f +-%.1f ppm", middle < 0 ? "losing" : "gaining",
				       fabs(middle), (l->drift_high_ppm - l->drift_low_ppm) / 2);
	else if (l->low_ns > l->high_ns)
		g_string_append(to, ", contradictory: drift");
	else if (l->drift_low_ppm <= l->drift_high_ppm)
		g_string_append_printf(to, ", drift below %.0f ppm",
				       ceil(MAX(fabs(l->drift_low_ppm), fabs(l->drift_high_ppm))));
}

static void add_link(GString *to, const struct clocks *k, const struct clock_link *l)
{
	char offset[TIMEFMT_LEN], error[TIMEFMT_LEN];
	bool ahead = l->offset_ns >= 0;		/* true: b is ahead */
	const struct clock *first = &g_array_index(k->clocks, struct clock, ahead ? l->b : l->a);
	const struct clock *second = &g_array_index(k->clocks, struct clock, ahead ? l->a : l->b);
	g_string_append_printf(to, "%s%s is %s +-%s ahead of %s (%" G_GUINT64_FORMAT " call%s",
			       to->len ? "; " : "clocks: ", first->host,
			       clocks_text(offset, ahead ? l->offset_ns : -l->offset_ns),
			       timefmt_duration(error, l->error_ns), second->host, l->pairs,
			       l->pairs == 1 ? "" : "s");
	add_drift(to, l, ahead);
	g_string_append_c(to, ')');
}

char *clocks_sentence(const struct clocks *k)
{
	GString *text = g_string_new(NULL);
	unsigned n = 0;			/* pairs of endpoints that differ by more than the error */
	ARRAY_EACH(const struct clock_link, l, k->links) {
		bool endpoints = g_array_index(k->clocks, struct clock, l->a).is_endpoint ||
				 g_array_index(k->clocks, struct clock, l->b).is_endpoint;
		bool differs = ABS(l->offset_ns) > l->error_ns;
		if (!endpoints || (differs && n < PAIRS_NAMED))
			add_link(text, k, l);
		n += endpoints && differs;
	}
	if (n > PAIRS_NAMED)
		g_string_append_printf(text, "; and %u more", n - PAIRS_NAMED);
	if (k->n_hosts > 1 && k->clocks->len > 1 && !k->links->len)
		g_string_append(text, "clocks: no calls from one host to another tell how far theirs are apart");
	return g_string_free(text, text->len == 0);
}
