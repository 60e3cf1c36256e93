/* SPDX-License-Identifier: GPL-2.0-only */
/* Times as people read and write them. */
#include "base/timefmt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY (INT64_C(86400) * NS_PER_S)
#define BASE INT64_C(1795269785123456789)	/* 2026-11-21 14:03:05.123456789 UTC */
#define FIRST (BASE - 100 * NS_PER_S)
#define LAST (BASE + 100 * NS_PER_S)

static void test_clock(void)
{
	char buf[TIMEFMT_LEN];

	g_assert_cmpstr(timefmt_clock(buf, BASE), ==, "14:03:05");
	g_assert_cmpstr(timefmt_clock_ms(buf, BASE), ==, "14:03:05.123");
	g_assert_cmpstr(timefmt_clock_ns(buf, BASE), ==, "14:03:05.123456789");
	g_assert_cmpstr(timefmt_date(buf, BASE), ==, "2026-11-21 14:03:05");
	g_assert_cmpstr(timefmt_clock_ns(buf, -1), ==, "23:59:59.999999999");
	g_assert_cmpstr(timefmt_date(buf, -1), ==, "1969-12-31 23:59:59");
	timefmt_date(buf, INT64_MIN);
	g_assert_cmpstr(buf, ==, "1677-09-21 00:12:43");
	timefmt_date(buf, INT64_MAX);
	g_assert_cmpstr(buf, ==, "2262-04-11 23:47:16");
}

static void test_duration(void)
{
	static const struct { int64_t ns; const char *text; } table[] = {
		{ 0, "0" }, { 1, "1ns" }, { 850, "850ns" }, { 999, "999ns" }, { 1000, "1.00us" },
		{ 1449, "1.45us" }, { 1450, "1.45us" }, { 9994, "9.99us" }, { 9995, "10.0us" },
		{ 99949, "99.9us" }, { 99950, "100us" }, { 999499, "999us" }, { 999500, "1.00ms" },
		{ 54700000, "54.7ms" }, { 999500000, "1.00s" }, { 3200000000, "3.20s" },
		{ 59949999999, "59.9s" }, { 59950000000, "1m00s" }, { 60 * NS_PER_S, "1m00s" },
		{ 750 * NS_PER_S, "12m30s" }, { 3599 * NS_PER_S, "59m59s" },
		{ 3599500000000, "1h00m" }, { 11100 * NS_PER_S, "3h05m" },
		{ 99 * 3600 * NS_PER_S, "99h00m" }, { 100 * 3600 * NS_PER_S, "4d04h" },
		{ 100 * DAY, "100d" }, { 9999 * DAY, "9999d" }, { 10000 * DAY, "27y" },
		{ INT64_MAX, "292y" }, { -1, "-1ns" }, { -54700000, "-54.7ms" },
		{ INT64_MIN, "-292y" },
	};
	char buf[TIMEFMT_LEN];

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		g_assert_cmpstr(timefmt_duration(buf, table[i].ns), ==, table[i].text);
}

static int64_t random_ns(GRand *rand)
{
	uint64_t v = ((uint64_t)g_rand_int(rand) << 32) | g_rand_int(rand);
	return (int64_t)(v >> g_rand_int_range(rand, 0, 64));
}

/* Never wider than promised; read back it is the same within the digits shown. */
static void test_duration_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	char buf[TIMEFMT_LEN];

	for (int i = 0; i < 30000; i++) {
		int64_t ns = random_ns(rand), back;
		timefmt_duration(buf, ns);
		g_assert_cmpuint(strlen(buf), <=, ns < 0 ? 7 : 6);
		if (ns <= 0 || ns >= 99 * 3600 * NS_PER_S)
			continue;
		g_assert_true(timefmt_parse_duration(buf, &back, NULL));
		g_assert_cmpint(llabs(back - ns), <=, ns / 100);
	}
}

static void test_amounts(void)
{
	static const struct { uint64_t n; const char *bytes, *count; } table[] = {
		{ 0, "0", "0" }, { 512, "512", "512" }, { 1023, "1023", "1023" },
		{ 1024, "1.0K", "1024" }, { 9999, "9.8K", "9999" }, { 10000, "9.8K", "10.0k" },
		{ 12288, "12.0K", "12.3k" }, { 18249, "17.8K", "18.2k" },
		{ 102348, "99.9K", "102k" }, { 102400, "100K", "102k" },
		{ 999499, "976K", "999k" }, { 999500, "976K", "1.00M" },
		{ 1048063, "1023K", "1.05M" }, { 1048064, "1.0M", "1.05M" },
		{ 1310000, "1.2M", "1.31M" }, { UINT64_C(4300000), "4.1M", "4.30M" },
		{ UINT64_C(1288490189), "1.2G", "1.29G" }, { UINT64_MAX, "16.0E", "18.4E" },
	};
	char buf[TIMEFMT_LEN];

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_assert_cmpstr(timefmt_bytes(buf, table[i].n), ==, table[i].bytes);
		g_assert_cmpstr(timefmt_count(buf, table[i].n), ==, table[i].count);
	}
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	for (int i = 0; i < 30000; i++) {
		uint64_t n = (uint64_t)random_ns(rand);
		g_assert_cmpuint(strlen(timefmt_bytes(buf, n)), <=, 5);
		g_assert_cmpuint(strlen(timefmt_count(buf, n)), <=, 5);
	}
}

static bool parse(const char *text, int64_t base, int64_t first, int64_t last, int64_t *ret_ns, GError **error)
{
	const struct time_scope scope = { base, first, last, INT64_MIN };
	return timefmt_parse_instant(text, &scope, ret_ns, NULL, error);
}

static void test_instants(void)
{
	static const struct { const char *text; int64_t ns; } table[] = {
		{ "14:03:05", BASE - 123456789 }, { "14:03:05.5", BASE - 123456789 + 500000000 },
		{ "14:03:05.123456789", BASE }, { " 14:03:05.1234567899 ", BASE },
		{ "14:03", BASE - 5123456789 }, { "2026-11-21 14:03:05.123456789", BASE },
		{ "2026-11-21T14:03:05.123456789", BASE }, { "2026-11-21T14:03:05.123456789Z", BASE },
		{ "2026-11-20 14:03:05", BASE - 123456789 - DAY }, { "1970-01-01 00:00:00", 0 },
		{ "1969-12-31 23:59:59.999999999", -1 },
		{ "+90s", BASE + 90 * NS_PER_S }, { "-2m", BASE - 120 * NS_PER_S },
		{ "+15ms", BASE + 15 * NS_PER_MS }, { "+1.5us", BASE + 1500 }, { "-1ns", BASE - 1 },
		{ "+1h", BASE + 3600 * NS_PER_S }, { "+3", BASE + 3 * NS_PER_S },
		{ "+1m30s", BASE + 90 * NS_PER_S }, { "0%", FIRST }, { "50%", BASE },
		{ "100%", LAST }, { "5%", FIRST + 10 * NS_PER_S }, { "2.5%", FIRST + 5 * NS_PER_S },
		{ "start", FIRST }, { "end", LAST }, { "@5", 5 }, { "@-5", -5 },
		{ "@1795269785123456789", BASE }, { "1795269785123456789", BASE },
		{ "100000000000", 100000000000 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autoptr(GError) error = NULL;
		int64_t ns = 1;
		parse(table[i].text, BASE, FIRST, LAST, &ns, &error);
		g_assert_no_error(error);
		if (ns != table[i].ns)
			g_test_message("'%s'", table[i].text);
		g_assert_cmpint(ns, ==, table[i].ns);
	}
}

static void test_bad_instants(void)
{
	static const char *const table[] = {
		"", " ", "24:00:00", "14:60:00", "14:03:60", "14:3:05", "14:03:5", "14:03:05.",
		"14:03:05x", "1:2:3:4", "2026-02-30 00:00:00", "2026-13-01 00:00:00",
		"2026-11-21", "2026-11-21 ", "2026-11-2114:03:05", "9999-01-01 00:00:00",
		"+", "-", "+s", "+5x", "+5 s", "+99999999999h", "+1m30", "101%", "-5%", "%", "5%%",
		"@", "@x", "@5x", "@99999999999999999999", "99999999999999999999", "12345", "soon",
		"START", "@ 5", "+-5s", "nan%",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autoptr(GError) error = NULL;
		int64_t ns = 77;
		if (parse(table[i], BASE, FIRST, LAST, &ns, &error))
			g_error("'%s' was taken", table[i]);
		g_assert_nonnull(error);
		g_assert_true(g_str_has_prefix(error->message, "time '"));
		g_assert_cmpint(ns, ==, 77);
	}
	int64_t ns;
	g_assert_false(parse("+1s", INT64_MAX, 0, 0, &ns, NULL));
	g_assert_false(parse("-1s", INT64_MIN, 0, 0, &ns, NULL));
	g_assert_false(parse(NULL, 0, 0, 0, &ns, NULL));
}

/* Every form has the same ends, whatever it is relative to: what is computed with an instant does not overflow. */
static void test_far_instants(void)
{
	static const int64_t edge = TIME_MOST_NS;
	static const struct { const char *text; int64_t base, first, last; bool fine; } table[] = {
		{ "@4611686018000000000", 0, 0, 0, true }, { "@4611686018000000001", 0, 0, 0, false },
		{ "@-4611686018000000000", 0, 0, 0, true }, { "@-4611686018000000001", 0, 0, 0, false },
		{ "@9223372036854775807", 0, 0, 0, false }, { "@-9223372036854775808", 0, 0, 0, false },
		{ "4611686018000000000", 0, 0, 0, true }, { "4611686018000000001", 0, 0, 0, false },
		{ "9223372036854775807", 0, 0, 0, false },
		{ "+1ns", edge - 1, 0, 0, true }, { "+1ns", edge, 0, 0, false }, { "+1ns", INT64_MAX, 0, 0, false },
		{ "-1ns", 1 - edge, 0, 0, true }, { "-1ns", -edge, 0, 0, false }, { "-1ns", INT64_MIN, 0, 0, false },
		{ "+4611686018s", edge, 0, 0, false }, { "-4611686018s", edge, 0, 0, true },
		{ "2116-02-20 23:53:38", 0, 0, 0, true }, { "2116-02-20 23:53:39", 0, 0, 0, false },
		{ "1823-11-12 00:06:22", 0, 0, 0, true }, { "1823-11-12 00:06:21", 0, 0, 0, false },
		{ "2200-01-01 00:00", 0, 0, 0, false },
		{ "start", 0, -edge, edge, true }, { "end", 0, -edge, edge, true }, { "50%", 0, -edge, edge, true },
		{ "start", 0, INT64_MIN, INT64_MAX, false }, { "end", 0, INT64_MIN, INT64_MAX, false },
		{ "0%", 0, INT64_MIN, INT64_MAX, false },
		{ "14:03:05", INT64_MAX, 0, 0, true }, { "14:03:05", INT64_MIN, INT64_MIN, INT64_MAX, true },
	};
	char buf[TIMEFMT_LEN];

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autoptr(GError) error = NULL;
		int64_t ns = 77;
		g_test_message("'%s'", table[i].text);
		g_assert_true(parse(table[i].text, table[i].base, table[i].first, table[i].last, &ns,
						    &error) == table[i].fine);
		g_assert_true(table[i].fine ? ns >= -edge && ns <= edge : ns == 77);
		if (!table[i].fine)
			g_assert_nonnull(strstr(error->message, "out of the range of times"));
	}
	/* What is no instant can be shown, too. */
	g_assert_cmpstr(timefmt_date_ms(buf, INT64_MAX), ==, "2262-04-11 23:47:16.854");
	g_assert_cmpstr(timefmt_date_ms(buf, INT64_MIN), ==, "1677-09-21 00:12:43.145");
}

static void test_durations(void)
{
	static const struct { const char *text; int64_t ns; } table[] = {
		{ "100ms", 100 * NS_PER_MS }, { "1s", NS_PER_S }, { "1.5s", 1500 * NS_PER_MS },
		{ "250us", 250000 }, { "250\302\265s", 250000 }, { "2m", 120 * NS_PER_S }, { "3", 3 * NS_PER_S },
		{ "0.25", 250 * NS_PER_MS }, { "0", 0 }, { "7ns", 7 }, { "1h", 3600 * NS_PER_S },
		{ "1.123456789s", 1123456789 }, { "1.1234567899s", 1123456789 }, { "0.1h", 360 * NS_PER_S },
		{ "4611686018000000000ns", TIME_MOST_NS }, { "12m30s", 750 * NS_PER_S },
		{ "4611686018", TIME_MOST_NS },
	};
	static const char *const bad[] = {
		"", "s", "-1s", "+1s", "1 s", "1d", "1ss", "1.s", ".5s", "1e3", "9223372036854775808ns",
		"9223372036854775807ns", "4611686018000000001ns", "4611686018s1ns", "4611686018.1",
		"9999999999h", "9223372036854775807", "1s2",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autoptr(GError) error = NULL;
		int64_t ns = 0;
		timefmt_parse_duration(table[i].text, &ns, &error);
		g_assert_no_error(error);
		g_assert_cmpint(ns, ==, table[i].ns);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		int64_t ns;
		if (timefmt_parse_duration(bad[i], &ns, &error))
			g_error("'%s' was taken", bad[i]);
		g_assert_true(g_str_has_prefix(error->message, "duration '"));
	}
}

/* What is printed is read back, to the nanosecond. */
static void test_round_trip(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	char date[TIMEFMT_LEN], clock[TIMEFMT_LEN];

	for (int i = 0; i < 20000; i++) {
		int64_t ns = random_ns(rand) / 2, back = 0;
		g_autoptr(GError) error = NULL;
		timefmt_date(date, ns);
		timefmt_clock_ns(clock, ns);
		g_autofree char *full = g_strdup_printf("%.10s %s", date, clock);
		parse(full, 0, 0, 0, &back, &error);
		g_assert_no_error(error);
		g_assert_cmpint(back, ==, ns);
		parse(clock, ns, ns, ns, &back, &error);
		g_assert_cmpint(back, ==, ns);
	}
}

static void test_local(void)
{
	int64_t ns, midnight = INT64_C(1792886400) * NS_PER_S;	/* 2026-10-25 00:00 UTC */
	char buf[TIMEFMT_LEN];

	g_setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", TRUE);
	tzset();
	timefmt_set_utc(false);
	g_assert_cmpstr(timefmt_date(buf, BASE), ==, "2026-11-21 15:03:05");
	g_assert_true(parse("15:03:05.123456789", BASE, BASE, BASE, &ns, NULL));
	g_assert_cmpint(ns, ==, BASE);
	g_assert_true(parse("2026-11-21T14:03:05.123456789Z", BASE, 0, 0, &ns, NULL));
	g_assert_cmpint(ns, ==, BASE);

	int64_t twice = midnight + 1800 * NS_PER_S;		/* 02:30 summer time */
	g_assert_cmpstr(timefmt_clock(buf, twice), ==, "02:30:00");
	g_assert_cmpstr(timefmt_clock(buf, twice + 3600 * NS_PER_S), ==, "02:30:00");
	timefmt_set_utc(true);
}

/* Compares what the text means in a trace, as a date in UTC, and the sentence about it. Want NULL: an error that says
 * `choice`. */
static void check_meaning(const char *text, const struct time_scope *scope, const char *want, const char *choice)
{
	g_autofree char *got = NULL;
	g_autoptr(GError) error = NULL;
	int64_t ns = 77, want_ns = 77;

	g_test_message("%s", text);
	bool fine = timefmt_parse_instant(text, scope, &ns, &got, &error);
	if (want)
		g_assert_true(parse(want, 0, 0, 0, &want_ns, NULL));
	g_assert_cmpint(ns, ==, want_ns);
	if (!want)
		g_assert_true(!fine && strstr(error->message, choice));
	else
		g_assert_cmpstr(got, ==, choice);
}

static int64_t at(const char *utc)
{
	int64_t ns = 77;
	g_assert_true(parse(utc, 0, 0, 0, &ns, NULL));
	return ns;
}

/* A time of day is meant inside the trace. */
static void test_days(void)
{
	struct time_scope night = {
		.first = at("2026-11-21 23:59:50.1Z"), .last = at("2026-11-22 00:00:19.2Z"), .after = INT64_MIN,
	};
	struct time_scope days = {
		.first = at("2026-11-21 12:00:00.5Z"), .last = at("2026-11-24 13:00:00Z"), .after = INT64_MIN,
	};

	night.base = night.first;
	days.base = days.first;
	check_meaning("00:00:05", &night, "2026-11-22 00:00:05Z", NULL);
	check_meaning("23:59:58", &night, "2026-11-21 23:59:58Z", NULL);
	check_meaning("23:59:50", &night, "2026-11-21 23:59:50Z", NULL);
	/* None is inside: the nearest one */
	check_meaning("23:50:00", &night, "2026-11-21 23:50:00Z", NULL);
	check_meaning("00:10:00", &night, "2026-11-22 00:10:00Z", NULL);
	check_meaning("2026-11-21 00:00:05", &night, "2026-11-21 00:00:05Z", NULL);
	night.after = at("2026-11-21 23:59:58Z");
	check_meaning("00:00:02", &night, "2026-11-22 00:00:02Z", NULL);
	check_meaning("23:59:52", &night, "2026-11-22 23:59:52Z", NULL);

	check_meaning("12:00:00", &days, "2026-11-21 12:00:00Z",
		      "12:00:00 is 2026-11-21 12:00:00 UTC, one of 4 such times in the trace");
	check_meaning("03:00", &days, "2026-11-22 03:00:00Z",
		      "03:00 is 2026-11-22 03:00:00 UTC, one of 3 such times in the trace");
	check_meaning("2026-11-23 03:00", &days, "2026-11-23 03:00:00Z", NULL);
	days.after = at("2026-11-23 12:00:00Z");
	check_meaning("12:30:00", &days, "2026-11-23 12:30:00Z",
		      "12:30:00 is 2026-11-23 12:30:00 UTC, one of 4 such times in the trace");
	check_meaning("12:00:00", &days, "2026-11-24 12:00:00Z",
		      "12:00:00 is 2026-11-24 12:00:00 UTC, one of 4 such times in the trace");
	days.after = at("2026-11-24 12:00:00Z");
	check_meaning("18:00:00", &days, "2026-11-24 18:00:00Z", NULL);
	check_meaning("11:00:00", &days, "2026-11-21 11:00:00Z", NULL);	/* not after: an error of the caller's */
	/* From the base on, else the first */
	days.after = INT64_MIN;
	days.base = at("2026-11-23 03:00:00.9Z");
	check_meaning("03:00:00", &days, "2026-11-23 03:00:00Z",
		      "03:00:00 is 2026-11-23 03:00:00 UTC, one of 3 such times in the trace");
	days.base = days.last;
	check_meaning("03:00:00", &days, "2026-11-22 03:00:00Z",
		      "03:00:00 is 2026-11-22 03:00:00 UTC, one of 3 such times in the trace");
}

/* An hour that clocks repeat, and one that they skip. */
static void test_changed_clocks(void)
{
	struct time_scope autumn = {
		.first = at("2026-10-25 00:10:00Z"), .last = at("2026-10-25 02:00:00Z"), .after = INT64_MIN,
	};
	struct time_scope spring = {
		.first = at("2026-03-29 00:50:00Z"), .last = at("2026-03-29 01:10:00Z"), .after = INT64_MIN,
	};

	autumn.base = autumn.first;
	timefmt_set_utc(false);
	check_meaning("02:30:00", &autumn, "2026-10-25 00:30:00Z",
		      "02:30:00 is 2026-10-25 02:30:00 +0200, one of 2 such times in the trace");
	check_meaning("2026-10-25 02:30:00", &autumn, "2026-10-25 00:30:00Z",
		      "2026-10-25 02:30:00 is 2026-10-25 02:30:00 +0200, one of 2 such times in the trace");
	check_meaning("02:05:00", &autumn, "2026-10-25 01:05:00Z", NULL);	/* the other is before the trace */
	check_meaning("01:30:00Z", &autumn, "2026-10-25 01:30:00Z", NULL);
	check_meaning("03:00:00", &autumn, "2026-10-25 02:00:00Z", NULL);
	autumn.after = at("2026-10-25 00:30:00Z");
	check_meaning("02:30:00", &autumn, "2026-10-25 01:30:00Z",
		      "02:30:00 is 2026-10-25 02:30:00 +0100, one of 2 such times in the trace");
	check_meaning("02:20:00", &autumn, "2026-10-25 01:20:00Z",
		      "02:20:00 is 2026-10-25 02:20:00 +0100, one of 2 such times in the trace");

	check_meaning("03:05:00", &spring, "2026-03-29 01:05:00Z", NULL);
	check_meaning("02:30:00", &spring, NULL, "'02:30:00': the clocks skipped this time");
	check_meaning("2026-03-29 02:30:00", &spring, NULL, "the clocks skipped this time");
	spring.last = at("2026-03-31 00:00:00Z");
	check_meaning("02:30:00", &spring, "2026-03-30 00:30:00Z", NULL);
	timefmt_set_utc(true);
}

static void test_floor(void)
{
	g_assert_cmpint(time_floor(5, 10), ==, 0);
	g_assert_cmpint(time_floor(10, 10), ==, 10);
	g_assert_cmpint(time_floor(-1, 10), ==, -10);
	g_assert_cmpint(time_floor(-10, 10), ==, -10);
}

/* Anything may be typed. */
static void test_garbage(void)
{
	static const char *const bits[] = {
		"1", "0", "9", ":", "-", "+", ".", "%", "@", "T", " ", "Z", "s", "ms", "h", "start",
		"2026-11-21", "14:03:05", "99999999", "\377", "\302", "\302\265", "e", "x", "\n",
	};
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (int i = 0; i < 30000; i++) {
		g_autoptr(GString) s = g_string_new(NULL);
		for (int n = g_rand_int_range(rand, 0, 8); n > 0; n--) {
			if (g_rand_boolean(rand))
				g_string_append(s, bits[g_rand_int_range(rand, 0, G_N_ELEMENTS(bits))]);
			else
				g_string_append_c(s, (char)g_rand_int_range(rand, 1, 256));
		}
		int64_t ns;
		g_autoptr(GError) e1 = NULL, e2 = NULL;
		bool ok = parse(s->str, random_ns(rand), random_ns(rand),
						random_ns(rand), &ns, &e1);
		g_assert_true(ok == !e1 && (!ok || (ns >= -TIME_MOST_NS && ns <= TIME_MOST_NS)));
		ok = timefmt_parse_duration(s->str, &ns, &e2);
		g_assert_true(ok == !e2);
		g_assert_true(!ok || ns >= 0);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/timefmt/clock", test_clock);
	g_test_add_func("/timefmt/duration", test_duration);
	g_test_add_func("/timefmt/duration-random", test_duration_random);
	g_test_add_func("/timefmt/amounts", test_amounts);
	g_test_add_func("/timefmt/instants", test_instants);
	g_test_add_func("/timefmt/bad-instants", test_bad_instants);
	g_test_add_func("/timefmt/far-instants", test_far_instants);
	g_test_add_func("/timefmt/durations", test_durations);
	g_test_add_func("/timefmt/round-trip", test_round_trip);
	g_test_add_func("/timefmt/local", test_local);
	g_test_add_func("/timefmt/days", test_days);
	g_test_add_func("/timefmt/changed-clocks", test_changed_clocks);
	g_test_add_func("/timefmt/floor", test_floor);
	g_test_add_func("/timefmt/garbage", test_garbage);
	return g_test_run();
}
