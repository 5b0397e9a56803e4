/* spawn.c: MPI_COMM_SPAWN and MPI_COMM_SPAWN_MULTIPLE. Programs and arguments are significant at the
 * root only; an array of arguments ends with a blank one. */
#include "byhand.h"

static int *errcodes(MPI_Fint *codes) { return codes == mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes; }

static int blank(const char *text, size_t n) {
	while (n > 0 && text[n - 1] == ' ')
		n--;
	return n == 0;
}

/* A string of its own memory, without the blanks at both ends. */
static char *string(const char *text, size_t n) {
	while (n > 0 && *text == ' ') {
		text++;
		n--;
	}
	while (n > 0 && text[n - 1] == ' ')
		n--;
	char *c = halo_malloc(n + 1);
	memcpy(c, text, n);
	c[n] = 0;
	return c;
}

/* The arguments that begin at text, each n bytes long and `step` bytes behind the one before. */
static char **arguments(const char *text, size_t n, size_t step) {
	size_t count = 0;
	while (!blank(text + count * step, n))
		count++;
	char **list = halo_malloc((count + 1) * sizeof *list);
	for (size_t k = 0; k < count; k++)
		list[k] = string(text + k * step, n);
	list[count] = NULL;
	return list;
}

static void end(char **list) {
	if (!list)
		return;
	for (char **p = list; *p; p++)
		free(*p);
	free(list);
}

void pmpi_comm_spawn_(char *command, char *argv, MPI_Fint *maxprocs, MPI_Fint *info, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror, size_t n_command, size_t n_argv) {
	int here = halo_root(*comm, *root);
	char *c_command = string(here ? command : "", here ? n_command : 0);
	char **c_argv = here && argv != (char *)mpi_fortran_argv_null_ ? arguments(argv, n_argv, n_argv) : MPI_ARGV_NULL;
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	int code = MPI_Comm_spawn(c_command, c_argv, *maxprocs, in_MPI_Info(*info), *root, in_MPI_Comm(*comm), &c_intercomm, errcodes(array_of_errcodes));
	*intercomm = out_MPI_Comm(c_intercomm);
	free(c_command);
	end(c_argv);
	HALO_RETURN(code);
}
HALO_NAMES(comm_spawn)

void pmpi_comm_spawn_multiple_(MPI_Fint *count, char *array_of_commands, char *array_of_argv, MPI_Fint *array_of_maxprocs, MPI_Fint *array_of_info, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror, size_t n_commands, size_t n_argv) {
	size_t n = halo_root(*comm, *root) ? halo_count(*count) : 0;
	int with = array_of_argv != (char *)mpi_fortran_argvs_null_;
	char **commands = halo_malloc((n + 1) * sizeof *commands), ***argvs = halo_malloc((n + 1) * sizeof *argvs);
	MPI_Info *infos = halo_malloc((n + 1) * sizeof *infos);
	for (size_t k = 0; k < n; k++) {
		commands[k] = string(array_of_commands + k * n_commands, n_commands);
		argvs[k] = with ? arguments(array_of_argv + k * n_argv, n_argv, n * n_argv) : NULL;
		infos[k] = in_MPI_Info(array_of_info[k]);
	}
	commands[n] = NULL;
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	int code = MPI_Comm_spawn_multiple(*count, commands, with ? argvs : MPI_ARGVS_NULL, array_of_maxprocs, infos, *root, in_MPI_Comm(*comm), &c_intercomm, errcodes(array_of_errcodes));
	*intercomm = out_MPI_Comm(c_intercomm);
	for (size_t k = 0; k < n; k++)
		end(argvs[k]);
	end(commands);
	free(argvs);
	free(infos);
	HALO_RETURN(code);
}
HALO_NAMES(comm_spawn_multiple)
