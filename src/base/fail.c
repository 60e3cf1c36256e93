/* SPDX-License-Identifier: GPL-2.0-only */
/* How a function says that it failed: see fail.h. */
#include "base/fail.h"

bool fail(GError **error, GQuark domain, int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(domain, code, format, args));
	va_end(args);
	return false;
}
