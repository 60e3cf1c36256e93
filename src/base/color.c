/* SPDX-License-Identifier: GPL-2.0-only */
/* Colours and gradients: see color.h. */
#include "base/color.h"

#include <glib.h>
#include <math.h>

#define STOPS 9

/* Equally far apart in CIELAB (tests/unit/test-color.c): dark, light. */
static const uint32_t stops[GRADIENT_N][2][STOPS] = {
	[GRADIENT_HEAT] = {
		{ 0x5fb0d0, 0x5fb4b1, 0x72b58f, 0x8eb56d, 0xb8b25a, 0xdaaa4e, 0xf59a4f, 0xff8058, 0xff5a5a },
		{ 0x005fb8, 0x006496, 0x006672, 0x2a664a, 0x3e641c, 0x675b06, 0x884c00, 0xab3700, 0xd80808 },
	},
	[GRADIENT_DEPTH] = {
		{ 0x2f63cc, 0x7f58d6, 0xb45dc1, 0xd165a7, 0xe17289, 0xef7e6a, 0xf49d5a, 0xf8c05e, 0xfbf08a },
		{ 0x3d90d2, 0x5b7cd1, 0x7464c6, 0x8a46af, 0x923386, 0x921f60, 0x82173b, 0x680e1c, 0x3c0808 },
	},
	[GRADIENT_GRAPH] = {
		{ 0x4f7aa6, 0x5588b5, 0x5b95c3, 0x61a2d1, 0x6bafdd, 0x7abbe6, 0x88c8ee, 0x97d5f7, 0xa5e2ff },
		{ 0x4d8fc8, 0x4184c0, 0x3579b7, 0x296eaf, 0x1e64a5, 0x185996, 0x144e89, 0x10447c, 0x0a3a6e },
	},
};

static unsigned channel(uint32_t color, int shift)
{
	return color >> shift & 255;
}

uint32_t color_mix(uint32_t a, uint32_t b, double share)
{
	uint32_t mixed = 0;

	for (int shift = 16; shift >= 0; shift -= 8) {
		double from = channel(a, shift), to = channel(b, shift);

		mixed |= (uint32_t)(from + (to - from) * CLAMP(share, 0, 1) + 0.5) << shift;
	}
	return mixed;
}

uint32_t gradient_color(enum gradient gradient, bool light, double share)
{
	double at = CLAMP(share, 0, 1) * (STOPS - 1);
	unsigned i = MIN((unsigned)at, STOPS - 2);
	const uint32_t *s = stops[gradient][light];

	return color_mix(s[i], s[i + 1], at - i);
}

uint32_t color_of_number(unsigned n)
{
	static const uint32_t base[] = {
		0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
	};
	static const uint32_t steps[] = { 0, 95, 135, 175, 215, 255 };

	if (n < G_N_ELEMENTS(base))
		return base[n];
	if (n >= 232)
		return (8 + 10 * (MIN(n, 255) - 232)) * 0x010101u;
	n -= 16;
	return steps[n / 36 % 6] << 16 | steps[n / 6 % 6] << 8 | steps[n % 6];
}

static double luminance(uint32_t color)
{
	static const double weights[] = { 0.0722, 0.7152, 0.2126 };	/* blue, green, red */
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double v = channel(color, 8 * i) / 255.0;

		sum += weights[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
	}
	return sum;
}

double color_contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a), y = luminance(b);

	return (MAX(x, y) + 0.05) / (MIN(x, y) + 0.05);
}

uint32_t color_text_on(uint32_t background)
{
	return color_contrast(background, 0) >= color_contrast(background, 0xffffff) ? 0 : 0xffffff;
}
