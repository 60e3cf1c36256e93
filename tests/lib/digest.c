/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <string.h>

#include "lib/digest.h"

static void mix(struct digest *d, uint64_t v)
{
	uint64_t h = (d->hash ^ v) * UINT64_C(0x9fb21c651e98df25);
	d->hash = h ^ h >> 32;
}

static void mix_bytes(struct digest *d, const char *p, uint64_t n)
{
	mix(d, n);
	for (uint64_t v; n; p += MIN(n, 8), n -= MIN(n, 8)) {
		v = 0;
		memcpy(&v, p, MIN(n, 8));
		mix(d, v);
	}
}

static void mix_name(struct digest *d, const char *name, unsigned kind)
{
	mix(d, kind);
	if (name)
		mix_bytes(d, name, strlen(name));
	if (!d->text)
		return;
	if (d->text->len && !strchr("[{ ", d->text->str[d->text->len - 1]))
		g_string_append_c(d->text, ' ');
	if (name) {
		digest_escape(d->text, name, strlen(name));
		g_string_append_c(d->text, '=');
	}
}

void digest_escape(GString *to, const char *text, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c < ' ' || c > '~' || c == '\\' || c == '"')
			g_string_append_printf(to, "\\x%02x", c);
		else
			g_string_append_c(to, (char)c);
	}
}

void digest_begin(struct digest *d, const char *name, enum digest_kind kind, uint64_t n)
{
	static const char *const open[] = { "?", "{", "[", "<", "" };
	mix_name(d, name, 16 + kind);
	mix(d, n);
	if (d->text)
		g_string_append_printf(d->text, "%s%" PRIu64 ": ", open[kind], n);
}

void digest_end(struct digest *d)
{
	mix(d, 7);
	if (d->text)
		g_string_append(d->text, " }");
}

void digest_integer(struct digest *d, const char *name, bool is_signed, unsigned bits,
		    uint64_t value)
{
	mix_name(d, name, 1 + is_signed);
	mix(d, bits);
	mix(d, value);
	if (d->text && is_signed)
		g_string_append_printf(d->text, "%" PRId64 ":i%u", (int64_t)value, bits);
	else if (d->text)
		g_string_append_printf(d->text, "%" PRIu64 ":u%u", value, bits);
}

void digest_real(struct digest *d, const char *name, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	mix_name(d, name, 3);
	mix(d, bits);
	if (d->text)
		g_string_append_printf(d->text, "%.17g", value);
}

void digest_text(struct digest *d, const char *name, const char *text, uint64_t n)
{
	mix_name(d, name, 4);
	mix_bytes(d, text, n);
	if (!d->text)
		return;
	g_string_append_c(d->text, '"');
	digest_escape(d->text, text, n);
	g_string_append_c(d->text, '"');
}
