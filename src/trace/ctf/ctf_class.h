/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CTF metadata declares: clocks, environment, stream classes, event classes and the types of their fields. Both
 * metadata languages (CTF 1.8 and CTF 2) fill these structs. ctf_meta.h makes them by parsing; ctf_program.h and
 * ctf_walk.h decode events with them. Inside src/trace/.
 */
#ifndef BLK_TRACE_CTF_CTF_CLASS_H
#define BLK_TRACE_CTF_CTF_CLASS_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctf_kind {
	CTF_INTEGER, CTF_FLOAT, CTF_ENUM, CTF_STRING,
	CTF_STRUCT, CTF_ARRAY, CTF_SEQUENCE, CTF_VARIANT,
	CTF_OPTIONAL,			/* a variant of one option, or nothing */
};

/* The purpose of a field, as bits. CTF 2 has roles; CTF 1.8 has reserved names. */
enum ctf_role {
	CTF_ROLE_MAGIC = 1 << 0,
	CTF_ROLE_UUID = 1 << 1,			/* array of 16 bytes */
	CTF_ROLE_STREAM_CLASS = 1 << 2,
	CTF_ROLE_STREAM = 1 << 3,		/* id of a stream in its class */
	CTF_ROLE_PACKET_SIZE = 1 << 4,		/* bits, padding included */
	CTF_ROLE_CONTENT_SIZE = 1 << 5,		/* bits, without padding */
	CTF_ROLE_TIMESTAMP = 1 << 6,		/* in a packet context: its beginning; in an event header: the
						 * event's time */
	CTF_ROLE_END_TIMESTAMP = 1 << 7,
	CTF_ROLE_DISCARDED = 1 << 8,		/* events, cumulative */
	CTF_ROLE_SEQUENCE = 1 << 9,		/* sequence number of the packet */
	CTF_ROLE_EVENT_CLASS = 1 << 10,
};

/* Encodings of text. */
enum ctf_encoding { CTF_UTF8, CTF_UTF16LE, CTF_UTF16BE, CTF_UTF32LE, CTF_UTF32BE };

/* When an event is decoded, the value of a length or tag is stored in a register. Registers are numbered from 1
 * within a stream class. Numbers above those of header and contexts are shared by all event classes. 0: no
 * register. */
#define CTF_NO_REG 0

struct ctf_type;

struct ctf_field {			/* member of a structure, in order; or an option */
	char *name;
	const struct ctf_type *type;
	uint16_t reg;			/* register for the value; only integers and enums */
};

struct ctf_range {			/* inclusive; signed values are stored as their bits */
	uint64_t lo, hi;
	char *label;			/* several ranges may have the same label */
};

struct ctf_select {			/* values of a tag that select an option */
	uint64_t lo, hi;		/* inclusive; signed values are stored as their bits */
	uint32_t option;
};

struct ctf_clock {
	char *name;			/* "monotonic" */
	char uuid[40];			/* of the boot: lower case, with dashes. Other clocks of CTF 2: a digest
					 * of the identity. "": unknown */
	uint64_t freq;			/* Hz, > 0 */
	int64_t offset_s;		/* s; at most +-LIMIT_TIME_SECONDS */
	uint64_t offset;		/* cycles, less than freq */
	bool absolute;
};

struct ctf_type {
	uint8_t kind;			/* enum ctf_kind */
	uint8_t encoding;		/* of text: enum ctf_encoding */
	bool big_endian : 1;		/* integer, float; of an enum: its container's */
	bool is_signed : 1;		/* integer, enum */
	bool is_text : 1;		/* integer: encoding is UTF8 or ASCII. Array or sequence: of such 8-bit
					 * integers, read as text */
	bool is_var : 1;		/* integer, enum: LEB128; .bits is 0 */
	bool is_reversed : 1;		/* integer, enum, float: the bits are in the unusual order for the byte
					 * order */
	bool is_bool : 1;		/* integer: 0 is false, all others are true */
	bool is_flags : 1;		/* enum: ranges are bit numbers */
	bool tag_is_signed : 1;		/* variant, optional: values in .select are signed */
	uint8_t base;			/* integer: preferred display base (2, 8, 10, 16) */
	uint16_t bits;			/* integer, enum: 1..64; float: 16, 32, 64, 96 ... */
	uint16_t roles;			/* enum ctf_role: integer, enum; UUID: array */
	uint32_t align;			/* bits, a power of two; 1: not aligned */
	const struct ctf_clock *clock;	/* integer that counts cycles of this clock; or NULL */
	union {
		struct {		/* CTF_STRUCT; CTF_VARIANT, CTF_OPTIONAL: options */
			struct ctf_field *field;
			uint32_t n_fields;
			uint16_t tag;	/* variant, optional: register of its tag */
			uint32_t n_selects;
			const struct ctf_select *select;	/* the first that fits is used */
		};
		struct {		/* CTF_ARRAY, CTF_SEQUENCE */
			const struct ctf_type *element;
			uint64_t length;	/* array */
			uint16_t length_reg;	/* sequence */
		};
		struct {		/* CTF_ENUM */
			struct ctf_range *range;
			uint32_t n_ranges;
		};
	};
};

/* Is v in [lo, hi]? */
static inline bool ctf_within(bool is_signed, uint64_t v, uint64_t lo, uint64_t hi)
{
	return is_signed ? (int64_t)v >= (int64_t)lo && (int64_t)v <= (int64_t)hi : v >= lo && v <= hi;
}

struct ctf_event_class {
	uint64_t id;
	char *name;			/* "sched_switch", "zipkin:timestamp" */
	const struct ctf_type *context;	/* structure or NULL */
	const struct ctf_type *fields;
};

struct ctf_stream_class {
	uint64_t id;
	const struct ctf_type *packet_context;	/* structure or NULL */
	const struct ctf_type *event_header;
	const struct ctf_type *event_context;
	GPtrArray *events;		/* struct ctf_event_class *, in the order of the metadata */
	uint32_t number;		/* index in ctf_meta.streams */
	uint16_t n_regs;		/* number of registers, register 0 included */
	bool packet_regs;		/* events refer to lengths or tags in the packet header or context */
	bool header_regs;		/* events refer to lengths or tags in the event header */
	bool in_grown;			/* is in ctf_meta.grown */
};

struct ctf_env { char *name; char *text; int64_t number; };	/* text NULL: a number */

/* What is unusual about metadata that can be read. */
enum ctf_remark_kind {
	CTF_REMARK_ATTRIBUTE,		/* CTF 1.8: an attribute that is not known is ignored */
	CTF_REMARK_CLOCK,		/* CTF 1.8: no clock is declared: timestamps count nanoseconds */
	CTF_N_REMARKS,
};
struct ctf_remark {
	char *first;			/* the first one, with its place in the text; owned */
	uint64_t n;			/* how many there are */
};

struct ctf_meta {
	uint8_t uuid[16];
	bool has_uuid;
	bool has_trace;			/* the trace block, or the preamble of CTF 2, was parsed */
	bool is_ctf2;
	bool big_endian;		/* CTF 1.8: native byte order of the trace */
	bool packetised;		/* the metadata is in packets */
	uint16_t packet_regs;		/* registers of packet headers and contexts, register 0 included */
	const struct ctf_type *packet_header;	/* structure or NULL */
	GPtrArray *clocks;		/* struct ctf_clock * */
	GPtrArray *streams;		/* struct ctf_stream_class * */
	GPtrArray *grown;		/* struct ctf_stream_class *: new, or with new event classes, since the last
					 * ctf_meta_compiled() */
	GArray *env;			/* struct ctf_env, each name once */
	struct ctf_remark remark[CTF_N_REMARKS];
};

/* Are both the same clock, with the same time at each cycle? The writer of babeltrace2 declares a clock once for each
 * stream class. */
bool ctf_clock_equal(const struct ctf_clock *a, const struct ctf_clock *b);

/* The structure's field with exactly this name; NULL: none. */
const struct ctf_field *ctf_type_field(const struct ctf_type *structure, const char *name);

/* The option that the tag's value selects; n_fields: none. For variants and optionals. */
uint32_t ctf_type_option(const struct ctf_type *t, uint64_t tag);

/* Is the size the same in every event? Then *ret_bits is that size if the value begins at a multiple of the type's
 * alignment; alignment inside is included. False: it contains a sequence, string, variant, optional or LEB128. */
bool ctf_type_fixed(const struct ctf_type *t, uint64_t *ret_bits);

/* The position (bits) after a value at `pos` whose texts and sequences are empty and whose variants have their largest
 * option; CTF_TOO_LARGE for more than any packet holds. Sets *has_lengths if it has texts, sequences or LEB128. */
#define CTF_TOO_LARGE ((uint64_t)LIMIT_PACKET_BYTES * 8)
uint64_t ctf_type_empty_end(const struct ctf_type *t, uint64_t pos, bool *has_lengths);

#endif
