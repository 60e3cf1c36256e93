/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded traces read for the journal: any range of them, with what must be known from
 * before it. The native reader goes to the range at once, and reads before it nothing but
 * what names descriptors; babeltrace2's reads all that comes before. One thread at a time.
 */
#ifndef BLK_RUN_LOGSOURCE_H
#define BLK_RUN_LOGSOURCE_H

#include "state/calllog/calllog.h"
#include "trace/reader.h"

/* by_bt2: read by babeltrace2's library instead of the native reader. */
struct logsource;
struct logsource *logsource_new(const char *const *paths, bool by_bt2, GError **error);
void logsource_free(struct logsource *s);	/* NULL is fine */
/* What follows ends soon once *stop (atomic) is not 0, also within a large packet; it has to stay. */
void logsource_stop_by(struct logsource *s, const int *stop);

/* "native", "babeltrace2: as asked for"; and what is left out as it can't be read (NULL: nothing). */
const char *logsource_reader_name(const struct logsource *s);
const char *logsource_warning(const struct logsource *s);

/* First to last event, half open. False: there is none, or it was stopped (or *error). */
bool logsource_bounds(struct logsource *s, int64_t *ret_from, int64_t *ret_to, GError **error);

struct logsource_range {
	int64_t from_ns, to_ns;		/* lines that stand there are told */
	int64_t warm_ns;		/* read before, for calls that began there; 0: 1 s */
	int64_t beyond_ns;		/* read behind, for calls that end there */
	size_t hold;			/* as in struct journal_options; SIZE_MAX: all */
	uint64_t most_bytes;		/* of packets read for names alone; 0: any number. Where there
					 * are more, no names from before are known */
	const int *stop;		/* atomic; not 0: end soon. Or NULL */
};

struct logsource_result {
	bool lost, damaged;		/* something of the range was lost, or can't be read (or not counted) */
	bool names;			/* descriptors have names from before the range */
};

/* false and *error, or false without an error: stopped. With ret_journal the journal is
 * not finished, but stays to be asked, as it is at the range's end, until it is freed. */
bool logsource_run(struct logsource *s, const struct logsource_range *range, journal_emit tell,
		   void *data, struct logsource_result *ret, struct journal **ret_journal,
		   GError **error);

#endif
