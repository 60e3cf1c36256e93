/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Feeds a batch of records to a slice. Maps the source's indexes to the slice's, counts events, follows losses, and
 * calls the fast path (fast_path.c) or the handlers.
 */
#include "state/kernel/feed.h"

#include "base/call_event.h"
#include "state/kernel/cell_cache.h"
#include "state/kernel/coverage.h"
#include "state/kernel/facts.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/counts.h"
#include "state/kernel/cpu.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/event_class.h"
#include "state/kernel/fast_path.h"
#include "state/kernel/handlers.h"
#include "state/kernel/irq.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_order.h"

#include "base/each.h"
#include "base/limits.h"

#include <stdlib.h>

/* ---- the source's streams, hosts and classes ---- */

/* False if the version is unknown. */
static bool is_at_least(const char *release, long major, long minor)
{
	char *end;
	long its_major = strtol(release, &end, 10);
	long its_minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return its_major > major || (its_major == major && its_minor >= minor);
}

static uint32_t preempt_flag(const char *release)
{
	static const struct { int major, minor; uint32_t flag; } by_version[] = {
		/* include/trace/events/sched.h: TASK_REPORT_MAX, earlier TASK_STATE_MAX */
		{ 4, 14, 256 }, { 4, 8, 4096 }, { 4, 2, 2048 }, { 3, 9, 1024 }, { 1, 0, 512 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(by_version); i++)
		if (is_at_least(release, by_version[i].major, by_version[i].minor))
			return by_version[i].flag;
	return 256 | 512 | 1024 | 2048 | 4096;
}

void slice_host_set_release(struct slice_host *host, const char *release)
{
	g_free(host->release);
	host->release = g_strdup(release);
	host->preempt_flag = preempt_flag(release);
	/* Before 4.0, blk_update_request() returned before its tracepoint if a request had no data. */
	host->empty_unreported = is_at_least(release, 1, 0) && !is_at_least(release, 4, 0);
}

static uint32_t slice_host_named(struct slice *s, const struct blk_host *h)
{
	for (guint i = 0; i < s->hosts->len; i++) {
		const struct slice_host *have = &g_array_index(s->hosts, struct slice_host, i);
		if (!strcmp(have->name, h->name) && !strcmp(have->boot, h->boot))
			return i;
	}
	struct slice_host new = {
		.name = g_strdup(h->name), .boot = g_strdup(h->boot), .id = ID_NONE,
		.begin = INT64_MAX, .end = INT64_MIN, .first = INT64_MIN,
	};
	slice_host_set_release(&new, h->kernel_release ? h->kernel_release : "");
	g_array_append_val(s->hosts, new);
	return s->hosts->len - 1;
}

static void learn_host(struct slice *s, uint32_t id, const struct blk_host *h)
{
	struct slice_host *mine = &g_array_index(s->hosts, struct slice_host, id);
	mine->has_kernel |= h->has_kernel;
	machine_evidence_add(&mine->evidence, &h->machine);
	mine->machine = machine_of(&mine->evidence, mine->boot);
	mine->begin = MIN(mine->begin, h->begin_ns);
	mine->end = MAX(mine->end, h->end_ns);
	covered_add_host(s, mine);
	if (!*mine->release && h->kernel_release && *h->kernel_release)
		slice_host_set_release(mine, h->kernel_release);
}

void slice_learn_hosts(struct slice *s, const struct blk_tables *tables)
{
	for (guint i = 0; i < tables->hosts->len; i++) {
		const struct blk_host *h = blk_host(tables, i);
		learn_host(s, slice_host_named(s, h), h);
	}
}

/* "cpu_instructions cpu_cycles" */
static void learn_counters(struct slice *s, const char *names, struct class_info *c)
{
	g_auto(GStrv) each = g_strsplit(names ? names : "", " ", LIMIT_EVENT_COUNTERS + 1);
	while (c->n_counters < LIMIT_EVENT_COUNTERS && each[c->n_counters]) {
		c->counter[c->n_counters] = strtab_add(s->strings, each[c->n_counters]);
		c->n_counters++;
	}
}

static void learn_name(struct slice *s, const char *name)
{
	s->has_insert |= g_str_equal(name, "block_rq_insert");
	s->has_issue |= g_str_equal(name, "block_rq_issue");
	s->has_complete |= g_str_equal(name, "block_rq_complete");
	s->has_interrupts |= g_str_equal(name, "irq_handler_entry");
	s->has_new_wakes |= g_str_equal(name, "sched_wakeup_new");
	g_hash_table_add(s->classes, g_strdup(name));
}

static void learn_class(struct slice *s, const struct blk_class *c)
{
	const char *call;
	enum call_event what = call_event_of(c->name, &call);
	const struct call_info *info = call_info(call);
	struct class_info new = {
		.event = strtab_add(s->strings, c->name), .name = strtab_add(s->strings, call),
		.info = info, .row = c->row, .call = (uint8_t)what,
		.is_compat = what != CALL_EVENT_NONE && call_event_is_compat(c->name),
		.wants_args = info->fdop || info->cause == PART_FUTEX,
	};
	if (!s->follow && c->row != G_MAXUINT16) {
		unsigned usual = counting_base(c->row);
		new.on = slice_handler(c->row);
		new.kind = slice_event_kind(c->row);
		new.what = slice_event_what(usual);
		s->has_functions |= !counting_has(usual) && slice_handler(usual) == on_function &&
				    new.what == MARK_BEGIN;
		s->has_wakes |= !counting_has(usual) && slice_event_kind(usual) == KIND_WAKE;
		s->has_switches |= !counting_has(usual) && slice_event_kind(usual) == KIND_SWITCH;
	}
	s->has_calls |= c->row != G_MAXUINT16 && what == CALL_EVENT_ENTRY;
	bool is_call = new.kind == KIND_ENTRY || new.kind == KIND_EXIT;
	if (s->no_fast_path || (is_call && (info->fdop || info->no_call || info->io == IO_BOTH)))
		new.kind = KIND_ANY;
	learn_counters(s, c->counters, &new);
	g_array_append_val(s->class_infos, new);
	learn_name(s, c->name);
}

void slice_change_source(struct slice *s)
{
	slice_flush(s);
	g_assert(!s->count_bin);
	g_array_set_size(s->streams, 0);
	g_array_set_size(s->class_infos, 0);
	s->tables = NULL;
}

static struct stream_info stream_of(struct slice *s, unsigned stream)
{
	const struct blk_stream *st = blk_stream(s->tables, stream);
	const struct blk_host *host = blk_host(s->tables, st->host);
	struct stream_info info = {
		.host = slice_host_named(s, host), .stream_cpu = st->cpu, .cpu = ID_NONE,
		.kernel = st->domain == BLK_DOMAIN_KERNEL, .channel = channels_add(&s->channels, st, s->live),
		.hostname = st->hostname ? strtab_add(s->strings, st->hostname) : 0,
	};
	learn_host(s, info.host, host);
	return info;
}

/* The stream number may have belonged to another stream before. */
static void begin_stream(struct slice *s, unsigned stream)
{
	struct stream_info *info = &g_array_index(s->streams, struct stream_info, stream), now = stream_of(s, stream);
	if (info->host != now.host || info->stream_cpu != now.stream_cpu || info->kernel != now.kernel ||
	    info->hostname != now.hostname)
		*info = now;
	info->channel = now.channel;
	if (s->live)
		channels_begin(&s->channels, now.channel);
}

/* Spans may begin before their events from now on. */
static void look_back(struct slice *s)
{
	bool had_logs = slice_keeps_logs(s);
	s->looks_back = s->looks_back || (rules_look_back() && !s->no_spans);
	if (!had_logs && slice_keeps_logs(s))
		runs_begin(s, s->last);
}

static void learn_tables(struct slice *s, const struct blk_tables *tables)
{
	if (s->tables != tables)
		slice_change_source(s);
	s->tables = tables;
	look_back(s);
	for (guint i = s->streams->len; i < tables->streams->len; i++) {
		struct stream_info new = stream_of(s, i);
		g_array_append_val(s->streams, new);
	}
	for (guint i = s->class_infos->len; i < tables->classes->len; i++)
		learn_class(s, blk_class(tables, i));
	g_assert(s->streams->len == tables->streams->len && s->class_infos->len == tables->classes->len);
}

/* ---- counting events by class ---- */

static void count_class(struct slice *s, struct class_info *c)
{
	if (c->count)
		bin_event(s, s->count_bin, c->host, c->event, c->count);
	c->count = 0;
}

void slice_flush(struct slice *s)
{
	for (guint i = 0; s->count_bin && i < s->class_infos->len; i++)
		count_class(s, &g_array_index(s->class_infos, struct class_info, i));
	s->count_bin = NULL;
}

void slice_drop_seconds(struct slice *s)
{
	slice_flush(s);
	g_hash_table_remove_all(s->bins);
	s->bin_last = NULL;
}

/* For the first event of a second, an event of a host other than .count's, or a late event. */
static void count_slowly(struct slice *s, struct class_info *c, uint32_t host, int64_t ts)
{
	if (s->count_bin && ts >= s->count_bin->begin && ts < s->count_bin->end) {
		count_class(s, c);
	} else {
		slice_flush(s);
		struct bin *b = slice_bin(s, ts);
		if (ts < b->begin || ts >= b->end) {
			bin_event(s, b, host, c->event, 1);
			return;
		}
		s->count_bin = b;
	}
	c->host = host;
	c->count = 1;
}

static inline void count_event(struct slice *s, struct class_info *c, uint32_t host, int64_t ts)
{
	const struct bin *b = s->count_bin;
	if (b && ts >= b->begin && ts < b->end && c->host == host)
		c->count++;
	else
		count_slowly(s, c, host, ts);
}

/* ---- records that are not events ---- */

static inline void extend_coverage(struct slice *s, int64_t ts)
{
	covered_to(s, ts);
	s->first = MIN(s->first, ts);
	s->last = MAX(s->last, ts);
}

static void learn_cpu(struct slice *s, unsigned stream, int64_t ts)
{
	struct stream_info *info = &g_array_index(s->streams, struct stream_info, stream);
	covered_begins(s, info->host, ts);
	if (info->cpu == ID_NONE)
		info->cpu = slice_cpu(s, info->host, blk_stream(s->tables, stream)->cpu);
	info->c = cpu_at(s, info->cpu);
}

static void feed_loss(struct slice *s, const struct blk_event *ev, uint64_t seq, bool begin)
{
	struct blk_loss loss;
	memcpy(&loss, ev->data, sizeof loss);
	const struct blk_stream *st = blk_stream(s->tables, ev->stream);
	struct stream_info *info = &g_array_index(s->streams, struct stream_info, ev->stream);
	losses_add(&s->losses, &(struct loss){
		.begin = loss.begin_ns, .end = loss.end_ns, .host = info->host, .stream_cpu = st->cpu,
		.vpid = st->vpid > 0 ? st->vpid : -1,
		.earlier = loss.earlier_ns, .later = loss.later_ns, .kernel = info->kernel, .silence = loss.silence,
		.is_back = loss.back_ns > 0,
	});
	if (!begin && loss.back_ns > 0) {
		struct bin *b = slice_bin(s, ev->ts);
		struct loss_cell *c = BIN_CELL(s, b, loss, .host = info->host, .cpu = st->cpu,
					       .vpid = st->vpid > 0 ? st->vpid : -1, .kernel = info->kernel);
		c->early++;
		c->back_ns = MAX(c->back_ns, loss.back_ns);
		b->completeness.late++;
		info->is_unsure = true;
	}
	if (!begin && !loss.silence) {
		struct bin *b = slice_bin(s, ev->ts);
		struct completeness *completeness = &b->completeness;
		struct loss_cell *c = BIN_CELL(s, b, loss, .host = info->host, .cpu = st->cpu,
					       .vpid = st->vpid > 0 ? st->vpid : -1, .kernel = info->kernel);
		c->count += !loss.is_part;
		c->events += loss.events;
		c->packets += loss.packets;
		completeness->lost_events += loss.events;
		completeness->lost_packets += loss.packets;
		completeness->damaged += loss.damaged;
	}
	if (info->kernel && !loss.silence) {	/* any descriptor may have changed */
		slice_fact(s, ID_NONE, ev->ts, seq, &(struct fact){ .kind = FACT_LOST, .host = info->host });
		s->fdops.all = MAX(s->fdops.all, seq);
	}
	if (info->kernel && st->cpu != UINT32_MAX)
		(begin ? cpu_lost_begin : cpu_lost_end)(s, info->c, ev->ts, seq);
}

static void feed_tally(struct slice *s, const struct blk_event *ev)
{
	struct blk_tally tally;
	memcpy(&tally, ev->data, sizeof tally);
	const struct stream_info *info = &g_array_index(s->streams, struct stream_info, ev->stream);
	uint32_t name = g_array_index(s->class_infos, struct class_info, ev->cls).event;
	if (s->first == INT64_MAX)
		extend_coverage(s, tally.last_ns);
	/* A late record may precede the coverage; the coverage does not change. */
	int64_t from = s->first;
	bin_event(s, slice_bin(s, MAX(tally.second * INT64_C(1000000000), from)), info->host, name, tally.count);
	s->n_events += tally.count;
	extend_coverage(s, MAX(tally.last_ns, from));
}

static void each_cpu(struct slice *s, uint32_t host, void (*call)(struct slice *, struct cpu *, int64_t, uint64_t),
		     int64_t ts, uint64_t seq)
{
	for (guint i = 0; i < s->cpus->len; i++)
		if (cpu_at(s, i)->host == host)
			call(s, cpu_at(s, i), ts, seq);
}

/* Threads without a tid have ended with the task of their CPU. */
static void lose_threads(struct slice *s, uint32_t host, int64_t ts, uint64_t seq)
{
	PTR_EACH(struct thread, t, s->threads) {
		if (t->host != host || t->forward != ID_NONE || t->idle || t->tid == -1)
			continue;
		thread_order_decide(s, t);
		thread_order_end(s, t);
		if (t->resolved && t->st.run != RUN_DEAD)
			thread_record(s, t, &(struct rec){ .type = REC_LOST, .ts = ts, .seq = seq });
	}
}

/* ---- live: kernels that are not traced for a while ---- */

/* Nothing is known of the host from ts until the next event of its kernel. */
static void leave_kernel(struct slice *s, uint32_t host, int64_t ts, uint64_t seq)
{
	struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	g_assert(s->live && !h->kernel_left);
	h->kernel_left = true;
	each_cpu(s, host, cpu_lost_begin, ts, seq);
	lose_threads(s, host, ts, seq);
	ARRAY_EACH(struct stream_info, info, s->streams)
		if (info->host == host)
			info->plain = NULL;	/* the next event ends it: see feed_event() */
}

static void return_to_kernel(struct slice *s, uint32_t host, int64_t ts, uint64_t seq)
{
	struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	h->kernel_left = false;
	each_cpu(s, host, cpu_lost_end, ts, seq);
}

/* A stream of the host's kernel begins or ends. After the last one ends, the kernel's session is closed. */
static void follow_kernel_stream(struct slice *s, uint32_t host, bool begins, int64_t ts, uint64_t seq)
{
	struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	if (!s->live)
		return;
	h->n_open = begins ? h->n_open + 1 : MAX(h->n_open, 1) - 1;
	if (!h->kernel_left && !h->n_open)
		leave_kernel(s, host, s->last == INT64_MIN ? ts : MIN(ts, s->last), seq);
}

static int64_t last_kernel_event(const struct slice *s, uint32_t host)
{
	int64_t last = INT64_MIN;
	for (guint i = 0; i < s->cpus->len; i++)
		if (cpu_at(s, i)->host == host)
			last = MAX(last, cpu_at(s, i)->kernel_to);
	return last;
}

/*
 * There is no event since the last one until `ts`. A kernel that is silent for long is not traced (lttng stop): the
 * tracer's own threads wake up more often than that, which sched_switch shows. Returns the instant up to which it is
 * known what all kernels did: the last event of one that is silent, but not yet for long.
 */
static int64_t follow_silence(struct slice *s, int64_t ts, uint64_t seq)
{
	int64_t known = ts;
	for (guint i = 0; s->live && s->has_switches && i < s->hosts->len; i++) {
		const struct slice_host *h = &g_array_index(s->hosts, struct slice_host, i);
		int64_t last = h->has_kernel && !h->kernel_left ? last_kernel_event(s, i) : INT64_MIN;
		if (last == INT64_MIN || last >= ts)
			continue;
		if (covered_are_far(last, ts, COVERED_SILENT_NS))
			leave_kernel(s, i, s->last, seq);
		else
			known = MIN(known, last);
	}
	return known;
}

static inline bool is_after_silence(const struct slice *s, const struct blk_event *ev)
{
	return s->live && s->last != INT64_MIN && covered_are_far(s->last, ev->ts, COVERED_SILENT_NS) &&
	       ev->row != BLK_ROW_HORIZON;
}

static void feed_pseudo(struct slice *s, const struct blk_event *ev)
{
	uint64_t seq = s->seq++;
	if (ev->row == BLK_ROW_HORIZON) {	/* it belongs to no stream */
		s->horizon = MAX(s->horizon, follow_silence(s, ev->ts, seq));
		return;
	}
	if (ev->row == BLK_ROW_STREAM_ADD)
		begin_stream(s, ev->stream);
	const struct stream_info *info = &g_array_index(s->streams, struct stream_info, ev->stream);
	if (ev->row == BLK_ROW_STREAM_ADD || ev->row == BLK_ROW_STREAM_END) {
		if (s->live && ev->row == BLK_ROW_STREAM_END)
			channels_end(&s->channels, info->channel, blk_stream(s->tables, ev->stream));
		if (info->kernel)
			follow_kernel_stream(s, info->host, ev->row == BLK_ROW_STREAM_ADD, ev->ts, seq);
		return;
	}
	if (ev->row == BLK_ROW_TALLY) {
		feed_tally(s, ev);
		return;
	}
	extend_coverage(s, ev->ts);
	learn_cpu(s, ev->stream, ev->ts);
	feed_loss(s, ev, seq, ev->row == BLK_ROW_LOST_BEGIN);
}

/* ---- feeding ---- */

static void feed_event(struct slice *s, const struct blk_event *ev)
{
	struct stream_info *stream = &g_array_index(s->streams, struct stream_info, ev->stream);
	struct class_info *cls = &g_array_index(s->class_infos, struct class_info, ev->cls);
	uint64_t seq = s->seq++;
	extend_coverage(s, ev->ts);
	if (!stream->c)
		learn_cpu(s, ev->stream, ev->ts);
	if (stream->kernel) {
		stream->c->kernel_from = MIN(stream->c->kernel_from, ev->ts);
		stream->c->before_ns = stream->c->kernel_to;
		stream->c->kernel_to = ev->ts;
		stream->plain = slice_follows_tasks(s, stream->host) ? stream->c : NULL;
		if (g_array_index(s->hosts, struct slice_host, stream->host).kernel_left)
			return_to_kernel(s, stream->host, ev->ts, seq);
	}
	s->n_events++;
	count_event(s, cls, stream->host, ev->ts);
	if (cls->kind != KIND_ANY && cls->plan.layout != ev->layout &&
	    (!stream->kernel || cls->row != ev->row ||
	     !plan_learn(&cls->plan, s->strings, ev->layout, cls->kind)))
		cls->kind = KIND_ANY;
	struct fed_event f = {
		.s = s, .ev = ev, .cls = cls, .c = stream->c, .ts = ev->ts, .seq = seq,
		.cpu = stream->cpu, .host = stream->host,
	};
	(s->follow ? s->follow : cls->row == ev->row ? cls->on : slice_handler(ev->row))(&f);
	stream->is_unsure = false;
}

void slice_feed(struct slice *s, const struct blk_tables *tables,
		const struct blk_event *ev, size_t n)
{
	learn_tables(s, tables);
	for (size_t i = 0; i < n; i++) {
		i += feed_fast(s, ev + i, n - i);
		if (i == n)
			break;
		if (ev[i].row != BLK_ROW_HORIZON &&
		    (ev[i].stream >= s->streams->len || ev[i].cls >= s->class_infos->len))
			learn_tables(s, tables);	/* the tables may have grown within the batch */
		if (G_UNLIKELY(is_after_silence(s, &ev[i])))
			follow_silence(s, ev[i].ts, s->seq);
		if (ev[i].row >= BLK_ROW_FIRST_PSEUDO)
			feed_pseudo(s, &ev[i]);
		else
			feed_event(s, &ev[i]);
	}
}

void slice_begin_lost(struct slice *s, const struct blk_tables *tables, unsigned stream,
		      const struct blk_loss *loss)
{
	learn_tables(s, tables);
	const struct blk_stream *st = blk_stream(tables, stream);
	const struct stream_info *info = &g_array_index(s->streams, struct stream_info, stream);
	struct loss l = {
		.begin = loss->begin_ns, .end = loss->end_ns, .host = info->host,
		.stream_cpu = st->cpu, .vpid = st->vpid > 0 ? st->vpid : -1,
		.kernel = st->domain == BLK_DOMAIN_KERNEL,
		.earlier = loss->earlier_ns, .later = loss->later_ns, .silence = loss->silence,
	};
	losses_add(&s->losses, &l);
	if (!l.kernel || st->cpu == UINT32_MAX)
		return;
	learn_cpu(s, stream, l.begin);
	info->c->lost = info->c->irq_known = true;
	irq_raises_lost(info->c);
	info->c->n_losses++;
	info->c->task = NULL;
	runs_start(s, info->c);
}
