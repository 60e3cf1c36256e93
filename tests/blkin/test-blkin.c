/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libblkin without a session: ids, sampling, forks, packing, wrong arguments. TAP; run by
 * tests/cli/blkin.sh with several environments.
 *
 *     test-blkin            all
 *     test-blkin rate N     how many of 1000 * N root spans are sampled, on a line
 *     test-blkin init       what blkin_init() says, and the rest as if it were there
 */
#include "blkin.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDS 20000
#define THREADS 4

static int n_tests, n_failed;

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++n_tests, what);
	n_failed += !good;
}

/* ---- ids ---- */

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static bool are_unique(int64_t *ids, size_t n)
{
	qsort(ids, n, sizeof *ids, compare_ids);
	for (size_t i = 0; i < n; i++)
		if (ids[i] == 0 || (i > 0 && ids[i] == ids[i - 1]))
			return false;
	return true;
}

/* Two ids a root: its own and its trace's. */
static void draw(int64_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i += 2) {
		struct blkin_trace t;
		blkin_init_new_trace(&t, "t", NULL);
		ids[i] = t.info.trace_id;
		ids[i + 1] = t.info.span_id;
	}
}

static void *draw_thread(void *ids)
{
	draw(ids, IDS);
	return NULL;
}

static void check_threads(void)
{
	static int64_t ids[THREADS][IDS];
	pthread_t threads[THREADS];
	int64_t all = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, draw_thread, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(are_unique(ids[0], THREADS * IDS), "ids of several threads are unique, and not 0");
	for (int i = 0; i < THREADS * IDS; i++)
		all |= ids[i / IDS][i % IDS];
	ok(all == -1, "every bit of them is used");
}

enum way { BY_FORK, BY_CLONE };

static pid_t multiply(enum way way)
{
	return way == BY_FORK ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Children that begin with what their parent has left in its pool. */
static void check_children(enum way way, const char *what)
{
	enum { CHILDREN = 4, EACH = 100 };
	static int64_t ids[CHILDREN + 1][EACH];
	int64_t first[2];
	int pipes[2];
	bool good = pipe(pipes) == 0;

	draw(first, 2);
	for (int c = 0; c < CHILDREN && good; c++) {
		pid_t pid = multiply(way);
		if (pid == 0) {
			draw(ids[c], EACH);
			_exit(write(pipes[1], ids[c], sizeof ids[c]) != sizeof ids[c]);
		}
		int status = 1;
		good = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 &&
		       read(pipes[0], ids[c], sizeof ids[c]) == sizeof ids[c];
	}
	close(pipes[0]);
	close(pipes[1]);
	draw(ids[CHILDREN], EACH);
	ok(good && are_unique(ids[0], (CHILDREN + 1) * EACH), what);
}

/* Several threads may be the first to need the tracer. */
static void *record_first(void *wrong)
{
	struct blkin_trace t;
	struct blkin_annotation a;

	blkin_init_new_trace(&t, "first", NULL);
	blkin_init_timestamp_annotation(&a, "sr", NULL);
	if (blkin_record(&t, &a) != 0)
		*(bool *)wrong = true;
	return NULL;
}

static void check_first_use(void)
{
	pthread_t threads[THREADS * 2];
	bool wrong[THREADS * 2] = { false }, any = false;

	for (int i = 0; i < THREADS * 2; i++)
		pthread_create(&threads[i], NULL, record_first, &wrong[i]);
	for (int i = 0; i < THREADS * 2; i++) {
		pthread_join(threads[i], NULL);
		any |= wrong[i];
	}
	ok(!any, "several threads load the tracer at once");
}

/* ---- spans ---- */

static void check_spans(void)
{
	struct blkin_endpoint here, there;
	struct blkin_trace root, child, grandchild;

	blkin_init_endpoint(&here, "192.0.2.1", 80, "here");
	blkin_init_endpoint(&there, "192.0.2.2", 81, "there");
	ok(strcmp(here.ip, "192.0.2.1") == 0 && here.port == 80 && strcmp(here.name, "here") == 0,
	   "an endpoint");
	blkin_init_new_trace(&root, "root", &here);
	ok(root.info.parent_span_id == 0 && root.trace_endpoint == &here && blkin_is_sampled(&root),
	   "a root");
	blkin_init_child(&child, &root, NULL, "child");
	ok(child.info.trace_id == root.info.trace_id &&
	   child.info.parent_span_id == root.info.span_id &&
	   child.info.span_id != root.info.span_id && child.trace_endpoint == &here,
	   "a child, at its parent's endpoint");
	blkin_init_child_info(&grandchild, &child.info, &there, "grandchild");
	ok(grandchild.info.trace_id == root.info.trace_id &&
	   grandchild.info.parent_span_id == child.info.span_id &&
	   grandchild.trace_endpoint == &there, "a child of ids, elsewhere");
	blkin_init_child_info(&child, &child.info, &there, "again");
	ok(child.info.trace_id == root.info.trace_id && child.info.parent_span_id ==
	   grandchild.info.parent_span_id, "a child in its parent's place");
}

static void check_packing(void)
{
	const struct blkin_trace_info info = { 0x0102030405060708, -2, INT64_MIN };
	static const unsigned char want[24] = {
		1, 2, 3, 4, 5, 6, 7, 8, 255, 255, 255, 255, 255, 255, 255, 254, 128,
	};
	struct blkin_trace_info_packed packed;
	struct blkin_trace_info back;

	blkin_pack_trace_info(&info, &packed);
	ok(sizeof packed == 24 && memcmp(packed.bytes, want, 24) == 0, "packed, most significant first");
	blkin_unpack_trace_info(&packed, &back);
	ok(memcmp(&info, &back, sizeof info) == 0, "and back");
}

static void check_unsampled(void)
{
	struct blkin_trace none = { .name = "none" }, child;
	struct blkin_annotation a;

	ok(blkin_init_child(&child, &none, NULL, "c") == 0 && !blkin_is_sampled(&child) &&
	   child.info.span_id == 0, "below what is not sampled nothing is");
	blkin_init_timestamp_annotation(&a, "sr", NULL);
	ok(blkin_record(&child, &a) == 0, "recording it is fine");
}

static void check_errors(void)
{
	struct blkin_trace t = { .name = "t", .info = { 1, 2, 0 } };
	struct blkin_trace_info info;
	struct blkin_trace_info_packed packed;
	struct blkin_annotation a = { .type = (blkin_annotation_type)77, .key = "k" };
	bool records = blkin_init() == 0;

	ok(blkin_init_endpoint(NULL, "", 1, "") == -EINVAL &&
	   blkin_init_new_trace(NULL, "", NULL) == -EINVAL &&
	   blkin_init_child(&t, NULL, NULL, "") == -EINVAL &&
	   blkin_init_child_info(NULL, &info, NULL, "") == -EINVAL &&
	   blkin_get_trace_info(&t, NULL) == -EINVAL && blkin_set_trace_info(NULL, &info) == -EINVAL &&
	   blkin_pack_trace_info(NULL, &packed) == -EINVAL &&
	   blkin_unpack_trace_info(&packed, NULL) == -EINVAL, "spans without what they need");
	ok(blkin_record(&t, &a) == (records ? -EINVAL : 0), "an annotation of no known kind");
	ok(blkin_init_timestamp_annotation(&a, NULL, NULL) == -EINVAL &&
	   blkin_init_string_annotation(&a, "k", NULL, NULL) == -EINVAL &&
	   blkin_init_integer_annotation(NULL, "k", 1, NULL) == -EINVAL &&
	   blkin_set_level(NULL, 1) == -EINVAL && blkin_record(NULL, &a) == -EINVAL &&
	   blkin_record(&t, NULL) == -EINVAL, "annotations without what they need");
	t.name = NULL;
	blkin_init_integer_annotation(&a, "k", 1, NULL);
	ok(blkin_record(&t, &a) == 0, "no names at all are fine");
}

static int print_rate(int n)
{
	int sampled = 0;
	for (int i = 0; i < 1000 * n; i++) {
		struct blkin_trace t;
		blkin_init_new_trace(&t, "t", NULL);
		sampled += blkin_is_sampled(&t);
	}
	printf("%d\n", sampled);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "rate") == 0)
		return print_rate(atoi(argv[2]));
	if (argc == 2 && strcmp(argv[1], "init") == 0) {
		printf("%d\n", blkin_init());
		check_errors();
		return n_failed != 0;
	}
	check_first_use();
	check_threads();
	check_children(BY_FORK, "ids of forked children are their own");
	check_children(BY_CLONE, "so are those of children made without the library's knowing");
	check_spans();
	check_packing();
	check_unsampled();
	check_errors();
	printf("1..%d\n", n_tests);
	return n_failed != 0;
}
