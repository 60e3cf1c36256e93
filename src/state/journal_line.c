/* SPDX-License-Identifier: GPL-2.0-only */
/* Single lines of a journal, the words for them, and what is read for them. */
#include "base/call_event.h"
#include "state/journal.h"

#include <string.h>

const char *const journal_kind_name[JOURNAL_KIND_N] = { "call", "event", "user", "loss" };
const char *const journal_state_name[LINE_STATE_N] = {
	"whole", "pending", "resumed", "unfinished", "exit", "no-return",
};

static const struct blk_subscription everything[] = {
	{ "*", { "*" }, "the log" },
};

/* What a name or a thread's process follows from; and who runs. */
static const struct blk_subscription names[] = {
	{ "sched_switch", { "*" }, NULL }, { "sched_process_fork", { "*" }, NULL },
	{ "sched_process_free", { "*" }, NULL }, { "sched_process_exec", { "*" }, NULL },
	{ "lttng_statedump_process_state", { "*" }, NULL },
	{ "lttng_statedump_file_descriptor", { "*" }, NULL },
#define CALL(name) { "syscall_entry_" name, { "*" }, NULL }, { "syscall_exit_" name, { "*" }, NULL }
	CALL("open*"), CALL("creat"), CALL("socket*"), CALL("accept*"), CALL("connect"),
	CALL("bind"), CALL("pipe*"), CALL("dup*"), CALL("fcntl*"), CALL("close*"),
	CALL("eventfd*"), CALL("timerfd_create"), CALL("signalfd*"), CALL("epoll_create*"),
	CALL("inotify_init*"), CALL("fanotify_init"), CALL("memfd_*"), CALL("userfaultfd"),
	CALL("perf_event_open"), CALL("pidfd_*"), CALL("io_uring_setup"), CALL("execve*"),
	CALL("fsopen"), CALL("fspick"), CALL("fsmount"), CALL("unknown"),
#undef CALL
#define WHOLE_TODAY(prefix)
#define WHOLE_OLD(prefix) { prefix "*", { "*" }, NULL },
#define WHOLE(prefix, when) WHOLE_##when(prefix)
	CALL_ENTRY_PREFIXES(WHOLE) CALL_EXIT_PREFIXES(WHOLE) { CALL_EXIT_NAMELESS, { "*" }, NULL },
};

const struct blk_subscription *journal_subscriptions(size_t *ret_n)
{
	*ret_n = G_N_ELEMENTS(everything);
	return everything;
}

const struct blk_subscription *journal_name_subscriptions(size_t *ret_n)
{
	*ret_n = G_N_ELEMENTS(names);
	return names;
}

struct journal_line *journal_line_ref(struct journal_line *l)
{
	g_atomic_ref_count_inc(&l->refs);
	return l;
}

void journal_line_unref(struct journal_line *l)
{
	GRefString *texts[4];
	if (!l || !g_atomic_ref_count_dec(&l->refs))
		return;
	texts[0] = l->name;
	texts[1] = l->comm;
	texts[2] = l->host;
	texts[3] = l->ret_name;
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (texts[i])
			g_ref_string_release(texts[i]);
	g_clear_pointer(&l->args, g_bytes_unref);
	g_clear_pointer(&l->results, g_bytes_unref);
	g_clear_pointer(&l->fds, g_array_unref);
	g_free(l);
}

const char *journal_line_fd(const struct journal_line *l, int64_t fd)
{
	for (guint i = 0; l->fds && i < l->fds->len; i++)
		if (g_array_index(l->fds, struct journal_fd, i).fd == fd)
			return g_array_index(l->fds, struct journal_fd, i).name;
	return NULL;
}

bool journal_is_fd(const char *field)
{
	static const char *const fields[] = {
		"fd", "fildes", "sockfd", "epfd", "dfd", "dirfd", "olddfd", "newdfd", "oldfd", "newfd",
		"in_fd", "out_fd", "fd_in", "fd_out", "fdin", "fdout", "mqdes", "dfd_fd", "pidfd", "fs_fd",
		"from_dfd", "to_dfd", "mountdirfd", "fanotify_fd", "ufd", NULL
	};
	return g_strv_contains(fields, field);
}

const char *journal_errno(int64_t number)
{
	/* What the kernel says to itself when a signal comes, and LTTng hears. */
	static const char *const restarts[] = {
		"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
		"ERESTART_RESTARTBLOCK",
	};
	if (number >= 512 && number < 512 + (int64_t)G_N_ELEMENTS(restarts))
		return restarts[number - 512];
	return number > 0 && number < 512 ? strerrorname_np((int)number) : NULL;
}
