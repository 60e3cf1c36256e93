/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop --doctor: which questions a trace or a live session can answer, why not, and the commands that repair it. */
#ifndef BLK_CMD_DOCTOR_DOCTOR_H
#define BLK_CMD_DOCTOR_DOCTOR_H

#include "cli/options.h"

/* EXIT_FINE: every question is answered and nothing was lost. EXIT_LOSS: something is missing or was lost. */
int doctor_run(const struct options *o);

#endif
