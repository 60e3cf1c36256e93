/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter of system calls: see isolation.h.
 *
 * The tables list what is allowed. Everything else fails: with EPERM, or with ENOSYS where the C library has an older
 * call to use instead. Comparisons of arguments use the lower 32 bits where the kernel does. Calls that a machine does
 * not have (such as open() of arm64) have a negative number here and are skipped.
 *
 * Kernels from 5.11 on know in advance which calls are allowed whatever their arguments, so these cost nothing. That is
 * why frequent calls have no comparisons.
 */
#include "base/isolation_calls.h"

#include <glib.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define TERMS 2

/* Comparisons of one call's arguments that must all hold. */
struct allowed_call {
	int call;
	struct scmp_arg_cmp terms[TERMS];
	unsigned n;
};

#define MASKED(n, mask, value) { .arg = (n), .op = SCMP_CMP_MASKED_EQ, .datum_a = (mask), .datum_b = (value) }
#define IS(n, value) MASKED(n, UINT32_MAX, (uint32_t)(value))		/* an int or unsigned */
#define WIDE(n, value) { .arg = (n), .op = SCMP_CMP_EQ, .datum_a = (value) }	/* a long or a pointer */
#define RULE1(name, a) { SCMP_SYS(name), { a }, 1 }
#define RULE2(name, a, b) { SCMP_SYS(name), { a, b }, 2 }

/* Values that headers of some systems do not have yet, or that exclude each other. */
#define VMA_SETS 0x53564d41		/* PR_SET_VMA: names memory in /proc/PID/maps */
#define ADVICE_POISON 100		/* MADV_HWPOISON, MADV_SOFT_OFFLINE: break memory of the machine */
#define ADVICE_GUARD 102		/* MADV_GUARD_INSTALL, MADV_GUARD_REMOVE */
#define GET_MODES2 0x802c542a		/* TCGETS2, used by glibc 2.42 */
#define SET_MODES2 0x402c542b		/* TCSETS2; TCSETSW2 and TCSETSF2 follow */
#define OPENED_TEMPORARY (O_TMPFILE & ~O_DIRECTORY)
#define OPENED_TO_CHANGE (O_ACCMODE | O_CREAT | O_TRUNC | OPENED_TEMPORARY)

/* What glibc passes to create a thread. The flags are an argument of clone(); those of clone3() are in memory, where no
 * filter can see them. */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
		      CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#ifdef __s390__
#define CLONE_FLAGS_ARG 1
#else
#define CLONE_FLAGS_ARG 0
#endif

/* ---- every role: the reader ---- */

static const int reader_calls[] = {
	/* open files and directories */
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(readv), SCMP_SYS(preadv), SCMP_SYS(write), SCMP_SYS(pwrite64),
	SCMP_SYS(writev), SCMP_SYS(pwritev), SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(_llseek), SCMP_SYS(fsync),
	SCMP_SYS(fdatasync), SCMP_SYS(ftruncate), SCMP_SYS(ftruncate64), SCMP_SYS(fallocate), SCMP_SYS(flock),
	SCMP_SYS(getdents), SCMP_SYS(getdents64), SCMP_SYS(fadvise64), SCMP_SYS(fadvise64_64),
	SCMP_SYS(arm_fadvise64_64), SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(pipe), SCMP_SYS(pipe2),
	SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(ppoll_time64), SCMP_SYS(select), SCMP_SYS(_newselect),
	SCMP_SYS(pselect6), SCMP_SYS(pselect6_time64), SCMP_SYS(eventfd2),
	/* what files are */
	SCMP_SYS(stat), SCMP_SYS(stat64), SCMP_SYS(lstat), SCMP_SYS(lstat64), SCMP_SYS(fstat), SCMP_SYS(fstat64),
	SCMP_SYS(newfstatat), SCMP_SYS(fstatat64), SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(statfs64),
	SCMP_SYS(fstatfs), SCMP_SYS(fstatfs64), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
	SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd),
	/* sockets to the processes that were started before */
	SCMP_SYS(sendmsg), SCMP_SYS(recvmsg), SCMP_SYS(recvfrom), SCMP_SYS(recv), SCMP_SYS(send), SCMP_SYS(wait4),
	SCMP_SYS(waitpid), SCMP_SYS(waitid),
	/* memory */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(membarrier),
	/* threads and signals */
	SCMP_SYS(futex), SCMP_SYS(futex_time64), SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu),
	SCMP_SYS(getpriority), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigreturn), SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigtimedwait_time64),
	SCMP_SYS(rt_sigsuspend), SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall),
	/* times */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64), SCMP_SYS(clock_getres), SCMP_SYS(clock_getres_time64),
	SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_nanosleep_time64), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday),
	SCMP_SYS(time), SCMP_SYS(times), SCMP_SYS(getrusage),
	/* who and where */
	SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid), SCMP_SYS(getpgrp), SCMP_SYS(getpgid), SCMP_SYS(getsid),
	SCMP_SYS(getuid), SCMP_SYS(getuid32), SCMP_SYS(geteuid), SCMP_SYS(geteuid32), SCMP_SYS(getgid),
	SCMP_SYS(getgid32), SCMP_SYS(getegid), SCMP_SYS(getegid32), SCMP_SYS(getresuid), SCMP_SYS(getresuid32),
	SCMP_SYS(getresgid), SCMP_SYS(getresgid32), SCMP_SYS(getgroups), SCMP_SYS(getgroups32), SCMP_SYS(uname),
	SCMP_SYS(sysinfo), SCMP_SYS(getrlimit), SCMP_SYS(ugetrlimit), SCMP_SYS(getrandom),
};

static const struct allowed_call reader_rules[] = {
	RULE1(open, MASKED(1, OPENED_TO_CHANGE, O_RDONLY)), RULE1(openat, MASKED(2, OPENED_TO_CHANGE, O_RDONLY)),
	/* Memory that can be executed would be new code. */
	RULE1(mmap, MASKED(2, PROT_EXEC, 0)), RULE1(mmap2, MASKED(2, PROT_EXEC, 0)),
	RULE1(mprotect, MASKED(2, PROT_EXEC, 0)),
	{ SCMP_SYS(madvise), { { .arg = 2, .op = SCMP_CMP_LT, .datum_a = ADVICE_POISON } }, 1 },
	RULE1(madvise, WIDE(2, ADVICE_GUARD)), RULE1(madvise, WIDE(2, ADVICE_GUARD + 1)),
	RULE1(clone, WIDE(CLONE_FLAGS_ARG, THREAD_FLAGS)),
	RULE1(prctl, IS(0, PR_SET_NAME)), RULE1(prctl, IS(0, PR_GET_NAME)), RULE2(prctl, IS(0, VMA_SETS), IS(1, 0)),
	/* of this process, read only */
	RULE2(prlimit64, IS(0, 0), WIDE(2, 0)),
	RULE2(setpriority, IS(0, PRIO_PROCESS), IS(1, 0)),		/* of the calling thread */
	/* No F_SETOWN, F_SETSIG, F_NOTIFY and O_ASYNC: they send signals to others. */
	RULE1(fcntl, IS(1, F_GETFL)), RULE1(fcntl, IS(1, F_GETFD)), RULE1(fcntl, IS(1, F_SETFD)),
	RULE1(fcntl, IS(1, F_DUPFD)), RULE1(fcntl, IS(1, F_DUPFD_CLOEXEC)),
	RULE2(fcntl, IS(1, F_SETFL), MASKED(2, O_ASYNC, 0)),
	RULE1(fcntl64, IS(1, F_GETFL)), RULE1(fcntl64, IS(1, F_GETFD)), RULE1(fcntl64, IS(1, F_SETFD)),
	RULE1(fcntl64, IS(1, F_DUPFD)), RULE1(fcntl64, IS(1, F_DUPFD_CLOEXEC)),
	RULE2(fcntl64, IS(1, F_SETFL), MASKED(2, O_ASYNC, 0)),
	RULE1(ioctl, IS(1, TCGETS)), RULE1(ioctl, IS(1, GET_MODES2)), RULE1(ioctl, IS(1, TIOCGWINSZ)),
	RULE1(ioctl, IS(1, FIONREAD)), RULE1(ioctl, IS(1, FIONBIO)),
	/* without an address: to whom the socket is connected */
	RULE1(sendto, WIDE(4, 0)),
};

/* ---- other roles ---- */

static const struct allowed_call screen_rules[] = {
	/* TIOCSTI and TIOCLINUX are not here: characters put into the terminal's input would be run by the shell. */
	RULE1(ioctl, IS(1, TCSETS)), RULE1(ioctl, IS(1, TCSETSW)), RULE1(ioctl, IS(1, TCSETSF)),
	RULE1(ioctl, IS(1, SET_MODES2)), RULE1(ioctl, IS(1, SET_MODES2 + 1)), RULE1(ioctl, IS(1, SET_MODES2 + 2)),
	RULE1(ioctl, IS(1, TCFLSH)), RULE1(ioctl, IS(1, TCSBRK)), RULE1(ioctl, IS(1, TCXONC)),
	RULE1(ioctl, IS(1, TIOCGPGRP)),
	RULE2(kill, IS(0, 0), IS(1, SIGTSTP)),				/* suspends the job */
	RULE1(memfd_create, IS(1, MFD_CLOEXEC)),			/* what libraries print meanwhile */
};

/* Connected sockets: of relays, and of the servers to which figures are sent. */
static const int connected_calls[] = {
	SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(shutdown),
};

static const struct allowed_call connected_rules[] = {
	RULE1(getsockopt, IS(1, SOL_SOCKET)), RULE1(getsockopt, IS(1, IPPROTO_TCP)),
	RULE2(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_KEEPALIVE)),
	RULE2(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_LINGER)),
	RULE2(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_SNDBUF)), RULE2(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_RCVBUF)),
	RULE2(setsockopt, IS(1, IPPROTO_TCP), IS(2, TCP_NODELAY)),
	RULE2(setsockopt, IS(1, IPPROTO_TCP), IS(2, TCP_QUICKACK)),
	RULE2(setsockopt, IS(1, IPPROTO_TCP), IS(2, TCP_USER_TIMEOUT)),
	RULE1(ioctl, IS(1, TIOCOUTQ)),					/* SIOCOUTQ: bytes not acknowledged */
};

/* Requests of connections to the process that makes them. */
static const struct allowed_call sender_rules[] = {
	RULE2(socketpair, IS(0, AF_UNIX), MASKED(1, 0xf, SOCK_SEQPACKET)),
};

/* Code of plugins: files mapped read only. */
static const struct allowed_call plugin_rules[] = {
	RULE2(mmap, MASKED(2, PROT_EXEC | PROT_WRITE, PROT_EXEC), MASKED(3, MAP_ANONYMOUS, 0)),
	RULE2(mmap2, MASKED(2, PROT_EXEC | PROT_WRITE, PROT_EXEC), MASKED(3, MAP_ANONYMOUS, 0)),
};

/* Calls since Linux 5.1 have the same number on all machines. Where one does not exist, libraries use an older one: for
 * clone3(), clone(). The last is beyond Linux 7.1; each row costs some microseconds at the start. */
#define FIRST_NEW_CALL 424
#define LAST_NEW_CALL 479

/* ---- the filter ---- */

static int add_calls(scmp_filter_ctx c, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (calls[i] >= 0)
			rc = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0);
	return rc;
}

static int add_rules(scmp_filter_ctx c, const struct allowed_call *rules, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (rules[i].call >= 0)
			rc = seccomp_rule_add_array(c, SCMP_ACT_ALLOW, rules[i].call, rules[i].n, rules[i].terms);
	return rc;
}

#define ADD_CALLS(c, list) add_calls(c, list, G_N_ELEMENTS(list))
#define ADD_RULES(c, list) add_rules(c, list, G_N_ELEMENTS(list))

/* Signals reach this process only. */
static int add_signals(scmp_filter_ctx c)
{
	const struct allowed_call own[] = { RULE1(kill, IS(0, getpid())), RULE1(tgkill, IS(0, getpid())) };

	return ADD_RULES(c, own);
}

/* Connections are accepted from this socket only. */
static int add_accepts(scmp_filter_ctx c, int accepts)
{
	const struct allowed_call from[] = { RULE1(accept, IS(0, accepts)), RULE1(accept4, IS(0, accepts)) };

	return accepts < 0 ? 0 : ADD_RULES(c, from);
}

static bool is_listed(const int *calls, size_t n, int call)
{
	for (size_t i = 0; i < n; i++)
		if (calls[i] == call)
			return true;
	return false;
}

static int add_missing(scmp_filter_ctx c)
{
	int rc = 0;

	for (int call = FIRST_NEW_CALL; call <= LAST_NEW_CALL && !rc; call++)
		if (!is_listed(reader_calls, G_N_ELEMENTS(reader_calls), call))
			rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), call, 0);
	return rc;
}

static int add_all(scmp_filter_ctx c, unsigned roles, int accepts)
{
	/* Unconditional rules of a call come before conditional ones. */
	int rc = ADD_CALLS(c, reader_calls);

	rc = rc ? rc : ADD_RULES(c, reader_rules);
	rc = rc ? rc : add_signals(c);
	if (!rc && roles & ISOLATION_SCREEN)
		rc = ADD_RULES(c, screen_rules);
	if (!rc && roles & (ISOLATION_SENDER | ISOLATION_RECEIVER)) {
		rc = ADD_CALLS(c, connected_calls);
		rc = rc ? rc : ADD_RULES(c, connected_rules);
	}
	if (!rc && roles & ISOLATION_SENDER)
		rc = ADD_RULES(c, sender_rules);
	if (!rc && roles & ISOLATION_RECEIVER)
		rc = add_accepts(c, accepts);
	if (!rc && roles & ISOLATION_PLUGINS)
		rc = ADD_RULES(c, plugin_rules);
	return rc ? rc : add_missing(c);
}

static int set_attributes(scmp_filter_ctx c)
{
	/* Calls in the way of other machines (i386 and x32 on amd64) are denied like others, all of them. */
	int rc = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));

	/* Otherwise kernels before 5.16 enable the SSBD mitigation, which slows down the whole process. It protects
	 * against foreign code in the process, and blktop runs none. */
	rc = rc ? rc : seccomp_attr_set(c, SCMP_FLTATR_CTL_SSB, 1);
	/* The filter also applies to threads that a library may have started already. */
	rc = rc ? rc : seccomp_attr_set(c, SCMP_FLTATR_CTL_TSYNC, 1);
	/* A binary tree, by the number of the call. */
	return rc ? rc : seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

bool isolation_filter_calls(unsigned roles, int accepts, int *ret_error)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	*ret_error = ENOMEM;
	if (!c)
		return false;
	int rc = set_attributes(c);
	rc = rc ? rc : add_all(c, roles, accepts);
	rc = rc ? rc : seccomp_load(c);
	seccomp_release(c);
	*ret_error = -rc;
	return rc == 0;
}
