/* SPDX-License-Identifier: GPL-2.0-only */
/* Single lines of a journal, and the words for them. */
#include "state/calllog/calllog.h"

#include <string.h>

const char *const journal_kind_name[JOURNAL_KIND_N] = { "call", "event", "user", "loss" };
const char *const journal_state_name[LINE_STATE_N] = {
	"whole", "pending", "resumed", "unfinished", "exit", "no-return",
};

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
