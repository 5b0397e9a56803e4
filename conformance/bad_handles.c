/* Handles that are null, freed, of another kind or invented give their class (Halo). */
#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int v = 0, n = 0;
	MPI_Comm c, stale;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
	stale = c;
	OK(MPI_Comm_free(&c));
	MPI_Comm comms[] = {MPI_COMM_NULL, stale, (MPI_Comm)MPI_INT, (MPI_Comm)MPI_GROUP_EMPTY, (MPI_Comm)(intptr_t)-1, (MPI_Comm)&v, (MPI_Comm)(intptr_t)0x7fff12345678};
	for (size_t i = 0; i < sizeof comms / sizeof *comms; i++) {
		FAILS(MPI_Send(&v, 1, MPI_INT, 0, 0, comms[i]), MPI_ERR_COMM);
		FAILS(MPI_Comm_size(comms[i], &n), MPI_ERR_COMM);
		c = comms[i];
		FAILS(MPI_Comm_free(&c), MPI_ERR_COMM);
		FAILS(MPI_Bcast(&v, 1, MPI_INT, 0, comms[i]), MPI_ERR_COMM);
	}
	MPI_Datatype t, old;
	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	FAILS(MPI_Send(&v, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
	old = t;
	OK(MPI_Type_free(&t));
	MPI_Datatype types[] = {MPI_DATATYPE_NULL, old, (MPI_Datatype)MPI_COMM_WORLD, (MPI_Datatype)(intptr_t)-1, (MPI_Datatype)&v};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		FAILS(MPI_Send(&v, 1, types[i], 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
		FAILS(MPI_Type_size(types[i], &n), MPI_ERR_TYPE);
		t = types[i];
		FAILS(MPI_Type_free(&t), MPI_ERR_TYPE);
	}
	/* The next datatype has the handle of the freed one, except in checking mode. */
	const char *check = getenv("HALO_CHECK");
	int checks = check != NULL && strcmp(check, "1") == 0;
	OK(MPI_Type_contiguous(3, MPI_INT, &t));
	CHECK((t == old) == !checks);
	if (checks)
		FAILS(MPI_Type_size(old, &n), MPI_ERR_TYPE);
	OK(MPI_Type_free(&t));
	t = MPI_INT;
	FAILS(MPI_Type_free(&t), MPI_ERR_TYPE); /* predefined */
	MPI_Request r = (MPI_Request)&v;
	FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	MPI_Group g = (MPI_Group)MPI_COMM_WORLD;
	FAILS(MPI_Group_size(g, &n), MPI_ERR_GROUP);
	FAILS(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
	FAILS(MPI_Allreduce(&v, &n, 1, MPI_INT, (MPI_Op)MPI_INT, MPI_COMM_SELF), MPI_ERR_OP);
	FAILS(MPI_Allreduce(&v, &n, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF), MPI_ERR_OP);
	FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
	FAILS(MPI_Win_fence(0, (MPI_Win)&v), MPI_ERR_WIN);
	FAILS(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
	return done();
}
