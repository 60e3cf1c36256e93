/* SPDX-License-Identifier: GPL-2.0-only */
/* The two glyph sets: see glyphs.h. */
#include "ui/glyphs.h"

static const struct glyphs ascii = {
	.utf8 = false,
	.cursor = ">",
	.expanded = "v", .collapsed = ">",
	.critical = "*",
	.sort_up = "^", .sort_down = "v",
	.more_up = "^", .more_down = "v",
	.crumb = ">",
	.edge = "|",
	.spark = { " ", ".", ":", "-", "=", "+", "*", "#", "@" },
	.unread = { " ", "'", "\"", "%", "&" },
	.provisional = "~",
	.tag = "*",
	.ended = "x",
	.bar = "#",
	.eighth = { " ", ".", ".", ".", "#", "#", "#", "#", "#" },
	.annotation = "!",
	.message = "-",
};

static const struct glyphs utf8 = {
	.utf8 = true,
	.cursor = "▶",
	.expanded = "▾", .collapsed = "▸",
	.critical = "*",
	.sort_up = "▲", .sort_down = "▼",
	.more_up = "↑", .more_down = "↓",
	.crumb = "›",
	.edge = "│",
	.spark = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
	.unread = { " ", "·", "░", "▒", "▓" },
	.provisional = "~",
	.tag = "●",
	.ended = "†",
	.bar = "█",
	.eighth = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" },
	.annotation = "┊",
	.message = "┄",
};

const struct glyphs *glyphs_get(bool want_utf8)
{
	return want_utf8 ? &utf8 : &ascii;
}
