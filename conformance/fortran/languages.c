/* The program of languages.f90: MPI_Init in C, MPI_FINALIZE in Fortran. */
#include <mpi.h>

void check_(int *step, int *code);
void fails_(int *code, int *bound);
void last_(void);

static int calls;

static void handler(MPI_Comm *comm, int *code, ...) {
	if (*comm == MPI_COMM_WORLD && *code == MPI_ERR_RANK)
		calls++;
}

int main(int argc, char **argv) {
	int step = 0, code, bound, flag, *tag_ub;
	MPI_Errhandler h;
	check_(&step, &code);
	if (code != 0)
		return code;
	MPI_Init(&argc, &argv);
	step = 1;
	check_(&step, &code);
	if (code != 0)
		return code;
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	MPI_Errhandler_free(&h);
	fails_(&code, &bound);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
	if (calls != 1 || code != MPI_ERR_RANK || !flag || bound != *tag_ub)
		return 10 + calls;
	last_();
	MPI_Finalized(&flag);
	step = 2;
	check_(&step, &code);
	return flag ? code : 20;
}
