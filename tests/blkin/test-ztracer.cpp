/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C++ classes: compiles, links, and ids go where they should. */
#include "ztracer.hpp"

#include <cstdio>

static int failed;

static void ok(bool good, const char *what)
{
	static int n;
	std::printf("%sok %d - C++: %s\n", good ? "" : "not ", ++n, what);
	failed += !good;
}

int main()
{
	using namespace ZTracer;
	ztrace_init();
	auto here = ZTraceEndpoint::create("192.0.2.1", 80, "here");
	auto there = ZTraceEndpoint::create("192.0.2.2", 81, "there");
	auto root = ZTrace::create("root", here);
	auto child = ZTrace::create("child", root);
	auto other = ZTrace::create("other", child, there);
	blkin_trace_info r, c, o, h, g;
	root->get_trace_info(&r);
	child->get_trace_info(&c);
	other->get_trace_info(&o);
	auto half = ZTrace::create("half", there, &c);
	auto grandchild = ZTrace::create("grandchild", there, &c, true);
	half->get_trace_info(&h);
	grandchild->get_trace_info(&g);
	ok(root->is_sampled() && r.parent_span_id == 0, "a root");
	ok(c.trace_id == r.trace_id && c.parent_span_id == r.span_id, "a child");
	ok(o.parent_span_id == c.span_id && other->get_endpoint() == there, "on another endpoint");
	ok(h.span_id == c.span_id && h.parent_span_id == c.parent_span_id, "the same span elsewhere");
	ok(g.trace_id == c.trace_id && g.parent_span_id == c.span_id, "a child of ids");
	ok(root->event("sr") == 0 && root->keyval("k", "v") == 0 &&
	   root->keyval("n", INT64_C(1), BLKIN_DEBUG) == 0, "annotations");
	ok(root->set_trace_info(&c) == 0, "other ids");
	std::printf("1..%d\n", 7);
	return failed != 0;
}
