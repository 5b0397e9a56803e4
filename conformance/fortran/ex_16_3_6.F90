! The example of section 16.3.6: a datatype with the absolute address of an array of Fortran is part of
! one that C makes and sends (LNG-07, LNG-11, DT-15).
#include "method.inc"
PROGRAM ex_16_3_6
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  EXTERNAL c_routine
  REAL, TARGET :: r(5)
  REAL :: got(5)
  T_DATATYPE :: datatype, types(1)
  INTEGER :: ierr, rank, lengths(1), place, n
  CHARACTER :: packed(100)
  T_STATUS :: status
  INTEGER(KIND=MPI_ADDRESS_KIND) :: places(1)
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  IF (rank == 0) THEN
    ! create an absolute datatype for array r
    r = [1., 2., 3., 4., 5.]
    lengths(1) = 5
    CALL MPI_Get_address(r, places(1), ierr)
    types(1) = MPI_REAL
    CALL MPI_Type_create_struct(1, lengths, places, types, datatype, ierr)
    CALL MPI_F_sync_reg(r)
#if defined(METHOD_F08)
    CALL c_routine(datatype%MPI_VAL)
#else
    CALL c_routine(datatype)
#endif
    CALL MPI_Type_free(datatype, ierr)
    PRINT '(A)', 'no errors'
  ELSE
    CALL MPI_Recv(packed, 100, MPI_PACKED, 0, 0, MPI_COMM_WORLD, status, ierr)
    IF (SOURCE_OF(status) /= 0) ERROR STOP 1
    place = 0
    CALL MPI_Unpack(packed, 100, place, n, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    CALL MPI_Unpack(packed, 100, place, got, n, MPI_REAL, MPI_COMM_WORLD, ierr)
    IF (n /= 5 .OR. ANY(NINT(got) /= [1, 2, 3, 4, 5])) ERROR STOP 2
  END IF
  CALL MPI_Finalize(ierr)
END PROGRAM ex_16_3_6
