/* SPDX-License-Identifier: GPL-2.0-only */
/* Events with every kind of field that lttng-ust can write. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER fields

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./fields_tp.h"

#if !defined(FIELDS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FIELDS_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(fields, integers,
	LTTNG_UST_TP_ARGS(uint64_t, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int8_t, s8, (int8_t)v)
		lttng_ust_field_integer(uint8_t, u8, (uint8_t)v)
		lttng_ust_field_integer(int16_t, s16, (int16_t)v)
		lttng_ust_field_integer(uint16_t, u16, (uint16_t)v)
		lttng_ust_field_integer(int32_t, s32, (int32_t)v)
		lttng_ust_field_integer(uint32_t, u32, (uint32_t)v)
		lttng_ust_field_integer(int64_t, s64, (int64_t)v)
		lttng_ust_field_integer_hex(uint64_t, _hex, v)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, network,
	LTTNG_UST_TP_ARGS(uint64_t, v, const uint16_t *, shorts, unsigned, n),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, before, (uint8_t)v)
		lttng_ust_field_integer_network(uint16_t, port, (uint16_t)v)
		lttng_ust_field_integer_network_hex(uint32_t, address, (uint32_t)v)
		lttng_ust_field_integer_network(int64_t, big, (int64_t)v)
		lttng_ust_field_array_network(uint16_t, two, shorts, 2)
		lttng_ust_field_sequence_network_hex(uint16_t, shorts, shorts, uint8_t, n)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, texts,
	LTTNG_UST_TP_ARGS(const char *, s, unsigned, n),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(string, s)
		lttng_ust_field_array_text(char, array, s, 5)
		lttng_ust_field_sequence_text(char, sequence, s, uint16_t, n)
		lttng_ust_field_string(empty, "")
		lttng_ust_field_integer(uint8_t, after, (uint8_t)n)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, many,
	LTTNG_UST_TP_ARGS(const int32_t *, v, unsigned, n),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(int32_t, array, v, 3)
		lttng_ust_field_array_hex(uint8_t, bytes, v, 6)
		lttng_ust_field_sequence(int32_t, ints, v, uint64_t, n)
		lttng_ust_field_sequence_hex(uint64_t, longs, v, uint32_t, n / 2)
		lttng_ust_field_sequence(int8_t, chars, v, uint8_t, n)
		lttng_ust_field_integer(uint32_t, after, n)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, reals,
	LTTNG_UST_TP_ARGS(double, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, before, 1)
		lttng_ust_field_float(float, single, (float)v)
		lttng_ust_field_float(double, twofold, v)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(fields, colour,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("red", 0)
		lttng_ust_field_enum_value("green", 1)
		lttng_ust_field_enum_range("dark", 2, 5)
		lttng_ust_field_enum_value("green", 6)
		lttng_ust_field_enum_range("any", 4, 100)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(fields, level,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_range("below", -10, -1)
		lttng_ust_field_enum_value("zero", 0)
		lttng_ust_field_enum_value("a \"quoted\" one", 7)
		lttng_ust_field_enum_auto("eight")
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, enums,
	LTTNG_UST_TP_ARGS(int, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_enum(fields, colour, uint8_t, colour, (uint8_t)v)
		lttng_ust_field_enum(fields, level, int16_t, level, (int16_t)v)
		lttng_ust_field_enum(fields, level, int64_t, wide, (int64_t)v)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, nothing, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT_CLASS(fields, pair,
	LTTNG_UST_TP_ARGS(int, a, const char *, b),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(name, b)
		lttng_ust_field_integer(int, value, a)
	)
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(fields, pair, fields, first, LTTNG_UST_TP_ARGS(int, a, const char *, b))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(fields, pair, fields, second, LTTNG_UST_TP_ARGS(int, a, const char *, b))

#endif

#include <lttng/tracepoint-event.h>
