/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps a trace to many small slice files, and merges them as a tree: what a reduce costs beside the maps.
 *
 * Usage: bench-reduce TRACE_DIR SLICES FAN_IN EMPTY_DIR
 *
 * Prints, times are of the CPU: slices, events, map_ms, map_bytes (of all slices); levels, reduce_ms, merged (slices
 * read by all reduces),
 * reduce_bytes (of what they read); last_ms (of the last reduce alone), last_bytes (of its result); peak_mib.
 */
#include "run/map.h"
#include "run/pieces.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STEP INT64_C(1000000000)

static uint64_t events;			/* of all slices that were mapped */

static void die(const GError *error)
{
	fprintf(stderr, "bench-reduce: %s\n", error ? error->message : "?");
	exit(1);
}

static char *path_of(const char *dir, unsigned level, unsigned i)
{
	return g_strdup_printf("%s/%u-%05u.blkslice", dir, level, i);
}

/* Returns the number of bytes. Frees the slice. */
static uint64_t write_slice(struct slice *s, struct slice_piece *piece, const char *path)
{
	g_autoptr(GError) error = NULL;
	uint64_t size;
	int fd = g_open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || !slice_file_write(s, piece, fd, &size, &error) || close(fd) != 0)
		die(error);
	slice_free(s);
	slice_piece_clear(piece);
	return size;
}

static struct slice *map_range(const struct pieces *p, int64_t from, int64_t to)
{
	struct source *source = p->ops->range(p->native, from, to, 8 << 20);
	struct slice *s = pieces_begin_slice(p, source, false, STEP);
	struct blk_batch batch;

	while (source_next(source, &batch, NULL) == SOURCE_OK)
		slice_feed(s, &source->tables, batch.ev, batch.n);
	source_free(source);
	events += slice_n_events(s);
	return s;
}

static uint64_t map_all(const struct pieces *p, unsigned n, const char *dir)
{
	int64_t first, last;
	uint64_t bytes = 0;

	p->ops->bounds(p->native, &first, &last);
	for (unsigned i = 0; i < n; i++) {
		g_autofree char *path = path_of(dir, 0, i);
		struct slice_piece piece = {
			.from = i ? first + (last - first) / n * i : INT64_MIN,
			.to = i + 1 < n ? first + (last - first) / n * (i + 1) : INT64_MAX,
		};
		struct slice *s = map_range(p, piece.from, piece.to);
		bytes += write_slice(s, &piece, path);
	}
	return bytes;
}

/* Merges slices [begin, end) of a level to one of the next. Returns its bytes. */
static uint64_t reduce(const char *dir, unsigned level, unsigned begin, unsigned end, unsigned i)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *to = path_of(dir, level + 1, i);
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };

	for (unsigned k = begin; k < end; k++)
		g_ptr_array_add(paths, path_of(dir, level, k));
	g_ptr_array_add(paths, NULL);
	struct slice *s = slice_file_merge_packed((const char *const *)paths->pdata, &piece, NULL, &error);
	if (!s)
		die(error);
	if (begin == 0 && piece.to == INT64_MAX && slice_n_events(s) != events) {
		fprintf(stderr, "bench-reduce: %" PRIu64 " events of %" PRIu64 "\n", slice_n_events(s), events);
		exit(1);
	}
	uint64_t bytes = write_slice(s, &piece, to);
	for (unsigned k = begin; k < end; k++)
		g_unlink(g_ptr_array_index(paths, k - begin));
	return bytes;
}

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static double since_ms(int64_t begin_us)
{
	return (double)(cpu_us() - begin_us) / 1e3;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	const char *const paths[] = { argv[1], NULL };
	unsigned n = argc == 5 ? (unsigned)atoi(argv[2]) : 0, fan = n ? (unsigned)atoi(argv[3]) : 0;
	unsigned merged = 0, level = 0;
	struct rusage usage;

	if (!n || fan < 2)
		die(NULL);
	struct native *native = native_open(paths, rows, n_rows, &error);
	if (!native)
		die(error);
	while (native_index(native, SIZE_MAX))
		;
	struct pieces p = pieces_native(native);
	int64_t begin = cpu_us(), last = begin;
	uint64_t bytes = map_all(&p, n, argv[4]), read = 0, written = bytes;
	printf("slices %u\nevents %" PRIu64 "\nmap_ms %.1f\nmap_bytes %" PRIu64 "\n", n, events, since_ms(begin),
	       bytes);
	pieces_free(&p);
	for (begin = cpu_us(); n > 1; level++) {
		unsigned next = 0;
		merged += n;
		read += written;
		written = 0;
		for (unsigned i = 0; i < n; i += fan) {
			last = cpu_us();
			written += reduce(argv[4], level, i, MIN(n, i + fan), next++);
		}
		n = next;
	}
	printf("levels %u\nreduce_ms %.1f\nmerged %u\nreduce_bytes %" PRIu64 "\nlast_ms %.1f\nlast_bytes %" PRIu64 "\n",
	       level, since_ms(begin), merged, read, since_ms(last), written);
	getrusage(RUSAGE_SELF, &usage);
	printf("peak_mib %ld\n", usage.ru_maxrss / 1024);
	return 0;
}
