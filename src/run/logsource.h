/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads ranges of recorded traces for the log, with the context that they need from before. The native reader seeks to
 * the range, and reads before it only the events that name descriptors; babeltrace2's reader reads all that comes
 * before. One thread at a time.
 */
#ifndef BLK_RUN_LOGSOURCE_H
#define BLK_RUN_LOGSOURCE_H

#include "state/calllog/calllog.h"
#include "trace/reader.h"

/* by_bt2: read by babeltrace2's library instead of the native reader. */
struct logsource;
struct logsource *logsource_new(const char *const *paths, bool by_bt2, GError **error);
void logsource_free(struct logsource *s);	/* NULL is fine */
/* Later calls stop soon once *stop (atomic) is not 0, also within a large packet. `stop` stays borrowed. */
void logsource_stop_by(struct logsource *s, const int *stop);

/* "native" or "babeltrace2: as asked for"; and what is left out because it cannot be read (NULL: nothing). Borrowed. */
const char *logsource_reader_name(const struct logsource *s);
const char *logsource_warning(const struct logsource *s);
char *logsource_remark(const struct logsource *s);	/* native_remark(), after logsource_run() */

/* [*ret_from, *ret_to): the first event up to after the last. False: no event, stopped, or *error. */
bool logsource_bounds(struct logsource *s, int64_t *ret_from, int64_t *ret_to, GError **error);

struct logsource_range {
	int64_t from_ns, to_ns;		/* lines in [from, to) are reported */
	int64_t warm_ns;		/* how much is read before, for calls that began there; 0: 1 s */
	int64_t beyond_ns;		/* how much is read after, for calls that end there */
	size_t hold;			/* as in struct calllog_options; SIZE_MAX: all */
	uint64_t most_bytes;		/* most bytes of packets read for names only; 0: no bound. With
					 * more, names from before are unknown */
	const int *stop;		/* atomic; not 0: stop soon. Or NULL */
};

struct logsource_result {
	bool lost, damaged;		/* events were lost; or are unreadable, or lost in unknown number */
	bool names;			/* descriptors have names from before the range */
};

/* False with *error: failed; without: stopped. With ret_calllog, the log is not finished but returned in its state at
 * the range's end; the caller frees it. */
bool logsource_run(struct logsource *s, const struct logsource_range *range, calllog_emit emit,
		   void *data, struct logsource_result *ret, struct calllog **ret_calllog,
		   GError **error);

#endif
