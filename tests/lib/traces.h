/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the recordings for tests are. */
#ifndef BLK_TESTS_TRACES_H
#define BLK_TESTS_TRACES_H

#include "trace/reader.h"

/* The directory of a recording below BLKTOP_TEST_TRACES, tests/traces, or the shared
 * traces beside the source tree; NULL (and the test is skipped with a reason) where
 * it is absent. Free with g_free. */
char *traces_find(const char *name);

/* All its records with the model's subscriptions. Asserts that it can be read. */
struct recording *traces_record(const char *name);	/* NULL: skipped */

#endif
