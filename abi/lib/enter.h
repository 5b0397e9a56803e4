/*
 * The calls from C to Go. Go code runs on a stack of its own, and debuggers find the way back to
 * the stack of C by the first argument of each call: the canonical frame address of the function
 * of enter.c that calls Go. Its return address lies below that address, and the frame pointer of
 * its caller below the return address. abi/unwind writes this rule into the unwind tables of the
 * installed library.
 */
#ifndef HALO_ENTER_H
#define HALO_ENTER_H

#include <stdint.h>

#include "compiler.h"

/* Runs a procedure by its number in the table, and returns the error code. The second byte of large
 * is a floating-point environment, an op.Env. */
HALO_HIDDEN int halo_enter_run(int number, int large, void *words);

/* Continues a collective that C has begun: see bind.Lib.Await. */
HALO_HIDDEN int halo_enter_await(uintptr_t comm, void *word, uint64_t n);

/* Finds the error of members that disagree: see bind.Lib.Disagreement. */
HALO_HIDDEN int halo_enter_disagreement(uintptr_t comm, int last);

/* Wakes the sleeping members of a communicator. */
HALO_HIDDEN void halo_enter_ring(uintptr_t comm);

/* Wakes a process of the node: see bind.Lib.WakeLocal. */
HALO_HIDDEN void halo_enter_wake(int local, int room);

/* Finishes a Lock or Unlock that C has made: see bind.Lib.AfterLock. */
HALO_HIDDEN void halo_enter_after_lock(uintptr_t win, int rank, int what);

/* Spreads the members of a communicator over the cores. */
HALO_HIDDEN void halo_enter_balance(uintptr_t comm);

#endif
