/* What C knows of the predefined types, by their handles. */
#ifndef HALO_DATATYPE_H
#define HALO_DATATYPE_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "fast_layout.h"

/* What C may do with elements of a predefined type, see FastKind in abi/bind; 0 if C does not know
 * the type. */
enum halo_kind { HALO_PADDED = 1, HALO_DENSE, HALO_BITS, HALO_SIGNED, HALO_UNSIGNED, HALO_FLOATING };

struct halo_type {
	uint8_t size; /* in bytes, packed */
	uint8_t kind; /* an enum halo_kind; from HALO_DENSE on the layout in memory is the packed form */
	uint8_t extent, true_extent; /* in bytes; both lower bounds are 0 */
	uint8_t code;                /* dtype.Code of messages */
};

HALO_HIDDEN extern struct halo_type halo_types[256]; /* from handle 0x200 on */
static inline struct halo_type halo_type(MPI_Datatype datatype) {
	uintptr_t i = (uintptr_t)datatype - 0x200;
	return i < 256 ? halo_types[i] : (struct halo_type){0, 0, 0, 0, 0};
}

/* The size of count elements, or HALO_COPY_LESS, which is too long for C, if it is not known. */
static inline uint64_t halo_bytes(int64_t count, MPI_Datatype datatype) {
	struct halo_type type = halo_type(datatype);
	return type.kind >= HALO_DENSE && (uint64_t)count < HALO_COPY_LESS ? (uint64_t)count * type.size : HALO_COPY_LESS;
}

/* Go calls this once for each predefined type: see Fast in abi/bind. */
HALO_HIDDEN void halo_know_type(uintptr_t handle, int size, int extent, int true_extent, int kind, int code);

#endif
