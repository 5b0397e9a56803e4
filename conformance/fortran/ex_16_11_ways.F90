! Section 16.2.17: the other ways in which a program keeps the compiler from moving accesses to a buffer
! across calls: the attributes ASYNCHRONOUS and VOLATILE, a variable of a module, one in a COMMON block,
! and a routine DD that is compiled on its own (FTN-23).
#include "method.inc"
MODULE kept
  REAL :: in_module
END MODULE kept

PROGRAM ex_16_11_ways
  USE_MPI
  USE kept
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: rank, ierr, i, wrong
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  wrong = 0
  DO i = 1, 50
    CALL with_asynchronous(i)
    CALL with_volatile(i)
    CALL with_module(i)
    CALL with_common(i)
    CALL with_dd(i)
    CALL dd_and_bottom(i)
  END DO
  IF (wrong /= 0) ERROR STOP 1
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
CONTAINS
  SUBROUTINE expect(got, i)
    REAL, INTENT(IN) :: got
    INTEGER, INTENT(IN) :: i
    IF (NINT(got) /= i) wrong = wrong + 1
  END SUBROUTINE expect

  SUBROUTINE sends(i)
    INTEGER, INTENT(IN) :: i
    REAL :: val
    val = REAL(i)
    CALL MPI_Send(val, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, ierr)
  END SUBROUTINE sends

  SUBROUTINE with_asynchronous(i)
    INTEGER, INTENT(IN) :: i
    REAL, ASYNCHRONOUS :: buf
    T_REQUEST :: req
    buf = -1
    CALL MPI_Irecv(buf, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, req, ierr)
    CALL sends(i)
    CALL MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
    CALL expect(buf, i)
  END SUBROUTINE with_asynchronous

  SUBROUTINE with_volatile(i)
    INTEGER, INTENT(IN) :: i
    REAL, VOLATILE :: buf
    T_REQUEST :: req
    buf = -1
    CALL MPI_Irecv(buf, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, req, ierr)
    CALL sends(i)
    CALL MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
    CALL expect(buf, i)
  END SUBROUTINE with_volatile

  SUBROUTINE with_module(i)
    INTEGER, INTENT(IN) :: i
    T_REQUEST :: req
    in_module = -1
    CALL MPI_Irecv(in_module, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, req, ierr)
    CALL sends(i)
    CALL MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
    CALL expect(in_module, i)
  END SUBROUTINE with_module

  SUBROUTINE with_common(i)
    INTEGER, INTENT(IN) :: i
    REAL :: buf
    COMMON /kept_common/ buf
    T_REQUEST :: req
    buf = -1
    CALL MPI_Irecv(buf, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, req, ierr)
    CALL sends(i)
    CALL MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
    CALL expect(buf, i)
  END SUBROUTINE with_common

  SUBROUTINE with_dd(i)
    INTEGER, INTENT(IN) :: i
    REAL :: buf
    T_REQUEST :: req
    EXTERNAL dd
    buf = -1
    CALL MPI_Irecv(buf, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, req, ierr)
    CALL sends(i)
    CALL MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
    CALL dd(buf)
    CALL expect(buf, i)
  END SUBROUTINE with_dd

  SUBROUTINE dd_and_bottom(i)
    INTEGER, INTENT(IN) :: i
    REAL :: buf
    INTEGER :: lengths(1)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: places(1)
    T_DATATYPE :: types(1), datatype
    T_REQUEST :: req
    EXTERNAL dd
    lengths = 1
    types(1) = MPI_REAL
    CALL MPI_Get_address(buf, places(1), ierr)
    CALL MPI_Type_create_struct(1, lengths, places, types, datatype, ierr)
    CALL MPI_Type_commit(datatype, ierr)
    buf = -1
    CALL dd(buf)
    CALL MPI_Irecv(MPI_BOTTOM, 1, datatype, 0, 1, MPI_COMM_SELF, req, ierr)
    CALL sends(i)
    CALL MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
    CALL dd(buf)
    CALL expect(buf, i)
    CALL MPI_Type_free(datatype, ierr)
  END SUBROUTINE dd_and_bottom
END PROGRAM ex_16_11_ways
