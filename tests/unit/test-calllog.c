/* SPDX-License-Identifier: GPL-2.0-only */
/* The log: calls joined, descriptors named, losses, pending calls; as text, filters and JSON. */
#include "lib/sources.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "export/log_json.h"
#include "trace/reader.h"
#include "views/logline.h"

#include <string.h>

struct report {
	GString *text;
	struct logfilter *filter;
	bool json;
};

static void emit(void *data, struct calllog_line *l)
{
	struct report *t = data;
	if (!t->filter || logfilter_match(t->filter, l)) {
		if (t->json) {
			log_json(t->text, l);
		} else {
			g_autofree char *text = logline_text(l);
			g_string_append(t->text, text);
		}
		g_string_append_c(t->text, '\n');
	}
	calllog_line_unref(l);
}

static struct source *open_script(const char *script)
{
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *rows = calllog_subscriptions(&n);
	struct source *s = source_open_script(script, rows, n, &error);
	g_assert_no_error(error);
	return s;
}

static char *run(const char *script, const struct calllog_options *o, const char *filter, bool json)
{
	g_autoptr(GError) error = NULL;
	struct report t = { .text = g_string_new(NULL), .json = json };
	struct source *s = open_script(script);
	struct calllog *j = calllog_new(o, emit, &t);
	struct blk_batch b;
	if (filter) {
		t.filter = logfilter_new(filter, &error);
		g_assert_no_error(error);
	}
	while (source_next(s, &b, NULL) == SOURCE_OK)
		calllog_feed(j, &s->tables, b.ev, b.n);
	calllog_finish(j);
	calllog_free(j);
	source_free(s);
	logfilter_free(t.filter);
	return g_string_free(t.text, FALSE);
}

static const struct calllog_options all = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };

static void assert_log(const char *script, const char *want)
{
	g_autofree char *got = run(script, &all, NULL, false);
	g_assert_cmpstr(got, ==, want);
}

static void test_joined(void)
{
	assert_log("1000 0 syscall_entry_openat ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" dfd=-100 "
		   "filename=\"/etc/passwd\" flags=0\n"
		   "3000 0 syscall_exit_openat ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" ret=5\n"
		   "4000 0 syscall_entry_read ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" fd=5 count=64\n"
		   "16000 0 syscall_exit_read ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" ret=64\n"
		   "17000 0 syscall_entry_read ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" fd=9 count=1\n"
		   "18000 0 syscall_exit_read ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" ret=-9\n"
		   "19000 0 syscall_entry_close ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" fd=5\n"
		   "20000 0 syscall_exit_close ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" ret=0\n"
		   "21000 0 syscall_entry_read ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" fd=5 count=1\n"
		   "22000 0 syscall_exit_read ctx.tid=7 ctx.pid=7 ctx.procname=\"cat\" ret=-512\n",
		   "00:00:00.000001000 [cat 7/0] openat(dfd AT_FDCWD, filename = \"/etc/passwd\", flags = 0) "
		   "= 5 <0.000002000>\n"
		   "00:00:00.000004000 [cat 7/0] read(fd 5 \"/etc/passwd\", count = 64) = 64 <0.000012000>\n"
		   "00:00:00.000017000 [cat 7/0] read(fd 9, count = 1) = -1 EBADF (Bad file descriptor) "
		   "<0.000001000>\n"
		   "00:00:00.000019000 [cat 7/0] close(fd 5 \"/etc/passwd\") = 0 <0.000001000>\n"
		   "00:00:00.000021000 [cat 7/0] read(fd 5, count = 1) = -1 ERESTARTSYS <0.000001000>\n");
}

static void test_names(void)
{
	/* A state dump, a fork, dup2, exec with a descriptor that does not survive it. */
	assert_log("1 0 lttng_statedump_process_state tid=7 pid=7 name=\"sh\" file_table_address=99\n"
		   "2 0 lttng_statedump_file_descriptor file_table_address=99 fd=3 filename=\"/a\" flags=0\n"
		   "3 0 lttng_statedump_file_descriptor file_table_address=99 fd=4 filename=\"/b\" flags=524288\n"
		   "4 0 sched_process_fork parent_tid=7 parent_pid=7 child_tid=8 child_pid=8 child_comm=\"sh\"\n"
		   "5 0 syscall_entry_dup2 ctx.tid=8 oldfd=3 newfd=1\n"
		   "6 0 syscall_exit_dup2 ctx.tid=8 ret=1\n"
		   "7 0 syscall_entry_execve ctx.tid=8 filename=\"/bin/x\"\n"
		   "8 0 sched_process_exec ctx.tid=8 tid=8 filename=\"/bin/x\"\n"
		   "9 0 syscall_exit_execve ctx.tid=8 ret=0\n"
		   "10 0 syscall_entry_write ctx.tid=8 fd=1 count=2\n"
		   "11 0 syscall_exit_write ctx.tid=8 ret=2\n"
		   "12 0 syscall_entry_write ctx.tid=8 fd=4 count=2\n"
		   "13 0 syscall_exit_write ctx.tid=8 ret=-9\n"
		   "14 0 syscall_entry_write ctx.tid=7 fd=4 count=2\n"
		   "15 0 syscall_exit_write ctx.tid=7 ret=2\n",
		   "00:00:00.000000001 [? ?/0] lttng_statedump_process_state: tid = 7, pid = 7, "
		   "name = \"sh\", file_table_address = 99\n"
		   "00:00:00.000000002 [? ?/0] lttng_statedump_file_descriptor: file_table_address = 99, "
		   "fd = 3, filename = \"/a\", flags = 0\n"
		   "00:00:00.000000003 [? ?/0] lttng_statedump_file_descriptor: file_table_address = 99, "
		   "fd = 4, filename = \"/b\", flags = 524288\n"
		   "00:00:00.000000004 [? ?/0] sched_process_fork: parent_tid = 7, parent_pid = 7, "
		   "child_tid = 8, child_pid = 8, child_comm = \"sh\"\n"
		   "00:00:00.000000005 [sh 8/0] dup2(oldfd 3 \"/a\", newfd 1) = 1 \"/a\" <0.000000001>\n"
		   "00:00:00.000000007 [sh 8/0] execve(filename = \"/bin/x\") = 0 <0.000000002>\n"
		   "00:00:00.000000008 [sh 8/0] sched_process_exec: tid = 8, filename = \"/bin/x\"\n"
		   "00:00:00.000000010 [x 8/0] write(fd 1 \"/a\", count = 2) = 2 <0.000000001>\n"
		   "00:00:00.000000012 [x 8/0] write(fd 4, count = 2) = -1 EBADF (Bad file descriptor) "
		   "<0.000000001>\n"
		   "00:00:00.000000014 [sh 7/0] write(fd 4 \"/b\", count = 2) = 2 <0.000000001>\n");
}

/* Who runs follows from switches where events have no context; user space by its CPU. */
static void test_who(void)
{
	assert_log("1 1 sched_switch prev_comm=\"swapper/1\" prev_tid=0 next_comm=\"app\" next_tid=5\n"
		   "2 1 syscall_entry_getpid\n"
		   "3 1 syscall_exit_getpid ret=5\n"
		   "4 1 u:app:hello ctx.vtid=77 text=\"hi\\n\\\"there\\\"\" n=3\n"
		   "5 0 u:app:hello ctx.vtid=78 ctx.procname=\"other\" n=4\n"
		   "6 1 syscall_entry_exit_group error_code=0\n",
		   "00:00:00.000000001 [? ?/1] sched_switch: prev_comm = \"swapper/1\", prev_tid = 0, "
		   "next_comm = \"app\", next_tid = 5\n"
		   "00:00:00.000000002 [app 5/1] getpid() = 5 <0.000000001>\n"
		   "00:00:00.000000004 [app 5/1] app:hello: text = \"hi\\n\\\"there\\\"\", n = 3\n"
		   "00:00:00.000000005 [other 78/0] app:hello: n = 4\n"
		   "00:00:00.000000006 [app 5/1] exit_group(error_code = 0) = ?\n");
}

static void test_ends(void)
{
	/* An exit without entry, an entry without exit, another call instead of the exit. */
	assert_log("1 0 syscall_exit_read ctx.tid=1 ret=3\n"
		   "2 0 syscall_entry_poll ctx.tid=1\n"
		   "3 0 syscall_entry_read ctx.tid=1 fd=0\n"
		   "4 0 syscall_entry_futex ctx.tid=2\n",
		   "00:00:00.000000001 [? 1/0] <... read resumed>?) = 3 <?>\n"
		   "00:00:00.000000002 [? 1/0] poll() = ? <no end seen>\n"
		   "00:00:00.000000003 [? 1/0] read(fd 0) = ? <no end seen>\n"
		   "00:00:00.000000004 [? 2/0] futex() = ? <no end seen>\n");
}

static const char slow[] =
	"1 0 syscall_entry_futex ctx.tid=1 op=0\n"
	"2 1 u:a:b ctx.vtid=9\n"
	"3 1 u:a:b ctx.vtid=9\n"
	"4 1 u:a:b ctx.vtid=9\n"
	"9 0 syscall_exit_futex ctx.tid=1 ret=0\n"
	"10 0 syscall_entry_poll ctx.tid=1\n"
	"11 1 u:a:b ctx.vtid=9\n"
	"12 1 u:a:b ctx.vtid=9\n"
	"13 1 u:a:b ctx.vtid=9\n";

static void test_held(void)
{
	struct calllog_options o = all;
	o.hold = 2;
	g_autofree char *got = run(slow, &o, NULL, false);
	g_assert_cmpstr(got, ==,
		"00:00:00.000000001 [? 1/0] futex(op = FUTEX_WAIT <unfinished ...>\n"
		"00:00:00.000000002 [? 9/1] a:b\n"
		"00:00:00.000000003 [? 9/1] a:b\n"
		"00:00:00.000000004 [? 9/1] a:b\n"
		"00:00:00.000000009 [? 1/0] <... futex resumed>op = FUTEX_WAIT) = 0 <0.000000008>\n"
		"00:00:00.000000010 [? 1/0] poll( <unfinished ...>\n"
		"00:00:00.000000011 [? 9/1] a:b\n"
		"00:00:00.000000012 [? 9/1] a:b\n"
		"00:00:00.000000013 [? 9/1] a:b\n"
		"00:00:00.000000013 [? 1/0] poll() = ? <no end seen>\n");
	o.hold = 0;
	o.hold_ns = 2;
	g_autofree char *by_time = run(slow, &o, "name == futex", false);
	g_assert_cmpstr(by_time, ==,
		"00:00:00.000000001 [? 1/0] futex(op = FUTEX_WAIT <unfinished ...>\n"
		"00:00:00.000000009 [? 1/0] <... futex resumed>op = FUTEX_WAIT) = 0 <0.000000008>\n");
}

static void test_range(void)
{
	/* What began before comes back inside; what begins inside ends behind. */
	struct calllog_options o = { .from_ns = 3, .to_ns = 11 };
	g_autofree char *got = run(slow, &o, NULL, false);
	g_assert_cmpstr(got, ==,
		"00:00:00.000000003 [? 9/1] a:b\n"
		"00:00:00.000000004 [? 9/1] a:b\n"
		"00:00:00.000000009 [? 1/0] <... futex resumed>op = FUTEX_WAIT) = 0 <0.000000008>\n"
		"00:00:00.000000010 [? 1/0] poll() = ? <no end seen>\n");
}

/* Over a loss a call goes on only where its thread ran on another CPU all the time. */
static void test_lost(void)
{
	assert_log("1 0 syscall_entry_read ctx.tid=1 fd=0\n"
		   "2 1 syscall_entry_poll ctx.tid=2\n"
		   "3 1 !lost events=5 begin=3 end=6\n"
		   "5 0 syscall_exit_read ctx.tid=1 ret=1\n"
		   "7 1 syscall_exit_poll ctx.tid=2 ret=0\n"
		   "8 0 syscall_entry_read ctx.tid=1 fd=0\n"
		   "9 1 !lost packets=2 begin=9 end=14\n"
		   "10 0 sched_switch ctx.tid=1 prev_comm=\"a\" prev_tid=1 next_comm=\"b\" next_tid=3\n"
		   "15 0 syscall_exit_read ctx.tid=1 ret=1\n",
		   "00:00:00.000000001 [? 1/0] read(fd 0) = 1 <0.000000004>\n"
		   "00:00:00.000000002 [? 2/1] poll() = ? <lost>\n"
		   "00:00:00.000000003 --- lost 5 events of CPU 1, until 00:00:00.000000006 ---\n"
		   "00:00:00.000000007 [? 2/1] <... poll resumed>?) = 0 <?>\n"
		   "00:00:00.000000008 [? 1/0] read(fd 0) = ? <lost>\n"
		   "00:00:00.000000009 --- lost 2 packets of CPU 1, until 00:00:00.000000014 ---\n"
		   "00:00:00.000000010 [? 1/0] sched_switch: prev_comm = \"a\", prev_tid = 1, "
		   "next_comm = \"b\", next_tid = 3\n"
		   "00:00:00.000000015 [a 1/0] <... read resumed>?) = 1 <?>\n");
}

/* What another host lost is nothing to the calls of this one. */
static void test_lost_elsewhere(void)
{
	assert_log("1 0 k@a:syscall_entry_read ctx.tid=1 fd=0\n"
		   "2 0 k@b:syscall_entry_poll ctx.tid=1\n"
		   "3 0 k@b:!lost events=5 begin=3 end=9\n"
		   "4 0 k@a:sched_switch ctx.tid=1 prev_tid=1 next_tid=2\n"
		   "5 0 k@a:sched_switch prev_tid=2 next_tid=1\n"
		   "6 0 k@a:syscall_exit_read ctx.tid=1 ret=1\n",
		   "00:00:00.000000001 [? 1/0] read(fd 0) = 1 <0.000000005>\n"
		   "00:00:00.000000002 [? 1/0] poll() = ? <lost>\n"
		   "00:00:00.000000003 --- lost 5 events of CPU 0, until 00:00:00.000000009 ---\n"
		   "00:00:00.000000004 [? 1/0] sched_switch: prev_tid = 1, next_tid = 2\n"
		   "00:00:00.000000005 [? 2/0] sched_switch: prev_tid = 2, next_tid = 1\n");
}

/* A call whose entry is not known: what it returns is a new descriptor, of an unknown file; which ones it
 * closed is not known, so none is said to be closed. */
static void test_unknown_entry(void)
{
	assert_log("1 0 syscall_entry_openat ctx.tid=7 ctx.pid=7 dfd=-100 filename=\"/a\" flags=0\n"
		   "2 0 syscall_exit_openat ctx.tid=7 ctx.pid=7 ret=3\n"
		   "3 0 syscall_entry_openat ctx.tid=7 ctx.pid=7 dfd=-100 filename=\"/b\" flags=0\n"
		   "4 0 syscall_exit_openat ctx.tid=7 ctx.pid=7 ret=4\n"
		   "5 0 syscall_exit_openat ctx.tid=7 ctx.pid=7 ret=3\n"
		   "6 0 syscall_exit_close_range ctx.tid=7 ctx.pid=7 ret=0\n"
		   "7 0 syscall_exit_socket ctx.tid=7 ctx.pid=7 ret=5\n"
		   "8 0 syscall_entry_poll ctx.tid=7 ctx.pid=7 fd=3 infd=0 in_fd=4 out_fd=5\n"
		   "9 0 syscall_exit_poll ctx.tid=7 ctx.pid=7 ret=0\n",
		   "00:00:00.000000001 [? 7/0] openat(dfd AT_FDCWD, filename = \"/a\", flags = 0) = 3 <0.000000001>\n"
		   "00:00:00.000000003 [? 7/0] openat(dfd AT_FDCWD, filename = \"/b\", flags = 0) = 4 <0.000000001>\n"
		   "00:00:00.000000005 [? 7/0] <... openat resumed>?) = 3 <?>\n"
		   "00:00:00.000000006 [? 7/0] <... close_range resumed>?) = 0 <?>\n"
		   "00:00:00.000000007 [? 7/0] <... socket resumed>?) = 5 <?>\n"
		   "00:00:00.000000008 [? 7/0] poll(fd 3 \"?\", infd = 0, in_fd 4 \"/b\", out_fd 5 \"socket\") = 0 "
		   "<0.000000001>\n");
}

/* Old tracers do not say whether a child is a process or a thread: nor does the log. */
static void test_old_fork(void)
{
	g_autofree char *got = run(
		"1 0 sched_process_fork ctx.tid=7 parent_tid=7 child_tid=8 child_comm=\"b\"\n"
		"2 0 sched_switch prev_tid=7 next_tid=8\n"
		"3 0 sched_wakeup tid=9\n", &all, "name == sched_wakeup", true);
	g_assert_nonnull(strstr(got, "\"pid\":null,\"tid\":8,\"comm\":\"b\""));
}

static void test_hostile(void)
{
	assert_log("1 0 u:a:b ctx.vtid=1 ctx.procname=\"\\e[2J\" text=\"\\e]0;x\\a \\xff\"\n",
		   "00:00:00.000000001 [\\x1b[2J 1/0] a:b: text = \"\\x1b]0;x\\x07 \\xff\"\n");
}

/* Entry and exit of a call that are no call in the log have names of their own: in a trace that is neither the kernel's
 * nor user space's, and of the idle task. */
static void test_not_calls(void)
{
	assert_log("1 0 o:syscall_entry_read fd=1\n2 0 o:syscall_exit_read ret=1\n3 0 u:syscall_entry_read fd=1\n"
		   "4 0 sched_switch prev_tid=7 next_tid=0\n5 0 syscall_entry_read fd=1\n6 0 syscall_exit_read ret=1\n",
		   "00:00:00.000000001 [? ?/0] syscall_entry_read: fd = 1\n"
		   "00:00:00.000000002 [? ?/0] syscall_exit_read: ret = 1\n"
		   "00:00:00.000000003 [? ?/0] syscall_entry_read: fd = 1\n"
		   "00:00:00.000000004 [? ?/0] sched_switch: prev_tid = 7, next_tid = 0\n"
		   "00:00:00.000000005 [? 0/0] syscall_entry_read: fd = 1\n"
		   "00:00:00.000000006 [? 0/0] syscall_exit_read: ret = 1\n");
}

static void test_filter(void)
{
	static const char script[] =
		"1 0 syscall_entry_openat ctx.tid=7 ctx.pid=6 ctx.procname=\"cat\" dfd=-100 filename=\"/x\"\n"
		"2 0 syscall_exit_openat ctx.tid=7 ctx.pid=6 ret=-2\n"
		"3 0 syscall_entry_read ctx.tid=7 ctx.pid=6 fd=5 count=64\n"
		"900 0 syscall_exit_read ctx.tid=7 ctx.pid=6 ret=64\n"
		"901 0 irq_handler_entry ctx.tid=7 irq=3\n";
	static const struct { const char *filter; unsigned lines; } cases[] = {
		{ "", 3 }, { "/x", 1 }, { "kind == call", 2 }, { "error == ENOENT", 1 },
		{ "error =~ .", 1 }, { "duration_ns > 500", 1 }, { "arg.count >= 64", 1 },
		{ "arg.irq == 3 || ret == 64", 2 }, { "pid == 6 && name != read", 2 },
		{ "file =~ x", 1 }, { "state == whole", 2 }, { "comm == cat", 3 }, { "cpu == 1", 0 },
		{ "arg.filename == /x", 1 }, { "arg.filename =~ ^/", 1 }, { "arg.fd == 5", 1 },
		{ "arg.dfd == -100", 1 }, { "arg.count == 0x40", 1 }, { "arg.count > 0x40", 0 },
		{ "arg.fd == 5 && arg.count < 100", 1 }, { "arg.ret == 64", 1 },
		{ "arg.nonsense == 1", 0 }, { "arg.fd.x == 5", 0 }, { "arg.fd[0] == 5", 0 },
		{ "tid == 7", 3 }, { "ret < 0", 1 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *got = run(script, &all, cases[i].filter, false);
		unsigned lines = 0;
		for (const char *at = got; (at = strchr(at, '\n')); at++)
			lines++;
		if (lines != cases[i].lines)
			g_error("%s: %s", cases[i].filter, got);
	}
	g_autoptr(GError) error = NULL;
	g_assert_null(logfilter_new("nonsense == 1", &error));
	g_assert_nonnull(error);
}

/* Fields inside others, enumerations, and numbers of all 64 bits. */
static void test_filter_inside(void)
{
	static const struct field made[] = {
		{ .kind = FIELD_SIGNED, .scope = FIELD_PAYLOAD, .name = "mode", .value = 3,
		  .text = "rw", .len = 2 },
		{ .kind = FIELD_UNSIGNED, .scope = FIELD_PAYLOAD, .name = "at", .value = UINT64_MAX - 15 },
		{ .kind = FIELD_BEGIN, .scope = FIELD_PAYLOAD, .name = "a", .value = 2 },
		{ .kind = FIELD_BEGIN, .scope = FIELD_PAYLOAD, .name = "fds", .value = 2, .is_list = true },
		{ .kind = FIELD_SIGNED, .scope = FIELD_PAYLOAD, .name = "", .value = 7 },
		{ .kind = FIELD_SIGNED, .scope = FIELD_PAYLOAD, .name = "", .value = 8 },
		{ .kind = FIELD_END, .scope = FIELD_PAYLOAD },
		{ .kind = FIELD_SIGNED, .scope = FIELD_PAYLOAD, .name = "size", .value = 64 },
		{ .kind = FIELD_END, .scope = FIELD_PAYLOAD },
		{ .kind = FIELD_REAL, .scope = FIELD_PAYLOAD, .name = "size", .real = 0.5 },
	};
	static const struct { const char *filter; bool holds; } cases[] = {
		{ "arg.mode == rw", true }, { "arg.mode == 3", false }, { "arg.mode# == 3", true },
		{ "arg.at == 0xfffffffffffffff0", true }, { "arg.at > 5", true }, { "arg.at < 0", false },
		{ "arg.a.size == 64", true }, { "arg.size == 0.5", true }, { "arg.a.fds[1] == 8", true },
		{ "arg.a.fds[2] == 8", false }, { "arg.a.fds[0] == 7", true }, { "arg.fds[0] == 7", false },
		{ "arg.a == 2", false }, { "arg.a.fds == 2", false }, { "arg.a. == 64", false },
		{ "arg.a.fds[01] == 8", false }, { "arg.# == 3", false },
	};
	struct fields_run run = { 0 };
	fields_begin(&run);
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++)
		fields_put(&run, &made[i]);
	struct calllog_line line = { .kind = CALLLOG_EVENT, .args = g_bytes_new(run.bytes->data,
										run.bytes->len) };
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct logfilter *f = logfilter_new(cases[i].filter, &error);
		g_assert_no_error(error);
		if (logfilter_match(f, &line) != cases[i].holds)
			g_error("%s", cases[i].filter);
		logfilter_free(f);
	}
	g_bytes_unref(line.args);
	fields_clear(&run);
}

static void test_json(void)
{
	g_autofree char *got = run(
		"1 0 syscall_entry_read ctx.tid=7 ctx.pid=6 ctx.procname=\"c\\\"\\e\" fd=5 count=-1\n"
		"3 0 syscall_exit_read ctx.tid=7 ctx.pid=6 ret=-11 buf=1\n"
		"4 - u:a:b s=\"\\xff\"\n"
		"5 0 !lost events=0 packets=0 begin=5 end=6\n", &all, NULL, true);
	g_assert_cmpstr(got, ==,
		"{\"time_ns\":1,\"kind\":\"call\",\"host\":\"localhost\",\"cpu\":0,\"pid\":6,\"tid\":7,"
		"\"comm\":\"c\\\"\\u001b\",\"name\":\"read\",\"state\":\"whole\",\"entry_ns\":1,\"exit_ns\":3,"
		"\"ret\":-11,\"error\":\"EAGAIN\",\"lost\":false,\"args\":{\"fd\":5,\"count\":-1},"
		"\"results\":{\"ret\":-11,\"buf\":1},\"fds\":{},\"ret_name\":null,"
		"\"context\":{\"tid\":7,\"pid\":6,\"procname\":\"c\\\"\\u001b\"}}\n"
		"{\"time_ns\":4,\"kind\":\"user\",\"host\":\"localhost\",\"cpu\":null,\"pid\":null,\"tid\":null,"
		"\"comm\":null,\"name\":\"a:b\",\"args\":{\"s\":\"\\\\xff\"},\"context\":{}}\n"
		"{\"time_ns\":5,\"kind\":\"loss\",\"host\":\"localhost\",\"cpu\":0,\"lost_events\":null,"
		"\"lost_packets\":null,\"to_ns\":6}\n");
}

/* Runs that are too long end in a mark; what is behind it is left out. */
static void test_fields(void)
{
	struct fields_run r = { 0 };
	struct field f = { .kind = FIELD_TEXT, .scope = FIELD_PAYLOAD, .name = "t" };
	g_autofree char *text = g_strnfill(LIMIT_LOG_EVENT_BYTES / 2, 'x');
	unsigned n = 0;
	fields_begin(&r);
	f.text = text;
	f.len = LIMIT_LOG_EVENT_BYTES / 2;
	for (int i = 0; i < 4; i++)
		fields_put(&r, &f);
	struct fields_cursor c = fields_of(r.bytes->data, r.bytes->len);
	g_assert_true(fields_next(&c, &f));
	g_assert_cmpuint(f.len, ==, LIMIT_LOG_EVENT_BYTES / 2);
	while (fields_next(&c, &f))
		n++;
	g_assert_cmpuint(n, ==, 1);
	g_assert_cmpint(f.kind, ==, FIELD_MORE);
	g_assert_true(r.full);
	fields_clear(&r);
	g_assert_true(fields_is_length("_buf_length"));
	g_assert_false(fields_is_length("length"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/calllog/joined", test_joined);
	g_test_add_func("/calllog/names", test_names);
	g_test_add_func("/calllog/who", test_who);
	g_test_add_func("/calllog/ends", test_ends);
	g_test_add_func("/calllog/held", test_held);
	g_test_add_func("/calllog/range", test_range);
	g_test_add_func("/calllog/lost", test_lost);
	g_test_add_func("/calllog/lost-elsewhere", test_lost_elsewhere);
	g_test_add_func("/calllog/unknown-entry", test_unknown_entry);
	g_test_add_func("/calllog/old-fork", test_old_fork);
	g_test_add_func("/calllog/hostile", test_hostile);
	g_test_add_func("/calllog/not-calls", test_not_calls);
	g_test_add_func("/calllog/filter", test_filter);
	g_test_add_func("/calllog/filter-inside", test_filter_inside);
	g_test_add_func("/calllog/json", test_json);
	g_test_add_func("/calllog/fields", test_fields);
	return g_test_run();
}
