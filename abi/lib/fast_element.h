/*
 * Updates of one element: MPI_Fetch_and_op and MPI_Compare_and_swap, and MPI_Accumulate and MPI_Get_accumulate of one
 * element (fast_accumulate.h). Rows of several elements begin with an element, too.
 */
#ifndef HALO_FAST_ELEMENT_H
#define HALO_FAST_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "fast_layout.h"

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

/* Updates one element. old is NULL for an operation that fetches nothing. */
HALO_HIDDEN int halo_update(const void *value, void *old, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win);

HALO_HIDDEN int halo_fast_compare_and_swap(const void *value, const void *compare, void *old, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win);

static inline int halo_fast_fetch_and_op(const void *origin, void *result, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
	return result != NULL && halo_update(origin, result, datatype, rank, disp, op, win);
}

#endif
