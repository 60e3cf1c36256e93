/* SPDX-License-Identifier: GPL-2.0-only */
/* Records to lines: who runs where, calls from entry to exit, what waits for its turn. */
#include "state/journal_fds.h"
#include "state/journal_window.h"

#include "base/call_event.h"
#include "base/fields.h"

#include <string.h>

#define DEFAULT_HOLD 4096
#define DEFAULT_HOLD_NS 1000000000

enum what {
	EVENT_PLAIN, EVENT_ENTRY, EVENT_EXIT, EVENT_EXIT_ANY,
	EVENT_SWITCH, EVENT_FORK, EVENT_EXEC, EVENT_FREE, EVENT_DUMP_PROCESS, EVENT_DUMP_FD,
};

struct class_info {
	uint8_t what;			/* enum what */
	GRefString *name;		/* of the call, or of the event */
};

struct jthread {
	int64_t key;			/* host, tid */
	uint32_t host;
	int32_t tid, pid;		/* pid -1: not known */
	GRefString *comm;		/* or NULL */
	uint32_t cpu;			/* it runs there; UINT32_MAX: nowhere, or not known */
	struct journal_line *call;	/* in progress, or NULL */
	bool told;			/* its entry was told, or lies before the range */
};

struct jcpu { uint64_t key; int32_t tid; };	/* tid -1: not known */

struct jstream { uint32_t host, cpu; uint8_t domain; bool lost; const struct blk_stream *info; };

struct journal {
	struct journal_options o;
	journal_tell tell;
	void *data;
	const struct blk_tables *tables;
	GArray *streams;		/* struct jstream, of this source */
	GPtrArray *classes;		/* struct class_info *, of this source */
	GPtrArray *hosts;		/* GRefString * */
	GHashTable *threads;		/* by key; owned */
	GHashTable *cpus;		/* struct jcpu, by key */
	GHashTable *dumped;		/* "host:address" -> process key (int64_t) */
	struct jfds *fds;
	GQueue queue;			/* lines held back, by .seq */
	unsigned n_lost;		/* streams in a loss */
	uint64_t seq;
	int64_t now;
	GRefString *nobody, *loss;
};

static void thread_free(void *p)
{
	struct jthread *t = p;
	if (t->comm)
		g_ref_string_release(t->comm);
	journal_line_unref(t->call);
	g_free(t);
}

static void class_free(void *p)
{
	struct class_info *c = p;
	if (c)
		g_ref_string_release(c->name);
	g_free(c);
}

static void text_free(void *p)
{
	g_ref_string_release(p);
}

struct journal *journal_new(const struct journal_options *options, journal_tell tell, void *data)
{
	struct journal *j = g_new0(struct journal, 1);
	j->o = *options;
	j->o.hold = options->hold ? options->hold : DEFAULT_HOLD;
	j->o.hold_ns = options->hold_ns ? options->hold_ns : DEFAULT_HOLD_NS;
	j->tell = tell;
	j->data = data;
	j->streams = g_array_new(FALSE, TRUE, sizeof(struct jstream));
	j->classes = g_ptr_array_new_with_free_func(class_free);
	j->hosts = g_ptr_array_new_with_free_func(text_free);
	j->threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, thread_free);
	j->cpus = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	j->dumped = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	j->fds = jfds_new();
	j->nobody = g_ref_string_new("");
	j->loss = g_ref_string_new("lost");
	g_queue_init(&j->queue);
	return j;
}

void journal_free(struct journal *j)
{
	if (!j)
		return;
	g_queue_clear_full(&j->queue, (GDestroyNotify)journal_line_unref);
	g_array_unref(j->streams);
	g_ptr_array_unref(j->classes);
	g_ptr_array_unref(j->hosts);
	g_hash_table_unref(j->threads);
	g_hash_table_unref(j->cpus);
	g_hash_table_unref(j->dumped);
	jfds_free(j->fds);
	g_ref_string_release(j->nobody);
	g_ref_string_release(j->loss);
	g_free(j);
}

void journal_change_source(struct journal *j)
{
	g_array_set_size(j->streams, 0);
	g_ptr_array_set_size(j->classes, 0);
	j->n_lost = 0;
	j->tables = NULL;
}

/* ---- what records refer to ---- */

static uint32_t host_number(struct journal *j, const char *name)
{
	for (guint i = 0; i < j->hosts->len; i++)
		if (!strcmp(j->hosts->pdata[i], name))
			return i;
	g_ptr_array_add(j->hosts, g_ref_string_new(name));
	return j->hosts->len - 1;
}

static struct jstream read_stream(struct journal *j, unsigned i)
{
	const struct blk_stream *s = blk_stream(j->tables, i);
	return (struct jstream){
		.host = host_number(j, blk_host(j->tables, s->host)->name), .cpu = s->cpu,
		.domain = s->domain, .info = s,
		.lost = i < j->streams->len && g_array_index(j->streams, struct jstream, i).lost,
	};
}

static struct jstream *stream_of(struct journal *j, unsigned i)
{
	while (j->streams->len <= i) {
		struct jstream mine = read_stream(j, j->streams->len);
		g_array_append_val(j->streams, mine);
	}
	return &g_array_index(j->streams, struct jstream, i);
}

static void classify(struct class_info *c, const char *name)
{
	static const enum what of_call[] = {
		[CALL_EVENT_NONE] = EVENT_PLAIN, [CALL_EVENT_ENTRY] = EVENT_ENTRY,
		[CALL_EVENT_EXIT] = EVENT_EXIT, [CALL_EVENT_EXIT_NAMELESS] = EVENT_EXIT_ANY,
	};
	static const struct { const char *name; enum what what; } known[] = {
		{ "sched_switch", EVENT_SWITCH },
		{ "sched_process_fork", EVENT_FORK }, { "sched_process_exec", EVENT_EXEC },
		{ "sched_process_free", EVENT_FREE },
		{ "lttng_statedump_process_state", EVENT_DUMP_PROCESS },
		{ "lttng_statedump_file_descriptor", EVENT_DUMP_FD },
	};
	const char *call;
	c->what = of_call[call_event_of(name, &call)];
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (!strcmp(name, known[i].name))
			c->what = known[i].what;
	c->name = g_ref_string_new(call);
}

static struct class_info *class_of(struct journal *j, uint32_t i)
{
	if (i >= j->classes->len)
		g_ptr_array_set_size(j->classes, i + 1);
	if (!j->classes->pdata[i]) {
		struct class_info *c = g_new0(struct class_info, 1);
		classify(c, blk_class(j->tables, i)->name);
		j->classes->pdata[i] = c;
	}
	return j->classes->pdata[i];
}

static struct jthread *thread_of(struct journal *j, uint32_t host, int32_t tid)
{
	int64_t key = (int64_t)((uint64_t)host << 32 | (uint32_t)tid);
	struct jthread *t = g_hash_table_lookup(j->threads, &key);
	if (t)
		return t;
	t = g_new0(struct jthread, 1);
	*t = (struct jthread){ .key = key, .host = host, .tid = tid, .pid = -1, .cpu = UINT32_MAX };
	g_hash_table_insert(j->threads, &t->key, t);
	return t;
}

static struct jcpu *cpu_of(struct journal *j, uint32_t host, uint32_t cpu)
{
	uint64_t key = (uint64_t)host << 32 | cpu;
	struct jcpu *c = g_hash_table_lookup(j->cpus, &key);
	if (c)
		return c;
	c = g_new0(struct jcpu, 1);
	*c = (struct jcpu){ key, -1 };
	g_hash_table_insert(j->cpus, &c->key, c);
	return c;
}

static int64_t process_of(const struct jthread *t)
{
	return jfds_key(t->host, t->tid, t->pid);
}

static void rename_thread(struct jthread *t, const char *text, size_t len)
{
	if (t->comm && strlen(t->comm) == len && !memcmp(t->comm, text, len))
		return;
	if (t->comm)
		g_ref_string_release(t->comm);
	t->comm = g_ref_string_new_len(text, (gssize)len);
}

/* ---- lines ---- */

static void tell(struct journal *j, struct journal_line *l)
{
	if (l->ts >= j->o.from_ns && l->ts < j->o.to_ns)
		j->tell(j->data, l);
	else
		journal_line_unref(l);
}

static bool is_waiting(const struct journal_line *l)
{
	return l->kind == JOURNAL_CALL && l->state == LINE_PENDING;
}

static struct journal_line *copy_line(const struct journal_line *l)
{
	struct journal_line *c = g_memdup2(l, sizeof *l);
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

/* Told as pending; the thread has the call itself until it comes back. */
static void tell_pending(struct journal *j, struct journal_line *l)
{
	struct jthread *t = thread_of(j, host_number(j, l->host), l->tid);
	if (t->call == l)
		t->told = true;
	tell(j, copy_line(l));
	journal_line_unref(l);
}

/* What need not wait any longer. */
static void flush(struct journal *j)
{
	struct journal_line *l;
	while ((l = g_queue_peek_head(&j->queue))) {
		if (!is_waiting(l)) {
			tell(j, g_queue_pop_head(&j->queue));
			continue;
		}
		if (j->queue.length <= j->o.hold && j->now - l->ts <= j->o.hold_ns)
			return;
		tell_pending(j, g_queue_pop_head(&j->queue));
	}
}

/* In its turn; takes the line over. */
static void put(struct journal *j, struct journal_line *l)
{
	l->seq = ++j->seq;
	if (l->ts < j->o.from_ns) {
		journal_line_unref(l);
		return;
	}
	g_queue_push_tail(&j->queue, l);
	flush(j);
}

static struct journal_line *line_new(struct journal *j, enum journal_kind kind, int64_t ts,
				     const struct jstream *s, const char *name)
{
	struct journal_line *l = g_new0(struct journal_line, 1);
	g_atomic_ref_count_init(&l->refs);
	l->kind = kind;
	l->cpu = s->cpu;
	l->tid = l->pid = -1;
	l->ts = ts;
	l->entry_ns = l->exit_ns = JOURNAL_UNKNOWN;
	l->name = g_ref_string_acquire((char *)name);
	l->comm = g_ref_string_acquire(j->nobody);
	l->host = g_ref_string_acquire(j->hosts->pdata[s->host]);
	return l;
}

static void fd_clear(void *p)
{
	g_ref_string_release(((struct journal_fd *)p)->name);
}

/* The names of all descriptors among the fields, as they are now. */
static void name_fds(struct journal *j, struct journal_line *l, int64_t process, GBytes *run)
{
	gsize n;
	const void *bytes = g_bytes_get_data(run, &n);
	struct fields_cursor c = fields_of(bytes, n);
	struct field f;
	while (fields_next(&c, &f)) {
		if (f.scope != FIELD_PAYLOAD || f.kind > FIELD_UNSIGNED || !journal_is_fd(f.name))
			continue;
		GRefString *name = jfds_name(j->fds, process, (int32_t)f.value);
		struct journal_fd fd = { (int32_t)f.value, name };
		if (!name || journal_line_fd(l, fd.fd))
			continue;
		if (!l->fds) {
			l->fds = g_array_new(FALSE, FALSE, sizeof fd);
			g_array_set_clear_func(l->fds, fd_clear);
		}
		g_ref_string_acquire(name);
		g_array_append_val(l->fds, fd);
	}
}

static void set_thread(struct journal_line *l, const struct jthread *t, const struct blk_event *e)
{
	if (t) {
		l->tid = t->tid;
		l->pid = t->pid;
	}
	struct blk_text comm = blk_text(e, BLK_CTX_PROCNAME);
	if (!comm.len && t && t->comm)
		comm = (struct blk_text){ t->comm, (uint32_t)strlen(t->comm) };
	if (comm.len) {
		g_ref_string_release(l->comm);
		l->comm = g_ref_string_new_len(comm.str, comm.len);
	}
}

/* What buffers per process tell of whose they are, and a process of which no thread is told. */
static void set_registered(struct journal_line *l, const struct jstream *s, const struct blk_event *e)
{
	if (l->tid < 0)
		l->pid = (int32_t)blk_int_or(e, BLK_CTX_VPID, s->info->vpid);
	bool is_whole = l->tid < 0 || l->tid == l->pid;
	if (*l->comm || !is_whole || !s->info->vpid_procname || l->pid != s->info->vpid)
		return;
	g_ref_string_release(l->comm);
	l->comm = g_ref_string_new(s->info->vpid_procname);
}

static GBytes *run_of(const struct blk_event *e)
{
	struct blk_text run = blk_text(e, BLK_FIELD0);
	return g_bytes_new(run.str, run.len);
}

/* ---- calls ---- */

/* The call will never be seen to come back. */
static void give_up(struct journal *j, struct jthread *t, bool lost)
{
	struct journal_line *l = g_steal_pointer(&t->call);
	if (!l)
		return;
	l->lost = lost;
	l->state = LINE_UNFINISHED;
	if (t->told && l->ts >= j->o.from_ns) {	/* it is not in the queue any more */
		l->ts = j->now;
		put(j, l);
		return;
	}
	journal_line_unref(l);			/* the queue has it, or nobody wants it */
	flush(j);
}

static int64_t field_int(const struct blk_event *e, const char *name, int64_t absent)
{
	struct blk_text run = blk_text(e, BLK_FIELD0);
	struct field f;
	return fields_find(run.str, run.len, FIELD_PAYLOAD, name, &f) && f.kind <= FIELD_UNSIGNED
		? (int64_t)f.value : absent;
}

/* What lttng-modules does not know by name has a number: a new string. */
static GRefString *call_name(const struct class_info *c, const struct blk_event *e)
{
	char text[32];
	int64_t id = strcmp(c->name, "unknown") ? -1 : field_int(e, "id", -1);
	if (id < 0)
		return g_ref_string_acquire(c->name);
	g_snprintf(text, sizeof text, "syscall_%" G_GINT64_FORMAT, id);
	const char *name = call_name_by_number(id);
	return g_ref_string_new(name ? name : text);
}

static void on_entry(struct journal *j, const struct jstream *s, struct jthread *t,
		     const struct class_info *c, const struct blk_event *e)
{
	GRefString *name = call_name(c, e);
	struct journal_line *l = line_new(j, JOURNAL_CALL, e->ts, s, name);
	const struct call_info *info = call_info(name);
	g_ref_string_release(name);
	give_up(j, t, false);
	l->state = info->no_exit ? LINE_NO_RETURN : LINE_PENDING;
	l->entry_ns = e->ts;
	l->args = run_of(e);
	set_thread(l, t, e);
	name_fds(j, l, process_of(t), l->args);
	if (info->fdop == FDOP_CLOSE)
		jfds_close(j->fds, process_of(t), l->args);
	if (!info->no_exit) {
		t->call = journal_line_ref(l);
		t->told = e->ts < j->o.from_ns;
	}
	put(j, l);
}

static bool read_ret(const struct blk_event *e, int64_t *ret)
{
	struct blk_text run = blk_text(e, BLK_FIELD0);
	struct field f;
	if (!fields_find(run.str, run.len, FIELD_PAYLOAD, "ret", &f) || f.kind > FIELD_UNSIGNED)
		return false;
	*ret = (int64_t)f.value;
	return true;
}

static void finish_call(struct journal *j, struct jthread *t, struct journal_line *l,
			const struct blk_event *e)
{
	l->exit_ns = e->ts;
	l->results = run_of(e);
	l->has_ret = read_ret(e, &l->ret);
	const struct call_info *info = call_info(l->name);
	if (!l->has_ret)
		return;
	jfds_call(j->fds, process_of(t), info, l->args, l->results, l->ret);
	bool makes = info->fdop == FDOP_ACCEPT || info->fdop == FDOP_DUP || info->fdop == FDOP_DUP2;
	GRefString *name = makes && l->ret >= 0 ? jfds_name(j->fds, process_of(t), l->ret) : NULL;
	if (name)
		l->ret_name = g_ref_string_acquire(name);
}

static void on_exit_call(struct journal *j, const struct jstream *s, struct jthread *t,
			 const struct class_info *c, const struct blk_event *e)
{
	struct journal_line *l = t->call;
	GRefString *name = call_name(c, e);
	if (l && c->what == EVENT_EXIT && strcmp(l->name, name)) {
		give_up(j, t, false);
		l = NULL;
	}
	if (l) {
		t->call = NULL;
		finish_call(j, t, l, e);
		l->state = t->told ? LINE_RESUMED : LINE_WHOLE;
		if (t->told) {
			l->ts = e->ts;
			put(j, l);
		} else {
			journal_line_unref(l);
			flush(j);
		}
		g_ref_string_release(name);
		return;
	}
	l = line_new(j, JOURNAL_CALL, e->ts, s, name);
	g_ref_string_release(name);
	l->state = LINE_EXIT;
	set_thread(l, t, e);
	finish_call(j, t, l, e);
	put(j, l);
}

/* ---- threads ---- */

static struct blk_text field_text(const struct blk_event *e, const char *name)
{
	struct blk_text run = blk_text(e, BLK_FIELD0);
	struct field f;
	if (fields_find(run.str, run.len, FIELD_PAYLOAD, name, &f) && f.kind == FIELD_TEXT)
		return (struct blk_text){ f.text, f.len };
	return (struct blk_text){ "", 0 };
}

static void runs_on(struct journal *j, const struct jstream *s, int32_t tid)
{
	struct jcpu *c = cpu_of(j, s->host, s->cpu);
	if (s->cpu == UINT32_MAX || c->tid == tid)
		return;
	if (c->tid > 0)
		thread_of(j, s->host, c->tid)->cpu = UINT32_MAX;
	c->tid = tid;
	if (tid > 0)
		thread_of(j, s->host, tid)->cpu = s->cpu;
}

static void on_switch(struct journal *j, const struct jstream *s, const struct blk_event *e)
{
	struct blk_text comm = field_text(e, "next_comm");
	int32_t prev = (int32_t)field_int(e, "prev_tid", -1);
	int32_t next = (int32_t)field_int(e, "next_tid", -1);
	/* What happens to it elsewhere may be lost. */
	if (prev > 0 && j->n_lost)
		give_up(j, thread_of(j, s->host, prev), true);
	runs_on(j, s, next);
	if (next > 0 && comm.len)
		rename_thread(thread_of(j, s->host, next), comm.str, comm.len);
}

static void set_process(struct journal *j, struct jthread *t, int32_t pid)
{
	if (pid >= 0 && t->tid > 0)
		t->pid = pid;
	(void)j;
}

static void on_fork(struct journal *j, const struct jstream *s, const struct blk_event *e)
{
	int32_t tid = (int32_t)field_int(e, "child_tid", -1), pid = (int32_t)field_int(e, "child_pid", -1);
	int32_t parent_tid = (int32_t)field_int(e, "parent_tid", -1);
	struct blk_text comm = field_text(e, "child_comm");
	if (tid <= 0)
		return;
	struct jthread *parent = thread_of(j, s->host, parent_tid);
	set_process(j, parent, (int32_t)field_int(e, "parent_pid", -1));
	struct jthread *t = thread_of(j, s->host, tid);
	give_up(j, t, false);		/* an older one of that number */
	t->pid = -1;
	set_process(j, t, pid >= 0 ? pid : tid);
	if (comm.len)
		rename_thread(t, comm.str, comm.len);
	if (t->pid == tid)
		jfds_fork(j->fds, process_of(parent), process_of(t));
}

static void on_exec(struct journal *j, const struct jstream *s, const struct blk_event *e)
{
	struct blk_text path = field_text(e, "filename");
	int32_t tid = (int32_t)field_int(e, "tid", -1);
	const char *slash = path.len ? g_strrstr_len(path.str, path.len, "/") : NULL;
	const char *name = slash ? slash + 1 : path.str;
	size_t len = MIN((size_t)(path.str + path.len - name), 15);
	if (tid > 0 && len)
		rename_thread(thread_of(j, s->host, tid), name, len);
}

static void on_free(struct journal *j, const struct jstream *s, const struct blk_event *e)
{
	int32_t tid = (int32_t)field_int(e, "tid", -1);
	int64_t key = (int64_t)((uint64_t)s->host << 32 | (uint32_t)tid);
	struct jthread *t = tid > 0 ? g_hash_table_lookup(j->threads, &key) : NULL;
	if (!t)
		return;
	give_up(j, t, false);
	if (t->pid == tid || t->pid < 0)
		jfds_drop(j->fds, process_of(t));
	if (t->cpu != UINT32_MAX)
		cpu_of(j, t->host, t->cpu)->tid = -1;
	g_hash_table_remove(j->threads, &key);
}

static char *dump_key(const struct jstream *s, int64_t address)
{
	return g_strdup_printf("%u:%" G_GINT64_MODIFIER "x", s->host, (uint64_t)address);
}

static void on_dump_process(struct journal *j, const struct jstream *s, const struct blk_event *e)
{
	int32_t tid = (int32_t)field_int(e, "tid", -1), pid = (int32_t)field_int(e, "pid", -1);
	struct blk_text name = field_text(e, "name");
	int64_t address = field_int(e, "file_table_address", field_int(e, "files", 0));
	if (tid <= 0)
		return;
	struct jthread *t = thread_of(j, s->host, tid);
	set_process(j, t, pid);
	if (name.len)
		rename_thread(t, name.str, name.len);
	int64_t process = process_of(t);
	if (address)
		g_hash_table_replace(j->dumped, dump_key(s, address),
				     g_memdup2(&process, sizeof process));
}

static void on_dump_fd(struct journal *j, const struct jstream *s, const struct blk_event *e)
{
	int64_t address = field_int(e, "file_table_address", field_int(e, "files", 0));
	int32_t pid = (int32_t)field_int(e, "pid", -1);
	struct blk_text path = field_text(e, "filename");
	g_autofree char *name = g_strndup(path.str, path.len), *key = dump_key(s, address);
	int64_t fd = field_int(e, "fd", -1), process = jfds_key(s->host, -1, pid);
	const int64_t *dumped = address ? g_hash_table_lookup(j->dumped, key) : NULL;
	if (dumped)
		process = *dumped;
	else if (pid < 0)
		return;
	/* A call has told more than the dump, which shows "socket:[1234]". */
	GRefString *known = jfds_name(j->fds, process, fd);
	if (path.len && !(known && g_str_has_prefix(known, "socket")))
		jfds_set(j->fds, process, fd, name, field_int(e, "flags", 0) & 02000000);
}

/* ---- losses ---- */

static void begin_lost(struct journal *j, struct jstream *s)
{
	GHashTableIter iter;
	void *each;
	if (s->lost || s->domain != BLK_DOMAIN_KERNEL)
		return;
	s->lost = true;
	j->n_lost++;
	/* A call goes on only where it is sure that its thread stayed on another CPU. */
	g_autoptr(GPtrArray) broken = g_ptr_array_new();
	g_hash_table_iter_init(&iter, j->threads);
	while (g_hash_table_iter_next(&iter, NULL, &each)) {
		struct jthread *t = each;
		if (t->call && t->host == s->host && (t->cpu == UINT32_MAX || t->cpu == s->cpu))
			g_ptr_array_add(broken, t);
	}
	for (guint i = 0; i < broken->len; i++)
		give_up(j, broken->pdata[i], true);
	runs_on(j, s, -1);
}

static void on_loss(struct journal *j, struct jstream *s, const struct blk_event *e)
{
	if (e->row == BLK_ROW_LOST_END) {
		j->n_lost -= s->lost;
		s->lost = false;
		return;
	}
	struct journal_line *l = line_new(j, JOURNAL_LOSS, e->ts, s, j->loss);
	memcpy(&l->loss, e->data, sizeof l->loss);
	begin_lost(j, s);
	put(j, l);
}

void journal_begin_lost(struct journal *j, const struct blk_tables *tables, unsigned stream)
{
	j->tables = tables;
	begin_lost(j, stream_of(j, stream));
}

/* ---- records ---- */

/* Who runs this: as the event says, else who the CPU was switched to. */
static struct jthread *who(struct journal *j, const struct jstream *s, const struct blk_event *e)
{
	int32_t on_cpu = s->cpu == UINT32_MAX ? -1 : cpu_of(j, s->host, s->cpu)->tid;
	int64_t tid = blk_int_or(e, BLK_CTX_TID, -1), pid = blk_int_or(e, BLK_CTX_PID, -1);
	if (s->domain == BLK_DOMAIN_KERNEL && tid >= 0)
		runs_on(j, s, (int32_t)tid);
	else if (s->domain == BLK_DOMAIN_KERNEL)
		tid = on_cpu;
	if (s->domain != BLK_DOMAIN_KERNEL) {
		int64_t vtid = blk_int_or(e, BLK_CTX_VTID, tid);
		pid = blk_int_or(e, BLK_CTX_VPID, pid >= 0 ? pid : s->info->vpid);
		tid = on_cpu > 0 ? on_cpu : vtid;
		if (tid != vtid)
			pid = -1;	/* numbers of another namespace */
	}
	if (tid < 0)
		return NULL;
	struct jthread *t = thread_of(j, s->host, (int32_t)tid);
	if (pid >= 0 && (s->domain == BLK_DOMAIN_KERNEL || t->pid < 0))
		set_process(j, t, (int32_t)pid);
	return t;
}

static void on_event(struct journal *j, const struct blk_event *e)
{
	struct jstream *s = stream_of(j, e->stream);
	const struct class_info *c = class_of(j, e->cls);
	struct jthread *t = who(j, s, e);
	bool kernel = s->domain == BLK_DOMAIN_KERNEL;
	if (kernel && t && c->what == EVENT_ENTRY) {
		on_entry(j, s, t, c, e);
		return;
	}
	if (kernel && t && (c->what == EVENT_EXIT || c->what == EVENT_EXIT_ANY)) {
		on_exit_call(j, s, t, c, e);
		return;
	}
	if (e->ts >= j->o.from_ns) {
		struct journal_line *l = line_new(j, kernel ? JOURNAL_EVENT : JOURNAL_USER, e->ts, s,
						  c->name);
		l->args = run_of(e);
		set_thread(l, t, e);
		if (!kernel)
			set_registered(l, s, e);
		put(j, l);
	}
	static void (*const learn[])(struct journal *j, const struct jstream *s,
				     const struct blk_event *e) = {
		[EVENT_SWITCH] = on_switch, [EVENT_FORK] = on_fork, [EVENT_EXEC] = on_exec,
		[EVENT_FREE] = on_free, [EVENT_DUMP_PROCESS] = on_dump_process,
		[EVENT_DUMP_FD] = on_dump_fd,
	};
	if (kernel && c->what < G_N_ELEMENTS(learn) && learn[c->what])
		learn[c->what](j, s, e);
}

void journal_feed(struct journal *j, const struct blk_tables *tables, const struct blk_event *ev,
		  size_t n)
{
	j->tables = tables;
	for (size_t i = 0; i < n; i++) {
		j->now = MAX(j->now, ev[i].ts);
		if (ev[i].row < BLK_ROW_FIRST_PSEUDO)
			on_event(j, &ev[i]);
		else if (ev[i].row == BLK_ROW_LOST_BEGIN || ev[i].row == BLK_ROW_LOST_END)
			on_loss(j, stream_of(j, ev[i].stream), &ev[i]);
		else if (ev[i].row == BLK_ROW_STREAM_ADD)	/* the number may have been another's */
			*stream_of(j, ev[i].stream) = read_stream(j, ev[i].stream);
	}
}

static int by_entry(gconstpointer a, gconstpointer b)
{
	const struct journal_line *x = *(struct journal_line *const *)a;
	const struct journal_line *y = *(struct journal_line *const *)b;
	return x->ts != y->ts ? (x->ts < y->ts ? -1 : 1) : x->seq < y->seq ? -1 : x->seq > y->seq;
}

GPtrArray *journal_open_calls(struct journal *j)
{
	GPtrArray *open = g_ptr_array_new_with_free_func((GDestroyNotify)journal_line_unref);
	GHashTableIter iter;
	void *each;
	g_hash_table_iter_init(&iter, j->threads);
	while (g_hash_table_iter_next(&iter, NULL, &each))
		if (((struct jthread *)each)->call)
			g_ptr_array_add(open, journal_line_ref(((struct jthread *)each)->call));
	g_ptr_array_sort(open, by_entry);
	return open;
}

void journal_finish(struct journal *j)
{
	g_autoptr(GPtrArray) open = journal_open_calls(j);
	for (guint i = 0; i < open->len; i++) {
		struct journal_line *l = open->pdata[i];
		struct jthread *t = thread_of(j, host_number(j, l->host), l->tid);
		if (t->told) {		/* before the range, or as pending */
			struct journal_line *end = copy_line(l);
			end->state = LINE_UNFINISHED;
			end->ts = MIN(MAX(j->now, j->o.from_ns), j->o.to_ns - 1);
			put(j, end);
		} else {
			l->state = LINE_UNFINISHED;
		}
		g_clear_pointer(&t->call, journal_line_unref);
	}
	flush(j);
}

/* ---- as it is now ---- */

GArray *journal_open_fds(struct journal *j, const char *host, int32_t pid)
{
	return jfds_all(j->fds, jfds_key(host_number(j, host), -1, pid));
}

static int by_cpu(gconstpointer a, gconstpointer b)
{
	const struct journal_cpu *x = a, *y = b;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

void journal_all_cpus(struct journal *j, const char *host, GArray *ret)
{
	uint32_t number = host_number(j, host);
	GHashTableIter iter;
	void *each;
	g_hash_table_iter_init(&iter, j->cpus);
	while (g_hash_table_iter_next(&iter, NULL, &each)) {
		const struct jcpu *c = each;
		if (c->key >> 32 != number)
			continue;
		const struct jthread *t = c->tid > 0 ? thread_of(j, number, c->tid) : NULL;
		struct journal_cpu cpu = { (uint32_t)c->key, c->tid,
			t && t->comm ? g_ref_string_acquire(t->comm) : NULL };
		g_array_append_val(ret, cpu);
	}
	g_array_sort(ret, by_cpu);
}
