/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses of sockets and headers of packets, as lttng-modules write them, from bytes that probes of blktop's own
 * recorded (live/tracefs/probe_text.h). What the bytes do not show is written as unknown.
 *
 * Sources: lttng-modules 2.13 to 2.16, syscalls_pointers_override.h and net.h; RFC 791, 8200, 9293, 768.
 */
#ifndef BLK_TRACE_RING_RING_HEADERS_H
#define BLK_TRACE_RING_RING_HEADERS_H

#include "trace/ring/ring_page.h"

/* ---- addresses ---- */

enum { RING_UNIX = 1, RING_INET = 2, RING_INET6 = 10 };	/* AF_UNIX, ..., include/linux/socket.h */

struct ring_address {
	uint16_t family;		/* RING_INET, ...; 0: unknown */
	uint8_t port[2];		/* in network order */
	uint8_t bytes[16];		/* of RING_INET the first four */
	const char *path;		/* of RING_UNIX: .path_len bytes, without NUL */
	uint32_t path_len;
};

#define RING_SOCKADDR_BYTES 28		/* struct sockaddr_in6 */
/* Takes the address from the raw struct sockaddr of n bytes, and from the text behind its family. */
void ring_address_take(struct ring_address *a, struct ring_machine machine, const uint8_t *sockaddr, size_t n,
		       const char *path, size_t path_len);
/* Declares the fields. port: LTTng's name of the port: "dport", "sport". */
void ring_address_declare(GString *text, const char *port, bool with_path);
#define RING_ADDRESS_BOUND 33		/* bytes that are written, without the path */
uint8_t *ring_address_put(uint8_t *to, const struct ring_address *a, bool with_path);

/* ---- packets ---- */

#define RING_PACKET_BYTES 80		/* which a probe records from the packet's beginning */

struct ring_packet_bytes {
	const uint8_t *bytes;		/* RING_PACKET_BYTES */
	uint64_t network_offset;	/* where the IP header begins, by the kernel; 80 or more: nowhere */
	uint32_t n;			/* how many are the packet's own */
	uint16_t protocol;		/* ETH_P_IP, ...: what the kernel takes it for */
};
void ring_packet_headers_declare(GString *text);
#define RING_HEADERS_BOUND 62		/* bytes that are written */
uint8_t *ring_packet_headers_put(uint8_t *to, const struct ring_packet_bytes *p);

#endif
