/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The view "timeline": lanes of CPUs, threads (or processes, containers), block devices and interrupts, in cells of
 * equal length. Where no kernel tells what threads did, their lanes have the events that they recorded, and the spans
 * that they worked on; nothing says what they did in between. Events without a thread are in a lane for each CPU.
 * Without query->cells it has one row for each lane and second: this is what batch mode prints, with
 * --step. With query->cells it has one row for each lane, with its sums over [from_ns, to_ns) and its cells; if any
 * thread or process is in a container, also a row for each container, above its threads.
 *
 * Cells are sums of seconds, and in a window with finer steps (run/window.h) of those steps. A cell that is shorter
 * than its second has the figures of that second.
 */
#ifndef BLK_VIEWS_LANES_H
#define BLK_VIEWS_LANES_H

#include "views/common.h"

enum lane_kind {			/* as they are shown */
	LANE_CPU, LANE_DEVICE, LANE_THREADS,
	LANE_EVENTS,			/* events of one CPU whose thread is unknown */
	LANE_INTERRUPT, LANE_KIND_N
};
extern const char *const lane_kind_name[LANE_KIND_N];	/* "cpu", ... */

/* The dominant state of a cell. */
enum lane_state {
	/* below PART_N: an enum part, of threads */
	LANE_RUNNING = PART_N,		/* of CPUs: a thread ran; .thread is the one that ran longest */
	LANE_IDLE, LANE_IRQ, LANE_UNKNOWN,
	LANE_FIGURE,			/* of devices and interrupts: .share is all that is known */
	LANE_MARKS,			/* .share events were recorded, and nothing else is known */
	LANE_NOTHING,			/* the lane has no figures there */
};

struct lane_cell {
	uint8_t state;			/* enum part or lane_state */
	bool coarse;			/* it shows a second that is longer than the cell */
	uint32_t event;			/* LANE_MARKS: string, the most frequent event */
	const char *span;		/* name of the innermost span that its threads had there; NULL: none */
	uint32_t thread;		/* CPUs: id of the thread that ran longest; ID_NONE: none */
	double share;			/* threads: of the dominant part; CPUs: running; interrupts: in handlers;
					 * devices: mean number of requests at it */
};

struct lane_row {
	struct common c;		/* .part of threads; .name: the lane's name */
	enum lane_kind kind;
	bool is[LANE_KIND_N];		/* [kind]: true */
	int64_t begin_ns, end_ns;	/* of the seconds that were summed */
	int64_t run_ns, idle_ns, irq_ns;	/* CPUs */
	int64_t unknown_ns;		/* CPUs; devices: it is unknown how many requests were at it */
	int64_t busy_ns, depth_ns;	/* devices */
	uint32_t depth_max;
	int64_t handler_ns;		/* interrupts */
	bool by_events;			/* no kernel tells what its threads did: */
	uint64_t events;		/* how many they recorded */
	uint32_t event;			/* string: the most frequent of them; ID_NONE: none */
	int32_t cpu;			/* CPUs, events: its number; threads: the CPU where it ran longest; -1: none */
	uint8_t state;			/* as in struct lane_cell */
	int64_t state_ns, total_ns;	/* of the dominant state, and all states */
	uint32_t who;			/* CPUs: the thread that ran longest; ID_NONE: none */
	int64_t who_ns;			/* how long it ran; of threads: on .cpu */
	bool grouped;			/* threads: they are shown below their containers */
	int64_t group_ns;		/* of grouped ones: CPU time of the container */
	bool is_container;		/* of grouped ones: the lane sums a container */
	const struct lane_cell *cells;	/* query->cells of them; NULL: none were asked for */
	uint32_t work;			/* private */
};

extern const struct view view_timeline;

/* "thumbd/264 ran 6.20ms of 10ms, ...": what the row's figures say, for one cell, and who woke its threads. Free with
 * g_free(). It holds raw text of the trace. */
char *lane_text(const struct rows *rows, const struct lane_row *r);

#endif
