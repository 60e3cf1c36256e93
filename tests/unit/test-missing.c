/* SPDX-License-Identifier: GPL-2.0-only */
/* What is said of what is missing. */
#include "base/missing.h"

#include <string.h>

static void says(struct missing m, const char *wanted)
{
	g_autofree char *text = missing_text(&m);
	g_assert_cmpstr(text, ==, wanted);
	g_assert_true(missing_is_any(&m) == (wanted != NULL));
}

static void test_text(void)
{
	says((struct missing){ .behind_ns = -1 }, NULL);
	says((struct missing){ .behind_ns = 5000000000 }, NULL);
	says((struct missing){ .behind_ns = -1, .ends_unknown = 7, .unread_packets = 1 }, NULL);
	says((struct missing){ .behind_ns = -1, .left_packets = 1, .left_bytes = 4096 },
	     "incomplete: 1 packet (4.0K) that the relay announced did not come");
	says((struct missing){ .behind_ns = 5000000000, .ended_early = 2 },
	     "incomplete: 2 streams ended before the session did; 5.00s behind");
	says((struct missing){ .behind_ns = -1, .left_packets = 12, .left_bytes = 3 << 20, .ended_early = 1,
			       .gave_up = true, .why = "the relay is gone" },
	     "incomplete: the relay is gone; 12 packets (3.0M) that the relay announced did not come; "
	     "1 stream ended before the session did");
}

static void test_unknown(void)
{
	struct missing m = { .behind_ns = -1, .left_packets = 1, .ended_early = 2,
			     .gave_up = true, .why = "it is gone" };

	g_assert_null(missing_unknown_text(&m));
	m.ends_unknown = 3;
	g_autofree char *text = missing_unknown_text(&m);
	g_assert_nonnull(strstr(text, "may be missing (ends_unknown: 3)"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/missing/text", test_text);
	g_test_add_func("/missing/unknown", test_unknown);
	return g_test_run();
}
