/* Tests of functions in C: EXPECT prints a value that is not the expected one, and counts it in failed. */
#include <stdio.h>

static int failed;

#define EXPECT(expected, call)                                                                   \
	do {                                                                                         \
		long got_ = (long)(call);                                                                \
		if (got_ != (long)(expected)) {                                                          \
			printf("%s:%d: %s is %ld, want %ld\n", __FILE__, __LINE__, #call, got_, (long)(expected)); \
			failed++;                                                                            \
		}                                                                                        \
	} while (0)
