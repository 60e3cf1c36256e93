/* SPDX-License-Identifier: GPL-2.0-only */
/* The table behind syscalls.h, and its hash. */
#include "state/kernel/syscalls.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

/* Rows: calls that move bytes or have a descriptor first, then by what is waited for. */
#define IO(i) .io = i, .reads = (i) == IO_READ || (i) == IO_BOTH, \
	.writes = (i) == IO_WRITE || (i) == IO_BOTH, .bytes_mask = (i) == IO_NONE ? 0 : UINT64_MAX, \
	.dir = (i) == IO_NONE ? IO_DIR_OTHER : (i) == IO_WRITE ? IO_DIR_WRITE : IO_DIR_READ
#define BYFD(n, i) { .name = n, .by_fd = true, .has_fd = true, IO(i) }
#define PLAIN(n) { .name = n, .by_fd = true, .has_fd = true, .io = IO_READ, .reads = true, .bytes_mask = UINT64_MAX, \
	.dir = IO_DIR_PLAIN, .wait = CALL_WAITS_DATA }
#define FOR_DATA(i) .wait = (i) == IO_READ ? CALL_WAITS_DATA : CALL_NO_WAIT
#define SOCK(n, i) { .name = n, .cause = PART_SOCKET, .has_fd = true, IO(i), FOR_DATA(i) }
#define MESSAGES(n, i) { .name = n, .cause = PART_SOCKET, .has_fd = true, .io = i, \
	.reads = (i) == IO_READ, .writes = (i) == IO_WRITE, \
	.dir = (i) == IO_WRITE ? IO_DIR_WRITE : IO_DIR_READ, FOR_DATA(i) }
#define DISK(n) { .name = n, .cause = PART_DISK, .dir = IO_DIR_OTHER }
#define DISKFD(n) { .name = n, .cause = PART_DISK, .has_fd = true, .dir = IO_DIR_OTHER }
#define SYNC(n, fd) { .name = n, .cause = PART_DISK, .has_fd = fd, .dir = IO_DIR_SYNC }
#define FUTEX(n, args) { .name = n, .cause = PART_FUTEX, .futex_args = args, .locks = args, \
	.wait = CALL_WAITS_UNKNOWN, .dir = IO_DIR_OTHER }
#define WAITS(n, c) { .name = n, .cause = c, .wait = CALL_WAITS_EVENT, .dir = IO_DIR_OTHER }
#define FDOP(n, c, op) { .name = n, .cause = c, .fdop = op, .dir = IO_DIR_OTHER }
/* Kind of file that the call makes, flags that mean close-on-exec, and index of the flags argument. */
#define MAKES(n, what, bits, arg) { .name = n, .cause = PART_OTHER, .fdop = FDOP_EVENT, .makes = what, \
	.cloexec = bits, .flags_arg = arg, .dir = IO_DIR_OTHER }
#define O_CLOEXEC_BIT 02000000	/* equal to EFD_CLOEXEC, TFD_, SFD_, EPOLL_, IN_ and UFFD_ */

static const struct call_info table[] = {
	PLAIN("read"), BYFD("pread64", IO_READ), BYFD("pread", IO_READ),
	PLAIN("readv"), BYFD("preadv", IO_READ), BYFD("preadv2", IO_READ),
	BYFD("write", IO_WRITE), BYFD("pwrite64", IO_WRITE), BYFD("pwrite", IO_WRITE),
	BYFD("writev", IO_WRITE), BYFD("pwritev", IO_WRITE), BYFD("pwritev2", IO_WRITE),
	BYFD("sendfile", IO_BOTH), BYFD("sendfile64", IO_BOTH), BYFD("splice", IO_BOTH),
	BYFD("tee", IO_BOTH), BYFD("vmsplice", IO_WRITE), BYFD("copy_file_range", IO_BOTH),
	{ .name = "ioctl", .by_fd = true, .has_fd = true, .fdop = FDOP_IOCTL, IO(IO_NONE) },
	BYFD("lseek", IO_NONE), BYFD("llseek", IO_NONE), BYFD("_llseek", IO_NONE),

	SOCK("recvfrom", IO_READ), SOCK("recv", IO_READ), SOCK("recvmsg", IO_READ),
	MESSAGES("recvmmsg", IO_READ), SOCK("sendto", IO_WRITE), SOCK("send", IO_WRITE),
	SOCK("sendmsg", IO_WRITE), MESSAGES("sendmmsg", IO_WRITE), SOCK("shutdown", IO_NONE),
	{ .name = "accept", .cause = PART_SOCKET, .has_fd = true, .dir = IO_DIR_OTHER,
	  .fdop = FDOP_ACCEPT, .wait = CALL_WAITS_EVENT },
	{ .name = "accept4", .cause = PART_SOCKET, .has_fd = true, .dir = IO_DIR_OTHER,
	  .fdop = FDOP_ACCEPT, .wait = CALL_WAITS_EVENT },
	{ .name = "connect", .cause = PART_SOCKET, .has_fd = true, .dir = IO_DIR_OTHER,
	  .fdop = FDOP_CONNECT },
	FDOP("bind", PART_SOCKET, FDOP_BIND), FDOP("socket", PART_SOCKET, FDOP_SOCKET),
	FDOP("socketpair", PART_SOCKET, FDOP_SOCKETPAIR),

	/* They wait for a lock on the file, not for the disk. */
	{ .name = "flock", .cause = PART_OTHER, .has_fd = true, .locks = true, .dir = IO_DIR_OTHER },
	SYNC("fsync", true), SYNC("fdatasync", true), SYNC("sync_file_range", true),
	SYNC("syncfs", true), SYNC("sync", false), SYNC("msync", false),
	SYNC("sync_file_range2", true), SYNC("arm_sync_file_range", true), DISKFD("arm_fadvise64_64"),
	DISKFD("getdents"), DISKFD("getdents64"), DISKFD("ftruncate"),
	DISKFD("fallocate"), DISKFD("fadvise64"), DISKFD("readahead"), DISK("truncate"),
	DISKFD("fstat"), DISKFD("newfstat"), DISK("stat"), DISK("newstat"), DISK("lstat"),
	DISK("newlstat"), DISK("newfstatat"), DISK("fstatat64"), DISK("statx"), DISK("statfs"),
	DISKFD("fstatfs"), DISK("access"), DISK("faccessat"), DISK("faccessat2"), DISK("unlink"),
	DISK("unlinkat"), DISK("rename"), DISK("renameat"), DISK("renameat2"), DISK("mkdir"),
	DISK("mkdirat"), DISK("rmdir"), DISK("link"), DISK("linkat"), DISK("symlink"),
	DISK("symlinkat"), DISK("readlink"), DISK("readlinkat"), DISK("chmod"), DISKFD("fchmod"),
	DISK("fchmodat"), DISK("chown"), DISKFD("fchown"), DISK("fchownat"), DISK("lchown"),
	DISK("utime"), DISK("utimes"), DISK("utimensat"), DISK("futimesat"), DISK("chdir"),
	DISKFD("fchdir"), DISK("mknod"), DISK("mknodat"), DISK("mount"), DISK("umount2"),
	DISK("umount"), DISK("getxattr"), DISK("lgetxattr"), DISKFD("fgetxattr"), DISK("setxattr"),
	DISK("lsetxattr"), DISKFD("fsetxattr"), DISK("listxattr"), DISKFD("flistxattr"),
	DISK("removexattr"), DISK("setxattrat"), DISK("getxattrat"),
	DISK("listxattrat"), DISK("removexattrat"), DISK("fchmodat2"), DISK("file_getattr"),
	DISK("file_setattr"), DISK("io_getevents"), DISK("io_pgetevents"), DISK("io_submit"),

	FDOP("open", PART_DISK, FDOP_OPEN), FDOP("creat", PART_DISK, FDOP_OPEN),
	FDOP("openat", PART_DISK, FDOP_OPENAT), FDOP("openat2", PART_DISK, FDOP_OPENAT),
	FDOP("open_tree", PART_DISK, FDOP_OPENAT), FDOP("open_tree_attr", PART_DISK, FDOP_OPENAT),
	FDOP("open_by_handle_at", PART_DISK, FDOP_OPEN),
	{ .name = "execve", .cause = PART_DISK, .fdop = FDOP_EXEC },
	{ .name = "execveat", .cause = PART_DISK, .fdop = FDOP_EXEC },

	{ .name = "close", .cause = PART_OTHER, .fdop = FDOP_CLOSE, .has_fd = true, .by_fd = true,
	  .dir = IO_DIR_OTHER },
	FDOP("close_range", PART_OTHER, FDOP_CLOSE_RANGE),
	FDOP("dup", PART_OTHER, FDOP_DUP), FDOP("dup2", PART_OTHER, FDOP_DUP2),
	FDOP("dup3", PART_OTHER, FDOP_DUP2),
	{ .name = "fcntl", .cause = PART_OTHER, .fdop = FDOP_FCNTL, .locks = true, .dir = IO_DIR_OTHER },
	FDOP("pipe", PART_OTHER, FDOP_PIPE), FDOP("pipe2", PART_OTHER, FDOP_PIPE),
	MAKES("eventfd", "eventfd", 0, 0), MAKES("eventfd2", "eventfd", O_CLOEXEC_BIT, 1),
	MAKES("timerfd_create", "timerfd", O_CLOEXEC_BIT, 1), MAKES("signalfd", "signalfd", 0, 0),
	MAKES("signalfd4", "signalfd", O_CLOEXEC_BIT, 3), MAKES("epoll_create", "epoll", 0, 0),
	MAKES("epoll_create1", "epoll", O_CLOEXEC_BIT, 0), MAKES("inotify_init", "inotify", 0, 0),
	MAKES("inotify_init1", "inotify", O_CLOEXEC_BIT, 0),
	MAKES("fanotify_init", "fanotify", 1, 0), MAKES("memfd_create", "memfd", 1, 1),
	MAKES("memfd_secret", "memfd", O_CLOEXEC_BIT, 0),
	MAKES("userfaultfd", "userfaultfd", O_CLOEXEC_BIT, 0),
	MAKES("perf_event_open", "perf_event", 8, 4), MAKES("pidfd_open", "pidfd", CLOEXEC_ALWAYS, 1),
	MAKES("pidfd_getfd", "fd of another process", CLOEXEC_ALWAYS, 2),
	{ .name = "io_uring_enter", .cause = PART_OTHER, .has_fd = true, .reads = true, .writes = true, .submits = true,
	  .dir = IO_DIR_OTHER, .wait = CALL_WAITS_DATA },
	MAKES("io_uring_setup", "io_uring", CLOEXEC_ALWAYS, 1), MAKES("fsopen", "fsopen", 1, 1),
	MAKES("fspick", "fspick", 1, 2), MAKES("fsmount", "fsmount", 1, 1),

	{ .name = "restart_syscall", .cause = PART_OTHER, .restarts = true, .dir = IO_DIR_OTHER },
	FUTEX("futex", true), FUTEX("futex_waitv", false), FUTEX("futex_wait", false),
	WAITS("nanosleep", PART_TIMER), WAITS("clock_nanosleep", PART_TIMER),
	WAITS("poll", PART_POLL), WAITS("ppoll", PART_POLL), WAITS("select", PART_POLL),
	WAITS("_newselect", PART_POLL), WAITS("old_select", PART_POLL),
	WAITS("pselect6", PART_POLL), WAITS("epoll_wait", PART_POLL), WAITS("epoll_pwait", PART_POLL),
	WAITS("epoll_pwait2", PART_POLL),
	WAITS("pause", PART_OTHER), WAITS("rt_sigsuspend", PART_OTHER), WAITS("sigsuspend", PART_OTHER),
	WAITS("rt_sigtimedwait", PART_OTHER), WAITS("wait4", PART_OTHER), WAITS("waitid", PART_OTHER),
	WAITS("waitpid", PART_OTHER),

	{ .name = "fork", .cause = PART_OTHER, .twice = true, .fdop = FDOP_FORK },
	{ .name = "vfork", .cause = PART_OTHER, .twice = true, .fdop = FDOP_FORK },
	{ .name = "clone", .cause = PART_OTHER, .twice = true, .fdop = FDOP_CLONE },
	{ .name = "clone3", .cause = PART_OTHER, .twice = true, .fdop = FDOP_CLONE3 },
	FDOP("unshare", PART_OTHER, FDOP_UNSHARE),
	{ .name = "exit", .cause = PART_OTHER, .no_exit = true },
	{ .name = "exit_group", .cause = PART_OTHER, .no_exit = true },
	{ .name = "rt_sigreturn", .cause = PART_OTHER, .no_exit = true, .no_call = true },
	{ .name = "sigreturn", .cause = PART_OTHER, .no_exit = true, .no_call = true },
};

static const struct call_info nothing_known = {
	.name = "", .cause = PART_OTHER, .dir = IO_DIR_OTHER,
};

static GHashTable *table_hash(void)
{
	static GHashTable *hash;
	if (g_once_init_enter(&hash)) {
		GHashTable *h = g_hash_table_new(g_str_hash, g_str_equal);
		for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
			g_hash_table_insert(h, (gpointer)table[i].name, (gpointer)&table[i]);
		g_once_init_leave(&hash, h);
	}
	return hash;
}

/* Names of the same call with wider, or narrower, arguments: "ia32_pread64", "fcntl64", "futex_time64". */
static const struct call_info *info_of_variant(const char *name)
{
	static const char *const suffixes[] = { "_time64", "_time32", "_64", "64", "32", "16" };
	char plain[64];
	if (g_str_has_prefix(name, "ia32_"))
		name += strlen("ia32_");
	const struct call_info *info = g_hash_table_lookup(table_hash(), name);
	for (size_t i = 0; i < G_N_ELEMENTS(suffixes) && !info; i++) {
		size_t n = strlen(name), end = strlen(suffixes[i]);
		if (n <= end || n - end >= sizeof plain || strcmp(name + n - end, suffixes[i]))
			continue;
		g_strlcpy(plain, name, n - end + 1);
		info = g_hash_table_lookup(table_hash(), plain);
	}
	return info;
}

const struct call_info *call_info(const char *name)
{
	const struct call_info *info = g_hash_table_lookup(table_hash(), name);
	if (!info)
		info = info_of_variant(name);
	return info ? info : &nothing_known;
}

const struct call_info *call_info_at(size_t i)
{
	return i < G_N_ELEMENTS(table) ? &table[i] : NULL;
}
