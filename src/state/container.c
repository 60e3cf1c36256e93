/* SPDX-License-Identifier: GPL-2.0-only */
/* Containers by their namespaces: see container.h. */
#include "state/container.h"

#define KIND_SHIFT 32			/* above the inode; kinds count from 1 there */

static const struct { const char *name; uint32_t first; } namespaces[NS_N] = {
	[NS_PID] = { "pid", 0xeffffffc }, [NS_CGROUP] = { "cgroup", 0xeffffffb },
	[NS_UTS] = { "uts", 0xeffffffe },
};

uint64_t container_of(const struct process_info *p)
{
	uint64_t container = CONTAINER_UNKNOWN;

	for (unsigned k = 0; p && k < NS_N; k++) {
		if (p->ns[k] && p->ns[k] != namespaces[k].first)
			return (uint64_t)(k + 1) << KIND_SHIFT | p->ns[k];
		if (p->ns[k])
			container = CONTAINER_HOST;
	}
	return container;
}

bool container_is_namespace(uint64_t container)
{
	uint64_t kind = container >> KIND_SHIFT;

	return kind >= 1 && kind <= NS_N;
}

char *container_name_new(uint64_t container)
{
	if (container == CONTAINER_HOST)
		return g_strdup("host");
	if (!container_is_namespace(container))
		return NULL;
	return g_strdup_printf("%s:%u", namespaces[(container >> KIND_SHIFT) - 1].name,
			       (uint32_t)container);
}
