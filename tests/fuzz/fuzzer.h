/* SPDX-License-Identifier: GPL-2.0-only */
/* What a fuzz target may define: clang's libFuzzer calls these, and replay.c does without it. */
#ifndef BLK_TEST_FUZZER_H
#define BLK_TEST_FUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t n_one, const uint8_t *two, size_t n_two, uint8_t *out,
				 size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);	/* not of the target */

#endif
