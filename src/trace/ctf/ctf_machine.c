/* SPDX-License-Identifier: GPL-2.0-only */
/* What metadata says about the machine that was traced: see ctf_meta.h and base/machine.h. */
#include "trace/ctf/ctf_meta.h"

#include "base/call_event.h"

#include <string.h>

/* LTTng's events of system calls have the kernel's `long` (the result) or an array of it (arguments of a call that it
 * does not know). The byte order is the trace's: it is seen in the same fields. */
static void see_long(const struct ctf_type *fields, struct machine_evidence *ret)
{
	const struct ctf_field *result = fields ? ctf_type_field(fields, "ret") : NULL;
	const struct ctf_field *args = fields ? ctf_type_field(fields, "args") : NULL;
	const struct ctf_type *t = result ? result->type : NULL;
	if (args && args->type->kind == CTF_ARRAY)
		t = args->type->element;
	if (!t || t->kind != CTF_INTEGER || t->is_var)
		return;
	ret->long32 |= t->bits == 32;
	ret->long64 |= t->bits == 64;
	ret->little |= t->bits >= 32 && !t->big_endian;
	ret->big |= t->bits >= 32 && t->big_endian;
}

void ctf_event_machine(const struct ctf_event_class *ec, struct machine_evidence *ret)
{
	machine_saw_event(ret, ec->name);
	if (call_event_of(ec->name, NULL) != CALL_EVENT_NONE)
		see_long(ec->fields, ret);
}

void ctf_meta_machine(const struct ctf_meta *m, struct ctf_machine_seen *seen, struct machine_evidence *ret)
{
	static const char *const names[] = { "machine", "kernel_release", "release" };
	G_STATIC_ASSERT(G_N_ELEMENTS(names) == G_N_ELEMENTS(seen->word));
	const char *domain = ctf_meta_env(m, "domain");
	int64_t bits = 0;
	if (!g_strcmp0(domain, "ust")) {
		ret->long64 |= ctf_meta_env_number(m, "architecture_bit_width", &bits) && bits == 64;
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		const char *word = ctf_meta_env(m, names[i]);
		if (word && word != seen->word[i])
			machine_saw_words(ret, word);
		seen->word[i] = word;
	}
}
