/* SPDX-License-Identifier: GPL-2.0-only */
/* Cycles of spans: see span_cycles.h. */
#include "state/store/span_cycles.h"

#include <glib.h>

static void break_cycle(int *parent, int member)
{
	for (int k = member, next; k >= 0; k = next) {
		next = parent[k];
		parent[k] = -1;
	}
}

void span_break_cycles(int *parent, int n)
{
	g_autofree int *mark = g_new0(int, n);		/* 0: not visited; else 1 + the span where that walk began */

	for (int i = 0; i < n; i++) {
		int k = i;
		while (k >= 0 && !mark[k]) {
			mark[k] = i + 1;
			k = parent[k];
		}
		if (k >= 0 && mark[k] == i + 1)
			break_cycle(parent, k);
	}
}
