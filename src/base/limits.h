/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of all limits: how much hostile input is accepted, how much of a resource is used, and how long a peer is
 * waited for. Limits must not be anywhere else (tests/lint/limits.py). `--list-limits` and the man page print this
 * table, and for each row the unit test "/limit/ID" reaches the limit.
 *
 * A limit is a bound above which input is refused or cut, or waiting ends, so that the result changes. A constant
 * that only selects between ways to the same result (sizes of caches, buffers and pieces, shares of --memory) stays
 * in the file that uses it.
 *
 *     X(ID, value, unit, what it bounds, what happens above it, why this value)
 *
 * LIMIT_ID is the value, a constant expression. The ids are machine names and stay: METADATA_BYTES is "metadata-
 * bytes".
 */
#ifndef BLK_BASE_LIMITS_H
#define BLK_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define LIMITS_METADATA(X) \
	X(METADATA_BYTES, 64 << 20, "bytes", "metadata of one trace", \
	  "the trace is left out", "a kernel's has 1 MB") \
	X(FRAGMENT_BYTES, 4 << 20, "bytes", "a fragment of CTF 2 metadata", \
	  "the trace is left out", "each event class has a fragment of its own") \
	X(JSON_DEPTH, 200, "levels", "nested objects and arrays in a fragment", \
	  "the trace is left out", "the scanner recurses; tracers write 10") \
	X(TYPES, 1 << 21, "types", "types of one trace", \
	  "the trace is left out", "200 MB of memory; a kernel has 20,000") \
	X(TYPE_SIZE, 1 << 12, "types", "types in one type, every use counted", \
	  "the trace is left out", "an event of a kernel has 60") \
	X(ALL_TYPES, 1 << 22, "types", "the same of all classes of one trace", \
	  "the trace is left out", "decoders are as large as that") \
	X(TYPE_DEPTH, 32, "levels", "nested types", \
	  "the trace is left out; with --reader babeltrace2 the field is", "decoders recurse; tracers write 5") \
	X(FIELD_LOOKUPS, 1 << 26, "fields", "fields examined for all lengths and tags of one trace", \
	  "the trace is left out", "0.1 s; names that repeat make it quadratic") \
	X(ARRAY_BITS, INT64_C(1) << 40, "bits", "an array of fixed length", \
	  "the trace is left out", "sums of such sizes do not overflow") \
	X(ALIGNMENT, 1 << 15, "bits", "an alignment", \
	  "the trace is left out", "a page; no packet can be aligned better") \
	X(FLOAT_BITS, 4096, "bits", "a floating point number", \
	  "the trace is left out", "numbers above 64 bits are skipped, not read") \
	X(EMPTY_ELEMENTS, 4096, "elements", "an array of elements without a size", \
	  "the trace is left out", "they take time and no bytes") \
	X(LENGTHS, 4095, "fields", "lengths and tags that one event can refer to", \
	  "the trace is left out", "a register each, for every thread; a kernel's events have 20") \
	X(HEADER_LENGTHS, 63, "fields", "lengths and tags in the packet header (CTF 2)", \
	  "the trace is left out", "no tracer writes one there") \
	X(CONTEXT_LENGTHS, 192, "fields", "lengths and tags in the headers and contexts of a stream class (CTF 2)", \
	  "the trace is left out", "a context field has one at most, and there are 40") \
	X(PATH_PARTS, 16, "names", "names in the path to a length or tag", \
	  "the trace is left out", "tracers write 3") \
	X(CLOCKS, 256, "clocks", "clocks of one trace", \
	  "the trace is left out", "tracers write 1") \
	X(ENVIRONMENT, 1 << 17, "entries", "entries of the environment of one trace", \
	  "the trace is left out", "tracers write 20") \
	X(EVENT_CLASSES, 100000, "classes", "event classes of one trace", \
	  "the trace is left out", "a kernel has 1,500") \
	X(ALL_EVENT_CLASSES, 1 << 18, "classes", "event classes of different names of all traces together", \
	  "the trace is left out", "their names are held for the run, and each stream has a count of each: 2 MB") \
	X(TIME_SECONDS, INT64_C(4611686018), "s", "an instant, and a clock's offset, before or after 1970", \
	  "an offset: the trace is left out; an instant: its packet is damaged; an option is refused", \
	  "146 years, so that the difference of any two fits 64 bits") \
	X(DECODE_STEPS, 20000, "steps", "steps of an event class's decoder", \
	  "the trace is left out", "as many as its types, unless arrays are unrolled") \
	X(UNROLLED_ELEMENTS, 64, "elements", "elements of an array one of which is read by itself", \
	  "the field is missing", "each has decoder steps of its own") \
	X(FIELD_DEPTH, 6, "levels", "structures, arrays and variants around a field that is read by itself", \
	  "the field is missing", "of the fields that blktop knows none has more than 3")

#define LIMITS_PACKETS(X) \
	X(DIRECTORY_DEPTH, 16, "levels", "directories below one that is opened", \
	  "deeper ones are not searched", "the tracer makes 8") \
	X(DIRECTORIES, 200000, "directories", "directories below those that are opened", \
	  "an error: name fewer", "an hour of rotations each second has 30,000") \
	X(PACKET_BYTES, 256 << 20, "bytes", "a packet", \
	  "of a file: it is damaged; of a relay the answer is invalid", \
	  "sub-buffers have 1 MB; a sparse file claims any size") \
	X(PACKET_HEADER_BYTES, 8191, "bytes", "header and context of a packet", \
	  "the stream is left out", "tracers write 100") \
	X(EVENT_BYTES, 64 << 20, "bytes", "an event", \
	  "the rest of its packet is lost", "the whole event is in memory; no tracer writes one above a sub-buffer") \
	X(FIELD_BYTES, 64 << 20, "bytes", "a list that is read, elements below a byte widened to one", \
	  "it is empty", "lists of single bits become eight times larger") \
	X(EMPTY_STEPS, 1 << 20, "fields", "fields of one event without a size", \
	  "the event does not fit: the rest of its packet is lost", "they take time and no bytes") \
	X(STATEDUMP_BYTES, 256 << 20, "bytes", "packets searched for the state dump (save --with-statedump)", \
	  "the range is saved without one", "1 s; the dump of a busy machine has 20 MB")

#define LIMITS_TEXT(X) \
	X(TEXT_BYTES, 4096, "bytes", "a text of a trace: a name, a path, an annotation", \
	  "it is cut", "the longest path of Linux") \
	X(FILE_NAME_BYTES, 100, "bytes", "a file name made of a text", \
	  "it is cut", "with what is appended it fits any file system") \
	X(LOG_EVENT_BYTES, 64 << 10, "bytes", "all fields of an event in the log", \
	  "the last ones are replaced by ...", "they are stored for every line that is shown") \
	X(LOG_TEXT_BYTES, 256, "bytes", "a text in a line of the log", \
	  "it is cut, and ends with ...", "a line is read by people") \
	X(LOG_ELEMENTS, 32, "elements", "elements of a list in a line of the log", \
	  "the others are replaced by ...", "a line is read by people") \
	X(FILTER_BYTES, 4096, "bytes", "a filter", \
	  "it is refused", "people type less") \
	X(FILTER_DEPTH, 64, "levels", "nested parentheses and negations in a filter", \
	  "it is refused", "the parser recurses") \
	X(REGEX_STEPS, 100000, "steps", "a regular expression of a filter, for one text", \
	  "the text does not match", "(a+)+$ takes years for forty letters")

#define LIMITS_MODEL(X) \
	X(SLICE_BYTES, 2000000000, "bytes", "a slice file", \
	  "it is refused, and not written", "lengths are 32-bit numbers in memory; 100 GB of a trace need 1 GB") \
	X(SLICE_RATIO, 64, "bytes", "memory that a byte of a slice file takes, beside --memory for all of them", \
	  "the file is refused: name a larger --memory", "recordings take 8 to 12; equal values can take 8,000") \
	X(SLICE_WAIT_SECONDS, 10, "s", "a new slice of a watched directory waits for the one before it", \
	  "it is shown after a gap", "several processes may map at once; a chunk takes a second") \
	X(HISTORY_TRACES, 20, "traces", "slowest traces of a minute of history (blktop reduce --history)", \
	  "the others are left out, and counted", "what a person looks at; an incident has more of one kind") \
	X(RULES, 1000, "rules", "rules for spans (--spans)", \
	  "they are refused", "each is checked for every event that it names") \
	X(PRESETS, 200, "presets", "presets (files of rules in blktop/presets)", \
	  "the others are not known", "there are as many programs with events of their own as a person can name") \
	X(TABLE_ENTRIES, 65536, "entries", "definitions of all tables of rules that are retained", \
	  "the oldest is forgotten, and this is said", "25 MB at most; large programs define 10,000 objects") \
	X(RULE_CLASSES, 8192, "events", "events of different names that match patterns of rules", \
	  "rules do not apply to the others", "the interfaces of GPUs have 3,000 functions") \
	X(RULE_LINE_BYTES, 4096, "bytes", "a line of a file of rules", \
	  "the file is refused", "people type less") \
	X(RULE_TEXT_BYTES, 256, "bytes", "a text that a rule takes from an event", \
	  "it is cut", "it is a part of a span's name") \
	X(HELD_RECORDS, 256, "records", "records of a thread that wait for an earlier one, from another CPU", \
	  "they are applied in the order of their stamps", "10 us have 100 events of a thread") \
	X(EARLY_EVENTS, 64, "events", "events of block requests that wait for an earlier one, from another CPU", \
	  "the oldest is applied as it is", "10 us have 10 events of a disk") \
	X(SUGGEST_KEYS, 65536, "keys", "objects or threads that are open at once while rules are looked for", \
	  "that key is not proposed", "a program has fewer open requests; events without ends have more") \
	X(EVENT_COUNTERS, 6, "counters", "perf counters of an event class", \
	  "the others are not read", "a CPU has about this number of counters") \
	X(COUNTERS, 64, "counters", "perf counters of a thread or a CPU", \
	  "the others are not counted", "only hostile traces have more") \
	X(OPEN_SPANS, 4096, "spans", "functions, and spans by rules, that are open on a thread or of a key", \
	  "the oldest quarter stays open", "a stack of calls has 200") \
	X(TRACE_FUNCTIONS, 65536, "spans", "functions in one trace of spans", \
	  "the next one begins another trace", "a trace is held until it is complete") \
	X(SPAN_NOTES, 1024, "annotations", "events of logs that rules attach to a span", \
	  "the later ones are counted, not stored", "a person reads a hundred; a span of an hour has more") \
	X(RULE_LINKS, 4, "links", "links that one event of a rule sends, and that it takes", \
	  "the file is refused", "a message has one") \
	X(LINK_OUTS, 65536, "messages", "messages of links (link_out) that wait for being taken", \
	  "the oldest is not linked, which is reported if one was looked for", "a robot sends 10,000 a second") \
	X(LINKED_SPANS, 4096, "spans", "spans of one trace whose parent is a link (parent=link)", \
	  "the next one begins another trace", "messages may go round without an end") \
	X(SPAN_HALVES, 16, "halves", "halves of a span: clients and servers that report one id", \
	  "annotations of the others are added to the first half", "the tracer reports 2") \
	X(OPEN_TRACE_SECONDS, 60, "s", "a trace of spans without an end after its last event", \
	  "its spans stay incomplete", "a process that is silent for longer was probably killed") \
	X(PAST_SECONDS, 5, "s", "how long before its event the thread of a span with duration= is known", \
	  "its earlier time is unknown", "slow operations take less") \
	X(PAST_CHARGES, 65536, "states", "states of a thread that are kept for such spans", \
	  "their earlier time is unknown", "a second of a thread that makes 30,000 calls") \
	X(SPAN_WAITS, 32, "waits", "waits of a span that are listed", \
	  "the shorter ones are counted", "the longest explain it") \
	X(SPAN_CALLS, 64, "calls", "slow system calls of a span that are listed", \
	  "the shorter ones are counted", "the longest explain it") \
	X(SPAN_NEIGHBOURS, 8, "threads", "threads that ran while a span waited for the CPU", \
	  "the others are summed", "the longest explain it") \
	X(WAKER_DEPTH, 8, "threads", "wakers of wakers", \
	  "the chain ends", "a request goes through fewer threads") \
	X(WAKER_LOOKS, 4096, "waits", "waits examined to explain one", \
	  "the rest is one entry", "a waker may have waited a million times meanwhile") \
	X(SECOND_CALLS, 64, "calls", "slowest system calls of a second that are listed, of each of four kinds", \
	  "the others are only in the histogram", "about a screen") \
	X(SECOND_LOCKS, 16384, "cells", "pairs of waiter and holder of a lock in a second", \
	  "waits of further ones are counted for their thread alone", "4 MB of memory") \
	X(HOLDER_WAITS, 64, "waits", "a holder's newest waits that say what it did while it held a lock", \
	  "what it did before them is unknown", "each release copies them") \
	X(LOCKS, 65536, "locks", "locks for which it is known when they were last released", \
	  "all are forgotten: the holder counts from the wait's beginning", "programs wait for fewer") \
	X(OPERATIONS, 32768, "operations", \
	  "operations (service and name of spans), fewer if --memory is below 200M", \
	  "further ones have no usual values", "every name that contains an id is an operation") \
	X(FORKS, 256, "processes", "generations of forks through which a descriptor is followed", \
	  "it has no name", "every lookup walks them") \
	X(GAP_STEPS, 1000000, "steps", "steps (seconds) of a gap in the trace", \
	  "those before the last are not made", "11 days; a wrong clock may claim a century") \
	X(PATH_DEPTH, 64, "threads", "successive threads of a critical path", \
	  "the rest is one segment", "the walk recurses") \
	X(PATH_LOOKS, 4000000, "spans", "spans and annotations examined for one critical path", \
	  "the rest is shown as waits", "0.5 s") \
	X(FLAME_DEPTH, 250, "frames", "frames below each other in the view flame", \
	  "deeper time counts for the last of them", "paths are as long; programs nest 20 spans") \
	X(METRIC_SUMS, 1 << 18, "sums", "different values of calls that a metric is split by", \
	  "further ones are (other)", "60 MB of memory") \
	X(WORDS_BYTES, 16384, "bytes", "names joined in one cell: annotations, tags, services", \
	  "... in place of the rest", "a cell is read by people") \
	X(THRESHOLDS, 256, "thresholds", "--threshold and the lines of --thresholds", \
	  "further ones are refused", "each one sums every second") \
	X(THRESHOLD_SECONDS, 3600, "s", "'for' of a threshold", \
	  "the threshold is refused", "buffers hold less than an hour") \
	X(ALERT_VALUES, 10000, "values", "values of its fields that a threshold distinguishes", \
	  "further ones are not judged, and counted", "each has a history of its own: 10 MB of memory") \
	X(BASELINE_BYTES, 16 << 20, "bytes", "a file of --baseline", \
	  "it is refused", "10,000 values have 1 MB") \
	X(ALERTS, 4096, "alerts", "alerts that are listed, over all thresholds", \
	  "the oldest is dropped, and counted", "nobody reads more")

#define LIMITS_LIVE(X) \
	X(RELAY_TIMEOUT_SECONDS, 10, "s", "an answer of a relay, unless --timeout is given", \
	  "the program reconnects; batch gives up", "a slow network answers sooner") \
	X(TIMEOUT_SECONDS, 86400, "s", "--timeout and --late-bound", \
	  "the option is refused", "a day") \
	X(LOST_SESSION_SECONDS, 60, "s", "a session that has ended, until it is created again (--wait: forever)", \
	  "the live session ends; streams of a broken connection end", "a restarted daemon needs 10 s") \
	X(BROKEN_ANSWERS, 4, "answers", "invalid answers of a relay in a row", \
	  "blktop gives up the relay", "one may be a fault of the network") \
	X(STUCK_CONNECTIONS, 4, "connections", "connections in a row that break during a packet", \
	  "blktop gives up the relay, exit status 4", "a network that drops large packets never delivers one") \
	X(STREAM_ERRORS, 20, "errors", "errors of a relay about one stream in a row", \
	  "the stream ends", "a relay says so of packets that were overwritten") \
	X(RELAY_SESSIONS, 4096, "sessions", "sessions that a relay lists", \
	  "the list is refused", "relays have 10") \
	X(RELAY_STREAMS, 16384, "streams", "streams of one session of a relay", \
	  "the answer is invalid", "1,000 CPUs have 3,000") \
	X(RELAY_TRACES, 16384, "traces", "traces of one session of a relay", \
	  "the answer is invalid", "buffers per process make a trace for each process") \
	X(RELAY_NAME_BYTES, 255, "bytes", "a name of a host or session in an answer", \
	  "the answer is invalid", "the protocol's fields") \
	X(URL_BYTES, 1024, "bytes", "the URL of a relay or session", \
	  "it is refused", "longer than all its parts may be") \
	X(HOST_BYTES, 255, "bytes", "the name of a relay's host", \
	  "the URL is refused", "DNS has no longer ones") \
	X(TARGET_BYTES, 63, "bytes", "the name of a traced host in a URL", \
	  "the URL is refused", "the protocol's field") \
	X(SESSION_BYTES, 254, "bytes", "the name of a session in a URL", \
	  "the URL is refused", "the protocol's field") \
	X(LIVE_TIMER_SECONDS, 10, "s", "a live timer that a relay reports, and that of --live-timer", \
	  "of a relay: it counts as this; the option: refused", "streams are waited for two live timers") \
	X(KERNEL_BUFFER_BYTES, INT64_C(4) << 30, "bytes", "memory for kernel events of each CPU (--kernel-buffer)", \
	  "the option is refused", "a typing error would take the machine's memory") \
	X(CUT_STREAMS, 16384, "streams", "streams of broken connections, held for a reconnect", \
	  "the oldest end: packets missing then are not counted", "as many as a session may have") \
	X(ATTACHED_SESSIONS, 64, "sessions", "relay sessions of one name that are attached at a time", \
	  "the others wait for the end of one; exit status 4 if they are not read", \
	  "LTTng makes 2: kernel, user space") \
	X(NEWS_MS, 1000, "ms", "data held until the relay was asked for new streams", \
	  "it is shown; events of such streams may come late", "a relay answers in 20 ms") \
	X(CLASS_MS, 1000, "ms", "packets held for metadata that was announced, or a clock of their host", \
	  "they are read without it", "metadata is sent before the packets that need it") \
	X(METADATA_SECONDS, 5, "s", "packets of a trace without metadata", \
	  "it is reported: exit status 3", "a daemon sends it within a second") \
	X(UNREADABLE_SECONDS, 5, "s", "a live session of which nothing can be read", \
	  "an error: exit status 1", "metadata may still be on its way") \
	X(SPOOL_QUEUE_BYTES, 64 << 20, "bytes", "packets that wait for the spool's disk", \
	  "packets are dropped from the spool, and counted", "a second of a busy machine") \
	X(SPOOL_ENTRIES, 100000, "files", "files examined in a directory of spools", \
	  "the others are neither counted nor deleted", "a trace has some hundred") \
	X(SPOOL_END_SECONDS, 3, "s", "the spool's disk at the end", \
	  "what is not written is lost", "the program must end") \
	X(RECORD_LAST_SECONDS, 24 * 60 * 60, "s", "record --last", \
	  "a longer time is refused: the option is an error", "a day of a busy machine fills a disk") \
	X(FOLLOWED_PROCESSES, 4096, "processes", "processes that a session follows (--pid, -- PROGRAM)", \
	  "further children are not traced", "the tracer has a tracker for each") \
	X(FOLLOWED_DEPTH, 64, "levels", "children of children of a followed process", \
	  "those below are not traced", "a shell's pipeline has 3") \
	X(PROGRAM_END_SECONDS, 3, "s", "a followed program after SIGTERM", \
	  "SIGKILL", "the program must end") \
	X(PROGRAM_OUTPUT_BYTES, 32 << 10, "bytes", "output of a followed program, printed when the screen has closed", \
	  "only the last ones are stored", "some 400 lines; it is held in memory") \
	X(SNAPSHOTS, 50, "snapshots", "snapshots of one run", \
	  "no more are taken", "each may be as large as the buffers") \
	X(SESSION_NAME_BYTES, 200, "bytes", "--session", \
	  "the option is refused", "file names are made of it") \
	X(PERF_COUNTERS, 16, "counters", "--perf", \
	  "the option is refused", "each is 8 bytes of every event") \
	X(PROBE_BYTES, 200, "bytes", "a name in --kprobe", \
	  "the option is refused", "the kernel has no longer symbols")

#define LIMITS_IMPORT(X) \
	X(SPAN_OBJECT_BYTES, 4 << 20, "bytes", "a span in a file of spans", \
	  "the file is read up to there: exit status 3", "the whole span is in memory; tracers write 10 kB") \
	X(SPAN_OBJECT_DEPTH, 32, "levels", "nested objects and lists in a span", \
	  "the file is read up to there: exit status 3", "the parser recurses; Zipkin has 3") \
	X(SPAN_LISTS, 4, "lists", "lists around the spans of a file", \
	  "the file is read up to there: exit status 3", "Zipkin writes 2") \
	X(SPANS, 1 << 27, "spans", "spans in all files", \
	  "an error", "16 bytes of each are held: 2 GB") \
	X(SAME_SPANS, 256, "spans", "reports of one span", \
	  "the others are left out, and counted", "each is compared with all; tracers write 2") \
	X(MERGED_FACTS, 1000, "facts", "annotations, and tags, of a span that several reports add up to", \
	  "those of further reports are left out", "each is compared with all") \
	X(ENDPOINTS, 512, "endpoints", "services with their addresses, each with a clock, in files of spans", \
	  "the clocks of the others are unknown", "clocks are compared in pairs") \
	X(SPAN_NESTING, 64, "spans", "spans of one thread around an imported wait", \
	  "the outer ones do not get it", "every wait is added to each")

#define LIMITS_SEND(X) \
	X(SENT_METRICS, 64, "metrics", "--metrics", \
	  "the option is refused", "each one sums every second") \
	X(SENT_VALUES, 10000, "values", "--most-values: values of its fields that a sent metric distinguishes", \
	  "the option is refused; values above it are summed as (other), and counted", "10 MB for a metric") \
	X(LABEL_BYTES, 200, "bytes", "a label of a sent metric", \
	  "it is cut", "servers refuse longer ones") \
	X(SCRAPERS, 16, "connections", "clients of --listen at a time", \
	  "the oldest is closed", "there is one server, which asks once in some seconds") \
	X(SCRAPED_TEXTS, 4, "texts", "different answers of --listen that clients are reading", \
	  "the oldest connection with an answer is closed", "each may have some MB; Prometheus takes a second") \
	X(REQUEST_BYTES, 8192, "bytes", "what a client of --listen sends", \
	  "the connection is closed", "Prometheus sends 400") \
	X(GRAPHITE_BYTES, 16 << 20, "bytes", "lines that wait for --graphite", \
	  "the oldest are dropped, and counted", "an hour of some hundred values") \
	X(GRAPHITE_AGAIN_BYTES, 8 << 20, "bytes", "lines that are sent again after a reconnect", \
	  "older ones that were acknowledged are taken for stored", "more than the buffers of a connection hold") \
	X(GRAPHITE_FIRST_SECONDS, 1, "s", "a connection to a server of --graphite that is lost", \
	  "what it acknowledged counts as sent; else its lines are sent again, or dropped: exit status 4", \
	  "a proxy without its target closes each connection at once") \
	X(GRAPHITE_END_SECONDS, 10, "s", "at the end, a server of --graphite that acknowledges nothing new", \
	  "what waits or is not acknowledged is dropped, and counted: exit status 4", "the program must end") \
	X(FORWARD_BYTES, 32 << 20, "bytes", "spans that wait for --forward", \
	  "the oldest are dropped, and counted", "a minute of a busy machine, in some requests at once") \
	X(FORWARD_SPANS, 250, "spans", "about so many in a request of --forward", \
	  "further ones go into another request", "servers refuse bodies of some MB") \
	X(FORWARD_TRIES, 8, "requests", "with the same spans, to a server of --forward that fails", \
	  "the spans are dropped, and counted", "they may be the reason; half a minute") \
	X(FORWARD_PAUSE_SECONDS, 30, "s", "Retry-After of a server of --forward", \
	  "a longer pause is not made", "a server may say anything") \
	X(FORWARD_END_SECONDS, 20, "s", "at the end, a server of --forward that takes nothing", \
	  "what waits is dropped, and counted: exit status 4", "the program must end") \
	X(ANSWER_BYTES, 8192, "bytes", "an answer to --forward", \
	  "it is no answer if that is its head; else the connection is closed", "servers send 200") \
	X(ANSWER_SECONDS, 10, "s", "a connection, a request and its answer of --forward", \
	  "the connection is closed, and the spans are sent again", "collectors answer within a second") \
	X(SCRAPE_SECONDS, 10, "s", "a request to --listen, and the time until its answer was taken", \
	  "the connection is closed", "Prometheus waits 10 s for an answer")

#define LIMITS_PROGRAM(X) \
	X(THREADS, 256, "threads", "--jobs", \
	  "the option is refused", "no disk feeds more") \
	X(SLICES, 65536, "pieces", "--slices", \
	  "the option is refused", "each costs some stitching") \
	X(REPORT_REQUESTS, 1000, "requests", "--worst of a report", \
	  "the option is refused", "a page is read by people") \
	X(THIN_AGE, 100000, "units", "the number in --thin", \
	  "the option is refused", "270 years, if these are days; the number of ns fits") \
	X(LISTENING_SECONDS, 86400, "s", "-n with --doctor", \
	  "the option is refused", "a day") \
	X(EMPTY_SECONDS, 600, "steps", "seconds in a row without an event that --each prints", \
	  "a longer gap is passed over", "a wrong clock would print millions") \
	X(CAUSES, 200, "requests", "slow requests of the view causes that are examined, the slowest first", \
	  "the others are counted without a cause", "each costs some 20 us, once a second") \
	X(SINCE, 1000, "requests", "slow requests that are examined to find since when it is slow, backwards in time", \
	  "the answer is: then or earlier", "each costs some 20 us, once a second") \
	X(SETTINGS_BYTES, 1 << 20, "bytes", "a file of settings, rules, typed lines or bookmarks", \
	  "it is not read; --spans: an error", "people write it") \
	X(SETTINGS_WARNINGS, 100, "lines", "invalid lines of settings that are reported one by one", \
	  "the others are counted", "the file may be no settings at all") \
	X(TYPED_LINES, 100, "lines", "typed lines stored of each kind", \
	  "the oldest is forgotten", "the list is read by people") \
	X(TYPED_BYTES, 4000, "bytes", "a typed line", \
	  "a longer one is not stored, and cannot be typed", "people type less") \
	X(BOOKMARKS, 1000, "bookmarks", "bookmarks of one trace", \
	  "a file of more is refused, and no more are set", "the list is read by people") \
	X(LOG_LINES, 9000, "lines", "lines of the log held on the screen", \
	  "the others are read again when needed", "some MB") \
	X(MESSAGES, 10000, "messages", "messages held on the screen (!)", \
	  "the oldest is forgotten, and counted", "some MB") \
	X(TERMINAL_ANSWER_BYTES, 64, "bytes", "a terminal's answer about its background", \
	  "it is ignored", "terminals answer with 25") \
	X(SCREENSHOT_COLS, 1000, "columns", "--size of a screenshot", \
	  "the option is refused", "no screen is as wide") \
	X(SCREENSHOT_ROWS, 500, "rows", "--size of a screenshot", \
	  "the option is refused", "no screen is as high") \
	X(COPY_BYTES, 48 << 10, "bytes", "what y copies to the terminal", \
	  "it is cut at a row", "terminals drop longer ones")

#define LIMITS_RING(X) \
	X(RING_TEXT_BYTES, 64 << 20, "bytes", "a text or a compressed block in a file of trace-cmd", \
	  "the file is refused", "blocks have a few pages; symbols of a kernel 10 MB") \
	X(RING_PAGE_BYTES, 16 << 20, "bytes", "a page of a ring buffer", \
	  "the file is refused", "Linux allows 64 KiB; buffer_subbuf_size_kb more") \
	X(RING_NAME_BYTES, 128, "bytes", "a name of an event of the kernel, or of its field", \
	  "the event is left out", "the longest of Linux 7.2 has 50") \
	X(RING_FIELDS, 256, "fields", "fields of an event of the kernel", \
	  "the event is left out", "the longest of Linux 7.2 has 60") \
	X(RING_CPUS, 8192, "CPUs", "CPUs in a file of trace-cmd", \
	  "the file is refused", "as many as Linux allows: NR_CPUS") \
	X(BTF_BYTES, 64 << 20, "bytes", "the kernel's type information", \
	  "packet headers are not recorded", "kernels of distributions have 4 to 10 MB") \
	X(BTF_MEMBERS, 10000, "members", "members of the kernel's structs looked at for one", \
	  "it is not found", "the structs that are read have up to 200")

#define LIMITS_ALL(X) \
	LIMITS_METADATA(X) LIMITS_PACKETS(X) LIMITS_TEXT(X) LIMITS_MODEL(X) LIMITS_LIVE(X) LIMITS_IMPORT(X) \
	LIMITS_SEND(X) LIMITS_PROGRAM(X) LIMITS_RING(X)

/* The negative member makes the enum signed, also for values above INT_MAX. */
#define LIMIT_CONSTANT(id, value, unit, what, above, why) enum { LIMIT_SIGNED_##id = -1, LIMIT_##id = (value) };
LIMITS_ALL(LIMIT_CONSTANT)
#undef LIMIT_CONSTANT

struct limit {
	const char *group;	/* "Metadata"; rows of a group follow each other */
	const char *id;		/* "metadata-bytes" */
	uint64_t value;
	const char *unit;
	const char *what, *above, *why;		/* parts of sentences, without a full stop */
};

/* Row i; NULL: there are no more. Static strings. Any thread. */
const struct limit *limits_at(size_t i);

#endif
