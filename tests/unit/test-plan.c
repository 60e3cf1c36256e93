/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session of this machine records: what the subscription table reads and nothing else,
 * and never a context that crashes a kernel.
 */
#include "live/session/plan.h"
#include "live/session/helper_private.h"
#include "live/session/proc.h"

#include "state/publish/model.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plan_wish wish(void)
{
	struct plan_wish w = { .session = "s", .timer_us = 1000000, .kernel = true, .loglevel = -1 };
	w.rows = slice_subscriptions(&w.n_rows);
	return w;
}

static const struct plan_event *find(const struct plan_channel *c, const char *name)
{
	for (guint i = 0; i < c->events->len; i++) {
		const struct plan_event *e = c->events->pdata[i];
		if (strcmp(e->name, name) == 0)
			return e;
	}
	return NULL;
}

/* Every row with a purpose is recorded: by its name, as a call, or by its provider. */
static void test_table(void)
{
	struct plan_wish w = wish();
	struct plan *p = plan_new(&w);
	const struct plan_channel *kernel = &p->channel[PLAN_KERNEL], *ust = &p->channel[PLAN_UST];
	unsigned n_points = 0;

	for (size_t i = 0; i < w.n_rows; i++) {
		enum plan_origin origin = plan_origin(&w.rows[i]);
		g_test_message("%s", w.rows[i].event);
		if (origin == PLAN_TRACEPOINT) {
			g_assert_nonnull(find(kernel, w.rows[i].event));
			n_points++;
		} else {
			g_assert_null(find(kernel, w.rows[i].event));
		}
	}
	g_assert_cmpuint(n_points, >, 20);
	g_assert_cmpuint(plan_count(kernel, PLAN_KIND_TRACEPOINT), ==, n_points);
	g_assert_cmpuint(plan_count(kernel, PLAN_KIND_SYSCALLS), ==, 1);
	g_assert_cmpuint(ust->events->len, ==, 1);
	g_assert_nonnull(find(ust, "zipkin:*"));
	plan_free(p);
}

/* Events of presets are recorded, too, and counted where others are named. */
static void test_presets(void)
{
	char *presets[] = { (char *)"ros2:*", (char *)"zipkin:*", (char *)"a:b_*", NULL };
	struct plan_wish w = wish();
	w.presets = presets;
	struct plan *p = plan_new(&w);
	const struct plan_channel *ust = &p->channel[PLAN_UST];
	g_assert_cmpuint(ust->events->len, ==, 3);
	g_assert_nonnull(find(ust, "ros2:*"));
	g_assert_nonnull(find(ust, "a:b_*"));
	g_autofree char *text = plan_describe(p, 4);
	g_assert_nonnull(strstr(text, "zipkin:*, 2 patterns of presets"));
	g_assert_null(strstr(text, "ros2"));
	plan_free(p);
}

/* The contexts are those that the reader has slots for, and no others: prio crashes. */
static void test_contexts(void)
{
	static const char *const allowed[] = { "tid", "pid", "procname", "vpid", "vtid", NULL };
	struct plan_wish w = wish();
	struct plan *p = plan_new(&w);
	for (int d = 0; d < PLAN_DOMAINS; d++) {
		g_assert_cmpuint(p->channel[d].n_contexts, ==, 3);
		for (unsigned i = 0; i < p->channel[d].n_contexts; i++)
			g_assert_true(g_strv_contains(allowed, p->channel[d].contexts[i]));
	}
	g_assert_cmpuint(p->n_counters, ==, 0);
	plan_free(p);
}

static void test_tracer(void)
{
	g_autoptr(GHashTable) has = g_hash_table_new(g_str_hash, g_str_equal);
	static const char *const names[] = {
		"sched_switch", "softirq_entry", "x86_irq_vectors_local_timer_entry", "sched_process_fork",
		"something_else",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_hash_table_add(has, (gpointer)names[i]);
	struct plan_wish w = wish();
	w.tracepoints = has;
	struct plan *p = plan_new(&w);
	const struct plan_channel *c = &p->channel[PLAN_KERNEL];
	g_assert_nonnull(find(c, "sched_switch"));
	g_assert_nonnull(find(c, "softirq_entry"));	/* an old tracer's name */
	g_assert_null(find(c, "irq_softirq_entry"));	/* which this one would accept, silently */
	g_assert_nonnull(find(c, "x86_irq_vectors_*"));
	g_assert_nonnull(find(c, "lttng_statedump_process_state"));	/* not listed, always there */
	g_assert_null(find(c, "something_else"));
	g_assert_null(find(c, "timer_hrtimer_expire_entry"));
	plan_free(p);

	w.calls_only = true;
	p = plan_new(&w);
	c = &p->channel[PLAN_KERNEL];
	g_assert_null(find(c, "sched_switch"));		/* switches to a task are not its own events */
	g_assert_nonnull(find(c, "sched_process_fork"));
	g_assert_cmpuint(plan_count(c, PLAN_KIND_SYSCALLS), ==, 1);
	plan_free(p);
}

/* Does the description say that it will not be seen? Lines are joined first. */
static bool is_unseen(const char *text, const char *what)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
	g_autoptr(GString) line = g_string_new(NULL);
	for (char **word = words; *word; word++)
		if (**word)
			g_string_append_printf(line, " %s", *word);
	const char *unseen = strstr(line->str, " not seen ");
	const char *found = unseen ? strstr(unseen, what) : NULL, *cost = strstr(line->str, " cost ");
	return found && found < cost;
}

/* What a session will not show is said before it is made: by what is recorded, whatever the reason. */
static void test_unseen(void)
{
	g_autoptr(GHashTable) has = g_hash_table_new(g_str_hash, g_str_equal);
	struct plan_wish w = wish();
	struct plan *p = plan_new(&w);
	g_autofree char *all = plan_describe(p, 4);
	g_assert_null(strstr(all, "not seen"));
	plan_free(p);

	w.calls_only = true;
	p = plan_new(&w);
	g_autofree char *calls = plan_describe(p, 4);
	g_assert_true(is_unseen(calls, "which thread ran"));
	g_assert_true(is_unseen(calls, "interrupts"));
	g_assert_false(is_unseen(calls, "system calls"));
	plan_free(p);

	g_hash_table_add(has, (gpointer)"sched_switch");
	g_hash_table_add(has, (gpointer)"sched_wakeup");	/* before Linux 4.4 */
	w.calls_only = false;
	w.tracepoints = has;
	p = plan_new(&w);
	g_autofree char *part = plan_describe(p, 4);
	g_assert_true(is_unseen(part, "disks"));
	g_assert_false(is_unseen(part, "which thread"));
	g_assert_false(is_unseen(part, "not why"));
	plan_free(p);
}

static void write_file(const char *root, const char *path, const char *text)
{
	g_autofree char *file = g_build_filename(root, path, NULL), *dir = g_path_get_dirname(file);
	g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
	g_assert_true(g_file_set_contents(file, text, -1, NULL));
}

/* Whether there is a kernel tracer follows from files: no session daemon must run. */
static void test_tracer_files(void)
{
	g_autofree char *root = g_dir_make_tmp("plan-XXXXXX", NULL);
	static const char *const files[] = {
		"lib/modules/6.1.0/modules.dep", "lib/modules/6.1.0/modules.builtin", "sys/module/lttng_tracer/refcnt",
	};
	g_autofree char *none = proc_no_tracer(root, "6.1.0");
	g_assert_nonnull(strstr(none, "Linux 6.1.0 has no modules of LTTng"));
	g_assert_nonnull(strstr(none, "modprobe lttng-tracer"));
	write_file(root, files[0], "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko\n");
	g_autofree char *others = proc_no_tracer(root, "6.1.0");
	g_assert_nonnull(others);
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *file = g_build_filename(root, files[i], NULL);
		write_file(root, files[i], "updates/dkms/lttng-tracer.ko.xz: updates/dkms/lttng-lib.ko.xz\n");
		g_assert_null(proc_no_tracer(root, "6.1.0"));
		g_autofree char *of_another = proc_no_tracer(root, "6.2.0");
		g_assert_true(i == 2 || of_another);		/* modules of another kernel */
		g_assert_cmpint(remove(file), ==, 0);
	}
	g_autofree char *loaded = g_build_filename(root, "sys/module/lttng_tracer", NULL);
	g_assert_cmpint(remove(loaded), ==, 0);
	g_autofree char *again = proc_no_tracer(root, "6.1.0");
	g_assert_nonnull(again);
	g_autofree char *command = g_strdup_printf("rm -r '%s'", root);
	g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
}

static void test_without_kernel(void)
{
	struct plan_wish w = wish();
	w.kernel = false;
	w.no_kernel = "because";
	struct plan *p = plan_new(&w);
	g_assert_false(p->channel[PLAN_KERNEL].used);
	g_assert_cmpstr(p->channel[PLAN_KERNEL].why_not, ==, "because");
	g_assert_true(p->channel[PLAN_UST].used);
	g_autofree char *text = plan_describe(p, 4);
	g_assert_nonnull(strstr(text, "because"));
	g_assert_true(is_unseen(text, "which thread ran"));
	g_assert_true(is_unseen(text, "system calls"));
	g_assert_true(is_unseen(text, "disks"));
	g_assert_true(is_unseen(text, "not why"));
	plan_free(p);
	w = wish();
	w.spans_only = true;
	p = plan_new(&w);
	g_assert_false(p->channel[PLAN_KERNEL].used);
	plan_free(p);
}

static void test_wishes(void)
{
	char *counters[] = { (char *)"page-faults", (char *)"cpu-clock", NULL };
	char *probes[] = { (char *)"vfs_read", (char *)"do_exit+0x10", (char *)"vfs_read", NULL };
	struct plan_wish w = wish();
	w.counters = counters;
	w.probes = probes;
	w.functions = true;
	struct plan *p = plan_new(&w);
	const struct plan_channel *c = &p->channel[PLAN_KERNEL];
	g_assert_cmpuint(p->n_counters, ==, 2);
	g_assert_cmpuint(plan_count(c, PLAN_KIND_KPROBE), ==, 2);
	const struct plan_event *probe = find(c, "probe_do_exit_0x10");
	g_assert_cmpstr(probe->symbol, ==, "do_exit");
	g_assert_cmpuint(probe->offset, ==, 16);
	g_autoptr(GError) error = NULL;
	g_assert_true(plan_probe_check(probe, 16, NULL));
	g_assert_true(plan_probe_check(find(c, "probe_vfs_read"), 0, NULL));
	g_assert_false(plan_probe_check(probe, 0, &error));	/* what lttng-tools 2.13.9 makes of it */
	g_assert_nonnull(strstr(error->message, "do_exit+0x10"));
	g_assert_nonnull(find(&p->channel[PLAN_UST], "lttng_ust_cyg_profile:func_entry"));
	g_autofree char *text = plan_describe(p, 4);
	g_assert_nonnull(strstr(text, "perf:cpu:page-faults"));
	g_assert_nonnull(strstr(text, "perf:thread:page-faults"));
	g_assert_null(strstr(text, "perf:thread:cpu-clock"));	/* only the kernel can */
	g_assert_nonnull(strstr(text, "probe_vfs_read"));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++)
		g_assert_cmpuint(strlen(*line), <=, 80);
	plan_free(p);
}

static void test_cost(void)
{
	struct plan_wish w = wish();
	struct plan *p = plan_new(&w), *snapshot = plan_new_snapshot(&w, "s-snapshot");
	const struct plan_channel *k = &p->channel[PLAN_KERNEL], *u = &p->channel[PLAN_UST];
	uint64_t one = k->subbuf_bytes * k->n_subbufs + u->subbuf_bytes * u->n_subbufs;

	g_assert_cmpuint(plan_memory(p, 3), ==, 3 * one);
	g_assert_cmpuint(plan_disk(p, 3), ==, 3 * 2 * p->file_bytes * p->n_files);
	g_assert_cmpuint(p->file_bytes, >=, k->subbuf_bytes);
	for (int d = 0; d < PLAN_DOMAINS; d++) {
		const struct plan_channel *c = &p->channel[d];
		g_assert_cmpuint(c->subbuf_bytes & (c->subbuf_bytes - 1), ==, 0);
		g_assert_cmpuint(c->n_subbufs & (c->n_subbufs - 1), ==, 0);
	}
	g_assert_cmpstr(snapshot->session, ==, "s-snapshot");
	g_assert_cmpuint(snapshot->timer_us, ==, 0);
	g_assert_cmpuint(plan_disk(snapshot, 3), ==, 0);
	g_assert_cmpuint(snapshot->channel[PLAN_KERNEL].events->len, ==, k->events->len);
	plan_free(p);
	w.kernel_buffer = PLAN_LEAST_KERNEL_BUFFER;
	p = plan_new(&w);
	k = &p->channel[PLAN_KERNEL];
	g_assert_cmpuint(k->subbuf_bytes * k->n_subbufs, ==, w.kernel_buffer);
	g_assert_cmpuint(k->subbuf_bytes, >=, 4096);
	g_assert_cmpuint(p->channel[PLAN_UST].subbuf_bytes, ==, snapshot->channel[PLAN_UST].subbuf_bytes);
	plan_free(p);
	plan_free(snapshot);
}

static void test_words(void)
{
	static const char *const good[] = { "vfs_read", "do_exit+16", "a.b$c+0x1f", "_x" };
	static const char *const bad[] = { "", "1x", "+1", "x+", "x+y", "x+-1", "x y", "x;y", "x+0x", "\x1b" };
	g_autofree char *symbol = NULL;
	uint64_t offset;

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_assert_true(plan_symbol(good[i], &symbol, &offset, NULL));
		g_clear_pointer(&symbol, g_free);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_test_message("'%s'", bad[i]);
		g_assert_false(plan_symbol(bad[i], &symbol, &offset, &error));
		g_assert_nonnull(error);
		g_assert_null(symbol);
	}
	g_autofree char *most = g_strnfill(1000, 'a');
	g_assert_false(plan_symbol(most, &symbol, &offset, NULL));

	g_autoptr(GError) error = NULL;
	g_assert_cmpuint(plan_counter("page-faults", NULL)->config, ==, 2);
	g_assert_null(plan_counter("cycles", &error));
	g_assert_nonnull(strstr(error->message, "page-faults"));
	g_assert_cmpint(plan_loglevel("emerg"), ==, 0);
	g_assert_cmpint(plan_loglevel("INFO"), ==, 6);
	g_assert_cmpint(plan_loglevel("debug"), ==, 14);
	g_assert_cmpint(plan_loglevel("loud"), ==, -1);
}

static void test_session_names(void)
{
	g_assert_cmpint(session_helper_pid_of("blktop-123"), ==, 123);
	g_assert_cmpint(session_helper_pid_of("blktop-123-snapshot"), ==, 123);
	static const char *const others[] = {
		"", "blktop", "blktop-", "blktop-x", "blktop-1x", "blktop-12-", "my-blktop-12", "blktop--1",
		"blktop-99999999999", "blktop-12-snapshots",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		g_assert_cmpint(session_helper_pid_of(others[i]), ==, 0);
}

/* This process has a child, which has one: both wait for the end of their input. */
static void test_descendants(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) number = g_string_new(NULL);
	const char *argv[] = { "/bin/sh", "-c", "exec 3<&0; cat <&3 & echo $!; wait", NULL };
	int in, out;
	GPid shell;
	char byte;

	g_assert_true(g_spawn_async_with_pipes(NULL, (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
					       &shell, &in, &out, NULL, &error));
	g_assert_no_error(error);
	while (read(out, &byte, 1) == 1 && byte != '\n')
		g_string_append_c(number, byte);
	g_autoptr(GArray) pids = follow_descendants(getpid());
	bool self = false, child = false, grandchild = false;
	for (guint i = 0; i < pids->len; i++) {
		int pid = g_array_index(pids, int, i);
		self |= pid == getpid();
		child |= pid == shell;
		grandchild |= pid == (int)g_ascii_strtoll(number->str, NULL, 10);
		g_assert_cmpint(pid, !=, getppid());
	}
	g_assert_true(self && child && grandchild);
	close(in);
	close(out);
	waitpid(shell, NULL, 0);
}

/* A session helper that reports `steps` times what it does, each time after a pause, and then answers, or
 * says nothing more. */
static struct session_helper *slow_helper(int steps, int pause_ms, bool answers)
{
	int pair[2];
	char byte;

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), ==, 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		for (int i = 0; i < steps; i++) {
			g_usleep((gulong)pause_ms * 1000);
			send(pair[1], "penabling 'x'", strlen("penabling 'x'"), MSG_NOSIGNAL);
		}
		if (answers)
			send(pair[1], "durl", strlen("durl"), MSG_NOSIGNAL);
		while (recv(pair[1], &byte, 1, 0) > 0)
			;
		_exit(0);
	}
	close(pair[1]);
	return session_helper_of(pair[0], pid);
}

/* What goes on may take longer than the limit; what hangs is named. */
static void test_progress(void)
{
	g_autoptr(GError) error = NULL;
	struct session_helper *s = slow_helper(8, 400, true);
	g_autofree char *answer = session_helper_ask(s, HELPER_BEGIN, NULL, 2000, &error);

	g_assert_no_error(error);
	g_assert_cmpstr(answer, ==, "url");
	session_helper_free(s);
	s = slow_helper(1, 0, false);
	g_assert_null(session_helper_ask(s, HELPER_BEGIN, NULL, 500, &error));
	g_assert_cmpstr(error->message, ==,
			"the session daemon does not answer within 0.5 s: enabling 'x'; is it stopped?");
	session_helper_free(s);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/plan/table", test_table);
	g_test_add_func("/plan/presets", test_presets);
	g_test_add_func("/plan/contexts", test_contexts);
	g_test_add_func("/plan/tracer", test_tracer);
	g_test_add_func("/plan/without-kernel", test_without_kernel);
	g_test_add_func("/plan/unseen", test_unseen);
	g_test_add_func("/plan/tracer-files", test_tracer_files);
	g_test_add_func("/plan/wishes", test_wishes);
	g_test_add_func("/plan/cost", test_cost);
	g_test_add_func("/plan/words", test_words);
	g_test_add_func("/plan/progress", test_progress);
	g_test_add_func("/plan/session-names", test_session_names);
	g_test_add_func("/plan/descendants", test_descendants);
	return g_test_run();
}
