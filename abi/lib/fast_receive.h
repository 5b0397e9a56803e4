/* MPI_Recv and MPI_Irecv of short messages between processes of a node: see fast.go. */
#ifndef HALO_FAST_RECEIVE_H
#define HALO_FAST_RECEIVE_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

HALO_HIDDEN int halo_fast_recv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);
HALO_HIDDEN int halo_fast_irecv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request);

#endif
