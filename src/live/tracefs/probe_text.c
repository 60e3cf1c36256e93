/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the texts of probes. */
#include "live/tracefs/probe_text.h"

#include "trace/ring/ring_headers.h"
#include "trace/ring/ring_rules.h"

#include <string.h>

#define WORD_BYTES 32			/* the kernel's MAX_ARG_NAME_LEN */

void probe_offsets_find(struct probe_offsets *o, const struct btf *b)
{
	*o = (struct probe_offsets){ 0 };
	if (!b)
		return;
	o->has_packets = btf_offset(b, "sk_buff", "head", &o->head) && btf_offset(b, "sk_buff", "data", &o->data) &&
			 btf_offset(b, "sk_buff", "network_header", &o->network_header) &&
			 btf_offset(b, "sk_buff", "protocol", &o->protocol) &&
			 btf_offset(b, "sk_buff", "data_len", &o->data_len);
	o->has_files = btf_offset(b, "file", "f_inode", &o->inode) && btf_offset(b, "inode", "i_mode", &o->mode);
	o->has_sockets = btf_offset(b, "file", "private_data", &o->private_data) &&
			 btf_offset(b, "socket", "sk", &o->sk) &&
			 btf_offset(b, "sock_common", "skc_family", &o->family) &&
			 btf_offset(b, "sock_common", "skc_dport", &o->port) &&
			 btf_offset(b, "sock_common", "skc_daddr", &o->v4) &&
			 btf_offset(b, "sock_common", "skc_v6_daddr", &o->v6);
}

static bool is_word(const char *s)
{
	return strlen(s) < WORD_BYTES && !s[strspn(s, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_")] &&
	       !g_ascii_isdigit(*s) && *s;
}

static bool is_number(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* The field as it is, "dfd=$dfd:s32", with LTTng's size. False: that cannot be said. */
static bool add_field(GString *s, const struct ring_format *format, const struct ring_field *f)
{
	struct ring_field_rule rule = ring_field_rule(format, f);
	unsigned size = rule.size ? rule.size : f->size;
	bool is_signed = rule.size ? rule.is_signed : f->is_signed;
	if (!is_word(f->name) || f->is_array || f->place != RING_INLINE || !is_number(f->size))
		return false;
	g_string_append_printf(s, " %s=$%s:%c%u", f->name, f->name, is_signed ? 's' : 'u', size * 8);
	return true;
}

/* Calls whose argument points to the address of a socket. */
static const struct { const char *event, *argument; } addresses[] = {
	{ "sys_enter_connect", "uservaddr" }, { "sys_enter_bind", "umyaddr" }, { "sys_enter_sendto", "addr" },
};

static bool is_address(const struct ring_format *format, const struct ring_field *f)
{
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++)
		if (f->is_pointer && !strcmp(format->name, addresses[i].event) &&
		    !strcmp(f->name, addresses[i].argument))
			return true;
	return false;
}

/* Raw memory at an address of the program. */
static void add_sockaddr(GString *s, const char *argument)
{
	unsigned i = 0;
	for (unsigned at = 0; at < RING_SOCKADDR_BYTES; at += 8, i++)
		g_string_append_printf(s, " " RING_RAW_ADDRESS "%u=+u%u($%s):u%u", i, at, argument,
				       MIN(RING_SOCKADDR_BYTES - at, 8) * 8);
	g_string_append_printf(s, " " RING_RAW_PATH "=+u2($%s):ustring", argument);
}

static char *call_text(const char *group, const struct ring_format *format)
{
	g_autoptr(GString) s = g_string_new(NULL);
	bool has_more = false;
	g_string_printf(s, "e:%s/%s syscalls.%s", group, format->name, format->name);
	for (uint32_t i = 0; i < format->fields->n; i++) {
		const struct ring_field *f = &format->fields->fields[i];
		bool is_path = ring_is_path(f) && !ring_is_stored(format, f->name);
		if (!is_path && ring_field_rule(format, f).encoding == RING_OMIT)
			continue;
		if (is_path && is_word(f->name))
			g_string_append_printf(s, " %s=+u0($%s):ustring", f->name, f->name);
		else if (is_path || !add_field(s, format, f))
			return NULL;
		if (is_address(format, f))
			add_sockaddr(s, f->name);
		has_more |= is_path || is_address(format, f);
	}
	return has_more ? g_string_free(g_steal_pointer(&s), FALSE) : NULL;
}

static char *packet_text(const char *group, const struct ring_format *format, const struct probe_offsets *o)
{
	const struct ring_field *skb = ring_fields_find(format->fields, "skbaddr");
	bool is_packet = !strcmp(format->name, "netif_receive_skb") || !strcmp(format->name, "net_dev_queue");
	if (!is_packet || !o->has_packets || !skb || !is_number(skb->size) || skb->size < 4 ||
	    !ring_fields_find(format->fields, "len") || !ring_fields_find(format->fields, "name"))
		return NULL;
	GString *s = g_string_new(NULL);
	unsigned bits = skb->size * 8;
	g_string_printf(s, "e:%s/%s net.%s skbaddr=$skbaddr:u%u len=$len:u32 name=$name:string", group, format->name,
			format->name, bits);
	g_string_append_printf(s, " " RING_RAW_HEAD "=+%u($skbaddr):u%u " RING_RAW_DATA "=+%u($skbaddr):u%u", o->head,
			       bits, o->data, bits);
	g_string_append_printf(s, " " RING_RAW_NETWORK "=+%u($skbaddr):u16 " RING_RAW_PROTOCOL "=+%u($skbaddr):u16 "
			       RING_RAW_PAGED "=+%u($skbaddr):u32", o->network_header, o->protocol, o->data_len);
	for (unsigned at = 0; at < RING_PACKET_BYTES; at += 8)
		g_string_append_printf(s, " " RING_RAW_PACKET "%u=+%u(+%u($skbaddr)):u64", at / 8, at, o->data);
	return g_string_free(s, FALSE);
}

char *probe_text(const char *group, const struct ring_format *format, const struct probe_offsets *o)
{
	if (!is_word(group) || !is_word(format->name))
		return NULL;
	return !strcmp(format->system, "syscalls") ? call_text(group, format) :
	       !strcmp(format->system, "net") ? packet_text(group, format, o) : NULL;
}

char *probe_text_install(const char *group, const struct probe_offsets *o)
{
	if (!is_word(group))
		return NULL;
	GString *s = g_string_new(NULL);
	g_string_printf(s, "p:%s/" RING_PROBE_INSTALL " fd_install fd=$arg1:s32", group);
	if (o->has_files)
		g_string_append_printf(s, " mode=+%u(+%u($arg2)):u16", o->mode, o->inode);
	for (unsigned i = 0; i < 5 && o->has_sockets; i++) {
		const struct { const char *name; uint32_t offset; unsigned bits; } members[] = {
			{ "skc_family", o->family, 16 }, { "skc_dport", o->port, 16 }, { "skc_daddr", o->v4, 32 },
			{ "skc_v6_daddr0", o->v6, 64 }, { "skc_v6_daddr1", o->v6 + 8, 64 },
		};
		g_string_append_printf(s, " %s=+%u(+%u(+%u($arg2))):u%u", members[i].name, members[i].offset, o->sk,
				       o->private_data, members[i].bits);
	}
	return g_string_free(s, FALSE);
}

/* S_IFIFO is the only type with this bit, S_IFSOCK the highest. */
const char *probe_install_filter(const struct probe_offsets *o)
{
	return o->has_files ? "mode & 0x1000 || mode >= 0xc000" : NULL;
}
