/* Every constructor of datatypes: size, extent and what a message of it moves. */
#include "check.h"

enum { n = 64 };

/* moves sends an element of a type of ints to itself, and checks the places of the received ints. */
static void moves(const char *name, MPI_Datatype t, int count, const int *place, MPI_Aint extent) {
	int from[n], to[n], packed[n], bytes = 0;
	MPI_Aint lb = -1, ext = -1;
	MPI_Status s;
	OK(MPI_Type_commit(&t));
	OK(MPI_Type_size(t, &bytes));
	OK(MPI_Type_get_extent(t, &lb, &ext));
	CHECK(bytes == 4 * count && ext == extent, "%s: size %d, extent %ld, not %d and %ld", name, bytes, (long)ext, 4 * count, (long)extent);
	for (int i = 0; i < n; i++) {
		from[i] = 1000 + i;
		to[i] = packed[i] = -1;
	}
	OK(MPI_Sendrecv(from, 1, t, rank, 0, packed, n, MPI_INT, rank, 0, MPI_COMM_WORLD, &s));
	for (int i = 0; i < count; i++) CHECK(packed[i] == 1000 + place[i], "%s: element %d is %d, not %d", name, i, packed[i], 1000 + place[i]);
	OK(MPI_Sendrecv(packed, count, MPI_INT, rank, 0, to, 1, t, rank, 0, MPI_COMM_WORLD, &s));
	for (int i = 0, k; i < n; i++) {
		for (k = 0; k < count && place[k] != i; k++) {}
		CHECK(to[i] == (k < count ? 1000 + i : -1), "%s: %d at %d", name, to[i], i);
	}
	OK(MPI_Type_free(&t));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Datatype t, u;
	OK(MPI_Type_contiguous(3, MPI_INT, &t));
	moves("contiguous", t, 3, (int[]){0, 1, 2}, 12);
	OK(MPI_Type_vector(2, 2, 5, MPI_INT, &t));
	moves("vector", t, 4, (int[]){0, 1, 5, 6}, 28);
	OK(MPI_Type_create_hvector(3, 1, 8, MPI_INT, &t));
	moves("hvector", t, 3, (int[]){0, 2, 4}, 20);
	OK(MPI_Type_indexed(3, (int[]){1, 0, 2}, (int[]){4, 9, 1}, MPI_INT, &t));
	moves("indexed", t, 3, (int[]){4, 1, 2}, 16);
	OK(MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){0, 12}, MPI_INT, &t));
	moves("hindexed", t, 3, (int[]){0, 3, 4}, 20);
	OK(MPI_Type_create_indexed_block(2, 2, (int[]){6, 0}, MPI_INT, &t));
	moves("indexed_block", t, 4, (int[]){6, 7, 0, 1}, 32);
	OK(MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){8, 0}, MPI_INT, &t));
	moves("hindexed_block", t, 2, (int[]){2, 0}, 12);
	OK(MPI_Type_contiguous(2, MPI_INT, &u));
	OK(MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 32}, (MPI_Datatype[]){MPI_INT, u}, &t));
	OK(MPI_Type_free(&u)); /* types made of u stay valid */
	moves("struct", t, 4, (int[]){0, 1, 8, 9}, 40);
	OK(MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 2}, (int[]){1, 3}, MPI_ORDER_C, MPI_INT, &t));
	moves("subarray", t, 4, (int[]){8, 9, 13, 14}, 80);
	OK(MPI_Type_create_subarray(2, (int[]){5, 4}, (int[]){2, 2}, (int[]){3, 1}, MPI_ORDER_FORTRAN, MPI_INT, &t));
	moves("subarray of Fortran", t, 4, (int[]){8, 9, 13, 14}, 80);
	OK(MPI_Type_create_darray(2, 1, 1, (int[]){8}, (int[]){MPI_DISTRIBUTE_CYCLIC}, (int[]){2}, (int[]){2}, MPI_ORDER_C, MPI_INT, &t));
	moves("darray", t, 4, (int[]){2, 3, 6, 7}, 32);
	OK(MPI_Type_create_resized(MPI_INT, 0, 20, &t));
	moves("resized", t, 1, (int[]){0}, 20);
	OK(MPI_Type_create_resized(MPI_INT, 0, 12, &u));
	OK(MPI_Type_contiguous(3, u, &t));
	OK(MPI_Type_free(&u));
	moves("contiguous of resized", t, 3, (int[]){0, 3, 6}, 36);
	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &u));
	OK(MPI_Type_dup(u, &t));
	OK(MPI_Type_free(&u));
	moves("dup", t, 2, (int[]){0, 2}, 12);

	MPI_Aint lb, extent;
	OK(MPI_Type_create_hvector(2, 1, -8, MPI_INT, &t));
	OK(MPI_Type_get_true_extent(t, &lb, &extent));
	CHECK(lb == -8 && extent == 12, "true extent %ld from %ld", (long)extent, (long)lb);
	OK(MPI_Type_free(&t));
	return done();
}
