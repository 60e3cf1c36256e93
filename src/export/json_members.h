/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsed JSON objects and their members, by type. NULL: there is none of that type. Private to src/export/. */
#ifndef BLK_EXPORT_JSON_MEMBERS_H
#define BLK_EXPORT_JSON_MEMBERS_H

#include <json-glib/json-glib.h>

/* The object that the text is; it belongs to the parser. */
JsonObject *json_parse_object(JsonParser *parser, const char *text, size_t n, GError **error);

const char *json_text_member(JsonObject *o, const char *key);
JsonObject *json_object_member(JsonObject *o, const char *key);
JsonArray *json_list_member(JsonObject *o, const char *key);
JsonObject *json_object_at(JsonArray *list, guint i);

#endif
