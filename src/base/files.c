/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends requests for files, and runs the file helper: see files.h. */
#include "base/files_private.h"

#include "base/disk.h"
#include "base/fd.h"
#include "base/pass.h"
#include "base/sort.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static GMutex lock;			/* one request at a time */
static int helper = -1;			/* the connection to it; set before the first thread */

/* A message of `len` bytes. *ret_fd: the descriptor in it, or -1. */
static bool receive(int from, void *bytes, size_t len, int *ret_fd)
{
	if (pass_receive(from, bytes, len, ret_fd) == (ssize_t)len)
		return true;
	if (*ret_fd >= 0)
		close(*ret_fd);
	errno = ECONNRESET;
	return false;
}

/* ---- the helper ---- */

/* Closes all descriptors except those of the places, which have O_PATH, and the connection. */
static void close_others(int connection)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	for (int fd = 3, most = (int)sysconf(_SC_OPEN_MAX); fd < most && fd < 1024; fd++) {
		int flags = fd == connection ? -1 : fcntl(fd, F_GETFL);
		if (flags >= 0 && !(flags & O_PATH))
			close(fd);
	}
}

G_NORETURN static void work(int connection)
{
	struct files_request r;
	struct files_answer answer;
	int stray;

	prctl(PR_SET_NAME, "blk-files");
	/* The client handles signals of the terminal; this process ends when the client does. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	close_others(connection);
	while (receive(connection, &r, sizeof r, &stray)) {
		if (stray >= 0)
			close(stray);
		int fd = files_serve(&r, true, &answer);
		bool ok = pass_send(connection, &answer, sizeof answer, fd);
		if (fd >= 0)
			close(fd);
		if (!ok)
			break;
	}
	files_serve_end();
	_exit(0);
}

bool files_start_helper(GError **error)
{
	int pair[2], number = 0;

	g_assert(helper < 0);
	files_start_dir();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		number = errno;
	} else {
		pid_t pid = fork();
		number = pid < 0 ? errno : 0;
		if (pid == 0) {
			close(pair[0]);
			work(pair[1]);
		}
		close(pair[1]);
		if (pid < 0)
			close(pair[0]);
		else
			helper = pair[0];
	}
	if (number)
		g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(number),
			    "cannot start the process that opens files: %s", g_strerror(number));
	return !number;
}

bool files_has_helper(void)
{
	return helper >= 0;
}

/* ---- requests ---- */

/* true: done. Else errno. ret_fd: where a descriptor goes, or NULL. */
static bool ask(struct files_request *r, const char *path, const char *to, struct files_answer *ret, int *ret_fd)
{
	auto_fd fd = -1;
	bool ok = true;

	errno = ENAMETOOLONG;
	if (g_strlcpy(r->path, path, sizeof r->path) >= sizeof r->path ||
	    g_strlcpy(r->to, to ? to : "", sizeof r->to) >= sizeof r->to)
		return false;
	g_mutex_lock(&lock);
	if (helper < 0)
		fd = files_serve(r, false, ret);
	else
		ok = pass_send(helper, r, sizeof *r, -1) && receive(helper, ret, sizeof *ret, &fd);
	g_mutex_unlock(&lock);
	if (!ok)
		errno = ECONNRESET;
	else if (ret->error)
		errno = ret->error;
	ok = ok && !ret->error;
	if (ok && ret_fd)
		*ret_fd = fd_steal(&fd);
	return ok;
}

static bool ask_one(enum files_op op, const char *path, const char *to, int flags)
{
	struct files_request r = { .op = op, .flags = flags };
	struct files_answer answer;

	return ask(&r, path, to, &answer, NULL);
}

int files_open(const char *path, int flags)
{
	struct files_request r = { .op = FILES_OP_OPEN, .flags = flags };
	struct files_answer answer;
	int fd = -1;

	return ask(&r, path, NULL, &answer, &fd) ? fd : -1;
}

int files_create(const char *path)
{
	struct files_request r = { .op = FILES_OP_OPEN, .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0600 };
	struct files_answer answer;
	int fd = -1;

	return ask(&r, path, NULL, &answer, &fd) ? fd : -1;
}

static bool look(const char *path, int flags, struct stat *ret)
{
	struct files_request r = { .op = FILES_OP_STAT, .flags = flags };
	struct files_answer answer;
	bool ok = ask(&r, path, NULL, &answer, NULL);

	if (ok)
		*ret = answer.stat;
	return ok;
}

bool files_stat(const char *path, struct stat *ret)
{
	return look(path, 0, ret);
}

bool files_lstat(const char *path, struct stat *ret)
{
	return look(path, AT_SYMLINK_NOFOLLOW, ret);
}

bool files_exists(const char *path)
{
	struct stat st;

	return files_lstat(path, &st);
}

bool files_is_dir(const char *path)
{
	struct stat st;

	return files_stat(path, &st) && S_ISDIR(st.st_mode);
}

bool files_is_regular(const char *path)
{
	struct stat st;

	return files_stat(path, &st) && S_ISREG(st.st_mode);
}

GPtrArray *files_list(const char *path, size_t most)
{
	auto_fd fd = files_open(path, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		return NULL;
	fd_steal(&fd);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	for (struct dirent *e; names->len < most && (e = readdir(dir));)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			g_ptr_array_add(names, g_strdup(e->d_name));
	closedir(dir);
	g_ptr_array_sort(names, order_texts);
	return names;
}

bool files_make_dirs(const char *path)
{
	return ask_one(FILES_OP_MAKE_DIRS, path, NULL, 0);
}

bool files_remove(const char *path)
{
	return ask_one(FILES_OP_REMOVE, path, NULL, 0);
}

bool files_remove_dir(const char *path)
{
	return ask_one(FILES_OP_REMOVE_DIR, path, NULL, 0);
}

void files_remove_tree(const char *path)
{
	ask_one(FILES_OP_REMOVE_TREE, path, NULL, 0);
}

bool files_rename(const char *from, const char *to, bool replace)
{
	return ask_one(FILES_OP_RENAME, from, to, replace);
}

bool files_link(const char *from, const char *to)
{
	return ask_one(FILES_OP_LINK, from, to, 0);
}

bool files_touch(const char *path)
{
	return ask_one(FILES_OP_TOUCH, path, NULL, 0);
}

void files_sync_dir(const char *path)
{
	auto_fd fd = files_open(path, O_RDONLY | O_DIRECTORY);

	if (fd >= 0)
		fsync(fd);
}

bool files_sync_all(const char *path)
{
	auto_fd fd = files_open(path, O_RDONLY | O_DIRECTORY);

	return fd >= 0 && syncfs(fd) == 0;
}

/* ---- inputs ---- */

static int refuse_input(GError **error, GFileError code, const char *path, const char *why)
{
	g_set_error(error, G_FILE_ERROR, (int)code, "cannot read '%s': %s", path, why);
	return -1;
}

static int refuse_errno(GError **error, const char *path, int number)
{
	return refuse_input(error, g_file_error_from_errno(number), path, g_strerror(number));
}

/* What is no regular file is not opened: to open a device can change it. */
static bool is_regular(const struct stat *st, const char *path, GError **error)
{
	if (S_ISREG(st->st_mode))
		return true;
	if (S_ISLNK(st->st_mode))
		refuse_input(error, G_FILE_ERROR_LOOP, path, "it is a link");
	else if (S_ISDIR(st->st_mode))
		refuse_input(error, G_FILE_ERROR_ISDIR, path, "it is a directory");
	else
		refuse_input(error, G_FILE_ERROR_INVAL, path, "it is not a regular file");
	return false;
}

static int open_regular(const char *path, int flags, GError **error)
{
	struct stat st;

	if (!(flags ? files_lstat(path, &st) : files_stat(path, &st)))
		return refuse_errno(error, path, errno);
	if (!is_regular(&st, path, error))
		return -1;
	auto_fd fd = files_open(path, O_RDONLY | flags);
	if (fd < 0)
		return refuse_errno(error, path, errno);
	/* Another one may have taken its place. */
	return fstat(fd, &st) == 0 && is_regular(&st, path, error) ? fd_steal(&fd) : -1;
}

int files_open_input(const char *path, GError **error)
{
	return open_regular(path, 0, error);
}

int files_open_unlinked(const char *path, GError **error)
{
	return open_regular(path, O_NOFOLLOW, error);
}

/* Reads up to the end, or one byte more than `most`. */
static bool read_all(int fd, GByteArray *to, size_t most)
{
	const size_t at_once = 64 << 10;

	for (;;) {
		guint have = to->len;
		size_t room = MIN(at_once, most + 1 - have);
		g_byte_array_set_size(to, have + (guint)room);
		ssize_t got = room ? read(fd, to->data + have, room) : 0;
		int number = errno;
		g_byte_array_set_size(to, have + (guint)MAX(got, 0));
		errno = number;
		if (got == 0 || (got < 0 && errno != EINTR))
			return got == 0;
	}
}

bool files_read_input(const char *path, size_t most, char **ret_bytes, size_t *ret_n, GError **error)
{
	g_assert(most < G_MAXINT32);
	*ret_bytes = NULL;
	*ret_n = 0;
	auto_fd fd = files_open_input(path, error);
	if (fd < 0)
		return false;
	GByteArray *bytes = g_byte_array_new();
	bool ok = read_all(fd, bytes, most);
	if (!ok) {
		refuse_errno(error, path, errno);
	} else if (bytes->len > most) {
		ok = false;
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "cannot read '%s': it is too long, at most %zu "
			    "bytes are read", path, most);
	}
	*ret_n = bytes->len;
	g_byte_array_append(bytes, (const guint8 *)"", 1);
	*ret_bytes = (char *)g_byte_array_free(bytes, !ok);
	*ret_n = ok ? *ret_n : 0;
	return ok;
}

/* ---- outputs ---- */

static bool begin(enum files_op op, const char *path, mode_t mode, struct files_output *ret)
{
	struct files_request r = { .op = op, .mode = mode };
	struct files_answer answer;

	*ret = (struct files_output){ .fd = -1 };
	if (!ask(&r, path, NULL, &answer, &ret->fd)) {
		g_autofree char *dir = g_path_get_dirname(path);
		int number = errno;
		struct stat st;
		/* A better reason, as far as this process may see it itself. */
		errno = number == EACCES && stat(dir, &st) != 0 && errno == ENOENT ? ENOENT : number;
		return false;
	}
	answer.path[sizeof answer.path - 1] = '\0';
	ret->path = g_strdup(answer.path);
	ret->number = answer.number;
	return true;
}

bool files_output_begin(const char *path, mode_t mode, struct files_output *ret)
{
	return begin(FILES_OP_BEGIN, path, mode, ret);
}

bool files_output_begin_dir(const char *path, struct files_output *ret)
{
	return begin(FILES_OP_BEGIN_DIR, path, 0, ret);
}

static bool end(struct files_output *o, enum files_op op, bool force)
{
	struct files_request r = { .op = op, .flags = force, .number = o->number };
	struct files_answer answer;

	if (o->fd >= 0)
		close(o->fd);
	g_clear_pointer(&o->path, g_free);
	o->fd = -1;
	return ask(&r, "", NULL, &answer, NULL);
}

bool files_output_commit(struct files_output *o, bool force)
{
	return end(o, FILES_OP_COMMIT, force);
}

void files_output_discard(struct files_output *o)
{
	int number = errno;

	end(o, FILES_OP_DISCARD, false);
	errno = number;
}

bool files_set_contents(const char *path, const void *bytes, size_t n, mode_t mode, GError **error)
{
	struct files_output o;
	bool ok = files_output_begin(path, mode, &o);

	if (ok && !(disk_write(o.fd, bytes, n) && fsync(o.fd) == 0)) {
		files_output_discard(&o);
		ok = false;
	}
	ok = ok && files_output_commit(&o, true);
	if (!ok && files_why_refused(path))
		g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_ACCES, files_why_refused(path));
	else if (!ok)
		g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(errno), "cannot write %s: %s%s", path,
			    g_strerror(errno), files_hint(errno));
	return ok;
}

const char *files_hint(int number)
{
	return number == EACCES && helper >= 0 ? ": blktop is isolated (--no-isolation)" : "";
}
