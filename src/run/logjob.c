/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes windows of the log on a thread: see logjob.h. */
#include "run/logjob.h"

#include "base/timefmt.h"
#include "run/worker.h"

#include <string.h>

#define ENOUGH 400			/* lines of an answer; with fewer, it reads a wider range */
#define MOST 4000			/* most lines of an answer; the rest needs another request */
#define FIRST_WIDTH (2 * NS_PER_MS)
#define AROUND (100 * NS_PER_MS)	/* read before and after a range, for calls across its bounds */
#define NAMES_BYTES (256u << 20)	/* most bytes read for names */
#define PATIENCE_US 400000

struct logjob {
	GThread *thread;
	char **paths;
	bool by_bt2;
	int event_fd;
	int stop;			/* atomic: stop, the answer is not wanted any more */

	GMutex lock;			/* what follows */
	GCond changed;
	bool quit, asked, refresh;
	struct calllog_want want;
	struct calllog_window *ready;

	struct logsource *source;	/* the thread's */
	int64_t first, end;
	int64_t width;			/* ns: the width that gave enough lines last */
};

struct collect {
	struct calllog_window *w;
	GPtrArray *lines;
};

static bool is_wanted(const struct calllog_want *want, const struct calllog_line *l)
{
	/* a call that spans the whole range is listed where it began */
	if (l->kind == CALLLOG_CALL && l->state == LINE_UNFINISHED && l->ts != l->entry_ns && !l->lost)
		return false;
	return l->kind == CALLLOG_LOSS || ((want->tid < 0 || l->tid == want->tid) &&
					   (want->pid < 0 || l->pid == want->pid));
}

static void collect_line(void *data, struct calllog_line *l)
{
	struct collect *c = data;
	if (is_wanted(&c->w->want, l))
		g_ptr_array_add(c->lines, l);
	else
		calllog_line_unref(l);
}

static bool read_piece(struct logjob *j, struct calllog_window *w, int64_t from, int64_t to,
		       GPtrArray *lines, struct calllog **ret_calllog)
{
	g_autoptr(GError) error = NULL;
	struct collect c = { w, lines };
	struct logsource_result result;
	struct logsource_range range = {
		.from_ns = from, .to_ns = to, .warm_ns = AROUND, .hold = SIZE_MAX,
		.beyond_ns = ret_calllog ? 0 : AROUND, .most_bytes = NAMES_BYTES, .stop = &j->stop,
	};
	bool ok = logsource_run(j->source, &range, collect_line, &c, &result, ret_calllog, &error);
	w->names = result.names;
	if (error)
		w->error = g_strdup(error->message);
	return ok;
}

/* Keeps at most MOST lines; the window then covers only these. */
static void cut(struct calllog_window *w, GPtrArray *lines, bool before)
{
	if (lines->len <= MOST)
		return;
	guint at = before ? lines->len - MOST : MOST;
	const struct calllog_line *l = lines->pdata[at];
	int64_t ts = l->ts;
	/* lines of the same instant stay together, even if they alone are more than MOST */
	while (at > 0 && ((const struct calllog_line *)lines->pdata[at - 1])->ts == ts)
		at--;
	if (before) {
		g_ptr_array_remove_range(lines, 0, at);
		w->from_ns = ts;
	} else if (at > 0) {
		g_ptr_array_remove_range(lines, at, lines->len - at);
		w->to_ns = ts;
	}
}

static void make_lines(struct logjob *j, struct calllog_window *w)
{
	bool before = w->want.ask == ASK_BEFORE;
	gint64 until = g_get_monotonic_time() + PATIENCE_US;
	int64_t end = w->want.until_ns ? CLAMP(w->want.until_ns, j->first, j->end) : j->end;
	int64_t at = CLAMP(w->want.at_ns, j->first, MAX(end, w->want.until_ns ? w->want.at_ns : end));
	w->from_ns = w->to_ns = at;
	while (w->lines->len < ENOUGH && (before ? w->from_ns > j->first : w->to_ns < end)) {
		GPtrArray *lines = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
		int64_t from = w->to_ns, to = MIN(from + j->width, end);
		if (before) {
			to = w->from_ns;
			from = MAX(to - j->width, j->first);
		}
		g_assert(from < to);
		if (!read_piece(j, w, from, to, lines, NULL)) {
			g_ptr_array_unref(lines);
			return;
		}
		*(before ? &w->from_ns : &w->to_ns) = before ? from : to;
		guint n = lines->len;
		cut(w, lines, before);
		g_ptr_array_extend_and_steal(w->lines, lines);
		j->width = CLAMP(n < ENOUGH ? j->width * 4 : n > MOST ? j->width / 2 : j->width,
				 NS_PER_US, 3600 * NS_PER_S);
		if (n > MOST || g_get_monotonic_time() > until)
			break;
	}
	calllog_join_lines(w->lines);
	w->at_begin = w->from_ns <= j->first;
	w->at_end = w->to_ns >= end;
}

static void make_instant(struct logjob *j, struct calllog_window *w)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
	struct calllog *log = NULL;
	int64_t at = w->want.at_ns;
	bool ok = read_piece(j, w, at, at + 1, lines, &log);
	if (ok) {
		g_ptr_array_unref(w->lines);
		w->lines = calllog_open_calls(log);
		w->fds = calllog_open_fds(log, w->want.host, w->want.pid);
		calllog_all_cpus(log, w->want.host, w->cpus);
	}
	calllog_free(log);
}

static bool open_source(struct logjob *j, struct calllog_window *w)
{
	g_autoptr(GError) error = NULL;
	if (!j->source)
		j->source = logsource_new((const char *const *)j->paths, j->by_bt2, &error);
	if (j->source)
		logsource_stop_by(j->source, &j->stop);
	if (j->source && !j->end && logsource_bounds(j->source, &j->first, &j->end, &error))
		j->width = FIRST_WIDTH;
	if (j->source && j->end)
		return true;
	w->error = g_strdup(error ? error->message : "there are no events");
	return false;
}

static void forget_source(struct logjob *j)
{
	g_clear_pointer(&j->source, logsource_free);
	j->end = 0;
}

static void *run(void *data)
{
	struct logjob *j = data;
	g_mutex_lock(&j->lock);
	while (!j->quit) {
		if (!j->asked) {
			g_cond_wait(&j->changed, &j->lock);
			continue;
		}
		struct calllog_window *w = calllog_window_new(&j->want);
		j->asked = false;
		if (j->refresh)
			forget_source(j);
		j->refresh = false;
		g_atomic_int_set(&j->stop, 0);
		g_mutex_unlock(&j->lock);
		if (open_source(j, w)) {
			if (w->want.ask == ASK_INSTANT)
				make_instant(j, w);
			else
				make_lines(j, w);
		}
		g_mutex_lock(&j->lock);
		if (!g_atomic_int_get(&j->stop)) {
			calllog_window_free(j->ready);
			j->ready = w;
			worker_ring(j->event_fd);
		} else {
			calllog_window_free(w);
		}
	}
	g_mutex_unlock(&j->lock);
	return NULL;
}

struct logjob *logjob_new(const char *const *paths, bool by_bt2, int event_fd)
{
	struct logjob *j = g_new0(struct logjob, 1);
	j->paths = g_strdupv((char **)paths);
	j->by_bt2 = by_bt2;
	j->event_fd = event_fd;
	g_mutex_init(&j->lock);
	g_cond_init(&j->changed);
	j->thread = worker_new("log", run, j);
	return j;
}

void logjob_free(struct logjob *j)
{
	if (!j)
		return;
	g_mutex_lock(&j->lock);
	j->quit = true;
	g_atomic_int_set(&j->stop, 1);
	g_cond_signal(&j->changed);
	g_mutex_unlock(&j->lock);
	g_thread_join(j->thread);
	calllog_window_free(j->ready);
	logsource_free(j->source);
	g_strfreev(j->paths);
	g_mutex_clear(&j->lock);
	g_cond_clear(&j->changed);
	g_free(j);
}

void logjob_refresh(struct logjob *j)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&j->lock);
	j->refresh = true;
}

void logjob_ask(struct logjob *j, const struct calllog_want *want)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&j->lock);
	j->want = *want;
	j->asked = true;
	g_atomic_int_set(&j->stop, 1);
	g_cond_signal(&j->changed);
}

struct calllog_window *logjob_take(struct logjob *j)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&j->lock);
	return g_steal_pointer(&j->ready);
}
