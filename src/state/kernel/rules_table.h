/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules for spans (state/spans/rules.h) as handlers and pairing read them, and the subscription table with the
 * events and fields that they need. One set of rules is installed in the process. Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_RULES_TABLE_H
#define BLK_STATE_KERNEL_RULES_TABLE_H

#include "base/expr.h"
#include "state/store/severity.h"
#include "trace/event.h"

#define RULE_NEEDS "spans, by a rule"
#define RULE_PAYLOAD "payload."	/* prefix of a field: it is one of the payload, whatever its name is */
#define RULE_STARS 4			/* in the pattern of an event's name */

/* Not slots: texts of the class that has the row: the event's own name, then those that the stars of the pattern
 * matched; the event's CPU; no value, as the row has no room for the field. */
enum { SLOT_EVENT = 248, SLOT_STAR1, SLOT_CPU = SLOT_STAR1 + RULE_STARS, SLOT_ABSENT };
#define RULE_NO_KEY 0			/* the event has no value for a field of its key */

struct rule_template {			/* text, field, text, field, ... text */
	bool looks_up;			/* the texts have marks, and values are written for them */
	GPtrArray *texts;		/* char *, one more than fields */
	GArray *fields;			/* guint: index in the begin event's fields */
};

struct rule_key {
	bool given, by_thread;
	struct rule_template looked_up;	/* the parts of it that name entries of tables; .texts NULL: none */
	guint n_looked_up;		/* how many these are */
	GArray *fields;			/* guint: index in the event's fields, in order */
};

/* One link that an event sends or takes: NAME(field, ${text}, ...). */
struct rule_link {
	char *name;
	bool out;			/* link_out; else link_in */
	bool by_host;			/* the key has the field host */
	struct rule_key key;		/* .by_thread is false */
	struct rule_template text;	/* the texts of the key, a LOOKUP_BETWEEN behind each; .texts NULL: none */
};

/* The events that one side of a rule takes, and the fields that it reads. */
struct rule_event {
	char *name;			/* as in the rule: "cuda:*_entry", "cuda:${1}_exit"; NULL: not given */
	char *glob;			/* the same with '*' for each ${N}; NULL: it takes no event */
	uint8_t n_stars;
	uint8_t star[RULE_STARS];	/* for each star of the glob: its number, from 1; 0: it has none */
	GPtrArray *fields;		/* char *: "fd", "ctx.vpid", "cpu", "event", "1" */
	struct expr *only_if, *error_if;	/* over columns of .fields; or NULL */
	GArray *links;			/* struct rule_link */
};

/* How a rule uses the events of a row. */
struct rule_use {
	guint rule;			/* number of the rule */
	uint64_t pair;			/* hash of the texts of stars that begin and end share; 0: they share none */
	uint8_t *slots;			/* for each of the fields: enum blk_slot, or SLOT_* */
	char *text[1 + RULE_STARS];	/* of SLOT_EVENT and of SLOT_STAR1 ...; NULL: there is no such star */
};

enum rule_parent { PARENT_NONE, PARENT_THREAD, PARENT_RULE, PARENT_LINK };

/*
 * Marks in the texts of a template that uses tables, and so in texts of annotations until lookups.h replaces them:
 * ${symbol[callback]|callback} is FIRST TABLE "ID;" callback END OR callback END; the id of the table is in base 16.
 */
#define LOOKUP_MARK '\1'		/* comes before each */
enum { LOOKUP_TABLE = '[', LOOKUP_END = ']', LOOKUP_FIRST = '(', LOOKUP_OR = '|', LOOKUP_AND = ',',
       LOOKUP_LITERAL = '!',		/* LOOKUP_MARK itself, in a text of the trace */
       LOOKUP_NONE = '?' };		/* the event has no value for a field */
#define LOOKUP_BETWEEN '\x1f'		/* between the parts of a key, once it is resolved */
#define LOOKUP_DEPTH 8			/* of tables in keys of tables */
/* Bits of annot.looks_up. KEY: .val is a part of the key .trace; TEXT: .key of an annotation of a log */
enum { LOOKS_UP_NAME = 1, LOOKS_UP_SERVICE = 2, LOOKS_UP_VALUE = 4, LOOKS_UP_KEY = 8, LOOKS_UP_TEXT = 16 };

struct rule_severity {
	bool has_field, has_scale;
	guint field;			/* index in the event's fields */
	enum severity_scale scale;
};

struct rule_tag {
	char *key;
	struct rule_template text;
};

struct rule {
	char *name, *file;
	unsigned line;
	uint64_t id;			/* of its lines and its preset's name */
	const struct preset *preset;	/* that it is a rule of (state/spans/presets.h); NULL: none */
	struct rule_event begin, end;
	struct rule_key begin_key, end_key, parent_key;	/* .parent_key: fields of the begin event */
	struct rule_template text, service, every;	/* .texts NULL: not given */
	GArray *tags;			/* guint: fields of the begin event */
	GArray *looked_tags;		/* struct rule_tag: entries of tables */
	enum rule_parent parent;
	char *parent_name;		/* PARENT_RULE */
	unsigned parent_rule;
	bool parent_on_thread;		/* PARENT_RULE: its innermost open span of the thread, whatever its key is */
	bool nested;
	bool is_whole;			/* one event is a whole span: .begin is the same event as .end */
	bool at_once;			/* .is_whole: it takes no time */
	guint duration;			/* else: index in its fields of how long the span took ... */
	int64_t unit;			/* ... in units of so many ns */
	bool annotates;			/* it makes no spans: its events (.begin) are annotations with the text .text */
	struct rule_severity severity;	/* of its annotations */
	bool defines;			/* a table: its events (.begin) define .begin_key as .text */
	bool by_host;			/* a table that processes of a host share */
	unsigned table;			/* number of the table */
	bool async;			/* the thread does other work while the span is open: it is not on the thread */
};

struct rule_table {
	uint64_t id;			/* of its name and its preset's, for texts in slice files */
	char *name, *file;		/* .file: that uses it first */
	const struct preset *preset;	/* that its name belongs to; NULL: none */
	const struct rule *rule;	/* the first that defines it */
};

struct rules {
	GArray *tables;			/* struct rule_table */
	GPtrArray *all;			/* struct rule * */
	GPtrArray *presets;		/* struct preset *: heads of their files */
	GChecksum *digest;		/* of their lines */
};

/* Installs the rules (NULL: none), and returns those before, which the caller frees. */
struct rules *rules_put(struct rules *r);
/* A rule that reads more fields of the event than rows have slots, once there is a table of the installed rules; NULL:
 * all fit. */
const struct rule *rules_full(const char **ret_event);
/* Does the event's name match the event of the rule, and which texts do its stars match? They are the shortest from
 * left to right. ret_texts: by number of the star (free each with g_free()); may be NULL. */
bool rule_event_matches(const struct rule_event *e, const char *event, char *ret_texts[RULE_STARS]);
const struct rules *rules_installed(void);	/* NULL: no rules are installed */
static inline const struct rule *rule_at(unsigned i)
{
	return g_ptr_array_index(rules_installed()->all, i);
}

/* Slice files have rules by their ids. The number of one that is not installed is RULE_ABSENT or more: its marks make
 * no spans, but are written again with its id. */
#define RULE_ABSENT (1u << 20)
uint64_t rule_id(uint32_t number);
uint32_t rule_number(uint64_t id);
bool rule_is_installed(uint32_t number);
#define RULES_ABSENT_CLASS "(rules that are not installed)"	/* stands among the names of event classes */

/* Stands among the names of event classes (timeline_has_event()) if an event of the rule had no value for this field of
 * its key. RULE_THREAD: no context tells its thread; the kernel's switches may. Free with g_free(). */
#define RULE_THREAD "thread"
#define RULE_LINK_OUT "(link)"		/* instead of a field: a link was looked for that may have been evicted */
char *rule_keyless_name(const struct rule *r, const struct rule_event *e, const char *field);

/* A rule that defines the table of that id; NULL: there is none. */
const struct rule *rules_table_of(uint64_t id);
/* Stands among the names of event classes if `what` is true of a table. Free with g_free(). */
#define RULE_TABLE_UNKNOWN "unknown"	/* an entry that was used had not been defined */
#define RULE_TABLE_FULL "full"		/* definitions were forgotten */
char *rule_table_note(const struct rule *table, const char *what);

/* The table with the installed rules added; see handlers.c. */
const struct blk_subscription *rules_table(const struct blk_subscription *rows, size_t n,
					   size_t *ret_n);
/* The row that matches the event's name, with the precedence that readers use: an exact name before a prefix, a
 * longer prefix before a shorter one. G_MAXUINT16: none. */
unsigned subscription_of(const struct blk_subscription *rows, size_t n, const char *event);
/* The row that had the event before rules were added; G_MAXUINT16: none. */
unsigned rules_base_row(unsigned row);
bool rules_has_row(unsigned row);		/* do rules need its event? */
bool rules_only_annotate(unsigned row);	/* is it a row for rules alone, of which none makes spans? */
/* Rules (struct rule_use) that the row's event begins, and ends. */
const GArray *rules_begun_by(unsigned row);
const GArray *rules_ended_by(unsigned row);

/* Rows of events that match patterns are made when their classes are met, behind those of rules_table(): this is
 * blk_subscription.row_of_class of that table. */
uint16_t rules_row_of_class(const char *event, uint16_t row);
size_t rules_capacity(void);		/* rows that the table can have; without patterns: rows that it has */
bool rule_takes(const struct rule_event *e);	/* has it a link_in? */
/* May an event of what was opened be a whole span, which begins before it (rule.is_whole), or take a message, whose way
 * began before it? Known once its class is declared; of rules without any pattern at once. Any thread. */
bool rules_look_back(void);
/* A number that changes whenever rules are installed. */
unsigned rules_generation(void);
/* Events that match the i-th rule, whose fields have no room in their rows; NULL: none. Free with g_free(). */
char *rules_crowded(unsigned i);

#endif
