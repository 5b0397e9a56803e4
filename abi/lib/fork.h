/* Calls that must not be made: in a child of fork, or in a signal handler. */
#ifndef HALO_FORK_H
#define HALO_FORK_H

#include "compiler.h"
#include "word.h"

/* Set in a child of fork: see fork.c. There the only thread is not attached, so that only threads
 * that are not attached need to check this. */
HALO_HIDDEN extern int halo_forked;

/* Reports a call in a child of fork, or in a signal handler that has interrupted a call which holds a
 * lock, and returns the error code or ends the process. */
HALO_HIDDEN __attribute__((cold)) int halo_call_in_child(int number, word *words);
HALO_HIDDEN __attribute__((cold)) int halo_call_in_handler(int number);

#endif
