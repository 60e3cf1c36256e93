/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output of the followed program while the screen shows (helper_private.h). A process of its own reads it from a
 * pipe, and writes the last bytes into a ring in memory that it shares with the helper. It ends when the last writer
 * has closed the pipe. So a program that goes on when blktop and the helper were killed neither blocks nor gets
 * SIGPIPE.
 */
#include "live/session/helper_private.h"

#include "base/limits.h"
#include "base/timefmt.h"
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READER_END_US (2 * G_USEC_PER_SEC)	/* for the last bytes, if the pipe stays open */
#define LOOK_US 10000

/* In memory that both processes have. */
struct ring {
	_Atomic uint64_t n;		/* bytes of the output so far */
	char bytes[LIMIT_PROGRAM_OUTPUT_BYTES];		/* byte i of the output is at i % their number */
};

struct program_output {
	struct ring *ring;
	pid_t reader;			/* 0: it has ended */
};

G_NORETURN static void read_output(struct ring *r, int from)
{
	uint64_t n = 0;

	prctl(PR_SET_NAME, "blktop-output");
	signal(SIGTERM, SIG_IGN);
	/* Retains neither the client's connection, which closes with the helper, nor the pipe's end for writing. */
	dup2(from, 0);
	close_range(1, ~0u, 0);
	for (;;) {
		size_t at = n % sizeof r->bytes;
		ssize_t got = read(0, r->bytes + at, sizeof r->bytes - at);
		if (got > 0)
			atomic_store(&r->n, n += (uint64_t)got);
		else if (got == 0 || errno != EINTR)
			_exit(0);
	}
}

static struct program_output *give_up(struct program_output *o, int fds[2], GError **error)
{
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL, "cannot read the output of the program: %s",
		    g_strerror(errno));
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	program_output_free(o);
	return NULL;
}

struct program_output *program_output_new(int *ret_fd, GError **error)
{
	struct program_output *o = g_new0(struct program_output, 1);
	int fds[2] = { -1, -1 };

	o->ring = mmap(NULL, sizeof *o->ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (o->ring == MAP_FAILED || pipe2(fds, O_CLOEXEC) < 0)
		return give_up(o, fds, error);
	pid_t pid = fork();
	if (pid == 0)
		read_output(o->ring, fds[0]);
	if (pid < 0)
		return give_up(o, fds, error);
	close(fds[0]);
	o->reader = pid;
	*ret_fd = fds[1];
	return o;
}

/* Waits until all was read. A child that the program left may hold the pipe open. */
static void wait_for_reader(struct program_output *o)
{
	gint64 until = g_get_monotonic_time() + READER_END_US;

	while (o->reader && g_get_monotonic_time() < until) {
		if (waitpid(o->reader, NULL, WNOHANG) != 0)
			o->reader = 0;
		else
			g_usleep(LOOK_US);
	}
}

/* The bytes in the ring, the oldest first; without the first line if its beginning is no longer there. */
static GString *last_lines(const struct ring *r, uint64_t n)
{
	GString *s = g_string_new(NULL);
	size_t at = n % sizeof r->bytes;
	bool is_cut = n > sizeof r->bytes;

	if (n >= sizeof r->bytes)
		g_string_append_len(s, r->bytes + at, (gssize)(sizeof r->bytes - at));
	g_string_append_len(s, r->bytes, (gssize)at);
	const char *line = is_cut ? memchr(s->str, '\n', s->len) : NULL;
	if (line && line + 1 < s->str + s->len)
		g_string_erase(s, 0, line + 1 - s->str);
	for (gsize i = 0; i < s->len; i++)
		if (!s->str[i] || s->str[i] == '\t')
			s->str[i] = s->str[i] ? ' ' : '?';
	return s;
}

char *program_output_text(struct program_output *o, const char *program)
{
	char most[TIMEFMT_LEN];

	wait_for_reader(o);
	uint64_t n = atomic_load(&o->ring->n);
	if (n == 0)
		return NULL;
	g_autoptr(GString) lines = last_lines(o->ring, n);
	const char *end = g_str_has_suffix(lines->str, "\n") ? "" : "\n";
	GString *s = g_string_new(NULL);
	g_string_printf(s, "the output of %s:\n%s%s", program, lines->str, end);
	if (n > lines->len)	/* behind it: the beginning may be many lines above */
		g_string_append_printf(s, "the first %" G_GUINT64_FORMAT " bytes of the output of %s are not stored, "
				       "only the last %s (all in a file: blktop -- sh -c 'PROGRAM >FILE 2>&1')\n",
				       n - lines->len, program, timefmt_bytes(most, sizeof o->ring->bytes));
	return g_string_free(s, FALSE);
}

void program_output_free(struct program_output *o)
{
	if (o && o->ring != MAP_FAILED)
		munmap(o->ring, sizeof *o->ring);
	g_free(o);
}
