/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing a text: see output.h. */
#include "cmd/output.h"

#include "app/messages.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

int output_code(int why)
{
	if (why == EPIPE)
		return EXIT_SIGNAL + SIGPIPE;
	log_error("cannot write the output: %s", g_strerror(why));
	return EXIT_FAILED;
}

static int write_stdout(const char *text)
{
	size_t n = strlen(text);
	if (fwrite(text, 1, n, stdout) == n && (n == 0 || text[n - 1] == '\n' ||
	    putchar('\n') != EOF) && fflush(stdout) == 0)
		return EXIT_FINE;
	return output_code(errno);
}

static int write_file(const struct output_options *o, const char *text, const char *what)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;

	if (!export_write_file(o->path, text, strlen(text), o->force, &path, &error))
		return log_failure(error);
	fprintf(stderr, "wrote %s%s%s\n", path, what ? ": " : "", what ? what : "");
	return EXIT_FINE;
}

int output_write(const struct output_options *o, const char *text, const char *what)
{
	bool to_stdout = !o->path || g_str_equal(o->path, "-");
	return to_stdout ? write_stdout(text) : write_file(o, text, what);
}
