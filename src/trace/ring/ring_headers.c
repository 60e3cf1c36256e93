/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes addresses and headers. */
#include "trace/ring/ring_headers.h"

/* ---- addresses ---- */

#define V4_AT 4				/* in struct sockaddr_in */
#define V6_AT 8				/* in struct sockaddr_in6 */

void ring_address_take(struct ring_address *a, struct ring_machine machine, const uint8_t *sockaddr, size_t n,
		       const char *path, size_t path_len)
{
	*a = (struct ring_address){ .family = (uint16_t)ring_number(machine, sockaddr, 2) };
	memcpy(a->port, sockaddr + 2, 2);
	if (a->family == RING_INET && n >= V4_AT + 4)
		memcpy(a->bytes, sockaddr + V4_AT, 4);
	if (a->family == RING_INET6 && n >= V6_AT + 16)
		memcpy(a->bytes, sockaddr + V6_AT, 16);
	if (a->family == RING_UNIX) {
		a->path = path;
		a->path_len = (uint32_t)path_len;
	}
}

#define U(size, name) "integer { size = " #size "; align = 8; signed = 0; encoding = none; base = 10; } " name
#define BE(size, name) \
	"integer { size = " #size "; align = 8; signed = 0; encoding = none; base = 10; byte_order = be; } _" name ";\n"

void ring_address_declare(GString *text, const char *port, bool with_path)
{
	g_string_append_printf(text, "\t\t" U(16, "_family") ";\n\t\tinteger { size = 16; align = 8; signed = 0; "
			       "encoding = none; base = 10; byte_order = be; } _%s;\n", port);
	g_string_append(text, "\t\t" U(32, "__v4addr_length") ";\n\t\t" U(8, "_v4addr") "[ __v4addr_length ];\n"
			"\t\t" U(32, "__v6addr_length") ";\n\t\tinteger { size = 16; align = 8; signed = 0; encoding = "
			"none; base = 16; byte_order = be; } _v6addr[ __v6addr_length ];\n");
	if (with_path)
		g_string_append(text, "\t\tstring _sun_path;\n");
}

static uint8_t *put_bytes(uint8_t *to, const void *bytes, size_t n)
{
	if (n)
		memcpy(to, bytes, n);
	return to + n;
}

static uint8_t *put_u32(uint8_t *to, uint32_t value)
{
	value = GUINT32_TO_LE(value);
	return put_bytes(to, &value, 4);
}

uint8_t *ring_address_put(uint8_t *to, const struct ring_address *a, bool with_path)
{
	uint16_t family = GUINT16_TO_LE(a->family);
	uint32_t n_v4 = a->family == RING_INET ? 4 : 0, n_v6 = a->family == RING_INET6 ? 16 : 0;
	static const uint8_t no_port[2];
	to = put_bytes(to, &family, 2);
	to = put_bytes(to, n_v4 || n_v6 ? a->port : no_port, 2);
	to = put_u32(to, n_v4);
	to = put_bytes(to, a->bytes, n_v4);
	to = put_u32(to, n_v6 / 2);
	to = put_bytes(to, a->bytes, n_v6);
	if (with_path) {
		to = put_bytes(to, a->path, a->path_len);
		*to++ = '\0';
	}
	return to;
}

/* ---- packets ---- */

#define V4_BYTES 20
#define V6_BYTES 40
#define TYPE_IP 0x0800			/* ETH_P_IP, ETH_P_IPV6 */
#define TYPE_IPV6 0x86dd
enum { PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_NONE = 255 };

#define PROTOCOLS(name) \
	"\t\t\tenum : integer { size = 8; align = 8; signed = 0; encoding = none; base = 10; byte_order = be; } " \
	"{ \"_icmp\" = 1, \"_tcp\" = 6, \"_udp\" = 17, \"_unknown\" = 18 ... 255 } _" name ";\n"
#define F(size, name) "\t\t\t" BE(size, name)
#define B(size, name) "\t\t\tinteger { size = " #size "; align = 1; signed = 0; encoding = none; base = 10; " \
	"byte_order = be; } _" name ";\n"
#define NIBBLE(name) "\t\t\tinteger { size = 4; align = 4; signed = 0; encoding = none; base = 10; " \
	"byte_order = be; } _" name ";\n"
#define A(size, name, n) "\t\t\tinteger { size = " #size "; align = 8; signed = 0; encoding = none; base = 10; " \
	"byte_order = be; } _" name "[" #n "];\n"
#define TRANSPORT \
	"\t\t\tenum : integer { size = 8; align = 8; signed = 0; encoding = none; base = 10; } " \
	"{ \"_unknown\" = 0, \"_tcp\" = 1, \"_udp\" = 2, \"_icmp\" = 3 } _transport_header_type;\n" \
	"\t\t\tvariant <_transport_header_type> {\n\t\t\tstruct {\n\t\t\t} _unknown;\n\t\t\tstruct {\n" \
	F(16, "source_port") F(16, "dest_port") F(32, "seq") F(32, "ack_seq") NIBBLE("data_offset") \
	B(3, "reserved") B(9, "flags") F(16, "window_size") F(16, "checksum") F(16, "urg_ptr") \
	"\t\t\t} _tcp;\n\t\t\tstruct {\n" F(16, "source_port") F(16, "dest_port") F(16, "len") F(16, "check") \
	"\t\t\t} _udp;\n\t\t\tstruct {\n" F(8, "type") F(8, "code") F(16, "checksum") F(32, "gateway") \
	"\t\t\t} _icmp;\n\t\t\t} _transport_header;\n"

void ring_packet_headers_declare(GString *text)
{
	g_string_append(text,
		"\t\tenum : integer { size = 8; align = 8; signed = 0; encoding = none; base = 10; } "
		"{ \"_unknown\" = 0, \"_ipv4\" = 1, \"_ipv6\" = 2 } _network_header_type;\n"
		"\t\tvariant <_network_header_type> {\n\t\t\tstruct {\n\t\t\t} _unknown;\n\t\t\tstruct {\n"
		NIBBLE("version") NIBBLE("ihl") F(8, "tos") F(16, "tot_len") F(16, "id") F(16, "frag_off") F(8, "ttl")
		PROTOCOLS("protocol") F(16, "checksum") A(8, "saddr", 4) A(8, "daddr", 4) TRANSPORT
		"\t\t\t} _ipv4;\n\t\t\tstruct {\n"
		NIBBLE("version") NIBBLE("prio") A(8, "flow_lbl", 3) F(16, "payload_len") PROTOCOLS("nexthdr")
		F(8, "hop_limit") A(16, "saddr", 8) A(16, "daddr", 8) TRANSPORT
		"\t\t\t} _ipv6;\n\t\t} _network_header;\n");
}

/* The header behind the IP header, of which n bytes are there. */
static uint8_t *put_transport(uint8_t *to, unsigned protocol, const uint8_t *at, size_t n)
{
	static const struct { uint8_t protocol, type, size; } kinds[] = {
		{ PROTOCOL_TCP, 1, 20 }, { PROTOCOL_UDP, 2, 8 }, { PROTOCOL_ICMP, 3, 8 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (kinds[i].protocol == protocol && n >= kinds[i].size) {
			*to++ = kinds[i].type;
			return put_bytes(to, at, kinds[i].size);
		}
	}
	*to++ = 0;
	return to;
}

static uint8_t *put_v4(uint8_t *to, const uint8_t *at, size_t n)
{
	size_t length = (at[0] & 15) * 4u;
	bool is_first = !((at[6] & 0x1f) | at[7]);	/* fragment: the others have no transport header */
	*to++ = 1;
	to = put_bytes(to, at, V4_BYTES);
	bool has_transport = is_first && length >= V4_BYTES && length <= n;
	return put_transport(to, has_transport ? at[9] : PROTOCOL_NONE, at + (has_transport ? length : 0),
			     has_transport ? n - length : 0);
}

static uint8_t *put_v6(uint8_t *to, const uint8_t *at, size_t n)
{
	*to++ = 2;
	to = put_bytes(to, at, V6_BYTES);
	return put_transport(to, at[6], at + V6_BYTES, n - V6_BYTES);
}

uint8_t *ring_packet_headers_put(uint8_t *to, const struct ring_packet_bytes *p)
{
	size_t n = MIN(p->n, RING_PACKET_BYTES), left = p->network_offset < n ? n - p->network_offset : 0;
	const uint8_t *at = p->bytes + (left ? p->network_offset : 0);
	if (left >= V4_BYTES && at[0] >> 4 == 4 && p->protocol == TYPE_IP)
		return put_v4(to, at, left);
	if (left >= V6_BYTES && at[0] >> 4 == 6 && p->protocol == TYPE_IPV6)
		return put_v6(to, at, left);
	*to++ = 0;
	return to;
}
