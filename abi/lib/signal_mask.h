/* The signals that threads of Go block: see signal_mask.c. */
#ifndef HALO_SIGNAL_MASK_H
#define HALO_SIGNAL_MASK_H

#include <signal.h>

#include "compiler.h"

/*
 * Lets the next change of the mask of signals that Go's runtime makes in this thread block all signals but those
 * that the runtime needs: see signal_mask.c. The mask of the thread before the call is stored in before, if it is not
 * NULL.
 */
HALO_HIDDEN void halo_block_after_go(sigset_t *before);

/* Sets the mask of the calling thread to before, except that the signals that the runtime needs stay unblocked. */
HALO_HIDDEN void halo_unblock(const sigset_t *before);

/* Set in the threads of Go's runtime. */
HALO_HIDDEN extern __thread int halo_of_runtime __attribute__((tls_model("initial-exec")));

#endif
