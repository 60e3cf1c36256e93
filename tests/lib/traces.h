/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings as the model sees them. */
#ifndef BLK_TESTS_TRACES_H
#define BLK_TESTS_TRACES_H

#include "lib/sources.h"

/* With the address sanitizer everything takes five times as long, and it looks for what any recording
 * shows: is this one of those that the plain build alone reads, in tests that read it many times? */
static inline bool traces_too_long(const char *name)
{
#ifdef __SANITIZE_ADDRESS__
	return g_str_has_prefix(name, "demo/") || g_str_has_prefix(name, "live/");
#else
	(void)name;
	return false;
#endif
}

/* All records of a recording (named as test_trace() takes it) with the model's
 * subscriptions. Asserts that it can be read. NULL: it is not here, and the test is
 * marked as skipped. */
struct recording *traces_record(const char *name);
/* The same with those that count all events by thread. */
struct recording *traces_record_counting(const char *name);
/* The records of a script (source_open_script()) for slices. Asserts that it is one. */
struct recording *traces_record_script(const char *script);

#endif
