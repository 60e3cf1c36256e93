/* SPDX-License-Identifier: GPL-2.0-only */
/* The phases of an operation, and of the selected one what it waits for. */
#include "ui/app.h"

const struct screen screen_phases = { CTX_TABLE, NULL, NULL, NULL };
