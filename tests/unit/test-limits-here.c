/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limits of sessions of this machine and of the spool. Processes, the tracer, and where a test says so
 * the clock and the disk are replaced (--wrap, see the Makefile).
 */
#include "base/files.h"
#include "base/limits.h"
#include "lib/limit_test.h"
#include "lib/test_traces.h"
#include "live/session/control.h"
#include "live/session/proc.h"
#include "live/spool/spool.h"
#include "live/spool/spool_old.h"
#include "live/session/helper_private.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOT 1000			/* the process that is followed */

static struct {
	int64_t now;			/* us; 0: the clock is the machine's */
	uint64_t n;			/* the test's */
	bool chain;			/* each process is the child of the one before, not of ROOT */
	unsigned tracked, killed;
	int64_t ends_at;		/* us: the program, by itself */
	gint blocked;			/* the disk */
} sim;

static void sim_begin(uint64_t n)
{
	memset(&sim, 0, sizeof sim);
	sim.n = n;
}

/* ---- instead of processes and the tracer ---- */

bool __wrap_control_track(const struct plan *plan, bool calls_only, int pid, GError **error);
bool __wrap_control_snapshot(const char *session, const char *dir, char **ret_dir, GError **error);
void __wrap_proc_each(void (*each)(int pid, void *data), void *data);
bool __wrap_proc_read_stat(int pid, struct proc_stat *ret);
int __wrap_kill(pid_t pid, int signo);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
void __wrap_g_usleep(gulong us);
gint64 __wrap_g_get_monotonic_time(void);
gint64 __real_g_get_monotonic_time(void);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);

bool __wrap_control_track(const struct plan *plan, bool calls_only, int pid, GError **error)
{
	sim.tracked++;
	return true;
}

bool __wrap_control_snapshot(const char *session, const char *dir, char **ret_dir, GError **error)
{
	*ret_dir = NULL;
	return true;
}

void __wrap_proc_each(void (*each)(int pid, void *data), void *data)
{
	for (uint64_t i = 0; i < sim.n; i++)
		each(ROOT + (int)i, data);
}

bool __wrap_proc_read_stat(int pid, struct proc_stat *ret)
{
	*ret = (struct proc_stat){ .state = 'S', .parent = pid == ROOT ? 1 : sim.chain ? pid - 1 : ROOT };
	return true;
}

int __wrap_kill(pid_t pid, int signo)
{
	sim.killed += signo == SIGKILL;
	return 0;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	return sim.killed || sim.now >= sim.ends_at ? pid : 0;
}

void __wrap_g_usleep(gulong us)
{
	sim.now += (int64_t)us;
}

gint64 __wrap_g_get_monotonic_time(void)
{
	return sim.now ? sim.now : __real_g_get_monotonic_time();
}

/* A disk that hangs. */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	while (g_atomic_int_get(&sim.blocked))
		g_thread_yield();
	return __real_pwrite(fd, bytes, n, at);
}

/* ---- what is followed ---- */

static unsigned track(void)
{
	const struct session_helper_options options = { .pid = ROOT };
	struct helper_state w = { .o = &options, .fd = -1, .made = true };
	g_autoptr(GError) error = NULL;

	g_assert_true(follow_track(&w, &error));
	g_hash_table_unref(w.follow.pids);
	return sim.tracked;
}

static bool followed_processes(uint64_t n)
{
	sim_begin(n);
	unsigned tracked = track();
	g_assert_cmpuint(tracked, ==, MIN(n, LIMIT_FOLLOWED_PROCESSES));
	return tracked == n;
}

static bool followed_depth(uint64_t n)
{
	sim_begin(n + 1);
	sim.chain = true;
	unsigned tracked = track();
	g_assert_cmpuint(tracked, ==, MIN(n, LIMIT_FOLLOWED_DEPTH) + 1);
	return tracked == n + 1;
}

/* It ends n seconds after SIGTERM, if it may. */
static bool program_end_seconds(uint64_t n)
{
	char *program[] = { (char *)"program", NULL };
	const struct session_helper_options options = { .program = program };
	struct helper_state w = { .o = &options, .fd = -1, .follow = { .program = 4711, .go_fd = -1 } };

	sim_begin(n);
	sim.now = G_USEC_PER_SEC;
	sim.ends_at = sim.now + (int64_t)n * G_USEC_PER_SEC;
	follow_end(&w);
	g_assert_cmpint(w.follow.program, ==, 0);
	return !sim.killed;
}

static bool snapshots(uint64_t n)
{
	g_autofree char *dir = test_temp_dir();
	const struct session_helper_options options = { .session = "s" };
	struct helper_state w = { .o = &options, .fd = -1, .snapshot = (char *)"s", .snapshots_dir = dir };

	sim_begin(n);
	for (uint64_t i = 0; i < n; i++)
		snapshot_take(&w, "by hand");
	test_remove_tree(dir);
	g_assert_cmpuint(w.n_snapshots, ==, MIN(n, LIMIT_SNAPSHOTS));
	return w.n_snapshots == n;
}

/* ---- the spool ---- */

/* A spool with a trace that nobody can read, so that packets are written as they are; then the disk hangs. */
static struct spool *spool_of(const char *dir)
{
	g_autoptr(GError) error = NULL;
	struct spool *s = spool_new(dir, SPOOL_DEFAULT_LIMIT, "x", &error);

	g_assert_no_error(error);
	g_assert_cmpuint(spool_add_trace(s, "t"), ==, 0);
	spool_metadata(s, 0, g_bytes_new_static("?", 1));
	g_assert_cmpuint(spool_add_stream(s, 0, "s"), ==, 0);
	g_assert_true(spool_flush(s, 60 * G_USEC_PER_SEC));
	g_atomic_int_set(&sim.blocked, 1);
	return s;
}

static void push(struct spool *s, size_t n)
{
	spool_packet(s, 0, g_bytes_new_take(g_malloc0(n), n));
}

static bool spool_queue_bytes(uint64_t n)
{
	const size_t first = 100;
	g_autofree char *dir = test_temp_dir();
	struct spool_status status;

	sim_begin(n);
	struct spool *s = spool_of(dir);
	push(s, first);
	push(s, n - first);
	spool_get_status(s, &status);
	g_atomic_int_set(&sim.blocked, 0);
	spool_unref(s);
	test_remove_tree(dir);
	g_assert_cmpuint(status.dropped, <=, 1);
	return !status.dropped;
}

static void *release_disk(void *data)
{
	const gint64 until = __real_g_get_monotonic_time() + *(const gint64 *)data;

	while (__real_g_get_monotonic_time() < until)
		g_thread_yield();
	g_atomic_int_set(&sim.blocked, 0);
	return NULL;
}

/* The disk hangs almost n seconds, at the end. Is all of it written? */
static bool spool_end_seconds(uint64_t n)
{
	const size_t each = 100;
	g_autofree char *dir = test_temp_dir();
	gint64 hangs = (gint64)n * G_USEC_PER_SEC - G_USEC_PER_SEC / 2;
	struct stat st;

	sim_begin(n);
	struct spool *s = spool_of(dir);
	g_autofree char *file = g_build_filename(spool_path(s), "00000001", "t-0", "s-0", NULL);
	push(s, each);
	push(s, each);
	GThread *disk = g_thread_new("disk", release_disk, &hangs);
	spool_unref(s);
	g_thread_join(disk);
	g_assert_no_errno(stat(file, &st));
	g_assert_true(st.st_size == (off_t)each || st.st_size == 2 * (off_t)each);
	test_remove_tree(dir);
	return st.st_size == 2 * (off_t)each;
}

/* In memory, where that can be. A chunk that an earlier run left, with n files of one byte. */
static bool spool_entries(uint64_t n)
{
	g_autofree char *dir = g_strdup("/dev/shm/blktop-test-XXXXXX");
	char name[16];
	GQueue chunks = G_QUEUE_INIT;

	sim_begin(n);
	if (!g_mkdtemp(dir)) {
		g_free(dir);
		dir = test_temp_dir();
	}
	g_autofree char *run = g_build_filename(dir, "run", NULL), *chunk = g_build_filename(run, "00000001", NULL);
	g_autofree char *lock = g_build_filename(run, SPOOL_LOCK, NULL);
	g_assert_true(files_make_dirs(chunk));
	close(files_create(lock));
	int fd = open(chunk, O_RDONLY | O_DIRECTORY);
	for (uint64_t i = 0; i < n; i++) {
		g_snprintf(name, sizeof name, "%u", (unsigned)i);
		int file = openat(fd, name, O_WRONLY | O_CREAT, 0600);
		g_assert_cmpint(write(file, "x", 1), ==, 1);
		close(file);
	}
	close(fd);
	uint64_t bytes = spool_old_find(dir, &chunks);
	g_assert_cmpuint(g_queue_get_length(&chunks), ==, 1);
	g_queue_clear_full(&chunks, spool_chunk_free);
	test_remove_tree(dir);
	g_assert_cmpuint(bytes, ==, MIN(n, LIMIT_SPOOL_ENTRIES));
	return bytes == n;
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "followed-processes", followed_processes, 0 }, { "followed-depth", followed_depth, 0 },
		{ "program-end-seconds", program_end_seconds, 0 }, { "snapshots", snapshots, 0 },
		{ "spool-queue-bytes", spool_queue_bytes, 0 }, { "spool-end-seconds", spool_end_seconds, 0 },
		{ "spool-entries", spool_entries, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
