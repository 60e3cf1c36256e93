/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LTTNG_UST_CLOCK_PLUGIN: the clock of another host. Programs and consumer daemons have it ahead by
 * BLK_CLOCK_AHEAD ns; the session daemon, which holds it against the clock of day, does not know.
 */
#include <lttng/ust-clock.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t ahead;

static uint64_t read64(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + ahead;
}

static uint64_t freq(void)
{
	return 1000000000u;
}

static int uuid(char *to)
{
	memcpy(to, "b10cb10c-0000-4000-8000-00000000000b", LTTNG_UST_UUID_STR_LEN);
	return 0;
}

static const char *name(void)
{
	return "other_host";
}

static const char *description(void)
{
	return "The clock of another host";
}

void lttng_ust_clock_plugin_init(void);
void lttng_ust_clock_plugin_init(void)
{
	char comm[32] = "";
	FILE *f = fopen("/proc/self/comm", "r");
	const char *ns = getenv("BLK_CLOCK_AHEAD");

	if (f && fgets(comm, sizeof comm, f) && strncmp(comm, "lttng-sessiond", 14) && ns)
		ahead = strtoull(ns, NULL, 10);
	if (f)
		fclose(f);
	lttng_ust_trace_clock_set_read64_cb(read64);
	lttng_ust_trace_clock_set_freq_cb(freq);
	lttng_ust_trace_clock_set_uuid_cb(uuid);
	lttng_ust_trace_clock_set_name_cb(name);
	lttng_ust_trace_clock_set_description_cb(description);
	lttng_ust_enable_trace_clock_override();
}
