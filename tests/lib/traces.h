/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings as the model sees them. */
#ifndef BLK_TESTS_TRACES_H
#define BLK_TESTS_TRACES_H

#include "lib/sources.h"

/* Is it one of the long recordings, which tests that read all of them many times leave to make check-long (ALL=1)? With
 * the address sanitizer everything takes five times as long, and it looks for what any recording shows: there the
 * longest are left out always. */
static inline bool traces_too_long(const char *name)
{
	static const char *const some[] = { "demo/", "live/", "rotation/", "mix1/", "ctf2/demo/", "public/" };
	size_t n = g_getenv("ALL") ? 0 : G_N_ELEMENTS(some);
#ifdef __SANITIZE_ADDRESS__
	n = MAX(n, 2);
#endif
	for (size_t i = 0; i < n; i++)
		if (g_str_has_prefix(name, some[i]))
			return true;
	return false;
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
