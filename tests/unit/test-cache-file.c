/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of the cache: what is read is what was published, seconds are read when they are looked at and are freed
 * when memory is short, and damaged files are refused.
 */
#include "lib/report.h"
#include "lib/traces.h"

#include "run/cache_file.h"
#include "state/publish/model.h"
#include "state/store/publication_code.h"
#include "state/store/timeline.h"

#include <sys/mman.h>
#include <unistd.h>

#define FROM 7			/* bytes before the content, which are another one's */
#define BATCHES 37

static int memory_file(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("cache", MFD_CLOEXEC);
	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, bytes, n), ==, (ssize_t)n);
	return fd;
}

/* Publishes the recording in many steps to the timeline, and writes what is published. */
static GByteArray *publish(const struct recording *r, struct timeline *tl)
{
	const struct model_options options = { .step_ns = INT64_C(1000000000) };
	struct model *m = model_new(&options);
	struct cache_writer *w = cache_writer_new(FROM);
	GByteArray *bytes = g_byte_array_new();
	size_t n = recording_n(r), step = n / BATCHES + 1;

	g_byte_array_append(bytes, (const uint8_t *)"another", FROM);
	for (size_t at = 0; at < n || at == 0; at += step) {
		model_feed(m, recording_tables(r), recording_event(r, at), MIN(step, n - at));
		struct publication *p = model_publish(m, at + step >= n);
		if (!p)
			continue;
		g_assert_null(cache_writer_add(w, p, bytes));
		timeline_apply(tl, p);
	}
	g_assert_null(cache_writer_end(w, bytes));
	cache_writer_free(w);
	model_free(m);
	return bytes;
}

static struct cache_reader *open_bytes(const uint8_t *bytes, size_t n, const char **ret_why)
{
	int fd = memory_file(bytes, n);
	struct cache_reader *r = cache_reader_open(fd, FROM, n, ret_why);
	close(fd);
	return r;
}

static struct timeline *read_back(const GByteArray *bytes, size_t budget)
{
	struct timeline *tl = timeline_new(budget);
	const char *why;
	struct cache_reader *r = open_bytes(bytes->data, bytes->len, &why);
	g_assert_cmpstr(why, ==, NULL);
	for (struct publication *p; (p = cache_reader_next(r, &why));)
		timeline_apply(tl, p);
	g_assert_cmpstr(why, ==, NULL);
	cache_reader_free(r);
	return tl;
}

static guint outlines(const struct timeline *tl)
{
	guint n = 0;
	for (size_t i = 0; i < timeline_n_seconds(tl); i++)
		n += timeline_outline(tl, i)->is_outline;
	return n;
}

static void test_recording(gconstpointer name)
{
	struct recording *r = traces_record(name);
	if (!r)
		return;
	struct timeline *tl = timeline_new(0);
	g_autoptr(GByteArray) bytes = publish(r, tl);
	g_autofree char *expected = report_of_timeline(tl);
	struct timeline *again = read_back(bytes, 0);
	g_assert_cmpuint(outlines(again), ==, timeline_n_seconds(tl));
	g_autofree char *got = report_of_timeline(again);
	report_assert_equal(name, expected, got);
	timeline_free(again);
	timeline_free(tl);
	recording_free(r);
}

/* With memory for few seconds, all can still be looked at. */
static void test_unload(void)
{
	struct recording *r = traces_record("kernel-ust/trace");
	struct timeline *tl = timeline_new(0);
	g_autoptr(GByteArray) bytes = publish(r, tl);
	struct timeline *again = read_back(bytes, timeline_bytes(tl) / 2);
	size_t n = timeline_n_seconds(again);
	guint freed = 0;
	g_assert_cmpuint(n, ==, timeline_n_seconds(tl));
	g_assert_cmpint(timeline_facts(again)->folded_until, ==, TIME_UNKNOWN);
	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < n; i++) {
			const struct second *s = timeline_second(tl, i), *x = timeline_second(again, i);
			g_assert_false(x->is_outline);
			g_assert_cmpuint(x->n_threads, ==, s->n_threads);
			g_assert_cmpuint(x->bytes, ==, s->bytes);
			g_assert_cmpmem(&x->totals, sizeof x->totals, &s->totals, sizeof s->totals);
			uint64_t version = timeline_facts(again)->version;
			guint before = outlines(again);
			timeline_unload(again);
			freed += outlines(again) - before;
			g_assert_cmpint(timeline_facts(again)->version != version, ==, outlines(again) != before);
		}
	g_assert_cmpuint(freed, >, 0);
	timeline_free(again);
	timeline_free(tl);
	recording_free(r);
}

/* A file that changes after it was opened: its seconds are damaged, not empty. */
static void test_changed(void)
{
	struct recording *r = traces_record("kernel-ust/trace");
	struct timeline *tl = timeline_new(0), *again = timeline_new(0);
	g_autoptr(GByteArray) bytes = publish(r, tl);
	int fd = memory_file(bytes->data, bytes->len);
	const char *why;
	struct cache_reader *reader = cache_reader_open(fd, FROM, bytes->len, &why);
	for (struct publication *p; (p = cache_reader_next(reader, &why));)
		timeline_apply(again, p);
	cache_reader_free(reader);
	g_assert_cmpint(ftruncate(fd, FROM), ==, 0);
	close(fd);
	const struct second *s = timeline_second(again, 0);
	g_assert_cmpuint(s->n_threads, ==, 0);
	g_assert_cmpuint(s->completeness.damaged, ==, timeline_second(tl, 0)->completeness.damaged + 1);
	g_assert_true(timeline_second(again, 0) == s);
	timeline_free(again);
	timeline_free(tl);
	recording_free(r);
}

/* ---- damage ---- */

static const char script[] =
	"1000000000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 next_comm=\"b\" next_tid=2 "
	"next_prio=20\n"
	"1000001000 0 syscall_entry_openat dfd=-100 filename=\"/etc/passwd\" flags=0 ctx.tid=2 ctx.pid=2 "
	"ctx.procname=\"b\"\n"
	"1000002000 0 syscall_exit_openat ret=3 ctx.tid=2 ctx.pid=2 ctx.procname=\"b\"\n"
	"1000003000 0 syscall_entry_read fd=3 count=100 ctx.tid=2 ctx.pid=2 ctx.procname=\"b\"\n"
	"1000005000 0 sched_switch prev_comm=\"b\" prev_tid=2 prev_prio=20 prev_state=1 next_comm=\"a\" next_tid=1 "
	"next_prio=20\n"
	"1000006000 0 u:zipkin:timestamp trace_id=7 span_id=8 parent_span_id=0 event=\"sr\" trace_name=\"get\" "
	"service_name=\"web\" port_no=1 ip=\"::1\" ctx.vtid=1 ctx.vpid=1\n"
	"2000001000 0 syscall_exit_read ret=100 ctx.tid=1 ctx.pid=1 ctx.procname=\"a\"\n"
	"2000002000 0 u:zipkin:timestamp trace_id=7 span_id=8 parent_span_id=0 event=\"ss\" trace_name=\"get\" "
	"service_name=\"web\" port_no=1 ip=\"::1\" ctx.vtid=1 ctx.vpid=1\n"
	"2000003000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 next_comm=\"b\" next_tid=2 "
	"next_prio=20\n";

static void assert_refused(const uint8_t *bytes, size_t n)
{
	const char *why;
	g_assert_null(open_bytes(bytes, n, &why));
	g_assert_nonnull(why);
}

/* Any cut, and any changed byte of the file. */
static void test_damage(void)
{
	struct recording *r = traces_record_script(script);
	struct timeline *tl = timeline_new(0);
	g_autoptr(GByteArray) bytes = publish(r, tl);
	for (guint n = FROM; n < bytes->len; n++)
		assert_refused(bytes->data, n);
	for (guint i = FROM; i < bytes->len; i++) {
		g_autofree uint8_t *copy = g_memdup2(bytes->data, bytes->len);
		const char *why;
		copy[i] ^= (uint8_t)g_test_rand_int_range(1, 256);
		struct cache_reader *reader = open_bytes(copy, bytes->len, &why);
		/* only a version of a second that was replaced can change */
		g_assert_true(!reader == (why != NULL));
		cache_reader_free(reader);
	}
	g_autofree uint8_t *twice = g_malloc(2 * bytes->len);
	memcpy(twice, bytes->data, bytes->len);
	memcpy(twice + bytes->len, bytes->data, bytes->len);
	assert_refused(twice, 2 * bytes->len);
	timeline_free(tl);
	recording_free(r);
}

/* The bytes of a publication that lie: whatever is accepted can be shown. */
static void test_lies(void)
{
	struct recording *r = traces_record_script(script);
	const struct model_options options = { .step_ns = INT64_C(1000000000) };
	struct model *m = model_new(&options);
	model_feed(m, recording_tables(r), recording_event(r, 0), recording_n(r));
	struct publication *p = model_publish(m, true);
	g_autoptr(GByteArray) whole = g_byte_array_new(), cells = g_byte_array_new();
	struct published_ids ids = { 0 };
	struct coder c = { .out = whole }, k = { .out = cells };
	publication_code(&c, p, &ids);
	second_code_cells(&k, g_ptr_array_index(p->seconds, 0), &ids);
	g_assert_cmpstr(c.fault, ==, NULL);
	g_assert_cmpstr(k.fault, ==, NULL);
	guint accepted = 0, refused = 0;
	for (guint i = 0; i < 20000; i++) {
		struct publication *read = publication_new();
		struct published_ids n = { 0 };
		GByteArray *of = i % 2 ? cells : whole;
		g_autofree uint8_t *copy = g_memdup2(of->data, of->len);
		for (int flips = g_test_rand_int_range(1, 4); flips > 0; flips--)
			copy[g_test_rand_int_range(0, (gint32)of->len)] = (uint8_t)g_test_rand_int_range(0, 256);
		struct coder x = { .at = copy, .end = copy + of->len };
		struct second *s = second_outline(g_ptr_array_index(p->seconds, 0));
		if (i % 2)
			second_code_cells(&x, s, &ids);
		else
			publication_code(&x, read, &n);
		x.fault ? refused++ : accepted++;
		struct timeline *tl = timeline_new(0);
		if (!x.fault && !(i % 2))
			timeline_apply(tl, g_steal_pointer(&read));
		timeline_free(tl);
		second_unref(s);
		publication_free(read);
	}
	g_assert_cmpuint(accepted, >, 1000);
	g_assert_cmpuint(refused, >, 1000);
	publication_free(p);
	model_free(m);
	recording_free(r);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"kernel-ust/trace", "thumb/trace", "lost/trace", "containers/trace", "block/trace", "ctf2/demo/trace",
		"net/trace", "faults/trace", "demo/trace",
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_strdup_printf("/cache-file/%s", names[i]);
		if (!traces_too_long(names[i]))
			g_test_add_data_func(path, names[i], test_recording);
	}
	g_test_add_func("/cache-file/unload", test_unload);
	g_test_add_func("/cache-file/changed", test_changed);
	g_test_add_func("/cache-file/damage", test_damage);
	g_test_add_func("/cache-file/lies", test_lies);
	return g_test_run();
}
