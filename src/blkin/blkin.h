/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BLKIN_H
#define BLKIN_H

/*
 * libblkin: requests as spans, recorded through LTTng-UST, with the names and events of
 * BlkKin. In Dapper's words: a trace is one request, a span one named phase of it on one
 * endpoint, its parent the span that caused it, an annotation an instant or a key with a
 * value.
 *
 *     struct blkin_endpoint here;
 *     struct blkin_trace request, phase;
 *     blkin_init_endpoint(&here, "10.0.0.1", 80, "web");
 *     blkin_init_new_trace(&request, "GET /", &here);
 *     BLKIN_TIMESTAMP(&request, NULL, "sr");
 *     blkin_init_child(&phase, &request, NULL, "render");
 *     BLKIN_TIMESTAMP(&phase, NULL, "start");
 *     BLKIN_KEYVAL_INTEGER(&phase, NULL, "bytes", 4096);
 *     BLKIN_TIMESTAMP(&phase, NULL, "end");
 *     BLKIN_TIMESTAMP(&request, NULL, "ss");
 *
 * A span begins and ends with the pair that fits: "cs" and "cr" (sent by, received by a
 * client), "sr" and "ss" (received by, sent by a server), "start" and "end" (nobody
 * else). A request that goes on in another process takes struct blkin_trace_info with it
 * (packed, for a network): there blkin_set_trace_info() makes the same span of it, whose
 * server half it is, and blkin_init_child_info() a child.
 *
 * Nothing is allocated, copied or freed: names, keys and values are the caller's, and
 * must live as long as what points to them. All functions may be called from any thread
 * at once, as long as each struct is used by one; not from signal handlers. All return
 * 0, or a negative errno: -EINVAL where a pointer is missing that is needed.
 *
 * LTTng-UST is loaded when first needed, by blkin_init() or the first annotation of a
 * sampled span; that may wait for a session daemon, as long as LTTNG_UST_REGISTER_TIMEOUT
 * says (3 s). Without it, or without the session daemon, everything works and records
 * nothing.
 *
 * After fork() the child records as its parent does; liblttng-ust-fork.so is not needed,
 * and does no harm. A child made by clone() or vfork() has to exec first. What closes all
 * descriptors (daemons) wants liblttng-ust-fd.so preloaded, as with every LTTng program.
 *
 * Environment:
 *   BLKIN_RATE      N: one of N root spans is real, the others and all below them record
 *                   nothing. 1: all of them. RATE is taken where BLKIN_RATE is not set.
 *   BLKIN_LEVEL     err, warning, notice, info or debug: annotations of a lower importance
 *                   are not made at all. Sessions choose by themselves, too:
 *                   lttng enable-event -u 'zipkin:*' --loglevel=WARNING
 *   BLKIN_PROVIDER  none: record nothing, load nothing. A path: load this in place of
 *                   libblkin-lttng.so.0 (ignored in set-user-id programs).
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What goes with a request. parent_span_id 0: a root. All 0: not sampled. */
struct blkin_trace_info {
	int64_t trace_id, span_id, parent_span_id;
};

/* The same in the network's byte order. */
struct blkin_trace_info_packed {
	unsigned char bytes[24];
};

/* Where annotations are made. */
struct blkin_endpoint {
	const char *ip;			/* as text; NULL: "" */
	int port;			/* 0: none */
	const char *name;		/* of the service; NULL: "" */
};

/* A span. */
struct blkin_trace {
	const char *name;
	struct blkin_trace_info info;
	struct blkin_endpoint *trace_endpoint;
};

/* How important an annotation is: LTTng's log levels. */
enum blkin_level {
	BLKIN_ERR = 3, BLKIN_WARNING = 4, BLKIN_NOTICE = 5, BLKIN_INFO = 6, BLKIN_DEBUG = 14
};

typedef enum { ANNOT_STRING, ANNOT_INTEGER, ANNOT_TIMESTAMP } blkin_annotation_type;

struct blkin_annotation {
	blkin_annotation_type type;
	const char *key;		/* or the event */
	union {
		const char *val_str;
		int64_t val_int;
	};
	struct blkin_endpoint *annotation_endpoint;	/* NULL: the span's */
	int level;			/* enum blkin_level; BLKIN_WARNING by itself */
};

/* Loads the tracer now. -ENOENT: it is not there; calls cost next to nothing then. */
int blkin_init(void);

int blkin_init_endpoint(struct blkin_endpoint *endpoint, const char *ip, int port,
			const char *name);

/* A root span with ids of its own; or, of N calls but one, one that is not sampled. */
int blkin_init_new_trace(struct blkin_trace *trace, const char *name,
			 struct blkin_endpoint *endpoint);
/* A span below another: same trace, a new id. endpoint NULL: the parent's. */
int blkin_init_child(struct blkin_trace *child, const struct blkin_trace *parent,
		     struct blkin_endpoint *endpoint, const char *name);
/* The same from ids that came with a request. */
int blkin_init_child_info(struct blkin_trace *child, const struct blkin_trace_info *info,
			  struct blkin_endpoint *endpoint, const char *name);

/* The ids of a span, to send them; and a span of ids that came. */
int blkin_get_trace_info(const struct blkin_trace *trace, struct blkin_trace_info *info);
int blkin_set_trace_info(struct blkin_trace *trace, const struct blkin_trace_info *info);
int blkin_pack_trace_info(const struct blkin_trace_info *info,
			  struct blkin_trace_info_packed *packed);
int blkin_unpack_trace_info(const struct blkin_trace_info_packed *packed,
			    struct blkin_trace_info *info);

int blkin_init_timestamp_annotation(struct blkin_annotation *annotation, const char *event,
				    struct blkin_endpoint *endpoint);
int blkin_init_string_annotation(struct blkin_annotation *annotation, const char *key,
				 const char *val, struct blkin_endpoint *endpoint);
int blkin_init_integer_annotation(struct blkin_annotation *annotation, const char *key,
				  int64_t val, struct blkin_endpoint *endpoint);
/* Another importance than BLKIN_WARNING. */
int blkin_set_level(struct blkin_annotation *annotation, int level);

/* Makes the annotation; of a span that is not sampled it does nothing. */
int blkin_record(const struct blkin_trace *trace, const struct blkin_annotation *annotation);

/* Is the span sampled? Ask before what is annotated costs something to find out. */
static inline int blkin_is_sampled(const struct blkin_trace *trace)
{
	return trace && trace->info.trace_id != 0;
}

/* One line each; the level is enum blkin_level. */
#define BLKIN_RECORD_(trace, how, level_) \
	do { \
		struct blkin_annotation blkin_a_; \
		if (blkin_is_sampled(trace) && (how) == 0) { \
			blkin_a_.level = (level_); \
			blkin_record(trace, &blkin_a_); \
		} \
	} while (0)
#define BLKIN_TIMESTAMP_LEVEL(trace, endpoint, level, event) \
	BLKIN_RECORD_(trace, blkin_init_timestamp_annotation(&blkin_a_, event, endpoint), level)
#define BLKIN_KEYVAL_STRING_LEVEL(trace, endpoint, level, key, val) \
	BLKIN_RECORD_(trace, blkin_init_string_annotation(&blkin_a_, key, val, endpoint), level)
#define BLKIN_KEYVAL_INTEGER_LEVEL(trace, endpoint, level, key, val) \
	BLKIN_RECORD_(trace, blkin_init_integer_annotation(&blkin_a_, key, val, endpoint), level)
#define BLKIN_TIMESTAMP(trace, endpoint, event) \
	BLKIN_TIMESTAMP_LEVEL(trace, endpoint, BLKIN_WARNING, event)
#define BLKIN_KEYVAL_STRING(trace, endpoint, key, val) \
	BLKIN_KEYVAL_STRING_LEVEL(trace, endpoint, BLKIN_WARNING, key, val)
#define BLKIN_KEYVAL_INTEGER(trace, endpoint, key, val) \
	BLKIN_KEYVAL_INTEGER_LEVEL(trace, endpoint, BLKIN_WARNING, key, val)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
