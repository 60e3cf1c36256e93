/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes lines of the log from records; see calllog.h. Each record goes through a slice, which calls on_event() instead
 * of the event's handler. A line waits in a queue until the calls before it have returned, or for a limited time.
 */
#include "state/calllog/calllog.h"

#include "state/kernel/contexts.h"
#include "state/kernel/cpu.h"
#include "state/kernel/event_class.h"
#include "state/kernel/event_task.h"
#include "state/kernel/facts.h"
#include "state/kernel/handlers.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/threads.h"
#include "state/names/fdtable.h"
#include "state/names/names.h"
#include "state/slice/slice.h"

#include "base/call_event.h"
#include "base/each.h"
#include "base/fields.h"
#include "base/timefmt.h"

#include <string.h>

#define DEFAULT_HOLD 4096
#define DEFAULT_HOLD_NS 1000000000
#define FORGET_EVERY 65536	/* events */
#define LATE_AFTER_NS (120 * NS_PER_S)

/* ---- subscription rows ---- */

/* The rows of the model that follow threads, system calls and names have all fields of each event (field "*") in
 * addition to those that the handlers need. */
struct log_subscription {
	handler on;		/* the model's handler; NULL: the event only gives a line */
	uint32_t what;		/* class_info.what for it */
	uint8_t all;		/* slot of the field "*" */
};

static struct {
	GArray *all, *names;		/* struct blk_subscription, by row */
	GArray *rows;			/* struct log_subscription, by row */
	GPtrArray *texts;		/* owned texts of .names */
} row_tables;

static const struct blk_subscription nothing = { .event = "" };

/* The row `base` of the model, for that event; G_MAXSIZE: none, it only gives lines. */
static void add_row(size_t base, const char *event, bool to_all, bool to_names)
{
	size_t n_rows;
	const struct blk_subscription *of = base == G_MAXSIZE ? &nothing : &slice_base_subscriptions(&n_rows)[base];
	struct blk_subscription sub = { .event = event, .needs = of->needs };
	struct log_subscription row = { 0 };
	unsigned n = 0;
	if (base != G_MAXSIZE)
		row.on = slice_base_row_handler(base, &row.what);
	for (; n + 1 < BLK_MAX_FIELDS && of->fields[n] && strcmp(of->fields[n], BLK_COUNTERS); n++)
		sub.fields[n] = of->fields[n];
	sub.fields[n] = "*";
	row.all = (uint8_t)(BLK_FIELD0 + n);
	g_array_append_vals(row_tables.all, to_all ? &sub : &nothing, 1);
	g_array_append_vals(row_tables.names, to_names ? &sub : &nothing, 1);
	g_array_append_val(row_tables.rows, row);
}

/* Is it the row of all system calls? Most of these name no descriptor. */
static bool is_every_call(const char *event)
{
#define EVERY_TODAY(prefix) prefix "*",
#define EVERY_OLD(prefix)
#define EVERY(prefix, when) EVERY_##when(prefix)
	static const char *const every[] = { CALL_ENTRY_PREFIXES(EVERY) CALL_EXIT_PREFIXES(EVERY) NULL };
	return g_strv_contains(every, event);
}

/* Adds a row for one system call if the model has no row for it. It is used to read names before a range. */
static void add_call_row(const char *prefix, const struct call_info *call)
{
	size_t n;
	const struct blk_subscription *base = slice_base_subscriptions(&n);
	char *event = g_strconcat(prefix, call->name, NULL);
	unsigned row = subscription_of(base, n, event);
	g_ptr_array_add(row_tables.texts, event);
	if (!g_str_equal(base[row].event, event))	/* else the row exists */
		add_row(row, event, false, true);
}

static void fill_rows(void)
{
	static const char *const today[] = {
#define TODAY(prefix) prefix,
#define OLD(prefix)
#define PREFIX(prefix, when) when(prefix)
		CALL_ENTRY_PREFIXES(PREFIX) CALL_EXIT_PREFIXES(PREFIX)
	};
	size_t n;
	const struct blk_subscription *base = slice_base_subscriptions(&n);
	for (size_t i = 0; i < n; i++)
		if (slice_base_row_follows(i))
			add_row(i, base[i].event, true, !is_every_call(base[i].event));
	const struct call_info *call;
	for (size_t i = 0; (call = call_info_at(i)); i++)
		for (size_t k = 0; call->fdop && k < G_N_ELEMENTS(today); k++)
			add_call_row(today[k], call);
	add_row(G_MAXSIZE, "*", true, false);
}

static void make_rows(void)
{
	static gsize once;
	if (!g_once_init_enter(&once))
		return;
	row_tables.all = g_array_new(false, true, sizeof(struct blk_subscription));
	row_tables.names = g_array_new(false, true, sizeof(struct blk_subscription));
	row_tables.rows = g_array_new(false, true, sizeof(struct log_subscription));
	row_tables.texts = g_ptr_array_new();
	fill_rows();
	g_once_init_leave(&once, 1);
}

/* A row of calllog_subscriptions() and of calllog_name_subscriptions(), which have the same numbers. */
static const struct log_subscription *log_row(unsigned row)
{
	make_rows();
	g_assert(row < row_tables.rows->len);
	return &g_array_index(row_tables.rows, struct log_subscription, row);
}

const struct blk_subscription *calllog_subscriptions(size_t *ret_n)
{
	make_rows();
	*ret_n = row_tables.all->len;
	return (const struct blk_subscription *)(void *)row_tables.all->data;
}

const struct blk_subscription *calllog_name_subscriptions(size_t *ret_n)
{
	make_rows();
	*ret_n = row_tables.names->len;
	return (const struct blk_subscription *)(void *)row_tables.names->data;
}

/* ---- lines as values ---- */

const char *const calllog_kind_name[CALLLOG_KIND_N] = { "call", "event", "user", "loss" };
const char *const calllog_state_name[LINE_STATE_N] = {
	"whole", "pending", "resumed", "unfinished", "exit", "no-return",
};

struct calllog_line *calllog_line_ref(struct calllog_line *l)
{
	g_atomic_ref_count_inc(&l->refs);
	return l;
}

void calllog_line_unref(struct calllog_line *l)
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

const char *calllog_line_fd(const struct calllog_line *l, int64_t fd)
{
	for (guint i = 0; l->fds && i < l->fds->len; i++)
		if (g_array_index(l->fds, struct calllog_fd, i).fd == fd)
			return g_array_index(l->fds, struct calllog_fd, i).name;
	return NULL;
}

bool calllog_is_fd(const char *field)
{
	static const char *const fields[] = {
		"fd", "fildes", "sockfd", "epfd", "dfd", "dirfd", "olddfd", "newdfd", "oldfd", "newfd",
		"in_fd", "out_fd", "fd_in", "fd_out", "fdin", "fdout", "mqdes", "dfd_fd", "pidfd", "fs_fd",
		"from_dfd", "to_dfd", "mountdirfd", "fanotify_fd", "ufd", NULL
	};
	return g_strv_contains(fields, field);
}

const char *calllog_errno(int64_t number)
{
	/* Internal results of the kernel when a signal interrupts a call; LTTng records them. */
	static const char *const restarts[] = {
		"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
		"ERESTART_RESTARTBLOCK",
	};
	if (number >= 512 && number < 512 + (int64_t)G_N_ELEMENTS(restarts))
		return restarts[number - 512];
	return number > 0 && number < 512 ? strerrorname_np((int)number) : NULL;
}

/* ---- the log ---- */

struct calllog {
	struct calllog_options o;
	calllog_emit emit;
	void *data;
	struct slice *s;
	struct names *names;		/* of .s; use current_names() */
	GPtrArray *texts, *hosts;	/* GRefString *, by the slice's strings and hosts; NULL: not used yet */
	GRefString *empty_text;		/* "" */
	GPtrArray *calls;		/* struct calllog_line *: call in progress, by thread number of the slice;
					 * or NULL */
	GByteArray *lost;		/* by stream of this source; 1: in a loss */
	GArray *n_lost;			/* unsigned: number of streams in a loss, by host of the slice */
	GQueue queue;			/* lines held back, by .seq */
	uint64_t seq, forgot_at;	/* number of the last line; the slice's .seq at the last forget() */
	int64_t now;			/* newest event (ns) */
};

/* The slice's cells are not needed: all go into one endless second, which forget() drops from time to time. */
static struct slice *new_slice(struct calllog *j, handler follow)
{
	struct slice *s = slice_new(true, NS_PER_S);
	slice_window(s, INT64_MAX, INT64_MAX);
	slice_without_spans(s);
	s->follow = follow;
	s->follower = j;
	return s;
}

static void on_event(struct fed_event *f);

static void text_free(void *p)
{
	if (p)
		g_ref_string_release(p);
}

struct calllog *calllog_new(const struct calllog_options *options, calllog_emit emit, void *data)
{
	struct calllog *j = g_new0(struct calllog, 1);
	j->o = *options;
	j->o.hold = options->hold ? options->hold : DEFAULT_HOLD;
	j->o.hold_ns = options->hold_ns ? options->hold_ns : DEFAULT_HOLD_NS;
	j->emit = emit;
	j->data = data;
	j->s = new_slice(j, on_event);
	j->names = names_new(j->s);
	j->texts = g_ptr_array_new_with_free_func(text_free);
	j->hosts = g_ptr_array_new_with_free_func(text_free);
	j->empty_text = g_ref_string_new("");
	j->calls = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
	j->lost = g_byte_array_new();
	j->n_lost = g_array_new(FALSE, TRUE, sizeof(unsigned));
	g_queue_init(&j->queue);
	return j;
}

void calllog_free(struct calllog *j)
{
	if (!j)
		return;
	g_queue_clear_full(&j->queue, (GDestroyNotify)calllog_line_unref);
	g_ptr_array_unref(j->texts);
	g_ptr_array_unref(j->hosts);
	g_ref_string_release(j->empty_text);
	g_ptr_array_unref(j->calls);
	g_byte_array_unref(j->lost);
	g_array_unref(j->n_lost);
	names_free(j->names);
	slice_free(j->s);
	g_free(j);
}

void calllog_change_source(struct calllog *j)
{
	slice_change_source(j->s);
	g_byte_array_set_size(j->lost, 0);
	g_array_set_size(j->n_lost, 0);
}

/* ---- queries of the slice ---- */

static struct names *current_names(struct calllog *j)
{
	if (j->s->facts->len)
		names_update(j->names);
	return j->names;
}

static int32_t pid_of(struct calllog *j, const struct thread *t)
{
	uint32_t process = t->idle ? ID_NONE : names_process(current_names(j), t->self);
	return process == ID_NONE ? -1 : names_process_info(j->names, process)->pid;
}

/* A reference to the i-th text, created on first use. */
static GRefString *shared_text(GPtrArray *all, uint32_t i, const char *text)
{
	if (i >= all->len)
		g_ptr_array_set_size(all, (gint)i + 1);
	if (!all->pdata[i])
		all->pdata[i] = g_ref_string_new(text);
	return g_ref_string_acquire(all->pdata[i]);
}

static GRefString *string_at(struct calllog *j, uint32_t string)
{
	return shared_text(j->texts, string, strtab_get(j->s->strings, string));
}

static GRefString *file_name(struct calllog *j, uint32_t file)
{
	return string_at(j, names_file_info(j->names, file)->path);
}

static const char *host_name(const struct calllog *j, uint32_t host)
{
	return g_array_index(j->s->hosts, struct slice_host, host).name;
}

/* The number of the newest thread of that tid, or ID_NONE. */
static uint32_t thread_of_tid(const struct calllog *j, uint32_t host, int64_t tid)
{
	uint32_t id = tid > 0 ? intmap_get(&j->s->tid_last, pair(host, (uint32_t)tid)) : INTMAP_NONE;
	return id == INTMAP_NONE ? ID_NONE : thread_follow(j->s, id);
}

/* The thread's call in progress, or NULL. */
static struct calllog_line *call_of(const struct calllog *j, uint32_t thread)
{
	return thread < j->calls->len ? j->calls->pdata[thread] : NULL;
}

/* Removes the thread's call in progress and returns it; the caller owns it. NULL: none. */
static struct calllog_line *take_call(struct calllog *j, uint32_t thread)
{
	return thread < j->calls->len ? g_steal_pointer(&j->calls->pdata[thread]) : NULL;
}

/* ---- lines ---- */

static void emit_line(struct calllog *j, struct calllog_line *l)
{
	if (l->ts >= j->o.from_ns && l->ts < j->o.to_ns)
		j->emit(j->data, l);
	else
		calllog_line_unref(l);
}

static bool is_waiting(const struct calllog_line *l)
{
	return l->kind == CALLLOG_CALL && l->state == LINE_PENDING;
}

static struct calllog_line *copy_line(const struct calllog_line *l)
{
	struct calllog_line *c = g_memdup2(l, sizeof *l);
	g_atomic_ref_count_init(&c->refs);
	g_ref_string_acquire(c->name);
	g_ref_string_acquire(c->comm);
	g_ref_string_acquire(c->host);
	if (c->args)
		g_bytes_ref(c->args);
	if (c->fds)
		g_array_ref(c->fds);
	return c;
}

/* Emits a copy as LINE_PENDING. The call in progress stays until it returns. */
static void emit_pending(struct calllog *j, struct calllog_line *l)
{
	l->emitted = true;
	emit_line(j, copy_line(l));
	calllog_line_unref(l);
}

/* Emits the lines that need not wait any longer. */
static void flush(struct calllog *j)
{
	struct calllog_line *l;
	while ((l = g_queue_peek_head(&j->queue))) {
		if (!is_waiting(l)) {
			emit_line(j, g_queue_pop_head(&j->queue));
			continue;
		}
		if (j->queue.length <= j->o.hold && j->now - l->ts <= j->o.hold_ns)
			return;
		emit_pending(j, g_queue_pop_head(&j->queue));
	}
}

/* Queues the line; takes ownership of it. */
static void put(struct calllog *j, struct calllog_line *l)
{
	l->seq = ++j->seq;
	if (l->ts < j->o.from_ns) {
		calllog_line_unref(l);
		return;
	}
	g_assert(l->kind < CALLLOG_KIND_N);
	g_queue_push_tail(&j->queue, l);
	flush(j);
}

/* Takes ownership of the reference to the name. */
static struct calllog_line *line_new(struct calllog *j, enum calllog_kind kind, int64_t ts,
				     unsigned stream, GRefString *name)
{
	g_assert(stream < j->s->streams->len);		/* slice_feed() has seen the tables */
	uint32_t host = g_array_index(j->s->streams, struct stream_info, stream).host;
	struct calllog_line *l = g_new0(struct calllog_line, 1);
	g_atomic_ref_count_init(&l->refs);
	l->kind = kind;
	l->cpu = blk_stream(j->s->tables, stream)->cpu;
	l->tid = l->pid = -1;
	l->ts = ts;
	l->entry_ns = l->exit_ns = CALLLOG_UNKNOWN;
	l->name = name;
	l->comm = g_ref_string_acquire(j->empty_text);
	l->host = shared_text(j->hosts, host, host_name(j, host));
	l->machine = g_array_index(j->s->hosts, struct slice_host, host).machine;
	return l;
}

static void fd_clear(void *p)
{
	g_ref_string_release(((struct calllog_fd *)p)->name);
}

static GArray *fds_new(void)
{
	GArray *fds = g_array_new(FALSE, FALSE, sizeof(struct calllog_fd));
	g_array_set_clear_func(fds, fd_clear);
	return fds;
}

/* Adds the names of all descriptors among the fields, as they were at the event. */
static void name_fds(struct calllog *j, struct calllog_line *l, const struct fed_event *f, const struct thread *t)
{
	gsize n;
	const void *bytes = g_bytes_get_data(l->args, &n);
	struct fields_cursor c = fields_of(bytes, n);
	struct field x;
	while (fields_next(&c, &x)) {
		int32_t fd = (int32_t)x.value;
		if (x.scope != FIELD_PAYLOAD || x.kind > FIELD_UNSIGNED || !calllog_is_fd(x.name) ||
		    calllog_line_fd(l, fd))
			continue;
		uint32_t file = names_known_file(current_names(j), t->self, fd, f->seq);
		if (file == ID_NONE)
			continue;
		if (!l->fds)
			l->fds = fds_new();
		struct calllog_fd named = { fd, file_name(j, file) };
		g_array_append_val(l->fds, named);
	}
}

static void set_comm(struct calllog_line *l, GRefString *comm)
{
	g_ref_string_release(l->comm);
	l->comm = comm;
}

/* The procname context of the event takes precedence; usually the slice has the same name. */
static void set_thread(struct calllog *j, struct calllog_line *l, const struct thread *t,
		       const struct blk_event *e)
{
	struct blk_text comm = blk_text(e, BLK_CTX_PROCNAME);
	const char *last = t ? strtab_get(j->s->strings, t->name_last) : "";
	if (t) {
		l->tid = t->task_tid;
		l->pid = pid_of(j, t);
	}
	if (comm.len && (strlen(last) != comm.len || memcmp(last, comm.str, comm.len)))
		set_comm(l, g_ref_string_new_len(comm.str, comm.len));
	else if (*last)
		set_comm(l, string_at(j, t->name_last));
}

/* Sets pid and name from the registration of per-process buffers, if the event does not have them. */
static void set_registered(struct calllog_line *l, const struct blk_stream *s, const struct blk_event *e)
{
	if (l->tid < 0)
		l->pid = (int32_t)blk_int_or(e, BLK_CTX_VPID, s->vpid);
	bool is_whole = l->tid < 0 || l->tid == l->pid;
	if (*l->comm || !is_whole || !s->vpid_procname || l->pid != s->vpid)
		return;
	set_comm(l, g_ref_string_new(s->vpid_procname));
}

static GBytes *run_of(const struct fed_event *f)
{
	struct blk_text run = blk_text(f->ev, log_row(f->ev->row)->all);
	return g_bytes_new(run.str, run.len);
}

static int64_t field_int(const struct fed_event *f, const char *name, int64_t absent)
{
	struct blk_text run = blk_text(f->ev, log_row(f->ev->row)->all);
	struct field x;
	return fields_find(run.str, run.len, FIELD_PAYLOAD, name, &x) && x.kind <= FIELD_UNSIGNED
		? (int64_t)x.value : absent;
}

static void handle(struct fed_event *f)		/* as the model does */
{
	const struct log_subscription *row = log_row(f->ev->row);
	f->cls->what = row->what;
	row->on(f);
}

/* ---- calls ---- */

/* Gives up a call: its exit will not come. */
static void abandon_call(struct calllog *j, uint32_t thread, bool lost)
{
	struct calllog_line *l = take_call(j, thread);
	if (!l)
		return;
	l->lost = lost;
	l->state = LINE_UNFINISHED;
	if (l->emitted && l->ts >= j->o.from_ns) {	/* it is no longer in the queue */
		l->ts = j->now;
		put(j, l);
		return;
	}
	calllog_line_unref(l);			/* the queue has a reference, or the line is before the range */
	flush(j);
}

/* The name of the call, a new reference. lttng-modules records a call that it does not know as "unknown" with a
 * number. */
static GRefString *call_name(struct calllog *j, const struct fed_event *f)
{
	char buffer[NUMBER_NAME_BYTES];
	int64_t id = strcmp(strtab_get(f->s->strings, f->cls->name), "unknown") ? -1 : field_int(f, "id", -1);
	if (id < 0)
		return string_at(j, f->cls->name);
	return g_ref_string_new(handler_call_name(f, id, buffer));
}

static void on_entry(struct calllog *j, struct fed_event *f, const struct thread *t)
{
	struct calllog_line *l = line_new(j, CALLLOG_CALL, f->ts, f->ev->stream, call_name(j, f));
	const struct call_info *info = call_info(l->name);
	abandon_call(j, t->self, false);
	l->state = info->no_exit ? LINE_NO_RETURN : LINE_PENDING;
	l->entry_ns = f->ts;
	l->entry_seq = f->seq;
	l->args = run_of(f);
	set_thread(j, l, t, f->ev);
	name_fds(j, l, f, t);
	handle(f);
	if (!info->no_exit) {
		if (t->self >= j->calls->len)
			g_ptr_array_set_size(j->calls, (gint)t->self + 1);
		g_assert(!j->calls->pdata[t->self]);	/* abandon_call() removed it */
		j->calls->pdata[t->self] = calllog_line_ref(l);
		l->emitted = f->ts < j->o.from_ns;
	}
	put(j, l);
}

static void finish_call(struct calllog *j, struct fed_event *f, const struct thread *t, struct calllog_line *l)
{
	enum call_fdop op = call_info(l->name)->fdop;
	struct blk_text run = blk_text(f->ev, log_row(f->ev->row)->all);
	struct field ret;
	g_assert(!l->results);				/* a call is finished once */
	l->exit_ns = f->ts;
	l->results = run_of(f);
	l->has_ret = fields_find(run.str, run.len, FIELD_PAYLOAD, "ret", &ret) && ret.kind <= FIELD_UNSIGNED;
	if (!l->has_ret)
		return;
	l->ret = (int64_t)ret.value;
	if (op != FDOP_ACCEPT && op != FDOP_DUP && op != FDOP_DUP2)
		return;
	uint32_t file = names_known_file(current_names(j), t->self, (int32_t)l->ret, f->seq);
	if (file != ID_NONE)
		l->ret_name = file_name(j, file);
}

static void on_exit_call(struct calllog *j, struct fed_event *f, const struct thread *t)
{
	struct calllog_line *l = call_of(j, t->self);
	handle(f);
	if (l && f->s->finished == l->entry_seq) {
		take_call(j, t->self);
		finish_call(j, f, t, l);
		l->state = l->emitted ? LINE_RESUMED : LINE_WHOLE;
		if (l->emitted) {
			l->ts = f->ts;
			put(j, l);
		} else {
			calllog_line_unref(l);
			flush(j);
		}
		return;
	}
	struct calllog_line *pending = l;
	l = line_new(j, CALLLOG_CALL, f->ts, f->ev->stream, call_name(j, f));
	abandon_call(j, t->self, pending && !strcmp(pending->name, l->name));
	l->state = LINE_EXIT;
	set_thread(j, l, t, f->ev);
	finish_call(j, f, t, l);
	put(j, l);
}

/* ---- losses ---- */

static bool runs_elsewhere(const struct calllog *j, const struct thread *t, uint32_t cpu)
{
	for (guint i = 0; i < j->s->cpus->len; i++) {
		struct cpu *c = cpu_at(j->s, i);
		if (c->host == t->host && c->number != cpu && cpu_task(j->s, c) == t)
			return true;
	}
	return false;
}

/* A loss begins in a stream: gives up the calls of all threads that may have run on its CPU meanwhile. False: the
 * stream is in a loss already, or is not a kernel stream. */
static bool begin_lost(struct calllog *j, unsigned stream)
{
	const struct stream_info *info = &g_array_index(j->s->streams, struct stream_info, stream);
	if (j->lost->len <= stream) {
		guint had = j->lost->len;
		g_byte_array_set_size(j->lost, stream + 1);
		memset(j->lost->data + had, 0, stream + 1 - had);
	}
	if (j->lost->data[stream] || !info->kernel)
		return false;
	if (j->n_lost->len <= info->host)
		g_array_set_size(j->n_lost, info->host + 1);
	j->lost->data[stream] = 1;
	g_array_index(j->n_lost, unsigned, info->host)++;
	g_assert(j->calls->len <= j->s->threads->len);
	for (guint i = 0; i < j->calls->len; i++) {
		const struct thread *t = thread_at(j->s, i);
		if (j->calls->pdata[i] && t->host == info->host &&
		    !runs_elsewhere(j, t, blk_stream(j->s->tables, stream)->cpu))
			abandon_call(j, i, true);
	}
	return true;
}

static bool is_lost(const struct calllog *j, uint32_t host)
{
	return host < j->n_lost->len && g_array_index(j->n_lost, unsigned, host);
}

static void on_loss(struct calllog *j, const struct blk_event *e)
{
	const struct stream_info *info = &g_array_index(j->s->streams, struct stream_info, e->stream);
	if (e->row == BLK_ROW_LOST_END) {
		if (e->stream < j->lost->len && j->lost->data[e->stream])
			g_array_index(j->n_lost, unsigned, info->host)--;
		if (e->stream < j->lost->len)
			j->lost->data[e->stream] = 0;
		return;
	}
	struct calllog_line *l = line_new(j, CALLLOG_LOSS, e->ts, e->stream, g_ref_string_new("lost"));
	memcpy(&l->loss, e->data, sizeof l->loss);
	begin_lost(j, e->stream);
	put(j, l);
}

void calllog_begin_lost(struct calllog *j, const struct blk_tables *tables, unsigned stream,
			const struct blk_loss *loss)
{
	slice_feed(j->s, tables, NULL, 0);
	if (begin_lost(j, stream))
		slice_feed(j->s, tables, &(struct blk_event){
			.ts = MAX(loss->begin_ns, j->s->last), .data = (const uint8_t *)loss,
			.stream = (uint16_t)stream, .row = BLK_ROW_LOST_BEGIN }, 1);
}

/* ---- records ---- */

/* The thread of a kernel event, by its contexts or the CPU's current task; NULL: unknown. */
static struct thread *kernel_thread(struct fed_event *f)
{
	struct thread *t = event_task(f);
	if (!t && blk_has(f->ev, BLK_CTX_TID))	/* in a loss */
		t = cpu_task_of_tid(f->s, f->c, (int32_t)blk_int(f->ev, BLK_CTX_TID));
	return t && (t->idle || t->tid > 0) ? t : NULL;
}

/* The thread of the event's own tid, if it is of the event's process and runs on another CPU: then the event's CPU is
 * wrong. NULL: it is not. */
static struct thread *runs_with(struct calllog *j, const struct fed_event *f, int64_t tid, int32_t pid)
{
	for (guint i = 0; i < j->s->cpus->len && tid > 0 && !contexts_nested(f); i++) {
		struct thread *t = cpu_at(j->s, i)->host == f->host ? cpu_task(j->s, cpu_at(j->s, i)) : NULL;
		if (t && t->tid == tid && pid_of(j, t) == pid)
			return t;
	}
	return NULL;
}

/* The thread of a user-space event: the CPU's current task if it is known, else the event's own vtid. */
static struct thread *user_thread_of(struct calllog *j, struct fed_event *f)
{
	struct thread *t = event_follows_tasks(f) ? cpu_task(f->s, f->c) : NULL;
	int64_t reported = blk_int_or(f->ev, BLK_CTX_VTID, blk_int_or(f->ev, BLK_CTX_TID, -1));
	int32_t pid = (int32_t)blk_int_or(f->ev, BLK_CTX_VPID, blk_stream(f->s->tables, f->ev->stream)->vpid);
	struct thread *other = t && t->tid >= 0 && t->tid != reported ? runs_with(j, f, reported, pid) : NULL;
	if (other)
		return other;
	if (!t || t->tid <= 0)
		t = reported > 0 ? slice_thread(f->s, f->host, (int32_t)reported) : NULL;
	/* If the tids differ, the pid is of another namespace. */
	if (t && t->tid == reported && pid > 0 && pid_of(j, t) < 0)
		event_learn_pid(f, t, pid, -1);
	return t;
}

/* Gives up calls that end with this event without an exit. */
static void end_calls(struct calllog *j, const struct fed_event *f)
{
	const char *name = strtab_get(f->s->strings, f->cls->event);
	if (strncmp(name, "sched_", 6))
		return;
	if (!strcmp(name, "sched_switch")) {	/* its exit on another CPU may be lost */
		if (is_lost(j, f->host))
			abandon_call(j, thread_of_tid(j, f->host, field_int(f, "prev_tid", -1)), true);
	} else if (!strcmp(name, "sched_process_free")) {
		abandon_call(j, thread_of_tid(j, f->host, field_int(f, "tid", -1)), false);
	} else if (!strcmp(name, "sched_process_fork")) {	/* an older thread with that tid */
		abandon_call(j, thread_of_tid(j, f->host, field_int(f, "child_tid", -1)), false);
	}
}

/* A thread that is not the leader called exec: its pending call goes on as the leader's. */
static void exec_by_other(struct calllog *j, struct fed_event *f)
{
	int64_t tid = field_int(f, "tid", field_int(f, "pid", -1));
	int64_t old = field_int(f, "old_tid", field_int(f, "old_pid", tid));
	uint32_t caller = old != tid && old > 0 && tid > 0 ? thread_of_tid(j, f->host, old) : ID_NONE;
	handle(f);
	struct calllog_line *l = caller == ID_NONE ? NULL : take_call(j, caller);
	uint32_t leader = l ? thread_of_tid(j, f->host, tid) : ID_NONE;
	if (leader == ID_NONE)
		return;
	if (leader >= j->calls->len)
		g_ptr_array_set_size(j->calls, (gint)leader + 1);
	j->calls->pdata[leader] = l;
}

static void on_other(struct calllog *j, struct fed_event *f, const struct thread *t, bool kernel)
{
	if (f->ts >= j->o.from_ns) {
		struct calllog_line *l = line_new(j, kernel ? CALLLOG_EVENT : CALLLOG_USER, f->ts, f->ev->stream,
						  string_at(j, f->cls->event));
		l->args = run_of(f);
		set_thread(j, l, t, f->ev);
		if (!kernel)
			set_registered(l, blk_stream(f->s->tables, f->ev->stream), f->ev);
		put(j, l);
	}
	if (kernel)
		end_calls(j, f);
	if (!kernel || !log_row(f->ev->row)->on)
		return;
	if (!strcmp(strtab_get(f->s->strings, f->cls->event), "sched_process_exec"))
		exec_by_other(j, f);
	else
		handle(f);
}

static void on_event(struct fed_event *f)
{
	struct calllog *j = f->s->follower;
	bool kernel = event_is_kernel(f);
	struct thread *t = kernel ? kernel_thread(f) : user_thread_of(j, f);
	enum call_event what = kernel && t && !t->idle ? f->cls->call : CALL_EVENT_NONE;
	if (what == CALL_EVENT_NONE)
		on_other(j, f, t, kernel);
	else if (what == CALL_EVENT_ENTRY)
		on_entry(j, f, t);
	else
		on_exit_call(j, f, t);
}

static void release_thread(struct thread *t, void *names)
{
	names_forget_thread(names, t);
}

/* Frees threads that ended and have no call in progress. */
static void forget_threads(struct calllog *j, int64_t before)
{
	struct slice *s = j->s;
	if (!thread_slots_are_due(s))
		return;
	g_autofree guint8 *used = thread_slots_mark_used(s);
	for (guint i = 0; i < s->threads->len; i++)
		used[i] |= call_of(j, i) != NULL;
	thread_slots_free_ended(s, used, before, release_thread, j->names);
}

/* Frees what only lines before now needed. */
static void forget(struct calllog *j)
{
	g_autoptr(GArray) needed = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct names *names = current_names(j);
	j->forgot_at = j->s->seq;
	slice_drop_seconds(j->s);
	losses_forget(&j->s->losses, j->now - LATE_AFTER_NS);
	if (names_may_forget(names))
		names_forget(names, needed);
	forget_threads(j, j->now - LATE_AFTER_NS);
}

void calllog_feed(struct calllog *j, const struct blk_tables *tables, const struct blk_event *ev,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		j->now = MAX(j->now, ev[i].ts);
		if (ev[i].row == BLK_ROW_LOST_BEGIN || ev[i].row == BLK_ROW_LOST_END) {
			slice_feed(j->s, tables, NULL, 0);
			on_loss(j, &ev[i]);
		}
		slice_feed(j->s, tables, &ev[i], 1);
	}
	if (j->s->seq - j->forgot_at > FORGET_EVERY)
		forget(j);
}

static int by_entry(gconstpointer a, gconstpointer b)
{
	const struct calllog_line *x = *(struct calllog_line *const *)a;
	const struct calllog_line *y = *(struct calllog_line *const *)b;
	return x->ts != y->ts ? (x->ts < y->ts ? -1 : 1) : x->seq < y->seq ? -1 : x->seq > y->seq;
}

GPtrArray *calllog_open_calls(struct calllog *j)
{
	GPtrArray *open = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
	for (guint i = 0; i < j->calls->len; i++)
		if (j->calls->pdata[i])
			g_ptr_array_add(open, calllog_line_ref(j->calls->pdata[i]));
	g_ptr_array_sort(open, by_entry);
	return open;
}

void calllog_finish(struct calllog *j)
{
	g_autoptr(GPtrArray) open = calllog_open_calls(j);
	PTR_EACH(struct calllog_line, l, open) {
		if (l->emitted) {		/* the entry is before the range, or was emitted as pending */
			struct calllog_line *end = copy_line(l);
			end->state = LINE_UNFINISHED;
			end->ts = MIN(MAX(j->now, j->o.from_ns), j->o.to_ns - 1);
			put(j, end);
		} else {
			l->state = LINE_UNFINISHED;
		}
	}
	g_ptr_array_set_size(j->calls, 0);
	flush(j);
}

/* ---- current state ---- */

/* The newest host of that name: each boot is a separate host. */
static uint32_t host_named(const struct calllog *j, const char *name)
{
	for (guint i = j->s->hosts->len; i > 0; i--)
		if (!strcmp(host_name(j, i - 1), name))
			return i - 1;
	return ID_NONE;
}

GArray *calllog_open_fds(struct calllog *j, const char *host, int32_t pid)
{
	GArray *all = fds_new();
	uint32_t process = names_process_of_pid(current_names(j), host_named(j, host), pid);
	if (process == ID_NONE || names_process_info(j->names, process)->exit_ns != TIME_UNKNOWN)
		return all;
	g_autoptr(GArray) open = names_open_files(j->names, process, j->s->seq);
	ARRAY_EACH(const struct fd_open, o, open) {
		struct calllog_fd fd = { o->fd, file_name(j, o->file) };
		g_array_append_val(all, fd);
	}
	return all;
}

static int by_cpu(gconstpointer a, gconstpointer b)
{
	const struct calllog_cpu *x = a, *y = b;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

void calllog_all_cpus(struct calllog *j, const char *host, GArray *ret)
{
	uint32_t number = host_named(j, host);
	for (guint i = 0; i < j->s->cpus->len; i++) {
		struct cpu *c = cpu_at(j->s, i);
		const struct thread *t = cpu_task(j->s, c);
		if (c->host != number || c->number == UINT32_MAX)
			continue;
		bool known = t && (t->idle || t->tid > 0);
		struct calllog_cpu cpu = { c->number, known ? t->task_tid : -1,
			known && t->name_last ? string_at(j, t->name_last) : NULL };
		g_array_append_val(ret, cpu);
	}
	g_array_sort(ret, by_cpu);
}
