/* Handlers that leave a call by siglongjmp: see jump.c. */
#ifndef HALO_JUMP_H
#define HALO_JUMP_H

#include <stdint.h>

#include "compiler.h"

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

#endif
