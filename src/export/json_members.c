/* SPDX-License-Identifier: GPL-2.0-only */
/* Members of parsed JSON objects: see json_members.h. */
#include "export/json_members.h"

#include <gio/gio.h>

static JsonObject *object_of(JsonNode *node)
{
	return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

JsonObject *json_parse_object(JsonParser *parser, const char *text, size_t n, GError **error)
{
	if (!json_parser_load_from_data(parser, text, (gssize)n, error))
		return NULL;
	JsonObject *o = object_of(json_parser_get_root(parser));
	if (!o)
		g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "not an object");
	return o;
}

const char *json_text_member(JsonObject *o, const char *key)
{
	JsonNode *node = json_object_get_member(o, key);
	return node && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node) : NULL;
}

JsonObject *json_object_member(JsonObject *o, const char *key)
{
	return object_of(json_object_get_member(o, key));
}

JsonArray *json_list_member(JsonObject *o, const char *key)
{
	JsonNode *node = json_object_get_member(o, key);
	return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

JsonObject *json_object_at(JsonArray *list, guint i)
{
	return object_of(json_array_get_element(list, i));
}
