#ifndef HALO_FAST_MESSAGE_H
#define HALO_FAST_MESSAGE_H

/*
 * Short messages between processes of a node: see fast_message.c. Each function returns whether it has
 * done all of the call of that name, as those of fast.h.
 */

HALO_HIDDEN int halo_fast_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
HALO_HIDDEN int halo_fast_isend(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request);
HALO_HIDDEN int halo_fast_recv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);

#endif
