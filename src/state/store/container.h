/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The container of a process. The first namespace that differs from the kernel's initial one identifies it: pid, else
 * cgroup, else uts. If none differs, a hostname other than the machine's identifies it. The inodes of initial
 * namespaces are constants (PROC_PID_INIT_INO and so on in the kernel's proc_ns.h). Pure functions; any thread.
 */
#ifndef BLK_STATE_STORE_CONTAINER_H
#define BLK_STATE_STORE_CONTAINER_H

#include "state/store/registry.h"

/* The number of a container on one host, equal in every timeline of a trace. It is one of the two constants below,
 * or kind and inode of a namespace, or a hostname's key. Never 0. */
#define CONTAINER_UNKNOWN UINT64_C(1)	/* the namespaces of the process are unknown */
#define CONTAINER_HOST UINT64_C(2)	/* in no container: all known namespaces are the initial ones */

uint64_t container_of(const struct process_info *p);	/* NULL: unknown */
bool container_ns_is_first(enum ns_kind kind, uint32_t inode);	/* is it the kernel's initial namespace? */

/* process_info.hostname_key: a hash of the hostname; 0: unknown. */
#define HOSTNAME_OF_HOST 1u		/* the machine's own hostname */
uint32_t container_hostname_key(const char *hostname, const char *host);

/* "host", "pid:4026532281"; NULL: unknown, or identified by a hostname. Free with g_free. */
char *container_name_new(uint64_t container);

#endif
