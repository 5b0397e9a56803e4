#ifndef HALO_HANDLER_H
#define HALO_HANDLER_H

#include <signal.h>

#include "fast.h"

/* Calls a handler of the program for a signal that the kernel has delivered, so that the handler may leave by siglongjmp
 * the call that it has interrupted: see jump.c. */
HALO_HIDDEN void halo_run_handler(uintptr_t handler, int number, siginfo_t *information, void *context);

/* Set in the threads of Go's runtime. */
HALO_HIDDEN extern __thread int halo_of_runtime __attribute__((tls_model("initial-exec")));

#endif
