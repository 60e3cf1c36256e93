/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptor tables: see fdtable.h. */
#include "state/names/fdtable.h"

#include "base/each.h"
#include "base/intmap.h"
#include "base/limits.h"
#include "base/sort.h"
#include "state/store/timeline.h"

struct fdtable {
	struct intmap fds;		/* fd -> index in lists */
	GPtrArray *lists;		/* GArray of struct fd_version, by seq */
	GArray *execs;			/* uint64_t seq */
	GArray *losses;			/* see fdtable_new() */
	struct fdtable *parent;		/* inherited from; NULL: none */
	uint64_t parent_seq;		/* event of the fork */
	struct fdtable *merged;		/* this one is an alias of that table */
	uint32_t owners;		/* 0: only copies refer to it. Owners of an alias count in both */
	GPtrArray *rivals;		/* struct fdtable: see fdtable_fork_or_share(); NULL: none */
	GArray *forks;			/* uint64_t seq of forks of this table; only from fdtable_note_forks() to
					 * fdtable_forget() */
};

static struct fdtable *real(const struct fdtable *t)
{
	while (t && t->merged)
		t = t->merged;
	return (struct fdtable *)t;
}

struct fdtable *fdtable_new(GArray *losses)
{
	struct fdtable *t = g_new0(struct fdtable, 1);
	t->owners = 1;
	t->lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	t->execs = g_array_new(false, false, sizeof(uint64_t));
	t->losses = g_array_ref(losses);
	return t;
}

void fdtable_settle(struct fdtable *t)
{
	t = real(t);
	for (guint i = 0; t->rivals && i < t->rivals->len; i++) {
		struct fdtable *rival = g_ptr_array_index(t->rivals, i);
		g_ptr_array_remove_fast(rival->rivals, t);
	}
	g_clear_pointer(&t->rivals, g_ptr_array_unref);
}

void fdtable_free(struct fdtable *t)
{
	if (!t->merged)
		fdtable_settle(t);
	intmap_clear(&t->fds);
	g_ptr_array_unref(t->lists);
	g_array_unref(t->execs);
	g_array_unref(t->losses);
	g_free(t);
}

struct fdtable *fdtable_own(struct fdtable *t)
{
	for (struct fdtable *each = t; each; each = each->merged)
		each->owners++;
	return t;
}

void fdtable_disown(struct fdtable *t)
{
	for (; t; t = t->merged)
		t->owners--;
}

bool fdtable_is_shared(const struct fdtable *t)
{
	return real(t)->owners > 1;
}

static void clear(struct fdtable *t)
{
	intmap_clear(&t->fds);
	g_ptr_array_set_size(t->lists, 0);
	g_array_set_size(t->execs, 0);
}

/* ---- versions ---- */

static GArray *list_of(const struct fdtable *t, int64_t fd)
{
	uint32_t i = intmap_get(&t->fds, (uint64_t)fd);
	return i == INTMAP_NONE ? NULL : g_ptr_array_index(t->lists, i);
}

static void put(struct fdtable *t, int64_t fd, const struct fd_version *v)
{
	GArray *list = list_of(t, fd);
	if (!list) {
		list = g_array_new(false, false, sizeof *v);
		intmap_set(&t->fds, (uint64_t)fd, t->lists->len);
		g_ptr_array_add(t->lists, list);
		g_assert(t->fds.n == t->lists->len);
	}
	guint at = list->len;
	while (at > 0 && g_array_index(list, struct fd_version, at - 1).seq > v->seq)
		at--;
	g_array_insert_vals(list, at, v, 1);
}

static uint32_t lookup(const struct fdtable *t, int64_t fd, uint64_t seq, bool *ret_cloexec);

void fdtable_put(struct fdtable *t, int64_t fd, const struct fd_version *v)
{
	t = real(t);
	put(t, fd, v);
	for (guint i = 0; t->rivals && !v->dumped && i < t->rivals->len; i++) {
		struct fdtable *rival = g_ptr_array_index(t->rivals, i);
		if (lookup(rival, fd, v->seq, NULL) != v->file)
			put(rival, fd, &(struct fd_version){ .seq = v->seq, .file = ID_NONE });
	}
}

bool fdtable_has_own(const struct fdtable *t, int64_t fd)
{
	const GArray *list = list_of(real(t), fd);
	return list && list->len;
}

/* Index of the first of the (sorted) instants at or after `from`. */
static guint first_from(const GArray *instants, uint64_t from)
{
	return FIRST_INDEX(i, instants->len, g_array_index(instants, uint64_t, i) >= from);
}

static bool exec_between(const struct fdtable *t, uint64_t from, uint64_t to)
{
	for (guint i = t->execs->len; i > 0; i--) {
		uint64_t e = g_array_index(t->execs, uint64_t, i - 1);
		if (e <= from)
			return false;
		if (e <= to)
			return true;
	}
	return false;
}

/* The newest version at or before seq; else the first version, if it is from the state dump. */
static const struct fd_version *find(const struct fdtable *t, int64_t fd, uint64_t seq)
{
	const GArray *list = list_of(t, fd);
	if (!list)
		return NULL;
	guint after = FIRST_INDEX(i, list->len, g_array_index(list, struct fd_version, i).seq > seq);
	if (after > 0)
		return &g_array_index(list, struct fd_version, after - 1);
	const struct fd_version *first = &g_array_index(list, struct fd_version, 0);
	return list->len && first->dumped ? first : NULL;
}

/* The first loss after the event; UINT64_MAX: none. */
static uint64_t next_loss(const struct fdtable *t, uint64_t seq)
{
	guint at = first_from(t->losses, seq + 1);
	return at < t->losses->len ? g_array_index(t->losses, uint64_t, at) : UINT64_MAX;
}

/* Is what was known at one of the events also known at the other? */
static bool holds(const struct fdtable *t, uint64_t a, uint64_t b)
{
	return next_loss(t, MIN(a, b)) > MAX(a, b);
}

static uint32_t lookup(const struct fdtable *t, int64_t fd, uint64_t seq, bool *ret_cloexec)
{
	bool has_execed = false;	/* a descendant called exec after it inherited the descriptor */
	const uint64_t at = seq;
	t = real(t);
	for (int depth = 0; t && depth <= LIMIT_FORKS; depth++) {
		const struct fd_version *v = find(t, fd, seq);
		if (v) {
			bool closed = v->cloexec && (has_execed || exec_between(t, v->seq, seq));
			if (ret_cloexec)
				*ret_cloexec = v->cloexec;
			return closed || !holds(t, v->seq, at) ? ID_NONE : v->file;
		}
		has_execed = has_execed || exec_between(t, t->parent_seq, seq);
		seq = MIN(seq, t->parent_seq);
		t = real(t->parent);
	}
	return ID_NONE;
}

uint32_t fdtable_file(const struct fdtable *t, int64_t fd, uint64_t seq)
{
	return lookup(t, fd, seq, NULL);
}

/* Ranges are known only for versions of the table itself, not for inherited ones. */
uint32_t fdtable_file_while(const struct fdtable *t, int64_t fd, uint64_t seq, uint64_t *ret_from,
			    uint64_t *ret_to)
{
	t = real(t);
	uint32_t file = lookup(t, fd, seq, NULL);
	const GArray *list = list_of(t, fd);
	const struct fd_version *v = list ? find(t, fd, seq) : NULL;
	*ret_from = *ret_to = seq;
	if (file == ID_NONE || !v || v->seq > seq)
		return file;
	const struct fd_version *end = &g_array_index(list, struct fd_version, list->len);
	*ret_from = v->seq;
	*ret_to = MIN(v + 1 < end ? v[1].seq : UINT64_MAX, next_loss(t, v->seq));
	for (guint k = v->cloexec ? t->execs->len : 0; k > 0; k--) {
		uint64_t exec = g_array_index(t->execs, uint64_t, k - 1);
		if (exec > v->seq)
			*ret_to = MIN(*ret_to, exec);
	}
	return file;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const struct fd_open *x = a, *y = b;
	return ORDER(x->fd, y->fd);
}

/* Descriptors in [first, last] that are open just after seq, inherited ones included. */
static GArray *open_between(const struct fdtable *t, int64_t first, int64_t last, uint64_t seq)
{
	g_autoptr(GArray) met = g_array_new(false, false, sizeof(struct fd_open));
	GArray *open = g_array_new(false, false, sizeof(struct fd_open));
	const struct fdtable *from = real(t);
	for (int depth = 0; from && depth <= LIMIT_FORKS; depth++, from = real(from->parent))
		for (uint32_t slot = 0; from->fds.mask && slot <= from->fds.mask; slot++) {
			struct fd_open o = { (int64_t)from->fds.keys[slot], ID_NONE };
			if (from->fds.values[slot] != INTMAP_NONE && o.fd >= first && o.fd <= last)
				g_array_append_val(met, o);
		}
	g_array_sort(met, by_number);
	for (guint i = 0; i < met->len; i++) {
		struct fd_open o = g_array_index(met, struct fd_open, i);
		if (i && g_array_index(met, struct fd_open, i - 1).fd == o.fd)
			continue;
		o.file = lookup(t, o.fd, seq, NULL);
		if (o.file != ID_NONE)
			g_array_append_val(open, o);
	}
	return open;
}

GArray *fdtable_open(const struct fdtable *t, uint64_t seq)
{
	return open_between(t, 0, INT32_MAX, seq);
}

/* ---- changes ---- */

static void add_rival(struct fdtable *t, struct fdtable *rival)
{
	if (!t->rivals)
		t->rivals = g_ptr_array_new();
	g_ptr_array_add(t->rivals, rival);
}

static void make_rivals(struct fdtable *a, struct fdtable *b)
{
	if (a == b || (a->rivals && g_ptr_array_find(a->rivals, b, NULL)))
		return;
	add_rival(a, b);
	add_rival(b, a);
}

void fdtable_merge(struct fdtable *into, struct fdtable *from)
{
	into = real(into);
	from = real(from);
	if (into == from)
		return;
	g_assert(!into->merged && !from->merged);
	for (uint32_t slot = 0; from->fds.mask && slot <= from->fds.mask; slot++) {
		if (from->fds.values[slot] == INTMAP_NONE)
			continue;
		const GArray *list = g_ptr_array_index(from->lists, from->fds.values[slot]);
		for (guint i = 0; i < list->len; i++)
			put(into, (int64_t)from->fds.keys[slot], &g_array_index(list, struct fd_version, i));
	}
	g_array_append_vals(into->execs, from->execs->data, from->execs->len);
	if (!into->parent && from->parent != into) {
		into->parent = from->parent;
		into->parent_seq = from->parent_seq;
	}
	for (guint i = 0; from->rivals && i < from->rivals->len; i++)
		make_rivals(into, g_ptr_array_index(from->rivals, i));
	fdtable_settle(from);
	into->owners += from->owners;
	from->merged = into;
	clear(from);
}

void fdtable_fork(struct fdtable *child, struct fdtable *parent, uint64_t seq)
{
	child = real(child);
	child->parent = parent;
	child->parent_seq = seq;
}

void fdtable_fork_or_share(struct fdtable *child, struct fdtable *parent, uint64_t seq)
{
	fdtable_fork(child, parent, seq);
	make_rivals(real(child), real(parent));
}

void fdtable_exec(struct fdtable *t, uint64_t seq)
{
	g_array_append_val(real(t)->execs, seq);
}

void fdtable_rename(struct fdtable *t, int64_t fd, uint64_t seq, uint32_t file)
{
	struct fd_version v = { .seq = seq, .file = file };
	lookup(t, fd, seq, &v.cloexec);
	fdtable_put(t, fd, &v);
}

void fdtable_dup(struct fdtable *t, int64_t from, int64_t to, uint64_t seq, bool cloexec)
{
	struct fd_version v = { .seq = seq, .cloexec = cloexec, .file = lookup(t, from, seq, NULL) };
	if (from != to)
		fdtable_put(t, to, &v);
}

void fdtable_close(struct fdtable *t, int64_t first, int64_t last, uint64_t seq)
{
	struct fd_version v = { .seq = seq, .file = ID_NONE };
	if (first == last) {
		fdtable_put(t, first, &v);
		return;
	}
	g_autoptr(GArray) open = open_between(t, first, last, seq);
	for (guint i = 0; i < open->len; i++)
		fdtable_put(t, g_array_index(open, struct fd_open, i).fd, &v);
}

void fdtable_set_cloexec(struct fdtable *t, int64_t first, int64_t last, uint64_t seq, bool cloexec)
{
	struct fd_version v = { .seq = seq, .cloexec = cloexec };
	if (first == last) {
		v.file = lookup(t, first, seq, NULL);
		if (v.file != ID_NONE)
			fdtable_put(t, first, &v);
		return;
	}
	g_autoptr(GArray) open = open_between(t, first, last, seq);
	for (guint i = 0; i < open->len; i++) {
		v.file = g_array_index(open, struct fd_open, i).file;
		fdtable_put(t, g_array_index(open, struct fd_open, i).fd, &v);
	}
}

/* ---- dropping old versions ---- */

/* Makes an alias refer to its real table at once. */
static void shorten_alias(struct fdtable *t)
{
	while (t->merged && t->merged->merged) {
		t->merged->owners -= t->owners;
		t->merged = t->merged->merged;
	}
}

/* Copies of a table look up its state at the time of the fork. */
void fdtable_note_forks(const GPtrArray *all)
{
	for (guint i = 0; i < all->len; i++) {
		struct fdtable *t = g_ptr_array_index(all, i), *parent = t->merged ? NULL : real(t->parent);
		t->parent = parent;
		shorten_alias(t);
		if (!parent)
			continue;
		if (!parent->forks)
			parent->forks = g_array_new(false, false, sizeof(uint64_t));
		g_array_append_val(parent->forks, t->parent_seq);
	}
}

/* Is one of the (sorted) instants in [from, to)? */
static bool any_between(const GArray *instants, uint64_t from, uint64_t to)
{
	guint at = instants ? first_from(instants, from) : 0;
	return instants && at < instants->len && g_array_index(instants, uint64_t, at) < to;
}

/* A version is needed for events from its own up to the next version's. */
static void forget_versions(GArray *list, const GArray *forks, const GArray *needed, uint64_t seq)
{
	guint n_left = 0;

	for (guint i = 0; i < list->len; i++) {
		struct fd_version v = g_array_index(list, struct fd_version, i);
		uint64_t next = i + 1 < list->len ? g_array_index(list, struct fd_version, i + 1).seq
						  : UINT64_MAX;
		g_assert(v.seq <= next);
		bool first = i == 0 && v.dumped;	/* also holds for the time before it */
		if (next > seq || first || any_between(needed, v.seq, next) ||
		    any_between(forks, v.seq, next))
			g_array_index(list, struct fd_version, n_left++) = v;
	}
	g_array_set_size(list, n_left);
}

void fdtable_forget_ended(struct fdtable *t, const GArray *needed, uint64_t last)
{
	t = real(t);
	if (!t || t->owners > 1 || t->forks || !(t->lists->len || t->parent) ||
	    any_between(needed, t->parent_seq, last + 1))
		return;
	clear(t);
	t->parent = NULL;
}

void fdtable_forget(GPtrArray *all, const GArray *needed, uint64_t seq)
{
	for (guint i = all->len; i-- > 0;) {
		struct fdtable *t = g_ptr_array_index(all, i);
		g_assert(!t->forks || !t->merged);
		if (!t->owners && !t->forks) {
			g_ptr_array_remove_index_fast(all, i);	/* the last one moves here; it was handled already */
			continue;
		}
		if (t->forks)
			g_array_sort(t->forks, order_u64);
		for (guint k = 0; k < t->lists->len; k++)
			forget_versions(g_ptr_array_index(t->lists, k), t->forks, needed, seq);
		g_clear_pointer(&t->forks, g_array_unref);
	}
}

void fdtable_forget_losses(GArray *losses, const GArray *needed, uint64_t seq)
{
	guint n_left = 0;
	uint64_t before = 0;

	for (guint i = 0; i < losses->len; i++) {
		uint64_t at = g_array_index(losses, uint64_t, i);
		uint64_t next = i + 1 < losses->len ? g_array_index(losses, uint64_t, i + 1) : UINT64_MAX;
		if (next > seq || any_between(needed, before, next))
			g_array_index(losses, uint64_t, n_left++) = at;
		before = at;
	}
	g_array_set_size(losses, n_left);
}
