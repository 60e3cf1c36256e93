/* SPDX-License-Identifier: GPL-2.0-only */
/* What is read by commands that need single events: a trace, or the packets of slice files (--chunks). Main thread. */
#ifndef BLK_APP_PACKETS_H
#define BLK_APP_PACKETS_H

#include "app/exit_code.h"
#include "app/read_options.h"

struct packets {
	char **paths;		/* directories, NULL-terminated */
	bool placed;		/* slice files: the range is [from_ns, to_ns); else the reader of .paths finds it */
	int64_t from_ns, to_ns;
};

/* EXIT_FINE, or the exit status after a printed error. ret: packets_clear() in both cases. */
int packets_find(struct packets *ret, const struct read_options *o);
void packets_clear(struct packets *p);

#endif
