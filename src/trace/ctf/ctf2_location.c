/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Field locations (CTF2-SPEC-2.0, "Field location"): find the register that holds the value of a length or selector
 * when an event is decoded. See ctf2.h.
 *
 * A path leads through structures that are complete, and through structures that are still parsed. In the latter it
 * may only name members before the current one, or enter the current one.
 */
#include "trace/ctf/ctf2.h"

#include "base/limits.h"

#include <string.h>

#define CORRUPT BLK_TRACE_ERROR_CORRUPT

struct path {
	struct ctf2 *v;
	const struct ctf2_at *at;
	enum ctf_root root;		/* the scope that the path begins in */
	uint32_t n;
	const char *name[LIMIT_PATH_PARTS];	/* NULL: the parent structure */
	const struct ctf_type *type;	/* of the field that was found; NULL: none yet */
	uint16_t reg;			/* its register; CTF_NO_REG: none yet */
};

static bool refuse(const struct path *x, int code, const char *why)
{
	return ctf2_fail(x->v, x->at, code, "%s", why);
}

/* ---- registers ---- */

/* The next free register of a scope; CTF_NO_REG: none is free. */
static uint16_t next_register(struct ctf2 *v, enum ctf_root root)
{
	g_assert(root == CTF_ROOT_PACKET_HEADER || root > CTF_ROOT_CONTEXT || v->stream);
	uint32_t *next = root == CTF_ROOT_PACKET_HEADER ? &v->packet_regs :
			 root <= CTF_ROOT_CONTEXT ? &v->stream->next_reg : &v->next_reg;
	uint32_t limit = root == CTF_ROOT_PACKET_HEADER ? CTF2_STREAM_REGS :
			 root <= CTF_ROOT_CONTEXT ? CTF2_EVENT_REGS : 1 + LIMIT_LENGTHS;
	if (*next >= limit)
		return CTF_NO_REG;
	uint16_t reg = (uint16_t)(*next)++;
	if (root <= CTF_ROOT_PACKET_CONTEXT)
		v->p->meta.packet_regs = MAX(v->p->meta.packet_regs, (uint16_t)(reg + 1));
	if (v->stream)
		v->stream->pub.n_regs = MAX(v->stream->pub.n_regs, (uint16_t)(reg + 1));
	return reg;
}

static bool claim(struct path *x, struct ctf_field *f)
{
	if (f->type->is_signed != (x->type ? x->type->is_signed : f->type->is_signed))
		return refuse(x, BLK_TRACE_ERROR_UNSUPPORTED,
			    "names both signed and unsigned fields of a variant's options");
	x->type = f->type;
	if (f->reg == CTF_NO_REG)
		f->reg = x->reg ? x->reg : next_register(x->v, x->root);
	if (f->reg == CTF_NO_REG)
		return refuse(x, BLK_TRACE_ERROR_UNSUPPORTED,
			    "exceeds the number of lengths and selectors that blktop supports");
	if (x->reg != CTF_NO_REG && x->reg != f->reg)
		return refuse(x, BLK_TRACE_ERROR_UNSUPPORTED,
			    "names fields of a variant's options that another location also names");
	x->reg = f->reg;
	return true;
}

/* ---- complete types ---- */

static bool find_in(struct path *x, struct ctf_field *f, uint32_t from);

static bool find_options(struct path *x, const struct ctf_type *t, uint32_t from)
{
	for (uint32_t i = 0; i < t->n_fields; i++)
		if (!find_in(x, &t->field[i], from))
			return false;
	return true;
}

/* Follows the path from name[from] on into the field. In a variant each option may have the field: all of them get the
 * same register, as an event has only one of them. */
static bool find_in(struct path *x, struct ctf_field *f, uint32_t from)
{
	const struct ctf_type *t = f->type;
	if (t->kind == CTF_VARIANT || t->kind == CTF_OPTIONAL)
		return find_options(x, t, from);
	if (from == x->n)
		return t->kind != CTF_INTEGER && t->kind != CTF_ENUM ? true : claim(x, f);
	if (t->kind != CTF_STRUCT)
		return true;
	if (!x->name[from])
		return refuse(x, CORRUPT, "leads back out of a structure that it has entered");
	for (uint32_t i = 0; i < t->n_fields; i++)
		if (!strcmp(t->field[i].name, x->name[from]))
			return find_in(x, &t->field[i], from + 1);
	return true;
}

/* ---- structures that are still parsed ---- */

static bool find_in_frame(struct path *x, const struct ctf2_frame *f, uint32_t from)
{
	GArray *fields = x->v->p->fields;
	if (from == x->n)
		return true;
	if (!x->name[from])
		return f->up ? find_in_frame(x, f->up, from + 1)
			     : refuse(x, CORRUPT, "leads out of the outermost structure");
	if (f->down && f->now && !strcmp(f->now, x->name[from]))
		return find_in_frame(x, f->down, from + 1);
	guint end = f->down ? f->down->base : fields->len;
	for (guint i = f->base; i < end; i++) {
		struct ctf_field *each = &g_array_index(fields, struct ctf_field, i);
		if (!strcmp(each->name, x->name[from]))
			return find_in(x, each, from + 1);
	}
	return true;
}

static bool find_in_root(struct path *x)
{
	struct ctf_node *root = x->v->root[x->root];
	struct ctf_field whole = { .type = root ? &root->t : NULL };
	return root ? find_in(x, &whole, 0) : true;
}

/* ---- the whole path ---- */

static bool read_path(struct path *x, uint32_t i)
{
	struct ctf2 *v = x->v;
	const struct json_token *t = ctf2_token(v, i);
	if (!t->count)
		return refuse(x, CORRUPT, "'path' is empty");
	if (t->count > LIMIT_PATH_PARTS)
		return ctf2_fail(v, x->at, BLK_TRACE_ERROR_UNSUPPORTED, "'path' has more than %d parts",
				 LIMIT_PATH_PARTS);
	uint32_t each = i + 1;
	const char *name = NULL;
	for (uint32_t k = 0; k < t->count; k++) {
		const struct json_token *e = ctf2_token(v, each);
		name = e->kind == JSON_NULL ? NULL : ctf2_string(v, each, x->at);
		if (!name && e->kind != JSON_NULL)
			return false;
		if (!name && x->n && x->name[x->n - 1])
			x->n--;			/* leaves the structure named before */
		else
			x->name[x->n++] = name;
		each = e->next;
	}
	return name || refuse(x, CORRUPT, "'path' ends with null");
}

static bool search(struct path *x, bool has_origin)
{
	struct ctf2 *v = x->v;
	if (!has_origin)
		return v->top ? find_in_frame(x, v->top, 0) : true;
	if (x->root == v->now)
		return v->bottom ? find_in_frame(x, v->bottom, 0) : true;
	return x->root < v->now ? find_in_root(x) : refuse(x, CORRUPT, "names a field that comes later");
}

bool ctf2_locate(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		 const struct ctf2_at *at, uint16_t *ret, const struct ctf_type **ret_type)
{
	/* In the order of enum ctf_root. */
	static const char *const origins[] = {
		"packet-header", "packet-context", "event-record-header", "event-record-common-context",
		"event-record-specific-context", "event-record-payload", NULL,
	};
	struct ctf2_at here = { .up = at, .key = ctf2_prop_name(which) };
	struct path x = { .v = v, .at = &here };
	struct ctf2_props props;
	uint32_t i, path;
	int origin = -1;
	if (!ctf2_list_of(v, o, which, at, JSON_OBJECT, true, &i) || !ctf2_object(v, i, &here, &props) ||
	    !ctf2_word_of(v, &props, PROP_ORIGIN, &here, false, origins, &origin) ||
	    !ctf2_list_of(v, &props, PROP_PATH, &here, JSON_ARRAY, true, &path) || !read_path(&x, path))
		return false;
	*ret = CTF_NO_REG;
	*ret_type = NULL;
	if (v->unbound)
		return true;
	x.root = origin >= 0 ? (enum ctf_root)origin : v->now;
	if (!search(&x, origin >= 0))
		return false;
	if (x.reg == CTF_NO_REG)
		return refuse(&x, CORRUPT, "does not name an integer that is read before this field");
	if (v->stream && x.root <= CTF_ROOT_PACKET_CONTEXT && v->now > CTF_ROOT_PACKET_CONTEXT)
		v->stream->pub.packet_regs = true;
	if (v->stream && x.root == CTF_ROOT_HEADER && v->now > CTF_ROOT_HEADER)
		v->stream->pub.header_regs = true;
	*ret = x.reg;
	*ret_type = x.type;
	return true;
}
