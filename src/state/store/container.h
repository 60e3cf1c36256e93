/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which container a process is in: told by what sets it apart from the first namespaces
 * of a kernel, the pid namespace before the cgroup's before the uts's; where none does, by a
 * hostname that is not the machine's. The inodes of the first namespaces are constants
 * (PROC_PID_INIT_INO and its like in the kernel's proc_ns.h). Pure; any thread.
 */
#ifndef BLK_STATE_STORE_CONTAINER_H
#define BLK_STATE_STORE_CONTAINER_H

#include "state/store/timeline.h"

/* What containers are told apart by on one host, the same in every timeline of a trace:
 * one of these, or the kind and the inode of a namespace, or a hostname's key. Never 0. */
#define CONTAINER_UNKNOWN UINT64_C(1)	/* nobody told of the process's namespaces */
#define CONTAINER_HOST UINT64_C(2)	/* none: all that are known are the first ones */

uint64_t container_of(const struct process_info *p);	/* NULL: unknown */
bool container_ns_is_first(enum ns_kind kind, uint32_t inode);	/* the kernel's own? */

/* process_info.hostname_key: tells hostnames apart; 0: unknown. */
#define HOSTNAME_OF_HOST 1u		/* the machine's own */
uint32_t container_hostname_key(const char *hostname, const char *host);

/* "host", "pid:4026532281"; NULL: unknown, or told by a hostname. Free with g_free. */
char *container_name_new(uint64_t container);
/* By what its processes call it: "web-1", with the namespace where two of the host are called
 * so; else the same as container_name_new(). `host` as of the timeline. */
char *container_label_new(const struct timeline *tl, uint32_t host, uint64_t container);

#endif
