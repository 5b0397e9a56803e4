#ifndef HALO_FAST_RECEIVE_H
#define HALO_FAST_RECEIVE_H

#include "fast_engine.h"

/* clashes of dtype.Code, for a code of which C has made one. */
HALO_HIDDEN int halo_clash(uint8_t sent, uint8_t own);

/* Whether a message of n bytes, with this aux, has other elements than a receive: Go then makes the error. */
static inline int differ(uint32_t aux, uint64_t n, uint8_t own) {
	uint8_t sent = (uint8_t)aux;
	return HALO_UNLIKELY(sent != own) && n > 0 && sent != 0 && own != 0 && halo_clash(sent, own);
}

/* Whether a receive is one from MPI_PROC_NULL, and correct. */
HALO_HIDDEN int halo_receive_nothing(const void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm);

/* Receives a message by the queues of C: one that has arrived, or one that comes for a receive behind those that C has
 * posted. The lock is held, and is given up. */
HALO_HIDDEN int halo_receive_queued(const struct way *w, void *buf, uint64_t room, uint8_t code, int source, int tag, MPI_Status *status);

#endif
