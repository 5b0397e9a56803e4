/* How a thread enters Go and returns to C, for handlers that leave a call: see jump.c. */
#ifndef HALO_INSIDE_H
#define HALO_INSIDE_H

#include "compiler.h"

/*
 * How deep the thread is in Go: 1 from where C enters Go until it returns, 0 in the program, also in its functions that
 * Go calls. See jump.c.
 */
HALO_HIDDEN extern __thread int halo_inside __attribute__((tls_model("initial-exec")));

/* Set while a handler of this thread has asked to leave a call. */
HALO_HIDDEN extern __thread int halo_leaving __attribute__((tls_model("initial-exec")));

/* Jumps to where a handler wanted to, out of C that Go has returned to, or has called. */
HALO_HIDDEN __attribute__((cold, noreturn)) void halo_jump(void);

/* Enters Go. */
static inline int halo_in(void) {
	int outer = halo_inside;
	halo_inside = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return outer;
}

/* Goes back to C. */
static inline void halo_out(int outer) {
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	halo_inside = outer;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(halo_leaving, 0))
		halo_jump();
}

#endif
