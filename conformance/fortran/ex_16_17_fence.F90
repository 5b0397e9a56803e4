! The example of section 16.2.17 on one-sided communication: MPI_F_SYNC_REG where fences hide the
! access to a buffer and to a window (FTN-14, FTN-22, FTN-23, RM-08).
#include "method.inc"
PROGRAM ex_16_17_fence
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: rank, ierr
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  CALL both()
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
CONTAINS
  SUBROUTINE both()
    INTEGER :: bbbb, buff, ccc, bytes
    INTEGER(KIND=MPI_ADDRESS_KIND) :: room, place
    T_WIN :: win
    CALL MPI_Type_size(MPI_INTEGER, bytes, ierr)
    room = bytes
    place = 0
    CALL MPI_Win_create(buff, room, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    bbbb = 0
    buff = 999
    CALL MPI_F_SYNC_REG(buff)
    CALL MPI_Win_fence(0, win, ierr)
    IF (rank == 0) THEN
      bbbb = 777
      CALL MPI_Put(bbbb, 1, MPI_INTEGER, 1, place, 1, MPI_INTEGER, win, ierr)
    END IF
    CALL MPI_Win_fence(0, win, ierr)
    CALL MPI_F_SYNC_REG(bbbb)
    bbbb = 778
    CALL MPI_F_SYNC_REG(buff)
    ccc = buff
    IF (rank == 1 .AND. ccc /= 777 .OR. rank == 0 .AND. ccc /= 999) ERROR STOP 1
    IF (bbbb /= 778) ERROR STOP 2
    CALL MPI_Win_free(win, ierr)
  END SUBROUTINE both
END PROGRAM ex_16_17_fence
