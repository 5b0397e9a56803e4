/* MPI_Send, MPI_Rsend, MPI_Isend and MPI_Irsend of short messages between processes of a node: see fast.go. */
#ifndef HALO_FAST_SEND_H
#define HALO_FAST_SEND_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

HALO_HIDDEN int halo_fast_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
HALO_HIDDEN int halo_fast_isend(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request);

#endif
