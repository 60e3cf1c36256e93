/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls with the names of files, as a BPF program of ours prints them (live/tracefs/bpf_names.h) where the
 * kernel has neither texts nor probes. A text is the kernel's event bpf_trace_printk:
 *
 *     TAG NUMBER A B NAME
 *     TAG NUMBER A 0 NAME TAG NAME
 *
 * TAG: RING_PRINTED_TAG digits that only this session knows, so texts of other programs are not taken for ours. NUMBER
 * (hex): of the call's format. A, B (hex): its first arguments that are numbers of 32 bits; else 0. NAME: any bytes;
 * empty: it could not be read.
 */
#ifndef BLK_TRACE_RING_RING_PRINTED_H
#define BLK_TRACE_RING_RING_PRINTED_H

#include "trace/ring/ring_format.h"

#define RING_PRINTED_TAG 16
#define RING_PRINTED_SYSTEM "bpf_trace"
#define RING_PRINTED_EVENT "bpf_trace_printk"
#define RING_PRINTED_TEXT "bpf_string"
#define RING_PRINTED_FIRST 64000	/* ids of the formats; the kernel has some thousands */
#define RING_PRINTED_STORE 512		/* bytes that the kernel has for a text's arguments: 4 for a number, names
					 * with a NUL. A name that may be cut is unknown. kernel/bpf/helpers.c */
#define RING_PRINTED_VALUES 2
#define RING_PRINTED_NAMES 2

/* The arguments that are printed. */
struct ring_printed_call {
	const struct ring_field *values[RING_PRINTED_VALUES];	/* NULL: fewer; with two names only one */
	const struct ring_field *names[RING_PRINTED_NAMES];	/* NULL: fewer; a third one is not printed */
};
/* What can be printed of the call with this format; borrows from it. False: it has no name, or the kernel stores it
 * itself. */
bool ring_printed_choose(struct ring_printed_call *ret, const struct ring_format *format);

/* The text of a format for events that ring_printed_parse() makes of it; g_free. number: below 1000. */
char *ring_printed_format(const struct ring_format *format, const struct ring_printed_call *call, unsigned number);

/* Makes an event of such a format of a text of n bytes. `head`: 8 bytes, the common fields of the event that has the
 * text. The event belongs to the caller (g_free); *ret_size: its bytes. NULL: the text is not of this session. */
uint8_t *ring_printed_parse(const char *text, size_t n, const char *tag, const uint8_t *head, size_t *ret_size);

#endif
