/* Calls of procedures in Go. */
#ifndef HALO_CALL_H
#define HALO_CALL_H

#include <stdint.h>

#include "enter.h"
#include "environment.h"
#include "thread.h"

/* haloCall for a thread that is not attached or whose environment is not Go's, and in checking mode.
 * It records the return address of the call. */
int halo_call_noted(int number, int large, void *words, void *caller);

/* The return address that halo_call_noted has recorded for this thread, 0 outside of such calls. */
uintptr_t halo_caller(void);

/* Calls a procedure by its number in the table, and returns the error code. It is always inlined,
 * so that __builtin_return_address is the return address of the procedure. */
static inline __attribute__((always_inline)) int haloCall(int number, int large, void *words) {
	if (__builtin_expect(halo_attached != 1 || halo_environment_odd(halo_environment()), 0))
		return halo_call_noted(number, large, words, __builtin_return_address(0));
	return halo_enter_run(number, large, words);
}

#endif
