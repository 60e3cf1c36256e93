/* SPDX-License-Identifier: GPL-2.0-only */
/* Namespaces, hostname and vpid of a process by the contexts of its events; see contexts.h. */
#include "state/kernel/contexts.h"

#include "state/kernel/facts.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/threads.h"
#include "state/store/container.h"

static uint32_t number_or_0(int64_t n, int64_t max)
{
	return n > 0 && n <= max ? (uint32_t)n : 0;
}

void contexts_learn_inner(struct fed_event *f, struct thread *t, int64_t tid, int64_t pid, int64_t ns)
{
	struct inner_ids ids = {
		number_or_0(tid, INT32_MAX), number_or_0(pid, INT32_MAX), number_or_0(ns, UINT32_MAX),
	};
	if (ids.tid && thread_is_identified(t))
		slice_inner_is(f->s, t, &ids);
}

static const struct { uint8_t kind, slot; } numbers[] = {
	{ NS_PID, BLK_CTX_PID_NS }, { NS_CGROUP, BLK_CTX_CGROUP_NS }, { NS_UTS, BLK_CTX_UTS_NS },
	{ CONTEXT_VPID, BLK_CTX_VPID },
};

/* The value of the context; 0: the event has no such context. */
static uint32_t number_of(const struct blk_event *ev, size_t i)
{
	int64_t n = blk_int_or(ev, numbers[i].slot, 0);
	int64_t max = numbers[i].kind == CONTEXT_VPID ? INT32_MAX : UINT32_MAX;
	return n > 0 && n <= max ? (uint32_t)n : 0;
}

/* What the event's process sees as its hostname: by its context, else by its trace. */
static struct blk_text hostname_of(const struct fed_event *f)
{
	struct blk_text t = blk_text(f->ev, BLK_CTX_HOSTNAME);

	if (!t.len && event_container(f)) {
		t.str = strtab_get(f->s->strings, event_container(f));
		t.len = (uint32_t)strlen(t.str);
	}
	return t;
}

static bool same_hostname(const struct strtab *strings, const struct contexts *known, struct blk_text t)
{
	const char *have = strtab_get(strings, known->value[CONTEXT_HOSTNAME]);
	return !t.len || (strlen(have) == t.len && !memcmp(have, t.str, t.len));
}

static bool same_numbers(const struct contexts *known, const struct blk_event *ev)
{
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		uint32_t n = number_of(ev, i);
		if (n && n != known->value[numbers[i].kind])
			return false;
	}
	return true;
}

bool contexts_known(const struct strtab *strings, const struct contexts *known,
		    const struct blk_event *ev)
{
	return same_numbers(known, ev) && same_hostname(strings, known, blk_text(ev, BLK_CTX_HOSTNAME));
}

/* In which namespace the processes of a container's session daemon are is known only from their context. */
bool contexts_nested(const struct fed_event *f)
{
	int64_t ns = blk_int_or(f->ev, BLK_CTX_PID_NS, 0);

	return ns > 0 && ns <= UINT32_MAX ? !container_ns_is_first(NS_PID, (uint32_t)ns) : event_container(f);
}

/* A thread has another tid in each pid namespace. */
static int32_t own_vtid(const struct fed_event *f)
{
	int64_t vtid = blk_int_or(f->ev, BLK_CTX_VTID, 0);

	return contexts_nested(f) || vtid <= 0 || vtid > INT32_MAX ? 0 : (int32_t)vtid;
}

static void context_fact(struct fed_event *f, struct thread *t, unsigned kind, uint32_t value)
{
	bool by_cpu = !event_is_kernel(f) && event_follows_tasks(f), named = kind == CONTEXT_HOSTNAME;
	g_assert(kind < CONTEXT_N);
	t->contexts.value[kind] = value;
	event_fact(f, t, &(struct fact){ .kind = FACT_CONTEXT, .a = kind, .b = named ? 0 : value,
					 .text = named ? value : 0, .flag = by_cpu,
					 .c = by_cpu ? context_source(f->c->self, own_vtid(f)) : 0 });
}

/* Is the event from a thread other than the CPU's task? Then the kernel trace of the CPU has not begun, or has
 * ended. */
static bool is_about_another(const struct fed_event *f, const struct thread *t)
{
	int32_t vtid = event_is_kernel(f) ? 0 : own_vtid(f);

	return vtid && t->tid != -1 && vtid != t->tid;
}

void contexts_learn(struct fed_event *f, struct thread *t)
{
	struct blk_text hostname = hostname_of(f);

	if (!contexts_any(f->ev->layout) && !event_container(f)) {
		f->cls->placeless = f->ev->layout;
		return;
	}
	if (t && event_is_kernel(f) && blk_has(f->ev, BLK_CTX_VTID) && t->inner.tid != blk_int(f->ev, BLK_CTX_VTID))
		contexts_learn_inner(f, t, blk_int(f->ev, BLK_CTX_VTID), blk_int_or(f->ev, BLK_CTX_VPID, 0),
			    blk_int_or(f->ev, BLK_CTX_PID_NS, 0));
	if (!t || t->idle || is_about_another(f, t) ||
	    (same_numbers(&t->contexts, f->ev) && same_hostname(f->s->strings, &t->contexts, hostname)))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		unsigned kind = numbers[i].kind;
		uint32_t n = number_of(f->ev, i);
		if (n && n != t->contexts.value[kind])
			context_fact(f, t, kind, n);
	}
	if (!same_hostname(f->s->strings, &t->contexts, hostname))
		context_fact(f, t, CONTEXT_HOSTNAME, slice_string(f->s, hostname));
}
