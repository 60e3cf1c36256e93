/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registries: what the ids in seconds and spans refer to (hosts, threads, processes, files).
 * A worker numbers the entries and publishes them (publication.h); the timeline stores them (timeline.h).
 * Ids are dense from 0 and valid in one timeline.
 */
#ifndef BLK_STATE_STORE_REGISTRY_H
#define BLK_STATE_STORE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#define ID_NONE UINT32_MAX		/* no thread, process, string, host or file */
#define TIME_UNKNOWN INT64_MIN		/* unknown instant */

struct host_info {
	char *name;			/* owned */
	char *boot;			/* owned: id of the boot, which identifies the clock. Hosts (containers)
					 * with the same id share a clock. "": unknown */
};
void host_info_clear(struct host_info *h);	/* frees the texts */

struct name_at {			/* a thread's name from `since` (ns) on */
	int64_t since;
	uint32_t name;			/* string id */
};

struct thread_info {
	uint32_t host;
	int32_t tid;
	uint32_t process;		/* process id; ID_NONE: unknown */
	bool kernel;			/* a kernel thread */
	int64_t start_ns, exit_ns;	/* TIME_UNKNOWN: before the trace / not in the trace */
	const struct name_at *names;	/* n_names, by time */
	uint32_t n_names;
};

enum ns_kind { NS_PID, NS_CGROUP, NS_UTS, NS_N };

struct process_info {
	uint32_t host;
	int32_t pid;
	int32_t ppid;			/* -1: unknown */
	uint32_t leader;		/* thread id; ID_NONE: it had no event */
	int64_t start_ns, exit_ns;	/* TIME_UNKNOWN: as in struct thread_info */
	uint32_t ns[NS_N];		/* inodes of its latest namespaces; 0: unknown */
	int32_t vpid;			/* its pid in its pid namespace; -1: unknown */
	uint32_t hostname;		/* string id: the hostname that the process sees; 0: unknown */
	uint32_t hostname_key;		/* container_hostname_key() of .hostname */
	uint32_t container;		/* set by the timeline, dense over all hosts; ID_NONE: unknown (container.h) */
};

/* The kinds of files, with their names in columns and JSON. names.c decides the kind of a path, and
 * what a thread that blocks on such a file waits for. */
#define FILE_KIND_LIST(X) \
	X(UNKNOWN, "unknown") X(REGULAR, "file") X(SOCKET, "socket") X(PIPE, "pipe") X(EVENT, "event") X(TTY, "tty") \
	X(OTHER, "other")
#define FILE_KIND_ENUM_(id, name) FILE_##id,
enum file_kind { FILE_KIND_LIST(FILE_KIND_ENUM_) FILE_KIND_N };
extern const char *const file_kind_name[FILE_KIND_N];

struct file_info {
	uint32_t host;
	enum file_kind kind;
	uint32_t path;			/* string id: path as passed, "socket tcp 10.0.0.1:80", "pipe", "fd 3" */
};

#endif
