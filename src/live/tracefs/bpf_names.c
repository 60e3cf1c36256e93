/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes and attaches the programs. */
#include "live/tracefs/bpf_names.h"

#include "live/tracefs/file.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENT "events/" RING_PRINTED_SYSTEM "/" RING_PRINTED_EVENT
#define ENABLE EVENT "/enable"
#define FORMAT EVENT "/format"
#define FORMAT_BYTES 48			/* of the program's text, on its stack: a multiple of 8 */

struct bpf_names {
	int root;
	char tag[RING_PRINTED_TAG + 1];
	GArray *fds;			/* int: programs and what attaches them */
	unsigned n;
	bool is_refused;		/* the first one was: the others would be, too */
	bool was_off;			/* the event of texts, at the top level */
};

struct bpf_names *bpf_names_new(int root)
{
	struct bpf_names *b = g_new0(struct bpf_names, 1);
	uint64_t random = 0;
	b->root = root;
	b->fds = g_array_new(FALSE, FALSE, sizeof(int));
	b->is_refused = sizeof(long) != 8 || getrandom(&random, sizeof random, 0) != sizeof random;
	g_snprintf(b->tag, sizeof b->tag, "%016" G_GINT64_MODIFIER "x", random);
	return b;
}

/* Calls that the model has names from. To end a program takes 50 ms, as the kernel waits for its readers: not all. */
static const char *const calls[] = {
	"sys_enter_open", "sys_enter_openat", "sys_enter_openat2", "sys_enter_creat", "sys_enter_execve",
	"sys_enter_execveat", "sys_enter_unlink", "sys_enter_unlinkat", NULL
};

void bpf_names_free(struct bpf_names *b)
{
	if (!b)
		return;
	bpf_names_restore(b, false);
	for (guint i = b->fds->len; i > 0; i--)
		close(g_array_index(b->fds, int, i - 1));
	g_array_unref(b->fds);
	g_free(b);
}

/* ---- the program ---- */

struct program {
	struct bpf_insn insns[64];
	unsigned n;
};

static void add(struct program *p, uint8_t code, uint8_t to, uint8_t from, int16_t offset, int32_t value)
{
	g_assert(p->n < G_N_ELEMENTS(p->insns));
	p->insns[p->n++] = (struct bpf_insn){ .code = code, .dst_reg = to & 0xf, .src_reg = from & 0xf, .off = offset,
					      .imm = value };
}

/* An argument of the call, or 0. */
static void load(struct program *p, uint8_t to, const struct ring_field *field)
{
	if (field)
		add(p, BPF_LDX | BPF_MEM | BPF_DW, to, BPF_REG_6, (int16_t)field->offset, 0);
	else
		add(p, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, 0);
}

/* bpf_trace_printk("TAG NUMBER %x %x %pus", A, B, NAME); return 0: no sample of perf is made. */
static void make(struct program *p, const struct ring_printed_call *call, const char *tag, unsigned number)
{
	char text[FORMAT_BYTES] = "";
	int len = g_snprintf(text, sizeof text, "%s %x %%x %%x %%pus", tag, number);
	p->n = 0;
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
	for (int i = 0; i < FORMAT_BYTES; i += 8) {
		uint32_t low, high;
		memcpy(&low, text + i, 4);
		memcpy(&high, text + i + 4, 4);
		add(p, BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, 0, 0, (int32_t)low);
		add(p, 0, 0, 0, 0, (int32_t)high);
		add(p, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, (int16_t)(i - FORMAT_BYTES), 0);
	}
	load(p, BPF_REG_3, call->values[0]);
	load(p, BPF_REG_4, call->values[1]);
	load(p, BPF_REG_5, call->name);
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	add(p, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -FORMAT_BYTES);
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, len + 1);
	add(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_trace_printk);
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	add(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ---- the kernel ---- */

/* -1: errno. */
static int load_program(const struct program *p)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT, .insn_cnt = p->n, .insns = (uintptr_t)p->insns,
		.license = (uintptr_t)"GPL",
	};
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
}

static bool is_on(const struct bpf_names *b)
{
	g_autofree char *text = tracefs_file_read(b->root, ENABLE);
	return text && *text == '1';
}

/* Runs the program at the event, on all CPUs. -1: errno. */
static int attach(int program, unsigned event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof attr, .config = event, .sample_period = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)) {
		close(fd);
		fd = -1;
	}
	return fd;
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

char *bpf_names_add(struct bpf_names *b, const struct ring_format *format)
{
	struct ring_printed_call call;
	struct program p;
	if (b->is_refused || !g_strv_contains(calls, format->name) || !ring_printed_choose(&call, format))
		return NULL;
	if (!b->n)
		b->was_off = !stays_on(b);
	make(&p, &call, b->tag, b->n);
	int program = load_program(&p), event = program < 0 ? -1 : attach(program, format->id);
	if (event >= 0) {
		g_array_append_val(b->fds, program);
		g_array_append_val(b->fds, event);
		return ring_printed_format(format, &call, b->n++);
	}
	b->is_refused = !b->n;
	if (program >= 0)
		close(program);
	return NULL;
}

void bpf_names_restore(const struct bpf_names *b, bool waits)
{
	if (!b->was_off || !b->n)
		return;
	gint64 until = g_get_monotonic_time() + (waits ? ENABLED_WAIT_US : 0);
	while (!is_on(b) && g_get_monotonic_time() < until)
		g_usleep(2000);
	tracefs_file_write(b->root, ENABLE, "0");
}

unsigned bpf_names_n(const struct bpf_names *b)
{
	return b->n;
}

const char *bpf_names_tag(const struct bpf_names *b)
{
	return b->tag;
}

bool bpf_names_expected(int root)
{
	g_autofree char *format = tracefs_file_read(root, FORMAT);
	return sizeof(long) == 8 && format && strstr(format, RING_PRINTED_TEXT);
}
