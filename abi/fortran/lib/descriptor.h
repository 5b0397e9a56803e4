/*
 * descriptor.h: the descriptors that a compiler passes for TYPE(*), DIMENSION(..). gfortran has its
 * own form, which has been the same since version 9; other compilers pass that of
 * ISO_Fortran_binding.h to every procedure. abi/fortran/build defines HALO_GFORTRAN.
 */
#ifndef HALO_DESCRIPTOR_H
#define HALO_DESCRIPTOR_H

#include <stddef.h>

#ifdef HALO_GFORTRAN

typedef struct {
	void *base; /* the first element */
	size_t offset;
	struct {
		size_t length; /* of an element, in bytes */
		int version;
		signed char rank, type;
		short attribute;
	} dtype;
	ptrdiff_t span; /* strides are multiples of it; 0: of the length of an element */
	struct {
		ptrdiff_t stride, lower, upper;
	} dim[15];
} halo_descriptor;

static inline void *halo_first(const halo_descriptor *d) { return d->base; }
static inline int halo_rank(const halo_descriptor *d) { return d->dtype.rank; }
static inline ptrdiff_t halo_length(const halo_descriptor *d) { return (ptrdiff_t)d->dtype.length; }

/* The number of elements of a dimension; negative for the last dimension of an assumed-size array. */
static inline ptrdiff_t halo_extent(const halo_descriptor *d, int k) { return d->dim[k].upper - d->dim[k].lower + 1; }

/* The distance of neighbours in a dimension, in bytes. */
static inline ptrdiff_t halo_stride(const halo_descriptor *d, int k) {
	return d->dim[k].stride * (d->span ? d->span : halo_length(d));
}

#else

#include <ISO_Fortran_binding.h>

typedef CFI_cdesc_t halo_descriptor;

static inline void *halo_first(const halo_descriptor *d) { return d->base_addr; }
static inline int halo_rank(const halo_descriptor *d) { return d->rank; }
static inline ptrdiff_t halo_length(const halo_descriptor *d) { return (ptrdiff_t)d->elem_len; }
static inline ptrdiff_t halo_extent(const halo_descriptor *d, int k) { return d->dim[k].extent; }
static inline ptrdiff_t halo_stride(const halo_descriptor *d, int k) { return d->dim[k].sm; }

#endif

/* halo_plain for the dimensions from k on; neighbours in it must be `next` bytes apart. */
static inline int halo_plain_from(const halo_descriptor *d, int k, ptrdiff_t next) {
	for (; k < halo_rank(d); k++) {
		ptrdiff_t n = halo_extent(d, k);
		if (n <= 0)
			return 1;
		if (n > 1 && halo_stride(d, k) != next)
			return 0;
		next *= n;
	}
	return 1;
}

/* Whether the elements of an array follow each other in memory. So do those of an assumed-size array,
 * whose last extent is not known. Most arrays have one dimension, and need no loop. */
static inline int halo_plain(const halo_descriptor *d) {
	if (__builtin_expect(halo_rank(d) == 1, 1))
		return halo_stride(d, 0) == halo_length(d) || halo_extent(d, 0) <= 1;
	return halo_plain_from(d, 0, halo_length(d));
}

#endif
