/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tests find recordings, and temporary copies of them. */
#ifndef BLK_TEST_TRACES_H
#define BLK_TEST_TRACES_H

#include <glib.h>

/*
 * The path of a recording, as new string: "demo/trace" below $BLKTOP_TEST_TRACES,
 * by default tests/traces of the source tree; "public/..." (recordings of others,
 * not part of the source) below ../shared/traces of it. NULL, and the test marked
 * as skipped, where it is not there.
 */
char *test_trace(const char *name);

char *test_temp_dir(void);				/* new, empty */
void test_copy_tree(const char *from, const char *to);	/* `to` is made */
void test_remove_tree(const char *path);		/* frees nothing */

#endif
