/* MPI_Pack and MPI_Unpack of short data: see fast.go. */
#ifndef HALO_FAST_PACK_H
#define HALO_FAST_PACK_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "copy.h"

/* They return the number of bytes packed or unpacked, or 0 if the call goes to Go. */
HALO_HIDDEN int64_t halo_pack(const void *memory, int64_t count, MPI_Datatype datatype, void *packed, int64_t bytes, int64_t at, MPI_Comm comm);
HALO_HIDDEN int64_t halo_unpack(const void *packed, int64_t bytes, int64_t at, void *memory, int64_t count, MPI_Datatype datatype, MPI_Comm comm);

/* Advances a position, which is an int or an MPI_Count. */
#define HALO_MOVED(position, bytes)                         \
	({                                                      \
		int64_t moved_ = HALO_THERE(position) ? (bytes) : 0; \
		if (moved_ > 0)                                     \
			*(position) += (__typeof__(*(position)))moved_;   \
		moved_ > 0;                                         \
	})
#define halo_fast_pack(memory, count, datatype, packed, bytes, position, comm) \
	HALO_MOVED(position, halo_pack(memory, count, datatype, packed, bytes, *(position), comm))
#define halo_fast_unpack(packed, bytes, position, memory, count, datatype, comm) \
	HALO_MOVED(position, halo_unpack(packed, bytes, *(position), memory, count, datatype, comm))

/* Go calls this first: see newFast. */
HALO_HIDDEN void halo_know_movers(uintptr_t sparse, uintptr_t blocks, uintptr_t string, uintptr_t every_other, uintptr_t gather);

#endif
