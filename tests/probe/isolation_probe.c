/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A library that is loaded into blktop (LD_PRELOAD) and tries system calls after isolation, in a new thread of the real
 * process. It replaces libseccomp's seccomp_load(), which blktop calls last: what it prints is what code inside the
 * isolated process can do.
 *
 * PROBE_OUT		file to write to: lines "CALL<tab>RESULT", RESULT is "ok", the name of an errno value, or "-" if
 *			this machine has no such call
 * PROBE_WRITABLE	a directory in which blktop may write
 * PROBE_READABLE	a file that blktop may only read
 * PROBE_FOREIGN	a directory that blktop may neither read nor write; it has a file "file"
 * PROBE_VICTIM		pid of a process of the test
 * PROBE_ABSTRACT	name of an abstract socket of the test, which listens
 * PROBE_PORT		a TCP port on 127.0.0.1 on which the test listens
 * PROBE_NAMED		path of a named socket of the test, which listens
 * PROBE_FILES_ONLY	the filter of system calls is not loaded, so that only Landlock denies. Lines have a third
 *			field: the version of Landlock's interface that denies it
 *
 * PROBE_ABI		version of Landlock's interface that the kernel seems to have; 0: it has no Landlock
 *
 * All calls are harmless where they succeed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

int seccomp_load(const scmp_filter_ctx c);

static FILE *out;
static bool files_only;
static const char *readable;
static char own_dir[4096], own[4096], fresh[4096], foreign[4096], foreign_fresh[4096], foreign_dir[4096];
static pid_t victim;
static uint16_t port;
/* Made before isolation, as blktop's own. */
static int own_fd, pipe_fd, tcp_fd, unix_fd, listening_fd, accepting_fd = -1;
static void *page;

/* ---- results ---- */

static const char *name_of(int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{ EPERM, "EPERM" }, { ENOSYS, "ENOSYS" }, { EACCES, "EACCES" }, { EXDEV, "EXDEV" }, { ENOENT, "ENOENT" },
		{ EINVAL, "EINVAL" }, { EBADF, "EBADF" }, { EFAULT, "EFAULT" }, { ENOTTY, "ENOTTY" }, { ESRCH, "ESRCH" },
		{ EAGAIN, "EAGAIN" }, { ENOTSOCK, "ENOTSOCK" }, { EOPNOTSUPP, "EOPNOTSUPP" }, { EROFS, "EROFS" },
		{ ENODEV, "ENODEV" }, { ECONNREFUSED, "ECONNREFUSED" }, { EEXIST, "EEXIST" }, { ENOTCONN, "ENOTCONN" },
		{ ENOTDIR, "ENOTDIR" }, { EISCONN, "EISCONN" }, { ENOPROTOOPT, "ENOPROTOOPT" },
	};
	static char other[16];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].number == number)
			return names[i].name;
	snprintf(other, sizeof other, "%d", number);
	return other;
}

static void report(const char *what, long rc, int number)
{
	fprintf(out, "%s\t%s\n", what, rc >= 0 ? "ok" : name_of(number));
}

/* A call that this machine does not have has the number -1. */
#define TRY(what, number, ...) do { \
		if ((number) < 0) { \
			fprintf(out, "%s\t-\n", what); \
		} else { \
			long rc_ = syscall((number), __VA_ARGS__); \
			report(what, rc_, errno); \
		} \
	} while (0)
/* The same; the result is a descriptor. */
#define TRY_FD(what, number, ...) do { \
		if ((number) < 0) { \
			fprintf(out, "%s\t-\n", what); \
		} else { \
			long fd_ = syscall((number), __VA_ARGS__); \
			report(what, fd_, errno); \
			if (fd_ >= 0) \
				close((int)fd_); \
		} \
	} while (0)

/* Calls that newer machines do not have, */
#ifdef SYS_open
#define OLD(name) SYS_##name
#else
#define OLD(name) (-1L)
#endif
/* and those of amd64. */
#ifdef __x86_64__
#define AMD(name) SYS_##name
#else
#define AMD(name) (-1L)
#endif
/* Calls since Linux 5.1 have the same number everywhere; headers may not have them. */
enum {
	NR_IO_URING_SETUP = 425, NR_OPEN_TREE = 428, NR_MOVE_MOUNT = 429, NR_FSOPEN = 430, NR_FSPICK = 433,
	NR_PIDFD_OPEN = 434, NR_CLONE3 = 435, NR_OPENAT2 = 437, NR_PIDFD_GETFD = 438, NR_FACCESSAT2 = 439,
	NR_PROCESS_MADVISE = 440, NR_MOUNT_SETATTR = 442, NR_QUOTACTL_FD = 443, NR_LANDLOCK_CREATE = 444,
	NR_MEMFD_SECRET = 447, NR_PROCESS_MRELEASE = 448, NR_FUTEX_WAITV = 449, NR_FCHMODAT2 = 452, NR_STATMOUNT = 457,
	NR_MSEAL = 462, NR_SETXATTRAT = 463, NR_OPEN_TREE_ATTR = 467, NR_FILE_SETATTR = 469, NR_UNKNOWN = 479,
};

/* ---- files ---- */

/* Owners, modes, attributes and times: Landlock has no right for them. */
static void try_attributes(const char *whose, const char *path)
{
	char what[96];
#define NAMED(call) (snprintf(what, sizeof what, "%s %s", call, whose), what)

	TRY(NAMED("chmod 4755"), OLD(chmod), path, 04755);
	TRY(NAMED("fchmodat 4755"), SYS_fchmodat, AT_FDCWD, path, 04755);
	TRY(NAMED("fchmodat2 4755"), NR_FCHMODAT2, AT_FDCWD, path, 04755, 0);
	TRY(NAMED("chown 0"), OLD(chown), path, 0, 0);
	TRY(NAMED("lchown 0"), OLD(lchown), path, 0, 0);
	TRY(NAMED("fchownat 0"), SYS_fchownat, AT_FDCWD, path, 0, 0, 0);
	TRY(NAMED("setxattr user.probe"), SYS_setxattr, path, "user.probe", "x", 1, 0);
	TRY(NAMED("lsetxattr security.capability"), SYS_lsetxattr, path, "security.capability", "x", 1, 0);
	TRY(NAMED("removexattr"), SYS_removexattr, path, "user.probe");
	TRY(NAMED("setxattrat"), NR_SETXATTRAT, AT_FDCWD, path, 0, "user.probe", NULL, 0);
	TRY(NAMED("file_setattr"), NR_FILE_SETATTR, AT_FDCWD, path, NULL, 0, 0);
	TRY(NAMED("utimensat"), SYS_utimensat, AT_FDCWD, path, NULL, 0);
	TRY(NAMED("utime"), OLD(utime), path, NULL);
	TRY(NAMED("truncate"), SYS_truncate, path, 1L);
}

static void try_descriptor(void)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	int flags = 0;

	TRY("fchmod 4755, open file", SYS_fchmod, own_fd, 04755);
	TRY("fchown 0, open file", SYS_fchown, own_fd, 0, 0);
	TRY("fsetxattr user.probe, open file", SYS_fsetxattr, own_fd, "user.probe", "x", 1, 0);
	TRY("utimensat, open file, now", SYS_utimensat, own_fd, NULL, NULL, 0);
	TRY("utimensat, open file, chosen time", SYS_utimensat, own_fd, NULL, times, 0);
	TRY("ftruncate, open file", SYS_ftruncate, own_fd, 1L);
	TRY("fallocate, open file", SYS_fallocate, own_fd, 0, 0L, 1L);
	TRY("flock, open file", SYS_flock, own_fd, LOCK_UN);
	TRY("ioctl FS_IOC_SETFLAGS, open file", SYS_ioctl, own_fd, FS_IOC_SETFLAGS, &flags);
	TRY("ioctl FICLONE, open file", SYS_ioctl, own_fd, FICLONE, own_fd);
}

static void try_opening(void)
{
	const uint64_t how[3] = { O_RDONLY, 0, 0 };

	TRY_FD("openat to read, readable", SYS_openat, AT_FDCWD, readable, O_RDONLY);
	TRY_FD("openat to write, readable", SYS_openat, AT_FDCWD, readable, O_WRONLY);
	TRY_FD("openat to write, own", SYS_openat, AT_FDCWD, own, O_RDWR);
	TRY_FD("open to create, own", OLD(open), fresh, O_WRONLY | O_CREAT | O_EXCL, 0600);
	TRY("unlink, own", OLD(unlink), fresh);
	TRY_FD("openat to create, own", SYS_openat, AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_EXCL, 0600);
	TRY("unlinkat, own", SYS_unlinkat, AT_FDCWD, fresh, 0);
	TRY_FD("creat, own", OLD(creat), fresh, 0600);
	TRY("mkdirat, own", SYS_mkdirat, AT_FDCWD, fresh, 0700);
	TRY("unlinkat directory, own", SYS_unlinkat, AT_FDCWD, fresh, AT_REMOVEDIR);
	TRY("linkat, own", SYS_linkat, AT_FDCWD, own, AT_FDCWD, fresh, 0);
	TRY("renameat2, own", SYS_renameat2, AT_FDCWD, fresh, AT_FDCWD, fresh, 0);
	TRY("unlinkat link, own", SYS_unlinkat, AT_FDCWD, fresh, 0);
	TRY("symlinkat, own", SYS_symlinkat, "x", AT_FDCWD, fresh);
	TRY("mknodat fifo, own", SYS_mknodat, AT_FDCWD, fresh, S_IFIFO | 0600, 0);
	TRY_FD("openat to read, foreign", SYS_openat, AT_FDCWD, foreign, O_RDONLY);
	TRY_FD("openat to write, foreign", SYS_openat, AT_FDCWD, foreign, O_WRONLY);
	TRY_FD("openat to create, foreign", SYS_openat, AT_FDCWD, foreign_fresh, O_WRONLY | O_CREAT, 0600);
	TRY_FD("openat directory, foreign", SYS_openat, AT_FDCWD, foreign_dir, O_RDONLY | O_DIRECTORY);
	TRY("mkdirat, foreign", SYS_mkdirat, AT_FDCWD, foreign_fresh, 0700);
	TRY("linkat out of own, foreign", SYS_linkat, AT_FDCWD, own, AT_FDCWD, foreign_fresh, 0);
	TRY("unlinkat, foreign", SYS_unlinkat, AT_FDCWD, foreign, 0);
	TRY("renameat2 into own, foreign", SYS_renameat2, AT_FDCWD, foreign, AT_FDCWD, fresh, 0);
	TRY_FD("openat2 to read, readable", NR_OPENAT2, AT_FDCWD, readable, how, sizeof how);
	TRY_FD("open_tree", NR_OPEN_TREE, AT_FDCWD, "/", 1);
	TRY_FD("open_tree_attr", NR_OPEN_TREE_ATTR, AT_FDCWD, "/", 1, NULL, 0);
	TRY("name_to_handle_at", SYS_name_to_handle_at, AT_FDCWD, readable, NULL, NULL, 0);
	TRY("open_by_handle_at", SYS_open_by_handle_at, AT_FDCWD, NULL, O_RDONLY);
	TRY("faccessat2", NR_FACCESSAT2, AT_FDCWD, readable, R_OK, 0);
	TRY("chdir", SYS_chdir, ".");
	TRY("umask", SYS_umask, 077);
	TRY_FD("inotify_init1", SYS_inotify_init1, IN_CLOEXEC);
	TRY_FD("fanotify_init", SYS_fanotify_init, ~0u, 0);
}

/* ---- memory ---- */

static void try_memory(void)
{
	long size = sysconf(_SC_PAGESIZE);
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
#define TRY_MAP(what, prot, flags, fd) do { \
		void *at_ = mmap(NULL, (size_t)size, (prot), (flags), (fd), 0); \
		report(what, at_ == MAP_FAILED ? -1 : 0, errno); \
		if (at_ != MAP_FAILED) \
			munmap(at_, (size_t)size); \
	} while (0)

	TRY_MAP("mmap read, write", PROT_READ | PROT_WRITE, anonymous, -1);
	TRY_MAP("mmap execute", PROT_READ | PROT_EXEC, anonymous, -1);
	TRY_MAP("mmap write, execute", PROT_READ | PROT_WRITE | PROT_EXEC, anonymous, -1);
	TRY_MAP("mmap execute, a file", PROT_READ | PROT_EXEC, MAP_PRIVATE, own_fd);
	TRY_MAP("mmap write, execute, a file", PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, own_fd);
	TRY("mprotect execute", SYS_mprotect, page, size, PROT_READ | PROT_EXEC);
	TRY("mprotect read, write", SYS_mprotect, page, size, PROT_READ | PROT_WRITE);
	TRY("pkey_mprotect", SYS_pkey_mprotect, page, size, PROT_READ, -1);
	TRY("madvise MADV_DONTNEED", SYS_madvise, page, size, MADV_DONTNEED);
	TRY("madvise MADV_HWPOISON", SYS_madvise, page, 0, 100);
	TRY("madvise MADV_SOFT_OFFLINE", SYS_madvise, page, 0, 101);
	TRY("mlock", SYS_mlock, page, 0);
	TRY("mseal", NR_MSEAL, page, 0, 0);
	TRY_FD("memfd_create", SYS_memfd_create, "probe", MFD_CLOEXEC);
	TRY_FD("memfd_create, may be executed", SYS_memfd_create, "probe", MFD_CLOEXEC | 0x10);
	TRY_FD("memfd_secret", NR_MEMFD_SECRET, 0);
	TRY("shmget", SYS_shmget, 0, 4096L, 0);
	TRY("shmat", SYS_shmat, -1, NULL, 0);
	TRY("semget", SYS_semget, 0x1234, 1, 0);
	TRY("msgget", SYS_msgget, 0x1234, 0);
	TRY("mq_open", SYS_mq_open, "probe", O_RDONLY, 0, NULL);
	TRY_FD("userfaultfd", SYS_userfaultfd, -1);
	TRY_FD("io_uring_setup", NR_IO_URING_SETUP, 0, NULL);
	TRY("membarrier", SYS_membarrier, 0, 0, 0);
}

/* ---- processes ---- */

static void *nothing(void *data)
{
	return data;
}

/* A process of the test's, made by clone() with these flags. */
static void try_clone(const char *what, unsigned long flags)
{
#ifdef __s390__
	long pid = syscall(SYS_clone, 0, flags, 0, 0, 0);
#else
	long pid = syscall(SYS_clone, flags, 0, 0, 0, 0);
#endif
	if (pid == 0)
		_exit(0);
	report(what, pid, errno);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, __WALL);
}

static void try_processes(void)
{
	uint64_t args[8] = { CLONE_NEWNS | CLONE_NEWNET, 0, 0, 0, SIGCHLD, 0, 0, 0 };
	char *none[] = { NULL };
	pthread_t thread;

	int number = pthread_create(&thread, NULL, nothing, NULL);
	report("pthread_create", number ? -1 : 0, number);
	if (!number)
		pthread_join(thread, NULL);
	try_clone("clone, a process", SIGCHLD);
	try_clone("clone CLONE_NEWUSER", SIGCHLD | CLONE_NEWUSER);
	try_clone("clone CLONE_NEWNS|CLONE_NEWPID|CLONE_NEWNET", SIGCHLD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET);
	long pid = syscall(NR_CLONE3, args, 64);
	if (pid == 0)
		_exit(0);
	report("clone3 CLONE_NEWNS|CLONE_NEWNET", pid, errno);
	TRY("execve", SYS_execve, "/nonexistent", none, none);
	TRY("execveat", SYS_execveat, AT_FDCWD, "/nonexistent", none, none, 0);
	TRY("unshare", SYS_unshare, 0);
	TRY("setns", SYS_setns, -1, 0);
	TRY("ptrace", SYS_ptrace, PTRACE_PEEKDATA, victim, 0, 0);
	TRY("process_vm_readv", SYS_process_vm_readv, victim, NULL, 0, NULL, 0, 0);
	TRY("process_vm_writev", SYS_process_vm_writev, victim, NULL, 0, NULL, 0, 0);
	TRY("process_madvise", NR_PROCESS_MADVISE, -1, NULL, 0, 0, 0);
	TRY("process_mrelease", NR_PROCESS_MRELEASE, -1, 0);
	TRY("kcmp", SYS_kcmp, victim, victim, 1, 0, 0);
	TRY_FD("pidfd_open", NR_PIDFD_OPEN, victim, 0);
	TRY_FD("pidfd_getfd", NR_PIDFD_GETFD, -1, 0, 0);
	TRY("move_pages", SYS_move_pages, victim, 0, NULL, NULL, NULL, 0);
	TRY("setpgid", SYS_setpgid, victim, victim);
	TRY("prlimit64, own, read", SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, page);
	TRY("prlimit64, own, set", SYS_prlimit64, 0, RLIMIT_NOFILE, page, NULL);
	TRY("prlimit64, other process", SYS_prlimit64, victim, RLIMIT_NOFILE, NULL, page);
	TRY("setpriority, own", SYS_setpriority, PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0));
	TRY("setpriority, other process", SYS_setpriority, PRIO_PROCESS, victim, 0);
	TRY("setpriority, own user", SYS_setpriority, PRIO_USER, 0, 0);
	TRY("sched_setaffinity, other process", SYS_sched_setaffinity, victim, 0, NULL);
	TRY("sched_setscheduler, other process", SYS_sched_setscheduler, victim, 0, NULL);
	TRY("sched_setattr, own", SYS_sched_setattr, 0, NULL, 0);
	TRY("ioprio_set, other process", SYS_ioprio_set, 1, victim, 0);
	TRY("a call that no kernel has", NR_UNKNOWN, 0);
	TRY("futex_waitv", NR_FUTEX_WAITV, NULL, 0, 0, NULL, 0);
}

static void try_signals(void)
{
	TRY("kill, own", SYS_kill, getpid(), 0);
	TRY("kill, other process", SYS_kill, victim, 0);
	TRY("kill, parent", SYS_kill, getppid(), 0);
	TRY("kill, group", SYS_kill, 0, 0);
	TRY("kill, group of other process", SYS_kill, -victim, 0);
	TRY("kill, all", SYS_kill, -1, 0);
	TRY("tgkill, own", SYS_tgkill, getpid(), syscall(SYS_gettid), 0);
	TRY("tgkill, other process", SYS_tgkill, victim, victim, 0);
	TRY("tkill, other process", SYS_tkill, victim, 0);
	TRY("rt_sigqueueinfo, other process", SYS_rt_sigqueueinfo, victim, 0, NULL);
	TRY("pidfd_send_signal", SYS_pidfd_send_signal, -1, 0, NULL, 0);
	TRY("fcntl F_SETOWN", SYS_fcntl, pipe_fd, F_SETOWN, victim);
	TRY("fcntl F_SETSIG", SYS_fcntl, pipe_fd, F_SETSIG, 0);
	TRY("fcntl F_SETFL O_ASYNC", SYS_fcntl, pipe_fd, F_SETFL, O_ASYNC);
	TRY("fcntl F_SETFL O_NONBLOCK", SYS_fcntl, pipe_fd, F_SETFL, O_NONBLOCK);
	TRY("fcntl F_GETFL", SYS_fcntl, pipe_fd, F_GETFL);
	TRY_FD("fcntl F_DUPFD_CLOEXEC", SYS_fcntl, pipe_fd, F_DUPFD_CLOEXEC, 3);
	TRY("fcntl F_NOTIFY", SYS_fcntl, pipe_fd, F_NOTIFY, 0);
	TRY("fcntl F_SETLEASE", SYS_fcntl, own_fd, F_SETLEASE, F_UNLCK);
	TRY("fcntl F_SETPIPE_SZ", SYS_fcntl, pipe_fd, F_SETPIPE_SZ, 4096);
	TRY("timer_create", SYS_timer_create, -1, NULL, NULL);
	TRY("setitimer", SYS_setitimer, -1, NULL, NULL);
	TRY_FD("signalfd4", SYS_signalfd4, -1, page, 8, 0);
}

/* ---- sockets ---- */

static void try_sockets(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1, pair[2];
	socklen_t len = sizeof one;
#define TRY_PAIR(what, family, type) do { \
		long rc_ = syscall(SYS_socketpair, (family), (type), 0, pair); \
		report(what, rc_, errno); \
		if (rc_ == 0) { \
			close(pair[0]); \
			close(pair[1]); \
		} \
	} while (0)

	TRY_FD("socket AF_INET", SYS_socket, AF_INET, SOCK_STREAM, 0);
	TRY_FD("socket AF_UNIX", SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	TRY_FD("socket AF_NETLINK", SYS_socket, AF_NETLINK, SOCK_RAW, 0);
	TRY_FD("socket AF_PACKET", SYS_socket, AF_PACKET, SOCK_RAW, 0);
	TRY_PAIR("socketpair AF_UNIX SOCK_SEQPACKET", AF_UNIX, SOCK_SEQPACKET);
	TRY_PAIR("socketpair AF_UNIX SOCK_DGRAM", AF_UNIX, SOCK_DGRAM);
	TRY_PAIR("socketpair AF_TIPC", AF_TIPC, SOCK_SEQPACKET);
	TRY("connect, TCP", SYS_connect, tcp_fd, &to, sizeof to);
	TRY("bind, TCP", SYS_bind, tcp_fd, &to, sizeof to);
	TRY("listen, TCP", SYS_listen, tcp_fd, 1);
	TRY("accept4, a socket that listens", SYS_accept4, listening_fd, NULL, NULL, 0);
	TRY("accept4, the socket of --listen", accepting_fd < 0 ? -1L : SYS_accept4, accepting_fd, NULL, NULL, 0);
	TRY("sendto, connected", SYS_sendto, unix_fd, "", 0, MSG_DONTWAIT, NULL, 0);
	TRY("sendto with an address", SYS_sendto, tcp_fd, "", 0, MSG_DONTWAIT, &to, sizeof to);
	TRY("recvfrom", SYS_recvfrom, unix_fd, page, 0, MSG_DONTWAIT, NULL, NULL);
	TRY("getsockname", SYS_getsockname, tcp_fd, page, page);
	TRY("getsockopt SOL_SOCKET", SYS_getsockopt, tcp_fd, SOL_SOCKET, SO_TYPE, &one, &len);
	TRY("getsockopt IPPROTO_IP", SYS_getsockopt, tcp_fd, IPPROTO_IP, 1, &one, &len);
	TRY("setsockopt TCP_NODELAY", SYS_setsockopt, tcp_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	TRY("setsockopt SO_ATTACH_FILTER", SYS_setsockopt, tcp_fd, SOL_SOCKET, SO_ATTACH_FILTER, NULL, 0);
	TRY("setsockopt TCP_REPAIR", SYS_setsockopt, tcp_fd, IPPROTO_TCP, 19, NULL, 0);
	TRY("setsockopt IPPROTO_IP", SYS_setsockopt, tcp_fd, IPPROTO_IP, 64, NULL, 0);
	TRY("shutdown", SYS_shutdown, tcp_fd, SHUT_RDWR);
}

/* ---- the terminal and other devices ---- */

/* On a pipe, a request that is allowed ends with ENOTTY. */
static void try_requests(void)
{
	static const struct {
		const char *what;
		unsigned long request;
	} requests[] = {
		{ "ioctl TCGETS", TCGETS }, { "ioctl TCSETS", TCSETS }, { "ioctl TCSETSW", TCSETSW },
		{ "ioctl TIOCGWINSZ", TIOCGWINSZ }, { "ioctl TIOCSWINSZ", TIOCSWINSZ }, { "ioctl TIOCGPGRP", TIOCGPGRP },
		{ "ioctl TIOCSPGRP", TIOCSPGRP }, { "ioctl TCFLSH", TCFLSH }, { "ioctl FIONREAD", FIONREAD },
		{ "ioctl TIOCOUTQ", TIOCOUTQ }, { "ioctl TIOCSTI", TIOCSTI }, { "ioctl TIOCLINUX", TIOCLINUX },
		{ "ioctl TIOCSTI and high bits", 1ul << 31 << 1 | TIOCSTI }, { "ioctl TIOCSETD", TIOCSETD },
		{ "ioctl TIOCSCTTY", TIOCSCTTY }, { "ioctl TIOCNOTTY", TIOCNOTTY }, { "ioctl FIOASYNC", FIOASYNC },
	};
	int value = 0;

	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		if (requests[i].request == FIONREAD)
			TRY(requests[i].what, SYS_ioctl, pipe_fd, requests[i].request, &value);
		else
			TRY(requests[i].what, SYS_ioctl, pipe_fd, requests[i].request, NULL);
}

/* ---- privileges and the machine ---- */

static void try_privileges(void)
{
	TRY("setuid", SYS_setuid, getuid());
	TRY("setresuid", SYS_setresuid, -1, -1, -1);
	TRY("setgroups", SYS_setgroups, -1, NULL);
	TRY("setfsuid", SYS_setfsuid, getuid());
	TRY("capset", SYS_capset, NULL, NULL);
	TRY("prctl PR_SET_NAME", SYS_prctl, PR_SET_NAME, "probe");
	TRY("prctl PR_SET_VMA", SYS_prctl, 0x53564d41, 1, page, 0, 0);
	TRY("prctl PR_SET_DUMPABLE", SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	TRY("prctl PR_SET_PDEATHSIG", SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0);
	TRY("prctl PR_SET_MM", SYS_prctl, PR_SET_MM, -1, 0, 0, 0);
	TRY("prctl PR_SET_PTRACER", SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0);
	TRY("prctl PR_CAPBSET_DROP", SYS_prctl, PR_CAPBSET_DROP, -1, 0, 0, 0);
	TRY("prctl PR_SET_SECCOMP", SYS_prctl, PR_SET_SECCOMP, -1, 0, 0, 0);
	TRY("arch_prctl", AMD(arch_prctl), 0x1003, page);
	TRY("seccomp", SYS_seccomp, -1, 0, NULL);
	TRY("landlock_create_ruleset", NR_LANDLOCK_CREATE, page, 16, 0);
	TRY("bpf", SYS_bpf, -1, NULL, 0);
	TRY("perf_event_open", SYS_perf_event_open, NULL, 0, -1, -1, 0);
	TRY("keyctl", SYS_keyctl, -1, 0, 0, 0, 0);
	TRY("add_key", SYS_add_key, NULL, NULL, NULL, 0, 0);
	TRY("request_key", SYS_request_key, NULL, NULL, NULL, 0);
	TRY("personality", SYS_personality, 0xffffffff);
	TRY("modify_ldt", AMD(modify_ldt), -1, NULL, 0);
	TRY("iopl", AMD(iopl), -1);
	TRY("getrandom", SYS_getrandom, page, 1, 0);
	TRY("uname", SYS_uname, page);
	TRY("getuid", SYS_getuid, 0);
	TRY("clock_gettime", SYS_clock_gettime, 0, page);
}

static void try_machine(void)
{
	TRY("mount", SYS_mount, "none", "/nonexistent", "tmpfs", 0, NULL);
	TRY("umount2", SYS_umount2, "/nonexistent", 0);
	TRY("pivot_root", SYS_pivot_root, "/nonexistent", "/nonexistent");
	TRY("chroot", SYS_chroot, "/nonexistent");
	TRY_FD("fsopen", NR_FSOPEN, "none", 0);
	TRY_FD("fspick", NR_FSPICK, AT_FDCWD, "/nonexistent", 0);
	TRY("move_mount", NR_MOVE_MOUNT, -1, "", -1, "", 0);
	TRY("mount_setattr", NR_MOUNT_SETATTR, -1, "", 0, NULL, 0);
	TRY("statmount", NR_STATMOUNT, NULL, NULL, 0, 0);
	TRY("quotactl", SYS_quotactl, -1, NULL, 0, NULL);
	TRY("quotactl_fd", NR_QUOTACTL_FD, -1, 0, 0, NULL);
	TRY("swapon", SYS_swapon, "/nonexistent", 0);
	TRY("acct", SYS_acct, "/nonexistent");
	TRY("reboot", SYS_reboot, 0, 0, 0, NULL);
	TRY("kexec_load", SYS_kexec_load, 0, 0, NULL, -1L);
	TRY("init_module", SYS_init_module, NULL, 0, "");
	TRY("finit_module", SYS_finit_module, -1, "", 0);
	TRY("delete_module", SYS_delete_module, "", 0);
	TRY("syslog", SYS_syslog, 10, NULL, 0);
	TRY("sethostname", SYS_sethostname, NULL, -1);
	TRY("settimeofday", SYS_settimeofday, NULL, NULL);
	TRY("clock_settime", SYS_clock_settime, -1, NULL);
	TRY("adjtimex", SYS_adjtimex, NULL);
}

#ifdef __x86_64__
static sigjmp_buf jump;

static void jump_back(int signo)
{
	(void)signo;
	siglongjmp(jump, 1);
}

/* getpid() by the numbers of i386 and x32, which a list of amd64's numbers does not have. A kernel without i386 sends
 * SIGSEGV. */
static void try_machines(void)
{
	struct sigaction back = { .sa_handler = jump_back }, before;
	volatile long rc = -EPERM;

	sigaction(SIGSEGV, &back, &before);
	if (sigsetjmp(jump, 1) == 0) {
		long number = 20;
		__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
		rc = number;
	}
	sigaction(SIGSEGV, &before, NULL);
	report("getpid of i386", rc, (int)-rc);
	TRY("getpid of x32", 0x40000000 | SYS_getpid, 0);
}
#else
static void try_machines(void)
{
	fprintf(out, "getpid of i386\t-\ngetpid of x32\t-\n");
}
#endif

/* ---- Landlock alone ---- */

static void denied_since(int abi, const char *what, long rc)
{
	fprintf(out, "%s\t%s\t%d\n", what, rc >= 0 ? "ok" : name_of(errno), abi);
	if (rc > 2)
		close((int)rc);
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : 0;
}

static void try_landlock_files(void)
{
	char inside[4200];

	denied_since(1, "open to read, readable", open(readable, O_RDONLY));
	denied_since(1, "open to write, readable", open(readable, O_WRONLY));
	denied_since(1, "open to write, own", open(own, O_WRONLY));
	denied_since(1, "open to create, own", open(fresh, O_WRONLY | O_CREAT | O_EXCL, 0600));
	denied_since(1, "rename, own", rename(own, fresh));
	denied_since(1, "unlink, own", unlink(own));
	denied_since(1, "mkdir, own", mkdir(fresh, 0700));
	snprintf(inside, sizeof inside, "%s/moved", own_dir);
	denied_since(1, "link to another directory, own", link(own, inside));
	denied_since(1, "rmdir, own", rmdir(own_dir));
	denied_since(1, "symlink, own", symlink("x", fresh));
	denied_since(1, "mkfifo, own", mknod(fresh, S_IFIFO | 0600, 0));
	denied_since(1, "open to read, foreign", open(foreign, O_RDONLY));
	denied_since(1, "open to write, foreign", open(foreign, O_WRONLY));
	denied_since(1, "open directory, foreign", open(foreign_dir, O_RDONLY | O_DIRECTORY));
	denied_since(1, "open to create, foreign", open(foreign_fresh, O_WRONLY | O_CREAT, 0600));
	denied_since(1, "mkdir, foreign", mkdir(foreign_fresh, 0700));
	denied_since(1, "unlink, foreign", unlink(foreign));
	denied_since(1, "rename into own, foreign", rename(foreign, fresh));
	denied_since(3, "truncate, readable", truncate(readable, size_of(readable)));
	denied_since(3, "truncate, foreign", truncate(foreign, size_of(foreign)));
	denied_since(3, "truncate, own", truncate(own, 0));
}

static void try_landlock_rest(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const char *abstract = getenv("PROBE_ABSTRACT"), *named = getenv("PROBE_NAMED");
	int random_fd = open("/dev/urandom", O_RDONLY), value;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	denied_since(5, "request to a device", ioctl(random_fd, 0x80045200 /* RNDGETENTCNT */, &value));
	close(random_fd);
	denied_since(4, "connect, TCP", connect(s, (struct sockaddr *)&to, sizeof to));
	denied_since(4, "bind, TCP", bind(tcp_fd, (struct sockaddr *)&any, sizeof any));
	close(s);
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = strlen(abstract);
	memcpy(name.sun_path + 1, abstract, len);
	denied_since(6, "connect, abstract socket", connect(s, (struct sockaddr *)&name,
							    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)));
	close(s);
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memset(name.sun_path, 0, sizeof name.sun_path);
	memcpy(name.sun_path, named, strnlen(named, sizeof name.sun_path - 1));
	denied_since(9, "connect, named socket", connect(s, (struct sockaddr *)&name, sizeof name));
	close(s);
	denied_since(6, "kill, other process", kill(victim, 0));
	denied_since(1, "kill, own", kill(getpid(), 0));
}

/* ---- in the process ---- */

static void *try_all(void *data)
{
	if (files_only) {
		try_landlock_files();
		try_landlock_rest();
		return data;
	}
	try_attributes("own", own);
	try_attributes("foreign", foreign);
	try_descriptor();
	try_opening();
	try_memory();
	try_processes();
	try_signals();
	try_sockets();
	try_requests();
	try_privileges();
	try_machine();
	try_machines();
	return data;
}

/* blktop's socket of --listen: the one that listens before the probe makes its own. */
static int find_accepting(void)
{
	int on;

	for (int fd = 3; fd < 256; fd++) {
		socklen_t len = sizeof on;
		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on)
			return fd;
	}
	return -1;
}

/* What is made before isolation, after which nothing can be: the file for the results, and a file of the user's own. */
__attribute__((constructor)) static void begin(void)
{
	const char *writable = getenv("PROBE_WRITABLE");
	const struct passwd *reader = getpwnam("nobody");

	if (!writable)
		return;
	out = fopen(getenv("PROBE_OUT"), "we");
	snprintf(own, sizeof own, "%s/probe-own", writable);
	own_fd = open(own, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	snprintf(own_dir, sizeof own_dir, "%s/probe-dir", writable);
	mkdir(own_dir, 0700);
	/* Run by root, blktop becomes that user. */
	if (geteuid() == 0 && reader && (fchown(own_fd, reader->pw_uid, reader->pw_gid) != 0 ||
					 chown(own_dir, reader->pw_uid, reader->pw_gid) != 0))
		abort();
}

static void prepare(void)
{
	const char *writable = getenv("PROBE_WRITABLE");
	int fds[2];

	readable = getenv("PROBE_READABLE");
	files_only = getenv("PROBE_FILES_ONLY") != NULL;
	victim = (pid_t)atoi(getenv("PROBE_VICTIM"));
	port = (uint16_t)atoi(getenv("PROBE_PORT"));
	snprintf(fresh, sizeof fresh, "%s/probe-fresh", writable);
	snprintf(foreign_dir, sizeof foreign_dir, "%s", getenv("PROBE_FOREIGN"));
	snprintf(foreign, sizeof foreign, "%s/file", getenv("PROBE_FOREIGN"));
	snprintf(foreign_fresh, sizeof foreign_fresh, "%s/fresh", getenv("PROBE_FOREIGN"));
	accepting_fd = find_accepting();
	if (pipe2(fds, O_CLOEXEC) == 0)
		pipe_fd = fds[0];
	tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	listening_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bind(listening_fd, (struct sockaddr *)&(struct sockaddr_un){ .sun_family = AF_UNIX }, sizeof(sa_family_t));
	listen(listening_fd, 1);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) == 0)
		unix_fd = fds[0];
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* For blktop, which asks for the version, and for the probe. */
long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const char *abi = getenv("PROBE_ABI");
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (abi && number == NR_LANDLOCK_CREATE && a[0] == 0 && a[2] == 1) {
		errno = EOPNOTSUPP;
		return atoi(abi) > 0 ? atoi(abi) : -1;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int seccomp_load(const scmp_filter_ctx c)
{
	int (*load)(const scmp_filter_ctx) = (int (*)(const scmp_filter_ctx))dlsym(RTLD_NEXT, "seccomp_load");
	pthread_t thread;

	prepare();
	int rc = files_only ? 0 : load(c);
	if (rc == 0 && out && pthread_create(&thread, NULL, try_all, NULL) == 0)
		pthread_join(thread, NULL);
	if (out)
		fclose(out);
	return rc;
}
