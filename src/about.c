/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists, the recording recipe and versions: see about.h.
 */
#include "about.h"

#include "state/model.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- views and columns --- */

static const char *const kind_unit[] = {
	[VALUE_NONE] = "", [VALUE_COUNT] = "count", [VALUE_BYTES] = "bytes", [VALUE_NS] = "ns",
	[VALUE_TIME] = "instant", [VALUE_ID] = "id", [VALUE_RATIO] = "ratio",
	[VALUE_HEX64] = "hex", [VALUE_TEXT] = "text",
};

/* The first sentence. */
static int sentence_length(const char *help)
{
	const char *end = strstr(help, ". ");
	size_t n = end ? (size_t)(end - help) : strcspn(help, "\n");
	if (!end && n > 0 && help[n - 1] == '.')
		n--;
	return (int)n;
}

void about_views(void)
{
	for (const struct view *const *v = view_all; *v; v++)
		printf("%-12s  %s%.*s\n", (*v)->id, (*v)->has_by ? "(--by) " : "",
		       sentence_length((*v)->help), (*v)->help);
}

void about_columns(const struct view *v)
{
	int width = 0;
	for (size_t i = 0; i < v->n_columns; i++)
		width = MAX(width, (int)strlen(v->columns[i].id));
	for (size_t i = 0; i < v->n_columns; i++)
		printf("%-*s  %-7s  %s\n", width, v->columns[i].id,
		       kind_unit[v->columns[i].kind], v->columns[i].help);
}

/* --- events --- */

void about_events(void)
{
	size_t n;
	const struct blk_subscription *rows = model_subscriptions(&n);

	for (size_t i = 0; i < n; i++) {
		g_autofree char *fields = g_strjoinv(" ", (char **)rows[i].fields);
		printf("%-32s  %s%s%s\n", rows[i].event, rows[i].needs ? rows[i].needs : "-",
		       *fields ? ": " : "", fields);
	}
}

enum source { SOURCE_TRACEPOINT, SOURCE_SYSCALL, SOURCE_UST, SOURCE_OLD };

/* Where an event of the table comes from. Old tracers' names for what has a new one
 * can be read, but no tracer of today records them. */
static enum source event_source(const char *event, GHashTable *names)
{
	static const char *const syscalls[] = { "syscall_", "sys_", "exit_syscall", "compat_" };

	if (strchr(event, ':'))
		return SOURCE_UST;
	for (size_t i = 0; i < G_N_ELEMENTS(syscalls); i++)
		if (g_str_has_prefix(event, syscalls[i]))
			return SOURCE_SYSCALL;
	g_autofree char *now = g_strdup_printf("irq_%s", event);
	return g_hash_table_contains(names, now) ? SOURCE_OLD : SOURCE_TRACEPOINT;
}

static void print_enable_lines(const char *channel, enum source source)
{
	size_t n;
	const struct blk_subscription *rows = model_subscriptions(&n);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

	for (size_t i = 0; i < n; i++)
		g_hash_table_add(names, (char *)rows[i].event);
	for (size_t i = 0; i < n; i++) {
		if (event_source(rows[i].event, names) != source)
			continue;
		printf("lttng enable-event -%c -s \"$session\" -c %s '%s'",
		       source == SOURCE_UST ? 'u' : 'k', channel, rows[i].event);
		printf(rows[i].needs ? "\t# %s\n" : "\n", rows[i].needs);
	}
}

static void print_contexts(char domain, const char *channel, const char *contexts)
{
	printf("lttng add-context -%c -s \"$session\" -c %s %s\n", domain, channel, contexts);
}

void about_recipe(void)
{
	puts("#!/bin/sh\n"
	     "# Records what blktop reads. Run it as root, or in the group \"tracing\":\n"
	     "#   blktop --recipe >record.sh\n"
	     "#   sh record.sh [SESSION [DIRECTORY]]        a trace in DIRECTORY\n"
	     "#   sh record.sh SESSION net://RELAY          live: blktop -r RELAY\n"
	     "# then:  lttng stop SESSION; lttng destroy SESSION; blktop DIRECTORY\n"
	     "set -eu\n"
	     "session=${1:-blktop}\n"
	     "where=${2:-$PWD/$session-trace}\n"
	     "case $where in\n"
	     "*://*) lttng create \"$session\" --live=1000000 --set-url=\"$where\" ;;\n"
	     "*) lttng create \"$session\" --output=\"$where\" ;;\n"
	     "esac\n"
	     "\n"
	     "# The kernel: who runs, what it calls, why it waits. Starting the session also\n"
	     "# records the state dump: the threads and open files that were there before.\n"
	     "# More sub-buffers where events are lost; 16 x 1 MiB a CPU as it stands.\n"
	     "lttng enable-channel -k -s \"$session\" kernel --subbuf-size=1M --num-subbuf=16");
	print_contexts('k', "kernel", "-t pid -t tid -t procname");
	print_enable_lines("kernel", SOURCE_TRACEPOINT);
	puts("lttng enable-event -k -s \"$session\" -c kernel --syscall --all\n"
	     "\n"
	     "# Userspace: the spans. One set of buffers for each user.\n"
	     "lttng enable-channel -u -s \"$session\" spans --buffers-uid --subbuf-size=256k --num-subbuf=8");
	print_contexts('u', "spans", "-t vpid -t vtid -t procname");
	print_enable_lines("spans", SOURCE_UST);
	puts("\nlttng start \"$session\"");
}

/* --- versions --- */

/* The file name behind a loaded library: "libpopt.so.0.0.2". */
struct loaded {
	const char *stem;
	char file[NAME_MAX];
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *l = data;
	char path[PATH_MAX];
	g_autofree char *name = g_path_get_basename(info->dlpi_name);

	(void)size;
	if (!g_str_has_prefix(name, l->stem))
		return 0;
	if (!realpath(info->dlpi_name, path))
		g_strlcpy(path, info->dlpi_name, sizeof path);
	g_autofree char *file = g_path_get_basename(path);
	g_strlcpy(l->file, file, sizeof l->file);
	return 1;
}

/* Asked of the library by name, so that only its layer includes its header. */
static unsigned ask_number(const char *function)
{
	void *symbol = dlsym(RTLD_DEFAULT, function);
	unsigned (*ask)(void);
	memcpy(&ask, &symbol, sizeof ask);
	return symbol ? ask() : 0;
}

static void print_curses(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "curses_version");
	const char *(*ask)(void);
	memcpy(&ask, &symbol, sizeof ask);
	if (symbol)
		printf("%s\n", ask());
}

void about_version(void)
{
	static const char *const others[] = { "libjson-glib", "liblttng-ctl", "libpopt" };

	printf("blktop %s\n", BLKTOP_VERSION);
	printf("GLib %u.%u.%u\n", glib_major_version, glib_minor_version, glib_micro_version);
	printf("babeltrace2 %u.%u.%u\n", ask_number("bt_version_get_major"),
	       ask_number("bt_version_get_minor"), ask_number("bt_version_get_patch"));
	print_curses();
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		struct loaded l = { .stem = others[i] };
		if (dl_iterate_phdr(find_loaded, &l))
			printf("%s\n", l.file);
	}
}
