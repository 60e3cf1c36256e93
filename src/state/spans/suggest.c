/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts pairs of events by several keys, as rules would pair them: see suggest.h. */
#include "state/spans/suggest.h"

#include "state/kernel/handlers.h"
#include "state/kernel/rules_table.h"

#include "base/each.h"
#include "base/fields.h"
#include "base/limits.h"
#include "base/mix.h"
#include "base/sort.h"

#include <string.h>

#define FIELDS 6			/* of a begin event are tried as keys */
#define NAMES 64			/* most values of a field that is part of a name */
#define PHASE_BYTES 16			/* of a field that says which event it is */
#define ALL_OPEN (8 * LIMIT_SUGGEST_KEYS)	/* spans of all ways together, of some 200 bytes each */

/* Which begin event an end event belongs to, with field i of the begin event. */
enum option { BY_THREAD_ONLY, BY_FIELD_OF_THREAD, BY_FIELD_OF_PROCESS, BY_FIELD_ONLY, OPTION_N };
#define WAYS (1 + FIELDS * (OPTION_N - 1))

struct open_pair {				/* an open span */
	int64_t ts;
	uint64_t field[FIELDS];		/* hashes of the values of the begin event */
};

struct way {
	GHashTable *open;		/* uint64_t key -> GArray of struct open_pair, innermost last */
	uint64_t n_begins, n_pairs, n_ends;	/* if spans nest; n_ends: without a begin */
	uint64_t n_keyless;		/* events without the key */
	uint64_t n_unsure, n_repeated;	/* n_repeated: begins of an open key */
	uint64_t differ[FIELDS];	/* pairs whose values differ */
	uint64_t n_open;		/* frames in .open */
	bool dead;			/* not followed any more: too many keys or spans are open */
};

struct value_set { GHashTable *seen; bool many; };

struct field_info {
	char *name;
	bool is_text;
	struct value_set values;
};

struct pair_of {
	unsigned begin, end;		/* indexes in .events */
	char *field;			/* one event: which field says what it is; else NULL */
	char *begin_is, *end_is;	/* .field: its values, as in a rule; NULL: not seen yet */
	char *stem;
	bool weak;			/* one of the names does not say what it is */
	bool same_family, begun;
	uint64_t n_early;		/* ends before the first begin */
	unsigned n_fields;
	struct field_info fields[FIELDS];
	struct way way[WAYS];
};

struct event_of {
	const char *name;
	enum suggest_role role;
	unsigned family;
	char *stem;
	GArray *pairs;			/* guint: indexes in .pairs */
};

struct suggest {
	GPtrArray *names;		/* char * */
	GArray *rows;			/* struct blk_subscription; row i is that of event i */
	GArray *events;			/* struct event_of */
	GPtrArray *pairs;		/* struct pair_of * */
	GArray *losses;			/* struct losses_of, by host */
	uint64_t n_open;		/* frames of all ways */
};

/* Losses of a host's user space. They come in order of their begins. */
struct losses_of {
	int64_t begin;			/* of the newest ones */
	int64_t end, earlier_end;	/* the last end of the newest ones, and of those that began before them;
					 * INT64_MIN: none */
};

static struct event_of *event_at(const struct suggest *g, guint i)
{
	return &g_array_index(g->events, struct event_of, i);
}

/* ---- events and pairs ---- */

static void event_clear(gpointer p)
{
	struct event_of *e = p;
	g_free(e->stem);
	g_array_unref(e->pairs);
}

static void pair_free(gpointer p)
{
	struct pair_of *x = p;
	for (unsigned i = 0; i < x->n_fields; i++) {
		g_free(x->fields[i].name);
		g_hash_table_unref(x->fields[i].values.seen);
	}
	for (unsigned i = 0; i < WAYS; i++)
		g_clear_pointer(&x->way[i].open, g_hash_table_unref);
	g_free(x->field);
	g_free(x->begin_is);
	g_free(x->end_is);
	g_free(x->stem);
	g_free(x);
}

static struct pair_of *add_pair(struct suggest *g, guint begin, guint end, const char *stem)
{
	if (g->pairs->len >= LIMIT_RULE_CLASSES)
		return NULL;
	struct pair_of *p = g_new0(struct pair_of, 1);
	guint at = g->pairs->len;
	p->begin = begin;
	p->end = end;
	p->stem = g_strdup(stem);
	g_ptr_array_add(g->pairs, p);
	g_array_append_val(event_at(g, begin)->pairs, at);
	if (begin != end)
		g_array_append_val(event_at(g, end)->pairs, at);
	return p;
}

/* Can its name be written in a file of rules? */
static bool is_plain(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!g_ascii_isgraph(*c) || strchr("*[]", *c))
			return false;
	return *name && *name != '#' && *name != ';';
}

static void add_event(struct suggest *g, const char *name)
{
	static const char *const nothing = "*";
	struct blk_subscription row = { .event = name, .fields = { nothing } };
	struct event_of e = { .name = name, .pairs = g_array_new(false, false, sizeof(guint)) };
	e.role = suggest_role(name, &e.stem, &e.family);
	g_array_append_val(g->rows, row);
	g_array_append_val(g->events, e);
}

static void pair_names(struct suggest *g, const GArray *same)
{
	bool roles[SUGGEST_END + 1] = { false };
	for (guint i = 0; i < same->len; i++)
		roles[event_at(g, g_array_index(same, guint, i))->role] = true;
	if (roles[SUGGEST_NONE] + roles[SUGGEST_BEGIN] + roles[SUGGEST_END] < 2)
		return;
	for (guint i = 0; i < same->len; i++) {
		guint a = g_array_index(same, guint, i);
		for (guint k = 0; k < same->len; k++) {
			guint b = g_array_index(same, guint, k);
			const struct event_of *x = event_at(g, a), *y = event_at(g, b);
			if (a == b || x->role == SUGGEST_END || y->role == SUGGEST_BEGIN || x->role == y->role)
				continue;
			struct pair_of *p = add_pair(g, a, b, x->stem);
			if (!p)
				return;
			p->weak = x->role == SUGGEST_NONE || y->role == SUGGEST_NONE;
			p->same_family = x->family == y->family;
		}
	}
}

static void find_pairs(struct suggest *g)
{
	g_autoptr(GHashTable) stems = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
							    (GDestroyNotify)g_array_unref);
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	for (guint i = 0; i < g->events->len; i++) {
		const char *stem = event_at(g, i)->stem;
		GArray *same = g_hash_table_lookup(stems, stem);
		if (!same) {
			same = g_array_new(false, false, sizeof(guint));
			g_hash_table_insert(stems, (gpointer)stem, same);
			g_ptr_array_add(order, same);
		}
		g_array_append_val(same, i);
	}
	for (guint i = 0; i < order->len; i++)
		pair_names(g, order->pdata[i]);
}

struct suggest *suggest_new(const char *const *names)
{
	size_t n;
	const struct blk_subscription *base = slice_base_subscriptions(&n);
	struct suggest *g = g_new0(struct suggest, 1);
	g->names = g_ptr_array_new_with_free_func(g_free);
	g->rows = g_array_new(false, true, sizeof(struct blk_subscription));
	g->events = g_array_new(false, true, sizeof(struct event_of));
	g_array_set_clear_func(g->events, event_clear);
	g->pairs = g_ptr_array_new_with_free_func(pair_free);
	g->losses = g_array_new(false, false, sizeof(struct losses_of));
	bool kernel = false;		/* then names without a provider are the kernel's */
	for (const char *const *name = names; *name; name++)
		kernel |= !strchr(*name, ':') && subscription_of(base, n, *name) != G_MAXUINT16;
	for (; *names; names++)
		if (is_plain(*names) && subscription_of(base, n, *names) == G_MAXUINT16 &&
		    (!kernel || strchr(*names, ':')) && !g_str_has_prefix(*names, "lttng_ust_statedump:"))
			g_ptr_array_add(g->names, g_strdup(*names));
	g_ptr_array_sort(g->names, order_texts);
	for (guint i = 0; i < g->names->len; i++)
		if (!i || !g_str_equal(g->names->pdata[i], g->names->pdata[i - 1]))
			add_event(g, g->names->pdata[i]);
	find_pairs(g);
	if (!g->events->len)
		g_clear_pointer(&g, suggest_free);
	return g;
}

void suggest_free(struct suggest *g)
{
	if (!g)
		return;
	g_array_unref(g->events);
	g_array_unref(g->rows);
	g_array_unref(g->losses);
	g_ptr_array_unref(g->pairs);
	g_ptr_array_unref(g->names);
	g_free(g);
}

const struct blk_subscription *suggest_subscriptions(const struct suggest *g, size_t *ret_n)
{
	*ret_n = g->rows->len;
	return (const struct blk_subscription *)(void *)g->rows->data;
}

/* ---- fields ---- */

/* An event with what of its fields counts. */
struct seen_event {
	const struct blk_event *ev;
	struct blk_text run;		/* all fields (base/fields.h) */
	uint64_t host;
	int64_t vtid, vpid;		/* -1: the event does not have it */
	int64_t lost_to;		/* events before this instant may be missing */
};

static uint64_t value_of(const struct field *f)
{
	if (f->kind != FIELD_TEXT)
		return mix(2, f->value);
	return mix_bytes(mix(3, f->len), f->text, f->len);
}

static bool is_key(const struct field *f)
{
	return f->kind == FIELD_SIGNED || f->kind == FIELD_UNSIGNED || f->kind == FIELD_TEXT;
}

static bool is_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!g_ascii_isalnum(*c) && *c != '_')
			return false;
	return *name != '\0' && strcmp(name, "thread") && strcmp(name, "cpu") && strcmp(name, "host");
}

/* Calls `each` for the fields of the payload that are in no structure. */
static void each_field(const struct seen_event *s, void (*each)(const struct field *f, void *data), void *data)
{
	struct fields_cursor c = fields_of(s->run.str, s->run.len);
	struct field f;
	for (unsigned depth = 0; fields_next(&c, &f);) {
		if (!depth && f.scope == FIELD_PAYLOAD && is_key(&f) && is_name(f.name))
			each(&f, data);
		if (f.kind == FIELD_BEGIN)
			depth++;
		else if (f.kind == FIELD_END && depth)
			depth--;
	}
}

static void add_field(const struct field *f, void *data)
{
	struct pair_of *p = data;
	if (p->n_fields >= FIELDS || (p->field && g_str_equal(f->name, p->field)))
		return;
	p->fields[p->n_fields++] = (struct field_info){
		.name = g_strdup(f->name), .is_text = f->kind == FIELD_TEXT,
		.values.seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
	};
}

/* Hashes of the pair's fields; 0: the event does not have it. */
struct hashes { struct pair_of *p; uint64_t h[FIELDS]; };

static void hash_field(const struct field *f, void *data)
{
	struct hashes *to = data;
	for (unsigned i = 0; i < to->p->n_fields; i++)
		if (g_str_equal(to->p->fields[i].name, f->name))
			to->h[i] = value_of(f) | 1;
}

static void note_value(struct value_set *s, uint64_t value)
{
	if (s->many || g_hash_table_contains(s->seen, &value))
		return;
	g_hash_table_add(s->seen, g_memdup2(&value, sizeof value));
	s->many = g_hash_table_size(s->seen) > NAMES;
}

/* ---- counting ---- */

static uint64_t key_of(const struct seen_event *s, enum option option, uint64_t field)
{
	uint64_t h = mix(1, s->host);
	if ((option == BY_THREAD_ONLY || option == BY_FIELD_OF_THREAD) && s->vtid <= 0)
		return 0;
	if (option == BY_FIELD_OF_PROCESS && s->vpid < 0)
		return 0;
	if (option != BY_THREAD_ONLY && !field)
		return 0;
	h = mix(h, option == BY_FIELD_OF_PROCESS ? (uint64_t)s->vpid : option == BY_FIELD_ONLY ? 0 :
		  (uint64_t)s->vtid);
	h = mix(h, option == BY_THREAD_ONLY ? 0 : field);
	return h ? h : 1;
}

static struct way *way_of(struct pair_of *p, enum option option, unsigned field)
{
	return option == BY_THREAD_ONLY ? &p->way[0] :
		&p->way[1 + field * (OPTION_N - 1) + (unsigned)option - 1];
}

static void unref_frames(gpointer p)
{
	g_array_unref(p);
}

static void kill_way(struct suggest *g, struct way *w)
{
	g->n_open -= w->n_open;
	w->n_open = 0;
	w->dead = true;
	g_clear_pointer(&w->open, g_hash_table_unref);
}

static void way_begins(struct suggest *g, struct way *w, uint64_t key, const struct open_pair *f)
{
	if (!w->open)
		w->open = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, unref_frames);
	GArray *frames = g_hash_table_lookup(w->open, &key);
	if (!frames) {
		frames = g_array_new(false, false, sizeof(struct open_pair));
		g_hash_table_insert(w->open, g_memdup2(&key, sizeof key), frames);
	}
	w->n_begins++;
	w->n_repeated += frames->len > 0;
	g_array_append_vals(frames, f, 1);
	w->n_open++;
	g->n_open++;
	if (g_hash_table_size(w->open) > LIMIT_SUGGEST_KEYS || frames->len > LIMIT_OPEN_SPANS || g->n_open > ALL_OPEN)
		kill_way(g, w);
}

static void way_ends(struct suggest *g, struct way *w, uint64_t key, const struct seen_event *s, const struct hashes *h)
{
	GArray *frames = w->open ? g_hash_table_lookup(w->open, &key) : NULL;
	if (!frames) {
		w->n_ends++;
		return;
	}
	struct open_pair f = g_array_index(frames, struct open_pair, frames->len - 1);
	if (frames->len == 1)
		g_hash_table_remove(w->open, &key);
	else
		g_array_set_size(frames, frames->len - 1);
	w->n_open--;
	g->n_open--;
	w->n_pairs++;
	w->n_unsure += s->lost_to > f.ts;
	for (unsigned i = 0; i < h->p->n_fields; i++)
		w->differ[i] += f.field[i] != h->h[i];
}

/* end: NULL for a begin. */
static void count_way(struct suggest *g, struct way *w, uint64_t key, const struct seen_event *s,
		      const struct open_pair *f, const struct hashes *end)
{
	if (w->dead)
		return;
	if (!key)
		w->n_keyless++;
	else if (end)
		way_ends(g, w, key, s, end);
	else
		way_begins(g, w, key, f);
}

static void count(struct suggest *g, struct pair_of *p, const struct seen_event *s, bool begins)
{
	struct hashes h = { .p = p };
	if (begins && !p->begun) {
		each_field(s, add_field, p);
		p->begun = true;
	}
	p->n_early += !begins && !p->begun;
	each_field(s, hash_field, &h);
	struct open_pair f = { .ts = s->ev->ts };
	memcpy(f.field, h.h, sizeof f.field);
	for (unsigned i = 0; begins && i < p->n_fields; i++)
		note_value(&p->fields[i].values, h.h[i]);
	count_way(g, &p->way[0], key_of(s, BY_THREAD_ONLY, 0), s, &f, begins ? NULL : &h);
	for (unsigned i = 0; i < p->n_fields; i++)
		for (enum option o = BY_FIELD_OF_THREAD; o < OPTION_N; o++)
			count_way(g, way_of(p, o, i), key_of(s, o, h.h[i]), s, &f, begins ? NULL : &h);
}

/* ---- events that a field tells apart ---- */

struct phase { struct suggest *g; guint event; const struct seen_event *s; struct pair_of *found; bool begins; };

static bool is_phase_name(const char *name)
{
	static const char *const names[] = { "phase", "ph", NULL };
	return g_strv_contains(names, name);
}

static enum suggest_role phase_of(const struct field *f)
{
	g_autofree char *stem = NULL, *text = NULL;
	unsigned family;
	if (!f->text || !f->len || f->len > PHASE_BYTES)
		return SUGGEST_NONE;
	text = g_strndup(f->text, f->len);
	if (is_phase_name(f->name) && g_ascii_strcasecmp(text, "B") == 0)
		return SUGGEST_BEGIN;
	if (is_phase_name(f->name) && g_ascii_strcasecmp(text, "E") == 0)
		return SUGGEST_END;
	enum suggest_role role = strchr(text, ':') ? SUGGEST_NONE : suggest_role(text, &stem, &family);
	return role != SUGGEST_NONE && !*stem && is_name(text) && family <= 4 ? role : SUGGEST_NONE;
}

/* As a rule compares it: of an enumeration its number. */
static char *phase_value(const struct field *f)
{
	return f->kind == FIELD_TEXT ? g_strndup(f->text, f->len) : f->kind == FIELD_SIGNED ?
		g_strdup_printf("%" G_GINT64_FORMAT, (int64_t)f->value) :
		g_strdup_printf("%" G_GUINT64_FORMAT, f->value);
}

static struct pair_of *phase_pair(struct suggest *g, guint event, const char *field)
{
	GArray *pairs = event_at(g, event)->pairs;
	for (guint i = 0; i < pairs->len; i++) {
		struct pair_of *p = g->pairs->pdata[g_array_index(pairs, guint, i)];
		if (p->field && g_str_equal(p->field, field))
			return p;
	}
	return NULL;
}

static void see_phase(const struct field *f, void *data)
{
	struct phase *ph = data;
	enum suggest_role role = ph->found ? SUGGEST_NONE : phase_of(f);
	if (role == SUGGEST_NONE)
		return;
	struct pair_of *p = phase_pair(ph->g, ph->event, f->name);
	if (!p)
		p = add_pair(ph->g, ph->event, ph->event, event_at(ph->g, ph->event)->stem);
	if (!p)
		return;
	if (!p->field) {
		p->field = g_strdup(f->name);
		p->same_family = true;
	}
	g_autofree char *value = phase_value(f);
	char **is = role == SUGGEST_BEGIN ? &p->begin_is : &p->end_is;
	if (!*is)
		*is = g_strdup(value);
	if (!g_str_equal(*is, value))
		return;			/* another word for it: left to another rule */
	ph->found = p;
	ph->begins = role == SUGGEST_BEGIN;
}

/* ---- feeding ---- */

static void see_event(struct suggest *g, guint at, const struct seen_event *s)
{
	const GArray *pairs = event_at(g, at)->pairs;
	for (guint i = 0; i < pairs->len; i++) {
		struct pair_of *p = g->pairs->pdata[g_array_index(pairs, guint, i)];
		if (!p->field)
			count(g, p, s, p->begin == at);
	}
	struct phase ph = { .g = g, .event = at, .s = s };
	each_field(s, see_phase, &ph);
	if (ph.found)
		count(g, ph.found, s, ph.begins);
}

static struct losses_of *losses_of(struct suggest *g, guint host)
{
	while (g->losses->len <= host)
		g_array_append_val(g->losses, ((struct losses_of){ INT64_MIN, INT64_MIN, INT64_MIN }));
	return &g_array_index(g->losses, struct losses_of, host);
}

/* As the model has it (state/kernel/losses.c): a time without tracing, too, may hide an end. */
static void add_loss(struct losses_of *of, const struct blk_loss *loss)
{
	int64_t back = loss->back_ns > 0, begin = loss->begin_ns - back;
	int64_t end = MAX(loss->end_ns, loss->begin_ns) + back;
	if (begin > of->begin) {
		of->earlier_end = MAX(of->earlier_end, of->end);
		of->begin = begin;
		of->end = end;
	} else if (begin == of->begin) {
		of->end = MAX(of->end, end);
	} else {			/* all events from now on are after it */
		of->earlier_end = MAX(of->earlier_end, end);
	}
}

/* The last end of losses that begin before now; INT64_MIN: there were none. */
static int64_t lost_to(const struct losses_of *of, int64_t now)
{
	return of->begin < now ? MAX(of->earlier_end, of->end) : of->earlier_end;
}

void suggest_feed(struct suggest *g, const struct blk_tables *tables, const struct blk_event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct blk_event *e = &ev[i];
		if (e->row >= BLK_ROW_FIRST_PSEUDO && e->row != BLK_ROW_LOST_BEGIN)
			continue;
		const struct blk_stream *stream = blk_stream(tables, e->stream);
		if (stream->domain == BLK_DOMAIN_KERNEL)
			continue;
		if (e->row == BLK_ROW_LOST_BEGIN) {
			add_loss(losses_of(g, stream->host), (const struct blk_loss *)e->data);
			continue;
		}
		if (e->row >= g->events->len)
			continue;
		struct seen_event s = {
			.ev = e, .run = blk_text(e, BLK_FIELD0), .host = stream->host,
			.vtid = blk_int_or(e, BLK_CTX_VTID, -1), .vpid = blk_int_or(e, BLK_CTX_VPID, -1),
			.lost_to = lost_to(losses_of(g, stream->host), e->ts),
		};
		see_event(g, e->row, &s);
	}
}

/* ---- choosing ---- */

struct choice {
	struct pair_of *p;
	struct way *way;
	enum option option;
	unsigned field;
	uint64_t open, ends;
};

/* Are the values of objects, each of which is open once at most? */
static bool is_object(const struct way *w)
{
	return !w->dead && !w->n_keyless && w->n_repeated * 10 <= w->n_pairs;
}

static struct choice choose(struct pair_of *p)
{
	struct choice best = { .p = p, .way = &p->way[0] };
	bool by_thread = !best.way->dead && !best.way->n_keyless;
	uint64_t pairs = by_thread ? best.way->n_pairs : 0;
	for (unsigned i = 0; i < p->n_fields; i++)
		for (enum option o = BY_FIELD_OF_THREAD; o < OPTION_N; o++) {
			struct way *w = way_of(p, o, i);
			bool wrong = best.way == &p->way[0] && p->way[0].differ[i];
			if (!is_object(w) || w->n_pairs < pairs || (w->n_pairs == pairs && !wrong))
				continue;
			pairs = w->n_pairs;
			best.way = w;
			best.option = o;
			best.field = i;
		}
	best.ends = best.way->n_ends + (best.option == BY_THREAD_ONLY ? 0 : p->n_early);
	best.open = best.way->n_begins - MIN(best.way->n_pairs, best.way->n_begins);
	return best;
}

static bool is_good(const struct choice *c)
{
	uint64_t alone = c->open + c->ends;
	if (c->way->dead || !c->way->n_pairs || (c->p->field && !c->p->end_is) || c->way->n_keyless)
		return false;
	return c->p->weak ? alone * 10 <= c->way->n_pairs : alone <= c->way->n_pairs;
}

static int by_pairs(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	uint64_t p = x->way->n_pairs, q = y->way->n_pairs, m = x->open + x->ends, n = y->open + y->ends;
	if (x->p->weak != y->p->weak)
		return x->p->weak ? 1 : -1;
	if (p != q)
		return p > q ? -1 : 1;
	if (m != n)
		return m < n ? -1 : 1;
	if (x->p->same_family != y->p->same_family)
		return x->p->same_family ? -1 : 1;
	return x->p->begin != y->p->begin ? (x->p->begin > y->p->begin) - (x->p->begin < y->p->begin) :
		(x->p->end > y->p->end) - (x->p->end < y->p->end);
}

static char *key_text(const struct choice *c)
{
	const char *field = c->option == BY_THREAD_ONLY ? NULL : c->p->fields[c->field].name;
	return c->option == BY_THREAD_ONLY ? g_strdup("thread") :
		c->option == BY_FIELD_OF_THREAD ? g_strconcat(field, ", thread", NULL) :
		c->option == BY_FIELD_OF_PROCESS ? g_strconcat("ctx.vpid, ", field, NULL) : g_strdup(field);
}

/* The field that tells operations apart: a text that has few values, else what begin and end both have. */
static const struct field_info *naming_field(const struct choice *c)
{
	const struct field_info *found = NULL;
	for (unsigned i = 0; i < c->p->n_fields; i++) {
		const struct field_info *f = &c->p->fields[i];
		guint n = g_hash_table_size(f->values.seen);
		if (f->values.many || n < 2 || n * 4 > c->way->n_pairs)
			continue;
		if (f->is_text)
			return f;
		if (!found && !c->way->differ[i])
			found = f;
	}
	return found;
}

/* The stem without its provider, made unique. */
static char *rule_name(const struct choice *c, GHashTable *used)
{
	const char *colon = strrchr(c->p->stem, ':'), *plain = colon && colon[1] ? colon + 1 : c->p->stem;
	g_autofree char *base = g_strdup(plain);
	size_t len = strlen(base);
	while (len && !g_ascii_isalnum(base[len - 1]))
		base[--len] = '\0';
	for (char *at = base; *at; at++)
		if (!g_ascii_isalnum(*at))
			*at = '_';
	const char *first = len && strcmp(base, "thread") ? base : "span";
	char *name = g_strdup(first);
	for (unsigned i = 2; g_hash_table_contains(used, name); i++) {
		g_free(name);
		name = g_strdup_printf("%s-%u", first, i);
	}
	g_hash_table_add(used, g_strdup(name));
	return name;
}

static struct suggestion *suggestion_of(const struct suggest *g, const struct choice *c, GHashTable *used)
{
	struct suggestion *s = g_new0(struct suggestion, 1);
	const struct field_info *f = naming_field(c);
	s->rule = rule_name(c, used);
	s->begin = g_strdup(event_at(g, c->p->begin)->name);
	s->end = g_strdup(event_at(g, c->p->end)->name);
	s->key = key_text(c);
	s->name = f ? g_strdup_printf("%s ${%s}", s->rule, f->name) : g_strdup(s->rule);
	s->nested = c->way->n_repeated > 0;
	s->unsure = c->way->n_unsure;
	s->pairs = c->way->n_pairs - c->way->n_unsure;
	s->open = c->open;
	s->ends = c->ends;
	if (c->p->field) {
		s->begin_if = g_strdup_printf("%s == %s", c->p->field, c->p->begin_is);
		s->end_if = g_strdup_printf("%s == %s", c->p->field, c->p->end_is);
	}
	return s;
}

static void suggestion_free(gpointer p)
{
	struct suggestion *s = p;
	g_free(s->rule);
	g_free(s->begin);
	g_free(s->end);
	g_free(s->begin_if);
	g_free(s->end_if);
	g_free(s->key);
	g_free(s->name);
	g_free(s);
}

/* ---- patterns ---- */

#define LEAST_ALIKE 3			/* pairs that one rule with a pattern replaces */

/* Pairs whose names differ in one part only. */
struct alike {
	struct rule_event begin, end;	/* patterns of one star */
	struct suggestion counts;	/* sums by thread; no texts */
	guint n_good;
	bool apart;			/* a pair of them needs another key, or cannot be counted */
};

static void alike_free(gpointer p)
{
	struct alike *a = p;
	g_free(a->begin.glob);
	g_free(a->end.glob);
	g_free(a);
}

static bool is_separator(char c)
{
	return !g_ascii_isalnum(c);
}

/* The pattern of the names of a begin and an end: "p:read_entry" and "p:read_exit" are "p:*_entry" and "p:*_exit".
 * NULL: the names have no common part behind the provider, or not at their beginning or end. Free with alike_free(). */
static struct alike *pattern_of(const char *begin, const char *end)
{
	const char *colon = strrchr(begin, ':');
	size_t provider = colon ? (size_t)(colon - begin) + 1 : 0, n = strlen(begin), m = strlen(end);
	size_t head = provider, tail = 0;

	if (!provider || strncmp(begin, end, provider))
		return NULL;
	for (size_t i = provider; begin[i] && begin[i] == end[i]; i++)
		head = begin[i + 1] && is_separator(begin[i + 1]) && begin[i + 1] == end[i + 1] ? i + 1 : head;
	for (size_t i = 1; i < MIN(n, m) - provider && begin[n - i] == end[m - i]; i++)
		tail = is_separator(begin[n - i - 1]) && begin[n - i - 1] == end[m - i - 1] ? i : tail;
	if ((head > provider) == (tail > 0))	/* none, or a middle that differs */
		return NULL;
	struct alike *a = g_new0(struct alike, 1);
	a->begin.n_stars = a->end.n_stars = 1;
	a->begin.star[0] = a->end.star[0] = 1;
	if (tail) {
		a->begin.glob = g_strdup_printf("%.*s*", (int)(n - tail), begin);
		a->end.glob = g_strdup_printf("%.*s*", (int)(m - tail), end);
	} else {
		a->begin.glob = g_strdup_printf("%.*s*%s", (int)provider, begin, begin + head);
		a->end.glob = g_strdup_printf("%.*s*%s", (int)provider, end, end + head);
	}
	return a;
}

static void add_alike(struct alike *to, struct pair_of *p)
{
	const struct way *w = &p->way[0];
	struct choice c = choose(p);

	to->apart |= w->dead || w->n_keyless || (is_good(&c) && c.option != BY_THREAD_ONLY);
	to->n_good += is_good(&c);
	to->counts.pairs += w->n_pairs - w->n_unsure;
	to->counts.unsure += w->n_unsure;
	to->counts.open += w->n_begins - MIN(w->n_pairs, w->n_begins);
	to->counts.ends += w->n_ends;
	to->counts.nested |= w->n_repeated > 0;
}

/* A pattern takes all events that match it: each must be of a pair that was counted. */
static bool takes_only_pairs(const struct suggest *g, const struct alike *a)
{
	ARRAY_EACH(const struct event_of, e, g->events) {
		char *begin[RULE_STARS], *end[RULE_STARS];
		bool begins = rule_event_matches(&a->begin, e->name, begin);
		bool ends = rule_event_matches(&a->end, e->name, end);
		bool counted = !begins && !ends;
		for (guint i = 0; i < e->pairs->len && !counted; i++) {
			const struct pair_of *p = g->pairs->pdata[g_array_index(e->pairs, guint, i)];
			counted = !p->field && rule_event_matches(&a->begin, event_at(g, p->begin)->name, NULL) &&
				  rule_event_matches(&a->end, event_at(g, p->end)->name, NULL);
		}
		if (begins)
			g_free(begin[0]);
		if (ends)
			g_free(end[0]);
		if (!counted || (begins && ends))
			return false;
	}
	return true;
}

static void take_alike(const struct suggest *g, const struct alike *a, bool *taken, GHashTable *used, GPtrArray *found)
{
	struct suggestion *s = g_memdup2(&a->counts, sizeof *s);
	const char *colon = strrchr(a->begin.glob, ':');
	g_autofree char *provider = g_strndup(a->begin.glob, (gsize)(colon - a->begin.glob));
	const char *star = strchr(a->end.glob, '*');
	struct choice named = { .p = &(struct pair_of){ .stem = provider } };

	for (guint i = 0; i < g->events->len; i++)
		taken[i] |= rule_event_matches(&a->begin, event_at(g, i)->name, NULL) ||
			    rule_event_matches(&a->end, event_at(g, i)->name, NULL);
	s->rule = rule_name(&named, used);
	s->begin = g_strdup(a->begin.glob);
	s->end = g_strdup_printf("%.*s${1}%s", (int)(star - a->end.glob), a->end.glob, star + 1);
	s->key = g_strdup("thread");
	s->name = g_strdup("${1}");
	g_ptr_array_add(found, s);
}

/* Many pairs whose names are alike, as of the functions of an interface, are one rule. */
static void find_alike(const struct suggest *g, bool *taken, GHashTable *used, GPtrArray *found)
{
	g_autoptr(GHashTable) all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, alike_free);
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	PTR_EACH(struct pair_of, p, g->pairs) {
		struct alike *a = p->field || p->weak ? NULL : pattern_of(event_at(g, p->begin)->name,
									  event_at(g, p->end)->name);
		if (!a)
			continue;
		g_autofree char *key = g_strdup_printf("%s %s", a->begin.glob, a->end.glob);
		struct alike *have = g_hash_table_lookup(all, key);
		if (have) {
			alike_free(a);
		} else {
			g_hash_table_insert(all, g_steal_pointer(&key), a);
			g_ptr_array_add(order, a);
		}
		add_alike(have ?: a, p);
	}
	PTR_EACH(const struct alike, a, order)
		if (a->n_good >= LEAST_ALIKE && !a->apart && a->counts.open + a->counts.ends <= a->counts.pairs &&
		    takes_only_pairs(g, a))
			take_alike(g, a, taken, used, found);
}

static int compare_suggestions(const void *a, const void *b)
{
	const struct suggestion *x = *(struct suggestion *const *)a, *y = *(struct suggestion *const *)b;
	return ORDER(y->pairs + y->unsure, x->pairs + x->unsure) ?: strcmp(x->rule, y->rule);
}

GPtrArray *suggest_finish(struct suggest *g)
{
	GPtrArray *found = g_ptr_array_new_with_free_func(suggestion_free);
	g_autoptr(GArray) all = g_array_new(false, false, sizeof(struct choice));
	g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree bool *taken = g_new0(bool, g->events->len);
	find_alike(g, taken, used, found);
	guint n_alike = found->len;
	for (guint i = 0; i < g->pairs->len; i++) {
		struct choice c = choose(g->pairs->pdata[i]);
		if (is_good(&c))
			g_array_append_val(all, c);
	}
	g_array_sort(all, by_pairs);
	ARRAY_EACH(const struct choice, c, all) {
		if (taken[c->p->begin] || taken[c->p->end] || found->len >= LIMIT_RULES)
			continue;
		taken[c->p->begin] = taken[c->p->end] = true;
		g_ptr_array_add(found, suggestion_of(g, c, used));
	}
	if (n_alike)
		g_ptr_array_sort(found, compare_suggestions);
	return found;
}

/* ---- texts ---- */

static void add_counts(GString *text, const struct suggestion *s)
{
	g_string_append_printf(text, "%" G_GUINT64_FORMAT " pair%s", s->pairs, s->pairs == 1 ? "" : "s");
	if (s->open)
		g_string_append_printf(text, ", %" G_GUINT64_FORMAT " open", s->open);
	else
		g_string_append(text, ", none open");
	if (s->ends)
		g_string_append_printf(text, ", %" G_GUINT64_FORMAT " ends without a beginning", s->ends);
	if (s->unsure)
		g_string_append_printf(text, ", %" G_GUINT64_FORMAT " around lost events", s->unsure);
}

char *suggest_rules(const GPtrArray *found)
{
	GString *text = g_string_new("# Rules for spans, from pairs of events: blktop --spans FILE\n");
	PTR_EACH(const struct suggestion, s, found) {
		g_string_append(text, "\n# ");
		add_counts(text, s);
		g_string_append_printf(text, "\n[%s]\nbegin=%s\n", s->rule, s->begin);
		if (s->begin_if)
			g_string_append_printf(text, "begin_if=%s\n", s->begin_if);
		g_string_append_printf(text, "end=%s\n", s->end);
		if (s->end_if)
			g_string_append_printf(text, "end_if=%s\n", s->end_if);
		g_string_append_printf(text, "key=%s\nname=%s\n", s->key, s->name);
		if (s->nested)
			g_string_append(text, "nested=yes\n");
		g_string_append(text, "parent=thread\n");
	}
	return g_string_free(text, FALSE);
}

static const char *without_provider(const char *name)
{
	const char *colon = strrchr(name, ':');
	return colon && colon[1] ? colon + 1 : name;
}

char *suggest_text(const GPtrArray *found)
{
	GString *text = g_string_new(NULL);
	const struct suggestion *s = found->len ? found->pdata[0] : NULL;
	if (!s)
		return g_string_free(text, FALSE);
	if (s->begin_if)
		g_string_append_printf(text, "%s with %s and %s looks", without_provider(s->begin), s->begin_if,
				       s->end_if);
	else
		g_string_append_printf(text, "%s and %s look", without_provider(s->begin),
				       without_provider(s->end));
	g_string_append(text, " like the beginning and end of a span: ");
	add_counts(text, s);
	if (found->len > 1)
		g_string_append_printf(text, "; and %u more", found->len - 1);
	return g_string_free(text, FALSE);
}

char *suggest_names_text(const char *const *names)
{
	struct suggest *g = suggest_new(names);
	const struct pair_of *best = NULL;
	char *text = NULL;
	for (guint i = 0; g && i < g->pairs->len; i++) {
		const struct pair_of *p = g->pairs->pdata[i];
		if (!p->weak && (!best || (p->same_family && !best->same_family)))
			best = p;
	}
	if (best)
		text = g_strdup_printf("%s and %s look like the beginning and end of a span",
				       without_provider(event_at(g, best->begin)->name),
				       without_provider(event_at(g, best->end)->name));
	suggest_free(g);
	return text;
}
