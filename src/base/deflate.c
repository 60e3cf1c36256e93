/* SPDX-License-Identifier: GPL-2.0-only */
/* Deflate by GLib's converters (zlib): see deflate.h. */
#include "base/deflate.h"

#include <gio/gio.h>

#define FAST_LEVEL 1
#define ROOM (64 << 10)

void deflate_append(GByteArray *out, const uint8_t *bytes, size_t n)
{
	g_autoptr(GZlibCompressor) z = g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_RAW, FAST_LEVEL);
	g_autofree uint8_t *room = g_malloc(ROOM);
	GConverterResult st = G_CONVERTER_CONVERTED;
	gsize got, put;

	while (st != G_CONVERTER_FINISHED) {
		st = g_converter_convert(G_CONVERTER(z), bytes, n, room, ROOM, G_CONVERTER_INPUT_AT_END, &got, &put,
					 NULL);
		g_assert(st != G_CONVERTER_ERROR);	/* memory is there: g_malloc() ends the program otherwise */
		g_byte_array_append(out, room, (guint)put);
		bytes += got;
		n -= got;
	}
}

bool deflate_restore(const uint8_t *bytes, size_t n, uint8_t *to, size_t size)
{
	g_autoptr(GZlibDecompressor) z = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_RAW);
	GConverterResult st = G_CONVERTER_CONVERTED;
	gsize got, put;
	uint8_t beyond;		/* the end of the input may follow when `to` is full, but no more bytes */

	while (st == G_CONVERTER_CONVERTED) {
		st = g_converter_convert(G_CONVERTER(z), bytes, n, size ? to : &beyond, size ? size : 1,
					 G_CONVERTER_INPUT_AT_END, &got, &put, NULL);
		if (st == G_CONVERTER_ERROR || put > size)
			return false;
		bytes += got;
		n -= got;
		to += put;
		size -= put;
	}
	return st == G_CONVERTER_FINISHED && !n && !size;
}
