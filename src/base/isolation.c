/* SPDX-License-Identifier: GPL-2.0-only */
/* The filters of system calls and files: see isolation.h. */
#include "base/isolation.h"

#include "base/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Set before the first thread. */
static unsigned held;			/* enum isolation bits in force */
static int held_abi;			/* version of Landlock's interface; 0: no filter of files */

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
#define FS_REFER (1ull << 13)		/* ABI 2: move something between directories */
#define FS_TRUNCATE (1ull << 14)	/* ABI 3 */
#define FS_IOCTL_DEV (1ull << 15)	/* ABI 5: requests to devices that are opened later */
#define FS_RESOLVE_UNIX (1ull << 16)	/* ABI 9: connect to a named socket */
#define NET_TCP 3ull			/* ABI 4: bind, connect */
#define SCOPES 3ull			/* ABI 6: connect to abstract sockets, send signals */
#define LAST_ABI 9

/* What a kernel does not filter whose interface is older than `abi`. Moving files between directories (ABI 2) is
 * denied by older ones, too. */
static const struct {
	int abi;
	const char *what;
} since[] = {
	{ 3, "truncation" }, { 4, "TCP" }, { 5, "requests to devices" }, { 6, "signals" }, { 6, "abstract sockets" },
	{ LAST_ABI, "named sockets" },
};

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
	return FS_ABI_1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0) |
	       (abi >= LAST_ABI ? FS_RESOLVE_UNIX : 0);
}

/* Allows access below `path`. A path that does not exist, or is not in a file system (a pipe), needs no rule. */
static void allow(int rules, const char *path, uint64_t rights)
{
	struct stat st;
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rights &= FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | (S_ISCHR(st.st_mode) ? FS_IOCTL_DEV : 0);
	else
		rights &= ~FS_IOCTL_DEV;
	struct landlock_beneath rule = { rights, fd };
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_PATH_BENEATH, &rule, 0u);
	close(fd);
}

static bool filter_files(const GPtrArray *read, const GPtrArray *write, int *ret_error)
{
	const uint64_t reads = FS_READ_FILE | FS_READ_DIR;
	const uint64_t writes = reads | FS_WRITE_FILE | FS_IOCTL_DEV;
	int abi = landlock_abi(ret_error);
	uint64_t known = known_rights(abi);
	struct landlock_rules all = { known, abi >= 4 ? NET_TCP : 0, abi >= 6 ? SCOPES : 0 };

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
		allow(rules, g_ptr_array_index(write, i), writes & known);
	long rc = syscall(SYS_landlock_restrict_self, rules, 0u);
	*ret_error = errno;
	close(rules);
	held_abi = rc == 0 ? abi : 0;
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

/* Converters of a locale's character set that is not UTF-8 are code that the C library loads at their first use. */
static void load_converters(void)
{
	const char *charset;
	wchar_t wide;

	if (g_get_charset(&charset))
		return;
	/* Never closed, so that they stay loaded. */
	g_iconv_open("UTF-8", charset);
	g_iconv_open(charset, "UTF-8");
	mbtowc(&wide, "x", 1);
}

unsigned isolation_enter(const GPtrArray *read, const GPtrArray *write, unsigned roles, int accepts, char **ret_why)
{
	int calls = 0, files = 0;

	g_assert(!held);		/* entered once */
	*ret_why = NULL;
	if (SANITIZED) {
		*ret_why = g_strdup("a build with sanitizers is not isolated");
		return held;
	}
	load_converters();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		calls = files = errno;
	/* Files first, as the filter of system calls forbids the calls that this needs. */
	if (!files && filter_files(read, write, &files)) {
		held |= ISOLATION_FILES;
		files = 0;
	}
	if (!calls && isolation_filter_calls(roles, accepts, &calls)) {
		held |= ISOLATION_CALLS;
		calls = 0;
	}
	*ret_why = why_not(calls, files);
	return held;
}

static char *describe_files(bool filtered)
{
	int error = 0, abi = held ? held_abi : landlock_abi(&error);
	g_autoptr(GString) text = g_string_new(NULL);

	if (!filtered)
		return g_strdup_printf("files are not filtered (Landlock: %s)", g_strerror(error ? error : EPERM));
	g_string_printf(text, "files are filtered (Landlock %d", abi);
	for (gsize i = 0, n = 0; i < G_N_ELEMENTS(since); i++)
		if (abi < since[i].abi)
			g_string_append_printf(text, "%s%s", n++ ? ", " : ", without ", since[i].what);
	g_string_append_c(text, ')');
	return g_string_free(g_steal_pointer(&text), FALSE);
}

char *isolation_describe(void)
{
	unsigned what = held ? held : isolation_can();

	if (SANITIZED)
		return g_strdup("none (a build with sanitizers)");
	g_autofree char *files = describe_files(what & ISOLATION_FILES);
	return g_strdup_printf("system calls are %s, %s",
			       what & ISOLATION_CALLS ? "filtered (seccomp)" : "not filtered (no seccomp)", files);
}
