/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event decoder: compiled programs against the plain walker, on any bytes.
 *
 * Input: which metadata, which stream class, where events begin (odd: the bytes are a
 * whole packet, header and all; else events begin at that bit, halved), bytes. Every
 * event is read with programs for several subscription tables; they have to end where
 * the walk ends, or not fit where it does not, and hand out the values it saw.
 *
 * Metadata: those below, made up of what real traces seldom have, then recorded ones; or, behind
 * a first byte of 255, the input's own in CTF 2, up to a zero.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzzer.h"
#include "base/limits.h"
#include "lib/inspect.h"
#include "lib/wide_table.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_program.h"
#include "trace/ctf/ctf_walk.h"
#include "trace/ctf/layouts.h"

#define MAX_TABLES 4
#define MAX_EVENTS 200			/* of one input */
#define MAX_METAS 16

static const char *const made_up[] = {
	/* little endian, compact, all kinds of fields, odd sizes and alignments */
	"/* CTF 1.8 */\n"
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
	"typealias integer { size = 27; align = 1; signed = false; } := uint27_t;\n"
	"trace { major = 1; minor = 8; byte_order = le; };\n"
	"clock { name = \"c\"; freq = 1000000000; };\n"
	"typealias integer { size = 27; align = 1; signed = false; map = clock.c.value; } := uint27_c;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := uint64_c;\n"
	"struct h { enum : uint5_t { compact = 0 ... 30, extended = 31 } id; variant <id> {\n"
	" struct { uint27_c timestamp; } compact;\n"
	" struct { integer { size = 32; align = 8; } id; uint64_c timestamp; } extended; } v; } align(8);\n"
	"stream { id = 0; event.header := struct h; event.context := struct {\n"
	" integer { size = 32; align = 8; signed = true; } _tid;\n"
	" integer { size = 8; align = 8; encoding = UTF8; } _procname[5]; }; };\n"
	"event { name = \"odd\"; id = 0; stream_id = 0; fields := struct {\n"
	" integer { size = 3; align = 1; } a; integer { size = 13; align = 1; signed = true; } b;\n"
	" integer { size = 12; align = 4; byte_order = be; } c; integer { size = 64; align = 1; } d;\n"
	" integer { size = 17; align = 32; signed = true; } e; }; };\n"
	"event { name = \"seq\"; id = 1; stream_id = 0; fields := struct {\n"
	" integer { size = 8; align = 8; } n; integer { size = 4; align = 4; } x[n];\n"
	" integer { size = 16; align = 16; byte_order = be; signed = true; } y[n];\n"
	" integer { size = 8; align = 8; encoding = ASCII; } text[n]; string s;\n"
	" integer { size = 24; align = 8; } gaps[3]; }; };\n"
	"event { name = \"deep\"; id = 2; stream_id = 0; fields := struct {\n"
	" integer { size = 8; align = 8; } n;\n"
	" struct { integer { size = 5; align = 1; } p; string q; integer { size = 3; } r; } align(16) inner[n];\n"
	" struct { } align(32) nothing; integer { size = 9; align = 1; } after; }; };\n"
	"event { name = \"choice\"; id = 3; stream_id = 0; fields := struct {\n"
	" enum : integer { size = 8; align = 8; signed = true; } { one = -128 ... -1, two, three = 5 ... 100, one = 101 } tag;\n"
	" variant <tag> { string one; integer { size = 64; align = 64; } two;\n"
	"  struct { integer { size = 8; align = 8; } m; integer { size = 16; align = 8; } z[m]; } three; } v;\n"
	" floating_point { exp_dig = 8; mant_dig = 24; align = 32; } f; integer { size = 1; } last; }; };\n"
	"event { name = \"none\"; id = 4; stream_id = 0; fields := struct { }; };\n"
	"event { name = \"far\"; id = 70000; stream_id = 0; context := struct { string _procname; };\n"
	" fields := struct { integer { size = 8; align = 8; } _a[4]; }; };\n",
	/* big endian, large headers, aligned as on ARM */
	"/* CTF 1.8 */\n"
	"trace { major = 1; minor = 8; byte_order = be; };\n"
	"clock { name = \"c\"; freq = 1000000; };\n"
	"typealias integer { size = 16; align = 16; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 32; signed = false; map = clock.c.value; } := uint32_c;\n"
	"typealias integer { size = 64; align = 64; signed = false; map = clock.c.value; } := uint64_c;\n"
	"struct h { enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id; variant <id> {\n"
	" struct { uint32_c timestamp; } compact;\n"
	" struct { integer { size = 32; align = 32; } id; uint64_c timestamp; } extended; } v; } align(16);\n"
	"stream { id = 0; event.header := struct h; };\n"
	"event { name = \"a\"; id = 0; stream_id = 0; fields := struct {\n"
	" integer { size = 64; align = 64; } w; integer { size = 8; align = 8; } n;\n"
	" integer { size = 32; align = 32; signed = true; } x[n]; integer { size = 64; align = 64; } end; }; };\n"
	"event { name = \"b\"; id = 1; stream_id = 0; context := struct {\n"
	" integer { size = 32; align = 32; signed = true; } _vtid; string _procname; };\n"
	" fields := struct { string s; integer { size = 16; align = 16; byte_order = le; } le;\n"
	" integer { size = 3; align = 1; } b1; integer { size = 5; align = 1; signed = true; } b2;\n"
	" integer { size = 31; align = 1; } b3; floating_point { exp_dig = 8; mant_dig = 24; align = 1; } b4;\n"
	" integer { size = 8; align = 8; } n; floating_point { exp_dig = 11; mant_dig = 53; align = 8;\n"
	" byte_order = le; } r[n]; }; };\n",
};

static const char *const recorded[] = {
	"kernel-small/trace/kernel", "kernel-ust/trace/ust/uid/0/64-bit",
	"ust-fields/trace/uid/ust/uid/47113/64-bit", "ctf2/lost/trace/kernel",
	"ctf2/ust-both/ctf-2/ust/uid/0/64-bit",
};

struct table {
	struct wide_table wide;
	struct blk_matcher *matcher;
	GPtrArray *decoders;
};

struct one_meta {
	struct ctf_meta *meta;
	struct table table[1 + MAX_TABLES];
	unsigned n_tables;
	uint64_t *regs, *walk_regs;
};

static struct one_meta metas[MAX_METAS];
static unsigned n_metas;
static GHashTable *layouts;

/* ---- metadata ---- */

static uint32_t number(void *data, const char *name, uint16_t row, const char *counters)
{
	return 0;
}

static void meta_clear(struct one_meta *o)
{
	for (unsigned i = 0; i < o->n_tables; i++) {
		g_ptr_array_unref(o->table[i].decoders);
		blk_matcher_free(o->table[i].matcher);
		wide_table_clear(&o->table[i].wide);
	}
	ctf_meta_free(o->meta);
	g_free(o->regs);
	g_free(o->walk_regs);
	*o = (struct one_meta){ 0 };
}

/* Metadata that is read is compiled, too. */
static bool meta_init(struct one_meta *o, const char *bytes, size_t n, GError **error)
{
	o->meta = ctf_meta_new();
	if (!ctf_meta_append(o->meta, bytes, n, error)) {
		meta_clear(o);
		return false;
	}
	struct wide_names *names = wide_names_new();
	bool ok = true;
	wide_names_add(names, o->meta);
	o->n_tables = 1 + wide_names_tables(names, MAX_TABLES);
	for (unsigned i = 0; i < o->n_tables; i++) {
		struct table *t = &o->table[i];
		wide_table_init(&t->wide, names, i - (i > 0));
		t->matcher = blk_matcher_new(t->wide.rows, i ? t->wide.n_rows : 0);
		t->decoders = g_ptr_array_new_with_free_func((GDestroyNotify)ctf_decoder_free);
		for (guint j = 0; ok && j < o->meta->streams->len; j++) {
			struct ctf_decoder *d = ctf_decoder_new(o->meta->streams->pdata[j],
								t->wide.rows, t->matcher, layouts,
								number, NULL, error);
			ok = d != NULL;
			if (d)
				g_ptr_array_add(t->decoders, d);
		}
	}
	unsigned most = o->meta->packet_regs;
	for (guint j = 0; j < o->meta->streams->len; j++)
		most = MAX(most, ((struct ctf_stream_class *)o->meta->streams->pdata[j])->n_regs);
	o->regs = g_new0(uint64_t, most + 1);
	o->walk_regs = g_new0(uint64_t, most + 1);
	wide_names_free(names);
	if (!ok)
		meta_clear(o);
	return ok;
}

static void add_meta(const char *bytes, size_t n)
{
	g_autoptr(GError) error = NULL;
	if (!meta_init(&metas[n_metas++], bytes, n, &error))
		g_error("metadata %u: %s", n_metas - 1, error->message);
}

/* What they hold is found from memory pools, which leak checkers do not look into. */
static void clear_all(void)
{
	while (n_metas)
		meta_clear(&metas[--n_metas]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	atexit(clear_all);
	g_autofree char *here = g_path_get_dirname(__FILE__);
	layouts = layouts_new();
	for (size_t i = 0; i < G_N_ELEMENTS(made_up); i++)
		add_meta(made_up[i], strlen(made_up[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(recorded); i++) {
		g_autofree char *file = g_build_filename(here, "..", "traces", recorded[i],
							 "metadata", NULL);
		g_autofree char *bytes = NULL;
		gsize n;
		if (g_file_get_contents(file, &bytes, &n, NULL))
			add_meta(bytes, n);
	}
	return 0;
}

/* ---- what the walk sees, by path ---- */

struct read_value {
	bool is_int, is_bytes, is_real;
	uint64_t v;
	GByteArray *bytes;
};

/* Where in the event the walk is: a level for each structure, array, variant. */
struct level {
	size_t path_len;
	uint64_t element;
	bool is_array;
	struct read_value *bytes;		/* of an array of integers */
};

struct seen {
	GHashTable *values;		/* path -> struct read_value * */
	GString *path;
	struct level level[2 * LIMIT_TYPE_DEPTH];
	unsigned depth;
};

static void free_value(void *p)
{
	struct read_value *v = p;
	if (v->bytes)
		g_byte_array_unref(v->bytes);
	g_free(v);
}

static struct read_value *keep(struct seen *s, bool is_int, bool is_bytes, uint64_t v)
{
	struct read_value *value = g_new0(struct read_value, 1);
	*value = (struct read_value){ .is_int = is_int, .is_bytes = is_bytes, .v = v };
	if (!is_int)
		value->bytes = g_byte_array_new();
	/* of equal names the first counts */
	if (g_hash_table_contains(s->values, s->path->str))
		g_hash_table_insert(s->values, g_strdup_printf("%s again %u", s->path->str,
							       g_hash_table_size(s->values)), value);
	else
		g_hash_table_insert(s->values, g_strdup(s->path->str), value);
	return value;
}

/* Adds this field to the path; returns the path's length before. */
static size_t enter(struct seen *s, const char *name)
{
	size_t before = s->path->len;
	struct level *l = s->depth ? &s->level[s->depth - 1] : NULL;
	if (l && l->is_array)
		g_string_append_printf(s->path, "[%" G_GUINT64_FORMAT "]", l->element++);
	else if (name)
		g_string_append_printf(s->path, "%s%s", before ? "." : "", name);
	return before;
}

static void on_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct seen *s = data;
	struct level *l = s->depth ? &s->level[s->depth - 1] : NULL;
	if (l && l->is_array && l->bytes) {
		uint64_t le = GUINT64_TO_LE(value);
		unsigned width = t->is_var ? 8 : t->bits <= 8 ? 1 : t->bits <= 16 ? 2 : t->bits <= 32 ? 4 : 8;
		g_byte_array_append(l->bytes->bytes, (uint8_t *)&le, width);
	}
	if (l && l->is_array && l->element > 2) {	/* tables ask for two */
		l->element++;
		return;
	}
	size_t before = enter(s, name);
	keep(s, true, false, value);
	g_string_truncate(s->path, before);
}

/* The bits of a number, as a double; of a NaN only that it is one. */
static uint64_t real_bits(double d)
{
	uint64_t bits = UINT64_MAX;
	if (d == d)
		memcpy(&bits, &d, sizeof bits);
	return bits;
}

static void on_real(void *data, const char *name, const struct ctf_type *t, double value)
{
	struct seen *s = data;
	struct level *l = s->depth ? &s->level[s->depth - 1] : NULL;
	if (l && l->is_array && l->element > 2) {
		l->element++;
		return;
	}
	size_t before = enter(s, name);
	keep(s, true, false, real_bits(value))->is_real = true;
	g_string_truncate(s->path, before);
}

static void on_text(void *data, const char *name, const struct ctf_type *t, const char *bytes,
		    uint64_t n)
{
	struct seen *s = data;
	size_t before = enter(s, name);
	g_autoptr(GString) utf8 = g_string_new(NULL);
	if (t->encoding == CTF_UTF8)
		g_string_append_len(utf8, bytes, (gssize)strnlen(bytes, n));
	else
		ctf_text_utf8(t, bytes, n, utf8);
	g_byte_array_append(keep(s, false, false, 0)->bytes, (const uint8_t *)utf8->str, (guint)utf8->len);
	g_string_truncate(s->path, before);
}

static void on_begin(void *data, const char *name, const struct ctf_type *t, uint64_t n)
{
	struct seen *s = data;
	size_t before = enter(s, name);
	struct level *l = &s->level[s->depth++];
	*l = (struct level){ .path_len = before };
	l->is_array = t->kind == CTF_ARRAY || t->kind == CTF_SEQUENCE;
	if (l->is_array && (t->element->kind == CTF_INTEGER || t->element->kind == CTF_ENUM))
		l->bytes = keep(s, false, true, 0);
}

static void on_end(void *data, const char *name, const struct ctf_type *t)
{
	struct seen *s = data;
	g_string_truncate(s->path, s->level[--s->depth].path_len);
}

static const struct ctf_visitor visitor = {
	.integer = on_integer, .real = on_real, .text = on_text, .begin = on_begin, .end = on_end,
};

/* ---- one event ---- */

struct event {
	const struct ctf_event_class *ec;
	uint64_t id, clock, fields, end;
	bool fits;
	struct seen payload, common, context;
};

static void see(struct seen *s)
{
	if (!s->values) {
		s->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_value);
		s->path = g_string_new(NULL);
	}
	g_hash_table_remove_all(s->values);
	g_string_truncate(s->path, 0);
	s->depth = 0;
}

struct header_values {
	uint64_t id, clock;
	bool by_roles;			/* CTF 2; else by names */
};

static void on_header(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct header_values *h = data;
	bool is_time = h->by_roles ? t->roles & CTF_ROLE_TIMESTAMP : t->clock != NULL;
	bool is_id = h->by_roles ? t->roles & CTF_ROLE_EVENT_CLASS : name && !strcmp(name, "id");
	if (is_time && bits < 64) {
		uint64_t step = UINT64_C(1) << bits, old = h->clock % step;
		h->clock = h->clock - old + value + (value < old ? step : 0);
	} else if (is_time) {
		h->clock = value;
	} else if (is_id) {
		h->id = value;
	}
}

static bool walk(const struct one_meta *o, const struct ctf_type *t, const uint8_t *base,
		 uint64_t *pos, uint64_t end, struct seen *s)
{
	see(s);
	return !t || ctf_walk(t, base, pos, end, o->walk_regs, &visitor, s);
}

/* False: not even a header of a known class. */
static bool walk_event(const struct one_meta *o, const struct ctf_stream_class *sc,
		       const uint8_t *base, uint64_t pos, uint64_t end, uint64_t clock,
		       struct event *e)
{
	static const struct ctf_visitor header = { .integer = on_header };
	struct header_values h = { 0, clock, o->meta->is_ctf2 };
	if (sc->event_header && !ctf_walk(sc->event_header, base, &pos, end, o->walk_regs, &header, &h))
		return false;
	e->id = h.id;
	e->clock = h.clock;
	e->fields = pos;
	e->ec = ctf_stream_event(sc, h.id);
	if (!e->ec)
		return true;
	e->fits = walk(o, sc->event_context, base, &pos, end, &e->common) &&
		  walk(o, e->ec->context, base, &pos, end, &e->context) &&
		  walk(o, e->ec->fields, base, &pos, end, &e->payload);
	e->end = pos;
	return true;
}

/* ---- values ---- */

static const struct read_value *expected(const struct event *e, const struct blk_subscription *row,
				    unsigned slot)
{
	static const char *const contexts[] = {
		"tid", "pid", "ppid", "procname", "vpid", "vtid", "hostname", "pid_ns", "cgroup_ns",
		"uts_ns",
	};
	if (slot >= BLK_FIELD0)
		return g_hash_table_lookup(e->payload.values, row->fields[slot - BLK_FIELD0]);
	if (slot >= BLK_CTX_COUNTER0)	/* no row of these tables asks for them */
		return NULL;
	const struct read_value *v = g_hash_table_lookup(e->context.values, contexts[slot]);
	return v ? v : g_hash_table_lookup(e->common.values, contexts[slot]);
}

static void check_slot(const struct event *e, const struct blk_subscription *row,
		       const struct blk_event *got, unsigned slot)
{
	if (slot >= BLK_FIELD0 && !row->fields[slot - BLK_FIELD0])
		return;
	const struct read_value *v = expected(e, row, slot);
	const char *path = slot >= BLK_FIELD0 ? row->fields[slot - BLK_FIELD0] : "(context)";
	if (!v != !blk_has(got, slot))
		g_error("%s, slot %u %s: %s", row->event, slot, path, v ? "not there" : "there");
	if (!v)
		return;
	if (v->is_real) {
		if (real_bits(blk_real(got, slot)) != v->v)
			g_error("%s, slot %u %s: another number than walked", row->event, slot, path);
		return;
	}
	if (v->is_int) {
		if ((uint64_t)blk_int(got, slot) != v->v)
			g_error("%s, slot %u %s: %" G_GINT64_FORMAT ", walked %" G_GINT64_FORMAT,
				row->event, slot, path, blk_int(got, slot), (int64_t)v->v);
		return;
	}
	struct blk_text t = blk_text(got, slot);
	size_t len = v->bytes->len;
	if (slot == BLK_CTX_PROCNAME && len)
		len = strnlen((const char *)v->bytes->data, len);
	if (t.len != len || (len && memcmp(t.str, v->bytes->data, len)))
		g_error("%s, slot %u %s: %u bytes, walked %zu", row->event, slot, path, t.len, len);
}

static void check_values(const struct table *t, const struct ctf_class *c, const struct event *e,
			 const uint8_t *body, struct ctf_run *run)
{
	struct blk_layout layout = *c->layout;
	struct blk_event got = { .data = c->copies ? run->row : body, .layout = &layout };
	for (unsigned i = 0; c->copies && i < BLK_MAX_SLOTS; i++)
		if (!(run->present & 1u << i))
			layout.slot[i] = (struct blk_slot_layout){ 0 };
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++)
		check_slot(e, &t->wide.rows[c->row], &got, i);
}

static void check_table(const struct one_meta *o, const struct table *t, unsigned stream,
			const uint8_t *base, uint64_t begin, uint64_t end, uint64_t clock,
			const struct event *e, bool has_header)
{
	static struct arena arena;
	const struct ctf_decoder *d = t->decoders->pdata[stream];
	uint64_t pos = begin, id = 0;
	bool read = ctf_header_read(&d->header, base, &pos, end, &clock, &id, o->regs);
	if (read != has_header)
		g_error("event header: %s", read ? "fits" : "does not fit");
	if (!read)
		return;
	if (id != e->id || clock != e->clock || pos != e->fields)
		g_error("event header: id %" G_GUINT64_FORMAT " at %" G_GUINT64_FORMAT ", walked %"
			G_GUINT64_FORMAT " at %" G_GUINT64_FORMAT, id, pos, e->id, e->fields);
	const struct ctf_class *c = ctf_decoder_class(d, id);
	if ((c ? c->ec : NULL) != e->ec)
		g_error("another class");
	if (!c)
		return;
	arena_reset(&arena);
	struct ctf_run run = { .regs = o->regs, .arena = &arena, .row = arena_alloc(&arena, c->row_bytes) };
	uint64_t after = c->n_steps ? ctf_class_run(c, base, pos, end, &run) : pos + c->bits;
	bool fits = after <= end;
	if (fits != e->fits || (fits && after != e->end))
		g_error("%s: ends at %" G_GUINT64_FORMAT " (fits: %d), walked %" G_GUINT64_FORMAT
			" (fits: %d)", e->ec->name, after, fits, e->end, e->fits);
	if (fits && c->row != G_MAXUINT16)
		check_values(t, c, e, base + (pos >> 3), &run);
}

/* ---- one input ---- */

/* Where the events of a whole packet begin; the end when its header does not fit. */
static uint64_t skip_packet_header(const struct one_meta *o, const struct ctf_stream_class *sc,
				   const uint8_t *base, uint64_t end)
{
	uint64_t pos = 0;
	if ((o->meta->packet_header &&
	     !ctf_walk(o->meta->packet_header, base, &pos, end, o->walk_regs, NULL, NULL)) ||
	    (sc->packet_context &&
	     !ctf_walk(sc->packet_context, base, &pos, end, o->walk_regs, NULL, NULL)))
		return end;
	return pos;
}

static void read_events(struct one_meta *o, const uint8_t *data, size_t size)
{
	static struct event e;
	unsigned stream = data[1] % o->meta->streams->len;
	const struct ctf_stream_class *sc = o->meta->streams->pdata[stream];
	/* a copy of its own, so that a byte behind it is a finding */
	g_autofree uint8_t *base = g_memdup2(data + 3, size - 3);
	uint64_t end = (size - 3) * 8, clock = 0;
	uint64_t pos = data[2] & 1 ? skip_packet_header(o, sc, base, end) : MIN(data[2] / 2, end);
	memcpy(o->regs, o->walk_regs, (sc->n_regs + 1) * sizeof *o->regs);
	for (unsigned i = 0; i < MAX_EVENTS && pos < end; i++) {
		e.fits = false;
		e.ec = NULL;
		bool has_header = walk_event(o, sc, base, pos, end, clock, &e);
		for (unsigned t = 0; t < o->n_tables; t++)
			check_table(o, &o->table[t], stream, base, pos, end, clock, &e, has_header);
		if (!has_header || !e.fits || e.end == pos)
			break;
		pos = e.end;
		clock = e.clock;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	if (data[0] != 255) {
		read_events(&metas[data[0] % n_metas], data, size);
		return 0;
	}
	struct one_meta o = { 0 };
	const uint8_t *end = memchr(data + 1, 0, size - 1);
	if (!end || size - (size_t)(end - data) < 4 || !meta_init(&o, (const char *)data + 1, (size_t)(end - data) - 1, NULL))
		return 0;
	if (o.meta->streams->len)
		read_events(&o, end, size - (size_t)(end - data));
	meta_clear(&o);
	return 0;
}
