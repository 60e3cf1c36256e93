/* SPDX-License-Identifier: GPL-2.0-only */
/* Applies facts to threads, processes, files and descriptor tables, and answers queries; see names.h. */
#include "base/each.h"
#include "base/sort.h"
#include "state/kernel/contexts.h"
#include "state/kernel/facts.h"
#include "state/kernel/slice_state.h"
#include "state/names/names_private.h"
#include "state/store/container.h"

#include <sched.h>
#include <stdio.h>

#define KTHREADD 2		/* the pid of the parent of kernel threads */

/* ---- files: each host, kind and path has one number ---- */

static guint file_hash(gconstpointer p)
{
	const struct file_info *f = p;
	return f->host * 31u + f->kind * 7u + f->path * 2654435761u;
}

static gboolean file_equal(gconstpointer a, gconstpointer b)
{
	const struct file_info *x = a, *y = b;
	return x->host == y->host && x->kind == y->kind && x->path == y->path;
}

GHashTable *names_file_ids_new(void)
{
	return g_hash_table_new_full(file_hash, file_equal, g_free, NULL);
}

uint32_t names_file_id(struct names *n, uint32_t host, enum file_kind kind, uint32_t path)
{
	struct file_info f = { .host = host, .kind = kind, .path = path };
	gpointer have = g_hash_table_lookup(n->file_ids, &f);
	if (have)
		return GPOINTER_TO_UINT(have) - 1;
	g_array_append_val(n->files, f);
	struct file_info *key = g_new(struct file_info, 1);
	*key = f;
	g_hash_table_insert(n->file_ids, key, GUINT_TO_POINTER(n->files->len));
	g_assert(g_hash_table_size(n->file_ids) == n->files->len);
	return n->files->len - 1;
}

enum file_kind names_kind_of_path(const char *path, enum file_kind otherwise)
{
	static const struct { const char *prefix; enum file_kind kind; } kinds[] = {
		{ "socket:", FILE_SOCKET }, { "pipe:", FILE_PIPE }, { "anon_inode:", FILE_EVENT },
		{ "/dev/tty", FILE_TTY }, { "/dev/pts/", FILE_TTY }, { "/dev/console", FILE_TTY },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (*path == *kinds[i].prefix && g_str_has_prefix(path, kinds[i].prefix))
			return kinds[i].kind;
	return *path ? otherwise : FILE_UNKNOWN;
}

enum part names_part_of(enum file_kind kind)
{
	static const uint8_t part[FILE_KIND_N] = {
		[FILE_UNKNOWN] = PART_OTHER, [FILE_REGULAR] = PART_DISK, [FILE_SOCKET] = PART_SOCKET,
		[FILE_PIPE] = PART_PIPE, [FILE_EVENT] = PART_OTHER, [FILE_TTY] = PART_OTHER,
		[FILE_OTHER] = PART_OTHER,
	};
	g_assert((unsigned)kind < FILE_KIND_N);
	return part[kind];
}

/* Of event descriptors that are not like an eventfd. Paths are those of call_info.makes, or of anonymous inodes. */
static enum call_wait wait_of_event(const char *path)
{
	static const struct { const char *name; enum call_wait wait; } events[] = {
		{ "timerfd", CALL_WAITS_EVENT }, { "signalfd", CALL_WAITS_EVENT }, { "notify", CALL_WAITS_EVENT },
		{ "perf_event", CALL_NO_WAIT }, { "memfd", CALL_NO_WAIT },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
		if (strstr(path, events[i].name))
			return events[i].wait;
	return CALL_WAITS_DATA;
}

enum call_wait names_wait_of(const struct names *n, uint32_t file)
{
	const struct file_info *f = names_file_info(n, file);
	switch (f->kind) {
	case FILE_REGULAR:
	case FILE_OTHER:
		return CALL_NO_WAIT;
	case FILE_UNKNOWN:
		return CALL_WAITS_UNKNOWN;
	case FILE_EVENT:
		return wait_of_event(strtab_get(n->s->strings, f->path));
	default:
		return CALL_WAITS_DATA;
	}
}

/* ---- namespaces, vpid and hostname of processes (contexts.h) ---- */

/* Is a FACT_CONTEXT about its thread? False if it is unknown which thread ran: before the kernel trace of the CPU
 * began, or if the event's own vtid differs. */
static bool context_applies(const struct slice *s, const struct fact *f)
{
	int32_t vtid = (int32_t)(f->c >> 32), tid;

	if (!f->flag)
		return true;
	tid = thread_at(s, thread_follow(s, f->thread))->tid;
	return cpu_at(s, (uint32_t)f->c)->kernel_from <= f->ts && (!vtid || tid == -1 || tid == vtid);
}

/* Applies a FACT_CONTEXT. False: nothing changed. */
static bool context_update(struct context_history *by, const struct fact *f)
{
	g_assert(f->a >= 0 && f->a < CONTEXT_N);
	uint32_t value = f->a == CONTEXT_HOSTNAME ? f->text : (uint32_t)f->b;

	if (by->is.value[f->a] == value)
		return false;
	by->is.value[f->a] = value;
	by->seq[f->a] = f->seq;
	return true;
}

/* Takes the latest value of each kind, from any thread of a process. */
static void context_merge(struct context_history *into, const struct context_history *also)
{
	for (unsigned k = 0; k < CONTEXT_N; k++) {
		if (!also->is.value[k] || (into->is.value[k] && into->seq[k] >= also->seq[k]))
			continue;
		into->is.value[k] = also->is.value[k];
		into->seq[k] = also->seq[k];
	}
}

/* Applies a FACT_NS. The state dump has one event for each level of nested pid namespaces, in either order: the
 * deepest level counts. */
static void process_ns_dump(struct process_ns *d, const struct fact *f, int32_t pid)
{
	g_assert(f->a >= 0 && f->a < NS_N);
	uint32_t *is = d->dumped.value;

	if (f->a == NS_PID && f->c >= 0) {
		if (is[NS_PID] && is[CONTEXT_VPID] && f->level < d->level)
			return;
		d->level = f->level;
		is[CONTEXT_VPID] = (uint32_t)f->c;
	}
	if (f->a == NS_PID && container_ns_is_first(NS_PID, (uint32_t)f->b))
		is[CONTEXT_VPID] = (uint32_t)pid;
	is[f->a] = (uint32_t)f->b;
}

/* The child inherits its parent's values; facts about the child itself come later. */
static void process_ns_fork(struct process_ns *child, const struct process_ns *parent)
{
	child->dumped = parent->dumped;
	contexts_join(&child->dumped, &parent->by_events.is);
	child->dumped.value[CONTEXT_VPID] = 0;
}

/* Sets .ns, .vpid, .hostname and .hostname_key of info. host: the machine's hostname. */
static void process_ns_resolve(const struct process_ns *d, struct process_info *info,
		     const struct strtab *strings, const char *host)
{
	struct contexts c = d->dumped;

	contexts_join(&c, &d->by_events.is);
	memcpy(info->ns, c.value, sizeof info->ns);
	info->vpid = c.value[CONTEXT_VPID] ? (int32_t)c.value[CONTEXT_VPID] : -1;
	info->hostname = c.value[CONTEXT_HOSTNAME];
	info->hostname_key = container_hostname_key(strtab_get(strings, info->hostname), host);
}

/* ---- threads and processes ---- */

static struct thread_identity *identity_new(struct names *n, uint32_t thread)
{
	g_assert(thread < n->s->threads->len);
	if (thread >= n->identities->len)
		g_ptr_array_set_size(n->identities, thread + 1);
	struct thread_identity *p = g_new0(struct thread_identity, 1);
	p->process = ID_NONE;
	g_ptr_array_index(n->identities, thread) = p;
	if (thread_at(n->s, thread)->tid == -1)
		g_array_append_val(n->anonymous, thread);
	return p;
}

/* NULL: the thread has none yet. `thread` is followed. */
static inline struct thread_identity *identity_at(const struct names *n, uint32_t thread)
{
	return thread < n->identities->len ? g_ptr_array_index(n->identities, thread) : NULL;
}

static inline struct thread_identity *identity_of(struct names *n, uint32_t thread)
{
	thread = thread_follow(n->s, thread);
	struct thread_identity *p = identity_at(n, thread);
	return p ? p : identity_new(n, thread);
}

static const struct thread_identity *find_identity(const struct names *n, uint32_t thread)
{
	return identity_at(n, thread_follow(n->s, thread));
}

void identity_free(gpointer data)
{
	struct thread_identity *p = data;
	if (!p)
		return;
	g_clear_pointer(&p->comms, g_array_unref);
	g_clear_pointer(&p->own_tables, g_array_unref);
	g_free(p);
}

/* See fdtable_new(). */
static GArray *losses_of(struct names *n, uint32_t host)
{
	while (n->losses->len <= host)
		g_ptr_array_add(n->losses, g_array_new(false, false, sizeof(uint64_t)));
	return g_ptr_array_index(n->losses, host);
}

static struct fdtable *table_new(struct names *n, uint32_t host)
{
	struct fdtable *t = fdtable_new(losses_of(n, host));
	g_ptr_array_add(n->all_tables, t);
	return t;
}

/* The one that is used at the event; NULL: none. */
static struct fdtable *table_since(const GArray *tables, uint64_t seq)
{
	for (guint i = tables ? tables->len : 0; i > 0; i--) {
		const struct table_since *t = &g_array_index(tables, struct table_since, i - 1);
		if (t->seq <= seq)
			return t->table;
	}
	return NULL;
}

static void use_table(GArray **tables, uint64_t seq, struct fdtable *table)
{
	struct table_since new = { seq, table };
	if (!*tables)
		*tables = g_array_new(false, false, sizeof new);
	guint at = (*tables)->len;
	while (at > 0 && g_array_index(*tables, struct table_since, at - 1).seq > seq)
		at--;
	g_array_insert_val(*tables, at, new);
}

static void disown_tables(GArray *tables)
{
	for (guint i = 0; tables && i < tables->len; i++)
		fdtable_disown(g_array_index(tables, struct table_since, i).table);
	if (tables)
		g_array_unref(tables);
}

static inline struct fdtable *process_table(const struct process *p, uint64_t seq)
{
	struct fdtable *t = p->tables ? table_since(p->tables, seq) : NULL;
	return t ? t : p->table;
}

/* The table that the thread used at the event. */
static inline struct fdtable *table_of(struct names *n, uint32_t thread, uint64_t seq)
{
	struct thread_identity *p = identity_of(n, thread);
	struct fdtable *own = p->own_tables ? table_since(p->own_tables, seq) : NULL;
	if (own)
		return own;
	if (p->process != ID_NONE)
		return process_table(names_process_at(n, p->process), seq);
	if (!p->table)
		p->table = table_new(n, thread_at(n->s, thread)->host);
	return p->table;
}

/* The thread gets a copy of the table that it shares. It ends a doubt, too, whether it shares it. */
static void unshare_table(struct names *n, uint32_t thread, uint64_t seq)
{
	struct fdtable *was = table_of(n, thread, seq), *copy = table_new(n, thread_at(n->s, thread)->host);
	fdtable_settle(was);
	fdtable_fork(copy, was, seq);
	use_table(&identity_of(n, thread)->own_tables, seq, copy);
}

/* After exec, the process has the table of the thread that called it, and shares it no longer. */
static void exec_table(struct names *n, uint32_t caller, uint32_t leader, uint64_t seq)
{
	struct fdtable *was = table_of(n, caller, seq), *is = was;
	struct thread_identity *p = identity_of(n, leader);
	fdtable_settle(was);
	if (fdtable_is_shared(was) || was != table_of(n, leader, seq) || p->own_tables) {
		bool known = p->process != ID_NONE;
		is = table_new(n, thread_at(n->s, leader)->host);
		fdtable_fork(is, was, seq ? seq - 1 : 0);
		use_table(known ? &names_process_at(n, p->process)->tables : &p->own_tables, seq, is);
		if (known && p->own_tables)
			use_table(&p->own_tables, seq, NULL);
	}
	fdtable_exec(is, seq);
}

static uint32_t process_new(struct names *n, uint32_t host, int32_t pid)
{
	uint32_t process = n->processes.n;
	*(struct process *)pages_put(&n->processes, process) = (struct process){
		.info = {
			.host = host, .pid = pid, .ppid = -1, .leader = ID_NONE, .vpid = -1,
			.start_ns = TIME_UNKNOWN, .exit_ns = TIME_UNKNOWN,
		},
		.lifetime = { .last_exit = TIME_UNKNOWN }, .table = table_new(n, host), .id = ID_NONE,
	};
	intmap_set(&n->pid_last, pair(host, (uint32_t)pid), process);
	return process;
}

/* The newest process with that pid; a new one, if there is none. */
static uint32_t process_of_pid(struct names *n, uint32_t host, int64_t pid)
{
	uint32_t process = intmap_get(&n->pid_last, pair(host, (uint32_t)pid));
	return process == INTMAP_NONE ? process_new(n, host, (int32_t)pid) : process;
}

static struct process_info *process_at(const struct names *n, uint32_t i)
{
	g_assert(names_process_at(n, i));	/* its threads keep it */
	return &names_process_at(n, i)->info;
}

static void resolve_ns(struct names *n, uint32_t process)
{
	struct process_info *info = process_at(n, process);
	const struct slice_host *host = &g_array_index(n->s->hosts, struct slice_host, info->host);

	process_ns_resolve(&names_process_at(n, process)->process_ns, info, n->s->strings, host->name);
}

/* An earlier answer about the thread has changed; if the thread was published, it must be published again. */
static void invalidate_published(struct names *n, uint32_t thread)
{
	n->generation += thread_at(n->s, thread_follow(n->s, thread))->id != ID_NONE;
}

static void set_kernel(struct names *n, uint32_t thread, bool kernel)
{
	struct thread_identity *p = identity_of(n, thread);
	if (p->kernel != kernel)
		invalidate_published(n, thread);
	p->kernel = kernel;
}

/* Names of kernel threads: their first letters. A program can have such a name, too. */
static bool is_kernel_name(const char *comm)
{
	static const char *const names[] = {
		"kworker/", "ksoftirqd/", "migration/", "cpuhp/", "irq/", "rcu_", "rcuc/", "rcub/", "rcuog/", "rcuop/",
		"rcuos/", "watchdog/", "idle_inject/", "kthreadd", "kswapd", "kcompactd", "khugepaged", "ksmd",
		"kdevtmpfs", "kauditd", "khungtaskd", "oom_reaper", "jbd2/", "xfsaild/", "scsi_eh_",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_has_prefix(comm, names[i]))
			return true;
	return false;
}

/* Something suggests that it is a kernel thread. */
static void suppose_kernel(struct names *n, uint32_t thread)
{
	if (!identity_of(n, thread)->user)
		set_kernel(n, thread, true);
}

static void fact_user(struct names *n, uint32_t thread)
{
	identity_of(n, thread)->user = true;
	set_kernel(n, thread, false);
}

static struct lifetime *lifetime_at(const struct names *n, uint32_t process)
{
	return &names_process_at(n, process)->lifetime;
}

static void update_exit(struct names *n, uint32_t process)
{
	const struct lifetime *l = lifetime_at(n, process);
	bool ended = l->all_ended || (!l->others_run && !l->alive && l->leader_ended);
	process_at(n, process)->exit_ns = ended ? l->last_exit : TIME_UNKNOWN;
	struct fdtable *last = process_table(names_process_at(n, process), UINT64_MAX);
	if (ended && !fdtable_is_shared(last))
		fdtable_settle(last);
}

/* Adds `more` (+1 or -1) to the number of live threads of its process, never below 0: it is 0 already if the
 * process was assumed to have ended. */
static void count_alive(struct names *n, const struct thread_identity *p, int more)
{
	if (p->process == ID_NONE || p->exited)
		return;
	struct lifetime *l = lifetime_at(n, p->process);
	if (more > 0 || l->alive)
		l->alive += (uint32_t)more;
	if (more > 0)
		l->all_ended = l->others_run = false;
	update_exit(n, p->process);
}

static void identity_ends(struct names *n, struct thread_identity *p)
{
	count_alive(n, p, -1);
	p->exited = true;
}

static void join_process(struct names *n, uint32_t thread, uint32_t process)
{
	struct thread_identity *p = identity_of(n, thread);
	if (p->process == process)
		return;
	invalidate_published(n, thread);
	count_alive(n, p, -1);
	if (p->process != ID_NONE) {
		g_assert(names_process_at(n, p->process)->n_threads > 0);
		names_process_at(n, p->process)->n_threads--;
	}
	p->process = process;
	names_process_at(n, process)->n_threads++;
	count_alive(n, p, 1);
	if (p->table)
		fdtable_merge(names_process_at(n, process)->table, p->table);
	fdtable_disown(g_steal_pointer(&p->table));
	context_merge(&names_process_at(n, process)->process_ns.by_events, &p->by_events);
	resolve_ns(n, process);
	thread = thread_follow(n->s, thread);
	const struct thread *t = g_ptr_array_index(n->s->threads, thread);
	if (t->tid == process_at(n, process)->pid)
		process_at(n, process)->leader = thread;
	if (t->tid > 0)
		intmap_set(&n->tid_last, pair(t->host, (uint32_t)t->tid), thread);
}

/* A thread of a known process has ended. */
static void thread_ends(struct names *n, uint32_t thread, const struct fact *f)
{
	struct thread_identity *p = identity_of(n, thread);
	g_assert(p->process != ID_NONE);
	struct lifetime *l = lifetime_at(n, p->process);
	int32_t tid = thread_at(n->s, thread_follow(n->s, thread))->tid;
	identity_ends(n, p);
	l->last_exit = MAX(l->last_exit, f->ts);
	l->last_seq = MAX(l->last_seq, f->seq);
	l->leader_ended |= tid == process_at(n, p->process)->pid;
	l->all_ended |= f->kind == FACT_EXIT && f->a == 1;
	l->others_run = f->kind == FACT_EXIT && f->a == 0 && !l->all_ended;
	update_exit(n, p->process);
}

/* ---- facts ---- */

static void fact_pid(struct names *n, const struct fact *f)
{
	struct thread_identity *p = identity_of(n, f->thread);
	uint32_t process = p->process;
	if (f->a < 0)
		return;
	if (process == ID_NONE || process_at(n, process)->pid != f->a) {
		process = process_of_pid(n, f->host, f->a);
		join_process(n, f->thread, process);
	}
	if (f->b >= 0)
		process_at(n, process)->ppid = (int32_t)f->b;
	if (f->b == KTHREADD)
		suppose_kernel(n, f->thread);
}

/* A new thread has the tid, so its previous owner has ended: the exit event is missing. */
static void end_previous_owner(struct names *n, const struct fact *f, int32_t tid)
{
	uint32_t before = intmap_get(&n->tid_last, pair(f->host, (uint32_t)tid));
	const struct thread_identity *p = before == INTMAP_NONE ? NULL : find_identity(n, before);
	if (p && !p->exited && p->process != ID_NONE &&
	    thread_follow(n->s, before) != thread_follow(n->s, f->other))
		thread_ends(n, before, f);
}

/* The descriptors of a new process: a copy of its parent's, or the same table. */
static void inherit_table(struct names *n, struct process *child, const struct fact *f, const struct clone_call *clone)
{
	struct fdtable *parent = table_of(n, f->thread, f->seq);
	if (clone->known && clone->flags < 0) {
		fdtable_fork_or_share(child->table, parent, f->seq);
	} else if (clone->known && clone->flags & CLONE_FILES) {
		fdtable_disown(child->table);
		child->table = fdtable_own(parent);
	} else {
		fdtable_fork(child->table, parent, f->seq);
	}
}

/* A new thread of the process: it differs from the process only if its creator does, or if it got a copy. */
static void inherit_own_table(struct names *n, const struct fact *f, const struct clone_call *clone)
{
	struct thread_identity *parent = f->thread == ID_NONE ? NULL : identity_of(n, f->thread);
	if (!parent || thread_follow(n->s, f->thread) == thread_follow(n->s, f->other))
		return;
	struct fdtable *own = table_since(parent->own_tables, f->seq);
	bool copies = clone->known && clone->flags >= 0 && !(clone->flags & CLONE_FILES);
	if (own)
		use_table(&identity_of(n, f->other)->own_tables, f->seq, fdtable_own(own));
	if (copies)
		unshare_table(n, f->other, f->seq);
}

static void fact_fork(struct names *n, const struct fact *f)
{
	struct thread_identity *parent = f->thread == ID_NONE ? NULL : identity_of(n, f->thread);
	struct clone_call clone = parent ? parent->clone : (struct clone_call){ 0 };
	int32_t child_tid = thread_at(n->s, f->other)->tid;
	if (parent)
		parent->clone.known = false;
	if (parent && f->b >= 0 && parent->process == ID_NONE)
		fact_pid(n, &(struct fact){ .kind = FACT_PID, .host = f->host, .thread = f->thread,
					    .a = f->b, .b = -1 });
	end_previous_owner(n, f, child_tid);
	set_kernel(n, f->other, (parent && parent->kernel) || f->c == KTHREADD);
	identity_of(n, f->other)->user = parent && parent->user;
	if (f->a < 0)
		return;		/* old tracers do not record the child's process */
	if (f->a != child_tid) {
		join_process(n, f->other, process_of_pid(n, f->host, f->a));
		inherit_own_table(n, f, &clone);
		return;
	}
	uint32_t before = intmap_get(&n->pid_last, pair(f->host, (uint32_t)child_tid));
	if (before != INTMAP_NONE && process_at(n, before)->exit_ns == TIME_UNKNOWN) {
		*lifetime_at(n, before) = (struct lifetime){ .leader_ended = true, .last_exit = f->ts,
							.last_seq = f->seq };
		update_exit(n, before);		/* it ended without an exit event */
	}
	uint32_t process = process_new(n, f->host, child_tid);
	join_process(n, f->other, process);
	struct process_info *info = process_at(n, process);
	info->start_ns = f->ts;
	info->ppid = (int32_t)f->b;
	const struct thread_identity *from = f->thread == ID_NONE ? NULL : find_identity(n, f->thread);
	if (from && from->process != ID_NONE) {
		process_ns_fork(&names_process_at(n, process)->process_ns,
				&names_process_at(n, from->process)->process_ns);
		resolve_ns(n, process);
	}
	if (f->thread != ID_NONE)
		inherit_table(n, names_process_at(n, process), f, &clone);
}

static void fact_ns(struct names *n, const struct fact *f)
{
	const struct thread_identity *p = find_identity(n, f->thread);
	if (!p || p->process == ID_NONE)
		return;
	process_ns_dump(&names_process_at(n, p->process)->process_ns, f, process_at(n, p->process)->pid);
	resolve_ns(n, p->process);
}

/* The latest change reported by any thread of the process counts. */
static void merge_contexts(struct names *n, const struct thread_identity *p)
{
	context_merge(&names_process_at(n, p->process)->process_ns.by_events, &p->by_events);
	resolve_ns(n, p->process);
}

static void fact_context(struct names *n, const struct fact *f)
{
	struct thread_identity *p = context_applies(n->s, f) ? identity_of(n, f->thread) : NULL;
	if (p && context_update(&p->by_events, f) && p->process != ID_NONE)
		merge_contexts(n, p);
}

static void fact_comm(struct names *n, const struct fact *f)
{
	struct thread_identity *p = identity_of(n, f->thread);
	struct name_at name = { .since = f->ts, .name = f->text };
	if (!p->kernel && is_kernel_name(strtab_get(n->s->strings, f->text)))
		suppose_kernel(n, f->thread);
	if (!p->comms)
		p->comms = g_array_sized_new(false, false, sizeof name, 2);	/* its creator's, and its own */
	guint at = p->comms->len;
	while (at > 0 && g_array_index(p->comms, struct name_at, at - 1).since > name.since)
		at--;
	if (at > 0 && g_array_index(p->comms, struct name_at, at - 1).name == f->text)
		return;
	g_array_insert_vals(p->comms, at, &name, 1);
}

/* The path as passed to the call, prefixed by the directory of its dirfd. */
static uint32_t full_path(struct names *n, const struct fact *f)
{
	const char *path = strtab_get(n->s->strings, f->text);
	if (f->b < 0 || *path == '/' || f->file_kind != FILE_REGULAR)
		return f->text;
	uint32_t dir = fdtable_file(table_of(n, f->thread, f->seq), f->b, f->seq);
	if (dir == ID_NONE)
		return f->text;
	g_autofree char *full = g_strdup_printf("%s/%s",
		strtab_get(n->s->strings, g_array_index(n->files, struct file_info, dir).path), path);
	return slice_path(n->s, (struct blk_text){ full, (uint32_t)strlen(full) });
}

static void fact_open(struct names *n, const struct fact *f)
{
	uint32_t path = full_path(n, f);
	enum file_kind kind = f->file_kind;
	if (kind == FILE_REGULAR)
		kind = names_kind_of_path(strtab_get(n->s->strings, path), FILE_REGULAR);
	struct fd_version v = { .seq = f->seq, .cloexec = f->flag,
				.file = names_file_id(n, f->host, kind, path) };
	fdtable_put(table_of(n, f->thread, f->seq), f->a, &v);
}

/* exec by a thread that is not the leader: f->other continues as the leader, with the leader's tid. */
static void become_leader(struct names *n, const struct fact *f)
{
	struct thread_identity *was = identity_of(n, f->other);
	const struct fact again = { .ts = f->ts, .seq = f->seq, .host = f->host, .kind = f->kind, .other = f->thread };
	end_previous_owner(n, &again, thread_at(n->s, thread_follow(n->s, f->thread))->tid);
	if (was->process != ID_NONE && identity_of(n, f->thread)->process == ID_NONE)
		join_process(n, f->thread, was->process);
	identity_ends(n, was);
}

static void fact_exec(struct names *n, const struct fact *f)
{
	if (f->other != ID_NONE)
		become_leader(n, f);
	struct thread_identity *p = identity_of(n, f->thread);
	p->clone.known = false;
	fact_user(n, f->thread);
	exec_table(n, f->other != ID_NONE ? f->other : f->thread, f->thread, f->seq);
	if (!p->exited)
		return;
	p->exited = false;	/* the leader had ended, and another thread took its tid */
	count_alive(n, p, 1);
}

static void fact_exit(struct names *n, const struct fact *f)
{
	if (identity_of(n, f->thread)->process == ID_NONE) {	/* it may be a leader without any other fact */
		int32_t tid = thread_at(n->s, thread_follow(n->s, f->thread))->tid;
		uint32_t own = intmap_get(&n->pid_last, pair(f->host, (uint32_t)tid));
		if (own == INTMAP_NONE)
			return;
		join_process(n, f->thread, own);
	}
	thread_ends(n, f->thread, f);
}

static char *address_key(const struct fact *f)
{
	return g_strdup_printf("%u:%" G_GINT64_MODIFIER "x", f->host, (guint64)f->a);
}

/* The process whose table had the address in the state dump; NULL: none. */
static struct process *process_of_address(struct names *n, const struct fact *f)
{
	g_autofree char *key = address_key(f);
	uint32_t process = GPOINTER_TO_UINT(g_hash_table_lookup(n->by_address, key));
	return process ? names_process_at(n, process - 1) : NULL;
}

/* Processes whose tables have the same address share them; a thread whose table has another address than its process's
 * does not share it. */
static void fact_dump_table(struct names *n, const struct fact *f)
{
	struct thread_identity *p = identity_of(n, f->thread);
	if (p->process == ID_NONE || !f->a)
		return;
	struct process *process = names_process_at(n, p->process), *other = process_of_address(n, f);
	if (process->dump_address && process->dump_address != f->a) {
		if (!p->own_tables)
			use_table(&p->own_tables, 0, table_new(n, f->host));
		return;
	}
	process->dump_address = f->a;
	if (other == process)
		return;
	bool shared = other && other->info.exit_ns == TIME_UNKNOWN && !other->tables && !process->tables &&
		      (other->info.start_ns == TIME_UNKNOWN || process->info.start_ns == TIME_UNKNOWN);
	if (shared)
		fdtable_merge(other->table, process->table);
	else
		g_hash_table_insert(n->by_address, address_key(f), GUINT_TO_POINTER(p->process + 1));
}

/* Did a call give the socket a better name than the state dump's "socket:[1234]"? */
static bool is_named_socket(const struct names *n, uint32_t file)
{
	const struct file_info *info = file == ID_NONE ? NULL : &g_array_index(n->files, struct file_info, file);
	return info && info->kind == FILE_SOCKET &&
	       !g_str_has_prefix(strtab_get(n->s->strings, info->path), "socket:");
}

static void fact_dump_fd(struct names *n, const struct fact *f)
{
	const struct process *p = f->flag ? process_of_address(n, f)
					  : names_process_at(n, process_of_pid(n, f->host, f->a));
	if (!p)
		return;
	enum file_kind kind = names_kind_of_path(strtab_get(n->s->strings, f->text), FILE_REGULAR);
	struct fd_version v = { .seq = f->seq, .dumped = true, .cloexec = f->c & 02000000,
				.file = names_file_id(n, f->host, kind, f->text) };
	if (kind == FILE_UNKNOWN)
		return;
	struct fdtable *t = process_table(p, f->seq);
	if (kind == FILE_SOCKET && is_named_socket(n, fdtable_file(t, f->b, f->seq)))
		return;
	n->generation += !fdtable_has_own(t, f->b);	/* the first version also holds for the time before it */
	fdtable_put(t, f->b, &v);
}

/* Sets a name that holds for the whole trace. */
static void name_number(struct names *n, struct intmap *names, const struct fact *f)
{
	uint64_t key = pair(f->host, (uint32_t)f->a);
	n->generation += intmap_get(names, key) != f->text;
	intmap_set(names, key, f->text);
}

static void fact_lost(struct names *n, const struct fact *f)
{
	GArray *losses = losses_of(n, f->host);
	guint at = losses->len;
	while (at > 0 && g_array_index(losses, uint64_t, at - 1) > f->seq)
		at--;
	g_array_insert_val(losses, at, f->seq);
}

static void apply(struct names *n, const struct fact *f)
{
	switch ((enum fact_kind)f->kind) {
	case FACT_COMM: fact_comm(n, f); break;
	case FACT_PID: fact_pid(n, f); break;
	case FACT_FORK: fact_fork(n, f); break;
	case FACT_CLONE:
		identity_of(n, f->thread)->clone = (struct clone_call){ true, f->a, f->seq };
		break;
	case FACT_UNSHARE: unshare_table(n, f->thread, f->seq); break;
	case FACT_EXEC: fact_exec(n, f); break;
	case FACT_KERNEL: set_kernel(n, f->thread, true); break;
	case FACT_USER: fact_user(n, f->thread); break;
	case FACT_OPEN: fact_open(n, f); break;
	case FACT_NAME:
		fdtable_rename(table_of(n, f->thread, f->seq), f->a, f->seq,
			       names_file_id(n, f->host, FILE_SOCKET, f->text));
		break;
	case FACT_CLOSE:	/* the close call itself still refers to the file */
		fdtable_close(table_of(n, f->thread, f->seq), f->a, f->b, f->seq + 1);
		break;
	case FACT_DUP: fdtable_dup(table_of(n, f->thread, f->seq), f->a, f->b, f->seq, f->flag); break;
	case FACT_CLOEXEC:
		fdtable_set_cloexec(table_of(n, f->thread, f->seq), f->a, f->b, f->seq, f->flag);
		break;
	case FACT_DUMP_TABLE: fact_dump_table(n, f); break;
	case FACT_DUMP_FD: fact_dump_fd(n, f); break;
	case FACT_IRQ:		/* the first of several handlers names the interrupt */
		if (intmap_get(&n->irqs, pair(f->host, (uint32_t)f->a)) == INTMAP_NONE)
			name_number(n, &n->irqs, f);
		break;
	case FACT_DEV: name_number(n, &n->devs, f); break;
	case FACT_NS: fact_ns(n, f); break;
	case FACT_CONTEXT: fact_context(n, f); break;
	case FACT_EXIT: fact_exit(n, f); break;
	case FACT_LOST: fact_lost(n, f); break;
	}
}

static void adopt_tables(struct names *n, uint32_t thread, struct thread_identity *from)
{
	struct thread_identity *into = identity_of(n, thread);
	if (from->table)
		fdtable_merge(table_of(n, thread, 0), from->table);
	fdtable_disown(g_steal_pointer(&from->table));
	for (guint i = 0; from->own_tables && i < from->own_tables->len; i++) {
		const struct table_since *t = &g_array_index(from->own_tables, struct table_since, i);
		use_table(&into->own_tables, t->seq, t->table);
	}
	g_clear_pointer(&from->own_tables, g_array_unref);
	if (from->clone.known && (!into->clone.known || into->clone.seq < from->clone.seq))
		into->clone = from->clone;
}

/* Threads without a tid when their facts came: merges those that are identified by now into the real ones. */
static void adopt_anonymous(struct names *n)
{
	for (guint i = n->anonymous->len; i > 0; i--) {
		uint32_t id = g_array_index(n->anonymous, uint32_t, i - 1);
		uint32_t real = thread_follow(n->s, id);
		if (real == id)
			continue;
		struct thread_identity *p = g_ptr_array_index(n->identities, id);
		struct thread_identity *into = identity_of(n, real);
		g_assert(p && p != into && real < n->s->threads->len);
		g_array_remove_index_fast(n->anonymous, i - 1);
		n->generation++;
		adopt_tables(n, real, p);
		for (guint k = 0; p->comms && !into->comms && k < p->comms->len; k++) {
			const struct name_at *c = &g_array_index(p->comms, struct name_at, k);
			fact_comm(n, &(struct fact){ .thread = real, .ts = c->since, .text = c->name });
		}
		context_merge(&into->by_events, &p->by_events);
		if (p->process != ID_NONE && into->process == ID_NONE)
			join_process(n, real, p->process);
		else if (into->process != ID_NONE)
			merge_contexts(n, into);
		into->user |= p->user;
		into->kernel = (into->kernel || p->kernel) && !into->user;
		if (p->exited)
			identity_ends(n, into);
		identity_ends(n, p);		/* the anonymous thread is no longer separate */
	}
}

void names_update(struct names *n)
{
	memset(n->lookups, 0, sizeof n->lookups);
	adopt_anonymous(n);
	slice_sort_facts(n->s, 0, n->s->facts->len);
	ARRAY_EACH(const struct fact, f, n->s->facts) {
		n->generation += f->seq < n->updated_to;
		apply(n, f);
	}
	n->updated_to = n->s->seq;
	n->n_facts += n->s->facts->len;
	g_array_set_size(n->s->facts, 0);
	n->s->facts_sorted = 0;
}

uint64_t names_generation(const struct names *n)
{
	return n->generation;
}

/* ---- queries ---- */

uint32_t names_process(const struct names *n, uint32_t thread)
{
	const struct thread_identity *p = find_identity(n, thread);
	return p ? p->process : ID_NONE;
}

bool names_is_kernel(const struct names *n, uint32_t thread)
{
	const struct thread_identity *p = find_identity(n, thread);
	return p && p->kernel;
}

const GArray *names_comms(const struct names *n, uint32_t thread)
{
	const struct thread_identity *p = find_identity(n, thread);
	return p ? p->comms : NULL;
}

uint32_t names_file(struct names *n, uint32_t thread, int32_t fd, uint64_t seq)
{
	struct fdtable *t = table_of(n, thread, seq);
	struct cached_lookup *cached = &n->lookups[((uintptr_t)t / 64 + (uint32_t)fd) % LOOKUP_SLOTS];
	if (cached->table == t && cached->fd == fd && seq >= cached->from && seq < cached->to)
		return cached->file;
	struct cached_lookup new = { .table = t, .fd = fd };
	new.file = fdtable_file_while(t, fd, seq, &new.from, &new.to);
	if (new.file != ID_NONE) {
		*cached = new;
		return new.file;
	}
	char text[24];
	snprintf(text, sizeof text, "fd %d", fd);
	return names_file_id(n, thread_at(n->s, thread)->host, FILE_UNKNOWN, strtab_add(n->s->strings, text));
}

uint32_t names_known_file(struct names *n, uint32_t thread, int32_t fd, uint64_t seq)
{
	return fd < 0 ? ID_NONE : fdtable_file(table_of(n, thread, seq), fd, seq);
}

uint32_t names_process_of_pid(const struct names *n, uint32_t host, int32_t pid)
{
	uint32_t process = intmap_get(&n->pid_last, pair(host, (uint32_t)pid));
	return process == INTMAP_NONE ? ID_NONE : process;
}

GArray *names_open_files(struct names *n, uint32_t process, uint64_t seq)
{
	const struct process *p = names_process_at(n, process);
	g_assert(p);
	return fdtable_open(p->info.leader == ID_NONE ? process_table(p, seq)
						      : table_of(n, p->info.leader, seq), seq);
}

uint32_t names_n_files(const struct names *n)
{
	return n->files->len;
}

const struct file_info *names_file_info(const struct names *n, uint32_t file)
{
	g_assert(file < n->files->len);
	return &g_array_index(n->files, struct file_info, file);
}

uint32_t names_n_processes(const struct names *n)
{
	return n->processes.n;
}

const struct process_info *names_process_info(const struct names *n, uint32_t process)
{
	const struct process *p = names_process_at(n, process);
	return p ? &p->info : NULL;
}

static uint32_t string_or_none(uint32_t s)
{
	return s == INTMAP_NONE ? 0 : s;
}

uint32_t names_irq(const struct names *n, uint32_t host, uint32_t code)
{
	return string_or_none(intmap_get(&n->irqs, pair(host, code)));
}

uint32_t names_dev(const struct names *n, uint32_t host, uint32_t dev)
{
	return string_or_none(intmap_get(&n->devs, pair(host, dev)));
}

/* ---- endless runs: dropping what is no longer needed ---- */

#define LATE_AFTER_NS (60 * INT64_C(1000000000))	/* ns: facts may be late by this much */

/* Clears descriptor tables of processes that ended if no copy of them and no event in `needed` refers to them. */
static void forget_ended_tables(struct names *n, const GArray *needed)
{
	PAGES_EACH(&n->processes, i) {
		const struct process *p = names_process_at(n, i);
		if (p->info.exit_ns != TIME_UNKNOWN && p->info.exit_ns < n->s->last - LATE_AFTER_NS)
			fdtable_forget_ended(p->table, needed, p->lifetime.last_seq);
	}
}

/* Drops the process. Returns its id in the publisher's registry. */
static uint32_t forget_process(struct names *n, uint32_t process)
{
	const struct process *p = names_process_at(n, process);
	g_assert(p && p->n_threads == 0);
	uint64_t key = pair(p->info.host, (uint32_t)p->info.pid);
	uint32_t id = p->id;

	if (intmap_get(&n->pid_last, key) == process)
		intmap_remove(&n->pid_last, key);
	fdtable_disown(p->table);
	disown_tables(p->tables);
	pages_drop(&n->processes, process);
	return id;
}

static uint32_t forget_identity(struct names *n, struct thread_identity *thread_identity, uint32_t thread)
{
	struct process *p = thread_identity->process == ID_NONE ? NULL : names_process_at(n, thread_identity->process);

	fdtable_disown(thread_identity->table);
	disown_tables(g_steal_pointer(&thread_identity->own_tables));
	if (p && p->info.leader == thread)
		p->info.leader = ID_NONE;
	g_assert(!p || p->n_threads > 0);
	return p && --p->n_threads == 0 ? forget_process(n, thread_identity->process) : ID_NONE;
}

uint32_t names_forget_thread(struct names *n, const struct thread *t)
{
	uint64_t key = pair(t->host, (uint32_t)t->tid);
	gpointer *thread_identity = t->self < n->identities->len ? &g_ptr_array_index(n->identities, t->self) : NULL;
	uint32_t process = ID_NONE;
	if (intmap_get(&n->tid_last, key) == t->self)
		intmap_remove(&n->tid_last, key);
	for (guint i = t->tid == -1 ? n->anonymous->len : 0; i > 0; i--)
		if (g_array_index(n->anonymous, uint32_t, i - 1) == t->self)
			g_array_remove_index_fast(n->anonymous, i - 1);
	if (thread_identity && *thread_identity) {
		process = forget_identity(n, *thread_identity, t->self);
		identity_free(g_steal_pointer(thread_identity));
	}
	memset(n->lookups, 0, sizeof n->lookups);
	return process;
}

#define FORGET_EVERY 16384	/* facts */

bool names_may_forget(const struct names *n)
{
	return n->n_facts >= FORGET_EVERY;
}

void names_forget(struct names *n, GArray *needed)
{
	uint64_t seq = n->s->seq;

	n->n_facts = 0;
	memset(n->lookups, 0, sizeof n->lookups);
	g_array_sort(needed, order_u64);
	fdtable_note_forks(n->all_tables);
	forget_ended_tables(n, needed);
	fdtable_forget(n->all_tables, needed, seq);
	for (guint i = 0; i < n->losses->len; i++)
		fdtable_forget_losses(g_ptr_array_index(n->losses, i), needed, seq);
}

/* ---- creation ---- */

struct names *names_new(struct slice *s)
{
	struct names *n = g_new0(struct names, 1);
	n->s = s;
	n->identities = g_ptr_array_new_with_free_func(identity_free);
	n->anonymous = g_array_new(false, false, sizeof(uint32_t));
	n->processes.size = sizeof(struct process);
	n->all_tables = g_ptr_array_new_with_free_func((GDestroyNotify)fdtable_free);
	n->losses = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	n->by_address = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	n->files = g_array_new(false, true, sizeof(struct file_info));
	n->file_ids = names_file_ids_new();
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	g_ptr_array_unref(n->identities);
	PAGES_EACH(&n->processes, i)
		g_clear_pointer(&names_process_at(n, i)->tables, g_array_unref);
	pages_clear(&n->processes);
	g_array_unref(n->anonymous);
	g_ptr_array_unref(n->all_tables);
	g_ptr_array_unref(n->losses);
	g_hash_table_unref(n->by_address);
	g_array_unref(n->files);
	g_hash_table_unref(n->file_ids);
	intmap_clear(&n->pid_last);
	intmap_clear(&n->tid_last);
	intmap_clear(&n->irqs);
	intmap_clear(&n->devs);
	g_free(n);
}
