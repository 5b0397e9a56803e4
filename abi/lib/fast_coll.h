/*
 * MPI_Barrier, MPI_Bcast and MPI_Allreduce (fast_coll.c), MPI_Allgather and MPI_Alltoall (fast_coll_exchange.c) of short
 * data. They return the error code, or HALO_LEFT if the call goes to Go and nothing has happened.
 */
#ifndef HALO_FAST_COLL_H
#define HALO_FAST_COLL_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

#define HALO_LEFT (-1)

HALO_HIDDEN int halo_coll_barrier(MPI_Comm comm);
HALO_HIDDEN int halo_coll_bcast(void *buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm);
HALO_HIDDEN int halo_coll_allreduce(const void *send, void *recv, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
HALO_HIDDEN int halo_coll_allgather(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm);
HALO_HIDDEN int halo_coll_alltoall(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm);

#endif
