/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All recordings' metadata, as we and as babeltrace2 parse it: stream and event classes
 * with every field's type, clocks and environment must be the same. Both are written
 * out as text, in the terms of babeltrace2, which knows no alignment or byte order.
 */
#include <babeltrace2/babeltrace.h>
#include <string.h>

#include "lib/test_traces.h"
#include "trace/bt2/bt2_mip.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/reader.h"

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The environment and labels have no order: babeltrace2 2.1 has another one than the metadata. */
static void append_sorted(GString *out, GPtrArray *lines)
{
	g_ptr_array_sort(lines, by_text);
	for (guint i = 0; i < lines->len; i++)
		g_string_append(out, lines->pdata[i]);
}

static void add_range(GPtrArray *ranges, gint64 lo, gint64 hi)
{
	g_ptr_array_add(ranges, g_strdup_printf(" %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT, lo, hi));
}

/* ---- as we see it ---- */

static void our_type(GString *out, const struct ctf_type *t);

/* A label's ranges, which may be several, where it is first named. */
static void our_labels(GString *out, const struct ctf_type *t)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t i = 0; i < t->n_ranges; i++) {
		if (!g_hash_table_add(seen, t->range[i].label))
			continue;
		GString *label = g_string_new(NULL);
		g_string_append_printf(label, " '%s'", t->range[i].label);
		g_autoptr(GPtrArray) ranges = g_ptr_array_new_with_free_func(g_free);
		for (uint32_t j = i; j < t->n_ranges; j++)
			if (!strcmp(t->range[j].label, t->range[i].label))
				add_range(ranges, (gint64)t->range[j].lo, (gint64)t->range[j].hi);
		append_sorted(label, ranges);
		g_ptr_array_add(labels, g_string_free(label, FALSE));
	}
	append_sorted(out, labels);
}

static void our_fields(GString *out, const struct ctf_type *t)
{
	g_string_append_c(out, '{');
	for (uint32_t i = 0; i < t->n_fields; i++) {
		g_string_append_printf(out, "%s:", t->field[i].name);
		our_type(out, t->field[i].type);
		g_string_append_c(out, ';');
	}
	g_string_append_c(out, '}');
}

static void our_type(GString *out, const struct ctf_type *t)
{
	if (!t) {
		g_string_append(out, "none");
	} else if (t->kind == CTF_INTEGER || t->kind == CTF_ENUM) {
		g_string_append_printf(out, "%c%u base %u", t->is_signed ? 'i' : 'u', t->bits, t->base);
		if (t->kind == CTF_ENUM)
			our_labels(out, t);
	} else if (t->kind == CTF_FLOAT) {
		g_string_append_printf(out, "f%u", t->bits);
	} else if (t->kind == CTF_STRING || (t->kind >= CTF_ARRAY && t->is_text)) {
		g_string_append(out, "text");
	} else if (t->kind == CTF_STRUCT || t->kind == CTF_VARIANT) {
		g_string_append(out, t->kind == CTF_STRUCT ? "struct" : "variant");
		our_fields(out, t);
	} else {
		g_string_append_printf(out, "array %" G_GINT64_FORMAT " ",
				       t->kind == CTF_ARRAY ? (gint64)t->length : -1);
		our_type(out, t->element);
	}
}

static gint by_id(gconstpointer a, gconstpointer b)
{
	const struct ctf_event_class *const *x = a, *const *y = b;
	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

static char *our_text(const struct ctf_meta *m, uint64_t stream_id)
{
	GString *out = g_string_new(NULL);
	const struct ctf_stream_class *sc = ctf_meta_stream(m, stream_id);
	g_assert_nonnull(sc);
	const struct ctf_clock *c = m->clocks->pdata[0];
	g_string_append_printf(out, "clock %s %s freq %" G_GUINT64_FORMAT " offset %" G_GINT64_FORMAT
			       " %" G_GUINT64_FORMAT "\n", c->name, c->uuid, c->freq, c->offset_s,
			       c->offset);
	g_autoptr(GPtrArray) env = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < m->env->len; i++) {
		const struct ctf_env *e = &g_array_index(m->env, struct ctf_env, i);
		g_ptr_array_add(env, g_strdup_printf("env %s '%s' %" G_GINT64_FORMAT "\n", e->name,
						     e->text ? e->text : "", e->number));
	}
	append_sorted(out, env);
	g_string_append(out, "context ");
	our_type(out, sc->event_context);
	g_autoptr(GPtrArray) events = g_ptr_array_copy(sc->events, NULL, NULL);
	g_ptr_array_sort(events, by_id);
	for (guint i = 0; i < events->len; i++) {
		const struct ctf_event_class *ec = events->pdata[i];
		g_string_append_printf(out, "\nevent %" G_GUINT64_FORMAT " '%s' ", ec->id, ec->name);
		our_type(out, ec->context);
		g_string_append_c(out, ' ');
		our_type(out, ec->fields);
	}
	return g_string_free(out, FALSE);
}

/* ---- as babeltrace2 sees it ---- */

static void their_class(GString *out, const bt_field_class *fc);

static void their_unsigned_labels(GString *out, const bt_field_class *fc)
{
	g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
	for (uint64_t i = 0; i < bt_field_class_enumeration_get_mapping_count(fc); i++) {
		const bt_field_class_enumeration_unsigned_mapping *u =
			bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(fc, i);
		const bt_integer_range_set_unsigned *set =
			bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(u);
		GString *label = g_string_new(NULL);
		g_string_append_printf(label, " '%s'", bt_field_class_enumeration_mapping_get_label(
			bt_field_class_enumeration_unsigned_mapping_as_mapping_const(u)));
		g_autoptr(GPtrArray) ranges = g_ptr_array_new_with_free_func(g_free);
		uint64_t n = bt_integer_range_set_get_range_count(
			bt_integer_range_set_unsigned_as_range_set_const(set));
		for (uint64_t j = 0; j < n; j++) {
			const bt_integer_range_unsigned *r =
				bt_integer_range_set_unsigned_borrow_range_by_index_const(set, j);
			add_range(ranges, (gint64)bt_integer_range_unsigned_get_lower(r),
				  (gint64)bt_integer_range_unsigned_get_upper(r));
		}
		append_sorted(label, ranges);
		g_ptr_array_add(labels, g_string_free(label, FALSE));
	}
	append_sorted(out, labels);
}

static void their_signed_labels(GString *out, const bt_field_class *fc)
{
	g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
	for (uint64_t i = 0; i < bt_field_class_enumeration_get_mapping_count(fc); i++) {
		const bt_field_class_enumeration_signed_mapping *s =
			bt_field_class_enumeration_signed_borrow_mapping_by_index_const(fc, i);
		const bt_integer_range_set_signed *set =
			bt_field_class_enumeration_signed_mapping_borrow_ranges_const(s);
		GString *label = g_string_new(NULL);
		g_string_append_printf(label, " '%s'", bt_field_class_enumeration_mapping_get_label(
			bt_field_class_enumeration_signed_mapping_as_mapping_const(s)));
		g_autoptr(GPtrArray) ranges = g_ptr_array_new_with_free_func(g_free);
		uint64_t n = bt_integer_range_set_get_range_count(
			bt_integer_range_set_signed_as_range_set_const(set));
		for (uint64_t j = 0; j < n; j++) {
			const bt_integer_range_signed *r =
				bt_integer_range_set_signed_borrow_range_by_index_const(set, j);
			add_range(ranges, bt_integer_range_signed_get_lower(r),
				  bt_integer_range_signed_get_upper(r));
		}
		append_sorted(label, ranges);
		g_ptr_array_add(labels, g_string_free(label, FALSE));
	}
	append_sorted(out, labels);
}

static void their_struct(GString *out, const bt_field_class *fc)
{
	g_string_append(out, "struct{");
	for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(fc); i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(fc, i);
		g_string_append_printf(out, "%s:", bt_field_class_structure_member_get_name(m));
		their_class(out, bt_field_class_structure_member_borrow_field_class_const(m));
		g_string_append_c(out, ';');
	}
	g_string_append_c(out, '}');
}

static void their_variant(GString *out, const bt_field_class *fc)
{
	g_string_append(out, "variant{");
	for (uint64_t i = 0; i < bt_field_class_variant_get_option_count(fc); i++) {
		const bt_field_class_variant_option *o =
			bt_field_class_variant_borrow_option_by_index_const(fc, i);
		g_string_append_printf(out, "%s:", bt_field_class_variant_option_get_name(o));
		their_class(out, bt_field_class_variant_option_borrow_field_class_const(o));
		g_string_append_c(out, ';');
	}
	g_string_append_c(out, '}');
}

/* Bytes are an array with us. */
static void their_blob(GString *out, const bt_field_class *fc)
{
	gint64 n = -1;
#if BT2_HAS_MIP1
	if (bt_field_class_get_type(fc) == BT_FIELD_CLASS_TYPE_STATIC_BLOB)
		n = (gint64)bt_field_class_blob_static_get_length(fc);
#endif
	g_string_append_printf(out, "array %" G_GINT64_FORMAT " u8 base 16", n);
}

static void their_class(GString *out, const bt_field_class *fc)
{
	bt_field_class_type type = fc ? bt_field_class_get_type(fc) : BT_FIELD_CLASS_TYPE_STRING;
	if (!fc) {
		g_string_append(out, "none");
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER)) {
		static const int bases[] = {
			[BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_BINARY] = 2,
			[BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_OCTAL] = 8,
			[BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_DECIMAL] = 10,
			[BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL] = 16,
		};
		bool is_signed = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
		g_string_append_printf(out, "%c%u base %d", is_signed ? 'i' : 'u',
				       (unsigned)bt_field_class_integer_get_field_value_range(fc),
				       bases[bt_field_class_integer_get_preferred_display_base(fc)]);
		if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION))
			their_unsigned_labels(out, fc);
		else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION))
			their_signed_labels(out, fc);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL)) {
		g_string_append(out, type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL ? "f32" : "f64");
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		g_string_append(out, "text");
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		their_struct(out, fc);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		their_variant(out, fc);
	} else if (bt2_is_blob(fc)) {
		their_blob(out, fc);
	} else {
		g_string_append_printf(out, "array %" G_GINT64_FORMAT " ",
				       type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY
				       ? (gint64)bt_field_class_array_static_get_length(fc) : -1);
		their_class(out, bt_field_class_array_borrow_element_field_class_const(fc));
	}
}

static void their_clock(GString *out, const bt_clock_class *cc)
{
	int64_t seconds;
	uint64_t cycles;
	bt_clock_class_get_offset(cc, &seconds, &cycles);
	char uuid[BT2_UUID_TEXT];
	bt2_clock_identity(cc, uuid);
	g_string_append_printf(out, "clock %s %s freq %" G_GUINT64_FORMAT " offset %" G_GINT64_FORMAT
			       " %" G_GUINT64_FORMAT "\n", bt_clock_class_get_name(cc), uuid,
			       bt_clock_class_get_frequency(cc), seconds, cycles);
}

static void their_env(GString *out, const bt_trace *trace)
{
	g_autoptr(GPtrArray) env = g_ptr_array_new_with_free_func(g_free);
	for (uint64_t i = 0; i < bt_trace_get_environment_entry_count(trace); i++) {
		const char *name;
		const bt_value *v;
		bt_trace_borrow_environment_entry_by_index_const(trace, i, &name, &v);
		bool is_text = bt_value_is_string(v);
		g_ptr_array_add(env, g_strdup_printf("env %s '%s' %" G_GINT64_FORMAT "\n", name,
						     is_text ? bt_value_string_get(v) : "",
						     is_text ? 0 : bt_value_integer_signed_get(v)));
	}
	append_sorted(out, env);
}

static gint by_bt_id(gconstpointer a, gconstpointer b)
{
	uint64_t x = bt_event_class_get_id(*(const bt_event_class *const *)a);
	uint64_t y = bt_event_class_get_id(*(const bt_event_class *const *)b);
	return x < y ? -1 : x > y;
}

static char *their_text(const bt_stream *stream)
{
	const bt_stream_class *sc = bt_stream_borrow_class_const(stream);
	GString *out = g_string_new(NULL);
	their_clock(out, bt_stream_class_borrow_default_clock_class_const(sc));
	their_env(out, bt_stream_borrow_trace_const(stream));
	g_string_append(out, "context ");
	their_class(out, bt_stream_class_borrow_event_common_context_field_class_const(sc));
	g_autoptr(GPtrArray) events = g_ptr_array_new();
	for (uint64_t i = 0; i < bt_stream_class_get_event_class_count(sc); i++)
		g_ptr_array_add(events,
				(void *)bt_stream_class_borrow_event_class_by_index_const(sc, i));
	g_ptr_array_sort(events, by_bt_id);
	for (guint i = 0; i < events->len; i++) {
		const bt_event_class *ec = events->pdata[i];
		g_string_append_printf(out, "\nevent %" G_GUINT64_FORMAT " '%s' ",
				       bt_event_class_get_id(ec), bt_event_class_get_name(ec));
		their_class(out, bt_event_class_borrow_specific_context_field_class_const(ec));
		g_string_append_c(out, ' ');
		their_class(out, bt_event_class_borrow_payload_field_class_const(ec));
	}
	return g_string_free(out, FALSE);
}

/* ---- babeltrace2's graph: one stream's first message is enough ---- */

struct theirs {
	bt_message_iterator *iterator;
	uint64_t stream_id;
	char *text;			/* NULL: nothing was read */
};

static bt_component_class_initialize_method_status sink_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params, void *data)
{
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), data);
	return (int)bt_self_component_sink_add_input_port(self, "in", NULL, NULL);
}

static bt_component_class_sink_graph_is_configured_method_status sink_configured(
	bt_self_component_sink *self)
{
	struct theirs *t = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	return (int)bt_message_iterator_create_from_sink_component(
		self, bt_self_component_sink_borrow_input_port_by_index(self, 0), &t->iterator);
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct theirs *t = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bt_message_array_const messages;
	uint64_t n;
	bt_message_iterator_next_status status = bt_message_iterator_next(t->iterator, &messages, &n);
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (int)status;
	for (uint64_t i = 0; i < n; i++) {
		if (!t->text && bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_STREAM_BEGINNING) {
			const bt_stream *s = bt_message_stream_beginning_borrow_stream_const(messages[i]);
			t->stream_id = bt_stream_class_get_id(bt_stream_borrow_class_const(s));
			t->text = their_text(s);
		}
		bt_message_put_ref(messages[i]);
	}
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static void sink_finalize(bt_self_component_sink *self)
{
	struct theirs *t = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(t->iterator);
}

static bt_component_class_sink *make_sink(void)
{
	bt_component_class_sink *c = bt_component_class_sink_create("walk", sink_consume);
	bt_component_class_sink_set_initialize_method(c, sink_init);
	bt_component_class_sink_set_graph_is_configured_method(c, sink_configured);
	bt_component_class_sink_set_finalize_method(c, sink_finalize);
	return c;
}

static const bt_component_source *add_source(bt_graph *graph, const bt_plugin *ctf, const char *dir)
{
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs;
	bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	bt_value_array_append_string_element(inputs, dir);
	bt_graph_add_source_component(graph,
		bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs"), "source", params,
		BT_LOGGING_LEVEL_NONE, &source);
	bt_value_put_ref(params);
	return source;
}

static void read_theirs(const char *dir, bool ctf2, struct theirs *ret)
{
	const bt_plugin *ctf = NULL;
	bt_plugin_find("ctf", true, true, true, true, true, &ctf);
	g_assert_nonnull(ctf);
	bt_graph *graph = bt_graph_create(bt2_mip_for(ctf2));
	bt_component_class_sink *class = make_sink();
	const bt_component_source *source = add_source(graph, ctf, dir);
	const bt_component_sink *sink = NULL;
	if (source && bt_component_source_get_output_port_count(source)) {
		bt_graph_add_sink_component_with_initialize_method_data(graph, class, "walk", NULL, ret,
									BT_LOGGING_LEVEL_NONE, &sink);
		bt_graph_connect_ports(graph,
			bt_component_source_borrow_output_port_by_index_const(source, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
		while (!ret->text && bt_graph_run_once(graph) == BT_GRAPH_RUN_ONCE_STATUS_OK)
			;
	}
	bt_current_thread_clear_error();
	bt_graph_put_ref(graph);
	bt_component_class_sink_put_ref(class);
	bt_plugin_put_ref(ctf);
}

/* ---- both ---- */

static struct ctf_meta *parse_once(const char *bytes, gsize n, double *best)
{
	g_autoptr(GError) error = NULL;
	struct ctf_meta *m = ctf_meta_new();
	gint64 begin = g_get_monotonic_time();
	ctf_meta_append(m, bytes, n, &error);
	*best = MIN(*best, (double)(g_get_monotonic_time() - begin) / 1000);
	g_assert_no_error(error);
	return m;
}

static guint count_events(const struct ctf_meta *m)
{
	guint n = 0;
	for (guint i = 0; i < m->streams->len; i++)
		n += ((const struct ctf_stream_class *)m->streams->pdata[i])->events->len;
	return n;
}

static void assert_same_lines(const char *ours, const char *theirs)
{
	g_auto(GStrv) a = g_strsplit(ours, "\n", -1), b = g_strsplit(theirs, "\n", -1);
	for (guint i = 0; a[i] && b[i]; i++) {
		size_t same = 0;	/* lines are long: where they differ comes first */
		while (a[i][same] && a[i][same] == b[i][same])
			same++;
		if (a[i][same] != b[i][same])
			g_test_message("from character %zu on: '%.200s' and '%.200s'", same, a[i] + same,
				       b[i] + same);
		g_assert_cmpstr(a[i], ==, b[i]);
	}
	g_assert_cmpuint(g_strv_length(a), ==, g_strv_length(b));
}

/* Could babeltrace2 read it? */
static bool compare(const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL), *bytes = NULL;
	gsize n;
	g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
	double best = 1e9;
	for (int i = 0; i < 4; i++)
		ctf_meta_free(parse_once(bytes, n, &best));
	g_autoptr(blk_ctf_meta) m = parse_once(bytes, n, &best);
	struct theirs t = { 0 };
	if (!m->is_ctf2 || !bt2_ctf2_fault())
		read_theirs(dir, m->is_ctf2, &t);
	if (t.text) {
		g_autofree char *ours = our_text(m, t.stream_id);
		assert_same_lines(ours, t.text);
	}
	g_test_message("%s: %u event classes in %.2f ms, %s", dir, count_events(m), best,
		       t.text ? "same as babeltrace2's" : "babeltrace2 can't read it");
	bool known = t.text != NULL;
	g_free(t.text);
	return known;
}

/* All directories below with metadata; how many there were. */
static guint compare_below(const char *dir)
{
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL);
	if (g_file_test(metadata, G_FILE_TEST_IS_REGULAR)) {
		compare(dir);
		return 1;
	}
	guint n = 0;
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	for (const char *name; d && (name = g_dir_read_name(d));) {
		g_autofree char *below = g_build_filename(dir, name, NULL);
		if (g_file_test(below, G_FILE_TEST_IS_DIR))
			n += compare_below(below);
	}
	return n;
}

/* ---- what recordings do not have ---- */

#define INT(n) "integer { size = " #n "; }"

static const char *const made_up[] = {
	"struct { }",
	"struct { " INT(9) " a, _b, __c_length; " INT(64) " d; integer { size = 1; signed = 1; } e; }",
	"struct { integer { size = 16; base = hexadecimal; byte_order = network; } a;"
	" integer { size = 020; base = octal; } b; integer { size = 0x10; base = b; } c; }",
	"struct { string { encoding = ASCII; } a; string b; }",
	"struct { floating_point { exp_dig = 8; mant_dig = 24; align = 8; } f;"
	" floating_point { exp_dig = 11; mant_dig = 53; byte_order = be; } d; }",
	"struct { integer { size = 8; signed = 1; encoding = UTF8; } a[16], b[2][3];"
	" integer { size = 8; align = 1; encoding = UTF8; } c[4];"
	" integer { size = 16; encoding = UTF8; } d[4]; integer { size = 7; encoding = UTF8; } e[4];"
	" integer { size = 8; encoding = ASCII; } f[0]; }",
	"struct { " INT(8) " n; " INT(16) " a[n], b[n]; integer { size = 8; encoding = UTF8; } t[n]; }",
	"struct { " INT(8) " _n; struct { " INT(8) " m; string a[m]; string b[_n]; } s[2][3]; }",
	"struct { struct { " INT(8) " n; } h; " INT(8) " a[h.n]; " INT(8) " b[event.fields.h.n]; }",
	"struct { enum : " INT(8) " { A, B, C = 7, D, E = 10 ... 12, F, A = 100, } e; }",
	"struct { enum : integer { size = 8; signed = 1; } { \"a b\" = -128 ... -2, \"_c\", c = +5 } e; }",
	"struct { enum : " INT(64) " { all = 0 ... 0xffffffffffffffff } e; }",
	"struct { enum : integer { size = 64; signed = 1; base = 16; } { a = -9223372036854775808 } e; }",
	"struct { enum : " INT(8) " { \"_x\" = 0 ... 5, \"y\" = 6, \"_x\" = 7 ... 255, } _t;"
	" variant <_t> { struct { } _x; struct { " INT(8) " _p; }y; } _h; }",
	"struct { enum color : " INT(8) " { red, green } a; enum color b; }",
	"struct { typealias integer { size = 4; } := nibble; nibble a; typedef nibble pair[2];"
	" pair b; struct inner { nibble x; } c; struct inner d[2]; }",
	"struct { typealias integer { size = 64; } := unsigned long; unsigned long a; }",
	"struct { enum : " INT(8) " { a, b } t;"
	" variant opts <t> v; variant opts <t> w; }",
	"struct { enum : " INT(8) " { a, b } t; variant <t> { struct { enum : " INT(8) " { c } t;"
	" variant <t> { string c; } v; } a; variant <t> { " INT(3) " a; string b; } b; } v; }",
	"struct { " INT(8) " a[stream.event.context.len]; }",
};

/* A trace whose only packet has no event. */
static void write_trace(const char *dir)
{
	GString *text = g_string_new(
		"/* CTF 1.8 */ typealias " INT(32) " := u32; typealias " INT(64) " := u64;"
		"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; };"
		"};variant opts { string a; " INT(16) " b; };"
		"env { a = \"x \\\"y\\\" \\\\ \\n\"; b = -7; c = 0x10; };"
		"clock { name = k; freq = 1000; offset_s = -3; offset = 7; uuid ="
		" \"AA852396-23a2-4849-a854-f8ff37b4fbf0\"; };"
		"typealias integer { size = 27; align = 1; map = clock.k.value; } := u27k;"
		"typealias integer { size = 64; map = clock.k.value; } := u64k;"
		"stream { id = 5; packet.context := struct { u64k timestamp_begin; u64 content_size;"
		" u64 packet_size; };"
		" event.header := struct { enum : integer { size = 5; align = 1; }"
		" { compact = 0 ... 30, extended = 31 } id; variant <id> { struct { u27k timestamp; }"
		" compact; struct { u32 id; u27k timestamp; } extended; } v; } align(8);"
		" event.context := struct { " INT(8) " len; string s[len]; }; };");
	for (gsize i = 0; i < G_N_ELEMENTS(made_up); i++)
		g_string_append_printf(text, "event { name = \"e:%u\"; id = %u; stream_id = 5;"
				       " fields := %s; };\n", (guint)i, (guint)i, made_up[i]);
	g_string_append(text, "event { name = only.context; id = 1000; stream_id = 5; loglevel = 3;"
			" model.emf.uri = \"http://x/\"; context := struct { string c; }; };");
	static const guint32 packet[8] = { GUINT32_TO_LE(0xc1fc1fc1), GUINT32_TO_LE(5),
					   GUINT32_TO_LE(1), 0,
					   GUINT32_TO_LE(256), 0, GUINT32_TO_LE(256), 0 };
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL);
	g_autofree char *stream = g_build_filename(dir, "stream", NULL);
	g_assert_true(g_file_set_contents(metadata, text->str, (gssize)text->len, NULL));
	g_assert_true(g_file_set_contents(stream, (const char *)packet, sizeof packet, NULL));
	g_string_free(text, TRUE);
}

static void test_made_up(void)
{
	g_autofree char *dir = test_temp_dir();
	write_trace(dir);
	g_assert_true(compare(dir));
	test_remove_tree(dir);
}

static void test_recordings(gconstpointer name)
{
	g_autofree char *dir = test_trace(name);
	if (dir)
		g_assert_cmpuint(compare_below(dir), >, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ctf-meta-bt2/made-up", test_made_up);
	g_test_add_data_func("/ctf-meta-bt2/recordings", "", test_recordings);
	g_test_add_data_func("/ctf-meta-bt2/public", "public/", test_recordings);
	return g_test_run();
}
