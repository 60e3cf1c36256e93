/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an annotation costs: nanoseconds of the calling thread, on a line. Requests of a
 * root and a child with four annotations each, as BlkKin's author measured.
 *
 *     bench-blkin REQUESTS
 */
#include "blkin.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ANNOTATIONS 8			/* a request */

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void request(struct blkin_endpoint *client, struct blkin_endpoint *server, int i)
{
	struct blkin_trace root, child;

	blkin_init_new_trace(&root, "write", client);
	BLKIN_TIMESTAMP(&root, NULL, "cs");
	blkin_init_child(&child, &root, server, "store");
	BLKIN_TIMESTAMP(&child, NULL, "sr");
	BLKIN_KEYVAL_STRING(&child, NULL, "object", "volume-17");
	BLKIN_KEYVAL_INTEGER(&child, NULL, "offset", (int64_t)i * 4096);
	BLKIN_TIMESTAMP(&child, NULL, "ss");
	BLKIN_KEYVAL_STRING(&root, NULL, "answer", "done");
	BLKIN_KEYVAL_INTEGER(&root, NULL, "bytes", 4096);
	BLKIN_TIMESTAMP(&root, NULL, "cr");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000;
	struct blkin_endpoint client, server;

	blkin_init_endpoint(&client, "192.0.2.1", 80, "client");
	blkin_init_endpoint(&server, "192.0.2.2", 81, "server");
	blkin_init();
	request(&client, &server, 0);
	double begin = now_ns();
	for (int i = 0; i < n; i++)
		request(&client, &server, i);
	printf("%.1f\n", (now_ns() - begin) / ((double)n * ANNOTATIONS));
	return 0;
}
