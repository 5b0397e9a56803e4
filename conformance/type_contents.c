/* Envelope and contents describe how a type was made; the types in them are new references. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Datatype t, inner[2];
	int ni, na, nd, combiner, ints[10];
	MPI_Aint addresses[10];

	OK(MPI_Type_get_envelope(MPI_INT, &ni, &na, &nd, &combiner));
	CHECK(combiner == MPI_COMBINER_NAMED && ni == 0 && na == 0 && nd == 0, "%d: %d %d %d", combiner, ni, na, nd);

	OK(MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &t));
	OK(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner));
	CHECK(combiner == MPI_COMBINER_VECTOR && ni == 3 && na == 0 && nd == 1, "%d: %d %d %d", combiner, ni, na, nd);
	OK(MPI_Type_get_contents(t, ni, na, nd, ints, addresses, inner));
	CHECK(ints[0] == 3 && ints[1] == 2 && ints[2] == 5 && inner[0] == MPI_DOUBLE, "%d %d %d", ints[0], ints[1], ints[2]);
	OK(MPI_Type_free(&t));

	MPI_Datatype derived;
	OK(MPI_Type_contiguous(4, MPI_CHAR, &derived));
	OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, 16}, (MPI_Datatype[]){derived, MPI_INT}, &t));
	OK(MPI_Type_free(&derived));
	OK(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner));
	CHECK(combiner == MPI_COMBINER_STRUCT && ni == 3 && na == 2 && nd == 2, "%d: %d %d %d", combiner, ni, na, nd);
	OK(MPI_Type_get_contents(t, ni, na, nd, ints, addresses, inner));
	CHECK(ints[0] == 2 && ints[1] == 1 && ints[2] == 2 && addresses[1] == 16 && inner[1] == MPI_INT, "%d %d %d", ints[0], ints[1], ints[2]);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_get_envelope(inner[0], &ni, &na, &nd, &combiner));
	CHECK(combiner == MPI_COMBINER_CONTIGUOUS && ni == 1 && nd == 1, "%d: %d %d %d", combiner, ni, na, nd);
	OK(MPI_Type_free(&inner[0]));

	char name[MPI_MAX_OBJECT_NAME];
	int len;
	OK(MPI_Type_get_name(MPI_DOUBLE, name, &len));
	CHECK(strcmp(name, "MPI_DOUBLE") == 0 && len == 10, "%s", name);
	OK(MPI_Type_dup(MPI_INT, &t));
	OK(MPI_Type_set_name(t, "ours"));
	OK(MPI_Type_get_name(t, name, &len));
	CHECK(strcmp(name, "ours") == 0, "%s", name);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t));
	int bytes;
	OK(MPI_Type_size(t, &bytes));
	CHECK(bytes == 8, "%d", bytes);
	return done();
}
