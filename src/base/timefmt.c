/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats and parses instants and durations. Formatting rounds to nearest; parsing is exact to the ns. */
#include "base/timefmt.h"

#include "base/fail.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define NS_PER_MIN (60 * NS_PER_S)
#define NS_PER_HOUR (60 * NS_PER_MIN)
#define NS_PER_DAY (24 * NS_PER_HOUR)
#define SECONDS_PER_DAY (24 * 60 * 60)

static bool use_utc;

void timefmt_set_utc(bool utc)
{
	use_utc = utc;
}

/* --- formatting instants --- */

static int64_t split_seconds(int64_t ns, int64_t *ret_rest)
{
	int64_t seconds = ns / NS_PER_S, rest = ns % NS_PER_S;

	if (rest < 0) {			/* before 1970 */
		rest += NS_PER_S;
		seconds--;
	}
	*ret_rest = rest;
	return seconds;
}

static struct tm broken_down(int64_t ns, int64_t *ret_rest)
{
	time_t seconds = (time_t)split_seconds(ns, ret_rest);
	struct tm tm = { .tm_mday = 1 };

	if (use_utc)
		gmtime_r(&seconds, &tm);
	else
		localtime_r(&seconds, &tm);
	return tm;
}

/* decimals: of the second. */
static char *instant(char *buf, int64_t ns, bool with_date, int decimals)
{
	int64_t rest;
	struct tm tm = broken_down(ns, &rest);
	int n = 0;

	if (with_date)
		n = g_snprintf(buf, TIMEFMT_LEN, "%04d-%02d-%02d ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	n += g_snprintf(buf + n, (gulong)(TIMEFMT_LEN - n), "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (decimals)
		g_snprintf(buf + n, (gulong)(TIMEFMT_LEN - n), ".%0*d", decimals,
			   (int)(decimals == 3 ? rest / NS_PER_MS : rest));
	return buf;
}

char *timefmt_clock(char buf[TIMEFMT_LEN], int64_t ns)
{
	return instant(buf, ns, false, 0);
}

char *timefmt_clock_ms(char buf[TIMEFMT_LEN], int64_t ns)
{
	return instant(buf, ns, false, 3);
}

char *timefmt_clock_ns(char buf[TIMEFMT_LEN], int64_t ns)
{
	return instant(buf, ns, false, 9);
}

char *timefmt_date(char buf[TIMEFMT_LEN], int64_t ns)
{
	return instant(buf, ns, true, 0);
}

char *timefmt_date_ms(char buf[TIMEFMT_LEN], int64_t ns)
{
	return instant(buf, ns, true, 3);
}

/* --- formatting durations and amounts --- */

/* Formats v / unit with three significant digits. False: it rounds to `limit` or more. */
static bool three_digits(char *buf, uint64_t v, uint64_t unit, unsigned limit, const char *suffix)
{
	static const unsigned scales[] = { 100, 10, 1 };

	for (unsigned decimals = 2;; decimals--) {
		unsigned scale = scales[2 - decimals];
		uint64_t step = unit / scale;
		uint64_t n = v / step + (v % step >= step - step / 2);
		if (n >= 1000 && decimals)
			continue;
		if (n >= (uint64_t)limit * scale)
			return false;
		if (decimals)
			g_snprintf(buf, TIMEFMT_LEN, "%u.%0*u%s", (unsigned)n / scale,
				   (int)decimals, (unsigned)n % scale, suffix);
		else
			g_snprintf(buf, TIMEFMT_LEN, "%u%s", (unsigned)n, suffix);
		return true;
	}
}

/* Formats "12m30s": two units, the smaller one rounded. False: `limit` large units or more. */
static bool two_units(char *buf, uint64_t v, uint64_t large, uint64_t small, unsigned limit,
		      const char *letters)
{
	uint64_t n = (v + small / 2) / small, per = large / small;

	if (n / per >= limit)
		return false;
	g_snprintf(buf, TIMEFMT_LEN, "%u%c%02u%c", (unsigned)(n / per), letters[0],
		   (unsigned)(n % per), letters[1]);
	return true;
}

static void duration(char *buf, uint64_t v)
{
	if (v == 0)
		g_strlcpy(buf, "0", TIMEFMT_LEN);
	else if (v < 1000)
		g_snprintf(buf, TIMEFMT_LEN, "%uns", (unsigned)v);
	else if (three_digits(buf, v, NS_PER_US, 1000, "us") ||
		 three_digits(buf, v, NS_PER_MS, 1000, "ms") ||
		 three_digits(buf, v, NS_PER_S, 60, "s") ||
		 two_units(buf, v, NS_PER_MIN, NS_PER_S, 60, "ms") ||
		 two_units(buf, v, NS_PER_HOUR, NS_PER_MIN, 100, "hm") ||
		 two_units(buf, v, NS_PER_DAY, NS_PER_HOUR, 100, "dh"))
		return;
	else if (v < 10000 * (uint64_t)NS_PER_DAY)
		g_snprintf(buf, TIMEFMT_LEN, "%ud", (unsigned)(v / NS_PER_DAY));
	else
		g_snprintf(buf, TIMEFMT_LEN, "%uy", (unsigned)(v / (365 * NS_PER_DAY)));
}

char *timefmt_duration(char buf[TIMEFMT_LEN], int64_t ns)
{
	char positive[TIMEFMT_LEN];

	duration(positive, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
	g_snprintf(buf, TIMEFMT_LEN, "%s%s", ns < 0 ? "-" : "", positive);
	return buf;
}

char *timefmt_step(char buf[TIMEFMT_LEN], int64_t ns)
{
	int64_t s = ns / NS_PER_S;

	if (ns > 0 && ns < NS_PER_S && ns % NS_PER_MS == 0)
		g_snprintf(buf, TIMEFMT_LEN, "%" G_GINT64_FORMAT "ms", ns / NS_PER_MS);
	else if (ns % NS_PER_S || ns <= 0)
		timefmt_duration(buf, ns);
	else if (s % 60 == 0)
		g_snprintf(buf, TIMEFMT_LEN, "%" G_GINT64_FORMAT "m", s / 60);
	else if (s > 60)
		g_snprintf(buf, TIMEFMT_LEN, "%" G_GINT64_FORMAT "m%" G_GINT64_FORMAT "s", s / 60,
			   s % 60);
	else
		g_snprintf(buf, TIMEFMT_LEN, "%" G_GINT64_FORMAT "s", s);
	return buf;
}

char *timefmt_bytes(char buf[TIMEFMT_LEN], uint64_t bytes)
{
	static const char units[] = "KMGTPE";

	if (bytes < 1024) {
		g_snprintf(buf, TIMEFMT_LEN, "%u", (unsigned)bytes);
		return buf;
	}
	for (unsigned i = 0;; i++) {
		double v = (double)bytes / (double)(UINT64_C(1) << (10 * (i + 1)));
		if (v >= 1023.5 && units[i + 1])
			continue;
		g_snprintf(buf, TIMEFMT_LEN, v < 99.95 ? "%.1f%c" : "%.0f%c", v, units[i]);
		return buf;
	}
}

char *timefmt_count(char buf[TIMEFMT_LEN], uint64_t n)
{
	static const char *const suffixes[] = { "k", "M", "G", "T", "P", "E" };
	uint64_t unit = 1;

	if (n < 10000) {
		g_snprintf(buf, TIMEFMT_LEN, "%u", (unsigned)n);
		return buf;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		unit *= 1000;
		if (three_digits(buf, n, unit, 1000, suffixes[i]))
			break;
	}
	return buf;
}

/* --- parsing --- */

#define OUT_OF_RANGE "out of the range of times, which is 1823-11-13 to 2116-02-20"

static GQuark error_quark(void)
{
	return g_quark_from_static_string("blk-timefmt-error");
}

static bool refuse(GError **error, const char *what, const char *text, const char *why)
{
	return fail(error, error_quark(), 0, "%s '%s': %s", what, text, why);
}

static const struct time_unit {
	const char *name;		/* longer ones first */
	int64_t ns;
} time_units[] = {
	{ "ns", 1 }, { "us", NS_PER_US }, { "\302\265s", NS_PER_US }, { "ms", NS_PER_MS },
	{ "s", NS_PER_S }, { "m", NS_PER_MIN }, { "h", NS_PER_HOUR },
};

static const struct time_unit *read_unit(const char **p)
{
	for (size_t i = 0; i < G_N_ELEMENTS(time_units); i++) {
		size_t len = strlen(time_units[i].name);
		if (strncmp(*p, time_units[i].name, len) == 0 && !g_ascii_isalpha((*p)[len])) {
			*p += len;
			return &time_units[i];
		}
	}
	return NULL;
}

/* Parses digits with a fraction, in units of `unit` ns; rounds down to ns. */
static bool scale_digits(const char *digits, int64_t unit, int64_t *ret)
{
	int64_t sum = 0;

	for (; g_ascii_isdigit(*digits); digits++) {
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *digits - '0', &sum))
			return false;
	}
	if (__builtin_mul_overflow(sum, unit, &sum))
		return false;
	if (*digits == '.') {
		while (g_ascii_isdigit(*++digits)) {
			unit /= 10;
			if (__builtin_add_overflow(sum, (*digits - '0') * unit, &sum))
				return false;
		}
	}
	*ret = sum;
	return true;
}

static bool skip_number(const char **p)
{
	const char *begin = *p;

	while (g_ascii_isdigit(**p))
		(*p)++;
	if (*p == begin)
		return false;
	if (**p == '.' && g_ascii_isdigit((*p)[1])) {
		(*p)++;
		while (g_ascii_isdigit(**p))
			(*p)++;
	}
	return true;
}

/* Returns why the text is no duration; NULL: it is one. */
static const char *parse_duration(const char *p, int64_t *ret_ns)
{
	int64_t sum = 0, part;
	unsigned n = 0;

	do {
		const char *digits = p;
		if (!skip_number(&p))
			return "expected a number and a unit: ns us ms s m h";
		bool bare = *p == '\0' && n == 0;
		const struct time_unit *unit = read_unit(&p);
		/* After a number with a unit the next one needs a unit, too: 1m30s, not 1m30. */
		if (!unit && !bare)
			return "expected one of the units ns us ms s m h";
		if (!scale_digits(digits, bare ? NS_PER_S : unit->ns, &part) ||
		    __builtin_add_overflow(sum, part, &sum) || sum > TIME_MOST_NS)
			return "too large: at most 146 years";
		n++;
	} while (*p);
	*ret_ns = sum;
	return NULL;
}

bool timefmt_parse_duration(const char *text, int64_t *ret_ns, GError **error)
{
	g_autofree char *stripped = g_strstrip(g_strdup(text ? text : ""));
	int64_t ns;
	const char *why = parse_duration(stripped, &ns);

	if (why)
		return refuse(error, "duration", stripped, why);
	*ret_ns = ns;
	return true;
}

/* Reads at least `n` and at most `max` digits. */
static bool read_int(const char **p, unsigned n, unsigned max, int *ret)
{
	unsigned i;

	*ret = 0;
	for (i = 0; i < max && g_ascii_isdigit(**p); i++)
		*ret = *ret * 10 + (*(*p)++ - '0');
	return i >= n && !g_ascii_isdigit(**p);
}

static bool read_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

struct moment {
	int64_t clock;			/* seconds of the day */
	int64_t rest;			/* ns */
	bool has_date;
	int64_t date;			/* 00:00:00 of the day in seconds since 1970-01-01, as if in UTC */
	bool utc;			/* the text ends with 'Z' */
};

static const char *read_clock(const char *p, struct moment *m)
{
	int hour, min, sec = 0;

	if (!read_int(&p, 1, 2, &hour) || !read_char(&p, ':') || !read_int(&p, 2, 2, &min) ||
	    (read_char(&p, ':') && !read_int(&p, 2, 2, &sec)))
		return "expected HH:MM:SS";
	if (hour > 23 || min > 59 || sec > 59)
		return "no such time of day";
	m->clock = (hour * 60 + min) * 60 + sec;
	if (read_char(&p, '.')) {
		int64_t unit = NS_PER_S;
		if (!g_ascii_isdigit(*p))
			return "expected digits after the point";
		for (; g_ascii_isdigit(*p); p++) {
			unit /= 10;
			m->rest += (*p - '0') * unit;
		}
	}
	m->utc = read_char(&p, 'Z');
	return *p ? "text after the time" : NULL;
}

static const char *read_date(const char **p, struct moment *m)
{
	struct tm tm = { .tm_sec = 0 };

	if (!read_int(p, 4, 4, &tm.tm_year) || !read_char(p, '-') || !read_int(p, 1, 2, &tm.tm_mon) ||
	    !read_char(p, '-') || !read_int(p, 1, 2, &tm.tm_mday))
		return "expected YYYY-MM-DD HH:MM:SS";
	if (!g_date_valid_dmy((GDateDay)tm.tm_mday, (GDateMonth)tm.tm_mon, (GDateYear)tm.tm_year))
		return "no such day";
	tm.tm_year -= 1900;
	tm.tm_mon--;
	m->date = (int64_t)timegm(&tm);
	if (!read_char(p, 'T') && !g_ascii_isspace(**p))
		return "expected a time of day after the date";
	while (g_ascii_isspace(**p))
		(*p)++;
	return NULL;
}

/* What clocks show, as seconds since 1970-01-01 of a calendar without zones. Clocks may skip or repeat some. */
static int64_t civil_seconds(int64_t seconds, bool utc)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (utc || !localtime_r(&t, &tm))
		return seconds;
	return (int64_t)timegm(&tm);
}

/* The instants that a moment can mean, in order of preference; TIME_NONE: there is none. */
enum { FROM_BASE, INSIDE, NEAREST, NOT_AFTER, N_CHOICES };
struct occasions {
	const struct moment *m;
	struct time_scope scope;	/* within +-TIME_MOST_NS; base and first are beginnings of seconds */
	unsigned inside;		/* of the trace, whatever scope.after is */
	int64_t choice[N_CHOICES];
};
#define TIME_NONE INT64_MIN

static uint64_t outside_by(const struct time_scope *scope, int64_t ns)
{
	return ns < scope->first ? (uint64_t)scope->first - (uint64_t)ns :
		ns > scope->last ? (uint64_t)ns - (uint64_t)scope->last : 0;
}

/* seconds: within LIMIT_TIME_SECONDS and a day. */
static void try_second(struct occasions *o, int64_t seconds)
{
	const struct time_scope *scope = &o->scope;
	int64_t ns = seconds * NS_PER_S + o->m->rest, *nearest = &o->choice[NEAREST];
	bool inside = ns >= scope->first && ns <= scope->last;
	bool after = ns > scope->after;

	o->inside += inside;
	if (after && (*nearest == TIME_NONE || outside_by(scope, ns) < outside_by(scope, *nearest)))
		*nearest = ns;
	int choice = !after ? NOT_AFTER : !inside ? NEAREST : ns < scope->base ? INSIDE : FROM_BASE;
	if (o->choice[choice] == TIME_NONE)
		o->choice[choice] = ns;
}

static bool is_far(int64_t seconds)
{
	return seconds < -LIMIT_TIME_SECONDS - SECONDS_PER_DAY || seconds > LIMIT_TIME_SECONDS + SECONDS_PER_DAY;
}

/* Tries the instants, in order, at which clocks show these civil seconds: none, one, or two. */
static void try_civil(struct occasions *o, int64_t civil)
{
	bool utc = use_utc || o->m->utc;

	if (is_far(civil))
		return;
	/* The zone's offset is that of a day before, or that of a day after. */
	int64_t before = civil_seconds(civil - SECONDS_PER_DAY, utc) - (civil - SECONDS_PER_DAY);
	int64_t after = civil_seconds(civil + SECONDS_PER_DAY, utc) - (civil + SECONDS_PER_DAY);
	int64_t early = civil - MAX(before, after), late = civil - MIN(before, after);

	if (civil_seconds(early, utc) == civil)
		try_second(o, early);
	if (late != early && civil_seconds(late, utc) == civil)
		try_second(o, late);
}

static int64_t clamp_time(int64_t ns)
{
	return CLAMP(ns, -TIME_MOST_NS, TIME_MOST_NS);
}

/* Tries the moment on its day, else on each day of the trace after scope.after. */
static void try_days(struct occasions *o)
{
	const struct moment *m = o->m;
	bool utc = use_utc || m->utc;
	int64_t rest;

	if (m->has_date) {
		try_civil(o, m->date + m->clock);
		return;
	}
	int64_t first = civil_seconds(split_seconds(o->scope.first, &rest), utc);
	int64_t last = civil_seconds(split_seconds(MAX(o->scope.last, o->scope.after), &rest), utc);
	for (int64_t day = time_floor(first, SECONDS_PER_DAY); day <= last; day += SECONDS_PER_DAY)
		try_civil(o, day + m->clock);
}

static char *choice_text(const char *text, int64_t ns, unsigned n)
{
	char date[TIMEFMT_LEN], zone[16];
	int64_t rest;
	struct tm tm = broken_down(ns, &rest);

	strftime(zone, sizeof(zone), "%z", &tm);
	return g_strdup_printf("%s is %s %s, one of %u such times in the trace", text, timefmt_date(date, ns),
			       use_utc ? "UTC" : zone, n);
}

static const char *parse_clock(const char *text, const struct time_scope *scope, int64_t *ret_ns, char **ret_choice)
{
	struct moment m = { .rest = 0 };
	const char *p = text, *colon = strchr(p, ':'), *dash = strchr(p, '-');

	m.has_date = dash && (!colon || dash < colon);
	const char *why = m.has_date ? read_date(&p, &m) : NULL;
	if (!why)
		why = read_clock(p, &m);
	if (why)
		return why;
	struct occasions o = { .m = &m, .scope = {
		.base = time_floor(clamp_time(scope->base), NS_PER_S),
		.first = time_floor(clamp_time(scope->first), NS_PER_S),
		.last = clamp_time(scope->last), .after = clamp_time(scope->after),
	} };
	for (int i = 0; i < N_CHOICES; i++)
		o.choice[i] = TIME_NONE;
	try_days(&o);
	for (int i = 0; i < N_CHOICES; i++) {
		if (o.choice[i] == TIME_NONE)
			continue;
		*ret_ns = o.choice[i];
		*ret_choice = o.inside > 1 && i <= INSIDE ? choice_text(text, o.choice[i], o.inside) : NULL;
		return NULL;
	}
	return is_far(m.date) ? OUT_OF_RANGE : "the clocks skipped this time";
}

static const char *parse_absolute(const char *digits, int64_t *ret_ns)
{
	char *end;

	errno = 0;
	int64_t ns = g_ascii_strtoll(digits, &end, 10);
	if (end == digits || *end || g_ascii_isspace(*digits))
		return "expected a number of nanoseconds after '@'";
	if (errno)
		return OUT_OF_RANGE;
	*ret_ns = ns;
	return NULL;
}

static const char *parse_relative(const char *p, int64_t base, int64_t *ret_ns)
{
	int64_t ns;
	const char *why = parse_duration(p + 1, &ns);

	if (why)
		return why;
	if (*p == '-' ? __builtin_sub_overflow(base, ns, ret_ns)
		      : __builtin_add_overflow(base, ns, ret_ns))
		return OUT_OF_RANGE;
	return NULL;
}

static const char *parse_percent(const char *p, int64_t first, int64_t last, int64_t *ret_ns)
{
	const char *end = p;

	if (!skip_number(&end) || strcmp(end, "%") != 0)
		return "expected a percentage such as 5%";
	double percent = g_ascii_strtod(p, NULL);
	if (percent > 100)
		return "more than 100%";
	double length = (double)last - (double)first;
	int64_t offset = (int64_t)CLAMP(length * percent / 100, 0.0, 9e18);
	/* Doubles are not exact here; the ends must be. */
	*ret_ns = percent >= 100 || __builtin_add_overflow(first, offset, ret_ns) ||
		  *ret_ns > last ? last : *ret_ns;
	return NULL;
}

static const char *parse_instant(const char *p, const struct time_scope *scope, int64_t *ret_ns, char **ret_choice)
{
	size_t len = strlen(p);

	if (strcmp(p, "start") == 0 || strcmp(p, "end") == 0) {
		*ret_ns = *p == 's' ? scope->first : scope->last;
		return NULL;
	}
	if (*p == '@')
		return parse_absolute(p + 1, ret_ns);
	if (len >= 12 && strspn(p, "0123456789") == len)
		return parse_absolute(p, ret_ns);
	if (*p == '+' || *p == '-')
		return parse_relative(p, scope->base, ret_ns);
	if (len && p[len - 1] == '%')
		return parse_percent(p, scope->first, scope->last, ret_ns);
	if (g_ascii_isdigit(*p) && strpbrk(p, ":-"))
		return parse_clock(p, scope, ret_ns, ret_choice);
	return "expected HH:MM:SS, YYYY-MM-DD HH:MM:SS, +90s, -2m, 5%, start, end or @NANOSECONDS";
}

bool timefmt_parse_instant(const char *text, const struct time_scope *scope, int64_t *ret_ns, char **ret_choice,
			   GError **error)
{
	g_autofree char *stripped = g_strstrip(g_strdup(text ? text : "")), *choice = NULL;
	int64_t ns = 0;
	const char *why = parse_instant(stripped, scope, &ns, &choice);

	if (!why && (ns < -TIME_MOST_NS || ns > TIME_MOST_NS))
		why = OUT_OF_RANGE;
	if (why)
		return refuse(error, "time", stripped, why);
	*ret_ns = ns;
	if (ret_choice)
		*ret_choice = g_steal_pointer(&choice);
	return true;
}

bool timefmt_parse_bytes(const char *text, size_t *ret)
{
	static const char units[] = "KMGT";
	char *end;
	double d = g_ascii_strtod(text, &end);
	const char *unit = *end ? strchr(units, g_ascii_toupper(*end)) : NULL;

	if (end == text || (*end && (!unit || end[1])))
		return false;
	for (const char *u = units; unit && u <= unit; u++)
		d *= 1024;
	if (!(d >= 0 && d < (double)(SIZE_MAX / 2)))
		return false;
	*ret = (size_t)d;
	return true;
}
