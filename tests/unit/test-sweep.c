/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A followed program that outlived blktop and its session helper: found by its note and ended; and notes that
 * name nothing of ours change nothing.
 */
#include "lib/test_traces.h"
#include "live/session/proc.h"
#include "live/session/helper_private.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pid that was one, and is none any more. */
static int ended_pid(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
	return pid;
}

/* Leads a process group, in the session of the session helper; with a name that is hard to read in /proc. */
G_NORETURN static void be_program(int ready_fd)
{
	setpgid(0, 0);
	prctl(PR_SET_NAME, ") Z 1 1\033");
	if (write(ready_fd, "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

G_NORETURN static void be_helper(const char *state, int client, int ready_fd)
{
	setsid();
	pid_t pid = fork();
	if (pid == 0)
		be_program(ready_fd);
	setpgid(pid, pid);
	g_autofree char *note = sweep_note_program(state, client, pid);
	if (!note || write(ready_fd, "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Forks a session helper with a program, and waits until both are there. */
static pid_t start(const char *state, int client)
{
	char ready[2];
	int fds[2];

	g_assert_no_errno(pipe(fds));
	pid_t session_helper = fork();
	if (session_helper == 0)
		be_helper(state, client, fds[1]);
	for (size_t n = 0; n < sizeof ready; n++)
		g_assert_cmpint(read(fds[0], ready + n, 1), ==, 1);
	close(fds[0]);
	close(fds[1]);
	return session_helper;
}

static void kill_helper(pid_t session_helper)
{
	kill(session_helper, SIGKILL);
	g_assert_cmpint(waitpid(session_helper, NULL, 0), ==, session_helper);
}

static guint n_left(const char *state)
{
	g_autoptr(GPtrArray) programs = sweep_programs(state);
	return programs->len;
}

static void test_program(void)
{
	g_autofree char *state = test_temp_dir();
	int client = ended_pid();
	pid_t session_helper = start(state, client);

	g_assert_cmpuint(n_left(state), ==, 0);		/* the session helper will end it */
	kill_helper(session_helper);
	g_autoptr(GPtrArray) programs = sweep_programs(state);
	g_assert_cmpuint(programs->len, ==, 1);
	const struct sweep_program *p = programs->pdata[0];
	g_assert_cmpstr(p->name, ==, ") Z 1 1\\x1b");
	g_assert_false(proc_has_ended(p->pid));

	g_autoptr(GString) said = g_string_new(NULL);
	sweep_end_programs(state, said);
	g_autofree char *wanted = g_strdup_printf("ended ) Z 1 1\\x1b (process %d)\n", p->pid);
	g_assert_cmpstr(said->str, ==, wanted);
	g_assert_true(proc_has_ended(p->pid));
	g_autofree char *name = g_strdup_printf("program-blktop-%d", client);
	g_autofree char *note = g_build_filename(state, name, NULL);
	g_assert_false(g_file_test(note, G_FILE_TEST_EXISTS));
	test_remove_tree(state);
}

/* Its blktop lives: nothing is left over, whatever became of the session helper. */
static void test_client_lives(void)
{
	g_autofree char *state = test_temp_dir();
	pid_t session_helper = start(state, getpid());
	g_autofree char *name = g_strdup_printf("program-blktop-%d", (int)getpid());
	g_autofree char *note = g_build_filename(state, name, NULL), *text = NULL;

	kill_helper(session_helper);
	g_assert_cmpuint(n_left(state), ==, 0);
	g_autoptr(GString) said = g_string_new(NULL);
	sweep_end_programs(state, said);
	g_assert_cmpstr(said->str, ==, "");
	g_assert_true(g_file_get_contents(note, &text, NULL, NULL));
	kill(-atoi(strchr(text, ' ')), SIGKILL);
	test_remove_tree(state);
}

static void test_hostile_notes(void)
{
	g_autofree char *state = test_temp_dir();
	int client = ended_pid(), session_helper = ended_pid();
	g_autofree char *of_parent = g_strdup_printf("%d %d", (int)getppid(), (int)getpgrp());
	g_autofree char *of_us = g_strdup_printf("%d %d", session_helper, (int)getpgrp());
	const char *const notes[] = { "", "1 1", "0 0", "-1 -1", "x", of_parent, of_us, "99999999999999 99999999999" };
	g_autofree char *name = g_strdup_printf("program-blktop-%d", client);
	g_autofree char *path = g_build_filename(state, name, NULL);
	g_autofree char *other = g_build_filename(state, "other", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(notes); i++) {
		g_autoptr(GString) said = g_string_new(NULL);
		g_assert_true(g_file_set_contents(path, notes[i], -1, NULL));
		g_assert_cmpuint(n_left(state), ==, 0);
		sweep_end_programs(state, said);
		g_assert_cmpstr(said->str, ==, "");
	}
	unlink(path);
	g_assert_true(g_file_set_contents(other, of_us, -1, NULL));
	g_assert_no_errno(symlink("other", path));
	g_autoptr(GString) said = g_string_new(NULL);
	sweep_end_programs(state, said);
	g_assert_true(g_file_test(path, G_FILE_TEST_IS_SYMLINK));
	test_remove_tree(state);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sweep/program", test_program);
	g_test_add_func("/sweep/client-lives", test_client_lives);
	g_test_add_func("/sweep/hostile-notes", test_hostile_notes);
	return g_test_run();
}
