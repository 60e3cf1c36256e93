/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for locks: made events of which the truth is known, without spans, whole and cut anywhere. */
#include "lib/sources.h"
#include "lib/cuts.h"
#include "lib/inspect.h"
#include "lib/report.h"
#include "lib/traces.h"
#include "state/publish/model.h"
#include "views/common.h"

#include <string.h>

#define SWITCH(at, cpu, prev, state, next) \
	at " " cpu " sched_switch prev_tid=" prev " prev_state=" state " next_tid=" next \
	" prev_comm=\"t" prev "\" next_comm=\"t" next "\"\n"
#define WAKE(at, cpu, tid, target) at " " cpu " sched_waking tid=" tid " target_cpu=" target "\n"
#define ENTER(at, cpu, call, args) at " " cpu " syscall_entry_" call " " args "\n"
#define EXIT(at, cpu, call) at " " cpu " syscall_exit_" call " ret=0\n"
#define FAILED(at, cpu, call) at " " cpu " syscall_exit_" call " ret=-4\n"
/* 7 and 8 are threads of process 7, 9 one of its own. 7 waits on CPU 0 since 200 until 700 or so, 8 is on CPU 1. */
#define TASKS \
	"1 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"t7\" type=0\n" \
	"2 0 lttng_statedump_process_state tid=8 pid=7 ppid=1 name=\"t8\" type=0\n" \
	"3 0 lttng_statedump_process_state tid=9 pid=9 ppid=1 name=\"t9\" type=0\n"
#define BEGIN TASKS SWITCH("10", "0", "0", "0", "7") SWITCH("120", "1", "0", "0", "8")
#define WAIT_OF(at, off, val) ENTER(at, "0", "futex", "uaddr=4096 op=128 val=" val) SWITCH(off, "0", "7", "1", "0")
#define WAIT WAIT_OF("150", "200", "2")
#define RELEASE(at) ENTER(at, "1", "futex", "uaddr=4096 op=129 val=1")
#define LOCKED(at, runs) SWITCH(at, "0", "0", "0", "7") EXIT(runs, "0", "futex")
#define SLEEP(at, off, cpu, tid) ENTER(at, cpu, "clock_nanosleep", "") SWITCH(off, cpu, tid, "1", "0")
#define SLEPT(wake, at, exit, cpu, tid) \
	WAKE(wake, "0", tid, cpu) SWITCH(at, cpu, "0", "0", tid) EXIT(exit, cpu, "clock_nanosleep")
/* 7 is woken in flock() at 700 and waits again from 730 on; 9 waits for a futex from 760 to 800. */
#define FLOCK_AGAIN BEGIN ENTER("20", "0", "openat", "dfd=-100 filename=\"/run/a\" flags=0") \
	"21 0 syscall_exit_openat ret=3\n" ENTER("150", "0", "flock", "fd=3 cmd=2") SWITCH("200", "0", "7", "1", "0") \
	ENTER("690", "1", "flock", "fd=4 cmd=8") WAKE("700", "1", "7", "0") SWITCH("720", "0", "0", "0", "7") \
	SWITCH("730", "0", "7", "1", "9") EXIT("740", "1", "flock") \
	ENTER("750", "0", "futex", "uaddr=4096 op=0 val=2") SWITCH("760", "0", "9", "1", "0") RELEASE("790") \
	WAKE("800", "1", "9", "0") EXIT("810", "1", "futex") SWITCH("820", "0", "0", "0", "9") EXIT("830", "0", "futex")
#define FLOCK_GOT(at, wake, runs, exit) ENTER(at, "1", "flock", "fd=4 cmd=8") WAKE(wake, "1", "7", "0") \
	SWITCH(runs, "0", "9", "1", "7") EXIT(exit, "0", "flock")
/* 8 wakes 7 at 700, and 9 at 40800, which waits since 20713. In between is more time than clocks may differ. */
#define TWO_RELEASES RELEASE("690") WAKE("700", "1", "7", "0") EXIT("705", "1", "futex") LOCKED("720", "730") \
	SWITCH("740", "2", "0", "0", "9") ENTER("20711", "2", "futex", "uaddr=4096 op=0 val=2") \
	SWITCH("20713", "2", "9", "1", "0") SWITCH("20800", "1", "8", "0", "20") SWITCH("30800", "1", "20", "1", "8") \
	RELEASE("40790") WAKE("40800", "1", "9", "2") EXIT("40810", "1", "futex") SWITCH("40820", "2", "0", "0", "9") \
	EXIT("40830", "2", "futex") "41100 0 syscall_entry_getpid \n"
#define SECOND_RELEASE "0x1000 futex 9: 1 20087 20087@20713 0; 10087 10000 0 0; ran 50%, preempted 50%; t8/8\n"
#define FLOCK_WAITS "flock, for ever"
#define END EXIT("740", "1", "futex") "1100 0 syscall_entry_getpid \n"

struct story {
	const char *name, *script;
	const char *locks;	/* lock, waits, total, longest, when, earlier; ran, for a CPU, blocked, unknown; did */
	const char *holders;	/* role, thread, waits, total, with */
};

static const struct story stories[] = {
	{ "holder runs", BEGIN WAIT RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 1 500 500@200 0; 500 0 0 0; ran 100%; t8/8\n",
	  "held 8 1 500 t7/7\nwaited 7 1 500 t8/8\n" },
	{ "holder sleeps, and waits for a CPU", BEGIN WAIT SLEEP("210", "300", "1", "8")
	  SLEPT("600", "650", "660", "1", "8") RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 1 500 500@200 0; 150 50 300 0; timer 60%, ran 30%, wakeup 10%; t8/8\n",
	  "held 8 1 500 t7/7\nwaited 7 1 500 t8/8\n" },
	{ "holder is preempted", BEGIN WAIT SWITCH("300", "1", "8", "0", "20") SWITCH("500", "1", "20", "1", "8")
	  RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 1 500 500@200 0; 300 200 0 0; ran 60%, preempted 40%; t8/8\n", NULL },
	/* It slept until 300: 100 ns of that are during the wait. */
	{ "holder slept before", BEGIN SLEEP("130", "140", "1", "8") WAIT SLEPT("300", "320", "330", "1", "8")
	  RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 1 500 500@200 0; 380 20 100 0; ran 76%, timer 20%, wakeup 4%; t8/8\n", NULL },
	{ "holder reads a socket", BEGIN "121 1 syscall_entry_socket family=2 type=1 protocol=0\n"
	  "122 1 syscall_exit_socket ret=5\n" WAIT ENTER("210", "1", "recvfrom", "fd=5 size=9")
	  SWITCH("300", "1", "8", "1", "0") WAKE("600", "0", "8", "1") SWITCH("600", "1", "0", "0", "8")
	  EXIT("660", "1", "recvfrom") RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 1 500 500@200 0; 200 0 300 0; socket 60%, ran 40%; t8/8\n", NULL },
	{ "holder reads a file that it opened", BEGIN ENTER("121", "1", "openat", "dfd=-100 filename=\"/a\" flags=0")
	  "122 1 syscall_exit_openat ret=5\n" WAIT ENTER("210", "1", "read", "fd=5 count=9")
	  SWITCH("300", "1", "8", "1", "0") WAKE("600", "0", "8", "1") SWITCH("600", "1", "0", "0", "8")
	  EXIT("660", "1", "read") RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 1 500 500@200 0; 200 0 300 0; disk 60%, ran 40%; t8/8\n", NULL },
	/* 8 wakes 7 at 300, which loses the race and waits again. */
	{ "twice", BEGIN WAIT RELEASE("290") WAKE("300", "1", "7", "0") LOCKED("310", "320") EXIT("330", "1", "futex")
	  WAIT_OF("340", "350", "2") RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 2 450 350@350 0; 450 0 0 0; ran 100%; t8/8\n",
	  "held 8 2 450 t7/7\nwaited 7 2 450 t8/8\n" },
	/* 8 waits for 7's lock and gets it at 400. 6, of the same process, waits since 160: 8 has it since 400. */
	{ "queue", TASKS "4 0 lttng_statedump_process_state tid=6 pid=7 ppid=1 name=\"t6\" type=0\n"
	  SWITCH("10", "0", "0", "0", "7") SWITCH("11", "1", "0", "0", "8") SWITCH("12", "2", "0", "0", "6")
	  ENTER("130", "1", "futex", "uaddr=4096 op=128 val=2") SWITCH("140", "1", "8", "1", "0")
	  ENTER("150", "2", "futex", "uaddr=4096 op=128 val=2") SWITCH("160", "2", "6", "1", "0")
	  ENTER("390", "0", "futex", "uaddr=4096 op=129 val=1") WAKE("400", "0", "8", "1")
	  SWITCH("420", "1", "0", "0", "8") EXIT("430", "1", "futex") EXIT("440", "0", "futex")
	  RELEASE("690") WAKE("700", "1", "6", "2") SWITCH("720", "2", "0", "0", "6") EXIT("730", "2", "futex") END,
	  "0x1000 futex 7: 2 800 540@160 240; 540 20 0 0; ran 96%, wakeup 4%; t8/8\n",
	  "held 7 1 260 t8/8\nheld 8 1 540 t6/6\nwaited 6 1 540 t8/8\nwaited 8 1 260 t7/7\n" },
	/* The second wait began later than what 8 did during the first one. */
	{ "two releases", BEGIN WAIT SWITCH("300", "1", "8", "0", "20") SWITCH("500", "1", "20", "1", "8") TWO_RELEASES,
	  "0x1000 futex 7: 1 500 500@200 0; 300 200 0 0; ran 60%, preempted 40%; t8/8\n" SECOND_RELEASE, NULL },
	{ "two releases after a sleep", BEGIN WAIT SLEEP("210", "300", "1", "8") SLEPT("600", "650", "660", "1", "8")
	  TWO_RELEASES, "0x1000 futex 7: 1 500 500@200 0; 150 50 300 0; timer 60%, ran 30%, wakeup 10%; t8/8\n"
	  SECOND_RELEASE, NULL },
	/* The wait of 6, which 8 ended before, began later than what 8 did first. */
	{ "two releases after another", BEGIN
	  "121 3 lttng_statedump_process_state tid=6 pid=6 ppid=1 name=\"t6\" type=0\n"
	  SWITCH("130", "3", "0", "0", "6") WAIT SWITCH("210", "1", "8", "0", "20") SWITCH("240", "1", "20", "1", "8")
	  ENTER("245", "3", "futex", "uaddr=4096 op=0 val=2") SWITCH("250", "3", "6", "1", "0") RELEASE("270")
	  WAKE("280", "1", "6", "3") EXIT("285", "1", "futex") SWITCH("290", "3", "0", "0", "6")
	  EXIT("295", "3", "futex") SWITCH("300", "1", "8", "0", "20") SWITCH("500", "1", "20", "1", "8") TWO_RELEASES,
	  "0x1000 futex 6: 1 30 30@250 0; 30 0 0 0; ran 100%; t8/8\n"
	  "0x1000 futex 7: 1 500 500@200 0; 270 230 0 0; ran 54%, preempted 46%; t8/8\n" SECOND_RELEASE, NULL },
	/* The same address in another process is another lock. */
	{ "two processes", TASKS SWITCH("10", "0", "0", "0", "7") SWITCH("11", "1", "0", "0", "8")
	  SWITCH("12", "2", "0", "0", "9") ENTER("130", "2", "futex", "uaddr=4096 op=0 val=2")
	  SWITCH("140", "2", "9", "1", "0") WAIT RELEASE("390") WAKE("400", "1", "9", "2") EXIT("410", "1", "futex")
	  SWITCH("420", "2", "0", "0", "9") EXIT("430", "2", "futex")
	  RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END,
	  "0x1000 futex 7: 1 500 500@200 0; 500 0 0 0; ran 100%; t8/8\n"
	  "0x1000 futex 9: 1 260 260@140 0; 260 0 0 0; ran 100%; t8/8\n", NULL },
	/* None of these is a wait for a lock: see test-path.c. */
	{ "condition", BEGIN ENTER("150", "0", "futex", "uaddr=4096 op=393 val=2") SWITCH("200", "0", "7", "1", "0")
	  RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END, "", "" },
	{ "semaphore", BEGIN WAIT_OF("150", "200", "-1") RELEASE("690") WAKE("700", "1", "7", "0")
	  LOCKED("720", "730") END, "", "" },
	{ "barrier", BEGIN WAIT ENTER("690", "1", "futex", "uaddr=4096 op=129 val=2147483647")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") END, "", "" },
	{ "another futex", BEGIN WAIT ENTER("690", "1", "futex", "uaddr=8192 op=129 val=1")
	  WAKE("700", "1", "7", "0") LOCKED("720", "730") END, "", "" },
	{ "a signal", BEGIN WAIT ENTER("690", "1", "tgkill", "tgid=7 tid=7 sig=10") WAKE("700", "1", "7", "0")
	  SWITCH("720", "0", "0", "0", "7") FAILED("730", "0", "futex") EXIT("740", "1", "tgkill")
	  "1100 0 syscall_entry_getpid \n", "", "" },
	{ "time is over", BEGIN WAIT "690 0 irq_handler_entry irq=5 name=\"timer\"\n" WAKE("700", "0", "7", "0")
	  "701 0 irq_handler_exit irq=5 ret=1\n" SWITCH("720", "0", "0", "0", "7") FAILED("730", "0", "futex")
	  "1100 0 syscall_entry_getpid \n", "", "" },
	{ "join", BEGIN WAIT RELEASE("690") WAKE("700", "1", "7", "0") EXIT("705", "1", "futex")
	  ENTER("710", "1", "exit", "error_code=0") LOCKED("720", "730") SWITCH("740", "1", "8", "32", "0")
	  "1100 0 syscall_entry_getpid \n", "", "" },
	{ "an end later", BEGIN WAIT RELEASE("690") WAKE("700", "1", "7", "0") EXIT("705", "1", "futex")
	  ENTER("706", "1", "getpid", "") EXIT("707", "1", "getpid") ENTER("710", "1", "exit", "error_code=0")
	  LOCKED("720", "730") SWITCH("740", "1", "8", "32", "0") "1100 0 syscall_entry_getpid \n",
	  "0x1000 futex 7: 1 500 500@200 0; 500 0 0 0; ran 100%; t8/8\n", NULL },
	{ "an end after 20 ms", BEGIN WAIT RELEASE("690") WAKE("700", "1", "7", "0") EXIT("705", "1", "futex")
	  LOCKED("720", "730") ENTER("20000710", "1", "exit", "error_code=0") SWITCH("20000740", "1", "8", "32", "0"),
	  "0x1000 futex 7: 1 500 500@200 0; 500 0 0 0; ran 100%; t8/8\n", NULL },
	{ "still in its call", BEGIN WAIT RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730"),
	  "0x1000 futex 7: 1 500 500@200 0; 500 0 0 0; ran 100%; t8/8\n", NULL },
	{ "waits for ever", BEGIN WAIT SLEEP("210", "300", "1", "8") "1100 0 syscall_entry_getpid \n", "", "" },
	{ "events are lost", BEGIN WAIT "400 1 !lost begin=300 end=400 events=3\n" SWITCH("450", "1", "0", "0", "8")
	  RELEASE("690") WAKE("700", "1", "7", "0") LOCKED("720", "730") END, NULL, NULL },
	/* The first second has nothing: the wait counts where it ended. */
	{ "across seconds", BEGIN WAIT SLEEP("210", "300", "1", "8")
	  SLEPT("1500000600", "1500000600", "1500000660", "1", "8") RELEASE("1500000690")
	  WAKE("1500000700", "1", "7", "0") LOCKED("1500000720", "1500000730")
	  EXIT("1500000740", "1", "futex"),
	  "0x1000 futex 7: 1 1500000500 1500000500@200 0; 200 0 1500000300 0; timer 100%; t8/8\n", NULL },
	/* Locks of files. */
	{ "flock", BEGIN ENTER("20", "0", "openat", "dfd=-100 filename=\"/run/a\" flags=0")
	  "21 0 syscall_exit_openat ret=3\n" ENTER("150", "0", "flock", "fd=3 cmd=2") SWITCH("200", "0", "7", "1", "0")
	  ENTER("690", "1", "flock", "fd=4 cmd=8") WAKE("700", "1", "7", "0") SWITCH("720", "0", "0", "0", "7")
	  EXIT("730", "0", "flock") EXIT("740", "1", "flock") "1100 0 syscall_entry_getpid \n",
	  "/run/a flock 7: 1 500 500@200 0; 500 0 0 0; ran 100%; t8/8\n",
	  "held 8 1 500 t7/7\nwaited 7 1 500 t8/8\n" },
	{ "record lock", BEGIN ENTER("20", "0", "openat", "dfd=-100 filename=\"/run/a\" flags=0")
	  "21 0 syscall_exit_openat ret=3\n" ENTER("150", "0", "fcntl", "fd=3 cmd=7 arg=1")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "close", "fd=4") WAKE("700", "1", "7", "0")
	  SWITCH("720", "0", "0", "0", "7") EXIT("730", "0", "fcntl") EXIT("740", "1", "close")
	  "1100 0 syscall_entry_getpid \n",
	  "/run/a record 7: 1 500 500@200 0; 500 0 0 0; ran 100%; t8/8\n", NULL },
	{ "flock, and a signal", BEGIN ENTER("150", "0", "flock", "fd=3 cmd=2") SWITCH("200", "0", "7", "1", "0")
	  ENTER("690", "1", "tgkill", "tgid=7 tid=7 sig=10") WAKE("700", "1", "7", "0")
	  SWITCH("720", "0", "0", "0", "7") FAILED("730", "0", "flock")
	  EXIT("740", "1", "tgkill") "1100 0 syscall_entry_getpid \n", "", "" },
	/* 7 loses the race for the file's lock, and waits again in the same call. */
	{ "flock, twice", FLOCK_AGAIN FLOCK_GOT("1000690", "1000700", "1000720", "1000730")
	  "1001100 0 syscall_entry_getpid \n",
	  "/run/a flock 7: 2 1000470 999970@730 0; 1000470 0 0 0; ran 100%; t8/8\n"
	  "0x1000 futex 9: 1 40 40@760 0; 40 0 0 0; ran 100%; t8/8\n", NULL },
	{ "flock, twice, for seconds", FLOCK_AGAIN FLOCK_GOT("2000000690", "2000000700", "2000000720", "2000000730")
	  "2000001100 0 syscall_entry_getpid \n",
	  "/run/a flock 7: 2 2000000470 1999999970@730 0; 2000000470 0 0 0; ran 100%; t8/8\n"
	  "0x1000 futex 9: 1 40 40@760 0; 40 0 0 0; ran 100%; t8/8\n", NULL },
	{ "flock, and events are lost", FLOCK_AGAIN "900 0 !lost begin=840 end=900 events=3\n"
	  SWITCH("910", "0", "0", "0", "9") "1100 0 syscall_entry_getpid \n", NULL, NULL },
	{ FLOCK_WAITS, FLOCK_AGAIN "3500000000 0 syscall_entry_getpid \n",
	  "0x1000 futex 9: 1 40 40@760 0; 40 0 0 0; ran 100%; t8/8\n", NULL },
	{ "fcntl that does not wait for a lock", BEGIN ENTER("150", "0", "fcntl", "fd=3 cmd=6 arg=1")
	  SWITCH("200", "0", "7", "1", "0") ENTER("690", "1", "close", "fd=4") WAKE("700", "1", "7", "0")
	  SWITCH("720", "0", "0", "0", "7") EXIT("730", "0", "fcntl") EXIT("740", "1", "close")
	  "1100 0 syscall_entry_getpid \n", "", "" },
};

static struct value cell(const struct view *v, const struct rows *rows, guint i, const char *id)
{
	int c = view_column(v, id);
	g_assert_cmpint(c, >=, 0);
	return column_value(&v->columns[c], rows->rows->pdata[i], rows);
}

static int64_t number(const struct view *v, const struct rows *rows, guint i, const char *id)
{
	struct value x = cell(v, rows, i, id);
	g_assert_cmpint(x.kind, !=, VALUE_NONE);
	return x.i;
}

#define N(id) number(v, rows, i, id)
#define T(id) cell(v, rows, i, id).s

/* What holds of any: the holder's time and what was before it make up the waits. */
static char *locks_of(const struct timeline *tl)
{
	const struct view_query q = VIEW_QUERY_INIT;
	const struct view *v = view_find("locks");
	struct rows *rows = v->build(tl, &q);
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; i < rows->rows->len; i++) {
		g_assert_cmpint(N("earlier_ns") + N("holder_ran_ns") + N("holder_runq_ns") + N("holder_blocked_ns") +
				N("holder_unknown_ns"), ==, N("total_ns"));
		g_string_append_printf(text, "%s %s %d: %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "@%" G_GINT64_FORMAT
				       " %" G_GINT64_FORMAT, T("lock"), T("kind"), (int)N("pid"), (int)N("waits"),
				       N("total_ns"), N("max_ns"), N("longest_at_ns"), N("earlier_ns"));
		g_string_append_printf(text, "; %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
				       " %" G_GINT64_FORMAT "; %s; %s\n", N("holder_ran_ns"), N("holder_runq_ns"),
				       N("holder_blocked_ns"), N("holder_unknown_ns"), T("did"), T("holder"));
	}
	rows_free(rows);
	return g_strdup(text->str);
}

static char *holders_of(const struct timeline *tl)
{
	const struct view_query q = VIEW_QUERY_INIT;
	const struct view *v = view_find("holders");
	struct rows *rows = v->build(tl, &q);
	g_autoptr(GString) text = g_string_new(NULL);
	rows_sort(rows, v, view_column(v, "tid"), false);
	rows_sort(rows, v, view_column(v, "role"), false);
	for (guint i = 0; i < rows->rows->len; i++)
		g_string_append_printf(text, "%s %d %d %" G_GINT64_FORMAT " %s\n", T("role"), (int)N("tid"),
				       (int)N("waits"), N("total_ns"), T("with"));
	rows_free(rows);
	return g_strdup(text->str);
}

static void test_story(gconstpointer data)
{
	const struct story *x = data;
	struct recording *r = traces_record_script(x->script);
	struct timeline *tl = timeline_new(0);
	struct slice *s = cuts_slice(r, 0, recording_n(r), true);
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	g_autofree char *locks = locks_of(tl), *holders = holders_of(tl);
	if (x->locks)
		g_assert_cmpstr(locks, ==, x->locks);
	if (x->holders)
		g_assert_cmpstr(holders, ==, x->holders);
	timeline_free(tl);
	cuts_check(x->name, r);
	recording_free(r);
}

/* What waits for a file's lock for long does not hold back the others: they are there before the end. */
static void test_not_held_back(void)
{
	const struct story *x = stories;
	while (strcmp(x->name, FLOCK_WAITS))
		x++;
	struct recording *r = traces_record_script(x->script);
	struct model *m = model_new(&(struct model_options){ 0 });
	struct timeline *tl = timeline_new(0);
	for (size_t i = 0; i < recording_n(r); i++) {
		model_feed(m, recording_tables(r), recording_event(r, i), 1);
		struct publication *p = model_publish(m, false);
		if (p)
			timeline_apply(tl, p);
	}
	g_autofree char *locks = locks_of(tl);
	g_assert_cmpstr(locks, ==, x->locks);
	timeline_free(tl);
	model_free(m);
	recording_free(r);
}

#define MANY 140	/* waits: more than are retained of a thread */

/* 8 sleeps while 7 waits, releases the file's lock, and is preempted often before 7 runs, after publications. */
struct release {
	const char *name, *wait, *release, *exit, *end, *locks;
};

static const struct release releases[] = {
	{ "flock", ENTER("150", "0", "flock", "fd=3 cmd=2"), ENTER("690", "1", "flock", "fd=4 cmd=8"),
	  EXIT("705", "1", "flock"), EXIT("2500000100", "0", "flock"),
	  "/run/a flock 7: 1 500 500@200 0; 150 50 300 0; timer 60%, ran 30%, wakeup 10%; t8/8\n" },
	{ "record", ENTER("150", "0", "fcntl", "fd=3 cmd=7 arg=1"), ENTER("690", "1", "close", "fd=4"),
	  EXIT("705", "1", "close"), EXIT("2500000100", "0", "fcntl"),
	  "/run/a record 7: 1 500 500@200 0; 150 50 300 0; timer 60%, ran 30%, wakeup 10%; t8/8\n" },
	{ "futex", ENTER("150", "0", "futex", "uaddr=4096 op=128 val=2"), RELEASE("690"),
	  EXIT("705", "1", "futex"), EXIT("2500000100", "0", "futex"),
	  "0x1000 futex 7: 1 500 500@200 0; 150 50 300 0; timer 60%, ran 30%, wakeup 10%; t8/8\n" },
};

static struct recording *release_recording(const struct release *x)
{
	g_autoptr(GString) text = g_string_new(BEGIN ENTER("20", "0", "openat", "dfd=-100 filename=\"/run/a\" flags=0")
					       "21 0 syscall_exit_openat ret=3\n");
	g_string_append_printf(text, "%s%s%s%s%s", x->wait, SWITCH("200", "0", "7", "1", "0")
			       SLEEP("210", "300", "1", "8") SLEPT("600", "650", "660", "1", "8"), x->release,
			       WAKE("700", "1", "7", "0"), x->exit);
	for (int i = 0; i < MANY; i++) {
		int at = 1000 + 100 * i;
		g_string_append_printf(text, "%d 1 sched_switch prev_tid=8 prev_state=0 next_tid=20 prev_comm=\"t8\" "
				       "next_comm=\"t20\"\n%d 1 sched_switch prev_tid=20 prev_state=1 next_tid=8 "
				       "prev_comm=\"t20\" next_comm=\"t8\"\n", at, at + 50);
	}
	g_string_append_printf(text, "1100000000 1 syscall_entry_getpid \n2100000000 1 syscall_exit_getpid ret=8\n%s%s"
			       "3500000000 0 syscall_entry_getpid \n", SWITCH("2500000000", "0", "0", "0", "7"),
			       x->end);
	return traces_record_script(text->str);
}

static void check_pieces(const struct recording *r, size_t i, size_t k, bool left_first, const char *whole)
{
	size_t n = recording_n(r);
	struct slice *a = cuts_slice(r, 0, i, true), *b = cuts_slice(r, i, k, false), *c = cuts_slice(r, k, n, false);
	struct slice *s = left_first ? slice_stitch(slice_stitch(a, b), c) : slice_stitch(a, slice_stitch(b, c));
	g_autofree char *got = report_of_slice(slice_root(s));
	g_autofree char *what = g_strdup_printf("cut at %zu %zu, %s first", i, k, left_first ? "left" : "right");
	report_assert_equal(what, whole, got);
}

static char *locks_published_often(const struct recording *r, bool often)
{
	struct model *m = model_new(&(struct model_options){ 0 });
	struct timeline *tl = timeline_new(0);
	for (size_t i = 0; i < recording_n(r); i++) {
		model_feed(m, recording_tables(r), recording_event(r, i), 1);
		struct publication *p = often ? model_publish(m, false) : NULL;
		if (p)
			timeline_apply(tl, p);
	}
	timeline_apply(tl, model_publish(m, true));
	char *locks = locks_of(tl);
	timeline_free(tl);
	model_free(m);
	return locks;
}

/* What the holder did during the wait is known, however often it waited after its release. */
static void test_many_waits(gconstpointer data)
{
	const struct release *x = data;
	struct recording *r = release_recording(x);
	size_t n = recording_n(r);
	for (int often = 0; often < 2; often++) {
		g_autofree char *locks = locks_published_often(r, often);
		g_assert_cmpstr(locks, ==, x->locks);
	}
	g_autofree char *whole = report_of_slice(cuts_slice(r, 0, n, true));
	for (size_t i = 1; i < n - 1; i += i < 24 ? 1 : 37)
		for (size_t k = i + 1; k < n; k += k < 24 ? 1 : 37) {
			check_pieces(r, i, k, true, whole);
			check_pieces(r, i, k, false, whole);
		}
	recording_free(r);
}

int main(int argc, char *argv[])
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(stories); i++) {
		g_autofree char *path = g_strdup_printf("/locks/%s", stories[i].name);
		g_test_add_data_func(path, &stories[i], test_story);
	}
	g_test_add_func("/locks/not held back", test_not_held_back);
	for (size_t i = 0; i < G_N_ELEMENTS(releases); i++) {
		g_autofree char *path = g_strdup_printf("/locks/many waits after/%s", releases[i].name);
		g_test_add_data_func(path, &releases[i], test_many_waits);
	}
	return g_test_run();
}
