/* SPDX-License-Identifier: GPL-2.0-only */
/* Names and encodings of LTTng for events of the kernel's ring buffer. */
#include "trace/ring/ring_rules.h"

#include "trace/ring/ring_headers.h"

#include <string.h>

/* ---- names of events ---- */

static const struct { const char *system, *event, *lttng; } events[] = {
	{ "net", "netif_receive_skb", "net_if_receive_skb" },
	{ "net", "netif_rx", "net_if_rx" },
	{ "raw_syscalls", "sys_enter", "syscall_entry_unknown" },
	{ "raw_syscalls", "sys_exit", "syscall_exit_unknown" },
};

/* The beginning of the names of a system's events, and what it is at LTTng. */
static const struct { const char *system, *prefix, *lttng; } prefixes[] = {
	{ "syscalls", "sys_enter_", "syscall_entry_" },
	{ "syscalls", "sys_exit_", "syscall_exit_" },
	{ "exceptions", "", "x86_exceptions_" },
	{ "irq_vectors", "", "x86_irq_vectors_" },
	{ "kprobes", "", "" },
	{ "uprobes", "", "" },
};

char *ring_event_name(const char *system, const char *event)
{
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
		if (!strcmp(system, events[i].system) && !strcmp(event, events[i].event))
			return g_strdup(events[i].lttng);
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (!strcmp(system, prefixes[i].system) && g_str_has_prefix(event, prefixes[i].prefix))
			return g_strconcat(prefixes[i].lttng, event + strlen(prefixes[i].prefix), NULL);
	g_autofree char *prefix = g_strconcat(system, "_", NULL);
	return g_str_has_prefix(event, prefix) ? g_strdup(event) : g_strconcat(prefix, event, NULL);
}

bool ring_raw_bytes(const struct ring_fields *fields, const char *name, uint32_t n_bytes, uint32_t *ret_offset)
{
	uint32_t n = 0;
	for (unsigned i = 0; n < n_bytes; i++) {
		g_autofree char *word = g_strdup_printf("%s%u", name, i);
		const struct ring_field *f = ring_fields_find(fields, word);
		if (!f || f->place != RING_INLINE || !f->size || (i && f->offset != *ret_offset + n))
			return false;
		if (!i)
			*ret_offset = f->offset;
		n += f->size;
	}
	return true;
}

/* Exits of calls whose descriptors come from the probe of fd_install. */
static const struct { const char *event; enum ring_extra extra; } exits[] = {
	{ "sys_exit_pipe", RING_EXTRA_PIPE },	{ "sys_exit_pipe2", RING_EXTRA_PIPE },
	{ "sys_exit_socketpair", RING_EXTRA_SOCKETS },
	{ "sys_exit_accept", RING_EXTRA_PEER }, { "sys_exit_accept4", RING_EXTRA_PEER },
};

static enum ring_extra probe_extra(const struct ring_format *format)
{
	uint32_t offset;
	bool is_call = !strcmp(format->system, "syscalls");
	for (size_t i = 0; i < G_N_ELEMENTS(exits) && is_call; i++)
		if (!strcmp(format->name, exits[i].event))
			return exits[i].extra;
	if (is_call && ring_raw_bytes(format->fields, RING_RAW_ADDRESS, RING_SOCKADDR_BYTES, &offset))
		return RING_EXTRA_ADDRESS;
	return !strcmp(format->system, "net") &&
	       ring_raw_bytes(format->fields, RING_RAW_PACKET, RING_PACKET_BYTES, &offset) ?
		       RING_EXTRA_HEADERS : RING_NO_EXTRA;
}

enum ring_extra ring_event_extra(const struct ring_format *format)
{
	if (!strcmp(format->system, "sched") && !strcmp(format->name, "sched_process_fork"))
		return RING_EXTRA_TGIDS;
	return !strcmp(format->system, "block") && ring_fields_find(format->fields, "comm") ?
		RING_EXTRA_TID : probe_extra(format);
}

/* ---- fields ---- */

static const struct { const char *system, *field, *lttng; enum ring_encoding encoding; } fields[] = {
	{ "sched", "prev_pid", "prev_tid", RING_AS_IS },
	{ "sched", "next_pid", "next_tid", RING_AS_IS },
	{ "sched", "parent_pid", "parent_tid", RING_AS_IS },
	{ "sched", "child_pid", "child_tid", RING_AS_IS },
	{ "sched", "old_pid", "old_tid", RING_AS_IS },
	{ "sched", "pid", "tid", RING_AS_IS },
	{ "sched", "prev_prio", NULL, RING_PRIORITY },
	{ "sched", "next_prio", NULL, RING_PRIORITY },
	{ "sched", "prio", NULL, RING_PRIORITY },
	{ "sched", "oldprio", NULL, RING_PRIORITY },
	{ "sched", "newprio", NULL, RING_PRIORITY },
	{ "signal", "pid", "tid", RING_AS_IS },
	{ "block", "rwbs", NULL, RING_RWBS },
	{ "kprobes", "__probe_ip", "ip", RING_AS_IS },
	{ "uprobes", "__probe_ip", "ip", RING_AS_IS },
};

/*
 * Types of arguments of system calls. The kernel stores each in a long and says that it is unsigned: SYSCALL_DEFINE's
 * text of the type tells more. Types that are not here are as long as they are stored.
 */
static const struct { const char *type; uint8_t size; bool is_signed; } argument_types[] = {
	{ "int", 4, true }, { "pid_t", 4, true }, { "clockid_t", 4, true }, { "timer_t", 4, true },
	{ "key_serial_t", 4, true }, { "mqd_t", 4, true }, { "rwf_t", 4, true }, { "__s32", 4, true },
	{ "unsigned int", 4, false }, { "unsigned", 4, false }, { "uid_t", 4, false }, { "gid_t", 4, false },
	{ "qid_t", 4, false }, { "u32", 4, false }, { "__u32", 4, false }, { "const int", 4, true },
	{ "umode_t", 2, false }, { "old_uid_t", 2, false }, { "old_gid_t", 2, false },
	{ "long", 0, true }, { "off_t", 0, true }, { "loff_t", 0, true }, { "ssize_t", 0, true },
};

/* Texts that the kernel may store: names of files, never what is written. Linux 7.0, SYSCALL_DEFINE of fs/. */
static const char *const texts[] = {
	"filename", "pathname", "path",     "name",    "oldname",     "newname",       "oldpath",
	"newpath",  "dev_name", "dir_name", "type",    "specialfile", "from_pathname", "to_pathname",
	"new_root", "put_old",  "fs_name",  "library", "special",
};

bool ring_is_path(const struct ring_field *f)
{
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (f->is_pointer && strstr(f->type, "char") && !strcmp(f->name, texts[i]))
			return true;
	return false;
}

bool ring_is_stored(const struct ring_format *format, const char *argument)
{
	g_autofree char *name = g_strdup_printf("__%s_val", argument);
	return ring_fields_find(format->fields, name);
}

/* __NAME_val is the text that argument NAME points to (Linux 7.0, kernel/trace/trace_syscalls.c). */
static struct ring_field_rule user_text(const struct ring_field *f)
{
	size_t len = strlen(f->name);
	for (size_t i = 0; i < G_N_ELEMENTS(texts) && f->is_text; i++)
		if (strlen(texts[i]) + 6 == len && !memcmp(texts[i], f->name + 2, len - 6))
			return (struct ring_field_rule){ .name = texts[i], .encoding = RING_USER_TEXT };
	return (struct ring_field_rule){ .name = f->name, .encoding = RING_OMIT };
}

static bool is_raw(const struct ring_field *f, const char *name)
{
	size_t len = strlen(name);
	return !strncmp(f->name, name, len) && g_ascii_isdigit(f->name[len]);
}

static struct ring_field_rule argument(const struct ring_field *f)
{
	struct ring_field_rule rule = { .name = f->name, .encoding = f->is_text ? RING_PROBED_TEXT : RING_AS_IS };
	if (is_raw(f, RING_RAW_ADDRESS) || !strcmp(f->name, RING_RAW_PATH))
		rule.encoding = RING_OMIT;
	if (!strcmp(f->name, "__syscall_nr"))
		rule.encoding = RING_OMIT;
	else if (g_str_has_prefix(f->name, "__") && g_str_has_suffix(f->name, "_val"))
		return user_text(f);
	else if (f->is_pointer && strstr(f->type, "char"))
		rule.encoding = RING_OMIT;	/* of a text its address says nothing */
	for (size_t i = 0; i < G_N_ELEMENTS(argument_types) && !f->is_pointer; i++) {
		if (!strcmp(f->type, argument_types[i].type)) {
			rule.size = argument_types[i].size ? argument_types[i].size : (uint8_t)f->size;
			rule.is_signed = argument_types[i].is_signed;
		}
	}
	return rule;
}

struct ring_field_rule ring_field_rule(const struct ring_format *format, const struct ring_field *f)
{
	if (!strcmp(format->system, "syscalls"))
		return argument(f);
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (!strcmp(format->system, fields[i].system) && !strcmp(f->name, fields[i].field))
			return (struct ring_field_rule){ .name = fields[i].lttng ? fields[i].lttng : f->name,
							 .encoding = fields[i].encoding };
	if (!strcmp(format->system, "net") && (is_raw(f, RING_RAW_PACKET) || g_str_has_prefix(f->name, "skb_")))
		return (struct ring_field_rule){ .name = f->name, .encoding = RING_OMIT };
	bool is_comm = f->is_text && g_str_has_suffix(f->name, "comm");
	return (struct ring_field_rule){ .name = f->name, .encoding = is_comm ? RING_COMM : RING_AS_IS };
}

/* ---- block requests ---- */

/* The values of enum lttng_rwbs. */
enum {
	RWBS_WRITE = 1 << 0, RWBS_DISCARD = 1 << 1, RWBS_READ = 1 << 2, RWBS_RAHEAD = 1 << 3, RWBS_SYNC = 1 << 5,
	RWBS_META = 1 << 6, RWBS_SECURE = 1 << 7, RWBS_FLUSH = 1 << 8, RWBS_FUA = 1 << 9, RWBS_PREFLUSH = 1 << 10,
};

uint32_t ring_rwbs_bits(const char *letters, size_t n)
{
	size_t len = strnlen(letters, n);
	uint32_t bits = 0;
	bool has_operation = false;
	for (size_t i = 0; i < len; i++) {
		switch (letters[i]) {
		case 'W':
			bits |= RWBS_WRITE;
			has_operation = true;
			break;
		case 'R':
			bits |= RWBS_READ;
			has_operation = true;
			break;
		case 'D':
			bits |= RWBS_DISCARD;
			has_operation = true;
			break;
		case 'E':		/* behind D: a secure erase, which LTTng does not call a discard */
			bits = (bits & ~(uint32_t)RWBS_DISCARD) | RWBS_SECURE;
			break;
		case 'N':		/* none of these operations */
			has_operation = true;
			break;
		case 'F':		/* in front of an operation, behind one, or the operation itself */
			if (has_operation) {
				bits |= RWBS_FUA;
			} else if (i + 1 < len && strchr("WRDFN", letters[i + 1])) {
				bits |= RWBS_PREFLUSH;
			} else {
				bits |= RWBS_FLUSH;
				has_operation = true;
			}
			break;
		case 'A':
			bits |= RWBS_RAHEAD;
			break;
		case 'S':
			bits |= RWBS_SYNC;
			break;
		case 'M':
			bits |= RWBS_META;
			break;
		}
	}
	return bits;
}
