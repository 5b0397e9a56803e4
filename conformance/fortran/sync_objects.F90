! SYN-07, SYN-08, SYN-09: synchronisation objects in Fortran alone, by each method. Handles go to other processes as
! MPIX_HANDLE_SYNC: one, several, and in collectives. A handle has the size of the datatype, so that the element
! behind the last one that was received stays as it was, and the received handle names the object of its process.
#include "method.inc"
#ifdef METHOD_F08
#define T_SYNC TYPE(MPIX_Sync)
#else
#define T_SYNC INTEGER(KIND=MPI_ADDRESS_KIND)
#endif
PROGRAM sync_objects
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER, PARAMETER :: long = MPI_ADDRESS_KIND
  INTEGER(KIND=long), ASYNCHRONOUS, SAVE :: memory(4) = 0
  INTEGER(KIND=long), ASYNCHRONOUS :: v
  T_SYNC :: mine(3), theirs(3), gathered(0:63)
  T_REQUEST :: come, go
  T_WIN :: win
  INTEGER :: rank, size, code, to, from, bytes, round, k
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)
  to = MODULO(rank + 1, size)
  from = MODULO(rank - 1, size)
  CALL MPI_WIN_CREATE(memory, 32_long, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
  CALL MPI_WIN_SET_ERRHANDLER(win, MPI_ERRORS_RETURN, code)
  CALL MPIX_WIN_ALLOC_SYNC_OBJECTS(3, mine, win, MPI_INFO_NULL, code)
  CALL must(code == MPI_SUCCESS .AND. mine(1) /= mine(2) .AND. mine(2) /= mine(3) .AND. mine(1) /= MPIX_SYNC_NULL, 1)
  CALL MPI_TYPE_SIZE(MPIX_HANDLE_SYNC, bytes, code)
  CALL must(8 * bytes == STORAGE_SIZE(mine(1)), 2)

  ! one handle is sent, and one received: the others stay null
  theirs = MPIX_SYNC_NULL
  CALL MPI_SENDRECV(mine, 1, MPIX_HANDLE_SYNC, from, 0, theirs, 1, MPIX_HANDLE_SYNC, to, 0, MPI_COMM_WORLD, &
    MPI_STATUS_IGNORE, code)
  CALL must(code == MPI_SUCCESS .AND. theirs(1) /= MPIX_SYNC_NULL, 3)
  CALL must(theirs(2) == MPIX_SYNC_NULL .AND. theirs(3) == MPIX_SYNC_NULL, 4)
  CALL must((theirs(1) == mine(1)) .EQV. size == 1, 5)
  ! two handles, beside one that stays
  CALL MPI_SENDRECV(mine(2), 2, MPIX_HANDLE_SYNC, from, 0, theirs, 2, MPIX_HANDLE_SYNC, to, 0, MPI_COMM_WORLD, &
    MPI_STATUS_IGNORE, code)
  CALL must(theirs(1) /= MPIX_SYNC_NULL .AND. theirs(2) /= theirs(1) .AND. theirs(3) == MPIX_SYNC_NULL, 6)
  ! all have the first objects of all
  gathered = MPIX_SYNC_NULL
  CALL MPI_ALLGATHER(mine, 1, MPIX_HANDLE_SYNC, gathered, 1, MPIX_HANDLE_SYNC, MPI_COMM_WORLD, code)
  CALL must(code == MPI_SUCCESS .AND. gathered(rank) == mine(1) .AND. gathered(size) == MPIX_SYNC_NULL, 7)
  DO k = 1, size - 1
    CALL must(gathered(k) /= gathered(k - 1), 8)
  END DO

  CALL MPIX_WIN_SYNC_OBJECT_INIT(mine(2), 1, win, MPI_INFO_NULL, come, code)
  CALL must(code == MPI_SUCCESS, 9)
  CALL MPIX_WIN_SYNC_OPS_INIT(to, MPIX_MODE_WIN_PUT, theirs(1), win, MPI_INFO_NULL, go, code)
  CALL must(code == MPI_SUCCESS, 10)
  CALL MPI_WIN_LOCK_ALL(MPI_MODE_NOCHECK, win, code)
  CALL MPI_BARRIER(MPI_COMM_WORLD, code)
  DO round = 1, 100
    CALL MPI_START(come, code)
    CALL must(code == MPI_SUCCESS, 11)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_START(go, code)
    v = 1000 * round + rank
    CALL MPI_PUT(v, 1, MPI_INTEGER8, to, 1_long, 1, MPI_INTEGER8, win, code)
    CALL MPI_WAIT(go, MPI_STATUS_IGNORE, code)
    CALL must(code == MPI_SUCCESS, 12)
    CALL MPI_WAIT(come, MPI_STATUS_IGNORE, code)
    CALL MPI_F_SYNC_REG(memory)
    CALL must(memory(2) == 1000 * round + from, 13)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
  END DO
  CALL MPI_WIN_UNLOCK_ALL(win, code)
  CALL MPI_REQUEST_FREE(come, code)
  CALL MPI_REQUEST_FREE(go, code)

  ! an object of another rank than the target is refused, and so is one of another process as the own
  IF (size > 1) THEN
    CALL MPIX_WIN_SYNC_OPS_INIT(to, MPIX_MODE_WIN_PUT, gathered(rank), win, MPI_INFO_NULL, go, code)
    IF (code == MPI_SUCCESS) THEN
      CALL MPI_START(go, code)
    END IF
    CALL must(code == MPI_ERR_RANK, 14)
    CALL MPIX_WIN_SYNC_OBJECT_INIT(gathered(to), 1, win, MPI_INFO_NULL, come, code)
    IF (code == MPI_SUCCESS) THEN
      CALL MPI_START(come, code)
    END IF
    CALL must(code == MPI_ERR_ARG, 15)
  END IF
  CALL MPI_BARRIER(MPI_COMM_WORLD, code)
  CALL MPIX_WIN_FREE_SYNC_OBJECTS(3, mine, win, code)
  CALL must(code == MPI_SUCCESS .AND. mine(1) == MPIX_SYNC_NULL .AND. mine(3) == MPIX_SYNC_NULL, 16)
  CALL MPIX_WIN_FREE_SYNC_OBJECTS(1, mine, win, code)
  CALL must(code == MPI_ERR_ARG, 17)
  CALL MPI_WIN_FREE(win, code)
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)

CONTAINS

  SUBROUTINE must(holds, n)
    LOGICAL, INTENT(IN) :: holds
    INTEGER, INTENT(IN) :: n
    IF (.NOT. holds) THEN
      PRINT *, 'rank', rank, 'case', n, 'code', code
      ERROR STOP 1
    END IF
  END SUBROUTINE must

END PROGRAM sync_objects
