/* SPDX-License-Identifier: GPL-2.0-only */
/* Alerts of thresholds that a test writes down. */
#ifndef BLK_TESTS_MADE_ALERTS_H
#define BLK_TESTS_MADE_ALERTS_H

#include "views/alerts.h"

struct made_alerts {
	GPtrArray *thresholds;
	struct alerts *alerts;
};

/* `texts`: NULL-terminated; they must be right. Judges all seconds of tl, unless it is NULL. */
void made_alerts_init(struct made_alerts *m, const char *const *texts, const struct timeline *tl);
void made_alerts_clear(struct made_alerts *m);

#endif
