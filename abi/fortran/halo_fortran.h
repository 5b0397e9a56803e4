/*
 * halo_fortran.h: what the Fortran library uses of a library of the ABI beyond the standard. Halo's
 * mpi.h declares it. Every symbol is weak here: it is null over a library without it, and then the
 * Fortran library does without. Names and arguments are those of MPICH's extensions, but for
 * MPIX_X_create_keyval_as_fortran, which is Halo's.
 */
#ifndef HALO_FORTRAN_H
#define HALO_FORTRAN_H

#include <mpi.h>

/*
 * Operations and error handlers with an extra_state, for trampolines: the Fortran library passes the
 * Fortran procedure as extra_state, and a C function that calls it in Fortran's convention. The length
 * is an MPI_Count: a trampoline for a procedure with an INTEGER length calls the procedure several times,
 * for a part of the elements each time.
 * Without these symbols the library calls MPI_Op_create and MPI_X_create_errhandler, and keeps the
 * procedures in a table.
 */
#pragma weak MPIX_Op_create_x
#pragma weak MPIX_Comm_create_errhandler_x
#pragma weak MPIX_File_create_errhandler_x
#pragma weak MPIX_Win_create_errhandler_x
#pragma weak MPIX_Session_create_errhandler_x

/*
 * Keyvals of Fortran. The callbacks have C's types, and are trampolines: extra_state is a structure of
 * the Fortran library with the procedures and their extra_state, which the destructor frees. What
 * differs from MPI_X_create_keyval is that attribute_val (and attribute_val_in) is the attribute as
 * Fortran sees it, as an MPI_Aint in a void *: the integer that Fortran has set, or the bits of a
 * pointer that C has set. What the copy function stores to attribute_val_out is an integer, too, so
 * the copy is an attribute that Fortran has set; but if it stores what it was given, the copy is what
 * the original is, an integer or a pointer of C.
 * The predefined functions MPI_X_NULL_COPY_FN, MPI_X_DUP_FN and MPI_X_NULL_DELETE_FN of C are
 * accepted in place of a trampoline.
 * Without these symbols the library calls MPI_X_create_keyval.
 */
#pragma weak MPIX_Comm_create_keyval_as_fortran
#pragma weak MPIX_Type_create_keyval_as_fortran
#pragma weak MPIX_Win_create_keyval_as_fortran

/*
 * Attributes as Fortran sets and reads them. set: attribute_val is the integer itself, an MPI_Aint in a
 * void *. An INTEGER (MPI_ATTR_PUT) is passed sign-extended. C then reads the address of an MPI_Aint
 * with that value, whose lower half is the value as an int.
 * get: attribute_val is the address of an MPI_Aint, which gets the integer that Fortran has set, the bits
 * of a pointer that C has set, or the value of a predefined attribute (MPI_WIN_BASE: the address).
 * MPI_ATTR_GET stores the lower bits of it in its INTEGER.
 * Without these symbols the library calls MPI_X_set_attr, with the integer in place of the pointer, and
 * MPI_X_get_attr, which gives a pointer to the value of a predefined attribute except MPI_WIN_BASE: to an
 * MPI_Aint for MPI_WIN_SIZE, to an int for all others.
 */
#pragma weak MPIX_Comm_set_attr_as_fortran
#pragma weak MPIX_Comm_get_attr_as_fortran
#pragma weak MPIX_Type_set_attr_as_fortran
#pragma weak MPIX_Type_get_attr_as_fortran
#pragma weak MPIX_Win_set_attr_as_fortran
#pragma weak MPIX_Win_get_attr_as_fortran

/*
 * MPIX_Request_add_hooks: functions that a request calls. By them the library moves data between a section
 * of an array and the contiguous copy of it that the operation uses. Without this symbol calls that need
 * such a copy are MPI_ERR_BUFFER.
 */
#pragma weak MPIX_Request_add_hooks

/*
 * Generalized requests and data representations have an extra_state in the standard: the Fortran
 * library passes a structure with the procedures and their extra_state, and frees it in the trampoline
 * of free_fn.
 */

#endif
