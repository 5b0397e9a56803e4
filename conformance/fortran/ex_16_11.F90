! Examples 16.11 and 16.12: MPI_F_SYNC_REG behind MPI_Wait keeps the compiler from loading the buffer
! before, and from storing into it before (FTN-14, FTN-22, FTN-23, CHG-04).
#include "method.inc"
PROGRAM ex_16_11
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: rank, size, right, left, ierr, wrong, all_wrong, i
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = MODULO(rank + 1, size)
  left = MODULO(rank - 1, size)
  wrong = 0
  DO i = 1, 100
    CALL one(REAL(100 * rank + i), REAL(100 * left + i))
  END DO
  CALL MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  IF (all_wrong /= 0) ERROR STOP 1
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
CONTAINS
  SUBROUTINE one(val, want)
    REAL, INTENT(IN) :: val, want
    REAL :: buf, b1, other, copy
    T_REQUEST :: req, sent
    buf = -1
    CALL MPI_Irecv(buf, 1, MPI_REAL, left, 3, MPI_COMM_WORLD, req, ierr)
    other = val
    CALL MPI_Isend(other, 1, MPI_REAL, right, 3, MPI_COMM_WORLD, sent, ierr)
    copy = other
    CALL MPI_Wait(sent, MPI_STATUS_IGNORE, ierr)
    CALL MPI_F_SYNC_REG(other)
    other = -2
    CALL MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
    CALL MPI_F_SYNC_REG(buf)
    b1 = buf
    IF (NINT(b1) /= NINT(want) .OR. NINT(copy) /= NINT(val) .OR. other > 0) wrong = wrong + 1
  END SUBROUTINE one
END PROGRAM ex_16_11
