#ifndef HALO_FAST_MESSAGE_H
#define HALO_FAST_MESSAGE_H

/*
 * Short messages between processes of a node: see fast_message.c and fast_receive.c. Each function returns whether it has
 * done all of the call of that name, as those of fast.h.
 */

HALO_HIDDEN int halo_fast_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
HALO_HIDDEN int halo_fast_isend(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request);
HALO_HIDDEN int halo_fast_irecv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request);
HALO_HIDDEN int halo_fast_recv(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);

/*
 * Completes requests of receives that C has posted, and of operations that were complete when they were
 * started, among which may be MPI_REQUEST_NULL. If flag is NULL it waits a short time for them. Returns
 * whether it has done all of the call: if not it may have received messages, but has completed no request.
 */
HALO_HIDDEN int halo_complete(int count, MPI_Request requests[], MPI_Status statuses[], int *flag);

/* The shmfmt.ProcessRecord of this process, NULL before MPI_Init and after MPI_Finalize. */
HALO_HIDDEN extern char *halo_process;

#endif
