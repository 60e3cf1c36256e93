/* SPDX-License-Identifier: GPL-2.0-only */
/* Which machine a trace is of, and its system calls by number: see machine.h. */
#include "base/machine.h"

#include "base/call_event.h"

#include <glib.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define BIT(m) ((uint16_t)(1u << MACHINE_##m))
#define ALL ((uint16_t)((1u << MACHINE_N) - 1 - BIT(UNKNOWN)))
#define X86 (BIT(X86_64) | BIT(I386))
#define POWER (BIT(PPC64) | BIT(PPC))

static const struct machine_row machines[MACHINE_N] = {
	[MACHINE_X86_64] = { "x86-64", "x86_64 amd64 x64", 64, true, false, MACHINE_I386 },
	[MACHINE_I386] = { "i386", "i486 i586 i686 x86-32 pae", 32, true, false, MACHINE_UNKNOWN },
	[MACHINE_ARM] = { "arm", "armhf armel armmp lpae armv5 armv5l armv5te armv5tel armv6 armv6l armv7 armv7a "
			  "armv7l armv7hl armv7b armeb arm32", 32, true, true, MACHINE_UNKNOWN },
	/* uname(2) is armv8l for 32-bit programs of an arm64 kernel. */
	[MACHINE_ARM64] = { "arm64", "aarch64 aarch64_be armv8l armv8b", 64, true, true, MACHINE_ARM },
	[MACHINE_RISCV64] = { "riscv64", "", 64, true, false, MACHINE_UNKNOWN },
	[MACHINE_PPC64] = { "ppc64", "ppc64le ppc64el powerpc64 powerpc64le", 64, true, true, MACHINE_PPC },
	[MACHINE_PPC] = { "ppc", "ppc32 powerpc", 32, false, true, MACHINE_UNKNOWN },
	[MACHINE_S390X] = { "s390x", "s390", 64, false, true, MACHINE_UNKNOWN },
};

/* Words in a kernel's release that leave several machines, or that mean a machine without a table. */
static const struct { const char *word; uint16_t machines; } vague[] = {
	{ "x86", X86 }, { "arm", BIT(ARM) | BIT(ARM64) }, { "powerpc", POWER }, { "ppc", POWER },
	{ "mips", BIT(OTHER) }, { "mipsel", BIT(OTHER) }, { "mips64", BIT(OTHER) }, { "mips64el", BIT(OTHER) },
	{ "loong64", BIT(OTHER) }, { "loongarch64", BIT(OTHER) }, { "sparc64", BIT(OTHER) },
};

/*
 * System calls that only these machines have, by the kernel's names, which LTTng uses ("old_select", "ia32_*"). Checked
 * against the kernel's tables and the lists of calls of lttng-modules 2.13 and 2.16. The first row that fits counts.
 */
static const struct { const char *call; uint16_t machines; } calls[] = {
	{ "arch_prctl", X86 }, { "modify_ldt", X86 }, { "iopl", X86 }, { "ioperm", X86 },
	{ "uretprobe", BIT(X86_64) }, { "uprobe", BIT(X86_64) },
	{ "old_select", BIT(I386) }, { "old_mmap", BIT(I386) }, { "get_thread_area", BIT(I386) },
	{ "set_thread_area", BIT(I386) | BIT(OTHER) }, { "vm86", BIT(I386) }, { "vm86old", BIT(I386) },
	{ "ia32_*", BIT(I386) },
	{ "arm64_*", BIT(ARM64) }, { "arm_*", BIT(ARM) },
	{ "riscv_*", BIT(RISCV64) },
	{ "s390_*", BIT(S390X) },
	{ "spu_*", POWER }, { "ppc64_*", BIT(PPC64) }, { "ppc_*", POWER }, { "rtas", POWER },
	{ "swapcontext", POWER }, { "subpage_prot", POWER }, { "switch_endian", POWER },
	{ "mips_*", BIT(OTHER) }, { "sysmips", BIT(OTHER) }, { "32_*", BIT(OTHER) }, { "n32_*", BIT(OTHER) },
};

/* Other events of the kernel that only these machines have. */
static const struct { const char *event; uint16_t machines; } events[] = {
	{ "x86_*", X86 }, { "kvm_x86_*", X86 }, { "irq_vectors_*", X86 }, { "exceptions_page_fault_*", X86 },
	{ "lttng_statedump_cpu_topology", X86 },
};

/* From 424 (Linux 5.1) on, a new call has the same number on all machines. Debian 12 has a libseccomp that is older
 * than some of them. */
#define FIRST_COMMON 424
static const char *const common[] = {
	"pidfd_send_signal", "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree", "move_mount",
	"fsopen", "fsconfig", "fsmount", "fspick", "pidfd_open", "clone3", "close_range", "openat2", "pidfd_getfd",
	"faccessat2", "process_madvise", "epoll_pwait2", "mount_setattr", "quotactl_fd", "landlock_create_ruleset",
	"landlock_add_rule", "landlock_restrict_self", "memfd_secret", "process_mrelease", "futex_waitv",
	"set_mempolicy_home_node", "cachestat", "fchmodat2", "map_shadow_stack", "futex_wake", "futex_wait",
	"futex_requeue", "statmount", "listmount", "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules",
	"mseal", "setxattrat", "getxattrat", "listxattrat", "removexattrat", "open_tree_attr", "file_getattr",
	"file_setattr", "listns", "rseq_slice_yield",
};

/* Older numbers that libseccomp of Debian 12 does not have. */
static const struct { enum machine machine; int number; const char *name; } newer[] = {
	{ MACHINE_X86_64, 335, "uretprobe" }, { MACHINE_X86_64, 336, "uprobe" },
	{ MACHINE_RISCV64, 258, "riscv_hwprobe" },
};

/* ---- names of machines ---- */

const struct machine_row *machine_row(enum machine m)
{
	return m > MACHINE_UNKNOWN && m < MACHINE_OTHER ? &machines[m] : NULL;
}

static bool is_one_of(const char *words, const char *word)
{
	g_auto(GStrv) each = g_strsplit(words, " ", -1);
	for (char **w = each; *w; w++)
		if (!g_ascii_strcasecmp(*w, word))
			return true;
	return false;
}

enum machine machine_by_name(const char *name)
{
	for (enum machine m = MACHINE_X86_64; *name && m < MACHINE_OTHER; m++)
		if (!g_ascii_strcasecmp(machines[m].name, name) || is_one_of(machines[m].words, name))
			return m;
	return MACHINE_UNKNOWN;
}

/* ---- evidence ---- */

static bool fits(const char *pattern, const char *text)
{
	size_t n = strlen(pattern);
	return pattern[n - 1] == '*' ? !strncmp(pattern, text, n - 1) : !strcmp(pattern, text);
}

/* The 64-bit machines on which 32-bit programs of this set run. */
static uint16_t hosts_of(uint16_t set)
{
	uint16_t hosts = set & BIT(OTHER);
	for (enum machine m = MACHINE_X86_64; m < MACHINE_OTHER; m++)
		if (machines[m].compat != MACHINE_UNKNOWN && set & 1u << machines[m].compat)
			hosts |= (uint16_t)(1u << m);
	return set & BIT(S390X) ? hosts | BIT(S390X) : hosts;
}

void machine_saw_event(struct machine_evidence *e, const char *event)
{
	const char *call;
	e->events = true;
	e->switches |= !strcmp(event, "sched_switch");
	if (call_event_of(event, &call) == CALL_EVENT_NONE) {
		for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
			if (fits(events[i].event, event))
				e->not_by_events |= ALL & ~events[i].machines;
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (fits(calls[i].call, call)) {
			uint16_t set = calls[i].machines;
			e->not_by_events |= ALL & ~(call_event_is_compat(event) ? hosts_of(set) : set);
			return;
		}
}

static uint16_t machines_of_word(const char *word)
{
	for (size_t i = 0; i < G_N_ELEMENTS(vague); i++)
		if (!g_ascii_strcasecmp(vague[i].word, word))
			return vague[i].machines;
	enum machine m = machine_by_name(word);
	return m == MACHINE_UNKNOWN ? ALL : (uint16_t)(1u << m);
}

void machine_saw_words(struct machine_evidence *e, const char *text)
{
	g_auto(GStrv) words = g_strsplit_set(text, ".-+~: ", -1);
	for (char **w = words; *w; w++)
		e->not_by_words |= ALL & ~machines_of_word(*w);
}

void machine_evidence_add(struct machine_evidence *e, const struct machine_evidence *more)
{
	e->not_by_events |= more->not_by_events;
	e->not_by_words |= more->not_by_words;
	e->long32 |= more->long32;
	e->long64 |= more->long64;
	e->little |= more->little;
	e->big |= more->big;
	e->events |= more->events;
	e->switches |= more->switches;
}

/* ---- conclusions ---- */

static struct { char boot[64]; enum machine machine; } here;	/* written before other threads exist */
static enum machine assumed;

void machine_learn_here(void)
{
	struct utsname name;
	g_autofree char *boot = NULL;
	if (uname(&name) < 0 || !g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot, NULL, NULL))
		return;
	g_strlcpy(here.boot, g_strstrip(boot), sizeof here.boot);
	here.machine = machine_by_name(name.machine);
}

void machine_assume(enum machine m)
{
	assumed = m;
}

static uint16_t with_long(uint16_t set, const struct machine_evidence *e)
{
	for (enum machine m = MACHINE_X86_64; (e->long32 || e->long64) && m < MACHINE_OTHER; m++)
		if (machines[m].bits != (e->long64 ? 64 : 32))
			set &= (uint16_t)~(1u << m);
	return set;
}

static uint16_t with_order(uint16_t set, const struct machine_evidence *e)
{
	for (enum machine m = MACHINE_X86_64; m < MACHINE_OTHER; m++)
		if ((e->little && !machines[m].little) || (e->big && !machines[m].big))
			set &= (uint16_t)~(1u << m);
	return set;
}

/* The only machine of the set that has a table; MACHINE_UNKNOWN: it is another, or one of several. */
static enum machine only(uint16_t set)
{
	for (enum machine m = MACHINE_X86_64; m < MACHINE_OTHER; m++)
		if (set == 1u << m)
			return m;
	return MACHINE_UNKNOWN;
}

enum machine machine_of(const struct machine_evidence *e, const char *boot)
{
	uint16_t set = ALL & ~e->not_by_events, by_words = set & ~e->not_by_words;
	if (by_words)
		set = by_words;		/* a release is free text: event classes count more */
	uint16_t by_long = with_long(set, e);
	set = with_order(by_long & ~BIT(OTHER) ? by_long : set, e);
	if (only(set) != MACHINE_UNKNOWN)
		return only(set);
	set = with_long(set, e);
	if (*here.boot && !strcmp(here.boot, boot) && set & 1u << here.machine)
		return here.machine;
	return set & 1u << assumed ? assumed : MACHINE_UNKNOWN;
}

/* ---- numbers ---- */

#define X32_BIT 0x40000000	/* in all numbers of x32, x86-64 programs with 32-bit pointers */
#define TABLE_LENGTH 600

enum { TABLE_X32 = MACHINE_N, TABLE_S390, TABLE_N };	/* besides those of the machines */

static const uint32_t arches[TABLE_N] = {
	[MACHINE_X86_64] = SCMP_ARCH_X86_64, [MACHINE_I386] = SCMP_ARCH_X86, [MACHINE_ARM] = SCMP_ARCH_ARM,
	[MACHINE_ARM64] = SCMP_ARCH_AARCH64, [MACHINE_RISCV64] = SCMP_ARCH_RISCV64,
	[MACHINE_PPC64] = SCMP_ARCH_PPC64, [MACHINE_PPC] = SCMP_ARCH_PPC, [MACHINE_S390X] = SCMP_ARCH_S390X,
	[TABLE_X32] = SCMP_ARCH_X32, [TABLE_S390] = SCMP_ARCH_S390,
};

/* libseccomp searches and copies: the names of a table are copied once. */
static const char **table_of(unsigned table)
{
	static const char **tables[TABLE_N];
	if (g_once_init_enter(&tables[table])) {
		const char **names = g_new0(const char *, TABLE_LENGTH);
		for (int i = 0; i < TABLE_LENGTH; i++)
			names[i] = seccomp_syscall_resolve_num_arch(arches[table],
								    table == TABLE_X32 ? i | X32_BIT : i);
		for (size_t i = 0; i < G_N_ELEMENTS(newer); i++)
			if (newer[i].machine == table && !names[newer[i].number])
				names[newer[i].number] = newer[i].name;
		g_once_init_leave(&tables[table], names);
	}
	return tables[table];
}

const char *machine_call_name(enum machine m, bool compat, int64_t number)
{
	unsigned table = !compat ? m : m == MACHINE_S390X ? TABLE_S390 : machines[m].compat;
	if (m == MACHINE_X86_64 && number > 0 && number & X32_BIT) {
		table = TABLE_X32;
		number &= ~(int64_t)X32_BIT;
	}
	if (number >= FIRST_COMMON && number < FIRST_COMMON + (int64_t)G_N_ELEMENTS(common))
		return common[number - FIRST_COMMON];
	if (table == MACHINE_UNKNOWN || table == MACHINE_OTHER || number < 0 || number >= TABLE_LENGTH)
		return NULL;
	return table_of(table)[number];
}

bool machine_ioctl_cloexec(enum machine m, int64_t command, bool *ret)
{
	/* include/uapi/asm-generic/ioctls.h; arch/{powerpc,alpha,sparc}; arch/{mips,sh,xtensa} */
	static const struct { uint32_t set, clear; bool ppc, others; } each[] = {
		{ 0x5451, 0x5450, false, true }, { 0x20006601, 0x20006602, true, false },
		{ 0x6601, 0x6602, false, false },
	};
	bool any = m == MACHINE_UNKNOWN || m == MACHINE_OTHER, ppc = m == MACHINE_PPC || m == MACHINE_PPC64;
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		*ret = (uint32_t)command == each[i].set;
		if ((any || (ppc ? each[i].ppc : each[i].others)) && (*ret || (uint32_t)command == each[i].clear))
			return true;
	}
	return false;
}
