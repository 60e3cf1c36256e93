/* SPDX-License-Identifier: GPL-2.0-only */
/* Recognizes other formats of spans: see json_formats.h. */
#include "export/json_formats.h"

#include "export/json_members.h"
#include "export/json_peek.h"

#include <string.h>

#define READS "; blktop reads Zipkin v2 JSON"
#define COLLECTOR READS ": let the OpenTelemetry Collector convert it, with its exporter zipkin"

#define JAEGER READS ": get OTLP from Jaeger (/api/v3/traces), and let the OpenTelemetry Collector convert that"

static const char zipkin_v1[] = "Zipkin v1 JSON" READS
	": send it to a Zipkin server (POST /api/v1/spans), and get it from /api/v2/traces";

/* Formats of objects that are no Zipkin spans. Such an object has all members of .has; the value of the first one
 * begins with .first (0: with anything). */
static const struct { char first; const char *has[3]; const char *what; } formats[] = {
	{ '[', { "resourceSpans" }, "OTLP JSON" COLLECTOR },
	{ '[', { "resource_spans" }, "OTLP JSON" COLLECTOR },
	{ '[', { "batches" }, "OTLP JSON of Tempo" COLLECTOR },
	{ '"', { "traceId", "spanId", "startTimeUnixNano" }, "OTLP JSON" COLLECTOR },
	{ '[', { "resourceMetrics" }, "OTLP JSON of metrics" READS },
	{ '[', { "resourceLogs" }, "OTLP JSON of logs" READS },
	{ '{', { "context", "start_time", "end_time" }, "what OpenTelemetry prints on a console" COLLECTOR },
	{ '"', { "traceID", "spans" }, "Jaeger JSON" JAEGER },
	{ '"', { "traceID", "spanID" }, "Jaeger JSON" JAEGER },
	{ '[', { "traceEvents" }, "Chrome trace JSON" READS ": https://ui.perfetto.dev shows it" },
	{ '"', { "ph", "ts" }, "Chrome trace JSON" READS ": https://ui.perfetto.dev shows it" },
	{ '"', { "ph", "pid" }, "Chrome trace JSON" READS ": https://ui.perfetto.dev shows it" },
	{ 0, { "trace_id", "span_id", "resource" }, "Datadog JSON" READS
		": let the program report to Zipkin or to the OpenTelemetry Collector" },
	{ '"', { "blktop", "traces" }, "blktop's own JSON, which it does not read: export with --format zipkin" },
	{ '"', { "blktop", "view" }, "rows of a view, not spans: export with --format zipkin" },
};

/* The first element of the list `data`, as Jaeger's API wraps traces. NULL: none. */
static const char *in_list(const char *text, size_t n)
{
	static const char *const keys[] = { "data" };
	struct json_slice in[G_N_ELEMENTS(keys)];
	size_t at = 1;

	json_peek(text, n, keys, in, G_N_ELEMENTS(keys));
	while (at < in[0].n && g_ascii_isspace(in[0].text[at]))
		at++;
	return in[0].n && *in[0].text == '[' && at < in[0].n ? in[0].text + at : NULL;
}

static bool has_members(const char *text, size_t n, unsigned format)
{
	const char *const *has = formats[format].has;
	struct json_slice in[G_N_ELEMENTS(formats[0].has)];
	size_t n_has = 0;

	while (n_has < G_N_ELEMENTS(in) && has[n_has])
		n_has++;
	json_peek(text, n, has, in, n_has);		/* of a beginning, too */
	for (size_t i = 0; i < n_has; i++)
		if (!in[i].n)
			return false;
	return !formats[format].first || *in[0].text == formats[format].first;
}

static const char *format_of(const char *text, size_t n)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++)
		if (has_members(text, n, i))
			return formats[i].what;
	return NULL;
}

static const char *foreign_format(const char *text, size_t n)
{
	const char *list = in_list(text, n), *in = list ? format_of(list, n - (size_t)(list - text)) : NULL;
	return in ? in : format_of(text, n);
}

/* ---- Zipkin ---- */

static bool has_endpoint(JsonArray *annotations)
{
	for (guint i = 0; annotations && i < json_array_get_length(annotations); i++) {
		JsonObject *a = json_object_at(annotations, i);
		if (a && json_object_member(a, "endpoint"))
			return true;
	}
	return false;
}

static bool is_v1(JsonObject *o)
{
	return !json_object_member(o, "localEndpoint") && !json_object_member(o, "remoteEndpoint") &&
	       !json_object_member(o, "tags") &&
	       (json_list_member(o, "binaryAnnotations") || has_endpoint(json_list_member(o, "annotations")));
}

static const char *parsed_format(const char *text, size_t n)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *o = json_parse_object(parser, text, n, NULL);

	if (!o || !json_text_member(o, "traceId") || !json_text_member(o, "id"))
		return foreign_format(text, n);
	return is_v1(o) ? zipkin_v1 : NULL;
}

/* May these annotations have endpoints? */
static bool is_suspect(const struct json_slice *annotations)
{
	return annotations->n && (memmem(annotations->text, annotations->n, "endpoint", strlen("endpoint")) ||
				  memchr(annotations->text, '\\', annotations->n));
}

const char *json_other_format(const char *text, size_t n, bool whole)
{
	enum { TRACE, ID, BINARY, ANNOTATIONS };
	static const char *const keys[] = { "traceId", "id", "binaryAnnotations", "annotations" };
	struct json_slice in[G_N_ELEMENTS(keys)];

	if (!whole)
		return foreign_format(text, n);
	/* Most spans are decided without parsing. */
	bool ids = json_peek(text, n, keys, in, G_N_ELEMENTS(keys)) &&
		in[TRACE].n && *in[TRACE].text == '"' && in[ID].n && *in[ID].text == '"';
	return ids && !in[BINARY].n && !is_suspect(&in[ANNOTATIONS]) ? NULL : parsed_format(text, n);
}
