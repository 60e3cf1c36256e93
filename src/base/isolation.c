/* SPDX-License-Identifier: GPL-2.0-only */
/* The filters of system calls and files: see isolation.h. */
#include "base/isolation.h"

#include "base/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

static unsigned held;			/* enum isolation bits in force; set before the first thread */

/* ---- system calls ---- */

/* System calls that would be useful to an attacker in this process. */
static const int denied_calls[] = {
	/* other programs and processes */
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pidfd_send_signal), SCMP_SYS(kcmp), SCMP_SYS(move_pages), SCMP_SYS(migrate_pages),
	/* sockets; open sockets can still be read and written */
	SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
	/* calls that bypass these filters or have a long history of vulnerabilities */
	SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(name_to_handle_at),
	SCMP_SYS(open_by_handle_at), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl),
	SCMP_SYS(fanotify_init), SCMP_SYS(personality), SCMP_SYS(modify_ldt), SCMP_SYS(lookup_dcookie),
	SCMP_SYS(vmsplice),
	/* namespaces and mounts */
	SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2),
	SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount),
	SCMP_SYS(fspick), SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(mount_setattr),
	SCMP_SYS(quotactl), SCMP_SYS(quotactl_fd), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(mknod),
	SCMP_SYS(mknodat), SCMP_SYS(vhangup),
	/* privileges and the machine */
	SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
	SCMP_SYS(setresgid), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(setgroups), SCMP_SYS(capset),
	SCMP_SYS(reboot), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(init_module),
	SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(acct), SCMP_SYS(syslog),
	SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex),
	SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(iopl), SCMP_SYS(ioperm),
};

/*
 * Characters put into the terminal's input would be run by the shell after blktop ends. The kernel uses only the
 * lower 32 bits of a request, so only these are compared.
 */
static const struct scmp_arg_cmp denied_requests[] = {
	{ .arg = 1, .op = SCMP_CMP_MASKED_EQ, .datum_a = UINT32_MAX, .datum_b = TIOCSTI },
	{ .arg = 1, .op = SCMP_CMP_MASKED_EQ, .datum_a = UINT32_MAX, .datum_b = TIOCLINUX },
};

/* Connections are accepted from this socket only; -1: from none. */
static int add_accepts(scmp_filter_ctx c, int accepts)
{
	static const int calls[] = { SCMP_SYS(accept), SCMP_SYS(accept4) };
	const struct scmp_arg_cmp other = { .arg = 0, .op = SCMP_CMP_NE, .datum_a = (uint32_t)accepts };
	int rc = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(calls) && !rc; i++)
		rc = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), calls[i], accepts < 0 ? 0 : 1, &other);
	return rc;
}

static bool add_calls(scmp_filter_ctx c, int accepts, int *ret_error)
{
	int rc = add_accepts(c, accepts);

	for (gsize i = 0; i < G_N_ELEMENTS(denied_calls) && !rc; i++)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), denied_calls[i], 0);
	for (gsize i = 0; i < G_N_ELEMENTS(denied_requests) && !rc; i++)
		rc = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1, &denied_requests[i]);
	/* Otherwise kernels before 5.16 enable the SSBD mitigation, which slows down the whole process. It protects
	 * against foreign code in the process, and blktop runs none. */
	if (!rc)
		rc = seccomp_attr_set(c, SCMP_FLTATR_CTL_SSB, 1);
	/* The filter also applies to threads that a library may have started already. */
	if (!rc)
		rc = seccomp_attr_set(c, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!rc)
		rc = seccomp_load(c);
	*ret_error = -rc;
	return rc == 0;
}

static bool filter_calls(int accepts, int *ret_error)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);

	*ret_error = ENOMEM;
	if (!c)
		return false;
	bool ok = add_calls(c, accepts, ret_error);
	seccomp_release(c);
	return ok;
}

/* ---- files ---- */

/*
 * linux/landlock.h of a system is often older than its kernel, so the constants are here, with the version of the
 * interface ("ABI") that introduced them (Documentation/userspace-api/landlock.rst).
 */
#define LANDLOCK_VERSION 1u
#define LANDLOCK_PATH_BENEATH 1
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_ABI_1 ((1ull << 13) - 1)
#define FS_MAKE (1ull << 4 | 1ull << 5 | 1ull << 7 | 1ull << 8)	/* make and remove directories and files */
#define FS_REFER (1ull << 13)		/* ABI 2: move something between directories */
#define FS_TRUNCATE (1ull << 14)	/* ABI 3 */
#define NET_TCP 3ull			/* ABI 4: bind, connect */
#define SCOPE_ABSTRACT_SOCKETS 1ull	/* ABI 6 */

struct landlock_rules {			/* struct landlock_ruleset_attr */
	uint64_t fs, net, scoped;
};

struct landlock_beneath {		/* struct landlock_path_beneath_attr */
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

static int landlock_abi(int *ret_error)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_VERSION);

	*ret_error = abi < 0 ? errno : 0;
	return abi < 0 ? 0 : (int)abi;
}

static uint64_t known_rights(int abi)
{
	return FS_ABI_1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0);
}

/* Allows access below `path`. A path that does not exist, or is not in a file system (a pipe), needs no rule. */
static void allow(int rules, const char *path, uint64_t rights)
{
	struct stat st;
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rights &= FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE;
	struct landlock_beneath rule = { rights, fd };
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_PATH_BENEATH, &rule, 0u);
	close(fd);
}

static bool filter_files(const GPtrArray *read, const GPtrArray *write, int *ret_error)
{
	const uint64_t reads = FS_READ_FILE | FS_READ_DIR;
	int abi = landlock_abi(ret_error);
	uint64_t known = known_rights(abi);
	struct landlock_rules all = { known, abi >= 4 ? NET_TCP : 0, abi >= 6 ? SCOPE_ABSTRACT_SOCKETS : 0 };

	if (!abi)
		return false;
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0u);
	if (rules < 0) {
		*ret_error = errno;
		return false;
	}
	for (guint i = 0; i < read->len; i++)
		allow(rules, g_ptr_array_index(read, i), reads);
	for (guint i = 0; i < write->len; i++)
		allow(rules, g_ptr_array_index(write, i), (reads | FS_WRITE_FILE | FS_MAKE | FS_TRUNCATE) & known);
	long rc = syscall(SYS_landlock_restrict_self, rules, 0u);
	*ret_error = errno;
	close(rules);
	return rc == 0;
}

/* ---- both ---- */

unsigned isolation_can(void)
{
	uint32_t action = SCMP_ACT_ERRNO(0);
	int error;

	if (SANITIZED)
		return 0;
	return (syscall(SYS_seccomp, 2u /* SECCOMP_GET_ACTION_AVAIL */, 0u, &action) == 0 ? ISOLATION_CALLS : 0u) |
	       (landlock_abi(&error) ? ISOLATION_FILES : 0u);
}

static char *why_not(int calls, int files)
{
	GString *why = g_string_new(NULL);

	if (calls)
		g_string_append_printf(why, "system calls are not filtered (seccomp: %s)", g_strerror(calls));
	if (files)
		g_string_append_printf(why, "%sfiles are not filtered (Landlock: %s)", calls ? ", " : "",
				       g_strerror(files));
	return g_string_free(why, !calls && !files);
}

unsigned isolation_enter(const GPtrArray *read, const GPtrArray *write, int accepts, char **ret_why)
{
	int calls = 0, files = 0;

	g_assert(!held);		/* entered once */
	*ret_why = NULL;
	if (SANITIZED) {
		*ret_why = g_strdup("a build with sanitizers is not isolated");
		return held;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		calls = files = errno;
	/* Files first, as the filter of system calls forbids the calls that this needs. */
	if (!files && filter_files(read, write, &files)) {
		held |= ISOLATION_FILES;
		files = 0;
	}
	if (!calls && filter_calls(accepts, &calls)) {
		held |= ISOLATION_CALLS;
		calls = 0;
	}
	*ret_why = why_not(calls, files);
	return held;
}

const char *isolation_hint(int number)
{
	return number == EACCES && held & ISOLATION_FILES ?
		": blktop is isolated (--no-isolation)" : "";
}

char *isolation_describe(void)
{
	unsigned what = held ? held : isolation_can();
	int error = 0, abi = landlock_abi(&error);

	if (SANITIZED)
		return g_strdup("none (a build with sanitizers)");
	g_autofree char *files = what & ISOLATION_FILES ?
		g_strdup_printf("files are filtered (Landlock %d)", abi) :
		g_strdup_printf("files are not filtered (Landlock: %s)", g_strerror(error ? error : EPERM));
	return g_strdup_printf("system calls are %s, %s",
			       what & ISOLATION_CALLS ? "filtered (seccomp)" : "not filtered (no seccomp)", files);
}
