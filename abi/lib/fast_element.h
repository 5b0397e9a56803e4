/* Elements that C updates by itself: single ones in fast_element.c, rows in fast_row.c. */
#ifndef HALO_FAST_ELEMENT_H
#define HALO_FAST_ELEMENT_H

#include "fast.h"

/* An element that is about to be updated, the first of a row. */
struct element {
	char *at;
	int size, kind;
	uint64_t *writer;  /* word of its stripe */
	uint64_t *readers; /* how many of the own process are in it */
	uint64_t me;       /* 1 + the local index of the own process */
	char *counts;      /* of that stripe, of the first process */
	char *stripes;     /* words of all stripes */
	int64_t stripe;
	int64_t processes;
	int64_t more;      /* how many stripes the row has beside that one */
	int bare;          /* by atomic operations of the processor alone */
};

#define BIASED(e) ((e)->me << HALO_STRIPE_BIAS)

/* Finds an element, the first of count in a row, and reports whether it may be updated here;
 * loads says that an operation begins with a load. */
HALO_HIDDEN int halo_find_element(struct element *e, MPI_Datatype datatype, int rank, MPI_Aint disp, uint64_t count, MPI_Win win, int loads);

/* Whether an operation is done here on elements of a kind. */
HALO_HIDDEN int halo_legal(MPI_Op op, int kind);

#endif
