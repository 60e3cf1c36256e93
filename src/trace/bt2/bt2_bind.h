/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the wanted fields of one event class (inside src/trace/). */
#ifndef BLK_TRACE_BT2_BT2_BIND_H
#define BLK_TRACE_BT2_BT2_BIND_H

#include "base/fields.h"
#include "base/limits.h"
#include "trace/arena.h"
#include "trace/reader.h"

#include <babeltrace2/babeltrace.h>

enum bt2_kind { BT2_UNSIGNED, BT2_SIGNED, BT2_BOOL, BT2_BITS, BT2_TEXT, BT2_CHARS, BT2_BYTES,
		BT2_BLOB };
enum bt2_root { BT2_PAYLOAD, BT2_COMMON, BT2_SPECIFIC, BT2_N_ROOTS };

/* The path from a root structure to one wanted field. */
struct bt2_getter {
	uint8_t kind, root, slot, n_steps;
	bool is_hex;			/* integer that the trace wants shown in base 16 */
	uint32_t off;			/* offset in the row, bytes */
	struct bt2_step {
		enum bt2_step_type { BT2_MEMBER, BT2_ELEMENT, BT2_VARIANT, BT2_OPTION } type;
		uint32_t index;
	} step[LIMIT_FIELD_DEPTH];
	uint8_t width;			/* bytes of an element (BT2_CHARS, BT2_BYTES) */
};

struct bt2_binding {
	uint16_t row;			/* in the subscription table; G_MAXUINT16: the class is only counted */
	bool uses[BT2_N_ROOTS];		/* some getter begins at this root */
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
struct bt2_binding *bt2_binding_new(const bt_event_class *ec, const struct blk_subscription *row,
				    uint16_t row_index, uint32_t cls, GHashTable *layouts);
void bt2_binding_free(struct bt2_binding *b);

/* The names of the counters that the row requests (g_free); NULL: none. See ctf_wanted_is_probe(). */
bool bt2_is_probe(const bt_event_class *ec, const char *name);
char *bt2_counters(const bt_event_class *ec, const struct blk_subscription *row);

/* Reads the event: allocates its row in the arena; sets data, layout, cls and row of `ret`. */
void bt2_binding_read(struct bt2_binding *b, const bt_event *event, struct arena *arena,
		      struct blk_event *ret);

/* The CPU that the event names (perf's `perf_cpu`); UINT32_MAX: none. */
uint32_t bt2_binding_cpu(const struct bt2_binding *b, const bt_event *event);

#endif
