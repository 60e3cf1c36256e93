/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices as files: what is read is what was written, the laws of slices hold over files, and damaged files are refused.
 */
#include "base/limits.h"
#include "lib/inspect.h"
#include "lib/report.h"
#include "lib/slices.h"
#include "lib/test_traces.h"
#include "lib/traces.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/counts.h"
#include "state/kernel/facts.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/slice/pack.h"
#include "state/slice/slice_file.h"

static const struct slice_piece whole = { .from = INT64_MIN, .to = INT64_MAX };

/* ---- the laws over files ---- */

/* Merges neighbours in random order; results go through files. The first slice may know that it begins the trace. */
static struct slice *random_tree(GPtrArray *slices)
{
	if (g_test_rand_bit())
		slice_begins_trace(g_ptr_array_index(slices, 0));
	while (slices->len > 1) {
		guint i = (guint)g_test_rand_int_range(0, (gint32)slices->len - 1);
		g_ptr_array_index(slices, i) = slices_at_random(slice_stitch(g_ptr_array_index(slices, i),
									     g_ptr_array_index(slices, i + 1)));
		g_ptr_array_remove_index(slices, i + 1);
		if (g_test_rand_bit())
			slice_begins_trace(g_ptr_array_index(slices, 0));
	}
	return g_ptr_array_index(slices, 0);
}

static void check_laws(const char *name, const struct recording *r, unsigned n)
{
	g_autofree char *expected = report_of_slice(slices_of(r, 0, recording_n(r), true));
	g_autoptr(GArray) cuts = slices_random_cuts(r, n);
	g_autoptr(GPtrArray) slices = g_ptr_array_new();
	for (guint i = 0; i + 1 < cuts->len; i++)
		g_ptr_array_add(slices, slices_at_random(slices_of(r, g_array_index(cuts, size_t, i),
								   g_array_index(cuts, size_t, i + 1), false)));
	g_autofree char *got = report_of_slice(slice_root(random_tree(slices)));
	g_autofree char *what = g_strdup_printf("%s in %u files, cut first at %zu", name, n,
						g_array_index(cuts, size_t, 1));
	report_assert_equal(what, expected, got);
}

static void test_laws(gconstpointer data)
{
	struct recording *r = traces_record(data);
	if (!r)
		return;
	check_laws(data, r, 1);
	check_laws(data, r, (unsigned)g_test_rand_int_range(2, 17));
	recording_free(r);
}

/* What follows from the kernel's version: that of a file, too. Flushes of Linux 3.6 have no completion. */
static struct recording *old_kernel(void)
{
	return traces_record_script(
		"1000000010 0 !release 3.6.11-1-ARCH\n"
		"1000000012 0 block_rq_issue dev=1 sector=-1 rwbs=17 nr_sector=0 bytes=0 tid=5\n"
		"1000000020 0 block_rq_issue dev=1 sector=8 rwbs=17 nr_sector=8 bytes=0 tid=0\n"
		"1000000030 0 block_rq_complete dev=1 sector=8 rwbs=17 nr_sector=8 errors=0\n"
		"1000000031 0 block_rq_issue dev=1 sector=-1 rwbs=17 nr_sector=0 bytes=0 tid=0\n"
		"1000000040 0 block_rq_complete dev=1 sector=8 rwbs=17 nr_sector=0 errors=0\n"
		"1000000057 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1024 next_comm=\"b\" "
		"next_tid=2 next_prio=20\n");
}

static void test_old_kernel(void)
{
	struct recording *r = old_kernel();

	for (int i = 0; i < 8; i++)
		check_laws("an old kernel", r, (unsigned)g_test_rand_int_range(1, 5));
	recording_free(r);
}

/* Restarts of an interrupted call, in several seconds: which call it was is known from the first slice. */
static void test_restart(void)
{
#define SIGNALLED(s, ret) s "800000000 0 sched_switch prev_tid=7 prev_state=0 next_tid=0\n" \
	s "900000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n" \
	s "910000000 0 syscall_exit_restart_syscall ret=" ret "\n"
#define SLEEPS(s, call) s "000000000 0 syscall_entry_" call " ctx.tid=7\n" \
	s "100000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n" \
	s "700000000 1 sched_waking tid=7 target_cpu=0\n" \
	s "750000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
	struct recording *r = traces_record_script(
		SLEEPS("1", "futex uaddr=4096 op=0 val=1") "1910000000 0 syscall_exit_futex ret=-516\n"
		SLEEPS("2", "restart_syscall") SIGNALLED("2", "-516")
		SLEEPS("3", "restart_syscall") SIGNALLED("3", "-516")
		SLEEPS("4", "restart_syscall") SIGNALLED("4", "-4")
		SLEEPS("5", "restart_syscall") SIGNALLED("5", "0"));

	for (int i = 0; i < 64; i++)
		check_laws("restarts", r, (unsigned)g_test_rand_int_range(1, 9));
	recording_free(r);
#undef SIGNALLED
#undef SLEEPS
}

/* Block events that are outside of packs, before or after those in packs, without any fact about names. */
static void check_packed_and_not(const struct recording *r, size_t cut, size_t end, bool first)
{
	g_autofree char *expected = report_of_slice(slices_of(r, 0, end, true));
	struct slice *a = slices_of(r, 0, cut, false), *b = slices_of(r, cut, end, false);
	if (first)
		a = slices_packed(a);
	else
		b = slices_packed(b);
	g_autofree char *what = g_strdup_printf("%zu records, cut at %zu, %s part packed", end, cut,
						first ? "first" : "second");
	g_autofree char *got = report_of_slice(slice_root(slice_stitch(a, b)));
	report_assert_equal(what, expected, got);
}

static void test_outside_of_packs(void)
{
	struct recording *r = old_kernel();

	for (size_t end = 2; end <= recording_n(r); end++) {
		for (size_t cut = 1; cut < end; cut++) {
			check_packed_and_not(r, cut, end, true);
			check_packed_and_not(r, cut, end, false);
		}
	}
	recording_free(r);
}

/* ---- damage ---- */

/* Everything that a slice can have, in few bytes. */
static const char script[] =
	"1000000000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 next_comm=\"b\" next_tid=2 "
	"next_prio=20\n"
	"1000001000 0 syscall_entry_openat dfd=-100 filename=\"/etc/passwd\" flags=0 ctx.tid=2 ctx.pid=2 "
	"ctx.procname=\"b\"\n"
	"1000002000 0 syscall_exit_openat ret=3 ctx.tid=2 ctx.pid=2 ctx.procname=\"b\"\n"
	"1000003000 0 syscall_entry_read fd=3 count=100 ctx.tid=2 ctx.pid=2 ctx.procname=\"b\"\n"
	"1000004000 1 sched_waking comm=\"a\" tid=1 prio=20 target_cpu=0\n"
	"1000005000 0 sched_switch prev_comm=\"b\" prev_tid=2 prev_prio=20 prev_state=1 next_comm=\"a\" next_tid=1 "
	"next_prio=20\n"
	"1000006000 0 u:zipkin:timestamp trace_id=7 span_id=8 parent_span_id=0 event=\"sr\" trace_name=\"get\" "
	"service_name=\"web\" port_no=1 ip=\"::1\" ctx.vtid=1 ctx.vpid=1\n"
	"1000007000 0 block_rq_insert dev=8388608 sector=8 nr_sector=8 bytes=4096 rwbs=1 tid=1 comm=\"a\"\n"
	"2000000000 1 !lost events=3 packets=0 begin=1900000000 end=2000000000\n"
	"2000001000 0 syscall_exit_read ret=100 ctx.tid=1 ctx.pid=1 ctx.procname=\"a\"\n"
	"2000002000 0 u:zipkin:timestamp trace_id=7 span_id=8 parent_span_id=0 event=\"ss\" trace_name=\"get\" "
	"service_name=\"web\" port_no=1 ip=\"::1\" ctx.vtid=1 ctx.vpid=1\n";

static GByteArray *small_file(void)
{
	g_autoptr(GError) error = NULL;
	struct recording *r = traces_record_script(script);
	struct slice *s = slices_of(r, 0, recording_n(r), false);
	GByteArray *bytes = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	slice_free(s);
	recording_free(r);
	return bytes;
}

static void assert_refused(const uint8_t *bytes, size_t n)
{
	g_autoptr(GError) error = NULL;
	g_assert_null(slices_from_bytes(bytes, n, &error));
	g_assert_nonnull(error);
	g_assert_cmpuint(strlen(error->message), >, 20);
}

static void test_cut_off(void)
{
	g_autoptr(GByteArray) bytes = small_file();
	for (size_t n = 0; n < bytes->len; n++)
		assert_refused(bytes->data, n);
	g_byte_array_append(bytes, (const guint8 *)"", 1);
	assert_refused(bytes->data, bytes->len);
}

/* Every byte is in a checksum. */
static void test_flipped(void)
{
	g_autoptr(GByteArray) bytes = small_file();
	for (size_t i = 0; i < bytes->len; i++) {
		uint8_t was = bytes->data[i];
		bytes->data[i] ^= (uint8_t)(1 << g_test_rand_int_range(0, 8));
		assert_refused(bytes->data, bytes->len);
		bytes->data[i] = was;
	}
	g_autoptr(GError) error = NULL;
	struct slice *s = slices_from_bytes(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	slice_free(s);
}

static void test_reasons(void)
{
	g_autoptr(GError) version = NULL, section = NULL, other = NULL;
	g_autoptr(GByteArray) bytes = small_file();
	bytes->data[bytes->len - 1] ^= 1;
	g_assert_null(slices_from_bytes(bytes->data, bytes->len, &section));
	g_assert_nonnull(strstr(section->message, "section 'seconds': "));
	g_assert_nonnull(strstr(section->message, "checksum"));
	bytes->data[8] = SLICE_FILE_VERSION + 1;
	g_assert_null(slices_from_bytes(bytes->data, bytes->len, &version));
	g_autofree char *says = g_strdup_printf("a slice of version %d; this blktop reads version %d",
						SLICE_FILE_VERSION + 1, SLICE_FILE_VERSION);
	g_assert_nonnull(strstr(version->message, says));
	g_assert_null(slices_from_bytes((const uint8_t *)"a text of some bytes", 20, &other));
	g_assert_nonnull(strstr(other->message, "does not begin with BLKSLICE"));
}

/* ---- wrong contents, with right checksums ---- */

static struct thread *first_thread(const struct slice *s)
{
	return g_ptr_array_index(s->threads, 0);
}

static void code_of_waker(struct slice *s)
{
	first_thread(s)->st.waker_irq = 7;
}

static void wakeup_of_none(struct slice *s)
{
	const struct irq_note note = { .kind = IRQ_WOKE, .thread = ID_NONE };
	g_array_append_val(cpu_at(s, 0)->irq_head, note);
}

static void handler_at_no_time(struct slice *s)
{
	const struct irq_note note = { .kind = IRQ_ENDED, .thread = ID_NONE, .ts = INT64_MIN };
	g_array_append_val(cpu_at(s, 0)->irq_head, note);
}

static void call_without_kind(struct slice *s)
{
	first_thread(s)->st.call_state = CALL_IN;
	first_thread(s)->st.call = (struct call){ .name = 1, .busy_from = s->first };
}

static void call_of_all_time(struct slice *s)
{
	first_thread(s)->st.call_state = CALL_IN;
	first_thread(s)->st.call = (struct call){ .name = 1, .busy_from = INT64_MIN, .info = call_info("read") };
}

static void begins_late(struct slice *s)	/* after its annotations and block requests */
{
	s->first += SLICES_STEP / 2;
}

static void too_few_events(struct slice *s)
{
	s->seq = 3;
}

static void too_many_events(struct slice *s)
{
	s->seq = UINT64_MAX;
}

static void counters_of_none(struct slice *s)
{
	struct annot *last = &g_array_index(s->annots, struct annot, s->annots->len - 1);
	g_assert_nonnull(last->snap);
	last->thread = ID_NONE;
}

static void empty_with_an_end(struct slice *s)
{
	slice_drop_seconds(s);
	s->first = INT64_MAX;
	s->last = 5;
}

static struct thread *thread_of_tid(const struct slice *s, int32_t tid)
{
	for (guint i = 0; i < s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(s->threads, i);
		if (t->tid == tid)
			return t;
	}
	g_assert_not_reached();
}

static void continues_another(struct slice *s)
{
	thread_of_tid(s, 2)->forward = thread_of_tid(s, 1)->self;
}

static void idle_of_another(struct slice *s)
{
	thread_of_tid(s, 2)->idle = true;
}

static void cpu_known_at_the_end_of_time(struct slice *s)
{
	cpu_at(s, 0)->first_known = true;
	cpu_at(s, 0)->first_ns = INT64_MAX;
}

static void call_ends_at_the_end_of_time(struct slice *s)
{
	first_thread(s)->initial_end = INITIAL_BY_EXIT;
	first_thread(s)->initial_exit.ts = INT64_MAX;
}

static void call_ends_before_all_time(struct slice *s)
{
	first_thread(s)->initial_end = INITIAL_BY_EXIT;
	first_thread(s)->initial_exit.ts = INT64_MIN;
}

static void counter_of_no_time(struct slice *s)
{
	const struct counter x = { .first_ts = INT64_MIN, .first_thread = ID_NONE };
	if (!cpu_at(s, 0)->counters)
		cpu_at(s, 0)->counters = g_array_new(false, false, sizeof x);
	g_array_append_val(cpu_at(s, 0)->counters, x);
}

/* What fuzzing found: a file with it was read, and broke what came after. */
static void test_wrong(void)
{
	static const struct { void (*spoil)(struct slice *s); const char *reason; } all[] = {
		{ code_of_waker, "an interrupt is wrong" }, { wakeup_of_none, "a wakeup has no thread" },
		{ handler_at_no_time, "an event is outside of the coverage" },
		{ counter_of_no_time, "an event is outside of the coverage" },
		{ call_without_kind, "a thread's call is wrong" }, { call_of_all_time, "a thread's call is wrong" },
		{ begins_late, "an event is outside of the coverage" },
		{ too_few_events, "an event's number is too large" },
		{ too_many_events, "the summary contradicts itself" },
		{ counters_of_none, "an annotation has the counters of no thread" },
		{ empty_with_an_end, "the summary contradicts itself" },
		{ continues_another, "a thread continues another one's" },
		{ idle_of_another, "an idle task is another CPU's" },
		{ cpu_known_at_the_end_of_time, "an event is outside of the coverage" },
		{ call_ends_at_the_end_of_time, "an event is outside of the coverage" },
		{ call_ends_before_all_time, "an event is outside of the coverage" },
	};
	struct recording *r = traces_record_script(script);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		g_autoptr(GError) error = NULL;
		struct slice *s = slices_of(r, 0, recording_n(r), false);
		all[i].spoil(s);
		g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);
		if (bytes)
			g_assert_null(slices_from_bytes(bytes->data, bytes->len, &error));
		if (!strstr(error->message, all[i].reason))
			g_error("%s, not %s", error->message, all[i].reason);
		slice_free(s);
	}
	recording_free(r);
}

static void put_checksum(uint8_t *to, const uint8_t *bytes, size_t n)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize len = sizeof digest;
	g_checksum_update(sum, bytes, (gssize)n);
	g_checksum_get_digest(sum, digest, &len);
	memcpy(to, digest, 4);
}

/* A list of threads that names one, in a slice that has none. */
static void test_no_such_thread(void)
{
	enum { ROWS = 16, ROW = 32, SECTIONS = 7, THREADS = 3 };
	g_autoptr(GError) error = NULL;
	struct slice *s = slice_new(false, SLICES_STEP);
	g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	slice_free(s);
	uint8_t *row = bytes->data + ROWS + THREADS * ROW;
	uint8_t *section = bytes->data + (row[0] | row[1] << 8);
	g_assert_cmpuint(row[8], ==, 3);		/* no columns, two empty lists */
	section[1] = 1;
	put_checksum(row + 24, section, 3);
	put_checksum(bytes->data + ROWS + SECTIONS * ROW, bytes->data, ROWS + SECTIONS * ROW);
	g_assert_null(slices_from_bytes(bytes->data, bytes->len, &error));
	g_assert_nonnull(strstr(error->message, "section 'threads': "));
}

/* Where packs stay in a file, its bytes are checked when they are copied, and when they are decoded. */
static void test_changed_file(void)
{
	g_autoptr(GError) copied = NULL, decoded = NULL, error = NULL;
	g_autoptr(GByteArray) bytes = small_file();
	g_autofree char *dir = test_temp_dir(), *path = g_build_filename(dir, "a.blkslice", NULL);
	g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error);
	g_assert_no_error(error);
	struct slice *s = slice_file_open(path, SLICE_PACKED, NULL, &error);
	g_assert_no_error(error);
	bytes->data[bytes->len - 1] ^= 1;
	g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error);
	g_assert_no_error(error);
	g_assert_null(slices_bytes(s, &whole, &copied));
	g_assert_nonnull(strstr(copied->message, "a.blkslice: the checksum of a part is another one"));
	g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len / 2, &error);
	g_assert_no_error(error);
	g_assert_false(slice_unpack(s, &decoded));
	g_assert_nonnull(strstr(decoded->message, "a.blkslice: not a slice that can be read: it is cut off"));
	slice_free(s);
	test_remove_tree(dir);
}

/* An annotation of a file may name any wait: only those that are there are visited. */
static void test_far_waits(void)
{
	g_autoptr(GError) error = NULL;
	struct recording *r = traces_record_script(script);
	struct slice *s = slices_of(r, 0, recording_n(r), false);
	struct annot *last = &g_array_index(s->annots, struct annot, s->annots->len - 1);
	g_assert_nonnull(last->snap);
	last->snap->wait_index = UINT64_MAX / 2;
	g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	slice_free(s);
	s = slices_from_bytes(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	g_autofree char *report = report_of_slice(slice_root(s));
	g_assert_cmpuint(strlen(report), >, 100);
	recording_free(r);
}

/* ---- few bytes that take much memory ---- */

/* A slice of a recording takes less than what its file allows, without any of --memory. */
static void test_honest(gconstpointer data)
{
	g_autoptr(GError) error = NULL;
	struct recording *r = traces_record(data);
	if (!r)
		return;
	struct slice *s = slices_of(r, 0, recording_n(r), false);
	g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);

	g_assert_no_error(error);
	slice_free(s);
	slice_bound_memory(0);
	s = slices_from_bytes(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	g_test_message("%u bytes take %.1f times as many", bytes->len,
		       (double)s->taken / bytes->len + LIMIT_SLICE_RATIO);
	slice_free(s);
	slice_bound_memory(SIZE_MAX);
	recording_free(r);
}

#define MANY 200000u		/* of each: some 10 MB, and some kB in a file */

static void many_facts(struct slice *s)
{
	const struct fact f = g_array_index(s->facts, struct fact, 0);

	s->facts_sorted = 0;
	for (unsigned i = 0; i < MANY; i++)
		g_array_append_val(s->facts, f);
}

static void many_annotations(struct slice *s)
{
	struct annot a = g_array_index(s->annots, struct annot, s->annots->len - 1);

	a.snap = 0;
	for (unsigned i = 0; i < MANY; i++)
		g_array_append_val(s->annots, a);
}

static void many_cells(struct slice *s)
{
	GHashTableIter it;
	gpointer value;

	g_hash_table_iter_init(&it, s->bins);
	g_assert_true(g_hash_table_iter_next(&it, NULL, &value));
	struct cell_table *t = &((struct bin *)value)->table[CELL_file];
	const struct built_file_cell cell = { .blocked_ns = 1 };
	for (unsigned i = 0; i < MANY; i++)
		cell_table_append(t, built_layout(CELL_file), &cell);
}

static void many_wakeups(struct slice *s)
{
	const struct provisional_wake w = { .ts = s->first };

	for (unsigned i = 0; i < MANY; i++)
		g_array_append_val(s->provisional_wakes, w);
}

static void many_texts(struct slice *s)		/* numbers, of which facts have each */
{
	struct fact f = g_array_index(s->facts, struct fact, 0);
	char text[1000];

	memset(text, ' ', sizeof text);
	s->facts_sorted = 0;
	for (unsigned i = 0; i < MANY / 10; i++) {
		g_snprintf(text + sizeof text - 8, 8, "%07u", i);
		f.text = strtab_add(s->strings, text);
		g_array_append_val(s->facts, f);
	}
}

static void test_bombs(void)
{
	static void (*const all[])(struct slice *s) = {
		many_facts, many_annotations, many_cells, many_wakeups, many_texts,
	};
	struct recording *r = traces_record_script(script);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		g_autoptr(GError) error = NULL;
		struct slice *s = slices_of(r, 0, recording_n(r), false);
		all[i](s);
		g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);
		g_assert_no_error(error);
		slice_free(s);
		g_test_message("%zu: %u bytes", i, bytes->len);
		slice_bound_memory(MANY / 10 * 16);
		s = slices_from_bytes(bytes->data, bytes->len, &error);
		g_assert_null(s);
		g_assert_nonnull(strstr(error->message, "needs more memory than its size and --memory allow"));
		g_assert_cmpuint(slice_room(), ==, MANY / 10 * 16);		/* what was refused is given back */
		g_clear_error(&error);
		slice_bound_memory(64 << 20);
		s = slices_from_bytes(bytes->data, bytes->len, &error);
		g_assert_no_error(error);
		/* Another one of the same does not fit any more. */
		uint64_t left = slice_room();
		slice_bound_memory((64u << 20) - left + MANY / 10 * 16);
		g_assert_null(slices_from_bytes(bytes->data, bytes->len, &error));
		slice_free(s);
		g_assert_cmpuint(slice_room(), ==, (64u << 20) - left + MANY / 10 * 16);
	}
	slice_bound_memory(SIZE_MAX);
	recording_free(r);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"kernel-small", "kernel-ust/trace", "lost", "block", "faults", "containers", "nested", "net", "pause",
		"snapshot", "thumb", "ctf2/lost/trace", "ctf2/ust-both/ctf-2", "mix1/trace", "rotation/trace",
		"demo/trace",
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_strdup_printf("/slice-file/laws/%s", names[i]);
		if (!traces_too_long(names[i]))
			g_test_add_data_func(path, names[i], test_laws);
		g_autofree char *honest = g_strdup_printf("/slice-file/honest/%s", names[i]);
		g_test_add_data_func(honest, names[i], test_honest);
	}
	g_test_add_func("/slice-file/old-kernel", test_old_kernel);
	g_test_add_func("/slice-file/restart", test_restart);
	g_test_add_func("/slice-file/outside-of-packs", test_outside_of_packs);
	g_test_add_func("/slice-file/cut-off", test_cut_off);
	g_test_add_func("/slice-file/flipped", test_flipped);
	g_test_add_func("/slice-file/reasons", test_reasons);
	g_test_add_func("/slice-file/wrong", test_wrong);
	g_test_add_func("/slice-file/no-such-thread", test_no_such_thread);
	g_test_add_func("/slice-file/changed-file", test_changed_file);
	g_test_add_func("/slice-file/far-waits", test_far_waits);
	g_test_add_func("/slice-file/bombs", test_bombs);
	return g_test_run();
}
