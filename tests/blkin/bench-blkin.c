/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an annotation costs: nanoseconds of the calling thread's CPU time, on a line.
 * Requests of a root and a child with four annotations each, as BlkKin's author measured.
 * With a file each request is one of that author's application: 64 KiB written and synced,
 * with 113 annotations; printed is the time of a request on the wall. With "work" nothing is
 * synced, but each request has the same work to do, and printed is the CPU time of a request
 * of the whole process, the tracer's threads included.
 *
 *     bench-blkin REQUESTS [FILE [work]]
 */
#include "blkin.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ANNOTATIONS 8			/* a request */
#define BLOCK (64 << 10)
#define BLOCKS 64			/* of the file */
#define ANNOTATIONS_APP 113
#define ROUNDS 8			/* of work over a block */

static int file = -1, works;
static char block[BLOCK];
static uint32_t sum;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(works ? CLOCK_PROCESS_CPUTIME_ID : file >= 0 ? CLOCK_MONOTONIC :
		      CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A share of it: the annotations are between, as a program has them. */
static void work(int share, int shares)
{
	size_t from = (size_t)BLOCK * (size_t)share / (size_t)shares;
	size_t to = (size_t)BLOCK * (size_t)(share + 1) / (size_t)shares;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = from; i < to; i++)
			sum = (sum ^ (uint8_t)block[i]) * 16777619u;
	block[from] = (char)sum;
}

static void write_block(struct blkin_trace *t, int i)
{
	for (int k = ANNOTATIONS; k < ANNOTATIONS_APP; k++) {
		if (works)
			work(k - ANNOTATIONS, ANNOTATIONS_APP - ANNOTATIONS);
		BLKIN_TIMESTAMP(t, NULL, "step");
	}
	if (pwrite(file, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) != BLOCK || (!works && fdatasync(file)))
		abort();
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
	if (file >= 0)
		write_block(&child, i);
	BLKIN_TIMESTAMP(&child, NULL, "ss");
	BLKIN_KEYVAL_STRING(&root, NULL, "answer", "done");
	BLKIN_KEYVAL_INTEGER(&root, NULL, "bytes", 4096);
	BLKIN_TIMESTAMP(&root, NULL, "cr");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000;
	struct blkin_endpoint client, server;

	if (argc > 2)
		file = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (argc > 2 && file < 0) {
		perror(argv[2]);
		return 1;
	}
	works = argc > 3;
	blkin_init_endpoint(&client, "192.0.2.1", 80, "client");
	blkin_init_endpoint(&server, "192.0.2.2", 81, "server");
	blkin_init();
	for (int i = 0; i < (file >= 0 ? BLOCKS : 1); i++)
		request(&client, &server, i);
	double begin = now_ns();
	for (int i = 0; i < n; i++)
		request(&client, &server, i);
	printf("%.1f\n", (now_ns() - begin) / ((double)n * (file >= 0 ? 1 : ANNOTATIONS)));
	return 0;
}
