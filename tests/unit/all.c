/* SPDX-License-Identifier: GPL-2.0-only */
/* All unit tests of a build in one program: it is the one by whose name it is called, test-NAME. The Makefile names
 * them, UNIT_TESTS, and renames the main() of each. */
#include <stdio.h>
#include <string.h>

#define TEST(name) int main_test_##name(int argc, char **argv);
UNIT_TESTS
#undef TEST

static const struct unit_test {
	const char *name;
	int (*main)(int argc, char **argv);
} tests[] = {
#define TEST(name) { "test_" #name, main_test_##name },
	UNIT_TESTS
#undef TEST
};

/* NAME with - is main_NAME with _. */
static int same_name(const char *called, const char *name)
{
	while (*name && (*called == *name || (*called == '-' && *name == '_')))
		called++, name++;
	return *called == *name;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *called = slash ? slash + 1 : argv[0];

	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		if (same_name(called, tests[i].name))
			return tests[i].main(argc, argv);
	}
	fprintf(stderr, "%s: no such unit test\n", called);
	return 2;
}
