/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs decode programs. Every length comes from the trace and is checked before it is used. */
#include "trace/ctf/ctf_program.h"

#include "trace/ctf/ctf_all.h"
#include "trace/ctf/ctf_walk.h"

#include "base/limits.h"

struct pass {
	const struct ctf_class *c;
	const uint8_t *base;
	uint64_t end;
	struct ctf_run *run;
};

static uint64_t run_steps(const struct pass *p, uint32_t at, uint32_t to, uint64_t pos);

static inline G_ALWAYS_INLINE uint64_t integer(const struct ctf_step *s, const uint8_t *base, uint64_t pos)
{
	uint64_t v = ctf_bits(base, pos, s->bits, s->big_endian);
	return s->is_signed ? (uint64_t)ctf_sign_extend(v, s->bits) : v;
}

static inline void store_int(const struct pass *p, const struct ctf_step *s, uint64_t pos)
{
	uint64_t v = integer(s, p->base, pos);
	blk_store_int(p->run->row + s->off, v);
	p->run->present |= 1u << s->slot;
}

/* An integer of 32 or 64 bits at a whole byte, little endian. */
static inline G_ALWAYS_INLINE void store_whole(const struct pass *p, const struct ctf_step *s,
					      uint64_t pos)
{
	const uint8_t *at = p->base + (pos >> 3);
	uint64_t v;
	if (s->op == CTF_OP_LOAD_64) {
		memcpy(&v, at, sizeof v);
		v = GUINT64_FROM_LE(v);
	} else {
		uint32_t half;
		memcpy(&half, at, sizeof half);
		half = GUINT32_FROM_LE(half);
		v = s->is_signed ? (uint64_t)(int64_t)(int32_t)half : half;
	}
	blk_store_int(p->run->row + s->off, v);
	p->run->present |= 1u << s->slot;
}

static inline G_ALWAYS_INLINE void store_text(const struct pass *p, const struct ctf_step *s, const void *str,
					     uint64_t len)
{
	struct blk_text t = { len ? str : "", (uint32_t)len };
	memcpy(p->run->row + s->off, &t, sizeof t);
	p->run->present |= 1u << s->slot;
}

#define SHORT 32			/* bytes; for longer strings memchr() is faster */

/* The first NUL among n bytes; n: none. */
static inline G_ALWAYS_INLINE size_t find_nul(const uint8_t *at, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	size_t i = 0;
	for (size_t to = MIN(n, SHORT); i + 8 <= to; i += 8) {
		uint64_t v;
		memcpy(&v, at + i, sizeof v);
		v = GUINT64_FROM_LE(v);
		v = (v - ones) & ~v & ones << 7;
		if (v)
			return i + (size_t)__builtin_ctzll(v) / 8;
	}
	const uint8_t *nul = memchr(at + i, 0, n - i);
	return nul ? (size_t)(nul - at) : n;
}

/* Length of the string at pos, without its NUL; CTF_NO_FIT: it has no end. */
static inline G_ALWAYS_INLINE uint64_t string_length(const struct pass *p, uint64_t pos)
{
	size_t most = (p->end - pos) >> 3, n = find_nul(p->base + (pos >> 3), most);
	return n < most ? n : CTF_NO_FIT;
}

/* Do n elements of this many bits fit? Without a division, which takes longer than a step. */
static inline bool fit(const struct pass *p, uint64_t pos, uint64_t n, uint64_t bits)
{
	uint64_t all;
	return pos <= p->end && !__builtin_mul_overflow(n, bits, &all) && all <= p->end - pos;
}

/* Stores n elements of the step's size as bytes: in place, or copied to the arena as little endian integers, each as
 * wide as the babeltrace2 reader delivers them. */
static bool store_elements(const struct pass *p, const struct ctf_step *s, uint64_t pos, uint64_t n)
{
	unsigned width = s->bits <= 8 ? 1 : s->bits <= 16 ? 2 : s->bits <= 32 ? 4 : 8;
	if (!fit(p, pos, n, s->bits))
		return false;
	if (n > LIMIT_FIELD_BYTES / width)
		n = 0;
	const uint8_t *bytes = p->base + (pos >> 3);
	if (G_UNLIKELY(pos & 7 || s->bits != 8)) {
		uint8_t *copy = arena_alloc(p->run->arena, MAX(n * width, 1));
		for (uint64_t i = 0; i < n; i++) {
			uint64_t v = GUINT64_TO_LE(integer(s, p->base, pos + i * s->bits));
			memcpy(copy + i * width, &v, width);
		}
		bytes = copy;
	}
	store_text(p, s, bytes, s->is_text ? strnlen((const char *)bytes, n * width) : n * width);
	return true;
}

static uint64_t repeat(const struct pass *p, const struct ctf_step *s, uint32_t at, uint64_t n,
		       uint64_t pos)
{
	uint64_t around = p->run->round, next = pos;
	for (uint64_t i = 0; i < n; i++) {
		pos = next;
		p->run->round = i + 1;
		next = run_steps(p, at, s->to, pos);
		if (next == CTF_NO_FIT || next == pos)	/* elements without size: further ones change nothing */
			break;
	}
	p->run->round = around;
	return next;
}

static uint64_t choose(const struct pass *p, const struct ctf_step *s, uint64_t pos)
{
	uint64_t tag = p->run->regs[s->reg];
	const struct ctf_choice *k = &p->c->choice[s->n];
	for (; !k->last; k++)
		if (ctf_within(k->is_signed, tag, k->lo, k->hi))
			return run_steps(p, k->from, k->to, pos);
	/* A tag that selects no option: the event is damaged. */
	return k->optional ? pos : CTF_NO_FIT;
}

/* ---- fields read by their type ---- */

/* A value that ctf_walk() reads: a number, a text, or integers in the arena. */
struct walked {
	const struct pass *p;
	const struct ctf_step *s;
	uint64_t value;
	uint8_t *list, *at;		/* NULL: it is no array */
	uint64_t room;			/* elements that still fit into .list */
};

/* Bytes of an element, as the babeltrace2 reader delivers it. */
static unsigned width_of(const struct ctf_type *t)
{
	return t->is_var ? 8 : t->bits <= 8 ? 1 : t->bits <= 16 ? 2 : t->bits <= 32 ? 4 : 8;
}

static void walked_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
			   unsigned bits)
{
	struct walked *w = data;
	unsigned width = width_of(t);
	w->value = value;
	if (!w->room)
		return;
	value = GUINT64_TO_LE(value);
	memcpy(w->at, &value, width);
	w->at += width;
	w->room--;
}

static void walked_real(void *data, const char *name, const struct ctf_type *t, double value)
{
	struct walked *w = data;
	float single = (float)value;		/* exact, as the layout has the size of the type */
	uint32_t half;
	if (t->bits == 32) {
		memcpy(&half, &single, sizeof half);
		w->value = half;
	} else {
		memcpy(&w->value, &value, sizeof value);
	}
}

static void walked_text(void *data, const char *name, const struct ctf_type *t, const char *bytes,
			uint64_t n)
{
	struct walked *w = data;
	g_autoptr(GString) text = g_string_new(NULL);
	ctf_text_utf8(t, bytes, n, text);
	char *copy = arena_alloc(w->p->run->arena, text->len + 1);
	memcpy(copy, text->str, text->len + 1);
	store_text(w->p, w->s, copy, text->len);
}

/* An element has at least one bit, so n is at most the number of bits. */
static void walked_begin(void *data, const char *name, const struct ctf_type *t, uint64_t n)
{
	struct walked *w = data;
	unsigned width = width_of(t->element);
	w->room = MIN(n, w->p->end);
	w->room = w->room > LIMIT_FIELD_BYTES / width ? 0 : w->room;
	w->list = w->at = arena_alloc(w->p->run->arena, MAX(w->room * width, 1));
}

static bool load_walked(const struct pass *p, const struct ctf_step *s, uint64_t pos)
{
	static const struct ctf_visitor visitor = {
		.integer = walked_integer, .real = walked_real, .text = walked_text, .begin = walked_begin,
	};
	struct walked w = { .p = p, .s = s };
	if (!ctf_walk(s->type, p->base, &pos, p->end, p->run->regs, &visitor, &w))
		return false;
	if (w.list) {
		uint64_t n = (uint64_t)(w.at - w.list);
		store_text(p, s, w.list, s->is_text ? strnlen((const char *)w.list, n) : n);
	} else if (s->type->kind == CTF_INTEGER || s->type->kind == CTF_ENUM || s->type->kind == CTF_FLOAT) {
		blk_store_int(p->run->row + s->off, w.value);
		p->run->present |= 1u << s->slot;
	}
	return true;
}

static void only_value(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	*(uint64_t *)data = value;
}

static uint64_t walk_on(const struct pass *p, const struct ctf_step *s, uint64_t pos)
{
	static const struct ctf_visitor visitor = { .integer = only_value };
	uint64_t value = 0;
	if (!ctf_walk(s->type, p->base, &pos, p->end, p->run->regs, &visitor, &value))
		return CTF_NO_FIT;
	if (s->reg != CTF_NO_REG)
		p->run->regs[s->reg] = value;
	return pos;
}

static bool store_all(const struct pass *p, const struct ctf_step *s, uint64_t pos)
{
	struct fields_run *all = &p->run->all;
	if (!ctf_all_read(p->c->sc, p->c->ec, p->base, pos, p->end, p->run->regs, all))
		return false;
	uint8_t *copy = arena_alloc(p->run->arena, MAX(all->bytes->len, 1));
	if (all->bytes->len)	/* memcpy() must not get NULL */
		memcpy(copy, all->bytes->data, all->bytes->len);
	store_text(p, s, copy, all->bytes->len);
	return true;
}

/* Loads a wanted string and moves after it. */
static inline G_ALWAYS_INLINE uint64_t take_string(const struct pass *p, const struct ctf_step *s,
						   uint64_t pos)
{
	uint64_t n = pos > p->end ? CTF_NO_FIT : string_length(p, pos);
	if (G_UNLIKELY(n > LIMIT_FIELD_BYTES))
		return CTF_NO_FIT;
	store_text(p, s, p->base + (pos >> 3), n);
	return pos + (n + 1) * 8;
}

/* Steps that read at pos and do not move. False: the event does not fit. */
static bool load(const struct pass *p, const struct ctf_step *s, uint64_t pos)
{
	uint64_t *regs = p->run->regs;
	uint64_t left = pos <= p->end ? p->end - pos : 0;
	if (s->pick && s->pick != p->run->round)
		return true;
	switch ((enum ctf_op)s->op) {
	case CTF_OP_REG:
		if (left < s->bits)
			return false;
		regs[s->reg] = integer(s, p->base, pos);
		return true;
	case CTF_OP_LOAD:
		if (left < s->bits)
			return false;
		store_int(p, s, pos);
		return true;
	case CTF_OP_LOAD_STRING: {
		uint64_t len = pos > p->end ? CTF_NO_FIT : string_length(p, pos);
		if (len > LIMIT_FIELD_BYTES)
			return false;
		store_text(p, s, p->base + (pos >> 3), len);
		return true;
	}
	case CTF_OP_LOAD_ARRAY:
		return store_elements(p, s, pos, s->n);
	case CTF_OP_LOAD_SEQUENCE:
		return store_elements(p, s, pos, regs[s->reg]);
	case CTF_OP_LOAD_WALK:
		return load_walked(p, s, pos);
	case CTF_OP_LOAD_ALL:
		return store_all(p, s, pos);
	default:		/* CTF_OP_LOAD_ELEMENT */
		if (s->n >= regs[s->reg])
			return true;
		if (!fit(p, pos, s->n + 1, s->bits))
			return false;
		store_int(p, s, pos + s->n * s->bits);
		return true;
	}
}

/* Runs steps that move. pos is after the bits that were ahead. *at: the step. Returns the last step that was run in
 * it. */
static inline G_ALWAYS_INLINE uint64_t step_on(const struct pass *p, const struct ctf_step **at,
					       uint64_t pos)
{
	const struct ctf_step *const first = p->c->step, *s = *at;
	uint64_t n;
	switch ((enum ctf_op)s->op) {
	case CTF_OP_ALIGN:
		return ctf_align(pos, s->n);
	case CTF_OP_STRING:
		n = pos > p->end ? CTF_NO_FIT : string_length(p, pos);
		return n == CTF_NO_FIT ? CTF_NO_FIT : pos + (n + 1) * 8;
	case CTF_OP_SKIP_SEQUENCE:
		n = p->run->regs[s->reg];
		return fit(p, pos, n, s->n) ? pos + n * s->n : CTF_NO_FIT;
	case CTF_OP_REPEAT:
	case CTF_OP_REPEAT_REG:
		*at = first + s->to - 1;
		n = s->op == CTF_OP_REPEAT ? s->n : p->run->regs[s->reg];
		return repeat(p, s, (uint32_t)(s - first) + 1, n, pos);
	case CTF_OP_CHOOSE:
		*at = first + s->to - 1;
		return choose(p, s, pos);
	case CTF_OP_WALK:
		return walk_on(p, s, pos);
	default:		/* CTF_OP_SKIP */
		return pos;
	}
}

static uint64_t run_steps(const struct pass *p, uint32_t at, uint32_t to, uint64_t pos)
{
	const struct ctf_step *const first = p->c->step, *const stop = first + to;
	for (const struct ctf_step *s = first + at; s < stop; s++) {
		if (s->op == CTF_OP_TAKE_STRING) {	/* most steps of most programs */
			pos = take_string(p, s, pos + s->ahead);
			if (G_UNLIKELY(pos > p->end))
				return CTF_NO_FIT;
			continue;
		}
		if (s->op == CTF_OP_LOAD_32 || s->op == CTF_OP_LOAD_64) {
			uint64_t here = pos + s->ahead;
			if (G_UNLIKELY(here > p->end || p->end - here < s->bits))
				return CTF_NO_FIT;
			store_whole(p, s, here);
			continue;
		}
		if (s->op >= CTF_OP_REG && s->op <= CTF_OP_LOAD_ALL) {
			if (!load(p, s, pos + s->ahead))
				return CTF_NO_FIT;
			continue;
		}
		pos = step_on(p, &s, pos + s->ahead);
		if (G_UNLIKELY(pos > p->end))
			return CTF_NO_FIT;
	}
	return pos;
}

static inline uint64_t fixed_integer(const struct ctf_fixed *f, const uint8_t *at)
{
	uint64_t v = ctf_bits(at, 0, f->size * 8u, f->big_endian);
	return f->is_signed ? (uint64_t)ctf_sign_extend(v, f->size * 8u) : v;
}

/* Loads the fields at fixed offsets. False: the event ends before them. */
static inline bool load_fixed(const struct ctf_class *c, const uint8_t *base, uint64_t pos, uint64_t end,
			      struct ctf_run *run)
{
	const uint8_t *body = base + (pos >> 3);
	if (pos > end || end - pos < c->fixed_bits)
		return false;
	for (const struct ctf_fixed *f = c->fixed, *stop = f + c->n_fixed; f < stop; f++) {
		uint8_t *to = run->row + f->off;
		if (f->is_text) {
			uint32_t len = (uint32_t)find_nul(body + f->at, f->size);
			struct blk_text t = { len ? (const char *)body + f->at : "", len };
			memcpy(to, &t, sizeof t);
		} else {
			blk_store_int(to, fixed_integer(f, body + f->at));
		}
	}
	run->present |= c->fixed_slots;
	return true;
}

uint64_t ctf_class_run(const struct ctf_class *c, const uint8_t *base, uint64_t pos, uint64_t end,
		       struct ctf_run *run)
{
	if (c->n_fixed && !load_fixed(c, base, pos, end, run))
		return CTF_NO_FIT;
	struct pass p = { c, base, end, run };
	return run_steps(&p, 0, c->n_steps, pos);
}
