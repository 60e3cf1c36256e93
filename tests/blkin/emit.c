/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes annotations of every kind and level with libblkin, and prints what it made as
 * lines, in order: PID EVENT LEVEL NAME SERVICE PORT IP TRACE SPAN PARENT KEY[=VALUE].
 *
 *     emit [fork]
 *
 * fork: a child and a thread make the same. It waits for the tracer first, and says
 * "ready" once it is there.
 */
#include "blkin.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct blkin_endpoint web, odd;

static void tell(const struct blkin_trace *t, const struct blkin_endpoint *e, const char *event,
		 int level, const char *key, const char *value)
{
	printf("%d %s %d [%s] [%s] %d [%s] %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " [%s]%s%s\n",
	       getpid(), event, level, t->name, e->name, e->port, e->ip, (uint64_t)t->info.trace_id,
	       (uint64_t)t->info.span_id, (uint64_t)t->info.parent_span_id, key, value ? "=" : "",
	       value ? value : "");
	fflush(stdout);
}

static void make(struct blkin_trace *t, struct blkin_endpoint *e, int level)
{
	char number[32];
	int64_t n = INT64_MIN + level;

	snprintf(number, sizeof number, "%" PRId64, n);
	BLKIN_TIMESTAMP_LEVEL(t, e, level, "sr");
	tell(t, e, "timestamp", level, "sr", NULL);
	BLKIN_KEYVAL_STRING_LEVEL(t, e, level, "key", "val \xc3\xa9");
	tell(t, e, "keyval_string", level, "key", "[val \xc3\xa9]");
	BLKIN_KEYVAL_INTEGER_LEVEL(t, e, level, "n", n);
	tell(t, e, "keyval_integer", level, "n", number);
}

static void *work(void *unused)
{
	static const int levels[] = { BLKIN_ERR, BLKIN_WARNING, BLKIN_NOTICE, BLKIN_INFO, BLKIN_DEBUG };
	struct blkin_trace root, child, half;
	struct blkin_trace_info_packed sent;
	struct blkin_trace_info info;

	(void)unused;
	blkin_init_new_trace(&root, "root", &web);
	blkin_init_child(&child, &root, &odd, "child");
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		make(&root, &web, levels[i]);
		make(&child, &odd, levels[i]);
	}
	blkin_get_trace_info(&child, &info);
	blkin_pack_trace_info(&info, &sent);
	blkin_unpack_trace_info(&sent, &info);
	blkin_init_child_info(&half, &info, &web, "half");
	make(&half, &web, BLKIN_WARNING);
	return NULL;
}

int main(int argc, char **argv)
{
	int forks = argc > 1 && strcmp(argv[1], "fork") == 0;

	blkin_init_endpoint(&web, "192.0.2.1", 80, "web");
	blkin_init_endpoint(&odd, "2001:db8::1", 65535, "odd name");
	if (blkin_init() != 0) {
		fprintf(stderr, "emit: no tracer\n");
		return 1;
	}
	work(NULL);
	if (forks) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
		pid_t child = fork();
		if (child < 0)
			return 1;
		work(NULL);
		if (child == 0)
			_exit(0);
		int status = 0;
		if (waitpid(child, &status, 0) != child || status != 0)
			return 1;
	}
	return 0;
}
