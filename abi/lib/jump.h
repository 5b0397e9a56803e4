#ifndef HALO_JUMP_H
#define HALO_JUMP_H

#include "fast.h"

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

/* A handler of the program that is running, and what it has interrupted. */
struct halo_handler {
	struct halo_handler *outer;
	void *context;      /* a ucontext_t */
	int fault;          /* it is the thread's own instruction that has caused the signal */
	void *place[5];     /* of __builtin_setjmp */
};

/* The innermost handler of the thread. */
HALO_HIDDEN extern __thread struct halo_handler *halo_handler __attribute__((tls_model("initial-exec")));

/* Whether this thread wants to leave a call. */
HALO_HIDDEN int halo_leaves(void);

/* Jumps, if this thread wants to: Go calls it where it waits, with no lock held. */
HALO_HIDDEN void halo_leave(void);

/* Ends the wait that SIGSTKFLT has interrupted, and reports whether the signal is the library's own. */
HALO_HIDDEN int halo_leave_again(void *context);

/* How many threads want to. */
HALO_HIDDEN extern uint32_t halo_leavers;

/* Sets the floating-point environment of the program, for a thread that leaves all stays in Go. */
HALO_HIDDEN void halo_environment_leave(void);

#endif
