/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads proc(5): see proc.h. */
#include "live/session/proc.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool proc_read_stat(int pid, struct proc_stat *ret)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/stat", pid), *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return false;
	/* the name may contain any bytes, also ')' and blanks: its end is the last ')' */
	char *name = strchr(text, '('), *end = strrchr(text, ')');
	if (!name || !end ||
	    sscanf(end + 1, " %c %d %d %d", &ret->state, &ret->parent, &ret->group, &ret->session) != 4)
		return false;
	*end = '\0';
	g_strlcpy(ret->name, name + 1, sizeof ret->name);
	return true;
}

bool proc_has_ended(int pid)
{
	struct proc_stat st;

	if (kill(pid, 0) < 0 && errno == ESRCH)
		return true;
	return proc_read_stat(pid, &st) && st.state == 'Z';
}

/* Does the list of modules name LTTng's tracer, compressed or not? */
static bool lists_tracer(const char *root, const char *release, const char *list)
{
	g_autofree char *path = g_strdup_printf("%s/lib/modules/%s/%s", root, release, list), *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) && strstr(text, "/lttng-tracer.ko");
}

char *proc_no_tracer(const char *root, const char *release)
{
	g_autofree char *loaded = g_strconcat(root, "/sys/module/lttng_tracer", NULL);

	if (g_file_test(loaded, G_FILE_TEST_IS_DIR) || lists_tracer(root, release, "modules.dep") ||
	    lists_tracer(root, release, "modules.builtin"))
		return NULL;
	return g_strdup_printf("the kernel is not traced: there is no kernel tracer, since Linux %s has no modules of "
			       "LTTng; install them (apt install lttng-modules-dkms), and load them (modprobe "
			       "lttng-tracer)", release);
}

void proc_each(void (*each)(int pid, void *data), void *data)
{
	g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);

	for (const char *name; proc && (name = g_dir_read_name(proc));)
		if (g_ascii_isdigit(*name))
			each(atoi(name), data);
}
