/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes and attaches the program. */
#include "live/tracefs/bpf_names.h"

#include "base/each.h"
#include "base/machine.h"
#include "live/tracefs/file.h"

#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define EVENT "events/" RING_PRINTED_SYSTEM "/" RING_PRINTED_EVENT
#define ENABLE EVENT "/enable"
#define FORMAT EVENT "/format"
#define ENTRY "sys_enter_"
#define FIRST_ARGUMENT 16		/* where a call's event has it, of 8 bytes. kernel/trace/trace_syscalls.c */
#define ARGUMENTS 6

/* Where struct pt_regs has a call's arguments, and what marks a call of a 64-bit program. arch/.../asm/ptrace.h */
struct registers {
	enum machine machine;
	uint16_t arguments[ARGUMENTS];
	uint16_t mode;
	int32_t mask, native;		/* mode & mask == native: 64 bits; also a 64-bit program that uses int 0x80 */
};

static const struct registers registers[] = {
	{ MACHINE_X86_64, { 112, 104, 96, 56, 72, 64 }, 136, 0xffff, 0x33 },	/* cs: __USER_CS */
	{ MACHINE_ARM64, { 0, 8, 16, 24, 32, 40 }, 264, 0x10, 0 },		/* pstate: PSR_MODE32_BIT */
};

struct printing {
	int32_t number;			/* of the system call */
	uint16_t values[RING_PRINTED_VALUES], names[RING_PRINTED_NAMES];	/* registers; NONE: fewer */
};
#define NONE UINT16_MAX

struct bpf_names {
	int root;
	char tag[RING_PRINTED_TAG + 1];
	const struct registers *registers;	/* NULL: unknown here */
	GArray *calls;			/* struct printing, by the number that is printed */
	int program, link;		/* -1: none */
	bool was_off;			/* the event of texts, at the top level */
};

/* NULL: no table for this machine, or the kernel prints one name only, and 63 bytes of it (before Linux 5.13). */
static const struct registers *registers_here(void)
{
	struct utsname here;
	unsigned major = 0, minor = 0;
	bool is_old = uname(&here) || sscanf(here.release, "%u.%u", &major, &minor) != 2 || major < 5 ||
		      (major == 5 && minor < 13);
	enum machine m = is_old || sizeof(long) != 8 ? MACHINE_UNKNOWN : machine_by_name(here.machine);
	for (size_t i = 0; i < G_N_ELEMENTS(registers); i++)
		if (registers[i].machine == m)
			return &registers[i];
	return NULL;
}

struct bpf_names *bpf_names_new(int root)
{
	struct bpf_names *b = g_new0(struct bpf_names, 1);
	uint64_t random = 0;
	b->root = root;
	b->calls = g_array_new(FALSE, FALSE, sizeof(struct printing));
	b->program = b->link = -1;
	b->registers = getrandom(&random, sizeof random, 0) == sizeof random ? registers_here() : NULL;
	g_snprintf(b->tag, sizeof b->tag, "%016" G_GINT64_MODIFIER "x", random);
	return b;
}

void bpf_names_free(struct bpf_names *b)
{
	if (!b)
		return;
	bpf_names_restore(b, false);
	if (b->link >= 0)
		close(b->link);
	if (b->program >= 0)
		close(b->program);
	g_array_unref(b->calls);
	g_free(b);
}

/* ---- the calls ---- */

/* Some names of events are not those of <asm/unistd.h>: fs/stat.c, fs/namespace.c. */
static bool is_called(const char *event, const char *call)
{
	return !strcmp(event, call) || (g_str_has_prefix(event, "new") && !strcmp(event + strlen("new"), call)) ||
	       (!strcmp(event, "umount") && !strcmp(call, "umount2"));
}

/* -1: unknown. */
static int32_t number_of(enum machine m, const char *event)
{
	const char *call;
	for (int32_t n = 0; n < 1024; n++)
		if ((call = machine_call_name(m, false, n)) && is_called(event, call))
			return n;
	return -1;
}

static uint16_t register_of(const struct bpf_names *b, const struct ring_field *argument)
{
	unsigned i = argument ? (argument->offset - FIRST_ARGUMENT) / 8 : ARGUMENTS;
	return i < ARGUMENTS ? b->registers->arguments[i] : NONE;
}

char *bpf_names_add(struct bpf_names *b, const struct ring_format *format)
{
	struct ring_printed_call printed;
	if (!b->registers || !ring_printed_choose(&printed, format))
		return NULL;
	struct printing call = { .number = number_of(b->registers->machine, format->name + strlen(ENTRY)) };
	for (unsigned i = 0; i < RING_PRINTED_VALUES; i++)
		call.values[i] = register_of(b, printed.values[i]);
	for (unsigned i = 0; i < RING_PRINTED_NAMES; i++)
		call.names[i] = register_of(b, printed.names[i]);
	if (call.number < 0 || call.names[0] == NONE)
		return NULL;
	g_array_append_val(b->calls, call);
	return ring_printed_format(format, &printed, b->calls->len - 1);
}

/* ---- the program ---- */

#define TEXT_BYTES 56			/* on its stack, before the three arguments: a multiple of 8 */
#define STACK(bytes) ((int16_t)-(bytes))
#define MODE_AT STACK(TEXT_BYTES + 8)
#define ARGUMENT_AT(i) STACK(TEXT_BYTES + 8 * ((i) + 2))

static void add(GArray *p, uint8_t code, uint8_t to, uint8_t from, int16_t offset, int32_t value)
{
	struct bpf_insn insn = { .code = code, .dst_reg = to & 0xf, .src_reg = from & 0xf, .off = offset,
				 .imm = value };
	g_array_append_val(p, insn);
}

static void jump_here(GArray *p, guint from)
{
	g_array_index(p, struct bpf_insn, from).off = (int16_t)(p->len - from - 1);
}

static void leave(GArray *p)
{
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	add(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Copies a register of the caller, which BPF_REG_7 points to, to the stack. */
static void copy(GArray *p, int16_t to, uint16_t at)
{
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	add(p, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, to);
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 8);
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_7, 0, 0);
	add(p, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, at);
	add(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel);
}

static void store_text(GArray *p, const char text[TEXT_BYTES])
{
	for (int i = 0; i < TEXT_BYTES; i += 8) {
		uint32_t low, high;
		memcpy(&low, text + i, 4);
		memcpy(&high, text + i + 4, 4);
		add(p, BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, 0, 0, (int32_t)low);
		add(p, 0, 0, 0, 0, (int32_t)high);
		add(p, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, (int16_t)(i - TEXT_BYTES), 0);
	}
}

static void print(GArray *p, int len, bool names)
{
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	add(p, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -TEXT_BYTES);
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, len + 1);
	for (unsigned i = 0; i < 3; i++)
		if (!i || names)
			add(p, BPF_LDX | BPF_MEM | BPF_DW, (uint8_t)(BPF_REG_3 + i), BPF_REG_10, ARGUMENT_AT(i), 0);
		else
			add(p, BPF_ALU64 | BPF_MOV | BPF_K, (uint8_t)(BPF_REG_3 + i), 0, 0, 0);
	add(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_trace_printk);
}

/* bpf_trace_printk(TEXT, ...) as ring_printed.h says, unless a 32-bit program calls. */
static void add_call(GArray *p, const struct bpf_names *b, guint printed)
{
	const struct printing *call = &g_array_index(b->calls, struct printing, printed);
	bool two = call->names[1] != NONE;
	const uint16_t arguments[] = { call->values[0], two ? call->names[0] : call->values[1],
				       two ? call->names[1] : call->names[0] };
	char text[TEXT_BYTES] = "";
	int len = two ? g_snprintf(text, sizeof text, "%s %x %%x 0 %%pus %s %%pus", b->tag, printed, b->tag) :
			g_snprintf(text, sizeof text, "%s %x %%x %%x %%pus", b->tag, printed);
	g_assert(len < TEXT_BYTES);
	copy(p, MODE_AT, b->registers->mode);
	add(p, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, MODE_AT, 0);
	add(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_1, 0, 0, b->registers->mask);
	guint other = p->len;
	add(p, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_1, 0, 0, b->registers->native);
	for (unsigned i = 0; i < G_N_ELEMENTS(arguments); i++)
		if (arguments[i] != NONE)
			copy(p, ARGUMENT_AT(i), arguments[i]);
		else
			add(p, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, ARGUMENT_AT(i), 0);
	store_text(p, text);
	print(p, len, true);
	if (two) {	/* refused if the first name took all the room: then without them */
		guint done = p->len;
		add(p, BPF_JMP | BPF_JSGE | BPF_K, BPF_REG_0, 0, 0, 0);
		print(p, len, false);
		jump_here(p, done);
	}
	jump_here(p, other);
	leave(p);
}

/* For raw_syscalls:sys_enter, whose arguments are the caller's registers and the call's number. */
static GArray *make(const struct bpf_names *b)
{
	GArray *p = g_array_new(FALSE, FALSE, sizeof(struct bpf_insn));
	add(p, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, 0, 0);
	add(p, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_8, BPF_REG_1, 8, 0);
	guint jumps = p->len;
	ARRAY_EACH(const struct printing, call, b->calls)
		add(p, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_8, 0, 0, call->number);
	leave(p);
	for (guint i = 0; i < b->calls->len; i++) {
		jump_here(p, jumps + i);
		add_call(p, b, i);
	}
	return p;
}

/* ---- the kernel ---- */

/* -1: errno. */
static int load_program(const GArray *p)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insn_cnt = p->len, .insns = (uintptr_t)p->data,
		.license = (uintptr_t)"GPL",
	};
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
}

/* Runs the program at each system call, on all CPUs. -1: errno. */
static int attach(int program)
{
	union bpf_attr attr = {
		.raw_tracepoint = { .name = (uintptr_t)"sys_enter", .prog_fd = (uint32_t)program },
	};
	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof attr);
}

static bool is_on(const struct bpf_names *b)
{
	g_autofree char *text = tracefs_file_read(b->root, ENABLE);
	return text && *text == '1';
}

/* Since Linux 5.15 the kernel enables it a moment later, by a work queue. */
#define ENABLED_WAIT_US 200000

/* Another blktop that begins has it on for a moment. */
static bool stays_on(const struct bpf_names *b)
{
	gint64 until = g_get_monotonic_time() + 2 * ENABLED_WAIT_US;
	while (is_on(b)) {
		if (g_get_monotonic_time() > until)
			return true;
		g_usleep(2000);
	}
	return false;
}

bool bpf_names_start(struct bpf_names *b)
{
	if (!b->calls->len)
		return false;
	b->was_off = !stays_on(b);
	g_autoptr(GArray) program = make(b);
	b->program = load_program(program);
	b->link = b->program < 0 ? -1 : attach(b->program);
	return b->link >= 0;
}

void bpf_names_restore(const struct bpf_names *b, bool waits)
{
	if (!b->was_off || b->program < 0)
		return;
	gint64 until = g_get_monotonic_time() + (waits ? ENABLED_WAIT_US : 0);
	while (!is_on(b) && g_get_monotonic_time() < until)
		g_usleep(2000);
	tracefs_file_write(b->root, ENABLE, "0");
}

const char *bpf_names_tag(const struct bpf_names *b)
{
	return b->tag;
}

bool bpf_names_fit_here(void)
{
	return registers_here() != NULL;
}

bool bpf_names_expected(int root)
{
	g_autofree char *format = tracefs_file_read(root, FORMAT);
	return registers_here() && format && strstr(format, RING_PRINTED_TEXT);
}
