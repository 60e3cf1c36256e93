/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that record missing events: see repairs.h. */
#include "views/repairs.h"

#include "base/limits.h"
#include "base/text.h"
#include "views/registry.h"

#include <string.h>

/* Needs that are not names of events. The command is "lttng VERB WHERE REST". */
static const struct {
	const char *need, *words;
	struct { const char *verb, *rest; } command[3];
} special[] = {
	{ NEED_SPANS, "spans", { { "enable-event", "'zipkin:*'" } } },
	{ NEED_SYSCALLS, "system calls", { { "enable-event", "--syscall --all" } } },
	{ NEED_CALLERS, "sched_switch or the context tid", { { "add-context", "--type tid" } } },
	{ NEED_PERF, "perf counters",
	  { { "add-context", "--type perf:cpu:instructions --type perf:cpu:cycles "
	      "--type perf:cpu:page-fault" } } },
	{ NEED_FAULTS, "page faults", { { "enable-event", "'x86_exceptions_page_fault_*'" } } },
	{ NEED_PROBES, "hits of probes",
	  { { "enable-event", "--probe=SYMBOL probe_SYMBOL" },
	    { "enable-event", "--function=SYMBOL function_SYMBOL" },
	    { "enable-event", "--userspace-probe=PROGRAM:FUNCTION uprobe_FUNCTION" } } },
};

static int find_special(const char *need)
{
	for (size_t i = 0; i < G_N_ELEMENTS(special); i++)
		if (strcmp(need, special[i].need) == 0)
			return (int)i;
	return -1;
}

bool repair_is_context(const char *need)
{
	return g_str_has_prefix(need, "ust.") || g_str_has_prefix(need, "kernel.");
}

bool repair_is_plural(const char *need)
{
	return (find_special(need) >= 0 && strcmp(need, NEED_CALLERS) != 0) || strcmp(need, NEED_COUNTS) == 0;
}

bool repair_is_tracepoint(const char *need)
{
	return find_special(need) < 0 && !repair_is_plural(need) && !repair_is_context(need) && !strchr(need, ':');
}

char *repair_words(const char *need)
{
	const char *dot = strchr(need, '.');
	g_autofree char *first = g_strndup(need, strcspn(need, "|"));
	int known = find_special(strcmp(first, NEED_SPANS) == 0 ? first : need);

	if (known >= 0)
		return g_strdup(special[known].words);
	if (strcmp(need, NEED_COUNTS) == 0)
		return g_strdup("perf counters, page faults or hits of probes");
	if (repair_is_context(need))
		return g_strdup_printf("the context %s (%.*s)", dot + 1, (int)(dot - need), need);
	return g_steal_pointer(&first);
}

const char *repair_domain(const char *need)
{
	return strchr(need, ':') || g_str_has_prefix(need, "ust.") ? "ust" : "kernel";
}

char *repair_where(const char *domain, const char *session, const char *channel)
{
	const char *option = strcmp(domain, "ust") == 0 ? "--userspace" : "--kernel";
	GString *where = g_string_new(option);
	const struct { const char *option, *name; } parts[] = {
		{ "--session", session }, { "--channel", channel },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		g_autofree char *quoted = parts[i].name ? text_shell_quote(parts[i].name) : NULL;
		if (quoted)
			g_string_append_printf(where, " %s %s", parts[i].option, quoted);
	}
	return g_string_free(where, FALSE);
}

static void add_special(GPtrArray *commands, int which, const char *where)
{
	for (size_t i = 0; i < G_N_ELEMENTS(special[which].command); i++)
		if (special[which].command[i].verb)
			g_ptr_array_add(commands, g_strdup_printf("lttng %s %s %s",
								  special[which].command[i].verb, where,
								  special[which].command[i].rest));
}

GPtrArray *repair_commands(const char *need, const char *where)
{
	static const char *const counts[] = { NEED_PERF, NEED_FAULTS, NEED_PROBES };
	GPtrArray *commands = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *name = g_strndup(need, strcspn(need, "|"));
	const char *colon = strchr(name, ':');
	int known = find_special(need);

	if (known >= 0) {
		add_special(commands, known, where);
	} else if (strcmp(need, NEED_COUNTS) == 0) {
		for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
			add_special(commands, find_special(counts[i]), where);
	} else if (colon) {	/* all events of a provider are enabled, because they belong together */
		g_autofree char *all = g_strdup_printf("%.*s:*", (int)(colon - name), name);
		g_autofree char *quoted = text_shell_quote(all);
		g_ptr_array_add(commands, g_strdup_printf("lttng enable-event %s %s", where, quoted));
	} else if (!repair_is_context(need)) {
		g_autofree char *quoted = text_shell_quote(name);
		g_ptr_array_add(commands, g_strdup_printf("lttng enable-event %s %s", where, quoted));
	}
	return commands;
}

char *repair_statedump(const char *session)
{
	g_autofree char *quoted = session ? text_shell_quote(session) : NULL;
	return g_strconcat("lttng regenerate statedump", quoted ? " --session " : NULL, quoted, NULL);
}

char *repair_buffers(const char *domain, const char *session, const char *channel, uint64_t bytes,
		     uint64_t n, bool discard)
{
	g_autofree char *where = repair_where(domain, session, NULL);
	g_autofree char *name = text_shell_quote(channel ? channel : "NAME");
	bool mega = bytes % (1 << 20) == 0;

	return g_strdup_printf("lttng enable-channel %s --subbuf-size=%" G_GUINT64_FORMAT
			       "%c --num-subbuf=%" G_GUINT64_FORMAT "%s %s", where,
			       bytes >> (mega ? 20 : 10), mega ? 'M' : 'K', n,
			       discard ? " --discard" : "", name);
}

char *repair_record_buffer(uint64_t bytes)
{
	return g_strdup_printf(REPAIR_RECORD " --kernel-buffer %" G_GUINT64_FORMAT "M",
			       MIN(bytes, (uint64_t)LIMIT_KERNEL_BUFFER_BYTES) >> 20);
}

const char *repair_for_losses(void)
{
	return "larger buffers; blktop --doctor says how large";
}
