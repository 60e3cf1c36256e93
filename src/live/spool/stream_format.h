/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stream that `blktop record -o -` writes and `blktop -` reads, version 1. All numbers are little endian.
 *
 *     header	16 bytes "BLKTOP STREAM 1\n"
 *     record	u32 kind, u32 number, u64 length; then `length` bytes of payload
 *
 *     kind		number			payload
 *     TRACE		of the trace: the next	name
 *     METADATA		of the trace		more of its metadata (CTF 1.8 or 2), cut anywhere
 *     RESTART		of the trace		none: the metadata begins again
 *     STREAM		of the stream: the next	u32 number of its trace, name
 *     PACKET		of the stream		a CTF packet
 *     BEACON		of the stream		u64 CTF stream id (2^64 - 1: unknown), u64 cycles: no older event
 *						will come
 *     END_STREAM	of the stream		none
 *     END_TRACE	of the trace		none: no more metadata and streams of it; its streams go on
 *     END		0			none: the recording has ended, and all of it was sent
 *
 * Traces and streams are numbered from 0 in the order of their records. A reader skips kinds that it does not know; a
 * change that it must know has another version in the header. A stream that stops without END is cut off.
 */
#ifndef BLK_LIVE_SPOOL_STREAM_FORMAT_H
#define BLK_LIVE_SPOOL_STREAM_FORMAT_H

#define STREAM_MAGIC "BLKTOP STREAM 1\n"
#define STREAM_MAGIC_BYTES 16
#define STREAM_RECORD_BYTES 16

enum stream_kind {
	STREAM_TRACE = 1, STREAM_METADATA, STREAM_RESTART, STREAM_STREAM, STREAM_PACKET, STREAM_BEACON,
	STREAM_END_STREAM, STREAM_END_TRACE, STREAM_END,
};

#endif
