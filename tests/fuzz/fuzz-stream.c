/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream of `record -o -` (live/spool/stream_format.h), any bytes: reading ends, with or without an error.
 *
 * Input: what follows the magic.
 */
#include "fuzz/fuzzer.h"
#include "live/live.h"
#include "live/spool/stream_format.h"

#include <fcntl.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct blk_subscription rows[] = { { .event = "*", .fields = { "*" } } };
	int fds[2];
	g_autoptr(GError) error = NULL;
	enum source_status st;
	struct blk_batch batch;

	if (size > 65536 - STREAM_MAGIC_BYTES)		/* what a pipe holds */
		return 0;
	g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
	g_assert_cmpint(write(fds[1], STREAM_MAGIC, STREAM_MAGIC_BYTES), ==, STREAM_MAGIC_BYTES);
	g_assert_cmpint(write(fds[1], data, size), ==, (ssize_t)size);
	close(fds[1]);
	const struct live_options options = { .stream = fds[0], .from_beginning = true };
	struct source *s = live_open(NULL, 0, &options, rows, G_N_ELEMENTS(rows), NULL);
	while ((st = source_next(s, &batch, &error)) == SOURCE_OK || st == SOURCE_AGAIN)
		;
	g_assert_true(st == SOURCE_END || st == SOURCE_ERROR);
	g_assert_true((st == SOURCE_ERROR) == (error != NULL));
	source_free(s);
	close(fds[0]);
	return 0;
}
