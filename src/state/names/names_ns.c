/* SPDX-License-Identifier: GPL-2.0-only */
/* Where processes live, from the facts about it: see contexts.h. */
#include "state/slice/slice_state.h"
#include "state/store/container.h"

bool context_holds(const struct slice *s, const struct fact *f)
{
	int32_t vtid = (int32_t)(f->c >> 32), tid;

	if (!f->flag)
		return true;
	tid = thread_at(s, thread_follow(s, f->thread))->tid;
	return cpu_at(s, (uint32_t)f->c)->kernel_from <= f->ts && (!vtid || tid == -1 || tid == vtid);
}

bool context_update(struct context_history *by, const struct fact *f)
{
	uint32_t value = f->a == CONTEXT_HOSTNAME ? f->text : (uint32_t)f->b;

	if (by->is.value[f->a] == value)
		return false;
	by->is.value[f->a] = value;
	by->seq[f->a] = f->seq;
	return true;
}

void context_merge(struct context_history *into, const struct context_history *also)
{
	for (unsigned k = 0; k < CONTEXT_N; k++) {
		if (!also->is.value[k] || (into->is.value[k] && into->seq[k] >= also->seq[k]))
			continue;
		into->is.value[k] = also->is.value[k];
		into->seq[k] = also->seq[k];
	}
}

/* Of nested pid namespaces the innermost one is told last, or first: it has most levels. */
void process_ns_dump(struct process_ns *d, const struct fact *f, int32_t pid)
{
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

/* What is told of the child itself comes after this. */
void process_ns_fork(struct process_ns *child, const struct process_ns *parent)
{
	child->dumped = parent->dumped;
	contexts_join(&child->dumped, &parent->told.is);
	child->dumped.value[CONTEXT_VPID] = 0;
}

void process_ns_resolve(const struct process_ns *d, struct process_info *info,
		     const struct strtab *strings, const char *host)
{
	struct contexts c = d->dumped;

	contexts_join(&c, &d->told.is);
	memcpy(info->ns, c.value, sizeof info->ns);
	info->vpid = c.value[CONTEXT_VPID] ? (int32_t)c.value[CONTEXT_VPID] : -1;
	info->hostname = c.value[CONTEXT_HOSTNAME];
	info->hostname_key = container_hostname_key(strtab_get(strings, info->hostname), host);
}
