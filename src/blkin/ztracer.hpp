/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libblkin for C++ (11 or later), with the classes of BlkKin. Header only. Each object has its own copies of
 * names, and a span holds a reference to its endpoint.
 *
 *     auto here = ZTracer::ZTraceEndpoint::create("10.0.0.1", 80, "web");
 *     auto request = ZTracer::ZTrace::create("GET /", here);
 *     request->event("sr");
 *     auto phase = ZTracer::ZTrace::create("render", request);
 *     phase->keyval("bytes", 4096);
 */
#ifndef ZTRACER_HPP
#define ZTRACER_HPP

#include "blkin.h"

#include <memory>
#include <string>

namespace ZTracer {

class ZTraceEndpoint;
class ZTrace;
typedef std::shared_ptr<ZTraceEndpoint> ZTraceEndpointRef;
typedef std::shared_ptr<ZTrace> ZTraceRef;

inline int ztrace_init()
{
	return blkin_init();
}

class ZTraceEndpoint {
public:
	ZTraceEndpoint(const std::string &ip, int port, const std::string &name)
		: ip_(ip), name_(name)
	{
		blkin_init_endpoint(&endpoint_, ip_.c_str(), port, name_.c_str());
	}

	ZTraceEndpoint(const ZTraceEndpoint &) = delete;
	ZTraceEndpoint &operator=(const ZTraceEndpoint &) = delete;

	static ZTraceEndpointRef create(const std::string &ip, int port, const std::string &name)
	{
		return std::make_shared<ZTraceEndpoint>(ip, port, name);
	}

private:
	friend class ZTrace;
	std::string ip_, name_;
	blkin_endpoint endpoint_;
};

class ZTrace {
public:
	/* A root span. */
	ZTrace(const std::string &name, ZTraceEndpointRef endpoint)
		: name_(name), endpoint_(endpoint)
	{
		blkin_init_new_trace(&trace_, name_.c_str(), pointer());
	}

	/* A child, on its parent's endpoint or another one. */
	ZTrace(const std::string &name, const ZTraceRef &parent)
		: ZTrace(name, parent, parent->endpoint_)
	{
	}

	ZTrace(const std::string &name, const ZTraceRef &parent, ZTraceEndpointRef endpoint)
		: name_(name), endpoint_(endpoint)
	{
		blkin_init_child(&trace_, &parent->trace_, pointer(), name_.c_str());
	}

	/* From ids that came with a request: that span itself, or a child of it. */
	ZTrace(const std::string &name, ZTraceEndpointRef endpoint, const blkin_trace_info *info,
	       bool child = false)
		: name_(name), endpoint_(endpoint)
	{
		blkin_init_child_info(&trace_, info, pointer(), name_.c_str());
		if (!child)
			blkin_set_trace_info(&trace_, info);
	}

	ZTrace(const ZTrace &) = delete;
	ZTrace &operator=(const ZTrace &) = delete;

	template <typename... Args> static ZTraceRef create(Args &&...args)
	{
		return std::make_shared<ZTrace>(std::forward<Args>(args)...);
	}

	ZTraceEndpointRef get_endpoint() const
	{
		return endpoint_;
	}

	bool is_sampled() const
	{
		return blkin_is_sampled(&trace_);
	}

	int get_trace_info(blkin_trace_info *info) const
	{
		return blkin_get_trace_info(&trace_, info);
	}

	int set_trace_info(const blkin_trace_info *info)
	{
		return blkin_set_trace_info(&trace_, info);
	}

	int event(const char *what, int level = BLKIN_WARNING)
	{
		blkin_annotation a;
		blkin_init_timestamp_annotation(&a, what, nullptr);
		return record(&a, level);
	}

	int keyval(const char *key, const char *val, int level = BLKIN_WARNING)
	{
		blkin_annotation a;
		blkin_init_string_annotation(&a, key, val, nullptr);
		return record(&a, level);
	}

	int keyval(const char *key, int64_t val, int level = BLKIN_WARNING)
	{
		blkin_annotation a;
		blkin_init_integer_annotation(&a, key, val, nullptr);
		return record(&a, level);
	}

private:
	blkin_endpoint *pointer() const
	{
		return endpoint_ ? &endpoint_->endpoint_ : nullptr;
	}

	int record(blkin_annotation *a, int level)
	{
		a->level = level;
		return blkin_record(&trace_, a);
	}

	std::string name_;
	ZTraceEndpointRef endpoint_;
	blkin_trace trace_;
};

}

#endif
