/* Prints a line without a flush, and is killed: the output arrives, unless the program has chosen
 * its own buffering. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	static char own[1 << 16];
	const char *how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "full") == 0) setvbuf(stdout, own, _IOFBF, sizeof own);
	if (strcmp(how, "early") == 0) printf("before MPI_Init\n");
	MPI_Init(&argc, &argv);
	if (strcmp(how, "none") == 0) setvbuf(stdout, NULL, _IONBF, 0);
	printf("a line\nhalf a line");
	raise(SIGKILL);
	return 0;
}
