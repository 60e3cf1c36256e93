/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of what events point to. */
#include "live/tracefs/texts.h"

#include "live/tracefs/bpf_names.h"
#include "live/tracefs/file.h"
#include "trace/ring/ring_names.h"

#include <string.h>

struct tracefs_texts tracefs_texts_expected(int root)
{
	g_autofree char *bytes = NULL;
	g_autoptr(btf) types = btf_of_kernel(&bytes);
	struct tracefs_texts t = tracefs_texts_of_types(types);
	if (root < 0)
		return t;
	g_autofree char *format = tracefs_file_read(root, "events/syscalls/sys_enter_openat/format");
	return (struct tracefs_texts){ .by_kernel = format && strstr(format, "__filename_val"),
				       .by_bpf = bpf_names_expected(root), .probes = t.probes };
}

/* Types and members that are there if what they are for is. Sources: struct syscall_metadata in include/trace/syscall.h
 * (Linux 7.0); kernel/trace/bpf_trace.h, whose text is that of programs. */
struct tracefs_texts tracefs_texts_of_types(const struct btf *types)
{
	uint32_t offset;
	if (!types)
		return (struct tracefs_texts){ .is_unknown = true };
	return (struct tracefs_texts){
		.is_by_types = true,
		.by_kernel = btf_offset(types, "syscall_metadata", "user_mask", &offset),
		.by_bpf = bpf_names_fit_here() &&
			btf_offset(types, "trace_event_raw_" RING_PRINTED_EVENT, "__data_loc_" RING_PRINTED_TEXT,
				   &offset),
		.probes = probe_kinds_of(types),
	};
}

/* Later versions also have a switch of their own, CONFIG_EPROBE_EVENTS. */
#define EVENT_PROBES "event probes: Linux 5.15 with CONFIG_KPROBE_EVENTS"

static char *join(const char *const *parts)
{
	g_autoptr(GString) s = g_string_new(NULL);
	for (; *parts; parts++)
		if (**parts)
			g_string_append_printf(s, "%s%s", s->len ? ", " : "", *parts);
	return s->len ? g_string_free(g_steal_pointer(&s), FALSE) : NULL;
}

#define WHERE_NAMES_ARE "(Linux 7.0 has them, or " EVENT_PROBES ")"

const char *tracefs_names_text(const char *word)
{
	static const char *const texts[][2] = {
		{ RING_NAMES_KERNEL, "names of files from the kernel's events (Linux 7.0)" },
		{ RING_NAMES_PROBES, "names of files by event probes" },
		{ RING_NAMES_BPF, "names of files by a program in the kernel (BPF) that takes 0.4 us of each call "
				  "with names" },
		{ RING_NAMES_NONE, "no names of files that are opened " WHERE_NAMES_ARE },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (!g_strcmp0(word, texts[i][0]))
			return texts[i][1];
	return NULL;
}

char *tracefs_texts_known(const struct tracefs_texts *t)
{
	const struct probe_kinds *p = &t->probes;
	return join((const char *const[]){
		t->by_kernel ? tracefs_names_text(RING_NAMES_KERNEL) :
		p->paths     ? tracefs_names_text(RING_NAMES_PROBES) :
		t->by_bpf    ? tracefs_names_text(RING_NAMES_BPF) : "",
		p->paths ? "addresses of sockets by event probes" : "",
		p->packets ? "packet headers by event probes" : "",
		p->descriptors ? "descriptors of pipes and accepted sockets by a kprobe" : "",
		NULL });
}

char *tracefs_texts_unknown(const struct tracefs_texts *t)
{
	const struct probe_kinds *p = &t->probes;
	bool has_names = t->by_kernel || p->paths || t->by_bpf;
	return join((const char *const[]){
		has_names ? "" : "names of files that are opened " WHERE_NAMES_ARE,
		p->paths ? "" : "addresses of sockets (" EVENT_PROBES ")",
		p->packets ? "" : "packet headers (" EVENT_PROBES " and CONFIG_DEBUG_INFO_BTF)",
		p->descriptors ? "" : "descriptors of pipes and accepted sockets (CONFIG_KPROBE_EVENTS)",
		NULL });
}

char *tracefs_texts_line(const struct tracefs_texts *t)
{
	g_autofree char *known = tracefs_texts_known(t), *unknown = tracefs_texts_unknown(t);
	if (t->is_unknown)
		return g_strdup("unknown: the kernel has no type information (" BTF_PATH "), and only root can read "
				"the rest: sudo blktop -v");
	return g_strdup_printf("%s%s%s%s%s", t->is_by_types ? "for root, by the kernel's type information: " : "",
			       known ? known : "", known && unknown ? "; " : "", unknown ? "not known: " : "",
			       unknown ? unknown : "");
}
