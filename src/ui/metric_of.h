/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys i and d: heatmap and distribution of what the selected row is about; the sort column says of which duration. */
#ifndef BLK_UI_METRIC_OF_H
#define BLK_UI_METRIC_OF_H

#include "ui/app_state.h"

void metric_of_command(struct app *app, struct place *p, enum command_id command);

#endif
