/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files, sockets and pipes, single or summed by kind: calls, bytes and latencies.
 */
#include "views/common.h"
#include "views/registry.h"

#include "state/kernel/syscalls.h"

#include <string.h>

struct file_row {
	struct common c;		/* name: the path; latency: of all calls */
	const char *kind;
	int32_t fd_low, fd_high;	/* -1: unknown, or several processes */
	uint64_t bytes[2], asked[2], untold[2], unsized[2], submitted;
	struct hist hist[IO_DIR_N];	/* used only while cells are summed */
	struct stat stat[IO_DIR_N];
};

#define ROW(row) ((const struct file_row *)(row))

static GETTER(get_kind)
{
	return value_text(ROW(row)->kind);
}

static struct value descriptor(int32_t fd)
{
	return fd < 0 ? value_none() : value_int(VALUE_ID, fd);
}

static GETTER(get_fd)
{
	return descriptor(ROW(row)->fd_low);
}

static GETTER(get_fd_last)
{
	return descriptor(ROW(row)->fd_low < 0 ? -1 : ROW(row)->fd_high);
}

/* The peer's address, or the address on which the socket listens: "socket inet 10.0.0.1:80". */
static GETTER(get_peer)
{
	const char *name = ROW(row)->c.name;
	const char *at = name && g_str_has_prefix(name, "socket ") ? strrchr(name, ' ') : NULL;
	return at && strchr(at, ':') ? value_text(at + 1) : value_none();
}

#define CALLS(id, dir) \
	static GETTER(get_##id) { return value_int(VALUE_COUNT, ROW(row)->stat[dir].count); } \
	static GETTER(get_##id##_total) { return value_int(VALUE_NS, ROW(row)->stat[dir].total); } \
	static GETTER(get_##id##_p99) { return time_of(row, dir, ROW(row)->stat[dir].p99); } \
	static GETTER(get_##id##_max) { return time_of(row, dir, ROW(row)->stat[dir].max); }

static struct value time_of(const struct row *row, enum io_dir dir, int64_t ns)
{
	return ROW(row)->stat[dir].count ? value_int(VALUE_NS, ns) : value_none();
}

CALLS(reads, IO_DIR_READ)
CALLS(writes, IO_DIR_WRITE)
CALLS(syncs, IO_DIR_SYNC)

static GETTER(get_others)
{
	return value_int(VALUE_COUNT, ROW(row)->stat[IO_DIR_OTHER].count);
}

static GETTER(get_submitted)
{
	uint64_t n = ROW(row)->submitted;
	return n ? value_int(VALUE_COUNT, n) : value_none();
}

static struct value bytes(const struct row *row, enum io_dir dir)
{
	return ROW(row)->unsized[dir] ? value_none() : value_int(VALUE_BYTES, ROW(row)->bytes[dir]);
}

static GETTER(get_read_bytes)
{
	return bytes(row, IO_DIR_READ);
}

static GETTER(get_write_bytes)
{
	return bytes(row, IO_DIR_WRITE);
}

static struct value asked(const struct row *row, enum io_dir dir)
{
	return ROW(row)->untold[dir] ? value_none() : value_int(VALUE_BYTES, ROW(row)->asked[dir]);
}

static GETTER(get_read_asked)
{
	return asked(row, IO_DIR_READ);
}

static GETTER(get_write_asked)
{
	return asked(row, IO_DIR_WRITE);
}

/* The argument of each is the priority of the columns pid and name. */
#define COLUMNS_PROCESS(p_pid, p_name) \
	COLUMN_HOST, \
	COLUMN_ID("pid", "PID", 7, p_pid, "process id", COMMON(pid)), \
	COLUMN_T("comm", "PROCESS", 15, p_name, "name, as it was last in the range", COMMON(comm))

#define COLUMNS_IO \
	COLUMN_N("reads", "READS", VALUE_COUNT, 6, 2, "calls that read", get_reads), \
	COLUMN_N("writes", "WRITES", VALUE_COUNT, 6, 2, "calls that write", get_writes), \
	COLUMN_N("read_bytes", "READ", VALUE_BYTES, 6, 1, "bytes read; null: unknown for recvmmsg", \
		 get_read_bytes), \
	COLUMN_N("write_bytes", "WRITTEN", VALUE_BYTES, 7, 1, "bytes written; null: unknown for sendmmsg", \
		 get_write_bytes), \
	COLUMNS_QUANTILES(7, "call on it"), \
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 1, "time in all calls on it", COMMON(stat.total)), \
	COLUMN_ID("tid", "TID", 0, 0, "thread id; null where threads are summed", COMMON(tid)), \
	COLUMN_N("errors", "ERR", VALUE_COUNT, 5, 8, "calls that failed", COMMON(errors)), \
	COLUMN_N("syncs", "SYNCS", VALUE_COUNT, 5, 9, "fsync, fdatasync and the like", get_syncs), \
	COLUMN_N("others", "OTHERS", VALUE_COUNT, 0, 0, "other calls on it: stat, lseek, ioctl, ...", \
		 get_others), \
	COLUMN_N("read_asked_bytes", "RASKED", VALUE_BYTES, 0, 0, \
		 "bytes that the reads asked for; null: unknown for some (readv, recvmsg)", \
		 get_read_asked), \
	COLUMN_N("write_asked_bytes", "WASKED", VALUE_BYTES, 0, 0, \
		 "bytes that the writes asked for; null: unknown for some (writev, sendmsg)", \
		 get_write_asked), \
	COLUMN_N("read_total_ns", "RTOTAL", VALUE_NS, 0, 0, "time in reads", get_reads_total), \
	COLUMN_N("read_p99_ns", "Rp99", VALUE_NS, 0, 0, "99 % of the reads take at most this" PERCENTILE_BOUND, \
		 get_reads_p99), \
	COLUMN_N("read_max_ns", "RMAX", VALUE_NS, 0, 0, "longest read", get_reads_max), \
	COLUMN_N("write_total_ns", "WTOTAL", VALUE_NS, 0, 0, "time in writes", get_writes_total), \
	COLUMN_N("write_p99_ns", "Wp99", VALUE_NS, 0, 0, "99 % of the writes take at most this" PERCENTILE_BOUND, \
		 get_writes_p99), \
	COLUMN_N("write_max_ns", "WMAX", VALUE_NS, 0, 0, "longest write", get_writes_max), \
	COLUMN_N("sync_total_ns", "STOTAL", VALUE_NS, 0, 0, "time in syncs", get_syncs_total), \
	COLUMN_N("sync_p99_ns", "Sp99", VALUE_NS, 0, 0, "99 % of the syncs take at most this" PERCENTILE_BOUND, \
		 get_syncs_p99), \
	COLUMN_N("sync_max_ns", "SMAX", VALUE_NS, 0, 0, "longest sync", get_syncs_max)

static const struct column file_columns[] = {
	COLUMNS_PROCESS(6, 1),
	COLUMN_FLEX("path", "PATH", 20, "path as it was passed, peer of a socket, or fd N", COMMON(name)),
	COLUMN_T("kind", "KIND", 7, 5, "file, socket, pipe, event, tty, ...", get_kind),
	COLUMNS_IO,
	COLUMN_ID("fd", "FD", 4, 4, "its descriptor; of several the lowest; null: not of one process", get_fd),
	COLUMN_ID("fd_last", "FDLAST", 0, 0, "its descriptor; of several the highest", get_fd_last),
	COLUMN_T("peer", "PEER", 0, 0, "address of a socket's other end, or that it is bound to", get_peer),
	COLUMN_CONTAINER,
	COLUMN_N("submitted", "SUBMIT", VALUE_COUNT, 0, 0, "requests submitted to io_uring; their files are not known",
		 get_submitted),
};

static const struct column io_columns[] = {
	COLUMNS_PROCESS(2, 1),
	COLUMN_FLEX("kind", "KIND", 8,
		    "disk, net, unix (sockets of the host), socket (others), pipe, event, tty, unknown",
		    get_kind),
	COLUMNS_IO,
	COLUMN_CONTAINER,
};

static void add_dir(struct file_row *r, enum io_dir dir, const struct hist *h)
{
	hist_merge(&r->c.latency, h);
	hist_merge(&r->hist[dir], h);
}

static void add_cell(struct file_row *r, const struct file_cell *cell)
{
	for (unsigned d = 0; d <= IO_DIR_WRITE; d++) {
		r->bytes[d] += cell->bytes[d];
		r->asked[d] += cell->asked[d];
		r->untold[d] += cell->untold[d];
		r->unsized[d] += cell->unsized[d];
	}
	r->c.errors += cell->errors;
	r->submitted += cell->submitted;
	for (unsigned d = 0; d < IO_DIR_N; d++)
		add_dir(r, d, &cell->latency[d]);
}

static void add_fds(struct file_row *r, enum view_by by, const struct file_cell *cell)
{
	bool of_one = by == BY_PROCESS || by == BY_THREAD;

	r->fd_low = of_one ? MIN(r->fd_low, cell->fd_low) : -1;
	r->fd_high = MAX(r->fd_high, cell->fd_high);
}

/* What io_uring reads and writes is not in the trace. */
static void describe_submitted(struct rows *rows)
{
	uint64_t n = 0;
	for (guint i = 0; i < rows->rows->len; i++)
		n += ROW(rows->rows->pdata[i])->submitted;
	if (!n)
		return;
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT " requests were submitted to io_uring: their "
						"files and bytes are not known", n);
	rows->omitted = rows->about = rows_text(rows, text);
}

static void finish(struct rows *rows, GCompareFunc compare)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		struct file_row *r = rows->rows->pdata[i];
		for (unsigned d = 0; d < IO_DIR_N; d++) {
			r->stat[d] = stat_of(&r->hist[d]);
			hist_clear(&r->hist[d]);
		}
	}
	common_finish(rows, compare);
	describe_submitted(rows);
}

static int compare(const void *va, const void *vb)
{
	const struct file_row *a = *(const struct file_row *const *)va;
	const struct file_row *b = *(const struct file_row *const *)vb;
	int order = common_compare(&a->c, &b->c);
	return order ? order : g_strcmp0(a->kind, b->kind);
}

/* ---- by file ---- */

static void add_files(struct row_map *map, const struct second *s)
{
	struct rows *rows = map->rows;
	const struct view_query *q = &rows->query;
	for (uint32_t i = 0; i < s->n_files; i++) {
		const struct file_cell *cell = &s->files[i];
		bool is_new;
		if (!query_wants_thread(q, rows->tl, cell->thread))
			continue;
		uint64_t key = (uint64_t)group_key(rows->tl, q->by, cell->thread) << 32 | cell->file;
		struct file_row *r = row_map_get(map, key, sizeof(*r), &is_new);
		if (is_new) {
			const struct file_info *f = timeline_file(rows->tl, cell->file);
			group_fill(&r->c, rows, cell->thread);
			r->c.name = f ? timeline_string(rows->tl, f->path) : NULL;
			r->kind = f ? file_kind_name[f->kind] : NULL;
			r->fd_low = cell->fd_low;
			r->fd_high = cell->fd_high;
			r->c.row.key[0] = key_text(key_text(r->c.row.key[0], r->c.name), r->kind);
		}
		add_cell(r, cell);
		add_fds(r, q->by, cell);
	}
}

static struct rows *build_files(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++)
		add_files(&map, timeline_second(tl, i));
	row_map_clear(&map);
	finish(map.rows, compare);
	return map.rows;
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

static struct file_row *kind_row(struct row_map *map, uint32_t thread, const char *kind)
{
	struct rows *rows = map->rows;
	bool is_new;
	uint64_t key = key_text(key_int(0, group_key(rows->tl, rows->query.by, thread)), kind);
	struct file_row *r = row_map_get(map, key, sizeof(*r), &is_new);
	if (is_new) {
		group_fill(&r->c, rows, thread);
		r->kind = kind;
		r->c.row.key[0] = key_text(r->c.row.key[0], kind);
	}
	return r;
}

static void add_kinds(struct row_map *map, const struct second *s)
{
	struct rows *rows = map->rows;
	for (uint32_t i = 0; i < s->n_files; i++) {
		const struct file_cell *cell = &s->files[i];
		if (query_wants_thread(&rows->query, rows->tl, cell->thread))
			add_cell(kind_row(map, cell->thread,
					  io_kind(rows->tl, timeline_file(rows->tl, cell->file))), cell);
	}
	/* sync and msync have no file descriptor. */
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct call_cell *cell = &s->calls[i];
		const struct call_info *info = call_info(timeline_string(rows->tl, cell->name));
		if (info->dir != IO_DIR_SYNC || info->has_fd || !hist_count(&cell->latency) ||
		    !query_wants_thread(&rows->query, rows->tl, cell->thread))
			continue;
		struct file_row *r = kind_row(map, cell->thread, "disk");
		r->c.errors += cell->errors;
		add_dir(r, IO_DIR_SYNC, &cell->latency);
	}
}

static struct rows *build_io(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++)
		add_kinds(&map, timeline_second(tl, i));
	row_map_clear(&map);
	finish(map.rows, compare);
	return map.rows;
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
