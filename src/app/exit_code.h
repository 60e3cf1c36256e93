/* SPDX-License-Identifier: GPL-2.0-only */
/* The exit statuses of blktop. */
#ifndef BLK_APP_EXIT_CODE_H
#define BLK_APP_EXIT_CODE_H

enum exit_code {
	EXIT_FINE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LOSS = 3,		/* batch: the trace was read with loss */
	EXIT_INCOMPLETE = 4,	/* batch: the relay, the session daemon or the path gave up; not all was sent; or
				 * figures are unknown, as spans were dropped to save memory */
	EXIT_SIGNAL = 128,	/* + its number */
};

#endif
