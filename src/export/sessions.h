/* SPDX-License-Identifier: GPL-2.0-only */
/* The sessions of a relay daemon as JSON. */
#ifndef BLK_EXPORT_SESSIONS_H
#define BLK_EXPORT_SESSIONS_H

#include <glib.h>
#include <stdint.h>

struct session_row {
	const char *host, *session, *url;	/* any bytes */
	uint32_t timer_us;
	unsigned streams, viewers;
};

/* One object on one line: {"blktop":VERSION,"sessions":[{"host":...,"session":...,
 * "live_timer_ns":N,"streams":N,"viewers":N,"url":...},...]} (g_free). */
char *sessions_json(const struct session_row *rows, size_t n);

#endif
