#ifndef HALO_STKFLT_H
#define HALO_STKFLT_H

#include <signal.h>

#include "compiler.h"

/* Makes SIGSTKFLT pending in the calling thread, which blocks it: its handler then has the thread block all signals but
 * those that the runtime needs. */
HALO_HIDDEN void halo_ask(void);

/* Takes back what halo_ask has asked for, if the signal has not been delivered. */
HALO_HIDDEN void halo_asked_no_more(void);

/* sigaction for the program's action of SIGSTKFLT: see stkflt.c. */
HALO_HIDDEN int halo_stkflt(const struct sigaction *act, struct sigaction *old);

#endif
