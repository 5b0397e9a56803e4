! The examples of section 16.2.9: datatypes for kinds by precision and range, and by size (DT-17, DT-19, DT-24, DT-29).
#include "method.inc"
PROGRAM ex_16_2_9
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER, PARAMETER :: long = SELECTED_INT_KIND(15), quad = SELECTED_REAL_KIND(30), short = SELECTED_REAL_KIND(5)
  T_DATATYPE :: longtype, quadtype, xtype
  INTEGER(long) :: ii(10)
  REAL(quad) :: x(10)
  REAL(short) :: s(100)
  INTEGER :: rank, size, ierr, i
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  CALL MPI_Type_create_f90_integer(15, longtype, ierr)
  CALL MPI_Type_create_f90_real(30, MPI_UNDEFINED, quadtype, ierr)
#if defined(METHOD_MPI)
  CALL MPI_Sizeof(s, size, ierr)
#else
  size = STORAGE_SIZE(s) / 8 ! only the module mpi has MPI_Sizeof
#endif
  CALL MPI_Type_match_size(MPI_TYPECLASS_REAL, size, xtype, ierr)
  IF (rank == 0) THEN
    ii = [(10_long**14 + i, i = 1, 10)]
    x = [(1 / REAL(i, quad), i = 1, 10)]
    s = [(REAL(i, short), i = 1, 100)]
    CALL MPI_Send(ii, 10, longtype, 1, 1, MPI_COMM_WORLD, ierr)
    CALL MPI_Send(x, 10, quadtype, 1, 2, MPI_COMM_WORLD, ierr)
    CALL MPI_Send(s, 100, xtype, 1, 3, MPI_COMM_WORLD, ierr)
    PRINT '(A)', 'no errors'
  ELSE
    CALL MPI_Recv(ii, 10, longtype, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    CALL MPI_Recv(x, 10, quadtype, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    CALL MPI_Recv(s, 100, xtype, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    IF (ANY(ii /= [(10_long**14 + i, i = 1, 10)])) ERROR STOP 1
    IF (ANY(ABS(x - [(1 / REAL(i, quad), i = 1, 10)]) > 0)) ERROR STOP 2
    IF (ANY(NINT(s) /= [(i, i = 1, 100)])) ERROR STOP 3
  END IF
  CALL MPI_Finalize(ierr)
END PROGRAM ex_16_2_9
