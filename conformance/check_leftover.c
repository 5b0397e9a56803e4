/* In checking mode MPI_Finalize lists the objects that are not freed, each kind with the place of the
 * call that has made it: the lines below that end with the kind in a comment (Halo). The second
 * object of each pair is freed. */
#include "check.h"

static void sum(void *in, void *inout, int *n, MPI_Datatype *type) { (void)in, (void)inout, (void)n, (void)type; }
static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int v = 1, got;
	MPI_Comm comm;
	MPI_Group group;
	MPI_Datatype type;
	MPI_Op op;
	MPI_Info info;
	MPI_Errhandler errhandler;
	MPI_Win win;
	void *mem;
	MPI_Request r;
	for (int i = 0; i < 2; i++) {
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* communicator */
		if (i) OK(MPI_Comm_free(&comm));
		OK(MPI_Comm_group(MPI_COMM_WORLD, &group)); /* group of MPI_Comm_group */
		if (i) OK(MPI_Group_free(&group));
		OK(MPI_Type_contiguous(3, MPI_INT, &type)); /* datatype of MPI_Type_contiguous */
		if (i) OK(MPI_Type_free(&type));
		OK(MPI_Op_create(sum, 1, &op)); /* operation of MPI_Op_create */
		if (i) OK(MPI_Op_free(&op));
		OK(MPI_Info_create(&info)); /* info of MPI_Info_create */
		if (i) OK(MPI_Info_free(&info));
		OK(MPI_Comm_create_errhandler(handler, &errhandler)); /* error handler of MPI_Comm_create_errhandler */
		if (i) OK(MPI_Errhandler_free(&errhandler));
		OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win)); /* window */
		if (i) OK(MPI_Win_free(&win));
		OK(MPI_Isend(&v, 1, MPI_INT, rank, i, MPI_COMM_WORLD, &r)); /* request of MPI_Isend */
		OK(MPI_Recv(&got, 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (i) OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	OK(MPI_Type_create_f90_real(6, 30, &type)); /* cannot be freed */
	OK(MPI_Send_init(&v, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &r)); /* persistent request of MPI_Send_init */
	return MPI_Finalize();
}
