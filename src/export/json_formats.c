/* SPDX-License-Identifier: GPL-2.0-only */
/* Recognizes other formats of spans: see json_formats.h. */
#include "export/json_formats.h"

#define READS "; blktop reads Zipkin v2 JSON"
#define COLLECTOR READS ": let the OpenTelemetry Collector convert it, with its exporter zipkin"

#define JAEGER READS ": get OTLP from Jaeger (/api/v3/traces), and let the OpenTelemetry Collector convert that"

static const char zipkin_v1[] = "Zipkin v1 JSON" READS
	": send it to a Zipkin server (POST /api/v1/spans), and get it from /api/v2/traces";

#define ANY (JSON_NULL + 1)

/* Formats of objects that are no Zipkin spans. Such an object has all members of .has; the value of the first one is of
 * the kind .first. */
static const struct { int first; const char *has[3]; const char *what; } formats[] = {
	{ JSON_ARRAY, { "resourceSpans" }, "OTLP JSON" COLLECTOR },
	{ JSON_ARRAY, { "resource_spans" }, "OTLP JSON" COLLECTOR },
	{ JSON_ARRAY, { "batches" }, "OTLP JSON of Tempo" COLLECTOR },
	{ JSON_STRING, { "traceId", "spanId", "startTimeUnixNano" }, "OTLP JSON" COLLECTOR },
	{ JSON_ARRAY, { "resourceMetrics" }, "OTLP JSON of metrics" READS },
	{ JSON_ARRAY, { "resourceLogs" }, "OTLP JSON of logs" READS },
	{ JSON_OBJECT, { "context", "start_time", "end_time" }, "what OpenTelemetry prints on a console" COLLECTOR },
	{ JSON_STRING, { "traceID", "spans" }, "Jaeger JSON" JAEGER },
	{ JSON_STRING, { "traceID", "spanID" }, "Jaeger JSON" JAEGER },
	{ JSON_ARRAY, { "traceEvents" }, "Chrome trace JSON" READS ": https://ui.perfetto.dev shows it" },
	{ JSON_STRING, { "ph", "ts" }, "Chrome trace JSON" READS ": https://ui.perfetto.dev shows it" },
	{ JSON_STRING, { "ph", "pid" }, "Chrome trace JSON" READS ": https://ui.perfetto.dev shows it" },
	{ ANY, { "trace_id", "span_id", "resource" }, "Datadog JSON" READS
		": let the program report to Zipkin or to the OpenTelemetry Collector" },
	{ JSON_STRING, { "blktop", "traces" },
		"blktop's own JSON, which it does not read: export with --format zipkin" },
	{ JSON_STRING, { "blktop", "view" }, "rows of a view, not spans: export with --format zipkin" },
};

static bool has_members(struct json_value o, unsigned format)
{
	const char *const *has = formats[format].has;

	for (size_t i = 0; i < G_N_ELEMENTS(formats[0].has) && has[i]; i++)
		if (!json_token(json_member(o, has[i])))
			return false;
	return formats[format].first == ANY || json_is(json_member(o, has[0]), (enum json_kind)formats[format].first);
}

static const char *format_of(struct json_value o)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++)
		if (has_members(o, i))
			return formats[i].what;
	return NULL;
}

/* Jaeger's API wraps traces in a list `data`. */
static const char *foreign_format(struct json_value o)
{
	struct json_value list = json_member(o, "data"), first = JSON_NONE;
	bool has_one = json_is(list, JSON_ARRAY) && json_next(list, &first);
	const char *in = has_one ? format_of(first) : NULL;
	return in ? in : format_of(o);
}

/* ---- Zipkin ---- */

static bool has_endpoint(struct json_value annotations)
{
	struct json_value a = JSON_NONE;
	while (json_is(annotations, JSON_ARRAY) && json_next(annotations, &a))
		if (json_is(json_member(a, "endpoint"), JSON_OBJECT))
			return true;
	return false;
}

static bool is_v1(struct json_value o)
{
	return (json_is(json_member(o, "binaryAnnotations"), JSON_ARRAY) ||
		has_endpoint(json_member(o, "annotations"))) &&
	       !json_is(json_member(o, "localEndpoint"), JSON_OBJECT) &&
	       !json_is(json_member(o, "remoteEndpoint"), JSON_OBJECT) && !json_is(json_member(o, "tags"), JSON_OBJECT);
}

const char *json_other_format(struct json_value o, bool whole)
{
	if (whole && json_is(json_member(o, "traceId"), JSON_STRING) && json_is(json_member(o, "id"), JSON_STRING))
		return is_v1(o) ? zipkin_v1 : NULL;
	return foreign_format(o);
}
