/* Elements that C updates itself: single ones in fast_element.c, rows in fast_row.c. */
#ifndef HALO_FAST_ELEMENT_H
#define HALO_FAST_ELEMENT_H

#include "fast.h"

/* The first of a row of elements to update. */
struct element {
	char *at;
	int size, kind;
	uint64_t *writer;  /* the lock word of its stripe */
	uint64_t *readers; /* the count of readers of this process in the stripe */
	uint64_t me;       /* 1 + the index of this process on the node */
	char *counts;      /* the counts of readers of that stripe, from process 0 on */
	char *stripes;     /* the lock words of all stripes */
	int64_t stripe;
	int64_t processes;
	int64_t more;      /* the number of further stripes that the row reaches */
	int bare;          /* atomic instructions suffice, without stripes */
};

#define BIASED(e) ((e)->me << HALO_STRIPE_BIAS)

/* Finds the first of count contiguous elements, and returns whether C may update them. loads says
 * that the operation begins with a load. */
HALO_HIDDEN int halo_find_element(struct element *e, MPI_Datatype datatype, int rank, MPI_Aint disp, uint64_t count, MPI_Win win, int loads);

/* Whether C carries out an operation on elements of a kind. */
HALO_HIDDEN int halo_legal(MPI_Op op, int kind);

#endif
