/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between versions of libbabeltrace2: see bt2_mip.h. */
#include "trace/bt2/bt2_mip.h"

#include <string.h>

void bt2_uuid_text(const uint8_t *uuid, char ret[BT2_UUID_TEXT])
{
	ret[0] = '\0';
	for (int i = 0; uuid && i < 16; i++)
		g_snprintf(ret + strlen(ret), 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			   uuid[i]);
}

#if BT2_HAS_MIP1

const char *bt2_ctf2_fault(void)
{
	return NULL;
}

/* The same as set_identity() in ctf2_meta.c. */
static void make_identity(const bt_clock_class *cc, char ret[BT2_UUID_TEXT])
{
	const char *space = bt_clock_class_get_namespace(cc), *name = bt_clock_class_get_name(cc);
	const char *uid = bt_clock_class_get_uid(cc);
	bool is_boot = uid && !space && !g_strcmp0(name, "monotonic") && g_uuid_string_is_valid(uid);
	ret[0] = '\0';
	if (!uid || !*uid)
		return;
	g_autofree char *low = g_ascii_strdown(uid, -1);
	g_autofree char *whole = g_strdup_printf("%s\n%s\n%s", space ? space : "", name ? name : "", uid);
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_MD5, whole, -1);
	g_strlcpy(ret, is_boot ? low : digest, BT2_UUID_TEXT);
}

void bt2_clock_identity(const bt_clock_class *cc, char ret[BT2_UUID_TEXT])
{
	if (bt_clock_class_get_graph_mip_version(cc))
		make_identity(cc, ret);
	else
		bt2_uuid_text(bt_clock_class_get_uuid(cc), ret);
}

void bt2_trace_identity(const bt_trace *trace, char ret[BT2_UUID_TEXT])
{
	const bt_trace_class *tc = bt_trace_borrow_class_const(trace);
	const char *uid;
	if (!bt_trace_class_get_graph_mip_version(tc)) {
		bt2_uuid_text(bt_trace_get_uuid(trace), ret);
		return;
	}
	uid = bt_trace_get_uid(trace);
	g_autofree char *low = uid && g_uuid_string_is_valid(uid) ? g_ascii_strdown(uid, -1) : NULL;
	g_strlcpy(ret, low ? low : "", BT2_UUID_TEXT);
}

bool bt2_is_blob(const bt_field_class *fc)
{
	return bt_field_class_type_is(bt_field_class_get_type(fc), BT_FIELD_CLASS_TYPE_BLOB);
}

const uint8_t *bt2_blob(const bt_field *f, uint64_t *ret_n)
{
	*ret_n = bt_field_blob_get_length(f);
	return bt_field_blob_get_data_const(f);
}

char *bt2_flags(const bt_field *f)
{
	bt_field_class_bit_array_flag_label_array labels = NULL;
	uint64_t n = 0;
	if (bt_field_class_get_graph_mip_version(bt_field_borrow_class_const(f)))
		bt_field_bit_array_get_active_flag_labels(f, &labels, &n);
	GString *text = n ? g_string_new(NULL) : NULL;
	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(text, "%s%s", i ? "|" : "", labels[i]);
	return text ? g_string_free(text, FALSE) : NULL;
}

#else

const char *bt2_ctf2_fault(void)
{
	return "CTF 2 needs babeltrace2 2.1 or later; this blktop was built with 2.0";
}

void bt2_clock_identity(const bt_clock_class *cc, char ret[BT2_UUID_TEXT])
{
	bt2_uuid_text(bt_clock_class_get_uuid(cc), ret);
}

void bt2_trace_identity(const bt_trace *trace, char ret[BT2_UUID_TEXT])
{
	bt2_uuid_text(bt_trace_get_uuid(trace), ret);
}

bool bt2_is_blob(const bt_field_class *fc)
{
	(void)fc;
	return false;
}

const uint8_t *bt2_blob(const bt_field *f, uint64_t *ret_n)
{
	(void)f;
	*ret_n = 0;
	return NULL;
}

char *bt2_flags(const bt_field *f)
{
	(void)f;
	return NULL;
}

#endif
