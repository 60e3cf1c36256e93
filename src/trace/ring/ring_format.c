/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses the kernel's format texts. */
#include "trace/ring/ring_format.h"

#include "base/fail.h"
#include "base/limits.h"

#include <string.h>

G_DEFINE_QUARK(blk-ring-error-quark, ring_error)


/* Bytes of one element of an array. 0: not known, so that the array is one of bytes. */
static uint32_t element_size(const char *type, unsigned long_size)
{
	static const struct { const char *word; uint32_t size; } words[] = {
		{ "char", 1 }, { "u8", 1 }, { "s8", 1 }, { "uint8_t", 1 }, { "bool", 1 },
		{ "short", 2 }, { "u16", 2 }, { "s16", 2 }, { "uint16_t", 2 }, { "__be16", 2 },
		{ "int", 4 }, { "u32", 4 }, { "s32", 4 }, { "uint32_t", 4 }, { "__be32", 4 },
		{ "u64", 8 }, { "s64", 8 }, { "uint64_t", 8 }, { "long long", 8 }, { "long", 0 },
	};
	if (strchr(type, '*'))
		return long_size;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		const char *at = strstr(type, words[i].word);
		if (at)
			return words[i].size ? words[i].size : long_size;
	}
	return 0;
}

/* Splits "__data_loc char[] name", "char comm[16]", "struct sockaddr * addr" into type and name. */
static bool parse_declaration(struct ring_field *f, const char *text, unsigned long_size)
{
	static const struct { const char *word; enum ring_place place; } places[] = {
		{ "__data_loc ", RING_DATA_LOC }, { "__rel_loc ", RING_REL_LOC },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
		if (g_str_has_prefix(text, places[i].word)) {
			f->place = places[i].place;
			text += strlen(places[i].word);
		}
	}
	g_autofree char *all = g_strstrip(g_strdup(text));
	size_t len = strlen(all);
	if (len && all[len - 1] == ']') {
		char *bracket = strrchr(all, '[');
		if (!bracket)
			return false;
		*bracket = '\0';
		f->is_array = true;
		g_strchomp(all);
	}
	char *name = all + strlen(all);
	while (name > all && (g_ascii_isalnum(name[-1]) || name[-1] == '_'))
		name--;
	if (!*name || g_ascii_isdigit(*name) || strlen(name) > LIMIT_RING_NAME_BYTES)
		return false;
	f->name = g_strdup(name);
	*name = '\0';
	char *brackets = strchr(all, '[');	/* "char[] name" */
	if (brackets) {
		f->is_array = true;
		*brackets = '\0';
	}
	f->is_array |= f->place != RING_INLINE;
	f->type = g_strstrip(g_strdup(all));
	f->is_pointer = !f->is_array && strchr(f->type, '*');
	uint32_t element = f->is_array ? element_size(f->type, long_size) : f->size;
	f->element = element ? element : 1;
	f->is_text = f->is_array && f->element == 1 && strstr(f->type, "char") && !strstr(f->type, "unsigned");
	return true;
}

/* The number behind "offset:" and its like. False: there is none. */
static bool number_of(const char *line, const char *key, uint32_t *value)
{
	const char *at = strstr(line, key);
	guint64 n;
	if (!at)
		return false;
	at += strlen(key);
	g_autofree char *digits = g_strndup(at, strcspn(at, "; \t"));
	if (!g_ascii_string_to_unsigned(digits, 10, 0, UINT32_MAX, &n, NULL))
		return false;
	*value = (uint32_t)n;
	return true;
}

static bool parse_field(struct ring_field *f, const char *line, unsigned long_size)
{
	uint32_t is_signed = 0;
	const char *end = strchr(line, ';');
	if (!end || !number_of(end, "offset:", &f->offset) || !number_of(end, "size:", &f->size))
		return false;
	number_of(end, "signed:", &is_signed);		/* old kernels do not say it */
	f->is_signed = is_signed;
	g_autofree char *declaration = g_strndup(line, (gsize)(end - line));
	if (f->offset > LIMIT_RING_PAGE_BYTES || f->size > LIMIT_RING_PAGE_BYTES ||
	    !parse_declaration(f, declaration, long_size))
		return false;
	if (f->place != RING_INLINE)
		return f->size == 4;
	return f->is_array ? f->size % f->element == 0 : true;
}

static void field_clear(struct ring_field *f)
{
	g_free(f->name);
	g_free(f->type);
}

struct ring_fields *ring_fields_parse(const char *text, size_t len, unsigned long_size, GError **error)
{
	g_autoptr(GArray) fields = g_array_new(FALSE, TRUE, sizeof(struct ring_field));
	g_array_set_clear_func(fields, (GDestroyNotify)(void (*)(void))field_clear);
	for (const char *at = text, *end = text + len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;
		g_autofree char *line = g_strstrip(g_strndup(at, (gsize)(next - at)));
		at = next;
		if (!g_str_has_prefix(line, "field:"))
			continue;
		struct ring_field f = { 0 };
		bool is_good = parse_field(&f, line + strlen("field:"), long_size);
		g_array_append_val(fields, f);
		if (!is_good || fields->len > LIMIT_RING_FIELDS) {
			fail(error, RING_ERROR, 0, "cannot read the field '%.100s' of an event's format", line);
			return NULL;
		}
	}
	struct ring_fields *f = g_new0(struct ring_fields, 1);
	gsize n;
	f->fields = g_array_steal(fields, &n);
	f->n = (uint32_t)n;
	return f;
}

void ring_fields_free(struct ring_fields *f)
{
	for (uint32_t i = 0; f && i < f->n; i++)
		field_clear(&f->fields[i]);
	if (f)
		g_free(f->fields);
	g_free(f);
}

const struct ring_field *ring_fields_find(const struct ring_fields *f, const char *name)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (!strcmp(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}

/* The text behind `key` at the beginning of a line; NULL: none. */
static char *line_value(const char *text, size_t len, const char *key)
{
	for (const char *at = text, *end = text + len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		if ((size_t)(line_end - at) >= strlen(key) && !memcmp(at, key, strlen(key)))
			return g_strstrip(g_strndup(at + strlen(key), (gsize)(line_end - at) - strlen(key)));
		at = line_end + 1;
	}
	return NULL;
}

static bool is_name(const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
	return len && len <= LIMIT_RING_NAME_BYTES && !s[len];
}

/* Fields that each event has: kernel/trace/trace_events.c, trace_define_common_fields(). */
static void drop_common(struct ring_fields *f)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		if (g_str_has_prefix(f->fields[i].name, "common_"))
			field_clear(&f->fields[i]);
		else
			f->fields[n++] = f->fields[i];
	}
	f->n = n;
}

struct ring_format *ring_format_parse(const char *system, const char *text, size_t len, unsigned long_size,
				      GError **error)
{
	g_autofree char *name = line_value(text, len, "name:"), *id = line_value(text, len, "ID:");
	guint64 number;
	if (!name || !is_name(name) || !is_name(system) || !id ||
	    !g_ascii_string_to_unsigned(id, 10, 0, UINT16_MAX, &number, NULL)) {
		fail(error, RING_ERROR, 0, "an event's format has no usable name and ID");
		return NULL;
	}
	g_autoptr(ring_fields) fields = ring_fields_parse(text, len, long_size, error);
	if (!fields)
		return NULL;
	drop_common(fields);
	struct ring_format *f = g_new0(struct ring_format, 1);
	f->system = g_strdup(system);
	f->name = g_steal_pointer(&name);
	f->id = (uint16_t)number;
	f->fields = g_steal_pointer(&fields);
	return f;
}

void ring_format_free(struct ring_format *f)
{
	if (!f)
		return;
	g_free(f->system);
	g_free(f->name);
	ring_fields_free(f->fields);
	g_free(f);
}
