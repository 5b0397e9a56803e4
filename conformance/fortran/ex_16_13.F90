! Examples 16.13 and 16.14: MPI_F_SYNC_REG around calls that name a buffer by MPI_BOTTOM and its
! address (FTN-14, FTN-22, FTN-23, TRM-09).
#include "method.inc"
PROGRAM ex_16_13
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: rank, size, ierr, wrong, all_wrong, i
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  wrong = 0
  DO i = 1, 100
    CALL one(REAL(i))
  END DO
  CALL MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  IF (all_wrong /= 0) ERROR STOP 1
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
CONTAINS
  SUBROUTINE one(val_new)
    REAL, INTENT(IN) :: val_new
    REAL :: buf, val_old, val_got
    INTEGER(KIND=MPI_ADDRESS_KIND) :: bufaddr(1)
    INTEGER :: lengths(1)
    T_DATATYPE :: types(1), datatype
    CALL MPI_Get_address(buf, bufaddr(1), ierr)
    lengths(1) = 1
    types(1) = MPI_REAL
    CALL MPI_Type_create_struct(1, lengths, bufaddr, types, datatype, ierr)
    CALL MPI_Type_commit(datatype, ierr)
    buf = -1
    IF (rank == 0) THEN
      buf = val_new
      CALL MPI_F_SYNC_REG(buf)
      CALL MPI_Send(MPI_BOTTOM, 1, datatype, 1, 4, MPI_COMM_WORLD, ierr)
      CALL MPI_F_SYNC_REG(buf)
      buf = -2
    ELSE IF (rank == 1) THEN
      val_old = buf
      CALL MPI_F_SYNC_REG(buf)
      CALL MPI_Recv(MPI_BOTTOM, 1, datatype, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      CALL MPI_F_SYNC_REG(buf)
      val_got = buf
      IF (val_old > 0 .OR. NINT(val_got) /= NINT(val_new)) wrong = wrong + 1
    END IF
    CALL MPI_Type_free(datatype, ierr)
  END SUBROUTINE one
END PROGRAM ex_16_13
