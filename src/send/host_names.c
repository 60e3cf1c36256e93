/* SPDX-License-Identifier: GPL-2.0-only */
/* Names in Host: see host_names.h. */
#include "send/host_names.h"

#include <gio/gio.h>
#include <string.h>

static bool is_name(const char *text)
{
	return *text && !text[strspn(text, "-.0123456789_" G_CSET_a_2_z G_CSET_A_2_Z)];
}

char **host_names_new(const char *more, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	/* Of "" there would be no name that is wrong. */
	g_auto(GStrv) list = g_strsplit(!more ? "" : *more ? more : " ", ",", -1);
	const char *own = g_get_host_name();
	g_ptr_array_add(names, g_strdup("localhost"));
	g_ptr_array_add(names, g_strdup(own));
	g_ptr_array_add(names, g_strndup(own, strcspn(own, ".")));
	for (char **at = list; *at; at++) {
		if (!is_name(g_strstrip(*at))) {
			g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "'%s' is no host name", *at);
			return NULL;
		}
		g_ptr_array_add(names, g_strdup(*at));
	}
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&names), false);
}

bool host_names_have(char **names, const char *host)
{
	if (!host || g_hostname_is_ip_address(host))
		return true;
	while (*names && g_ascii_strcasecmp(*names, host))
		names++;
	return *names;
}
