/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads /proc, and writes what it read as a state dump. */
#include "live/tracefs/state.h"

#include "base/coder.h"
#include "base/fail.h"
#include "trace/ring/ring_dump.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define KERNEL_DEVICE_BITS 20		/* of the minor number in the kernel's dev_t */

enum record_kind { RECORD_END, RECORD_THREAD, RECORD_PID_NS, RECORD_CGROUP_NS, RECORD_UTS_NS, RECORD_DESCRIPTOR,
		   RECORD_INTERRUPT, RECORD_DISK, RECORD_N };

/* What one event of the dump says; which members count depends on the kind. */
struct state_record {
	uint8_t kind;			/* enum record_kind */
	bool is_kernel;
	int32_t tid, pid, ppid;		/* RECORD_PID_NS: tid, vpid, vtid */
	int32_t level, fd;
	uint32_t number;		/* inode number of a namespace; flags; interrupt; device */
	char *text;
};

static void code_record(struct coder *c, struct state_record *r)
{
	code_below(c, &r->kind, RECORD_N);
	code_bool(c, &r->is_kernel);
	code_i32(c, &r->tid);
	code_i32(c, &r->pid);
	code_i32(c, &r->ppid);
	code_i32(c, &r->level);
	code_i32(c, &r->fd);
	code_u32(c, &r->number);
	code_text(c, &r->text);
}

/* ---- reading ---- */

struct state_reader {
	const char *root;
	struct coder coder;
};

static void put(struct state_reader *r, struct state_record record)
{
	if (!record.text)
		record.text = (char *)"";
	code_record(&r->coder, &record);
}

static char *read_text(const struct state_reader *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
static char *read_text(const struct state_reader *r, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *path = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *whole = g_strconcat(r->root, path, NULL);
	char *text = NULL;
	g_file_get_contents(whole, &text, NULL, NULL);
	return text;
}

static GDir *open_dir(const struct state_reader *r, const char *path)
{
	g_autofree char *whole = g_strconcat(r->root, path, NULL);
	return g_dir_open(whole, 0, NULL);
}

/* What a link leads to; NULL: none. */
static char *read_link(const struct state_reader *r, const char *path)
{
	g_autofree char *whole = g_strconcat(r->root, path, NULL);
	return g_file_read_link(whole, NULL);
}

/* The last number of the line of `key` in a status file; -1: none. *n: how many numbers it has. */
static int32_t status_number(const char *status, const char *key, unsigned *n)
{
	g_autofree char *line_key = g_strconcat("\n", key, ":", NULL);
	const char *at = strstr(status, line_key);
	int32_t value = -1;
	*n = 0;
	if (!at)
		return -1;
	at += strlen(line_key);
	for (char *end;; at = end, ++*n) {
		while (*at == ' ' || *at == '\t')
			at++;
		if (!g_ascii_isdigit(*at))
			return value;
		value = (int32_t)strtol(at, &end, 10);
	}
}

/* The inode number of "pid:[4026531836]"; 0: not known. */
static uint32_t namespace_number(const struct state_reader *r, int pid, const char *which)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/ns/%s", pid, which);
	g_autofree char *link = read_link(r, path);
	const char *open = link ? strchr(link, '[') : NULL;
	return open ? (uint32_t)strtoul(open + 1, NULL, 10) : 0;
}

/* The comm of a kworker of a pool ("kworker/0:1", "kworker/u8:2") has in /proc the name of its work behind its own,
 * which no event has. Those of rescuers ("kworker/R-rcu_g") do not. Source: kernel/workqueue.c, wq_worker_comm(). */
static void cut_work_name(char *comm)
{
	const char *pool = comm + strlen("kworker/");
	if (g_str_has_prefix(comm, "kworker/") && (g_ascii_isdigit(*pool) || *pool == 'u')) {
		char *work = strpbrk(comm, "+-");
		if (work)
			*work = '\0';
	}
}

static void read_thread(struct state_reader *r, int pid, int tid)
{
	g_autofree char *comm = read_text(r, "/proc/%d/task/%d/comm", pid, tid);
	g_autofree char *status = read_text(r, "/proc/%d/task/%d/status", pid, tid);
	unsigned n, n_pids, n_kthread;
	if (!comm || !status)
		return;
	g_strchomp(comm);
	cut_work_name(comm);
	int32_t ppid = status_number(status, "PPid", &n), vtid = status_number(status, "NSpid", &n_pids);
	int32_t vpid = status_number(status, "NStgid", &n), kernel = status_number(status, "Kthread", &n_kthread);
	put(r, (struct state_record){ .kind = RECORD_THREAD, .tid = tid, .pid = pid, .ppid = MAX(ppid, 0), .text = comm,
				.is_kernel = n_kthread ? kernel > 0 : !strstr(status, "\nVmSize:") });
	uint32_t pid_ns = namespace_number(r, tid, "pid"), cgroup_ns = namespace_number(r, tid, "cgroup");
	uint32_t uts_ns = namespace_number(r, tid, "uts");
	if (pid_ns && n_pids)
		put(r, (struct state_record){ .kind = RECORD_PID_NS, .tid = tid, .pid = vpid, .ppid = vtid,
					.level = (int32_t)n_pids - 1, .number = pid_ns });
	if (cgroup_ns)
		put(r, (struct state_record){ .kind = RECORD_CGROUP_NS, .tid = tid, .number = cgroup_ns });
	if (uts_ns)
		put(r, (struct state_record){ .kind = RECORD_UTS_NS, .tid = tid, .number = uts_ns });
}

static void read_descriptors(struct state_reader *r, int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/fd", pid);
	g_autoptr(GDir) dir = open_dir(r, path);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *link_path = g_strdup_printf("%s/%s", path, name);
		g_autofree char *file = read_link(r, link_path), *info = read_text(r, "/proc/%d/fdinfo/%s", pid, name);
		const char *flags = info ? strstr(info, "flags:") : NULL;
		if (file)
			put(r, (struct state_record){
				       .kind = RECORD_DESCRIPTOR,
				       .pid = pid,
				       .fd = atoi(name),
				       .text = file,
				       .number = flags ? (uint32_t)strtoul(flags + strlen("flags:"), NULL, 8) : 0 });
	}
}

static void read_process(struct state_reader *r, int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", pid);
	g_autoptr(GDir) dir = open_dir(r, path);
	for (const char *name; dir && (name = g_dir_read_name(dir));)
		read_thread(r, pid, atoi(name));
	read_descriptors(r, pid);
}

/* Source: Documentation/ABI/testing/sysfs-kernel-irq (Linux 4.9). */
static void read_interrupts(struct state_reader *r)
{
	g_autoptr(GDir) dir = open_dir(r, "/sys/kernel/irq");
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *actions = read_text(r, "/sys/kernel/irq/%s/actions", name);
		if (actions && *g_strchomp(actions))
			put(r, (struct state_record){ .kind = RECORD_INTERRUPT,
						      .number = (uint32_t)strtoul(name, NULL, 10),
						      .text = actions });
	}
}

static void read_disks(struct state_reader *r)
{
	g_autoptr(GDir) dir = open_dir(r, "/sys/class/block");
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *dev = read_text(r, "/sys/class/block/%s/dev", name);
		unsigned major, minor;
		if (dev && sscanf(dev, "%u:%u", &major, &minor) == 2)
			put(r, (struct state_record){ .kind = RECORD_DISK,
						      .number = major << KERNEL_DEVICE_BITS | minor,
						      .text = (char *)name });
	}
}

void tracefs_state_read(const char *root, GByteArray *to)
{
	struct state_reader r = { .root = root, .coder = { .out = to } };
	g_autoptr(GDir) dir = open_dir(&r, "/proc");
	for (const char *name; dir && (name = g_dir_read_name(dir));)
		if (g_ascii_isdigit(*name))
			read_process(&r, atoi(name));
	read_interrupts(&r);
	read_disks(&r);
	put(&r, (struct state_record){ .kind = RECORD_END });
}

/* ---- writing ---- */

static void put_record(struct ring_packets *p, struct ring_dump *d, const struct state_record *r)
{
	switch ((enum record_kind)r->kind) {
	case RECORD_THREAD:
		if (!ring_packets_has_process(p, r->tid))	/* events know it better: ids are used again */
			ring_packets_set_process(p, r->tid, r->pid);
		ring_dump_thread(d, &(struct ring_dump_thread){ .tid = r->tid,
								.pid = r->pid,
								.ppid = r->ppid,
								.name = r->text,
								.is_kernel = r->is_kernel,
								.files = (uint64_t)r->pid });
		break;
	case RECORD_PID_NS:
		ring_dump_pid_namespace(d, r->tid, r->ppid, r->pid, r->level, r->number);
		break;
	case RECORD_CGROUP_NS:
	case RECORD_UTS_NS:
		ring_dump_namespace(d, r->kind == RECORD_CGROUP_NS ? RING_CGROUP_NS : RING_UTS_NS, r->tid, r->number);
		break;
	case RECORD_DESCRIPTOR:
		ring_dump_descriptor(d, (uint64_t)r->pid, r->fd, r->number, r->text);
		break;
	case RECORD_INTERRUPT:
		ring_dump_interrupt(d, r->number, r->text);
		break;
	case RECORD_DISK:
		ring_dump_disk(d, r->number, r->text);
		break;
	default:
		break;
	}
}

bool tracefs_state_put(struct ring_packets *p, const uint8_t *bytes, size_t n, uint64_t begin, uint64_t end,
		       GError **error)
{
	struct coder c = { .at = bytes, .end = bytes + n };
	struct ring_dump *d = ring_dump_new(p, begin);
	for (bool more = true; more;) {
		struct state_record r = { 0 };
		code_record(&c, &r);
		more = !c.fault && r.kind != RECORD_END;
		if (more)
			put_record(p, d, &r);
		g_free(r.text);
	}
	ring_dump_end(d, end);
	return !c.fault || fail(error, RING_ERROR, 0, "the state of the machine cannot be read: %s", c.fault);
}
