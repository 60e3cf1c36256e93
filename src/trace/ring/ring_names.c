/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks for the texts of calls. */
#include "trace/ring/ring_names.h"

#include "base/each.h"
#include "trace/ring/ring_printed.h"
#include "trace/ring/ring_rules.h"

#include <string.h>

static const char *names_of_call(const struct ring_format *format)
{
	const char *names = NULL;
	for (uint32_t i = 0; i < format->fields->n; i++) {
		const struct ring_field *f = &format->fields->fields[i];
		enum ring_encoding encoding = ring_field_rule(format, f).encoding;
		if (encoding == RING_USER_TEXT)
			return RING_NAMES_KERNEL;
		if (encoding == RING_PROBED_TEXT && format->id < RING_PRINTED_FIRST)
			return RING_NAMES_PROBES;
		if (ring_is_path(f))
			names = RING_NAMES_NONE;
	}
	return names;
}

const char *ring_names_of(const GPtrArray *formats)
{
	const char *names = NULL;
	PTR_EACH(const struct ring_format, f, formats) {
		bool printed = !strcmp(f->system, RING_PRINTED_SYSTEM) && !strcmp(f->name, RING_PRINTED_EVENT);
		const char *of_call = printed ? RING_NAMES_BPF :
				      !strcmp(f->system, "syscalls") ? names_of_call(f) : NULL;
		if (of_call && (!names || !strcmp(names, RING_NAMES_NONE)))
			names = of_call;
	}
	return names;
}
