/* mpi_compat.h: procedures and types of MPI-1 that MPI-3.0 has removed and that the standard ABI
 * lacks, and older names of MPI_Remove_error_class and the like, and of requests of files. Programs that
 * still use them include this file and link with -lmpi_compat. */
#ifndef MPI_COMPAT_H
#define MPI_COMPAT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef MPI_Comm_errhandler_function MPI_Handler_function;

/* Markers of bounds: MPI_Type_struct, MPI_Type_create_struct and MPI_Type_get_name accept them. A
 * type with markers has the bounds that MPI_Type_create_resized would give it. A type made from it
 * uses them like other bounds: unlike in MPI-1 they do not override those of other types. */
extern const char mpi_compat_lb, mpi_compat_ub;
#define MPI_LB ((MPI_Datatype)(const void *)&mpi_compat_lb)
#define MPI_UB ((MPI_Datatype)(const void *)&mpi_compat_ub)

int MPI_Address(void *location, MPI_Aint *address);
int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int MPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);

/* The names that MPI_Remove_error_class, _code and _string had before MPI-4.1. */
int MPIX_Delete_error_class(int errorclass);
int MPIX_Delete_error_code(int errorcode);
int MPIX_Delete_error_string(int errorcode);

/* The names of ROMIO for requests of files, from before MPI_File_iread and the like had an MPI_Request. */
#define MPIO_USES_MPI_REQUEST
#define MPIO_Request MPI_Request
#define MPIO_REQUEST_NULL MPI_REQUEST_NULL
#define MPIO_Wait MPI_Wait
#define MPIO_Test MPI_Test

/* These replacements handle the markers, and call the procedure that they stand for otherwise. */
int mpi_compat_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int mpi_compat_get_name(MPI_Datatype datatype, char *type_name, int *resultlen);
#ifndef MPI_COMPAT_LIBRARY
#define MPI_Type_create_struct mpi_compat_create_struct
#define MPI_Type_get_name mpi_compat_get_name
#endif

int PMPI_Address(void *location, MPI_Aint *address);
int PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler);
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int PMPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int PMPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);
int PMPIX_Delete_error_class(int errorclass);
int PMPIX_Delete_error_code(int errorcode);
int PMPIX_Delete_error_string(int errorcode);

#ifdef __cplusplus
}
#endif

#endif
