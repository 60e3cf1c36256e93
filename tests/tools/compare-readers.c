/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Are the native reader and babeltrace2 equal?
 *
 *     compare-readers [-e | -r | -p] [-w TABLES] DIR...
 *
 * For the trace directories below each DIR:
 * events (-e): every event of every stream with all of its fields, decoded by our parser
 * and index with the plain walker, and its end by compiled programs of several tables,
 * against babeltrace2.
 * records (-r): what source_open_native() and source_open_bt2() deliver of all of DIR
 * for the same subscription tables: the program's own, none, and ones that ask for all
 * fields (at most -w of them, 4). Both, when neither is said.
 * programs (-p): the ends of the compiled programs against the plain walker alone; no
 * babeltrace2 is asked.
 *
 * What babeltrace2 refuses, or aborts on, or what the native reader leaves to it, cannot
 * be compared: said with the reason, and counted. One line a directory sums up:
 *
 *     events DIR: N events, N streams, N different, N not comparable
 *     records DIR: N records, N streams, N different, N not comparable
 *     programs DIR: N events, N streams, N different, N not comparable
 *
 * Exits with 1 where anything differs, 2 where nothing could be compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/sources.h"
#include "lib/check_events.h"
#include "lib/check_programs.h"
#include "lib/check_records.h"
#include "trace/reader.h"

typedef void (*check_function)(const char *dir, struct check_counts *ret);

/* In a process of its own, as babeltrace2 may abort. */
static void in_child(check_function check, const char *dir, struct check_counts *sum)
{
	int fd[2], status = 0;
	struct check_counts counts = { 0 };
	fflush(stdout);
	if (pipe(fd))
		abort();
	pid_t pid = fork();
	if (pid < 0)
		abort();
	if (!pid) {
		close(fd[0]);
		check(dir, &counts);
		fflush(stdout);
		if (write(fd[1], &counts, sizeof counts) != sizeof counts)
			_exit(3);
		_exit(0);
	}
	close(fd[1]);
	ssize_t got = read(fd[0], &counts, sizeof counts);
	close(fd[0]);
	while (waitpid(pid, &status, 0) < 0)
		;
	if (got != sizeof counts) {
		counts = (struct check_counts){ .refused = 1 };
		/* Only babeltrace2 is known to abort; anything else is our fault. */
		bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
		if (aborted)
			printf("babeltrace2 refuses: %s: it aborts the process\n", dir);
		else
			printf("DIFFERENT %s: the check ended with status %d\n", dir, status);
		counts.different = !aborted;
	}
	sum->events += counts.events;
	sum->streams += counts.streams;
	sum->different += counts.different;
	sum->refused += counts.refused;
}

static void say(const char *what, const char *unit, const char *dir, const struct check_counts *c)
{
	printf("%s %s: %" PRIu64 " %s, %" PRIu64 " streams, %" PRIu64 " different, %" PRIu64
	       " not comparable\n", what, dir, c->events, unit, c->streams, c->different, c->refused);
}

enum { EVENTS = 1 << 0, RECORDS = 1 << 1, PROGRAMS = 1 << 2 };

static int check_dir(const char *dir, unsigned what)
{
	const char *paths[] = { dir, NULL };
	struct check_counts e = { 0 }, r = { 0 }, p = { 0 };
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, &error);
	if (!dirs) {
		fprintf(stderr, "compare-readers: %s\n", error->message);
		return 2;
	}
	for (guint i = 0; i < dirs->len; i++) {
		if (what & EVENTS)
			in_child(check_events, dirs->pdata[i], &e);
		if (what & PROGRAMS)
			in_child(check_programs, dirs->pdata[i], &p);
	}
	if (what & EVENTS)
		say("events", "events", dir, &e);
	if (what & PROGRAMS)
		say("programs", "events", dir, &p);
	if (what & RECORDS) {
		in_child(check_records, dir, &r);
		say("records", "records", dir, &r);
	}
	if (e.different || r.different || p.different)
		return 1;
	return (!e.streams && e.refused) || (!r.streams && r.refused) || (!p.streams && p.refused) ? 2 : 0;
}

int main(int argc, char **argv)
{
	unsigned what = 0;
	int opt, worst = 0;
	while ((opt = getopt(argc, argv, "erpw:")) != -1) {
		if (opt == 'e')
			what |= EVENTS;
		else if (opt == 'r')
			what |= RECORDS;
		else if (opt == 'p')
			what |= PROGRAMS;
		else if (opt == 'w')
			check_records_tables = (unsigned)atoi(optarg);
		else
			return 64;
	}
	if (!what)
		what = EVENTS | RECORDS;
	if (optind == argc) {
		fputs("usage: compare-readers [-e | -r | -p] [-w TABLES] DIR...\n", stderr);
		return 64;
	}
	for (int i = optind; i < argc; i++) {
		int code = check_dir(argv[i], what);
		worst = code == 1 || worst == 1 ? 1 : MAX(worst, code);
	}
	return worst;
}
