#include "fast_reduce_local.h"

#include "copy.h"
#include "datatype.h"
#include "kernel.h"

/* mpi.ReduceLocal */
int halo_fast_reduce_local(const void *in, void *inout, int64_t count, MPI_Datatype datatype, MPI_Op op) {
	const void *kernel = halo_kernel_of(datatype, op);
	uint64_t bytes = (uint64_t)count * halo_type(datatype).size;
	if (kernel == NULL || !halo_kernel_fits(op) || count <= 0 || count > (int64_t)1 << 40 || !HALO_THERE(in) || !HALO_THERE(inout) || !halo_apart(in, bytes, inout, bytes))
		return 0;
	halo_apply(kernel, inout, in, inout, bytes, NULL);
	return 1;
}
