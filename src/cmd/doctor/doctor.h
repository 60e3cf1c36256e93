/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop --doctor: which questions a trace or a live session can answer, why not, and the commands that repair it. */
#ifndef BLK_CMD_DOCTOR_DOCTOR_H
#define BLK_CMD_DOCTOR_DOCTOR_H

#include "cli/command.h"

/* seconds: how long a live session is listened to. EXIT_FINE: every question is answered and nothing was lost.
 * EXIT_LOSS: something is missing or was lost. */
int doctor_run(const struct read_options *read, enum rows_format format, const struct output_options *output,
	       unsigned seconds);

#endif
