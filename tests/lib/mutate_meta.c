/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of metadata: of its text, in packets or not; in CTF 2 of its fragments. */
#include <string.h>

#include "lib/mutate.h"

#define PACKET_HEADER 37		/* bytes, of LTTng's packets of metadata */
#define CONTENT 24			/* bits, 32 of them little endian; then those of the packet */
#define ROOM 4000			/* bytes of text in a packet */

static const uint8_t magic[] = { 0x57, 0x1d, 0xd1, 0x75 };

/* ---- packets ---- */

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return GUINT32_FROM_LE(v);
}

static void put32(uint8_t *p, uint32_t v)
{
	v = GUINT32_TO_LE(v);
	memcpy(p, &v, sizeof v);
}

static bool is_packetised(const GByteArray *bytes)
{
	return bytes->len >= PACKET_HEADER && !memcmp(bytes->data, magic, sizeof magic);
}

/* Of all packets, as far as they make sense. */
static GString *text_of(const GByteArray *bytes)
{
	GString *text = g_string_new(NULL);
	if (!is_packetised(bytes))
		return g_string_append_len(text, (const char *)bytes->data, bytes->len);
	for (guint at = 0; at + PACKET_HEADER <= bytes->len;) {
		guint content = get32(bytes->data + at + CONTENT) / 8, size = get32(bytes->data + at + CONTENT + 4) / 8;
		if (content < PACKET_HEADER || size < content || size > bytes->len - at)
			break;
		g_string_append_len(text, (const char *)bytes->data + at + PACKET_HEADER, content - PACKET_HEADER);
		at += size;
	}
	return text;
}

/* The text in the place of the old one, in packets as those were. */
static void put_text(GByteArray *bytes, const GString *text)
{
	g_autofree uint8_t *header = is_packetised(bytes) ? g_memdup2(bytes->data, PACKET_HEADER) : NULL;
	g_byte_array_set_size(bytes, 0);
	for (gsize at = 0; at < text->len;) {
		gsize n = header ? MIN(text->len - at, ROOM) : text->len;
		if (header) {
			put32(header + CONTENT, (uint32_t)(PACKET_HEADER + n) * 8);
			put32(header + CONTENT + 4, (uint32_t)(PACKET_HEADER + n) * 8);
			g_byte_array_append(bytes, header, PACKET_HEADER);
		}
		g_byte_array_append(bytes, (const guint8 *)text->str + at, (guint)n);
		at += n;
	}
}

static void change_packets(GByteArray *bytes, GRand *r)
{
	if (!is_packetised(bytes) || !mutate_pick(r, 3)) {
		g_byte_array_set_size(bytes, mutate_pick(r, bytes->len));
		return;
	}
	guint size = get32(bytes->data + CONTENT + 4) / 8;
	guint at = mutate_pick(r, 2) && size && size + PACKET_HEADER <= bytes->len ? size : 0;
	uint8_t *h = bytes->data + at;
	if (mutate_pick(r, 2))
		h[mutate_pick(r, PACKET_HEADER)] ^= (uint8_t)(1 << mutate_pick(r, 8));
	else
		put32(h + CONTENT + 4 * mutate_pick(r, 2), (uint32_t)mutate_number(r, get32(h + CONTENT)));
}

/* ---- declarations of TSDL ---- */

static void replace(GString *s, gsize at, gsize n, const char *text)
{
	g_string_erase(s, (gssize)at, (gssize)n);
	g_string_insert(s, (gssize)at, text);
}

/* Where the next declaration ends, behind its ';'. */
static gsize declaration_end(const GString *s, gsize at)
{
	int depth = 0;
	bool quoted = false;
	for (; at < s->len; at++) {
		char c = s->str[at];
		if (c == '\\' && quoted)
			at++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '}'))
			depth += c == '{' ? 1 : -1;
		else if (c == ';' && !quoted && depth <= 0)
			return at + 1;
	}
	return s->len;
}

static GArray *declarations_of(const GString *s)
{
	GArray *ends = g_array_new(FALSE, FALSE, sizeof(gsize));
	for (gsize at = 0; at < s->len;) {
		at = declaration_end(s, at);
		g_array_append_val(ends, at);
	}
	return ends;
}

/* One of them, or a run of up to eight. */
static bool any_declarations(const GString *s, GRand *r, gsize *ret_at, gsize *ret_end)
{
	g_autoptr(GArray) ends = declarations_of(s);
	if (!ends->len)
		return false;
	guint i = mutate_pick(r, ends->len), n = mutate_pick(r, 2) ? mutate_pick(r, 8) : 0;
	*ret_at = i ? g_array_index(ends, gsize, i - 1) : 0;
	*ret_end = g_array_index(ends, gsize, MIN(i + n, ends->len - 1));
	return true;
}

static void change_declarations(GString *s, const GByteArray *other, GRand *r)
{
	gsize at, end, there, there_end;
	if (!any_declarations(s, r, &at, &end))
		return;
	g_autofree char *text = g_strndup(s->str + at, end - at);
	switch (mutate_pick(r, 4)) {
	case 0:
		g_string_erase(s, (gssize)at, (gssize)(end - at));
		break;
	case 1:
		g_string_insert(s, (gssize)end, text);
		break;
	case 2:
		g_string_erase(s, (gssize)at, (gssize)(end - at));
		if (any_declarations(s, r, &there, &there_end))
			g_string_insert(s, (gssize)there, text);
		break;
	default:
		if (!other)
			return;
		g_autoptr(GString) from = text_of(other);
		if (!any_declarations(from, r, &there, &there_end))
			return;
		g_autofree char *more = g_strndup(from->str + there, there_end - there);
		replace(s, at, mutate_pick(r, 2) ? end - at : 0, more);
	}
}

/* A second class of streams, which differs in its contexts, and all events of the first one for it. */
static void clone_stream_class(GString *s, GRand *r)
{
	static const char *const contexts[] = {
		"event.context := struct {\n\t\tuint8_t _n;\n\t\tuint8_t _list[_n];\n\t};\n",
		"event.context := struct {\n\t\tinteger { size = 32; align = 8; } _tid;\n\t\tstring _procname;\n\t};\n",
		"", "",
	};
	g_autoptr(GArray) ends = declarations_of(s);
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *number = g_strdup_printf("id = %u;", 1 + mutate_pick(r, 3));
	const char *context = contexts[mutate_pick(r, G_N_ELEMENTS(contexts))];
	for (guint i = 0; i < ends->len; i++) {
		gsize at = i ? g_array_index(ends, gsize, i - 1) : 0, end = g_array_index(ends, gsize, i);
		g_autofree char *text = g_strndup(s->str + at, end - at);
		char *id = strstr(text, "stream_id = 0;"), *brace = strrchr(text, '}');
		bool is_stream = strstr(text, "\nstream {") && strstr(text, "id = 0;") && brace;
		if (is_stream)
			id = strstr(text, "id = 0;");
		else if (!id || !strstr(text, "event {"))
			continue;
		else
			id += strlen("stream_");
		g_string_append_len(out, text, id - text);
		g_string_append(out, number);
		id += strlen("id = 0;");
		if (is_stream) {
			g_string_append_len(out, id, brace - id);
			g_string_append(out, context);
			id = brace;
		}
		g_string_append(out, id);
	}
	g_string_append_len(s, out->str, (gssize)out->len);
}

/* ---- words of TSDL ---- */

struct word { gsize at, n; };

static GArray *words_of(const GString *s, bool numbers)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(struct word));
	for (gsize at = 0; at < s->len;) {
		struct word w = { at, 0 };
		while (at < s->len && (g_ascii_isalnum(s->str[at]) || s->str[at] == '_'))
			at++;
		w.n = at - w.at;
		if (w.n && g_ascii_isdigit(s->str[w.at]) == numbers)
			g_array_append_val(out, w);
		at += !w.n;
	}
	return out;
}

/* It becomes another one of the text, or (a number) any. */
static void change_word(GString *s, GRand *r)
{
	bool numbers = mutate_pick(r, 4);
	g_autoptr(GArray) words = words_of(s, numbers);
	if (!words->len)
		return;
	struct word w = g_array_index(words, struct word, mutate_pick(r, words->len));
	struct word other = g_array_index(words, struct word, mutate_pick(r, words->len));
	g_autofree char *text = g_strndup(s->str + other.at, other.n);
	if (numbers && mutate_pick(r, 3)) {
		g_autofree char *old = g_strndup(s->str + w.at, w.n);
		uint64_t v = mutate_number(r, g_ascii_strtoull(old, NULL, 0));
		g_free(text);
		text = g_strdup_printf(mutate_pick(r, 8) ? "%" G_GINT64_FORMAT : "%" G_GUINT64_FORMAT, v);
	}
	replace(s, w.at, w.n, text);
}

/* The number behind that word, of a clock most often. */
static void change_clock(GString *s, GRand *r)
{
	static const char *const words[] = {
		"offset = ", "offset_s = ", "freq = ", "absolute = ", "size = ", "align = ",
	};
	static const char *const values[] = {
		"9223372037", "7000000000000000000", "9223372036854775807", "-9223372036854775808", "1", "0", "3",
		"1000", "18446744073709551615", "4611686018", "-4611686018", "4611686017999999999",
		"0x7fffffffffffffff",
	};
	const char *word = words[mutate_pick(r, G_N_ELEMENTS(words))], *found = strstr(s->str, word);
	if (!found)
		return;
	gsize at = (gsize)(found - s->str) + strlen(word);
	replace(s, at, strcspn(s->str + at, "; /\n"), values[mutate_pick(r, G_N_ELEMENTS(values))]);
}

static void change_line(GString *s, GRand *r)
{
	gsize at = mutate_pick(r, (unsigned)s->len);
	while (at > 0 && s->str[at - 1] != '\n')
		at--;
	gsize n = strcspn(s->str + at, "\n") + 1;
	g_autofree char *text = g_strndup(s->str + at, n);
	replace(s, at, mutate_pick(r, 2) ? MIN(n, s->len - at) : 0, mutate_pick(r, 2) ? text : "");
}

static void change_tsdl(GString *s, const GByteArray *other, GRand *r)
{
	if (!s->len || strlen(s->str) != s->len)
		return;
	switch (mutate_pick(r, 10)) {
	case 0:
	case 1:
		change_declarations(s, other, r);
		break;
	case 2:
		change_line(s, r);
		break;
	case 3:
		change_clock(s, r);
		break;
	case 4:
	case 5:
		clone_stream_class(s, r);
		break;
	default:
		change_word(s, r);
	}
}

/* ---- JSON ---- */

/* As of TSDL: of each fragment of a kind that has that class, one more that has another. */
static void clone_fragments(GString *s, char **fragments, const char *kind, const char *member, unsigned id)
{
	g_autofree char *is_kind = g_strdup_printf("\"type\"\\s*:\\s*\"%s\"", kind);
	g_autofree char *pattern = g_strdup_printf("\"%s\"\\s*:\\s*0", member);
	g_autofree char *changed = g_strdup_printf("\"%s\":%u", member, id);
	g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
	for (char **f = fragments; *f; f++) {
		if (!g_regex_match_simple(is_kind, *f, G_REGEX_RAW, 0))
			continue;
		g_autofree char *text = g_regex_replace_literal(regex, *f, -1, 0, changed, 0, NULL);
		g_string_append_printf(s, "\x1e%s", text ? text : "");
	}
}

static void clone_stream_class2(GString *s, GRand *r)
{
	g_auto(GStrv) fragments = g_strsplit(s->str, "\x1e", -1);
	unsigned id = 1 + mutate_pick(r, 3);
	gsize at = s->len;
	clone_fragments(s, fragments, "data-stream-class", "id", id);
	/* Without its contexts: a member that is not known. */
	char *context = mutate_pick(r, 2) ? strstr(s->str + MIN(at, s->len), "event-record-common") : NULL;
	if (context)
		*context = 'x';
	clone_fragments(s, fragments, "event-record-class", "data-stream-class-id", id);
}

void mutate_metadata(GByteArray *bytes, const GByteArray *other, GRand *r)
{
	if (!mutate_pick(r, 10) || !bytes->len) {
		if (other && mutate_pick(r, 2))
			mutate_splice(bytes, 0, bytes->len, other->data, other->len);
		else if (bytes->len)
			change_packets(bytes, r);
		return;
	}
	g_autoptr(GString) text = text_of(bytes);
	bool is_json = text->len && text->str[0] == '\x1e';
	for (unsigned n = 1 + mutate_pick(r, 2); n > 0; n--) {
		if (!is_json)
			change_tsdl(text, other, r);
		else if (mutate_pick(r, 6))
			mutate_json(text, r);
		else
			clone_stream_class2(text, r);
	}
	put_text(bytes, text);
}
