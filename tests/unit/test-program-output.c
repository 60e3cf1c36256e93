/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of a followed program: what is retained, and that its writers never notice who reads it. */
#include "base/limits.h"
#include "live/session/helper_private.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST LIMIT_PROGRAM_OUTPUT_BYTES

static struct program_output *begin(int *ret_fd)
{
	g_autoptr(GError) error = NULL;
	struct program_output *o = program_output_new(ret_fd, &error);
	g_assert_no_error(error);
	return o;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fd, bytes, n);
		if (put <= 0)
			return false;
		bytes += put;
		n -= (size_t)put;
	}
	return true;
}

/* What is printed after these bytes. */
static char *text_after(const char *bytes, size_t n)
{
	int fd;
	struct program_output *o = begin(&fd);
	g_assert_true(write_all(fd, bytes, n));
	close(fd);
	char *text = program_output_text(o, "prog");
	program_output_free(o);
	return text;
}

static void test_little(void)
{
	static const struct { const char *bytes; size_t n; const char *wanted; } cases[] = {
		{ "", 0, NULL },
		{ "one\ntwo\n", 8, "the output of prog:\none\ntwo\n" },
		{ "one\ntwo", 7, "the output of prog:\none\ntwo\n" },
		{ "\n", 1, "the output of prog:\n\n" },
		/* made visible when it is printed */
		{ "a\0b\tc\033[2J%s", 11, "the output of prog:\na?b c\033[2J%s\n" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = text_after(cases[i].bytes, cases[i].n);
		g_assert_cmpstr(text, ==, cases[i].wanted);
	}
}

/* Lines of ten bytes: "000000123\n". */
static GString *lines(unsigned n)
{
	GString *s = g_string_new(NULL);
	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(s, "%09u\n", i);
	return s;
}

static void test_last_lines(void)
{
	static const char note[] = "the first ";

	for (unsigned n = MOST / 10 - 1; n < MOST / 10 * 3; n += MOST / 10 / 7) {
		g_autoptr(GString) all = lines(n);
		g_autofree char *text = text_after(all->str, all->len);
		const char *first = strchr(text, '\n') + 1;

		g_assert_true(g_str_has_prefix(text, "the output of prog:\n"));
		if (all->len <= MOST) {
			g_assert_cmpstr(first, ==, all->str);
			continue;
		}
		/* whole lines, as many as fit */
		g_autofree char *wanted = g_strndup(all->str + all->len - MOST / 10 * 10, MOST / 10 * 10);
		g_assert_true(g_str_has_prefix(first, wanted));
		g_assert_true(g_str_has_prefix(first + strlen(wanted), note));
		g_assert_cmpuint(g_ascii_strtoull(first + strlen(wanted) + strlen(note), NULL, 10), ==,
				 all->len - strlen(wanted));
	}
}

/* One line that is longer than the limit: its end. */
static void test_long_line(void)
{
	g_autofree char *line = g_strnfill(3 * MOST, 'x'), *text = text_after(line, 3 * MOST);
	const char *first = strchr(text, '\n') + 1;
	g_assert_cmpuint(strspn(first, "x"), ==, MOST);
	g_assert_true(g_str_has_prefix(first + MOST, "\nthe first 65536 bytes of the output of prog are not stored"));
}

static void test_endless(void)
{
	static char block[1 << 16];
	int fd;
	struct program_output *o = begin(&fd);

	memset(block, 'y', sizeof block);
	for (int i = 0; i < 1600; i++)
		g_assert_true(write_all(fd, block, sizeof block));
	g_assert_true(write_all(fd, "\nend\n", 5));
	close(fd);
	g_autofree char *text = program_output_text(o, "prog");
	g_assert_true(g_str_has_prefix(text, "the output of prog:\nend\nthe first 104857601 bytes"));
	program_output_free(o);
}

/* ---- who goes on ---- */

/* Writes far more than the pipe holds, and says so. */
G_NORETURN static void be_program(int fd, int go_fd, int done_fd)
{
	g_autofree char *much = g_strnfill(1 << 20, 'x');
	char byte;

	if (read(go_fd, &byte, 1) != 1 || !write_all(fd, much, 1 << 20))
		_exit(1);
	_exit(write(done_fd, "d", 1) != 1);
}

/* The helper and blktop are killed: the program goes on as if nothing had happened, and nothing is left after it. */
static void test_helper_killed(void)
{
	int go[2], done[2], fd, status;
	char byte = 0;

	g_assert_no_errno(prctl(PR_SET_CHILD_SUBREAPER, 1));
	g_assert_no_errno(pipe(go));
	g_assert_no_errno(pipe(done));
	pid_t helper = fork();
	if (helper == 0) {
		begin(&fd);
		if (fork() == 0)
			be_program(fd, go[0], done[1]);
		close(fd);
		if (write(done[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	g_assert_cmpint(read(done[0], &byte, 1), ==, 1);
	kill(helper, SIGKILL);
	g_assert_cmpint(waitpid(helper, NULL, 0), ==, helper);
	close(done[1]);
	g_assert_cmpint(write(go[1], "g", 1), ==, 1);
	g_assert_cmpint(read(done[0], &byte, 1), ==, 1);
	g_assert_cmpint(byte, ==, 'd');
	for (int i = 0; i < 2; i++) {		/* the program, and the process that reads */
		g_assert_cmpint(waitpid(-1, &status, 0), >, 0);
		g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	g_assert_cmpint(waitpid(-1, &status, 0), ==, -1);
	close(go[0]);
	close(go[1]);
	close(done[0]);
}

/* A child that the program left holds the pipe: what was printed until now is there. */
static void test_left_child(void)
{
	int fd;
	struct program_output *o = begin(&fd);

	g_assert_true(write_all(fd, "before\n", 7));
	g_autofree char *text = program_output_text(o, "prog");
	g_assert_cmpstr(text, ==, "the output of prog:\nbefore\n");
	g_assert_true(write_all(fd, "after\n", 6));
	program_output_free(o);
	close(fd);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/program-output/little", test_little);
	g_test_add_func("/program-output/last-lines", test_last_lines);
	g_test_add_func("/program-output/long-line", test_long_line);
	g_test_add_func("/program-output/endless", test_endless);
	g_test_add_func("/program-output/helper-killed", test_helper_killed);
	g_test_add_func("/program-output/left-child", test_left_child);
	return g_test_run();
}
