/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machines (kinds of processors) and the numbers of their system calls. A number means another call on each machine,
 * and also in a 32-bit program of a 64-bit machine ("compat"). LTTng does not record the machine, so it is concluded
 * from what a trace has:
 *
 * 1. event classes that only some machines have; names of compat calls tell the 64-bit machine;
 * 2. words for machines in the kernel's release ("6.1.0-56-cloud-amd64"), or in perf's entry "machine";
 * 3. the size of `long` and the byte order;
 * 4. the boot id: if it is that of this machine, the trace is of this machine;
 * 5. machine_assume(), unless 1 to 3 exclude it.
 *
 * A machine is known when exactly one is left. The tables of numbers are libseccomp's.
 */
#ifndef BLK_BASE_MACHINE_H
#define BLK_BASE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MACHINE_OTHER: one that blktop has no table for. MACHINE_PPC is also what 32-bit programs of MACHINE_PPC64 have. */
enum machine {
	MACHINE_UNKNOWN, MACHINE_X86_64, MACHINE_I386, MACHINE_ARM, MACHINE_ARM64, MACHINE_RISCV64, MACHINE_PPC64,
	MACHINE_PPC, MACHINE_S390X, MACHINE_OTHER,
	MACHINE_N,
};

struct machine_row {
	const char *name;	/* as option --machine takes it: "x86-64" */
	const char *words;	/* other names that mean it, as those of uname(2); separated by spaces */
	unsigned bits;		/* of `long`: 32 or 64 */
	bool little, big;	/* byte orders that it can have */
	enum machine compat;	/* numbers of its 32-bit programs; MACHINE_UNKNOWN: no table */
};

/* From MACHINE_X86_64 to MACHINE_S390X; NULL: no such row. */
const struct machine_row *machine_row(enum machine m);
/* By its name or one of its words, upper or lower case; MACHINE_UNKNOWN: none is called so. */
enum machine machine_by_name(const char *name);

/* What is known of a host's machine. All zero: nothing. */
struct machine_evidence {
	uint16_t not_by_events, not_by_words;	/* sets (1 << enum machine) of machines that it cannot be */
	bool long32, long64;			/* sizes of `long` that were seen; 64 bits count more */
	bool little, big;			/* byte orders that were seen */
	bool events, switches;			/* event classes of its kernel's tracer are declared; one of them is
						 * sched_switch */
};

/* Are its kernel's switches not recorded? Then only the contexts of an event tell which thread ran. */
static inline bool machine_has_no_switches(const struct machine_evidence *e)
{
	return e->events && !e->switches;
}

void machine_saw_event(struct machine_evidence *e, const char *event);	/* an event class of the kernel's tracer */
void machine_saw_words(struct machine_evidence *e, const char *text);	/* such as the kernel's release */
void machine_evidence_add(struct machine_evidence *e, const struct machine_evidence *more);

/* Reads the boot id and machine of this system. Call before other threads exist and before isolation. */
void machine_learn_here(void);
/* The machine of hosts whose traces do not show it. Call before other threads exist. */
void machine_assume(enum machine m);

/* boot: boot id of the host, or "". MACHINE_UNKNOWN: several are possible, or the evidence contradicts itself. Any
 * thread. */
enum machine machine_of(const struct machine_evidence *e, const char *boot);

/*
 * The name of a system call as in <asm/unistd.h>; compat: of a 32-bit program. NULL: unknown. Numbers from 424 on are
 * the same on all machines, so they have names on MACHINE_UNKNOWN, too. The name is valid until the program ends. Any
 * thread.
 */
const char *machine_call_name(enum machine m, bool compat, int64_t number);
/* Is the command of ioctl(2) FIOCLEX or FIONCLEX on the machine? *ret: does it set close-on-exec? If the machine is not
 * known, or has no table, the numbers of any machine count. Any thread. */
bool machine_ioctl_cloexec(enum machine m, int64_t command, bool *ret);

#endif
