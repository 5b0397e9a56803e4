/* The half in C of odd_sections.f90: descriptors of gfortran that no section of a program has, and random ones of up to four
 * dimensions. Each is sent as integers, which must be the elements in their order in Fortran. */
#define HALO_GFORTRAN
#include "../../abi/fortran/lib/descriptor.h"
#include <mpi.h>

void mpi_send_f08ts_(const halo_descriptor *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_irecv_f08ts_(const halo_descriptor *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
int odd_descriptors(void);

enum { MIDDLE = 10000, MOST = 4096 };
static int memory[2 * MIDDLE];

/* Adds the elements of dimensions 0 to k in their order. */
static int *elements(const halo_descriptor *d, int k, const int *at, int *to) {
	if (k < 0) {
		*to = *at;
		return to + 1;
	}
	for (ptrdiff_t i = 0; i < halo_extent(d, k); i++)
		to = elements(d, k - 1, at + i * d->dim[k].stride, to);
	return to;
}

static halo_descriptor described(int rank, const ptrdiff_t n[], const ptrdiff_t stride[]) {
	halo_descriptor d = {.base = &memory[MIDDLE], .dtype = {.length = sizeof(int), .rank = (signed char)rank}, .span = sizeof(int)};
	for (int k = 0; k < rank; k++) {
		d.dim[k].lower = 1;
		d.dim[k].upper = n[k];
		d.dim[k].stride = stride[k];
	}
	return d;
}

/* Sends the elements of a section, and receives them again where no two of them are one. */
static int travels(const halo_descriptor *d, int back) {
	static int want[MOST], got[MOST];
	MPI_Fint n, self = MPI_Comm_toint(MPI_COMM_SELF), type = MPI_Type_toint(MPI_INTEGER), zero = 0, code = MPI_SUCCESS, request = 0;
	for (int i = 0; i < 2 * MIDDLE; i++)
		memory[i] = i;
	n = (MPI_Fint)(elements(d, halo_rank(d) - 1, d->base, want) - want);
	MPI_Request r;
	MPI_Irecv(got, MOST, MPI_INTEGER, 0, 0, MPI_COMM_SELF, &r);
	mpi_send_f08ts_(d, &n, &type, &zero, &zero, &self, &code);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	if (code != MPI_SUCCESS)
		return 0;
	for (int i = 0; i < n; i++)
		if (got[i] != want[i])
			return 0;
	if (!back)
		return 1;
	for (int i = 0; i < n; i++)
		got[i] = want[i] = -i - 1;
	mpi_irecv_f08ts_(d, &n, &type, &zero, &zero, &self, &request, &code);
	MPI_Send(got, n, MPI_INTEGER, 0, 0, MPI_COMM_SELF);
	r = MPI_Request_fromint(request);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	elements(d, halo_rank(d) - 1, d->base, want);
	int changed = 0;
	for (int i = 0; i < 2 * MIDDLE; i++)
		changed += memory[i] < 0;
	for (int i = 0; i < n; i++)
		if (want[i] != got[i])
			return 0;
	return changed == n;
}

static unsigned seed = 1;
static int below(int n) { return (int)((seed = seed * 1103515245 + 12345) >> 16) % n; }

/* 0, or the number of the descriptor that fails. */
int odd_descriptors(void) {
	const struct { int rank; ptrdiff_t n[3], stride[3]; int back; } list[] = {
		{1, {5}, {0}, 0},               /* one element, five times */
		{2, {3, 4}, {1, 0}, 0},         /* one column, four times */
		{2, {3, 4}, {0, 7}, 0},
		{2, {4, 2}, {0, 0}, 0},
		{3, {2, 0, 3}, {2, 9, 50}, 1},  /* none */
		{1, {1}, {-17}, 1},
		{2, {1, 6}, {99, -3}, 1},
		{3, {2, 3, 4}, {-1, -2, -6}, 1}, /* contiguous, backwards */
		{3, {2, 1, 4}, {1, 0, 2}, 1},   /* contiguous, around a dimension of one */
	};
	for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
		halo_descriptor d = described(list[k].rank, list[k].n, list[k].stride);
		if (!travels(&d, list[k].back))
			return (int)k + 1;
	}
	/* a scalar */
	halo_descriptor scalar = described(0, NULL, NULL);
	if (!travels(&scalar, 1))
		return 20;
	for (int turn = 0; turn < 200; turn++) {
		ptrdiff_t n[4], stride[4], next = 1;
		int rank = 1 + below(4), order = below(2);
		for (int k = 0; k < rank; k++) { /* no two elements in one place */
			int at = order ? rank - 1 - k : k;
			n[at] = 1 + below(5);
			stride[at] = (next + below(3)) * (below(2) ? 1 : -1);
			next = (stride[at] < 0 ? -stride[at] : stride[at]) * n[at];
		}
		halo_descriptor d = described(rank, n, stride);
		if (!travels(&d, 1))
			return 100 + turn;
	}
	return 0;
}
