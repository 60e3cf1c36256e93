/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CTF 1.8 metadata (TSDL) as LTTng 2.0 to 2.13 writes it, parsed: clocks, environment,
 * stream and event classes, types. What the parser does not know for sure it refuses
 * by name and position (BLK_TRACE_ERROR_UNSUPPORTED); babeltrace2 reads such a trace.
 *
 *     struct ctf_meta *m = ctf_meta_new();
 *     if (!ctf_meta_append(m, bytes, n, &error)) ...	// the whole file, or a live piece
 *     ... m->streams ...
 *     ctf_meta_free(m);
 *
 * Everything handed out is owned by the meta, immutable, and stays valid until it is
 * freed; ctf_meta_append() only adds (classes, clocks), so that live readers keep their
 * pointers. A meta may be read from several threads while nobody appends.
 *
 * Names are without the one leading '_' that LTTng puts before field names (as
 * babeltrace2 shows them): "_prev_comm" is "prev_comm", "__x_length" "_x_length".
 */
#ifndef BLK_TRACE_CTF_META_H
#define BLK_TRACE_CTF_META_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctf_kind {
	CTF_INTEGER, CTF_FLOAT, CTF_ENUM, CTF_STRING,
	CTF_STRUCT, CTF_ARRAY, CTF_SEQUENCE, CTF_VARIANT,
};

/* The value of an integer field that a length or tag refers to is kept in a register
 * of the decoder: numbered from 1 within a stream class (0: none), event classes share
 * the numbers behind those of header and contexts. */
#define CTF_NO_REG 0

struct ctf_type;

struct ctf_field {			/* of a structure, in order; or an option */
	char *name;
	const struct ctf_type *type;
	uint16_t reg;			/* where the value goes; integers and enums only */
};

struct ctf_range {			/* inclusive; signed values by their bits */
	uint64_t lo, hi;
	char *label;			/* labels may repeat */
};

struct ctf_clock {
	char *name;			/* "monotonic" */
	char uuid[40];			/* lower case with dashes, or "" */
	uint64_t freq;			/* Hz, > 0 */
	int64_t offset_s;
	uint64_t offset;		/* cycles; less than freq once parsed */
	bool absolute;
};

struct ctf_type {
	uint8_t kind;			/* enum ctf_kind */
	bool big_endian;		/* integer, float; an enum's is its container's */
	bool is_signed;			/* integer, enum */
	bool is_text;			/* integer: encoding UTF8 or ASCII; array or sequence
					 * of such 8-bit integers: reads as text */
	uint8_t base;			/* integer: preferred display base (2, 8, 10, 16) */
	uint8_t bits;			/* integer, enum: 1..64; float: 32 or 64 */
	uint32_t align;			/* bits, a power of two; 1 where CTF says none */
	const struct ctf_clock *clock;	/* integer mapped to it, or NULL */
	union {
		struct {		/* CTF_STRUCT; CTF_VARIANT: options */
			struct ctf_field *field;
			uint32_t n_fields;
			uint16_t tag;	/* variant: register of its tag */
			const struct ctf_type *tag_type;	/* variant: an enum */
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

/* Every type's shape is bounded: this deep, this big when all of it is counted. */
#define CTF_MAX_DEPTH 32

struct ctf_event_class {
	uint64_t id;
	char *name;			/* "sched_switch", "zipkin:timestamp" */
	const struct ctf_type *context;	/* structures or NULL */
	const struct ctf_type *fields;
};

struct ctf_stream_class {
	uint64_t id;
	const struct ctf_type *packet_context;	/* structures or NULL */
	const struct ctf_type *event_header;
	const struct ctf_type *event_context;
	GPtrArray *events;		/* struct ctf_event_class *, in order of text */
	uint16_t n_regs;		/* registers in use, number 0 included */
};

struct ctf_env { char *name; char *text; int64_t number; };	/* text NULL: a number */

struct ctf_meta {
	uint8_t uuid[16];
	bool has_uuid;
	bool has_trace;			/* the trace block was seen */
	bool big_endian;		/* native byte order of the trace */
	bool packetised;		/* the metadata file is */
	const struct ctf_type *packet_header;	/* structure or NULL */
	GPtrArray *clocks;		/* struct ctf_clock * */
	GPtrArray *streams;		/* struct ctf_stream_class * */
	GArray *env;			/* struct ctf_env */
};

struct ctf_meta *ctf_meta_new(void);
void ctf_meta_free(struct ctf_meta *m);		/* NULL is fine */
typedef struct ctf_meta blk_ctf_meta;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_ctf_meta, ctf_meta_free)

/*
 * Parses more metadata: a whole file (packetised, or text that begins with the comment
 * "CTF 1."), or, later on, pieces as a live tracer adds them: whole packets, or whole
 * declarations of text. Hostile: bounded in depth, size and time. Errors carry line and
 * column of the text ("12:5: ..."): CORRUPT (no TSDL: cut off, garbage, contradictions),
 * UNSUPPORTED (it may be TSDL, but LTTng does not write it: named). After an error the
 * meta may only be freed.
 */
bool ctf_meta_append(struct ctf_meta *m, const void *bytes, size_t n, GError **error);

/*
 * The same for pieces that are cut anywhere, of packets or text: what is complete (whole
 * packets, whole declarations) is parsed, the rest waits for the next piece. The meta is
 * borrowed, and takes nothing else.
 */
struct ctf_pieces;
struct ctf_pieces *ctf_pieces_new(struct ctf_meta *m);
void ctf_pieces_free(struct ctf_pieces *x);	/* NULL is fine */
bool ctf_pieces_append(struct ctf_pieces *x, const void *bytes, size_t n, GError **error);
bool ctf_pieces_wait(const struct ctf_pieces *x);	/* is there a rest? */

/* Classes by id; NULL when there is none (yet). */
const struct ctf_stream_class *ctf_meta_stream(const struct ctf_meta *m, uint64_t id);
const struct ctf_event_class *ctf_stream_event(const struct ctf_stream_class *sc, uint64_t id);
const char *ctf_meta_env(const struct ctf_meta *m, const char *name);	/* text; NULL */
bool ctf_meta_env_number(const struct ctf_meta *m, const char *name, int64_t *ret);

/* The structure's field of that name (exact); NULL when there is none. */
const struct ctf_field *ctf_type_field(const struct ctf_type *structure, const char *name);

/* Is its size the same in every event? Then *ret_bits is that size, begun at a multiple
 * of the type's own alignment. (Alignment inside is counted; no sequence, string or
 * variant.) */
bool ctf_type_fixed(const struct ctf_type *t, uint64_t *ret_bits);

#endif
