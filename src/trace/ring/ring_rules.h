/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lttng-modules call the kernel's events and their fields, and how they store them. Source: lttng-modules 2.13 to
 * 2.16, include/instrumentation/events/; tables of both tracers' recordings of the same seconds agree (tests/traces).
 *
 * Everything that is not named here has its own name: SYSTEM_EVENT, or EVENT if that begins with the system's name.
 */
#ifndef BLK_TRACE_RING_RING_RULES_H
#define BLK_TRACE_RING_RING_RULES_H

#include "trace/ring/ring_format.h"

enum ring_encoding {
	RING_AS_IS,		/* a number, an array or a text, as its type says */
	RING_COMM,		/* a text in 16 bytes, filled with 0 */
	RING_PRIORITY,		/* a thread's priority: LTTng subtracts MAX_RT_PRIO, 100 */
	RING_RWBS,		/* the letters of a block request's operation, as bits */
	RING_USER_TEXT,		/* a text of the traced program, which the kernel stored beside its pointer */
	RING_PROBED_TEXT,	/* the same, by a probe: what could not be read is RING_FAULT */
	RING_OMIT,		/* left out */
};

/* Fields that are not in the event itself. */
enum ring_extra {
	RING_NO_EXTRA,
	RING_EXTRA_TID,		/* block requests: tid, the thread on the CPU */
	RING_EXTRA_TGIDS,	/* sched_process_fork: parent_pid, child_pid, if the transcoder knows them */
	RING_EXTRA_ADDRESS,	/* entries of connect, bind, sendto by a probe: the fields of ring_address_declare() */
	RING_EXTRA_HEADERS,	/* packets by a probe: network_header */
	RING_EXTRA_PIPE,	/* exits of pipe, pipe2: fildes[2], if the transcoder knows them */
	RING_EXTRA_SOCKETS,	/* exit of socketpair: socket[2], likewise */
	RING_EXTRA_PEER,	/* exits of accept, accept4: the address, likewise */
};

/*
 * What blktop's own probes (live/tracefs/probe_text.h) record beside the fields of the event that they are attached
 * to. Numbers of 8 bytes, counted from 0, are raw memory: RING_RAW_ADDRESS of a struct sockaddr, RING_RAW_PACKET of a
 * packet.
 */
#define RING_RAW_ADDRESS "sockaddr"
#define RING_RAW_PATH "sun_path"	/* the text behind the address's family: shows whether it could be read */
#define RING_RAW_PACKET "packet"
#define RING_RAW_HEAD "skb_head"	/* members of struct sk_buff */
#define RING_RAW_DATA "skb_data"
#define RING_RAW_NETWORK "skb_network_header"
#define RING_RAW_PROTOCOL "skb_protocol"
#define RING_RAW_PAGED "skb_data_len"
/* The probe where a descriptor gets its file; no event of LTTng's. Its fields are those of struct sock_common. */
#define RING_PROBE_SYSTEM "blktop"
#define RING_PROBE_INSTALL "fd_install"

/*
 * Bytes of a text that Linux 7.0 stores with a call: at first (CONFIG_TRACE_SYSCALL_BUF_SIZE_DEFAULT), and at most
 * (SYSCALL_FAULT_USER_MAX); syscall_user_buf_size of an instance sets it. Behind what is cut it writes RING_CUT. What
 * it stores is then longer than any text that is not cut. Source: sys_fault_user() in kernel/trace/trace_syscalls.c.
 */
#define RING_USER_TEXT_FIRST 63
#define RING_USER_TEXT_LONG 165
#define RING_CUT "..."
#define RING_CUT_MARK "[cut]"		/* written behind RING_CUT, which a name may end with, too */

#define RING_FAULT "(fault)"		/* the kernel's text in place of one that it could not read */

/* Is it an argument whose text a file's name is? */
bool ring_is_path(const struct ring_field *argument);
/* Does the kernel store the text of this argument with the event (Linux 7.0)? */
bool ring_is_stored(const struct ring_format *format, const char *argument);

/* Raw memory in the fields NAME0, NAME1, ..., side by side: its offset in the event. False: fewer bytes than that. */
bool ring_raw_bytes(const struct ring_fields *fields, const char *name, uint32_t n_bytes, uint32_t *ret_offset);

/* LTTng's name of an event; g_free. */
char *ring_event_name(const char *system, const char *event);
enum ring_extra ring_event_extra(const struct ring_format *format);

struct ring_field_rule {
	const char *name;		/* LTTng's name, without an underscore in front */
	enum ring_encoding encoding;
	uint8_t size;			/* of RING_AS_IS numbers: bytes to store; 0: as many as they have */
	bool is_signed;			/* valid if size is set */
};
/* What becomes of a field of the event. The name belongs to the format or to the table. */
struct ring_field_rule ring_field_rule(const struct ring_format *format, const struct ring_field *field);

/* The bits of a block request's letters ("WFS") as LTTng stores them. Source: lttng-modules' block.h; kernel's
 * blk_fill_rwbs(). n: bytes of the text, which may end before with a NUL. */
uint32_t ring_rwbs_bits(const char *letters, size_t n);

#endif
