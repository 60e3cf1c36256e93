/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that libblkin calls in libblkin-lttng, which it loads. Private to both libraries. They are installed
 * together; the table's symbol must change when its content changes.
 */
#ifndef BLKIN_PROVIDER_H
#define BLKIN_PROVIDER_H

#include "blkin.h"

#define BLKIN_PROVIDER_SO "libblkin-lttng.so.0"
#define BLKIN_PROVIDER_SYMBOL "blkin_provider_0"

/* What all events have in common. No text is NULL. */
struct blkin_where {
	const char *span, *service, *ip;
	int port;
	const struct blkin_trace_info *info;
};

struct blkin_provider {
	void (*timestamp)(int level, const struct blkin_where *w, const char *event);
	void (*keyval_string)(int level, const struct blkin_where *w, const char *key,
			      const char *val);
	void (*keyval_integer)(int level, const struct blkin_where *w, const char *key,
			       int64_t val);
};

extern const struct blkin_provider blkin_provider_0 __attribute__((visibility("default")));

#endif
