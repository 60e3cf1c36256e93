/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files, sockets and pipes, single or summed by kind: calls, bytes and latencies.
 */
#include "base/each.h"
#include "views/cell_rows.h"
#include "views/registry.h"

#include "state/kernel/syscalls.h"

#include <string.h>

struct file_row {
	struct common c;		/* name: the path; latency: of all calls */
	const char *kind;
	struct file_sum sum;
	struct stat stat[IO_DIR_N];	/* of the sum's .latency */
};

#define FILE_ROW(name, ...) MEMBER(struct file_row, name, __VA_ARGS__)
#define OF_CALLS(dir, name) FILE_ROW(stat[dir].name, .none = IF_NEGATIVE)
#define ROW(row) ((const struct file_row *)(row))

/* The peer's address, or the address on which the socket listens: "socket inet 10.0.0.1:80". */
static GETTER(get_peer)
{
	const char *name = ROW(row)->c.name;
	const char *at = name && g_str_has_prefix(name, "socket ") ? strrchr(name, ' ') : NULL;
	return at && strchr(at, ':') ? value_text(at + 1) : value_none();
}

/* The argument of each is the priority of the columns pid and name. */
#define COLUMNS_PROCESS(p_pid, p_name) \
	COLUMN_HOST, \
	COLUMN_ID("pid", "PID", 7, p_pid, "process id", COMMON(pid)), \
	COLUMN_T("comm", "PROCESS", 15, p_name, "name, as it was last in the range", COMMON(comm))

#define COLUMNS_IO \
	COLUMN_N("reads", "READS", VALUE_COUNT, 6, 2, "calls that read", OF_CALLS(IO_DIR_READ, count)), \
	COLUMN_N("writes", "WRITES", VALUE_COUNT, 6, 2, "calls that write", OF_CALLS(IO_DIR_WRITE, count)), \
	COLUMN_N("read_bytes", "READ", VALUE_BYTES, 6, 1, "bytes read; null: unknown for recvmmsg", \
		 FILE_ROW(sum.bytes[IO_DIR_READ])), \
	COLUMN_N("write_bytes", "WRITTEN", VALUE_BYTES, 7, 1, "bytes written; null: unknown for sendmmsg", \
		 FILE_ROW(sum.bytes[IO_DIR_WRITE])), \
	COLUMNS_QUANTILES(7, "call on it"), \
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 1, "time in all calls on it", COMMON(stat.total)), \
	COLUMN_ID("tid", "TID", 0, 0, "thread id; null where threads are summed", COMMON(tid)), \
	COLUMN_N("errors", "ERR", VALUE_COUNT, 5, 8, "calls that failed", FILE_ROW(sum.errors)), \
	COLUMN_N("syncs", "SYNCS", VALUE_COUNT, 5, 9, "fsync, fdatasync and the like", OF_CALLS(IO_DIR_SYNC, count)), \
	COLUMN_N("others", "OTHERS", VALUE_COUNT, 0, 0, "other calls on it: stat, lseek, ioctl, ...", \
		 OF_CALLS(IO_DIR_OTHER, count)), \
	COLUMN_N("read_asked_bytes", "RASKED", VALUE_BYTES, 0, 0, \
		 "bytes that the reads asked for; null: unknown for some (readv, recvmsg)", \
		 FILE_ROW(sum.asked[IO_DIR_READ])), \
	COLUMN_N("write_asked_bytes", "WASKED", VALUE_BYTES, 0, 0, \
		 "bytes that the writes asked for; null: unknown for some (writev, sendmsg)", \
		 FILE_ROW(sum.asked[IO_DIR_WRITE])), \
	COLUMN_N("read_total_ns", "RTOTAL", VALUE_NS, 0, 0, "time in reads", OF_CALLS(IO_DIR_READ, total)), \
	COLUMN_N("read_p99_ns", "Rp99", VALUE_NS, 0, 0, "99 % of the reads take at most this" PERCENTILE_BOUND, \
		 OF_CALLS(IO_DIR_READ, p99)), \
	COLUMN_N("read_max_ns", "RMAX", VALUE_NS, 0, 0, "longest read", OF_CALLS(IO_DIR_READ, max)), \
	COLUMN_N("write_total_ns", "WTOTAL", VALUE_NS, 0, 0, "time in writes", OF_CALLS(IO_DIR_WRITE, total)), \
	COLUMN_N("write_p99_ns", "Wp99", VALUE_NS, 0, 0, "99 % of the writes take at most this" PERCENTILE_BOUND, \
		 OF_CALLS(IO_DIR_WRITE, p99)), \
	COLUMN_N("write_max_ns", "WMAX", VALUE_NS, 0, 0, "longest write", OF_CALLS(IO_DIR_WRITE, max)), \
	COLUMN_N("sync_total_ns", "STOTAL", VALUE_NS, 0, 0, "time in syncs", OF_CALLS(IO_DIR_SYNC, total)), \
	COLUMN_N("sync_p99_ns", "Sp99", VALUE_NS, 0, 0, "99 % of the syncs take at most this" PERCENTILE_BOUND, \
		 OF_CALLS(IO_DIR_SYNC, p99)), \
	COLUMN_N("sync_max_ns", "SMAX", VALUE_NS, 0, 0, "longest sync", OF_CALLS(IO_DIR_SYNC, max))

static const struct column file_columns[] = {
	COLUMNS_PROCESS(6, 1),
	COLUMN_FLEX("path", "PATH", 20, "path as it was passed, peer of a socket, or fd N", COMMON(name)),
	COLUMN_T("kind", "KIND", 7, 5, "file, socket, pipe, event, tty, ...", FILE_ROW(kind)),
	COLUMNS_IO,
	COLUMN_ID("fd", "FD", 4, 4, "its descriptor; of several the lowest; null: not of one process",
		  FILE_ROW(sum.fd_low)),
	COLUMN_ID("fd_last", "FDLAST", 0, 0, "its descriptor; of several the highest",
		  FILE_ROW(sum.fd_high)),
	COLUMN_T("peer", "PEER", 0, 0, "address of a socket's other end, or that it is bound to", get_peer),
	COLUMN_CONTAINER,
	COLUMN_N("submitted", "SUBMIT", VALUE_COUNT, 0, 0, "requests submitted to io_uring; their files are not known",
		 FILE_ROW(sum.submitted, .none = IF_ZERO)),
};

static const struct column io_columns[] = {
	COLUMNS_PROCESS(2, 1),
	COLUMN_FLEX("kind", "KIND", 8,
		    "disk, net, unix (sockets of the host), socket (others), pipe, event, tty, unknown",
		    FILE_ROW(kind)),
	COLUMNS_IO,
	COLUMN_CONTAINER,
};

/* What io_uring reads and writes is not in the trace. */
static void describe_submitted(struct rows *rows)
{
	uint64_t n = 0;
	PTR_EACH(struct file_row, r, rows->rows)
		n += (uint64_t)r->sum.submitted;
	if (!n)
		return;
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT " requests were submitted to io_uring: their "
						"files and bytes are not known", n);
	rows->omitted = rows->about = rows_text(rows, text);
}

static void end(struct rows *rows, void *row)
{
	struct file_row *r = row;
	struct file_sum *s = &r->sum;
	bool of_one = rows->query.by == BY_PROCESS || rows->query.by == BY_THREAD;
	if (!of_one || s->fd_low < 0)
		s->fd_low = s->fd_high = FIGURE_NONE;
	for (unsigned d = 0; d <= IO_DIR_WRITE; d++) {
		s->bytes[d] = s->unsized[d] ? FIGURE_NONE : s->bytes[d];
		s->asked[d] = s->untold[d] ? FIGURE_NONE : s->asked[d];
	}
	for (unsigned d = 0; d < IO_DIR_N; d++) {
		hist_merge(&r->c.latency, &s->latency[d]);
		r->stat[d] = stat_take(&s->latency[d]);
	}
}

static int compare(const void *va, const void *vb)
{
	const struct file_row *a = *(const struct file_row *const *)va;
	const struct file_row *b = *(const struct file_row *const *)vb;
	return common_compare(&a->c, &b->c) ?: g_strcmp0(a->kind, b->kind);
}

/* ---- by file ---- */

static void fill_file(struct rows *rows, void *row, const void *cell)
{
	struct file_row *r = row;
	const struct file_cell *c = cell;
	const struct file_info *f = timeline_file(rows->tl, c->file);
	group_fill(&r->c, rows, c->thread);
	r->c.name = f ? timeline_string(rows->tl, f->path) : NULL;
	r->kind = f ? file_kind_name[f->kind] : NULL;
	r->c.row.key[0] = key_text(key_text(r->c.row.key[0], r->c.name), r->kind);
}

static struct rows *build_files(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows files = {
		.kind = CELL_file, .size = sizeof(struct file_row), .sum = offsetof(struct file_row, sum),
		.fill = fill_file,
	};
	struct rows *rows = cell_rows_build(tl, query, &files, 1, end, compare);
	describe_submitted(rows);
	return rows;
}

/* ---- by kind ---- */

static const char *io_kind(const struct timeline *tl, const struct file_info *f)
{
	if (!f)
		return file_kind_name[FILE_UNKNOWN];
	if (f->kind == FILE_REGULAR)
		return "disk";
	if (f->kind != FILE_SOCKET)
		return file_kind_name[f->kind];
	const char *path = timeline_string(tl, f->path);
	if (g_str_has_prefix(path, "socket unix") || !strcmp(path, "socketpair"))
		return "unix";
	return g_str_has_prefix(path, "socket inet") ? "net" : "socket";
}

static uint64_t kind_key(const struct rows *rows, uint32_t thread, const char *kind)
{
	return key_text(key_int(0, group_key(rows->tl, rows->query.by, thread)), kind);
}

static void fill_kind(struct rows *rows, struct file_row *r, uint32_t thread, const char *kind)
{
	group_fill(&r->c, rows, thread);
	r->kind = kind;
	r->c.row.key[0] = key_text(r->c.row.key[0], kind);
}

static uint64_t io_key(const struct rows *rows, const void *cell)
{
	const struct file_cell *c = cell;
	return kind_key(rows, c->thread, io_kind(rows->tl, timeline_file(rows->tl, c->file)));
}

static void fill_io(struct rows *rows, void *row, const void *cell)
{
	const struct file_cell *c = cell;
	fill_kind(rows, row, c->thread, io_kind(rows->tl, timeline_file(rows->tl, c->file)));
}

/* sync and msync have no file descriptor. */
static bool wants_sync(const struct rows *rows, const void *cell)
{
	const struct call_cell *c = cell;
	const struct call_info *info = call_info(timeline_string(rows->tl, c->name));
	return info->dir == IO_DIR_SYNC && !info->has_fd && hist_count(&c->latency);
}

static uint64_t sync_key(const struct rows *rows, const void *cell)
{
	return kind_key(rows, ((const struct call_cell *)cell)->thread, "disk");
}

static void fill_sync(struct rows *rows, void *row, const void *cell)
{
	fill_kind(rows, row, ((const struct call_cell *)cell)->thread, "disk");
}

static void add_sync(struct rows *rows, void *row, const void *cell)
{
	struct file_row *r = row;
	const struct call_cell *c = cell;
	(void)rows;
	r->sum.errors += c->errors;
	hist_merge(&r->sum.latency[IO_DIR_SYNC], &c->latency);
}

static struct rows *build_io(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows io[] = {
		{ .kind = CELL_file, .size = sizeof(struct file_row), .sum = offsetof(struct file_row, sum),
		  .key = io_key, .fill = fill_io },
		{ .kind = CELL_call, .size = sizeof(struct file_row), .key = sync_key, .fill = fill_sync,
		  .each = add_sync, .wants = wants_sync },
	};
	struct rows *rows = cell_rows_build(tl, query, io, G_N_ELEMENTS(io), end, compare);
	describe_submitted(rows);
	return rows;
}

static const char *const needs[] = { NEED_SYSCALLS, NEED_CALLERS, NULL };

const struct view view_files = {
	.idle = "idle",
	.only = ONLY_THREADS,
	.id = "files", .title = "Files",
	.help = "Files, sockets and pipes by process: how often and how much was read and written, "
		"and how long the calls took.",
	.columns = file_columns, .n_columns = G_N_ELEMENTS(file_columns),
	.default_sort = "total_ns", .drill = NULL, .needs = needs,
	.default_by = BY_PROCESS, .by_values = BY_THREADS | 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS(file),
	.build = build_files,
};

const struct view view_io = {
	.idle = "idle",
	.only = ONLY_THREADS,
	.id = "io", .title = "I/O",
	.help = "What processes read, wrote and synced, by kind: disk, network, sockets of the host, "
		"pipes. The bytes are those that the calls returned.",
	.columns = io_columns, .n_columns = G_N_ELEMENTS(io_columns),
	.default_sort = "total_ns", .drill = "files", .needs = needs,
	.default_by = BY_PROCESS, .by_values = BY_THREADS | 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS(file) | READS(call),
	.build = build_io,
};
