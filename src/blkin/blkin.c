/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spans and annotations, and loading of the tracer: see blkin.h. */
#include "blkin.h"

#include "ids.h"
#include "provider.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RATE 1000000000

/* ---- the tracer ---- */

static void record_nothing(int level, const struct blkin_where *w, const char *event)
{
	(void)level, (void)w, (void)event;
}

static void record_no_string(int level, const struct blkin_where *w, const char *key,
			     const char *val)
{
	(void)level, (void)w, (void)key, (void)val;
}

static void record_no_integer(int level, const struct blkin_where *w, const char *key, int64_t val)
{
	(void)level, (void)w, (void)key, (void)val;
}

static const struct blkin_provider nothing = {
	record_nothing, record_no_string, record_no_integer,
};

/* NULL: not loaded yet. */
static const struct blkin_provider *_Atomic provider;
static _Thread_local int is_loading;	/* set while the tracer is loaded: its constructors may call traced code */
static _Atomic int most_level = BLKIN_DEBUG;	/* from BLKIN_LEVEL; set before `provider` */

static int level_of(const char *text)
{
	static const struct { const char *name; int level; } levels[] = {
		{ "err", BLKIN_ERR }, { "warning", BLKIN_WARNING }, { "notice", BLKIN_NOTICE },
		{ "info", BLKIN_INFO }, { "debug", BLKIN_DEBUG },
	};
	for (size_t i = 0; text && i < sizeof levels / sizeof levels[0]; i++)
		if (strcmp(text, levels[i].name) == 0)
			return levels[i].level;
	return BLKIN_DEBUG;
}

/* Tries the directory of this library first: both libraries are installed together. */
static void *open_beside(void)
{
	char path[4096];
	Dl_info self;

	if (!dladdr((const void *)blkin_record, &self) || !self.dli_fname)
		return NULL;
	const char *slash = strrchr(self.dli_fname, '/');
	int n = slash ? (int)(slash - self.dli_fname) : -1;
	if (n < 0 || snprintf(path, sizeof path, "%.*s/%s", n, self.dli_fname,
			      BLKIN_PROVIDER_SO) >= (int)sizeof path)
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static const struct blkin_provider *load(void)
{
	const char *asked = secure_getenv("BLKIN_PROVIDER");
	void *so;

	if (asked && strcmp(asked, "none") == 0)
		return &nothing;
	if (asked && *asked) {
		so = dlopen(asked, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	} else {
		so = open_beside();
		if (!so)
			so = dlopen(BLKIN_PROVIDER_SO, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	}
	const struct blkin_provider *found = so ? dlsym(so, BLKIN_PROVIDER_SYMBOL) : NULL;
	return found ? found : &nothing;
}

/* Several threads may be here at once; all find the same library, as the loader has a lock. A lock here could
 * deadlock: a thread with the loader's lock may be in a constructor that is traced. */
static const struct blkin_provider *load_now(void)
{
	int error = errno;

	if (is_loading)
		return &nothing;
	is_loading = 1;
	atomic_store(&most_level, level_of(getenv("BLKIN_LEVEL")));
	const struct blkin_provider *p = load();
	is_loading = 0;
	atomic_store_explicit(&provider, p, memory_order_release);
	errno = error;
	return p;
}

static inline const struct blkin_provider *get_provider(void)
{
	const struct blkin_provider *p = atomic_load_explicit(&provider, memory_order_acquire);
	return p ? p : load_now();
}

int blkin_init(void)
{
	return get_provider() == &nothing ? -ENOENT : 0;
}

/* ---- sampling ---- */

static pthread_once_t rate_once = PTHREAD_ONCE_INIT;
static uint32_t rate = 1;
static _Atomic uint32_t turn;

/* Each process begins its count at another number, so that short-lived processes are sampled, too. */
static void read_rate(void)
{
	const char *text = getenv("BLKIN_RATE");
	int64_t random = 0;
	char *end;

	if (!text)
		text = getenv("RATE");
	long n = text ? strtol(text, &end, 10) : 1;
	if (text && (end == text || *end || n < 1 || n > MOST_RATE))
		n = 1;
	rate = (uint32_t)n;
	blkin_new_id(&random);
	atomic_store(&turn, (uint32_t)((uint64_t)random % rate));
}

static int is_chosen(void)
{
	pthread_once(&rate_once, read_rate);
	if (rate == 1)
		return 1;
	uint32_t now = atomic_load_explicit(&turn, memory_order_relaxed), next;
	do
		next = now + 1 < rate ? now + 1 : 0;
	while (!atomic_compare_exchange_weak_explicit(&turn, &now, next, memory_order_relaxed,
						      memory_order_relaxed));
	return next == 0;
}

/* ---- spans ---- */

int blkin_init_endpoint(struct blkin_endpoint *endpoint, const char *ip, int port,
			const char *name)
{
	if (!endpoint)
		return -EINVAL;
	*endpoint = (struct blkin_endpoint){ ip, port, name };
	return 0;
}

int blkin_init_new_trace(struct blkin_trace *trace, const char *name,
			 struct blkin_endpoint *endpoint)
{
	if (!trace)
		return -EINVAL;
	*trace = (struct blkin_trace){ .name = name, .trace_endpoint = endpoint };
	if (!is_chosen())
		return 0;
	int result = blkin_new_id(&trace->info.span_id);
	if (result == 0)
		result = blkin_new_id(&trace->info.trace_id);
	if (result != 0)
		trace->info = (struct blkin_trace_info){ 0, 0, 0 };
	return result;
}

int blkin_init_child_info(struct blkin_trace *child, const struct blkin_trace_info *info,
			  struct blkin_endpoint *endpoint, const char *name)
{
	if (!child || !info)
		return -EINVAL;
	struct blkin_trace_info parent = *info;		/* info may be the child's own */
	*child = (struct blkin_trace){ .name = name, .trace_endpoint = endpoint };
	if (!parent.trace_id)
		return 0;
	int result = blkin_new_id(&child->info.span_id);
	if (result != 0)
		return result;
	child->info.trace_id = parent.trace_id;
	child->info.parent_span_id = parent.span_id;
	return 0;
}

int blkin_init_child(struct blkin_trace *child, const struct blkin_trace *parent,
		     struct blkin_endpoint *endpoint, const char *name)
{
	if (!parent)
		return -EINVAL;
	return blkin_init_child_info(child, &parent->info,
				     endpoint ? endpoint : parent->trace_endpoint, name);
}

int blkin_get_trace_info(const struct blkin_trace *trace, struct blkin_trace_info *info)
{
	if (!trace || !info)
		return -EINVAL;
	*info = trace->info;
	return 0;
}

int blkin_set_trace_info(struct blkin_trace *trace, const struct blkin_trace_info *info)
{
	if (!trace || !info)
		return -EINVAL;
	trace->info = *info;
	return 0;
}

int blkin_pack_trace_info(const struct blkin_trace_info *info,
			  struct blkin_trace_info_packed *packed)
{
	if (!info || !packed)
		return -EINVAL;
	const int64_t ids[] = { info->trace_id, info->span_id, info->parent_span_id };
	for (int i = 0; i < 24; i++)
		packed->bytes[i] = (unsigned char)((uint64_t)ids[i / 8] >> (56 - 8 * (i % 8)));
	return 0;
}

int blkin_unpack_trace_info(const struct blkin_trace_info_packed *packed,
			    struct blkin_trace_info *info)
{
	uint64_t ids[3] = { 0 };

	if (!packed || !info)
		return -EINVAL;
	for (int i = 0; i < 24; i++)
		ids[i / 8] = ids[i / 8] << 8 | packed->bytes[i];
	*info = (struct blkin_trace_info){ (int64_t)ids[0], (int64_t)ids[1], (int64_t)ids[2] };
	return 0;
}

/* ---- annotations ---- */

int blkin_init_timestamp_annotation(struct blkin_annotation *annotation, const char *event,
				    struct blkin_endpoint *endpoint)
{
	if (!annotation || !event)
		return -EINVAL;
	*annotation = (struct blkin_annotation){
		.type = ANNOT_TIMESTAMP, .key = event, .annotation_endpoint = endpoint,
		.level = BLKIN_WARNING,
	};
	return 0;
}

int blkin_init_string_annotation(struct blkin_annotation *annotation, const char *key,
				 const char *val, struct blkin_endpoint *endpoint)
{
	if (!annotation || !key || !val)
		return -EINVAL;
	*annotation = (struct blkin_annotation){
		.type = ANNOT_STRING, .key = key, .val_str = val, .annotation_endpoint = endpoint,
		.level = BLKIN_WARNING,
	};
	return 0;
}

int blkin_init_integer_annotation(struct blkin_annotation *annotation, const char *key,
				  int64_t val, struct blkin_endpoint *endpoint)
{
	if (!annotation || !key)
		return -EINVAL;
	*annotation = (struct blkin_annotation){
		.type = ANNOT_INTEGER, .key = key, .val_int = val, .annotation_endpoint = endpoint,
		.level = BLKIN_WARNING,
	};
	return 0;
}

int blkin_set_level(struct blkin_annotation *annotation, int level)
{
	if (!annotation)
		return -EINVAL;
	annotation->level = level;
	return 0;
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

int blkin_record(const struct blkin_trace *trace, const struct blkin_annotation *a)
{
	if (!trace || !a)
		return -EINVAL;
	if (!trace->info.trace_id)
		return 0;
	const struct blkin_provider *p = get_provider();
	if (p == &nothing ||
	    a->level > atomic_load_explicit(&most_level, memory_order_relaxed))
		return 0;
	const struct blkin_endpoint *e = a->annotation_endpoint ? a->annotation_endpoint
								: trace->trace_endpoint;
	struct blkin_where w = { .span = text_of(trace->name), .info = &trace->info };
	w.service = e ? text_of(e->name) : "";
	w.ip = e ? text_of(e->ip) : "";
	w.port = e ? e->port : 0;
	switch (a->type) {
	case ANNOT_TIMESTAMP:
		p->timestamp(a->level, &w, text_of(a->key));
		return 0;
	case ANNOT_STRING:
		p->keyval_string(a->level, &w, text_of(a->key), text_of(a->val_str));
		return 0;
	case ANNOT_INTEGER:
		p->keyval_integer(a->level, &w, text_of(a->key), a->val_int);
		return 0;
	}
	return -EINVAL;
}
