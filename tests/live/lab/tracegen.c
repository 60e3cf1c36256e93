/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plays the part of traced programs: fires the events of a plan, in its threads, in its order.
 *
 *     tracegen PLAN SHARED PROCESS
 *
 * PLAN is text; each process of it is a tracegen of its own. SHARED is a file of zeros with room for struct shared,
 * which the processes of a plan have in common. The words of a line are separated by tabs:
 *
 *     T PROCESS NAME          the lines that follow are a thread of that process; NAME is its name
 *     E EVENT VALUE...        fires the event. A value @N is what the register N has; addresses are A,B,C; bytes are
 *                             16 hexadecimal digits, repeated
 *     N REGISTER              sets the register to the wall clock's time, ns
 *     S COUNTER               adds one to the counter
 *     W COUNTER NUMBER        waits until the counter has the number
 *     U MICROSECONDS          waits
 *
 * Prints a line "thread NUMBER PID TID" for each thread of the process, by its number in the plan, and at the end
 * "register NUMBER VALUE" for each that this process set.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "emit.h"

#define MAX_ARGUMENTS 10
#define MAX_WORDS (MAX_ARGUMENTS + 2)
#define MAX_THREADS 64
#define N_SHARED 8192

struct shared {
	_Atomic int64_t counters[N_SHARED], registers[N_SHARED];
};

struct player {
	pthread_t id;
	int number;			/* in the plan */
	char *name;
	char **lines;			/* of the plan, with the first that is not of the thread */
	size_t n_lines;
};

static struct shared *shared;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noreturn)) static void fail(const char *what, const char *of)
{
	fprintf(stderr, "tracegen: %s: %s\n", what, of);
	exit(1);
}

static void wait_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static size_t shared_index(const char *text)
{
	size_t i = strtoul(text, NULL, 10);

	if (i >= N_SHARED)
		fail("no such counter or register", text);
	return i;
}

static void print_register(size_t i)
{
	pthread_mutex_lock(&output);
	printf("register %zu %lld\n", i, (long long)shared->registers[i]);
	pthread_mutex_unlock(&output);
}

static void set_register(const char *text)
{
	struct timespec t;
	size_t i = shared_index(text);

	clock_gettime(CLOCK_REALTIME, &t);
	shared->registers[i] = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	print_register(i);
}

static int compare_names(const void *name, const void *event)
{
	return strcmp(name, ((const struct event *)event)->name);
}

static struct event sorted[sizeof events / sizeof *events];

static int compare_events(const void *a, const void *b)
{
	return strcmp(((const struct event *)a)->name, ((const struct event *)b)->name);
}

static struct pointers pointers_of(const char *text)
{
	struct pointers p = { 0 };
	char *end = (char *)text;

	while (*end && p.n < MAX_POINTERS) {
		p.at[p.n++] = strtoull(end, &end, 0);
		end += *end == ',';
	}
	return p;
}

static void fire(char **words, size_t n)
{
	union argument a[MAX_ARGUMENTS];
	struct pointers pointers[MAX_ARGUMENTS];
	char gids[MAX_ARGUMENTS][33];
	const size_t n_events = sizeof sorted / sizeof *sorted;
	const struct event *e = bsearch(words[1], sorted, n_events, sizeof *sorted, compare_names);

	if (!e || strlen(e->letters) != n - 2)
		fail(e ? "the number of values is not the event's" : "no such event", words[1]);
	for (size_t i = 0; i < n - 2; i++) {
		const char *text = words[i + 2];
		if (e->letters[i] == 's')
			a[i].text = text;
		else if (*text == '@')
			a[i].i = shared->registers[shared_index(text + 1)];
		else if (e->letters[i] == 'u')
			a[i].u = strtoull(text, NULL, 0);
		else if (e->letters[i] == 'i')
			a[i].i = strtoll(text, NULL, 0);
		else if (e->letters[i] == 'f')
			a[i].f = strtod(text, NULL);
		else if (e->letters[i] == 'g')
			snprintf(gids[i], sizeof gids[i], "%.16s%.16s", text, text), a[i].text = gids[i];
		else
			pointers[i] = pointers_of(text), a[i].pointers = &pointers[i];
	}
	e->emit(a);
}

static void play(char *line)
{
	char *words[MAX_WORDS], *word;
	size_t n = 0;

	while (n < MAX_WORDS && (word = strsep(&line, "\t")))
		words[n++] = word;
	if (*words[0] == 'E' && n >= 2)
		fire(words, n);
	else if (*words[0] == 'N' && n == 2)
		set_register(words[1]);
	else if (*words[0] == 'S' && n == 2)
		shared->counters[shared_index(words[1])]++;
	else if (*words[0] == 'W' && n == 3)
		while (shared->counters[shared_index(words[1])] < atoll(words[2]))
			wait_us(20);
	else if (*words[0] == 'U' && n == 2)
		wait_us(atol(words[1]));
	else
		fail("not understood", words[0]);
}

static void *run(void *data)
{
	const struct player *p = data;

	prctl(PR_SET_NAME, p->name);
	pthread_mutex_lock(&output);
	printf("thread %d %d %d\n", p->number, getpid(), gettid());
	pthread_mutex_unlock(&output);
	for (size_t i = 0; i < p->n_lines; i++)
		play(p->lines[i]);
	return NULL;
}

static char *text_of(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f || getdelim(&text, &size, '\0', f) < 0)
		fail("cannot be read", path);
	fclose(f);
	return text;
}

/* The threads of the process; the text is cut into lines. */
static size_t read_plan(char *text, const char *process, struct player *players)
{
	size_t n = 0, size = 0;
	int number = 0;
	bool ours = false;

	for (char *line; (line = strsep(&text, "\n")) && *line;) {
		if (*line == 'T') {
			strsep(&line, "\t");
			ours = !strcmp(strsep(&line, "\t"), process);
			if (ours && n == MAX_THREADS)
				fail("too many threads", process);
			if (ours)
				players[n++] = (struct player){ .number = number, .name = line };
			number++;
			size = 0;
		} else if (ours) {
			struct player *p = &players[n - 1];
			if (p->n_lines == size)
				p->lines = realloc(p->lines, (size = size ? 2 * size : 64) * sizeof *p->lines);
			p->lines[p->n_lines++] = line;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct player players[MAX_THREADS];

	if (argc != 4)
		fail("usage", "tracegen PLAN SHARED PROCESS");
	memcpy(sorted, events, sizeof sorted);
	qsort(sorted, sizeof sorted / sizeof *sorted, sizeof *sorted, compare_events);
	int fd = open(argv[2], O_RDWR);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || shared == MAP_FAILED)
		fail("cannot be mapped", argv[2]);
	size_t n = read_plan(text_of(argv[1]), argv[3], players);
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&players[i].id, NULL, run, &players[i]))
			fail("no thread", players[i].name);
	for (size_t i = 0; i < n; i++)
		pthread_join(players[i].id, NULL);
	return fflush(stdout) ? 1 : 0;
}
