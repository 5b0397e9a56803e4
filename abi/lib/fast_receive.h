#ifndef HALO_FAST_RECEIVE_H
#define HALO_FAST_RECEIVE_H

#include "fast_engine.h"

/* Receives a message by the queues of C: one that has arrived, or one that comes for a receive behind those that C has
 * posted. The lock is held, and is given up. */
HALO_HIDDEN int halo_receive_queued(const struct way *w, void *buf, uint64_t room, int source, int tag, MPI_Status *status);

#endif
