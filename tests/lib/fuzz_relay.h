/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay for fuzz targets, which answers whatever they say, below the client of the viewer protocol:
 * it attaches, is thrown out and comes back. What is asked is well-formed; records come in the order
 * of time; it ends, in a bounded number of questions.
 *
 * Network and clock are those of fake_net.h, and no thread is started: nothing waits, and what an input does, it
 * always does.
 */
#ifndef BLK_TEST_FUZZ_RELAY_H
#define BLK_TEST_FUZZ_RELAY_H

#include "lib/fake_net.h"
#include "lib/fuzz_take.h"
#include "live/viewer/viewer.h"

struct fuzz_relay {
	/* Appends the reply. payload: as many bytes as the question has. */
	void (*answer)(void *data, unsigned command, const uint8_t *payload, GByteArray *said);
	void *data;
	enum viewer_format format;	/* of the session, as it is listed */
	bool lists;			/* it is asked for its sessions first */
	const char *spool;		/* a directory that is to be made, for what is kept; NULL: none */
	struct fuzz_taken *taken;	/* gets the records */
};

void fuzz_relay_run(const struct fuzz_relay *with, const struct blk_subscription *rows, size_t n_rows);

#endif
