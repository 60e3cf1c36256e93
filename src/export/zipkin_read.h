/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One span of Zipkin's JSON as a span of the timeline. Private to src/export/.
 */
#ifndef BLK_EXPORT_ZIPKIN_READ_H
#define BLK_EXPORT_ZIPKIN_READ_H

#include "export/import_names.h"

/* Of a span that was read. Its strings and ids are those of `names`. */
struct read_span {
	struct span *span;		/* parts and self time are set only if the file has them */
	bool has_time, has_end;
	bool has_self;			/* the file has its self time (written by blktop) */
	uint32_t n_waits;		/* TAG_WAITS: waits retained in it or below */
	uint64_t trace, id;		/* ids of the span, valid also after .span was merged */
	uint64_t upper;			/* the upper half of a trace id of 32 digits, else 0 */
	struct read_span *same;		/* the next one of the same ids; import_join.c's */
	char *remote_service, *remote_ip;	/* or NULL */
	uint32_t remote_port;
	GHashTable *told;		/* of waits and calls: tags that begin with "blktop."; or NULL */
};

void read_span_free(void *read);		/* NULL is fine */
/* NULL and *error: it is none, and why. */
struct read_span *zipkin_read(struct import_names *names, const char *text, size_t len,
			      GError **error);

/* Fields of a span that are found without parsing all of it. */
struct zipkin_peek {
	uint64_t trace;			/* as .trace */
	int64_t begin_ns, end_ns;	/* as its timestamp and duration have it; of one that has none
					 * TIME_UNKNOWN */
};
/* False: it has no trace id, and zipkin_read() refuses it. */
bool zipkin_peek(const char *text, size_t len, struct zipkin_peek *ret);

/* A fact that blktop wrote (facts.h). NULL or false: the file does not have it. */
const char *read_fact(const struct read_span *r, const char *key);
bool read_fact_int(const struct read_span *r, const char *key, int64_t *ret);

#endif
