/* section.h: a section of an array whose elements do not follow each other in memory. */
#ifndef HALO_SECTION_H
#define HALO_SECTION_H

#include "glue.h"

/*
 * The section in its simplest form. The call of MPI sees a virtual contiguous buffer, in which the
 * elements follow each other in their order in Fortran; length bytes that follow each other in it do
 * so in memory, too. Dimensions are from the fastest to the slowest.
 */
struct section {
	ptrdiff_t length, total; /* bytes of a piece, and of all */
	int rank;                /* at least 1 */
	ptrdiff_t n[15], stride[15];
};

HALO_HIDDEN void halo_simplify(struct section *s, const halo_descriptor *d);

/* Where a byte of the virtual buffer is, relative to the first element. The last dimension goes on
 * beyond its end, and before its beginning. */
HALO_HIDDEN ptrdiff_t halo_place(const struct section *s, ptrdiff_t at);

/* Copies the first bytes of a section, which begins at first, from or to contiguous memory. */
HALO_HIDDEN void halo_move(const struct section *s, char *first, char *memory, ptrdiff_t bytes, int out);

/*
 * Makes a datatype for count elements of a datatype in a section: the same basic elements in the same
 * order, each at its place. 0: there is none, since an element would be torn or lies outside of the
 * section, or the datatype is a distributed array.
 */
HALO_HIDDEN int halo_compose(const struct section *s, MPI_Datatype type, MPI_Count count, MPI_Datatype *made);
/*
 * The same for a block of count elements, which may be anywhere, with the extent that leads from it to the next
 * one: the k-th of such datatypes is the k-th block. 0 as well if blocks do not begin with the lowest index in all
 * dimensions but the last.
 */
HALO_HIDDEN int halo_compose_block(const struct section *s, MPI_Datatype type, MPI_Count count, MPI_Datatype *made);

#endif
