/* MPI_Type_size, MPI_Type_get_extent, MPI_Type_get_true_extent and MPI_Type_commit: see fast.go. */
#ifndef HALO_FAST_TYPE_H
#define HALO_FAST_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "copy.h"
#include "datatype.h"
#include "handle_table.h"
#include "record.h"

/* Size, bounds and true bounds of a type. */
struct halo_bounds {
	int64_t size, lb, extent, true_lb, true_extent;
};

/* dtype.Type.Size, Extent and TrueExtent. Returns 0 for an unknown handle. */
static inline int halo_bounds(MPI_Datatype datatype, struct halo_bounds *b) {
	struct halo_type type = halo_type(datatype);
	if (type.size != 0) {
		*b = (struct halo_bounds){type.size, 0, type.extent, 0, type.true_extent};
		return 1;
	}
	struct halo_entry *e = halo_find(&halo_datatypes, (uintptr_t)datatype);
	if (e == NULL)
		return 0;
	const char *t = e->descriptor;
	int64_t lb = I64(t, TYPE_LB), true_lb = I64(t, TYPE_TRUE_LB);
	*b = (struct halo_bounds){I64(t, TYPE_SIZE), lb, I64(t, TYPE_UB) - lb,
	                          true_lb, I64(t, TYPE_TRUE_UB) - true_lb};
	return 1;
}

/* dtype.Type.Commit. For a predefined type there is nothing to do. */
static inline int halo_fast_type_commit(MPI_Datatype *datatype) {
	if (!HALO_THERE(datatype))
		return 0;
	if (halo_type(*datatype).size != 0)
		return 1;
	struct halo_entry *e = halo_find(&halo_datatypes, (uintptr_t)*datatype);
	if (e == NULL)
		return 0;
	__atomic_store_n(HALO_AT(uint32_t, e->descriptor, HALO_TYPE_COMMITTED), 1, __ATOMIC_SEQ_CST);
	return 1;
}

/* For an int and for an MPI_Count. If the size does not fit into an int, the call goes to Go, which
 * stores MPI_UNDEFINED. */
#define halo_fast_type_size(datatype, result) \
	({ \
		struct halo_bounds known; \
		HALO_THERE(result) && halo_bounds(datatype, &known) && (int64_t)(__typeof__(*(result)))known.size == known.size && \
			(*(result) = (__typeof__(*(result)))known.size, 1); \
	})

/* For MPI_Aint and for MPI_Count, which are the same type. */
static inline int halo_fast_type_extent(MPI_Datatype datatype, int64_t *lb, int64_t *extent) {
	struct halo_bounds b;
	if (!HALO_THERE(lb) || !HALO_THERE(extent) || !halo_bounds(datatype, &b))
		return 0;
	*lb = b.lb;
	*extent = b.extent;
	return 1;
}

static inline int halo_fast_type_true_extent(MPI_Datatype datatype, int64_t *lb, int64_t *extent) {
	struct halo_bounds b;
	if (!HALO_THERE(lb) || !HALO_THERE(extent) || !halo_bounds(datatype, &b))
		return 0;
	*lb = b.true_lb;
	*extent = b.true_extent;
	return 1;
}

#endif
