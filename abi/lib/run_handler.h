/* Calls of the program's handlers. */
#ifndef HALO_RUN_HANDLER_H
#define HALO_RUN_HANDLER_H

#include <signal.h>
#include <stdint.h>

#include "compiler.h"

/* Calls a handler of the program for a signal that the kernel has delivered, so that the handler may leave by siglongjmp
 * the call that it has interrupted: see jump.c. */
HALO_HIDDEN void halo_run_handler(uintptr_t handler, int number, siginfo_t *information, void *context);

/* Whether a thread's own instructions cause such signals. */
static inline int halo_is_fault(int number) {
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP || number == SIGSYS;
}

#endif
