/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binds an event class to a row of the subscription table, once: finds the path to each requested field. Then reading
 * an event only follows indexes.
 */
#include "trace/bt2/bt2_bind.h"
#include "trace/bt2/bt2_all.h"
#include "trace/bt2/bt2_mip.h"
#include "trace/ctf/ctf_all.h"
#include "trace/ctf/layouts.h"

#include "base/limits.h"

static bool type_is(const bt_field_class *fc, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(fc), type);
}

/* Index of the member called name; a CTF name may have one more leading '_'. */
static bool find_member(const bt_field_class *fc, const char *name, size_t len, uint32_t *ret)
{
	uint64_t n = bt_field_class_structure_get_member_count(fc);
	for (int underscore = 0; underscore < 2; underscore++) {
		for (uint64_t i = 0; i < n; i++) {
			const char *is = bt_field_class_structure_member_get_name(
				bt_field_class_structure_borrow_member_by_index_const(fc, i));
			if (underscore && *is++ != '_')
				continue;
			if (strlen(is) == len && !memcmp(is, name, len)) {
				*ret = i;
				return true;
			}
		}
	}
	return false;
}

static bool find_option(const bt_field_class *fc, const char *name, size_t len, uint32_t *ret)
{
	uint64_t n = bt_field_class_variant_get_option_count(fc);
	for (uint64_t i = 0; i < n; i++) {
		const char *is = bt_field_class_variant_option_get_name(
			bt_field_class_variant_borrow_option_by_index_const(fc, i));
		if (is && strlen(is) == len && !memcmp(is, name, len)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Goes one level down from fc; removes the used part from *path. NULL: no such field. */
static const bt_field_class *step_down(const bt_field_class *fc, const char **path, const char *end,
				       struct bt2_step *step)
{
	if (type_is(fc, BT_FIELD_CLASS_TYPE_OPTION)) {
		step->type = BT2_OPTION;
		return bt_field_class_option_borrow_field_class_const(fc);
	}
	if (type_is(fc, BT_FIELD_CLASS_TYPE_ARRAY)) {
		char *after;
		if (*path == end || **path != '[' || !g_ascii_isdigit((*path)[1]))
			return NULL;
		step->type = BT2_ELEMENT;
		step->index = strtoul(*path + 1, &after, 10);
		if (after >= end || *after != ']')
			return NULL;
		*path = after + 1;
		return bt_field_class_array_borrow_element_field_class_const(fc);
	}
	if (*path < end && **path == '.')
		++*path;
	size_t len = 0;
	while (*path + len < end && !strchr(".[", (*path)[len]))
		len++;
	const char *name = *path;
	*path += len;
	if (len && type_is(fc, BT_FIELD_CLASS_TYPE_STRUCTURE) &&
	    find_member(fc, name, len, &step->index)) {
		step->type = BT2_MEMBER;
		return bt_field_class_structure_member_borrow_field_class_const(
			bt_field_class_structure_borrow_member_by_index_const(fc, step->index));
	}
	if (len && type_is(fc, BT_FIELD_CLASS_TYPE_VARIANT) &&
	    find_option(fc, name, len, &step->index)) {
		step->type = BT2_VARIANT;
		return bt_field_class_variant_option_borrow_field_class_const(
			bt_field_class_variant_borrow_option_by_index_const(fc, step->index));
	}
	return NULL;
}

/* How a field of this class is delivered. False: it is not delivered (a structure, a float). */
static bool leaf_kind(const bt_field_class *fc, struct bt2_getter *g)
{
	static const struct { bt_field_class_type type; uint8_t kind; } kinds[] = {
		{ BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER, BT2_UNSIGNED },
		{ BT_FIELD_CLASS_TYPE_SIGNED_INTEGER, BT2_SIGNED },
		{ BT_FIELD_CLASS_TYPE_BOOL, BT2_BOOL },
		{ BT_FIELD_CLASS_TYPE_BIT_ARRAY, BT2_BITS },
		{ BT_FIELD_CLASS_TYPE_STRING, BT2_TEXT },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (type_is(fc, kinds[i].type)) {
			g->kind = kinds[i].kind;
			g->is_hex = g->kind < BT2_BOOL && bt_field_class_integer_get_preferred_display_base(fc) ==
				    BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
			return true;
		}
	}
	if (bt2_is_blob(fc)) {
		g->kind = BT2_BLOB;
		return true;
	}
	if (!type_is(fc, BT_FIELD_CLASS_TYPE_ARRAY))
		return false;
	const bt_field_class *element = bt_field_class_array_borrow_element_field_class_const(fc);
	if (!type_is(element, BT_FIELD_CLASS_TYPE_INTEGER))
		return false;
	uint64_t bits = bt_field_class_integer_get_field_value_range(element);
	g->width = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
	g->kind = g->slot == BLK_CTX_PROCNAME || g->slot == BLK_CTX_HOSTNAME ? BT2_CHARS : BT2_BYTES;
	return true;
}

static bool resolve(const bt_field_class *fc, const char *path, const char *end,
		    struct bt2_getter *g)
{
	g->n_steps = 0;
	while (fc && (path < end || type_is(fc, BT_FIELD_CLASS_TYPE_OPTION))) {
		if (g->n_steps == LIMIT_FIELD_DEPTH)
			return false;
		fc = step_down(fc, &path, end, &g->step[g->n_steps++]);
	}
	return fc && leaf_kind(fc, g);
}

static const bt_field_class *root_class(const bt_event_class *ec, enum bt2_root root)
{
	if (root == BT2_PAYLOAD)
		return bt_event_class_borrow_payload_field_class_const(ec);
	if (root == BT2_SPECIFIC)
		return bt_event_class_borrow_specific_context_field_class_const(ec);
	return bt_stream_class_borrow_event_common_context_field_class_const(
		bt_event_class_borrow_stream_class_const(ec));
}

/* The first of the alternatives ("a|b") that the root has. */
static bool find_field(const bt_event_class *ec, enum bt2_root root, const char *names,
		       struct bt2_getter *g)
{
	const bt_field_class *fc = root_class(ec, root);
	if (!fc)
		return false;
	for (const char *p = names;;) {
		const char *end = strchrnul(p, '|');
		if (end > p && resolve(fc, p, end, g)) {
			g->root = root;
			return true;
		}
		if (!*end)
			return false;
		p = end + 1;
	}
}

static void add_getter(struct bt2_binding *b, struct blk_layout *layout,
		       const struct bt2_getter *found)
{
	g_assert(b->n_getters < BLK_MAX_SLOTS && found->slot < BLK_MAX_SLOTS);
	struct bt2_getter *g = &b->getter[b->n_getters++];
	struct blk_slot_layout *l = &layout->slot[found->slot];
	*g = *found;
	g->off = l->off = b->size;
	b->uses[g->root] = true;
	if (g->kind < BT2_TEXT) {
		l->repr = BLK_INT;
		l->size = 8;
		l->is_signed = g->kind == BT2_SIGNED;
		l->is_hex = g->is_hex;
		b->size += 8;
		return;
	}
	l->repr = g->kind >= BT2_BYTES ? BLK_BYTES_REF : BLK_TEXT_REF;
	b->size += sizeof(struct blk_text);
}

static void bind_contexts(struct bt2_binding *b, struct blk_layout *layout,
			  const bt_event_class *ec)
{
	for (unsigned slot = 0; slot < BLK_N_CONTEXTS; slot++) {
		struct bt2_getter g = { .slot = slot };
		const char *names = blk_context_names[slot], *perf = strchr(names, '|');
		if (find_field(ec, BT2_SPECIFIC, names, &g) ||
		    find_field(ec, BT2_COMMON, names, &g) ||
		    (perf && find_field(ec, BT2_PAYLOAD, perf + 1, &g)))
			add_getter(b, layout, &g);
	}
}

bool bt2_is_probe(const bt_event_class *ec, const char *name)
{
	const bt_field_class *fc = root_class(ec, BT2_PAYLOAD);
	const char *field[2] = { "", "" };
	uint64_t n = fc ? bt_field_class_structure_get_member_count(fc) : 0;
	for (uint64_t i = 0; i < MIN(n, 2); i++) {
		field[i] = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(fc, i));
		field[i] += *field[i] == '_';
	}
	return blk_is_probe(name, n, field[0], field[1]);
}

/* The name of the counter in field i of a root; NULL: it is no counter. */
static const char *counter_at(const bt_field_class *fc, uint64_t i, struct bt2_getter *g)
{
	const bt_field_class_structure_member *m =
		bt_field_class_structure_borrow_member_by_index_const(fc, i);
	const bt_field_class *type = bt_field_class_structure_member_borrow_field_class_const(m);
	if (!type_is(type, BT_FIELD_CLASS_TYPE_INTEGER) ||
	    type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION) || !leaf_kind(type, g))
		return NULL;
	g->step[0] = (struct bt2_step){ BT2_MEMBER, (uint32_t)i };
	g->n_steps = 1;
	return blk_counter_name(bt_field_class_structure_member_get_name(m));
}

/* Adds getters of the counters to `b` (or NULL); returns the counters' names. */
static char *bind_counters(struct bt2_binding *b, struct blk_layout *layout,
			   const bt_event_class *ec)
{
	static const enum bt2_root roots[] = { BT2_SPECIFIC, BT2_COMMON };
	GString *names = g_string_new(NULL);
	unsigned n = 0;
	for (size_t r = 0; r < G_N_ELEMENTS(roots); r++) {
		const bt_field_class *fc = root_class(ec, roots[r]);
		uint64_t members = fc ? bt_field_class_structure_get_member_count(fc) : 0;
		for (uint64_t i = 0; i < members && n < LIMIT_EVENT_COUNTERS; i++) {
			struct bt2_getter g = { .root = roots[r], .slot = BLK_CTX_COUNTER0 + n };
			const char *name = counter_at(fc, i, &g);
			if (!name)
				continue;
			g_string_append_printf(names, "%s%s", n++ ? " " : "", name);
			if (b)
				add_getter(b, layout, &g);
		}
	}
	return g_string_free(names, !n);
}

char *bt2_counters(const bt_event_class *ec, const struct blk_subscription *row)
{
	return blk_wants_counters(row) ? bind_counters(NULL, NULL, ec) : NULL;
}

struct bt2_binding *bt2_binding_new(const bt_event_class *ec, const struct blk_subscription *row,
				    uint16_t row_index, uint32_t cls, GHashTable *layouts)
{
	struct blk_layout layout = { 0 };
	struct bt2_binding *b = g_new0(struct bt2_binding, 1);
	b->row = row ? row_index : G_MAXUINT16;
	b->cls = cls;
	b->all = -1;
	b->has_cpu = find_field(ec, BT2_PAYLOAD, "perf_cpu", &b->cpu) ||
		     find_field(ec, BT2_COMMON, "perf_cpu", &b->cpu);
	if (b->has_cpu && b->cpu.kind != BT2_UNSIGNED)
		b->has_cpu = false;
	if (!row)
		return b;
	bind_contexts(b, &layout, ec);
	if (blk_wants_counters(row))
		g_free(bind_counters(b, &layout, ec));
	for (unsigned i = 0; i < BLK_MAX_FIELDS && row->fields[i]; i++) {
		struct bt2_getter g = { .slot = BLK_FIELD0 + i };
		if (find_field(ec, BT2_PAYLOAD, row->fields[i], &g))
			add_getter(b, &layout, &g);
	}
	b->all = blk_slot_of_all(row);
	if (b->all >= 0) {
		b->all_off = b->size;
		layout.slot[b->all] = (struct blk_slot_layout){ .off = b->size, .repr = BLK_BYTES_REF };
		b->size += sizeof(struct blk_text);
	}
	b->size = MAX(b->size, 8);	/* so that a row is never NULL */
	b->layouts = layouts;
	b->layout = layouts_intern(layouts, &layout);
	return b;
}

void bt2_binding_free(struct bt2_binding *b)
{
	if (!b)			/* the array of classes has gaps */
		return;
	fields_clear(&b->run);
	g_free(b);
}

/* Follows all steps; NULL: this event does not have the field. */
static const bt_field *walk(const struct bt2_getter *g, const bt_field *f)
{
	for (unsigned i = 0; f && i < g->n_steps; i++) {
		const struct bt2_step *s = &g->step[i];
		switch (s->type) {
		case BT2_MEMBER:
			f = bt_field_structure_borrow_member_field_by_index_const(f, s->index);
			break;
		case BT2_ELEMENT:
			if (s->index >= bt_field_array_get_length(f))
				return NULL;
			f = bt_field_array_borrow_element_field_by_index_const(f, s->index);
			break;
		case BT2_VARIANT:
			if (bt_field_variant_get_selected_option_index(f) != s->index)
				return NULL;
			f = bt_field_variant_borrow_selected_option_field_const(f);
			break;
		case BT2_OPTION:
			f = bt_field_option_borrow_field_const(f);
			break;
		}
	}
	return f;
}

static struct blk_text copy_text(const bt_field *f, struct arena *arena)
{
	/* The length is asked first: for an empty string babeltrace2 2.0 returns the text of an older event. */
	uint64_t len = bt_field_string_get_length(f);
	struct blk_text t = { "", 0 };
	if (!len || len > G_MAXINT32)
		return t;
	char *copy = arena_alloc(arena, len);
	memcpy(copy, bt_field_string_get_value(f), len);
	t.str = copy;
	t.len = len;
	return t;
}

/* The elements as bytes, each `width` wide; text ends at a NUL. */
static struct blk_text copy_array(const struct bt2_getter *g, const bt_field *f,
				  struct arena *arena)
{
	uint64_t n = bt_field_array_get_length(f);
	struct blk_text t = { "", 0 };
	if (!n || n > G_MAXINT32 / 8)
		return t;
	uint8_t *copy = arena_alloc(arena, n * g->width);
	for (uint64_t i = 0; i < n; i++) {
		const bt_field *e = bt_field_array_borrow_element_field_by_index_const(f, i);
		bool is_signed = bt_field_class_type_is(bt_field_get_class_type(e),
							BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
		uint64_t v = is_signed ? (uint64_t)bt_field_integer_signed_get_value(e)
				       : bt_field_integer_unsigned_get_value(e);
		v = GUINT64_TO_LE(v);
		memcpy(copy + i * g->width, &v, g->width);
	}
	t.str = (char *)copy;
	t.len = g->kind == BT2_CHARS ? strnlen(t.str, n * g->width) : n * g->width;
	return t;
}

static struct blk_text copy_blob(const bt_field *f, struct arena *arena)
{
	uint64_t n;
	const uint8_t *bytes = bt2_blob(f, &n);
	struct blk_text t = { "", 0 };
	if (!n || n > G_MAXINT32)
		return t;
	char *copy = arena_alloc(arena, n);
	memcpy(copy, bytes, n);
	t.str = copy;
	t.len = (uint32_t)n;
	return t;
}

static void read_leaf(const struct bt2_getter *g, const bt_field *f, struct arena *arena,
		      uint8_t *row)
{
	if (g->kind >= BT2_TEXT) {
		struct blk_text t = g->kind == BT2_TEXT ? copy_text(f, arena) :
				    g->kind == BT2_BLOB ? copy_blob(f, arena) : copy_array(g, f, arena);
		memcpy(row + g->off, &t, sizeof t);
		return;
	}
	uint64_t v;
	if (g->kind == BT2_UNSIGNED)
		v = bt_field_integer_unsigned_get_value(f);
	else if (g->kind == BT2_SIGNED)
		v = (uint64_t)bt_field_integer_signed_get_value(f);
	else if (g->kind == BT2_BOOL)
		v = bt_field_bool_get_value(f);
	else
		v = bt_field_bit_array_get_value_as_integer(f);
	blk_store_int(row + g->off, v);
}

/* The layout without the slots of the mask: options of a variant that are not selected, elements beyond the end. */
static const struct blk_layout *partial_layout(struct bt2_binding *b, uint32_t missing)
{
	struct blk_layout l = *b->layout;
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++)
		if (missing & 1u << i)
			l.slot[i] = (struct blk_slot_layout){ 0 };
	return layouts_intern(b->layouts, &l);
}

void bt2_binding_read(struct bt2_binding *b, const bt_event *event, struct arena *arena,
		      struct blk_event *ret)
{
	const bt_field *root[BT2_N_ROOTS] = { NULL };
	uint8_t *row = arena_alloc(arena, b->size);
	uint32_t missing = 0;
	if (b->uses[BT2_PAYLOAD])
		root[BT2_PAYLOAD] = bt_event_borrow_payload_field_const(event);
	if (b->uses[BT2_COMMON])
		root[BT2_COMMON] = bt_event_borrow_common_context_field_const(event);
	if (b->uses[BT2_SPECIFIC])
		root[BT2_SPECIFIC] = bt_event_borrow_specific_context_field_const(event);
	for (uint32_t i = 0; i < b->n_getters; i++) {
		const struct bt2_getter *g = &b->getter[i];
		const bt_field *f = walk(g, root[g->root]);
		if (G_LIKELY(f))
			read_leaf(g, f, arena, row);
		else
			missing |= 1u << g->slot;
	}
	if (b->all >= 0) {
		struct blk_text t = bt2_all_read(event, &b->run, arena);
		memcpy(row + b->all_off, &t, sizeof t);
	}
	ret->data = row;
	ret->layout = G_LIKELY(!missing) ? b->layout : partial_layout(b, missing);
	ret->cls = b->cls;
	ret->row = b->row;
}

uint32_t bt2_binding_cpu(const struct bt2_binding *b, const bt_event *event)
{
	if (!b->has_cpu)
		return UINT32_MAX;
	const bt_field *root = b->cpu.root == BT2_PAYLOAD
		? bt_event_borrow_payload_field_const(event)
		: bt_event_borrow_common_context_field_const(event);
	const bt_field *f = walk(&b->cpu, root);
	return f ? (uint32_t)MIN(bt_field_integer_unsigned_get_value(f), UINT32_MAX) : UINT32_MAX;
}
