/* SPDX-License-Identifier: GPL-2.0-only */
/* Is this a build with sanitizers? Sanitizers start programs, read files, and report memory that is not freed. */
#ifndef BLK_BASE_SANITIZED_H
#define BLK_BASE_SANITIZED_H

#if defined(__has_feature)
#define CLANG_HAS(x) __has_feature(x)
#else
#define CLANG_HAS(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || CLANG_HAS(address_sanitizer) || \
	CLANG_HAS(thread_sanitizer) || CLANG_HAS(memory_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
