/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands out in a range without slow requests: see outliers.h. */
#include "views/outliers.h"

#include "base/sort.h"
#include "base/timefmt.h"
#include "views/waited.h"

#define LEAST_USUAL 8			/* values that a usual needs */
#define LEAST_NS (5 * NS_PER_MS)	/* what is shorter does not matter to people */
#define USUAL_SECONDS 60
#define MOST 64				/* calls that are examined, the slowest first */

struct outlier {
	const struct slow_call *call;	/* NULL: a wait for a CPU */
	uint32_t thread, cpu;
	int64_t ns, usual_ns;
	const struct second *second;	/* in which a wait ended */
};

static bool is_same_process(const struct timeline *tl, uint32_t a, uint32_t b)
{
	const struct thread_info *x = timeline_thread(tl, a), *y = timeline_thread(tl, b);
	return a == b || (x && y && x->process != ID_NONE && x->process == y->process);
}

/* The seconds whose figures are the usual ones: index of the first. */
static size_t usual_from(const struct timeline *tl, const struct range *range)
{
	size_t i = range->first;
	int64_t from = range->from_ns - USUAL_SECONDS * NS_PER_S;
	while (i > 0 && timeline_outline(tl, i - 1)->begin_ns >= from)
		i--;
	return i;
}

/* Adds the calls that the outlier is one of: those that waited for no one. */
static void add_calls(const struct timeline *tl, struct waits *w, struct hist *to, const struct second *s,
		      const struct outlier *o)
{
	struct waits_share shares[WAITED_N];
	for (uint32_t i = 0; i < s->n_calls; i++) {
		if (s->calls[i].name != o->call->name || !is_same_process(tl, s->calls[i].thread, o->thread))
			continue;
		waits_divide(w, s, &s->calls[i], shares);
		hist_merge(to, shares[WAITED_NOT].latency);
	}
}

/* p50 of the same call, or of the waits for a CPU, of all threads of the process. -1: too few. */
static int64_t usual_of(const struct timeline *tl, const struct range *range, const struct outlier *o)
{
	g_autoptr(blk_waits) w = waits_new(tl);
	struct hist hist = { 0 };
	for (size_t i = usual_from(tl, range); i < range->end; i++) {
		const struct second *s = timeline_second(tl, i);
		if (o->call)
			add_calls(tl, w, &hist, s, o);
		for (uint32_t k = 0; !o->call && k < s->n_scheds; k++)
			if (is_same_process(tl, s->scheds[k].thread, o->thread))
				hist_merge(&hist, &s->scheds[k].wakeup);
	}
	int64_t usual = hist_count(&hist) >= LEAST_USUAL ? hist_quantile(&hist, 0.5) : -1;
	hist_clear(&hist);
	return usual;
}

static bool stands_out(const struct outlier *o)
{
	return o->usual_ns >= 0 && o->ns >= LEAST_NS && o->ns / OUTLIERS_TIMES >= o->usual_ns;
}

/* Sockets, pipes and terminals may be silent for as long as their users like. */
static bool is_on_disk(const struct timeline *tl, const struct slow_call *call)
{
	static const char *const silent[] = { "/dev/pts/", "/dev/tty", "/dev/ptmx", "/dev/console", "/dev/input/",
					      "/dev/kmsg", "/proc/kmsg" };
	const struct file_info *f = timeline_file(tl, call->file);
	const char *path = f ? timeline_string(tl, f->path) : "";
	for (size_t i = 0; i < G_N_ELEMENTS(silent); i++)
		if (g_str_has_prefix(path, silent[i]))
			return false;
	return *path == '/';
}

static gint compare_calls(gconstpointer a, gconstpointer b)
{
	const struct slow_call *x = *(const struct slow_call *const *)a, *y = *(const struct slow_call *const *)b;
	return ORDER(y->duration_ns, x->duration_ns) ?: ORDER(x->begin_ns, y->begin_ns);
}

/* Was a longer call of the same name and process examined before call i? */
static bool was_examined(const struct timeline *tl, const GPtrArray *calls, guint i)
{
	const struct slow_call *call = calls->pdata[i];
	for (guint k = 0; k < i; k++) {
		const struct slow_call *longer = calls->pdata[k];
		if (longer->name == call->name && is_same_process(tl, longer->thread, call->thread))
			return true;
	}
	return false;
}

static struct outlier worst_call(const struct timeline *tl, const struct range *range)
{
	g_autoptr(GPtrArray) calls = g_ptr_array_new();
	struct outlier worst = { 0 };
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_slow; k++)
			if (s->slow[k].wait == CALL_NO_WAIT && s->slow[k].duration_ns >= LEAST_NS &&
			    is_on_disk(tl, &s->slow[k]))
				g_ptr_array_add(calls, &s->slow[k]);
	}
	g_ptr_array_sort(calls, compare_calls);
	for (guint i = 0; i < MIN(calls->len, MOST) && !worst.call; i++) {
		const struct slow_call *call = calls->pdata[i];
		struct outlier o = { .call = call, .thread = call->thread, .ns = call->duration_ns };
		if (was_examined(tl, calls, i))
			continue;
		o.usual_ns = usual_of(tl, range, &o);
		if (stands_out(&o))
			worst = o;
	}
	return worst;
}

static struct outlier worst_wakeup(const struct timeline *tl, const struct range *range)
{
	struct outlier worst = { 0 };
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_scheds; k++) {
			int64_t ns = hist_max(&s->scheds[k].wakeup);
			if (ns > worst.ns)
				worst = (struct outlier){ .thread = s->scheds[k].thread, .cpu = s->scheds[k].cpu,
							  .ns = ns, .second = s };
		}
	}
	worst.usual_ns = worst.ns ? usual_of(tl, range, &worst) : -1;
	return stands_out(&worst) ? worst : (struct outlier){ 0 };
}

/* The thread that ran longest on the CPU of the wait, in the second in which it ended. ID_NONE: no other one ran. */
static uint32_t ran_meanwhile(const struct timeline *tl, const struct outlier *o, int64_t *ret_ns)
{
	const struct second *s = o->second;
	const struct thread_info *waited = timeline_thread(tl, o->thread);
	uint32_t most = ID_NONE;
	*ret_ns = 0;
	for (uint32_t i = 0; waited && i < s->n_rans; i++) {
		const struct ran_cell *c = &s->rans[i];
		const struct thread_info *t = timeline_thread(tl, c->thread);
		if (c->cpu == o->cpu && c->thread != o->thread && t && t->host == waited->host &&
		    c->time_ns > *ret_ns) {
			most = c->thread;
			*ret_ns = c->time_ns;
		}
	}
	return most;
}

static bool was_lost(const struct timeline *tl, const struct outlier *o)
{
	if (o->call && view_had_losses(tl, o->call->begin_ns, o->call->begin_ns + o->call->duration_ns))
		return true;
	return o->second && o->second->completeness.touched;
}

static char *text_of_wait(const struct timeline *tl, const struct outlier *o, const char *label, const char *usual)
{
	char ns[TIMEFMT_LEN], ran[TIMEFMT_LEN];
	int64_t ran_ns;
	uint32_t by = ran_meanwhile(tl, o, &ran_ns);
	double times = (double)o->ns / (double)MAX(o->usual_ns, 1);
	timefmt_duration(ns, o->ns);
	if (by == ID_NONE)
		return g_strdup_printf("%s waited up to %s for CPU %u, %.0fx its usual %s", label, ns, o->cpu, times,
				       usual);
	g_autofree char *other = thread_label_new(tl, by, o->second->end_ns);
	return g_strdup_printf("%s ran longest on CPU %u, %s; %s waited up to %s for that CPU, %.0fx its usual %s",
			       other, o->cpu, timefmt_duration(ran, ran_ns), label, ns, times, usual);
}

char *outliers_text(const struct timeline *tl, const struct range *range)
{
	struct outlier call = worst_call(tl, range), wakeup = worst_wakeup(tl, range);
	const struct outlier *o = call.ns - call.usual_ns >= wakeup.ns - wakeup.usual_ns ? &call : &wakeup;
	char ns[TIMEFMT_LEN], usual[TIMEFMT_LEN];
	if (!o->ns)
		return NULL;
	g_autofree char *label = thread_label_new(tl, o->thread, range->to_ns);
	timefmt_duration(ns, o->ns);
	timefmt_duration(usual, o->usual_ns);
	g_autofree char *text = o->call ?
		g_strdup_printf("%s: %s took up to %s, %.0fx its usual %s, on %s", label,
				timeline_string(tl, o->call->name), ns, (double)o->ns / (double)MAX(o->usual_ns, 1),
				usual, timeline_string(tl, timeline_file(tl, o->call->file)->path)) :
		text_of_wait(tl, o, label, usual);
	return g_strdup_printf("%s%s", text, was_lost(tl, o) ? " (events were lost in these seconds)" : "");
}

/* ---- the machine ---- */

struct waited_for {
	int64_t cpu_ns, disk_ns;
};

/* The sum is that of .totals.waiting_ns. */
static struct waited_for waited_in(const struct timeline *tl, const struct range *range)
{
	struct waited_for w = { 0 };
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_threads; k++) {
			w.cpu_ns += part_sum_runnable(s->threads[k].part);
			w.disk_ns += s->threads[k].part[PART_DISK];
		}
	}
	return w;
}

/* Is the range the second in which threads waited longest? */
static bool is_worst(const struct timeline *whole, const struct range *range, int64_t waited_ns)
{
	bool other = false;
	if (range->to_ns - range->from_ns != NS_PER_S)
		return false;
	for (size_t i = 0; i < timeline_n_seconds(whole); i++) {
		const struct second *s = timeline_outline(whole, i);
		if (s->begin_ns == range->from_ns)
			continue;
		if (s->totals.waiting_ns >= waited_ns)
			return false;
		other = true;
	}
	return other;
}

/* The thread that had CPUs longest; ID_NONE: unknown. */
static uint32_t ran_longest(const struct timeline *tl, const struct range *range, int64_t *ret_ns)
{
	g_autoptr(GHashTable) ran = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	uint32_t most = ID_NONE;
	*ret_ns = 0;
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_rans; k++) {
			const struct thread_info *t = timeline_thread(tl, s->rans[k].thread);
			int64_t *ns = g_hash_table_lookup(ran, GUINT_TO_POINTER(s->rans[k].thread));
			if (!t || t->tid == 0)
				continue;	/* idle */
			if (!ns) {
				ns = g_new0(int64_t, 1);
				g_hash_table_insert(ran, GUINT_TO_POINTER(s->rans[k].thread), ns);
			}
			*ns += s->rans[k].time_ns;
			if (*ns > *ret_ns) {
				*ret_ns = *ns;
				most = s->rans[k].thread;
			}
		}
	}
	return most;
}

char *outliers_machine_text(const struct timeline *tl, const struct timeline *whole, const struct range *range)
{
	char cpu[TIMEFMT_LEN], disk[TIMEFMT_LEN], had[TIMEFMT_LEN];
	struct waited_for w = waited_in(tl, range);
	int64_t ran_ns;
	uint32_t by = ran_longest(tl, range, &ran_ns);
	g_autofree char *outlier = outliers_text(tl, range);
	GString *text = g_string_new(NULL);
	timefmt_duration(cpu, w.cpu_ns);
	timefmt_duration(disk, w.disk_ns);
	if (w.cpu_ns && w.disk_ns)
		g_string_append_printf(text, "threads waited %s for CPUs and %s for disks", cpu, disk);
	else if (w.cpu_ns || w.disk_ns)
		g_string_append_printf(text, "threads waited %s for %s", w.cpu_ns ? cpu : disk,
				       w.cpu_ns ? "CPUs" : "disks");
	if (text->len && is_worst(whole, range, w.cpu_ns + w.disk_ns))
		g_string_append(text, ", more than in any other second");
	if (by != ID_NONE) {
		g_autofree char *label = thread_label_new(tl, by, range->to_ns);
		g_string_append_printf(text, "%s%s had a CPU longest, for %s", text->len ? "; " : "", label,
				       timefmt_duration(had, ran_ns));
	}
	if (outlier)
		g_string_append_printf(text, "%s%s", text->len ? "; " : "", outlier);
	return g_string_free(text, !text->len);
}
