/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main() of a fuzz target without the fuzzer: each file given, or in a directory given, is one
 * input. Says what it reads, so that the last line names what breaks it.
 *
 *     fuzz-trace FILE...
 *     fuzz-trace -runs=N [-seed=S] [-max_len=BYTES] FILE...
 *
 * With -runs the files are seeds: run i mutates one of them, with the target's own mutator where it
 * has one, with random number S + i. The input that breaks it is written to crash-NUMBER.
 */
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"

#define MOST_SECONDS 20			/* of one input */
#define SAY_EVERY 10000

#pragma weak LLVMFuzzerInitialize
#pragma weak LLVMFuzzerCustomMutator
#pragma weak LLVMFuzzerCustomCrossOver
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* ---- files ---- */

static void test(const uint8_t *bytes, size_t size)
{
	/* Memory of exactly that size: a byte behind it is a finding. */
	g_autofree uint8_t *exact = g_malloc(size ? size : 1);
	memcpy(exact, bytes, size);
	LLVMFuzzerTestOneInput(exact, size);
}

static void see_file(const char *path, void (*see)(void *data, const char *path, const uint8_t *bytes, size_t n), void *data)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *below = g_build_filename(path, name, NULL);
		see_file(below, see, data);
	}
	if (dir)
		return;
	g_autofree char *bytes = NULL;
	g_autoptr(GError) error = NULL;
	gsize size;
	if (!g_file_get_contents(path, &bytes, &size, &error)) {
		fprintf(stderr, "%s\n", error->message);
		exit(2);
	}
	see(data, path, (const uint8_t *)bytes, size);
}

static void replay(void *n, const char *path, const uint8_t *bytes, size_t size)
{
	fprintf(stderr, "%s\n", path);
	test(bytes, size);
	++*(unsigned *)n;
}

/* ---- many runs ---- */

static struct run {
	uint8_t *bytes;
	size_t size;
	unsigned number;
	char path[64];
} now;

static void keep_input(void)
{
	int fd = open(now.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd >= 0 && write(fd, now.bytes, now.size) == (ssize_t)now.size)
		close(fd);
}

static void on_signal(int number)
{
	keep_input();
	signal(number, SIG_DFL);
	raise(number);
}

/* What a target without a mutator of its own gets: bytes change, go, come again. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	for (int n = g_random_int_range(1, 9); n > 0 && size; n--) {
		size_t at = g_random_int() % size, most = 1 + g_random_int() % 16, many = MIN(most, size - at);
		switch (g_random_int_range(0, 4)) {
		case 0:
			size -= many;
			memmove(data + at, data + at + many, size - at);
			break;
		case 1:
			if (size + many > max_size)
				break;
			memmove(data + at + many, data + at, size - at);
			size += many;
			break;
		case 2:
			data[at] ^= (uint8_t)(1u << g_random_int_range(0, 8));
			break;
		default:
			data[at] = (uint8_t)g_random_int();
		}
	}
	return size;
}

static void keep_seed(void *seeds, const char *path, const uint8_t *bytes, size_t size)
{
	g_ptr_array_add(seeds, g_bytes_new(bytes, size));
}

static void mutate(GPtrArray *seeds, GRand *r, size_t max_size)
{
	gsize n, n_other;
	const void *bytes = g_bytes_get_data(g_ptr_array_index(seeds, g_rand_int(r) % seeds->len), &n);
	const void *other = g_bytes_get_data(g_ptr_array_index(seeds, g_rand_int(r) % seeds->len), &n_other);
	now.size = MIN(n, max_size);
	if (now.size)
		memcpy(now.bytes, bytes, now.size);
	if (LLVMFuzzerCustomCrossOver && !g_rand_int_range(r, 0, 8))
		now.size = LLVMFuzzerCustomCrossOver(bytes, n, other, n_other, now.bytes, max_size, g_rand_int(r));
	if (LLVMFuzzerCustomMutator)
		now.size = LLVMFuzzerCustomMutator(now.bytes, now.size, max_size, g_rand_int(r));
	else
		now.size = LLVMFuzzerMutate(now.bytes, now.size, max_size);
}

static void run_many(GPtrArray *seeds, unsigned runs, unsigned seed, size_t max_size)
{
	static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGTRAP };
	gint64 begun = g_get_real_time();	/* a target may have a monotonic clock of its own */
	now.bytes = g_malloc(max_size);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep_input);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		if (!__sanitizer_set_death_callback || signals[i] == SIGABRT || signals[i] == SIGALRM)
			signal(signals[i], on_signal);
	for (unsigned i = 0; i < runs; i++) {
		g_autoptr(GRand) r = g_rand_new_with_seed(seed + i);
		g_random_set_seed(seed + i);
		now.number = seed + i;
		snprintf(now.path, sizeof now.path, "crash-%u", now.number);
		mutate(seeds, r, max_size);
		alarm(MOST_SECONDS);
		test(now.bytes, now.size);
		if (i + 1 == runs || (i + 1) % SAY_EVERY == 0)
			fprintf(stderr, "%u runs, up to random number %u, %.0f a second\n", i + 1, now.number,
				(i + 1) * 1e6 / (double)(g_get_real_time() - begun + 1));
	}
	alarm(0);
	g_free(now.bytes);
	now.bytes = NULL;
	now.size = 0;
}

int main(int argc, char **argv)
{
	unsigned n = 0, runs = 0, seed = 1, max_size = 65536;
	g_autoptr(GPtrArray) seeds = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		if (*argv[i] == '-' && !sscanf(argv[i], "-runs=%u", &runs) && !sscanf(argv[i], "-seed=%u", &seed) &&
		    !sscanf(argv[i], "-max_len=%u", &max_size)) {
			fprintf(stderr, "unknown option %s\n", argv[i]);
			return 2;
		}
	for (int i = 1; i < argc; i++) {
		if (*argv[i] == '-')
			continue;
		if (runs)
			see_file(argv[i], keep_seed, seeds);
		else
			see_file(argv[i], replay, &n);
	}
	if (runs && seeds->len)
		run_many(seeds, n = runs, seed, max_size);
	printf("%u inputs\n", n);
	return n ? 0 : 2;
}
