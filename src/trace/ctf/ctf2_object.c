/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON objects of CTF 2 metadata: properties by name, values by kind. See ctf2.h. */
#include "trace/ctf/ctf2.h"

#include "base/limits.h"

#include <string.h>

static const char *const prop_name[N_PROPS] = {
	[PROP_TYPE] = "type", [PROP_NAME] = "name", [PROP_NAMESPACE] = "namespace",
	[PROP_UID] = "uid", [PROP_ID] = "id", [PROP_VERSION] = "version", [PROP_UUID] = "uuid",
	[PROP_EXTENSIONS] = "extensions", [PROP_ATTRIBUTES] = "attributes", [PROP_FIELD_CLASS] = "field-class",
	[PROP_ENVIRONMENT] = "environment", [PROP_PACKET_HEADER] = "packet-header-field-class",
	[PROP_FREQUENCY] = "frequency", [PROP_ORIGIN] = "origin",
	[PROP_OFFSET] = "offset-from-origin", [PROP_CLOCK_ID] = "default-clock-class-id",
	[PROP_PACKET_CONTEXT] = "packet-context-field-class",
	[PROP_EVENT_HEADER] = "event-record-header-field-class",
	[PROP_COMMON_CONTEXT] = "event-record-common-context-field-class",
	[PROP_STREAM_CLASS_ID] = "data-stream-class-id",
	[PROP_OWN_CONTEXT] = "specific-context-field-class",
	[PROP_PAYLOAD] = "payload-field-class", [PROP_LENGTH] = "length",
	[PROP_BYTE_ORDER] = "byte-order", [PROP_BIT_ORDER] = "bit-order",
	[PROP_ALIGNMENT] = "alignment", [PROP_MIN_ALIGNMENT] = "minimum-alignment",
	[PROP_FLAGS] = "flags", [PROP_BASE] = "preferred-display-base",
	[PROP_MAPPINGS] = "mappings", [PROP_ROLES] = "roles", [PROP_ENCODING] = "encoding",
	[PROP_LENGTH_LOCATION] = "length-field-location", [PROP_MEDIA_TYPE] = "media-type",
	[PROP_MEMBERS] = "member-classes", [PROP_ELEMENT] = "element-field-class",
	[PROP_SELECTOR_LOCATION] = "selector-field-location",
	[PROP_SELECTOR_RANGES] = "selector-field-ranges", [PROP_OPTIONS] = "options",
	[PROP_PATH] = "path", [PROP_SECONDS] = "seconds", [PROP_CYCLES] = "cycles",
	[PROP_PRECISION] = "precision", [PROP_ACCURACY] = "accuracy",
	[PROP_DESCRIPTION] = "description",
};

#define CORRUPT BLK_TRACE_ERROR_CORRUPT

const char *ctf2_prop_name(enum ctf2_prop which)
{
	return prop_name[which];
}

/* ---- errors ---- */

static void add_place(GString *s, const struct ctf2_at *at)
{
	if (at->up)
		add_place(s, at->up);
	if (at->key)
		g_string_append_printf(s, "%s%s", s->len ? "." : "", at->key);
	else if (at->up)
		g_string_append_printf(s, "[%u]", at->index);
}

void *ctf2_fail(struct ctf2 *v, const struct ctf2_at *at, int code, const char *format, ...)
{
	if (v->error)
		return NULL;
	g_autoptr(GString) place = g_string_new(NULL);
	if (at)
		add_place(place, at);
	va_list args;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(&v->error, BLK_TRACE_ERROR, code, "fragment %" G_GUINT64_FORMAT "%s%s%s%s%s: %s",
		    v->number, v->type ? " (" : "", v->type ? v->type : "", v->type ? ")" : "",
		    place->len ? ", " : "", place->str, what);
	return NULL;
}

/* ---- objects ---- */

/* Most names differ in length or first letter, so a comparison is rare. */
static int prop_of(const char *s, size_t n)
{
	for (int i = 0; i < N_PROPS; i++)
		if (prop_name[i][0] == s[0] && strlen(prop_name[i]) == n && !memcmp(prop_name[i], s, n))
			return i;
	return -1;
}

static bool key_of(struct ctf2 *v, const struct json_token *t, const struct ctf2_at *at, int *ret)
{
	if (!t->escaped) {
		*ret = t->n ? prop_of(v->text.s + t->at, t->n) : -1;
		return true;
	}
	if (!json_string(v->text.s, t, v->scratch))
		return ctf2_fail(v, at, CORRUPT, "half of a surrogate pair in a property's name");
	*ret = v->scratch->len ? prop_of(v->scratch->str, v->scratch->len) : -1;
	return true;
}

bool ctf2_object(struct ctf2 *v, uint32_t i, const struct ctf2_at *at, struct ctf2_props *ret)
{
	const struct json_token *t = ctf2_token(v, i);
	memset(ret, 0, sizeof *ret);
	if (t->kind != JSON_OBJECT)
		return ctf2_fail(v, at, CORRUPT, "is not an object");
	uint32_t key = i + 1;
	for (uint32_t k = 0; k < t->count; k++) {
		int which = -1;
		if (!key_of(v, ctf2_token(v, key), at, &which))
			return false;
		if (which >= 0 && ret->token[which])
			return ctf2_fail(v, at, CORRUPT, "has '%s' twice", prop_name[which]);
		if (which >= 0)
			ret->token[which] = key + 1;
		key = ctf2_token(v, key + 1)->next;
	}
	uint32_t none;
	return ctf2_list_of(v, ret, PROP_EXTENSIONS, at, JSON_OBJECT, false, &none) &&
	       ctf2_list_of(v, ret, PROP_ATTRIBUTES, at, JSON_OBJECT, false, &none);
}

/* ---- values ---- */

static bool missing(struct ctf2 *v, const struct ctf2_at *at, enum ctf2_prop which, bool required)
{
	return !required || ctf2_fail(v, at, CORRUPT, "'%s' is missing", prop_name[which]);
}

const char *ctf2_string(struct ctf2 *v, uint32_t i, const struct ctf2_at *at)
{
	const struct json_token *t = ctf2_token(v, i);
	if (t->kind != JSON_STRING)
		return ctf2_fail(v, at, CORRUPT, "is not a string");
	if (!t->escaped)
		return ctf_pool_string(v->p->pool, v->text.s + t->at, t->n);
	if (!json_string(v->text.s, t, v->scratch))
		return ctf2_fail(v, at, CORRUPT, "has half of a surrogate pair");
	if (strlen(v->scratch->str) != v->scratch->len)
		return ctf2_fail(v, at, BLK_TRACE_ERROR_UNSUPPORTED, "has a zero character");
	return ctf_pool_string(v->p->pool, v->scratch->str, v->scratch->len);
}

bool ctf2_text_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, bool required, const char **ret)
{
	if (!o->token[which])
		return missing(v, at, which, required);
	const char *text = ctf2_string(v, o->token[which],
				       &(struct ctf2_at){ .up = at, .key = prop_name[which] });
	if (text)
		*ret = text;
	return text;
}

static bool integer_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		       const struct ctf2_at *at, bool *ret_minus, uint64_t *ret)
{
	const struct json_token *t = ctf2_token(v, o->token[which]);
	if (t->kind != JSON_NUMBER)
		return ctf2_fail(v, at, CORRUPT, "'%s' is not a number", prop_name[which]);
	return json_integer(v->text.s, t, ret_minus, ret) ||
	       ctf2_fail(v, at, CORRUPT, "'%s' is not an integer of 64 bits", prop_name[which]);
}

bool ctf2_number_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		    const struct ctf2_at *at, bool required, uint64_t *ret)
{
	bool minus;
	if (!o->token[which])
		return missing(v, at, which, required);
	if (!integer_of(v, o, which, at, &minus, ret))
		return false;
	return !minus || ctf2_fail(v, at, CORRUPT, "'%s' is negative", prop_name[which]);
}

bool ctf2_signed_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		    const struct ctf2_at *at, int64_t *ret)
{
	bool minus;
	uint64_t n;
	if (!o->token[which])
		return true;
	if (!integer_of(v, o, which, at, &minus, &n))
		return false;
	if (n > (uint64_t)INT64_MAX + minus)
		return ctf2_fail(v, at, CORRUPT, "'%s' is not a signed integer of 64 bits",
				 prop_name[which]);
	*ret = (int64_t)(minus ? -n : n);
	return true;
}

bool ctf2_alignment_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		       const struct ctf2_at *at, uint32_t *ret)
{
	uint64_t n = *ret;
	if (!ctf2_number_of(v, o, which, at, false, &n))
		return false;
	if (!n || (n & (n - 1)))
		return ctf2_fail(v, at, CORRUPT, "'%s' is not a power of two", prop_name[which]);
	if (n > LIMIT_ALIGNMENT)
		return ctf2_fail(v, at, BLK_TRACE_ERROR_UNSUPPORTED, "'%s' is more than %u",
				 prop_name[which], LIMIT_ALIGNMENT);
	*ret = (uint32_t)n;
	return true;
}

bool ctf2_word_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, bool required, const char *const *words, int *ret)
{
	const char *text = NULL;
	if (!ctf2_text_of(v, o, which, at, required, &text))
		return false;
	for (int i = 0; text && words[i]; i++)
		if (!strcmp(words[i], text)) {
			*ret = i;
			return true;
		}
	return !text || ctf2_fail(v, at, CORRUPT, "'%s' has an unknown value", prop_name[which]);
}

bool ctf2_list_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, enum json_kind kind, bool required, uint32_t *ret)
{
	*ret = o->token[which];
	if (!*ret)
		return missing(v, at, which, required);
	return ctf2_token(v, *ret)->kind == kind ||
	       ctf2_fail(v, at, CORRUPT, "'%s' is not an %s", prop_name[which],
			 kind == JSON_ARRAY ? "array" : "object");
}

/* ---- ranges ---- */

/* A bound of a range as a value of the field. If the field cannot have it: the nearest value, and the result is -1
 * (below) or 1 (above). */
static int clamp(bool is_signed, bool minus, uint64_t n, uint64_t *ret)
{
	*ret = minus ? -n : n;
	if (is_signed && n > (uint64_t)INT64_MAX + minus) {
		*ret = minus ? (uint64_t)INT64_MIN : INT64_MAX;
		return minus ? -1 : 1;
	}
	if (is_signed || !minus)
		return 0;
	*ret = 0;
	return -1;
}

static bool add_range(struct ctf2 *v, uint32_t i, const struct ctf2_at *at, bool is_signed,
		      uint32_t option, GArray *ret)
{
	const struct json_token *t = ctf2_token(v, i);
	struct { bool minus; uint64_t n; } bound[2];
	if (t->kind != JSON_ARRAY || t->count != 2)
		return ctf2_fail(v, at, CORRUPT, "is not a range of two integers");
	for (uint32_t k = 0; k < 2; k++) {
		const struct json_token *b = ctf2_token(v, i + 1 + k);
		if (b->kind != JSON_NUMBER || !json_integer(v->text.s, b, &bound[k].minus, &bound[k].n))
			return ctf2_fail(v, at, CORRUPT, "is not a range of two integers of 64 bits");
	}
	bool falls = bound[0].minus != bound[1].minus ? bound[1].minus :
		     bound[0].minus ? bound[0].n < bound[1].n : bound[0].n > bound[1].n;
	if (falls)
		return ctf2_fail(v, at, CORRUPT, "is a range that ends before it begins");
	struct ctf_select s = { .option = option };
	if (clamp(is_signed, bound[0].minus, bound[0].n, &s.lo) <= 0 &&
	    clamp(is_signed, bound[1].minus, bound[1].n, &s.hi) >= 0)
		g_array_append_val(ret, s);
	return true;
}

bool ctf2_ranges(struct ctf2 *v, uint32_t i, const struct ctf2_at *at, bool is_signed,
		 uint32_t option, GArray *ret)
{
	const struct json_token *t = ctf2_token(v, i);
	struct ctf2_at here = { .up = at };
	if (t->kind != JSON_ARRAY || !t->count)
		return ctf2_fail(v, at, CORRUPT, "is not a list of ranges");
	uint32_t each = i + 1;
	for (; here.index < t->count; here.index++) {
		if (!add_range(v, each, &here, is_signed, option, ret))
			return false;
		each = ctf2_token(v, each)->next;
	}
	return true;
}
