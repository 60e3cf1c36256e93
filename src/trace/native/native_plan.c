/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places packets in time: orders the packets of each stream and finds the losses between them. Cuts, the outline and
 * the first packet of a range are computed from this alone.
 */
#include "trace/native/native_private.h"

#include "base/each.h"
#include "base/sort.h"

void native_plan_unref(struct native_plan *p)
{
	if (!p || !g_atomic_ref_count_dec(&p->refs))
		return;
	for (size_t i = 0; i < p->n_streams; i++)
		g_free(p->stream[i].packet);
	g_free(p->stream);
	g_free(p);
}

struct native_plan *native_plan_take(const struct native *n)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new((GMutex *)&n->lock);
	struct native_plan *p = n->plan;
	g_assert(p);			/* native_open() makes one */
	g_atomic_ref_count_inc(&p->refs);
	return p;
}

/* ---- making ---- */

/* The order of a stream: by time, then by sequence number, then by place in the file; garbage last. */
static int compare_packets(const void *a, const void *b)
{
	const struct native_packet *x = a, *y = b;
	bool x_end = x->p.fault == CTF_GARBAGE, y_end = y->p.fault == CTF_GARBAGE;
	if (x_end != y_end)
		return x_end ? 1 : -1;
	if (x->p.begin != y->p.begin)
		return x->p.begin < y->p.begin ? -1 : 1;
	if (x->p.has_seq && y->p.has_seq && x->p.seq != y->p.seq)
		return x->p.seq < y->p.seq ? -1 : 1;
	return ORDER(x->file, y->file) ?: ORDER(x->p.offset, y->p.offset);
}

/* Where the clock went back: by sequence number. */
static int compare_sequence(const void *a, const void *b)
{
	const struct native_packet *x = a, *y = b;
	bool x_end = x->p.fault == CTF_GARBAGE, y_end = y->p.fault == CTF_GARBAGE;
	if (x_end == y_end && !x_end && x->p.seq != y->p.seq)
		return x->p.seq < y->p.seq ? -1 : 1;
	return compare_packets(a, b);
}

/* The same without sequence numbers: by file, then by place in it. */
static int compare_places(const void *a, const void *b)
{
	const struct native_packet *x = a, *y = b;
	bool x_end = x->p.fault == CTF_GARBAGE, y_end = y->p.fault == CTF_GARBAGE;
	if (x_end != y_end || x_end)
		return compare_packets(a, b);
	if (x->file != y->file)
		return x->file->first_begin != y->file->first_begin ?
		       (x->file->first_begin < y->file->first_begin ? -1 : 1) : x->file < y->file ? -1 : 1;
	return ORDER(x->p.offset, y->p.offset);
}

enum { IN_PLACES = 1, NUMBERED = 2, IN_SEQUENCE = 4 };

/* Bits of the above: in each file packets are in the order of their places; all have sequence numbers, which ascend. */
static unsigned order_of(const GArray *all)
{
	g_autoptr(GHashTable) last = g_hash_table_new(NULL, NULL);	/* by file */
	const struct native_packet *p = (const struct native_packet *)all->data;
	unsigned is = IN_PLACES | NUMBERED | IN_SEQUENCE;
	for (guint i = 0; i < all->len && p[i].p.fault != CTF_GARBAGE; i++) {
		const struct native_packet *before = i ? &p[i - 1] : NULL;
		if (before && before->file != p[i].file) {
			g_hash_table_insert(last, (void *)before->file, (void *)before);
			before = g_hash_table_lookup(last, p[i].file);
		}
		if (before && before->p.offset > p[i].p.offset)
			is &= ~IN_PLACES;
		if (!p[i].p.has_seq)
			is &= ~NUMBERED;
		if (i && p[i].p.seq < p[i - 1].p.seq)
			is &= ~IN_SEQUENCE;
	}
	return is;
}

/* Packets are in order of time, unless the clock of the stream went back: the files show that. */
static void sort_packets(GArray *all)
{
	g_array_sort(all, compare_packets);
	unsigned by_time = order_of(all);
	if (by_time & IN_PLACES && (by_time & IN_SEQUENCE || !(by_time & NUMBERED)))
		return;
	if (by_time & NUMBERED) {
		g_array_sort(all, compare_sequence);
		if (order_of(all) & IN_PLACES)
			return;
	}
	g_array_sort(all, by_time & IN_PLACES ? compare_packets : compare_places);
}

static void append_file(GArray *all, struct native_file *f)
{
	size_t n, timed = 0;
	const struct ctf_packet *p = ctf_index_packets(f->index, &n);
	while (timed < n && !p[timed].has_begin)
		timed++;
	uint64_t latest = timed < n ? p[timed].begin : 0;
	f->first_begin = latest;
	for (size_t i = 0; i < n; i++) {
		struct native_packet x = { .p = p[i], .file = f };
		ctf_packet_follow(&x.p, latest);
		latest = ctf_packet_latest(&x.p);
		g_array_append_val(all, x);
	}
}

static bool same_packet(const struct native_packet *x, const struct native_packet *y)
{
	return x->p.has_seq && y->p.has_seq && x->p.seq == y->p.seq && x->p.begin == y->p.begin &&
	       x->p.end == y->p.end && x->file != y->file;
}

/* The same trace may be given twice (as a copy, or a chunk and a link to it): each packet counts once. */
static void drop_doubles(GArray *all)
{
	guint to = 0;
	struct native_packet *p = (struct native_packet *)all->data;
	for (guint i = 0; i < all->len; i++)
		if (!to || !same_packet(&p[to - 1], &p[i]))
			p[to++] = p[i];
	g_array_set_size(all, to);
}

/*
 * The counter of discarded events counts from the beginning of the stream. In the first packet it only shows that
 * there were some, not how many of them belong here. In user-space traces the counter sometimes is 0 in one packet and
 * continues in the next. So only a rise above its highest value counts.
 */
static void count_lost(struct native_packet *x, const struct native_packet *before)
{
	x->discarded_max = x->p.discarded;
	if (!x->p.has_discarded || x->p.fault == CTF_GARBAGE)
		return;
	if (!before) {
		x->has_lost = x->p.discarded != 0;
		return;
	}
	if (!before->p.has_discarded)
		return;
	uint64_t all = x->p.discarded_bits < 64 ? (UINT64_C(1) << x->p.discarded_bits) - 1 : UINT64_MAX;
	uint64_t rise = (x->p.discarded - before->discarded_max) & all;
	if (rise > all / 2) {
		x->discarded_max = before->discarded_max;
	} else if (rise) {
		x->has_lost = true;
		x->lost_events = rise;
	}
}

static void count_gap(struct native_packet *x, const struct native_packet *before)
{
	if (!before || !x->p.has_seq || !before->p.has_seq || x->p.seq <= before->p.seq ||
	    x->p.seq - before->p.seq == 1)
		return;
	x->lost_packets = x->p.seq - before->p.seq - 1;
	g_assert(x->lost_packets > 0);
	x->gap_begin_ns = before->end_ns == INT64_MAX ? before->begin_ns : before->end_ns;
	x->has_gap = true;
}

/* A packet that is full to its last byte is closed at once. Events discarded before the next packet begins are
 * counted in the next packet. */
static void count_discarded_between(struct native_packet *x, const struct native_packet *before)
{
	if (!before || !x->has_lost || x->has_gap || x->p.fault == CTF_GARBAGE || before->p.fault == CTF_GARBAGE ||
	    before->end_ns >= x->begin_ns)
		return;
	x->gap_begin_ns = before->end_ns;
	x->has_gap = x->is_gap_discarded = true;
}

static void count_losses(struct native_packet *x, const struct native_packet *before)
{
	count_lost(x, before);
	count_gap(x, before);
	count_discarded_between(x, before);
}

/* Packets between the two are not lost, but not known yet. */
static bool after_hole(const struct native_packet *x, const struct native_packet *before)
{
	return x->file == before->file && !ctf_index_complete(x->file->index) &&
	       x->p.offset != before->p.offset + before->p.packet_bits / 8;
}

/* The packet begins with its first event if that is earlier, as the writer read the clock for it before it began the
 * packet; but not before the end of the previous packet. */
static int64_t begin_ns(const struct native_stream *st, const struct native_packet *x,
			const struct native_packet *before)
{
	int64_t begin = native_ns_clamped(&st->clock, x->p.begin);
	if (!x->p.has_first || x->p.first >= x->p.begin || x->p.fault != CTF_WHOLE)
		return begin;
	int64_t first = native_ns_clamped(&st->clock, x->p.first);
	int64_t earliest = !before ? begin - MIN(NATIVE_EARLY_NS, begin + TIME_MOST_NS) :
		before->end_ns == INT64_MAX ? before->begin_ns : before->max_end_ns;
	return first >= earliest ? first : begin;
}

/* A packet with impossible times becomes garbage. */
static void set_times(const struct native_stream *st, struct native_packet *x,
		      const struct native_packet *before)
{
	x->end_ns = INT64_MAX;
	if (x->p.fault == CTF_GARBAGE) {
		x->begin_ns = !before ? 0 : before->max_end_ns < INT64_MAX ? before->max_end_ns
									 : before->begin_ns;
		return;
	}
	x->begin_ns = x->p.has_begin || !before ? begin_ns(st, x, before) : before->begin_ns;
	if (x->p.fault != CTF_UNFINISHED && x->p.has_end)
		x->end_ns = MAX(x->begin_ns, native_ns_clamped(&st->clock, x->p.end));
	if (native_is_out_of_range(x->begin_ns) || (x->end_ns != INT64_MAX && native_is_out_of_range(x->end_ns))) {
		x->p.fault = CTF_GARBAGE;
		set_times(st, x, before);
	}
}

/* An unfinished packet may have events up to `unfinished_to`. */
static void set_max_end(struct native_packet *x, const struct native_packet *before,
			int64_t unfinished_to)
{
	x->max_end_ns = x->end_ns == INT64_MAX ? MAX(x->begin_ns, unfinished_to) : x->end_ns;
	if (before)
		x->max_end_ns = MAX(before->max_end_ns, x->max_end_ns);
	g_assert(x->begin_ns <= x->max_end_ns);
}

void native_packet_place(const struct native_stream *st, struct native_packet *x,
			 const struct native_packet *before)
{
	set_times(st, x, before);
	set_max_end(x, before, INT64_MIN);
	count_losses(x, before);
}

/* INT64_MAX: unknown. Garbage comes last and has no time. */
static int64_t begin_of_next(const struct native_stream *st, const struct native_packet *p, size_t i,
			     size_t n)
{
	bool known = i + 1 < n && p[i + 1].p.fault != CTF_GARBAGE;
	return known ? native_ns_clamped(&st->clock, p[i + 1].p.begin) : INT64_MAX;
}

static void place_packets(const struct native_stream *st, struct native_packet *p, size_t n)
{
	const struct native_packet *before = NULL;
	for (size_t i = 0; i < n; i++) {
		struct native_packet *x = &p[i];
		set_times(st, x, before);
		set_max_end(x, before, begin_of_next(st, p, i, n));
		x->discarded_max = x->p.discarded;
		if (!before || !after_hole(x, before))
			count_losses(x, before);
		g_assert(!before || before->max_end_ns <= x->max_end_ns);	/* native_plan_find() searches them */
		before = x;
	}
}

/* In a file that is walked backwards, unknown packets lie before the known ones. */
static int64_t known_from(const struct native *n, const struct native_plan *plan)
{
	int64_t from = INT64_MIN;
	PTR_EACH(const struct native_file, f, n->files) {
		size_t n_packets;
		const struct ctf_packet *p = ctf_index_packets(f->index, &n_packets);
		if (ctf_index_complete(f->index))
			continue;
		/* Packets that reach the file's end can be read from some instant on; others cannot. */
		bool to_end = n_packets && p[n_packets - 1].offset +
			p[n_packets - 1].packet_bits / 8 >= ctf_index_size(f->index);
		if (!to_end)
			return INT64_MAX;
		for (size_t k = 0; k < n_packets; k++) {
			if (k && p[k].offset != p[k - 1].offset + p[k - 1].packet_bits / 8)
				from = MAX(from, native_ns_clamped(&f->stream->clock, p[k].begin));
		}
		from = MAX(from, native_ns_clamped(&f->stream->clock,
							  p[p[0].offset ? 0 : n_packets > 1].begin));
	}
	return from;
}

/* ---- times between sessions ---- */

struct tracing {			/* a CPU, traced by one stream */
	const struct native_stream *stream;
	struct native_packet *first;
	int64_t end_ns;			/* INT64_MAX: not known */
};

int native_compare_hosts(const struct native_stream *x, const struct native_stream *y)
{
	int order = strcmp(x->host, y->host);
	return order ? order : strcmp(x->boot, y->boot);
}

static int compare_cpus(const struct tracing *x, const struct tracing *y)
{
	int order = native_compare_hosts(x->stream, y->stream);
	if (!order)
		order = (x->stream->info.cpu > y->stream->info.cpu) -
			(x->stream->info.cpu < y->stream->info.cpu);
	return order;
}

static int compare_tracings(const void *a, const void *b)
{
	const struct tracing *x = a, *y = b;
	int order = compare_cpus(x, y);
	if (!order)
		order = (x->first->begin_ns > y->first->begin_ns) -
			(x->first->begin_ns < y->first->begin_ns);
	return order ? order : strcmp(x->stream->info.order, y->stream->info.order);
}

bool native_stream_whole(const struct native_stream *st)
{
	for (guint i = 0; i < st->files->len; i++)
		if (!ctf_index_complete(((const struct native_file *)st->files->pdata[i])->index))
			return false;
	return true;
}

/* Marks the silence before a CPU's stream if all other streams of that CPU ended before. Packets that are not known
 * yet lie before known_from, and so does a silence that ends with one of them. */
static void place_silences(const struct native *n, struct native_plan *plan)
{
	g_autoptr(GArray) all = g_array_new(false, false, sizeof(struct tracing));
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_plan_stream *s = &plan->stream[i];
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		if (st->info.domain != BLK_DOMAIN_KERNEL || st->info.cpu == UINT32_MAX || !s->n ||
		    s->packet->p.fault == CTF_GARBAGE)
			continue;
		struct tracing t = { st, s->packet, s->packet[s->n - 1].max_end_ns };
		g_array_append_val(all, t);
	}
	g_array_sort(all, compare_tracings);
	for (guint i = 1; i < all->len; i++) {
		const struct tracing *before = &g_array_index(all, struct tracing, i - 1);
		struct tracing *t = &g_array_index(all, struct tracing, i);
		if (compare_cpus(before, t))
			continue;
		if (before->end_ns < t->first->begin_ns - 1 && native_stream_whole(t->stream)) {
			t->first->has_gap = true;
			t->first->gap_begin_ns = before->end_ns + 1;
		}
		t->end_ns = MAX(t->end_ns, before->end_ns);
	}
}

void native_plan_make(struct native *n)
{
	struct native_plan *plan = g_new0(struct native_plan, 1);
	g_atomic_ref_count_init(&plan->refs);
	plan->n_streams = n->streams->len;
	plan->stream = g_new0(struct native_plan_stream, plan->n_streams + 1);
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		GArray *all = g_array_new(false, false, sizeof(struct native_packet));
		for (guint k = 0; k < st->files->len; k++)
			append_file(all, g_ptr_array_index(st->files, k));
		sort_packets(all);
		drop_doubles(all);
		plan->stream[i].n = all->len;
		plan->stream[i].packet = (struct native_packet *)g_array_free(all, false);
		place_packets(st, plan->stream[i].packet, plan->stream[i].n);
		for (size_t k = 0; k < plan->stream[i].n; k++)
			plan->bytes += plan->stream[i].packet[k].p.packet_bits / 8;
	}
	place_silences(n, plan);
	native_place_pauses(n, plan);
	plan->known_from = known_from(n, plan);
	g_mutex_lock(&n->lock);
	struct native_plan *old = n->plan;
	n->plan = plan;
	g_mutex_unlock(&n->lock);
	native_plan_unref(old);
}

/* ---- queries ---- */

int64_t native_known_from(const struct native *n)
{
	return n->plan->known_from;
}

size_t native_plan_find(const struct native_plan_stream *s, int64_t from)
{
	if (from > INT64_MIN + NATIVE_OVERHANG_NS)
		from -= NATIVE_OVERHANG_NS;
	size_t lo = FIRST_INDEX(i, s->n, s->packet[i].max_end_ns >= from);
	/* If packets overlap, the previous one is needed: its last timestamp decides which events here are clamped.
	 * A packet that ends later than all before it needs no other. */
	while (lo > 0 && lo < s->n && s->packet[lo].begin_ns < s->packet[lo - 1].max_end_ns) {
		lo--;
		if (lo > 0 && s->packet[lo].end_ns > s->packet[lo - 1].max_end_ns)
			break;
	}
	return lo;
}

static int64_t end_of(const struct native_packet *x)
{
	return x->end_ns == INT64_MAX ? x->begin_ns : x->end_ns;
}

bool native_bounds(const struct native *n, int64_t *ret_from, int64_t *ret_to)
{
	const struct native_plan *p = n->plan;
	bool any = false;
	for (size_t i = 0; i < p->n_streams; i++) {
		for (size_t k = 0; k < p->stream[i].n; k++) {
			const struct native_packet *x = &p->stream[i].packet[k];
			if (x->p.fault == CTF_GARBAGE)
				continue;
			*ret_from = any ? MIN(*ret_from, x->begin_ns) : x->begin_ns;
			*ret_to = any ? MAX(*ret_to, end_of(x)) : end_of(x);
			any = true;
		}
	}
	return any;
}

/* The packet's bytes in [from, to), in proportion to its time. */
static uint64_t share(const struct native_packet *x, int64_t from, int64_t to)
{
	int64_t begin = x->begin_ns, end = end_of(x);
	uint64_t bytes = x->p.packet_bits / 8;
	if (end <= begin)
		return begin >= from && begin < to ? bytes : 0;
	int64_t a = MAX(begin, from), b = MIN(end, to);
	return a < b ? (uint64_t)((double)bytes * ((double)(b - a) / (double)(end - begin))) : 0;
}

uint64_t native_plan_bytes(const struct native_plan *p, int64_t from, int64_t to)
{
	uint64_t bytes = 0;
	if (from == INT64_MIN && to == INT64_MAX)
		return p->bytes;
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct native_plan_stream *s = &p->stream[i];
		for (size_t k = native_plan_find(s, from); k < s->n; k++) {
			if (s->packet[k].begin_ns >= to)
				break;
			bytes += share(&s->packet[k], from, to);
		}
	}
	return bytes;
}

uint64_t native_bytes_between(const struct native *n, int64_t from, int64_t to)
{
	return native_plan_bytes(n->plan, from, to);
}

int64_t native_read_from(const struct native *n, int64_t from)
{
	const struct native_plan *p = n->plan;
	int64_t begin = from;
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct native_plan_stream *s = &p->stream[i];
		size_t first = native_plan_find(s, from);
		if (first < s->n && s->packet[first].p.fault != CTF_GARBAGE)
			begin = MIN(begin, s->packet[first].begin_ns);
	}
	return begin;
}

/* At ts the sum of rates (bytes/ns) and of bytes of packets that a cut would divide change by this much. */
struct edge { int64_t ts; double rate, divided; };

/* Both pieces beside a cut decode the packets that it divides. That is no problem with LTTng's sub-buffers; but huge
 * packets shall not be decoded once for each piece. */
#define FEW_DIVIDED (64.0 * (1 << 20))	/* bytes */
#define MOST_DIVIDED 4			/* times the bytes of a piece */

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	return ORDER(x->ts, y->ts);
}

static GArray *make_edges(const struct native_plan *p, int64_t from, int64_t to, double *ret_bytes)
{
	GArray *edges = g_array_new(false, false, sizeof(struct edge));
	for (size_t i = 0; i < p->n_streams; i++) {
		for (size_t k = 0; k < p->stream[i].n; k++) {
			const struct native_packet *x = &p->stream[i].packet[k];
			int64_t begin = x->begin_ns, end = MAX(end_of(x), begin + 1);
			double rate = (double)(x->p.packet_bits / 8) / (double)(end - begin);
			begin = MAX(begin, from);
			end = MIN(end, to);
			if (begin >= end)
				continue;
			*ret_bytes += rate * (double)(end - begin);
			double all = (double)(x->p.packet_bits / 8);
			struct edge up = { begin, rate, all }, down = { end, -rate, -all };
			g_array_append_val(edges, up);
			g_array_append_val(edges, down);
		}
	}
	g_array_sort(edges, compare_edges);
	return edges;
}

/*
 * Where no cut is allowed. If a CPU has several streams (channels), events of one stream show what runs on the CPU
 * while another stream loses events. A piece that begins during the loss does not have that knowledge. Where in its
 * packet a stream loses events is not known before it is read, so the whole packet counts.
 */
struct uncut { int64_t begin, end; };		/* (begin, end] */

static int compare_uncut(const void *a, const void *b)
{
	const struct uncut *x = a, *y = b;
	return ORDER(x->begin, y->begin);
}

static bool shares_cpu(const struct native *n, size_t stream)
{
	const struct native_stream *st = g_ptr_array_index(n->streams, stream);
	if (st->info.domain != BLK_DOMAIN_KERNEL || st->info.cpu == UINT32_MAX)
		return false;
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *other = g_ptr_array_index(n->streams, i);
		if (i != stream && other->info.domain == BLK_DOMAIN_KERNEL &&
		    !compare_cpus(&(struct tracing){ .stream = st }, &(struct tracing){ .stream = other }))
			return true;
	}
	return false;
}

static void add_uncut(GArray *all, int64_t begin, int64_t end)
{
	g_array_append_val(all, ((struct uncut){ begin, end }));
}

static GArray *make_uncut(const struct native *n, const struct native_plan *p)
{
	GArray *all = g_array_new(false, false, sizeof(struct uncut));
	for (size_t i = 0; i < p->n_streams; i++) {
		if (!shares_cpu(n, i))
			continue;
		for (size_t k = 0; k < p->stream[i].n; k++) {
			const struct native_packet *x = &p->stream[i].packet[k];
			if (x->has_gap)
				add_uncut(all, x->gap_begin_ns, x->begin_ns);
			if (x->has_lost || x->is_paused)
				add_uncut(all, x->begin_ns, end_of(x));
		}
	}
	g_array_sort(all, compare_uncut);
	return all;
}

/* The next instant at or after `cut` where a cut is allowed; *i is where the search continues. */
static int64_t next_cut(const GArray *uncut, guint *i, int64_t cut)
{
	for (; *i < uncut->len && g_array_index(uncut, struct uncut, *i).begin < cut; (*i)++) {
		int64_t end = g_array_index(uncut, struct uncut, *i).end;
		if (cut <= end)
			cut = end < INT64_MAX ? end + 1 : end;
	}
	return cut;
}

size_t native_cuts(const struct native *n, int64_t from, int64_t to, size_t n_pieces, int64_t *ret)
{
	const struct native_plan *p = n->plan;
	double all = 0, done = 0, rate = 0, divided = 0;
	g_autoptr(GArray) edges = make_edges(p, from, to, &all);
	g_autoptr(GArray) uncut = make_uncut(n, p);
	const double most_divided = MAX(FEW_DIVIDED, MOST_DIVIDED * all / (double)n_pieces);
	size_t n_cuts = 0;
	guint passed = 0;
	for (guint i = 0; i + 1 < edges->len && n_cuts + 1 < n_pieces; i++) {
		const struct edge *e = &g_array_index(edges, struct edge, i);
		int64_t next = e[1].ts;
		rate += e->rate;
		divided += e->divided;
		double bytes = rate * (double)(next - e->ts);
		while (n_cuts + 1 < n_pieces && rate > 0) {
			double goal = all * (double)(n_cuts + 1) / (double)n_pieces;
			if (done + bytes < goal)
				break;
			int64_t cut = e->ts + (int64_t)((goal - done) / rate);
			cut = next_cut(uncut, &passed, CLAMP(cut, e->ts, next));
			if (cut <= from || cut >= to || (n_cuts && cut <= ret[n_cuts - 1]) || divided > most_divided) {
				n_pieces--;	/* make one piece less */
				continue;
			}
			g_assert(n_cuts + 1 < n_pieces);
			ret[n_cuts++] = cut;
		}
		done += bytes;
	}
	return n_cuts;
}

/* ---- the outline ---- */

static int64_t floor_to(int64_t ts, int64_t step)
{
	return ts - ((ts % step) + step) % step;
}

/* A round step with which at most max_cells cells cover the time. */
static int64_t choose_step(int64_t length, size_t max_cells)
{
	static const int seconds[] = { 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600,
				       86400, 604800 };
	for (size_t i = 0; i < G_N_ELEMENTS(seconds); i++)
		if (length / (seconds[i] * NS_PER_S) + 2 <= (int64_t)max_cells)
			return seconds[i] * NS_PER_S;
	return (length / (int64_t)max_cells / NS_PER_S + 1) * 2 * NS_PER_S;
}

static void draw_packet(struct outline *o, const struct native_packet *x)
{
	int64_t begin = x->begin_ns, end = end_of(x);
	size_t first = (size_t)((begin - o->begin_ns) / o->step_ns);
	size_t last = (size_t)((end - o->begin_ns) / o->step_ns);
	uint64_t left = x->p.packet_bits / 8;
	if (x->p.fault == CTF_GARBAGE)
		return;
	g_assert(first <= last && last < o->n);
	o->cell[last].lost_events += x->lost_events;
	o->cell[first].lost_packets += x->lost_packets;
	for (size_t i = first; i < last; i++) {
		int64_t from = o->begin_ns + (int64_t)i * o->step_ns;
		uint64_t part = MIN(left, share(x, from, from + o->step_ns));
		o->cell[i].bytes += part;
		left -= part;
	}
	o->cell[last].bytes += left;
}

struct outline *native_outline(const struct native *n, size_t max_cells)
{
	int64_t from, to;
	if (!native_bounds(n, &from, &to) || max_cells < 2)
		return NULL;
	/* Hostile clocks: no outline if the length overflows. */
	if (__builtin_sub_overflow(to, from, &(int64_t){ 0 }) || to > INT64_MAX / 2 || from < INT64_MIN / 2)
		return NULL;
	const struct native_plan *p = n->plan;
	struct outline *o = g_new0(struct outline, 1);
	g_atomic_ref_count_init(&o->refs);
	o->from_ns = from;
	o->to_ns = to + 1;
	o->step_ns = choose_step(to - from, max_cells);
	o->begin_ns = floor_to(from, o->step_ns);
	o->complete = p->known_from == INT64_MIN;
	o->bytes = n->bytes;
	g_assert(o->begin_ns <= from && from - o->begin_ns < o->step_ns);
	o->n = (size_t)((to - o->begin_ns) / o->step_ns) + 1;
	o->cell = g_new0(struct outline_cell, o->n);
	for (size_t i = 0; i < p->n_streams; i++)
		for (size_t k = 0; k < p->stream[i].n; k++)
			draw_packet(o, &p->stream[i].packet[k]);
	return o;
}
