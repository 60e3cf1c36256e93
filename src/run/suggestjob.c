/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks for rules in a trace: see suggestjob.h. */
#include "run/suggestjob.h"

#include "run/worker.h"
#include "trace/native/native.h"

#define BUFFERS (8 << 20)
#define INDEX_STEP 4096			/* packet headers of each file at once */

struct suggestjob {
	GThread *thread;
	char **paths, **names;
	bool by_bt2;
	int event_fd;
	int stop, done;			/* atomic; once .done, .found is valid */
	GPtrArray *found;
};

static bool is_stopped(const int *stop)
{
	return stop && g_atomic_int_get(stop);
}

/* Reads the source to its end, and frees it. */
static bool feed(struct suggest *g, struct source *source, const int *stop, GError **error)
{
	struct blk_batch b;
	enum source_status st = SOURCE_CANCELLED;
	source_stop_by(source, stop);
	while (!is_stopped(stop) && (st = source_next(source, &b, error)) == SOURCE_OK) {
		suggest_feed(g, &source->tables, b.ev, b.n);
		st = SOURCE_CANCELLED;
	}
	source_free(source);
	return st == SOURCE_END;
}

static bool feed_all(struct suggest *g, const char *const *paths, bool by_bt2, const int *stop, GError **error)
{
	size_t n;
	const struct blk_subscription *rows = suggest_subscriptions(g, &n);
	struct native *native = by_bt2 ? NULL : native_open(paths, rows, n, error);
	while (native && !is_stopped(stop) && native_index(native, INDEX_STEP))
		;
	struct source *source = by_bt2 ? source_open_bt2(paths, rows, n, error) :
		native && !is_stopped(stop) ? native_range(native, INT64_MIN, INT64_MAX, BUFFERS) : NULL;
	bool ok = source && feed(g, source, stop, error);
	native_free(native);
	return ok;
}

GPtrArray *suggestjob_read(const char *const *paths, bool by_bt2, const char *const *names, const int *stop,
			   GError **error)
{
	struct suggest *g = suggest_new(names);
	if (!g)
		return g_ptr_array_new();
	bool ok = feed_all(g, paths, by_bt2, stop, error);
	GPtrArray *found = ok ? suggest_finish(g) : NULL;
	suggest_free(g);
	return found;
}

static void *run(void *data)
{
	struct suggestjob *j = data;

	worker_background();
	j->found = suggestjob_read((const char *const *)j->paths, j->by_bt2, (const char *const *)j->names, &j->stop,
				   NULL);
	g_atomic_int_set(&j->done, 1);
	worker_ring(j->event_fd);
	return NULL;
}

struct suggestjob *suggestjob_new(const char *const *paths, bool by_bt2, const char *const *names, int event_fd)
{
	struct suggestjob *j = g_new0(struct suggestjob, 1);

	j->paths = g_strdupv((char **)paths);
	j->names = g_strdupv((char **)names);
	j->by_bt2 = by_bt2;
	j->event_fd = event_fd;
	j->thread = worker_new("suggest", run, j);
	return j;
}

void suggestjob_free(struct suggestjob *j)
{
	if (!j)
		return;
	g_atomic_int_set(&j->stop, 1);
	g_thread_join(j->thread);
	g_clear_pointer(&j->found, g_ptr_array_unref);
	g_strfreev(j->paths);
	g_strfreev(j->names);
	g_free(j);
}

bool suggestjob_failed(const struct suggestjob *j)
{
	return g_atomic_int_get(&j->done) && !j->found;
}

bool suggestjob_take(struct suggestjob *j, GPtrArray **ret)
{
	if (!g_atomic_int_get(&j->done) || !j->found)
		return false;
	*ret = g_steal_pointer(&j->found);
	return true;
}
