/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses rules and installs them; see rules.h. The parser works line by line, so that an error message has its line.
 */
#include "state/spans/rules.h"

#include "state/kernel/rules_table.h"
#include "state/kernel/subscriptions.h"
#include "state/spans/preset_head.h"
#include "state/spans/rule_links.h"
#include "state/spans/rule_text.h"
#include "state/store/timeline.h"

#include "base/each.h"
#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

#define MARK "span "			/* prefix of a rule's name in files with other groups */
#define TABLE "table "			/* prefix of the name of a table */
#define PRESET "preset "		/* prefix of the group that is a preset's head */
#define ANNOTATION "annotation "	/* prefix of the name of a rule for annotations */

G_DEFINE_QUARK(blk-rules-error-quark, blk_rules_error)

/* State of the parser at one line. */
struct rules_reading {
	struct rules *rules;
	struct rule *rule;		/* the rule that the lines belong to; NULL: none */
	struct preset *preset;		/* that the next rules belong to; NULL: none */
	bool in_head;			/* the lines are of .preset itself */
	const char *file;
	unsigned line;
	bool only_marked;
	uint32_t seen;			/* keys of the rule seen so far: bits, by index in lines[] */
	GError **error;
};

static bool refuse(const struct rules_reading *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool refuse(const struct rules_reading *r, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(r->error, BLK_RULES_ERROR, 0, "%s:%u: %s", r->file, r->line, what);
	return false;
}

/* ---- creation ---- */

static void event_init(struct rule_event *e)
{
	e->fields = g_ptr_array_new_with_free_func(g_free);
	e->links = rule_links_new();
}

static void event_clear(struct rule_event *e)
{
	g_free(e->name);
	g_free(e->glob);
	g_ptr_array_unref(e->fields);
	g_array_unref(e->links);
	expr_free(e->only_if);
	expr_free(e->error_if);
}

static GArray *numbers_new(void)
{
	return g_array_new(false, false, sizeof(guint));
}

static void key_clear(struct rule_key *k)
{
	g_array_unref(k->fields);
	rule_template_clear(&k->looked_up);
}

static void tag_clear(gpointer p)
{
	struct rule_tag *t = p;
	g_free(t->key);
	rule_template_clear(&t->text);
}

static void rule_free(gpointer p)
{
	struct rule *r = p;
	event_clear(&r->begin);
	event_clear(&r->end);
	rule_template_clear(&r->text);
	rule_template_clear(&r->service);
	rule_template_clear(&r->every);
	key_clear(&r->begin_key);
	key_clear(&r->end_key);
	key_clear(&r->parent_key);
	g_array_unref(r->tags);
	g_array_unref(r->looked_tags);
	g_free(r->parent_name);
	g_free(r->name);
	g_free(r->file);
	g_free(r);
}

static void preset_free_any(gpointer p)
{
	preset_free(p);
}

static void table_clear(gpointer p)
{
	struct rule_table *t = p;
	g_free(t->name);
	g_free(t->file);
}

struct rules *rules_new(void)
{
	struct rules *r = g_new0(struct rules, 1);
	r->all = g_ptr_array_new_with_free_func(rule_free);
	r->presets = g_ptr_array_new_with_free_func(preset_free_any);
	r->tables = g_array_new(false, false, sizeof(struct rule_table));
	g_array_set_clear_func(r->tables, table_clear);
	r->digest = g_checksum_new(G_CHECKSUM_SHA256);
	return r;
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	g_ptr_array_unref(r->all);
	g_ptr_array_unref(r->presets);
	g_array_unref(r->tables);
	g_checksum_free(r->digest);
	g_free(r);
}

size_t rules_n(const struct rules *r)
{
	return r->all->len;
}

GPtrArray *rules_take_presets(struct rules *r)
{
	GPtrArray *presets = r->presets;

	r->presets = g_ptr_array_new_with_free_func(preset_free_any);
	return presets;
}

/* ---- fields ---- */

static bool add_field(const struct rules_reading *r, struct rule_event *e, GArray *to, const char *name)
{
	int i = rule_field(e, name);
	guint number = (guint)MAX(i, 0);
	if (i >= 0)
		g_array_append_val(to, number);
	return i >= 0 || refuse(r, "'%s' is not a field name", name);
}

static struct rule_names names_of(const struct rules_reading *r, struct rule_event *e)
{
	return (struct rule_names){ r->rules, r->preset, e, r->file };
}

/* A tag from a table has the table's name. */
static bool add_looked_tag(const struct rules_reading *r, struct rule_event *e, const char *text)
{
	const struct rule_names names = names_of(r, e);
	struct rule_tag tag = { .key = g_strndup(text, strcspn(text, "[")) };
	g_autofree char *why = rule_template_add(&names, &tag.text, text);
	g_array_append_val(r->rule->looked_tags, tag);
	return !why || refuse(r, "%s", why);
}

static bool read_tags(const struct rules_reading *r, struct rule_event *e, const char *text)
{
	g_auto(GStrv) tags = rule_list(text);
	for (char **n = tags; *n; n++) {
		const char *name = g_strstrip(*n);
		if (!(rule_is_lookup(name) ? add_looked_tag(r, e, name) : add_field(r, e, r->rule->tags, name)))
			return false;
	}
	return true;
}

static bool add_looked_key(const struct rules_reading *r, struct rule_event *e, struct rule_key *k, const char *text)
{
	const struct rule_names names = names_of(r, e);
	if (r->rule->defines || k == &r->rule->parent_key)
		return refuse(r, "'%s': the key of a %s has no entries of tables", text,
			      r->rule->defines ? "table" : "parent");
	k->n_looked_up++;
	g_autofree char *why = rule_template_add(&names, &k->looked_up, text);
	return !why || refuse(r, "%s", why);
}

static bool read_key(const struct rules_reading *r, struct rule_event *e, struct rule_key *k, const char *text)
{
	g_auto(GStrv) names = rule_list(text);
	g_array_set_size(k->fields, 0);
	rule_template_clear(&k->looked_up);
	k->n_looked_up = 0;
	k->given = true;
	k->by_thread = false;
	for (char **n = names; *n; n++) {
		const char *name = g_strstrip(*n);
		if (g_str_equal(name, "thread"))
			k->by_thread = true;
		else if (rule_is_lookup(name) ? !add_looked_key(r, e, k, name) :
			 !g_str_equal(name, "host") && !add_field(r, e, k->fields, name))
			return false;
	}
	return true;
}

/* ---- what each line means ---- */

/* Reads a pattern: '*' and ${1} to ${4} are stars. */
static bool take_event(const struct rules_reading *r, struct rule_event *e, bool begins, const char *text)
{
	g_autoptr(GString) glob = g_string_new(NULL);
	const char *rest = text;
	e->n_stars = 0;
	while (*rest) {
		size_t n = strcspn(rest, "*$");
		g_string_append_len(glob, rest, (gssize)n);
		rest += n;
		if (!*rest)
			break;
		bool named = g_str_has_prefix(rest, "${") && rest[2] >= '1' && rest[2] < '1' + RULE_STARS &&
			     rest[3] == '}';
		if (*rest == '$' && (!named || begins))
			return refuse(r, "'%s': %s", text, begins ? "only end= can have ${1}" :
				      "after '$' comes {1}, {2}, {3} or {4}");
		if (e->n_stars == RULE_STARS)
			return refuse(r, "'%s' has more than %d stars", text, RULE_STARS);
		uint8_t number = (uint8_t)(begins ? e->n_stars + 1 : named ? rest[2] - '0' : 0);
		if (number && memchr(e->star, number, e->n_stars))
			return refuse(r, "'%s' has ${%d} twice", text, number);
		e->star[e->n_stars++] = number;
		g_string_append_c(glob, '*');
		rest += named ? 4 : 1;
	}
	g_free(e->name);
	g_free(e->glob);
	e->name = g_strdup(text);
	e->glob = g_strdup(glob->str);
	return true;
}

static bool take_begin(const struct rules_reading *r, const char *text)
{
	return take_event(r, &r->rule->begin, true, text);
}

static bool take_end(const struct rules_reading *r, const char *text)
{
	return take_event(r, &r->rule->end, false, text);
}

static int look_up(const char *column, const void *event)
{
	return rule_field((struct rule_event *)event, column);
}

static bool take_expr(const struct rules_reading *r, struct rule_event *e, struct expr **to, const char *text)
{
	g_autoptr(GError) why = NULL;
	expr_free(*to);
	*to = expr_parse(text, look_up, NULL, e, 0, &why);
	return *to || refuse(r, "%s", why->message);
}

static bool take_begin_if(const struct rules_reading *r, const char *text)
{
	return take_expr(r, &r->rule->begin, &r->rule->begin.only_if, text);
}

static bool take_end_if(const struct rules_reading *r, const char *text)
{
	return take_expr(r, &r->rule->end, &r->rule->end.only_if, text);
}

static bool take_error_if(const struct rules_reading *r, const char *text)
{
	return take_expr(r, &r->rule->end, &r->rule->end.error_if, text);
}

static bool take_begin_key(const struct rules_reading *r, const char *text)
{
	return read_key(r, &r->rule->begin, &r->rule->begin_key, text);
}

static bool take_end_key(const struct rules_reading *r, const char *text)
{
	return read_key(r, &r->rule->end, &r->rule->end_key, text);
}

static bool take_key(const struct rules_reading *r, const char *text)
{
	return take_begin_key(r, text) && take_end_key(r, text);
}

static bool take_parent_key(const struct rules_reading *r, const char *text)
{
	return read_key(r, &r->rule->begin, &r->rule->parent_key, text);
}

static bool take_template(const struct rules_reading *r, struct rule_template *t, const char *text)
{
	const struct rule_names names = names_of(r, &r->rule->begin);
	g_autofree char *why = rule_template_read(&names, t, text);
	return !why || refuse(r, "%s", why);
}

static bool take_name(const struct rules_reading *r, const char *text)
{
	return take_template(r, &r->rule->text, text);
}

static bool take_service(const struct rules_reading *r, const char *text)
{
	return take_template(r, &r->rule->service, text);
}

static bool take_every(const struct rules_reading *r, const char *text)
{
	return take_template(r, &r->rule->every, text);
}

static bool take_links(const struct rules_reading *r, struct rule_event *e, bool out, const char *text)
{
	const struct rule_names names = names_of(r, e);
	g_autofree char *wrong = rule_links_take(&names, out, text);
	return !wrong || refuse(r, "%s", wrong);
}

static bool take_link_out(const struct rules_reading *r, const char *text)
{
	return take_links(r, &r->rule->begin, true, text);
}

static bool take_link_in(const struct rules_reading *r, const char *text)
{
	return take_links(r, &r->rule->begin, false, text);
}

static bool take_end_link_out(const struct rules_reading *r, const char *text)
{
	return take_links(r, &r->rule->end, true, text);
}

static bool take_end_link_in(const struct rules_reading *r, const char *text)
{
	return take_links(r, &r->rule->end, false, text);
}

static bool take_parent(const struct rules_reading *r, const char *text)
{
	bool thread = g_str_equal(text, "thread"), link = g_str_equal(text, "link");
	r->rule->parent = thread ? PARENT_THREAD : link ? PARENT_LINK : PARENT_RULE;
	g_free(r->rule->parent_name);
	r->rule->parent_name = thread || link ? NULL : g_strdup(text);
	return true;
}

static bool take_yes(const struct rules_reading *r, const char *key, const char *text, bool *to)
{
	*to = g_str_equal(text, "yes");
	return *to || g_str_equal(text, "no") || refuse(r, "%s takes yes or no, not '%s'", key, text);
}

static bool take_nested(const struct rules_reading *r, const char *text)
{
	return take_yes(r, "nested", text, &r->rule->nested);
}

static bool take_async(const struct rules_reading *r, const char *text)
{
	return take_yes(r, "async", text, &r->rule->async);
}

static bool take_tags(const struct rules_reading *r, const char *text)
{
	g_array_set_size(r->rule->tags, 0);
	g_array_set_size(r->rule->looked_tags, 0);
	return read_tags(r, &r->rule->begin, text);
}

/* A field, or ${field}, as texts of stars are written. */
static bool take_severity(const struct rules_reading *r, const char *text)
{
	struct rule_severity *s = &r->rule->severity;
	size_t n = strlen(text);
	bool braced = g_str_has_prefix(text, "${") && text[n - 1] == '}';
	g_autofree char *name = braced ? g_strndup(text + 2, n - 3) : g_strdup(text);
	int i = rule_field(&r->rule->begin, g_strstrip(name));
	s->has_field = i >= 0;
	s->field = (guint)MAX(i, 0);
	return s->has_field || refuse(r, "'%s' is not a field name", text);
}

static bool take_scale(const struct rules_reading *r, const char *text)
{
	struct rule_severity *s = &r->rule->severity;
	for (unsigned i = 0; i < SEVERITY_SCALES; i++)
		if (g_str_equal(severity_scale_name[i], text)) {
			s->has_scale = true;
			s->scale = (enum severity_scale)i;
			return true;
		}
	return refuse(r, "'%s' is no scale: there are jul, log4j2, python, lttng and syslog", text);
}

static bool take_scope(const struct rules_reading *r, const char *text)
{
	r->rule->by_host = g_str_equal(text, "host");
	return r->rule->by_host || g_str_equal(text, "process") ||
	       refuse(r, "scope takes process or host, not '%s'", text);
}

static bool take_duration(const struct rules_reading *r, const char *text)
{
	r->rule->at_once = g_str_equal(text, "0");
	int i = r->rule->at_once ? 0 : rule_field(&r->rule->begin, text);
	r->rule->is_whole = i >= 0;
	r->rule->duration = (guint)MAX(i, 0);
	return i >= 0 || refuse(r, "'%s' is not a field name", text);
}

static bool take_unit(const struct rules_reading *r, const char *text)
{
	static const struct { const char *name; int64_t ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (g_str_equal(units[i].name, text)) {
			r->rule->unit = units[i].ns;
			return true;
		}
	return refuse(r, "unit takes ns, us, ms or s, not '%s'", text);
}

/* WHOLE: beside those, groups with duration= have it. */
enum line_of { OF_SPANS = 1, OF_ANNOTATIONS = 2, OF_TABLES = 4, OF_WHOLE = 8 };

static const struct {
	const char *key;
	bool (*take)(const struct rules_reading *, const char *);
	unsigned of;			/* bits of enum line_of: the groups that have the line */
} lines[] = {
	{ "begin", take_begin, OF_SPANS }, { "end", take_end, OF_SPANS | OF_WHOLE },
	{ "begin_if", take_begin_if, OF_SPANS }, { "end_if", take_end_if, OF_SPANS | OF_WHOLE },
	{ "error_if", take_error_if, OF_SPANS | OF_WHOLE }, { "key", take_key, OF_SPANS },
	{ "begin_key", take_begin_key, OF_SPANS }, { "end_key", take_end_key, OF_SPANS },
	{ "name", take_name, OF_SPANS | OF_WHOLE }, { "service", take_service, OF_SPANS | OF_WHOLE },
	{ "parent", take_parent, OF_SPANS | OF_WHOLE },
	{ "parent_key", take_parent_key, OF_SPANS }, { "nested", take_nested, OF_SPANS },
	{ "async", take_async, OF_SPANS }, { "tags", take_tags, OF_SPANS | OF_ANNOTATIONS | OF_WHOLE },
	{ "event", take_begin, OF_ANNOTATIONS | OF_TABLES }, { "if", take_begin_if, OF_ANNOTATIONS | OF_TABLES },
	{ "text", take_name, OF_ANNOTATIONS }, { "severity", take_severity, OF_ANNOTATIONS },
	{ "scale", take_scale, OF_ANNOTATIONS },
	{ "key", take_begin_key, OF_TABLES }, { "value", take_name, OF_TABLES }, { "scope", take_scope, OF_TABLES },
	{ "link_out", take_link_out, OF_SPANS }, { "link_in", take_link_in, OF_SPANS },
	{ "end_link_out", take_end_link_out, OF_SPANS | OF_WHOLE },
	{ "end_link_in", take_end_link_in, OF_SPANS | OF_WHOLE },
	{ "every", take_every, OF_SPANS },
	{ "duration", take_duration, OF_SPANS | OF_WHOLE }, { "unit", take_unit, OF_SPANS | OF_WHOLE },
};
G_STATIC_ASSERT(G_N_ELEMENTS(lines) <= 32);	/* bits of rules_reading.seen */

static unsigned group_of(const struct rule *r)
{
	return r->defines ? OF_TABLES : r->annotates ? OF_ANNOTATIONS : OF_SPANS;
}

/* ---- parsing ---- */

/* A rule for spans, by its name in the preset, or in the files without one. */
static struct rule *find_rule(const struct rules *rules, const struct preset *preset, const char *name)
{
	PTR_EACH(struct rule, r, rules->all)
		if (!r->defines && r->preset == preset && g_str_equal(r->name, name))
			return r;
	return NULL;
}

/* The first ${N} of the event for which its own pattern, or the begin event's, has no star; 0: none. */
static unsigned missing_star(const struct rule *rule, const struct rule_event *e)
{
	for (unsigned i = 0; i < e->n_stars; i++)
		if (e->star[i] > rule->begin.n_stars)
			return e->star[i];
	PTR_EACH(const char, field, e->fields)
		if (g_ascii_isdigit(*field) && (field[1] || *field < '1' || *field > '0' + RULE_STARS ||
						!memchr(e->star, *field - '0', e->n_stars)))
			return (unsigned)atoi(field) ?: G_MAXUINT;
	return 0;
}

/* The table of the rule's name is defined by this rule, too. */
static bool check_table(const struct rules_reading *at, const struct rule *rule)
{
	struct rule_table *t = &g_array_index(at->rules->tables, struct rule_table, rule->table);
	const char *missing = !rule->begin.name ? "event" : !rule->begin_key.fields->len ? "key" :
			      !rule->text.texts ? "value" : NULL;
	if (missing)
		return refuse(at, "[table %s] has no %s", rule->name, missing);
	if (rule->begin_key.by_thread)
		return refuse(at, "[table %s]: its key is made of fields, not of the thread", rule->name);
	t->rule = t->rule ?: rule;
	return t->rule->by_host == rule->by_host ||
	       refuse(at, "[table %s]: scope= is not that of line %u", rule->name, t->rule->line);
}

/* A rule with duration=: the event of end= is the whole span. */
static bool check_whole(const struct rules_reading *at, struct rule *rule)
{
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		if (at->seen & 1u << i && !(lines[i].of & OF_WHOLE))
			return refuse(at, "[%s]: a rule with duration= has no %s=", rule->name, lines[i].key);
	if (rule->parent == PARENT_RULE || rule->parent == PARENT_LINK)
		return refuse(at, "[%s]: a rule with duration= has parent=thread, or none", rule->name);
	if (!rule->end.name)
		return refuse(at, "[%s] has no end", rule->name);
	struct rules_reading of = *at;
	of.rule = rule;
	if (!rule->at_once)
		rule->unit = rule->unit ?: 1;
	return take_event(&of, &rule->begin, true, rule->end.name);
}

/* Errors about the rule as a whole have the line of its header, not the line where the rule ended. */
static bool check_rule(const struct rules_reading *reading, struct rule *rule)
{
	struct rules_reading at = *reading;
	if (!rule)
		return true;
	at.line = rule->line;
	if (rule->defines)
		return check_table(&at, rule);
	if (rule->is_whole && !check_whole(&at, rule))
		return false;
	if (rule->unit && (!rule->is_whole || rule->at_once))
		return refuse(&at, "[%s]: unit= needs duration=", rule->name);
	if (!rule->begin.name || (!rule->end.name && !rule->annotates))
		return refuse(&at, "[%s] has no %s", rule->name, rule->annotates ? "event" :
			      rule->begin.name ? "end" : "begin");
	if (rule->severity.has_field != rule->severity.has_scale)
		return refuse(&at, "[%s]: severity= and scale= belong together", rule->name);
	const struct rule_event *const sides[] = { &rule->begin, &rule->end };
	for (size_t i = 0; i < G_N_ELEMENTS(sides); i++) {
		unsigned number = missing_star(rule, sides[i]);
		if (number)
			return refuse(&at, "[%s]: there is no ${%u}: %s=%s has no such star", rule->name, number,
				      rule->annotates ? "event" : i ? "end" : "begin", sides[i]->name);
	}
	if (rule->begin_key.fields->len != rule->end_key.fields->len ||
	    rule->begin_key.n_looked_up != rule->end_key.n_looked_up ||
	    rule->begin_key.by_thread != rule->end_key.by_thread)
		return refuse(&at, "[%s]: begin_key and end_key name different numbers of fields", rule->name);
	if (rule->parent_key.given && rule->parent != PARENT_RULE)
		return refuse(&at, "[%s]: parent_key needs parent=RULE", rule->name);
	if (rule->parent == PARENT_LINK && !rule_takes(&rule->begin))
		return refuse(&at, "[%s]: parent=link needs link_in=NAME(FIELD, ...)", rule->name);
	return true;
}

static bool begin_preset(struct rules_reading *r, const char *name)
{
	if (!*name || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") < strlen(name))
		return refuse(r, "[preset %s]: a name has small letters, digits, '-' and '_'", name);
	PTR_EACH(const struct preset, p, r->rules->presets)
		if (g_str_equal(p->name, name))
			return refuse(r, "[preset %s]: there is a preset of this name already", name);
	r->preset = preset_new(name, r->file, r->line);
	r->in_head = true;
	g_ptr_array_add(r->rules->presets, r->preset);
	return true;
}

/* At the end of a group. */
static bool check_group(const struct rules_reading *r)
{
	struct rules_reading at = *r;
	g_autofree char *missing = r->in_head ? preset_lacks(r->preset) : NULL;

	at.line = missing ? r->preset->line : r->line;
	return missing ? refuse(&at, "%s", missing) : check_rule(r, r->rule);
}

static bool begin_group(struct rules_reading *r, const char *name)
{
	bool defines = g_str_has_prefix(name, TABLE), annotates = g_str_has_prefix(name, ANNOTATION);
	bool marked = defines || annotates || g_str_has_prefix(name, MARK);
	const char *prefix = defines ? TABLE : annotates ? ANNOTATION : marked ? MARK : "";
	if (!check_group(r))
		return false;
	r->rule = NULL;
	r->in_head = false;
	if (!marked && r->only_marked)
		return true;
	if (g_str_has_prefix(name, PRESET))
		return begin_preset(r, name + strlen(PRESET));
	g_autofree char *plain = g_strstrip(g_strdup(name + strlen(prefix)));
	if (!*plain || g_str_equal(plain, "thread") || g_str_equal(plain, "link"))
		return refuse(r, "[%s]: a rule needs a name other than 'thread' and 'link'", name);
	if (!defines && find_rule(r->rules, r->preset, plain))
		return refuse(r, "[%s]: there is a rule of this name already", plain);
	if (r->rules->all->len >= LIMIT_RULES)
		return refuse(r, "[%s]: there are more than %d rules", plain, LIMIT_RULES);
	struct rule *rule = r->rule = g_new0(struct rule, 1);
	rule->name = g_strdup(plain);
	rule->file = g_strdup(r->file);
	rule->line = r->line;
	rule->preset = r->preset;
	rule->id = r->preset ? rule_hash(1, r->preset->name, strlen(r->preset->name)) : 1;
	rule->annotates = annotates;
	if (r->preset && !annotates && !defines)
		r->preset->makes_spans = true;
	rule->defines = defines;
	rule->table = defines ? rule_table_number(r->rules, r->preset, plain, r->file) : 0;
	r->seen = 0;
	event_init(&rule->begin);
	event_init(&rule->end);
	struct rule_key *const keys[] = { &rule->begin_key, &rule->end_key, &rule->parent_key };
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		*keys[i] = (struct rule_key){ .by_thread = true, .fields = numbers_new() };
	rule->tags = numbers_new();
	rule->looked_tags = g_array_new(false, false, sizeof(struct rule_tag));
	g_array_set_clear_func(rule->looked_tags, tag_clear);
	g_ptr_array_add(r->rules->all, rule);
	return true;
}

static bool take_line(struct rules_reading *r, char *line)
{
	g_strstrip(line);
	size_t len = strlen(line);
	if (!len || *line == '#')
		return true;
	if (*line == '[') {
		if (line[len - 1] != ']')
			return refuse(r, "'%s' is not a [GROUP]", line);
		line[len - 1] = '\0';
		return begin_group(r, line + 1);
	}
	if (!r->rule && !r->in_head)
		return r->only_marked || refuse(r, "'%s' comes before the first [RULE]", line);
	char *value = strchr(line, '=');
	if (!value)
		return refuse(r, "'%s' is neither [RULE] nor KEY=VALUE", line);
	*value++ = '\0';
	g_strstrip(line);
	g_strstrip(value);
	if (!*value)
		return refuse(r, "%s= has no value", line);
	if (r->in_head) {
		g_autofree char *wrong = preset_take(r->preset, line, value);
		return !wrong || refuse(r, "%s", wrong);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		if (!g_str_equal(lines[i].key, line) || !(lines[i].of & group_of(r->rule)))
			continue;
		if (r->seen & 1u << i)
			return refuse(r, "[%s] has %s= already", r->rule->name, line);
		r->seen |= 1u << i;
		return lines[i].take(r, value);
	}
	return refuse(r, "%s has no '%s'", r->rule->defines ? "a table" : r->rule->annotates ? "an annotation" :
		      "a rule", line);
}

bool rules_parse(struct rules *rules, const char *file, const char *text, size_t len,
		 bool only_marked, GError **error)
{
	struct rules_reading r = { .rules = rules, .file = file, .only_marked = only_marked, .error = error };
	const char *end = text + len;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		r.line++;
		if (!r.only_marked || r.rule || n <= LIMIT_RULE_LINE_BYTES) {
			if (n > LIMIT_RULE_LINE_BYTES)
				return refuse(&r, "the line is too long");
			g_autofree char *line = g_strndup(text, n);
			bool valid = !memchr(text, '\0', n) && g_utf8_validate(line, -1, NULL);
			if (!valid && (!r.only_marked || r.rule))
				return refuse(&r, "the line is not text");
			if (valid && !take_line(&r, line))
				return false;
			if (r.rule)
				r.rule->id = rule_hash(r.rule->id, line, n);
			if (r.rule || r.preset)
				g_checksum_update(rules->digest, (const guchar *)line, (gssize)n + 1);
		}
		text += n + 1;
	}
	return check_group(&r);
}

/* Must the begin and the end event match the same texts? */
static bool is_paired(const struct rule *r)
{
	for (unsigned i = 0; i < r->end.n_stars; i++)
		if (r->end.star[i])
			return true;
	return false;
}

/* Is each table defined that a rule of the file or preset uses? */
static bool check_tables(const struct rules *rules, GError **error)
{
	ARRAY_EACH(const struct rule_table, t, rules->tables) {
		if (t->rule)
			continue;
		g_set_error(error, BLK_RULES_ERROR, 0, "%s: there is no [table %s]", t->file, t->name);
		return false;
	}
	return true;
}

bool rules_check(const struct rules *rules, GError **error)
{
	if (!check_tables(rules, error))
		return false;
	PTR_EACH(struct rule, r, rules->all) {
		struct rules_reading at = { .file = r->file, .line = r->line, .error = error };
		struct rule *parent = r->parent == PARENT_RULE ? find_rule(rules, r->preset, r->parent_name) :
				      NULL;
		if (r->parent != PARENT_RULE)
			continue;
		if (!parent || parent->annotates)
			return refuse(&at, "[%s]: its parent '%s' is not a rule%s", r->name, r->parent_name,
				      parent ? " for spans" : "");
		guint n;
		g_ptr_array_find(rules->all, parent, &n);
		r->parent_rule = n;
		bool unnameable = is_paired(parent) || parent->begin_key.n_looked_up;
		r->parent_on_thread = !r->parent_key.given && (parent->begin_key.fields->len || unnameable);
		if (r->parent_on_thread && parent->async)
			return refuse(&at, "[%s]: its parent %s is async: parent_key must name the key", r->name,
				      parent->name);
		if (r->parent_on_thread)
			continue;
		if (unnameable)
			return refuse(&at, "[%s]: the events of its parent %s are paired by texts of stars or by "
				      "tables, which a key cannot name: leave parent_key out", r->name, parent->name);
		if (r->parent_key.fields->len != parent->begin_key.fields->len)
			return refuse(&at, "[%s]: parent_key names %u fields, the key of %s has %u",
				    r->name, r->parent_key.fields->len, parent->name,
				    parent->begin_key.fields->len);
		r->parent_key.by_thread = parent->begin_key.by_thread;
	}
	return true;
}

/* ---- installed rules ---- */

bool rules_install(struct rules *r, GError **error)
{
	const char *event;
	size_t n;

	rules_free(rules_put(r));
	slice_subscriptions(&n);
	const struct rule *full = rules_full(&event);
	if (!full)
		return true;
	g_set_error(error, BLK_RULES_ERROR, 0, "%s:%u: [%s]: at most %d fields of an event can be read, "
		    "and the rules use more of %s", full->file, full->line, full->name, BLK_MAX_FIELDS, event);
	rules_install(NULL, NULL);
	return false;
}

const char *rules_digest(void)
{
	return rules_installed() ? g_checksum_get_string(rules_installed()->digest) : "";
}

size_t rules_n_installed(void)
{
	return rules_installed() ? rules_n(rules_installed()) : 0;
}

bool rules_any_absent(const struct timeline *tl)
{
	return timeline_has_event(tl, RULES_ABSENT_CLASS);
}

static bool matches_event(const char *event, const void *e)
{
	return rule_event_matches(e, event, NULL);
}

/* Has the trace an event that the rule takes? */
static bool is_met(const struct timeline *tl, const struct rule_event *e)
{
	if (!e->glob)
		return false;
	return e->n_stars ? timeline_any_event(tl, matches_event, e) : timeline_has_event(tl, e->name);
}

static bool any_matches(const struct rule_event *e, const char *const *events)
{
	for (; *events; events++)
		if (rule_event_matches(e, *events, NULL))
			return true;
	return false;
}

bool rules_any_met(const char *const *events)
{
	for (size_t i = 0; i < rules_n_installed(); i++) {
		const struct rule *r = rule_at((unsigned)i);
		if (r->annotates)
			continue;
		if (!r->preset || any_matches(&r->begin, events) || any_matches(&r->end, events))
			return true;
	}
	return false;
}

size_t rules_n_own(void)
{
	size_t n = 0;
	for (size_t i = 0; i < rules_n_installed(); i++)
		n += !rule_at((unsigned)i)->preset;
	return n;
}

static void add_keyless(GString *text, const struct rule *r, const struct rule_event *e, const char *field,
			const char *key, const struct timeline *tl)
{
	g_autofree char *name = rule_keyless_name(r, e, field);

	if (timeline_has_event(tl, name))
		g_string_append_printf(text, "%s%s has no %s%s of its %s", text->len ? ", " : "", e->name,
				       strcmp(field, RULE_THREAD) ? "field " : "", field, key);
}

/* Appends what of the key events did not have. */
static void add_key(GString *text, const struct rule *r, const struct rule_event *e, const struct rule_key *k,
		    const char *key, const struct timeline *tl)
{
	if (k->by_thread && !timeline_has_event(tl, "sched_switch"))
		add_keyless(text, r, e, RULE_THREAD, key, tl);
	for (guint i = 0; i < k->fields->len; i++)
		add_keyless(text, r, e, g_ptr_array_index(e->fields, g_array_index(k->fields, guint, i)), key, tl);
}

static void add_table_notes(GString *text, const struct rule *r, const struct timeline *tl)
{
	g_autofree char *unknown = rule_table_note(r, RULE_TABLE_UNKNOWN), *full = rule_table_note(r, RULE_TABLE_FULL);

	if (!r->defines || g_array_index(rules_installed()->tables, struct rule_table, r->table).rule != r)
		return;
	if (timeline_has_event(tl, unknown))
		g_string_append_printf(text, "%ssome entries that names need are unknown: they were defined before the "
				       "trace began, or never", text->len ? ", " : "");
	if (timeline_has_event(tl, full))
		g_string_append_printf(text, "%smore than %d definitions: the oldest were forgotten",
				       text->len ? ", " : "", LIMIT_TABLE_ENTRIES);
}

/* Appends what of its links the event did not have, and whether messages may have been evicted. */
static void add_link_keys(GString *text, const struct rule *r, const struct rule_event *e, const struct timeline *tl)
{
	g_autofree char *evicted = rule_keyless_name(r, e, RULE_LINK_OUT);

	ARRAY_EACH(const struct rule_link, l, e->links)
		add_key(text, r, e, &l->key, l->out ? "link_out" : "link_in", tl);
	if (timeline_has_event(tl, evicted))
		g_string_append_printf(text, "%s%s took messages that are not among the newest %d of link_out",
				       text->len ? ", " : "", e->name, LIMIT_LINK_OUTS);
}

char *rules_missing_text(size_t i, const struct timeline *tl)
{
	const struct rule *r = rule_at((unsigned)i);
	const struct rule_event *const events[] = { &r->begin, &r->end };
	g_autoptr(GString) text = g_string_new(NULL);

	/* Of a preset, a program has the events of some rules, depending on its version and what it uses. */
	if (r->preset && !is_met(tl, &r->begin))
		return NULL;
	for (size_t e = 0; e < G_N_ELEMENTS(events); e++)
		if (events[e]->glob && !is_met(tl, events[e]))
			g_string_append_printf(text, "%sno %s", text->len ? ", " : "", events[e]->name);
	add_key(text, r, &r->begin, &r->begin_key, "key", tl);
	add_key(text, r, &r->end, &r->end_key, "key", tl);
	if (r->parent == PARENT_RULE)
		add_key(text, r, &r->begin, &r->parent_key, "parent_key", tl);
	if (r->is_whole && !r->at_once)
		add_keyless(text, r, &r->end, g_ptr_array_index(r->begin.fields, r->duration), "duration", tl);
	add_table_notes(text, r, tl);
	for (size_t e = 0; e < G_N_ELEMENTS(events) && !r->preset; e++)	/* as above: versions have different fields */
		add_link_keys(text, r, events[e], tl);
	g_autofree char *crowded = rules_crowded((unsigned)i);
	if (crowded)
		g_string_append_printf(text, "%sno room for the fields of %s (at most %d of an event, %d events)",
				       text->len ? ", " : "", crowded, BLK_MAX_FIELDS, LIMIT_RULE_CLASSES);
	return text->len ? g_strdup_printf("%s:%u: [%s]: %s", r->file, r->line, r->name, text->str) : NULL;
}
