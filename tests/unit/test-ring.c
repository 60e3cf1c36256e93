/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of the kernel's ring buffer to CTF packets: every kind of page entry in both byte orders, formats of several
 * kernels, LTTng's names and encodings, losses at their place, processes of threads across CPUs, and bytes of any kind.
 */
#include "trace/ring/ring_dump.h"
#include "trace/ring/ring_packet.h"
#include "trace/ring/ring_packets.h"
#include "trace/ring/ring_printed.h"
#include "trace/ring/ring_names.h"
#include "trace/ring/ring_program.h"
#include "trace/ring/ring_rules.h"

#include <string.h>

/* ---- pages under construction ---- */

struct made_page {
	struct ring_machine machine;
	GByteArray *bytes;
};

static void add_number(struct made_page *m, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		unsigned shift = 8 * (m->machine.big_endian ? size - 1 - i : i);
		guint8 byte = (guint8)(value >> shift);
		g_byte_array_append(m->bytes, &byte, 1);
	}
}

static struct made_page page_begin(bool big_endian, uint8_t long_size, uint64_t time)
{
	struct made_page m = { .machine = { big_endian, long_size }, .bytes = g_byte_array_new() };
	add_number(&m, time, 8);
	add_number(&m, 0, long_size);
	return m;
}

static void add_word(struct made_page *m, unsigned type, uint32_t delta)
{
	add_number(m, m->machine.big_endian ? (uint32_t)type << 27 | delta : delta << 5 | type, 4);
}

/* An event of n bytes of payload; `follows`: its length is in a word of its own. */
static void add_event(struct made_page *m, uint32_t delta, const void *payload, unsigned n, bool follows)
{
	static const guint8 zero[4];
	unsigned padded = (n + 3) & ~3u;
	if (follows) {
		add_word(m, 0, delta);
		add_number(m, padded + 4, 4);
	} else {
		add_word(m, padded / 4, delta);
	}
	g_byte_array_append(m->bytes, payload, n);
	g_byte_array_append(m->bytes, zero, padded - n);
}

static struct ring_layout layout_of(struct ring_machine machine)
{
	return (struct ring_layout){ .machine = machine, .commit_offset = 8, .commit_size = machine.long_size,
				     .data_offset = 8u + machine.long_size, .page_size = 4096 };
}

/* Writes the commit word, and fills the page up. flags: of it. n_lost: stored behind the data, if flags say so. */
static void page_end(struct made_page *m, uint32_t flags, uint64_t n_lost)
{
	struct ring_layout l = layout_of(m->machine);
	struct made_page commit = { .machine = m->machine, .bytes = g_byte_array_new() };
	add_number(&commit, (m->bytes->len - l.data_offset) | flags, l.commit_size);
	memcpy(m->bytes->data + 8, commit.bytes->data, l.commit_size);
	if (flags & 1u << 30)
		add_number(m, n_lost, m->machine.long_size);
	guint len = m->bytes->len;
	g_byte_array_set_size(m->bytes, 4096);
	memset(m->bytes->data + len, 0, 4096 - len);
	g_byte_array_unref(commit.bytes);
}

/* The common fields and some numbers of 4 bytes. */
static void add_numbers(struct made_page *m, uint32_t delta, uint16_t id, int32_t tid, const uint32_t *numbers,
			unsigned n)
{
	struct made_page payload = { .machine = m->machine, .bytes = g_byte_array_new() };
	add_number(&payload, id, 2);
	add_number(&payload, 0, 2);
	add_number(&payload, (uint32_t)tid, 4);
	for (unsigned i = 0; i < n; i++)
		add_number(&payload, numbers[i], 4);
	add_event(m, delta, payload.bytes->data, payload.bytes->len, false);
	g_byte_array_unref(payload.bytes);
}

/* ---- pages ---- */

static void check_page(bool big_endian, uint8_t long_size)
{
	struct made_page m = page_begin(big_endian, long_size, UINT64_C(0x3800000000000000) + 1000);
	guint8 payload[200] = { 0 };
	struct ring_page page;
	struct ring_event e;
	add_event(&m, 5, payload, 12, false);
	add_word(&m, 30, 7);			/* time extend: 7 + (2 << 27) */
	add_number(&m, 2, 4);
	add_event(&m, 1, payload, 112, false);	/* the longest that is in the type */
	add_word(&m, 29, 9);			/* padding of 12 bytes behind its first word */
	add_number(&m, 12, 4);
	add_number(&m, 0, 8);
	add_event(&m, 2, payload, 200, true);
	add_word(&m, 31, 77);			/* absolute: 77 + (3 << 27), the upper 5 bits stay */
	add_number(&m, 3, 4);
	add_event(&m, 4, payload, 8, true);
	add_word(&m, 29, 0);			/* the rest is empty */
	add_number(&m, 0xffffffff, 4);
	page_end(&m, 0, 0);
	struct ring_layout l = layout_of(m.machine);
	uint64_t top = UINT64_C(0x3800000000000000), extend = 7 + (UINT64_C(2) << 27);
	const struct { uint32_t size; uint64_t time; } expected[] = {
		{ 12, top + 1005 }, { 112, top + 1006 + extend }, { 200, top + 1017 + extend },
		{ 8, top + 77 + (UINT64_C(3) << 27) + 4 },
	};
	g_assert_true(ring_page_open(&page, &l, m.bytes->data, m.bytes->len));
	g_assert_false(page.is_after_loss);
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		g_assert_cmpint(ring_page_next(&page, &e), ==, RING_EVENT);
		g_assert_cmpuint(e.size, ==, expected[i].size);
		g_assert_cmpuint(e.time, ==, expected[i].time);
	}
	g_assert_cmpint(ring_page_next(&page, &e), ==, RING_END);
	g_byte_array_unref(m.bytes);
}

static void test_page(void)
{
	for (unsigned i = 0; i < 4; i++)
		check_page(i & 1, i & 2 ? 8 : 4);
}

static void check_loss(uint32_t flags, bool is_after_loss, bool is_known, uint64_t n)
{
	struct made_page m = page_begin(false, 8, 1000);
	struct ring_layout l = layout_of(m.machine);
	struct ring_page page;
	add_numbers(&m, 0, 1, 1, NULL, 0);
	page_end(&m, flags, n);
	g_assert_true(ring_page_open(&page, &l, m.bytes->data, m.bytes->len));
	g_assert_cmpint(page.is_after_loss, ==, is_after_loss);
	g_assert_cmpint(page.n_lost_known, ==, is_known);
	g_assert_cmpuint(page.n_lost, ==, is_known ? n : 0);
	g_byte_array_unref(m.bytes);
}

static void test_page_losses(void)
{
	check_loss(0, false, false, 0);
	check_loss(1u << 31, true, false, 0);
	check_loss(3u << 30, true, true, 189408);
}

/* Lengths that lead out of the page are damage, and nothing outside of it is read: the sanitizer sees it. */
static void test_page_damaged(void)
{
	static const struct { unsigned type; uint32_t delta, second; } entries[] = {
		{ 28, 1, 0 }, { 0, 1, 5000 }, { 0, 1, 3 }, { 0, 1, UINT32_MAX }, { 29, 1, UINT32_MAX }, { 29, 1, 2 },
		{ 1, 1, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(entries); i++) {
		struct made_page m = page_begin(false, 8, 1);
		struct ring_layout l = layout_of(m.machine);
		struct ring_page page;
		struct ring_event e;
		add_word(&m, entries[i].type, entries[i].delta);
		add_number(&m, entries[i].second, 4);
		page_end(&m, 0, 0);
		g_assert_true(ring_page_open(&page, &l, m.bytes->data, m.bytes->len));
		g_assert_cmpint(ring_page_next(&page, &e), ==, RING_DAMAGED);
		g_assert_cmpint(ring_page_next(&page, &e), ==, RING_END);
		/* a page that says it has more than it can */
		m.bytes->data[9] = 0xff;
		g_assert_false(ring_page_open(&page, &l, m.bytes->data, m.bytes->len));
		g_assert_false(ring_page_open(&page, &l, m.bytes->data, 15));
		m.bytes->data[9] = 0;
		m.bytes->data[7] = 0x41;
		g_assert_false(ring_page_open(&page, &l, m.bytes->data, m.bytes->len));
		g_byte_array_unref(m.bytes);
	}
}

/* ---- formats ---- */

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static struct ring_format *format_of(const char *system, const char *name, unsigned id, const char *fields)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text =
		g_strdup_printf("name: %s\nID: %u\n" COMMON "%s\nprint fmt: \"field:int x;\"\n", name, id, fields);
	struct ring_format *f = ring_format_parse(system, text, strlen(text), 8, &error);
	g_assert_no_error(error);
	return f;
}

static void test_format(void)
{
	static const char fields[] =
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:char task[TASK_COMM_LEN];\toffset:24;\tsize:16;\tsigned:0;\n"
		"\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc char[] other;\toffset:44;\tsize:4;\tsigned:0;\n"
		"\tfield:unsigned long args[6];\toffset:48;\tsize:48;\tsigned:0;\n"
		"\tfield:const char * filename;\toffset:96;\tsize:8;\tsigned:0;\n"
		"\tfield:long ret;\toffset:104;\tsize:8;\tsigned:1;\n"
		"\tfield:__data_loc unsigned long[] stack;\toffset:112;\tsize:4;\tsigned:0;\n"
		"\tfield:int old;\toffset:116;\tsize:4;\n";
	static const struct {
		const char *name, *type;
		unsigned offset, size, element;
		bool array, is_signed, text, pointer;
	} expected[] = {
		{ "comm", "char", 8, 16, 1, true, false, true, false },
		{ "task", "char", 24, 16, 1, true, false, true, false },
		{ "name", "char", 40, 4, 1, true, false, true, false },
		{ "other", "char", 44, 4, 1, true, false, true, false },
		{ "args", "unsigned long", 48, 48, 8, true, false, false, false },
		{ "filename", "const char *", 96, 8, 8, false, false, false, true },
		{ "ret", "long", 104, 8, 8, false, true, false, false },
		{ "stack", "unsigned long", 112, 4, 8, true, false, false, false },
		{ "old", "int", 116, 4, 4, false, false, false, false },
	};
	g_autoptr(ring_format) f = format_of("sys", "an_event", 77, fields);
	g_assert_cmpstr(f->name, ==, "an_event");
	g_assert_cmpuint(f->id, ==, 77);
	g_assert_cmpuint(f->fields->n, ==, G_N_ELEMENTS(expected));
	for (unsigned i = 0; i < f->fields->n; i++) {
		const struct ring_field *x = &f->fields->fields[i];
		g_assert_cmpstr(x->name, ==, expected[i].name);
		g_assert_cmpstr(x->type, ==, expected[i].type);
		g_assert_cmpuint(x->offset, ==, expected[i].offset);
		g_assert_cmpuint(x->size, ==, expected[i].size);
		g_assert_cmpuint(x->element, ==, expected[i].element);
		g_assert_cmpint(x->is_array, ==, expected[i].array);
		g_assert_cmpint(x->is_signed, ==, expected[i].is_signed);
		g_assert_cmpint(x->is_text, ==, expected[i].text);
		g_assert_cmpint(x->is_pointer, ==, expected[i].pointer);
	}
	g_assert_cmpint(f->fields->fields[2].place, ==, RING_DATA_LOC);
	g_assert_cmpint(f->fields->fields[3].place, ==, RING_REL_LOC);
}

static void test_format_refused(void)
{
	static const char *const texts[] = {
		"",
		"name: x\n" COMMON,
		"ID: 5\n" COMMON,
		"name: x\nID: 65536\n" COMMON,
		"name: a b\nID: 5\n" COMMON,
		"name: x\nID: 5\nformat:\n\tfield:int a;\toffset:x;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 5\nformat:\n\tfield:int a;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 5\nformat:\n\tfield:int;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:int "
		"5;\toffset:8;\tsize:4;\n",
		"name: x\nID: 5\nformat:\n\tfield:__data_loc char[] a;\toffset:8;\tsize:8;\tsigned:1;\n",
		"name: x\nID: 5\nformat:\n\tfield:int a[3];\toffset:8;\tsize:13;\tsigned:1;\n",
		"name: x\nID: 5\nformat:\n\tfield:int a;\toffset:8;\tsize:99999999999;\tsigned:1;\n",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(ring_format_parse("sys", texts[i], strlen(texts[i]), 8, &error));
		g_assert_nonnull(error);
	}
}

/* ---- names and encodings ---- */

static void test_names(void)
{
	static const struct { const char *system, *event, *lttng; } names[] = {
		{ "sched", "sched_switch", "sched_switch" },
		{ "syscalls", "sys_enter_openat", "syscall_entry_openat" },
		{ "syscalls", "sys_exit_openat", "syscall_exit_openat" },
		{ "raw_syscalls", "sys_enter", "syscall_entry_unknown" },
		{ "irq", "irq_handler_entry", "irq_handler_entry" },
		{ "irq", "softirq_raise", "irq_softirq_raise" },
		{ "timer", "hrtimer_expire_entry", "timer_hrtimer_expire_entry" },
		{ "timer", "timer_start", "timer_start" },
		{ "irq_vectors", "local_timer_entry", "x86_irq_vectors_local_timer_entry" },
		{ "exceptions", "page_fault_user", "x86_exceptions_page_fault_user" },
		{ "net", "netif_receive_skb", "net_if_receive_skb" },
		{ "net", "net_dev_queue", "net_dev_queue" },
		{ "block", "block_rq_issue", "block_rq_issue" },
		{ "kmem", "mm_page_alloc", "kmem_mm_page_alloc" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *name = ring_event_name(names[i].system, names[i].event);
		g_assert_cmpstr(name, ==, names[i].lttng);
	}
}

static void test_rwbs(void)
{
	static const struct { const char *letters; uint32_t bits;
	} cases[] = {
		{ "R", 4 },    { "W", 1 },   { "D", 2 },     { "DE", 128 },   { "WS", 33 },   { "RA", 12 },
		{ "RAM", 76 }, { "F", 256 }, { "FF", 1280 }, { "FWS", 1057 }, { "WFS", 545 }, { "FWFS", 1569 },
		{ "WSM", 97 }, { "N", 0 },   { "", 0 },      { "FFS", 1312 }, { "?W", 1 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpuint(ring_rwbs_bits(cases[i].letters, 8), ==, cases[i].bits);
	g_assert_cmpuint(ring_rwbs_bits("RAM", 1), ==, 4);		/* no NUL */
}

/* The pieces of a program give what its steps give, from an event that ends where its page does, and need no more
 * bytes of the page than they say. */
static void check_plain(const struct ring_plain *plain, const guint8 *payload, unsigned n, const uint8_t *want,
			ssize_t got)
{
	for (size_t room = n; room <= MAX(n, plain->read); room++) {
		g_autofree uint8_t *page = g_malloc0(room), *to = g_malloc(plain->size + RING_PIECE);
		struct ring_event e = { .payload = page, .size = n, .readable = (uint32_t)room };
		memcpy(page, payload, n);
		g_assert_cmpint(ring_plain_fits(plain, &e), ==, room >= plain->read);
		e.size = plain->need - 1;
		g_assert_false(ring_plain_fits(plain, &e));
		if (room < plain->read)
			continue;
		ring_plain_run(plain, &e, to);
		g_assert_cmpmem(to, plain->size, want, (size_t)got);
	}
}

/* Runs the program on a payload, and compares what is written with hexadecimal digits. */
static void check_program(struct ring_format *f, bool big_endian, const guint8 *payload, unsigned n, const char *hex)
{
	struct ring_machine machine = { .big_endian = big_endian, .long_size = 8 };
	g_autoptr(ring_program) p = ring_program_new(f, machine, true);
	struct ring_event event = { .payload = payload, .size = n };
	struct ring_run run = { .event = &event, .tid = 7, .parent_tgid = 21, .child_tgid = 22 };
	g_autofree uint8_t *to = g_malloc(ring_program_bound(p, &event) + 1);
	g_autoptr(GString) s = g_string_new(NULL);
	ssize_t got = ring_program_run(p, &run, to);
	g_assert_cmpint(got, <=, (ssize_t)ring_program_bound(p, &event));
	for (ssize_t i = 0; i < got; i++)
		g_string_append_printf(s, "%02x", to[i]);
	g_assert_cmpstr(s->str, ==, hex);
	const struct ring_plain *plain = ring_program_plain(p);
	g_assert_true(!big_endian || !plain);
	if (plain)
		check_plain(plain, payload, n, to, got);
	/* a shorter one is refused, whatever is missing */
	event.size = 8;
	g_assert_true(!got || ring_program_run(p, &run, to) == -1);
}

static void test_program(void)
{
	/* numbers: renamed, with another offset, sign and size */
	g_autoptr(ring_format) migrate = format_of("sched", "sched_migrate_task", 1,
						   "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:int "
						   "prio;\toffset:12;\tsize:4;\tsigned:1;\n");
	check_program(migrate, false, (const guint8 *)"\1\0\0\0\2\0\0\0\x05\0\0\0\x78\0\0\0", 16, "0500000014000000");
	check_program(migrate, true, (const guint8 *)"\0\1\0\0\0\0\0\2\0\0\0\x05\0\0\0\x63", 16, "05000000ffffffff");
	g_autoptr(ring_format) close = format_of("syscalls", "sys_enter_dup2", 2,
						 "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
						 "\tfield:int oldfd;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:umode_t "
						 "mode;\toffset:24;\tsize:8;\tsigned:0;\n"
						 "\tfield:const char * filename;\toffset:32;\tsize:8;\tsigned:0;\n");
	check_program(close, false,
		      (const guint8 *)"\1\0\0\0\2\0\0\0\x21\0\0\0\0\0\0\0\x9c\xff\xff\xff\0\0\0\0\xed\x41\0\0\0\0\0\0"
				      "\1\1\1\1\1\1\1\1",
		      40, "9cffffffed41");
}

/* Adjacent fields are copied together, over the bounds of pieces; priorities are changed within them. */
static void test_plain(void)
{
	g_autoptr(ring_format) f = format_of(
		"sched", "sched_switch", 1,
		"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
		"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n");
	g_autoptr(ring_program) p = ring_program_new(f, (struct ring_machine){ .long_size = 8 }, false);
	const struct ring_plain *plain = ring_program_plain(p);
	g_assert_nonnull(plain);
	g_assert_cmpuint(plain->size, ==, 56);
	g_assert_cmpuint(plain->need, ==, 64);
	g_assert_cmpuint(plain->n_pieces, ==, 4);
	g_assert_cmpuint(plain->n_adds, ==, 2);
	guint8 payload[64];
	for (unsigned i = 0; i < sizeof(payload); i++)
		payload[i] = (guint8)(i + 100);
	/* 0x83828180 - 100 and 0xa3a2a1a0 - 100 */
	check_program(f, false, payload, sizeof(payload),
		      "6c6d6e6f707172737475767778797a7b7c7d7e7f1c818283"
		      "8485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f3ca1a2a3");
	/* gaps between fields, and a program with more pieces than are allowed */
	for (unsigned n = 1; n <= RING_N_PIECES + 1; n++) {
		g_autoptr(GString) text = g_string_new(NULL), want = g_string_new(NULL);
		guint8 words[8 * (RING_N_PIECES + 2)];
		for (unsigned i = 0; i < sizeof(words); i++)
			words[i] = (guint8)i;
		for (unsigned i = 1; i <= n; i++) {
			g_string_append_printf(text, "\tfield:int f%u;\toffset:%u;\tsize:4;\tsigned:1;\n", i, 8 * i);
			g_string_append_printf(want, "%02x%02x%02x%02x", 8 * i, 8 * i + 1, 8 * i + 2, 8 * i + 3);
		}
		g_autoptr(ring_format) gaps = format_of("x", "gaps", 3, text->str);
		struct ring_machine machine = { .long_size = 8 };
		g_autoptr(ring_program) of_gaps = ring_program_new(gaps, machine, false);
		g_assert_cmpint(ring_program_plain(of_gaps) != NULL, ==, n <= RING_N_PIECES);
		check_program(gaps, false, words, sizeof(words), want->str);
	}
}

static void test_program_texts(void)
{
	static const char fields[] = "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:pid_t old_pid;\toffset:12;\tsize:4;\tsigned:1;\n";
	g_autoptr(ring_format) exec = format_of("sched", "sched_process_exec", 1, fields);
	const guint8 good[] = "\1\0\0\0\2\0\0\0\x10\0\x03\0\x05\0\0\0ab";
	check_program(exec, false, good, 20, "61620005000000");
	/* the text leads out of the event, or has no NUL */
	check_program(exec, false, (const guint8 *)"\1\0\0\0\2\0\0\0\x10\0\x05\0\x05\0\0\0abcd", 20, "0005000000");
	check_program(exec, false, (const guint8 *)"\1\0\0\0\2\0\0\0\x10\0\x04\0\x05\0\0\0abcd", 20,
		      "616263640005000000");
	check_program(exec, false, (const guint8 *)"\1\0\0\0\2\0\0\0\xff\xff\x01\0\x05\0\0\0abcd", 20, "0005000000");
	/* a relative one counts from behind its field */
	g_autoptr(ring_format) relative =
		format_of("x", "x_y", 1, "\tfield:__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n");
	check_program(relative, false, (const guint8 *)"\1\0\0\0\2\0\0\0\x02\0\x02\0..hi", 16, "686900");
	/* numbers */
	g_autoptr(ring_format) stack =
		format_of("x", "x_s", 1, "\tfield:__data_loc u16[] a;\toffset:8;\tsize:4;\tsigned:0;\n");
	check_program(stack, false, (const guint8 *)"\1\0\0\0\2\0\0\0\x0c\0\x04\0\1\0\2\0", 16, "0200000001000200");
	check_program(stack, true, (const guint8 *)"\0\1\0\0\0\0\0\2\0\4\0\x0c\0\1\0\2", 16, "0200000001000200");
}

/* A name is 16 bytes, wherever the kernel has it; the thread of a request is the one on the CPU; of a fork the
 * processes. */
static void test_program_extras(void)
{
	g_autoptr(ring_format) fork = format_of("sched", "sched_process_fork", 1,
		"\tfield:__data_loc char[] child_comm;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:pid_t child_pid;\toffset:12;\tsize:4;\tsigned:1;\n");
	check_program(fork, false, (const guint8 *)"\1\0\0\0\2\0\0\0\x10\0\x04\0\x09\0\0\0abc", 20,
		      "61626300000000000000000000000000" "09000000" "15000000" "16000000");
	g_autoptr(ring_format) issue = format_of("block", "block_rq_issue", 1,
						 "\tfield:char rwbs[8];\toffset:8;\tsize:8;\tsigned:0;\n\tfield:char "
						 "comm[16];\toffset:16;\tsize:16;\tsigned:0;\n");
	check_program(issue, false, (const guint8 *)"\1\0\0\0\2\0\0\0WS\0\0\0\0\0\0abc\0\0\0\0\0\0\0\0\0\0\0\0\0", 32,
		      "21000000" "61626300000000000000000000000000" "07000000");
}

/* Names of files are taken from where Linux 7 has them; what is written never is. */
/* ---- calls that programs print ---- */

#define TAG "0123456789abcdef"

static struct ring_format *call_format(const char *event, const char *fields)
{
	return format_of("syscalls", event, 9, fields);
}

static void test_printed_formats(void)
{
	static const char openat[] = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n";
	static const char rename_two[] = "\tfield:int olddfd;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:const char * oldname;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:int newdfd;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:const char * newname;\toffset:40;\tsize:8;\tsigned:0;\n";
	static const char stored[] = "\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] __filename_val;\toffset:24;\tsize:4;\tsigned:0;\n";
	g_autoptr(ring_format) open = call_format("sys_enter_openat", openat);
	g_autoptr(ring_format) two = call_format("sys_enter_renameat", rename_two);
	g_autoptr(ring_format) kernels = call_format("sys_enter_open", stored);
	g_autoptr(ring_format) other = format_of("sched", "sys_enter_openat", 1, openat);
	struct ring_printed_call call;

	g_assert_false(ring_printed_choose(&call, kernels));
	g_assert_false(ring_printed_choose(&call, other));
	g_assert_true(ring_printed_choose(&call, open));
	g_assert_cmpstr(call.names[0]->name, ==, "filename");
	g_assert_null(call.names[1]);
	g_assert_cmpstr(call.values[0]->name, ==, "dfd");
	g_assert_cmpstr(call.values[1]->name, ==, "flags");
	g_autofree char *text = ring_printed_format(open, &call, 7);
	g_autoptr(ring_format) made = ring_format_parse("syscalls", text, strlen(text), 8, NULL);
	g_assert_nonnull(made);
	g_assert_cmpuint(made->id, ==, RING_PRINTED_FIRST + 7);
	g_assert_cmpstr(made->name, ==, "sys_enter_openat");

	size_t size;
	static const uint8_t head[8] = { 38, 2, 1, 1, 5, 0, 0, 0 };
	static const char said[] = TAG " 7 ffffff9c 80000 a b\n\"";
	g_autofree uint8_t *event = ring_printed_parse(said, sizeof said, TAG, head, &size);
	g_assert_nonnull(event);
	/* dfd, then flags, then the name as it is */
	check_program(made, false, event, (unsigned)size, "9cffffff" "00000800" "6120620a2200");

	struct ring_printed_call both;
	g_assert_true(ring_printed_choose(&both, two));
	g_assert_cmpstr(both.values[0]->name, ==, "olddfd");
	g_assert_null(both.values[1]);
	g_autofree char *text_two = ring_printed_format(two, &both, 8);
	g_autoptr(ring_format) made_two = ring_format_parse("syscalls", text_two, strlen(text_two), 8, NULL);
	g_assert_nonnull(made_two);
	static const char said_two[] = TAG " 8 5 0 a b " TAG " c " TAG;
	g_autofree uint8_t *renamed = ring_printed_parse(said_two, sizeof said_two, TAG, head, &size);
	g_assert_nonnull(renamed);
	/* olddfd, the first name up to the tag, and the second */
	check_program(made_two, false, renamed, (unsigned)size,
		      "05000000" "61206200" "632030313233343536373839616263646566" "00");
	static const char no_first[] = TAG " 8 5 0  " TAG " b";
	g_autofree uint8_t *half = ring_printed_parse(no_first, sizeof no_first, TAG, head, &size);
	check_program(made_two, false, half, (unsigned)size, "05000000" "00" "6200");
}

/* What others print, or what is cut, is not a call. */
static void test_printed_texts(void)
{
	static const uint8_t head[8] = { 0 };
	static const char *const refused[] = {
		"", " ", "hello", TAG, TAG " ", TAG " 1", TAG " 1 2", TAG " 1 2 3", TAG " 1 2 x name",
		TAG " 1 123456789 2 n",
		TAG " ffff 1 2 name", TAG "  1 2 3 name", "0123456789abcdeF 1 2 3 name", "x" TAG " 1 2 3 name",
	};
	size_t size;
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
		g_autofree char *exact = g_memdup2(refused[i], strlen(refused[i]) + 1);
		g_assert_null(ring_printed_parse(exact, strlen(exact), TAG, head, &size));
		g_assert_null(ring_printed_parse(exact, strlen(exact) + 1, TAG, head, &size));
	}
	g_autofree uint8_t *empty = ring_printed_parse(TAG " 1 2 3 ", sizeof TAG + 7, TAG, head, &size);
	g_assert_nonnull(empty);
	g_assert_cmpuint(size, ==, 26);
	enum { ROOM = RING_PRINTED_STORE - 8 - 1 };	/* two numbers, and the NUL */
	g_autofree char *name = g_strnfill(ROOM, 'n');
	g_autofree char *longest = g_strconcat(TAG " 1 2 3 ", name, NULL);
	g_autofree uint8_t *unknown = ring_printed_parse(longest, strlen(longest), TAG, head, &size);
	g_assert_cmpuint(size, ==, 26);		/* it may be cut: no name */
	longest[sizeof TAG + 6 + ROOM - 1] = '\0';
	g_autofree uint8_t *known = ring_printed_parse(longest, strlen(longest), TAG, head, &size);
	g_assert_cmpuint(size, ==, 26 + ROOM - 1);
	g_autofree char *pair = g_strdup_printf(TAG " 1 2 0 %.400s " TAG " %.103s", name, name);
	g_autofree uint8_t *first = ring_printed_parse(pair, strlen(pair), TAG, head, &size);
	g_assert_cmpuint(size, ==, 26 + 400 + 103);
	g_autofree char *cut = g_strdup_printf(TAG " 1 2 0 %.403s " TAG " %.103s", name, name);
	g_autofree uint8_t *only = ring_printed_parse(cut, strlen(cut), TAG, head, &size);
	g_assert_cmpuint(size, ==, 26 + 403);		/* the second may be cut */
}

static void test_user_texts(void)
{
	g_autoptr(ring_format) open = format_of("syscalls", "sys_enter_openat", 1,
		"\tfield:const char * filename;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] __filename_val;\toffset:16;\tsize:4;\tsigned:0;\n");
	check_program(open, false, (const guint8 *)"\1\0\0\0\2\0\0\0\1\1\1\1\1\1\1\1\x14\0\x02\0a", 22, "6100");
	g_autoptr(ring_format) write = format_of("syscalls", "sys_enter_write", 1,
		"\tfield:const char * buf;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] __buf_val;\toffset:16;\tsize:4;\tsigned:0;\n");
	check_program(write, false, (const guint8 *)"\1\0\0\0\2\0\0\0\1\1\1\1\1\1\1\1\x14\0\x02\0s", 22, "");
	/* Linux 7.2 has the same name twice in kexec_file_load: metadata must not */
	g_autoptr(ring_format) twice = format_of("syscalls", "sys_enter_x", 1,
						 "\tfield:int flags;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int "
						 "flags;\toffset:16;\tsize:8;\tsigned:0;\n");
	check_program(twice, false, (const guint8 *)"\1\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0", 24, "03000000");
}

/* By which way names of files came is seen from the formats: a call without a text counts only if no call has one. */
static void test_names_of(void)
{
	static const char pointer[] = "\tfield:const char * filename;\toffset:8;\tsize:8;\tsigned:0;\n";
	static const char stored[] = "\tfield:const char * filename;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] __filename_val;\toffset:16;\tsize:4;\tsigned:0;\n";
	static const char text[] = "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n";
	static const char number[] = "\tfield:int fd;\toffset:8;\tsize:8;\tsigned:0;\n";
	g_autoptr(ring_format) plain = format_of("syscalls", "sys_enter_rename", 1, pointer);
	g_autoptr(ring_format) kernel = format_of("syscalls", "sys_enter_open", 2, stored);
	g_autoptr(ring_format) probed = format_of("syscalls", "sys_enter_open", 3, text);
	g_autoptr(ring_format) printed = format_of("syscalls", "sys_enter_open", RING_PRINTED_FIRST, text);
	g_autoptr(ring_format) printer = format_of(RING_PRINTED_SYSTEM, RING_PRINTED_EVENT, 6, text);
	g_autoptr(ring_format) close = format_of("syscalls", "sys_enter_close", 4, number);
	g_autoptr(ring_format) exec = format_of("sched", "sched_process_exec", 5, text);
	const struct { struct ring_format *formats[3]; const char *names; } cases[] = {
		{ { close, exec, exec }, NULL }, { { close, plain, exec }, "none" },
		{ { plain, kernel, plain }, "kernel" }, { { kernel, plain, close }, "kernel" },
		{ { exec, plain, probed }, "probes" }, { { plain, printed, printer }, "bpf" },
		{ { plain, printed, close }, "none" },		/* the program was refused */
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GPtrArray) all = g_ptr_array_new();
		for (size_t k = 0; k < 3; k++)
			g_ptr_array_add(all, cases[i].formats[k]);
		g_assert_cmpstr(ring_names_of(all), ==, cases[i].names);
	}
}

/* The name that is written of one which the kernel stored in n bytes. */
static void check_stored(unsigned limit, const char *stored, unsigned n, const char *want)
{
	enum { HEAD = 12 };		/* common fields, and where the text is */
	g_autoptr(ring_format) open = format_of("syscalls", "sys_enter_openat", 1,
		"\tfield:__data_loc char[] __filename_val;\toffset:8;\tsize:4;\tsigned:0;\n");
	struct ring_machine machine = { .long_size = 8, .user_text = (uint8_t)limit };
	g_autoptr(ring_program) p = ring_program_new(open, machine, false);
	g_autofree uint8_t *payload = g_malloc0(HEAD + n);	/* exact, for the sanitizers */
	memcpy(payload + 8, ((const uint8_t[]){ HEAD, 0, (uint8_t)n, 0 }), 4);
	memcpy(payload + HEAD, stored, n);
	struct ring_event event = { .payload = payload, .size = HEAD + n };
	struct ring_run run = { .event = &event };
	size_t bound = ring_program_bound(p, &event);
	g_autofree uint8_t *to = g_malloc(bound);
	ssize_t got = ring_program_run(p, &run, to);
	g_assert_cmpint(got, <=, (ssize_t)bound);
	g_assert_cmpint(got, ==, (ssize_t)strlen(want) + 1);
	g_assert_cmpstr((char *)to, ==, want);
}

/* A text that the kernel cut says so; one that ends with dots itself does not. */
static void test_cut_texts(void)
{
	static const struct { unsigned limit, length; bool is_cut; } texts[] = {
		{ 165, 168, true }, { 165, 167, false }, { 165, 165, false }, { 165, 66, false }, { 63, 66, true },
		{ 63, 65, false }, { 63, 63, false }, { 40, 43, true }, { 1, 4, true }, { 165, 3, false },
		/* of a file, whose limit is unknown */
		{ 0, 66, true }, { 0, 168, true }, { 0, 67, false }, { 0, 3, false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		unsigned n = texts[i].length;
		g_autofree char *name = g_strnfill(n, 'n');
		memcpy(name + n - 3, "...", 3);
		g_autofree char *marked = g_strconcat(name, texts[i].is_cut ? "[cut]" : NULL, NULL);
		check_stored(texts[i].limit, name, n + 1, marked);
		check_stored(texts[i].limit, name, n, name);	/* not as the kernel stores texts */
		name[n - 1] = 'x';
		check_stored(texts[i].limit, name, n + 1, name);
	}
	check_stored(165, "", 1, "");
	check_stored(165, "", 0, "");
}

/* ---- packets ---- */

struct taken {
	GString *metadata;
	GPtrArray *packets;		/* GBytes */
	uint64_t overwritten;
};

static void take_metadata(void *data, const char *text, size_t len)
{
	struct taken *t = data;
	g_string_append_len(t->metadata, text, (gssize)len);
}

static void take_packet(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
			uint64_t end)
{
	struct taken *t = data;
	const uint8_t *bytes = g_bytes_get_data(packet, NULL);
	g_assert_cmpuint(stream_class, <=, RING_STREAM_STATE);
	g_assert_cmpuint(bytes[20], ==, stream_class);
	g_assert_cmpuint(bytes[24], ==, instance);
	g_assert_cmpuint(begin, <=, end);
	g_ptr_array_add(t->packets, packet);
}

static uint64_t take_overwritten(void *data, unsigned cpu)
{
	struct taken *t = data;
	(void)cpu;
	return t->overwritten;
}

static uint64_t number_of(const struct taken *t, guint packet, size_t at)
{
	uint64_t n;
	memcpy(&n, (const char *)g_bytes_get_data(t->packets->pdata[packet], NULL) + at, 8);
	return GUINT64_FROM_LE(n);
}
#define BEGIN 32
#define END 40
#define SEQUENCE 64
#define DISCARDED 72

static struct ring_packets *packets_of(struct taken *t)
{
	static const struct ring_sink sink = { take_metadata, take_packet, take_overwritten };
	struct ring_trace trace = { .hostname = "h\"\\\n", .tracer = "ftrace", .clock_name = "monotonic",
				    .clock_frequency = 1000000000 };
	struct ring_layout l = layout_of((struct ring_machine){ .long_size = 8 });
	*t = (struct taken){ .metadata = g_string_new(NULL),
			     .packets = g_ptr_array_new_with_free_func((GDestroyNotify)(void (*)(void))g_bytes_unref) };
	struct ring_packets *p = ring_packets_new(&l, &trace, &sink, t);
	ring_packets_add_format(
		p, format_of("irq", "softirq_raise", 5, "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n"));
	ring_packets_add_format(p, format_of("task", "task_newtask", 6,
					     "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:unsigned int "
					     "clone_flags;\toffset:12;\tsize:4;\tsigned:0;\n"));
	ring_packets_add_format(p, format_of("sched", "sched_process_fork", 7,
		"\tfield:pid_t parent_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:pid_t child_pid;\toffset:12;\tsize:4;\tsigned:1;\n"));
	return p;
}

static void taken_clear(struct taken *t)
{
	g_string_free(t->metadata, TRUE);
	g_ptr_array_unref(t->packets);
}

/* Pages of one CPU, at once; frees them. */
static void put_pages(struct ring_packets *p, const unsigned *cpus, struct made_page *pages, size_t n)
{
	g_autofree struct ring_read *reads = g_new(struct ring_read, n);
	for (size_t i = 0; i < n; i++)
		reads[i] = (struct ring_read){ cpus[i], pages[i].bytes->data, pages[i].bytes->len };
	ring_packets_pages(p, reads, n);
	for (size_t i = 0; i < n; i++)
		g_byte_array_unref(pages[i].bytes);
}

static struct made_page raise_page(uint64_t time, unsigned n, uint32_t flags, uint64_t n_lost)
{
	struct made_page m = page_begin(false, 8, time);
	for (uint32_t i = 0; i < n; i++)
		add_numbers(&m, i ? 10 : 0, 5, 42, &i, 1);
	page_end(&m, flags, n_lost);
	return m;
}

/* Where events were lost, an empty packet lasts from the last event before to the page after, with their number. */
static void test_packets_losses(void)
{
	static const unsigned cpus[] = { 3, 3, 3 };
	struct taken t;
	g_autoptr(ring_packets) p = packets_of(&t);
	struct made_page pages[] = { raise_page(1000, 3, 0, 0), raise_page(5000, 2, 3u << 30, 17),
				     raise_page(9000, 1, 1u << 31, 0) };
	ring_packets_start(p, 3, 900);
	t.overwritten = 40;			/* 17 of these are in the second page */
	put_pages(p, cpus, pages, 3);
	ring_packets_flush_all(p, 9500);
	const struct { uint64_t begin, end, discarded;
	} expected[] = {
		{ 900, 900, 0 },    { 1000, 1020, 0 },  { 1020, 5000, 17 },
		{ 5000, 5010, 17 }, { 5010, 9000, 40 }, { 9000, 9500, 40 },
	};
	g_assert_cmpuint(t.packets->len, ==, G_N_ELEMENTS(expected));
	for (guint i = 0; i < t.packets->len; i++) {
		g_assert_cmpuint(number_of(&t, i, SEQUENCE), ==, i);
		g_assert_cmpuint(number_of(&t, i, BEGIN), ==, expected[i].begin);
		g_assert_cmpuint(number_of(&t, i, END), ==, expected[i].end);
		g_assert_cmpuint(number_of(&t, i, DISCARDED), ==, expected[i].discarded);
	}
	struct ring_counts n = ring_packets_counts(p);
	g_assert_cmpuint(n.events, ==, 6);
	g_assert_cmpuint(n.lost, ==, 40);
	g_assert_nonnull(strstr(t.metadata->str, "hostname = \"h\";"));	/* nothing else of it may be in a string */
	taken_clear(&t);
}

/* The sum of the statistics can contain what later pages count: not counted twice. A gap has 1 at least. */
static void test_packets_losses_ahead(void)
{
	static const unsigned cpus[] = { 3, 3 };
	struct taken t;
	g_autoptr(ring_packets) p = packets_of(&t);
	struct made_page early[] = { raise_page(1000, 3, 0, 0), raise_page(5000, 2, 1u << 31, 0) };
	struct made_page known[] = { raise_page(6000, 3, 3u << 30, 17) };
	struct made_page more[] = { raise_page(7000, 3, 3u << 30, 30) };
	ring_packets_start(p, 3, 900);
	t.overwritten = 40;
	put_pages(p, cpus, early, 2);
	g_assert_cmpuint(ring_packets_counts(p).lost, ==, 40);
	put_pages(p, cpus, known, 1);
	g_assert_cmpuint(ring_packets_counts(p).lost, ==, 41);
	t.overwritten = 60;
	put_pages(p, cpus, more, 1);
	g_assert_cmpuint(ring_packets_counts(p).lost, ==, 60);
	ring_packets_flush_all(p, 9500);
	taken_clear(&t);
}

/* A flight recorder: what was overwritten before the first page that is left is no loss. */
static void test_packets_first_loss(void)
{
	static const unsigned cpu;
	struct taken t;
	g_autoptr(ring_packets) p = packets_of(&t);
	struct made_page page = raise_page(1000, 1, 3u << 30, 17);
	put_pages(p, &cpu, &page, 1);
	ring_packets_flush_all(p, 0);
	g_assert_cmpuint(t.packets->len, ==, 2);
	g_assert_cmpuint(number_of(&t, 1, DISCARDED), ==, 0);
	taken_clear(&t);
}

static void test_packets_damage(void)
{
	static const unsigned cpus[] = { 0, 0, 0 };
	struct taken t;
	g_autoptr(ring_packets) p = packets_of(&t);
	struct made_page damaged = page_begin(false, 8, 2000), unknown = page_begin(false, 8, 3000);
	add_numbers(&damaged, 0, 5, 1, (const uint32_t[]){ 1 }, 1);
	add_numbers(&damaged, 0, 5, 1, NULL, 0);	/* shorter than its format */
	add_word(&damaged, 28, 0);
	page_end(&damaged, 0, 0);
	add_numbers(&unknown, 0, 999, 1, NULL, 0);
	page_end(&unknown, 0, 0);
	struct made_page pages[] = { raise_page(1000, 1, 0, 0), damaged, unknown };
	put_pages(p, cpus, pages, 3);
	ring_packets_flush_all(p, 0);
	struct ring_counts n = ring_packets_counts(p);
	g_assert_cmpuint(n.events, ==, 2);
	g_assert_cmpuint(n.lost, ==, 2);
	g_assert_cmpuint(n.damaged, ==, 1);
	g_assert_cmpuint(n.unknown, ==, 1);
	taken_clear(&t);
}

static void add_fork(struct made_page *m, uint32_t parent, uint32_t child, uint32_t flags)
{
	add_numbers(m, 1, 6, (int32_t)parent, (const uint32_t[]){ child, flags }, 2);
	add_numbers(m, 1, 7, (int32_t)parent, (const uint32_t[]){ parent, child }, 2);
}

/* The processes that a fork's event has: its last 8 bytes. */
static void check_fork(const struct taken *t, guint packet, int32_t parent, int32_t child)
{
	gsize n;
	const char *bytes = g_bytes_get_data(t->packets->pdata[packet], &n);
	int32_t got[2];
	memcpy(got, bytes + n - 8, 8);
	g_assert_cmpint(got[0], ==, parent);
	g_assert_cmpint(got[1], ==, child);
}

/* CPU 0 has the fork of a thread by a process that was made on CPU 1, whose page comes later. */
static void test_packets_processes(void)
{
	static const unsigned cpus[] = { 0, 1 };
	struct taken t;
	g_autoptr(ring_packets) p = packets_of(&t);
	struct made_page first = page_begin(false, 8, 2000), second = page_begin(false, 8, 1000);
	add_fork(&first, 200, 201, 0x10000);
	add_fork(&second, 100, 200, 0);
	page_end(&first, 0, 0);
	page_end(&second, 0, 0);
	ring_packets_set_process(p, 100, 90);
	struct made_page pages[] = { first, second };
	put_pages(p, cpus, pages, 2);
	ring_packets_flush_all(p, 0);
	g_assert_cmpuint(t.packets->len, ==, 4);
	check_fork(&t, 2, 200, 200);
	check_fork(&t, 3, 90, 200);
	taken_clear(&t);
}

/* Nothing is said of a process that is not known: the event class without the fields is used. */
static void test_packets_unknown_process(void)
{
	static const unsigned cpu;
	struct taken t;
	g_autoptr(ring_packets) p = packets_of(&t);
	struct made_page page = page_begin(false, 8, 2000);
	add_fork(&page, 300, 301, 0x10000);
	page_end(&page, 0, 0);
	put_pages(p, &cpu, &page, 1);
	ring_packets_flush_all(p, 0);
	check_fork(&t, 1, 300, 301);		/* parent_tid, child_tid */
	g_assert_null(strstr(t.metadata->str, "_parent_pid"));
	taken_clear(&t);
}

/* The state again, later: the events are declared once, packets are numbered on, and what events said of a process
 * stays. */
static void test_packets_state_again(void)
{
	static const unsigned cpu;
	struct taken t;
	g_autoptr(ring_packets) p = packets_of(&t);
	for (uint64_t time = 1000; time <= 3000; time += 1000) {
		struct ring_dump *d = ring_dump_new(p, time - 500 * (time == 3000));
		ring_dump_disk(d, 8, "sda");
		ring_dump_end(d, time + 900);
	}
	g_assert_cmpuint(t.packets->len, ==, 3);
	for (guint i = 0; i < 3; i++) {
		uint64_t number, begin;		/* ring_packet.c: the context */
		const uint8_t *bytes = g_bytes_get_data(t.packets->pdata[i], NULL);
		memcpy(&number, bytes + 64, 8);
		memcpy(&begin, bytes + 32, 8);
		g_assert_cmpuint(number, ==, i);
		/* not before the end of the one before */
		g_assert_cmpuint(begin, ==, i == 2 ? 2900 : 1000 * (i + 1));
	}
	const char *declared = strstr(t.metadata->str, "\"lttng_statedump_block_device\"");
	g_assert_nonnull(declared);
	g_assert_null(strstr(declared + 1, "\"lttng_statedump_block_device\""));
	g_assert_false(ring_packets_has_process(p, 200));
	struct made_page page = page_begin(false, 8, 4000);
	add_fork(&page, 100, 200, 0);
	page_end(&page, 0, 0);
	put_pages(p, &cpu, &page, 1);
	g_assert_true(ring_packets_has_process(p, 200));
	taken_clear(&t);
}

/* ---- descriptors of calls ---- */

#define INSTALL_ID 21
#define PIPE_ID 22
#define ACCEPT_ID 23
#define OTHER_ID 24

static struct ring_packets *packets_with_calls(struct taken *t)
{
	struct ring_packets *p = packets_of(t);
	static const char ret[] = "\tfield:long ret;\toffset:8;\tsize:4;\tsigned:1;\n";
	ring_packets_add_format(p, format_of("blktop", "fd_install", INSTALL_ID,
		"\tfield:s32 fd;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:u16 skc_family;\toffset:12;\tsize:2;\tsigned:0;\n"
		"\tfield:u16 skc_dport;\toffset:14;\tsize:2;\tsigned:0;\n"
		"\tfield:u32 skc_daddr;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:u64 skc_v6_daddr0;\toffset:20;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 skc_v6_daddr1;\toffset:28;\tsize:8;\tsigned:0;\n"));
	ring_packets_add_format(p, format_of("syscalls", "sys_exit_pipe2", PIPE_ID, ret));
	ring_packets_add_format(p, format_of("syscalls", "sys_exit_accept4", ACCEPT_ID, ret));
	ring_packets_add_format(p, format_of("syscalls", "sys_exit_close", OTHER_ID, ret));
	return p;
}

static void add_install(struct made_page *m, int32_t tid, uint32_t fd)
{
	/* 127.0.0.1:7001 */
	const uint32_t numbers[] = { fd, 0x591b0002, 0x0100007f, 0, 0, 0, 0 };
	add_numbers(m, 1, INSTALL_ID, tid, numbers, fd == 99 ? 1 : G_N_ELEMENTS(numbers));
}

static void add_exit(struct made_page *m, unsigned id, int32_t tid, uint32_t ret)
{
	add_numbers(m, 1, (uint16_t)id, tid, &ret, 1);
}

/* The events of the page, as hex of their fields behind the thread. */
static char *fields_of(struct made_page *m)
{
	struct taken t;
	g_autoptr(ring_packets) p = packets_with_calls(&t);
	static const unsigned cpu;
	GString *s = g_string_new(NULL);
	page_end(m, 0, 0);
	put_pages(p, &cpu, m, 1);
	ring_packets_flush_all(p, 0);
	gsize n;
	const uint8_t *bytes = g_bytes_get_data(t.packets->pdata[1], &n);
	for (gsize i = RING_PACKET_HEADER; i < n; i++)
		g_string_append_printf(s, "%02x", bytes[i]);
	taken_clear(&t);
	return g_string_free(s, FALSE);
}

/* A call's exit has the descriptors that its thread got since the call before, if these are as many as they must be. */
static void test_descriptors(void)
{
	struct made_page m = page_begin(false, 8, 1000);
	add_install(&m, 5, 3);
	add_install(&m, 5, 4);
	add_exit(&m, PIPE_ID, 5, 0);			/* known */
	add_install(&m, 5, 6);
	add_exit(&m, ACCEPT_ID, 5, 6);			/* known */
	g_autofree char *known = fields_of(&m);
	g_assert_nonnull(strstr(known, "05000000" "00000000" "03000000" "04000000"));
	g_assert_nonnull(strstr(known, "05000000" "06000000" "0200" "1b59" "04000000" "7f000001" "00000000"));
	struct made_page bad = page_begin(false, 8, 1000);
	add_install(&bad, 5, 3);
	add_exit(&bad, PIPE_ID, 5, 0);			/* one is missing */
	add_install(&bad, 5, 3);
	add_install(&bad, 7, 4);			/* another thread's */
	add_exit(&bad, PIPE_ID, 5, 0);
	add_install(&bad, 5, 3);
	add_exit(&bad, OTHER_ID, 5, 0);			/* another call's */
	add_install(&bad, 5, 4);
	add_exit(&bad, PIPE_ID, 5, 0);
	add_install(&bad, 5, 3);
	add_install(&bad, 5, 4);
	add_exit(&bad, PIPE_ID, 5, 0xfffffff2);		/* it failed */
	add_install(&bad, 5, 3);
	add_exit(&bad, ACCEPT_ID, 5, 8);		/* another descriptor */
	add_install(&bad, 5, 99);
	add_exit(&bad, ACCEPT_ID, 5, 99);		/* an event that is cut off */
	g_autofree char *unknown = fields_of(&bad);
	g_assert_null(strstr(unknown, "0300000004000000"));
	g_assert_null(strstr(unknown, "1b59"));
}

/* ---- any bytes ---- */

static void any_page(GRand *rand, unsigned round, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)g_rand_int(rand);
	if (n <= 16 || round % 4 == 0)
		return;
	/* a plausible header, times that go on, and ids that are known */
	memcpy(bytes, &(uint64_t){ GUINT64_TO_LE((uint64_t)round << 44) }, 8);
	memset(bytes + 8, 0, 8);
	bytes[8] = (uint8_t)(n - 16);
	bytes[9] = (uint8_t)((n - 16) >> 8);
	for (size_t i = 20; i + 2 < n; i += 4 * (size_t)g_rand_int_range(rand, 3, 9)) {
		bytes[i] = (uint8_t)g_rand_int_range(rand, 5, 8);
		bytes[i + 1] = 0;
	}
}

static void test_any_bytes(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(41);
	uint64_t n_events = 0;
	for (unsigned round = 0; round < 20000;) {
		struct taken t;
		g_autoptr(ring_packets) p = packets_of(&t);
		for (unsigned page = 0; page < 10; page++, round++) {
			size_t n = (size_t)g_rand_int_range(rand, 0, 513);
			g_autofree uint8_t *bytes =
				g_malloc(n); /* of this size: the sanitizer sees what is read behind it */
			any_page(rand, round, bytes, n);
			ring_packets_pages(p, &(struct ring_read){ (unsigned)g_rand_int_range(rand, 0, 4), bytes, n },
					   1);
		}
		ring_packets_flush_all(p, 0);
		n_events += ring_packets_counts(p).events;
		taken_clear(&t);
	}
	g_assert_cmpuint(n_events, >, 1000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ring/page", test_page);
	g_test_add_func("/ring/page-losses", test_page_losses);
	g_test_add_func("/ring/page-damaged", test_page_damaged);
	g_test_add_func("/ring/format", test_format);
	g_test_add_func("/ring/format-refused", test_format_refused);
	g_test_add_func("/ring/names", test_names);
	g_test_add_func("/ring/rwbs", test_rwbs);
	g_test_add_func("/ring/program", test_program);
	g_test_add_func("/ring/plain", test_plain);
	g_test_add_func("/ring/program-texts", test_program_texts);
	g_test_add_func("/ring/program-extras", test_program_extras);
	g_test_add_func("/ring/user-texts", test_user_texts);
	g_test_add_func("/ring/cut-texts", test_cut_texts);
	g_test_add_func("/ring/names-of", test_names_of);
	g_test_add_func("/ring/printed-formats", test_printed_formats);
	g_test_add_func("/ring/printed-texts", test_printed_texts);
	g_test_add_func("/ring/packets-losses", test_packets_losses);
	g_test_add_func("/ring/packets-losses-ahead", test_packets_losses_ahead);
	g_test_add_func("/ring/packets-first-loss", test_packets_first_loss);
	g_test_add_func("/ring/packets-damage", test_packets_damage);
	g_test_add_func("/ring/packets-processes", test_packets_processes);
	g_test_add_func("/ring/packets-state-again", test_packets_state_again);
	g_test_add_func("/ring/packets-unknown-process", test_packets_unknown_process);
	g_test_add_func("/ring/descriptors", test_descriptors);
	g_test_add_func("/ring/any-bytes", test_any_bytes);
	return g_test_run();
}
