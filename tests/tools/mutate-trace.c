/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A damaged trace as a directory, for running the program on it:
 *
 *     mutate-trace NUMBER DIR FILE...
 *
 * FILE... are traces as make-seed makes them. One of them, mutated (lib/mutate.h) as the number
 * says, is written below the directory, which is there. The same number makes the same trace.
 */
#include <stdio.h>

#include "lib/mutate.h"

#define MOST_TIMES 3			/* that it is mutated, one time after the other */

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *bytes = NULL;
	gsize n;
	if (argc < 4) {
		fputs("mutate-trace NUMBER DIR FILE...\n", stderr);
		return 2;
	}
	g_autoptr(GRand) r = g_rand_new_with_seed((guint32)g_ascii_strtoull(argv[1], NULL, 10));
	if (!g_file_get_contents(argv[3 + mutate_pick(r, (unsigned)argc - 3)], &bytes, &n, &error))
		g_error("%s", error->message);
	g_autoptr(blk_bundle) b = bundle_parse((const uint8_t *)bytes, n);
	for (unsigned times = 1 + mutate_pick(r, MOST_TIMES); times > 0; times--)
		mutate_trace(b, r);
	bundle_save(b, argv[2]);
	return 0;
}
