/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of interrupts; see irq_text.h. */
#include "state/names/irq_text.h"

#include "state/kernel/slice_state.h"
#include "state/names/names.h"

#include <stdio.h>

static uint32_t make_text(struct slice *s, const struct names *names, uint32_t host, uint32_t code)
{
	static const char *const softirqs[] = {	/* include/linux/interrupt.h */
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
	};
	uint32_t name = names_irq(names, host, code), n = code & 0xffffff;
	char text[160];
	if (code == IRQ_UNKNOWN)
		return strtab_add(s->strings, "interrupt");
	if (code == IRQ_TIMER)
		return strtab_add(s->strings, "hrtimer");
	if ((code & IRQ_UNKNOWN) == IRQ_SOFT(0))
		snprintf(text, sizeof text, "softirq %s", n < G_N_ELEMENTS(softirqs) ? softirqs[n] : "?");
	else if ((code & 0xff000000) == IRQ_VECTOR(0))
		snprintf(text, sizeof text, "vector %u %.100s", n, name ? strtab_get(s->strings, name) : "?");
	else
		snprintf(text, sizeof text, "irq %u %.100s", n, name ? strtab_get(s->strings, name) : "?");
	return strtab_add(s->strings, text);
}

uint32_t irq_text(struct intmap *cache, struct slice *s, const struct names *names, uint32_t host, uint32_t code)
{
	uint32_t text = intmap_get(cache, pair(host, code));

	if (text == INTMAP_NONE) {
		text = make_text(s, names, host, code);
		intmap_set(cache, pair(host, code), text);
	}
	return text;
}
