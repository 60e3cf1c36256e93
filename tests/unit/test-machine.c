/* SPDX-License-Identifier: GPL-2.0-only */
/* Machines: their names, what tells one, and system calls by number. */
#include "base/machine.h"

#include <glib.h>
#include <string.h>
#include <sys/utsname.h>

static void test_names(void)
{
	for (enum machine m = MACHINE_X86_64; m < MACHINE_OTHER; m++) {
		const struct machine_row *row = machine_row(m);
		g_assert_cmpint(machine_by_name(row->name), ==, m);
		g_assert_true(row->little || row->big);
		g_auto(GStrv) words = g_strsplit(row->words, " ", -1);
		for (char **w = words; *w; w++)
			g_assert_true(!**w || machine_by_name(*w) == m);
	}
	g_assert_null(machine_row(MACHINE_UNKNOWN));
	g_assert_null(machine_row(MACHINE_OTHER));
	g_assert_cmpint(machine_by_name("ARMV7L"), ==, MACHINE_ARM);
	g_assert_cmpint(machine_by_name(""), ==, MACHINE_UNKNOWN);
	g_assert_cmpint(machine_by_name("vax"), ==, MACHINE_UNKNOWN);
}

static void test_cloexec(void)
{
	static const struct { enum machine machine; uint32_t command; bool is, set; } all[] = {
		{ MACHINE_X86_64, 0x5451, true, true }, { MACHINE_ARM64, 0x5450, true, false },
		{ MACHINE_PPC64, 0x20006601, true, true }, { MACHINE_PPC, 0x20006602, true, false },
		{ MACHINE_PPC64, 0x5451, false, false }, { MACHINE_X86_64, 0x20006601, false, false },
		{ MACHINE_X86_64, 0x6601, false, false }, { MACHINE_OTHER, 0x6601, true, true },
		{ MACHINE_UNKNOWN, 0x20006602, true, false }, { MACHINE_UNKNOWN, 0x5421, false, false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		bool set;
		g_assert_cmpint(machine_ioctl_cloexec(all[i].machine, all[i].command, &set), ==, all[i].is);
		g_assert_true(!all[i].is || set == all[i].set);
	}
}

/* One machine for each evidence; little endian and 64 bits if nothing else is said. */
static void test_evidence(void)
{
	static const struct { const char *event, *words; int bits; bool big; enum machine machine; } all[] = {
		{ "sched_switch", "6.8.0-45-generic", 64, false, MACHINE_UNKNOWN },
		{ "syscall_entry_read", "", 32, false, MACHINE_UNKNOWN },
		{ "x86_irq_vectors_local_timer_entry", "", 64, false, MACHINE_X86_64 },
		{ "x86_irq_vectors_local_timer_entry", "", 32, false, MACHINE_I386 },
		{ "x86_irq_vectors_local_timer_entry", "", 0, false, MACHINE_UNKNOWN },
		{ "compat_syscall_exit_ia32_pread64", "", 64, false, MACHINE_X86_64 },
		{ "syscall_exit_arm_sync_file_range", "", 32, true, MACHINE_ARM },
		{ "compat_syscall_entry_arm_fadvise64_64", "", 64, false, MACHINE_ARM64 },
		{ "syscall_entry_riscv_hwprobe", "", 64, false, MACHINE_RISCV64 },
		{ "compat_syscall_entry_s390_runtime_instr", "", 64, true, MACHINE_S390X },
		{ "compat_syscall_entry_rtas", "", 64, false, MACHINE_PPC64 },
		{ "syscall_entry_32_futex", "", 64, false, MACHINE_UNKNOWN },
		{ "sched_switch", "6.1.0-18-686-pae", 32, false, MACHINE_I386 },
		{ "sched_switch", "5.10.0-arm", 32, false, MACHINE_ARM },
		{ "sched_switch", "5.10.0-arm", 64, false, MACHINE_ARM64 },
		{ "sched_switch", "5.10.0-loong64", 64, false, MACHINE_UNKNOWN },
		{ "sched_switch", "6.1.0-amd64-arm64", 64, false, MACHINE_UNKNOWN },
		{ "sched_switch", "6.1.0-18-amd64", 64, true, MACHINE_UNKNOWN },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		struct machine_evidence e = {
			.long32 = all[i].bits == 32, .long64 = all[i].bits == 64, .little = !all[i].big,
			.big = all[i].big,
		}, more = { 0 };
		machine_saw_event(&more, all[i].event);
		machine_saw_words(&more, all[i].words);
		machine_evidence_add(&e, &more);
		g_test_message("%zu: %s %s", i, all[i].event, all[i].words);
		g_assert_cmpint(machine_of(&e, ""), ==, all[i].machine);
	}
}

static void test_assumed(void)
{
	struct machine_evidence none = { 0 }, wide = { .long64 = true, .little = true }, told = wide;
	machine_saw_words(&told, "6.1.0-18-arm64");
	machine_assume(MACHINE_ARM);
	g_assert_cmpint(machine_of(&none, ""), ==, MACHINE_ARM);
	g_assert_cmpint(machine_of(&wide, ""), ==, MACHINE_UNKNOWN);
	g_assert_cmpint(machine_of(&told, ""), ==, MACHINE_ARM64);
	machine_assume(MACHINE_UNKNOWN);
}

/* A trace of this boot is of this machine, unless it contradicts. */
static void test_here(void)
{
	struct utsname name;
	g_autofree char *boot = NULL;
	struct machine_evidence none = { 0 }, contrary = { .not_by_events = 0xffff };
	g_assert_cmpint(uname(&name), ==, 0);
	if (!g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot, NULL, NULL)) {
		g_test_skip("there is no boot id");
		return;
	}
	g_strstrip(boot);
	g_assert_cmpint(machine_of(&none, boot), ==, MACHINE_UNKNOWN);
	machine_learn_here();
	g_assert_cmpint(machine_of(&none, boot), ==, machine_by_name(name.machine));
	g_assert_cmpint(machine_of(&none, ""), ==, MACHINE_UNKNOWN);
	g_assert_cmpint(machine_of(&none, "another"), ==, MACHINE_UNKNOWN);
	g_assert_cmpint(machine_of(&contrary, boot), ==, MACHINE_UNKNOWN);
}

static void test_numbers(void)
{
	static const int64_t none[] = {
		-1, -101, INT64_MIN, INT64_MAX, 599, 600, 1000, INT64_C(1) << 40, 0xf0002,
	};
	for (enum machine m = MACHINE_UNKNOWN; m < MACHINE_N; m++)
		for (int compat = 0; compat < 2; compat++) {
			g_assert_cmpstr(machine_call_name(m, compat, 435), ==, "clone3");
			for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
				g_assert_null(machine_call_name(m, compat, none[i]));
		}
	g_assert_null(machine_call_name(MACHINE_UNKNOWN, false, 0));
	g_assert_null(machine_call_name(MACHINE_OTHER, true, 0));
	g_assert_null(machine_call_name(MACHINE_RISCV64, true, 63));
	g_assert_cmpstr(machine_call_name(MACHINE_X86_64, false, 0), ==, "read");
	g_assert_cmpstr(machine_call_name(MACHINE_X86_64, false, 335), ==, "uretprobe");
	g_assert_cmpstr(machine_call_name(MACHINE_X86_64, true, 2), ==, "fork");
	g_assert_cmpstr(machine_call_name(MACHINE_X86_64, true, 0x40000000 + 513), ==, "rt_sigreturn");
	g_assert_cmpstr(machine_call_name(MACHINE_ARM, false, 194), ==, "ftruncate64");
	g_assert_cmpstr(machine_call_name(MACHINE_ARM64, true, 194), ==, "ftruncate64");
	g_assert_cmpstr(machine_call_name(MACHINE_ARM64, false, 194), ==, "shmget");
	g_assert_cmpstr(machine_call_name(MACHINE_S390X, true, 222), ==, "readahead");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/machine/cloexec", test_cloexec);
	g_test_add_func("/machine/names", test_names);
	g_test_add_func("/machine/evidence", test_evidence);
	g_test_add_func("/machine/assumed", test_assumed);
	g_test_add_func("/machine/here", test_here);
	g_test_add_func("/machine/numbers", test_numbers);
	return g_test_run();
}
