/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/sources.h"
#include "lib/check_records.h"
#include "lib/digest.h"
#include "lib/wide_table.h"
#include "state/slice/slice.h"
#include "trace/native/native.h"

#define MAX_SHOWN 3		/* differences of a stream that are printed */

unsigned check_records_tables = 4;

/* One record, as short as it can be compared. */
struct entry {
	int64_t ts;
	uint64_t hash;
};

struct stream {
	char *key;
	GQueue waiting;			/* struct entry *, of the side that is ahead */
	int ahead;			/* which side */
	uint64_t n[2], compared;
	unsigned shown;
};

struct side {
	struct source *source;
	GPtrArray *streams;		/* struct stream *, by the source's number */
	GHashTable *tallies;		/* char * -> int64_t * */
	int64_t last;			/* ts */
	bool ended;
	GError *error;
};

/* Which stream the next record of all is of. */
struct turn {
	const struct stream *stream;
	int64_t ts;
};

struct compare {
	const struct check_pair *pair;
	struct check_counts *counts;
	struct side side[2];
	GHashTable *streams;		/* char * -> struct stream * */
	GPtrArray *wanted;		/* struct wanted *, to be printed */
	GQueue turns;			/* struct turn *, of the side that is ahead */
	int ahead;			/* which side */
	unsigned disorders;
};

/* A record that differs: both sides' are read once more for their texts. */
struct wanted {
	const struct stream *stream;
	uint64_t n;
	char *text[2];
};

/* -- records as text and hash ------------------------------------------------ */

static char *stream_key(const struct blk_tables *t, unsigned i)
{
	const struct blk_stream *s = blk_stream(t, i);
	const struct blk_host *h = blk_host(t, s->host);
	return g_strdup_printf("(cpu %d domain %u vpid %d '%s' %s host '%s' %s)", (int)s->cpu, s->domain,
			       s->vpid, s->vpid_procname ? s->vpid_procname : "", s->order, h->name,
			       h->kernel_release);
}

static void digest_slots(struct digest *d, const struct blk_event *e)
{
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++) {
		if (!blk_has(e, i))
			continue;
		digest_begin(d, NULL, DIGEST_SCOPE, i);
		if (e->layout->slot[i].repr == BLK_INT) {
			digest_integer(d, NULL, true, 64, (uint64_t)blk_int(e, i));
		} else {
			struct blk_text t = blk_text(e, i);
			digest_text(d, NULL, t.str, t.len);
		}
	}
}

static void digest_record(struct digest *d, const struct blk_tables *t, const struct blk_event *e)
{
	digest_begin(d, "row", DIGEST_SCOPE, e->row);
	if (e->row == BLK_ROW_LOST_BEGIN || e->row == BLK_ROW_LOST_END) {
		const struct blk_loss *l = (const struct blk_loss *)e->data;
		digest_integer(d, "events", false, 64, l->events);
		digest_integer(d, "packets", false, 64, l->packets);
		digest_integer(d, "begin", true, 64, (uint64_t)l->begin_ns);
		digest_integer(d, "end", true, 64, (uint64_t)l->end_ns);
		digest_integer(d, "earlier", true, 64, (uint64_t)l->earlier_ns);
		digest_integer(d, "later", true, 64, (uint64_t)l->later_ns);
		digest_integer(d, "part", false, 64, l->is_part);
	}
	if (e->row >= BLK_ROW_FIRST_PSEUDO)
		return;
	const char *name = blk_class(t, e->cls)->name;
	digest_text(d, "class", name, strlen(name));
	digest_slots(d, e);
}

/* -- one side ----------------------------------------------------------------- */

static void free_stream(void *p)
{
	struct stream *s = p;
	g_queue_clear_full(&s->waiting, g_free);
	g_free(s->key);
	g_free(s);
}

static struct stream *find_stream(struct compare *c, struct side *side, unsigned i)
{
	while (side->streams->len <= i) {
		g_autofree char *key = stream_key(&side->source->tables, side->streams->len);
		struct stream *s = g_hash_table_lookup(c->streams, key);
		if (!s) {
			s = g_new0(struct stream, 1);
			s->key = g_strdup(key);
			g_hash_table_insert(c->streams, s->key, s);
		}
		g_ptr_array_add(side->streams, s);
	}
	return side->streams->pdata[i];
}

static int64_t *tally_cell(struct side *side, char *key)
{
	int64_t *cell = g_hash_table_lookup(side->tallies, key);
	if (cell) {
		g_free(key);
		return cell;
	}
	cell = g_new0(int64_t, 1);
	g_hash_table_insert(side->tallies, key, cell);
	return cell;
}

static void add_tally(struct compare *c, struct side *side, const struct blk_event *e)
{
	const struct blk_tally *t = (const struct blk_tally *)e->data;
	const char *key = find_stream(c, side, e->stream)->key;
	const char *name = blk_class(&side->source->tables, e->cls)->name;
	int64_t *sum = tally_cell(side, g_strdup_printf("events '%s' in second %" PRId64 " of stream %s",
							name, t->second, key));
	int64_t *last = tally_cell(side, g_strdup_printf("newest event in second %" PRId64
							 " of stream %s", t->second, key));
	int64_t *first = tally_cell(side, g_strdup_printf("first tally of stream %s", key));
	*sum += (int64_t)t->count;
	*last = MAX(*last, t->last_ns);
	if (!*first)
		*first = t->last_ns;
}

static void want(struct compare *c, struct stream *s, uint64_t n)
{
	c->counts->different++;
	if (s->shown++ >= MAX_SHOWN)
		return;
	struct wanted *w = g_new0(struct wanted, 1);
	*w = (struct wanted){ .stream = s, .n = n };
	g_ptr_array_add(c->wanted, w);
}

static void free_wanted(void *p)
{
	struct wanted *w = p;
	g_free(w->text[0]);
	g_free(w->text[1]);
	g_free(w);
}

/* Records of different streams at one instant come in the same order too. */
static void check_turn(struct compare *c, int which, const struct stream *s, int64_t ts)
{
	if (!g_queue_is_empty(&c->turns) && c->ahead != which) {
		g_autofree struct turn *other = g_queue_pop_head(&c->turns);
		if (other->stream == s && other->ts == ts)
			return;
		c->counts->different++;
		if (c->disorders++ < MAX_SHOWN)
			printf("DIFFERENT %s: order: %s %" PRId64 " %s, %s %" PRId64 " %s\n", c->pair->what,
			       c->pair->name[which], ts, s->key, c->pair->name[!which], other->ts,
			       other->stream->key);
		return;
	}
	struct turn *mine = g_new(struct turn, 1);
	*mine = (struct turn){ s, ts };
	c->ahead = which;
	g_queue_push_tail(&c->turns, mine);
}

static void add_record(struct compare *c, int which, const struct blk_event *e)
{
	struct side *side = &c->side[which];
	struct stream *s = find_stream(c, side, e->stream);
	if (e->row < BLK_ROW_FIRST_PSEUDO)
		check_turn(c, which, s, e->ts);
	struct digest d = { 0 };
	digest_record(&d, &side->source->tables, e);
	uint64_t n = s->n[which]++;
	if (!g_queue_is_empty(&s->waiting) && s->ahead != which) {
		g_autofree struct entry *other = g_queue_pop_head(&s->waiting);
		c->counts->events++;
		s->compared++;
		if (other->ts != e->ts || other->hash != d.hash)
			want(c, s, n);
		return;
	}
	struct entry *mine = g_new(struct entry, 1);
	*mine = (struct entry){ e->ts, d.hash };
	s->ahead = which;
	g_queue_push_tail(&s->waiting, mine);
}

static void step(struct compare *c, int which)
{
	struct side *side = &c->side[which];
	struct blk_batch batch;
	enum source_status st = source_next(side->source, &batch, &side->error);
	if (st != SOURCE_OK) {
		side->ended = true;
		return;
	}
	for (size_t i = 0; i < batch.n; i++) {
		const struct blk_event *e = &batch.ev[i];
		if (e->ts < side->last) {
			c->counts->different++;
			printf("DIFFERENT %s: %s goes back in time, from %" PRId64 " to %" PRId64 "\n",
			       c->pair->what, c->pair->name[which], side->last, e->ts);
		}
		side->last = e->ts;
		if (e->row == BLK_ROW_TALLY)
			add_tally(c, side, e);
		else if (e->row != BLK_ROW_HORIZON)
			add_record(c, which, e);
	}
}

/* -- what is different --------------------------------------------------------- */

static void compare_tallies(struct compare *c, int which)
{
	struct side *mine = &c->side[which], *other = &c->side[!which];
	GHashTableIter iter;
	void *key, *value;
	unsigned shown = 0;
	g_hash_table_iter_init(&iter, mine->tallies);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const int64_t *theirs = g_hash_table_lookup(other->tallies, key);
		if (theirs && (which || *theirs == *(int64_t *)value))
			continue;
		c->counts->different++;
		if (shown++ < MAX_SHOWN)
			printf("DIFFERENT %s: tally, %s: %s %" PRId64 ", %s %" PRId64 "\n", c->pair->what,
			       (char *)key, c->pair->name[which], *(int64_t *)value,
			       c->pair->name[!which], theirs ? *theirs : 0);
	}
}

static char *record_text(const struct blk_tables *t, const struct blk_event *e)
{
	struct digest d = { .text = g_string_new(NULL) };
	g_string_printf(d.text, "%" PRId64, e->ts);
	digest_record(&d, t, e);
	return g_string_free(d.text, FALSE);
}

static void keep_text(struct compare *c, int which, const struct stream *s, uint64_t n,
		      const struct blk_event *e)
{
	for (guint i = 0; i < c->wanted->len; i++) {
		struct wanted *w = c->wanted->pdata[i];
		if (w->stream == s && w->n == n && !w->text[which])
			w->text[which] = record_text(&c->side[which].source->tables, e);
	}
}

/* Once more from the begin, for the texts of the records that differ. */
static void read_again(struct compare *c, int which)
{
	struct side *side = &c->side[which];
	struct blk_batch batch;
	GHashTableIter iter;
	void *value;
	g_hash_table_iter_init(&iter, c->streams);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		((struct stream *)value)->n[which] = 0;
	source_free(side->source);
	side->source = c->pair->open[which](c->pair->data, NULL);
	g_ptr_array_set_size(side->streams, 0);
	while (side->source && source_next(side->source, &batch, NULL) == SOURCE_OK) {
		for (size_t i = 0; i < batch.n; i++) {
			const struct blk_event *e = &batch.ev[i];
			if (e->row == BLK_ROW_TALLY || e->row == BLK_ROW_HORIZON)
				continue;
			struct stream *s = find_stream(c, side, e->stream);
			keep_text(c, which, s, s->n[which]++, e);
		}
	}
}

static void show_wanted(struct compare *c)
{
	read_again(c, 0);
	read_again(c, 1);
	for (guint i = 0; i < c->wanted->len; i++) {
		const struct wanted *w = c->wanted->pdata[i];
		printf("DIFFERENT %s: record %" PRIu64 " of stream %s\n", c->pair->what, w->n,
		       w->stream->key);
		for (int side = 0; side < 2; side++)
			printf("  %-11s %s\n", c->pair->name[side], w->text[side] ? w->text[side] : "-");
	}
}

static void compare_ends(struct compare *c)
{
	GHashTableIter iter;
	void *value;
	g_hash_table_iter_init(&iter, c->streams);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct stream *s = value;
		c->counts->streams++;
		if (s->n[0] == s->n[1])
			continue;
		printf("DIFFERENT %s: stream %s: %" PRIu64 " records of %s, %" PRIu64 " of %s\n",
		       c->pair->what, s->key, s->n[0], c->pair->name[0], s->n[1], c->pair->name[1]);
		want(c, s, MIN(s->n[0], s->n[1]));
	}
	compare_tallies(c, 0);
	compare_tallies(c, 1);
	if (c->wanted->len)
		show_wanted(c);
}

/* -- both ------------------------------------------------------------------------ */

static void side_clear(struct side *s)
{
	source_free(s->source);
	g_ptr_array_unref(s->streams);
	g_hash_table_unref(s->tallies);
	g_clear_error(&s->error);
}

static bool open_sides(struct compare *c)
{
	bool ok = true;
	for (int i = 0; i < 2; i++) {
		struct side *s = &c->side[i];
		s->streams = g_ptr_array_new();
		s->tallies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		s->last = INT64_MIN;
		s->source = ok ? c->pair->open[i](c->pair->data, &s->error) : NULL;
		ok = ok && s->source;
	}
	return ok;
}

static bool refusals(struct compare *c)
{
	bool any = false;
	for (int i = 0; i < 2; i++) {
		if (!c->side[i].error)
			continue;
		printf("%s refuses: %s: %s\n", c->pair->name[i], c->pair->what,
		       c->side[i].error->message);
		c->counts->refused++;
		any = true;
	}
	return any;
}

void check_records_pair(const struct check_pair *p, struct check_counts *ret)
{
	struct compare c = { .pair = p, .counts = ret };
	c.streams = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_stream);
	c.wanted = g_ptr_array_new_with_free_func(free_wanted);
	if (open_sides(&c))
		while ((!c.side[0].ended || !c.side[1].ended) && !c.side[0].error && !c.side[1].error)
			step(&c, c.side[0].ended || (!c.side[1].ended && c.side[1].last < c.side[0].last));
	if (!refusals(&c))
		compare_ends(&c);
	side_clear(&c.side[0]);
	side_clear(&c.side[1]);
	g_hash_table_unref(c.streams);
	g_ptr_array_unref(c.wanted);
	g_queue_clear_full(&c.turns, g_free);
}

/* -- a directory ------------------------------------------------------------------ */

struct opening {
	const char *paths[2];
	const struct blk_subscription *rows;
	size_t n_rows;
};

static struct source *open_native(void *data, GError **error)
{
	const struct opening *o = data;
	return source_open_native(o->paths, o->rows, o->n_rows, error);
}

static struct source *open_bt2(void *data, GError **error)
{
	const struct opening *o = data;
	return source_open_bt2(o->paths, o->rows, o->n_rows, error);
}

static void check_table(const char *dir, const char *table, const struct blk_subscription *rows,
			size_t n_rows, struct check_counts *ret)
{
	struct opening o = { .paths = { dir, NULL }, .rows = rows, .n_rows = n_rows };
	g_autofree char *what = g_strdup_printf("%s, %s", dir, table);
	const struct check_pair pair = {
		.open = { open_native, open_bt2 }, .name = { "native", "babeltrace2" },
		.data = &o, .what = what,
	};
	check_records_pair(&pair, ret);
}

static struct wide_names *all_names(const char *dir)
{
	const char *paths[] = { dir, NULL };
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, NULL);
	struct wide_names *names = wide_names_new();
	for (guint i = 0; dirs && i < dirs->len; i++) {
		g_autofree char *file = g_build_filename(dirs->pdata[i], "metadata", NULL);
		g_autofree char *bytes = NULL;
		g_autoptr(blk_ctf_meta) m = ctf_meta_new();
		gsize n;
		if (g_file_get_contents(file, &bytes, &n, NULL) && ctf_meta_append(m, bytes, n, NULL))
			wide_names_add(names, m);
	}
	return names;
}

void check_records(const char *dir, struct check_counts *ret)
{
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct wide_names *names = all_names(dir);
	check_table(dir, "the program's table", rows, n_rows, ret);
	if (!ret->refused)
		check_table(dir, "no table", rows, 0, ret);
	for (unsigned i = 0; !ret->refused && i < wide_names_tables(names, check_records_tables); i++) {
		struct wide_table wide;
		g_autofree char *table = g_strdup_printf("all fields from %u on", i * BLK_MAX_FIELDS);
		wide_table_init(&wide, names, i);
		check_table(dir, table, wide.rows, wide.n_rows, ret);
		wide_table_clear(&wide);
	}
	wide_names_free(names);
}
