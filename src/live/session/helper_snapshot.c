/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes snapshots, and writes the cause of each into a note beside it. */
#include "live/session/helper_private.h"

#include "live/session/control.h"

#include "base/limits.h"
#include "base/timefmt.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Writes the note into the snapshot's directory, where readers ignore it. For a snapshot on another machine, writes
 * it into blktop's own directory. Returns its path; NULL: it could not be written. */
static char *write_note(const struct helper_state *w, const char *dir, const char *cause)
{
	char when[TIMEFMT_LEN];
	g_autofree char *numbered = g_strdup_printf("blktop-cause-%u.txt", w->n_snapshots);
	g_autofree char *path = g_build_filename(dir ? dir : w->snapshots_dir,
						 dir ? "blktop-cause.txt" : numbered, NULL);
	g_autofree char *text = g_strdup_printf("%s\nsession: %s\ntaken: %s (%" G_GINT64_FORMAT ")\n", cause,
		w->snapshot, timefmt_date_ms(when, g_get_real_time() * 1000),
		(int64_t)g_get_real_time() * 1000);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) ? g_steal_pointer(&path) : NULL;
}

/* The first line of the cause, for the message. */
static char *first_line(const char *cause)
{
	g_autofree char *line = g_strndup(cause, strcspn(cause, "\n"));
	return text_visible(line);
}

void snapshot_take(struct helper_state *w, const char *cause)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = NULL, *why = first_line(cause);

	if (!w->snapshot || !w->snapshots_dir) {
		helper_send(w, HELPER_MSG_WARNING, "no snapshot: there is no snapshot session; "
				"name one with --snapshot NAME, or make one with --snapshot new");
		return;
	}
	if (w->n_snapshots >= LIMIT_SNAPSHOTS) {
		helper_send(w, HELPER_MSG_WARNING, "no snapshot: the limit of %u is reached",
				LIMIT_SNAPSHOTS);
		return;
	}
	if (!control_snapshot(w->snapshot, w->snapshots_dir, &dir, &error)) {
		helper_send(w, HELPER_MSG_WARNING, "%s", error->message);
		return;
	}
	w->n_snapshots++;
	g_autofree char *note = write_note(w, dir, cause);
	g_autofree char *visible = text_visible(dir ? dir : "the session's output, on another machine");
	helper_send(w, HELPER_MSG_MESSAGE, "snapshot (%s): %s%s", why, visible,
			note ? "" : ", without a note of its cause, which cannot be written");
}
