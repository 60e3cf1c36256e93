/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of events/SYSTEM/EVENT/format: the fields of an event and where they lie. Offsets, sizes and even types
 * differ between kernels, so nothing is assumed of them. Source: kernel/trace/trace_events.c, f_show().
 *
 * The text is hostile input: it may come from a file.
 */
#ifndef BLK_TRACE_RING_RING_FORMAT_H
#define BLK_TRACE_RING_RING_FORMAT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define RING_ERROR ring_error_quark()
GQuark ring_error_quark(void);

enum ring_place {
	RING_INLINE,		/* the value itself */
	RING_DATA_LOC,		/* u32: offset from the event's beginning | bytes << 16 */
	RING_REL_LOC,		/* the same, from behind this field */
};

struct ring_field {
	char *name;
	char *type;		/* of an element, without "__data_loc": "unsigned int", "const char *" */
	uint32_t offset, size;	/* bytes in the event */
	uint32_t element;	/* bytes of one element; of a single value .size */
	enum ring_place place;
	bool is_array;		/* several elements: .size / .element, or as many as .place says */
	bool is_signed;		/* as the kernel says; of system calls' arguments it is wrong */
	bool is_text;		/* an array of char */
	bool is_pointer;
};

struct ring_fields {
	struct ring_field *fields;
	uint32_t n;
};

/* Parses the lines "field:TYPE NAME;offset:N;size:N;signed:N;" of a text; others are skipped. NULL: error. */
struct ring_fields *ring_fields_parse(const char *text, size_t len, unsigned long_size, GError **error);
void ring_fields_free(struct ring_fields *f);		/* NULL is fine */
typedef struct ring_fields ring_fields;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ring_fields, ring_fields_free)
const struct ring_field *ring_fields_find(const struct ring_fields *f, const char *name);	/* NULL: none */

struct ring_format {
	char *system, *name;		/* "sched", "sched_switch" */
	uint16_t id;			/* its common_type */
	struct ring_fields *fields;	/* without the common ones */
};
/* Parses the text of a format file. NULL: error. */
struct ring_format *ring_format_parse(const char *system, const char *text, size_t len, unsigned long_size,
				      GError **error);
void ring_format_free(struct ring_format *f);		/* NULL is fine */
typedef struct ring_format ring_format;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ring_format, ring_format_free)

#endif
