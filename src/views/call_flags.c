/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of flags and operations: see call_flags.h. Sources: include/uapi/ and arch/.../include/uapi/ of Linux 6.9. */
#include "views/call_flags.h"

#include <glib.h>
#include <string.h>

/* Sets of machines on which a name has its value. */
#define ON(m) (1u << MACHINE_##m)
#define ARMS (ON(ARM) | ON(ARM64))
#define PPCS (ON(PPC) | ON(PPC64))
#define NO_PPC (ON(X86_64) | ON(I386) | ON(RISCV64) | ON(S390X) | ARMS)
#define GENERIC (NO_PPC & ~ARMS)
#define TABLES (NO_PPC | PPCS)		/* the machines of base/machine.h; not alpha, mips, parisc, sparc */
#define EVERY (~0u)			/* and where the machine is unknown */

#define ALL (~UINT64_C(0))

/* Bits of an argument, if those in .mask are .value. The first that fits takes its bits. */
struct name {
	uint64_t mask, value;
	unsigned machines;
	const char *name;
};

#define BIT(value, machines, name) { value, value, machines, #name }
#define IS(value, machines, name) { ALL, value, machines, #name }
#define FUTEX(n, name) { 0xff, n, EVERY, "FUTEX_" #name }, { 0xff, (n) | 0x80, EVERY, "FUTEX_" #name "_PRIVATE" }
#define END { .name = NULL }

static const struct name open_flags[] = {
	{ 3, 0, TABLES, "O_RDONLY" }, { 3, 1, TABLES, "O_WRONLY" }, { 3, 2, TABLES, "O_RDWR" },
	BIT(0100, TABLES, O_CREAT), BIT(0200, TABLES, O_EXCL), BIT(0400, TABLES, O_NOCTTY),
	BIT(01000, TABLES, O_TRUNC), BIT(02000, TABLES, O_APPEND), BIT(04000, TABLES, O_NONBLOCK),
	BIT(04010000, TABLES, O_SYNC), BIT(010000, TABLES, O_DSYNC), BIT(020000, TABLES, O_ASYNC),
	BIT(020200000, GENERIC, O_TMPFILE), BIT(020040000, ARMS | PPCS, O_TMPFILE),
	BIT(040000, GENERIC, O_DIRECT), BIT(0100000, GENERIC, O_LARGEFILE),
	BIT(0200000, GENERIC, O_DIRECTORY), BIT(0400000, GENERIC, O_NOFOLLOW),
	BIT(040000, ARMS | PPCS, O_DIRECTORY), BIT(0100000, ARMS | PPCS, O_NOFOLLOW),
	BIT(0200000, ARMS, O_DIRECT), BIT(0400000, ARMS, O_LARGEFILE),
	BIT(0200000, PPCS, O_LARGEFILE), BIT(0400000, PPCS, O_DIRECT),
	BIT(01000000, TABLES, O_NOATIME), BIT(02000000, TABLES, O_CLOEXEC), BIT(010000000, TABLES, O_PATH),
	END
};
static const struct name pipe_flags[] = {
	BIT(04000, TABLES, O_NONBLOCK), BIT(02000000, TABLES, O_CLOEXEC), BIT(040000, GENERIC, O_DIRECT),
	BIT(0200000, ARMS, O_DIRECT), BIT(0400000, PPCS, O_DIRECT), END
};
static const struct name eventfd_flags[] = {
	BIT(1, EVERY, EFD_SEMAPHORE), BIT(04000, TABLES, EFD_NONBLOCK), BIT(02000000, TABLES, EFD_CLOEXEC), END
};
static const struct name epoll_flags[] = { BIT(02000000, TABLES, EPOLL_CLOEXEC), END };
static const struct name timerfd_flags[] = {
	BIT(04000, TABLES, TFD_NONBLOCK), BIT(02000000, TABLES, TFD_CLOEXEC), END
};
static const struct name timerfd_time_flags[] = {
	BIT(1, EVERY, TFD_TIMER_ABSTIME), BIT(2, EVERY, TFD_TIMER_CANCEL_ON_SET), END
};
static const struct name inotify_flags[] = {
	BIT(04000, TABLES, IN_NONBLOCK), BIT(02000000, TABLES, IN_CLOEXEC), END
};
static const struct name timer_flags[] = { BIT(1, EVERY, TIMER_ABSTIME), END };

static const struct name futex_ops[] = {
	FUTEX(0, WAIT), FUTEX(1, WAKE), FUTEX(3, REQUEUE), FUTEX(4, CMP_REQUEUE), FUTEX(5, WAKE_OP), FUTEX(6, LOCK_PI),
	FUTEX(7, UNLOCK_PI), FUTEX(8, TRYLOCK_PI), FUTEX(9, WAIT_BITSET), FUTEX(10, WAKE_BITSET),
	FUTEX(11, WAIT_REQUEUE_PI), FUTEX(12, CMP_REQUEUE_PI), FUTEX(13, LOCK_PI2),
	BIT(0x100, EVERY, FUTEX_CLOCK_REALTIME), END
};

static const struct name mmap_prot[] = {
	IS(0, EVERY, PROT_NONE), BIT(1, EVERY, PROT_READ), BIT(2, EVERY, PROT_WRITE), BIT(4, EVERY, PROT_EXEC),
	BIT(0x1000000, EVERY, PROT_GROWSDOWN), BIT(0x2000000, EVERY, PROT_GROWSUP), END
};
static const struct name mmap_flags[] = {
	{ 0xf, 1, EVERY, "MAP_SHARED" }, { 0xf, 2, EVERY, "MAP_PRIVATE" }, { 0xf, 3, TABLES, "MAP_SHARED_VALIDATE" },
	BIT(0x10, TABLES, MAP_FIXED), BIT(0x20, TABLES, MAP_ANONYMOUS), BIT(0x40, ON(X86_64) | ON(I386), MAP_32BIT),
	BIT(0x40, PPCS, MAP_NORESERVE), BIT(0x80, PPCS, MAP_LOCKED), BIT(0x100, TABLES, MAP_GROWSDOWN),
	BIT(0x800, TABLES, MAP_DENYWRITE), BIT(0x1000, TABLES, MAP_EXECUTABLE), BIT(0x2000, NO_PPC, MAP_LOCKED),
	BIT(0x4000, NO_PPC, MAP_NORESERVE), BIT(0x8000, TABLES, MAP_POPULATE), BIT(0x10000, TABLES, MAP_NONBLOCK),
	BIT(0x20000, TABLES, MAP_STACK), BIT(0x40000, TABLES, MAP_HUGETLB), BIT(0x80000, TABLES, MAP_SYNC),
	BIT(0x100000, TABLES, MAP_FIXED_NOREPLACE), END
};
static const struct name mremap_flags[] = {
	BIT(1, EVERY, MREMAP_MAYMOVE), BIT(2, EVERY, MREMAP_FIXED), BIT(4, EVERY, MREMAP_DONTUNMAP), END
};
static const struct name madvise_advice[] = {
	IS(0, EVERY, MADV_NORMAL), IS(1, EVERY, MADV_RANDOM), IS(2, EVERY, MADV_SEQUENTIAL), IS(3, EVERY,
	MADV_WILLNEED),
	IS(4, TABLES, MADV_DONTNEED), IS(8, TABLES, MADV_FREE), IS(9, TABLES, MADV_REMOVE),
	IS(10, TABLES, MADV_DONTFORK), IS(11, TABLES, MADV_DOFORK), IS(12, TABLES, MADV_MERGEABLE),
	IS(13, TABLES, MADV_UNMERGEABLE), IS(14, TABLES, MADV_HUGEPAGE), IS(15, TABLES, MADV_NOHUGEPAGE),
	IS(16, TABLES, MADV_DONTDUMP), IS(17, TABLES, MADV_DODUMP), IS(18, TABLES, MADV_WIPEONFORK),
	IS(19, TABLES, MADV_KEEPONFORK), IS(20, TABLES, MADV_COLD), IS(21, TABLES, MADV_PAGEOUT), END
};
static const struct name fadvise_advice[] = {
	IS(0, EVERY, POSIX_FADV_NORMAL), IS(1, EVERY, POSIX_FADV_RANDOM), IS(2, EVERY, POSIX_FADV_SEQUENTIAL),
	IS(3, EVERY, POSIX_FADV_WILLNEED), IS(4, TABLES & ~ON(S390X), POSIX_FADV_DONTNEED),
	IS(5, TABLES & ~ON(S390X), POSIX_FADV_NOREUSE), END
};

static const struct name clone_flags[] = {
	{ 0xff, 17, TABLES, "SIGCHLD" },
	BIT(0x100, EVERY, CLONE_VM), BIT(0x200, EVERY, CLONE_FS), BIT(0x400, EVERY, CLONE_FILES),
	BIT(0x800, EVERY, CLONE_SIGHAND), BIT(0x1000, EVERY, CLONE_PIDFD), BIT(0x2000, EVERY, CLONE_PTRACE),
	BIT(0x4000, EVERY, CLONE_VFORK), BIT(0x8000, EVERY, CLONE_PARENT), BIT(0x10000, EVERY, CLONE_THREAD),
	BIT(0x20000, EVERY, CLONE_NEWNS), BIT(0x40000, EVERY, CLONE_SYSVSEM), BIT(0x80000, EVERY, CLONE_SETTLS),
	BIT(0x100000, EVERY, CLONE_PARENT_SETTID), BIT(0x200000, EVERY, CLONE_CHILD_CLEARTID),
	BIT(0x400000, EVERY, CLONE_DETACHED), BIT(0x800000, EVERY, CLONE_UNTRACED),
	BIT(0x1000000, EVERY, CLONE_CHILD_SETTID), BIT(0x2000000, EVERY, CLONE_NEWCGROUP),
	BIT(0x4000000, EVERY, CLONE_NEWUTS), BIT(0x8000000, EVERY, CLONE_NEWIPC), BIT(0x10000000, EVERY, CLONE_NEWUSER),
	BIT(0x20000000, EVERY, CLONE_NEWPID), BIT(0x40000000, EVERY, CLONE_NEWNET), BIT(0x80000000, EVERY, CLONE_IO),
	END
};
static const struct name wait_options[] = {
	BIT(1, EVERY, WNOHANG), BIT(2, EVERY, WUNTRACED), BIT(4, EVERY, WEXITED), BIT(8, EVERY, WCONTINUED),
	BIT(0x1000000, EVERY, WNOWAIT), BIT(0x20000000, EVERY, __WNOTHREAD), BIT(0x40000000, EVERY, __WALL),
	BIT(0x80000000, EVERY, __WCLONE), END
};
static const struct name signals[] = {
	IS(1, TABLES, SIGHUP), IS(2, TABLES, SIGINT), IS(3, TABLES, SIGQUIT), IS(4, TABLES, SIGILL),
	IS(5, TABLES, SIGTRAP), IS(6, TABLES, SIGABRT), IS(7, TABLES, SIGBUS), IS(8, TABLES, SIGFPE),
	IS(9, TABLES, SIGKILL), IS(10, TABLES, SIGUSR1), IS(11, TABLES, SIGSEGV), IS(12, TABLES, SIGUSR2),
	IS(13, TABLES, SIGPIPE), IS(14, TABLES, SIGALRM), IS(15, TABLES, SIGTERM), IS(16, TABLES, SIGSTKFLT),
	IS(17, TABLES, SIGCHLD), IS(18, TABLES, SIGCONT), IS(19, TABLES, SIGSTOP), IS(20, TABLES, SIGTSTP),
	IS(21, TABLES, SIGTTIN), IS(22, TABLES, SIGTTOU), IS(23, TABLES, SIGURG), IS(24, TABLES, SIGXCPU),
	IS(25, TABLES, SIGXFSZ), IS(26, TABLES, SIGVTALRM), IS(27, TABLES, SIGPROF), IS(28, TABLES, SIGWINCH),
	IS(29, TABLES, SIGIO), IS(30, TABLES, SIGPWR), IS(31, TABLES, SIGSYS), END
};
static const struct name mask_how[] = {
	IS(0, TABLES, SIG_BLOCK), IS(1, TABLES, SIG_UNBLOCK), IS(2, TABLES, SIG_SETMASK), END
};

static const struct name families[] = {
	IS(0, EVERY, AF_UNSPEC), IS(1, EVERY, AF_UNIX), IS(2, EVERY, AF_INET), IS(10, EVERY, AF_INET6),
	IS(16, EVERY, AF_NETLINK), IS(17, EVERY, AF_PACKET), IS(38, EVERY, AF_ALG), IS(40, EVERY, AF_VSOCK), END
};
static const struct name socket_types[] = {
	{ 0xf, 1, TABLES, "SOCK_STREAM" }, { 0xf, 2, TABLES, "SOCK_DGRAM" }, { 0xf, 3, EVERY, "SOCK_RAW" },
	{ 0xf, 4, EVERY, "SOCK_RDM" }, { 0xf, 5, EVERY, "SOCK_SEQPACKET" },
	BIT(04000, TABLES, SOCK_NONBLOCK), BIT(02000000, TABLES, SOCK_CLOEXEC), END
};
static const struct name socket_flags[] = {
	BIT(04000, TABLES, SOCK_NONBLOCK), BIT(02000000, TABLES, SOCK_CLOEXEC), END
};
static const struct name message_flags[] = {
	BIT(1, EVERY, MSG_OOB), BIT(2, EVERY, MSG_PEEK), BIT(4, EVERY, MSG_DONTROUTE), BIT(8, EVERY, MSG_CTRUNC),
	BIT(0x20, EVERY, MSG_TRUNC), BIT(0x40, EVERY, MSG_DONTWAIT), BIT(0x80, EVERY, MSG_EOR),
	BIT(0x100, EVERY, MSG_WAITALL), BIT(0x800, EVERY, MSG_CONFIRM), BIT(0x2000, EVERY, MSG_ERRQUEUE),
	BIT(0x4000, EVERY, MSG_NOSIGNAL), BIT(0x8000, EVERY, MSG_MORE), BIT(0x10000, EVERY, MSG_WAITFORONE),
	BIT(0x4000000, EVERY, MSG_ZEROCOPY), BIT(0x20000000, EVERY, MSG_FASTOPEN),
	BIT(0x40000000, EVERY, MSG_CMSG_CLOEXEC), END
};
static const struct name shutdown_how[] = {
	IS(0, EVERY, SHUT_RD), IS(1, EVERY, SHUT_WR), IS(2, EVERY, SHUT_RDWR), END
};
static const struct name socket_levels[] = {
	IS(0, EVERY, SOL_IP), IS(1, TABLES, SOL_SOCKET), IS(6, EVERY, SOL_TCP), IS(17, EVERY, SOL_UDP),
	IS(41, EVERY, SOL_IPV6), IS(263, EVERY, SOL_PACKET), IS(270, EVERY, SOL_NETLINK), END
};

static const struct name access_modes[] = {
	IS(0, EVERY, F_OK), BIT(4, EVERY, R_OK), BIT(2, EVERY, W_OK), BIT(1, EVERY, X_OK), END
};
static const struct name at_flags[] = {
	BIT(0x100, EVERY, AT_SYMLINK_NOFOLLOW), BIT(0x400, EVERY, AT_SYMLINK_FOLLOW), BIT(0x800, EVERY,
	AT_NO_AUTOMOUNT),
	BIT(0x1000, EVERY, AT_EMPTY_PATH), BIT(0x2000, EVERY, AT_STATX_FORCE_SYNC),
	BIT(0x4000, EVERY, AT_STATX_DONT_SYNC), END
};
static const struct name unlink_flags[] = { BIT(0x200, EVERY, AT_REMOVEDIR), END };
static const struct name whence[] = {
	IS(0, EVERY, SEEK_SET), IS(1, EVERY, SEEK_CUR), IS(2, EVERY, SEEK_END), IS(3, EVERY, SEEK_DATA),
	IS(4, EVERY, SEEK_HOLE), END
};
static const struct name fcntl_cmds[] = {
	IS(0, EVERY, F_DUPFD), IS(1, EVERY, F_GETFD), IS(2, EVERY, F_SETFD), IS(3, EVERY, F_GETFL), IS(4, EVERY,
	F_SETFL),
	IS(5, TABLES, F_GETLK), IS(6, TABLES, F_SETLK), IS(7, TABLES, F_SETLKW), IS(8, TABLES, F_SETOWN),
	IS(9, TABLES, F_GETOWN), IS(10, TABLES, F_SETSIG), IS(11, TABLES, F_GETSIG), IS(36, EVERY, F_OFD_GETLK),
	IS(37, EVERY, F_OFD_SETLK), IS(38, EVERY, F_OFD_SETLKW), IS(1024, EVERY, F_SETLEASE),
	IS(1025, EVERY, F_GETLEASE), IS(1026, EVERY, F_NOTIFY), IS(1030, EVERY, F_DUPFD_CLOEXEC),
	IS(1031, EVERY, F_SETPIPE_SZ), IS(1032, EVERY, F_GETPIPE_SZ), IS(1033, EVERY, F_ADD_SEALS),
	IS(1034, EVERY, F_GET_SEALS), END
};
static const struct name splice_flags[] = {
	BIT(1, EVERY, SPLICE_F_MOVE), BIT(2, EVERY, SPLICE_F_NONBLOCK), BIT(4, EVERY, SPLICE_F_MORE),
	BIT(8, EVERY, SPLICE_F_GIFT), END
};
static const struct name sync_range_flags[] = {
	BIT(1, EVERY, SYNC_FILE_RANGE_WAIT_BEFORE), BIT(2, EVERY, SYNC_FILE_RANGE_WRITE),
	BIT(4, EVERY, SYNC_FILE_RANGE_WAIT_AFTER), END
};
static const struct name clocks[] = {
	IS(0, EVERY, CLOCK_REALTIME), IS(1, EVERY, CLOCK_MONOTONIC), IS(2, EVERY, CLOCK_PROCESS_CPUTIME_ID),
	IS(3, EVERY, CLOCK_THREAD_CPUTIME_ID), IS(4, EVERY, CLOCK_MONOTONIC_RAW), IS(5, EVERY, CLOCK_REALTIME_COARSE),
	IS(6, EVERY, CLOCK_MONOTONIC_COARSE), IS(7, EVERY, CLOCK_BOOTTIME), IS(8, EVERY, CLOCK_REALTIME_ALARM),
	IS(9, EVERY, CLOCK_BOOTTIME_ALARM), IS(11, EVERY, CLOCK_TAI), END
};
static const struct name policies[] = {
	IS(0, EVERY, SCHED_OTHER), IS(1, EVERY, SCHED_FIFO), IS(2, EVERY, SCHED_RR), IS(3, EVERY, SCHED_BATCH),
	IS(5, EVERY, SCHED_IDLE), IS(6, EVERY, SCHED_DEADLINE), END
};
static const struct name resources[] = {
	IS(0, TABLES, RLIMIT_CPU), IS(1, TABLES, RLIMIT_FSIZE), IS(2, TABLES, RLIMIT_DATA), IS(3, TABLES, RLIMIT_STACK),
	IS(4, TABLES, RLIMIT_CORE), IS(5, TABLES, RLIMIT_RSS), IS(6, TABLES, RLIMIT_NPROC), IS(7, TABLES,
	RLIMIT_NOFILE),
	IS(8, TABLES, RLIMIT_MEMLOCK), IS(9, TABLES, RLIMIT_AS), END
};
static const struct name prctl_options[] = {
	IS(1, EVERY, PR_SET_PDEATHSIG), IS(3, EVERY, PR_GET_DUMPABLE), IS(4, EVERY, PR_SET_DUMPABLE),
	IS(15, EVERY, PR_SET_NAME), IS(16, EVERY, PR_GET_NAME), IS(22, EVERY, PR_SET_SECCOMP),
	IS(23, EVERY, PR_CAPBSET_READ), IS(24, EVERY, PR_CAPBSET_DROP), IS(29, EVERY, PR_SET_TIMERSLACK),
	IS(36, EVERY, PR_SET_CHILD_SUBREAPER), IS(38, EVERY, PR_SET_NO_NEW_PRIVS), END
};
static const struct name mount_flags[] = {
	BIT(1, EVERY, MS_RDONLY), BIT(2, EVERY, MS_NOSUID), BIT(4, EVERY, MS_NODEV), BIT(8, EVERY, MS_NOEXEC),
	BIT(0x10, EVERY, MS_SYNCHRONOUS), BIT(0x20, EVERY, MS_REMOUNT), BIT(0x400, EVERY, MS_NOATIME),
	BIT(0x800, EVERY, MS_NODIRATIME), BIT(0x1000, EVERY, MS_BIND), BIT(0x2000, EVERY, MS_MOVE),
	BIT(0x4000, EVERY, MS_REC), BIT(0x8000, EVERY, MS_SILENT), BIT(0x20000, EVERY, MS_UNBINDABLE),
	BIT(0x40000, EVERY, MS_PRIVATE), BIT(0x80000, EVERY, MS_SLAVE), BIT(0x100000, EVERY, MS_SHARED),
	BIT(0x200000, EVERY, MS_RELATIME), BIT(0x1000000, EVERY, MS_STRICTATIME), END
};
static const struct name umount_flags[] = {
	BIT(1, EVERY, MNT_FORCE), BIT(2, EVERY, MNT_DETACH), BIT(4, EVERY, MNT_EXPIRE), BIT(8, EVERY,
	UMOUNT_NOFOLLOW), END
};

/* Fields as LTTng calls them. names NULL: shown in base 8. */
static const struct {
	const char *field, *calls;	/* names of calls, each between blanks */
	const struct name *names;
} arguments[] = {
	{ "flags", " open openat open_by_handle_at ", open_flags },
	{ "flags", " pipe2 dup3 ", pipe_flags },
	{ "flags", " mmap mmap_pgoff mmap2 ", mmap_flags },
	{ "flags", " mremap ", mremap_flags },
	{ "flags", " clone ", clone_flags },
	{ "clone_flags", " clone ", clone_flags },
	{ "unshare_flags", " unshare ", clone_flags },
	{ "nstype", " setns ", clone_flags },
	{ "flags", " recvfrom recvmsg recvmmsg sendto sendmsg sendmmsg ", message_flags },
	{ "flags", " accept4 ", socket_flags },
	{ "flags", " eventfd2 ", eventfd_flags },
	{ "flags", " epoll_create1 ", epoll_flags },
	{ "flags", " timerfd_create ", timerfd_flags },
	{ "flags", " timerfd_settime ", timerfd_time_flags },
	{ "flags", " inotify_init1 ", inotify_flags },
	{ "flags", " clock_nanosleep timer_settime ", timer_flags },
	{ "flags", " splice tee vmsplice ", splice_flags },
	{ "flags", " sync_file_range ", sync_range_flags },
	{ "flags", " mount ", mount_flags },
	{ "flags", " umount umount2 ", umount_flags },
	{ "flags", " fchownat linkat name_to_handle_at statx ", at_flags },
	{ "flag", " newfstatat fstatat64 fchownat ", at_flags },
	{ "flag", " unlinkat ", unlink_flags },
	{ "op", " futex ", futex_ops },
	{ "prot", " mmap mmap_pgoff mmap2 mprotect pkey_mprotect ", mmap_prot },
	{ "behavior", " madvise ", madvise_advice },
	{ "advice", " fadvise64 fadvise64_64 ", fadvise_advice },
	{ "options", " wait4 waitid ", wait_options },
	{ "sig", " kill tgkill tkill rt_sigaction rt_sigqueueinfo rt_tgsigqueueinfo ", signals },
	{ "how", " rt_sigprocmask ", mask_how },
	{ "how", " shutdown ", shutdown_how },
	{ "family", " socket socketpair connect accept accept4 ", families },
	{ "type", " socket socketpair ", socket_types },
	{ "level", " setsockopt getsockopt ", socket_levels },
	{ "mode", " access faccessat faccessat2 ", access_modes },
	{ "whence", " lseek ", whence },
	{ "cmd", " fcntl fcntl64 ", fcntl_cmds },
	{ "which_clock", " clock_gettime clock_settime clock_getres clock_nanosleep timer_create ", clocks },
	{ "clockid", " timerfd_create ", clocks },
	{ "policy", " sched_setscheduler sched_get_priority_max sched_get_priority_min ", policies },
	{ "resource", " prlimit64 getrlimit setrlimit ", resources },
	{ "option", " prctl ", prctl_options },
	{ "mode", " open openat creat mkdir mkdirat chmod fchmod fchmodat mknod mknodat ", NULL },
	{ "mask", " umask ", NULL },
};

static bool is_among(const char *calls, const char *call)
{
	size_t len = strlen(call);

	for (const char *at = strstr(calls, call); at; at = strstr(at + 1, call))
		if (at > calls && at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

static char *join(const struct name *names, enum machine m, uint64_t value)
{
	g_autoptr(GString) s = g_string_new(NULL);
	uint64_t rest = value, taken = 0;

	for (; names->name; names++) {
		if (!(names->machines & 1u << m) || (rest & names->mask) != names->value || (taken & names->mask))
			continue;
		g_string_append_printf(s, "%s%s", s->len ? "|" : "", names->name);
		taken |= names->mask;
		rest &= ~names->mask;
	}
	if (!s->len)
		return NULL;
	if (rest)
		g_string_append_printf(s, "|0x%" G_GINT64_MODIFIER "x", rest);
	return g_strdup(s->str);
}

char *call_flags_text(enum machine m, const char *call, const char *field, uint64_t value)
{
	/* Flags are 32 bits wide; a larger value is a negative number, or not what is expected. */
	for (size_t i = 0; value <= UINT32_MAX && *call && i < G_N_ELEMENTS(arguments); i++) {
		if (strcmp(arguments[i].field, field) || !is_among(arguments[i].calls, call))
			continue;
		return arguments[i].names ? join(arguments[i].names, m, value) :
					    g_strdup_printf("0%" G_GINT64_MODIFIER "o", value);
	}
	return NULL;
}
