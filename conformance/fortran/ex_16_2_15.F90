! The example of section 16.2.15: scalars and arrays of an interoperable derived type, with a datatype
! whose extent is that of the array's elements (FTN-21, DT-34, CHG-04, E2-21).
#include "method.inc"
PROGRAM ex_16_2_15
  USE_MPI
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT, C_FLOAT, C_DOUBLE
  IMPLICIT NONE
  INCLUDE_MPI
  TYPE, BIND(C) :: mytype
    INTEGER(C_INT) :: i
    REAL(C_FLOAT) :: x
    REAL(C_DOUBLE) :: d
    INTEGER(C_INT) :: n
  END TYPE mytype
  TYPE(mytype) :: foo, fooarr(5), got, gotarr(5)
  INTEGER :: blocklen(4), ierr, k, rank
  T_DATATYPE :: types(4), newtype, newarrtype
  T_REQUEST :: requests(1)
  INTEGER(KIND=MPI_ADDRESS_KIND) :: disp(4), base, lb, extent
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  CALL MPI_Get_address(foo%i, disp(1), ierr)
  CALL MPI_Get_address(foo%x, disp(2), ierr)
  CALL MPI_Get_address(foo%d, disp(3), ierr)
  CALL MPI_Get_address(foo%n, disp(4), ierr)
  base = disp(1)
  disp = disp - base
  blocklen = 1
  types(1) = MPI_INTEGER
  types(2) = MPI_REAL
  types(3) = MPI_DOUBLE_PRECISION
  types(4) = MPI_INTEGER
  CALL MPI_Type_create_struct(4, blocklen, disp, types, newtype, ierr)
  CALL MPI_Type_commit(newtype, ierr)

  foo = mytype(1, 2., 3.D0, 4)
  got = mytype(0, 0., 0.D0, 0)
  CALL MPI_Irecv(got, 1, newtype, rank, 1, MPI_COMM_WORLD, requests(1), ierr)
  CALL MPI_Send(foo%i, 1, newtype, rank, 1, MPI_COMM_WORLD, ierr)
  CALL MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  IF (wrong(got, foo)) ERROR STOP 1
  ! expects that base == address(foo%i) == address(foo)
  got = mytype(0, 0., 0.D0, 0)
  CALL MPI_Irecv(got%i, 1, newtype, rank, 1, MPI_COMM_WORLD, requests(1), ierr)
  CALL MPI_Send(foo, 1, newtype, rank, 1, MPI_COMM_WORLD, ierr)
  CALL MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  IF (wrong(got, foo)) ERROR STOP 2

  CALL MPI_Get_address(fooarr(1), disp(1), ierr)
  CALL MPI_Get_address(fooarr(2), disp(2), ierr)
  extent = disp(2) - disp(1)
  lb = 0
  CALL MPI_Type_create_resized(newtype, lb, extent, newarrtype, ierr)
  CALL MPI_Type_commit(newarrtype, ierr)
  DO k = 1, 5
    fooarr(k) = mytype(k, 10. * k, 100.D0 * k, -k)
    gotarr(k) = mytype(0, 0., 0.D0, 0)
  END DO
  CALL MPI_Irecv(gotarr, 5, newarrtype, rank, 2, MPI_COMM_WORLD, requests(1), ierr)
  CALL MPI_Send(fooarr, 5, newarrtype, rank, 2, MPI_COMM_WORLD, ierr)
  CALL MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  DO k = 1, 5
    IF (wrong(gotarr(k), fooarr(k))) ERROR STOP 3
  END DO
  CALL MPI_Type_free(newtype, ierr)
  CALL MPI_Type_free(newarrtype, ierr)
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
CONTAINS
  PURE LOGICAL FUNCTION wrong(a, b)
    TYPE(mytype), INTENT(IN) :: a, b
    wrong = a%i /= b%i .OR. ABS(a%x - b%x) > 0 .OR. ABS(a%d - b%d) > 0 .OR. a%n /= b%n
  END FUNCTION wrong
END PROGRAM ex_16_2_15
