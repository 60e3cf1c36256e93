/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recognizes spans in JSON formats that are not Zipkin v2, so that such a file is refused by the format's name. Private
 * to src/export/.
 */
#ifndef BLK_EXPORT_JSON_FORMATS_H
#define BLK_EXPORT_JSON_FORMATS_H

#include "base/json_read.h"

/*
 * What an object is, and what to do with it ("Zipkin v1 JSON; ..."), static. NULL: a span of Zipkin v2, or anything
 * that is unknown. whole: the text is valid; else `o` is what json_scan() read of it.
 *
 * An object with a text `traceId` and a text `id` is Zipkin. It is v1 if its annotations have an endpoint, or if it has
 * binaryAnnotations, and it has none of `localEndpoint`, `remoteEndpoint` and `tags`, which only v2 has. This is how
 * Zipkin tells its formats apart; unknown members never decide.
 */
const char *json_other_format(struct json_value o, bool whole);

#endif
