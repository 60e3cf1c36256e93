/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of commands and keys, and what is made from them: see keys.h. */
#include "ui/keys.h"

#include "ui/ui.h"

#include "base/text.h"
#include "views/rows_format.h"

#include <string.h>

const struct command ui_commands[CMD_N] = {
	[CMD_NONE] = { "none", "", "", "" },
	[CMD_VIEW_1] = { "view-1", "Over", "Views", "Overview: what is slow, in this second" },
	[CMD_VIEW_2] = { "view-2", "Traces", "Views", "Traces: the requests" },
	[CMD_VIEW_3] = { "view-3", "Phases", "Views",
		"Phases: the spans of an operation, summed (of the selected operation)" },
	[CMD_VIEW_4] = { "view-4", "Procs", "Views", "Processes: CPU, waiting, bytes" },
	[CMD_VIEW_5] = { "view-5", "Calls", "Views",
		"Syscalls; from a trace: of the selected span's thread" },
	[CMD_VIEW_6] = { "view-6", "Files", "Views", "Files, sockets and pipes" },
	[CMD_VIEW_7] = { "view-7", "Spans", "Views", "Spans, one by one" },
	[CMD_VIEW_8] = { "view-8", "Serv", "Views", "Services" },
	[CMD_VIEW_9] = { "view-9", "Events", "Views", "Events of the trace, by name" },
	[CMD_VIEW_LIST] = { "view-list", "Views", "Views", "List of all views" },
	[CMD_VIEW_LOG] = { "view-log", "Log", "Views",
		"Log: every call and event from this instant on, of the selected process or thread" },
	[CMD_VIEW_TIMELINE] = { "view-timeline", "lanes", "Views",
		"Timeline: what CPUs and threads did in this range; of tagged rows, of the selected one" },
	[CMD_VIEW_FLAME] = { "view-flame", "flame", "Views",
		"Flame: where the time went, of all or of the selected process, operation or trace" },
	[CMD_VIEW_NEXT] = { "view-next", "next view", "Views", "Next view" },
	[CMD_VIEW_PREV] = { "view-prev", "previous view", "Views", "Previous view" },
	[CMD_DRILL] = { "drill", "open", "Why", "Open the selected row: operation, trace, details" },
	[CMD_BACK] = { "back", "back", "Why",
		"Back; at the top Esc stops loading, q quits" },
	[CMD_GO_BACK] = { "go-back", "before", "Views", "To where you were before: view, time, selection, filter" },
	[CMD_GO_FORTH] = { "go-forth", "after", "Views", "Forth again, after going back" },
	[CMD_BOOKMARK] = { "bookmark", "mark", "Views", "Set a bookmark here, with a note; the note - removes it" },
	[CMD_BOOKMARKS] = { "bookmarks", "marks", "Views", "List of the bookmarks, to go to one" },
	[CMD_WAKER] = { "waker", "waker", "Why",
		"In a waterfall: to the waker of the wait, at that instant; else: who woke the thread" },
	[CMD_PATH] = { "critical-path", "path", "Why",
		"Critical path of the selected span, through all threads that it waited for" },
	[CMD_LONGEST] = { "longest", "longest", "Why", "To the longest child span" },
	[CMD_CHANGED] = { "changed", "changed", "Why",
		"What changed: the range against the quiet time before it, by cause" },
	[CMD_COMPARE] = { "compare", "compare", "Why",
		"Compare two tagged spans, or the selected one with the usual; in What changed: switch the reference" },
	[CMD_STATES] = { "states", "bars", "Why",
		"Draw spans as thread states, as bars, or both" },
	[CMD_EXPORT] = { "export", "JSON", "Output",
		"Export the selected trace or span as Zipkin JSON" },
	[CMD_EXPORT_AS] = { "export-as", "as", "Output",
		"Export as: choose format and what, then the file; recent choices are on top" },
	[CMD_COPY] = { "copy", "copy", "Output",
		"Copy the cause, the row or the tagged rows to the terminal's clipboard" },
	[CMD_SAVE] = { "save", "save", "Output",
		"Save this view, or its tagged rows, as" ROWS_SUFFIXES },
	[CMD_SCREENSHOT] = { "screenshot", "picture", "Output", "Save a picture of this screen, as SVG" },
	[CMD_SAVE_TRACE] = { "save-trace", "trace", "Output",
		"Save the range, or this step, as a CTF trace" },
	[CMD_TIME_BACK] = { "time-back", "back", "Time", "One step back, and pause" },
	[CMD_TIME_FORWARD] = { "time-forward", "forward", "Time", "One step forward" },
	[CMD_TIME_BACK_10] = { "time-back-10", "back", "Time", "Ten steps back, and pause" },
	[CMD_TIME_FORWARD_10] = { "time-forward-10", "forward", "Time", "Ten steps forward" },
	[CMD_GOTO] = { "goto", "time", "Time",
		"Go to a time: 14:03:05, +90s, -2m, 5%, start, end, worst, since" },
	[CMD_GRAPH] = { "graph", "graph", "Time",
		"Next graph of all seconds: requests, CPU, run queue, block I/O, calls" },
	[CMD_PAUSE] = { "pause", "pause", "Time", "Pause or continue" },
	[CMD_FOLLOW] = { "follow", "follow", "Time", "Follow the newest second" },
	[CMD_STEP_FINER] = { "step-finer", "step", "Time", "Finer step: 100 ms, 10 ms, 1 ms" },
	[CMD_STEP_COARSER] = { "step-coarser", "step", "Time", "Coarser step: 10 s, 1 min, 10 min" },
	[CMD_RANGE_A] = { "range-a", "range", "Time", "Begin a range at this second" },
	[CMD_RANGE_B] = { "range-b", "range", "Time", "End the range with this second" },
	[CMD_RANGE_CLEAR] = { "range-clear", "no range", "Time", "Clear the range" },
	[CMD_RANGE_ALL] = { "range-all", "all", "Time", "The whole trace is the range" },
	[CMD_NEXT] = { "next", "jump", "Find",
		"Next match of the search; without a search, next outlier with another cause" },
	[CMD_PREV] = { "previous", "jump back", "Find", "Previous match, or outlier" },
	[CMD_ERROR_NEXT] = { "error-next", "error", "Find", "Next row with an error" },
	[CMD_ERROR_PREV] = { "error-previous", "error", "Find", "Previous row with an error" },
	[CMD_UP] = { "up", "up", "Move", "Up one row" },
	[CMD_DOWN] = { "down", "down", "Move", "Down one row" },
	[CMD_PAGE_UP] = { "page-up", "page up", "Move", "Up one page" },
	[CMD_PAGE_DOWN] = { "page-down", "page down", "Move", "Down one page" },
	[CMD_TOP] = { "top", "top", "Move", "To the first row" },
	[CMD_BOTTOM] = { "bottom", "bottom", "Move", "To the last row" },
	[CMD_SEARCH] = { "search", "search", "Find", "Search in the rows shown" },
	[CMD_FILTER] = { "filter", "filter", "Find",
		"Filter: words, or COLUMN OP VALUE with && || !; empty shows all" },
	[CMD_SORT_LEFT] = { "sort-left", "sort", "Find", "Sort by the column to the left" },
	[CMD_SORT_RIGHT] = { "sort-right", "sort", "Find", "Sort by the column to the right" },
	[CMD_INVERT] = { "invert", "invert", "Find", "Invert the sorting" },
	[CMD_BY] = { "by", "threads", "Find", "Rows by process, thread, host or container" },
	[CMD_TREE] = { "tree", "tree", "Find", "Tree of processes on or off" },
	[CMD_TAG] = { "tag", "tag", "Find",
		"Tag or untag the row: tagged rows are summed, copied, saved" },
	[CMD_UNTAG] = { "untag", "untag", "Find", "Untag all rows" },
	[CMD_ONLY_TAGGED] = { "only-tagged", "tagged", "Find", "Show only tagged rows, or all" },
	[CMD_HIDE] = { "hide", "hide", "Find",
		"Hide kernel threads; again: idle processes and threads, too; again: show all" },
	[CMD_COLUMNS] = { "columns", "columns", "Find",
		"Choose the columns of this view, and their order" },
	[CMD_SORT_MENU] = { "sort-menu", "sort by", "Find",
		"Choose the column to sort by; the same one again inverts the order" },
	[CMD_VIEW_INFO] = { "facts", "facts", "Program",
		"Facts: units and meaning of the columns, needed events, how to record them" },
	[CMD_CLEAR] = { "clear", "clear", "Find",
		"Clear filter and search; if there are none, the sort order" },
	[CMD_ZOOM_IN] = { "zoom-in", "zoom", "Why",
		"Zoom in, around the selected span; in the timeline around the cursor" },
	[CMD_ZOOM_OUT] = { "zoom-out", "zoom", "Why", "Zoom out" },
	[CMD_HEATMAP] = { "heatmap", "heat", "Why",
		"Heatmap: how long what the row is about took, over time" },
	[CMD_DISTRIBUTION] = { "distribution", "distr", "Why",
		"Distribution of it; of two tagged rows side by side" },
	[CMD_SELECT] = { "select", "select", "Why",
		"Begin a rectangle at this cell, then end it: what is different in it; U clears it" },
	[CMD_CURSOR_LEFT] = { "cursor-left", "cursor", "Why", "Cursor to the left: earlier, or the frame there" },
	[CMD_CURSOR_RIGHT] = { "cursor-right", "cursor", "Why", "Cursor to the right: later, or the frame there" },
	[CMD_PAN_LEFT] = { "pan-left", "pan", "Why", "To the left; in tables: of long texts, as in the log" },
	[CMD_PAN_RIGHT] = { "pan-right", "pan", "Why", "To the right, likewise" },
	[CMD_EXPAND] = { "expand", "expand", "Why", "Show the row's children; else idle rows" },
	[CMD_COLLAPSE] = { "collapse", "collapse", "Why", "Hide the row's children; else idle rows" },
	[CMD_EXPAND_ALL] = { "expand-all", "all", "Why", "Show all rows; again: roots only" },
	[CMD_HELP] = { "help", "", "Program", "This help" },
	[CMD_MORE_KEYS] = { "more-keys", "more", "Program", "More keys in the key bar, until the next key" },
	[CMD_EXPLAIN] = { "explain", "explain", "Why",
		"Explain the selected row: columns, letters, states; the right button explains a cell" },
	[CMD_LOG] = { "log", "messages", "Program", "The messages so far" },
	[CMD_COACH] = { "coach", "hide", "Program", "Hide or show the line of hints" },
	[CMD_THEME] = { "theme", "theme", "Program", "Colours for a dark or light terminal, or none" },
	[CMD_MOUSE] = { "mouse", "mouse", "Program",
		"Mouse on or off; when off, the terminal selects text to copy" },
	[CMD_WRITE] = { "write", "write", "Program",
		"Write settings, columns and sort orders to blktoprc" },
	[CMD_SNAPSHOT] = { "snapshot", "snapshot", "Output",
		"Take a snapshot of the session of --snapshot" },
	[CMD_ALIGN] = { "align-hosts", "align", "Time",
		"Align the hosts' clocks by their calls of each other, and read again" },
	[CMD_SUGGEST] = { "suggested-spans", "spans", "Program",
		"Show pairs of events as spans, by rules that the trace suggests; again: save the rules" },
	[CMD_REDRAW] = { "redraw", "redraw", "Program", "Draw the screen again" },
	[CMD_SUSPEND] = { "suspend", "suspend", "Program", "Suspend; fg resumes" },
	[CMD_QUIT] = { "quit", "quit", "Program", "Quit" },
	[CMD_TOGGLE] = { "toggle", "show/hide", "Columns", "Show or hide the column" },
	[CMD_SHIFT_UP] = { "shift-up", "move", "Columns", "Move the column to the left" },
	[CMD_SHIFT_DOWN] = { "shift-down", "move", "Columns", "Move the column to the right" },
	[CMD_RESET] = { "reset", "reset", "Columns", "Reset to the default columns" },
	[CMD_ACCEPT] = { "accept", "apply", "While typing", "Apply the line" },
	[CMD_CANCEL] = { "cancel", "cancel", "While typing", "Cancel: nothing changes" },
	[CMD_CHAR_LEFT] = { "char-left", "left", "While typing", "One character to the left" },
	[CMD_CHAR_RIGHT] = { "char-right", "right", "While typing", "One character to the right" },
	[CMD_LINE_BEGIN] = { "line-begin", "begin", "While typing", "To the beginning of the line" },
	[CMD_LINE_END] = { "line-end", "end", "While typing", "To the end of the line" },
	[CMD_ERASE] = { "erase", "erase", "While typing", "Erase the character before the cursor" },
	[CMD_ERASE_RIGHT] = { "erase-right", "erase", "While typing", "Erase the character at the cursor" },
	[CMD_ERASE_WORD] = { "erase-word", "word", "While typing", "Erase the word before the cursor" },
	[CMD_ERASE_LINE] = { "erase-line", "clear", "While typing", "Erase everything before the cursor" },
	[CMD_HISTORY] = { "history", "last", "While typing", "The previous line of the history" },
	[CMD_HISTORY_NEWER] = { "history-newer", "newer", "While typing",
		"The next line of the history, then the line being typed" },
	[CMD_COMPLETE] = { "complete", "complete", "While typing",
		"Complete a column, an operator or a value in a filter" },
};

#define NO_BAR 0, 0
const struct key_binding ui_bindings[] = {
	{ CTX_VIEWS, '1', CMD_VIEW_1, CTX_LISTS, 3, NULL },
	{ CTX_VIEWS, '2', CMD_VIEW_2, CTX_LISTS, 4, NULL },
	{ CTX_VIEWS, '3', CMD_VIEW_3, CTX_LISTS, 8, NULL },
	{ CTX_VIEWS, '4', CMD_VIEW_4, CTX_LISTS, 6, NULL },
	{ CTX_VIEWS, '5', CMD_VIEW_5, CTX_LISTS | CTX_WATERFALL, 7, NULL },
	{ CTX_VIEWS, '6', CMD_VIEW_6, CTX_LISTS, 15, NULL },
	{ CTX_VIEWS, '7', CMD_VIEW_7, CTX_LISTS, 16, NULL },
	{ CTX_VIEWS, '8', CMD_VIEW_8, CTX_LISTS, 17, NULL },
	{ CTX_VIEWS, '9', CMD_VIEW_9, CTX_LISTS, 18, NULL },
	{ CTX_VIEWS, UI_KEY_F(2), CMD_VIEW_LIST, CTX_LISTS, 3, NULL },
	{ CTX_VIEWS, '0', CMD_RANGE_ALL, CTX_MORE_BAR, 1, "whole" },
	{ CTX_VIEWS, 'L', CMD_VIEW_LOG, CTX_MORE_BAR, 6, "log" },
	{ CTX_VIEWS, '\t', CMD_VIEW_NEXT, NO_BAR, NULL },
	{ CTX_VIEWS, UI_KEY_BACKTAB, CMD_VIEW_PREV, NO_BAR, NULL },
	{ CTX_VIEWS, UI_KEY_ALEFT, CMD_GO_BACK, NO_BAR, NULL },
	{ CTX_VIEWS, UI_KEY_ARIGHT, CMD_GO_FORTH, NO_BAR, NULL },
	{ CTX_VIEWS, 'm', CMD_BOOKMARK, CTX_MORE_BAR, 17, NULL },
	{ CTX_VIEWS, '\'', CMD_BOOKMARKS, CTX_MORE_BAR, 17, NULL },
	{ CTX_OVERVIEW, UI_KEY_ENTER, CMD_DRILL, CTX_OVERVIEW, 1, "open" },
	{ CTX_TABLE, UI_KEY_ENTER, CMD_DRILL, CTX_TABLE, 1, "open" },
	{ CTX_WATERFALL, UI_KEY_ENTER, CMD_DRILL, CTX_WATERFALL, 1, "detail" },
	{ CTX_TIMELINE, UI_KEY_ENTER, CMD_DRILL, CTX_TIMELINE, 1, "open" },
	{ CTX_POPUP, UI_KEY_ENTER, CMD_DRILL, CTX_POPUP, 1, "ok" },
	{ CTX_CHOOSER, UI_KEY_ENTER, CMD_DRILL, CTX_CHOOSER, 1, "ok" },
	{ CTX_HEATMAP, UI_KEY_ENTER, CMD_DRILL, CTX_HEATMAP, 1, "list" },
	{ CTX_FLAME, UI_KEY_ENTER, CMD_DRILL, CTX_FLAME, 1, "zoom" },
	{ CTX_FLAME, UI_KEY_LEFT, CMD_CURSOR_LEFT, NO_BAR, NULL },
	{ CTX_FLAME, UI_KEY_RIGHT, CMD_CURSOR_RIGHT, CTX_FLAME, 2, "beside" },
	{ CTX_FLAME, '<', CMD_TIME_BACK, CTX_FLAME, 9, "time" },
	{ CTX_FLAME, '>', CMD_TIME_FORWARD, CTX_FLAME, 9, "time" },
	{ CTX_FLAME, 'b', CMD_GOTO, NO_BAR, NULL },
	{ CTX_FLAME, 'H', CMD_BY, CTX_FLAME, 4, "by" },
	{ CTX_HEATMAP, ' ', CMD_SELECT, CTX_HEATMAP, 2, NULL },
	{ CTX_HEATMAP, UI_KEY_LEFT, CMD_CURSOR_LEFT, NO_BAR, NULL },
	{ CTX_HEATMAP, UI_KEY_RIGHT, CMD_CURSOR_RIGHT, NO_BAR, NULL },
	{ CTX_HEATMAP, '<', CMD_TIME_BACK, CTX_HEATMAP, 9, "time" },
	{ CTX_HEATMAP, '>', CMD_TIME_FORWARD, CTX_HEATMAP, 9, "time" },
	{ CTX_HEATMAP, 'b', CMD_BY, CTX_HEATMAP, 4, "by" },
	{ CTX_HEATMAP, 'H', CMD_BY, NO_BAR, NULL },
	{ CTX_ROWS | CTX_FLAME, 'i', CMD_HEATMAP, CTX_MORE_BAR, 2, "heatmap" },
	{ CTX_VIEWS, 'd', CMD_DISTRIBUTION, CTX_MORE_BAR, 3, "distribution" },
	{ CTX_CHOOSER, ' ', CMD_TOGGLE, CTX_CHOOSER, 2, NULL },
	{ CTX_CHOOSER, '[', CMD_SHIFT_UP, CTX_CHOOSER, 4, NULL },
	{ CTX_CHOOSER, ']', CMD_SHIFT_DOWN, CTX_CHOOSER, 4, NULL },
	{ CTX_CHOOSER, 'r', CMD_RESET, CTX_CHOOSER, 5, NULL },
	{ CTX_ROWS, 'w', CMD_WAKER, CTX_WATERFALL, 2, NULL },
	{ CTX_WATERFALL, 'c', CMD_PATH, CTX_WATERFALL, 9, NULL },
	{ CTX_WATERFALL, 'l', CMD_LONGEST, CTX_WATERFALL, 4, NULL },
	{ CTX_OVERVIEW, 'X', CMD_CHANGED, CTX_SPANS_BAR, 2, NULL },
	{ CTX_VIEWS & ~CTX_OVERVIEW, 'X', CMD_CHANGED, CTX_MORE_BAR, 12, NULL },
	{ CTX_ROWS, 'C', CMD_COMPARE, CTX_WATERFALL | CTX_MORE_BAR, 7, NULL },
	{ CTX_WATERFALL, 't', CMD_STATES, CTX_WATERFALL, 19, NULL },
	{ CTX_VIEWS, 'v', CMD_VIEW_TIMELINE, CTX_WATERFALL | CTX_MORE_BAR, 11, "timeline" },
	{ CTX_VIEWS, 'V', CMD_VIEW_FLAME, CTX_MORE_BAR, 5, NULL },
	{ CTX_PAINTED, '[', CMD_PAN_LEFT, CTX_PAINTED, 10, NULL },
	{ CTX_PAINTED, ']', CMD_PAN_RIGHT, CTX_PAINTED, 10, NULL },
	{ CTX_TABLE, '[', CMD_PAN_LEFT, CTX_LOG_BAR, 2, "scroll" },
	{ CTX_TABLE, ']', CMD_PAN_RIGHT, CTX_LOG_BAR, 2, "scroll" },
	{ CTX_PAINTED, 'z', CMD_ZOOM_IN, CTX_PAINTED, 6, NULL },
	{ CTX_PAINTED, 'Z', CMD_ZOOM_OUT, CTX_PAINTED, 6, NULL },
	{ CTX_ROWS, 'e', CMD_EXPORT, CTX_REQUEST_BAR, 8, NULL },
	{ CTX_ROWS, 'E', CMD_EXPORT_AS, CTX_LISTS | CTX_WATERFALL, 21, NULL },
	{ CTX_VIEWS, 'y', CMD_COPY, CTX_WATERFALL, 9, NULL },
	{ CTX_VIEWS, 's', CMD_SAVE, CTX_VIEWS, 22, NULL },
	{ CTX_VIEWS, 'D', CMD_SCREENSHOT, CTX_MORE_BAR, 21, NULL },
	{ CTX_VIEWS, 'Y', CMD_SUGGEST, NO_BAR, NULL },
	{ CTX_VIEWS, 'S', CMD_SAVE_TRACE, CTX_VIEWS, 23, NULL },
	{ CTX_VIEWS, 'n', CMD_NEXT, CTX_LISTS, 10, NULL },
	{ CTX_VIEWS, 'N', CMD_PREV, NO_BAR, NULL },
	{ CTX_PAINTED, UI_KEY_LEFT, CMD_CURSOR_LEFT, NO_BAR, NULL },
	{ CTX_PAINTED, UI_KEY_RIGHT, CMD_CURSOR_RIGHT, CTX_PAINTED, 11, NULL },
	{ CTX_PAINTED, '<', CMD_TIME_BACK, NO_BAR, NULL },
	{ CTX_PAINTED, '>', CMD_TIME_FORWARD, NO_BAR, NULL },
	{ CTX_LISTS, UI_KEY_LEFT, CMD_TIME_BACK, NO_BAR, NULL },
	{ CTX_LISTS, UI_KEY_RIGHT, CMD_TIME_FORWARD, NO_BAR, NULL },
	{ CTX_VIEWS, UI_KEY_SLEFT, CMD_TIME_BACK_10, NO_BAR, NULL },
	{ CTX_VIEWS, UI_KEY_SRIGHT, CMD_TIME_FORWARD_10, NO_BAR, NULL },
	{ CTX_VIEWS, '{', CMD_TIME_BACK_10, NO_BAR, NULL },
	{ CTX_VIEWS, '}', CMD_TIME_FORWARD_10, NO_BAR, NULL },
	{ CTX_ROWS, 'b', CMD_GOTO, CTX_LISTS, 10, NULL },
	{ CTX_OVERVIEW, 'a', CMD_GRAPH, CTX_OVERVIEW | CTX_MORE_BAR, 14, NULL },
	{ CTX_VIEWS, 'p', CMD_PAUSE, CTX_LISTS, 13, NULL },
	{ CTX_VIEWS, 'F', CMD_FOLLOW, CTX_LISTS, 14, NULL },
	{ CTX_LISTS, 'z', CMD_STEP_FINER, CTX_MORE_BAR, 18, NULL },
	{ CTX_LISTS, 'Z', CMD_STEP_COARSER, CTX_MORE_BAR, 18, NULL },
	{ CTX_VIEWS, 'A', CMD_RANGE_A, CTX_LISTS | CTX_TIMELINE | CTX_FLAME, 19, NULL },
	{ CTX_VIEWS, 'B', CMD_RANGE_B, CTX_LISTS | CTX_TIMELINE | CTX_FLAME, 20, NULL },
	{ CTX_VIEWS, 'R', CMD_RANGE_CLEAR, NO_BAR, NULL },
	{ CTX_ROWS, ')', CMD_ERROR_NEXT, NO_BAR, NULL },
	{ CTX_ROWS, '(', CMD_ERROR_PREV, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_UP, CMD_UP, NO_BAR, NULL },
	{ CTX_MOVING, 'k', CMD_UP, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_DOWN, CMD_DOWN, NO_BAR, NULL },
	{ CTX_MOVING, 'j', CMD_DOWN, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_PGUP, CMD_PAGE_UP, NO_BAR, NULL },
	{ CTX_MOVING, UI_CTRL('u'), CMD_PAGE_UP, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_PGDN, CMD_PAGE_DOWN, NO_BAR, NULL },
	{ CTX_MOVING, UI_CTRL('d'), CMD_PAGE_DOWN, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_HOME, CMD_TOP, NO_BAR, NULL },
	{ CTX_MOVING, 'g', CMD_TOP, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_END, CMD_BOTTOM, NO_BAR, NULL },
	{ CTX_MOVING, 'G', CMD_BOTTOM, NO_BAR, NULL },
	{ CTX_ROWS, '/', CMD_SEARCH, CTX_LISTS, 11, NULL },
	{ CTX_LISTS | CTX_TIMELINE, '\\', CMD_FILTER, CTX_LISTS | CTX_TIMELINE, 12, NULL },
	{ CTX_LISTS | CTX_TIMELINE, UI_KEY_F(4), CMD_FILTER, NO_BAR, NULL },
	{ CTX_LISTS, '<', CMD_SORT_LEFT, CTX_TABLE, 9, NULL },
	{ CTX_LISTS, '>', CMD_SORT_RIGHT, CTX_TABLE, 9, NULL },
	{ CTX_LISTS, 'I', CMD_INVERT, NO_BAR, NULL },
	{ CTX_LISTS | CTX_TIMELINE, 'H', CMD_BY, CTX_TABLE | CTX_TIMELINE, 23, NULL },
	{ CTX_LISTS, 't', CMD_TREE, CTX_MORE_BAR, 20, NULL },
	{ CTX_LISTS, UI_KEY_F(5), CMD_TREE, NO_BAR, NULL },
	{ CTX_ROWS, ' ', CMD_TAG, NO_BAR, NULL },
	{ CTX_VIEWS, 'U', CMD_UNTAG, NO_BAR, NULL },
	{ CTX_LISTS | CTX_TIMELINE, 'T', CMD_ONLY_TAGGED, NO_BAR, NULL },
	{ CTX_LISTS, 'K', CMD_HIDE, CTX_MORE_BAR, 22, NULL },
	{ CTX_LISTS, 'f', CMD_COLUMNS, CTX_TABLE, 21, NULL },
	{ CTX_LISTS, 'o', CMD_SORT_MENU, CTX_MORE_BAR, 16, NULL },
	{ CTX_LISTS, UI_KEY_F(6), CMD_SORT_MENU, NO_BAR, NULL },
	{ CTX_LISTS | CTX_TIMELINE, 'u', CMD_CLEAR, NO_BAR, NULL },
	{ CTX_VIEWS, UI_KEY_F(7), CMD_VIEW_INFO, CTX_TABLE, 20, NULL },
	{ CTX_TABLE | CTX_WATERFALL, '+', CMD_EXPAND, NO_BAR, NULL },
	{ CTX_TABLE | CTX_WATERFALL, '-', CMD_COLLAPSE, NO_BAR, NULL },
	{ CTX_TABLE | CTX_WATERFALL, '*', CMD_EXPAND_ALL, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_ESC, CMD_BACK, CTX_PAINTED | CTX_HEATMAP | CTX_FLAME | CTX_POPUP | CTX_CHOOSER, 3, NULL },
	{ CTX_MOVING, UI_KEY_BACKSPACE, CMD_BACK, NO_BAR, NULL },
	{ CTX_MOVING, UI_KEY_BACKSPACE_CHAR, CMD_BACK, NO_BAR, NULL },
	{ CTX_MOVING, 'q', CMD_BACK, CTX_TOP_BAR, 5, "quit" },
	{ CTX_VIEWS, 'x', CMD_COACH, NO_BAR, NULL },
	{ CTX_VIEWS, '!', CMD_LOG, CTX_MORE_BAR, 15, NULL },
	{ CTX_VIEWS, UI_KEY_F(8), CMD_THEME, NO_BAR, NULL },
	{ CTX_VIEWS, UI_KEY_F(9), CMD_MOUSE, NO_BAR, NULL },
	{ CTX_VIEWS, 'W', CMD_WRITE, NO_BAR, NULL },
	{ CTX_VIEWS, 'P', CMD_SNAPSHOT, NO_BAR, NULL },
	{ CTX_VIEWS, 'M', CMD_ALIGN, NO_BAR, NULL },
	{ CTX_MOVING, UI_CTRL('l'), CMD_REDRAW, NO_BAR, NULL },
	{ CTX_MOVING, UI_CTRL('z'), CMD_SUSPEND, NO_BAR, NULL },
	{ CTX_MOVING, 'Q', CMD_QUIT, CTX_MORE_BAR, 12, NULL },
	{ CTX_MOVING, UI_KEY_F(10), CMD_QUIT, NO_BAR, NULL },
	{ CTX_MOVING, UI_CTRL('c'), CMD_QUIT, NO_BAR, NULL },
	{ CTX_VIEWS | CTX_POPUP, '=', CMD_EXPLAIN, CTX_MORE_BAR, 8, NULL },
	{ CTX_VIEWS, ',', CMD_MORE_KEYS, CTX_VIEWS, 2, NULL },
	{ CTX_VIEWS, '?', CMD_HELP, CTX_VIEWS | CTX_MORE_BAR, 0, NULL },
	{ CTX_VIEWS, UI_KEY_F(1), CMD_HELP, NO_BAR, NULL },
	{ CTX_VIEWS, 'h', CMD_HELP, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_ENTER, CMD_ACCEPT, CTX_PROMPT, 1, NULL },
	{ CTX_PROMPT, UI_KEY_ESC, CMD_CANCEL, CTX_PROMPT, 2, NULL },
	{ CTX_PROMPT, UI_CTRL('c'), CMD_CANCEL, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_LEFT, CMD_CHAR_LEFT, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_RIGHT, CMD_CHAR_RIGHT, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_HOME, CMD_LINE_BEGIN, NO_BAR, NULL },
	{ CTX_PROMPT, UI_CTRL('a'), CMD_LINE_BEGIN, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_END, CMD_LINE_END, NO_BAR, NULL },
	{ CTX_PROMPT, UI_CTRL('e'), CMD_LINE_END, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_BACKSPACE, CMD_ERASE, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_BACKSPACE_CHAR, CMD_ERASE, NO_BAR, NULL },
	{ CTX_PROMPT, UI_KEY_DELETE, CMD_ERASE_RIGHT, NO_BAR, NULL },
	{ CTX_PROMPT, UI_CTRL('w'), CMD_ERASE_WORD, NO_BAR, NULL },
	{ CTX_PROMPT, UI_CTRL('u'), CMD_ERASE_LINE, CTX_PROMPT, 3, NULL },
	{ CTX_PROMPT, UI_KEY_UP, CMD_HISTORY, CTX_PROMPT, 4, NULL },
	{ CTX_PROMPT, UI_KEY_DOWN, CMD_HISTORY_NEWER, NO_BAR, NULL },
	{ CTX_PROMPT, '\t', CMD_COMPLETE, NO_BAR, NULL },
};
const size_t ui_n_bindings = G_N_ELEMENTS(ui_bindings);

long keys_rows(enum command_id command, size_t page, size_t n)
{
	long by = (long)MAX(page, 2) - 1, all = (long)n;

	return command == CMD_UP ? -1 : command == CMD_DOWN ? 1 : command == CMD_PAGE_UP ? -by :
		command == CMD_PAGE_DOWN ? by : command == CMD_TOP ? -all : command == CMD_BOTTOM ? all : 0;
}

enum command_id keys_find(enum context context, int key)
{
	size_t n;
	const struct key_binding *all = keymap(&n);

	if (key == '\n')
		key = UI_KEY_ENTER;
	for (size_t i = 0; i < n; i++) {
		if (all[i].key == key && (all[i].contexts & context))
			return all[i].command;
	}
	return CMD_NONE;
}

static const struct {
	int key;
	const char *name;
} key_names[] = {
	{ UI_KEY_ENTER, "Enter" }, { UI_KEY_ESC, "Esc" }, { '\t', "Tab" }, { ' ', "Space" },
	{ UI_KEY_BACKSPACE_CHAR, "Backspace" }, { UI_KEY_UP, "Up" }, { UI_KEY_DOWN, "Down" },
	{ UI_KEY_LEFT, "Left" }, { UI_KEY_RIGHT, "Right" }, { UI_KEY_SLEFT, "Shift-Left" },
	{ UI_KEY_SRIGHT, "Shift-Right" }, { UI_KEY_ALEFT, "Alt-Left" }, { UI_KEY_ARIGHT, "Alt-Right" },
	{ UI_KEY_PGUP, "PgUp" }, { UI_KEY_PGDN, "PgDn" },
	{ UI_KEY_HOME, "Home" }, { UI_KEY_END, "End" }, { UI_KEY_DELETE, "Del" },
	{ UI_KEY_BACKSPACE, "Backspace" }, { UI_KEY_BACKTAB, "Shift-Tab" },
};

const char *keys_name(int key, char buf[16])
{
	for (size_t i = 0; i < G_N_ELEMENTS(key_names); i++) {
		if (key_names[i].key == key)
			return key_names[i].name;
	}
	if (key > UI_KEY_F0 && key <= UI_KEY_F12)
		g_snprintf(buf, 16, "F%d", key - UI_KEY_F0);
	else if (key > 0 && key < 32)
		g_snprintf(buf, 16, "Ctrl-%c", key + 0x40);
	else if (key > 127 && key < UI_KEY_SPECIAL && g_unichar_isgraph((gunichar)key))
		buf[g_unichar_to_utf8((gunichar)key, buf)] = '\0';
	else
		g_snprintf(buf, 16, "%c", key > 32 && key < 127 ? key : '?');
	return buf;
}

char *keys_of(unsigned contexts, enum command_id command)
{
	GString *s = g_string_new(NULL);
	size_t n;
	const struct key_binding *all = keymap(&n);
	char last[16] = "";

	for (size_t i = 0; i < n; i++) {
		const struct key_binding *b = &all[i];
		char buf[16];
		const char *name = keys_name(b->key, buf);

		if (b->command != command || !(b->contexts & contexts) || !strcmp(last, name))
			continue;
		g_string_append_printf(s, "%s%s", s->len ? " " : "", name);
		g_strlcpy(last, name, sizeof last);
	}
	return g_string_free(s, FALSE);
}

static const char *const groups[] = {
	"Why", "Time", "Views", "Find", "Move", "Output", "Program", "Columns", "While typing",
};

GPtrArray *keys_help(enum context context)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (size_t g = 0; g < G_N_ELEMENTS(groups); g++) {
		unsigned contexts = !strcmp(groups[g], "While typing") ? CTX_PROMPT : context;
		bool headed = false;

		for (int c = 1; c < CMD_N; c++) {
			g_autofree char *keys = keys_of(contexts, c), *padded = NULL;

			if (!*keys || strcmp(ui_commands[c].group, groups[g]))
				continue;
			if (!headed)
				g_ptr_array_add(lines, g_strdup(groups[g]));
			headed = true;
			padded = text_pad(keys, 18);
			g_ptr_array_add(lines,
					g_strdup_printf("  %s %s", padded, ui_commands[c].help));
		}
	}
	return lines;
}

static unsigned entry_cols(const struct bar_entry *e)
{
	return (unsigned)(strlen(e->key) + e->spaced + strlen(e->label) + 1 + (e->divided ? 2 : 0));
}

static const char *label_of(const struct key_binding *b)
{
	return b->label ? b->label : ui_commands[b->command].name;
}

/* Adjacent keys with the same label are joined: "[]:pan". */
static bool joins(const struct key_binding *a, const struct key_binding *b)
{
	return a && a->key < 127 && b->key < 127 && a->rank == b->rank && !strcmp(label_of(a), label_of(b));
}

/* Numbers of views are shown beside their names. */
static bool is_view_number(int key)
{
	return key >= '1' && key <= '9';
}

static void make_entry(struct bar_entry *e, const struct key_binding *b, unsigned context, bool divided)
{
	char buf[16];

	g_strlcpy(e->key, keys_name(b->key, buf), sizeof e->key);
	e->label = b->command == CMD_DRILL && (context & CTX_WHY_BAR) ? "why" : label_of(b);
	e->spaced = *e->label && !is_view_number(b->key) && b->key != UI_KEY_F(2);
	e->divided = divided;
	e->code = b->key;
	e->n_joined = 0;
}

/* The bars in which keys of these contexts may be. */
static unsigned bars_of(unsigned contexts)
{
	return contexts | (contexts & CTX_TABLE ? CTX_LOG_BAR : 0) | (contexts & CTX_ROWS ? CTX_REQUEST_BAR : 0) |
	       (contexts & CTX_OVERVIEW ? CTX_SPANS_BAR : 0) |
	       (contexts & CTX_VIEWS ? CTX_TOP_BAR | CTX_MORE_BAR : 0);
}

/* Is the key in this bar? */
static bool is_in_bar(const struct key_binding *b, unsigned context, bool coach)
{
	if (context & CTX_MORE_BAR)
		return (b->bar & CTX_MORE_BAR) && (b->contexts & context);
	return (b->bar & context) && (b->contexts & context) && !(coach && b->command == CMD_COACH);
}

unsigned keys_bar(unsigned context, bool coach, unsigned cols, struct bar_entry *ret,
		  unsigned max)
{
	size_t n_all;
	const struct key_binding *all = keymap(&n_all);

	for (unsigned limit = 24;; limit--) {
		const struct key_binding *last = NULL;
		unsigned n = 0, used = 0;

		for (size_t i = 0; i < n_all && n < max; i++) {
			const struct key_binding *b = &all[i];
			bool digit = last && is_view_number(last->key);

			if (b->rank > limit || !is_in_bar(b, context, coach))
				continue;
			if (joins(last, b)) {
				const char key[] = { (char)b->key, '\0' };
				g_strlcat(ret[n - 1].key, key, sizeof ret->key);
				ret[n - 1].n_joined = (unsigned)strlen(ret[n - 1].key);
				used++;
			} else {
				bool f2 = last && last->key == UI_KEY_F(2);

				make_entry(&ret[n], b, context, !(context & CTX_PAINTED) && (f2 ||
					   (digit && !is_view_number(b->key) && b->key != UI_KEY_F(2))));
				used += entry_cols(&ret[n++]);
			}
			last = b;
		}
		if (used <= cols + 1 || limit == 0)
			return n;
	}
}

/* The man page's KEYS, in man(7). */
static void print_man(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\(rs", out);
		else if (*s == '-')
			fputs("\\-", out);
		else
			putc(*s, out);
	}
}

void ui_print_keys(FILE *out)
{
	for (size_t g = 0; g < G_N_ELEMENTS(groups); g++) {
		fprintf(out, ".SS %s\n", groups[g]);
		for (int c = 1; c < CMD_N; c++) {
			g_autofree char *keys = keys_of(~0u, c);

			if (strcmp(ui_commands[c].group, groups[g]))
				continue;
			fputs(".TP\n.B ", out);
			if (*keys == '.' || *keys == '\'')
				fputs("\\&", out);
			print_man(out, keys);
			putc('\n', out);
			print_man(out, ui_commands[c].help);
			fputs(".\n[", out);
			print_man(out, ui_commands[c].id);
			fputs("]\n", out);
		}
	}
}

void ui_print_bindings(FILE *out)
{
	static const char *const names[CTX_N] = {
		"overview", "table", "waterfall", "popup", "prompt", "chooser", "heatmap", "timeline", "flame",
	};
	size_t n;
	const struct key_binding *all = keymap(&n);

	for (int c = 0; c < CTX_N; c++) {
		for (size_t i = 0; i < n; i++) {
			char buf[16];

			if (all[i].contexts & (1u << c))
				fprintf(out, "%s\t%s\t%s\n", names[c], keys_name(all[i].key, buf),
					ui_commands[all[i].command].id);
		}
	}
}

/* --- the keys in force --- */

static struct {
	GArray *bindings;	/* struct key_binding; NULL: the defaults */
} map;

const struct key_binding *keymap(size_t *ret_n)
{
	*ret_n = map.bindings ? map.bindings->len : ui_n_bindings;
	return map.bindings ? (const struct key_binding *)(void *)map.bindings->data : ui_bindings;
}

void keymap_reset(void)
{
	g_clear_pointer(&map.bindings, g_array_unref);
}

enum command_id keymap_command(const char *id)
{
	for (int c = CMD_NONE + 1; c < CMD_N; c++) {
		if (!strcmp(ui_commands[c].id, id))
			return (enum command_id)c;
	}
	return CMD_NONE;
}

int keymap_key(const char *name)
{
	gunichar u = g_utf8_get_char_validated(name, -1);
	char buf[16];

	if (!*name)
		return UI_KEY_NONE;
	for (int key = UI_KEY_SPECIAL; key <= UI_KEY_F12; key++) {
		if (!strcmp(keys_name(key, buf), name) && strcmp(name, "?"))
			return key;
	}
	for (int key = 1; key <= UI_KEY_BACKSPACE_CHAR; key++) {
		if (!g_ascii_strcasecmp(keys_name(key, buf), name) &&
		    (key <= ' ' || *name == key))
			return key;
	}
	if (u == (gunichar)-1 || u == (gunichar)-2 || *g_utf8_next_char(name))
		return UI_KEY_NONE;
	return u > 127 && g_unichar_isgraph(u) ? (int)u : UI_KEY_NONE;
}

/* Parses key names separated by blanks. NULL and *error: one is unknown or not allowed. */
static GArray *parse_keys(const char *text, unsigned contexts, enum command_id command,
			  GError **error)
{
	g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(int));
	g_auto(GStrv) words = g_strsplit_set(text, " \t", -1);

	for (char **w = words; *w; w++) {
		int key = **w ? keymap_key(*w) : UI_KEY_NONE;
		const char *why = NULL;

		if (!**w)
			continue;
		if (key == UI_KEY_NONE)
			why = "is not a key";
		else if (key == UI_CTRL('c') && command != CMD_QUIT && contexts != CTX_PROMPT)
			why = "always quits";
		else if ((contexts & CTX_PROMPT) && key >= ' ' && key < UI_KEY_SPECIAL &&
			 key != UI_KEY_BACKSPACE_CHAR)
			why = "is text in a prompt";
		if (why) {
			g_set_error(error, g_quark_from_static_string("blk-keymap"), 0,
				    "'%s' %s", *w, why);
			return NULL;
		}
		g_array_append_val(keys, key);
	}
	return g_steal_pointer(&keys);
}

/* Adds b once for each key; only the first is in the key bar. */
static void put(GArray *to, const struct key_binding *b, const GArray *keys)
{
	for (guint i = 0; i < keys->len; i++) {
		struct key_binding one = *b;

		one.key = g_array_index(keys, int, i);
		if (i)
			one.bar = 0;
		g_array_append_val(to, one);
	}
}

static unsigned contexts_of(const struct key_binding *all, size_t n, enum command_id command)
{
	unsigned contexts = 0;

	for (size_t i = 0; i < n; i++) {
		if (all[i].command == command)
			contexts |= all[i].contexts;
	}
	return contexts;
}

static bool holds(const GArray *keys, int key)
{
	for (guint i = 0; i < keys->len; i++) {
		if (g_array_index(keys, int, i) == key)
			return true;
	}
	return false;
}

/* Adds the default rows of a command with other keys. */
static void put_all(GArray *to, enum command_id command, const GArray *keys)
{
	unsigned covered = 0;

	for (size_t i = 0; i < ui_n_bindings; i++) {
		struct key_binding b = ui_bindings[i];

		if (b.command != command)
			continue;
		b.contexts &= ~covered;
		b.bar &= bars_of(b.contexts);
		covered |= b.contexts;
		if (b.contexts)
			put(to, &b, keys);
	}
}

bool keymap_set(enum command_id command, const char *text, GError **error)
{
	size_t n;
	const struct key_binding *all = keymap(&n);
	unsigned contexts = contexts_of(ui_bindings, ui_n_bindings, command);
	g_autoptr(GArray) keys = parse_keys(text, contexts, command, error);
	GArray *fresh;
	bool there = false;

	if (!keys)
		return false;
	fresh = g_array_new(FALSE, FALSE, sizeof(struct key_binding));
	for (size_t i = 0; i < n; i++) {
		struct key_binding b = all[i];
		bool stays = command == CMD_QUIT && b.key == UI_CTRL('c');

		/* At the old position, so that the order of the key bar does not change. */
		if (b.command == command && !there)
			put_all(fresh, command, keys);
		there = there || b.command == command;
		if (b.command == command && !stays)
			continue;
		if (holds(keys, b.key) && !stays)
			b.contexts &= ~contexts;
		b.bar &= bars_of(b.contexts);
		if (b.contexts)
			g_array_append_val(fresh, b);
	}
	if (!there)
		put_all(fresh, command, keys);
	keymap_reset();
	map.bindings = fresh;
	return true;
}

/* Gives a command an additional key in some contexts. */
static void add(int key, enum command_id command, unsigned contexts)
{
	size_t n;
	const struct key_binding *all = keymap(&n);
	struct key_binding b = { contexts, key, command, 0, 0, NULL };
	GArray *fresh = g_array_new(FALSE, FALSE, sizeof b);

	for (size_t i = 0; i < n; i++) {
		struct key_binding old = all[i];

		if (old.key == key)
			old.contexts &= ~contexts;
		old.bar &= bars_of(old.contexts);
		if (old.contexts)
			g_array_append_val(fresh, old);
	}
	g_array_append_val(fresh, b);
	keymap_reset();
	map.bindings = fresh;
}

void keymap_vi(void)
{
	add('h', CMD_TIME_BACK, CTX_LISTS);
	add('h', CMD_CURSOR_LEFT, CTX_PAINTED | CTX_HEATMAP | CTX_FLAME);
	add('l', CMD_CURSOR_RIGHT, CTX_TIMELINE | CTX_HEATMAP | CTX_FLAME);
	add('l', CMD_TIME_FORWARD, CTX_LISTS);	/* in a waterfall: the longest child */
}
