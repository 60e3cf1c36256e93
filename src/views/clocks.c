/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks of several hosts from pairs of spans: see clocks.h. */
#include "views/clocks.h"

#include "base/intmap.h"

#include <string.h>

#define MOST_NS (INT64_MAX / 4)		/* so that sums of two do not overflow */

/* What instants of hostile traces are apart. */
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
	int order = strcmp(a->host, b->host);
	return order ? order : strcmp(a->boot, b->boot);
}

/* A host's own clock; that of its boot where another one has it, too, under the name that
 * comes first. Hosts without a boot are told apart by their names. */
static void add_clock(GArray *clocks, const struct host_info *h)
{
	struct clock new = { name_of(h), boot_of(h), TIME_UNKNOWN, 0, 0 };
	for (guint i = 0; i < clocks->len; i++) {
		struct clock *have = &g_array_index(clocks, struct clock, i);
		if (strcmp(have->boot, new.boot) || (!*new.boot && strcmp(have->host, new.host)))
			continue;
		if (strcmp(new.host, have->host) < 0)
			have->host = new.host;
		return;
	}
	g_array_append_val(clocks, new);
}

static uint32_t find_clock(const GArray *clocks, const struct host_info *h)
{
	for (guint i = 0; i < clocks->len; i++) {
		const struct clock *have = &g_array_index(clocks, struct clock, i);
		if (!strcmp(have->boot, boot_of(h)) &&
		    (*have->boot || !strcmp(have->host, name_of(h))))
			return i;
	}
	return ID_NONE;
}

/* ---- pairs ---- */

struct half { uint64_t trace, span; int64_t begin, end; uint32_t clock; };

static int compare_halves(const void *va, const void *vb)
{
	const struct half *a = va, *b = vb;
	if (a->trace != b->trace)
		return a->trace < b->trace ? -1 : 1;
	return a->span != b->span ? (a->span < b->span ? -1 : 1) : 0;
}

static GArray *clients_of(const struct timeline *tl, const struct clocks *k)
{
	GArray *halves = g_array_new(false, false, sizeof(struct half));
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->kind != SPAN_CLIENT || s->state != SPAN_COMPLETE || s->host >= k->n_hosts)
			continue;
		struct half h = { s->trace_id, s->span_id, s->begin_ns, s->end_ns, k->of_host[s->host] };
		g_array_append_val(halves, h);
	}
	g_array_sort(halves, compare_halves);
	return halves;
}

/* The one client of this id; NULL: none, or several, of which nobody knows whose it is. */
static const struct half *client_of(const GArray *clients, uint64_t trace, uint64_t span)
{
	const struct half key = { .trace = trace, .span = span };
	guint at;
	if (!g_array_binary_search((GArray *)clients, &key, compare_halves, &at))
		return NULL;
	const struct half *h = &g_array_index(clients, struct half, at);
	bool twice = (at > 0 && !compare_halves(h - 1, h)) ||
		     (at + 1 < clients->len && !compare_halves(h + 1, h));
	return twice ? NULL : h;
}

static struct clock_link *link_of(struct clocks *k, struct intmap *by_clocks, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t at = intmap_get(by_clocks, key);
	if (at != INTMAP_NONE)
		return &g_array_index(k->links, struct clock_link, at);
	intmap_set(by_clocks, key, k->links->len);
	struct clock_link new = { .a = a, .b = b, .low_ns = -MOST_NS, .high_ns = MOST_NS,
				  .delay_ns = INT64_MAX };
	g_array_append_val(k->links, new);
	return &g_array_index(k->links, struct clock_link, k->links->len - 1);
}

/* Of one pair: the offset of b to a is in [low, high]. */
static void bound(struct clock_link *l, int64_t low, int64_t high)
{
	int64_t delay = high - low, at = low + delay / 2;
	l->pairs++;
	l->low_ns = MAX(l->low_ns, low);
	l->high_ns = MIN(l->high_ns, high);
	if (delay > l->delay_ns || (delay == l->delay_ns && at >= l->at_ns))
		return;
	l->delay_ns = delay;
	l->at_ns = at;
}

static void add_pair(struct clocks *k, struct intmap *by_clocks, const struct half *client,
		     const struct span *server)
{
	uint32_t to = k->of_host[server->host];
	int64_t high = apart(server->begin_ns, client->begin), low = apart(server->end_ns, client->end);
	if (client->clock == to || low > high)	/* more was done than was waited for: no bound */
		return;
	g_array_index(k->clocks, struct clock, client->clock).calls++;
	if (client->clock < to)
		bound(link_of(k, by_clocks, client->clock, to), low, high);
	else
		bound(link_of(k, by_clocks, to, client->clock), -high, -low);
}

/* The other half of the same span, or the client span that it is the child of. */
static void add_pairs(struct clocks *k, const struct timeline *tl)
{
	g_autoptr(GArray) clients = clients_of(tl, k);
	struct intmap by_clocks = { 0 };
	for (size_t i = 0; clients->len && i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->kind != SPAN_SERVER || s->state != SPAN_COMPLETE || s->host >= k->n_hosts)
			continue;
		const struct half *client = client_of(clients, s->trace_id, s->span_id);
		if (!client && s->parent_id)
			client = client_of(clients, s->trace_id, s->parent_id);
		if (client)
			add_pair(k, &by_clocks, client, s);
	}
	intmap_clear(&by_clocks);
}

/* ---- estimates ---- */

static void estimate(struct clock_link *l)
{
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

/* What calls most becomes the first. */
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
	for (guint i = 0; i < k->n_hosts; i++)
		k->of_host[i] = k->of_host[i] == ID_NONE ? ID_NONE : moved[k->of_host[i]];
	for (guint i = 0; i < k->links->len; i++) {
		struct clock_link *l = &g_array_index(k->links, struct clock_link, i);
		l->a = moved[l->a];
		l->b = moved[l->b];
	}
}

/* Over the link, from one of its ends: the offset of the other to the reference. */
static bool reach(const struct clocks *k, const struct clock_link *l, const bool *done,
		  uint32_t *ret_to, int64_t *ret_offset, int64_t *ret_error)
{
	if (done[l->a] == done[l->b])
		return false;
	uint32_t from = done[l->a] ? l->a : l->b;
	const struct clock *c = &g_array_index(k->clocks, struct clock, from);
	*ret_to = from == l->a ? l->b : l->a;
	*ret_offset = CLAMP(c->offset_ns + (from == l->a ? l->offset_ns : -l->offset_ns), -MOST_NS, MOST_NS);
	*ret_error = MIN(c->error_ns + l->error_ns, MOST_NS);
	return true;
}

/* From the reference outwards, always to the clock that is known best. */
static void spread(struct clocks *k)
{
	g_autofree bool *done = g_new0(bool, k->clocks->len);
	g_array_index(k->clocks, struct clock, 0).offset_ns = 0;
	done[0] = true;
	for (;;) {
		int64_t offset, error, best_offset = 0, best_error = INT64_MAX;
		uint32_t to, best = ID_NONE;
		for (guint i = 0; i < k->links->len; i++) {
			const struct clock_link *l = &g_array_index(k->links, struct clock_link, i);
			if (!reach(k, l, done, &to, &offset, &error) || error > best_error ||
			    (error == best_error && to >= best))
				continue;
			best = to;
			best_offset = offset;
			best_error = error;
		}
		if (best == ID_NONE)
			return;
		done[best] = true;
		g_array_index(k->clocks, struct clock, best).offset_ns = best_offset;
		g_array_index(k->clocks, struct clock, best).error_ns = best_error;
	}
}

static int compare_links(const void *va, const void *vb)
{
	const struct clock_link *a = va, *b = vb;
	return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

struct clocks *clocks_new(const struct timeline *tl)
{
	struct clocks *k = g_new0(struct clocks, 1);
	k->n_hosts = timeline_n_hosts(tl);
	k->clocks = g_array_new(false, false, sizeof(struct clock));
	k->links = g_array_new(false, false, sizeof(struct clock_link));
	k->of_host = g_new(uint32_t, k->n_hosts + 1);
	for (uint32_t i = 0; i < k->n_hosts; i++)
		if (timeline_host(tl, i))
			add_clock(k->clocks, timeline_host(tl, i));
	g_array_sort(k->clocks, compare_clocks);
	for (uint32_t i = 0; i < k->n_hosts; i++)
		k->of_host[i] = find_clock(k->clocks, timeline_host(tl, i));
	if (k->clocks->len > 1)
		add_pairs(k, tl);
	for (guint i = 0; i < k->links->len; i++)
		estimate(&g_array_index(k->links, struct clock_link, i));
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
	g_free(k->of_host);
	g_free(k);
}

/* ---- questions ---- */

static const struct clock_link *find_link(const struct clocks *k, uint32_t a, uint32_t b)
{
	for (guint i = 0; i < k->links->len; i++) {
		const struct clock_link *l = &g_array_index(k->links, struct clock_link, i);
		if ((l->a == a && l->b == b) || (l->a == b && l->b == a))
			return l;
	}
	return NULL;
}

bool clocks_between(const struct clocks *k, uint32_t from, uint32_t to, int64_t *ret_offset_ns,
		    int64_t *ret_error_ns)
{
	uint32_t a = from < k->n_hosts ? k->of_host[from] : ID_NONE;
	uint32_t b = to < k->n_hosts ? k->of_host[to] : ID_NONE;
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

struct clock_gap clocks_gap(const struct clocks *k, const struct span *client,
			    const struct span *server)
{
	struct clock_gap gap = { apart(span_duration(client), span_duration(server)),
				 TIME_UNKNOWN, TIME_UNKNOWN, 0 };
	int64_t offset;
	if (!clocks_between(k, client->host, server->host, &offset, &gap.error_ns))
		return gap;
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

static void add_link(GString *to, const struct clocks *k, const struct clock_link *l)
{
	char offset[TIMEFMT_LEN], error[TIMEFMT_LEN];
	bool ahead = l->offset_ns >= 0;		/* b is */
	const struct clock *first = &g_array_index(k->clocks, struct clock, ahead ? l->b : l->a);
	const struct clock *second = &g_array_index(k->clocks, struct clock, ahead ? l->a : l->b);
	g_string_append_printf(to, "%s%s is %s +-%s ahead of %s (%" G_GUINT64_FORMAT " call%s%s)",
			       to->len ? "; " : "clocks: ", first->host,
			       clocks_text(offset, ahead ? l->offset_ns : -l->offset_ns),
			       timefmt_duration(error, l->error_ns), second->host, l->pairs,
			       l->pairs == 1 ? "" : "s",
			       l->low_ns > l->high_ns ? ", contradictory: drift" : "");
}

char *clocks_sentence(const struct clocks *k)
{
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < k->links->len; i++)
		add_link(text, k, &g_array_index(k->links, struct clock_link, i));
	if (k->clocks->len > 1 && !k->links->len)
		g_string_append(text, "clocks: no calls from one host to another tell how far theirs are apart");
	return g_string_free(text, text->len == 0);
}
