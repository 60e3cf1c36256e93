/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of system calls by name: what a thread that blocks in the call waits for, whether the call moves bytes, and
 * what it does to file descriptors. A call that is not in the table gets an empty row: time blocked in it is "other".
 */
#ifndef BLK_STATE_KERNEL_SYSCALLS_H
#define BLK_STATE_KERNEL_SYSCALLS_H

#include "state/store/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum call_io { IO_NONE, IO_READ, IO_WRITE, IO_BOTH };	/* both: splice, sendfile */

/* What the call does to the descriptor table. */
enum call_fdop {
	FDOP_NONE,
	FDOP_OPEN,		/* path in the entry, new descriptor returned */
	FDOP_OPENAT,		/* the same, relative to a dirfd */
	FDOP_SOCKET,
	FDOP_ACCEPT,		/* new socket returned; peer in the exit */
	FDOP_CONNECT,		/* names the socket by its peer */
	FDOP_BIND,
	FDOP_PIPE,		/* two descriptors, in the exit's array */
	FDOP_SOCKETPAIR,
	FDOP_DUP, FDOP_DUP2, FDOP_FCNTL, FDOP_IOCTL,
	FDOP_CLOSE, FDOP_CLOSE_RANGE,
	FDOP_EVENT,		/* eventfd, timerfd, signalfd, epoll, inotify, memfd, ...: the file is .makes */
	FDOP_EXEC,
	FDOP_FORK, FDOP_CLONE,	/* the child gets a copy; the same table if its flags have CLONE_FILES */
	FDOP_CLONE3,		/* the same, with flags behind a pointer */
	FDOP_UNSHARE,
};

#define CLOEXEC_ALWAYS UINT32_MAX

struct call_info {
	const char *name;
	const char *makes;	/* FDOP_EVENT: name of the new descriptor's file */
	uint32_t cloexec;	/* FDOP_EVENT: flags that mean close-on-exec, or CLOEXEC_ALWAYS */
	uint8_t flags_arg;	/* FDOP_EVENT: index of the argument that holds its flags */
	bool by_fd;		/* blocked time depends on the kind of its descriptor */
	uint8_t cause;		/* enum part, if not .by_fd */
	uint8_t io;		/* enum call_io: its return value is a number of bytes */
	bool reads, writes;	/* by .io; both for .submits */
	uint8_t dir;		/* enum io_dir; IO_BOTH counts as a read of its source and a write of its target */
	uint64_t bytes_mask;	/* all bits: its return value is a number of bytes; 0: of messages */
	uint8_t fdop;		/* enum call_fdop */
	bool twice;		/* has two exits: fork, vfork, clone, clone3 */
	bool has_fd;		/* has a descriptor: counted in the files view */
	bool submits;		/* its return value is a number of requests whose files are not known: io_uring_enter */
	bool no_exit;		/* never returns: exit, exit_group, rt_sigreturn */
	bool no_call;		/* and returns to user mode at once: rt_sigreturn */
	bool restarts;		/* restart_syscall: it continues the call before, which a signal interrupted */
	uint8_t wait;		/* enum call_wait, before its futex arguments and the kind of its file are looked at */
	bool locks;		/* may release a lock, or wait for a file's */
	bool futex_args;	/* its arguments are futex(2)'s: address, operation, value */
};

/* Never NULL. O(1); thread safe. */
const struct call_info *call_info(const char *name);
/* The i-th row of the table; NULL: i is too large. */
const struct call_info *call_info_at(size_t i);

/* Can restart_syscall continue the call? Calls that sleep for a time, which are without descriptors. */
static inline bool call_can_restart(const struct call_info *info)
{
	return !info->by_fd && !info->has_fd && !info->fdop && !info->no_exit && !info->twice;
}

/* Is the descriptor that the call (FDOP_EVENT) made with these flags closed on exec? */
static inline bool call_makes_cloexec(const struct call_info *info, int64_t flags)
{
	return info->cloexec == CLOEXEC_ALWAYS || ((uint64_t)flags & info->cloexec);
}

#endif
