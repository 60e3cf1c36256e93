/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binding: finds the field that is the length of a sequence or the tag of a variant, and assigns it a register. A type
 * may be used in many places (struct event_header_compact) and refer to another field in each. So types with lengths
 * or tags are copied for each use. See ctf_parse.h.
 */
#include "trace/ctf/ctf_parse.h"

#include "base/limits.h"

#include <string.h>

/* The structures (and variants) that contain the field being bound. */
struct frame {
	struct ctf_node *node;		/* a copy that this binding may change */
	uint32_t index;			/* index of the field being bound; only earlier fields can be found */
	const struct frame *up;
};

static struct ctf_node *bind_type(struct ctf_binding *b, struct ctf_node *type,
				  const struct frame *up);

void ctf_binding_begin(struct ctf_binding *b, struct ctf_parser *p, uint32_t next_reg)
{
	*b = (struct ctf_binding){ .p = p, .serial = ++p->n_bindings, .next_reg = next_reg };
}

/* The node itself if this binding owns it, else a new copy that this binding owns. */
static struct ctf_node *own(struct ctf_binding *b, struct ctf_node *node)
{
	if (node->owner == b->serial)
		return node;
	struct ctf_node *copy = ctf_node_new(b->p, node->t.kind);
	if (!copy)
		return NULL;
	*copy = *node;
	copy->owner = b->serial;
	if (node->t.kind == CTF_STRUCT || node->t.kind == CTF_VARIANT) {
		size_t bytes = node->t.n_fields * sizeof(struct ctf_field);
		copy->t.field = ctf_pool_alloc(b->p->pool, bytes);
		if (bytes)
			memcpy(copy->t.field, node->t.field, bytes);
	}
	return copy;
}

/* ---- finding fields ---- */

/* Finds path[c ..] in the first `limit` fields of structure *slot. claim: replaces the structures on the way by copies
 * that this binding owns, so that the field can be changed. */
static struct ctf_field *find_path(struct ctf_binding *b, struct ctf_node **slot, uint32_t limit,
				   const struct ctf_path *path, uint32_t c, bool claim)
{
	struct ctf_node *node = *slot;
	if (node->t.kind != CTF_STRUCT || c == path->n)
		return NULL;
	g_assert(limit <= node->t.n_fields);
	uint32_t i = limit;		/* searched backwards: a length is usually right before its sequence */
	while (i && !ctf_field_is(&node->t.field[i - 1], path->part[c]))
		i--;
	b->p->n_lookups += MIN(limit - i, LIMIT_FIELD_LOOKUPS);
	if (!i--)
		return NULL;
	struct ctf_field *found = &node->t.field[i];
	struct ctf_node *below = ctf_node_of(found->type), *was = below;
	if (c + 1 < path->n) {
		uint32_t n = below->t.kind == CTF_STRUCT ? below->t.n_fields : 0;
		found = find_path(b, &below, n, path, c + 1, claim);
		if (!found)
			return NULL;
	}
	if (claim) {
		*slot = own(b, node);
		if (!*slot)
			return NULL;
		if (below != was)
			(*slot)->t.field[i].type = &below->t;
		if (c + 1 == path->n)
			found = &(*slot)->t.field[i];
	}
	return found;
}

static struct ctf_field *find_in_root(struct ctf_binding *b, enum ctf_root which,
				      const struct ctf_path *path, uint32_t c)
{
	struct ctf_node **root = &b->root[which];
	if (!*root)
		return NULL;
	return find_path(b, root, (*root)->t.n_fields, path, c, b->open[which]);
}

static struct ctf_field *find_in_frames(struct ctf_binding *b, const struct frame *f,
					const struct ctf_path *path)
{
	for (; f; f = f->up) {
		struct ctf_node *node = f->node;
		struct ctf_field *found = find_path(b, &node, f->index, path, 0, true);
		if (found)
			return found;
	}
	return NULL;
}

static const struct {
	const char *part[3];
	uint32_t n;
	enum ctf_root root;
} absolute[] = {
	{ { "trace", "packet", "header" }, 3, CTF_ROOT_PACKET_HEADER },
	{ { "stream", "packet", "context" }, 3, CTF_ROOT_PACKET_CONTEXT },
	{ { "stream", "event", "header" }, 3, CTF_ROOT_HEADER },
	{ { "stream", "event", "context" }, 3, CTF_ROOT_CONTEXT },
	{ { "event", "context" }, 2, CTF_ROOT_OWN_CONTEXT },
	{ { "event", "fields" }, 2, CTF_ROOT_FIELDS },
};

/* The entry of `absolute` that the path begins with, or -1. */
static int absolute_root(const struct ctf_path *path)
{
	for (size_t i = 0; i < G_N_ELEMENTS(absolute); i++) {
		uint32_t n = 0;
		while (n < absolute[i].n && n < path->n &&
		       !strcmp(absolute[i].part[n], path->part[n]))
			n++;
		if (n == absolute[i].n && path->n > n)
			return (int)i;
	}
	return -1;
}

static struct ctf_field *find_absolute(struct ctf_binding *b, const struct frame *up,
				       const struct ctf_path *path, int i, enum ctf_root *ret_root)
{
	*ret_root = absolute[i].root;
	if (*ret_root != b->now)
		return *ret_root < b->now ? find_in_root(b, *ret_root, path, absolute[i].n) : NULL;
	while (up && up->up)
		up = up->up;
	struct ctf_node *node = up ? up->node : NULL;
	return node ? find_path(b, &node, up->index, path, absolute[i].n, true) : NULL;
}

static struct ctf_field *find_field(struct ctf_binding *b, const struct frame *up,
				    const struct ctf_path *path, enum ctf_root *ret_root)
{
	int i = absolute_root(path);
	if (i >= 0)
		return find_absolute(b, up, path, i, ret_root);
	*ret_root = b->now;
	struct ctf_field *found = find_in_frames(b, up, path);
	while (!found && *ret_root > CTF_ROOT_PACKET_HEADER)
		found = find_in_root(b, --*ret_root, path, 0);
	return found;
}

static bool refuse(struct ctf_binding *b, const struct ctf_path *path, int code, const char *why)
{
	return ctf_lex_fail(&b->p->lex, path->at, code, "'%.64s' %s", path->part[path->n - 1], why);
}

/* Binds the path: the register and the type of the field that it names. */
static bool bind_path(struct ctf_binding *b, const struct frame *up, const struct ctf_path *path,
		      const struct ctf_type **ret_type, uint16_t *ret)
{
	enum ctf_root root;
	struct ctf_field *f = find_field(b, up, path, &root);
	if (b->p->n_lookups > LIMIT_FIELD_LOOKUPS)
		return refuse(b, path, CTF_LEX_OURS,
			      "is not searched for: the metadata needs too many searches for fields");
	if (!f)
		return refuse(b, path, BLK_TRACE_ERROR_UNSUPPORTED, "is not a field before this one");
	if (f->type->kind != CTF_INTEGER && f->type->kind != CTF_ENUM)
		return refuse(b, path, BLK_TRACE_ERROR_CORRUPT, "is not a number");
	if (root <= CTF_ROOT_PACKET_CONTEXT && b->now > CTF_ROOT_PACKET_CONTEXT)
		return refuse(b, path, CTF_LEX_OURS,
			      "is in the packet's header or context, which a field of an event cannot use here");
	if (!f->reg) {
		if (root != b->now && !b->open[root])
			return refuse(b, path, CTF_LEX_OURS,
				      "is in the header or context of another declaration");
		if (b->next_reg > LIMIT_LENGTHS)
			return refuse(b, path, CTF_LEX_OURS,
				      "exceeds the number of lengths and tags that blktop supports");
		f->reg = (uint16_t)b->next_reg++;
	}
	b->uses_header = b->uses_header || (root == CTF_ROOT_HEADER && b->now != root);
	*ret_type = f->type;
	*ret = f->reg;
	return true;
}

/* ---- copies ---- */

/* Options are found by name and labels by text: do all options have a label? */
static bool check_options(struct ctf_binding *b, const struct ctf_node *v,
			  const struct ctf_type *tag)
{
	g_autoptr(GHashTable) labels = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) written = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (uint32_t i = 0; i < tag->n_ranges; i++)
		g_hash_table_add(labels, tag->range[i].label);
	for (uint32_t i = 0; i < v->t.n_fields; i++) {
		const char *name = v->t.field[i].name;
		g_string_printf(b->p->key, "%s%s", name[-1] == '_' ? "_" : "", name);
		if (!g_hash_table_contains(labels, b->p->key->str))
			return ctf_lex_fail(&b->p->lex, v->ref->at, BLK_TRACE_ERROR_UNSUPPORTED,
					    "option '%.64s' of a variant is never selected by its tag",
					    name);
		g_hash_table_add(names, v->t.field[i].name);
		g_hash_table_add(written, g_strdup(b->p->key->str));
	}
	for (uint32_t i = 0; i < tag->n_ranges; i++) {
		const char *label = tag->range[i].label;
		bool similar = g_hash_table_contains(names, label) ||
			       (*label == '_' && g_hash_table_contains(names, label + 1));
		if (similar && !g_hash_table_contains(written, label))
			return ctf_lex_fail(&b->p->lex, v->ref->at, BLK_TRACE_ERROR_UNSUPPORTED,
					    "the options of a variant differ from its tag's labels by a leading '_'");
	}
	return true;
}

/* Which values of the tag select which option; if several fit, the first option. */
static void set_selects(struct ctf_binding *b, struct ctf_node *v, const struct ctf_type *tag)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct ctf_select));
	for (uint32_t i = 0; i < v->t.n_fields; i++)
		for (uint32_t k = 0; k < tag->n_ranges; k++) {
			const struct ctf_range *r = &tag->range[k];
			if (ctf_field_is(&v->t.field[i], r->label))
				g_array_append_val(all, ((struct ctf_select){ r->lo, r->hi, i }));
		}
	v->t.tag_is_signed = tag->is_signed;
	v->t.n_selects = all->len;
	struct ctf_select *select = ctf_pool_alloc(b->p->pool, all->len * sizeof *select);
	if (all->len)
		memcpy(select, all->data, all->len * sizeof *select);
	v->t.select = select;
}

static bool bind_tag(struct ctf_binding *b, struct ctf_node *v, const struct frame *up)
{
	const struct ctf_type *tag;
	if (!v->ref)
		return ctf_lex_fail(&b->p->lex, b->p->lex.tok.at, BLK_TRACE_ERROR_CORRUPT,
				    "a variant without tag");
	if (!bind_path(b, up, v->ref, &tag, &v->t.tag))
		return false;
	if (tag->kind != CTF_ENUM)
		return refuse(b, v->ref, BLK_TRACE_ERROR_CORRUPT, "is not an enumeration");
	if (!check_options(b, v, tag))
		return false;
	set_selects(b, v, tag);
	return true;
}

static bool bind_length(struct ctf_binding *b, struct ctf_node *s, const struct frame *up)
{
	const struct ctf_type *type;
	if (!bind_path(b, up, s->ref, &type, &s->t.length_reg))
		return false;
	return !type->is_signed || refuse(b, s->ref, BLK_TRACE_ERROR_CORRUPT, "is a signed length");
}

static bool bind_fields(struct ctf_binding *b, struct ctf_node *node, const struct frame *up)
{
	struct frame here = { .node = node, .up = up };
	for (; here.index < node->t.n_fields; here.index++) {
		struct ctf_field *f = &node->t.field[here.index];
		struct ctf_node *type = bind_type(b, ctf_node_of(f->type), &here);
		if (!type)
			return false;
		f->type = &type->t;
	}
	return true;
}

/* Frames of variants have no fields before the current one: find_path() only searches structures. */
static struct ctf_node *bind_type(struct ctf_binding *b, struct ctf_node *type,
				  const struct frame *up)
{
	if (!type->dynamic)
		return type;
	struct ctf_node *node = own(b, type);
	if (!node)
		return NULL;
	switch (node->t.kind) {
	case CTF_STRUCT:
		return bind_fields(b, node, up) ? node : NULL;
	case CTF_VARIANT:
		return bind_tag(b, node, up) && bind_fields(b, node, up) ? node : NULL;
	case CTF_SEQUENCE:
		if (!bind_length(b, node, up))
			return NULL;
		break;
	default:
		break;
	}
	struct ctf_node *element = bind_type(b, ctf_node_of(node->t.element), up);
	if (!element)
		return NULL;
	node->t.element = &element->t;
	return node;
}

/* ---- roles ---- */

/* CTF 1.8 marks the purpose of fields by reserved names (CTF 1.8.3, section 5.2; LTTng adds some to packet contexts).
 * False: such a field is not an integer. */
static bool role_of(const struct ctf_parser *p, enum ctf_root root, const struct ctf_field *f, unsigned *ret)
{
	static const struct { enum ctf_root root; const char *name; unsigned role; } roles[] = {
		{ CTF_ROOT_PACKET_HEADER, "magic", CTF_ROLE_MAGIC },
		{ CTF_ROOT_PACKET_HEADER, "uuid", CTF_ROLE_UUID },
		{ CTF_ROOT_PACKET_HEADER, "stream_id", CTF_ROLE_STREAM_CLASS },
		{ CTF_ROOT_PACKET_HEADER, "stream_instance_id", CTF_ROLE_STREAM },
		{ CTF_ROOT_PACKET_CONTEXT, "timestamp_begin", CTF_ROLE_TIMESTAMP },
		{ CTF_ROOT_PACKET_CONTEXT, "timestamp_end", CTF_ROLE_END_TIMESTAMP },
		{ CTF_ROOT_PACKET_CONTEXT, "content_size", CTF_ROLE_CONTENT_SIZE },
		{ CTF_ROOT_PACKET_CONTEXT, "packet_size", CTF_ROLE_PACKET_SIZE },
		{ CTF_ROOT_PACKET_CONTEXT, "packet_seq_num", CTF_ROLE_SEQUENCE },
		{ CTF_ROOT_PACKET_CONTEXT, "events_discarded", CTF_ROLE_DISCARDED },
		{ CTF_ROOT_HEADER, "id", CTF_ROLE_EVENT_CLASS },
		{ CTF_ROOT_HEADER, "timestamp", CTF_ROLE_TIMESTAMP },
	};
	const struct ctf_type *t = f->type;
	bool is_uuid = t->kind == CTF_ARRAY && t->length == 16 && t->element->bits == 8;
	bool is_number = t->kind == CTF_INTEGER || t->kind == CTF_ENUM;
	for (size_t i = 0; i < G_N_ELEMENTS(roles); i++) {
		unsigned role = roles[i].role;
		if (roles[i].root != root || strcmp(f->name, roles[i].name))
			continue;
		if (root == CTF_ROOT_HEADER && role == CTF_ROLE_TIMESTAMP && !t->clock && p->meta.clocks->len > 1)
			continue;
		*ret = role;
		return role == CTF_ROLE_UUID ? is_uuid : is_number;
	}
	*ret = 0;
	return true;
}

/* The clock of timestamps that name none: the only one, or one of nanoseconds if none is declared. NULL: there are
 * several. */
static const struct ctf_clock *default_clock(struct ctf_parser *p, const char *at)
{
	if (p->meta.clocks->len)
		return p->meta.clocks->len == 1 ? p->meta.clocks->pdata[0] : NULL;
	if (ctf_meta_remark(p, CTF_REMARK_CLOCK)) {
		g_autofree char *place = ctf_lex_place(&p->lex, at);
		p->meta.remark[CTF_REMARK_CLOCK].first =
			g_strdup_printf("%s: no clock is declared: timestamps are taken as nanoseconds", place);
		p->default_clock = ctf_pool_alloc(p->pool, sizeof *p->default_clock);
		p->default_clock->name = ctf_pool_string(p->pool, "default", strlen("default"));
		p->default_clock->freq = 1000000000;
	}
	return p->default_clock;
}

static void set_role(struct ctf_parser *p, struct ctf_type *t, unsigned role, const char *at)
{
	t->roles = (uint16_t)role;
	if (!t->clock && role & (CTF_ROLE_TIMESTAMP | CTF_ROLE_END_TIMESTAMP))
		t->clock = default_clock(p, at);
}

/* A copy of the type with roles set in its fields. NULL: there are too many types. */
static struct ctf_node *set_roles(struct ctf_binding *b, enum ctf_root root, struct ctf_node *type,
				  const char *at)
{
	struct ctf_node *node = own(b, type);
	for (uint32_t i = 0; node && i < node->t.n_fields; i++) {
		struct ctf_field *f = &node->t.field[i];
		struct ctf_node *below = ctf_node_of(f->type);
		unsigned role;
		if (!role_of(b->p, root, f, &role))
			return ctf_lex_fail(&b->p->lex, at, BLK_TRACE_ERROR_UNSUPPORTED,
					    "field '%s' does not have the type that its name requires", f->name);
		if (role && (below = own(b, below)))
			set_role(b->p, &below->t, role, at);
		else if (root == CTF_ROOT_HEADER &&
			 (below->t.kind == CTF_STRUCT || below->t.kind == CTF_VARIANT))
			below = set_roles(b, root, below, at);
		if (!below)
			return NULL;
		f->type = &below->t;
	}
	return node;
}

bool ctf_bind(struct ctf_binding *b, enum ctf_root which, const struct ctf_declared *declared)
{
	struct ctf_parser *p = b->p;
	struct ctf_node *type = declared->type;
	const char *at = declared->at;
	b->now = which;
	b->open[which] = true;
	if (!type)
		return true;
	if (type->t.kind != CTF_STRUCT)
		return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT,
				    "a header, context or payload that is not a structure");
	p->all_cost += type->cost;
	if (p->all_cost > LIMIT_ALL_TYPES)
		return ctf_lex_fail(&p->lex, at, CTF_LEX_OURS,
				    "event classes of more than %u types", LIMIT_ALL_TYPES);
	b->root[which] = bind_type(b, type, NULL);
	if (b->root[which] && which <= CTF_ROOT_HEADER)
		b->root[which] = set_roles(b, which, b->root[which], at);
	return b->root[which] != NULL;
}
