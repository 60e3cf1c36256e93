/* SPDX-License-Identifier: GPL-2.0-only */
/* Identifies containers by namespaces and hostnames: see container.h. */
#include "state/store/container.h"

#include <glib.h>

#define KIND_SHIFT 32			/* kind + 1 of the namespace is above its inode */
#define KIND_HOSTNAME (NS_N + 1)

static const struct { const char *name; uint32_t first; } namespaces[NS_N] = {
	[NS_PID] = { "pid", 0xeffffffc }, [NS_CGROUP] = { "cgroup", 0xeffffffb },
	[NS_UTS] = { "uts", 0xeffffffe },
};

bool container_ns_is_first(enum ns_kind kind, uint32_t inode)
{
	return inode == namespaces[kind].first;
}

uint64_t container_of(const struct process_info *p)
{
	uint64_t container = CONTAINER_UNKNOWN;

	for (unsigned k = 0; p && k < NS_N; k++) {
		if (p->ns[k] && p->ns[k] != namespaces[k].first)
			return (uint64_t)(k + 1) << KIND_SHIFT | p->ns[k];
		if (p->ns[k])
			container = CONTAINER_HOST;
	}
	if (p && p->hostname_key > HOSTNAME_OF_HOST)
		return (uint64_t)KIND_HOSTNAME << KIND_SHIFT | p->hostname_key;
	return p && p->hostname_key ? CONTAINER_HOST : container;
}

static bool container_is_namespace(uint64_t container)
{
	uint64_t kind = container >> KIND_SHIFT;

	return kind >= 1 && kind <= NS_N;
}

uint32_t container_hostname_key(const char *hostname, const char *host)
{
	uint32_t key = 2166136261u;	/* FNV-1a */

	if (!*hostname)
		return 0;
	if (g_strcmp0(hostname, host) == 0)
		return HOSTNAME_OF_HOST;
	for (; *hostname; hostname++)
		key = (key ^ (uint8_t)*hostname) * 16777619u;
	return MAX(key, HOSTNAME_OF_HOST + 1);
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
