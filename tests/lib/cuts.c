/* SPDX-License-Identifier: GPL-2.0-only */
/* See cuts.h. */
#include "lib/inspect.h"
#include "lib/sources.h"
#include "lib/cuts.h"

#include "lib/report.h"

#include <string.h>

#define STEP INT64_C(1000000000)

struct slice *cuts_slice(const struct recording *r, size_t from, size_t to, bool from_start)
{
	struct slice *s = slice_new(from_start, STEP);
	for (size_t i = 0; i < from; i++) {
		const struct blk_event *e = recording_event(r, i);
		bool open = e->row == BLK_ROW_LOST_BEGIN;
		for (size_t k = i + 1; open && k < from; k++)
			open = recording_event(r, k)->row != BLK_ROW_LOST_END;
		struct blk_loss loss;
		if (!open)
			continue;
		memcpy(&loss, e->data, sizeof loss);
		slice_begin_lost(s, recording_tables(r), e->stream, &loss);
	}
	for (size_t i = from; i < to; i++)
		slice_feed(s, recording_tables(r), recording_event(r, i), 1);
	return s;
}

/* In two everywhere, in three at every third event, the left two or the right two first in turn; with the address
 * sanitizer, which takes five times as long, at every seventh. BLKTOP_CUTS_STRIDE=1: at every event in both orders. */
static size_t stride(void)
{
	const char *given = g_getenv("BLKTOP_CUTS_STRIDE");
	if (given)
		return MAX((size_t)g_ascii_strtoull(given, NULL, 10), 1);
#ifdef __SANITIZE_ADDRESS__
	return 7;
#else
	return 3;
#endif
}

/* In three at these events (or two), the left two stitched first, or the right two. */
static void check_cut(const char *name, const struct recording *r, size_t i, size_t k,
		      const char *whole, bool left_first)
{
	size_t n = recording_n(r);
	struct slice *a = cuts_slice(r, 0, i, k & 1), *b = k > i ? cuts_slice(r, i, k, false) : NULL;
	struct slice *c = cuts_slice(r, k, n, false);
	if (b && left_first)
		a = slice_stitch(a, b);
	else if (b)
		c = slice_stitch(b, c);
	g_autofree char *got = report_of_slice(slice_root(slice_stitch(a, c)));
	g_autofree char *what = g_strdup_printf("%s cut at %zu %zu, %s first", name, i, k,
						left_first ? "left" : "right");
	report_assert_equal(what, whole, got);
}

void cuts_check(const char *name, const struct recording *r)
{
	size_t n = recording_n(r), step = stride();
	g_autofree char *whole = report_of_slice(cuts_slice(r, 0, n, true));
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k < n; k += k > i ? step : 1) {
			bool left_first = k > i && (i + (k - i) / step) % 2;	/* of two there is but one order */
			check_cut(name, r, i, k, whole, left_first);
			if (k > i && step == 1)
				check_cut(name, r, i, k, whole, !left_first);
		}
}
