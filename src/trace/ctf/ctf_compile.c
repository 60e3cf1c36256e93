/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compiles event classes to decode programs. Event headers usually end on a byte, as LTTng aligns them. The compiler
 * tracks what is known about the position, so alignment needs a step only if it depends on the event. One general step
 * reads types that LTTng does not write (LEB128, UTF-16, reversed bits).
 */
#include "trace/ctf/ctf_all.h"
#include "trace/ctf/ctf_header.h"
#include "trace/ctf/ctf_wanted.h"
#include "trace/ctf/layouts.h"

#include "base/limits.h"

#define MAX_DIRECT_ID 65536		/* larger ids are in a hash table */

struct compile {
	GArray *steps;			/* struct ctf_step */
	GArray *choices;		/* struct ctf_choice */
	struct ctf_fixed fixed_field[BLK_MAX_SLOTS];
	unsigned n_fixed;
	uint32_t fixed_slots, fixed_bits;
	uint64_t ahead;			/* bits that were skipped and that no step has moved over yet */
	uint64_t unit;			/* a power of two: position % unit == bit */
	uint64_t bit;
	uint64_t offset;		/* bits since the event header; valid while .fixed */
	bool fixed;			/* the position is the same in every event */
	bool loads;			/* second pass: steps that fill a row are made */
	unsigned repeats;		/* nested repetitions around the current type */
	unsigned picks;			/* level in ctf_wanted.way that selects the element in the current
					 * repetition */
	bool failed;			/* the class is too big */
	uint32_t row_bytes;
	struct blk_layout *layout;
	size_t bytes;			/* of the current class's program */
	unsigned n_in_place;		/* wanted fields that a layout can address in the packet */
};

/* Wanted fields with a path to the current type or into it; depth: the level in their paths. */
struct below { const struct ctf_wanted *w[BLK_MAX_SLOTS]; unsigned n, depth; };

static struct below narrow(const struct below *b, uint32_t way)
{
	struct below ret = { .depth = b->depth + 1 };
	for (unsigned i = 0; i < b->n; i++)
		if (b->w[i]->n_ways > b->depth && b->w[i]->way[b->depth] == way)
			ret.w[ret.n++] = b->w[i];
	return ret;
}

static bool is_leaf(const struct below *b, unsigned i)
{
	return b->w[i]->n_ways == b->depth;
}

static struct ctf_step *add(struct compile *c, enum ctf_op op)
{
	struct ctf_step s = { .op = op };
	if (c->steps->len >= LIMIT_DECODE_STEPS) {
		c->failed = true;
		g_array_set_size(c->steps, LIMIT_DECODE_STEPS - 1);
	}
	g_array_append_val(c->steps, s);
	return &g_array_index(c->steps, struct ctf_step, c->steps->len - 1);
}

/* Adds a step that moves; it also moves over the bits in .ahead. */
static struct ctf_step *add_move(struct compile *c, enum ctf_op op)
{
	for (; c->ahead > UINT32_MAX && !c->failed; c->ahead -= UINT32_MAX)
		add(c, CTF_OP_SKIP)->ahead = UINT32_MAX;
	struct ctf_step *s = add(c, op);
	s->ahead = (uint32_t)c->ahead;
	c->ahead = 0;
	return s;
}

/* Adds a step that reads .ahead bits after the position. It does not move, unless it is TAKE_STRING. */
static struct ctf_step *add_stay(struct compile *c, enum ctf_op op)
{
	if (op == CTF_OP_TAKE_STRING)
		return add_move(c, op);
	if (c->ahead > UINT32_MAX)
		add_move(c, CTF_OP_SKIP);
	struct ctf_step *s = add(c, op);
	s->ahead = (uint32_t)c->ahead;
	return s;
}

/* Other steps may jump here: makes a step that moves over the bits in .ahead. */
static void flush_ahead(struct compile *c)
{
	if (c->ahead)
		add_move(c, CTF_OP_SKIP);
}

static void move(struct compile *c, uint64_t bits)
{
	c->bit = (c->bit + bits) & (c->unit - 1);
	c->offset += bits;
	if (c->offset > UINT64_C(1) << 40)
		c->failed = true;
}

static void add_skip(struct compile *c, uint64_t bits)
{
	move(c, bits);
	c->ahead += bits;
}

/* The position depends on the event from here on; it is a multiple of `unit`. */
static void set_unknown_position(struct compile *c, uint64_t unit)
{
	c->fixed = false;
	c->unit = unit;
	c->bit = 0;
}

static void add_align(struct compile *c, uint64_t align)
{
	if (align <= c->unit) {
		add_skip(c, -c->bit & (align - 1));
		return;
	}
	add_move(c, CTF_OP_ALIGN)->n = align;
	set_unknown_position(c, align);
}

static void add_type(struct compile *c, const struct ctf_type *t, uint16_t reg,
		     const struct below *below);

/* ---- loads ---- */

/* Adds the field to the row; returns its offset. */
static uint16_t add_to_row(struct compile *c, const struct ctf_wanted *w)
{
	struct blk_slot_layout *l = &c->layout->slot[w->slot];
	*l = (struct blk_slot_layout){ .off = c->row_bytes };
	if (w->kind == CTF_WANT_REAL) {		/* its bits as an integer of 8 bytes; its lower ones are first */
		l->repr = BLK_REAL;
		l->size = w->leaf->bits == 32 ? 4 : 8;
	} else if (w->kind == CTF_WANT_INT) {
		l->repr = BLK_INT;
		l->size = 8;
		l->is_signed = w->leaf->is_signed;
		l->is_hex = w->leaf->base == 16;
	} else {
		l->repr = w->kind == CTF_WANT_TEXT ? BLK_TEXT_REF : BLK_BYTES_REF;
	}
	g_assert(c->row_bytes <= UINT16_MAX);
	c->row_bytes += ctf_want_number(w->kind) ? 8 : sizeof(struct blk_text);
	return l->off;
}

static struct ctf_step *add_load(struct compile *c, enum ctf_op op, const struct ctf_wanted *w)
{
	struct ctf_step *s = add_stay(c, op);
	s->slot = w->slot;
	s->off = add_to_row(c, w);
	s->is_text = w->kind == CTF_WANT_TEXT;
	s->pick = c->repeats ? w->way[c->picks] + 1 : 0;
	return s;
}

static void set_integer(struct ctf_step *s, const struct ctf_type *t)
{
	s->bits = t->bits;
	s->big_endian = t->big_endian;
	s->is_signed = t->is_signed;
}

/* Can only ctf_walk() read values of this type? */
static bool needs_walk(const struct ctf_type *t)
{
	if (t->kind == CTF_ARRAY || t->kind == CTF_SEQUENCE)
		return t->encoding != CTF_UTF8 || needs_walk(t->element) ||
		       t->element->bits % t->element->align;
	if (t->kind == CTF_FLOAT && t->bits != 32 && t->bits != 64)
		return true;
	return t->is_var || t->is_reversed || t->encoding != CTF_UTF8;
}

/* Is the field at the same byte in every event? */
static bool is_fixed(const struct compile *c, const struct ctf_wanted *w)
{
	const struct ctf_type *t = w->leaf;
	if (!c->fixed || c->offset % 8 || c->offset / 8 > UINT16_MAX || needs_walk(t))
		return false;
	if (ctf_want_number(w->kind))
		return t->bits == 8 || t->bits == 16 || t->bits == 32 || t->bits == 64;
	return w->kind == CTF_WANT_TEXT && t->kind == CTF_ARRAY && t->element->bits == 8 &&
	       t->element->align <= 8 && t->length < UINT16_MAX;
}

/* The layout addresses the field in the packet. */
static void place_in_layout(struct compile *c, const struct ctf_wanted *w)
{
	const struct ctf_type *t = w->leaf;
	struct blk_slot_layout *l = &c->layout->slot[w->slot];
	*l = (struct blk_slot_layout){ .off = c->offset / 8 };
	if (ctf_want_number(w->kind)) {
		l->repr = w->kind == CTF_WANT_INT ? BLK_INT : BLK_REAL;
		l->size = t->bits / 8;
		l->is_signed = t->is_signed;
		l->is_hex = t->base == 16;
		l->big_endian = t->big_endian;
	} else {
		l->repr = BLK_TEXT_INLINE;
		l->size = t->length;
	}
	c->n_in_place++;
}

static void add_fixed(struct compile *c, const struct ctf_wanted *w)
{
	const struct ctf_type *t = w->leaf;
	bool is_text = w->kind == CTF_WANT_TEXT;
	uint16_t size = is_text ? t->length : t->bits / 8;
	g_assert(c->n_fixed < BLK_MAX_SLOTS);
	c->fixed_field[c->n_fixed++] = (struct ctf_fixed){
		.at = c->offset / 8, .off = add_to_row(c, w), .size = size,
		.big_endian = !is_text && t->big_endian, .is_signed = !is_text && t->is_signed,
		.is_text = is_text,
	};
	c->fixed_slots |= 1u << w->slot;
	c->fixed_bits = MAX(c->fixed_bits, c->offset + size * 8u);
}

static void add_wanted(struct compile *c, const struct ctf_wanted *w, enum ctf_op op, const struct ctf_type *t)
{
	bool fixed = is_fixed(c, w);
	if (!c->loads || fixed) {
		if (fixed)
			(c->loads ? add_fixed : place_in_layout)(c, w);
		return;
	}
	struct ctf_step *s = add_load(c, needs_walk(t) ? CTF_OP_LOAD_WALK : op, w);
	if (s->op == CTF_OP_LOAD_WALK) {
		s->type = t;
		s->reg = CTF_NO_REG;
	} else if (op >= CTF_OP_LOAD && op <= CTF_OP_LOAD_64) {
		set_integer(s, t);
	} else if (op != CTF_OP_LOAD_STRING && op != CTF_OP_TAKE_STRING) {
		set_integer(s, t->element);
		s->n = t->length;
		s->reg = t->length_reg;
	}
}

/* ---- types ---- */

/* Moves over a field of a type that only ctf_walk() can read. */
static void add_walk(struct compile *c, const struct ctf_type *t, uint16_t reg)
{
	struct ctf_step *s = add_move(c, CTF_OP_WALK);
	s->type = t;
	s->reg = reg;
	set_unknown_position(c, t->is_var || t->kind == CTF_STRING ? 8 : 1);
}

/* The operation that loads an integer: the usual sizes have fast ones. */
static enum ctf_op load_of(const struct compile *c, const struct ctf_type *t)
{
	if (c->repeats || t->big_endian || c->unit < 8 || c->bit % 8)
		return CTF_OP_LOAD;
	return t->bits == 32 ? CTF_OP_LOAD_32 : t->bits == 64 ? CTF_OP_LOAD_64 : CTF_OP_LOAD;
}

static void add_integer(struct compile *c, const struct ctf_type *t, uint16_t reg,
			const struct below *below)
{
	if (reg != CTF_NO_REG && !needs_walk(t)) {
		struct ctf_step *s = add_stay(c, CTF_OP_REG);
		set_integer(s, t);
		s->reg = reg;
	}
	for (unsigned i = 0; i < below->n; i++)
		if (is_leaf(below, i))
			add_wanted(c, below->w[i], load_of(c, t), t);
	if (t->kind != CTF_FLOAT && needs_walk(t))
		add_walk(c, t, reg);
	else
		add_skip(c, t->bits);
}

static void add_string(struct compile *c, const struct ctf_type *t, const struct below *below)
{
	/* A string that is wanted once is loaded and skipped in one step, so that its end is searched once. */
	bool take = c->loads && !c->repeats && below->n == 1 && is_leaf(below, 0) && !needs_walk(t);
	for (unsigned i = 0; i < below->n; i++)
		if (is_leaf(below, i))
			add_wanted(c, below->w[i], take ? CTF_OP_TAKE_STRING : CTF_OP_LOAD_STRING, t);
	if (needs_walk(t))
		add_walk(c, t, CTF_NO_REG);
	else if (!take)
		add_move(c, CTF_OP_STRING);
	set_unknown_position(c, 8);
}

static void add_struct(struct compile *c, const struct ctf_type *t, const struct below *below)
{
	for (uint32_t i = 0; i < t->n_fields && !c->failed; i++) {
		struct below inner = narrow(below, i);
		add_type(c, t->field[i].type, t->field[i].reg, &inner);
	}
}

/* Bits of an element if elements follow each other without gaps; else 0. */
static uint64_t packed_bits(const struct ctf_type *element)
{
	uint64_t bits;
	return ctf_type_fixed(element, &bits) && bits % element->align == 0 ? bits : 0;
}

/* In a repetition: all wanted fields in elements; each is selected by the number of its element. */
static struct below of_rounds(const struct below *b)
{
	struct below ret = { .depth = b->depth + 1 };
	for (unsigned i = 0; i < b->n; i++)
		if (!is_leaf(b, i))
			ret.w[ret.n++] = b->w[i];
	return ret;
}

/* Compiles one element, to be run n times, or the number of times in a register. */
static void add_repeat(struct compile *c, const struct ctf_type *t, uint64_t n, uint16_t reg,
		       const struct below *below)
{
	struct below rounds = of_rounds(below);
	unsigned picks = c->picks;
	flush_ahead(c);
	guint at = c->steps->len;
	struct ctf_step *s = add(c, reg == CTF_NO_REG ? CTF_OP_REPEAT : CTF_OP_REPEAT_REG);
	if (c->failed)
		return;
	s->n = n;
	s->reg = reg;
	set_unknown_position(c, 1);		/* each element begins where the previous one ends */
	if (c->repeats++)
		rounds.n = 0;	/* nested repetitions: elements cannot be selected */
	c->picks = below->depth;
	add_align(c, t->align);
	add_type(c, t, CTF_NO_REG, &rounds);
	c->repeats--;
	c->picks = picks;
	flush_ahead(c);
	g_array_index(c->steps, struct ctf_step, at).to = c->steps->len;
	set_unknown_position(c, 1);
}

/* An array with wanted elements: these are read one by one. Returns how many. */
static uint64_t add_unrolled(struct compile *c, const struct ctf_type *t, const struct below *below)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < below->n; i++)
		if (!is_leaf(below, i))
			n = MAX(n, (uint64_t)below->w[i]->way[below->depth] + 1);
	if (n > LIMIT_UNROLLED_ELEMENTS || n > t->length)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		struct below inner = narrow(below, i);
		add_type(c, t->element, CTF_NO_REG, &inner);
	}
	return n;
}

static void add_array(struct compile *c, const struct ctf_type *t, const struct below *below)
{
	uint64_t bits = packed_bits(t->element), n = t->length;
	add_align(c, t->element->align);
	for (unsigned i = 0; i < below->n; i++)
		if (is_leaf(below, i))
			add_wanted(c, below->w[i], CTF_OP_LOAD_ARRAY, t);
	n -= add_unrolled(c, t, below);
	if (bits && n > (UINT64_C(1) << 40) / bits)
		c->failed = true;
	else if (bits)
		add_skip(c, n * bits);
	else if (n)
		add_repeat(c, t->element, n, CTF_NO_REG, &(struct below){ .depth = below->depth });
}

/* Is a part of an element wanted? An element that is itself a number needs no repetition, if a step reads it. */
static bool has_inner(const struct below *b, const struct ctf_type *t)
{
	for (unsigned i = 0; i < b->n; i++)
		if (!is_leaf(b, i) && (b->w[i]->n_ways > b->depth + 1 || b->w[i]->leaf != t->element ||
				       !ctf_want_number(b->w[i]->kind) || needs_walk(t->element)))
			return true;
	return false;
}

static void add_sequence(struct compile *c, const struct ctf_type *t, const struct below *below)
{
	uint64_t bits = packed_bits(t->element);
	add_align(c, t->element->align);
	for (unsigned i = 0; i < below->n; i++) {
		const struct ctf_wanted *w = below->w[i];
		if (is_leaf(below, i)) {
			add_wanted(c, w, CTF_OP_LOAD_SEQUENCE, t);
		} else if (c->loads && bits && !has_inner(below, t)) {
			struct ctf_step *s = add_load(c, CTF_OP_LOAD_ELEMENT, w);
			set_integer(s, t->element);
			s->reg = t->length_reg;
			s->n = w->way[below->depth];
		}
	}
	if (!bits || has_inner(below, t)) {
		add_repeat(c, t->element, 0, t->length_reg, below);
		return;
	}
	struct ctf_step *s = add_move(c, CTF_OP_SKIP_SEQUENCE);
	s->n = bits;
	s->reg = t->length_reg;
	set_unknown_position(c, MIN(c->bit ? 1 : c->unit, bits & -bits));
}

static void add_variant(struct compile *c, const struct ctf_type *t, const struct below *below)
{
	flush_ahead(c);
	guint at = c->steps->len;
	g_autofree guint *from = g_new(guint, t->n_fields + 1);
	struct ctf_step *s = add(c, CTF_OP_CHOOSE);
	if (c->failed)
		return;
	s->reg = t->tag;
	uint64_t unit = c->unit, bit = c->bit;
	for (uint32_t i = 0; i < t->n_fields && !c->failed; i++) {
		struct below inner = narrow(below, i);
		from[i] = c->steps->len;
		c->fixed = false;
		c->unit = unit;
		c->bit = bit;
		add_type(c, t->field[i].type, t->field[i].reg, &inner);
		flush_ahead(c);
	}
	from[t->n_fields] = c->steps->len;
	s = &g_array_index(c->steps, struct ctf_step, at);
	s->to = c->steps->len;
	guint first = c->choices->len;
	for (uint32_t i = 0; i < t->n_selects && !c->failed; i++) {
		const struct ctf_select *e = &t->select[i];
		g_assert(e->option < t->n_fields);
		struct ctf_choice k = { .lo = e->lo, .hi = e->hi, .is_signed = t->tag_is_signed,
					.from = from[e->option], .to = from[e->option + 1] };
		g_array_append_val(c->choices, k);
	}
	struct ctf_choice end = { .last = true, .optional = t->kind == CTF_OPTIONAL };
	g_array_append_val(c->choices, end);
	s->n = first;
	set_unknown_position(c, 1);
}

static void add_type(struct compile *c, const struct ctf_type *t, uint16_t reg,
		     const struct below *below)
{
	if (c->failed)
		return;
	add_align(c, MAX(t->align, 1));
	switch ((enum ctf_kind)t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		add_integer(c, t, reg, below);
		break;
	case CTF_STRING:
		add_string(c, t, below);
		break;
	case CTF_STRUCT:
		add_struct(c, t, below);
		break;
	case CTF_ARRAY:
		add_array(c, t, below);
		break;
	case CTF_SEQUENCE:
		add_sequence(c, t, below);
		break;
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		add_variant(c, t, below);
		break;
	}
}

/* ---- a class ---- */

/* Loads all fields at once, as bytes. It must be the first step, as it reads the event from its beginning. */
static void add_all(struct compile *c, int slot)
{
	struct ctf_step *s = add(c, CTF_OP_LOAD_ALL);
	s->slot = (uint8_t)slot;
	s->off = (uint16_t)c->row_bytes;
	c->layout->slot[slot] = (struct blk_slot_layout){ .off = c->row_bytes, .repr = BLK_BYTES_REF };
	c->row_bytes += sizeof(struct blk_text);
}

static void run_pass(struct compile *c, const struct ctf_stream_class *sc,
		     const struct ctf_event_class *ec, const struct ctf_wanted *w, unsigned n,
		     bool loads, int all, bool on_byte)
{
	g_array_set_size(c->steps, 0);
	g_array_set_size(c->choices, 0);
	c->ahead = 0;
	c->unit = on_byte ? 8 : 1;
	c->bit = c->offset = 0;
	c->fixed = on_byte;
	c->loads = loads;
	c->row_bytes = c->n_in_place = c->n_fixed = c->fixed_slots = c->fixed_bits = 0;
	memset(c->layout, 0, sizeof *c->layout);
	if (loads && all >= 0)
		add_all(c, all);
	for (unsigned scope = 0; scope < CTF_N_SCOPES; scope++) {
		const struct ctf_type *t = ctf_scope_type(sc, ec, scope);
		struct below below = { .depth = 0 };
		for (unsigned i = 0; i < n; i++)
			if (w[i].scope == scope)
				below.w[below.n++] = &w[i];
		if (t)
			add_type(c, t, CTF_NO_REG, &below);
	}
	if (c->steps->len)
		flush_ahead(c);
}

static void take_program(struct compile *c, struct ctf_class *k)
{
	const struct ctf_step *s = (const struct ctf_step *)c->steps->data;
	if (!c->steps->len) {
		k->bits = c->offset;
		return;
	}
	k->n_fixed = c->n_fixed;
	k->fixed_slots = c->fixed_slots;
	k->fixed_bits = c->fixed_bits;
	k->fixed = g_memdup2(c->fixed_field, c->n_fixed * sizeof *c->fixed_field);
	k->n_steps = c->steps->len;
	k->step = g_memdup2(s, k->n_steps * sizeof *s);
	k->choice = g_memdup2(c->choices->data, c->choices->len * sizeof(struct ctf_choice));
	c->bytes += k->n_steps * sizeof *s + c->choices->len * sizeof(struct ctf_choice) +
		    c->n_fixed * sizeof *k->fixed;
}

/* NULL: the class is compiled; else the reason why it is refused. */
static const char *compile_class(struct compile *c, const struct ctf_contexts *common, struct ctf_class *k,
				 const struct blk_subscription *row, GHashTable *layouts, bool on_byte)
{
	const struct ctf_stream_class *sc = common->sc;
	struct ctf_wanted w[BLK_MAX_SLOTS];
	unsigned n = row ? ctf_wanted_find(common, k->ec, row, w) : 0;
	int all = blk_slot_of_all(row);
	k->sc = sc;
	run_pass(c, sc, k->ec, w, n, false, all, on_byte);
	k->copies = c->n_in_place < n || all >= 0;
	if (k->copies)
		run_pass(c, sc, k->ec, w, n, true, all, on_byte);
	if (c->failed)
		return "is too big";
	k->row_bytes = MAX(c->row_bytes, 8);
	if (row) {
		k->layout = layouts_intern(layouts, c->layout);
		for (unsigned i = 0; i < BLK_MAX_SLOTS; i++)
			k->wanted |= (uint32_t)(c->layout->slot[i].repr != BLK_NONE) << i;
	}
	take_program(c, k);
	return NULL;
}

static void class_free(void *p)
{
	struct ctf_class *k = p;
	g_free(k->fixed);
	g_free(k->step);
	g_free(k->choice);
	g_free(k);
}

/* ---- a stream class ---- */

static void register_class(struct ctf_decoder *d, struct ctf_class *k)
{
	uint64_t id = k->ec->id;
	g_ptr_array_add(d->classes, k);
	if (id >= MAX_DIRECT_ID) {
		g_hash_table_replace(d->by_far_id, (void *)&k->ec->id, k);
		return;
	}
	if (id >= d->n_ids) {
		uint64_t n = MIN(MAX(id + 1, 2 * d->n_ids), MAX_DIRECT_ID);
		d->by_id = g_renew(struct ctf_class *, d->by_id, n);
		memset(d->by_id + d->n_ids, 0, (n - d->n_ids) * sizeof *d->by_id);
		d->n_ids = n;
	}
	d->by_id[id] = k;
}

struct ctf_class *ctf_decoder_far(const struct ctf_decoder *d, uint64_t id)
{
	return g_hash_table_lookup(d->by_far_id, &id);
}

static uint32_t number_with(const struct ctf_stream_class *sc, const struct ctf_class *k,
			    const struct blk_subscription *rows, ctf_number_class number, void *data)
{
	struct ctf_wanted w[LIMIT_EVENT_COUNTERS];
	g_autofree char *counters = NULL;
	unsigned n;
	if (k->row != G_MAXUINT16 && blk_wants_counters(&rows[k->row]))
		counters = ctf_wanted_counters(sc, k->ec, w, &n);
	return number(data, k->ec->name, k->row, counters);
}

static void measure_class(struct ctf_decoder *d, struct ctf_class *k)
{
	const struct ctf_type *const parts[] = { d->sc->event_context, k->ec->context, k->ec->fields };
	bool has_lengths = false;

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (parts[i])
			k->empty_bits = ctf_type_empty_end(parts[i], k->empty_bits, &has_lengths);
	uint64_t *largest = has_lengths ? &d->largest_open : &d->largest_fixed;
	*largest = MAX(*largest, k->empty_bits);
}

bool ctf_decoder_grow(struct ctf_decoder *d, const struct blk_subscription *rows,
		      const struct blk_matcher *matcher, GHashTable *layouts,
		      ctf_number_class number, void *data, GError **error)
{
	g_autoptr(GArray) steps = g_array_new(false, true, sizeof(struct ctf_step));
	g_autoptr(GArray) choices = g_array_new(false, true, sizeof(struct ctf_choice));
	struct blk_layout layout;
	struct compile c = { .steps = steps, .choices = choices, .layout = &layout };
	if (!d->contexts) {
		d->contexts = g_new(struct ctf_contexts, 1);
		ctf_contexts_find(d->sc, d->contexts);
	}
	/* A new class may refer to a length in the event header, which changes how headers are read. */
	if (!ctf_header_compile(d->sc, &d->header, &d->clock, error))
		return false;
	g_assert(d->classes->len <= d->sc->events->len);
	if (d->sc->event_header)
		d->header_most = ctf_type_empty_end(d->sc->event_header, 0, &(bool){ false });
	for (guint i = d->classes->len; i < d->sc->events->len; i++) {
		struct ctf_class *k = g_new0(struct ctf_class, 1);
		k->ec = g_ptr_array_index(d->sc->events, i);
		k->row = blk_matcher_class(matcher, k->ec->name, ctf_wanted_is_probe(k->ec));
		k->cls = number_with(d->sc, k, rows, number, data);
		if (k->cls == UINT32_MAX) {
			g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
				    "more than %u event classes of different names in all traces",
				    LIMIT_ALL_EVENT_CLASSES);
			class_free(k);
			return false;
		}
		const struct blk_subscription *row = k->row == G_MAXUINT16 ? NULL : &rows[k->row];
		const char *why = compile_class(&c, d->contexts, k, row, layouts,
						d->header.ends_on_byte);
		if (why) {
			g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
				    "the event class '%s' %s", k->ec->name, why);
			class_free(k);
			return false;
		}
		d->bytes += sizeof *k + c.bytes;
		c.bytes = 0;
		measure_class(d, k);
		register_class(d, k);
	}
	return true;
}

struct ctf_decoder *ctf_decoder_new(const struct ctf_stream_class *sc,
				    const struct blk_subscription *rows,
				    const struct blk_matcher *matcher, GHashTable *layouts,
				    ctf_number_class number, void *data, GError **error)
{
	struct ctf_decoder *d = g_new0(struct ctf_decoder, 1);
	d->sc = sc;
	d->classes = g_ptr_array_new_with_free_func(class_free);
	d->by_far_id = g_hash_table_new(g_int64_hash, g_int64_equal);
	if (ctf_decoder_grow(d, rows, matcher, layouts, number, data, error))
		return d;
	ctf_decoder_free(d);
	return NULL;
}

size_t ctf_decoder_bytes(const struct ctf_decoder *d)
{
	return sizeof *d + sizeof *d->contexts + d->bytes + d->n_ids * sizeof *d->by_id +
	       g_hash_table_size(d->by_far_id) * 4 * sizeof(void *);
}

void ctf_decoder_free(struct ctf_decoder *d)
{
	if (!d)
		return;
	g_ptr_array_unref(d->classes);
	g_hash_table_unref(d->by_far_id);
	g_free(d->by_id);
	g_free(d->contexts);
	g_free(d);
}
