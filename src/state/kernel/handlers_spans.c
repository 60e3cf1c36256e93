/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of events that make spans: BlkKin annotations, function entries and exits, and events of rules. */
#include "state/kernel/annot.h"
#include "state/kernel/contexts.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/event_task.h"
#include "state/kernel/facts.h"
#include "state/kernel/handlers.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_order.h"
#include "state/kernel/threads.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/mix.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

#define F(n) (BLK_FIELD0 + (n))

/* ---- annotations and their threads ---- */

static bool ends_span(struct blk_text t)
{
	static const struct { char s[8]; uint32_t len; } ends[] = {
		{ "cr", 2 }, { "ss", 2 }, { "end", 3 }, { "finish", 6 }, { "stop", 4 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		if (t.len == ends[i].len && !memcmp(t.str, ends[i].s, t.len))
			return true;
	return false;
}

/* The thread is the kernel's current task; without a kernel trace it is the one that the event names. If the
 * kernel's current task is unknown, the event's own tid is not used. */
static void learn_places(struct fed_event *f, struct thread *t)
{
	if (f->ev->layout != f->cls->placeless || event_container(f))
		contexts_learn(f, t);
}

/* An annotation with the event's instant, CPU and thread. */
static struct annot annot_of_event(struct fed_event *f)
{
	const struct stream_info *stream = &g_array_index(f->s->streams, struct stream_info, f->ev->stream);
	struct annot a = {
		.ts = f->ts, .host = f->host, .thread = ID_NONE, .cpu = f->cpu,
		.channel = stream->channel, .is_unsure = stream->is_unsure,
		.vpid = user_pid(f),
		.vtid = (int32_t)blk_int_or(f->ev, BLK_CTX_VTID, -1),
		.in_kernel = event_is_kernel(f),
	};
	if (a.in_kernel)
		a.vpid = a.vtid = -1;
	return a;
}

/* Is the event's own tid another than that of t, the kernel's current task, or is that unknown? If it is another, it is
 * t's in its container, or the event's CPU is wrong: the tracer reads the CPU before it writes the event, and the
 * thread may migrate in between. */
static bool may_be_of_another(const struct annot *a, const struct thread *t)
{
	return a->by_kernel && !a->in_kernel && a->vtid > 0 && !t->idle && t->tid != a->vtid &&
	       t->inner.tid != (uint32_t)a->vtid;
}

/* If the thread of the event's own tid is running, it may have made the annotation before: see spans.c. That is a tid
 * of a container, if the kernel says so of the task. */
static void add_claim(struct fed_event *f, const struct annot *of, const struct thread *task)
{
	struct slice *s = f->s;
	uint32_t id = intmap_get(&s->tid_last, pair(f->host, (uint32_t)of->vtid));
	int64_t ns = blk_int_or(f->ev, BLK_CTX_PID_NS, 0);
	struct thread *t = slice_inner_thread(s, f->host, &(struct inner_ids){
		(uint32_t)of->vtid, (uint32_t)MAX(of->vpid, 0), ns > 0 && ns <= UINT32_MAX ? (uint32_t)ns : 0 });
	if (!task->inner.tid || !t)
		t = id == INTMAP_NONE ? NULL : thread_at(s, id);
	bool known = t && thread_order_decide(s, t), off = known && t->resolved && t->st.run != RUN_ON;
	if (off || (s->from_start && !known))
		return;
	if (!t) {		/* an older slice may know it */
		t = slice_thread(s, f->host, of->vtid);
		t->only_claimed = true;
	}
	struct annot a = *of;
	a.claims = true;
	a.by_kernel = false;
	a.thread = ID_NONE;
	a.snap = NULL;
	g_array_append_val(s->annots, a);
	thread_record(s, t, &(struct rec){ .type = REC_MARK, .ts = f->ts, .seq = f->seq, .cpu = f->cpu, .state = 1,
					   .id = s->annots->len - 1 });
}

static void add_annot(struct fed_event *f, struct annot *a, bool ends)
{
	struct slice *s = f->s;
	struct thread *t = user_thread(f, &a->by_kernel);
	a->ends = ends;
	if (!a->in_kernel)
		counters_of_thread(f, t);
	a->thread = t ? t->self : ID_NONE;
	uint32_t id = s->no_spans ? ID_NONE : s->annots->len;
	if (id != ID_NONE)
		g_array_append_vals(s->annots, a, 1);
	if (s->from_start && !id && !s->looks_back)
		runs_begin(s, f->ts);
	if (a->by_kernel) {
		thread_record(s, t, &(struct rec){
			.type = a->in_kernel ? REC_MARK : REC_SPAN, .ts = f->ts, .seq = f->seq,
			.cpu = f->cpu, .id = id,
		});
		if (id != ID_NONE && may_be_of_another(a, t))
			add_claim(f, a, t);
	} else if (t) {
		user_learn(f, t);
	}
	if (!a->in_kernel)
		learn_places(f, (a->by_kernel && !t->idle) || !event_follows_tasks(f) ? t : NULL);
}

/* ---- BlkKin ---- */

/* Without spans only the event's thread matters. False: the annotation is needed, too. */
static bool see_thread(struct fed_event *f)
{
	if (!f->s->no_spans)
		return false;
	struct annot a = annot_of_event(f);
	add_annot(f, &a, false);
	return true;
}

static void annotate(struct fed_event *f, enum annot_type type, uint32_t key, uint32_t val, bool ends)
{
	struct slice *s = f->s;
	struct annot a = annot_of_event(f);
	a.type = type;
	a.name = slice_text(s, blk_text(f->ev, F(0)));
	a.service = slice_text(s, blk_text(f->ev, F(1)));
	a.port = (uint32_t)blk_int(f->ev, F(2));
	a.ip = slice_text(s, blk_text(f->ev, F(3)));
	a.trace = (uint64_t)blk_int(f->ev, F(4));
	a.span = (uint64_t)blk_int(f->ev, F(5));
	a.parent = (uint64_t)blk_int(f->ev, F(6));
	a.key = key;
	a.val = val;
	add_annot(f, &a, ends);
}

void on_timestamp(struct fed_event *f)
{
	if (see_thread(f))
		return;
	struct blk_text event = blk_text(f->ev, F(7));
	annotate(f, ANNOT_EVENT, slice_text(f->s, event), 0, ends_span(event));
}

void on_keyval(struct fed_event *f)
{
	char number[24] = "";
	bool is_int = f->cls->what == ANNOT_INT;
	g_assert(is_int || f->cls->what == ANNOT_STRING);
	if (see_thread(f))
		return;
	if (is_int)
		snprintf(number, sizeof number, "%" G_GINT64_FORMAT, blk_int(f->ev, F(8)));
	/* one after the other: the order of arguments is the compiler's, and ids depend on it */
	uint32_t key = slice_text(f->s, blk_text(f->ev, F(7)));
	uint32_t value = is_int ? strtab_add(f->s->texts, number) : slice_text(f->s, blk_text(f->ev, F(8)));
	annotate(f, f->cls->what, key, value, false);
}

/* ---- functions ---- */

void on_function(struct fed_event *f)
{
	struct annot a = annot_of_event(f);
	a.type = ANNOT_EVENT;
	g_assert(f->cls->what == MARK_BEGIN || f->cls->what == MARK_END);
	a.mark = (uint8_t)f->cls->what;
	a.rule = RULE_FUNCTION;
	a.address = (uint64_t)blk_int_or(f->ev, F(0), 0);
	a.key = strtab_add(f->s->texts, a.mark == MARK_BEGIN ? "start" : "end");
	a.service = slice_text(f->s, blk_text(f->ev, BLK_CTX_PROCNAME));
	add_annot(f, &a, false);
}

/* lttng_ust_statedump:bin_info and similar: where a program or library is mapped. */
void on_binary(struct fed_event *f)
{
	struct annot a = annot_of_event(f);
	struct binary b = {
		.ts = f->ts, .base = (uint64_t)blk_int(f->ev, F(0)),
		.size = (uint64_t)blk_int(f->ev, F(1)), .host = f->host, .vpid = a.vpid,
		.path = slice_string(f->s, blk_text(f->ev, F(2))),
	};
	g_array_append_val(f->s->binaries, b);
}

/* ---- rules ---- */

/* One side of a rule at an event. */
struct ruled {
	const struct fed_event *f;
	const struct rule *r;
	const struct rule_event *e;
	const struct rule_use *u;
};

struct looked_at {			/* input of an expression */
	const struct ruled *at;
	char text[LIMIT_RULE_TEXT_BYTES + 1];
};

/* The text of the event's class that the slot stands for; NULL: it is a slot of the event. */
static const char *class_text(const struct ruled *at, unsigned slot)
{
	return slot >= SLOT_EVENT && slot < SLOT_CPU ? at->u->text[slot - SLOT_EVENT] : NULL;
}

static bool has_value(const struct ruled *at, unsigned slot)
{
	return slot == SLOT_CPU || class_text(at, slot) || (slot < BLK_MAX_SLOTS && blk_has(at->f->ev, slot));
}

static struct blk_text text_of(const struct ruled *at, unsigned slot)
{
	const char *text = class_text(at, slot);
	return text ? (struct blk_text){ text, (uint32_t)strlen(text) } : blk_text(at->f->ev, slot);
}

static bool is_int(const struct ruled *at, unsigned slot)
{
	return slot < BLK_MAX_SLOTS && at->f->ev->layout->slot[slot].repr == BLK_INT;
}

static bool is_real(const struct ruled *at, unsigned slot)
{
	return slot < BLK_MAX_SLOTS && at->f->ev->layout->slot[slot].repr == BLK_REAL;
}

static struct value value_of(int column, const void *row, const void *data)
{
	struct looked_at *look = (struct looked_at *)row;
	const struct ruled *at = look->at;
	unsigned slot = at->u->slots[column];
	if (slot == SLOT_CPU)
		return value_int(VALUE_COUNT, cpu_at(at->f->s, at->f->cpu)->number);
	if (!has_value(at, slot))
		return value_none();
	if (is_int(at, slot))
		return value_int(VALUE_COUNT, blk_int(at->f->ev, slot));
	if (is_real(at, slot))
		return value_ratio(blk_real(at->f->ev, slot));
	struct blk_text t = text_of(at, slot);
	size_t n = MIN(t.len, LIMIT_RULE_TEXT_BYTES);
	memcpy(look->text, t.str, n);
	look->text[n] = '\0';
	return value_text(look->text);
}

static bool holds(const struct ruled *at, const struct expr *expr)
{
	struct looked_at look = { .at = at };
	return expr_match(expr, value_of, &look, NULL);
}

static uint64_t mix_int(uint64_t h, uint64_t n)
{
	return mix(mix(h, 2), n);
}

/* A whole number is the same key as this integer, and so both zeros are one key. */
static uint64_t mix_real(uint64_t h, double d)
{
	uint64_t bits;
	if (d >= -0x1p63 && d < 0x1p63 && d == rint(d))
		return mix_int(h, (uint64_t)(int64_t)d);
	memcpy(&bits, &d, sizeof bits);
	return mix(mix(h, 4), bits);
}

static uint64_t mix_field(uint64_t h, const struct ruled *at, unsigned slot)
{
	if (slot == SLOT_CPU)
		return mix(h, cpu_at(at->f->s, at->f->cpu)->number);
	if (is_int(at, slot))
		return mix_int(h, (uint64_t)blk_int(at->f->ev, slot));
	if (is_real(at, slot))
		return mix_real(h, blk_real(at->f->ev, slot));
	struct blk_text t = text_of(at, slot);
	return mix_bytes(mix(mix(h, 3), t.len), t.str, t.len);
}

/* NaN is no key, as it does not equal itself. */
static bool has_key(const struct ruled *at, unsigned slot)
{
	return has_value(at, slot) && !(is_real(at, slot) && isnan(blk_real(at->f->ev, slot)));
}

/* Hash of the key's fields; 0 (RULE_NO_KEY): the event has no value for one of them, which is noted. */
static uint64_t key_of(const struct ruled *at, const struct rule_key *k)
{
	const struct fed_event *f = at->f;
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	if (k->by_thread && !blk_has(f->ev, event_is_kernel(f) ? BLK_CTX_TID : BLK_CTX_VTID))
		g_hash_table_add(f->s->classes, rule_keyless_name(at->r, at->e, RULE_THREAD));
	for (guint i = 0; i < k->fields->len; i++) {
		guint field = g_array_index(k->fields, guint, i);
		if (!has_key(at, at->u->slots[field])) {
			if (at->u->slots[field] == SLOT_ABSENT)		/* see rules_crowded() */
				return RULE_NO_KEY;
			g_hash_table_add(f->s->classes,
					 rule_keyless_name(at->r, at->e, g_ptr_array_index(at->e->fields, field)));
			return RULE_NO_KEY;
		}
		h = mix_field(h, at, at->u->slots[field]);
	}
	return h != RULE_NO_KEY ? h : 1;
}

/* The key of a beginning or an end: stars that both events have in common must match the same texts. */
static uint64_t pair_key(const struct ruled *at, const struct rule_key *k)
{
	uint64_t h = key_of(at, k);
	if (h == RULE_NO_KEY || !at->u->pair)
		return h;
	h = mix(h, at->u->pair);
	return h != RULE_NO_KEY ? h : 1;
}

static bool is_hex(const struct ruled *at, unsigned slot)
{
	return is_int(at, slot) && at->f->ev->layout->slot[slot].is_hex;
}

static void add_mark(GString *s, char what)
{
	g_string_append_c(s, LOOKUP_MARK);
	g_string_append_c(s, what);
}

/* A text of the trace, `most` bytes of it; marks: in a text in which LOOKUP_MARK has a meaning. */
static void add_text(GString *s, struct blk_text t, uint32_t most, bool marks)
{
	size_t len = MIN(t.len, most);
	for (const char *p = t.str, *end = p + len; p < end;) {
		const char *mark = marks ? memchr(p, LOOKUP_MARK, (size_t)(end - p)) : NULL;
		g_string_append_len(s, p, (mark ? mark : end) - p);
		if (mark)
			add_mark(s, LOOKUP_LITERAL);
		p = mark ? mark + 1 : end;
	}
}

/* most: bytes of a text. */
static void add_field(GString *s, const struct ruled *at, unsigned slot, uint32_t most, bool marks)
{
	char number[TEXT_REAL_BYTES];
	if (slot == SLOT_CPU) {
		g_string_append_printf(s, "%u", cpu_at(at->f->s, at->f->cpu)->number);
	} else if (!has_value(at, slot)) {
		if (marks)
			add_mark(s, LOOKUP_NONE);
		else
			g_string_append_c(s, '?');
	} else if (is_hex(at, slot)) {
		g_string_append_printf(s, "0x%" G_GINT64_MODIFIER "x", (uint64_t)blk_int(at->f->ev, slot));
	} else if (is_int(at, slot)) {
		g_string_append_printf(s, "%" G_GINT64_FORMAT, blk_int(at->f->ev, slot));
	} else if (is_real(at, slot)) {
		bool is_single = at->f->ev->layout->slot[slot].size == 4;
		g_string_append(s, text_real(blk_real(at->f->ev, slot), is_single, number));
	} else {
		add_text(s, text_of(at, slot), most, marks);
	}
}

/* most: bytes of each text of the event. */
static uint32_t fill_up_to(const struct ruled *at, const struct rule_template *t, uint32_t most)
{
	g_autoptr(GString) s = g_string_new(NULL);
	for (guint i = 0; i < t->texts->len; i++) {
		g_string_append(s, g_ptr_array_index(t->texts, i));
		if (i < t->fields->len)
			add_field(s, at, at->u->slots[g_array_index(t->fields, guint, i)], most, t->looks_up);
	}
	return strtab_add_len(at->f->s->texts, s->str, MIN(s->len, LIMIT_TEXT_BYTES));
}

static uint32_t fill(const struct ruled *at, const struct rule_template *t)
{
	return fill_up_to(at, t, LIMIT_RULE_TEXT_BYTES);
}

static void tag(struct fed_event *f, const struct annot *of, uint32_t key, uint32_t val, bool is_int)
{
	struct annot a = *of;
	a.type = is_int ? ANNOT_INT : ANNOT_STRING;
	a.mark = MARK_TAG;
	a.looks_up &= (uint8_t)~(LOOKS_UP_KEY | LOOKS_UP_TEXT);
	a.key = key;
	a.val = val;
	a.thread = ID_NONE;
	a.by_kernel = false;
	add_annot(f, &a, of->ends);
}

static void tag_fields(struct fed_event *f, const struct ruled *at, const struct annot *a)
{
	struct strtab *texts = f->s->texts;
	for (guint i = 0; i < at->r->tags->len; i++) {
		guint field = g_array_index(at->r->tags, guint, i);
		unsigned slot = at->u->slots[field];
		g_autoptr(GString) val = g_string_new(NULL);
		add_field(val, at, slot, LIMIT_RULE_TEXT_BYTES, false);
		tag(f, a, strtab_add(texts, g_ptr_array_index(at->e->fields, field)),
		    strtab_add_len(texts, val->str, val->len),
		    slot == SLOT_CPU || (is_int(at, slot) && !is_hex(at, slot)));
	}
	ARRAY_EACH(const struct rule_tag, t, at->r->looked_tags) {
		struct annot of = *a;
		of.looks_up |= LOOKS_UP_VALUE;
		tag(f, &of, strtab_add(texts, t->key), fill(at, &t->text), false);
	}
}

/* With an end that is no byte. */
static uint64_t mix_name(uint64_t h, const char *text)
{
	return mix(mix_text(h, text), UINT64_C(1) << 8);
}

/* Global: only what the link names distinguishes it, with its texts if no table is needed for them. RULE_NO_KEY: a
 * field has no value. */
static uint64_t link_key(const struct ruled *at, const struct rule_link *l)
{
	const struct rule_key fields = { .fields = l->text.fields };
	uint64_t h = key_of(at, &l->key);
	if (h == RULE_NO_KEY || (l->text.texts && key_of(at, &fields) == RULE_NO_KEY))
		return RULE_NO_KEY;
	h = mix_name(h, l->name);
	if (l->by_host) {
		const struct slice_host *host = &g_array_index(at->f->s->hosts, struct slice_host, at->f->host);
		h = mix_name(mix_name(h, host->name), host->boot);
	}
	if (l->text.texts && !l->text.looks_up)
		h = mix_text(h, strtab_get(at->f->s->texts, fill(at, &l->text)));
	return h != RULE_NO_KEY ? h : 1;
}

/* Adds what belongs to the annotation of an event, and says nothing of its thread. */
static void add_to_event(struct fed_event *f, struct annot *a)
{
	a->type = ANNOT_STRING;
	a->thread = ID_NONE;
	a->by_kernel = false;
	add_annot(f, a, false);
}

static void add_links(struct fed_event *f, const struct ruled *at, const struct annot *of, bool out)
{
	ARRAY_EACH(const struct rule_link, l, at->e->links) {
		uint64_t key = l->out == out ? link_key(at, l) : RULE_NO_KEY;
		if (key == RULE_NO_KEY)
			continue;
		struct annot a = *of;
		a.mark = out ? MARK_LINK_OUT : MARK_LINK_IN;
		a.key = strtab_add(f->s->texts, l->name);
		a.val = l->text.looks_up ? fill(at, &l->text) : strtab_add(f->s->texts, "");
		a.address = key;
		a.looks_up = l->text.looks_up ? LOOKS_UP_KEY : 0;
		add_to_event(f, &a);
	}
}

/* What the event takes comes first: it does not take what it sends itself. */
static void link_event(struct fed_event *f, const struct ruled *at, const struct annot *a)
{
	add_links(f, at, a, false);
	add_links(f, at, a, true);
}

/* Key of the first link that the event takes. */
static uint64_t first_link(const struct ruled *at)
{
	ARRAY_EACH(const struct rule_link, l, at->e->links)
		if (!l->out)
			return link_key(at, l);
	return RULE_NO_KEY;
}

/* After how many ns the next span with the key is due, the thread apart. */
static void add_every(struct fed_event *f, const struct ruled *at, const struct annot *of)
{
	uint64_t key = at->r->every.texts ? key_of(at, &at->r->begin_key) : RULE_NO_KEY;
	if (key == RULE_NO_KEY)
		return;
	struct annot a = *of;
	a.mark = MARK_EVERY;
	a.key = strtab_add(f->s->texts, "due");
	a.val = fill(at, &at->r->every);
	a.address = key;
	a.looks_up = at->r->every.looks_up ? LOOKS_UP_VALUE : 0;
	add_to_event(f, &a);
}

static struct annot rule_mark(struct fed_event *f, unsigned number, enum annot_mark mark)
{
	struct annot a = annot_of_event(f);
	a.type = ANNOT_EVENT;
	a.mark = mark;
	a.rule = number;
	a.span = number;
	a.key = strtab_add(f->s->texts, mark == MARK_BEGIN ? "start" : "end");
	return a;
}

/* Can the event fill the template? An end event has no values for fields of the begin event. */
static bool can_fill(const struct rule_template *t, bool begins)
{
	return t->texts && (begins || !t->fields->len);
}

static uint8_t looks_up(const struct rule_template *t, bool begins, uint8_t bit)
{
	return can_fill(t, begins) && t->looks_up ? bit : 0;
}

static void rule_names(const struct ruled *at, bool begins, struct annot *a)
{
	const struct rule *r = at->r;
	a->looks_up = looks_up(&r->text, begins, LOOKS_UP_NAME) | looks_up(&r->service, begins, LOOKS_UP_SERVICE);
	a->name = can_fill(&r->text, begins) ? fill(at, &r->text) : strtab_add(at->f->s->texts, r->name);
	a->service = can_fill(&r->service, begins) ? fill(at, &r->service) :
		     slice_text(at->f->s, blk_text(at->f->ev, BLK_CTX_PROCNAME));
}

static uint8_t severity_at(const struct ruled *at, const struct rule_severity *s)
{
	unsigned slot = s->has_field ? at->u->slots[s->field] : SLOT_ABSENT;
	if (!has_value(at, slot))
		return SEVERITY_NONE;
	if (is_int(at, slot))
		return severity_of(s->scale, blk_int(at->f->ev, slot));
	struct blk_text t = text_of(at, slot);
	return severity_of_name(s->scale, t.str, t.len);
}

/* False: the rule's condition does not hold. */
static bool rule_annotates(struct fed_event *f, const struct rule_use *u)
{
	const struct rule *r = rule_at(u->rule);
	const struct ruled at = { f, r, &r->begin, u };
	if (r->begin.only_if && !holds(&at, r->begin.only_if))
		return false;
	struct annot a = annot_of_event(f);
	a.type = ANNOT_NOTE;
	a.mark = MARK_NOTE;
	a.rule = u->rule;
	a.trace = a.span = ANNOT_NO_SPAN;
	a.severity = severity_at(&at, &r->severity);
	a.looks_up = r->text.looks_up ? LOOKS_UP_TEXT : 0;
	a.key = r->text.texts ? fill_up_to(&at, &r->text, LIMIT_TEXT_BYTES) : strtab_add(f->s->texts, r->name);
	add_annot(f, &a, true);
	tag_fields(f, &at, &a);
	return true;
}

/* Rules of presets only annotate with events that no other rule takes. */
static void rules_annotate(struct fed_event *f, const GArray *begun)
{
	bool taken = false;
	for (int of_presets = 0; of_presets < 2 && !taken; of_presets++)
		for (guint i = 0; i < begun->len; i++) {
			const struct rule_use *u = &g_array_index(begun, struct rule_use, i);
			const struct rule *r = rule_at(u->rule);
			if (r->annotates && (r->preset != NULL) == of_presets)
				taken |= rule_annotates(f, u);
		}
}

static bool any_annotates(const GArray *begun)
{
	bool any = false;
	for (guint i = 0; i < begun->len && !any; i++)
		any = rule_at(g_array_index(begun, struct rule_use, i).rule)->annotates;
	return any;
}

/* Does the event begin a span? */
static bool begins_span(const struct fed_event *f, const GArray *begun)
{
	for (guint i = 0; i < begun->len; i++) {
		const struct rule_use *u = &g_array_index(begun, struct rule_use, i);
		const struct rule *r = rule_at(u->rule);
		const struct ruled at = { f, r, &r->begin, u };
		if (!r->annotates && !r->defines && (!r->begin.only_if || holds(&at, r->begin.only_if)))
			return true;
	}
	return false;
}

static void set_key(const struct ruled *at, const struct rule_key *k, struct annot *a)
{
	a->trace = pair_key(at, k);
	if (!k->looked_up.texts)
		return;
	a->val = fill(at, &k->looked_up);
	a->looks_up |= LOOKS_UP_KEY;
}

/* The text of a definition's key: as marks name it. False: the event has no value for a field. */
static bool defined_key(const struct ruled *at, uint32_t *ret_key)
{
	const GArray *fields = at->r->begin_key.fields;
	g_autoptr(GString) key = g_string_new(NULL);
	if (key_of(at, &at->r->begin_key) == RULE_NO_KEY)
		return false;
	for (guint i = 0; i < fields->len; i++) {
		if (i)
			g_string_append_c(key, LOOKUP_BETWEEN);
		add_field(key, at, at->u->slots[g_array_index(fields, guint, i)], LIMIT_RULE_TEXT_BYTES, false);
	}
	*ret_key = strtab_add_len(at->f->s->texts, key->str, key->len);
	return true;
}

/* An event defines an entry of a table. */
static void rule_defines(struct fed_event *f, const struct rule_use *u)
{
	const struct rule *r = rule_at(u->rule);
	const struct ruled at = { f, r, &r->begin, u };
	struct annot a = annot_of_event(f);
	if (f->s->no_spans || (r->begin.only_if && !holds(&at, r->begin.only_if)) || !defined_key(&at, &a.key))
		return;
	a.mark = MARK_DEFINE;
	a.rule = u->rule;
	a.val = fill(&at, &r->text);
	a.looks_up = r->text.looks_up ? LOOKS_UP_VALUE : 0;
	g_array_append_val(f->s->annots, a);
	if (f->s->from_start && f->s->annots->len == 1 && !f->s->looks_back)
		runs_begin(f->s, f->ts);
}

static void rule_begins(struct fed_event *f, const struct rule_use *u)
{
	const struct rule *r = rule_at(u->rule);
	const struct ruled at = { f, r, &r->begin, u };
	if (r->begin.only_if && !holds(&at, r->begin.only_if))
		return;
	struct annot a = rule_mark(f, u->rule, MARK_BEGIN);
	rule_names(&at, true, &a);
	set_key(&at, &r->begin_key, &a);
	if (r->parent == PARENT_RULE)
		a.parent = key_of(&at, &r->parent_key);
	if (r->parent == PARENT_LINK)
		a.parent = first_link(&at);
	add_annot(f, &a, false);
	add_every(f, &at, &a);
	link_event(f, &at, &a);
	tag_fields(f, &at, &a);
}

/* False: the event has no such value, or it cannot be the time that something took until then. *ret_ns: 0 before. */
static bool duration_of(const struct ruled *at, int64_t *ret_ns)
{
	const struct rule *r = at->r;
	if (r->at_once)
		return true;
	unsigned slot = at->u->slots[r->duration];
	if (!has_value(at, slot))
		return false;
	if (is_int(at, slot)) {
		int64_t v = blk_int(at->f->ev, slot);
		if (v < 0 || v > at->f->ts / r->unit)
			return false;
		*ret_ns = v * r->unit;
		return true;
	}
	double ns = is_real(at, slot) ? blk_real(at->f->ev, slot) * (double)r->unit : -1;
	if (!(ns >= 0 && ns <= (double)at->f->ts))	/* also if it is not a number */
		return false;
	*ret_ns = MIN((int64_t)(ns + 0.5), at->f->ts);
	return true;
}

static void tag_error(struct fed_event *f, const struct ruled *end, const struct annot *a)
{
	struct strtab *texts = f->s->texts;
	if (end->e->error_if && holds(end, end->e->error_if))
		tag(f, a, strtab_add(texts, "error"), strtab_add(texts, "1"), true);
}

/* The event is a whole span: u is its use as the end, of_begin as the beginning. Without a duration it is an end
 * alone. */
static void rule_is_whole(struct fed_event *f, const struct rule_use *u, const struct rule_use *of_begin)
{
	const struct rule *r = rule_at(u->rule);
	const struct ruled end = { f, r, &r->end, u }, at = { f, r, &r->begin, of_begin };
	int64_t ns = 0;
	if (r->end.only_if && !holds(&end, r->end.only_if))
		return;
	bool known = duration_of(&at, &ns);
	if (!known)
		g_hash_table_add(f->s->classes, rule_keyless_name(r, &r->end,
								  g_ptr_array_index(r->begin.fields, r->duration)));
	struct annot a = rule_mark(f, u->rule, known ? MARK_WHOLE : MARK_END);
	rule_names(&at, true, &a);
	a.trace = RULE_NO_KEY;
	a.address = (uint64_t)ns;
	add_annot(f, &a, true);
	link_event(f, &end, &a);
	tag_fields(f, &at, &a);
	tag_error(f, &end, &a);
}

static const struct rule_use *use_of(const GArray *uses, guint rule)
{
	for (guint i = 0; i < uses->len; i++)
		if (g_array_index(uses, struct rule_use, i).rule == rule)
			return &g_array_index(uses, struct rule_use, i);
	return NULL;
}

static void rule_ends(struct fed_event *f, const struct rule_use *u)
{
	const struct rule *r = rule_at(u->rule);
	const struct rule_use *of_begin = r->is_whole ? use_of(rules_begun_by(f->ev->row), u->rule) : NULL;
	if (of_begin) {
		rule_is_whole(f, u, of_begin);
		return;
	}
	const struct ruled at = { f, r, &r->end, u };
	if (r->end.only_if && !holds(&at, r->end.only_if))
		return;
	struct annot a = rule_mark(f, u->rule, MARK_END);
	rule_names(&at, false, &a);
	set_key(&at, &r->end_key, &a);
	add_annot(f, &a, !r->nested);
	link_event(f, &at, &a);
	tag_error(f, &at, &a);
}

/* The event's own handler runs first, so that its thread is known. As an annotation, the event belongs to the span
 * that it begins, or else to the one that it ends. */
void on_ruled(struct fed_event *f)
{
	handler base = slice_base_handler(f->ev->row);
	const GArray *begun = rules_begun_by(f->ev->row), *ended = rules_ended_by(f->ev->row);
	if (base)
		base(f);
	else if (event_is_kernel(f))
		event_task(f);
	bool annotates = any_annotates(begun), begins = annotates && begins_span(f, begun);
	if (annotates && !begins)
		rules_annotate(f, begun);
	for (guint i = 0; i < ended->len; i++)
		rule_ends(f, &g_array_index(ended, struct rule_use, i));
	for (guint i = 0; i < begun->len; i++) {
		const struct rule_use *u = &g_array_index(begun, struct rule_use, i);
		const struct rule *r = rule_at(u->rule);
		if (!r->annotates && !r->is_whole)
			(r->defines ? rule_defines : rule_begins)(f, u);
	}
	if (begins)
		rules_annotate(f, begun);
}
