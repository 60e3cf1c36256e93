/* SPDX-License-Identifier: GPL-2.0-only */
/* Sources for tests: scripts, records that are played again, and a whole recorded trace. */
#ifndef BLK_TESTS_SOURCES_H
#define BLK_TESTS_SOURCES_H

#include "trace/reader.h"

/*
 * A scripted source for tests: one record a line,
 *     TS_NS CPU [DOMAIN[@HOST[/CONTAINER]]:]EVENT key=value key="text" ctx.tid=12 ...
 *     TS_NS CPU [...:]!lost events=N packets=N begin=NS end=NS back=NS
 *     TS_NS CPU !horizon
 *     TS_NS CPU !release 3.6.11
 *     TS_NS CPU !no-switches
 * DOMAIN is k (default) or u. CONTAINER: the hostname in the stream's own trace. Values: integers,
 * numbers with a point, inf and nan, "strings" with C escapes; "name[0]=1 name[1]=2" are elements of an array.
 * Records are sorted by time (stable). Unsubscribed events become tallies.
 */
struct source *source_open_script(const char *text, const struct blk_subscription *rows,
				  size_t n_rows, GError **error);

/*
 * Records kept in memory: reads all of `from` (taking it over) and can play any
 * part of it any number of times. For the property tests.
 */
struct recording;
struct recording *recording_new(struct source *from, GError **error);	/* NULL on error */
void recording_free(struct recording *r);
size_t recording_n(const struct recording *r);
const struct blk_event *recording_event(const struct recording *r, size_t i);
const struct blk_tables *recording_tables(const struct recording *r);

/* All of the traces below `paths`, by the native reader. */
struct source *source_open_native(const char *const *paths, const struct blk_subscription *rows,
				  size_t n_rows, GError **error);

struct model_options;
struct timeline;
/* The timeline of a whole script, by a model of these options. */
struct timeline *timeline_of_script(const char *script, const struct model_options *options);

#endif
