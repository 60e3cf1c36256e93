/* SPDX-License-Identifier: GPL-2.0-only */
/* Screens with several tables: see panes.h. */
#include "ui/panes.h"

static void enter_pane(struct place *p, int pane, bool at_end)
{
	struct focus f = place_pane(p, pane);

	p->pane = pane;
	table_move(f.table, f.rows, at_end ? (long)f.rows->rows->len : -(long)f.rows->rows->len);
}

/* Up and down go through all tables. */
static bool cross(struct place *p, int direction)
{
	struct focus f = place_focus(p);
	int n = (int)place_n_panes(p->view);
	bool at_edge = direction < 0 ? f.table->cursor == 0 :
		table_next(f.table, f.table->cursor) >= f.rows->rows->len;

	if (!at_edge)
		return false;
	for (int i = (int)p->pane + direction; i >= 0 && i < n; i += direction) {
		if (place_pane(p, i).rows->rows->len) {
			enter_pane(p, i, direction < 0);
			break;
		}
	}
	return true;
}

static void to_end(struct place *p, bool bottom)
{
	int n = (int)place_n_panes(p->view);

	for (int k = 0; k < n; k++) {
		int i = bottom ? n - 1 - k : k;

		if (place_pane(p, i).rows->rows->len) {
			enter_pane(p, i, bottom);
			return;
		}
	}
}

bool panes_command(struct app *app, struct place *p, enum command_id id)
{
	if (id == CMD_TOP || id == CMD_BOTTOM) {
		to_end(p, id == CMD_BOTTOM);
		return true;
	}
	if (id == CMD_UP || id == CMD_PAGE_UP)
		return cross(p, -1);
	return (id == CMD_DOWN || id == CMD_PAGE_DOWN) && cross(p, 1);
}

void panes_share(struct place *p, unsigned room, const enum pane *order, size_t n, unsigned ret[PANE_N])
{
	unsigned given = 0;

	for (unsigned i = 0; i < PANE_N; i++)
		ret[i] = 0;
	/* One row at a time, in order. */
	for (bool any = true; any && given < room;) {
		any = false;
		for (size_t k = 0; k < n && given < room; k++) {
			if (ret[order[k]] < place_n_lines(p, order[k])) {
				ret[order[k]]++;
				given++;
				any = true;
			}
		}
	}
}
