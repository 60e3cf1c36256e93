/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads one span of Zipkin's JSON as a span of the timeline. Private to src/export/.
 */
#ifndef BLK_EXPORT_ZIPKIN_READ_H
#define BLK_EXPORT_ZIPKIN_READ_H

#include "base/json_read.h"
#include "export/import_names.h"

/* A span that was read. Its strings and ids belong to `names`. */
struct read_span {
	struct span *span;		/* parts and self time are set only if the file has them */
	bool has_time, has_end;
	bool has_self;			/* the file has its self time (written by blktop) */
	uint32_t n_waits;		/* TAG_WAITS: waits retained in it or below */
	uint64_t trace, id;		/* ids of the span, valid also after .span was merged */
	uint64_t upper;			/* upper half of a trace id of 32 digits, else 0 */
	struct read_span *same;		/* the next span with the same ids; set by import_join.c */
	char *remote_service, *remote_ip;	/* or NULL */
	uint32_t remote_port;
	GHashTable *attributes;		/* of waits and calls: tags that begin with "blktop."; NULL for other spans */
};

void read_span_free(void *read);		/* NULL is fine */
/* NULL and *error: the object is not a valid span. */
struct read_span *zipkin_read(struct import_names *names, const char *text, size_t len,
			      GError **error);

/* What the survey needs of a span. */
struct zipkin_peek {
	uint64_t trace;			/* as .trace */
	int64_t begin_ns, end_ns;	/* from timestamp and duration; TIME_UNKNOWN: the span has none */
};
/* False: there is no trace id; zipkin_read() refuses such an object. */
bool zipkin_peek(struct json_value o, struct zipkin_peek *ret);

/* An attribute that blktop wrote (attributes.h). NULL or false: the file does not have it. */
const char *read_attribute(const struct read_span *r, const char *key);
bool read_attribute_int(const struct read_span *r, const char *key, int64_t *ret);

#endif
