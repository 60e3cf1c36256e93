/* SPDX-License-Identifier: GPL-2.0-only */
/* Finished system calls: counts them, and writes facts about descriptors; see calls.h. */
#include "state/kernel/calls.h"

#include "state/kernel/bin.h"
#include "state/kernel/cell_cache.h"
#include "state/kernel/charge.h"
#include "state/kernel/facts.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_logs.h"

#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

/* include/uapi/linux/close_range.h: */
#define CLOSE_RANGE_UNSHARE_BIT 2	/* in a copy of the table */
#define CLOSE_RANGE_CLOEXEC_BIT 4	/* close on exec, not at once */

static void bump(uint64_t *at, uint64_t seq)
{
	*at = MAX(*at, seq);
}

static void fdop_bump(struct slice *s, int64_t fd, uint64_t seq)
{
	bump(fdop_slot(&s->fdops, fd), seq);
}

/* Does the call take effect? A connect() in progress names its socket, too. */
static bool has_effect(const struct call_info *info, int64_t ret)
{
	return info->fdop && (ret >= 0 || (info->fdop == FDOP_CONNECT && ret == -EINPROGRESS));
}

/* For connect and bind: notes the entry's descriptor; all descriptors if the entry is missing. */
static void bump_named(struct slice *s, const struct thread *t, const struct rec *r)
{
	const struct call *c = &t->st.call;
	if (t->resolved && t->st.call_state == CALL_IN && c->name == r->name && c->fd >= 0)
		fdop_bump(s, c->fd, r->seq);
	else
		bump(&s->fdops.all, r->seq);
}

void call_unpaired(struct slice *s, struct thread *t, const struct rec *r)
{
	bool enters = r->type == REC_ENTER, error = !enters && call_failed(r->arg[0]);
	struct bin *b = slice_bin(s, r->ts);
	if (!enters && !(error && r->name))
		return;
	struct built_thread_cell *bt = cell_of_thread(s, b, t);
	struct call_cell *bc = cell_of_call(s, b, t, r->name);
	bt->syscalls += enters;
	bt->errors += error;
	bc->unpaired += enters;
	bc->errors += error;
}

void call_exit_bump(struct slice *s, const struct thread *t, const struct rec *r)
{
	const struct call_info *info = r->info;
	if (!r->name && r->arg[0] >= 0) {	/* exit events of old tracers have no call name */
		fdop_bump(s, r->arg[0], r->seq);
		if (!r->arg[0])
			bump(&s->fdops.all, r->seq);
	}
	if (!has_effect(info, r->arg[0]) || info->twice || info->fdop == FDOP_UNSHARE || info->fdop == FDOP_IOCTL)
		return;
	if (r->arg[0] >= 0)
		fdop_bump(s, r->arg[0], r->seq);
	if (info->fdop == FDOP_PIPE || info->fdop == FDOP_SOCKETPAIR) {
		fdop_bump(s, r->arg[1], r->seq);
		fdop_bump(s, r->arg[2], r->seq);
	}
	if (info->fdop == FDOP_CONNECT || info->fdop == FDOP_BIND)
		bump_named(s, t, r);
	else if (info->fdop == FDOP_CLOSE_RANGE || info->fdop == FDOP_EXEC)
		bump(&s->fdops.all, r->seq);
}

static void call_fact(struct slice *s, const struct thread *t, const struct rec *r, const struct fact *what)
{
	slice_fact(s, t->self, r->ts, r->seq, what);
}

void call_facts_at_entry(struct slice *s, const struct thread *t, const struct rec *r)
{
	const struct call_info *info = r->info;
	if (info->fdop == FDOP_CLOSE && r->fd >= 0) {
		call_fact(s, t, r, &(struct fact){ .kind = FACT_CLOSE, .a = r->fd, .b = r->fd });
		fdop_bump(s, r->fd, r->seq + 1);
	} else if (info->fdop == FDOP_FORK || info->fdop == FDOP_CLONE || info->fdop == FDOP_CLONE3) {
		int64_t flags = info->fdop == FDOP_FORK ? 0 : info->fdop == FDOP_CLONE ? r->arg[2] : -1;
		call_fact(s, t, r, &(struct fact){ .kind = FACT_CLONE, .a = flags });
	} else if (info->fdop == FDOP_CLOSE_RANGE) {
		if (r->arg[2] & CLOSE_RANGE_UNSHARE_BIT)
			call_fact(s, t, r, &(struct fact){ .kind = FACT_UNSHARE });
		bool at_exec = r->arg[2] & CLOSE_RANGE_CLOEXEC_BIT;
		call_fact(s, t, r, &(struct fact){
			.kind = at_exec ? FACT_CLOEXEC : FACT_CLOSE, .flag = at_exec,
			.a = r->arg[0], .b = MIN((uint64_t)r->arg[1], INT32_MAX) });
		bump(&s->fdops.all, r->seq + 1);
	} else if (info->fdop == FDOP_DUP2 && r->arg[1] >= 0) {
		fdop_bump(s, r->arg[1], r->seq);
	}
}

static void new_file(struct slice *s, const struct thread *t, const struct rec *exit, int64_t fd,
		     uint8_t kind, uint32_t text, int64_t dirfd, bool cloexec)
{
	call_fact(s, t, exit, &(struct fact){ .kind = FACT_OPEN, .a = fd, .b = dirfd, .text = text,
					      .file_kind = kind, .flag = cloexec });
}

static void fcntl_facts(struct slice *s, const struct thread *t, const struct call *c, const struct rec *exit)
{
	int64_t command = c->arg[1];
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		call_fact(s, t, exit, &(struct fact){ .kind = FACT_DUP, .a = c->arg[0], .b = exit->arg[0],
						      .flag = command == F_DUPFD_CLOEXEC });
	else if (command == F_SETFD)
		call_fact(s, t, exit, &(struct fact){ .kind = FACT_CLOEXEC, .a = c->arg[0], .b = c->arg[0],
						      .flag = c->arg[2] & FD_CLOEXEC });
}

static void ioctl_facts(struct slice *s, const struct thread *t, const struct call *c, const struct rec *exit)
{
	enum machine m = g_array_index(s->hosts, struct slice_host, t->host).machine;
	bool cloexec;
	if (machine_ioctl_cloexec(m, c->arg[1], &cloexec))
		call_fact(s, t, exit, &(struct fact){ .kind = FACT_CLOEXEC, .a = c->fd, .b = c->fd, .flag = cloexec });
}

/* Text of the socket's family and type; flags do not change it. */
static uint32_t socket_text(struct slice *s, const struct call *c)
{
	static const char *const types[] = { "", "stream", "dgram", "raw", "rdm", "seqpacket" };
	int64_t family = c->arg[0], type = c->arg[1] & 0xf;
	const char *t = type >= 1 && type <= 5 ? types[type] : "";
	const char *name = family == 1 ? "unix" : family == 2 ? "inet" : family == 10 ? "inet6" :
			   family == 16 ? "netlink" : family == 17 ? "packet" : NULL;
	g_autofree char *text = name ? g_strdup_printf("socket %s %s", name, t) : family < 0 ? g_strdup("socket")
				     : g_strdup_printf("socket family %" G_GINT64_FORMAT " %s", family, t);
	g_strchomp(text);
	return strtab_add(s->strings, text);
}

/* Does the call set close-on-exec on its new descriptor? */
static bool call_cloexec(const struct slice *s, const struct call *c, enum call_fdop op)
{
	switch (op) {
	case FDOP_OPEN:
	case FDOP_OPENAT:
	case FDOP_PIPE:
	case FDOP_DUP2:
	case FDOP_ACCEPT:
		return c->arg[2] & O_CLOEXEC;
	case FDOP_EVENT:
		return call_makes_cloexec(c->info, c->arg[2]);
	case FDOP_SOCKET:
	case FDOP_SOCKETPAIR:
		return c->arg[1] & O_CLOEXEC;	/* SOCK_CLOEXEC is the same bit */
	default:
		return false;
	}
}

/* The path of a call that succeeded is not empty: the tracer could not read it then. */
static uint32_t path_of(const struct slice *s, const struct call *c)
{
	return *strtab_get(s->strings, c->text) ? c->text : strtab_add(s->strings, PATH_UNKNOWN);
}

static void call_facts(struct slice *s, const struct thread *t, const struct call *c, const struct rec *exit,
		       enum call_fdop op)
{
	int64_t ret = exit->arg[0];
	bool cloexec = call_cloexec(s, c, op);
	switch (op) {
	case FDOP_OPEN:
	case FDOP_OPENAT:
		new_file(s, t, exit, ret, FILE_REGULAR, path_of(s, c),
			 op == FDOP_OPENAT ? c->arg[0] : -100, cloexec);
		break;
	case FDOP_SOCKET:
		new_file(s, t, exit, ret, FILE_SOCKET, socket_text(s, c), -100, cloexec);
		break;
	case FDOP_ACCEPT:
		new_file(s, t, exit, ret, FILE_SOCKET,
			 exit->text ? exit->text : strtab_add(s->strings, "socket"), -100, cloexec);
		break;
	case FDOP_EVENT:
		new_file(s, t, exit, ret, FILE_EVENT, strtab_add(s->strings, c->info->makes), -100, cloexec);
		break;
	case FDOP_PIPE:
	case FDOP_SOCKETPAIR:
		for (int i = 1; i <= 2; i++)
			if (exit->arg[i] >= 0)
				new_file(s, t, exit, exit->arg[i], op == FDOP_PIPE ? FILE_PIPE : FILE_SOCKET,
					 strtab_add(s->strings, op == FDOP_PIPE ? "pipe" : "socketpair"),
					 -100, cloexec);
		break;
	case FDOP_CONNECT:
	case FDOP_BIND:
		if (c->text)
			call_fact(s, t, exit, &(struct fact){ .kind = FACT_NAME, .a = c->fd, .text = c->text });
		break;
	case FDOP_DUP:
	case FDOP_DUP2:
		call_fact(s, t, exit, &(struct fact){ .kind = FACT_DUP, .a = c->arg[0], .b = ret, .flag = cloexec });
		break;
	case FDOP_FCNTL:
		fcntl_facts(s, t, c, exit);
		break;
	case FDOP_IOCTL:
		ioctl_facts(s, t, c, exit);
		break;
	case FDOP_EXEC:
		call_fact(s, t, exit, &(struct fact){ .kind = FACT_EXEC, .other = ID_NONE });
		break;
	case FDOP_UNSHARE:
		if (c->arg[2] & CLONE_FILES)
			call_fact(s, t, exit, &(struct fact){ .kind = FACT_UNSHARE });
		break;
	case FDOP_NONE:
	case FDOP_CLOSE:
	case FDOP_CLOSE_RANGE:
	case FDOP_FORK:
	case FDOP_CLONE:
	case FDOP_CLONE3:
		break;
	}
}

void call_facts_of_exit(struct slice *s, const struct thread *t, const struct rec *exit)
{
	const struct call unknown = { .info = exit->info, .name = exit->name, .fd = NO_FD, .arg = { -1, -1, 0 },
				      .text = strtab_add(s->strings, PATH_UNKNOWN) };
	enum call_fdop op = exit->info->fdop;
	if (op && op != FDOP_CONNECT && op != FDOP_BIND && exit->arg[0] >= 0)
		call_facts(s, t, &unknown, exit, op);
}

void call_keep(struct thread *t, const struct call *c, int64_t ts, int64_t ret)
{
	struct done_call *d = vec_add(&t->calls, struct done_call);
	*d = (struct done_call){
		.begin = c->begin, .end = ts, .ret = ret, .seq = c->seq, .name = c->name, .fd = c->fd,
		.wait = call_wait(c, info_of_call(c)),
	};
	d->futex = call_wakes_futex(c, &d->released);
}

void call_slow(struct slice *s, struct bin *b, const struct thread *t, const struct call *c, int64_t ts, int64_t ret,
	       enum call_wait wait)
{
	g_assert(c->cpu < s->cpus->len);
	bin_slow(b, &(struct bin_slow){
		.thread = t->self, .name = c->name, .cpu = cpu_at(s, c->cpu)->number,
		.fd = c->info->has_fd ? c->fd : NO_FD, .begin = c->begin, .duration = ts - c->begin,
		.ret = ret, .seq = c->seq, .wait = wait, .list = call_slow_list(c->info, wait),
	});
}

void call_count_target(struct slice *s, struct bin *b, struct thread *t, const struct call *c,
		       const struct call_info *info, int64_t ts, int64_t ret)
{
	struct call target = *c;
	int64_t latency = ts - c->begin;
	target.fd = (int32_t)c->arg[1];
	if (target.fd >= 0)
		file_count(cell_of_file(s, b, t, &target), IO_DIR_WRITE,
			   ret > 0 ? (uint64_t)ret & info->bytes_mask : 0, call_is_unsized(info, ret), c->arg[0],
			   call_failed(ret), latency, hist_bucket_index(latency));
}

/* Charges the time in the call. Returns the bin of its exit. */
static struct bin *charge_call(struct slice *s, struct thread *t, struct call *c, int64_t ts)
{
	struct bin *b = s->bin_last;
	if (!b || c->busy_from < b->begin || ts < c->busy_from || ts >= b->end) {
		charge_busy(s, t, c, ts);
		return slice_bin(s, ts);
	}
	if (ts > c->busy_from)
		cell_of_call(s, b, t, c->name)->busy_ns += ts - c->busy_from;
	b->dirty = true;
	return b;
}

void call_counts(struct slice *s, struct thread *t, struct call *c, const struct rec *exit)
{
	s->finished = c->seq;
	struct bin *b = charge_call(s, t, c, exit->ts);
	call_count(s, b, t, cell_of_thread(s, b, t), cell_of_call(s, b, t, c->name), c, c->info,
		   exit->ts, exit->arg[0]);
	call_log(s, t, c, exit->ts, exit->arg[0]);
}

void call_finished(struct slice *s, struct thread *t, struct call *c, const struct rec *exit)
{
	call_counts(s, t, c, exit);
	if (has_effect(c->info, exit->arg[0]))
		call_facts(s, t, c, exit, c->info->fdop);
}
