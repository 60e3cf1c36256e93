/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats and events of calls that are printed. */
#include "trace/ring/ring_printed.h"

#include "trace/ring/ring_rules.h"

#include <string.h>

#define HEAD 8				/* bytes of the common fields */
#define NAMES_AT (HEAD + 4 * RING_PRINTED_VALUES)	/* where the event says where its names are */
#define TEXT_AT (NAMES_AT + 4 * RING_PRINTED_NAMES)

bool ring_printed_choose(struct ring_printed_call *ret, const struct ring_format *format)
{
	unsigned n_values = 0, n_names = 0;
	*ret = (struct ring_printed_call){ 0 };
	if (strcmp(format->system, "syscalls") || !g_str_has_prefix(format->name, "sys_enter_"))
		return false;
	for (uint32_t i = 0; i < format->fields->n; i++) {
		const struct ring_field *f = &format->fields->fields[i];
		struct ring_field_rule rule = ring_field_rule(format, f);
		bool is_value = rule.encoding == RING_AS_IS && rule.size == 4 && f->size == 8;
		bool is_name = ring_is_path(f);
		if (is_name && (f->size != 8 || ring_is_stored(format, f->name)))
			return false;
		if (is_name && n_names < RING_PRINTED_NAMES)
			ret->names[n_names++] = f;
		else if (!is_name && is_value && n_values < RING_PRINTED_VALUES)
			ret->values[n_values++] = f;
	}
	if (n_names == RING_PRINTED_NAMES)
		ret->values[1] = NULL;		/* a program prints three arguments */
	return n_names > 0;
}

char *ring_printed_format(const struct ring_format *format, const struct ring_printed_call *call, unsigned number)
{
	GString *s = g_string_new(NULL);
	g_string_printf(s, "name: %s\nID: %u\nformat:\n", format->name, RING_PRINTED_FIRST + number);
	for (unsigned i = 0; i < RING_PRINTED_VALUES && call->values[i]; i++)
		g_string_append_printf(s, "\tfield:%s %s;\toffset:%u;\tsize:4;\tsigned:%d;\n", call->values[i]->type,
				       call->values[i]->name, HEAD + 4 * i,
				       ring_field_rule(format, call->values[i]).is_signed);
	for (unsigned i = 0; i < RING_PRINTED_NAMES && call->names[i]; i++)
		g_string_append_printf(s, "\tfield:__data_loc char[] %s;\toffset:%u;\tsize:4;\tsigned:0;\n",
				       call->names[i]->name, NAMES_AT + 4 * i);
	return g_string_free(s, FALSE);
}

/* Takes a number and the space behind it. */
static bool take_number(const char **at, const char *end, uint32_t *ret)
{
	unsigned digits = 0;
	for (*ret = 0; *at < end && g_ascii_isxdigit(**at) && digits < 8; ++*at, digits++)
		*ret = *ret << 4 | (uint32_t)g_ascii_xdigit_value(**at);
	return digits && *at < end && *(*at)++ == ' ';
}

uint8_t *ring_printed_parse(const char *text, size_t n, const char *tag, const uint8_t *head, size_t *ret_size)
{
	uint32_t number, values[RING_PRINTED_VALUES];
	const char *at = text + RING_PRINTED_TAG + 1, *end = text + strnlen(text, n);
	if (end - text <= RING_PRINTED_TAG || memcmp(text, tag, RING_PRINTED_TAG) || text[RING_PRINTED_TAG] != ' ' ||
	    !take_number(&at, end, &number) || number > UINT16_MAX - RING_PRINTED_FIRST)
		return NULL;
	for (unsigned i = 0; i < RING_PRINTED_VALUES; i++)
		if (!take_number(&at, end, &values[i]))
			return NULL;
	g_autofree char *between = g_strdup_printf(" %s ", tag);
	const char *second = memmem(at, (size_t)(end - at), between, RING_PRINTED_TAG + 2);
	const char *names[RING_PRINTED_NAMES] = { at, second ? second + RING_PRINTED_TAG + 2 : end };
	size_t lens[RING_PRINTED_NAMES] = { (size_t)((second ? second : end) - at), (size_t)(end - names[1]) };
	uint16_t id = (uint16_t)(RING_PRINTED_FIRST + number);
	uint8_t *event = g_malloc0(TEXT_AT + (size_t)(end - at) + RING_PRINTED_NAMES);
	size_t size = TEXT_AT, stored = second ? 4 : 8;
	memcpy(event, head, HEAD);
	memcpy(event, &id, sizeof id);
	memcpy(event + HEAD, values, sizeof values);
	for (unsigned i = 0; i < RING_PRINTED_NAMES; i++) {
		stored += lens[i] + 1;
		size_t len = stored < RING_PRINTED_STORE ? lens[i] : 0;
		uint32_t place = (uint32_t)(size | (len + 1) << 16);
		memcpy(event + NAMES_AT + 4 * i, &place, sizeof place);
		memcpy(event + size, names[i], len);
		size += len + 1;
	}
	*ret_size = size;
	return event;
}
