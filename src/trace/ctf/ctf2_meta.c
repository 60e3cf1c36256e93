/* SPDX-License-Identifier: GPL-2.0-only */
/* Fragments of CTF 2 metadata (CTF2-SPEC-2.0, "Metadata stream"). See ctf2.h. */
#include "trace/ctf/ctf2.h"

#include "base/limits.h"
#include "base/text.h"

#include <string.h>

#define CORRUPT BLK_TRACE_ERROR_CORRUPT
#define UNSUPPORTED BLK_TRACE_ERROR_UNSUPPORTED
#define NS_PER_S UINT64_C(1000000000)

struct ctf2 *ctf2_new(struct ctf_parser *p)
{
	struct ctf2 *v = g_new0(struct ctf2, 1);
	v->p = p;
	v->own_tokens = json_tokens_new();
	v->aliases = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, ctf2_alias_free);
	v->clocks = g_hash_table_new(g_str_hash, g_str_equal);
	v->scratch = g_string_new(NULL);
	v->packet_regs = CTF_NO_REG + 1;
	return v;
}

void ctf2_free(struct ctf2 *v)
{
	if (!v)
		return;
	g_array_unref(v->own_tokens);
	g_hash_table_unref(v->aliases);
	g_hash_table_unref(v->clocks);
	g_string_free(v->scratch, TRUE);
	g_clear_error(&v->error);
	g_free(v);
}

static bool refuse(struct ctf2 *v, int code, const char *why)
{
	return ctf2_fail(v, NULL, code, "%s", why);
}

/* ---- preamble ---- */

static bool read_uuid(struct ctf2 *v, const struct ctf2_props *o)
{
	struct ctf_meta *m = &v->p->meta;
	uint32_t i;
	if (!ctf2_list_of(v, o, PROP_UUID, NULL, JSON_ARRAY, false, &i))
		return false;
	if (!i)
		return true;
	if (ctf2_token(v, i)->count != 16)
		return refuse(v, CORRUPT, "'uuid' does not have 16 numbers");
	for (uint32_t k = 0; k < 16; k++) {
		const struct json_token *t = ctf2_token(v, i + 1 + k);
		bool minus;
		uint64_t n;
		if (t->kind != JSON_NUMBER || !json_integer(v->text.s, t, &minus, &n) || minus || n > 255)
			return refuse(v, CORRUPT, "'uuid' has values that are not bytes");
		m->uuid[k] = (uint8_t)n;
	}
	m->has_uuid = true;
	return true;
}

static bool read_preamble(struct ctf2 *v, const struct ctf2_props *o)
{
	uint64_t version = 0;
	uint32_t extensions;
	if (v->has_preamble)
		return refuse(v, CORRUPT, "is a second preamble");
	if (!ctf2_number_of(v, o, PROP_VERSION, NULL, true, &version))
		return false;
	if (version != 2)
		return ctf2_fail(v, NULL, UNSUPPORTED, "'version' is %" G_GUINT64_FORMAT
				 ", a version of CTF that is neither 1.8 nor 2", version);
	if (!ctf2_list_of(v, o, PROP_EXTENSIONS, NULL, JSON_OBJECT, false, &extensions))
		return false;
	/* Form: namespace -> name -> any value. */
	uint32_t n = extensions ? ctf2_token(v, extensions)->count : 0, key = extensions + 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct json_token *names = ctf2_token(v, key + 1);
		if (names->kind != JSON_OBJECT)
			return refuse(v, CORRUPT, "'extensions' has a namespace that is not an object");
		if (names->count) {
			const char *space = ctf2_string(v, key, NULL);
			const char *name = space ? ctf2_string(v, key + 2, NULL) : NULL;
			g_autofree char *text = name ? g_strdup_printf("%s:%s", space, name) : NULL;
			g_autofree char *shown = text_visible(text);
			return name && ctf2_fail(v, NULL, UNSUPPORTED, "declares the extension '%.200s', "
						 "which is not supported", shown);
		}
		key = names->next;
	}
	v->has_preamble = true;
	v->p->meta.has_trace = true;
	return read_uuid(v, o);
}

/* ---- trace class ---- */

static bool read_environment(struct ctf2 *v, const struct ctf2_props *o)
{
	struct ctf2_at at = { .key = ctf2_prop_name(PROP_ENVIRONMENT) };
	uint32_t i;
	if (!ctf2_list_of(v, o, PROP_ENVIRONMENT, NULL, JSON_OBJECT, false, &i))
		return false;
	uint32_t n = i ? ctf2_token(v, i)->count : 0, key = i + 1;
	for (uint32_t k = 0; k < n; k++) {
		const struct json_token *t = ctf2_token(v, key + 1);
		struct ctf_env e = { .name = (char *)ctf2_string(v, key, &at) };
		bool minus;
		uint64_t number;
		if (!e.name)
			return false;
		if (t->kind == JSON_STRING) {
			e.text = (char *)ctf2_string(v, key + 1, &at);
			if (!e.text)
				return false;
		} else if (t->kind == JSON_NUMBER && json_integer(v->text.s, t, &minus, &number)) {
			e.number = (int64_t)(minus ? -number : number);
		} else {
			return ctf2_fail(v, &at, CORRUPT, "has an entry that is neither text nor integer");
		}
		if (!ctf_meta_add_env(v->p, &e))
			return ctf2_fail(v, &at, UNSUPPORTED, "has more than %u entries", LIMIT_ENVIRONMENT);
		key = t->next;
	}
	return true;
}

static bool read_trace_class(struct ctf2 *v, const struct ctf2_props *o)
{
	const char *text = NULL;
	if (v->has_trace_class)
		return refuse(v, CORRUPT, "is a second trace class");
	if (v->p->meta.streams->len)
		return refuse(v, CORRUPT, "comes after a data stream class");
	v->has_trace_class = true;
	v->stream = NULL;
	v->clock = NULL;
	if (!ctf2_text_of(v, o, PROP_NAMESPACE, NULL, false, &text) ||
	    !ctf2_text_of(v, o, PROP_NAME, NULL, false, &text) ||
	    !ctf2_text_of(v, o, PROP_UID, NULL, false, &text) || !read_environment(v, o) ||
	    !ctf2_scope(v, o, PROP_PACKET_HEADER, CTF_ROOT_PACKET_HEADER))
		return false;
	struct ctf_node *header = v->root[CTF_ROOT_PACKET_HEADER];
	for (uint32_t i = 1; header && i < header->t.n_fields; i++)
		if (header->t.field[i].type->roles & CTF_ROLE_MAGIC)
			return refuse(v, CORRUPT, "the magic number is not the packet header's first member");
	v->p->meta.packet_header = header ? &header->t : NULL;
	return true;
}

/* ---- clock classes ---- */

/* Clocks with equal identities are one clock. LTTng's `uid` is the boot id; the identity of other clocks is a digest
 * of namespace, name and uid. */
static void set_identity(struct ctf_clock *c, const char *space, const char *name, const char *uid)
{
	if (!uid || !*uid)
		return;
	bool is_boot = !space && !g_strcmp0(name, "monotonic") && g_uuid_string_is_valid(uid);
	g_autofree char *low = g_ascii_strdown(uid, -1);
	g_autofree char *whole = g_strdup_printf("%s\n%s\n%s", space ? space : "", name ? name : "", uid);
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_MD5, whole, -1);
	g_strlcpy(c->uuid, is_boot ? low : digest, sizeof c->uuid);
}

static bool read_offset(struct ctf2 *v, const struct ctf2_props *o, struct ctf_clock *c)
{
	struct ctf2_at at = { .key = ctf2_prop_name(PROP_OFFSET) };
	struct ctf2_props offset;
	uint32_t i;
	if (!ctf2_list_of(v, o, PROP_OFFSET, NULL, JSON_OBJECT, false, &i))
		return false;
	if (!i)
		return true;
	if (!ctf2_object(v, i, &at, &offset) || !ctf2_signed_of(v, &offset, PROP_SECONDS, &at, &c->offset_s) ||
	    !ctf2_number_of(v, &offset, PROP_CYCLES, &at, false, &c->offset))
		return false;
	return c->offset < c->freq || ctf2_fail(v, &at, CORRUPT, "'cycles' are a second or more");
}

/* The origin is "unix-epoch", or the identity of another clock. */
static bool read_origin(struct ctf2 *v, const struct ctf2_props *o, struct ctf_clock *c)
{
	struct ctf2_at at = { .key = ctf2_prop_name(PROP_ORIGIN) };
	uint32_t i = o->token[PROP_ORIGIN];
	struct ctf2_props origin;
	const char *text = NULL;
	if (!i)
		return true;
	if (ctf2_token(v, i)->kind == JSON_OBJECT)
		return ctf2_object(v, i, &at, &origin) &&
		       ctf2_text_of(v, &origin, PROP_NAME, &at, true, &text) &&
		       ctf2_text_of(v, &origin, PROP_UID, &at, true, &text) &&
		       ctf2_text_of(v, &origin, PROP_NAMESPACE, &at, false, &text);
	text = ctf2_string(v, i, &at);
	if (!text)
		return false;
	c->absolute = !strcmp(text, "unix-epoch");
	return c->absolute || ctf2_fail(v, &at, CORRUPT, "is not a known origin");
}

static bool read_clock_class(struct ctf2 *v, const struct ctf2_props *o)
{
	struct ctf_clock clock = { 0 }, *c = &clock;
	const char *id = NULL, *space = NULL, *name = NULL, *uid = NULL, *text = NULL;
	uint64_t number = 0;
	if (!ctf2_text_of(v, o, PROP_ID, NULL, true, &id) ||
	    !ctf2_text_of(v, o, PROP_NAMESPACE, NULL, false, &space) ||
	    !ctf2_text_of(v, o, PROP_NAME, NULL, false, &name) ||
	    !ctf2_text_of(v, o, PROP_UID, NULL, false, &uid) ||
	    !ctf2_text_of(v, o, PROP_DESCRIPTION, NULL, false, &text) ||
	    !ctf2_number_of(v, o, PROP_FREQUENCY, NULL, true, &c->freq) ||
	    !ctf2_number_of(v, o, PROP_PRECISION, NULL, false, &number) ||
	    !ctf2_number_of(v, o, PROP_ACCURACY, NULL, false, &number))
		return false;
	if (!c->freq)
		return refuse(v, CORRUPT, "'frequency' is 0");
	if (!read_offset(v, o, c) || !read_origin(v, o, c))
		return false;
	if (c->offset_s > LIMIT_TIME_SECONDS || c->offset_s < -LIMIT_TIME_SECONDS)
		return refuse(v, UNSUPPORTED, "'offset-from-origin' is more than 146 years");
	c->name = (char *)(name ? name : id);
	set_identity(c, space, name, uid);
	const struct ctf_clock *known = g_hash_table_lookup(v->clocks, id);
	if (known)
		return ctf_clock_equal(known, c) ||
		       refuse(v, CORRUPT, "'id' is that of an earlier clock class, which differs");
	if (v->p->meta.clocks->len >= LIMIT_CLOCKS)
		return ctf2_fail(v, NULL, UNSUPPORTED, "is one of more than %u clocks", LIMIT_CLOCKS);
	g_hash_table_insert(v->clocks, (char *)id, ctf_meta_add_clock(v->p, c));
	return true;
}

/* ---- data stream and event record classes ---- */

static const struct ctf_type *type_or_null(const struct ctf_node *node)
{
	return node ? &node->t : NULL;
}

static struct ctf_stream *new_stream(struct ctf2 *v, uint64_t id)
{
	struct ctf_stream *s = ctf_pool_alloc(v->p->pool, sizeof *s);
	s->pub.id = id;
	s->pub.events = g_ptr_array_new();
	s->pub.n_regs = CTF2_STREAM_REGS;
	s->next_reg = CTF2_STREAM_REGS;
	s->by_id = g_hash_table_new(g_int64_hash, g_int64_equal);
	ctf_meta_add_stream(v->p, s);
	return s;
}

/* Sets the scopes that are complete, for locations in later scopes. */
static void enter_stream(struct ctf2 *v, struct ctf_stream *s)
{
	const struct ctf_type *const roots[] = {
		v->p->meta.packet_header, s->pub.packet_context, s->pub.event_header,
		s->pub.event_context,
	};
	v->stream = s;
	memset(v->root, 0, sizeof v->root);
	for (size_t i = 0; i < G_N_ELEMENTS(roots); i++)
		v->root[i] = roots[i] ? ctf_node_of(roots[i]) : NULL;
}

static bool read_stream_class(struct ctf2 *v, const struct ctf2_props *o)
{
	const char *clock = NULL, *text = NULL;
	uint64_t id = 0;
	if (!ctf2_number_of(v, o, PROP_ID, NULL, false, &id) ||
	    !ctf2_text_of(v, o, PROP_NAMESPACE, NULL, false, &text) ||
	    !ctf2_text_of(v, o, PROP_NAME, NULL, false, &text) ||
	    !ctf2_text_of(v, o, PROP_UID, NULL, false, &text) ||
	    !ctf2_text_of(v, o, PROP_CLOCK_ID, NULL, false, &clock))
		return false;
	if (g_hash_table_contains(v->p->by_id, &id))
		return ctf2_fail(v, NULL, CORRUPT, "is a second data stream class of id %" G_GUINT64_FORMAT, id);
	v->clock = clock ? g_hash_table_lookup(v->clocks, clock) : NULL;
	if (clock && !v->clock)
		return ctf2_fail(v, NULL, CORRUPT, "'%s' does not name an earlier clock class",
				 ctf2_prop_name(PROP_CLOCK_ID));
	struct ctf_stream *s = new_stream(v, id);
	enter_stream(v, s);
	if (!ctf2_scope(v, o, PROP_PACKET_CONTEXT, CTF_ROOT_PACKET_CONTEXT) ||
	    !ctf2_scope(v, o, PROP_EVENT_HEADER, CTF_ROOT_HEADER) ||
	    !ctf2_scope(v, o, PROP_COMMON_CONTEXT, CTF_ROOT_CONTEXT))
		return false;
	s->pub.packet_context = type_or_null(v->root[CTF_ROOT_PACKET_CONTEXT]);
	s->pub.event_header = type_or_null(v->root[CTF_ROOT_HEADER]);
	s->pub.event_context = type_or_null(v->root[CTF_ROOT_CONTEXT]);
	return true;
}

/* An event class without a name is called after its id. */
static char *name_of(struct ctf2 *v, const char *name, uint64_t id)
{
	if (name && *name)
		return (char *)name;
	g_autofree char *made = g_strdup_printf("event %" G_GUINT64_FORMAT, id);
	return ctf_pool_string(v->p->pool, made, strlen(made));
}

static bool read_event_class(struct ctf2 *v, const struct ctf2_props *o)
{
	const char *name = NULL, *text = NULL;
	uint64_t id = 0, stream = 0;
	if (!ctf2_number_of(v, o, PROP_ID, NULL, false, &id) ||
	    !ctf2_number_of(v, o, PROP_STREAM_CLASS_ID, NULL, false, &stream) ||
	    !ctf2_text_of(v, o, PROP_NAMESPACE, NULL, false, &text) ||
	    !ctf2_text_of(v, o, PROP_NAME, NULL, false, &name) ||
	    !ctf2_text_of(v, o, PROP_UID, NULL, false, &text))
		return false;
	struct ctf_stream *s = g_hash_table_lookup(v->p->by_id, &stream);
	if (!s)
		return ctf2_fail(v, NULL, CORRUPT, "is of the data stream class %" G_GUINT64_FORMAT
				 ", which is not declared before it", stream);
	if (g_hash_table_contains(s->by_id, &id))
		return ctf2_fail(v, NULL, CORRUPT, "is a second event record class of id %" G_GUINT64_FORMAT, id);
	if (++v->p->n_events > LIMIT_EVENT_CLASSES)
		return ctf2_fail(v, NULL, UNSUPPORTED, "is one of more than %u event record classes",
				 LIMIT_EVENT_CLASSES);
	enter_stream(v, s);
	v->clock = NULL;
	v->next_reg = CTF2_EVENT_REGS;
	if (!ctf2_scope(v, o, PROP_OWN_CONTEXT, CTF_ROOT_OWN_CONTEXT) ||
	    !ctf2_scope(v, o, PROP_PAYLOAD, CTF_ROOT_FIELDS))
		return false;
	struct ctf_event *e = ctf_pool_alloc(v->p->pool, sizeof *e);
	e->pub.id = id;
	e->pub.name = name_of(v, name, id);
	e->pub.context = type_or_null(v->root[CTF_ROOT_OWN_CONTEXT]);
	e->pub.fields = type_or_null(v->root[CTF_ROOT_FIELDS]);
	g_ptr_array_add(s->pub.events, e);
	g_hash_table_insert(s->by_id, &e->pub.id, e);
	ctf_meta_grow(v->p, s);
	return true;
}

/* ---- fragments ---- */

static bool read_alias(struct ctf2 *v, const struct ctf2_props *o)
{
	struct ctf2_at at = { .key = ctf2_prop_name(PROP_FIELD_CLASS) };
	const char *name = NULL;
	if (!ctf2_text_of(v, o, PROP_NAME, NULL, true, &name))
		return false;
	if (!o->token[PROP_FIELD_CLASS])
		return refuse(v, CORRUPT, "'field-class' is missing");
	return ctf2_add_alias(v, name, o->token[PROP_FIELD_CLASS], &at);
}

static const struct fragment {
	const char *type;
	bool (*read)(struct ctf2 *v, const struct ctf2_props *o);
} fragments[] = {
	{ "event-record-class", read_event_class }, { "field-class-alias", read_alias },
	{ "preamble", read_preamble }, { "trace-class", read_trace_class },
	{ "clock-class", read_clock_class }, { "data-stream-class", read_stream_class },
};

static const struct fragment *fragment_of(struct ctf2 *v, const struct ctf2_props *o)
{
	uint32_t i = o->token[PROP_TYPE];
	const struct json_token *t = i ? ctf2_token(v, i) : NULL;
	if (t && t->kind == JSON_STRING && json_string(v->text.s, t, v->scratch))
		for (size_t k = 0; k < G_N_ELEMENTS(fragments); k++)
			if (!strcmp(fragments[k].type, v->scratch->str))
				return &fragments[k];
	refuse(v, CORRUPT, i ? "'type' is not a known type of fragment" : "'type' is missing");
	return NULL;
}

bool ctf2_fragment(struct ctf2 *v, const char *text, size_t n)
{
	struct json_problem why;
	struct ctf2_props o;
	v->number++;
	v->type = NULL;
	v->text = (struct ctf2_text){ text, v->own_tokens };
	if (n > LIMIT_FRAGMENT_BYTES)
		return ctf2_fail(v, NULL, UNSUPPORTED, "is bigger than %d MiB", LIMIT_FRAGMENT_BYTES >> 20);
	if (!json_scan(text, n, v->own_tokens, &why))
		return ctf2_fail(v, NULL, CORRUPT, "byte %" G_GSIZE_FORMAT ": %s", why.at, why.text);
	if (!ctf2_object(v, 0, NULL, &o))
		return false;
	const struct fragment *f = fragment_of(v, &o);
	if (!f)
		return false;
	v->type = f->type;
	if (!v->has_preamble && f->read != read_preamble)
		return refuse(v, CORRUPT, "comes before the preamble");
	return f->read(v, &o);
}
