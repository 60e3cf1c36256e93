/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events. In LTTng an event has one log level, but each annotation has its own. So there are several events of
 * each name, one for each level, from which sessions choose (--loglevel). All are connected to the same
 * tracepoint, and each records the annotations of its level. A trace shows them as one event with the same name
 * and fields.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "classes_tp.h"

#include "provider.h"

#include <dlfcn.h>
#include <lttng/ust-fork.h>
#include <pthread.h>
#include <stdlib.h>

enum { AS_ERR, AS_WARNING, AS_NOTICE, AS_INFO, AS_DEBUG };

static const int as_level[] = { BLKIN_ERR, BLKIN_WARNING, BLKIN_NOTICE, BLKIN_INFO, BLKIN_DEBUG };
static const int *level_at[] = {
	&as_level[AS_ERR], &as_level[AS_WARNING], &as_level[AS_NOTICE], &as_level[AS_INFO],
	&as_level[AS_DEBUG],
};
static const char *no_uri;

/* The level of the event that records annotations of this level. */
static inline int level_class(int level)
{
	return level <= BLKIN_ERR ? AS_ERR : level <= BLKIN_INFO ? level - BLKIN_ERR : AS_DEBUG;
}

extern const struct lttng_ust_probe_desc blkin_probe_desc;

#define COMMON \
	void *event, int level, const char *span, const char *service, int port, const char *ip, \
	const struct blkin_trace_info *info
#define PASS event, level, span, service, port, ip, info

#define EVENT(as, class_name, params, args) \
	static void class_name##_##as params \
	{ \
		if (level_class(level) == (as)) \
			lttng_ust__event_probe__blkin___##class_name args; \
	} \
	static const struct lttng_ust_tracepoint_class class_name##_class_##as = { \
		.struct_size = sizeof(struct lttng_ust_tracepoint_class), \
		.fields = lttng_ust__event_fields___blkin___##class_name, \
		.nr_fields = sizeof lttng_ust__event_fields___blkin___##class_name / \
			sizeof lttng_ust__event_fields___blkin___##class_name[0] - 1, \
		.probe_callback = (void (*)(void))class_name##_##as, \
		.signature = __tp_event_signature___blkin___##class_name, \
		.probe_desc = &blkin_probe_desc, \
	}; \
	static const struct lttng_ust_event_desc class_name##_desc_##as = { \
		.struct_size = sizeof(struct lttng_ust_event_desc), \
		.event_name = #class_name, \
		.probe_desc = &blkin_probe_desc, \
		.tp_class = &class_name##_class_##as, \
		.loglevel = &level_at[as], \
		.model_emf_uri = &no_uri, \
	};

#define EVENTS(as) \
	EVENT(as, timestamp, (COMMON, const char *what), (PASS, what)) \
	EVENT(as, keyval_string, (COMMON, const char *key, const char *val), (PASS, key, val)) \
	EVENT(as, keyval_integer, (COMMON, const char *key, int64_t val), (PASS, key, val))

EVENTS(AS_ERR)
EVENTS(AS_WARNING)
EVENTS(AS_NOTICE)
EVENTS(AS_INFO)
EVENTS(AS_DEBUG)

#define DESCS(as) &timestamp_desc_##as, &keyval_string_desc_##as, &keyval_integer_desc_##as

static const struct lttng_ust_event_desc *const event_descs[] = {
	DESCS(AS_ERR), DESCS(AS_WARNING), DESCS(AS_NOTICE), DESCS(AS_INFO), DESCS(AS_DEBUG),
};

const struct lttng_ust_probe_desc blkin_probe_desc = {
	.struct_size = sizeof(struct lttng_ust_probe_desc),
	.provider_name = "zipkin",
	.event_desc = event_descs,
	.nr_events = sizeof event_descs / sizeof event_descs[0],
	.major = LTTNG_UST_PROVIDER_MAJOR,
	.minor = LTTNG_UST_PROVIDER_MINOR,
};

/* ---- forks ---- */

static _Thread_local sigset_t signals;

static void before_fork(void)
{
	lttng_ust_before_fork(&signals);
}

static void after_fork_parent(void)
{
	lttng_ust_after_fork_parent(&signals);
}

static void after_fork_child(void)
{
	lttng_ust_after_fork_child(&signals);
}

/* liblttng-ust-fork does the same if it is preloaded: twice would deadlock. */
static int is_done_already(void)
{
	void *so = dlopen("liblttng-ust-fork.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (so)
		dlclose(so);
	return so != NULL;
}

__attribute__((constructor)) static void start(void)
{
	lttng_ust_probe_register(&blkin_probe_desc);
	if (!is_done_already())
		pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
