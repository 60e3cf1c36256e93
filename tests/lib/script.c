/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scripted sources: a few lines of text become records, for tests of the model.
 * See source_open_script() for the lines; '#' begins a comment line, and CPU may be
 * '-' for unknown. Every (host, domain, cpu) is a stream, there from its first
 * record to its last.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "trace/ctf/ctf_all.h"
#include "trace/ctf/layouts.h"
#include "trace/align.h"
#include "lib/sources.h"
#include "state/publish/model.h"
#include "state/store/timeline.h"

#include "base/limits.h"

#define NS_PER_S 1000000000

struct script {
	struct source source;
	const struct blk_subscription *rows;
	struct blk_matcher *matcher;
	GHashTable *layouts;
	GHashTable *classes;		/* name -> index + 1 */
	GHashTable *streams;		/* "domain@host/container cpu" -> index + 1 */
	GHashTable *tallies;		/* "stream class second" -> struct tally_at * */
	GPtrArray *data;		/* rows, texts */
	GArray *events;			/* struct blk_event */
	char *release;			/* of the kernels of the streams that follow, or NULL; owned */
	bool no_switches;		/* the streams that follow are of kernels that do not record them */
	size_t at;
	gint cancelled;
};

/* A tally stands where its last event stood. */
struct tally_at {
	struct blk_tally tally;
	struct blk_event event;
	guint position;			/* among script->events */
};

/* One line as it is read. */
struct line {
	unsigned number;
	char *p;
	int64_t ts;
	uint32_t cpu;
	char domain;			/* 'k', 'u', 'o' */
	char *host;
	char *container;		/* the trace's own host name; NULL: .host */
	char *event;
};

/* One key=value. */
struct item {
	char *key;
	bool is_text, is_real;
	int64_t number;		/* .is_real: the bits of a double */
	struct blk_text text;
};

static bool bad(const struct line *l, GError **error, const char *what, const char *of)
{
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, "script line %u: %s '%s'",
		    l->number, what, of ? of : "");
	return false;
}

static void *keep(struct script *s, size_t size)
{
	void *p = g_malloc0(MAX(size, 1));
	g_ptr_array_add(s->data, p);
	return p;
}

/* The next word; NULL at the end of the line. */
static char *next_word(struct line *l)
{
	while (*l->p == ' ' || *l->p == '\t')
		l->p++;
	if (!*l->p)
		return NULL;
	char *word = l->p;
	while (*l->p && *l->p != ' ' && *l->p != '\t')
		l->p++;
	if (*l->p)
		*l->p++ = '\0';
	return word;
}

static bool parse_int(const char *text, int64_t *ret)
{
	char *end;
	errno = 0;
	*ret = text[0] == '-' ? g_ascii_strtoll(text, &end, 0)
			      : (int64_t)g_ascii_strtoull(text, &end, 0);
	return end != text && !*end && !errno;
}

/* 1.5, 1., -inf, nan: what is not written as an integer. */
static bool parse_real(const char *text, int64_t *ret)
{
	char *end;
	double d = g_ascii_strtod(text, &end);
	memcpy(ret, &d, sizeof d);
	return end != text && !*end && (strchr(text, '.') || !isfinite(d));
}

static char unescape_one(char **p)
{
	static const char from[] = "ntrabfve", to[] = "\n\t\r\a\b\f\v\033";
	char *q = *p, c = *q++;
	const char *known = c ? strchr(from, c) : NULL;
	if (c == 'x') {
		unsigned v = 0;
		for (int i = 0; i < 2 && g_ascii_isxdigit(*q); i++)
			v = v * 16 + g_ascii_xdigit_value(*q++);
		c = (char)v;
	} else if (c >= '0' && c <= '7') {
		unsigned v = c - '0';
		for (int i = 0; i < 2 && *q >= '0' && *q <= '7'; i++)
			v = v * 8 + (*q++ - '0');
		c = (char)v;
	} else if (known) {
		c = to[known - from];
	}
	*p = q;
	return c;
}

/* After the opening quote; the line goes on behind the closing one. */
static bool parse_text(struct script *s, struct line *l, struct blk_text *ret, GError **error)
{
	char *out = keep(s, strlen(l->p)), *to = out;
	while (*l->p && *l->p != '"') {
		char c = *l->p++;
		if (c == '\\' && *l->p)
			c = unescape_one(&l->p);
		*to++ = c;
	}
	if (!*l->p++)
		return bad(l, error, "text without an end after", out);
	*ret = (struct blk_text){ out, to - out };
	return true;
}

/* 1: an item, 0: none left, -1: error. */
static int next_item(struct script *s, struct line *l, struct item *ret, GError **error)
{
	*ret = (struct item){ .text = { "", 0 } };
	while (*l->p == ' ' || *l->p == '\t')
		l->p++;
	if (!*l->p)
		return 0;
	char *equals = strchr(l->p, '=');
	if (!equals || equals == l->p) {
		bad(l, error, "no key=value in", l->p);
		return -1;
	}
	*equals = '\0';
	ret->key = l->p;
	l->p = equals + 1;
	if (*l->p == '"') {
		l->p++;
		ret->is_text = true;
		return parse_text(s, l, &ret->text, error) ? 1 : -1;
	}
	char *word = next_word(l);
	ret->is_real = word && parse_real(word, &ret->number);
	if (!word || (!ret->is_real && !parse_int(word, &ret->number))) {
		bad(l, error, "no number after", ret->key);
		return -1;
	}
	return 1;
}

/* -- streams and classes -------------------------------------------------- */

static char *boot_of(const struct line *l)
{
	return g_strdup_printf("boot-of-%s", l->host);
}

static uint16_t use_stream(struct script *s, const struct line *l)
{
	g_autofree char *key = g_strdup_printf("%c@%s/%s %08x", l->domain, l->host,
					       l->container ? l->container : "", l->cpu);
	unsigned known = GPOINTER_TO_UINT(g_hash_table_lookup(s->streams, key));
	if (known)
		return known - 1;
	g_autofree char *boot = boot_of(l);
	enum blk_domain domain = l->domain == 'k' ? BLK_DOMAIN_KERNEL :
				 l->domain == 'u' ? BLK_DOMAIN_UST : BLK_DOMAIN_OTHER;
	g_autofree char *order = g_strdup_printf("%s|%d||%016x|cpu %08x", boot, domain, 0, l->cpu);
	struct blk_stream stream = {
		.cpu = l->cpu,
		.host = source_add_host(&s->source, l->host, boot, s->release ? s->release : ""),
		.domain = domain,
		.vpid = -1,
		.order = order,
		.hostname = l->container,
	};
	if (s->no_switches)
		source_host_machine(&s->source, stream.host, &(struct machine_evidence){ .events = true });
	uint16_t index = source_add_stream(&s->source, &stream);
	g_hash_table_insert(s->streams, g_steal_pointer(&key), GUINT_TO_POINTER(index + 1u));
	return index;
}

static uint32_t use_class(struct script *s, const char *name, uint16_t row, const char *counters)
{
	g_autofree char *key = blk_class_key(name, counters);
	unsigned known = GPOINTER_TO_UINT(g_hash_table_lookup(s->classes, key));
	if (known)
		return known - 1;
	uint32_t index = source_add_class(&s->source, name, row, counters);
	g_hash_table_insert(s->classes, g_steal_pointer(&key), GUINT_TO_POINTER(index + 1));
	return index;
}

/* -- records -------------------------------------------------------------- */

static void push(struct script *s, int64_t ts, uint16_t stream, uint16_t row, const void *data)
{
	struct blk_event e = { .ts = ts, .data = data, .row = row, .stream = stream };
	g_array_append_val(s->events, e);
}

/* Which of the alternatives ("a|b") the name is, from 0; -1: none. */
static int alternative(const char *names, const char *name)
{
	size_t len = strlen(name);
	for (int i = 0;; i++) {
		size_t n = strcspn(names, "|");
		if (n == len && !strncmp(names, name, n))
			return i;
		if (!names[n])
			return -1;
		names += n + 1;
	}
}

/* The slot of a key in a row from `from` on; -1: nobody (else) asked for it. */
static int slot_of(const struct blk_subscription *row, const char *key, int from)
{
	bool is_context = g_str_has_prefix(key, "ctx.");
	for (int i = from; is_context && i < BLK_N_CONTEXTS; i++)
		if (alternative(blk_context_names[i], key + strlen("ctx.")) == 0)
			return i;
	for (int i = MAX(from - BLK_FIELD0, 0); i < BLK_MAX_FIELDS && row->fields[i]; i++)
		if (alternative(row->fields[i], key) >= 0)
			return BLK_FIELD0 + i;
	return -1;
}

static void put_item(uint8_t *data, struct blk_layout *layout, int slot, const struct item *item)
{
	struct blk_slot_layout *l = &layout->slot[slot];
	l->off = slot * sizeof(struct blk_text);
	if (item->is_text) {
		l->repr = BLK_TEXT_REF;
		memcpy(data + l->off, &item->text, sizeof item->text);
		return;
	}
	l->repr = item->is_real ? BLK_REAL : BLK_INT;
	l->size = 8;
	l->is_signed = !item->is_real;
	blk_store_int(data + l->off, (uint64_t)item->number);
}

/* For "*": the item among all of the event's, contexts by their names without "ctx.". */
static void run_item(struct fields_run *run, const struct item *item, bool is_element)
{
	bool is_context = g_str_has_prefix(item->key, "ctx.");
	struct field f = {
		.kind = item->is_text ? FIELD_TEXT : FIELD_SIGNED, .base = 10,
		.scope = is_context ? FIELD_SPECIFIC : FIELD_PAYLOAD,
		.name = is_element ? "" : item->key + (is_context ? 4 : 0), .value = (uint64_t)item->number,
		.text = item->is_text ? item->text.str : NULL, .len = item->text.len,
	};
	if (item->is_real) {
		f.kind = FIELD_REAL;
		memcpy(&f.real, &item->number, sizeof f.real);
	}
	fields_put(run, &f);
}

/* Of "name[0]", "name[1]", ...: how many of them begin at i. */
static guint list_at(const GArray *items, guint i)
{
	const char *key = g_array_index(items, struct item, i).key;
	size_t len = strcspn(key, "[");
	guint n = 0;
	for (; i + n < items->len; n++) {
		const char *next = g_array_index(items, struct item, i + n).key;
		g_autofree char *index = g_strdup_printf("[%u]", n);
		if (strncmp(key, next, len) || strcmp(next + len, index))
			break;
	}
	return n;
}

static void run_items(struct fields_run *run, const GArray *items)
{
	for (guint i = 0; i < items->len; i++) {
		guint n = list_at(items, i);
		if (!n) {
			run_item(run, &g_array_index(items, struct item, i), false);
			continue;
		}
		const char *key = g_array_index(items, struct item, i).key;
		g_autofree char *name = g_strndup(key, strcspn(key, "["));
		struct field list = { .kind = FIELD_BEGIN, .scope = FIELD_PAYLOAD, .is_list = true,
				      .name = name, .value = n };
		fields_put(run, &list);
		for (guint end = i + n; i < end; i++)
			run_item(run, &g_array_index(items, struct item, i), true);
		i--;
		fields_put(run, &(struct field){ .kind = FIELD_END, .scope = FIELD_PAYLOAD, .name = "" });
	}
}

static void put_run(struct script *s, uint8_t *data, struct blk_layout *layout, int slot,
		    struct fields_run *run)
{
	struct blk_text t = { keep(s, run->bytes->len), run->bytes->len };
	if (t.len)
		memcpy((char *)t.str, run->bytes->data, t.len);
	layout->slot[slot] = (struct blk_slot_layout){
		.off = slot * sizeof t, .repr = BLK_BYTES_REF };
	memcpy(data + slot * sizeof t, &t, sizeof t);
}

static void count_event(struct script *s, const struct line *l, uint16_t stream, uint32_t cls)
{
	int64_t second = l->ts / NS_PER_S - (l->ts % NS_PER_S < 0);
	g_autofree char *key = g_strdup_printf("%u %u %" G_GINT64_FORMAT, stream, cls, second);
	struct tally_at *t = g_hash_table_lookup(s->tallies, key);
	if (!t) {
		t = g_new0(struct tally_at, 1);
		g_hash_table_insert(s->tallies, g_steal_pointer(&key), t);
		t->event = (struct blk_event){ .ts = G_MININT64, .cls = cls, .stream = stream,
					       .row = BLK_ROW_TALLY,
					       .data = (uint8_t *)&t->tally };
		t->tally.second = second;
	}
	t->tally.count++;
	if (l->ts >= t->event.ts) {
		t->event.ts = t->tally.last_ns = l->ts;
		t->position = s->events->len;
	}
}

static bool is_context(const struct item *item)
{
	return g_str_has_prefix(item->key, "ctx.");
}

/* Its perf counter's name, where the row wants it; or NULL. */
static const char *counter_of(const struct blk_subscription *row, const struct item *item)
{
	return blk_wants_counters(row) && is_context(item) && !item->is_text ?
		blk_counter_name(item->key + strlen("ctx.")) : NULL;
}

static bool is_probe(const char *event, const GArray *items)
{
	const char *field[2] = { "", "" };
	size_t n = 0;
	for (guint i = 0; i < items->len; i++) {
		const struct item *item = &g_array_index(items, struct item, i);
		if (!is_context(item) && n++ < 2)
			field[n - 1] = item->key;
	}
	return blk_is_probe(event, n, field[0], field[1]);
}

/* The items in the slots of the row; returns the names of the counters, or NULL. */
static char *put_items(const struct blk_subscription *row, const GArray *items, uint8_t *data,
		       struct blk_layout *layout)
{
	GString *counters = g_string_new(NULL);
	unsigned n = 0;
	int had[BLK_MAX_SLOTS];		/* which alternative is in it: a later one does not replace it */
	for (unsigned slot = 0; slot < BLK_MAX_SLOTS; slot++)
		had[slot] = G_MAXINT;
	for (guint i = 0; i < items->len; i++) {
		const struct item *item = &g_array_index(items, struct item, i);
		const char *counter = n < LIMIT_EVENT_COUNTERS ? counter_of(row, item) : NULL;
		if (counter) {
			put_item(data, layout, (int)(BLK_CTX_COUNTER0 + n), item);
			g_string_append_printf(counters, "%s%s", n++ ? " " : "", counter);
		}
		for (int slot = -1; (slot = slot_of(row, item->key, slot + 1)) >= 0;) {
			int which = slot < BLK_FIELD0 ? 0 : alternative(row->fields[slot - BLK_FIELD0], item->key);
			if (which > had[slot])
				continue;
			put_item(data, layout, slot, item);
			had[slot] = which;
		}
	}
	return g_string_free(counters, !n);
}

static void push_event(struct script *s, const struct line *l, uint16_t row, const GArray *items)
{
	const struct blk_subscription *sub = &s->rows[row];
	uint8_t *data = keep(s, BLK_MAX_SLOTS * sizeof(struct blk_text));
	uint16_t stream = use_stream(s, l);
	struct blk_layout layout = { 0 };
	int all = blk_slot_of_all(sub);
	g_autofree char *counters = put_items(sub, items, data, &layout);
	if (all >= 0) {
		struct fields_run run = { 0 };
		fields_begin(&run);
		run_items(&run, items);
		put_run(s, data, &layout, all, &run);
		fields_clear(&run);
	}
	push(s, l->ts, stream, row, data);
	struct blk_event *e = &g_array_index(s->events, struct blk_event, s->events->len - 1);
	e->cls = use_class(s, l->event, row, counters);
	e->layout = layouts_intern(s->layouts, &layout);
}

static bool read_event(struct script *s, struct line *l, GError **error)
{
	g_autoptr(GArray) items = g_array_new(false, false, sizeof(struct item));
	struct item item;
	int status;
	while ((status = next_item(s, l, &item, error)) > 0)
		g_array_append_val(items, item);
	if (status)
		return false;
	uint16_t row = blk_matcher_class(s->matcher, l->event, is_probe(l->event, items));
	if (row == G_MAXUINT16)
		count_event(s, l, use_stream(s, l), use_class(s, l->event, row, NULL));
	else
		push_event(s, l, row, items);
	return true;
}

static bool read_loss(struct script *s, struct line *l, GError **error)
{
	struct blk_loss *loss = keep(s, sizeof *loss);
	struct item item;
	int status;
	loss->begin_ns = loss->end_ns = l->ts;
	while ((status = next_item(s, l, &item, error)) > 0) {
		if (!strcmp(item.key, "events"))
			loss->events = item.number;
		else if (!strcmp(item.key, "packets"))
			loss->packets = item.number;
		else if (!strcmp(item.key, "back"))
			loss->silence = (loss->back_ns = item.number) > 0;
		else if (!strcmp(item.key, "begin"))
			loss->begin_ns = item.number;
		else if (!strcmp(item.key, "end"))
			loss->end_ns = item.number;
		else
			return bad(l, error, "!lost has no", item.key);
	}
	if (status)
		return false;
	if (loss->end_ns < loss->begin_ns)
		return bad(l, error, "loss that ends before it begins:", l->event);
	uint16_t stream = use_stream(s, l);
	push(s, loss->begin_ns, stream, BLK_ROW_LOST_BEGIN, loss);
	push(s, loss->end_ns, stream, BLK_ROW_LOST_END, loss);
	return true;
}

/* "k@host:name", "u@host/container:name": the domain is only taken as such if it is one, as UST's event
 * names have a colon too. */
static void split_event(struct line *l, char *word)
{
	l->domain = 'k';
	l->host = "localhost";
	l->event = word;
	if (!strchr("kuo", word[0]) || (word[1] != ':' && word[1] != '@'))
		return;
	char *colon = strchr(word, ':');
	if (!colon || !colon[1])
		return;
	*colon = '\0';
	l->domain = word[0];
	if (word[1] == '@')
		l->host = word + 2;
	l->container = strchr(l->host, '/');
	if (l->container)
		*l->container++ = '\0';
	l->event = colon + 1;
}

static bool read_line(struct script *s, struct line *l, GError **error)
{
	int64_t cpu = UINT32_MAX;
	char *ts = next_word(l), *cpu_word, *event;
	if (!ts || *ts == '#')
		return true;
	if (!parse_int(ts, &l->ts))
		return bad(l, error, "no time", ts);
	cpu_word = next_word(l);
	if (!cpu_word || (strcmp(cpu_word, "-") && !parse_int(cpu_word, &cpu)))
		return bad(l, error, "no cpu", cpu_word);
	event = next_word(l);
	if (!event)
		return bad(l, error, "no event after", cpu_word);
	l->cpu = (uint32_t)cpu;
	split_event(l, event);
	g_autofree char *boot = boot_of(l);
	l->ts += align_of(boot);
	if (!strcmp(l->event, "!lost"))
		return read_loss(s, l, error);
	if (!strcmp(l->event, "!no-switches")) {
		s->no_switches = true;
		return true;
	}
	if (!strcmp(l->event, "!release")) {
		g_free(s->release);
		s->release = g_strdup(next_word(l));
		return true;
	}
	if (!strcmp(l->event, "!horizon")) {
		push(s, l->ts, G_MAXUINT16, BLK_ROW_HORIZON, NULL);
		return true;
	}
	if (l->event[0] == '!')
		return bad(l, error, "no such directive:", l->event);
	return read_event(s, l, error);
}

/* -- order ---------------------------------------------------------------- */

struct sortable {
	struct blk_event event;
	guint position;
};

static int compare_times(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;
	if (x->event.ts != y->event.ts)
		return x->event.ts < y->event.ts ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;
	int order = compare_times(a, b);
	return order ? order : x->event.cls < y->event.cls ? -1 : x->event.cls > y->event.cls;
}

/* Events with the tallies among them, as they are read. */
static GArray *merge_sorted(struct script *s)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct sortable));
	g_autoptr(GArray) tallies = g_array_new(FALSE, FALSE, sizeof(struct sortable));
	GHashTableIter iter;
	void *each;
	g_hash_table_iter_init(&iter, s->tallies);
	while (g_hash_table_iter_next(&iter, NULL, &each)) {
		struct tally_at *t = each;
		struct sortable x = { t->event, t->position };
		g_array_append_val(tallies, x);
	}
	g_array_sort(tallies, compare_tallies);
	g_array_append_vals(all, tallies->data, tallies->len);
	for (guint i = 0; i < s->events->len; i++) {
		struct sortable x = { g_array_index(s->events, struct blk_event, i), i };
		g_array_append_val(all, x);
	}
	g_array_sort(all, compare_times);	/* stable, says GLib */
	return all;
}

static void sort_events(struct script *s)
{
	g_autoptr(GArray) all = merge_sorted(s);
	guint n_streams = s->source.tables.streams->len;
	g_autofree guint *last = g_new0(guint, n_streams + 1);
	g_autofree bool *seen = g_new0(bool, n_streams + 1);
	for (guint i = 0; i < all->len; i++) {
		uint16_t stream = g_array_index(all, struct sortable, i).event.stream;
		if (stream != G_MAXUINT16)
			last[stream] = i;
	}
	g_array_set_size(s->events, 0);
	for (guint i = 0; i < all->len; i++) {
		struct blk_event e = g_array_index(all, struct sortable, i).event;
		bool real = e.stream != G_MAXUINT16;
		if (real && !seen[e.stream])
			push(s, e.ts, e.stream, BLK_ROW_STREAM_ADD, NULL);
		if (real)
			seen[e.stream] = true;
		g_array_append_val(s->events, e);
		if (real && last[e.stream] == i)
			push(s, e.ts, e.stream, BLK_ROW_STREAM_END, NULL);
	}
}

/* -- a source ------------------------------------------------------------- */

static enum source_status script_next(struct source *source, struct blk_batch *ret, GError **error)
{
	struct script *s = (struct script *)source;
	if (g_atomic_int_get(&s->cancelled))
		return SOURCE_CANCELLED;
	if (s->at == s->events->len)
		return SOURCE_END;
	ret->ev = &g_array_index(s->events, struct blk_event, s->at);
	ret->n = MIN(BLK_BATCH, s->events->len - s->at);
	s->at += ret->n;
	return SOURCE_OK;
}

static void script_cancel(struct source *source)
{
	g_atomic_int_set(&((struct script *)source)->cancelled, 1);
}

static double script_progress(struct source *source)
{
	struct script *s = (struct script *)source;
	return s->events->len ? (double)s->at / s->events->len : 1;
}

static void script_free(struct source *source)
{
	struct script *s = (struct script *)source;
	blk_matcher_free(s->matcher);
	g_free(s->release);
	g_hash_table_unref(s->layouts);
	g_hash_table_unref(s->classes);
	g_hash_table_unref(s->streams);
	g_hash_table_unref(s->tallies);
	g_ptr_array_unref(s->data);
	g_array_unref(s->events);
	source_clear(source);
	g_free(s);
}

static const struct source_ops script_ops = {
	.next = script_next, .cancel = script_cancel, .progress = script_progress, .free = script_free,
};

struct source *source_open_script(const char *text, const struct blk_subscription *rows,
				  size_t n_rows, GError **error)
{
	struct script *s = g_new0(struct script, 1);
	source_init(&s->source, &script_ops);
	s->rows = rows;
	s->matcher = blk_matcher_new(rows, n_rows);
	s->layouts = layouts_new();
	s->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->streams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->tallies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	s->data = g_ptr_array_new_with_free_func(g_free);
	s->events = g_array_new(FALSE, FALSE, sizeof(struct blk_event));
	g_autofree char *lines = g_strdup(text);
	unsigned number = 0;
	for (char *line = lines, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		struct line l = { .number = ++number, .p = g_strchomp(line) };
		if (!read_line(s, &l, error)) {
			script_free(&s->source);
			return NULL;
		}
	}
	sort_events(s);
	return &s->source;
}

struct timeline *timeline_of_script(const char *script, const struct model_options *options)
{
	g_autoptr(GError) error = NULL;
	struct blk_batch batch;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	struct source *source = source_open_script(script, rows, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(options);
	struct timeline *tl = timeline_new(0);

	while (source_next(source, &batch, &error) == SOURCE_OK)
		model_feed(m, &source->tables, batch.ev, batch.n);
	g_assert_no_error(error);
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	source_free(source);
	return tl;
}
