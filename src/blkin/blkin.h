/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BLKIN_H
#define BLKIN_H

/*
 * libblkin records requests as spans through LTTng-UST, with the names and events of BlkKin. In the words of Dapper: a
 * trace is one request. A span is one named phase of it on one endpoint. The parent of a span is the span that
 * caused it. An annotation is an instant, or a key with a value.
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
 * A span begins and ends with a pair of annotations: "cs" and "cr" (sent and received by a client), "sr" and "ss"
 * (received and sent by a server), otherwise "start" and "end". A request that continues in another process takes
 * a struct blkin_trace_info with it (packed, in a network message). There blkin_set_trace_info() makes the server
 * half of the same span from it, and blkin_init_child_info() makes a child.
 *
 * Nothing is allocated, copied or freed. Names, keys and values are owned by the caller and must live as long as
 * the structs that point to them. Functions may be called from any thread, while each struct is used by one
 * thread; not from signal handlers. They return 0 or a negative errno: -EINVAL if a required pointer is NULL.
 *
 * LTTng-UST is loaded when it is first needed: by blkin_init(), or by the first annotation of a sampled span. This
 * may wait for a session daemon, at most LTTNG_UST_REGISTER_TIMEOUT (3 s). Without LTTng-UST or a session daemon
 * all functions work and record nothing.
 *
 * After fork() the child records like its parent; liblttng-ust-fork.so is not needed, and does no harm. A child
 * made by clone() or vfork() must exec first. A daemon that closes all descriptors needs liblttng-ust-fd.so
 * preloaded, like every program traced by LTTng.
 *
 * Environment:
 *   BLKIN_RATE      N: one of N root spans is sampled; the others and all spans below them record
 *                   nothing. 1: all are sampled. RATE is used if BLKIN_RATE is not set.
 *   BLKIN_LEVEL     err, warning, notice, info or debug: less important annotations are not
 *                   recorded. Sessions can choose, too:
 *                   lttng enable-event -u 'zipkin:*' --loglevel=WARNING
 *   BLKIN_PROVIDER  none: record nothing, load nothing. A path: load this in place of
 *                   libblkin-lttng.so.0 (ignored in set-user-id programs).
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The ids that a request carries. parent_span_id 0: a root span. All 0: not sampled. */
struct blkin_trace_info {
	int64_t trace_id, span_id, parent_span_id;
};

/* The same in network byte order. */
struct blkin_trace_info_packed {
	unsigned char bytes[24];
};

/* The place where annotations are made. */
struct blkin_endpoint {
	const char *ip;			/* as text; NULL: "" */
	int port;			/* 0: none */
	const char *name;		/* name of the service; NULL: "" */
};

/* A span. */
struct blkin_trace {
	const char *name;
	struct blkin_trace_info info;
	struct blkin_endpoint *trace_endpoint;
};

/* The importance of an annotation: LTTng's log levels. */
enum blkin_level {
	BLKIN_ERR = 3, BLKIN_WARNING = 4, BLKIN_NOTICE = 5, BLKIN_INFO = 6, BLKIN_DEBUG = 14
};

typedef enum { ANNOT_STRING, ANNOT_INTEGER, ANNOT_TIMESTAMP } blkin_annotation_type;

struct blkin_annotation {
	blkin_annotation_type type;
	const char *key;		/* the key; or the event */
	union {
		const char *val_str;
		int64_t val_int;
	};
	struct blkin_endpoint *annotation_endpoint;	/* NULL: that of the span */
	int level;			/* enum blkin_level; initially BLKIN_WARNING */
};

/* Loads the tracer now. -ENOENT: it is not installed; then all calls cost almost nothing. */
int blkin_init(void);

int blkin_init_endpoint(struct blkin_endpoint *endpoint, const char *ip, int port,
			const char *name);

/* A root span with new ids. With BLKIN_RATE N, only one of N is sampled. */
int blkin_init_new_trace(struct blkin_trace *trace, const char *name,
			 struct blkin_endpoint *endpoint);
/* A child of another span: same trace, new id. endpoint NULL: that of the parent. */
int blkin_init_child(struct blkin_trace *child, const struct blkin_trace *parent,
		     struct blkin_endpoint *endpoint, const char *name);
/* The same from ids that came with a request. */
int blkin_init_child_info(struct blkin_trace *child, const struct blkin_trace_info *info,
			  struct blkin_endpoint *endpoint, const char *name);

/* Gets the ids of a span, to send them; makes a span of ids that were received. */
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
/* Sets an importance other than BLKIN_WARNING. */
int blkin_set_level(struct blkin_annotation *annotation, int level);

/* Records the annotation; does nothing if the span is not sampled. */
int blkin_record(const struct blkin_trace *trace, const struct blkin_annotation *annotation);

/* Is the span sampled? Check this before computing an expensive value. */
static inline int blkin_is_sampled(const struct blkin_trace *trace)
{
	return trace && trace->info.trace_id != 0;
}

/* Make and record an annotation; the level is enum blkin_level. */
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
