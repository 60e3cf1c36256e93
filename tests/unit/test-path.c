/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The critical path: made events of which the truth is known, whole and cut anywhere, and trees
 * of spans as no trace has them.
 */
#include "state/publish/model.h"
#include "lib/sources.h"
#include "lib/cuts.h"
#include "lib/fake_timeline.h"
#include "lib/traces.h"
#include "views/path.h"
#include "views/common.h"
#include "views/why.h"

#include <string.h>

/* Thread 7 is the span's, from 100 to 1000; it runs on CPU 0 first. */
#define SPAN(at, cpu, event) \
	at " " cpu " u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 " \
	"parent_span_id=0 event=\"" event "\" ctx.vtid=7 ctx.vpid=7\n"
#define BEGIN SWITCH("10", "0", "0", "0", "7") SWITCH("11", "1", "5", "1", "0") SPAN("100", "0", "sr")
#define END(cpu) SPAN("1000", cpu, "ss") SWITCH("1100", cpu, "7", "1", "0")
#define SWITCH(at, cpu, prev, state, next) \
	at " " cpu " sched_switch prev_tid=" prev " prev_state=" state " next_tid=" next \
	" prev_comm=\"t" prev "\" next_comm=\"t" next "\"\n"
#define WAKE(at, cpu, tid, target) at " " cpu " sched_waking tid=" tid " target_cpu=" target "\n"
#define ENTER(at, cpu, call, args) at " " cpu " syscall_entry_" call " " args "\n"
#define EXIT(at, cpu, call) at " " cpu " syscall_exit_" call " ret=0\n"
/* 7 waits for a lock since 200, until 300 or so */
#define LOCK ENTER("150", "0", "futex", "uaddr=4096 op=0 val=2") SWITCH("200", "0", "7", "1", "0")
#define RELEASE(at, futex) ENTER(at, "1", "futex", "uaddr=" futex " op=1 val=1")
#define LOCKED(at, runs) SWITCH(at, "0", "0", "0", "7") EXIT(runs, "0", "futex")

#define CALL ENTER("150", "0", "getpid", "") EXIT("160", "0", "getpid")
#define LOST(domain, begin, end) end " 0 " domain "!lost events=3 begin=" begin " end=" end "\n"
#define NOT_LOST "600ns, cause unknown (600ns of 900ns); and ran 300ns (the trace has no system calls) (+300ns)"

struct story {
	const char *name, *script;
	const char *path;		/* begin-end thread what, hops as dots before it; NULL: not of interest */
	const char *explanation;
};

static char *words_of(const struct timeline *tl, const struct path_segment *p)
{
	g_autofree char *label = thread_label_new(tl, p->thread, p->end_ns), *what = path_words(tl, p);
	return g_strdup_printf("%.*s%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT " %s %s\n", (int)p->depth,
			       "........", p->begin_ns, p->end_ns, label, what);
}

/* What it sums to holds whatever it is. */
static GArray *sound_path(struct history *h, const struct tree *t, int node)
{
	GArray *path = path_of(h, t, node);
	int64_t at = t->nodes[node].span->begin_ns;
	for (guint i = 0; i < path->len; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		g_assert_cmpint(p->begin_ns, ==, at);
		g_assert_cmpint(p->end_ns, >, at);
		for (unsigned part = 0; part < PART_N; part++) {
			g_assert_cmpint(path_part_ns(p, part), >=, 0);
			at += path_part_ns(p, part);
		}
		g_assert_cmpint(at, ==, p->end_ns);
	}
	g_assert_cmpint(at, ==, t->nodes[node].span->end_ns);
	return path;
}

/* The root has no children: the path has each mode as long as it has. */
static void check_modes(const struct tree *t, const GArray *path)
{
	int64_t part[PART_N] = { 0 };
	for (guint i = 0; i < path->len; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		for (unsigned x = 0; x < PART_N && !p->depth; x++)
			part[x] += path_part_ns(p, x);
	}
	for (unsigned p = 0; p < PATH_MODES; p++)
		g_assert_cmpint(part[p], ==, t->nodes[t->root].span->part[p]);
}

static void check_path(const struct timeline *tl, const struct story *x)
{
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) path = sound_path(h, t, t->root);
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; i < path->len; i++) {
		g_autofree char *line = words_of(tl, &g_array_index(path, struct path_segment, i));
		g_string_append(text, line);
	}
	if (x->path)
		g_assert_cmpstr(text->str, ==, x->path);
	check_modes(t, path);
	struct why why;
	why_find(h, t, t->root, &why);
	g_autofree char *explanation = why_sentence(h, t, t->root, &why);
	if (x->explanation)
		g_assert_cmpstr(explanation, ==, x->explanation);
}

/* The waits of 7, the span's thread, that were for a lock: the view of locks has the same. */
static void check_locks(const struct timeline *tl)
{
	const struct view_query q = VIEW_QUERY_INIT;
	const struct view *v = view_find("holders");
	struct rows *rows = v->build(tl, &q);
	int64_t ns = 0, total = 0;
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		for (uint32_t k = 0; k < s->n_waits; k++)
			ns += s->waits[k].lock ? s->waits[k].wake_ns - s->waits[k].begin_ns : 0;
	}
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct row *row = rows->rows->pdata[i];
		if (column_value(&v->columns[view_column(v, "tid")], row, rows).i == 7 &&
		    !strcmp(column_value(&v->columns[view_column(v, "kind")], row, rows).s, "futex") &&
		    !strcmp(column_value(&v->columns[view_column(v, "role")], row, rows).s, "waited"))
			total += column_value(&v->columns[view_column(v, "total_ns")], row, rows).i;
	}
	g_assert_cmpint(total, ==, ns);
	rows_free(rows);
}

static void test_story(gconstpointer data)
{
	const struct story *x = data;
	struct recording *r = traces_record_script(x->script);
	struct timeline *tl = timeline_new(0);
	struct slice *s = cuts_slice(r, 0, recording_n(r), true);
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	check_path(tl, x);
	check_locks(tl);
	timeline_free(tl);
	cuts_check(x->name, r);
	recording_free(r);
}

#define SLEEP(at, off, cpu, tid) ENTER(at, cpu, "clock_nanosleep", "") SWITCH(off, cpu, tid, "1", "0")
#define SLEPT(wake, at, exit, cpu, tid) \
	WAKE(wake, cpu, tid, cpu) SWITCH(at, cpu, "0", "0", tid) EXIT(exit, cpu, "clock_nanosleep")
/* Connected to somebody by descriptor 5. */
#define CONNECT \
	"50 0 syscall_entry_socket family=2 type=1 protocol=0\n60 0 syscall_exit_socket ret=5\n"
#define RECV ENTER("150", "0", "recvfrom", "fd=5 size=9") SWITCH("200", "0", "7", "1", "0")

/* 9 got a request from 7, slept, and sends its answer. */
#define STORE_ASLEEP \
	SWITCH("10", "0", "0", "0", "7") SWITCH("11", "1", "5", "1", "9") CONNECT SPAN("100", "0", "sr") \
	RECV SLEEP("210", "220", "1", "9") SLEPT("800", "810", "815", "1", "9") \
	ENTER("820", "1", "sendto", "fd=6 len=9")
#define STORE_ANSWERED SWITCH("850", "0", "0", "0", "7") EXIT("860", "0", "recvfrom") END("0")
#define RAISE(at, cpu, vec) at " " cpu " irq_softirq_raise vec=" vec "\n"
#define SOFTIRQ(at, what, cpu, vec) at " " cpu " irq_softirq_" what " vec=" vec "\n"

/* Thread 9 is a kernel thread; 7 syncs its file since 200, on CPU 0. */
#define KERNEL_9 "12 0 lttng_statedump_process_state tid=9 pid=9 ppid=2 name=\"t9\" type=1\n"
#define SYNC ENTER("150", "0", "fsync", "fd=3") SWITCH("200", "0", "7", "2", "0")
#define SYNCED(runs, exit) SWITCH(runs, "0", "0", "0", "7") EXIT(exit, "0", "fsync")
#define INSERT(at, cpu, tid) \
	at " " cpu " block_rq_insert dev=8 sector=64 nr_sector=8 bytes=4096 rwbs=1 tid=" tid "\n"
#define ISSUE(at, cpu, tid) \
	at " " cpu " block_rq_issue dev=8 sector=64 nr_sector=8 bytes=4096 rwbs=1 tid=" tid "\n"
#define COMPLETE(at, cpu) at " " cpu " block_rq_complete dev=8 sector=64 nr_sector=8 rwbs=1 error=0\n"
#define DEVICE(at, cpu) at " " cpu " irq_handler_entry irq=26 name=\"virtio\"\n"
#define DEVICE_DONE(at, cpu) at " " cpu " irq_handler_exit irq=26 ret=1\n"

static const struct story stories[] = {
	{ "runs", BEGIN END("0"), "100-1000 t7/7 cpu user\n", NULL },
	{ "interrupted", BEGIN DEVICE("200", "0") DEVICE_DONE("500", "0") ENTER("600", "0", "getpid", "")
	  EXIT("850", "0", "getpid") END("0"), "100-1000 t7/7 cpu user\n",
	  "computed 350ns (350ns of 900ns); and lost 300ns to interrupts (+300ns); and worked 250ns in system "
		"calls: getpid (+250ns)" },
	{ "mostly interrupted", BEGIN DEVICE("200", "0") DEVICE_DONE("500", "0") SLEEP("510", "520", "0", "7")
	  SLEPT("600", "610", "620", "0", "7") SOFTIRQ("700", "entry", "0", "1") SOFTIRQ("900", "exit", "0", "1")
	  END("0"), "100-520 t7/7 cpu irq\n520-600 t7/7 timer: clock_nanosleep\n600-610 t7/7 wakeup\n"
	  "610-1000 t7/7 cpu irq\n",
	  "lost 500ns to interrupts (500ns of 900ns); and computed 290ns (+290ns)" },
	{ "holder sleeps, and has no span", BEGIN
	  SWITCH("120", "1", "0", "0", "8") SLEEP("160", "170", "1", "8")
	  LOCK SLEPT("700", "710", "715", "1", "8")
	  ENTER("720", "1", "futex", "uaddr=4096 op=1") WAKE("740", "1", "7", "0") LOCKED("760", "770") END("0"),
	  "100-200 t7/7 cpu user\n.200-700 t8/8 timer: clock_nanosleep\n.700-710 t8/8 wakeup\n"
	  ".710-740 t8/8 cpu\n740-760 t7/7 wakeup\n760-1000 t7/7 cpu user\n",
	  "waited 540ns for a lock; t8/8 slept holding it (540ns of 900ns); and computed 280ns (+280ns)" },
	/* 8 waits for the lock that 9 has, who computes. */
	{ "queue", BEGIN
	  SWITCH("120", "1", "0", "0", "8") ENTER("130", "1", "futex", "uaddr=8192 op=0 val=2")
	  SWITCH("140", "1", "8", "1", "9") LOCK
	  RELEASE("690", "8192") WAKE("700", "1", "8", "1") EXIT("710", "1", "futex")
	  SWITCH("720", "1", "9", "1", "8") EXIT("730", "1", "futex") RELEASE("735", "4096") WAKE("740", "1", "7", "0")
	  LOCKED("760", "770") END("0"),
	  "100-200 t7/7 cpu user\n..200-700 t9/9 cpu\n.700-720 t8/8 wakeup behind t9/9\n.720-740 t8/8 cpu\n"
	  "740-760 t7/7 wakeup\n760-1000 t7/7 cpu user\n",
	  "waited 540ns for a lock behind t8/8; t9/9 ran holding it (540ns of 900ns); and computed 280ns "
		"(+280ns)" },
	/* Who has the lock wants a CPU that another one has; so does the span, later. */
	{ "holder without a CPU", BEGIN
	  SWITCH("120", "1", "0", "0", "8") LOCK SWITCH("220", "1", "8", "0", "20")
	  SWITCH("700", "1", "20", "1", "8") RELEASE("730", "4096") WAKE("740", "1", "7", "0")
	  SWITCH("742", "0", "0", "0", "21")
	  SWITCH("800", "0", "21", "1", "7") EXIT("810", "0", "futex") END("0"),
	  "100-200 t7/7 cpu user\n.200-220 t8/8 cpu\n.220-700 t8/8 preempted behind t20/20\n.700-740 t8/8 cpu\n"
	  "740-800 t7/7 wakeup behind t21/21\n800-1000 t7/7 cpu user\n",
	  "waited 540ns for a lock; t8/8 was preempted holding it (540ns of 900ns); and computed 240ns (+240ns)" },
	/* The kernel thread that has to write waits for the CPU that 20 has. The end of its request wakes 7. */
	{ "writer without a CPU", KERNEL_9 BEGIN SWITCH("120", "1", "0", "0", "20") WAKE("180", "0", "9", "1")
	  SYNC SWITCH("700", "1", "20", "0", "9") ISSUE("720", "1", "9") SWITCH("730", "1", "9", "2", "0")
	  DEVICE("800", "0") COMPLETE("805", "0") WAKE("810", "0", "7", "0") DEVICE_DONE("820", "0")
	  SYNCED("830", "840") END("0"),
	  "100-200 t7/7 cpu user\n.200-700 t9/9 wakeup behind t20/20\n.700-730 t9/9 cpu\n.730-810 t9/9 unknown\n"
	  "810-830 t7/7 wakeup\n830-1000 t7/7 cpu user\n",
	  "waited 520ns for writeback: fd 3; t9/9 waited for a CPU for 500ns of it, behind t20/20 "
	  "(520ns of 900ns)" },
	/* The kernel thread wakes 7 itself, without any request. */
	{ "writer computes", KERNEL_9 BEGIN ISSUE("110", "0", "7") DEVICE("112", "0") COMPLETE("113", "0")
	  DEVICE_DONE("114", "0") SWITCH("120", "1", "0", "0", "9") SYNC WAKE("700", "1", "7", "0")
	  SYNCED("720", "730") END("0"),
	  "100-200 t7/7 cpu user\n.200-700 t9/9 cpu\n700-720 t7/7 wakeup\n720-1000 t7/7 cpu user\n",
	  "waited 500ns for writeback: fd 3, woken by t9/9; t9/9 ran for 500ns of it (500ns of "
	  "900ns); and computed 318ns (+318ns)" },
	/* 7 waits for its own request; its interrupt wakes it long after the request was completed. */
	{ "own request", BEGIN ISSUE("160", "0", "7") SYNC DEVICE("300", "0") COMPLETE("310", "0")
	  WAKE("700", "0", "7", "0") DEVICE_DONE("710", "0") SYNCED("720", "730") END("0"),
	  "100-200 t7/7 cpu user\n200-700 t7/7 disk: fsync(fd 3), woken by irq 26 virtio\n700-720 t7/7 wakeup\n"
	  "720-1000 t7/7 cpu user\n",
	  "waited 500ns for the disk: fd 3 (500ns of 900ns); and computed 320ns (+320ns)" },
	{ "queued request", BEGIN INSERT("160", "0", "7") SYNC ISSUE("600", "0", "0") DEVICE("690", "0")
	  COMPLETE("695", "0") WAKE("700", "0", "7", "0") DEVICE_DONE("710", "0") SYNCED("720", "730") END("0"),
	  "100-200 t7/7 cpu user\n200-700 t7/7 disk: fsync(fd 3), woken by irq 26 virtio\n700-720 t7/7 wakeup\n"
	  "720-1000 t7/7 cpu user\n",
	  "waited 500ns for the disk: fd 3, mostly in its queue (500ns of 900ns); and computed 320ns (+320ns)" },
	/* A request of another process is not waited for. */
	{ "other request", KERNEL_9 BEGIN SWITCH("120", "1", "0", "0", "20") SYNC ISSUE("210", "1", "20")
	  SWITCH("220", "1", "20", "0", "9") DEVICE("600", "1") COMPLETE("610", "1") DEVICE_DONE("620", "1")
	  WAKE("700", "1", "7", "0") SYNCED("720", "730") END("0"),
	  "100-200 t7/7 cpu user\n.200-220 t9/9 unknown\n.220-700 t9/9 cpu\n700-720 t7/7 wakeup\n"
	  "720-1000 t7/7 cpu user\n",
	  "waited 500ns for writeback: fd 3, woken by t9/9; t9/9 ran for 480ns of it (500ns of "
	  "900ns); and computed 320ns (+320ns)" },
	/* Its own request is outstanding, but another user thread ends the wait: it had a lock. */
	{ "lock of a file", KERNEL_9 BEGIN SWITCH("120", "1", "0", "0", "20") ISSUE("160", "0", "7") SYNC
	  WAKE("700", "1", "7", "0") SYNCED("720", "730") DEVICE("800", "1") COMPLETE("805", "1")
	  DEVICE_DONE("810", "1") END("0"),
	  "100-200 t7/7 cpu user\n.200-700 t20/20 cpu\n700-720 t7/7 wakeup\n720-1000 t7/7 cpu user\n",
	  "waited 500ns for a lock of the file: fd 3, woken by t20/20; t20/20 ran for 500ns of it (500ns of "
	  "900ns); and computed 320ns (+320ns)" },
	/* Losses of the kernel's events during the request may hide the cause; others do not. */
	{ "lost during it", BEGIN LOST("", "200", "300") SWITCH("700", "0", "20", "1", "7") END("0"),
	  NULL, "500ns, cause unknown (events were lost meanwhile) (500ns of 900ns); and ran 400ns (the trace has no "
	  "system calls) (+400ns)" },
	{ "lost of a program", BEGIN LOST("u:", "200", "300") SWITCH("700", "0", "20", "1", "7") END("0"),
	  NULL, NOT_LOST },
	{ "lost before it", LOST("", "5", "8") BEGIN SWITCH("700", "0", "20", "1", "7") END("0"),
	  NULL, NOT_LOST },
	{ "behind a neighbour", BEGIN SWITCH("200", "0", "7", "0", "20") SWITCH("700", "0", "20", "1", "7") END("0"),
	  "100-200 t7/7 cpu user\n200-700 t7/7 preempted behind t20/20\n700-1000 t7/7 cpu user\n",
	  "waited 500ns for a CPU, preempted, behind t20/20 500ns (500ns of 900ns); and ran 400ns (the trace "
		"has no system calls) (+400ns)" },
	/* 9 waits for a request, gets it from 7, sleeps, and answers. */
	{ "store behind a socket", SWITCH("10", "0", "0", "0", "7") SWITCH("11", "1", "5", "1", "9") CONNECT
	  ENTER("70", "1", "recvfrom", "fd=6 size=9") SWITCH("80", "1", "9", "1", "0") SPAN("100", "0", "sr")
	  ENTER("110", "0", "sendto", "fd=5 len=9") WAKE("120", "0", "9", "1")
	  SWITCH("130", "1", "0", "0", "9") EXIT("135", "0", "sendto") EXIT("140", "1", "recvfrom")
	  RECV SLEEP("210", "220", "1", "9") SLEPT("800", "810", "815", "1", "9")
	  ENTER("820", "1", "sendto", "fd=6 len=9") WAKE("830", "1", "7", "0") SWITCH("850", "0", "0", "0", "7")
	  EXIT("860", "0", "recvfrom") END("0"),
	  "100-200 t7/7 cpu user\n.200-220 t9/9 cpu\n.220-800 t9/9 timer: clock_nanosleep\n.800-810 t9/9 wakeup\n"
	  ".810-830 t9/9 cpu\n830-850 t7/7 wakeup\n850-1000 t7/7 cpu user\n",
	  "waited 630ns for a socket: inet stream, woken by t9/9; t9/9 slept for 580ns of it (630ns of 900ns)" },
	/* Neither is most of the wait: both are told. */
	{ "store without a CPU", SWITCH("10", "0", "0", "0", "7") SWITCH("11", "1", "5", "1", "9") CONNECT
	  SPAN("100", "0", "sr") RECV SWITCH("215", "1", "9", "0", "20") SWITCH("520", "1", "20", "1", "9")
	  SLEEP("525", "530", "1", "9") SLEPT("800", "810", "815", "1", "9")
	  ENTER("820", "1", "sendto", "fd=6 len=9") WAKE("830", "1", "7", "0") STORE_ANSWERED,
	  "100-200 t7/7 cpu user\n.200-215 t9/9 cpu\n.215-520 t9/9 preempted behind t20/20\n.520-530 t9/9 cpu\n"
	  ".530-800 t9/9 timer: clock_nanosleep\n.800-810 t9/9 wakeup\n.810-830 t9/9 cpu\n"
	  "830-850 t7/7 wakeup\n850-1000 t7/7 cpu user\n",
	  "waited 630ns for a socket: inet stream, woken by t9/9; t9/9 was preempted for 305ns of it, behind "
		"t20/20, slept for 270ns (630ns of 900ns)" },
	/* The same through the machine's own network: 9's call runs the softirq that wakes 7. */
	{ "softirq of the sender", STORE_ASLEEP
	  RAISE("822", "1", "3") SOFTIRQ("824", "entry", "1", "3") WAKE("830", "1", "7", "0")
	  SOFTIRQ("832", "exit", "1", "3") EXIT("835", "1", "sendto") STORE_ANSWERED,
	  "100-200 t7/7 cpu user\n.200-220 t9/9 cpu\n.220-800 t9/9 timer: clock_nanosleep\n.800-810 t9/9 wakeup\n"
	  ".810-830 t9/9 cpu\n830-850 t7/7 wakeup\n850-1000 t7/7 cpu user\n",
	  "waited 630ns for a socket: inet stream, woken by t9/9; t9/9 slept for 580ns of it (630ns of 900ns)" },
	/* Raised again by a card, whose interrupt ends with it: whose packet it was is not known. */
	{ "softirq of a card", STORE_ASLEEP
	  RAISE("822", "1", "3") "823 1 irq_handler_entry irq=5 name=\"eth0\"\n" RAISE("824", "1", "3")
	  "825 1 irq_handler_exit irq=5 ret=1\n" SOFTIRQ("826", "entry", "1", "3") WAKE("830", "1", "7", "0")
	  SOFTIRQ("832", "exit", "1", "3") EXIT("835", "1", "sendto") STORE_ANSWERED,
	  "100-200 t7/7 cpu user\n200-830 t7/7 socket: recvfrom(socket inet stream), woken by softirq NET_RX\n"
	  "830-850 t7/7 wakeup\n850-1000 t7/7 cpu user\n",
	  "waited 630ns for a socket: inet stream (630ns of 900ns)" },
	/* Raised by a thread, but run when its call was over; and one that no thread raised. */
	{ "softirq left behind", STORE_ASLEEP
	  RAISE("822", "1", "3") EXIT("823", "1", "sendto") SOFTIRQ("824", "entry", "1", "3") WAKE("830", "1", "7", "0")
	  SOFTIRQ("832", "exit", "1", "3") STORE_ANSWERED,
	  "100-200 t7/7 cpu user\n200-830 t7/7 socket: recvfrom(socket inet stream), woken by softirq NET_RX\n"
	  "830-850 t7/7 wakeup\n850-1000 t7/7 cpu user\n",
	  "waited 630ns for a socket: inet stream (630ns of 900ns)" },
	/* Whoever has the CPU is not who ends a sleep, nor is a thread of the kernel who ends a wait. */
	{ "messengers", BEGIN
	  "12 1 lttng_statedump_process_state tid=30 pid=30 ppid=2 name=\"kworker\" type=1\n"
	  SWITCH("120", "1", "0", "0", "8") SLEEP("150", "200", "0", "7")
	  SLEPT("500", "510", "520", "0", "7")
	  ENTER("600", "0", "futex", "uaddr=1 op=0 val=2") SWITCH("610", "0", "7", "1", "0")
	  SWITCH("620", "1", "8", "1", "30") WAKE("800", "1", "7", "0") LOCKED("810", "820") END("0"),
	  "100-200 t7/7 cpu user\n200-500 t7/7 timer: clock_nanosleep\n500-510 t7/7 wakeup\n"
	  "510-610 t7/7 cpu user\n610-800 t7/7 futex: futex, woken by t30/30\n800-810 t7/7 wakeup\n"
	  "810-1000 t7/7 cpu user\n", NULL },
	/* An interrupt on the CPU of 8 wakes it. */
	{ "interrupt", BEGIN SWITCH("120", "1", "0", "0", "8") RECV
	  "690 1 irq_handler_entry irq=11 name=\"eth0\"\n" WAKE("700", "1", "7", "0")
	  "710 1 irq_handler_exit irq=11 ret=1\n" SWITCH("720", "0", "0", "0", "7")
	  EXIT("730", "0", "recvfrom") END("0"),
	  "100-200 t7/7 cpu user\n200-700 t7/7 socket: recvfrom(fd 5), woken by irq 11 eth0\n"
	  "700-720 t7/7 wakeup\n720-1000 t7/7 cpu user\n", NULL },
	/* What 8 did is lost in the middle. */
	{ "waker's events are lost", BEGIN SWITCH("120", "1", "0", "0", "8") LOCK
	  SWITCH("250", "1", "8", "1", "0") "300 1 !lost begin=300 end=400 events=3\n"
	  SWITCH("500", "1", "0", "0", "8") WAKE("700", "1", "7", "0") LOCKED("760", "770") END("0"),
	  "100-700 t7/7 mostly unknown\n700-760 t7/7 wakeup\n760-1000 t7/7 mostly unknown\n", NULL },
	/* 8 is seen first when it is woken; 9 when it runs, out of nowhere. */
	{ "waker is seen late", BEGIN LOCK WAKE("400", "0", "8", "1") SWITCH("410", "1", "0", "0", "8")
	  WAKE("700", "1", "7", "0") LOCKED("760", "770") END("0"),
	  "100-200 t7/7 cpu user\n.200-400 t8/8 unknown\n.400-410 t8/8 wakeup\n.410-700 t8/8 cpu\n"
	  "700-760 t7/7 wakeup\n760-1000 t7/7 cpu user\n",
	  "waited 500ns on a futex, woken by t8/8; t8/8 ran for 290ns of it (500ns of 900ns); "
		"and computed 280ns (+280ns)" },
	{ "waker is new", BEGIN SWITCH("120", "1", "0", "0", "8") LOCK
	  "300 1 sched_process_fork parent_comm=\"t8\" parent_tid=8 parent_pid=8 child_comm=\"t8\" child_tid=9 "
	  "child_pid=9\n"
	  "305 1 sched_wakeup_new tid=9 target_cpu=1\n" SWITCH("400", "1", "8", "1", "9")
	  WAKE("700", "1", "7", "0") LOCKED("760", "770") END("0"),
	  "100-200 t7/7 cpu user\n..200-300 t8/8 cpu\n.300-400 t8/9 wakeup\n.400-700 t9/9 cpu\n"
	  "700-760 t7/7 wakeup\n760-1000 t7/7 cpu user\n", NULL },
	/* 8 ends. glibc waits for its number, or since 2.42 for its state, of which 2 is one. */
	{ "join", BEGIN SWITCH("120", "1", "0", "0", "8") ENTER("150", "0", "futex", "uaddr=4096 op=265 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "exit", "error_code=0")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") SWITCH("740", "1", "8", "32", "0") END("0"),
	  NULL, "waited 500ns for thread t8/8; t8/8 ran for 500ns of it (500ns of 900ns); and computed 320ns "
		"(+320ns)" },
	/* The kernel wakes whoever waits for its lock, or for a process that is killed. */
	{ "join without its own operation", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=0 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "exit_group", "error_code=0")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") SWITCH("740", "1", "8", "32", "0") END("0"),
	  NULL, "waited 500ns for thread t8/8; t8/8 ran for 500ns of it (500ns of 900ns); and computed 320ns "
		"(+320ns)" },
	/* musl waits for its state, of which 2 is one. It wakes those who wait, and ends: no call is in between. */
	{ "join of musl", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=129 val=1")
	  WAKE("700", "1", "7", "0") EXIT("705", "1", "futex") ENTER("710", "1", "exit", "error_code=0")
	  LOCKED("720", "730") SWITCH("740", "1", "8", "32", "0") END("0"),
	  NULL, "waited 500ns for thread t8/8; t8/8 ran for 500ns of it (500ns of 900ns); and computed 320ns "
		"(+320ns)" },
	{ "lock, and an end later", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=129 val=1")
	  WAKE("700", "1", "7", "0") EXIT("705", "1", "futex") ENTER("706", "1", "getpid", "")
	  EXIT("707", "1", "getpid")
	  ENTER("710", "1", "exit", "error_code=0") LOCKED("720", "730") SWITCH("740", "1", "8", "32", "0") END("0"),
	  NULL, "waited 500ns for a lock; t8/8 ran holding it (500ns of 900ns); and computed 320ns (+320ns)" },
	{ "unknown call of the waker", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2") SWITCH("200", "0", "7", "1", "0")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") END("0"),
	  NULL, "waited 500ns on a futex, woken by t8/8; t8/8 ran for 500ns of it (500ns of 900ns); "
		"and computed 320ns (+320ns)" },
	{ "another call of the waker", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2") SWITCH("200", "0", "7", "1", "0")
	  ENTER("690", "1", "tgkill", "tgid=7 tid=7 sig=10")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "tgkill") END("0"),
	  NULL, "waited 500ns on a futex, woken by t8/8; t8/8 ran for 500ns of it (500ns of 900ns); "
		"and computed 320ns (+320ns)" },
	/* A semaphore of musl 1.2.4, with other waiters, and of musl 1.1. */
	{ "semaphore of musl", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=128 val=-2147483648")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=129 val=1")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "futex") END("0"),
	  NULL, "waited 500ns on a futex, woken by t8/8; t8/8 ran for 500ns of it (500ns of 900ns); "
		"and computed 320ns (+320ns)" },
	{ "semaphore of old musl", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=0 val=-1")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=1 val=1")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "futex") END("0"),
	  NULL, "waited 500ns on a futex, woken by t8/8; t8/8 ran for 500ns of it (500ns of 900ns); "
		"and computed 320ns (+320ns)" },
	{ "lock of musl", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=128 val=-2147483632")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=129 val=1")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "futex") END("0"),
	  NULL, "waited 500ns for a lock; t8/8 ran holding it (500ns of 900ns); and computed 320ns (+320ns)" },
	/* A condition of glibc 2.41 that was signalled twice before. */
	{ "condition", BEGIN SWITCH("120", "1", "0", "0", "8") ENTER("150", "0", "futex", "uaddr=4096 op=393 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=129 val=1")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "futex") END("0"),
	  NULL, "waited 500ns on a futex, woken by t8/8; t8/8 ran for 500ns of it (500ns of 900ns); "
		"and computed 320ns (+320ns)" },
	/* The third round of a barrier: all are woken at once. */
	{ "barrier", BEGIN SWITCH("120", "1", "0", "0", "8") ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=129 val=2147483647")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "futex") END("0"),
	  NULL, "waited 500ns on a futex, woken by t8/8; t8/8 ran for 500ns of it (500ns of 900ns); "
		"and computed 320ns (+320ns)" },
	/* It was moved to another futex meanwhile. */
	{ "another futex", BEGIN SWITCH("120", "1", "0", "0", "8") ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=8192 op=129 val=1")
	  WAKE("700", "1", "7", "0") SWITCH("710", "1", "8", "0", "9") LOCKED("720", "730") END("0"),
	  NULL, "waited 500ns on a futex, woken by t8/8; t8/8 ran for 500ns of it (500ns of 900ns); "
		"and computed 320ns (+320ns)" },
	{ "lock", BEGIN SWITCH("120", "1", "0", "0", "8") ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=129 val=1")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "futex") END("0"),
	  NULL, "waited 500ns for a lock; t8/8 ran holding it (500ns of 900ns); and computed 320ns (+320ns)" },
	{ "lock with inherited priority", BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=134 val=0")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "futex", "uaddr=4096 op=135 val=0")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") EXIT("740", "1", "futex") END("0"),
	  NULL, "waited 500ns for a lock; t8/8 ran holding it (500ns of 900ns); and computed 320ns (+320ns)" },
	/* SIGSTOP, between two calls; 8 sends SIGCONT. */
	{ "stopped", BEGIN SWITCH("120", "1", "0", "0", "8") CALL SWITCH("200", "0", "7", "4", "0")
	  WAKE("700", "1", "7", "0") SWITCH("720", "0", "0", "0", "7") END("0"),
	  "100-200 t7/7 cpu user\n200-700 t7/7 stopped, woken by t8/8\n700-720 t7/7 wakeup\n"
	  "720-1000 t7/7 cpu user\n",
	  "was stopped for 500ns, continued by t8/8 (500ns of 900ns); and computed 370ns (+370ns)" },
	/* 8 stops the process by a signal to its thread 9. The next ones are for another process, and too late. */
	{ "stopped by a signal", "5 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"t7\" type=0\n"
	  "6 0 lttng_statedump_process_state tid=9 pid=7 ppid=1 name=\"t9\" type=0\n"
	  BEGIN SWITCH("120", "1", "0", "0", "8") CALL "190 1 signal_generate sig=19 pid=9 result=0\n"
	  "192 1 signal_generate sig=19 pid=20 result=0\n" SWITCH("200", "0", "7", "4", "0")
	  SWITCH("300", "1", "8", "1", "0") "310 1 signal_generate sig=20 pid=7 result=0\n"
	  SWITCH("320", "1", "0", "0", "10")
	  WAKE("700", "1", "7", "0") SWITCH("720", "0", "0", "0", "7") END("0"), NULL,
	  "was stopped for 500ns by t8/8, continued by t10/10 (500ns of 900ns); and computed 370ns (+370ns)" },
	/* The second time without a signal. */
	{ "stopped again", BEGIN SWITCH("120", "1", "0", "0", "8") CALL "170 1 signal_generate sig=19 pid=7 result=0\n"
	  SWITCH("180", "0", "7", "4", "0") WAKE("190", "1", "7", "0") SWITCH("192", "0", "0", "0", "7")
	  SWITCH("200", "0", "7", "8", "0") WAKE("700", "1", "7", "0") SWITCH("720", "0", "0", "0", "7") END("0"), NULL,
	  "was stopped for 510ns, continued by t8/8 (510ns of 900ns); and computed 358ns (+358ns)" },
	{ "ignored, and other signals", BEGIN SWITCH("120", "1", "0", "0", "8") CALL
	  "190 1 signal_generate sig=20 pid=7 result=1\n191 1 signal_generate sig=10 pid=7 result=0\n"
	  SWITCH("200", "0", "7", "4", "0") WAKE("700", "1", "7", "0") SWITCH("720", "0", "0", "0", "7") END("0"), NULL,
	  "was stopped for 500ns, continued by t8/8 (500ns of 900ns); and computed 370ns (+370ns)" },
	/* A debugger stops it in a call, on a kernel that has TASK_WAKEKILL beside __TASK_TRACED. */
	{ "traced", "0 0 !release 4.4.0\n" BEGIN SWITCH("120", "1", "0", "0", "8")
	  ENTER("150", "0", "futex", "uaddr=4096 op=0 val=2") SWITCH("200", "0", "7", "136", "0")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") END("0"),
	  NULL, "was stopped for 500ns, continued by t8/8 (500ns of 900ns); and computed 320ns (+320ns)" },
	/* Preempted while it is about to stop: it runs on. */
	{ "preempted before it stops", BEGIN SWITCH("120", "1", "0", "0", "8") CALL SWITCH("200", "0", "7", "260", "9")
	  SWITCH("700", "0", "9", "1", "7") END("0"),
	  NULL, "waited 500ns for a CPU, preempted, behind t9/9 500ns (500ns of 900ns); and computed 390ns (+390ns)" },
};

/* More and shorter waits than are told. */
static void test_mixed(void)
{
	g_autoptr(GString) script = g_string_new(BEGIN SWITCH("120", "1", "0", "0", "8") LOCK);
	for (int i = 0; i < 20; i++)
		g_string_append_printf(script, "%d 1 syscall_entry_clock_nanosleep\n"
			SWITCH("%d", "1", "8", "1", "0") WAKE("%d", "1", "8", "1") SWITCH("%d", "1", "0", "0", "8"),
			210 + i * 20, 211 + i * 20, 225 + i * 20, 226 + i * 20);
	g_string_append(script, RELEASE("699", "4096") WAKE("700", "1", "7", "0") LOCKED("760", "770") END("0"));
	const struct story x = { "mixed", script->str,
		"100-200 t7/7 cpu user\n.200-700 t8/8 mostly timer\n700-760 t7/7 wakeup\n"
		"760-1000 t7/7 cpu user\n",
		"waited 500ns for a lock; t8/8 slept holding it (500ns of 900ns); and computed 280ns (+280ns)" };
	test_story(&x);
}

/* Each waits for the next one: the path ends somewhere. */
static void test_long_chain(void)
{
	g_autoptr(GString) script = g_string_new(BEGIN LOCK SWITCH("201", "1", "0", "0", "20"));
	for (int i = 20; i < 32; i++)
		g_string_append_printf(script, "%d 1 syscall_entry_futex uaddr=%d op=0 val=2\n"
			SWITCH("%d", "1", "%d", "1", "%d"), 190 + i, i, 190 + i, i, i + 1, i, i + 1);
	for (int i = 32; i > 20; i--)
		g_string_append_printf(script, WAKE("%d", "1", "%d", "1") SWITCH("%d", "1", "%d", "1", "%d"),
			900 - 4 * i, i - 1, 902 - 4 * i, i, i - 1, i, i - 1);
	g_string_append(script, WAKE("850", "1", "7", "0") LOCKED("860", "870") END("0"));
	struct recording *r = traces_record_script(script->str);
	struct timeline *tl = timeline_new(0);
	struct slice *s = cuts_slice(r, 0, recording_n(r), true);
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	g_autoptr(GArray) path = sound_path(NULL, t, t->root);
	unsigned deepest = 0;
	for (guint i = 0; i < path->len; i++)
		deepest = MAX(deepest, g_array_index(path, struct path_segment, i).depth);
	g_assert_cmpuint(deepest, ==, 8);
	timeline_free(tl);
	cuts_check("long chain", r);
	recording_free(r);
}

/* ---- trees ---- */

static char *path_text(const struct timeline *tl)
{
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) path = sound_path(h, t, t->root);
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < path->len; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		g_autofree char *words = path_words(tl, p);
		g_string_append_printf(text, "%" G_GINT64_FORMAT " %s %s, ", (p->end_ns - p->begin_ns) / FAKE_MS,
				       p->span ? p->span->name : "-", words);
	}
	return g_string_free(text, FALSE);
}

/* Asleep, it waits for nobody; at a socket it does: for who was there last. */
static void test_children(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "a"), b = fake_thread(f, 0, 1, 12, "b");
	uint32_t c = fake_thread(f, 0, 1, 13, "c");
	struct fake_span d = { .trace = 1, .id = 1, .name = "root", .service = "s", .thread = a, .begin = 0,
			       .end = 100 * FAKE_MS };
	struct span *root = fake_span(f, &d);
	fake_wait(root, PART_TIMER, 10 * FAKE_MS, 30 * FAKE_MS, 0, ID_NONE, 0);
	fake_wait(root, PART_SOCKET, 40 * FAKE_MS, 90 * FAKE_MS, 0, ID_NONE, 0);
	static const struct { const char *name; int64_t begin, end; } children[] = {
		{ "aside", 12, 28 }, { "first", 42, 60 }, { "hidden", 62, 64 }, { "last", 61, 80 },
	};
	d.parent = 1;
	for (unsigned i = 0; i < G_N_ELEMENTS(children); i++) {
		d.id = 2 + i;
		d.name = children[i].name;
		d.thread = i % 2 ? b : c;
		d.begin = children[i].begin * FAKE_MS;
		d.end = children[i].end * FAKE_MS;
		fake_span(f, &d);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autofree char *text = path_text(tl);
	g_assert_cmpstr(text, ==, "10 root cpu user, 20 root timer, 10 root cpu user, 2 root socket, "
			"18 first cpu user, 1 root socket, 19 last cpu user, 10 root socket, 10 root cpu user, ");
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	path_mark(t);
	for (int i = 0; i < t->n; i++) {
		const char *name = t->nodes[i].span->name;
		g_assert_cmpint(t->nodes[i].critical, ==, !strcmp(name, "first") || !strcmp(name, "last"));
	}
}

/* Nobody knows the threads of spans that others wrote: their children are what is known. */
static void test_without_threads(void)
{
	struct fake *f = fake_new();
	struct fake_span d = { .trace = 1, .id = 1, .name = "root", .service = "s", .thread = ID_NONE, .begin = 0,
			       .end = 100 * FAKE_MS };
	fake_span(f, &d);
	d = (struct fake_span){ .trace = 1, .id = 2, .parent = 1, .name = "child", .service = "t",
				.thread = ID_NONE, .begin = 20 * FAKE_MS, .end = 70 * FAKE_MS };
	fake_span(f, &d);
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autofree char *text = path_text(tl);
	g_assert_cmpstr(text, ==, "20 root unknown, 50 child unknown, 30 root unknown, ");
}

static void add_random(struct fake *f, uint64_t id, const uint32_t *thread)
{
	int64_t begin = g_test_rand_int_range(0, 80), end = begin + g_test_rand_int_range(0, 60);
	struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = id,
		.parent = id > 1 ? (uint64_t)g_test_rand_int_range(1, (int)id) : 0, .name = "n", .service = "s",
		.thread = thread[g_test_rand_int_range(0, 4)], .begin = begin, .end = end });
	for (int64_t at = begin; s->thread != ID_NONE && (at += g_test_rand_int_range(1, 20)) < end; at++) {
		int64_t until = at + g_test_rand_int_range(1, 20), wake = g_test_rand_int_range(0, (int)(until - at));
		struct span_wait *w = fake_wait(s, g_test_rand_int_range(PART_PREEMPTED, PART_N), at, until, wake,
						thread[g_test_rand_int_range(0, 4)], 0);
		for (int64_t hop = at; g_test_rand_bit() && hop < w->wake_ns - FAKE_T0; hop++)
			fake_link(s, thread[g_test_rand_int_range(0, 3)], g_test_rand_int_range(0, PART_N + 1),
				 hop, hop + 1);
		at = until;
	}
	if (g_test_rand_bit()) {
		fake_part(s, PART_HANDOFF, end - begin);
		for (int64_t at = begin; at < end; at += g_test_rand_int_range(1, 10)) {
			fake_annotate(s, at, "");
			s->annotations[s->n_annotations - 1].thread = thread[g_test_rand_int_range(0, 4)];
		}
	}
}

/* Whatever spans, waits and hops there are, the pieces are whole. */
static void test_random(void)
{
	for (int round = 0; round < 300; round++) {
		struct fake *f = fake_new();
		uint32_t thread[4] = { fake_thread(f, 0, 1, 11, "a"), fake_thread(f, 0, 1, 12, "b"),
				       fake_thread(f, 0, 2, 21, "c"), ID_NONE };
		for (int id = 1, n = g_test_rand_int_range(2, 12); id < n; id++)
			add_random(f, (uint64_t)id, thread);
		g_autoptr(blk_timeline) tl = fake_done(f);
		g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
		g_autoptr(blk_history) h = history_new(tl);
		for (int i = 0; i < t->n; i++) {
			g_array_unref(sound_path(h, t, i));
			struct why why;
			why_find(h, t, i, &why);
			g_autofree char *sentence = why_sentence(h, t, i, &why);
			int64_t ns = span_duration(t->nodes[i].span), shared = 0;
			g_autoptr(GArray) shares = path_shares(t, i);
			for (guint k = 0; k < shares->len; k++)
				shared += g_array_index(shares, struct path_share, k).ns;
			g_assert_cmpint(shared, ==, MAX(ns, 0));
			g_assert_true(!sentence == (!why.n && ns > 0));	/* none: within the usual */
			for (unsigned k = 0; k < why.n; k++)
				g_assert_true(why.cause[k].excess_ns > 0 && why.cause[k].excess_ns <= why.excess_ns);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(stories); i++) {
		g_autofree char *path = g_strdup_printf("/path/%s", stories[i].name);
		g_test_add_data_func(path, &stories[i], test_story);
	}
	g_test_add_func("/path/mixed", test_mixed);
	g_test_add_func("/path/long-chain", test_long_chain);
	g_test_add_func("/path/children", test_children);
	g_test_add_func("/path/without-threads", test_without_threads);
	g_test_add_func("/path/random", test_random);
	return g_test_run();
}
