/* MPI_Reduce_local. */
#ifndef HALO_FAST_REDUCE_LOCAL_H
#define HALO_FAST_REDUCE_LOCAL_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

HALO_HIDDEN int halo_fast_reduce_local(const void *in, void *inout, int64_t count, MPI_Datatype datatype, MPI_Op op);

#endif
