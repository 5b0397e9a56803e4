! ENV-06, ENV-08: the halves in Fortran of languages.c, which begins in C and ends here: both languages have the same world,
! with its attributes and its error handler.
SUBROUTINE check(step, code)
  USE mpi_f08
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT
  IMPLICIT NONE
  INTEGER(C_INT), INTENT(IN) :: step
  INTEGER(C_INT), INTENT(OUT) :: code
  LOGICAL :: initialized, finalized
  CALL MPI_Initialized(initialized)
  CALL MPI_Finalized(finalized)
  code = 0
  IF (initialized .NEQV. step > 0) code = 1
  IF (finalized .NEQV. step > 1) code = code + 2
END SUBROUTINE check

! The code of a call that fails, for which the handler of C is called.
SUBROUTINE fails(code, bound)
  USE mpi
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT
  IMPLICIT NONE
  INTEGER(C_INT), INTENT(OUT) :: code, bound
  INTEGER :: size, ierror
  INTEGER(KIND=MPI_ADDRESS_KIND) :: value
  LOGICAL :: flag
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
  CALL MPI_SEND(size, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, code)
  CALL MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  bound = -1
  IF (flag) bound = INT(value, C_INT)
END SUBROUTINE fails

SUBROUTINE last()
  IMPLICIT NONE
  INCLUDE 'mpif.h'
  INTEGER :: rank, ierror
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  CALL MPI_FINALIZE(ierror)
  IF (rank == 0) PRINT '(A)', 'no errors'
END SUBROUTINE last
