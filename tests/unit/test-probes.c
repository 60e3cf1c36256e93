/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of our own: their texts, made of formats of several kernels and of hostile ones, and what becomes of what they
 * record: names of files, addresses of sockets, headers of packets.
 */
#include "live/tracefs/texts.h"
#include "trace/ring/ring_program.h"
#include "trace/ring/ring_rules.h"

#include "lib/btf_make.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const struct probe_offsets offsets = {
	.has_packets = true, .head = 200, .data = 208, .network_header = 184, .protocol = 180, .data_len = 116,
	.has_files = true, .inode = 32, .mode = 0,
	.has_sockets = true, .private_data = 48, .sk = 24, .family = 16, .port = 12, .v4 = 0, .v6 = 56,
};

/* fields: "TYPE NAME OFFSET SIZE;..." */
static struct ring_format *format_of(const char *system, const char *name, const char *fields)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) all = g_strsplit(fields, ";", -1);
	g_string_printf(text, "name: %s\nID: 7\nformat:\n", name);
	for (char **f = all; *f && **f; f++) {
		char *size = strrchr(*f, ' ');
		*size = '\0';
		char *offset = strrchr(*f, ' ');
		*offset = '\0';
		g_string_append_printf(text, "\tfield:%s;\toffset:%s;\tsize:%s;\tsigned:0;\n", *f, offset + 1,
				       size + 1);
	}
	struct ring_format *f = ring_format_parse(system, text->str, text->len, 8, &error);
	g_assert_no_error(error);
	return f;
}

/* ---- texts ---- */

#define CALL "int __syscall_nr 8 4;"

static void check_text(const char *system, const char *name, const char *fields, const char *expected)
{
	g_autoptr(ring_format) f = format_of(system, name, fields);
	g_autofree char *text = probe_text("blktop_5", f, &offsets);
	g_assert_cmpstr(text, ==, expected);
}

static void test_texts(void)
{
	check_text("syscalls", "sys_enter_openat",
		   CALL "int dfd 16 8;const char * filename 24 8;int flags 32 8;umode_t mode 40 8;",
		   "e:blktop_5/sys_enter_openat syscalls.sys_enter_openat dfd=$dfd:s32 "
		   "filename=+u0($filename):ustring flags=$flags:s32 mode=$mode:u16");
	/* Linux 7.0 has it itself; of others there is nothing to add */
	check_text("syscalls", "sys_enter_openat",
		   CALL "int dfd 16 8;const char * filename 24 8;__data_loc char[] __filename_val 32 4;", NULL);
	check_text("syscalls", "sys_enter_close", CALL "unsigned int fd 16 8;", NULL);
	check_text("syscalls", "sys_enter_write",
		   CALL "unsigned int fd 16 8;const char * buf 24 8;size_t count 32 8;", NULL);
	check_text("syscalls", "sys_exit_openat", CALL "long ret 16 8;", NULL);
	check_text("syscalls", "sys_enter_rename", CALL "const char * oldname 16 8;const char * newname 24 8;",
		   "e:blktop_5/sys_enter_rename syscalls.sys_enter_rename oldname=+u0($oldname):ustring "
		   "newname=+u0($newname):ustring");
	check_text("syscalls", "sys_enter_connect",
		   CALL "int fd 16 8;struct sockaddr * uservaddr 24 8;int addrlen 32 8;",
		   "e:blktop_5/sys_enter_connect syscalls.sys_enter_connect fd=$fd:s32 uservaddr=$uservaddr:u64 "
		   "sockaddr0=+u0($uservaddr):u64 sockaddr1=+u8($uservaddr):u64 sockaddr2=+u16($uservaddr):u64 "
		   "sockaddr3=+u24($uservaddr):u32 sun_path=+u2($uservaddr):ustring addrlen=$addrlen:s32");
	check_text("net", "net_dev_xmit",
		   "void * skbaddr 8 8;unsigned int len 16 4;__data_loc char[] name 20 4;", NULL);
	check_text("sched", "sched_process_exec", "__data_loc char[] filename 8 4;", NULL);
}

static void test_packet_text(void)
{
	g_autoptr(ring_format) f = format_of("net", "net_dev_queue",
					     "void * skbaddr 8 8;unsigned int len 16 4;__data_loc char[] name 20 4;");
	g_autofree char *text = probe_text("blktop_5", f, &offsets);
	g_assert_true(g_str_has_prefix(text, "e:blktop_5/net_dev_queue net.net_dev_queue skbaddr=$skbaddr:u64 "
				       "len=$len:u32 name=$name:string skb_head=+200($skbaddr):u64 "));
	g_assert_nonnull(strstr(text, " packet9=+72(+208($skbaddr)):u64"));
	g_assert_null(strstr(text, "packet10"));
	struct probe_offsets none = { 0 };
	g_assert_null(probe_text("blktop_5", f, &none));
	g_autofree char *plain = probe_text_install("blktop_5", &none);
	g_assert_cmpstr(plain, ==, "p:blktop_5/fd_install fd_install fd=$arg1:s32");
	g_assert_null(probe_install_filter(&none));
	g_autofree char *full = probe_text_install("blktop_5", &offsets);
	g_assert_nonnull(strstr(full, " mode=+0(+32($arg2)):u16 skc_family=+16(+24(+48($arg2))):u16 "));
	g_assert_nonnull(probe_install_filter(&offsets));
}

/* A name that is no word of the kernel's language for probes makes none; nothing is ever on a second line. */
static void test_hostile(void)
{
	static const struct { const char *name, *fields; } formats[] = {
		{ "sys_enter_x-y", "const char * filename 16 8;" },
		{ "sys.enter", "const char * filename 16 8;" },
		{ "sys_enter_x", "const char * filename 16 8;int a_name_that_the_kernel_takes_for_too_long 24 8;" },
		{ "sys_enter_x", "const char * filename 16 8;int odd 24 3;" },
		{ "sys_enter_x", "const char * filename 16 8;int array[4] 24 16;" },
		{ "sys_enter_x", "" },
		{ "sys_enter_connect", "int uservaddr 16 8;" },
	};
	static const char *const groups[] = { "", "a b", "a/b", "a\nb", "5", "a-b" };
	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
		check_text("syscalls", formats[i].name, formats[i].fields, NULL);
	g_autoptr(ring_format) f = format_of("syscalls", "sys_enter_x", "const char * filename 16 8;");
	for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
		g_assert_null(probe_text(groups[i], f, &offsets));
		g_assert_null(probe_text_install(groups[i], &offsets));
	}
	check_text("net", "net_dev_queue",
		   "void * skbaddr 8 3;unsigned int len 16 4;__data_loc char[] name 20 4;", NULL);
	check_text("net", "netif_receive_skb", "unsigned int len 16 4;", NULL);
}

/* ---- removing ---- */

static void put_file(const char *dir, const char *path, const char *text)
{
	g_autofree char *whole = g_build_filename(dir, path, NULL), *folder = g_path_get_dirname(whole);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	g_assert_true(g_file_set_contents(whole, text, -1, NULL));
}

static char *text_of(const char *dir, const char *path)
{
	g_autofree char *whole = g_build_filename(dir, path, NULL);
	char *text = NULL;
	g_assert_true(g_file_get_contents(whole, &text, NULL, NULL));
	return text;
}

static bool has_ended(int pid)
{
	return pid == 5;
}

/* Probes of a process that has ended are disabled everywhere before they are removed; all others are let alone. */
static void test_sweep(void)
{
	static const char *const files[] = {
		"events/blktop_5/enable", "instances/x/events/blktop_5/enable", "instances/x/events/blktop_7/enable",
		"instances/x/events/other/enable", "events/blktop_7/enable",
	};
	static const char lines[] = "p:other/blktop_5 do_exit\ne:blktop_7/a net.net_dev_queue\np:blktop_5x/b do_exit\n"
		"r4:blktop_5/c do_exit\nblktop_5/d\n\ne:blktop_5/last syscalls.sys_enter_open a=+u0($b):ustring\n";
	g_autofree char *dir = g_dir_make_tmp("blktop-probes.XXXXXX", NULL);
	g_autoptr(GString) report = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		put_file(dir, files[i], "1");
	put_file(dir, "dynamic_events", lines);
	int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	probes_sweep(root, "blktop-", has_ended, report);
	g_assert_cmpstr(report->str, ==, "removed probes of the kernel: 1\n");
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *text = text_of(dir, files[i]);
		g_assert_cmpstr(text, ==, i < 2 ? "0" : "1");
	}
	g_autofree char *written = text_of(dir, "dynamic_events");
	g_assert_true(g_str_has_prefix(written, "-:blktop_5/last"));
	/* a kernel without such probes */
	g_string_truncate(report, 0);
	g_autofree char *path = g_build_filename(dir, "dynamic_events", NULL);
	g_unlink(path);
	probes_sweep(root, "blktop-", has_ended, report);
	g_assert_cmpstr(report->str, ==, "");
	struct probes *p = probes_new(root, "blktop-5");
	g_autoptr(ring_format) f = format_of("syscalls", "sys_enter_open", "const char * filename 16 8;");
	char *dir_of_probe = NULL;
	const char *filter;
	g_assert_null(probes_add(p, f, &dir_of_probe));
	g_assert_null(probes_add_install(p, &dir_of_probe, &filter));
	g_assert_null(dir_of_probe);
	probes_free(p, report);
	g_assert_cmpstr(report->str, ==, "");
	close(root);
	g_autofree char *remove = g_strdup_printf("rm -r '%s'", dir);
	g_assert_cmpint(g_spawn_command_line_sync(remove, NULL, NULL, NULL, NULL), ==, true);
}

/* ---- what is recorded ---- */

static GByteArray *bytes_of(const char *hex)
{
	GByteArray *b = g_byte_array_new();
	for (; *hex; hex += *hex == ' ' ? 1 : 2) {
		if (*hex == ' ')
			continue;
		guint8 byte = (guint8)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1]));
		g_byte_array_append(b, &byte, 1);
	}
	return b;
}

/* Runs the program of the format on the event; both in hex, without the common fields. */
static void check_program(const char *system, const char *name, const char *fields, const char *event,
			  const char *expected)
{
	g_autoptr(ring_format) f = format_of(system, name, fields);
	g_autoptr(ring_program) p = ring_program_new(f, (struct ring_machine){ .long_size = 8 }, false);
	g_autofree char *whole = g_strconcat("0700000001000000", event, NULL);
	g_autoptr(GByteArray) bytes = bytes_of(whole), wanted = bytes_of(expected);
	struct ring_event e = { .payload = bytes->data, .size = bytes->len };
	struct ring_run run = { .event = &e, .tid = 1 };
	size_t bound = ring_program_bound(p, &e);
	g_autofree uint8_t *to = g_malloc(bound);	/* the sanitizer sees what is written behind it */
	ssize_t n = ring_program_run(p, &run, to);
	g_assert_cmpint(n, <=, (ssize_t)bound);
	g_assert_cmpmem(to, (size_t)MAX(n, 0), wanted->data, wanted->len);
	g_autoptr(GString) text = g_string_new(NULL);
	ring_program_declare(p, text, 1, 0);
	g_assert_null(strstr(text->str, "_sockaddr") ? text->str : strstr(text->str, "_packet"));
}

static void test_paths(void)
{
	static const char fields[] = "s32 dfd 8 4;__data_loc char[] filename 12 4;";
	check_program("syscalls", "sys_enter_openat", fields, "9cffffff 10000300 6162 00", "9cffffff 616200");
	check_program("syscalls", "sys_enter_openat", fields, "9cffffff 00000000", "9cffffff 00");
	check_program("syscalls", "sys_enter_openat", fields, "9cffffff 10000800 286661756c7429 00", "9cffffff 00");
	check_program("syscalls", "sys_enter_openat", fields, "9cffffff 10000900 286661756c742973 00",
		      "9cffffff 286661756c742973 00");
}

#define ADDRESS "s32 fd 8 4;u64 sockaddr0 12 8;u64 sockaddr1 20 8;u64 sockaddr2 28 8;u32 sockaddr3 36 4;" \
	"__data_loc char[] sun_path 40 4;s32 addrlen 44 4;"

static void test_addresses(void)
{
	/* 127.0.0.1:7001 */
	check_program("syscalls", "sys_enter_connect", ADDRESS,
		      "03000000 02001b597f000001 0000000000000000 7777777777777777 77777777 30000300 10000000 1b5900",
		      "03000000 10000000 0200 1b59 04000000 7f000001 00000000 00");
	/* [::1]:80 */
	check_program("syscalls", "sys_enter_bind", ADDRESS,
		      "03000000 0a00005000000000 0000000000000000 0000000000000001 00000000 30000100 1c000000 00",
		      "03000000 1c000000 0a00 0050 00000000 08000000 00000000000000000000000000000001 00");
	/* a path */
	check_program("syscalls", "sys_enter_connect", ADDRESS,
		      "03000000 01002f7800000000 0000000000000000 0000000000000000 00000000 30000300 6e000000 2f7800",
		      "03000000 6e000000 0100 0000 00000000 00000000 2f7800");
	/* what could not be read is what was there before */
	check_program("syscalls", "sys_enter_connect", ADDRESS,
		      "03000000 02001b597f000001 0000000000000000 7777777777777777 77777777 00000000 10000000",
		      "03000000 10000000 0000 0000 00000000 00000000 00");
	check_program("syscalls", "sys_enter_connect", ADDRESS,
		      "03000000 02001b597f000001 0000000000000000 7777777777777777 77777777 30000800 10000000 "
		      "286661756c742900", "03000000 10000000 0000 0000 00000000 00000000 00");
	/* the text leads out of the event */
	check_program("syscalls", "sys_enter_connect", ADDRESS,
		      "03000000 02001b597f000001 0000000000000000 7777777777777777 77777777 30000300 10000000",
		      "03000000 10000000 0000 0000 00000000 00000000 00");
	/* fewer bytes than an address has: the words are of something else */
	check_program("syscalls", "sys_enter_connect", "u64 sockaddr0 8 8;__data_loc char[] sun_path 16 4;",
		      "02001b597f000001 00000000", "");
}

/* len, name "", head 0x1000, data 0x1000 + data, network header, protocol, data_len, then the packet */
static void check_packet(const char *name, unsigned len, unsigned paged, unsigned data, unsigned network,
			 const char *protocol, const char *packet, const char *expected)
{
	static const char fields[] = "u32 len 8 4;u64 skb_head 12 8;u64 skb_data 20 8;u16 skb_network_header 28 2;"
		"u16 skb_protocol 30 2;u32 skb_data_len 32 4;u64 packet0 36 8;u64 packet1 44 8;u64 packet2 52 8;"
		"u64 packet3 60 8;u64 packet4 68 8;u64 packet5 76 8;u64 packet6 84 8;u64 packet7 92 8;"
		"u64 packet8 100 8;u64 packet9 108 8;";
	g_autoptr(GByteArray) bytes = bytes_of(packet);
	g_autoptr(GString) event = g_string_new(NULL);
	g_assert_cmpuint(bytes->len, <=, 80);
	g_string_printf(event, "%02x000000 0010000000000000 %02x10000000000000 %02x00 %s %02x000000", len, data,
			network, protocol, paged);
	for (guint i = 0; i < 80; i++)
		g_string_append_printf(event, "%02x", i < bytes->len ? bytes->data[i] : 0xee);
	g_autofree char *whole = g_strdup_printf("%02x000000 %s", len, expected);
	check_program("net", name, fields, event->str, whole);
}

#define V4(ihl, frag, protocol) "4" ihl "000034 0001" frag "40" protocol "0000 7f000001 0a000002"
#define TCP "1b59c000 00000001 00000002 5010 0200 0000 0000"
#define UDP "1b5bc001 0010 0000"
#define LINK "000000000000 000000000000 0800"
#define V6 "60000000 0028 06 40 20010db8000000000000000000000001 00000000000000000000000000000001"

static void test_packets(void)
{
	static const char rx[] = "netif_receive_skb", tx[] = "net_dev_queue";
	check_packet(rx, 52, 0, 64, 0, "0800", V4("5", "0000", "06") TCP, "01" V4("5", "0000", "06") "01" TCP);
	check_packet(rx, 52, 0, 64, 0, "0800", V4("5", "0000", "11") UDP, "01" V4("5", "0000", "11") "02" UDP);
	/* behind the link's header, of whatever length; and a device without one */
	check_packet(tx, 66, 0, 0, 14, "0800", LINK V4("5", "4000", "06") TCP, "01" V4("5", "4000", "06") "01" TCP);
	check_packet(tx, 52, 0, 0, 0, "0800", V4("5", "4000", "06") TCP, "01" V4("5", "4000", "06") "01" TCP);
	/* with options; a later fragment; a protocol without ports; a header of which a part is elsewhere */
	check_packet(rx, 60, 0, 64, 0, "0800", V4("6", "0000", "06") "01010101" TCP,
		     "01" V4("6", "0000", "06") "01" TCP);
	check_packet(rx, 52, 0, 64, 0, "0800", V4("5", "0003", "06") TCP, "01" V4("5", "0003", "06") "00");
	check_packet(rx, 52, 0, 64, 0, "0800", V4("5", "0000", "32") TCP, "01" V4("5", "0000", "32") "00");
	check_packet(rx, 52, 20, 64, 0, "0800", V4("5", "0000", "06") TCP, "01" V4("5", "0000", "06") "00");
	check_packet(rx, 52, 0, 64, 0, "0800", V4("4", "0000", "06") TCP, "01" V4("4", "0000", "06") "00");
	check_packet(rx, 52, 0, 64, 0, "0800", V4("f", "0000", "06") TCP, "01" V4("f", "0000", "06") "00");
	check_packet(rx, 80, 0, 64, 0, "86dd", V6 TCP, "02" V6 "01" TCP);
	/* not what it says */
	check_packet(rx, 52, 0, 64, 0, "0806", V4("5", "0000", "06") TCP, "00");
	check_packet(rx, 52, 0, 64, 0, "86dd", V4("5", "0000", "06") TCP, "00");
	check_packet(rx, 80, 0, 64, 0, "0800", V6 TCP, "00");
	check_packet(rx, 52, 40, 64, 0, "0800", V4("5", "0000", "06") TCP, "00");
	check_packet(rx, 30, 40, 64, 0, "0800", V4("5", "0000", "06") TCP, "00");
	check_packet(tx, 66, 0, 64, 14, "0800", LINK V4("5", "4000", "06") TCP, "00");
	check_packet(tx, 66, 0, 0, 90, "0800", LINK V4("5", "4000", "06") TCP, "00");
}

/* ---- what a kernel has, without root ---- */

static struct tracefs_texts of_types(const char *const (*members)[2], size_t n, char **ret_line)
{
	struct btf_made m = btf_made_begin();
	btf_made_struct(&m, 1, "int", 0);
	btf_made_u32(m.types, 32);
	for (size_t i = 0; i < n; i++) {
		btf_made_struct(&m, 4, members[i][0], 1);
		btf_made_member(&m, members[i][1], 1, 64);
	}
	g_autoptr(GByteArray) bytes = btf_made_end(&m);
	g_autoptr(btf) types = btf_new(bytes->data, bytes->len, NULL);
	struct tracefs_texts t = tracefs_texts_of_types(types);
	*ret_line = tracefs_texts_line(&t);
	return t;
}

/* Each way to names of files has a type of its own; a member of another struct is none. */
static void test_types(void)
{
	static const char *const all[][2] = {
		{ "syscall_metadata", "user_mask" }, { "trace_eprobe", "tp" },
		{ "trace_event_raw_bpf_trace_printk", "__data_loc_bpf_string" }, { "trace_kprobe", "tp" },
	};
	static const char *const swapped[][2] = {
		{ "syscall_metadata", "tp" }, { "trace_eprobe", "user_mask" }, { "bpf_trace_printk", "bpf_string" },
	};
	static const char *const names[] = { "from the kernel's events", "by event probes", "(BPF)", "by a kprobe" };
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		g_autofree char *line = NULL;
		struct tracefs_texts t = of_types(all + i, 1, &line);
		g_assert_false(t.is_unknown);
		g_assert_cmpint(t.by_kernel, ==, i == 0);
		g_assert_cmpint(t.probes.paths, ==, i == 1);
		g_assert_cmpint(t.by_bpf, ==, i == 2);
		g_assert_cmpint(t.probes.descriptors, ==, i == 3);
		g_assert_true(g_str_has_prefix(line, "for root, "));
		for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
			g_assert_cmpint(strstr(line, names[k]) != NULL, ==, i == k);
	}
	g_autofree char *none = NULL, *nothing = NULL;
	struct tracefs_texts t = of_types(swapped, G_N_ELEMENTS(swapped), &none);
	g_assert_false(t.by_kernel || t.by_bpf || t.probes.paths || t.is_unknown);
	g_assert_nonnull(strstr(none, "not known: names of files"));
	t = tracefs_texts_of_types(NULL);
	nothing = tracefs_texts_line(&t);
	g_assert_true(t.is_unknown);
	g_assert_nonnull(strstr(nothing, "sudo blktop -v"));
	g_assert_null(strstr(nothing, "not known"));
}

/* Type information says of this kernel what the files of root say. */
static void test_this_kernel(void)
{
	int root = open("/sys/kernel/tracing", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct tracefs_texts by_types = tracefs_texts_expected(-1);
	if (root < 0 || faccessat(root, "events/syscalls", R_OK, 0) || by_types.is_unknown) {
		g_test_skip("no tracefs that this user can read, or no type information");
	} else {
		struct tracefs_texts by_files = tracefs_texts_expected(root);
		g_assert_false(by_files.is_by_types);
		g_assert_true(by_types.is_by_types);
		g_assert_cmpint(by_types.by_kernel, ==, by_files.by_kernel);
		g_assert_cmpint(by_types.by_bpf, ==, by_files.by_bpf);
	}
	if (root >= 0)
		close(root);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/probes/texts", test_texts);
	g_test_add_func("/probes/packet-text", test_packet_text);
	g_test_add_func("/probes/hostile", test_hostile);
	g_test_add_func("/probes/sweep", test_sweep);
	g_test_add_func("/probes/paths", test_paths);
	g_test_add_func("/probes/addresses", test_addresses);
	g_test_add_func("/probes/packets", test_packets);
	g_test_add_func("/probes/types", test_types);
	g_test_add_func("/probes/this-kernel", test_this_kernel);
	return g_test_run();
}
