/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of questions, and the events that each needs: see questions.h. */
#include "views/questions.h"

#include "views/registry.h"

#include <string.h>

#define WAKING "sched_waking|sched_wakeup"
#define SOFTIRQ "irq_softirq_entry|softirq_entry"
#define SOFTIRQ_EXIT "irq_softirq_exit|softirq_exit"
#define TAGS "zipkin:keyval_string|zipkin:keyval"
#define UST_CLOCKLESS "the thread of a span, if kernel events do not show it"

static const struct question table[] = {
	{ "requests", "Which requests were slow, and in which phase?",
	  { "overview", "traces", "phases", "services", "spans", "changed", "slow-spans" },
	  { "zipkin:timestamp" },
	  { { TAGS, "tags of spans" }, { "ust.vtid", UST_CLOCKLESS },
	    { "ust.vpid", "which process a span belongs to" } } },
	{ "why", "Why was a request slow?",
	  { "waterfall", "path", "compare", "flame" },
	  { "zipkin:timestamp", "sched_switch" },
	  { { NEED_SYSCALLS, "what its threads were blocked in" },
	    { WAKING, "which thread woke it, and the wait for a CPU after that" },
	    { "lttng_statedump_file_descriptor", "names of files that were open before" },
	    { SOFTIRQ, "time taken by softirqs" },
	    { "irq_handler_entry", "time taken by interrupts" } } },
	{ "open", "Which requests hang, and on what?",
	  { "open" },
	  { "zipkin:timestamp", "sched_switch" },
	  { { NEED_SYSCALLS, "what their threads are blocked in" },
	    { "lttng_statedump_file_descriptor", "names of files that were open before" } } },
	{ "cpu", "Which threads used the CPUs?",
	  { "processes", "process", "cpus" },
	  { "sched_switch" },
	  { { NEED_SYSCALLS, "the difference between user mode and system calls" },
	    { "lttng_statedump_process_state", "names and parents of processes from before" },
	    { "sched_process_fork", "parents of new processes" },
	    { "sched_process_exec", "names of programs that were started" },
	    { "irq_handler_entry", "time taken by interrupts" },
	    { SOFTIRQ, "time taken by softirqs" } } },
	{ "scheduler", "Which threads waited for a CPU, and which woke which?",
	  { "scheduler", "wakers" },
	  { "sched_switch", WAKING },
	  { { "sched_wakeup_new", "when new threads became runnable" } } },
	{ "locks", "Which locks did threads wait for, and what did those do that held them?",
	  { "locks", "holders" },
	  { "sched_switch", WAKING, NEED_SYSCALLS },
	  { { NEED_CALLERS, "who waited for a lock, and who released it" },
	    { "lttng_statedump_file_descriptor", "names of files that were open before" } } },
	{ "calls", "Which system calls were slow or failed?",
	  { "syscalls", "slow", "log" },
	  { NEED_SYSCALLS },
	  { { NEED_CALLERS, "how long calls took: which exit belongs to which entry" },
	    { "sched_switch", "what a call waited for" } } },
	{ "files", "Which processes read and wrote which files and sockets?",
	  { "files", "io" },
	  { NEED_SYSCALLS },
	  { { NEED_CALLERS, "which exit belongs to which entry" },
	    { "lttng_statedump_file_descriptor", "names of files that were open before" },
	    { "lttng_statedump_process_state", "their processes" } } },
	{ "disks", "How busy were the disks?",
	  { "devices" },
	  { "block_rq_issue", "block_rq_complete" },
	  { { "lttng_statedump_block_device", "names of disks" } } },
	{ "peers", "Which peers do processes exchange network traffic with, and how much?",
	  { "peers" },
	  { "net_dev_queue", "net_if_receive_skb" },
	  { { NEED_SYSCALLS, "the processes of the connections" } } },
	{ "interrupts", "How much time did interrupts take?",
	  { "interrupts" },
	  { "irq_handler_entry", "irq_handler_exit" },
	  { { SOFTIRQ, "softirqs" }, { SOFTIRQ_EXIT, "how long softirqs took" },
	    { "lttng_statedump_interrupt", "names of interrupts" } } },
	{ "counters", "How many instructions, page faults and function calls did threads have?",
	  { "counters" },
	  { NEED_COUNTS },
	  { { NEED_PERF, "instructions, cycles, and what else perf counts" },
	    { NEED_FAULTS, "the difference between page faults of the kernel and of user space" },
	    { NEED_PROBES, "how often functions of the kernel or of programs were called" },
	    { "sched_switch", "the threads that a CPU's counters belong to" } } },
	{ "events", "What was recorded, and how much of it?", { "events" }, { NULL },
	  { { NULL, NULL } } },
};

static bool has_view(const struct question *q, const char *id)
{
	for (size_t i = 0; q->views[i]; i++)
		if (strcmp(q->views[i], id) == 0)
			return true;
	return false;
}

/* Removes views that are not registered. */
static void keep_views(struct question *q)
{
	size_t n = 0;
	for (size_t i = 0; q->views[i]; i++)
		if (view_find(q->views[i]))
			q->views[n++] = q->views[i];
	q->views[n] = NULL;
}

static struct question *question_of_view(const struct view *v)
{
	struct question *q = g_new0(struct question, 1);
	q->id = v->id;
	q->text = v->title;
	q->views[0] = v->id;
	for (size_t i = 0; v->needs && v->needs[i] && i < QUESTION_NEEDS; i++)
		q->needs[i] = v->needs[i];
	return q;
}

GPtrArray *questions_all(void)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		struct question *q = g_memdup2(&table[i], sizeof(*q));
		keep_views(q);
		g_ptr_array_add(all, q);
	}
	for (size_t v = 0; view_all[v]; v++) {
		bool named = false;
		for (guint i = 0; i < all->len; i++)
			named |= has_view(all->pdata[i], view_all[v]->id);
		if (!named)
			g_ptr_array_add(all, question_of_view(view_all[v]));
	}
	return all;
}

bool question_is_on_request(const struct question *q)
{
	return q->needs[0] && strcmp(q->needs[0], NEED_COUNTS) == 0;
}

const char *question_names(const char *event)
{
	static const char *const names[] = { WAKING, SOFTIRQ, SOFTIRQ_EXIT, TAGS, NEED_FAULTS };
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_auto(GStrv) each = g_strsplit(names[i], "|", -1);
		if (g_strv_contains((const char *const *)each, event))
			return names[i];
	}
	return event;
}
