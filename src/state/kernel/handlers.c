/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subscription table and the handlers of threads, calls and interrupts. If tracer versions (LTTng 2.0 to 2.16)
 * name an event differently, the table has a row for each name.
 */
#include "state/kernel/handlers.h"
#include "base/address.h"
#include "base/call_event.h"
#include "base/machine.h"
#include "state/kernel/contexts.h"
#include "state/kernel/facts.h"
#include "state/kernel/threads.h"

#include "state/kernel/annot.h"
#include "state/kernel/block.h"
#include "state/kernel/calls.h"
#include "state/kernel/cpu.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/event_task.h"
#include "state/kernel/irq.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/subscriptions.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_state.h"

#include <stdio.h>

#define F(n) (BLK_FIELD0 + (n))

/* ---- scheduler ---- */

static int16_t prio_of(const struct fed_event *f, unsigned slot)
{
	return blk_has(f->ev, slot) ? sched_prio(event_int(f->ev, slot, 0)) : PRIO_NONE;
}

static void on_sched_switch(struct fed_event *f)
{
	int32_t prev = (int32_t)event_int(f->ev, F(0), 0), next = (int32_t)event_int(f->ev, F(2), 0);
	struct slice *s = f->s;
	/* live, its class may have been declared after the stream began */
	g_array_index(s->hosts, struct slice_host, f->host).evidence.switches = true;
	if (blk_has(f->ev, BLK_CTX_TID) || blk_has(f->ev, BLK_CTX_PID))
		event_task(f);
	struct thread *was = cpu_task(s, f->c);
	if (f->cls->n_counters) {
		cpu_context(s, f->c, f->ts, f->seq, prev);
		counters_at_switch(f, cpu_task(s, f->c));
	}
	cpu_switch(s, f->c, &(struct switching){
		.ts = f->ts, .seq = f->seq, .prev_tid = prev, .next_tid = next,
		.prev_prio = prio_of(f, F(5)), .next_prio = prio_of(f, F(6)),
		.prev_state = off_state_of(s, f->host, event_int(f->ev, F(1), 0)),
	});
	if (prev && was)	/* an anonymous task is identified by now */
		event_learn_comm(f, thread_at(s, was->self), F(3));
	if (next)
		event_learn_comm(f, cpu_task(s, f->c), F(4));
}

static uint16_t cpu_number(const struct fed_event *f, unsigned slot)
{
	return (uint16_t)CLAMP(event_int(f->ev, slot, 0), 0, CPU_NONE - 1);
}

static void on_sched_wake(struct fed_event *f)
{
	struct slice *s = f->s;
	event_task(f);
	int32_t tid = (int32_t)event_int(f->ev, F(0), 0);
	if (tid <= 0)
		return;
	struct thread *woken = slice_thread(s, f->host, tid);
	uint32_t irq, waker = cpu_waker(s, f->c, woken->self, f->seq, &irq);
	thread_wake(s, woken, &(struct waking){
		.ts = f->ts, .seq = f->seq, .cpu = f->cpu, .waker = waker, .irq = irq,
		.provisional = cpu_waker_is_provisional(s, f->c),
	});
	if (blk_has(f->ev, F(1)))
		thread_queued(s, woken, f->ts, cpu_number(f, F(1)));
}

/* A signal was sent to a thread, for its process. 0: it will be delivered (include/trace/events/signal.h). */
static void on_signal(struct fed_event *f)
{
	static const int64_t stops[] = { 19, 20, 21, 22 };	/* SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU but on MIPS */
	const struct thread *sender = event_task(f);
	int64_t tid = event_int(f->ev, F(1), 0);
	for (size_t i = 0; i < G_N_ELEMENTS(stops); i++)
		if (blk_int(f->ev, F(0)) == stops[i] && tid > 0 && !blk_int_or(f->ev, F(2), 0) && !f->s->no_spans)
			*vec_add(&f->s->stops, struct stop_signal) = (struct stop_signal){
				.ts = f->ts, .thread = slice_thread(f->s, f->host, (int32_t)tid)->self,
				.sender = sender ? sender->self : ID_NONE,
			};
}

static void on_migrate(struct fed_event *f)
{
	event_task(f);
	int32_t tid = (int32_t)event_int(f->ev, F(0), 0);
	if (tid <= 0)
		return;
	struct thread *t = slice_thread(f->s, f->host, tid);
	sched_migrated(f->s, t, f->ts, cpu_number(f, F(2)), prio_of(f, F(1)));
	thread_queued(f->s, t, f->ts, cpu_number(f, F(2)));
}

static void on_fork(struct fed_event *f)
{
	struct slice *s = f->s;
	struct thread *parent = event_task(f);
	int32_t child_tid = (int32_t)blk_int(f->ev, F(1));
	if (blk_has(f->ev, F(0)))
		parent = slice_thread(s, f->host, (int32_t)blk_int(f->ev, F(0)));
	struct thread *child = slice_thread_born(s, f->host, child_tid, f->ts, f->seq);
	event_fact(f, parent, &(struct fact){ .kind = FACT_FORK, .other = child->self, .a = blk_int_or(f->ev, F(3), -1),
					      .b = blk_int_or(f->ev, F(2), -1), .c = blk_int_or(f->ev, F(0), -1) });
	child->creator = parent ? parent->self : ID_NONE;
	child->pid = (int32_t)blk_int_or(f->ev, F(3), -1);
	event_learn_comm(f, child, F(4));
	fork_ns(f, child);
}

/* The comm that execve() of the path sets. */
static struct blk_text program_name(struct blk_text path)
{
	const char *slash = path.len ? memrchr(path.str, '/', path.len) : NULL;
	const char *name = slash ? slash + 1 : path.str;
	uint32_t len = (uint32_t)(path.str + path.len - name);
	return (struct blk_text){ name, MIN(len, COMM_BYTES - 1) };
}

/* Has the thread `old`, which is not the leader, already continued as the leader, before the event of its exec? Then
 * that was noted, in this slice or in an older one: see cpu_other_task(). */
static bool exec_was_seen(struct fed_event *f, int32_t old, int32_t tid)
{
	const struct thread *t = cpu_task(f->s, f->c);
	if (!t || t->tid != tid)
		return false;
	return t->creator == ID_NONE ? !f->s->from_start && !t->fresh : thread_at(f->s, t->creator)->tid == old;
}

static void on_exec(struct fed_event *f)
{
	struct slice *s = f->s;
	int32_t tid = (int32_t)blk_int(f->ev, F(0)), old = (int32_t)blk_int_or(f->ev, F(1), tid);
	struct thread *t;
	if (old != tid && old > 0 && tid > 0) {
		if (!exec_was_seen(f, old, tid)) {
			cpu_context(s, f->c, f->ts, f->seq, old);
			cpu_exec(s, f->c, slice_thread(s, f->host, old), f->ts, f->seq, tid);
		}
		event_task(f);
		t = slice_thread(s, f->host, tid);
	} else {
		event_task(f);
		t = slice_thread(s, f->host, tid);
		event_fact(f, t, &(struct fact){ .kind = FACT_EXEC, .other = ID_NONE });
		s->fdops.all = MAX(s->fdops.all, f->seq);
	}
	if (!blk_has(f->ev, BLK_CTX_PROCNAME) && blk_has(f->ev, F(2)))
		event_take_comm(f, t, program_name(blk_text(f->ev, F(2))));
}

static void on_thread_exit(struct fed_event *f)
{
	event_task(f);
	struct thread *t = slice_thread(f->s, f->host, (int32_t)blk_int(f->ev, F(0)));
	event_fact(f, t, &(struct fact){ .kind = FACT_EXIT, .a = blk_int_or(f->ev, F(1), -1) });
}

/* ---- state dump ---- */

static void on_dump_process(struct fed_event *f)
{
	event_task(f);
	int32_t tid = (int32_t)blk_int(f->ev, F(0));
	if (tid <= 0)
		return;
	struct thread *t = slice_thread(f->s, f->host, tid);
	t->pid = (int32_t)blk_int_or(f->ev, F(1), -1);
	event_learn_pid(f, t, blk_int_or(f->ev, F(1), -1), blk_int_or(f->ev, F(2), -1));
	event_learn_comm(f, t, F(3));
	if (blk_int_or(f->ev, F(4), 0) == 1)
		event_fact(f, t, &(struct fact){ .kind = FACT_KERNEL });
	if (blk_has(f->ev, F(5)))
		event_fact(f, t, &(struct fact){ .kind = FACT_DUMP_TABLE, .a = blk_int(f->ev, F(5)) });
}

static void on_dump_fd(struct fed_event *f)
{
	bool by_address = blk_has(f->ev, F(0));
	event_task(f);
	event_fact(f, NULL, &(struct fact){
		.kind = FACT_DUMP_FD, .flag = by_address, .a = blk_int(f->ev, by_address ? F(0) : F(1)),
		.b = blk_int(f->ev, F(2)), .c = blk_int_or(f->ev, F(4), 0),
		.text = slice_path(f->s, blk_text(f->ev, F(3))) });
}

static void name_fact(struct fed_event *f, enum fact_kind kind, int64_t a, struct blk_text name)
{
	event_fact(f, NULL, &(struct fact){ .kind = kind, .a = a, .text = slice_string(f->s, name) });
}

static void on_dump_name(struct fed_event *f)		/* what: enum fact_kind */
{
	int64_t number = blk_int(f->ev, F(0));
	event_task(f);
	name_fact(f, f->cls->what, f->cls->what == FACT_IRQ ? IRQ_HARD(number) : number, blk_text(f->ev, F(1)));
}

/* ---- interrupts ---- */

/* A handler's first name counts. */
static void name_irq(struct fed_event *f, uint32_t code, struct blk_text name)
{
	if (intmap_get(&f->s->irq_named, pair(f->host, code)) != INTMAP_NONE)
		return;
	intmap_set(&f->s->irq_named, pair(f->host, code), 1);
	name_fact(f, FACT_IRQ, code, name);
}

/* what of begins and ends of handlers: the code of the kind's number 0. Timers have no numbers. */
static uint32_t irq_code(const struct fed_event *f)
{
	uint32_t number = (uint32_t)blk_int(f->ev, F(0)) & 0xffffff;
	return f->cls->what == IRQ_TIMER ? IRQ_TIMER : f->cls->what | number;
}

static void on_irq_entry(struct fed_event *f)
{
	event_task(f);
	uint32_t code = irq_code(f);
	if (f->cls->what == IRQ_HARD(0) && blk_has(f->ev, F(1)))
		name_irq(f, code, blk_text(f->ev, F(1)));
	if (f->cls->what == IRQ_SOFT(0))
		irq_served(f->s, f->c, f->ts, (uint32_t)blk_int(f->ev, F(0)));
	cpu_irq_in(f->s, f->c, f->ts, f->seq, code);
}

static void on_irq_exit(struct fed_event *f)
{
	event_task(f);
	cpu_irq_out(f->s, f->c, f->ts, f->seq, irq_code(f));
}

static void on_softirq_raise(struct fed_event *f)
{
	event_task(f);
	uint32_t vec = (uint32_t)blk_int(f->ev, F(0));
	irq_raised(f->s, f->c, f->ts, vec);
	cpu_irq_note(f->s, f->c, &(struct irq_note){ .kind = IRQ_RAISED, .code = vec, .thread = ID_NONE });
}

/* x86_irq_vectors_local_timer_entry: only the event's name identifies the vector. */
static void on_vector(struct fed_event *f)
{
	const char *event = strtab_get(f->s->strings, f->cls->event) + strlen("x86_irq_vectors_");
	bool entry = g_str_has_suffix(event, "_entry");
	if (!entry && !g_str_has_suffix(event, "_exit"))
		return;
	event_task(f);
	uint32_t code = IRQ_VECTOR(blk_int(f->ev, F(0)));
	if (!entry) {
		cpu_irq_out(f->s, f->c, f->ts, f->seq, code);
		return;
	}
	name_irq(f, code, (struct blk_text){ event, (uint32_t)(strlen(event) - strlen("_entry")) });
	cpu_irq_in(f->s, f->c, f->ts, f->seq, code);
}

/* ---- system calls ---- */

/* A thread that makes a call is not the kernel's. Its first one is never on the fast path. */
static void learn_user(struct fed_event *f, struct thread *t)
{
	if (!t->user_reported)
		event_fact(f, t, &(struct fact){ .kind = FACT_USER });
	t->user_reported = true;
}

static void take_entry(struct fed_event *f, struct rec *r)
{
	r->fd = (int32_t)event_int(f->ev, F(0), NO_FD);
	if (!f->cls->wants_args) {
		r->arg[0] = event_int(f->ev, F(5), -1);
		r->arg[1] = event_int(f->ev, F(6), NO_FD);
		return;
	}
	r->arg[0] = event_int(f->ev, F(2), -1);
	r->arg[1] = event_int(f->ev, F(3), -1);
	r->arg[2] = event_int(f->ev, F(4), 0);
	if (r->info->fdop)
		r->text = blk_has(f->ev, F(1)) ? slice_path(f->s, blk_text(f->ev, F(1)))
					       : strtab_add(f->s->strings, PATH_UNKNOWN);
}

/* LTTng can record the flags as a structure: the signal in the lowest 8 bits, and the rest. */
static void take_clone(struct fed_event *f, struct rec *r)
{
	r->arg[0] = r->arg[1] = -1;
	r->arg[2] = blk_has(f->ev, F(0)) ? event_int(f->ev, F(0), -1) :
		    blk_has(f->ev, F(1)) ? (int64_t)((uint64_t)event_int(f->ev, F(1), 0) << 8) : -1;
}

static uint32_t socket_text(struct fed_event *f, int64_t family, int64_t port, struct blk_text v4,
			    struct blk_text v6, struct blk_text path)
{
	char text[256] = "", address[ADDRESS_MAX];
	if (family == 1) {
		if (!path.len)
			return 0;
		snprintf(text, sizeof text, "socket unix %.*s", (int)MIN(path.len, 200u), path.str);
	} else if (v4.len >= 4) {
		address_text(address, 4, (const uint8_t *)v4.str, (uint16_t)port);
		snprintf(text, sizeof text, "socket inet %s", address);
	} else if (v6.len >= 16) {
		uint8_t bytes[16];
		handler_copy_v6(bytes, v6.str);
		address_text(address, 6, bytes, (uint16_t)port);
		snprintf(text, sizeof text, "socket inet6 %s", address);
	}
	return slice_path(f->s, (struct blk_text){ text, (uint32_t)strlen(text) });
}

static void take_address(struct fed_event *f, struct rec *r)	/* connect, bind */
{
	r->fd = (int32_t)blk_int_or(f->ev, F(0), NO_FD);
	r->text = socket_text(f, blk_int(f->ev, F(1)), blk_int(f->ev, F(2)), blk_text(f->ev, F(3)),
			      blk_text(f->ev, F(4)), blk_text(f->ev, F(5)));
}

const char *handler_call_name(const struct fed_event *f, int64_t number, char buffer[NUMBER_NAME_BYTES])
{
	const struct slice_host *host = &g_array_index(f->s->hosts, struct slice_host, f->host);
	const char *name = machine_call_name(host->machine, f->cls->is_compat, number);
	if (name)
		return name;
	snprintf(buffer, NUMBER_NAME_BYTES, "syscall_%" G_GINT64_FORMAT, number);
	return buffer;
}

/* A call that lttng-modules knows only by number: before 2.16, calls of the last ten years; on riscv64 and s390x all
 * calls. */
static void take_number(struct fed_event *f, struct rec *r)
{
	char buffer[NUMBER_NAME_BYTES];
	r->name = strtab_add(f->s->strings, handler_call_name(f, blk_int_or(f->ev, F(0), -1), buffer));
	r->info = call_info(strtab_get(f->s->strings, r->name));
}

static void take_numbered_entry(struct fed_event *f, struct rec *r)
{
	take_number(f, r);
	const struct call_info *info = r->info;
	for (int i = 0; i < 3; i++)
		r->arg[i] = blk_int_or(f->ev, F(1 + i), i == 2 ? 0 : -1);
	if (info->has_fd)
		r->fd = (int32_t)r->arg[0];
	if (info->fdop == FDOP_CLONE)
		r->arg[2] = r->arg[0];
	if (info->fdop == FDOP_EVENT)
		r->arg[2] = blk_int_or(f->ev, F(1 + info->flags_arg), 0);
	if (info->io) {		/* the size is not read; only copy_file_range has a target */
		r->arg[1] = info->io == IO_BOTH ? (int32_t)r->arg[2] : NO_FD;
		r->arg[0] = -1;
	}
	if (info->fdop == FDOP_OPENAT || info->fdop == FDOP_OPEN) {
		r->text = strtab_add(f->s->strings, PATH_UNKNOWN);	/* the path is behind a pointer */
		if (r->name == strtab_add(f->s->strings, "openat2"))
			r->arg[2] = 0;		/* so are the flags */
	}
}

static void take_exit(struct fed_event *f, struct rec *r)
{
	r->arg[0] = event_int(f->ev, F(0), 0);
	r->arg[1] = event_int(f->ev, F(1), -1);
	r->arg[2] = event_int(f->ev, F(2), -1);
}

static void take_nameless_exit(struct fed_event *f, struct rec *r)
{
	take_exit(f, r);
	r->name = 0;
	r->info = call_info("");
}

static void take_accepted(struct fed_event *f, struct rec *r)
{
	r->arg[0] = blk_int(f->ev, F(0));
	if (r->arg[0] >= 0)
		r->text = socket_text(f, blk_int(f->ev, F(1)), blk_int(f->ev, F(2)), blk_text(f->ev, F(3)),
				      blk_text(f->ev, F(4)), (struct blk_text){ "", 0 });
}

static void take_numbered_exit(struct fed_event *f, struct rec *r)
{
	take_number(f, r);
	r->arg[0] = blk_int(f->ev, F(1));
	r->arg[1] = r->arg[2] = -1;
}

/* what of entries and exits: what their fields are */
enum call_fields {
	ENTRY_ARGS, ENTRY_FLAGS, ENTRY_ADDRESS, ENTRY_NUMBER,
	EXIT_RET, EXIT_NAMELESS, EXIT_ACCEPTED, EXIT_NUMBER,
};
static void (*const takes[])(struct fed_event *f, struct rec *r) = {
	[ENTRY_ARGS] = take_entry, [ENTRY_FLAGS] = take_clone, [ENTRY_ADDRESS] = take_address,
	[ENTRY_NUMBER] = take_numbered_entry, [EXIT_RET] = take_exit, [EXIT_NAMELESS] = take_nameless_exit,
	[EXIT_ACCEPTED] = take_accepted, [EXIT_NUMBER] = take_numbered_exit,
};

static void on_call(struct fed_event *f)
{
	g_assert(f->cls->what < G_N_ELEMENTS(takes));
	bool enters = f->cls->what < EXIT_RET;
	struct thread *t = event_task(f);
	struct rec r = {
		.type = enters ? REC_ENTER : REC_EXIT, .ts = f->ts, .seq = f->seq, .cpu = f->cpu, .fd = NO_FD,
		.name = f->cls->name, .info = f->cls->info, .id = ID_NONE,
	};
	cpu_no_irq(f->c);
	if (!t || t->idle)
		return;
	takes[f->cls->what](f, &r);
	bool proven = G_LIKELY(!tid_is_unproven(t->tid));
	if (proven)
		learn_user(f, t);
	if (proven && enters && r.info->fdop)
		call_facts_at_entry(f->s, t, &r);
	else if (proven && !enters && (r.info->fdop || !r.name))
		call_exit_bump(f->s, t, &r);
	thread_record(f->s, t, &r);
}

/* ---- the table ---- */

#define SPAN_FIELDS "trace_name", "service_name", "port_no|port", "ip", "trace_id", "span_id", \
	"parent_span_id"
#define ENTRY_FIELDS { "pidfd|fd|fildes|epfd|fd_in|in_fd|fdin|sockfd|fs_fd|s", "filename|pathname|path|name", \
	"dfd|oldfd|fildes|family|domain|uaddr|fd|ufd", "cmd|newfd|type|max_fd|op", "flags|arg|val|unshare_flags", \
	"count|len|size", "fd_out|out_fd|fdout" }

struct event_row {
	struct { const char *event, *fields[BLK_MAX_FIELDS + 1], *needs; } sub;
	handler on;
	uint32_t what;
};
static const struct event_row rows[] = {
	{ { "sched_switch", { "prev_tid|prev_pid", "prev_state", "next_tid|next_pid", "prev_comm",
			      "next_comm", "prev_prio", "next_prio", BLK_COUNTERS },
	    "CPU time, thread states" }, on_sched_switch, 0 },
	{ { "sched_waking", { "tid|pid", "target_cpu" },
	    "which thread woke which, wakeup latency" }, on_sched_wake, 0 },
	{ { "sched_wakeup", { "tid|pid", "target_cpu" },
	    "which thread woke which, before Linux 4.4" }, on_sched_wake, 0 },
	{ { "sched_wakeup_new", { "tid|pid", "target_cpu" }, "new threads" }, on_sched_wake, 0 },
	{ { "sched_migrate_task", { "tid|pid", "prio", "dest_cpu" },
	    "migrations, the run queue that a thread waits on" }, on_migrate, 0 },
	{ { "signal_generate", { "sig", "tid|pid", "result" }, NULL }, on_signal, 0 },
	{ { "sched_process_fork", { "parent_tid|parent_pid", "child_tid|child_pid", "parent_pid",
				    "child_pid", "child_comm", "child_ns_inum", "vtids[0]", "vtids[1]",
				    "vtids[2]", "vtids[3]" }, "processes, threads" }, on_fork, 0 },
	{ { "sched_process_exec", { "tid|pid", "old_tid|old_pid", "filename" }, "program names" }, on_exec, 0 },
	{ { "sched_process_exit", { "tid|pid", "group_dead" }, "ends of threads" }, on_thread_exit, 0 },
	{ { "lttng_statedump_process_state", { "tid", "pid", "ppid", "name", "type",
			"file_table_address|files" }, "processes from before" }, on_dump_process, 0 },
	{ { "lttng_statedump_process_pid_ns", { "tid", "ns_inum", "ns_level", "vpid", "vtid" }, "containers" },
	  on_dump_ns, NS_PID },
	{ { "lttng_statedump_process_cgroup_ns", { "tid", "ns_inum" }, "containers" }, on_dump_ns, NS_CGROUP },
	{ { "lttng_statedump_process_uts_ns", { "tid", "ns_inum" }, "containers" }, on_dump_ns, NS_UTS },
	{ { "lttng_statedump_file_descriptor", { "file_table_address|files", "pid", "fd", "filename",
			"flags" }, "files open from before" }, on_dump_fd, 0 },
	{ { "lttng_statedump_interrupt", { "irq", "action|name" }, "names of interrupts" }, on_dump_name, FACT_IRQ },
	{ { "lttng_statedump_block_device", { "dev", "diskname" }, "names of disks" }, on_dump_name, FACT_DEV },
	{ { "irq_handler_entry", { "irq", "name" }, "time taken by interrupts" }, on_irq_entry, IRQ_HARD(0) },
	{ { "irq_handler_exit", { "irq" }, "time taken by interrupts" }, on_irq_exit, IRQ_HARD(0) },
	{ { "irq_softirq_entry", { "vec" }, "time taken by softirqs" }, on_irq_entry, IRQ_SOFT(0) },
	{ { "irq_softirq_exit", { "vec" }, "time taken by softirqs" }, on_irq_exit, IRQ_SOFT(0) },
	{ { "irq_softirq_raise", { "vec" }, "how long softirqs wait" }, on_softirq_raise, 0 },
	{ { "softirq_raise", { "vec" }, NULL }, on_softirq_raise, 0 },
	{ { "timer_hrtimer_expire_entry", { "function" }, "time taken by timers" }, on_irq_entry, IRQ_TIMER },
	{ { "timer_hrtimer_expire_exit", { "hrtimer" }, "time taken by timers" }, on_irq_exit, IRQ_TIMER },
	{ { "hrtimer_expire_entry", { "function" }, NULL }, on_irq_entry, IRQ_TIMER },
	{ { "hrtimer_expire_exit", { "hrtimer" }, NULL }, on_irq_exit, IRQ_TIMER },
	{ { "x86_irq_vectors_*", { "vector" }, "time taken by the CPU's own interrupts" }, on_vector, 0 },
	{ { "softirq_entry", { "vec" }, NULL }, on_irq_entry, IRQ_SOFT(0) },
	{ { "softirq_exit", { "vec" }, NULL }, on_irq_exit, IRQ_SOFT(0) },
#define BLOCK { "dev", "sector", "rwbs", "nr_sector", "bytes", "tid" }
	{ { "block_rq_insert", BLOCK, "time in the queues of disks" }, on_block, BLOCK_INSERT },
	{ { "block_rq_issue", BLOCK, "disks" }, on_block, BLOCK_ISSUE },
	{ { "block_rq_complete", { "dev", "sector", "rwbs", "nr_sector", "error|errors" }, "disks" },
	  on_block, BLOCK_COMPLETE },
	{ { "block_rq_requeue", BLOCK, "requests sent to a disk again" }, on_block, BLOCK_REQUEUE },
	{ { "block_rq_merge", BLOCK, "requests that became one" }, on_block, BLOCK_MERGE },
	{ { "block_bio_backmerge", BLOCK, "requests that became one" }, on_block, BLOCK_BACKMERGE },
	{ { "block_bio_frontmerge", BLOCK, "requests that became one" }, on_block, BLOCK_FRONTMERGE },

#define PACKET { "name", "len", "rc" }
#define PORTS(header) header ".source_port", header ".dest_port"
#define IPV4 "network_header.ipv4."
#define IPV6 "network_header.ipv6."
#define PACKET_HEADERS { "name", "len", IPV4 "saddr", IPV4 "daddr", IPV4 "protocol", IPV4 "frag_off", \
	PORTS(IPV4 "transport_header.tcp"), PORTS(IPV4 "transport_header.udp"), \
	IPV6 "saddr", IPV6 "daddr", \
	PORTS(IPV6 "transport_header.tcp"), PORTS(IPV6 "transport_header.udp") }
	{ { "net_if_receive_skb", PACKET_HEADERS, "packets received, from whom" }, on_net, NET_RECEIVED },
	{ { "netif_receive_skb", PACKET, NULL }, on_net, NET_RECEIVED },
	{ { "net_dev_queue", PACKET_HEADERS, "packets to be sent, to whom" }, on_net, NET_QUEUED },
	{ { "net_dev_xmit", PACKET, "packets sent" }, on_net, NET_SENT },

#define NEEDS_TODAY(what) what
#define NEEDS_OLD(what) NULL
#define ENTRY(prefix, when) { { prefix "*", ENTRY_FIELDS, NEEDS_##when("system calls") }, on_call, ENTRY_ARGS },
	CALL_ENTRY_PREFIXES(ENTRY)
#define ADDRESS { "fd", "family", "dport|sport", "v4addr", "v6addr", "path|sun_path" }
	{ { "syscall_entry_connect", ADDRESS, "peers of sockets" }, on_call, ENTRY_ADDRESS },
	{ { "syscall_entry_bind", ADDRESS, "addresses of sockets" }, on_call, ENTRY_ADDRESS },
#define ENTRY_CLONE(prefix, when) \
	{ { prefix "clone", { "flags|clone_flags", "flags.options" }, NULL }, on_call, ENTRY_FLAGS },
	CALL_ENTRY_PREFIXES(ENTRY_CLONE)
#define NUMBERED { "id", "args[0]", "args[1]", "args[2]", "args[3]", "args[4]" }
#define ENTRY_UNKNOWN(prefix, when) \
	{ { prefix "unknown", NUMBERED, NEEDS_##when("newer system calls") }, on_call, ENTRY_NUMBER },
	CALL_ENTRY_PREFIXES(ENTRY_UNKNOWN)
#define EXIT(prefix, when) { { prefix "*", { "ret" }, NEEDS_##when("system calls") }, on_call, EXIT_RET },
	CALL_EXIT_PREFIXES(EXIT)
	{ { CALL_EXIT_NAMELESS, { "ret" }, NULL }, on_call, EXIT_NAMELESS },
#define TWO_FDS { "ret", "fildes[0]|socket[0]|usockvec[0]", "fildes[1]|socket[1]|usockvec[1]" }
	{ { "syscall_exit_pipe", TWO_FDS, "pipes" }, on_call, EXIT_RET },
	{ { "syscall_exit_pipe2", TWO_FDS, "pipes" }, on_call, EXIT_RET },
	{ { "syscall_exit_socketpair", TWO_FDS, "socket pairs" }, on_call, EXIT_RET },
#define PEER { "ret", "family", "sport|dport", "v4addr", "v6addr" }
	{ { "syscall_exit_accept", PEER, "peers of sockets" }, on_call, EXIT_ACCEPTED },
	{ { "syscall_exit_accept4", PEER, "peers of sockets" }, on_call, EXIT_ACCEPTED },
#define EXIT_UNKNOWN(prefix, when) \
	{ { prefix "unknown", { "id", "ret" }, NEEDS_##when("newer system calls") }, on_call, EXIT_NUMBER },
	CALL_EXIT_PREFIXES(EXIT_UNKNOWN)

#define FAULT { "address" }
	{ { "x86_exceptions_page_fault_*", FAULT, "page faults" }, on_counted_for_task, COUNT_FAULT },
	{ { "exceptions_page_fault_*", FAULT, NULL }, on_counted_for_task, COUNT_FAULT },
	{ { "page_fault_user", FAULT, NULL }, on_counted_for_task, COUNT_FAULT },
	{ { "page_fault_kernel", FAULT, NULL }, on_counted_for_task, COUNT_FAULT },
	{ { BLK_PROBES, { "ip" }, "hits of kprobes, kretprobes and uprobes" }, on_counted_for_task, COUNT_PROBE },

	{ { "zipkin:timestamp", { SPAN_FIELDS, "event", BLK_COUNTERS }, "spans" }, on_timestamp, 0 },
	{ { "zipkin:keyval_string", { SPAN_FIELDS, "key", "val", BLK_COUNTERS }, "tags of spans" },
	  on_keyval, ANNOT_STRING },
	{ { "zipkin:keyval", { SPAN_FIELDS, "key", "val", BLK_COUNTERS }, NULL }, on_keyval, ANNOT_STRING },
	{ { "zipkin:keyval_integer", { SPAN_FIELDS, "key", "val", BLK_COUNTERS }, "tags of spans" },
	  on_keyval, ANNOT_INT },
	{ { "lttng_ust_cyg_profile:func_entry", { "addr", BLK_COUNTERS }, NULL }, on_function, MARK_BEGIN },
	{ { "lttng_ust_cyg_profile:func_exit", { "addr", BLK_COUNTERS }, NULL }, on_function, MARK_END },
	{ { "lttng_ust_cyg_profile_fast:func_entry", { "addr", BLK_COUNTERS }, NULL }, on_function, MARK_BEGIN },
	{ { "lttng_ust_cyg_profile_fast:func_exit", { "addr", BLK_COUNTERS }, NULL }, on_function, MARK_END },
#define BINARY { "baddr", "memsz", "path" }
	{ { "lttng_ust_statedump:bin_info", BINARY, NULL }, on_binary, 0 },
	{ { "lttng_ust_lib:load", BINARY, NULL }, on_binary, 0 },
	{ { "lttng_ust_dl:dlopen", BINARY, NULL }, on_binary, 0 },
	{ { "lttng_ust_dl:dlmopen", BINARY, NULL }, on_binary, 0 },
};

const struct blk_subscription *slice_base_subscriptions(size_t *ret_n)
{
	static struct blk_subscription subs[G_N_ELEMENTS(rows)];
	static gsize once;
	if (g_once_init_enter(&once)) {
		for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
			subs[i] = (struct blk_subscription){ .event = rows[i].sub.event, .needs = rows[i].sub.needs };
			memcpy(subs[i].fields, rows[i].sub.fields, sizeof subs[i].fields);
		}
		g_once_init_leave(&once, 1);
	}
	*ret_n = G_N_ELEMENTS(rows);
	return subs;
}

const struct blk_subscription *slice_subscriptions(size_t *ret_n)
{
	size_t n;
	const struct blk_subscription *subs = slice_base_subscriptions(&n);
	return rules_table(subs, n, ret_n);
}

handler slice_handler(unsigned row)
{
	if (counting_has(row))
		return on_counted;
	return rules_has_row(row) ? on_ruled : slice_base_handler(row);
}

handler slice_base_handler(unsigned row)
{
	unsigned base = rules_base_row(row);
	return base < G_N_ELEMENTS(rows) ? rows[base].on : NULL;
}

handler slice_base_row_handler(size_t row, uint32_t *ret_what)
{
	*ret_what = rows[row].what;
	return rows[row].on;
}

static bool is_one_of(handler on, const handler *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (on == all[i])
			return true;
	return false;
}

bool slice_base_row_follows(size_t row)
{
	static const handler followers[] = {
		on_sched_switch, on_fork, on_exec, on_thread_exit, on_dump_process, on_dump_fd, on_call,
	};
	return is_one_of(rows[row].on, followers, G_N_ELEMENTS(followers));
}

uint32_t slice_event_what(unsigned row)
{
	unsigned base = rules_base_row(row);
	return base < G_N_ELEMENTS(rows) ? rows[base].what : 0;
}

enum event_kind slice_event_kind(unsigned row)
{
	handler on = slice_handler(row);
	uint32_t what = on == on_call ? slice_event_what(row) : ENTRY_FLAGS;
	return what == ENTRY_ARGS ? KIND_ENTRY : what == EXIT_RET ? KIND_EXIT :
	       on == on_sched_switch ? KIND_SWITCH : on == on_sched_wake ? KIND_WAKE : KIND_ANY;
}

bool slice_row_is_kernel(unsigned row)
{
	unsigned base = rules_base_row(row);
	return base < G_N_ELEMENTS(rows) && !strchr(rows[base].sub.event, ':');
}

bool slice_row_makes_spans(unsigned row)
{
	static const handler makers[] = {
		on_timestamp, on_keyval, on_function, on_ruled,
	};
	row = counting_base(row);
	return !counting_has(row) && is_one_of(slice_handler(row), makers, G_N_ELEMENTS(makers));
}

bool slice_any_makes_spans(bool (*has)(const void *data, const char *event), const void *data)
{
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);

	for (size_t i = 0; i < n; i++)
		if (slice_row_makes_spans((unsigned)i) && !rules_only_annotate((unsigned)i) && has(data, subs[i].event))
			return true;
	return false;
}
