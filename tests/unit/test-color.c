/* SPDX-License-Identifier: GPL-2.0-only */
/* Gradients: even for eyes, legible on what is behind them; and which colours numbers are. */
#include "base/color.h"

#include <glib.h>
#include <math.h>

#define STEPS 24		/* as on the screen */

static void lab_of(uint32_t color, double ret[3])
{
	static const double m[3][3] = {
		{ .4124, .3576, .1805 }, { .2126, .7152, .0722 }, { .0193, .1192, .9505 },
	};
	static const double white[3] = { .9505, 1, 1.089 };
	double c[3], f[3];

	for (int i = 0; i < 3; i++) {
		double v = (color >> (16 - 8 * i) & 255) / 255.0;

		c[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
	}
	for (int i = 0; i < 3; i++) {
		double t = (m[i][0] * c[0] + m[i][1] * c[1] + m[i][2] * c[2]) / white[i];

		f[i] = t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
	}
	ret[0] = 116 * f[1] - 16;
	ret[1] = 500 * (f[0] - f[1]);
	ret[2] = 200 * (f[1] - f[2]);
}

static double difference(uint32_t a, uint32_t b)
{
	double p[3], q[3];

	lab_of(a, p);
	lab_of(b, q);
	return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

/* Each step is as far from the last as the others, within a third, and far enough to be seen. */
static void test_even(void)
{
	for (int g = 0; g < GRADIENT_N; g++) {
		for (int light = 0; light < 2; light++) {
			double mean = 0, steps[STEPS - 1];

			for (int i = 0; i + 1 < STEPS; i++) {
				steps[i] = difference(gradient_color(g, light, i / (STEPS - 1.0)),
						      gradient_color(g, light, (i + 1) / (STEPS - 1.0)));
				mean += steps[i] / (STEPS - 1);
			}
			for (int i = 0; i + 1 < STEPS; i++) {
				g_test_message("gradient %d light %d step %d: %.1f of %.1f", g, light, i, steps[i],
					       mean);
				g_assert_cmpfloat(steps[i], >, mean / 1.4);
				g_assert_cmpfloat(steps[i], <, mean * 1.4);
			}
			g_assert_cmpfloat(mean, >, g == GRADIENT_GRAPH ? 1.2 : 5);
		}
	}
}

/* The more, the lighter on dark, and the darker on light: also for who sees no hues. */
static void test_order(void)
{
	static const enum gradient ordered[] = { GRADIENT_DEPTH, GRADIENT_GRAPH };

	for (size_t g = 0; g < G_N_ELEMENTS(ordered); g++) {
		for (int light = 0; light < 2; light++) {
			double last[3], lab[3];

			lab_of(gradient_color(ordered[g], light, 0), last);
			for (int i = 1; i < STEPS; i++) {
				lab_of(gradient_color(ordered[g], light, i / (STEPS - 1.0)), lab);
				g_assert_cmpfloat(light ? last[0] - lab[0] : lab[0] - last[0], >, 0.2);
				last[0] = lab[0];
			}
		}
	}
}

/* WCAG 2.1 on the backgrounds of terminals: 4.5 for text, 3 for graphics; and text on an area. */
static void test_contrast(void)
{
	static const uint32_t behind[2][3] = { { 0, 0x121212, 0x1c1c1c }, { 0xffffff, 0xffffd7, 0xffffff } };

	for (int g = 0; g < GRADIENT_N; g++) {
		for (int light = 0; light < 2; light++) {
			for (int i = 0; i < STEPS; i++) {
				uint32_t color = gradient_color(g, light, i / (STEPS - 1.0));

				for (int b = 0; b < 3; b++)
					g_assert_cmpfloat(color_contrast(color, behind[light][b]), >=,
							  g == GRADIENT_HEAT ? 4.5 : 3);
				g_assert_cmpfloat(color_contrast(color_text_on(color), color), >=, 4.5);
			}
		}
	}
	for (unsigned i = 0; i < 4096; i++) {
		uint32_t color = (i & 15) * 17 | (i >> 4 & 15) * 17 << 8 | (i >> 8) * 17 << 16;

		g_assert_cmpfloat(color_contrast(color_text_on(color), color), >=, 4.5);
	}
}

static void test_numbers(void)
{
	g_assert_cmphex(color_of_number(1), ==, 0xcd0000);
	g_assert_cmphex(color_of_number(16), ==, 0);
	g_assert_cmphex(color_of_number(196), ==, 0xff0000);
	g_assert_cmphex(color_of_number(231), ==, 0xffffff);
	g_assert_cmphex(color_of_number(232), ==, 0x080808);
	g_assert_cmphex(color_of_number(255), ==, 0xeeeeee);
	g_assert_cmphex(color_mix(0x102030, 0x302010, 0.5), ==, 0x202020);
	g_assert_cmphex(color_mix(0x102030, 0xffffff, -1), ==, 0x102030);
	g_assert_cmphex(gradient_color(GRADIENT_HEAT, false, 2), ==, gradient_color(GRADIENT_HEAT, false, 1));
	g_assert_cmpfloat(color_contrast(0, 0xffffff), ==, 21);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/color/even", test_even);
	g_test_add_func("/color/order", test_order);
	g_test_add_func("/color/contrast", test_contrast);
	g_test_add_func("/color/numbers", test_numbers);
	return g_test_run();
}
