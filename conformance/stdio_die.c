/* The half in C of stdio_kill.f90. */
#include <mpi.h>
#include <signal.h>

void die_(void) {
	MPI_Init(0, 0);
	raise(SIGKILL);
}
