/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules for spans: what their text says, what is wrong in it, and what they make. */
#include "lib/sources.h"
#include "state/kernel/subscriptions.h"
#include "state/publish/model.h"
#include "state/spans/presets.h"
#include "state/spans/rules.h"
#include "state/store/timeline.h"
#include "trace/reader.h"

#include <string.h>

/* ---- text ---- */

static bool parse(const char *text, bool only_marked, GError **error)
{
	struct rules *r = rules_new();
	bool ok = rules_parse(r, "my.spans", text, strlen(text), only_marked, error) &&
		  rules_check(r, error) && rules_install(g_steal_pointer(&r), error);
	rules_free(r);
	rules_install(NULL, NULL);
	return ok;
}

static void test_errors(void)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "begin=a\n", "my.spans:1: 'begin=a' comes before the first [RULE]" },
		{ "\n[x]\nbegin=a\n", "my.spans:2: [x] has no end" },
		{ "[x]\nend=a\n[y]\nbegin=b\nend=c\n", "my.spans:1: [x] has no begin" },
		{ "[x\nbegin=a\n", "my.spans:1: '[x' is not a [GROUP]" },
		{ "[x]\nhello\n", "my.spans:2: 'hello' is neither [RULE] nor KEY=VALUE" },
		{ "[x]\ncolour=red\n", "my.spans:2: a rule has no 'colour'" },
		{ "[x]\nbegin=\n", "my.spans:2: begin= has no value" },
		{ "[x]\nbegin=${1}\n", "my.spans:2: '${1}': only end= can have ${1}" },
		{ "[x]\nbegin=*a*b*c*d*\n", "my.spans:2: '*a*b*c*d*' has more than 4 stars" },
		{ "[x]\nbegin=a*\nend=${1}${1}\n", "my.spans:3: '${1}${1}' has ${1} twice" },
		{ "[x]\nbegin=a*\nend=${name}\n", "my.spans:3: '${name}': after '$' comes {1}" },
		{ "[x]\nbegin=a*\nend=b${2}\n", "my.spans:1: [x]: there is no ${2}: end=b${2} has no such star" },
		{ "[x]\nbegin=a*\nend=b*\nname=${2}\n", "my.spans:1: [x]: there is no ${2}: begin=a* has no such" },
		{ "[x]\nbegin=a*\nend=b*\nend_key=1\nbegin_key=1\n",
		  "my.spans:1: [x]: there is no ${1}: end=b* has no such star" },
		{ "[x]\nbegin=a*\nend=b${1}\n[y]\nbegin=a\nend=b\nparent=x\nparent_key=n\n",
		  "my.spans:4: [y]: the events of its parent x are paired by texts of stars" },
		{ "[x]\nbegin=a\nend=b\nkey=n\nasync=yes\n[y]\nbegin=a\nend=b\nparent=x\n",
		  "my.spans:6: [y]: its parent x is async: parent_key must name the key" },
		{ "[x]\nbegin=a\nend=b\nasync=maybe\n", "my.spans:4: async takes yes or no, not 'maybe'" },
		{ "[x]\nbegin=a\nend=b\nkey=fd;x\n", "my.spans:4: 'fd;x' is not a field name" },
		{ "[x]\nbegin=a\nend=b\nname=open ${path\n", "my.spans:4: '${' without '}' in 'open ${path'" },
		{ "[x]\nbegin=a\nend=b\nnested=maybe\n", "my.spans:4: nested takes yes or no, not 'maybe'" },
		{ "[x]\nbegin=a\nend=b\nbegin_if=fd >\n", "my.spans:4: " },
		{ "[x]\nbegin=a\nend=b\nbegin_key=fd\n", "my.spans:1: [x]: begin_key and end_key" },
		{ "[x]\nbegin=a\nend=b\nparent=z\n", "my.spans:1: [x]: its parent 'z' is not a rule" },
		{ "[x]\nbegin=a\nend=b\nparent_key=z\n", "my.spans:1: [x]: parent_key needs parent=RULE" },
		{ "[x]\nbegin=a\nend=b\nkey=fd\n[y]\nbegin=a\nend=b\nparent=x\nparent_key=a, b\n",
		  "my.spans:5: [y]: parent_key names 2 fields, the key of x has 1" },
		{ "[x]\nbegin=a\nend=b\n[span x]\nbegin=a\nend=b\n", "my.spans:4: [x]: there is a rule of this" },
		{ "[thread]\nbegin=a\nend=b\n", "my.spans:1: [thread]: a rule needs a name" },
		{ "[link]\nbegin=a\nend=b\n", "my.spans:1: [link]: a rule needs a name" },
		{ "[x]\nbegin=a\nend=b\nlink_out=m\n", "my.spans:4: 'm' is not NAME(FIELD, ...)" },
		{ "[x]\nbegin=a\nend=b\nlink_out=m)n(\n", "my.spans:4: 'm)n(' is not NAME(FIELD, ...)" },
		{ "[x]\nbegin=a\nend=b\nlink_out=m()\n", "my.spans:4: '' is not a field name" },
		{ "[x]\nbegin=a\nend=b\nlink_in=m(host)\n", "my.spans:4: link m has no field other than host" },
		{ "[x]\nbegin=a\nend=b\nlink_in=m(a,,b)\n", "my.spans:4: '' is not a field name" },
		{ "[x]\nbegin=a\nend=b\nlink_in=(a)\n", "my.spans:4: '' is not a name of a link" },
		{ "[x]\nbegin=a\nend=b\nend_link_in=m(a) x\n", "my.spans:4: after ')' comes ',' or nothing, not 'x'" },
		{ "[x]\nbegin=a\nend=b\nlink_in=m(2)\n", "my.spans:1: [x]: there is no ${2}: begin=a" },
		{ "[x]\nbegin=a\nend=b\nend_link_in=m(a)\nparent=link\n",
		  "my.spans:1: [x]: parent=link needs link_in=" },
		{ "[x]\nbegin=a\nend=b\ntags=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n",
		  "my.spans:1: [x]: at most 16 fields of an event" },
		{ "[x]\nbegin=a\nbegin=b\nend=c\n", "my.spans:3: [x] has begin= already" },
		{ "[table t]\nkey=a\nvalue=b\n", "my.spans:1: [table t] has no event" },
		{ "[table t]\nevent=e\nvalue=b\n", "my.spans:1: [table t] has no key" },
		{ "[table t]\nevent=e\nkey=a\n", "my.spans:1: [table t] has no value" },
		{ "[table t]\nevent=e\nkey=thread, a\nvalue=b\n", "my.spans:1: [table t]: its key is made of fields" },
		{ "[table t]\nevent=e\nkey=t[a]\nvalue=b\n", "my.spans:3: 't[a]': the key of a table has no entries" },
		{ "[table t]\nevent=e\nkey=a\nvalue=b\n[table t]\nevent=e\nkey=a\nvalue=b\nscope=host\n",
		  "my.spans:5: [table t]: scope= is not that of line 1" },
		{ "[table t]\nbegin=a\n", "my.spans:2: a table has no 'begin'" },
		{ "[table t]\nevent=e\nkey=a\nvalue=b\nscope=cpu\n", "my.spans:5: scope takes process or host" },
		{ "[x]\nbegin=a\nend=b\nname=${t[a]}\n", "my.spans: there is no [table t]" },
		{ "[x]\nbegin=a\nend=b\nname=${t[a}\n", "my.spans:4: 't[a' is neither a field nor TABLE[FIELD]" },
		{ "[x]\nbegin=a\nend=b\nname=${t[t[t[t[t[t[t[t[t[a]]]]]]]]]}\n",
		  "my.spans:4: 't[a]': more than 8 tables" },
		{ "[x]\nbegin=a\nend=b\nname=${t[a;b]}\n", "my.spans:4: 'a;b' is not a field name" },
		{ "[x]\nend=a\nduration=d\nkey=k\n", "my.spans:1: [x]: a rule with duration= has no key=" },
		{ "[x]\nbegin=a\nend=a\nduration=d\n", "my.spans:1: [x]: a rule with duration= has no begin=" },
		{ "[x]\nend=a\nduration=d\nparent=x\n",
		  "my.spans:1: [x]: a rule with duration= has parent=thread, or" },
		{ "[x]\nduration=d\n", "my.spans:1: [x] has no end" },
		{ "[x]\nbegin=a\nend=b\nunit=us\n", "my.spans:1: [x]: unit= needs duration=" },
		{ "[x]\nend=a\nduration=d\nunit=h\n", "my.spans:4: unit takes ns, us, ms or s, not 'h'" },
		{ "[x]\nbegin=\xff\n", "my.spans:2: the line is not text" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_false(parse(cases[i].text, false, &error));
		g_assert_nonnull(error);
		if (!g_str_has_prefix(error->message, cases[i].says))
			g_error("'%s' does not begin with '%s'", error->message, cases[i].says);
	}
}

static void test_link_errors(void)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "[x]\nbegin=a\nend=b\nlink_in=m(t[a])\n",
		  "my.spans:4: 't[a]': links name entries of tables as texts: ${t[a]}" },
		{ "[x]\nbegin=a\nend=b\nlink_in=m(${t[a]})\n",
		  "my.spans:4: 'm': what is taken cannot be named by entries of tables" },
		{ "[x]\nbegin=a\nend=b\nlink_out=m(${t[a)\n", "my.spans:4: '${' without '}'" },
		{ "[x]\nbegin=a\nend=b\nlink_out=m(${a b})\n", "my.spans:4: 'a b' is not a field name" },
		{ "[x]\nend=a\nduration=0\nunit=us\n", "my.spans:1: [x]: unit= needs duration=" },
		{ "[x]\nend=a\nduration=0\nlink_out=m(a)\n",
		  "my.spans:1: [x]: a rule with duration= has no link_out=" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_false(parse(cases[i].text, false, &error));
		g_assert_nonnull(error);
		g_assert_true(g_str_has_prefix(error->message, cases[i].says));
	}
}

/* ---- presets ---- */

#define HEAD "[preset p]\ntitle=t\nprogram=x\ndetect=a:*, b:c\n"

static void test_preset_errors(void)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "[preset P]\n", "my.spans:1: [preset P]: a name has small letters" },
		{ "[preset ]\n", "my.spans:1: [preset ]: a name has" },
		{ "[preset p]\ntitle=t\n", "my.spans:1: [preset p] has no program" },
		{ "[preset p]\ntitle=t\nprogram=p\n[r]\nbegin=a\nend=b\n", "my.spans:1: [preset p] has no detect" },
		{ HEAD "title=u\n", "my.spans:5: [preset p] has title= already" },
		{ HEAD "colour=red\n", "my.spans:5: a preset has no 'colour'" },
		{ HEAD "begin=a\n", "my.spans:5: a preset has no 'begin'" },
		{ HEAD "on=no\n", "my.spans:5: on takes auto or request, not 'no'" },
		{ HEAD "events=a:*, $(reboot)\n", "my.spans:5: '$(reboot)' is not the name of an event" },
		{ HEAD "contexts=vpid;x\n", "my.spans:5: 'vpid;x' is not a context" },
		{ HEAD "agents=perl\n", "my.spans:5: agents are jul" },
		{ HEAD "buffers=1M\n", "my.spans:5: buffers are SIZE x NUMBER" },
		{ HEAD "buffers=1M x `a`\n", "my.spans:5: buffers are SIZE x NUMBER" },
		{ HEAD "[r]\nbegin=a\nend=b\n[r]\nbegin=a\nend=b\n", "my.spans:8: [r]: there is a rule of this name" },
		{ "[r]\nbegin=a\nend=b\n" HEAD "[s]\nbegin=a\nend=b\nparent=r\n",
		  "my.spans:8: [s]: its parent 'r' is not a rule" },
		{ HEAD HEAD, "my.spans:5: [preset p]: there is a preset of this name already" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_false(parse(cases[i].text, false, &error));
		if (!g_str_has_prefix(error->message, cases[i].says))
			g_error("'%s' does not begin with '%s'", error->message, cases[i].says);
	}
}

/* A preset's rules have names of their own; in blktoprc there are no presets. */
static void test_preset_names(void)
{
	g_autoptr(GError) error = NULL;
	g_assert_true(parse("[r]\nbegin=a\nend=b\n" HEAD "cannot=x\ncannot=y\n[r]\nbegin=a\nend=b\n", false, &error));
	g_assert_no_error(error);
	g_assert_true(parse("[preset Any]\n\xff\n[span r]\nbegin=a\nend=b\n", true, &error));
	g_assert_no_error(error);
}

static void add_preset(const char *name, const char *more)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = g_strdup_printf("[preset %s]\ntitle=t\nprogram=x\ndetect=%s:*\n%s[r]\nbegin=%s:a\n"
						"end=%s:b\n", name, name, more, name, name);
	g_assert_true(presets_add(name, text, strlen(text), false, &error));
	g_assert_no_error(error);
}

static char *names_of(GPtrArray *presets)
{
	GString *s = g_string_new(NULL);
	for (guint i = 0; i < presets->len; i++)
		g_string_append_printf(s, "%s ", ((const struct preset *)presets->pdata[i])->name);
	g_ptr_array_unref(presets);
	return g_string_free(s, false);
}

static void assert_on(const char *words, const char *used, const char *offered, size_t n_rules)
{
	static const char *const events[] = { "z:x", "b:x", "k", "c:y", NULL };
	g_autoptr(GError) error = NULL;
	g_assert_true(presets_choose(words, &error));
	g_autofree char *in_use = names_of(presets_in_use(events)), *on_offer = names_of(presets_on_offer(events));
	g_assert_cmpstr(in_use, ==, used);
	g_assert_cmpstr(on_offer, ==, offered);
	struct rules *r = rules_new();
	g_assert_true(presets_add_rules(r, &error));
	g_assert_cmpuint(rules_n(r), ==, n_rules);
	rules_free(r);
}

static void test_preset_choice(void)
{
	g_autoptr(GError) error = NULL;
	add_preset("c", "on=request\n");
	add_preset("a", "");
	add_preset("b", "");
	add_preset("b", "on=request\n");	/* the first one counts */
	g_assert_cmpuint(presets_n(), ==, 3);
	assert_on("auto", "b ", "c ", 2);
	assert_on("none", "", "b c ", 0);
	assert_on("c", "c ", "b ", 1);
	assert_on(" auto , c", "b c ", "", 3);
	static const char *const wrong[] = { "", "d", "auto,", "none,a" };
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_assert_false(presets_choose(wrong[i], &error));
		g_clear_error(&error);
	}
	g_assert_cmpstr(presets_chosen(), ==, "auto,c");
	presets_clear();
	g_assert_cmpuint(presets_n(), ==, 0);
}

/* Events of presets are read where they are, but nothing asks for them; those of a user's rules are asked for. */
static void test_preset_rows(void)
{
	g_autoptr(GError) error = NULL;
	static const char text[] = "[r]\nbegin=x:mine\nend=x:both\n" HEAD "[r]\nbegin=a:begin\nend=x:both\n"
				   "[s]\nbegin=a:*_in\nend=a:${1}_out\n";
	static const struct { const char *event; bool needed; } cases[] = {
		{ "x:mine", true }, { "x:both", true }, { "a:begin", false }, { "a:*_in", false }, { "a:*_out", false },
	};
	struct rules *r = rules_new();
	g_assert_true(rules_parse(r, "my.spans", text, strlen(text), false, &error));
	g_assert_true(rules_install(r, &error));
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		size_t at = 0;
		while (at < n && !g_str_equal(rows[at].event, cases[i].event))
			at++;
		g_assert_cmpuint(at, <, n);
		g_assert_cmpint(rows[at].needs != NULL, ==, cases[i].needed);
	}
	static const char *const of_preset[] = { "a:q_in", NULL }, *const others[] = { "k", NULL };
	g_assert_cmpuint(rules_n_own(), ==, 1);
	g_assert_true(rules_any_met(others));		/* the user's */
	rules_install(NULL, NULL);
	g_assert_false(rules_any_met(of_preset));
	r = rules_new();
	g_assert_true(rules_parse(r, "my.spans", HEAD "[s]\nbegin=a:*_in\nend=a:${1}_out\n",
				  strlen(HEAD "[s]\nbegin=a:*_in\nend=a:${1}_out\n"), false, &error));
	g_assert_true(rules_install(r, &error));
	g_assert_true(rules_any_met(of_preset));
	g_assert_false(rules_any_met(others));
	rules_install(NULL, NULL);
}

/* In blktoprc other groups are not ours, whatever they say. */
static void test_marked(void)
{
	g_autoptr(GError) error = NULL;
	g_assert_true(parse("[keys]\nquit=q\nrubbish\n\xff\n[span x]\n# no\n begin = a \nend=b\n[colors]\nx=y\n",
			    true, &error));
	g_assert_no_error(error);
	g_assert_false(parse("[keys]\nquit=q\n[span x]\nbegin=a\nquit=q\n", true, &error));
	g_assert_cmpstr(error->message, ==, "my.spans:5: a rule has no 'quit'");
}

/* ---- what they make ---- */

static struct timeline *timeline_of(const char *rules, const char *script)
{
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();
	g_assert_true(rules_parse(r, "rules", rules, strlen(rules), false, &error));
	g_assert_true(rules_check(r, &error));
	g_assert_true(rules_install(r, &error));
	struct timeline *tl = timeline_of_script(script, &(struct model_options){ 0 });
	rules_install(NULL, NULL);
	return tl;
}

static uint64_t id_at(const struct timeline *tl, int64_t begin, const char *name)
{
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->begin_ns == begin && g_str_equal(s->name, name))
			return s->span_id;
	}
	return 0;
}

/* "BEGIN-END NAME SERVICE STATE errors parent's begin", a line each, by begin. */
static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *expected(struct timeline *tl)
{
	static const char *const states[] = { "complete", "open", "partial" };
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		const struct span *parent = NULL;
		for (size_t k = 0; s->parent_id && k < timeline_n_spans(tl); k++)
			if (timeline_span(tl, k)->span_id == s->parent_id)
				parent = timeline_span(tl, k);
		g_assert_true(!parent || parent->trace_id == s->trace_id);
		g_autofree char *of = parent ? g_strdup_printf(" of %s", parent->name)
					     : g_strdup(s->parent_id ? " of ?" : "");
		g_ptr_array_add(lines, g_strdup_printf("%03d-%d %s %s %s%s%s", (int)s->begin_ns,
			(int)s->end_ns, s->name, s->service,
			states[s->state], s->errors ? " error" : "", of));
	}
	g_ptr_array_sort(lines, by_text);
	g_ptr_array_add(lines, NULL);
	timeline_free(tl);
	return g_strjoinv("\n", (char **)lines->pdata);
}

struct made { const char *name, *rules, *script, *expected; };
static const struct made made[] = {
	{ "by-thread", "[job]\nbegin=u:a\nend=u:b\n",
	  "10 0 u:u:a ctx.vtid=7 ctx.procname=\"p\"\n20 1 u:u:a ctx.vtid=8 ctx.procname=\"p\"\n"
	  "30 1 u:u:b ctx.vtid=7 ctx.procname=\"p\"\n40 0 u:u:b ctx.vtid=8 ctx.procname=\"p\"\n",
	  "010-30 job p complete\n020-40 job p complete" },
	{ "by-field", "[job]\nbegin=u:a\nend=u:b\nkey=id\nname=job ${id} ${what}\nservice=s${cpu}\n",
	  "10 0 u:u:a id=1 what=\"x\" ctx.vtid=7\n20 0 u:u:a id=2 what=\"y\" ctx.vtid=7\n"
	  "30 1 u:u:b id=1 ctx.vtid=8\n40 0 u:u:b id=2 ctx.vtid=7\n",
	  "010-30 job 1 x s0 complete\n020-40 job 2 y s0 complete" },
	{ "keys-by-other-names", "[job]\nbegin=u:a\nend=u:b\nbegin_key=id\nend_key=of\n",
	  "10 0 u:u:a id=\"q\"\n30 1 u:u:b of=\"q\"\n", "010-30 job  complete" },
	{ "missing", "[job]\nbegin=u:a\nend=u:b\nkey=id\n",
	  "10 0 u:u:a id=1\n20 0 u:u:a id=1\n30 0 u:u:b id=1\n40 0 u:u:b id=1\n50 0 u:u:a id=3\n"
	  "60 0 u:u:c\n",
	  "010-10 job  partial\n020-30 job  complete\n040-40 job  partial\n050-60 job  open" },
	{ "at-one-instant", "[job]\nbegin=u:a\nend=u:b\nkey=id\n",
	  "16 0 u:u:a id=1\n16 0 u:u:a id=2\n17 0 u:u:a id=3\n30 0 u:u:b id=1\n31 0 u:u:b id=2\n32 0 u:u:b id=3\n",
	  "016-30 job  complete\n016-31 job  complete\n017-32 job  complete" },
	{ "nested", "[job]\nbegin=u:a\nend=u:b\nkey=id\nnested=yes\nparent=thread\n",
	  "10 0 u:u:a id=1 ctx.vtid=7\n20 0 u:u:a id=1 ctx.vtid=7\n30 0 u:u:b id=1 ctx.vtid=7\n"
	  "40 0 u:u:b id=1 ctx.vtid=7\n",
	  "010-40 job  complete\n020-30 job  complete of job" },
	{ "conditions", "[job]\nbegin=u:a\nend=u:b\nbegin_if=x > 3 && name =~ ok\nend_if=y != 0\n"
	  "error_if=y < 0\n",
	  "10 0 u:u:a x=3 name=\"ok\" ctx.vtid=7\n20 0 u:u:a x=4 name=\"ok\" ctx.vtid=7\n"
	  "25 0 u:u:a x=4 name=\"no\" ctx.vtid=7\n"
	  "30 0 u:u:b y=0 ctx.vtid=7\n40 0 u:u:b y=-1 ctx.vtid=7\n",
	  "020-40 job  complete error" },
	{ "parents", "[job]\nbegin=u:a\nend=u:b\nkey=id\n[part]\nbegin=u:c\nend=u:d\nkey=n\nparent=job\n"
	  "parent_key=job\n",
	  "10 0 u:u:a id=1\n20 0 u:u:c n=5 job=1\n30 1 u:u:c n=6 job=2\n40 0 u:u:d n=5\n50 0 u:u:d n=6\n"
	  "60 0 u:u:b id=1\n",
	  "010-60 job  complete\n020-40 part  complete of job\n030-50 part  complete" },
	{ "parent-on-the-thread", "[req]\nbegin=u:a\nend=u:b\nkey=id\n[op]\nbegin=u:*_start\nend=u:${1}_end\n"
	  "parent=req\n[part]\nbegin=u:c\nend=u:d\nparent=op\n",
	  "10 0 u:u:a id=1 ctx.vtid=7\n15 1 u:u:a id=2 ctx.vtid=8\n20 0 u:u:x_start ctx.vtid=7\n"
	  "25 0 u:u:c ctx.vtid=7\n30 0 u:u:d ctx.vtid=7\n35 0 u:u:x_end ctx.vtid=7\n40 1 u:u:b id=1 ctx.vtid=8\n"
	  "45 0 u:u:y_start ctx.vtid=7\n50 0 u:u:y_end ctx.vtid=7\n60 0 u:u:b id=2 ctx.vtid=7\n",
	  "010-40 req  complete\n015-60 req  complete\n020-35 op  complete of req\n025-30 part  complete of op\n"
	  "045-50 op  complete" },
	{ "async", "[io]\nbegin=u:a\nend=u:b\nkey=id\nasync=yes\nparent=thread\n[call]\nbegin=u:c\nend=u:d\n"
	  "nested=yes\nparent=thread\n[part]\nbegin=u:e\nend=u:f\nparent=io\nparent_key=id\n",
	  "10 0 u:u:c ctx.vtid=7\n15 0 u:u:a id=1 ctx.vtid=7\n20 0 u:u:c ctx.vtid=7\n25 0 u:u:d ctx.vtid=7\n"
	  "30 0 u:u:d ctx.vtid=7\n35 0 u:u:e id=1 ctx.vtid=7\n40 0 u:u:f ctx.vtid=7\n50 1 u:u:b id=1 ctx.vtid=8\n",
	  "010-30 call  complete\n015-50 io  complete of call\n020-25 call  complete of call\n"
	  "035-40 part  complete of io" },
	{ "kernel", "[call]\nbegin=syscall_entry_openat\nend=syscall_exit_openat\nname=${filename}\n"
	  "service=${ctx.procname}\n",
	  "10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
	  "20 0 syscall_entry_openat filename=\"/x\" dfd=-100 flags=0 ctx.procname=\"p\"\n"
	  "30 0 syscall_exit_openat ret=3 ctx.procname=\"p\"\n"
	  "40 0 sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"p\" next_comm=\"s\"\n",
	  "020-30 /x p complete" },
	{ "same-event", "[turn]\nbegin=u:a\nend=u:a\n",
	  "10 0 u:u:a ctx.vtid=7\n20 0 u:u:a ctx.vtid=7\n30 0 u:u:a ctx.vtid=7\n",
	  "010-10 turn  partial\n010-20 turn  complete\n020-30 turn  complete\n030-30 turn  open" },
	{ "in-a-request", "[part]\nbegin=u:a\nend=u:b\nparent=thread\n",
	  "10 0 u:zipkin:timestamp trace_name=\"get\" service_name=\"web\" trace_id=5 span_id=5 "
	  "parent_span_id=0 event=\"sr\" ctx.vtid=7\n"
	  "20 0 u:u:a ctx.vtid=7\n30 0 u:u:b ctx.vtid=7\n"
	  "40 0 u:zipkin:timestamp trace_name=\"get\" service_name=\"web\" trace_id=5 span_id=5 "
	  "parent_span_id=0 event=\"ss\" ctx.vtid=7\n50 0 u:u:a ctx.vtid=7\n60 0 u:u:b ctx.vtid=7\n",
	  "010-40 get web complete\n020-30 part  complete of get\n050-60 part  complete" },
	{ "of-nobody", "[job]\nbegin=u:a\nend=u:b\n[part]\nbegin=u:c\nend=u:d\nkey=id\nparent=thread\n",
	  "10 0 u:u:a ctx.vpid=7\n20 0 u:u:c id=1 ctx.vpid=7\n30 0 u:u:d id=1 ctx.vpid=7\n40 0 u:u:b ctx.vpid=7\n",
	  "010-10 job  partial\n020-30 part  complete\n040-40 job  partial" },
	{ "of-whom-the-kernel-says", "[job]\nbegin=u:a\nend=u:b\n",
	  "10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
	  "11 1 sched_switch prev_tid=0 prev_state=0 next_tid=8 prev_comm=\"s\" next_comm=\"p\"\n"
	  "20 0 u:u:a\n25 1 u:u:a\n"
	  "30 0 sched_switch prev_tid=7 prev_state=1 next_tid=8 prev_comm=\"p\" next_comm=\"p\"\n"
	  "30 1 sched_switch prev_tid=8 prev_state=1 next_tid=7 prev_comm=\"p\" next_comm=\"p\"\n"
	  "40 0 u:u:b\n50 1 u:u:b\n60 0 sched_switch prev_tid=8 prev_state=1 next_tid=0 prev_comm=\"p\" "
	  "next_comm=\"s\"\n",
	  "020-50 job  complete\n025-40 job  complete" },
	{ "without-key", "[job]\nbegin=u:a\nend=u:b\nkey=id\n[part]\nbegin=u:c\nend=u:d\nkey=n\nparent=job\n"
	  "parent_key=job\n",
	  "10 0 u:u:a other=1\n20 0 u:u:a other=2\n30 0 u:u:b other=2\n40 0 u:u:c n=1 other=3\n50 0 u:u:d n=1\n",
	  "010-10 job  partial\n020-20 job  partial\n030-30 job  partial\n040-50 part  complete" },
	{ "pattern", "[cuda]\nbegin=c:*_entry\nend=c:${1}_exit\nname=${1} of ${event}\nnested=yes\nparent=thread\n",
	  "10 0 u:c:sync_entry ctx.vtid=7\n20 0 u:c:copy_entry ctx.vtid=7\n25 0 u:c:sync_entry ctx.vtid=8\n"
	  "30 0 u:c:copy_exit ctx.vtid=7\n40 0 u:c:sync_exit ctx.vtid=7\n45 0 u:c:other_exit ctx.vtid=7\n"
	  "50 0 u:c:sync_exit ctx.vtid=8\n60 0 u:d:sync_entry ctx.vtid=7\n",
	  "010-40 sync of sync_entry  complete\n020-30 copy of copy_entry  complete of sync of sync_entry\n"
	  "025-50 sync of sync_entry  complete\n045-45 cuda  partial" },
	{ "pattern-of-two-stars", "[x]\nbegin=*:*_start\nend=${1}:end_*_${2}\nname=${2} by ${1}\nkey=id,2\n",
	  "10 0 u:p:a_start_start id=1\n20 0 u:q:end__a id=1\n30 0 u:p:end_9_a_start id=1\n40 0 u:p:b_start id=1\n"
	  "50 0 u:p:end__b id=2\n60 0 u:p:end__b id=1\n",
	  "010-30 a_start by p  complete\n020-20 x  partial\n030-60 end_9_a by p  open\n"
	  "040-60 b by p  complete\n050-50 x  partial" },
	{ "pattern-beside-names", "[one]\nbegin=c:f_entry\nend=c:f_exit\nkey=id\nname=${event}\n"
	  "[all]\nbegin=c:*_entry\nend=c:${1}_exit\nkey=n\n",
	  "10 0 u:c:f_entry id=1 n=7\n20 0 u:c:g_entry id=1 n=8\n30 0 u:c:g_exit id=1 n=8\n"
	  "40 0 u:c:f_exit id=1 n=7\n",
	  "010-40 all  complete\n010-40 f_entry  complete\n020-30 all  complete" },
	{ "phase", "[api]\nbegin=h:*\nend=h:${1}\nbegin_if=phase == 0\nend_if=phase == 1\nname=${event}\n"
	  "nested=yes\n",
	  "10 0 u:h:malloc phase=0 ctx.vtid=7\n20 0 u:h:copy phase=0 ctx.vtid=7\n30 0 u:h:copy phase=1 ctx.vtid=7\n"
	  "40 0 u:h:malloc phase=1 ctx.vtid=7\n",
	  "010-40 malloc  complete\n020-30 copy  complete" },
	{ "own-name-as-key", "[e]\nbegin=h:*\nend=h:*\nbegin_if=phase == 0\nend_if=phase == 1\nkey=event\n"
	  "name=${payload.event}\n",
	  "10 0 u:h:a phase=0 event=\"x\"\n20 0 u:h:b phase=0 event=\"y\"\n30 0 u:h:a phase=1 event=\"z\"\n",
	  "010-30 x  complete\n020-30 y  open" },
	{ "pattern-of-calls", "[call]\nbegin=syscall_entry_*\nend=syscall_exit_${1}\nname=${1}\n",
	  "10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
	  "20 0 syscall_entry_openat filename=\"/x\" dfd=-100 flags=0\n30 0 syscall_exit_openat ret=3\n"
	  "32 0 syscall_entry_read fd=3\n36 0 syscall_exit_read ret=3\n"
	  "40 0 sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"p\" next_comm=\"s\"\n",
	  "020-30 openat  complete\n032-36 read  complete" },
	{ "reals", "[job]\nbegin=u:a\nend=u:b\nkey=id\nbegin_if=x > 0.5 && x <= 1e3\nend_if=y != 0\n"
	  "error_if=y < -0.25\nname=${x}\n",
	  "10 0 u:u:a id=1 x=0.5\n11 0 u:u:a id=2 x=0.1\n12 0 u:u:a id=3 x=nan\n13 0 u:u:a id=4 x=inf\n"
	  "14 0 u:u:a id=5 x=0.75\n15 0 u:u:a id=6 x=1000.\n16 0 u:u:a id=7 x=7\n30 0 u:u:b id=5 y=-0.5\n"
	  "31 0 u:u:b id=6 y=-0.\n32 0 u:u:b id=6 y=nan\n33 0 u:u:b id=7 y=2.5\n",
	  "014-30 0.75  complete error\n015-32 1000  complete\n016-33 7  complete" },
	{ "reals-as-keys", "[job]\nbegin=u:a\nend=u:b\nkey=id\nname=${id}\n",
	  "10 0 u:u:a id=0.\n11 0 u:u:a id=2.5\n12 0 u:u:a id=3\n13 0 u:u:a id=-inf\n14 0 u:u:a id=\"2.5\"\n"
	  "20 0 u:u:b id=-0.\n21 0 u:u:b id=2.5\n22 0 u:u:b id=3.0\n23 0 u:u:b id=-inf\n",
	  "010-20 0  complete\n011-21 2.5  complete\n012-22 3  complete\n013-23 -inf  complete\n014-23 2.5  open" },
	{ "nan-is-no-key", "[job]\nbegin=u:a\nend=u:b\nkey=id\nname=${id}\n",
	  "10 0 u:u:a id=nan\n20 0 u:u:b id=nan\n", "010-10 nan  partial\n020-20 job  partial" },
	{ "duration", "[c]\nend=v:*\nduration=d\nname=${name} by ${1}\nparent=thread\nend_if=skip != 1\n"
	  "error_if=rc < 0\n"
	  "[job]\nbegin=u:a\nend=u:b\n",
	  "10 0 u:u:a ctx.vtid=7\n40 0 u:v:call name=\"get\" d=15 rc=-1 ctx.vtid=7\n"
	  "45 0 u:v:call name=\"other\" d=15 ctx.vtid=8\n50 0 u:v:call name=\"long\" d=45 ctx.vtid=7\n"
	  "55 0 u:v:call name=\"no\" d=5 skip=1 ctx.vtid=7\n60 0 u:v:call name=\"less\" d=-1 ctx.vtid=7\n"
	  "62 0 u:v:call name=\"none\" ctx.vtid=7\n65 0 u:v:call name=\"real\" d=2.5 ctx.vtid=7\n"
	  "66 0 u:v:call name=\"nan\" d=nan ctx.vtid=7\n67 0 u:v:call name=\"zero\" d=0 ctx.vtid=7\n"
	  "70 0 u:u:b ctx.vtid=7\n"
	  "75 0 u:v:call name=\"huge\" d=1.0e300 ctx.vtid=7\n76 0 u:v:call name=\"early\" d=77 ctx.vtid=7\n",
	  "005-50 long by call  complete\n010-70 job  complete\n025-40 get by call  complete error of job\n"
	  "030-45 other by call  complete\n060-60 less by call  partial\n062-62 none by call  partial\n"
	  "062-65 real by call  complete of job\n066-66 nan by call  partial\n067-67 zero by call  complete of job\n"
	  "075-75 huge by call  partial\n076-76 early by call  partial" },
	{ "duration-in-us", "[c]\nend=v:call\nduration=d\nunit=us\n",
	  "5000 0 u:v:call d=2\n6000 0 u:v:call d=0.25\n7000 0 u:v:call d=9223372036854775807\n",
	  "3000-5000 c  complete\n5750-6000 c  complete\n7000-7000 c  partial" },
#define TABLE "[table symbol]\nevent=r:register\nkey=callback\nvalue=${text}\n"
#define CALLBACK "[cb]\nbegin=r:start\nend=r:end\nkey=callback\n"
	{ "table", TABLE CALLBACK "name=${symbol[callback]}\n",
	  "5 0 u:r:start callback=1 ctx.vpid=7\n6 0 u:r:end callback=1 ctx.vpid=7\n"
	  "10 0 u:r:register callback=1 text=\"f\" ctx.vpid=7\n11 0 u:r:register callback=2 text=\"g\" ctx.vpid=7\n"
	  "20 0 u:r:start callback=1 ctx.vpid=7\n25 0 u:r:start callback=2 ctx.vpid=8\n"
	  "26 0 u:r:register callback=1 text=\"h\" ctx.vpid=7\n"
	  "30 0 u:r:end callback=1 ctx.vpid=7\n31 0 u:r:end callback=2 ctx.vpid=8\n"
	  "40 0 u:r:start callback=1 ctx.vpid=7\n41 0 u:r:end callback=1 ctx.vpid=7\n",
	  "005-6 ?  complete\n020-30 f  complete\n025-31 ?  complete\n040-41 h  complete" },
	{ "table-of-host", TABLE "scope=host\n" CALLBACK "name=do ${symbol[callback]} now\n",
	  "10 0 u:r:register callback=1 text=\"f\" ctx.vpid=7\n20 0 u:r:start callback=1 ctx.vpid=8\n"
	  "30 0 u:r:end callback=1 ctx.vpid=8\n35 0 u@two:r:start callback=1 ctx.vpid=8\n"
	  "36 0 u@two:r:end callback=1 ctx.vpid=8\n",
	  "020-30 do f now  complete\n035-36 do ? now  complete" },
	{ "table-of-tables", "[table sub]\nevent=r:sub\nkey=callback\nvalue=${handle}\n"
	  "[table topic]\nevent=r:init\nkey=handle\nvalue=${name} of ${node[node]}\n"
	  "[table topic]\nevent=r:other\nkey=h\nvalue=other ${name}\n"
	  "[table node]\nevent=r:node\nkey=node\nvalue=${name}\n"
	  CALLBACK "name=${topic[sub[callback]]|sub[callback]|callback}\n",
	  "10 0 u:r:node node=9 name=\"n\"\n11 0 u:r:init handle=77 node=9 name=\"/t\"\n"
	  "12 0 u:r:sub callback=1 handle=77\n13 0 u:r:sub callback=2 handle=78\n14 0 u:r:other h=79 name=\"o\"\n"
	  "15 0 u:r:sub callback=4 handle=79\n"
	  "20 0 u:r:start callback=1\n21 0 u:r:end callback=1\n22 0 u:r:start callback=2\n23 0 u:r:end callback=2\n"
	  "24 0 u:r:start callback=3\n25 0 u:r:end callback=3\n26 0 u:r:start callback=4\n27 0 u:r:end callback=4\n",
	  "020-21 /t of n  complete\n022-23 78  complete\n024-25 3  complete\n026-27 other o  complete" },
	{ "table-with-marks", TABLE CALLBACK "name=${symbol[callback]}|${text}\n",
	  "10 0 u:r:register callback=\"\1[0;\" text=\"\1(x\1)\"\n20 0 u:r:start callback=\"\1[0;\" text=\"\1[1;\"\n"
	  "30 0 u:r:end callback=\"\1[0;\"\n",
	  "020-30 \1(x\1)|\1[1;  complete" },
	{ "table-in-a-key", TABLE "if=text != no\n"
	  "[cb]\nbegin=r:start\nend=r:end\nkey=symbol[callback], n\n",
	  "10 0 u:r:register callback=1 text=\"f\"\n11 0 u:r:register callback=2 text=\"f\"\n"
	  "12 0 u:r:register callback=3 text=\"g\"\n13 0 u:r:register callback=4 text=\"no\"\n"
	  "20 0 u:r:start callback=1 n=5\n21 0 u:r:start callback=3 n=5\n22 0 u:r:start callback=4 n=5\n"
	  "30 0 u:r:end callback=2 n=5\n31 0 u:r:end callback=3 n=6\n32 0 u:r:end callback=3 n=5\n"
	  "33 0 u:r:end callback=4 n=5\n",
	  "020-30 cb  complete\n021-32 cb  complete\n022-22 cb  partial\n031-31 cb  partial\n033-33 cb  partial" },
	{ "lost", "[job]\nbegin=u:a\nend=u:b\nkey=id\n",
	  "10 0 u:u:a id=1\n20 0 u:!lost events=3 begin=15 end=20\n30 0 u:u:b id=1\n40 0 u:u:a id=1\n"
	  "50 0 u:u:b id=1\n", "010-30 job  partial\n040-50 job  complete" },
	{ "hosts", "[job]\nbegin=u:a\nend=u:b\nkey=id\n",
	  "10 0 u@one:u:a id=1\n20 0 u@two:u:a id=1\n30 0 u@one:u:b id=1\n40 0 u@two:u:b id=1\n",
	  "010-30 job  complete\n020-40 job  complete" },
};

static void test_made(gconstpointer data)
{
	const struct made *m = data;
	g_autofree char *got = expected(timeline_of(m->rules, m->script));
	g_assert_cmpstr(got, ==, m->expected);
}

/* A hundred spans are open on a thread when the first of them ends: nothing is inside it after that; and another rule's
 * span below them is a parent. */
static void test_deep(void)
{
	g_autoptr(GString) s = g_string_new("5 0 u:o ctx.vtid=7\n");
	unsigned at = 10, n = 100;

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(s, "%u 0 u:a id=%u ctx.vtid=7\n", at++, i);
	g_string_append_printf(s, "%u 0 u:b id=0 ctx.vtid=7\n", at++);
	g_string_append_printf(s, "%u 0 u:e ctx.vtid=7\n", at++);
	g_string_append_printf(s, "%u 0 u:f ctx.vtid=7\n", at++);
	for (unsigned i = n - 1; i; i--)
		g_string_append_printf(s, "%u 0 u:b id=%u ctx.vtid=7\n", at++, i);
	unsigned last = at;
	g_string_append_printf(s, "%u 0 u:c ctx.vtid=7\n%u 0 u:d ctx.vtid=7\n", at, at + 1);
	struct timeline *tl = timeline_of("[outer]\nbegin=o\nend=p\n[job]\nbegin=a\nend=b\nkey=id\n"
					  "[part]\nbegin=c\nend=d\nparent=thread\n"
					  "[sign]\nbegin=e\nend=f\nkey=thread\nparent=outer\n", s->str);
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *of = timeline_span(tl, i);
		if (of->begin_ns == last || g_str_equal(of->name, "sign"))
			g_assert_cmpuint(of->parent_id, ==, id_at(tl, 5, "outer"));
	}
	g_assert_cmpuint(id_at(tl, last, "part"), !=, 0);
	timeline_free(tl);
}

/* A rule says which field of its key the events did not have. */
static void test_keyless(void)
{
	static const struct { const char *rules, *script, *says; } cases[] = {
		{ "[job]\nbegin=u:a\nend=u:b\nkey=id\n", "10 0 u:u:a id=1\n30 0 u:u:b id=1\n", NULL },
		{ "[job]\nbegin=u:a\nend=u:b\nkey=id\n", "10 0 u:u:a id=1\n30 0 u:u:b id=nan\n",
		  "rules:1: [job]: u:b has no field id of its key" },
		{ "[job]\nbegin=u:a\nend=u:b\nkey=id\n", "10 0 u:u:a id=1\n30 0 u:u:b other=1\n",
		  "rules:1: [job]: u:b has no field id of its key" },
		{ "[job]\nbegin=u:a\nend=u:b\nkey=id,n\n", "10 0 u:u:a id=1\n30 0 u:u:b id=1 n=1\n",
		  "rules:1: [job]: u:a has no field n of its key" },
		{ "[job]\nbegin=u:a\nend=u:b\nkey=ctx.vpid\n", "10 0 u:u:a ctx.vpid=1\n30 0 u:u:b\n",
		  "rules:1: [job]: u:b has no field ctx.vpid of its key" },
		{ "[job]\nbegin=u:a\nend=u:b\n", "10 0 u:u:a ctx.vtid=7\n30 0 u:u:b\n",
		  "rules:1: [job]: u:b has no thread of its key" },
		{ "[job]\nbegin=u:a\nend=u:b\n",
		  "5 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
		  "10 0 u:u:a\n30 0 u:u:b\n", NULL },
		{ "[job]\nbegin=u:a\nend=u:b\nkey=id\nend_if=n == 1\n",
		  "10 0 u:u:a id=1\n20 0 u:u:b n=0\n30 0 u:u:b id=1 n=1\n", NULL },
		{ "[job]\nbegin=u:a\nend=u:b\nkey=id\n", "10 0 u:u:a id=1\n", "rules:1: [job]: no u:b" },
		{ "[job]\nend=u:a\nduration=d\n", "10 0 u:u:a d=-2\n",
		  "rules:1: [job]: u:a has no field d of its duration" },
		{ "[job]\nbegin=u:*\nend=v:${1}\nkey=id\n", "10 0 u:u:a id=1\n", "rules:1: [job]: no v:${1}" },
		{ "[job]\nbegin=u:*\nend=v:${1}\nkey=id\n", "10 0 u:u:a id=1\n20 0 u:v:a x=1\n",
		  "rules:1: [job]: v:${1} has no field id of its key" },
		{ "[job]\nbegin=zipkin:*\nend=zipkin:${1}\nkey=a,b,c,d,e,f,g,h\n",
		  "10 0 u:zipkin:timestamp a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1\n", "rules:1: [job]: no room for the fields "
		  "of zipkin:timestamp and others (at most 16 of an event, 8192 events)" },
		{ "[job]\nbegin=u:a\nend=u:b\nkey=id\n[part]\nbegin=u:c\nend=u:d\nkey=n\nparent=job\nparent_key=job\n",
		  "10 0 u:u:a id=1\n20 0 u:u:c n=1\n30 0 u:u:d n=1\n40 0 u:u:b id=1\n",
		  "rules:5: [part]: u:c has no field job of its parent_key" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct rules *r = rules_new();
		g_assert_true(rules_parse(r, "rules", cases[i].rules, strlen(cases[i].rules), false, &error));
		g_assert_true(rules_check(r, &error) && rules_install(r, &error));
		struct timeline *tl = timeline_of_script(cases[i].script, &(struct model_options){ 0 });
		g_autofree char *text = rules_missing_text(rules_n_installed() - 1, tl);
		g_assert_cmpstr(text, ==, cases[i].says);
		timeline_free(tl);
		rules_install(NULL, NULL);
	}
}

/* The counters of a span of the kernel's: from the middle of one call to that of another. */
static void test_explained(void)
{
	struct timeline *tl = timeline_of(
		"[io]\nbegin=block_rq_issue\nend=block_rq_complete\nkey=dev, sector\n",
		"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
		"20 0 syscall_entry_fsync fd=3\n"
		"25 0 block_rq_issue dev=1 sector=8 rwbs=0 nr_sector=8 bytes=4096\n"
		"30 0 sched_switch prev_tid=7 prev_state=2 next_tid=0 prev_comm=\"p\" next_comm=\"s\"\n"
		"60 0 sched_waking tid=7\n"
		"70 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
		"75 0 syscall_exit_fsync ret=0\n"
		"90 0 block_rq_complete dev=1 sector=8 rwbs=0 error=0 nr_sector=8\n"
		"99 0 sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"p\" next_comm=\"s\"\n");
	const struct span *s = timeline_span(tl, 0);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	g_assert_cmpint(s->part[PART_SYSCALL], ==, 10);
	g_assert_cmpint(s->part[PART_DISK], ==, 30);
	g_assert_cmpint(s->part[PART_WAKEUP], ==, 10);
	g_assert_cmpint(s->part[PART_USER], ==, 15);
	g_assert_cmpint(s->part[PART_UNKNOWN], ==, 0);
	g_assert_cmpuint(s->n_waits, ==, 1);
	g_assert_cmpuint(id_at(tl, 25, "io"), ==, s->span_id);
	timeline_free(tl);
}

/* An event tells of the whole span at its end: its thread is explained back to the beginning, wherever that is. */
static void test_explained_back(void)
{
	static const struct {
		unsigned duration;
		int64_t user, syscall, disk, wakeup, unknown;
		unsigned waits, calls;
	} cases[] = {
		{ 10, 10, 0, 0, 0, 0, 0, 0 }, { 15, 15, 0, 0, 0, 0, 0, 0 }, { 20, 15, 5, 0, 0, 0, 0, 0 },
		{ 25, 15, 5, 0, 5, 0, 1, 0 }, { 40, 15, 5, 10, 10, 0, 1, 0 }, { 65, 15, 10, 30, 10, 0, 1, 0 },
		{ 70, 15, 15, 30, 10, 0, 1, 1 }, { 80, 25, 15, 30, 10, 0, 1, 1 }, { 85, 25, 15, 30, 10, 5, 1, 1 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *script = g_strdup_printf(
			"1 1 sched_switch prev_tid=0 prev_state=0 next_tid=8 prev_comm=\"s\" next_comm=\"q\"\n"
			"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
			"20 0 syscall_entry_fsync fd=3\n"
			"30 0 sched_switch prev_tid=7 prev_state=2 next_tid=0 prev_comm=\"p\" next_comm=\"s\"\n"
			"60 1 sched_waking tid=7\n"
			"70 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
			"75 0 syscall_exit_fsync ret=0\n"
			"90 0 u:my:call d=%u ctx.vtid=7 ctx.vpid=7\n"
			"99 0 sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"p\" next_comm=\"s\"\n",
			cases[i].duration);
		struct timeline *tl = timeline_of("[call]\nend=my:call\nduration=d\n", script);
		g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
		const struct span *s = timeline_span(tl, 0);
		g_test_message("%u ns", cases[i].duration);
		g_assert_cmpint(s->part[PART_USER], ==, cases[i].user);
		g_assert_cmpint(s->part[PART_SYSCALL], ==, cases[i].syscall);
		g_assert_cmpint(s->part[PART_DISK], ==, cases[i].disk);
		g_assert_cmpint(s->part[PART_WAKEUP], ==, cases[i].wakeup);
		g_assert_cmpint(s->part[PART_UNKNOWN], ==, cases[i].unknown);
		g_assert_cmpuint(s->n_waits, ==, cases[i].waits);
		g_assert_cmpuint(s->n_calls, ==, cases[i].calls);
		if (s->n_waits)
			g_assert_cmpint(s->waits[0].begin_ns, ==, MAX(90 - (int64_t)cases[i].duration, 30));
		timeline_free(tl);
	}
}

static bool is_named(const void *name, const char *event)
{
	return g_str_equal(name, event);
}

/* Which events make spans: those of handlers that annotate, and of installed rules. */
static void test_events(void)
{
	static const char text[] = "[x]\nbegin=sched_switch\nend=my:end\n";
	static const char *const always[] = { "zipkin:timestamp", "zipkin:keyval", "lttng_ust_cyg_profile:func_entry" };
	static const char *const ruled[] = { "sched_switch", "my:end" };
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();

	for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
		g_assert_true(slice_any_makes_spans(is_named, always[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(ruled); i++)
		g_assert_false(slice_any_makes_spans(is_named, ruled[i]));
	g_assert_true(rules_parse(r, "rules", text, strlen(text), false, &error) && rules_install(r, &error));
	for (size_t i = 0; i < G_N_ELEMENTS(ruled); i++)
		g_assert_true(slice_any_makes_spans(is_named, ruled[i]));
	g_assert_false(slice_any_makes_spans(is_named, "lttng_ust_statedump:bin_info"));
	rules_install(NULL, NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/rules/errors", test_errors);
	g_test_add_func("/rules/link-errors", test_link_errors);
	g_test_add_func("/rules/marked", test_marked);
	g_test_add_func("/presets/errors", test_preset_errors);
	g_test_add_func("/presets/names", test_preset_names);
	g_test_add_func("/presets/choice", test_preset_choice);
	g_test_add_func("/presets/rows", test_preset_rows);
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++) {
		g_autofree char *path = g_strdup_printf("/rules/made/%s", made[i].name);
		g_test_add_data_func(path, &made[i], test_made);
	}
	g_test_add_func("/rules/keyless", test_keyless);
	g_test_add_func("/rules/deep", test_deep);
	g_test_add_func("/rules/events", test_events);
	g_test_add_func("/rules/explained", test_explained);
	g_test_add_func("/rules/explained-back", test_explained_back);
	return g_test_run();
}
