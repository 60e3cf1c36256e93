/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists, the recording recipe and versions: see lists.h. */
#include "cli/lists.h"

#include "base/each.h"
#include "base/isolation.h"
#include "base/user.h"
#include "base/machine.h"
#include "base/text.h"
#include "live/session/plan.h"
#include "live/tracefs/instance.h"
#include "state/publish/model.h"
#include "state/spans/presets.h"
#include "views/metric.h"
#include "views/registry.h"
#include "views/repairs.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- views and columns --- */

/* Length of the first sentence. */
static int sentence_length(const char *help)
{
	const char *end = strstr(help, ". ");
	size_t n = end ? (size_t)(end - help) : strcspn(help, "\n");
	if (!end && n > 0 && help[n - 1] == '.')
		n--;
	return (int)n;
}

void about_views(FILE *out)
{
	for (const struct view *const *v = view_all; *v; v++)
		fprintf(out, "%-12s  %.*s%s\n", (*v)->id, sentence_length((*v)->help), (*v)->help,
		       (*v)->by_values ? " (--by)" : "");
}

void about_columns(FILE *out, const struct view *v)
{
	int width = 0;
	for (size_t i = 0; i < v->n_columns; i++)
		width = MAX(width, (int)strlen(v->columns[i].id));
	for (size_t i = 0; i < v->n_columns; i++)
		fprintf(out, "%-*s  %s (%s)\n", width, v->columns[i].id, v->columns[i].help,
		       value_unit(v->columns[i].kind));
}

/* --- events --- */

void about_events(FILE *out)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);

	for (size_t i = 0; i < n; i++) {
		g_autofree char *fields = g_strjoinv(" ", (char **)rows[i].fields);
		fprintf(out, "%-32s  %s%s%s\n", rows[i].event, rows[i].needs ? rows[i].needs : "-",
		       *fields ? ": " : "", fields);
	}
}

/* --- machines --- */

void about_machines(FILE *out)
{
	const struct machine_row *row;

	for (enum machine m = MACHINE_X86_64; (row = machine_row(m)); m++)
		fprintf(out, "%-8s  %u bits  %s\n", row->name, row->bits, row->words);
}

/* --- metrics --- */

void about_metrics(FILE *out)
{
	const struct metric *m;
	for (size_t i = 0; (m = metric_at(i)); i++) {
		g_autoptr(GString) fields = g_string_new(NULL);
		for (unsigned f = 0; f < METRIC_FIELD_N; f++)
			if (m->fields & 1u << f)
				g_string_append_printf(fields, "%s%s", fields->len ? "," : "", metric_field_words[f]);
		fprintf(out, "%-24s  %-5s  %s (by %s)", m->id, value_unit(m->unit), m->help, fields->str);
		for (size_t k = 0; m->needs[k]; k++) {
			/* Events are printed by name; NEED_CALLERS is an event or a context. */
			bool is_event = !g_str_equal(m->needs[k], NEED_CALLERS);
			g_autofree char *words = is_event ? NULL : repair_words(m->needs[k]);
			fprintf(out, "%s%s", k ? ", " : " [", words ? words : m->needs[k]);
		}
		fprintf(out, "%s\n", m->needs[0] ? "]" : "");
	}
}

static void print_enable_lines(FILE *out, const char *channel, enum plan_origin origin)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);

	for (size_t i = 0; i < n; i++) {
		if (plan_origin(&rows[i]) != origin)
			continue;
		fprintf(out, "%slttng enable-event -%c -s \"$session\" -c %s '%s'\t# %s\n",
			origin == PLAN_SPAN ? "" : "\t", origin == PLAN_SPAN ? 'u' : 'k',
			channel, rows[i].event, rows[i].needs);
	}
}

/* --- presets --- */

static char *joined(const GPtrArray *texts, const char *between)
{
	GString *s = g_string_new(NULL);

	PTR_EACH(const char, text, texts)
		g_string_append_printf(s, "%s%s", s->len ? between : "", text);
	return g_string_free(s, false);
}

void about_presets(FILE *out)
{
	for (size_t i = 0; i < presets_n(); i++) {
		const struct preset *p = presets_at(i);
		fprintf(out, "%-12s  %s (%s)%s\n", p->name, p->title, p->program,
			p->on_request ? ", on request" : presets_is_on(i) ? "" : ", off");
		if (p->versions)
			fprintf(out, "              versions: %s\n", p->versions);
		g_autofree char *events = joined(p->detect, ", ");
		fprintf(out, "              events: %s\n", events);
		PTR_EACH(const char, sentence, p->cannot)
			fprintf(out, "              not shown: %s\n", sentence);
		fprintf(out, "              %s\n", p->file);
	}
}

/* --- the recipe --- */

static const char recipe_begin[] =
	"#!/bin/sh\n"
	"# Records what blktop reads. Run it as root, or in the group \"tracing\":\n"
	"#   blktop --recipe%s >record.sh\n"
	"#   sh record.sh [SESSION [DIRECTORY]]        a trace in DIRECTORY\n"
	"#   sh record.sh SESSION net://RELAY          live: blktop -r RELAY\n"
	"# then:  lttng stop SESSION; lttng destroy SESSION; blktop DIRECTORY\n"
	"#\n"
	"# Without LTTng's kernel modules, and without this script (the kernel's own tracer):\n"
	"#   sudo blktop record%s -o DIRECTORY\n";

static const char recipe_kernel[] =
	"set -eu\n"
	"session=${1:-blktop}\n"
	"where=${2:-$PWD/$session-trace}\n"
	"case $where in\n"
	"*://*) lttng create \"$session\" --live=1000000 --set-url=\"$where\" ;;\n"
	"*) lttng create \"$session\" --output=\"$where\" ;;\n"
	"esac\n"
	"\n"
	"# The kernel: which threads run, what they call, why they wait. Starting the session also\n"
	"# records the state dump: the threads and open files that were there before.\n"
	"# Larger or more sub-buffers where events are lost: these are 16 MiB a CPU.\n"
	"if lttng enable-channel -k -s \"$session\" kernel --subbuf-size=1M --num-subbuf=16; then\n"
	"\tlttng add-context -k -s \"$session\" -c kernel -t pid -t tid -t procname\n";

static const char recipe_middle[] =
	"\tlttng enable-event -k -s \"$session\" -c kernel --syscall --all\n"
	"else\n"
	"\techo 'no modules of LTTng here: spans are recorded, and nothing explains them' >&2\n"
	"\techo 'this records both: sudo blktop record%s -o DIRECTORY' >&2\n"
	"fi\n"
	"\n"
	"# Userspace: the spans. One set of buffers for each user.\n"
	"lttng enable-channel -u -s \"$session\" spans --buffers-uid --subbuf-size=%s --num-subbuf=%s\n"
	"lttng add-context -u -s \"$session\" -c spans -t vpid -t vtid -t procname";

/* "1M x 8" -> "1M", "8" */
static char **buffers_of(const struct preset *p)
{
	return g_strsplit(p && p->buffers ? p->buffers : "256k x 8", " x ", 2);
}

/* What the preset needs before, and what it does not show, as comments of the script. */
static void print_sentences(FILE *out, const char *title, const GPtrArray *sentences)
{
	g_autoptr(GPtrArray) wrapped = g_ptr_array_new_with_free_func(g_free);

	PTR_EACH(const char, sentence, sentences) {
		g_autofree char *whole = g_strdup_printf("%s: %s", title, sentence);
		text_wrap(wrapped, whole, 92, 2, 20);
	}
	PTR_EACH(const char, line, wrapped)
		fprintf(out, "# %s\n", line);
}

static void print_preset_events(FILE *out, const struct preset *p)
{
	PTR_EACH(const char, context, p->contexts)
		if (!g_str_equal(context, "vpid") && !g_str_equal(context, "vtid") && !g_str_equal(context, "procname"))
			fprintf(out, " -t %s", context);
	fputc('\n', out);
	if (!p->agents->len)
		PTR_EACH(const char, event, preset_records(p))
			fprintf(out, "lttng enable-event -u -s \"$session\" -c spans '%s'\t# spans of %s\n", event,
				p->name);
	PTR_EACH(const char, agent, p->agents)
		fprintf(out, "lttng enable-event --%s -s \"$session\" --all\t# messages of programs\n", agent);
}

void about_recipe(FILE *out, const struct preset *p)
{
	g_autofree char *of = p ? g_strconcat("=", p->name, NULL) : g_strdup("");
	g_autofree char *events = p ? joined(p->events, ",") : g_strdup("");
	g_autofree char *points = *events ? g_strdup_printf(" --tracepoints '%s'", events) : g_strdup("");
	g_auto(GStrv) buffers = buffers_of(p);

	fprintf(out, recipe_begin, of, points);
	if (p) {
		fprintf(out, "#\n# Preset %s: %s (%s)\n", p->name, p->title, p->program);
		print_sentences(out, "before", p->setup);
		print_sentences(out, "not shown", p->cannot);
	}
	fputs(recipe_kernel, out);
	print_enable_lines(out, "kernel", PLAN_TRACEPOINT);
	fprintf(out, recipe_middle, points, buffers[0], buffers[1]);
	if (p)
		print_preset_events(out, p);
	else
		fputc('\n', out);
	print_enable_lines(out, "spans", PLAN_SPAN);
	fputs("\nlttng start \"$session\"\n", out);
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

/* Calls the library's version function by name, since only its layer may include its header. */
static unsigned ask_number(const char *function)
{
	void *symbol = dlsym(RTLD_DEFAULT, function);
	unsigned (*ask)(void);
	memcpy(&ask, &symbol, sizeof ask);
	return symbol ? ask() : 0;
}

static void print_curses(FILE *out)
{
	void *symbol = dlsym(RTLD_DEFAULT, "curses_version");
	const char *(*ask)(void);
	memcpy(&ask, &symbol, sizeof ask);
	if (symbol)
		fprintf(out, "%s\n", ask());
}

void about_version(FILE *out)
{
	static const char *const others[] = { "liblttng-ctl", "libpopt", "libseccomp" };

	fprintf(out, "blktop %s\n", BLKTOP_VERSION);
	fprintf(out, "GLib %u.%u.%u\n", glib_major_version, glib_minor_version, glib_micro_version);
	fprintf(out, "babeltrace2 %u.%u.%u\n", ask_number("bt_version_get_major"),
	       ask_number("bt_version_get_minor"), ask_number("bt_version_get_patch"));
	print_curses(out);
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		struct loaded l = { .stem = others[i] };
		if (dl_iterate_phdr(find_loaded, &l))
			fprintf(out, "%s\n", l.file);
	}
	g_autofree char *isolation = isolation_describe();
	g_autofree char *why = NULL;
	struct tracefs_texts texts = tracefs_instance_expected();	/* root's files */
	g_autofree char *line = tracefs_texts_line(&texts);

	user_drop(false, &why);		/* to see whether that can be done here */
	g_autofree char *user = user_describe();
	fprintf(out, "isolation: %s\nuser: %s\n", isolation, user);
	fprintf(out, "kernel without modules (tracefs): %s\n", line);
}
