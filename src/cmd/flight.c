/* SPDX-License-Identifier: GPL-2.0-only */
/* The snapshots of a flight recorder: see flight.h. */
#include "cmd/flight.h"

#include "cmd/save.h"

#include "app/messages.h"
#include "app/reading.h"
#include "base/disk.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "run/savejob.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct flight {
	char *to, *ring;
	int64_t last_ns, began_ns;
	unsigned n;			/* snapshots that were begun */
	char *wanted;			/* cause of the next; NULL: none */
	char *cause;			/* of the one that is being written */
	struct savejob *saving;		/* NULL: none is being written */
	bool is_full;			/* the limit of snapshots was reached */
	bool failed;
};

static volatile sig_atomic_t asked;	/* SIGUSR1 came */

static void ask(G_GNUC_UNUSED int number)
{
	asked = 1;
}

static int64_t now_ns(void)
{
	return g_get_real_time() * NS_PER_US;
}

struct flight *flight_new(const char *to, int64_t last_ns)
{
	const struct sigaction action = { .sa_handler = ask, .sa_flags = SA_RESTART };
	struct flight *f = g_new0(struct flight, 1);

	f->to = g_strdup(to);
	f->ring = g_build_filename(to, "ring", NULL);
	f->last_ns = last_ns;
	f->began_ns = now_ns();
	sigaction(SIGUSR1, &action, NULL);
	return f;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	savejob_free(f->saving);
	g_free(f->wanted);
	g_free(f->cause);
	g_free(f->ring);
	g_free(f->to);
	g_free(f);
}

const char *flight_ring(const struct flight *f)
{
	return f->ring;
}

void flight_want(struct flight *f, const char *cause)
{
	if (!f->wanted)
		f->wanted = g_strdup(cause);
}

/* ---- one snapshot ---- */

static void begin(struct flight *f, const struct reading *r, int64_t end_ns)
{
	const char *const paths[] = { f->ring, NULL };
	g_autofree char *to = g_strdup_printf("%s/snapshot-%u", f->to, ++f->n);
	const struct trace_cut cut = {
		.paths = paths, .from_ns = end_ns - f->last_ns, .to_ns = INT64_MAX, .to = to,
		.statedump = end_ns - f->last_ns > f->began_ns,	/* else it is in the range */
		.earlier_ns = input_state_every_ns(r->in) + NS_PER_S,
	};

	if (!input_hold_stored(r->in, true))
		log_error("the disk is slow: the end of the snapshot is not in it");
	f->cause = g_steal_pointer(&f->wanted);
	f->saving = savejob_new(&cut, job_fd(r->job));
}

/* Readers of traces ignore the note. */
static bool write_note(const struct flight *f, const char *dir)
{
	char when[TIMEFMT_LEN];
	const char *taken = timefmt_date_ms(when, now_ns());
	g_autofree char *path = g_build_filename(dir, "blktop-cause.txt", NULL);
	g_autofree char *text = g_strdup_printf("%s\ntaken: %s\n", f->cause, taken);
	int fd = files_create(path);
	bool ok = fd >= 0 && disk_write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return ok;
}

static void report_written(struct flight *f, const struct trace_cut_result *r)
{
	g_autofree char *what = save_describe(savejob_cut(f->saving), r), *to = text_visible(r->path);
	g_autofree char *line = g_strndup(f->cause, strcspn(f->cause, "\n")), *why = text_visible(line);

	fprintf(stderr, "wrote %s (%s): %s%s\n", to, why, what,
		write_note(f, r->path) ? "" : "; the note of its cause cannot be written");
	f->failed |= r->damaged || r->unreadable;
}

/* If the snapshot is done. */
static void finish(struct flight *f, const struct reading *r)
{
	g_autoptr(GError) error = NULL;
	struct trace_cut_result result;

	if (!f->saving || !savejob_take(f->saving, &result, &error))
		return;
	input_hold_stored(r->in, false);
	if (error) {
		log_error("%s", error->message);
		f->failed = true;
	} else {
		report_written(f, &result);
		g_free(result.path);
	}
	g_clear_pointer(&f->saving, savejob_free);
	g_clear_pointer(&f->cause, g_free);
}

/* ---- all of them ---- */

/* Place for one more, beside that of the end. */
static bool has_room(struct flight *f)
{
	if (f->n + 1 < LIMIT_SNAPSHOTS)
		return true;
	if (!f->is_full)
		log_error("no snapshot: of the limit of %u only that of the end is left", LIMIT_SNAPSHOTS);
	f->is_full = true;
	g_clear_pointer(&f->wanted, g_free);
	return false;
}

void flight_tick(struct flight *f, const struct reading *r)
{
	if (asked) {
		asked = 0;
		flight_want(f, "SIGUSR1");
	}
	finish(f, r);
	if (f->wanted && !f->saving && has_room(f))
		begin(f, r, now_ns());
}

bool flight_end(struct flight *f, const struct reading *r)
{
	struct spool_status st;

	if (f->saving)
		savejob_wait(f->saving);
	finish(f, r);
	if (!input_stored(r->in, &st) || !st.packets)
		return false;
	flight_want(f, "the end of the recording");
	begin(f, r, MIN(now_ns(), st.to_ns));
	savejob_wait(f->saving);
	finish(f, r);
	if (!f->failed)
		files_remove_tree(f->ring);
	else
		log_error("what is not in a snapshot is in %s", f->ring);
	return !f->failed;
}
