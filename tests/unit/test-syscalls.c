/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls as two generations of the tracer record them: lttng-modules before 2.16
 * has numbers for many of the last ten years, 2.16 has their names and fields. What
 * happened is the same, so the account is the same.
 */
#include "export/export.h"
#include "lib/sources.h"
#include "lib/traces.h"
#include "base/call_event.h"
#include "base/machine.h"
#include "state/calllog/calllog.h"
#include "state/kernel/syscalls.h"
#include "state/publish/model.h"
#include "state/slice/slice.h"
#include "views/logline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One line of a script. A call has its name, its arguments by number and by name, and what it returns. */
struct step {
	const char *call;		/* NULL: .named is an event that both generations have */
	const char *numbered, *named;
	enum { BOTH, ENTRY, EXIT } what;
	int tid;
	int64_t ret;
	bool both_named;		/* the older tracer knows its name, too */
};

#define EVENT(line) { .named = line }
#define KNOWN(c, fields, r) { .call = c, .named = fields, .ret = r, .both_named = true }
#define CALL(c, args, fields, r) { .call = c, .numbered = args, .named = fields, .ret = r }
#define ENTERS(t, c, args, fields) { .call = c, .numbered = args, .named = fields, .what = ENTRY, .tid = t }
#define LEAVES(t, c, r) { .call = c, .numbered = "", .named = "", .what = EXIT, .tid = t, .ret = r }

static int64_t number_of(const char *call)
{
	for (int64_t i = 0; i < 1000; i++)
		if (!g_strcmp0(machine_call_name(MACHINE_X86_64, false, i), call))
			return i;
	g_error("%s has no number", call);
}

static void add_half(GString *text, const struct step *s, bool named, bool entry, unsigned ts)
{
	int tid = s->tid ? s->tid : 7;
	g_string_append_printf(text, "%u 0 syscall_%s_%s ctx.tid=%d ctx.pid=%d", ts, entry ? "entry" : "exit",
			       named ? s->call : "unknown", tid, tid);
	if (!named)
		g_string_append_printf(text, " id=%" PRId64, number_of(s->call));
	if (!entry)
		g_string_append_printf(text, " ret=%" PRId64, s->ret);
	if (entry || !named)
		g_string_append_printf(text, " %s", named ? s->named : s->numbered);
	g_string_append_c(text, '\n');
}

/* A line each 10 ns; a call that comes back takes 10 ns. */
static char *script_of(const struct step *steps, size_t n, bool new)
{
	GString *text = g_string_new(NULL);
	unsigned ts = 10;
	for (size_t i = 0; i < n; i++, ts += 10) {
		bool named = new || steps[i].both_named;
		if (!steps[i].call) {
			g_string_append_printf(text, "%u 0 %s\n", ts, steps[i].named);
			continue;
		}
		if (steps[i].what != EXIT)
			add_half(text, &steps[i], named, true, ts);
		if (steps[i].what == BOTH)
			ts += 10;
		if (steps[i].what != ENTRY)
			add_half(text, &steps[i], named, false, ts);
	}
	return g_string_free(text, FALSE);
}

static struct timeline *timeline_of(const char *script)
{
	struct recording *r = traces_record_script(script);
	struct slice *s = slice_new(true, INT64_C(1000000000));
	slice_feed(s, recording_tables(r), recording_event(r, 0), recording_n(r));
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	recording_free(r);
	return tl;
}

static void add_view(FILE *out, const struct timeline *tl, const char *id, enum view_by by)
{
	const struct view *v = view_find(id);
	struct view_query q = VIEW_QUERY_INIT;
	q.by = by;
	struct rows *rows = v->build(tl, &q);
	fprintf(out, "%s\n", id);
	g_assert_true(rows_print(out, v, rows, FORMAT_CSV, true));
	rows_free(rows);
}

static void add_parts(FILE *out, const struct timeline *tl, const struct second *sec)
{
	fprintf(out, "open ends %" PRIu64 "\n", sec->completeness.provisional);
	for (size_t i = 0; i < sec->n_threads; i++)
		for (unsigned k = 0; k < PART_N; k++)
			if (sec->threads[i].part[k])
				fprintf(out, "%d %s %" PRId64 "\n", timeline_thread(tl, sec->threads[i].thread)->tid,
					part_info[k].id, sec->threads[i].part[k]);
}

/* What is told of calls, files and time; not the names of events, which differ. */
static char *account(const char *script)
{
	g_autoptr(blk_timeline) tl = timeline_of(script);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	add_view(out, tl, "syscalls", BY_THREAD);
	add_view(out, tl, "files", BY_THREAD);
	add_view(out, tl, "processes", BY_THREAD);
	add_view(out, tl, "processes", BY_PROCESS);
	for (size_t i = 0; i < timeline_n_seconds(tl); i++)
		add_parts(out, tl, timeline_second(tl, i));
	fclose(out);
	char *copy = g_strndup(text, len);
	free(text);
	return copy;
}

static const struct step story[] = {
	EVENT("sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\""),
	KNOWN("openat", "dfd=-100 filename=\"/data\" flags=0", 3),
	CALL("memfd_create", "args[0]=4096 args[1]=1 args[2]=7", "uname=\"m\" flags=1", 4),
	CALL("copy_file_range", "args[0]=3 args[1]=0 args[2]=4 args[3]=0 args[4]=100 args[5]=0",
	     "fd_in=3 off_in=0 fd_out=4 off_out=0 flags=0", 100),
	CALL("preadv2", "args[0]=3 args[1]=4096 args[2]=1", "fd=3 vec=4096 vlen=1 pos_l=0 pos_h=0 flags=0", 11),
	CALL("pwritev2", "args[0]=4 args[1]=4096 args[2]=1", "fd=4 vec=4096 vlen=1 pos_l=0 pos_h=0 flags=0", 22),
	KNOWN("vmsplice", "fd=4 uiov=4096 nr_segs=1 flags=0", 7),
	/* Two exits: the parent's, and the child's with 0 under its own tid. */
	ENTERS(7, "clone3", "args[0]=4096 args[1]=88", "uargs=4096 size=88"),
	EVENT("sched_process_fork ctx.tid=7 parent_tid=7 child_tid=9 parent_pid=7 child_pid=9 child_comm=\"a\""),
	LEAVES(7, "clone3", 9),
	EVENT("sched_switch ctx.tid=7 prev_tid=7 prev_state=0 next_tid=9 prev_comm=\"a\" next_comm=\"a\""),
	LEAVES(9, "clone3", 0),
	ENTERS(9, "close_range", "args[0]=4 args[1]=4294967295 args[2]=0", "fd=4 max_fd=4294967295 flags=0"),
	LEAVES(9, "close_range", 0),
	/* The parent's exit comes after the child's exec. */
	ENTERS(9, "vfork", "args[0]=0", ""),
	EVENT("sched_process_fork ctx.tid=9 parent_tid=9 child_tid=10 parent_pid=9 child_pid=10 child_comm=\"a\""),
	EVENT("sched_switch ctx.tid=9 prev_tid=9 prev_state=2 next_tid=10 prev_comm=\"a\" next_comm=\"a\""),
	LEAVES(10, "vfork", 0),
	ENTERS(10, "execveat", "args[0]=3 args[1]=4096 args[2]=8192",
	       "fd=3 filename=\"\" argv=4096 envp=8192 flags=4096"),
	EVENT("sched_process_exec ctx.tid=10 filename=\"/bin/b\" tid=10 old_tid=10"),
	LEAVES(10, "execveat", 0),
	EVENT("sched_waking ctx.tid=10 tid=9 target_cpu=0"),
	EVENT("sched_switch ctx.tid=10 prev_tid=10 prev_state=0 next_tid=9 prev_comm=\"b\" next_comm=\"a\""),
	LEAVES(9, "vfork", 10),
	EVENT("sched_switch ctx.tid=9 prev_tid=9 prev_state=0 next_tid=7 prev_comm=\"a\" next_comm=\"a\""),
	/* Whether parent and child share descriptors is not known: the flags of clone3 are in memory. */
	CALL("pwritev2", "args[0]=4 args[1]=4096 args[2]=1", "fd=4 vec=4096 vlen=1 pos_l=0 pos_h=0 flags=0", 33),
	CALL("pidfd_open", "args[0]=9 args[1]=0", "pid=9 flags=0", 5),
	CALL("io_uring_setup", "args[0]=8 args[1]=4096", "entries=8 params=4096", 6),
	CALL("io_uring_enter", "args[0]=6 args[1]=3 args[2]=1",
	     "fd=6 to_submit=3 min_complete=1 flags=1 sig=0 sigsz=8", 3),
	KNOWN("read", "fd=5 count=8", -22),
	KNOWN("read", "fd=6 count=8", -22),
	/* Marked to be closed on exec: they are open until then. */
	CALL("close_range", "args[0]=3 args[1]=4 args[2]=4", "fd=3 max_fd=4 flags=4", 0),
	CALL("preadv2", "args[0]=3 args[1]=4096 args[2]=1", "fd=3 vec=4096 vlen=1 pos_l=0 pos_h=0 flags=0", 44),
	CALL("statx", "args[0]=4294967196 args[1]=4096", "dfd=-100 filename=\"/x\" flags=0 mask=0 buffer=0", 0),
	ENTERS(7, "epoll_pwait2", "args[0]=5 args[1]=4096 args[2]=1",
	       "epfd=5 events=4096 maxevents=1 timeout=0 sigmask=0 sigsetsize=8"),
	EVENT("sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"a\" next_comm=\"swapper/0\""),
	EVENT("sched_waking ctx.tid=0 tid=7 target_cpu=0"),
	EVENT("sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\""),
	LEAVES(7, "epoll_pwait2", 0),
	ENTERS(7, "futex_waitv", "args[0]=4096 args[1]=6 args[2]=0",
	       "waiters=4096 nr_futexes=6 flags=0 timeout=0 clockid=0"),
	EVENT("sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"a\" next_comm=\"swapper/0\""),
	EVENT("sched_waking ctx.tid=0 tid=7 target_cpu=0"),
	EVENT("sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\""),
	LEAVES(7, "futex_waitv", 0),
	ENTERS(7, "rt_sigreturn", "args[0]=0", ""),
	CALL("getrandom", "args[0]=4096 args[1]=8", "ubuf=4096 len=8 flags=0", 8),
	CALL("execveat", "args[0]=3 args[1]=4096 args[2]=8192",
	     "fd=3 filename=\"\" argv=4096 envp=8192 flags=4096", 0),
	KNOWN("read", "fd=3 count=8", 1),
};

static void test_same(void)
{
	g_autofree char *old = script_of(story, G_N_ELEMENTS(story), false);
	g_autofree char *new = script_of(story, G_N_ELEMENTS(story), true);
	g_assert_nonnull(strstr(old, "syscall_entry_unknown"));
	g_assert_null(strstr(new, "unknown"));
	g_autofree char *was = account(old), *is = account(new);
	g_assert_cmpstr(is, ==, was);
}

/* "host,pid,comm,path,kind,reads,writes,read_bytes,write_bytes": what the story says. */
static void test_story(void)
{
	static const char *const known[] = {
		"\nlocalhost,7,7,a,clone3,1,0,0,20,", "\nlocalhost,9,9,a,vfork,1,0,0,90,",
		"\nlocalhost,10,10,b,execveat,1,0,0,20,", "\nlocalhost,7,7,a,epoll_pwait2,1,0,0,40,",
		"\nlocalhost,7,a,/data,file,3,0,155,0,", "\nlocalhost,7,a,memfd,event,0,3,0,129,",
		"\nlocalhost,7,a,pidfd,event,1,0,0,0,", "\nlocalhost,7,a,io_uring,event,1,0,,,",
		",6,6,,,3",	/* requests that were submitted to it */
		"\nlocalhost,7,a,fd 4,unknown,0,1,0,33,",	/* the child may have closed it here, too */
		"\nlocalhost,7,a,fd 3,unknown,1,0,1,0,",	/* closed by execveat */
		"\n7 poll 10\n", "\n7 futex 10\n", "\n9 other 50\n", "\nopen ends 0\n",
	};
	g_autofree char *script = script_of(story, G_N_ELEMENTS(story), true);
	g_autofree char *text = account(script);
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (!strstr(text, known[i]))
			g_error("no %s in\n%s", known[i], text);
}

/* The path of openat2 is told with its name only; its flags never are. */
static void test_openat2(void)
{
	static const struct step steps[] = {
		EVENT("sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\""),
		KNOWN("openat", "dfd=-100 filename=\"/srv\" flags=65536", 3),
		/* An address that has the bit of O_CLOEXEC. */
		CALL("openat2", "args[0]=3 args[1]=4096 args[2]=524288", "dfd=3 filename=\"x\" how=524288 usize=24", 4),
		EVENT("sched_process_exec ctx.tid=7 filename=\"/bin/b\" tid=7 old_tid=7"),
		KNOWN("read", "fd=4 count=8", 8),
		CALL("open_tree", "args[0]=3 args[1]=4096 args[2]=524288", "dfd=3 filename=\"y\" flags=524288", 5),
		KNOWN("read", "fd=5 count=8", 1),
	};
	g_autofree char *new = script_of(steps, G_N_ELEMENTS(steps), true), *is = account(new);
	g_autofree char *old = script_of(steps, G_N_ELEMENTS(steps), false), *was = account(old);
	g_assert_nonnull(strstr(is, "\nlocalhost,7,b,/srv/x,file,1,0,8,0,"));
	g_assert_nonnull(strstr(is, "\nlocalhost,7,b,/srv/y,file,1,0,1,0,"));
	g_assert_nonnull(strstr(was, "\nlocalhost,7,b,/srv/?,file,2,0,9,0,"));
}

static void keep_line(void *data, struct calllog_line *l)
{
	g_autofree char *text = logline_text(l);
	g_string_append_printf(data, "%s\n", text);
	calllog_line_unref(l);
}

static char *log_of(const char *script)
{
	size_t n;
	const struct blk_subscription *rows = calllog_subscriptions(&n);
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_source) s = source_open_script(script, rows, n, &error);
	g_assert_no_error(error);
	GString *text = g_string_new(NULL);
	struct calllog *j = calllog_new(&(struct calllog_options){ .from_ns = INT64_MIN, .to_ns = INT64_MAX },
					keep_line, text);
	struct blk_batch b;
	while (source_next(s, &b, NULL) == SOURCE_OK)
		calllog_feed(j, &s->tables, b.ev, b.n);
	calllog_finish(j);
	calllog_free(j);
	return g_string_free(text, FALSE);
}

/* A socket has the name of its peer also where connect() goes on in the background, and keeps it when a
 * state dump says less. */
static void test_sockets(void)
{
	static const char script[] =
		"1 0 lttng_statedump_process_state ctx.tid=7 tid=7 pid=7 name=\"a\" file_table_address=99\n"
		"2 0 syscall_entry_socket ctx.tid=7 ctx.pid=7 family=2 type=1\n"
		"3 0 syscall_exit_socket ctx.tid=7 ctx.pid=7 ret=3\n"
		"4 0 syscall_entry_connect ctx.tid=7 ctx.pid=7 fd=3 family=2 dport=80 v4addr=\"\\x0a\\x00\\x00\\x02\" "
		"v4addr[0]=10 v4addr[1]=0 v4addr[2]=0 v4addr[3]=2\n"
		"5 0 syscall_exit_connect ctx.tid=7 ctx.pid=7 ret=-115\n"
		"6 0 lttng_statedump_file_descriptor ctx.tid=7 file_table_address=99 fd=3 "
		"filename=\"socket:[5]\" flags=0\n"
		"7 0 syscall_entry_write ctx.tid=7 ctx.pid=7 fd=3 count=8\n"
		"8 0 syscall_exit_write ctx.tid=7 ctx.pid=7 ret=8\n";
	g_autofree char *text = account(script), *log = log_of(script);
	g_assert_nonnull(strstr(text, ",socket inet 10.0.0.2:80,socket,0,1,0,8,"));
	g_assert_nonnull(strstr(log, "write(fd 3 \"socket inet 10.0.0.2:80\", count = 8) = 8"));
}

/* Readers give an IPv6 address as LTTng declares it: numbers of 16 bits, which are stored in this machine's order. */
static void test_sockets_v6(void)
{
	static const char script[] =
		"2 0 syscall_entry_socket ctx.tid=7 ctx.pid=7 family=10 type=1\n"
		"3 0 syscall_exit_socket ctx.tid=7 ctx.pid=7 ret=3\n"
		"4 0 syscall_entry_connect ctx.tid=7 ctx.pid=7 fd=3 family=10 dport=80 "
		"v6addr=\"\\x80\\xfe\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\x02\\0\"\n"
		"5 0 syscall_exit_connect ctx.tid=7 ctx.pid=7 ret=0\n"
		"6 0 syscall_entry_write ctx.tid=7 ctx.pid=7 fd=3 count=8\n"
		"7 0 syscall_exit_write ctx.tid=7 ctx.pid=7 ret=8\n"
		"8 0 syscall_entry_accept ctx.tid=7 ctx.pid=7 fd=5\n"
		"9 0 syscall_exit_accept ctx.tid=7 ctx.pid=7 ret=4 family=10 sport=81 "
		"v6addr=\"\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\x01\\0\"\n"
		"10 0 syscall_entry_read ctx.tid=7 ctx.pid=7 fd=4 count=8\n"
		"11 0 syscall_exit_read ctx.tid=7 ctx.pid=7 ret=8\n"
		/* an address that could not be read */
		"12 0 syscall_entry_socket ctx.tid=7 ctx.pid=7 family=10 type=1\n"
		"13 0 syscall_exit_socket ctx.tid=7 ctx.pid=7 ret=5\n"
		"14 0 syscall_entry_connect ctx.tid=7 ctx.pid=7 fd=5 family=0 dport=0\n"
		"15 0 syscall_exit_connect ctx.tid=7 ctx.pid=7 ret=0\n"
		"16 0 syscall_entry_write ctx.tid=7 ctx.pid=7 fd=5 count=9\n"
		"17 0 syscall_exit_write ctx.tid=7 ctx.pid=7 ret=9\n";
	g_autofree char *text = account(script);
	g_assert_nonnull(strstr(text, ",socket inet6 [fe80::2]:80,socket,0,1,0,8,"));
	g_assert_nonnull(strstr(text, ",socket inet6 [::1]:81,socket,1,0,8,0,"));
	g_assert_nonnull(strstr(text, ",socket inet6 stream,socket,0,1,0,9,"));
}

static void add_fork(GString *s, unsigned ts, int parent, int child)
{
	g_string_append_printf(s, "%u 0 sched_process_fork ctx.tid=%d parent_tid=%d child_tid=%d parent_pid=%d "
			       "child_pid=%d child_comm=\"a\"\n", ts, parent, parent, child, parent, child);
}

static void add_read(GString *s, unsigned ts, int tid, int fd)
{
	g_string_append_printf(s, "%u 0 syscall_entry_read ctx.tid=%d ctx.pid=%d fd=%d count=8\n"
			       "%u 0 syscall_exit_read ctx.tid=%d ctx.pid=%d ret=1\n", ts, tid, tid, fd,
			       ts + 1, tid, tid);
}

/* What closes on exec is closed for those who inherited it over several forks, too. */
static void test_inherited(void)
{
	static const char begin[] =
		"1 0 syscall_entry_openat ctx.tid=7 ctx.pid=7 dfd=-100 filename=\"/open\" flags=0\n"
		"2 0 syscall_exit_openat ctx.tid=7 ctx.pid=7 ret=3\n"
		"3 0 syscall_entry_openat ctx.tid=7 ctx.pid=7 dfd=-100 filename=\"/cloexec\" flags=524288\n"
		"4 0 syscall_exit_openat ctx.tid=7 ctx.pid=7 ret=4\n";
	g_autoptr(GString) s = g_string_new(begin);
	add_fork(s, 10, 7, 8);
	add_fork(s, 11, 8, 9);
	add_read(s, 20, 9, 4);		/* still open */
	g_string_append(s, "30 0 sched_process_exec ctx.tid=9 filename=\"/bin/b\" tid=9 old_tid=9\n");
	add_read(s, 40, 9, 3);
	add_read(s, 50, 9, 4);
	g_autofree char *text = account(s->str);
	g_assert_nonnull(strstr(text, "\nlocalhost,9,b,/open,file,1,0,1,0,"));
	g_assert_nonnull(strstr(text, ",/cloexec,file,1,0,1,0,"));
	g_assert_nonnull(strstr(text, "\nlocalhost,9,b,fd 4,unknown,1,0,1,0,"));
}

/* close_range() closes what was inherited, too, at once or on exec. */
static void test_range_inherited(void)
{
	g_autoptr(GString) s = g_string_new(
		"1 0 syscall_entry_openat ctx.tid=7 ctx.pid=7 dfd=-100 filename=\"/data\" flags=0\n"
		"2 0 syscall_exit_openat ctx.tid=7 ctx.pid=7 ret=3\n");
	add_fork(s, 10, 7, 8);
	add_fork(s, 11, 7, 9);
	g_string_append(s, "20 0 syscall_entry_close_range ctx.tid=8 ctx.pid=8 fd=3 max_fd=4294967295 flags=0\n"
			"21 0 syscall_exit_close_range ctx.tid=8 ctx.pid=8 ret=0\n");
	add_read(s, 30, 8, 3);
	g_string_append(s, "40 0 syscall_entry_close_range ctx.tid=9 ctx.pid=9 fd=3 max_fd=4294967295 flags=4\n"
			"41 0 syscall_exit_close_range ctx.tid=9 ctx.pid=9 ret=0\n");
	add_read(s, 50, 9, 3);
	g_string_append(s, "60 0 sched_process_exec ctx.tid=9 filename=\"/bin/b\" tid=9 old_tid=9\n");
	add_read(s, 70, 9, 3);
	add_read(s, 80, 7, 3);
	g_autofree char *text = account(s->str);
	g_assert_nonnull(strstr(text, "\nlocalhost,8,a,fd 3,unknown,1,0,1,0,"));
	g_assert_nonnull(strstr(text, "\nlocalhost,9,b,/data,file,1,0,1,0,"));
	g_assert_nonnull(strstr(text, "\nlocalhost,9,b,fd 3,unknown,1,0,1,0,"));
	g_assert_nonnull(strstr(text, "\nlocalhost,7,,/data,file,1,0,1,0,"));
}

/* Forks in forks, without end: the stack stays. (It overflowed with so many under the sanitizers.) */
#define N_FORKS 30000
static void test_ancestors(void)
{
	g_autoptr(GString) s = g_string_new(NULL);
	for (unsigned i = 0; i < N_FORKS; i++)
		add_fork(s, i + 1, (int)i + 1, (int)i + 2);
	add_read(s, 2 * N_FORKS, N_FORKS + 1, 3);
	g_autofree char *text = account(s->str);
	g_assert_nonnull(strstr(text, "fd 3,unknown,1,0,1,0,"));
}

/* ---- the log ---- */

/* What descriptors are called after calls of either kind. */
static void test_log(void)
{
	static const struct step steps[] = {
		EVENT("sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\""),
		KNOWN("openat", "dfd=-100 filename=\"/a\" flags=0", 3),
		CALL("memfd_create", "args[0]=4096 args[1]=0 args[2]=1", "uname=\"m\" flags=0", 4),
		CALL("memfd_create", "args[0]=4096 args[1]=1 args[2]=0", "uname=\"m\" flags=1", 5),
		CALL("pidfd_open", "args[0]=9 args[1]=0", "pid=9 flags=0", 6),
		CALL("close_range", "args[0]=3 args[1]=3 args[2]=4", "fd=3 max_fd=3 flags=4", 0),
		CALL("close_range", "args[0]=6 args[1]=4294967295 args[2]=0", "fd=6 max_fd=4294967295 flags=0", 0),
		KNOWN("dup2", "oldfd=3 newfd=13", 13), KNOWN("dup2", "oldfd=4 newfd=14", 14),
		KNOWN("dup2", "oldfd=5 newfd=15", 15), KNOWN("dup2", "oldfd=6 newfd=16", -9),
		CALL("execveat", "args[0]=3 args[1]=4096 args[2]=8192",
		     "fd=3 filename=\"\" argv=4096 envp=8192 flags=4096", 0),
		KNOWN("dup2", "oldfd=3 newfd=23", -9), KNOWN("dup2", "oldfd=4 newfd=24", 24),
		KNOWN("dup2", "oldfd=5 newfd=25", -9),
	};
	static const char *const known[] = {
		"dup2(oldfd 3 \"/a\", newfd 13) = 13 \"/a\"", "dup2(oldfd 4 \"memfd\", newfd 14) = 14 \"memfd\"",
		"dup2(oldfd 5 \"memfd\", newfd 15) = 15 \"memfd\"", "dup2(oldfd 6, newfd 16) = -1",
		"dup2(oldfd 3, newfd 23) = -1", "dup2(oldfd 4 \"memfd\", newfd 24) = 24",
		"dup2(oldfd 5, newfd 25) = -1",
	};
	for (int new = 0; new < 2; new++) {
		g_autofree char *script = script_of(steps, G_N_ELEMENTS(steps), new), *text = log_of(script);
		for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
			if (!strstr(text, known[i]))
				g_error("no %s in\n%s", known[i], text);
		g_assert_nonnull(strstr(text, "pidfd_open("));
	}
}

static bool is_read(const char *event)
{
	size_t n_rows;
	const struct blk_subscription *rows = calllog_name_subscriptions(&n_rows);

	for (size_t i = 0; i < n_rows; i++)
		if (g_pattern_match_simple(rows[i].event, event))
			return true;
	return false;
}

/* What changes descriptors is read before a range of the log, too: of 32 bit programs, and by any tracer. */
static void test_names_are_read(void)
{
#define PREFIX(prefix, when) prefix,
	static const char *const prefixes[] = { CALL_ENTRY_PREFIXES(PREFIX) CALL_EXIT_PREFIXES(PREFIX) };

	for (int64_t number = 0; number < 1000; number++) {
		const char *call = machine_call_name(MACHINE_X86_64, false, number);
		for (size_t i = 0; call && call_info(call)->fdop && i < G_N_ELEMENTS(prefixes); i++) {
			g_autofree char *event = g_strconcat(prefixes[i], call, NULL);
			if (!is_read(event))
				g_error("%s is not read", event);
		}
	}
	g_assert_true(is_read(CALL_EXIT_NAMELESS));
}

/* Events of calls by name, whichever tracer told them. */
static void test_event_names(void)
{
	static const struct { const char *event, *call; enum call_event what; } all[] = {
		{ "syscall_entry_read", "read", CALL_EVENT_ENTRY }, { "syscall_exit_read", "read", CALL_EVENT_EXIT },
		{ "compat_syscall_entry_read", "read", CALL_EVENT_ENTRY },
		{ "compat_syscall_exit_read", "read", CALL_EVENT_EXIT },
		{ "sys_read", "read", CALL_EVENT_ENTRY }, { "compat_sys_read", "read", CALL_EVENT_ENTRY },
		{ "exit_syscall_read", "read", CALL_EVENT_EXIT },
		{ "exit_syscall", "exit_syscall", CALL_EVENT_EXIT_NAMELESS },
		{ "sched_switch", "sched_switch", CALL_EVENT_NONE }, { "syscall_", "syscall_", CALL_EVENT_NONE },
		{ "system", "system", CALL_EVENT_NONE }, { "", "", CALL_EVENT_NONE },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		const char *call;
		g_assert_cmpint(call_event_of(all[i].event, &call), ==, all[i].what);
		g_assert_cmpstr(call, ==, all[i].call);
		g_assert_cmpint(call_event_of(all[i].event, NULL), ==, all[i].what);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	machine_assume(MACHINE_X86_64);		/* scripts have no metadata */
	g_test_add_func("/syscalls/same", test_same);
	g_test_add_func("/syscalls/story", test_story);
	g_test_add_func("/syscalls/openat2", test_openat2);
	g_test_add_func("/syscalls/log", test_log);
	g_test_add_func("/syscalls/sockets", test_sockets);
	g_test_add_func("/syscalls/sockets-v6", test_sockets_v6);
	g_test_add_func("/syscalls/inherited", test_inherited);
	g_test_add_func("/syscalls/range-inherited", test_range_inherited);
	g_test_add_func("/syscalls/ancestors", test_ancestors);
	g_test_add_func("/syscalls/names-are-read", test_names_are_read);
	g_test_add_func("/syscalls/event-names", test_event_names);
	return g_test_run();
}
