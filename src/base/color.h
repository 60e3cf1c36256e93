/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Colours as 0xRRGGBB (sRGB): those of a terminal's numbers, and gradients, whose steps eyes see as equally far apart
 * (CIELAB). Each gradient is legible on the backgrounds of its kind, dark or light: all of it has a contrast of 3, as
 * WCAG 2.1 asks of graphics, and GRADIENT_HEAT one of 4.5, as it asks of text.
 */
#ifndef BLK_BASE_COLOR_H
#define BLK_BASE_COLOR_H

#include <stdbool.h>
#include <stdint.h>

enum gradient {
	GRADIENT_HEAT,		/* of text and bars: calm blue over green and yellow to red; equal in lightness */
	GRADIENT_DEPTH,		/* of areas: blue over red; the more, the further from the background's lightness */
	GRADIENT_GRAPH,		/* of bars over time: shades of blue, further from the background the higher */
	GRADIENT_N
};

/* share: 0 to 1; others are clamped. */
uint32_t gradient_color(enum gradient gradient, bool light, double share);
/* A colour between two; share 0: a. */
uint32_t color_mix(uint32_t a, uint32_t b, double share);
/* Of a terminal's number, 0 to 255: 16 of xterm, a cube, greys. */
uint32_t color_of_number(unsigned number);
double color_contrast(uint32_t a, uint32_t b);		/* WCAG 2.1: 1 to 21 */
/* Black or white, whichever has more contrast: at least 4.5. */
uint32_t color_text_on(uint32_t background);

#endif
