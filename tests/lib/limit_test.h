/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of rows of base/limits.h: "/limit/ID" for each. A test says whether the program takes input of the
 * size n as if there was no limit, and asserts what the row promises where it does not.
 */
#ifndef TESTS_LIB_LIMIT_TEST_H
#define TESTS_LIB_LIMIT_TEST_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limit_test {
	const char *id;
	bool (*takes)(uint64_t n);
	uint64_t above;			/* the smallest n above the limit; 0: limit + 1 */
};

/* Adds them to GLib's tests: the limit is taken, and what is above it is not. `tests` stays. */
void limit_tests_add(const struct limit_test *tests, size_t n);

/* For `takes`: true without an error; else asserts that its message has these words, and false. */
bool limit_taken(const GError *error, const char *words);

#endif
