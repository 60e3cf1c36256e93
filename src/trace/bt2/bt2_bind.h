/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the wanted fields of one event class (inside src/trace/). Which fields these are, and the way to each, is found
 * as for the native reader (ctf_wanted.h), in types made of babeltrace2's field classes.
 */
#ifndef BLK_TRACE_BT2_BT2_BIND_H
#define BLK_TRACE_BT2_BT2_BIND_H

#include "base/fields.h"
#include "trace/arena.h"
#include "trace/ctf/ctf_wanted.h"
#include "trace/reader.h"

#include <babeltrace2/babeltrace.h>

/* An event class of babeltrace2 as the native reader has it. */
struct bt2_types {
	struct ctf_stream_class sc;	/* .event_context */
	struct ctf_event_class ec;	/* .name, .context, .fields */
	struct arena memory;
};
/* Names are borrowed from the class. */
void bt2_types_init(struct bt2_types *t, const bt_event_class *ec);
void bt2_types_clear(struct bt2_types *t);

struct bt2_getter {
	struct ctf_wanted w;
	uint32_t off;			/* offset in the row, bytes */
};

struct bt2_binding {
	uint16_t row;			/* in the subscription table; G_MAXUINT16: the class is only counted */
	bool has_cpu;			/* .cpu is valid */
	uint32_t cls;			/* as in struct blk_event */
	uint32_t size;			/* bytes of a row */
	uint32_t n_getters;
	struct bt2_getter getter[BLK_MAX_SLOTS];
	struct bt2_getter cpu;		/* perf's field `perf_cpu` */
	GHashTable *layouts;		/* borrowed: layouts_new() */
	const struct blk_layout *layout;
	int all;			/* slot of the field "*"; -1: it is not wanted */
	uint32_t all_off;		/* offset of that slot in the row, bytes */
	struct fields_run run;		/* scratch of bt2_all_read() */
};

/* `row` NULL: the class is only counted. `cls` is the index in the source's tables. `layouts` must outlive the
 * binding, as records point at its layouts. */
struct bt2_binding *bt2_binding_new(const struct bt2_types *t, const struct blk_subscription *row,
				    uint16_t row_index, uint32_t cls, GHashTable *layouts);
void bt2_binding_free(struct bt2_binding *b);

/* Reads the event: allocates its row in the arena; sets data, layout, cls and row of `ret`. */
void bt2_binding_read(struct bt2_binding *b, const bt_event *event, struct arena *arena,
		      struct blk_event *ret);

/* The CPU that the event names (perf's `perf_cpu`); UINT32_MAX: none. */
uint32_t bt2_binding_cpu(const struct bt2_binding *b, const bt_event *event);

#endif
