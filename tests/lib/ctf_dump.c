/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "lib/ctf_dump.h"
#include "lib/inspect.h"

static void dump_number(GString *out, const struct ctf_type *t)
{
	g_string_append_printf(out, "%c%u%s/%u", t->kind == CTF_FLOAT ? 'f' : t->is_signed ? 'i' : 'u',
			       t->bits, t->big_endian ? "be" : "le", t->align);
	if (t->is_text)
		g_string_append_c(out, 't');
	if (t->base && t->base != 10)
		g_string_append_printf(out, "%%%u", t->base);
	if (t->clock)
		g_string_append_printf(out, "@%s", t->clock->name);
}

static void dump_ranges(GString *out, const struct ctf_type *t)
{
	for (uint32_t i = 0; i < t->n_ranges; i++) {
		const struct ctf_range *r = &t->range[i];
		const char *format = t->is_signed ? "%s%s=%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT
						  : "%s%s=%" G_GUINT64_FORMAT "..%" G_GUINT64_FORMAT;
		g_string_append_printf(out, format, i ? " " : "", r->label, r->lo, r->hi);
	}
}

static void dump_fields(GString *out, const struct ctf_type *t)
{
	g_string_append_c(out, '{');
	for (uint32_t i = 0; i < t->n_fields; i++) {
		g_string_append_printf(out, "%s%s", i ? " " : "", t->field[i].name);
		if (t->field[i].reg)
			g_string_append_printf(out, "#%u", t->field[i].reg);
		g_string_append_c(out, ':');
		ctf_dump_type(out, t->field[i].type);
	}
	g_string_append_c(out, '}');
}

void ctf_dump_type(GString *out, const struct ctf_type *t)
{
	switch (t ? (int)t->kind : -1) {
	case -1:
		g_string_append(out, "-");
		return;
	case CTF_INTEGER:
	case CTF_FLOAT:
		dump_number(out, t);
		return;
	case CTF_ENUM:
		g_string_append(out, "enum(");
		dump_number(out, t);
		g_string_append_c(out, ' ');
		dump_ranges(out, t);
		g_string_append_c(out, ')');
		return;
	case CTF_STRING:
		g_string_append(out, "string");
		return;
	case CTF_STRUCT:
		g_string_append_printf(out, "struct/%u", t->align);
		dump_fields(out, t);
		return;
	case CTF_VARIANT:
		g_string_append_printf(out, "variant<#%u>", t->tag);
		dump_fields(out, t);
		return;
	case CTF_OPTIONAL:
		g_string_append_printf(out, "optional<#%u>", t->tag);
		dump_fields(out, t);
		return;
	case CTF_ARRAY:
		g_string_append_printf(out, "%s[%" G_GUINT64_FORMAT "]/%u(",
				       t->is_text ? "text" : "array", t->length, t->align);
		break;
	default:
		g_string_append_printf(out, "%s[#%u]/%u(", t->is_text ? "textseq" : "seq",
				       t->length_reg, t->align);
	}
	ctf_dump_type(out, t->element);
	g_string_append_c(out, ')');
}

static void dump_named(GString *out, const char *name, const struct ctf_type *t)
{
	g_string_append_printf(out, "%s ", name);
	ctf_dump_type(out, t);
	g_string_append_c(out, '\n');
}

static void dump_stream(GString *out, const struct ctf_stream_class *sc)
{
	g_string_append_printf(out, "stream %" G_GUINT64_FORMAT " regs %u\n", sc->id, sc->n_regs);
	dump_named(out, "packet.context", sc->packet_context);
	dump_named(out, "event.header", sc->event_header);
	dump_named(out, "event.context", sc->event_context);
	for (guint i = 0; i < sc->events->len; i++) {
		const struct ctf_event_class *ec = sc->events->pdata[i];
		g_assert_true(ctf_stream_event(sc, ec->id) == ec);
		g_string_append_printf(out, "event %" G_GUINT64_FORMAT " '%s'\n", ec->id, ec->name);
		dump_named(out, " context", ec->context);
		dump_named(out, " fields", ec->fields);
	}
}

char *ctf_dump(const struct ctf_meta *m)
{
	GString *out = g_string_new(NULL);
	g_string_append_printf(out, "trace %d %s uuid %d", m->has_trace, m->big_endian ? "be" : "le",
			       m->has_uuid);
	for (int i = 0; i < 16; i++)
		g_string_append_printf(out, " %02x", m->uuid[i]);
	g_string_append_c(out, '\n');
	dump_named(out, "packet.header", m->packet_header);
	for (guint i = 0; i < m->env->len; i++) {
		const struct ctf_env *e = &g_array_index(m->env, struct ctf_env, i);
		g_string_append_printf(out, "env %s '%s' %" G_GINT64_FORMAT "\n", e->name,
				       e->text ? e->text : "-", e->number);
	}
	for (guint i = 0; i < m->clocks->len; i++) {
		const struct ctf_clock *c = m->clocks->pdata[i];
		g_string_append_printf(out, "clock %s '%s' %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT
				       " %" G_GUINT64_FORMAT " %d\n", c->name, c->uuid, c->freq,
				       c->offset_s, c->offset, c->absolute);
	}
	for (guint i = 0; i < m->streams->len; i++) {
		const struct ctf_stream_class *sc = m->streams->pdata[i];
		g_assert_true(ctf_meta_stream(m, sc->id) == sc);
		dump_stream(out, sc);
	}
	return g_string_free(out, FALSE);
}

static void put32(uint8_t *to, uint32_t v, bool big_endian)
{
	v = big_endian ? GUINT32_TO_BE(v) : GUINT32_TO_LE(v);
	memcpy(to, &v, 4);
}

/* Packets end in some bytes of padding, as the tracer's do. */
GByteArray *ctf_packetise(const char *text, bool big_endian, gsize room)
{
	static const guint8 padding[5];
	GByteArray *out = g_byte_array_new();
	gsize left = strlen(text);
	do {
		gsize n = MIN(left, room);
		uint8_t h[37] = { [35] = 1, [36] = 8 };
		put32(h, 0x75d11d57, big_endian);
		memset(h + 4, 0xab, 16);
		put32(h + 24, (uint32_t)(37 + n) * 8, big_endian);
		put32(h + 28, (uint32_t)(37 + n + sizeof padding) * 8, big_endian);
		g_byte_array_append(out, h, sizeof h);
		g_byte_array_append(out, (const guint8 *)text, (guint)n);
		g_byte_array_append(out, padding, sizeof padding);
		text += n;
		left -= n;
	} while (left);
	return out;
}

/* Behind a comment or a string that begins at s; s itself when none does. */
static const char *skip_opaque(const char *s)
{
	if (s[0] == '/' && s[1] == '*')
		return strstr(s + 2, "*/") + 2;
	if (s[0] == '/' && s[1] == '/')
		return strchr(s, '\n') ? strchr(s, '\n') : s + strlen(s);
	if (*s != '"')
		return s;
	for (s++; *s != '"'; s++)
		s += *s == '\\';
	return s + 1;
}

GArray *ctf_boundaries(const char *text)
{
	GArray *ends = g_array_new(FALSE, FALSE, sizeof(gsize));
	int depth = 0;
	for (const char *s = text; *s;) {
		const char *behind = skip_opaque(s);
		if (behind != s) {
			s = behind;
			continue;
		}
		depth += (*s == '{') - (*s == '}');
		s++;
		gsize at = (gsize)(s - text);
		if (s[-1] == ';' && !depth)
			g_array_append_val(ends, at);
	}
	return ends;
}
