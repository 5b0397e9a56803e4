/* The half in C of constants.F90. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>

void maxima(int n[7]);
intptr_t address_in_c(int *x);
int spawned(void);

void maxima(int n[7]) {
	const int all[] = {MPI_MAX_PROCESSOR_NAME, MPI_MAX_ERROR_STRING, MPI_MAX_OBJECT_NAME, MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL,
		MPI_MAX_PORT_NAME, MPI_MAX_LIBRARY_VERSION_STRING};
	memcpy(n, all, sizeof all);
}

intptr_t address_in_c(int *x) {
	MPI_Aint at;
	MPI_Get_address(x, &at);
	return at;
}

/* The last call that spawned programs, as expected; 0 for another one. */
static int last;

int spawned(void) {
	int was = last;
	last = 0;
	return was;
}

/* Instead of the library's, as a tool has them: arguments are as C expects them. */
int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[]) {
	if (strcmp(command, "a program") || info != MPI_INFO_NULL || root != 0 || comm != MPI_COMM_SELF)
		return MPI_ERR_OTHER;
	if (maxprocs == 1 && argv == MPI_ARGV_NULL && codes == MPI_ERRCODES_IGNORE)
		last = 1;
	if (maxprocs == 2 && argv != MPI_ARGV_NULL && !strcmp(argv[0], "one") && !strcmp(argv[1], "2nd") && argv[2] == NULL && codes != MPI_ERRCODES_IGNORE) {
		last = 2;
		codes[0] = 7, codes[1] = 8;
	}
	*intercomm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[]) {
	if (count != 2 || strcmp(commands[0], "p1") || strcmp(commands[1], "p2") || maxprocs[0] + maxprocs[1] != 2 || infos[1] != MPI_INFO_NULL || root != 0 || comm != MPI_COMM_SELF)
		return MPI_ERR_OTHER;
	if (argvs == MPI_ARGVS_NULL && codes == MPI_ERRCODES_IGNORE)
		last = 3;
	if (argvs != MPI_ARGVS_NULL && !strcmp(argvs[0][0], "a") && argvs[0][1] == NULL && !strcmp(argvs[1][0], "b") && argvs[1][1] == NULL)
		last = 4;
	*intercomm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}
