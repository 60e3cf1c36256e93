/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "lib/events_bt2.h"
#include "trace/bt2/bt2_mip.h"

/* -- fields --------------------------------------------------------------- */

static void digest_field(struct digest *d, const char *name, const bt_field *f);

static bool is(bt_field_class_type type, bt_field_class_type kind)
{
	return bt_field_class_type_is(type, kind);
}

static void digest_members(struct digest *d, const char *name, const bt_field *f)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t n = bt_field_class_structure_get_member_count(fc);
	digest_begin(d, name, DIGEST_STRUCT, n);
	for (uint64_t i = 0; i < n; i++)
		digest_field(d, bt_field_class_structure_member_get_name(
				     bt_field_class_structure_borrow_member_by_index_const(fc, i)),
			     bt_field_structure_borrow_member_field_by_index_const(f, i));
	digest_end(d);
}

static void digest_elements(struct digest *d, const char *name, const bt_field *f)
{
	uint64_t n = bt_field_array_get_length(f);
	digest_begin(d, name, DIGEST_ARRAY, n);
	for (uint64_t i = 0; i < n; i++)
		digest_field(d, NULL, bt_field_array_borrow_element_field_by_index_const(f, i));
	digest_end(d);
}

static void digest_option(struct digest *d, const char *name, const bt_field *f)
{
	uint64_t i = bt_field_variant_get_selected_option_index(f);
	digest_begin(d, name, DIGEST_VARIANT, i);
	digest_field(d, bt_field_class_variant_option_get_name(
			     bt_field_variant_borrow_selected_option_class_const(f)),
		     bt_field_variant_borrow_selected_option_field_const(f));
	digest_end(d);
}

static void digest_blob(struct digest *d, const char *name, const bt_field *f)
{
	uint64_t n;
	const uint8_t *bytes = bt2_blob(f, &n);
	digest_begin(d, name, DIGEST_ARRAY, n);
	for (uint64_t i = 0; i < n; i++)
		digest_integer(d, NULL, false, 8, bytes[i]);
	digest_end(d);
}

/* Numbers that have no number's class, and what is there or not: false: f is something else. */
static bool digest_other(struct digest *d, const char *name, const bt_field *f)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	bt_field_class_type type = bt_field_get_class_type(f);
	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		digest_integer(d, name, false, 1, bt_field_bool_get_value(f) != 0);
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		digest_integer(d, name, false, (unsigned)bt_field_class_bit_array_get_length(fc),
			       bt_field_bit_array_get_value_as_integer(f));
	} else if (is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		const bt_field *there = bt_field_option_borrow_field_const(f);
		if (there)
			digest_field(d, name, there);
	} else if (bt2_is_blob(fc)) {
		digest_blob(d, name, f);
	} else {
		return false;
	}
	return true;
}

static void digest_field(struct digest *d, const char *name, const bt_field *f)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	bt_field_class_type type = bt_field_get_class_type(f);
	if (is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		digest_integer(d, name, false, bt_field_class_integer_get_field_value_range(fc),
			       bt_field_integer_unsigned_get_value(f));
	else if (is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		digest_integer(d, name, true, bt_field_class_integer_get_field_value_range(fc),
			       (uint64_t)bt_field_integer_signed_get_value(f));
	else if (is(type, BT_FIELD_CLASS_TYPE_STRING))
		/* The length first: behind an empty string 2.0.4 leaves an older text. */
		digest_text(d, name, bt_field_string_get_value(f), bt_field_string_get_length(f));
	else if (is(type, BT_FIELD_CLASS_TYPE_STRUCTURE))
		digest_members(d, name, f);
	else if (is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		digest_elements(d, name, f);
	else if (is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		digest_option(d, name, f);
	else if (is(type, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
		digest_real(d, name, (double)bt_field_real_single_precision_get_value(f));
	else if (is(type, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL))
		digest_real(d, name, bt_field_real_double_precision_get_value(f));
	else if (!digest_other(d, name, f))
		digest_begin(d, name, DIGEST_SCOPE, (uint64_t)type);
}

/* No structure, and one without members, are the same. */
static void digest_root(struct digest *d, const char *scope, const bt_field *f)
{
	bool any = f && bt_field_class_structure_get_member_count(bt_field_borrow_class_const(f));
	digest_begin(d, scope, DIGEST_SCOPE, any);
	if (any)
		digest_field(d, NULL, f);
}

void events_bt2_digest(const bt_event *event, struct digest *d)
{
	digest_root(d, "common", bt_event_borrow_common_context_field_const(event));
	digest_root(d, "context", bt_event_borrow_specific_context_field_const(event));
	digest_root(d, "payload", bt_event_borrow_payload_field_const(event));
}

/* -- a sink that has each stream at a port of its own ------------------------ */

struct reader {
	const struct events_bt2_visitor *v;
	void *data;
	GPtrArray *iterators;
	uint64_t n_ports;
	guint next;			/* whose turn it is */
};

char *events_bt2_reason(void)
{
	const bt_error *e = bt_current_thread_take_error();
	if (!e)
		return g_strdup("no reason given");
	/* the innermost cause is the first */
	char *text = g_strdup(bt_error_cause_get_message(bt_error_borrow_cause_by_index(e, 0)));
	bt_error_release(e);
	g_strdelimit(text, "\n", ' ');
	return text;
}

static uint32_t packet_cpu(const bt_event *event)
{
	const bt_field *f = NULL;
	if (bt_stream_class_supports_packets(bt_stream_borrow_class_const(
		    bt_event_borrow_stream_const(event))))
		f = bt_packet_borrow_context_field_const(bt_event_borrow_packet_const(event));
	if (f)
		f = bt_field_structure_borrow_member_field_by_name_const(f, "cpu_id");
	return f ? (uint32_t)bt_field_integer_unsigned_get_value(f) : UINT32_MAX;
}

static void visit_message(struct reader *r, const bt_message *msg)
{
	switch (bt_message_get_type(msg)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		r->v->stream(r->data, bt_message_stream_beginning_borrow_stream_const(msg));
		break;
	case BT_MESSAGE_TYPE_EVENT: {
		const bt_event *event = bt_message_event_borrow_event_const(msg);
		const bt_stream_class *sc =
			bt_stream_borrow_class_const(bt_event_borrow_stream_const(event));
		uint64_t cycles = 0;
		if (bt_stream_class_borrow_default_clock_class_const(sc))
			cycles = bt_clock_snapshot_get_value(
				bt_message_event_borrow_default_clock_snapshot_const(msg));
		r->v->event(r->data, event, cycles, packet_cpu(event));
		break;
	}
	default:
		break;
	}
}

static void visit_stream(struct reader *r, bt_message_iterator *it)
{
	for (;;) {
		bt_message_array_const msgs;
		uint64_t n = 0;
		bt_message_iterator_next_status st = bt_message_iterator_next(it, &msgs, &n);
		if (st != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
			g_autofree char *fault =
				st == BT_MESSAGE_ITERATOR_NEXT_STATUS_END ? NULL : events_bt2_reason();
			r->v->stream_end(r->data, fault);
			return;
		}
		for (uint64_t i = 0; i < n; i++) {
			visit_message(r, msgs[i]);
			bt_message_put_ref(msgs[i]);
		}
	}
}

static struct reader *reader_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	struct reader *r = reader_of(self);
	if (r->next == r->iterators->len)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	visit_stream(r, r->iterators->pdata[r->next++]);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *config,
	   const bt_value *params, void *data)
{
	struct reader *r = data;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), r);
	for (uint64_t i = 0; i < r->n_ports; i++) {
		g_autofree char *name = g_strdup_printf("in%" G_GUINT64_FORMAT, i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
configured(bt_self_component_sink *self)
{
	struct reader *r = reader_of(self);
	for (uint64_t i = 0; i < r->n_ports; i++) {
		bt_message_iterator *it;
		if (bt_message_iterator_create_from_sink_component(
			    self, bt_self_component_sink_borrow_input_port_by_index(self, i), &it) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
		g_ptr_array_add(r->iterators, it);
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static const bt_component_source *add_fs(bt_graph *graph, const bt_plugin *ctf, const char *dir)
{
	const bt_component_source *fs = NULL;
	bt_value *params = bt_value_map_create(), *inputs = bt_value_array_create();
	bt_value_array_append_string_element(inputs, dir);
	bt_value_map_insert_entry(params, "inputs", inputs);
	if (bt_graph_add_source_component(
		    graph, bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs"), "fs",
		    params, BT_LOGGING_LEVEL_NONE, &fs) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		fs = NULL;
	bt_value_put_ref(inputs);
	bt_value_put_ref(params);
	return fs;
}

static bool is_ctf2(const char *dir)
{
	g_autofree char *file = g_build_filename(dir, "metadata", NULL), *bytes = NULL;
	return g_file_get_contents(file, &bytes, NULL, NULL) && bytes[0] == 0x1e;
}

static bool connect_all(bt_graph *graph, const bt_component_source *fs, struct reader *r)
{
	const bt_component_sink *sink = NULL;
	bt_component_class_sink *cls = bt_component_class_sink_create("check", consume);
	bt_component_class_sink_set_initialize_method(cls, initialize);
	bt_component_class_sink_set_graph_is_configured_method(cls, configured);
	r->n_ports = bt_component_source_get_output_port_count(fs);
	bool ok = bt_graph_add_sink_component_with_initialize_method_data(
			  graph, cls, "check", NULL, r, BT_LOGGING_LEVEL_NONE, &sink) ==
		  BT_GRAPH_ADD_COMPONENT_STATUS_OK;
	for (uint64_t i = 0; ok && i < r->n_ports; i++)
		ok = bt_graph_connect_ports(
			     graph, bt_component_source_borrow_output_port_by_index_const(fs, i),
			     bt_component_sink_borrow_input_port_by_index_const(sink, i), NULL) ==
		     BT_GRAPH_CONNECT_PORTS_STATUS_OK;
	bt_component_class_sink_put_ref(cls);
	return ok;
}

bool events_bt2_read(const char *dir, const struct events_bt2_visitor *v, void *data,
		     char **reason)
{
	struct reader r = {
		.v = v, .data = data,
		.iterators = g_ptr_array_new_with_free_func(
			(GDestroyNotify)bt_message_iterator_put_ref),
	};
	const bt_plugin *ctf = NULL;
	bool ctf2 = is_ctf2(dir);
	if (ctf2 && bt2_ctf2_fault()) {
		*reason = g_strdup(bt2_ctf2_fault());
		return false;
	}
	bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &ctf);
	bt_graph *graph = bt_graph_create(bt2_mip_for(ctf2));
	const bt_component_source *fs = ctf ? add_fs(graph, ctf, dir) : NULL;
	bool ok = fs && connect_all(graph, fs, &r);
	/* A source without streams makes no graph that can run. */
	if (ok && r.n_ports)
		ok = bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;
	if (!ok)
		*reason = events_bt2_reason();
	g_ptr_array_unref(r.iterators);
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	return ok;
}
