/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings as the model sees them. */
#ifndef BLK_TESTS_TRACES_H
#define BLK_TESTS_TRACES_H

#include "trace/reader.h"

/* All records of a recording (named as test_trace() takes it) with the model's
 * subscriptions. Asserts that it can be read. NULL: it is not here, and the test is
 * marked as skipped. */
struct recording *traces_record(const char *name);
/* The same with those that count all events by thread. */
struct recording *traces_record_counting(const char *name);
/* The records of a script (source_open_script()) for slices. Asserts that it is one. */
struct recording *traces_record_script(const char *script);

#endif
