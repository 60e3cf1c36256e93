/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread that decodes can't do any more, and what it still can; and the process that
 * connects for it. Each case in a process of its own, since isolation can't be taken back.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/isolation.h"
#include "lib/fake_relay.h"
#include "live/viewer/connector.h"
#include "run/job.h"

struct places {
	char *top, *in, *out, *elsewhere;	/* below top: read, written, neither */
	unsigned holds;				/* as isolation_enter() said */
};

static void places_make(struct places *p)
{
	p->top = g_dir_make_tmp("blktop-isolation-XXXXXX", NULL);
	g_assert_nonnull(p->top);
	p->in = g_build_filename(p->top, "in", NULL);
	p->out = g_build_filename(p->top, "out", NULL);
	p->elsewhere = g_build_filename(p->top, "elsewhere", NULL);
	g_assert_cmpint(g_mkdir(p->in, 0700) + g_mkdir(p->out, 0700) + g_mkdir(p->elsewhere, 0700), ==, 0);
}

static void places_clear(struct places *p)
{
	g_free(p->top);
	g_free(p->in);
	g_free(p->out);
	g_free(p->elsewhere);
}

static void put(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_assert_true(g_file_set_contents(path, "x", 1, NULL));
}

static int number_of(long rc)
{
	return rc < 0 ? errno : 0;
}

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600), number = number_of(fd);
	if (fd >= 0)
		close(fd);
	return number;
}

/* Runs as the trace's opener does: on the job's thread. */
static bool try_all(void *data, struct job_trace *ret, GError **error)
{
	struct places *p = data;
	g_autofree char *fresh = g_build_filename(p->out, "fresh", NULL);
	g_autofree char *renamed = g_build_filename(p->out, "renamed", NULL);
	g_autofree char *read = g_build_filename(p->in, "file", NULL);
	g_autofree char *other = g_build_filename(p->elsewhere, "file", NULL);
	char *const argv[] = { (char *)"true", NULL };
	char key = 'x';

	(void)ret;
	if (p->holds & ISOLATION_CALLS) {
		g_assert_cmpint(number_of(execv("/bin/true", argv)), ==, EPERM);
		g_assert_cmpint(number_of(socket(AF_INET, SOCK_STREAM, 0)), ==, EPERM);
		g_assert_cmpint(number_of(socket(AF_UNIX, SOCK_STREAM, 0)), ==, EPERM);
		/* Both are no sockets. */
		g_assert_cmpint(number_of(accept(STDIN_FILENO, NULL, NULL)), ==, EPERM);
		g_assert_cmpint(number_of(accept4(STDIN_FILENO, NULL, NULL, SOCK_CLOEXEC)), ==, EPERM);
		g_assert_cmpint(number_of(accept4(STDOUT_FILENO, NULL, NULL, SOCK_CLOEXEC)), ==, ENOTSOCK);
		g_assert_cmpint(try_open(other, O_WRONLY), ==, EPERM);
		g_assert_cmpint(try_open(read, O_WRONLY), ==, EPERM);
		g_assert_cmpint(number_of(unlink(read)), ==, EPERM);
		g_assert_cmpint(number_of(ptrace(PTRACE_TRACEME, 0, NULL, NULL)), ==, EPERM);
		g_assert_cmpint(number_of(setuid(getuid())), ==, EPERM);
		g_assert_cmpint(number_of(ioctl(STDIN_FILENO, TIOCSTI, &key)), ==, EPERM);
	}
	if (p->holds & ISOLATION_FILES) {
		g_assert_cmpint(try_open(other, O_RDONLY), ==, EACCES);
		g_assert_cmpint(try_open(other, O_RDONLY), ==, EACCES);
	}
	g_assert_cmpint(try_open(read, O_RDONLY), ==, 0);
	if (p->holds & ISOLATION_CALLS) {
		g_assert_cmpint(try_open(fresh, O_WRONLY | O_CREAT | O_TRUNC), ==, EPERM);
		g_assert_cmpint(number_of(rename(read, renamed)), ==, EPERM);
	}
	g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS, "all was tried");
	return false;
}

static void no_free(void *data)
{
	(void)data;
}

static void try_isolated(void)
{
	struct places p;
	struct job_options options = { .memory = 64 << 20 };
	struct job_status st;
	g_autofree char *why = NULL;
	g_autoptr(GPtrArray) read = g_ptr_array_new(), write = g_ptr_array_new();

	places_make(&p);
	put(p.in, "file");
	put(p.elsewhere, "file");
	g_ptr_array_add(read, p.in);
	g_ptr_array_add(read, (char *)"/no/such/place");
	g_ptr_array_add(write, p.out);
	const unsigned can = isolation_can();
	p.holds = isolation_enter(read, write, ISOLATION_RECEIVER, STDOUT_FILENO, &why);
	g_assert_cmpuint(p.holds, ==, can);
	g_assert_true((why == NULL) == (can == ISOLATION_BOTH));
	g_autofree char *described = isolation_describe();
	g_assert_true(strstr(described, "not filtered") || strstr(described, "none") || can == ISOLATION_BOTH);

	struct job *job = job_start(try_all, &p, no_free, &options);
	struct timeline *tl = timeline_new(1 << 20);
	while (!job_wait(job, tl, 100))
		;
	job_get_status(job, &st);
	g_assert_cmpint(st.phase, ==, JOB_FAILED);
	g_assert_cmpstr(st.message, ==, "all was tried");
	job_free(job);
	timeline_free(tl);
	places_clear(&p);
	if (can)
		g_test_message("isolated");
}

static void test_isolated(void)
{
	if (g_test_subprocess()) {
		try_isolated();
		return;
	}
	g_autofree char *top = g_dir_make_tmp("blktop-isolation-XXXXXX", NULL);
	g_autofree char *old = g_strdup(g_getenv("TMPDIR"));
	g_setenv("TMPDIR", top, TRUE);
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
	if (old)
		g_setenv("TMPDIR", old, TRUE);
	else
		g_unsetenv("TMPDIR");
	g_autofree char *quoted = g_shell_quote(top), *remove = g_strconcat("rm -rf ", quoted, NULL);
	g_assert_true(g_spawn_command_line_sync(remove, NULL, NULL, NULL, NULL));
	g_test_trap_assert_passed();
}

#define PORT "BLKTOP_TEST_PORT"		/* tells the subprocess where the relay is */

/* The one relay that was named can be reached, also again; no other. */
static void try_connector(void)
{
	uint16_t port = (uint16_t)g_ascii_strtoull(g_getenv(PORT), NULL, 10);
	struct live_url url = { .host = (char *)"127.0.0.1", .port = port };
	struct live_url named[] = { { .host = (char *)"no-such-host.invalid", .port = 5344 }, url,
				    { .host = (char *)"127.0.0.1", .port = 1 } };
	struct live_url other = { .host = (char *)"127.0.0.1", .port = (uint16_t)(port + 1) };
	g_autoptr(GPtrArray) none = g_ptr_array_new();
	g_autofree char *why = NULL;
	g_autoptr(GError) error = NULL;

	g_assert_true(connector_start(named, G_N_ELEMENTS(named), &error));
	isolation_enter(none, none, ISOLATION_SENDER, -1, &why);
	for (int i = 0; i < 2; i++) {
		g_autoptr(GPtrArray) rows = live_list_sessions(&url, 10000, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(rows->len, ==, 0);
	}
	g_assert_null(live_list_sessions(&other, 10000, &error));
	g_assert_nonnull(strstr(error->message, "the command line does not name it"));
	g_clear_error(&error);
	g_assert_null(live_list_sessions(&named[0], 10000, &error));
	g_assert_nonnull(strstr(error->message, "no-such-host.invalid"));
	g_clear_error(&error);
	g_assert_null(live_list_sessions(&named[2], 10000, &error));
	g_assert_nonnull(strstr(error->message, "refused"));
	g_clear_error(&error);
}

static void test_connector(void)
{
	if (g_test_subprocess()) {
		try_connector();
		return;
	}
	struct relay *r = relay_new(false);
	relay_add_hello(r, 2, 4);
	relay_add_list(r, 0, NULL);
	struct live_url url = relay_start(r);
	g_autofree char *port = g_strdup_printf("%u", url.port);
	g_setenv(PORT, port, TRUE);
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
	g_unsetenv(PORT);
	relay_free(r);
	g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/isolation/thread", test_isolated);
	g_test_add_func("/isolation/connector", test_connector);
	return g_test_run();
}
