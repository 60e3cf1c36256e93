/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptor tables of a journal: see journal_fds.h. */
#include "state/journal_fds.h"

#include "base/address.h"
#include "base/fields.h"

#include <stdio.h>
#include <string.h>

#define CLOEXEC 02000000		/* O_, SOCK_, EFD_, EPOLL_: all the same bit */
#define AT_CWD (-100)
#define DUPFD 0
#define DUPFD_CLOEXEC 1030
#define SETFD 2

struct entry {
	GRefString *name;
	bool cloexec;
};

struct jfds { GHashTable *tables; };	/* key -> GHashTable of fd -> struct entry */

static void entry_free(void *p)
{
	struct entry *e = p;
	g_ref_string_release(e->name);
	g_free(e);
}

struct jfds *jfds_new(void)
{
	struct jfds *t = g_new0(struct jfds, 1);
	t->tables = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					  (GDestroyNotify)g_hash_table_unref);
	return t;
}

void jfds_free(struct jfds *t)
{
	if (t)
		g_hash_table_unref(t->tables);
	g_free(t);
}

static GHashTable *table_of(struct jfds *t, int64_t process)
{
	GHashTable *h = g_hash_table_lookup(t->tables, &process);
	if (h)
		return h;
	h = g_hash_table_new_full(NULL, NULL, NULL, entry_free);
	g_hash_table_insert(t->tables, g_memdup2(&process, sizeof process), h);
	return h;
}

static struct entry *find(const struct jfds *t, int64_t process, int64_t fd)
{
	GHashTable *h = g_hash_table_lookup(t->tables, &process);
	return h && fd >= 0 && fd <= G_MAXINT ? g_hash_table_lookup(h, GINT_TO_POINTER((int)fd)) : NULL;
}

GRefString *jfds_name(const struct jfds *t, int64_t process, int64_t fd)
{
	const struct entry *e = find(t, process, fd);
	return e ? e->name : NULL;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const struct journal_fd *x = a, *y = b;
	return x->fd < y->fd ? -1 : x->fd > y->fd;
}

static void clear_fd(void *p)
{
	g_ref_string_release(((struct journal_fd *)p)->name);
}

GArray *jfds_all(const struct jfds *t, int64_t process)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct journal_fd));
	GHashTable *h = g_hash_table_lookup(t->tables, &process);
	GHashTableIter iter;
	void *fd, *e;
	g_array_set_clear_func(all, clear_fd);
	if (h) {
		g_hash_table_iter_init(&iter, h);
		while (g_hash_table_iter_next(&iter, &fd, &e)) {
			struct journal_fd each = { GPOINTER_TO_INT(fd),
						   g_ref_string_acquire(((struct entry *)e)->name) };
			g_array_append_val(all, each);
		}
	}
	g_array_sort(all, by_number);
	return all;
}

void jfds_set(struct jfds *t, int64_t process, int64_t fd, const char *name, bool cloexec)
{
	if (fd < 0 || fd > G_MAXINT)
		return;
	struct entry *e = g_new(struct entry, 1);
	*e = (struct entry){ g_ref_string_new(name), cloexec };
	g_hash_table_replace(table_of(t, process), GINT_TO_POINTER((int)fd), e);
}

static void forget(struct jfds *t, int64_t process, int64_t first, int64_t last)
{
	GHashTable *h = g_hash_table_lookup(t->tables, &process);
	GHashTableIter iter;
	void *fd;
	if (!h)
		return;
	g_hash_table_iter_init(&iter, h);
	while (g_hash_table_iter_next(&iter, &fd, NULL))
		if (GPOINTER_TO_INT(fd) >= first && GPOINTER_TO_INT(fd) <= last)
			g_hash_table_iter_remove(&iter);
}

static void execute(struct jfds *t, int64_t process)
{
	GHashTable *h = g_hash_table_lookup(t->tables, &process);
	GHashTableIter iter;
	void *e;
	if (!h)
		return;
	g_hash_table_iter_init(&iter, h);
	while (g_hash_table_iter_next(&iter, NULL, &e))
		if (((struct entry *)e)->cloexec)
			g_hash_table_iter_remove(&iter);
}

void jfds_fork(struct jfds *t, int64_t parent, int64_t child)
{
	GHashTable *h = g_hash_table_lookup(t->tables, &parent);
	GHashTableIter iter;
	void *fd, *e;
	g_hash_table_remove(t->tables, &child);
	if (!h)
		return;
	g_hash_table_iter_init(&iter, h);
	while (g_hash_table_iter_next(&iter, &fd, &e))
		jfds_set(t, child, GPOINTER_TO_INT(fd), ((struct entry *)e)->name,
			 ((struct entry *)e)->cloexec);
}

void jfds_drop(struct jfds *t, int64_t process)
{
	g_hash_table_remove(t->tables, &process);
}

/* ---- what calls do ---- */

struct call {
	struct jfds *t;
	int64_t process, ret;
	const void *args, *results;
	gsize n_args, n_results;
};

/* The first of the alternatives ("a|b") among the entry's fields, as a number. */
static int64_t number(const struct call *c, const char *names, int64_t absent)
{
	g_auto(GStrv) each = g_strsplit(names, "|", -1);
	struct field f;
	for (char **name = each; *name; name++)
		if (fields_find(c->args, c->n_args, FIELD_PAYLOAD, *name, &f) &&
		    f.kind <= FIELD_UNSIGNED)
			return (int64_t)f.value;
	return absent;
}

static char *text_of(const struct call *c, const char *names)
{
	g_auto(GStrv) each = g_strsplit(names, "|", -1);
	struct field f;
	for (char **name = each; *name; name++)
		if (fields_find(c->args, c->n_args, FIELD_PAYLOAD, *name, &f) &&
		    f.kind == FIELD_TEXT)
			return g_strndup(f.text, f.len);
	return NULL;
}

/* The integers of an array; how many there are, at most `most`. */
static unsigned numbers(const void *run, gsize n, const char *name, unsigned most, int64_t *ret)
{
	struct fields_cursor c = fields_of(run, n);
	struct field f;
	unsigned found = 0;
	bool inside = false;
	while (fields_next(&c, &f)) {
		if (f.kind == FIELD_BEGIN && !strcmp(f.name, name))
			inside = true;
		else if (f.kind == FIELD_END && inside)
			break;
		else if (inside && f.kind <= FIELD_UNSIGNED && found < most)
			ret[found++] = (int64_t)f.value;
	}
	return found;
}

/* The same of a call that the tracer may know by number alone: then it is the args[i]. */
static int64_t argument(const struct call *c, const char *names, unsigned i, int64_t absent)
{
	int64_t args[6];
	unsigned n = numbers(c->args, c->n_args, "args", G_N_ELEMENTS(args), args);
	return number(c, names, i < n ? args[i] : absent);
}

static void open_path(const struct call *c)
{
	g_autofree char *path = text_of(c, "filename|pathname|path");
	int64_t dir = (int32_t)argument(c, "dfd|dirfd", 0, AT_CWD);
	bool cloexec = number(c, "flags", 0) & CLOEXEC;
	const char *below = path && *path != '/' && dir != AT_CWD ? jfds_name(c->t, c->process, dir)
								  : NULL;
	g_autofree char *full = below ? g_strdup_printf("%s/%s", below, path) : NULL;
	jfds_set(c->t, c->process, c->ret, full ? full : path ? path : "?", cloexec);
}

static void open_socket(const struct call *c)
{
	static const char *const types[] = { "", " stream", " dgram", " raw", " rdm", " seqpacket" };
	int64_t family = number(c, "family|domain", -1), type = number(c, "type", 0);
	const char *name = family == 1 ? "unix" : family == 2 ? "inet" : family == 10 ? "inet6" :
			   family == 16 ? "netlink" : family == 17 ? "packet" : "";
	int64_t kind = type & 0xf;
	g_autofree char *text = g_strdup_printf("socket %s%s", name, kind <= 5 ? types[kind] : "");
	jfds_set(c->t, c->process, c->ret, g_strchomp(text), type & CLOEXEC);
}

/* The address that a call was given or gave; NULL: none is said. */
static char *address(const void *run, gsize n, const char *port_name)
{
	int64_t v4[4], v6[16];
	uint8_t bytes[16];
	char text[ADDRESS_MOST];
	struct field f;
	int64_t port = fields_find(run, n, FIELD_PAYLOAD, port_name, &f) ? (int64_t)f.value : 0;
	if (fields_find(run, n, FIELD_PAYLOAD, "sun_path", &f) && f.kind == FIELD_TEXT && f.len)
		return g_strdup_printf("socket unix %.*s", (int)MIN(f.len, 200), f.text);
	bool is_v4 = numbers(run, n, "v4addr", 4, v4) == 4;
	if (!is_v4 && numbers(run, n, "v6addr", 16, v6) < 16)
		return NULL;
	for (unsigned i = 0; i < (is_v4 ? 4 : 16); i++)
		bytes[i] = (uint8_t)(is_v4 ? v4 : v6)[i];
	address_text(text, is_v4 ? 4 : 6, bytes, (uint16_t)port);
	return g_strdup_printf("socket inet%s %s", is_v4 ? "" : "6", text);
}

static void name_socket(const struct call *c)
{
	g_autofree char *text = address(c->args, c->n_args, "dport");
	int64_t fd = number(c, "fd|sockfd", -1);
	const struct entry *e = find(c->t, c->process, fd);
	if (text)
		jfds_set(c->t, c->process, fd, text, e && e->cloexec);
}

static void accept_socket(const struct call *c)
{
	g_autofree char *text = address(c->results, c->n_results, "sport");
	jfds_set(c->t, c->process, c->ret, text ? text : "socket", number(c, "flags", 0) & CLOEXEC);
}

static void open_pair(const struct call *c, const char *name)
{
	int64_t fd[2], flags = number(c, "flags|type", 0);
	if (numbers(c->results, c->n_results, "fildes", 2, fd) != 2 &&
	    numbers(c->results, c->n_results, "socket", 2, fd) != 2 &&
	    numbers(c->results, c->n_results, "usockvec", 2, fd) != 2)
		return;
	jfds_set(c->t, c->process, fd[0], name, flags & CLOEXEC);
	jfds_set(c->t, c->process, fd[1], name, flags & CLOEXEC);
}

/* `to` names what `from` names; what it was before is gone. */
static void duplicate(const struct call *c, int64_t from, int64_t to, bool cloexec)
{
	GRefString *name = jfds_name(c->t, c->process, from);
	if (from == to)
		return;
	g_autofree char *copy = g_strdup(name);
	forget(c->t, c->process, to, to);
	if (copy)
		jfds_set(c->t, c->process, to, copy, cloexec);
}

static void control(const struct call *c)
{
	int64_t fd = number(c, "fd", -1), cmd = number(c, "cmd", -1);
	struct entry *e = find(c->t, c->process, fd);
	if (cmd == DUPFD || cmd == DUPFD_CLOEXEC)
		duplicate(c, fd, c->ret, cmd == DUPFD_CLOEXEC);
	else if (cmd == SETFD && e)
		e->cloexec = number(c, "arg", 0) & 1;
}

static void close_range_of(const struct call *c)
{
	int64_t fd = argument(c, "fd", 0, -1), last = (int64_t)(uint32_t)argument(c, "max_fd", 1, fd);
	GHashTable *h = g_hash_table_lookup(c->t->tables, &c->process);
	GHashTableIter iter;
	void *each, *e;
	if (!(argument(c, "flags", 2, 0) & 4)) {
		forget(c->t, c->process, fd, last);
		return;
	}
	if (!h)				/* CLOSE_RANGE_CLOEXEC: they close on exec */
		return;
	g_hash_table_iter_init(&iter, h);
	while (g_hash_table_iter_next(&iter, &each, &e))
		((struct entry *)e)->cloexec |= GPOINTER_TO_INT(each) >= fd && GPOINTER_TO_INT(each) <= last;
}

void jfds_close(struct jfds *t, int64_t process, GBytes *args)
{
	struct call c = { .t = t, .process = process };
	c.args = g_bytes_get_data(args, &c.n_args);
	int64_t fd = number(&c, "fd", -1);
	forget(t, process, fd, fd);
}

static void open_thing(const struct call *c, const struct call_info *info)
{
	int64_t flags = argument(c, "flags", info->flags_arg, 0);
	jfds_set(c->t, c->process, c->ret, info->makes, call_makes_cloexec(info, flags));
}

void jfds_call(struct jfds *t, int64_t process, const struct call_info *info, GBytes *args,
	       GBytes *results, int64_t ret)
{
	struct call c = { .t = t, .process = process, .ret = ret };
	enum call_fdop op = info->fdop;
	if (args)
		c.args = g_bytes_get_data(args, &c.n_args);
	if (results)
		c.results = g_bytes_get_data(results, &c.n_results);
	if (op == FDOP_CONNECT && args && (ret >= 0 || ret == -115))
		name_socket(&c);
	if (ret < 0)
		return;
	switch (op) {
	case FDOP_OPEN:
	case FDOP_OPENAT: open_path(&c); break;
	case FDOP_SOCKET: open_socket(&c); break;
	case FDOP_ACCEPT: accept_socket(&c); break;
	case FDOP_BIND: name_socket(&c); break;
	case FDOP_PIPE: open_pair(&c, "pipe"); break;
	case FDOP_SOCKETPAIR: open_pair(&c, "socketpair"); break;
	case FDOP_DUP: duplicate(&c, number(&c, "fildes|oldfd|fd", -1), ret, false); break;
	case FDOP_DUP2:
		duplicate(&c, number(&c, "oldfd", -1), ret, number(&c, "flags", 0) & CLOEXEC);
		break;
	case FDOP_FCNTL: control(&c); break;
	case FDOP_CLOSE_RANGE: close_range_of(&c); break;
	case FDOP_EVENT: open_thing(&c, info); break;
	case FDOP_EXEC: execute(t, process); break;
	default: break;
	}
}
