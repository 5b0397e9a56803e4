/* Messages to and from MPI_PROC_NULL. */
#ifndef HALO_PROC_NULL_H
#define HALO_PROC_NULL_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

/* Whether a message is one to MPI_PROC_NULL, and correct: nothing is to be done. */
HALO_HIDDEN int halo_send_nothing(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

/* The same for a receive from MPI_PROC_NULL. */
HALO_HIDDEN int halo_receive_nothing(const void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm);

#endif
