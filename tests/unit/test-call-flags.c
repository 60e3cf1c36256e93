/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of flags in arguments of calls, against the headers of this system: the compiler makes the number, the
 * preprocessor the text. */
#include "views/call_flags.h"

#include <fcntl.h>
#include <glib.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void assert_text(enum machine m, const char *call, const char *field, uint64_t value, const char *want)
{
	g_autofree char *got = call_flags_text(m, call, field, value);
	g_assert_cmpstr(got, ==, want);
}

/* The expression without its blanks is what must come out. */
static void assert_source(const char *call, const char *field, uint64_t value, const char *source)
{
	g_auto(GStrv) words = g_strsplit(source, " ", -1);
	g_autofree char *want = g_strjoinv("", words);
	assert_text(MACHINE_X86_64, call, field, value, want);
}
#define SAYS(call, field, ...) assert_source(#call, #field, (uint32_t)(__VA_ARGS__), #__VA_ARGS__)

static void test_files(void)
{
	SAYS(openat, flags, O_RDONLY);
	SAYS(open, flags, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC);
	SAYS(openat, flags, O_RDWR | O_APPEND | O_NONBLOCK | O_SYNC | O_CLOEXEC);
	SAYS(openat, flags, O_RDONLY | O_DSYNC | O_ASYNC | O_DIRECT | O_NOFOLLOW | O_NOATIME);
	SAYS(openat, flags, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_PATH);
	SAYS(openat, flags, O_RDWR | O_TMPFILE);
	SAYS(pipe2, flags, O_NONBLOCK | O_CLOEXEC | O_DIRECT);
	SAYS(access, mode, F_OK);
	SAYS(faccessat, mode, R_OK | W_OK | X_OK);
	SAYS(newfstatat, flag, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH);
	SAYS(unlinkat, flag, AT_REMOVEDIR);
	SAYS(lseek, whence, SEEK_SET);
	SAYS(lseek, whence, SEEK_END);
	SAYS(fcntl, cmd, F_DUPFD_CLOEXEC);
	SAYS(fcntl, cmd, F_SETFL);
	SAYS(fcntl, cmd, F_OFD_SETLKW);
	SAYS(fcntl, cmd, F_GETPIPE_SZ);
	SAYS(splice, flags, SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT);
	SAYS(sync_file_range, flags, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	SAYS(fadvise64, advice, POSIX_FADV_DONTNEED);
	SAYS(mount, flags, MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_REMOUNT | MS_BIND | MS_REC | MS_PRIVATE);
	SAYS(mount, flags, MS_SILENT | MS_SLAVE | MS_SHARED | MS_RELATIME | MS_STRICTATIME);
	SAYS(umount, flags, MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW);
	assert_text(MACHINE_X86_64, "openat", "mode", 0644, "0644");
	assert_text(MACHINE_UNKNOWN, "umask", "mask", 022, "022");
}

static void test_memory_and_threads(void)
{
	SAYS(mmap, prot, PROT_NONE);
	SAYS(mprotect, prot, PROT_READ | PROT_WRITE | PROT_EXEC);
	SAYS(mmap, flags, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_DENYWRITE | MAP_LOCKED | MAP_NORESERVE);
	SAYS(mmap, flags, MAP_SHARED | MAP_32BIT | MAP_GROWSDOWN | MAP_POPULATE | MAP_STACK | MAP_HUGETLB);
	SAYS(mremap, flags, MREMAP_MAYMOVE | MREMAP_FIXED);
	SAYS(madvise, behavior, MADV_DONTNEED);
	SAYS(madvise, behavior, MADV_NOHUGEPAGE);
	SAYS(madvise, behavior, MADV_FREE);
	SAYS(futex, op, FUTEX_WAIT);
	SAYS(futex, op, FUTEX_WAKE_PRIVATE);
	SAYS(futex, op, FUTEX_CMP_REQUEUE_PI_PRIVATE);
	SAYS(futex, op, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME);
	SAYS(clone, flags, SIGCHLD | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID);
	SAYS(clone, flags, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	     CLONE_SETTLS | CLONE_PARENT_SETTID);
	SAYS(unshare, unshare_flags, CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
	     CLONE_NEWPID | CLONE_NEWNET);
	SAYS(wait4, options, WNOHANG | WUNTRACED | WCONTINUED);
	SAYS(waitid, options, WEXITED | WNOWAIT);
	SAYS(kill, sig, SIGTERM);
	SAYS(tgkill, sig, SIGSTOP);
	SAYS(rt_sigaction, sig, SIGSYS);
	SAYS(rt_sigprocmask, how, SIG_SETMASK);
	SAYS(sched_setscheduler, policy, SCHED_FIFO);
	SAYS(sched_setscheduler, policy, SCHED_IDLE);
	SAYS(prlimit64, resource, RLIMIT_NOFILE);
	SAYS(getrlimit, resource, RLIMIT_AS);
	SAYS(prctl, option, PR_SET_NAME);
	SAYS(prctl, option, PR_SET_NO_NEW_PRIVS);
	SAYS(clock_nanosleep, which_clock, CLOCK_MONOTONIC);
	SAYS(clock_gettime, which_clock, CLOCK_THREAD_CPUTIME_ID);
	SAYS(clock_nanosleep, flags, TIMER_ABSTIME);
}

static void test_sockets(void)
{
	SAYS(socket, family, AF_INET6);
	SAYS(socket, family, AF_NETLINK);
	SAYS(socket, type, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC);
	SAYS(socketpair, type, SOCK_SEQPACKET);
	SAYS(accept4, flags, SOCK_CLOEXEC);
	SAYS(recvfrom, flags, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT | MSG_WAITALL | MSG_ERRQUEUE);
	SAYS(sendmsg, flags, MSG_OOB | MSG_EOR | MSG_NOSIGNAL | MSG_MORE | MSG_ZEROCOPY | MSG_FASTOPEN);
	SAYS(recvmsg, flags, MSG_WAITFORONE | MSG_CMSG_CLOEXEC);
	SAYS(shutdown, how, SHUT_RDWR);
	SAYS(setsockopt, level, SOL_SOCKET);
	SAYS(setsockopt, level, SOL_TCP);
	SAYS(setsockopt, level, SOL_NETLINK);
	SAYS(eventfd2, flags, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	SAYS(epoll_create1, flags, EPOLL_CLOEXEC);
	SAYS(timerfd_create, flags, TFD_NONBLOCK | TFD_CLOEXEC);
	SAYS(timerfd_settime, flags, TFD_TIMER_ABSTIME);
	SAYS(inotify_init1, flags, IN_NONBLOCK | IN_CLOEXEC);
}

/* The same bits on other machines: arch/arm64/include/uapi/asm/fcntl.h, arch/powerpc/include/uapi/asm/mman.h. */
static void test_machines(void)
{
	assert_text(MACHINE_ARM64, "openat", "flags", 040000, "O_RDONLY|O_DIRECTORY");
	assert_text(MACHINE_ARM64, "openat", "flags", 0200000, "O_RDONLY|O_DIRECT");
	assert_text(MACHINE_PPC64, "openat", "flags", 0400000, "O_RDONLY|O_DIRECT");
	assert_text(MACHINE_RISCV64, "openat", "flags", 040000, "O_RDONLY|O_DIRECT");
	assert_text(MACHINE_PPC64, "mmap", "flags", 0x42, "MAP_PRIVATE|MAP_NORESERVE");
	assert_text(MACHINE_ARM64, "mmap", "flags", 0x42, "MAP_PRIVATE|0x40");
	assert_text(MACHINE_S390X, "fadvise64", "advice", 4, NULL);
	/* Not known, or without a table: only what is the same everywhere. */
	assert_text(MACHINE_UNKNOWN, "openat", "flags", 0100, NULL);
	assert_text(MACHINE_OTHER, "openat", "flags", 0, NULL);
	assert_text(MACHINE_UNKNOWN, "mmap", "flags", 0x22, "MAP_PRIVATE|0x20");
	assert_text(MACHINE_UNKNOWN, "futex", "op", 128, "FUTEX_WAIT_PRIVATE");
}

/* What is no such argument, or has no name, stays a number. */
static void test_numbers(void)
{
	assert_text(MACHINE_X86_64, "openat", "flags", 0x80000001 | 0x20000000, "O_WRONLY|0xa0000000");
	assert_text(MACHINE_X86_64, "openat", "flags", UINT64_C(1) << 32, NULL);
	assert_text(MACHINE_X86_64, "fcntl", "cmd", (uint64_t)-1, NULL);
	assert_text(MACHINE_X86_64, "fcntl", "cmd", 999, NULL);
	assert_text(MACHINE_X86_64, "sendmsg", "flags", 0, NULL);
	assert_text(MACHINE_X86_64, "read", "flags", 1, NULL);
	assert_text(MACHINE_X86_64, "open", "mod", 1, NULL);
	assert_text(MACHINE_X86_64, "", "flags", 1, NULL);
	assert_text(MACHINE_X86_64, " open", "flags", 1, NULL);
	assert_text(MACHINE_X86_64, "ope", "flags", 1, NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#ifdef __x86_64__
	g_test_add_func("/call-flags/files", test_files);
	g_test_add_func("/call-flags/memory-and-threads", test_memory_and_threads);
	g_test_add_func("/call-flags/sockets", test_sockets);
#else
	(void)test_files, (void)test_memory_and_threads, (void)test_sockets;
#endif
	g_test_add_func("/call-flags/machines", test_machines);
	g_test_add_func("/call-flags/numbers", test_numbers);
	return g_test_run();
}
