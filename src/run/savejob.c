/* SPDX-License-Identifier: GPL-2.0-only */
/* Saves on a thread: see savejob.h. */
#include "run/savejob.h"

#include "run/worker.h"

struct savejob {
	GThread *thread;
	char **paths, *to;
	struct trace_cut cut;
	int event_fd;
	int stop, done;			/* atomic; once .done, the following fields are valid */
	struct trace_cut_result result;
	GError *error;
};

static void *run(void *data)
{
	struct savejob *j = data;

	worker_background();
	trace_cut_write(&j->cut, &j->result, &j->error);
	g_atomic_int_set(&j->done, 1);
	worker_ring(j->event_fd);
	return NULL;
}

struct savejob *savejob_new(const struct trace_cut *cut, int event_fd)
{
	struct savejob *j = g_new0(struct savejob, 1);

	j->paths = g_strdupv((char **)cut->paths);
	j->to = g_strdup(cut->to);
	j->cut = *cut;
	j->cut.paths = (const char *const *)j->paths;
	j->cut.to = j->to;
	j->cut.stop = &j->stop;
	j->event_fd = event_fd;
	j->thread = worker_new("save", run, j);
	return j;
}

void savejob_wait(struct savejob *j)
{
	if (j->thread)
		g_thread_join(g_steal_pointer(&j->thread));
}

void savejob_free(struct savejob *j)
{
	if (!j)
		return;
	g_atomic_int_set(&j->stop, 1);
	savejob_wait(j);
	g_clear_error(&j->error);
	g_free(j->result.path);
	g_strfreev(j->paths);
	g_free(j->to);
	g_free(j);
}

const struct trace_cut *savejob_cut(const struct savejob *j)
{
	return &j->cut;
}

bool savejob_take(struct savejob *j, struct trace_cut_result *ret, GError **error)
{
	if (!g_atomic_int_get(&j->done))
		return false;
	*ret = j->result;
	j->result.path = NULL;
	if (j->error)
		g_propagate_error(error, g_steal_pointer(&j->error));
	return true;
}
