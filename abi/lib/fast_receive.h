#ifndef HALO_FAST_RECEIVE_H
#define HALO_FAST_RECEIVE_H

#include "fast_engine.h"

/* Receives a message while C has posted receives. The lock is held, and is given up. */
HALO_HIDDEN int halo_receive_after(const struct way *w, void *buf, uint64_t room, int source, int tag, MPI_Status *status);

#endif
