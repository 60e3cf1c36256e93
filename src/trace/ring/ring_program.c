/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles formats of events, and runs what was compiled. */
#include "trace/ring/ring_program.h"

#include "trace/ring/ring_rules.h"

#include <sys/types.h>

#define COMM_SIZE 16			/* of LTTng: TASK_COMM_LEN */
#define PRIORITY_BASE 100		/* MAX_RT_PRIO */
/* Bytes of a sequence or text beside those of the event: its length and a NUL, or RING_CUT_MARK. */
#define TEXT_MORE 5

enum step_kind {
	STEP_COPY,		/* bytes as they are */
	STEP_NUMBERS,		/* numbers, with another byte order, size, or with .add */
	STEP_COMM,
	STEP_STRING,		/* ends with a NUL */
	STEP_SEQUENCE,		/* u32 number of elements, elements */
	STEP_RWBS,
	STEP_TID,
	STEP_PARENT_TGID,
	STEP_CHILD_TGID,
	STEP_DESCRIPTORS,
	STEP_PEER,
	STEP_ADDRESS,		/* .from: struct sockaddr; .behind: __data_loc of the path */
	STEP_HEADERS,		/* .from: the packet */
};

/* Offsets in the event, of STEP_HEADERS. */
struct packet_fields {
	uint32_t head, data, network, protocol, len, paged;
	bool is_received;		/* the network header is where the data begins */
};

struct step {
	uint8_t kind;		/* enum step_kind */
	uint8_t place;		/* enum ring_place */
	uint8_t from_size, to_size;	/* bytes of an element */
	bool is_signed;
	bool is_probed;		/* STEP_STRING: RING_FAULT is no text */
	bool is_users;		/* STEP_STRING: the kernel may have cut it */
	int32_t add;
	uint32_t from;		/* offset in the event */
	uint32_t n;		/* STEP_COPY: bytes; of inline arrays: elements, and bytes of texts */
	uint32_t behind;	/* of RING_REL_LOC: where its offset counts from */
};

struct ring_program {
	char *name;
	GString *declaration;	/* the fields */
	struct ring_machine machine;
	uint32_t need;		/* an event has at least these bytes */
	uint32_t fixed;		/* bytes that are written, without those of .n_dynamic */
	uint32_t n_dynamic;	/* steps that write as much as the event says */
	struct packet_fields packet;
	bool is_plain;		/* .plain does the same as the steps */
	struct ring_plain plain;
	uint32_t n_steps;
	struct step steps[];
};

/* ---- compiling ---- */

struct compiler {
	const struct ring_format *format;
	struct ring_machine machine;
	GArray *steps;		/* struct step */
	GString *text;
	GHashTable *names;	/* of the fields written so far: metadata with two of one name would be refused */
	uint32_t need, fixed, n_dynamic;
	struct packet_fields packet;
};

static void declare_number(struct compiler *c, const char *name, unsigned size, bool is_signed, uint32_t n)
{
	g_string_append_printf(c->text,
			       "\t\tinteger { size = %u; align = 8; signed = %d; encoding = none; base = 10; } _%s",
			       size * 8, is_signed, name);
	if (n != 1)
		g_string_append_printf(c->text, "[%u]", n);
	g_string_append(c->text, ";\n");
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Copies that lie side by side become one. */
static void add_step(struct compiler *c, struct step step)
{
	struct step *last = c->steps->len ? &g_array_index(c->steps, struct step, c->steps->len - 1) : NULL;
	if (last && last->kind == STEP_COPY && step.kind == STEP_COPY && last->from + last->n == step.from)
		last->n += step.n;
	else
		g_array_append_val(c->steps, step);
}

static void add_numbers(struct compiler *c, const struct ring_field *f, struct ring_field_rule rule)
{
	uint32_t n = f->is_array ? f->size / f->element : 1;
	uint8_t to = rule.size ? rule.size : (uint8_t)f->element;
	bool is_signed = rule.size ? rule.is_signed : f->is_signed;
	int32_t add = rule.encoding == RING_PRIORITY ? -PRIORITY_BASE : 0;
	bool is_copy = !add && to <= f->element && (to == f->element || n == 1) && !c->machine.big_endian;

	declare_number(c, rule.name, to, is_signed, n);
	add_step(c, is_copy ? (struct step){ .kind = STEP_COPY, .from = f->offset, .n = to * n }
			    : (struct step){ .kind = STEP_NUMBERS,
					     .from = f->offset,
					     .from_size = (uint8_t)f->element,
					     .to_size = to,
					     .is_signed = is_signed,
					     .add = add,
					     .n = n });
	c->fixed += to * n;
}

static void add_dynamic(struct compiler *c, const struct ring_field *f, struct ring_field_rule rule)
{
	bool is_text = f->is_text;
	if (is_text)
		g_string_append_printf(c->text, "\t\tstring _%s;\n", rule.name);
	else
		g_string_append_printf(c->text,
				       "\t\tuint32_t __%s_length;\n\t\tinteger { size = %u; align = 8; signed = %d; "
				       "encoding = none; base = 10; } _%s[ __%s_length ];\n",
				       rule.name, f->element * 8, f->is_signed, rule.name, rule.name);
	add_step(c, (struct step){ .kind = is_text ? STEP_STRING : STEP_SEQUENCE, .place = f->place, .from = f->offset,
				   .is_probed = rule.encoding == RING_PROBED_TEXT,
				   .is_users = rule.encoding == RING_USER_TEXT,
				   .from_size = (uint8_t)f->element, .n = f->place == RING_INLINE ? f->size : 0,
				   .behind = f->offset + f->size });
	c->n_dynamic++;
}

static void add_field(struct compiler *c, const struct ring_field *f, struct ring_field_rule rule)
{
	if (!f->size || !g_hash_table_add(c->names, (gpointer)rule.name))
		return;
	if (rule.encoding == RING_COMM) {
		g_string_append_printf(c->text, "\t\tinteger { size = 8; align = 8; signed = 1; encoding = UTF8; "
				       "base = 10; } _%s[%d];\n", rule.name, COMM_SIZE);
		bool is_copy = f->place == RING_INLINE && f->size == COMM_SIZE;
		add_step(c, (struct step){ .kind = is_copy ? STEP_COPY : STEP_COMM,
					   .place = f->place,
					   .from = f->offset,
					   .n = f->size,
					   .behind = f->offset + f->size });
		c->fixed += COMM_SIZE;
	} else if (rule.encoding == RING_RWBS && f->is_text) {
		declare_number(c, rule.name, 4, false, 1);
		add_step(c, (struct step){ .kind = STEP_RWBS, .place = f->place, .from = f->offset, .n = f->size,
					   .behind = f->offset + f->size });
		c->fixed += 4;
	} else if (f->is_text || f->place != RING_INLINE) {
		add_dynamic(c, f, rule);
	} else if (is_number_size(f->element)) {
		add_numbers(c, f, rule);
	} else {
		return;		/* a struct, of which only its bytes are known */
	}
	c->need = MAX(c->need, f->offset + f->size);
}

static void add_extra(struct compiler *c, const char *name, enum step_kind kind)
{
	if (!g_hash_table_add(c->names, (gpointer)name))
		return;
	declare_number(c, name, 4, true, 1);
	add_step(c, (struct step){ .kind = kind });
	c->fixed += 4;
}

/* Takes names for fields that the event itself does not have. False: it has one of them. */
static bool take_names(struct compiler *c, const char *const *names)
{
	for (const char *const *name = names; *name; name++)
		if (!g_hash_table_add(c->names, (gpointer)*name))
			return false;
	return true;
}

static const char *const address_names[] = { "family", "dport", "sport", "v4addr", "v6addr", "sun_path", NULL };
static const char *const header_names[] = { "network_header_type", "network_header", NULL };

/* Offset of a field with this size, which an event then must have. False: there is none. */
static bool need_field(struct compiler *c, const char *name, uint32_t size, uint32_t *ret)
{
	const struct ring_field *f = ring_fields_find(c->format->fields, name);
	if (!f || f->size != size || (f->is_array && f->place != RING_DATA_LOC))
		return false;
	*ret = f->offset;
	c->need = MAX(c->need, f->offset + size);
	return true;
}

static void add_address(struct compiler *c)
{
	struct step step = { .kind = STEP_ADDRESS };
	ring_raw_bytes(c->format->fields, RING_RAW_ADDRESS, RING_SOCKADDR_BYTES, &step.from);
	if (!need_field(c, RING_RAW_PATH, 4, &step.behind) || !take_names(c, address_names))
		return;
	c->need = MAX(c->need, step.from + RING_SOCKADDR_BYTES);
	ring_address_declare(c->text, "dport", true);
	add_step(c, step);
	c->fixed += RING_ADDRESS_BOUND;
	c->n_dynamic++;
}

static void add_headers(struct compiler *c)
{
	struct packet_fields *p = &c->packet;
	struct step step = { .kind = STEP_HEADERS };
	uint32_t size = c->machine.long_size;
	ring_raw_bytes(c->format->fields, RING_RAW_PACKET, RING_PACKET_BYTES, &step.from);
	p->is_received = strcmp(c->format->name, "net_dev_queue");
	if (!need_field(c, RING_RAW_HEAD, size, &p->head) || !need_field(c, RING_RAW_DATA, size, &p->data) ||
	    !need_field(c, RING_RAW_NETWORK, 2, &p->network) || !need_field(c, RING_RAW_PROTOCOL, 2, &p->protocol) ||
	    !need_field(c, RING_RAW_PAGED, 4, &p->paged) || !need_field(c, "len", 4, &p->len) ||
	    !take_names(c, header_names))
		return;
	c->need = MAX(c->need, step.from + RING_PACKET_BYTES);
	ring_packet_headers_declare(c->text);
	add_step(c, step);
	c->fixed += RING_HEADERS_BOUND;
}

static void add_descriptors(struct compiler *c, const char *name)
{
	if (!g_hash_table_add(c->names, (gpointer)name))
		return;
	declare_number(c, name, 4, true, 2);
	add_step(c, (struct step){ .kind = STEP_DESCRIPTORS });
	c->fixed += 8;
}

static void add_peer(struct compiler *c)
{
	if (!take_names(c, address_names))
		return;
	ring_address_declare(c->text, "sport", false);
	add_step(c, (struct step){ .kind = STEP_PEER });
	c->fixed += RING_ADDRESS_BOUND;
}

static void add_extras(struct compiler *c, bool with_known)
{
	switch (ring_event_extra(c->format)) {
	case RING_EXTRA_TID:
		add_extra(c, "tid", STEP_TID);
		break;
	case RING_EXTRA_ADDRESS:
		add_address(c);
		break;
	case RING_EXTRA_HEADERS:
		add_headers(c);
		break;
	case RING_EXTRA_TGIDS:
		if (with_known) {
			add_extra(c, "parent_pid", STEP_PARENT_TGID);
			add_extra(c, "child_pid", STEP_CHILD_TGID);
		}
		break;
	case RING_EXTRA_PIPE:
		if (with_known)
			add_descriptors(c, "fildes");
		break;
	case RING_EXTRA_SOCKETS:
		if (with_known)
			add_descriptors(c, "socket");
		break;
	case RING_EXTRA_PEER:
		if (with_known)
			add_peer(c);
		break;
	default:
		break;
	}
}

/* Adds a step to pieces. `from` is where the piece before ended. False: it cannot be. */
static bool add_plain(struct ring_plain *plain, const struct step *s, uint32_t *from)
{
	bool is_number = s->kind == STEP_NUMBERS && s->n == 1 && s->from_size == 4 && s->to_size == 4;
	uint32_t n = is_number ? 4 : s->n;
	if (!is_number && s->kind != STEP_COPY)
		return false;
	if (s->from + n > UINT16_MAX || n > RING_PIECE * RING_N_PIECES)
		return false;
	if (is_number) {
		if (plain->n_adds == RING_N_ADDS)
			return false;
		plain->adds[plain->n_adds++] = (struct ring_add){ (uint16_t)s->from, (uint16_t)plain->size,
								  (uint32_t)s->add };
	}
	const struct ring_piece *last = plain->n_pieces ? &plain->pieces[plain->n_pieces - 1] : NULL;
	/* What is behind the piece before may already be in it. */
	uint32_t done = last && *from == s->from ? MIN(RING_PIECE - (plain->size - last->to), n) : 0;
	*from = s->from + n;
	for (uint32_t at = done; at < n; at += RING_PIECE) {
		if (plain->n_pieces == RING_N_PIECES)
			return false;
		plain->pieces[plain->n_pieces++] = (struct ring_piece){ (uint16_t)(s->from + at),
									(uint16_t)(plain->size + at) };
		plain->read = MAX(plain->read, s->from + at + RING_PIECE);
	}
	plain->size += n;
	return true;
}

static bool compile_plain(const struct ring_program *p, struct ring_plain *plain)
{
	uint32_t from = UINT32_MAX;
	*plain = (struct ring_plain){ .need = p->need };
	for (uint32_t i = 0; i < p->n_steps; i++)
		if (p->machine.big_endian || !add_plain(plain, &p->steps[i], &from))
			return false;
	return true;
}

const struct ring_plain *ring_program_plain(const struct ring_program *p)
{
	return p->is_plain ? &p->plain : NULL;
}

struct ring_program *ring_program_new(const struct ring_format *format, struct ring_machine machine, bool with_known)
{
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(struct step));
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
	struct compiler c = { .format = format, .machine = machine, .steps = steps, .names = names,
			      .text = g_string_new(NULL), .need = RING_EVENT_MIN };
	for (uint32_t i = 0; i < format->fields->n; i++) {
		const struct ring_field *f = &format->fields->fields[i];
		struct ring_field_rule rule = ring_field_rule(format, f);
		if (rule.encoding != RING_OMIT)
			add_field(&c, f, rule);
	}
	add_extras(&c, with_known);
	struct ring_program *p = g_malloc0(sizeof(*p) + steps->len * sizeof(struct step));
	p->name = ring_event_name(format->system, format->name);
	p->declaration = c.text;
	p->machine = machine;
	p->need = c.need;
	p->fixed = c.fixed;
	p->n_dynamic = c.n_dynamic;
	p->packet = c.packet;
	p->n_steps = steps->len;
	if (steps->len)
		memcpy(p->steps, steps->data, steps->len * sizeof(struct step));
	p->is_plain = compile_plain(p, &p->plain);
	return p;
}

void ring_program_free(struct ring_program *p)
{
	if (!p)
		return;
	g_free(p->name);
	g_string_free(p->declaration, TRUE);
	g_free(p);
}

void ring_program_declare(const struct ring_program *p, GString *metadata, unsigned id, unsigned stream)
{
	g_string_append_printf(metadata, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %u;\n"
			       "\tfields := struct {\n%s\t};\n};\n\n", p->name, id, stream, p->declaration->str);
}

/* ---- running ---- */

size_t ring_program_bound(const struct ring_program *p, const struct ring_event *event)
{
	return p->fixed + (size_t)p->n_dynamic * (event->size + TEXT_MORE);
}

/* Where the bytes of an array are. Their number is *n: 0 if they do not lie in the event. */
static const uint8_t *bytes_of(const struct ring_program *p, const struct step *s, const struct ring_event *e,
			       uint32_t *n)
{
	if (s->place == RING_INLINE) {
		*n = s->n;
		return e->payload + s->from;
	}
	uint32_t where = (uint32_t)ring_number(p->machine, e->payload + s->from, 4), len = where >> 16;
	uint64_t offset = (where & 0xffff) + (s->place == RING_REL_LOC ? s->behind : 0);
	*n = offset + len <= e->size ? len : 0;
	return *n ? e->payload + offset : e->payload;
}

static uint8_t *put_u32(uint8_t *to, uint32_t value)
{
	value = GUINT32_TO_LE(value);
	memcpy(to, &value, 4);
	return to + 4;
}

static uint8_t *put_number(uint8_t *to, uint64_t value, unsigned size)
{
	value = GUINT64_TO_LE(value);
	memcpy(to, &value, size);
	return to + size;
}

static uint8_t *put_numbers(const struct ring_program *p, const struct step *s, const uint8_t *from, uint8_t *to)
{
	for (uint32_t i = 0; i < s->n; i++, from += s->from_size) {
		uint64_t value = ring_number(p->machine, from, s->from_size);
		unsigned unused = 64 - 8 * s->from_size;
		if (s->is_signed && unused)
			value = (uint64_t)((int64_t)(value << unused) >> unused);
		to = put_number(to, value + (uint64_t)(int64_t)s->add, s->to_size);
	}
	return to;
}

/* Did the kernel cut this text, of len bytes in n? One that it did not cut has at most as many as it stores. */
static bool is_cut(struct ring_machine m, const uint8_t *text, size_t len, uint32_t n)
{
	size_t stored = len - strlen(RING_CUT);
	return len > strlen(RING_CUT) && n == len + 1 && !memcmp(text + stored, RING_CUT, strlen(RING_CUT)) &&
	       (m.user_text ? stored == m.user_text
			    : stored == RING_USER_TEXT_FIRST || stored == RING_USER_TEXT_LONG);
}

static uint8_t *put_bytes(const struct ring_program *p, const struct step *s, const struct ring_event *e, uint8_t *to)
{
	uint32_t n;
	const uint8_t *from = bytes_of(p, s, e, &n);
	size_t len = strnlen((const char *)from, n);

	switch ((enum step_kind)s->kind) {
	case STEP_COMM:
		len = MIN(len, COMM_SIZE - 1);
		memset(to, 0, COMM_SIZE);
		memcpy(to, from, len);
		return to + COMM_SIZE;
	case STEP_RWBS:
		return put_u32(to, ring_rwbs_bits((const char *)from, n));
	case STEP_STRING:
		if (s->is_probed && len == strlen(RING_FAULT) && !memcmp(from, RING_FAULT, len))
			len = 0;
		memcpy(to, from, len);
		if (s->is_users && is_cut(p->machine, from, len, n)) {
			memcpy(to + len, RING_CUT_MARK, strlen(RING_CUT_MARK));
			len += strlen(RING_CUT_MARK);
		}
		to[len] = '\0';
		return to + len + 1;
	default:
		to = put_u32(to, n / s->from_size);
		struct step elements = { .from_size = s->from_size, .to_size = s->from_size, .n = n / s->from_size };
		return put_numbers(p, &elements, from, to);
	}
}

static uint8_t *put_descriptors(const struct ring_run *run, uint8_t *to)
{
	return put_u32(put_u32(to, (uint32_t)run->descriptors[0]), (uint32_t)run->descriptors[1]);
}

/* What the kernel could not read is what was in the buffer before. It says so of a text only, so one is there. */
static uint8_t *put_address(const struct ring_program *p, const struct step *s, const struct ring_event *e, uint8_t *to)
{
	struct ring_address address = { 0 };
	struct step path = { .place = RING_DATA_LOC, .from = s->behind };
	uint32_t n;
	const uint8_t *text = bytes_of(p, &path, e, &n);
	size_t len = strnlen((const char *)text, n);
	if (n && !(len == strlen(RING_FAULT) && !memcmp(text, RING_FAULT, len)))
		ring_address_take(&address, p->machine, e->payload + s->from, RING_SOCKADDR_BYTES, (const char *)text,
				  len);
	return ring_address_put(to, &address, true);
}

static uint8_t *put_headers(const struct ring_program *p, const struct step *s, const struct ring_event *e, uint8_t *to)
{
	const struct packet_fields *f = &p->packet;
	uint64_t head = ring_number(p->machine, e->payload + f->head, p->machine.long_size);
	uint64_t data = ring_number(p->machine, e->payload + f->data, p->machine.long_size);
	uint64_t network = ring_number(p->machine, e->payload + f->network, 2);
	uint32_t len = (uint32_t)ring_number(p->machine, e->payload + f->len, 4);
	uint32_t paged = (uint32_t)ring_number(p->machine, e->payload + f->paged, 4);
	struct ring_packet_bytes packet = {
		.bytes = e->payload + s->from,
		.network_offset = f->is_received ? 0 : head + network - data,
		.n = len > paged ? len - paged : 0,
		.protocol = (uint16_t)(e->payload[f->protocol] << 8 | e->payload[f->protocol + 1]),
	};
	return ring_packet_headers_put(to, &packet);
}

ssize_t ring_program_run(const struct ring_program *p, const struct ring_run *run, uint8_t *to)
{
	const struct ring_event *e = run->event;
	uint8_t *start = to;
	if (e->size < p->need)
		return -1;
	for (uint32_t i = 0; i < p->n_steps; i++) {
		const struct step *s = &p->steps[i];
		switch ((enum step_kind)s->kind) {
		case STEP_COPY:
			memcpy(to, e->payload + s->from, s->n);
			to += s->n;
			break;
		case STEP_NUMBERS:
			to = put_numbers(p, s, e->payload + s->from, to);
			break;
		case STEP_TID:
			to = put_u32(to, (uint32_t)run->tid);
			break;
		case STEP_PARENT_TGID:
			to = put_u32(to, (uint32_t)run->parent_tgid);
			break;
		case STEP_CHILD_TGID:
			to = put_u32(to, (uint32_t)run->child_tgid);
			break;
		case STEP_DESCRIPTORS:
			to = put_descriptors(run, to);
			break;
		case STEP_PEER:
			to = ring_address_put(to, run->peer, false);
			break;
		case STEP_ADDRESS:
			to = put_address(p, s, e, to);
			break;
		case STEP_HEADERS:
			to = put_headers(p, s, e, to);
			break;
		default:
			to = put_bytes(p, s, e, to);
		}
	}
	return to - start;
}
