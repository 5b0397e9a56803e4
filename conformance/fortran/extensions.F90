! SYN-07, SYN-36, SYN-37, E0-04, E0-06: the extensions of one-sided communication, by each method: notified access, requests for
! completion at the target, duplicates and order, synchronisation objects and memory handles. extensions.c sends
! the handle of a synchronisation object to another process; sync_objects.F90 does so in Fortran.
#include "method.inc"
#ifdef METHOD_F08
#define T_SYNC TYPE(MPIX_Sync)
#else
#define T_SYNC INTEGER(KIND=MPI_ADDRESS_KIND)
#endif
PROGRAM extensions
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER, PARAMETER :: long = MPI_ADDRESS_KIND
  INTEGER(KIND=long), ASYNCHRONOUS, SAVE :: memory(16) = 0
  INTEGER :: rank, size, code, to, from
  T_WIN :: win
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)
  to = MODULO(rank + 1, size)
  from = MODULO(rank - 1, size)
  CALL MPI_WIN_CREATE(memory, 128_long, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
  CALL MPI_WIN_SET_ERRHANDLER(win, MPI_ERRORS_RETURN, code)
  CALL notified()
  CALL remote()
  CALL duplicates()
  CALL signals()
  CALL memory_handles()
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

  SUBROUTINE notified()
    T_REQUEST :: r
    INTEGER(KIND=long), ASYNCHRONOUS :: v(4), got
    INTEGER(KIND=MPI_COUNT_KIND) :: value
    v = [rank, -1, rank + 1, -1]
    CALL MPIX_WIN_NOTIFY_SET_NUM(win, 8, code)
    CALL must(code == MPI_SUCCESS, 101)
    CALL MPI_WIN_LOCK_ALL(0, win, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPIX_WIN_WAIT_NOTIFY(win, 3, 2, r, code)
#ifdef METHOD_F08
    ! a section, which is put as it is
    CALL MPIX_PUT_NOTIFY(v(::2), 2, MPI_INTEGER8, to, 0_long, 2, MPI_INTEGER8, win, 3, code)
#else
    v(2) = v(3)
    CALL MPIX_PUT_NOTIFY(v, 2, MPI_INTEGER8, to, 0_long, 2, MPI_INTEGER8, win, 3, code)
#endif
    CALL MPIX_ACCUMULATE_NOTIFY(v, 1, MPI_INTEGER8, to, 0_long, 1, MPI_INTEGER8, MPI_SUM, win, 3, code)
    CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
    CALL MPI_F_SYNC_REG(memory)
    CALL must(memory(1) == 2 * from .AND. memory(2) == from + 1, 102)
    CALL MPI_WIN_FLUSH_ALL(win, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPIX_FETCH_AND_OP_NOTIFY(v, got, MPI_INTEGER8, to, 0_long, MPI_NO_OP, win, 4, code)
    CALL MPIX_WIN_NOTIFY_REACH(win, 4, 1_MPI_COUNT_KIND, r, code)
    CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
    CALL MPIX_WIN_NOTIFY_GET_VALUE(win, 4, value, code)
    CALL must(value == 1, 103)
    CALL MPI_WIN_FLUSH(to, win, code)
    CALL MPI_F_SYNC_REG(got)
    CALL must(got == 2 * rank, 104)
    CALL MPIX_PUT_NOTIFY(v, 1, MPI_INTEGER8, to, 0_long, 1, MPI_INTEGER8, win, -1, code)
    CALL must(code == MPI_ERR_ARG, 105)
    CALL MPI_WIN_UNLOCK_ALL(win, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
  END SUBROUTINE notified

  SUBROUTINE remote()
    T_REQUEST :: r
    INTEGER(KIND=long), ASYNCHRONOUS :: v, got
    CALL MPI_WIN_LOCK_ALL(0, win, code)
    v = 70 + rank
    CALL MPIX_RRPUT(v, 1, MPI_INTEGER8, to, 5_long, 1, MPI_INTEGER8, win, r, code)
    CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_F_SYNC_REG(memory)
    CALL must(memory(6) == 70 + from, 201)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    v = 1
    CALL MPIX_RFETCH_AND_OP(v, got, MPI_INTEGER8, to, 5_long, MPI_SUM, win, r, code)
    CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
    CALL MPI_F_SYNC_REG(got)
    CALL must(got == 70 + rank, 202)
    CALL MPIX_RFLUSH(to, win, r, code)
    CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
    CALL must(code == MPI_SUCCESS, 203)
    CALL MPI_WIN_UNLOCK_ALL(win, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
  END SUBROUTINE remote

  SUBROUTINE duplicates()
    T_WIN :: copy
    LOGICAL :: flag
    INTEGER(KIND=long), ASYNCHRONOUS :: first, second
    CALL MPIX_WIN_DUP(win, copy, code)
    CALL must(code == MPI_SUCCESS .AND. copy /= win .AND. copy /= MPI_WIN_NULL, 301)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_WIN_LOCK(MPI_LOCK_SHARED, to, 0, win, code)
    first = 5
    second = 6 + rank
    CALL MPI_PUT(first, 1, MPI_INTEGER8, to, 7_long, 1, MPI_INTEGER8, copy, code)
    CALL MPIX_WIN_ORDER(to, copy, code)
    CALL MPI_PUT(second, 1, MPI_INTEGER8, to, 7_long, 1, MPI_INTEGER8, copy, code)
    CALL MPI_WIN_UNLOCK(to, win, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_F_SYNC_REG(memory)
    CALL must(memory(8) == 6 + from, 302)
    CALL MPIX_WIN_OP_INTRINSIC('sum  ', 1_long, MPI_INTEGER8, win, flag, code)
    CALL must(code == MPI_SUCCESS, 303)
    CALL MPIX_WIN_OP_INTRINSIC('nothing', 1_long, MPI_INTEGER8, win, flag, code)
    CALL must(code == MPI_ERR_ARG, 304)
    CALL MPI_WIN_FREE(copy, code)
  END SUBROUTINE duplicates

  SUBROUTINE signals()
    EXTERNAL :: exchanged
    T_SYNC :: mine(2), theirs
    T_REQUEST :: come, go
    INTEGER(KIND=long), ASYNCHRONOUS :: v
    INTEGER :: round
    CALL MPIX_WIN_ALLOC_SYNC_OBJECTS(2, mine, win, MPI_INFO_NULL, code)
    CALL must(code == MPI_SUCCESS .AND. mine(1) /= MPIX_SYNC_NULL .AND. mine(1) /= mine(2), 401)
    CALL exchanged(mine(1), theirs, from, to)
    CALL must(theirs /= MPIX_SYNC_NULL, 402)
#ifdef METHOD_MPIF
    CALL MPIX_WIN_SYNC_OBJECT_INIT(mine(1), 1, win, MPI_INFO_NULL, come, code)
    CALL MPIX_WIN_SYNC_OPS_INIT(to, MPIX_MODE_WIN_PUT, theirs, win, MPI_INFO_NULL, go, code)
#else
    CALL MPIX_WIN_SYNC_OBJECT_INIT(sync_counter=mine(1), count=1, win=win, info=MPI_INFO_NULL, request=come, ierror=code)
    CALL must(code == MPI_SUCCESS, 407)
    CALL MPIX_WIN_SYNC_OPS_INIT(target_rank=to, sync_mode=MPIX_MODE_WIN_PUT, sync_counter=theirs, win=win, info=MPI_INFO_NULL, &
      request=go, ierror=code)
#endif
    CALL must(code == MPI_SUCCESS, 403)
    CALL MPI_WIN_LOCK_ALL(MPI_MODE_NOCHECK, win, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    DO round = 1, 3
      CALL MPI_START(come, code)
      CALL MPI_START(go, code)
      v = 100 * round + rank
      CALL MPI_PUT(v, 1, MPI_INTEGER8, to, 9_long, 1, MPI_INTEGER8, win, code)
      CALL MPI_WAIT(go, MPI_STATUS_IGNORE, code)
      CALL MPI_WAIT(come, MPI_STATUS_IGNORE, code)
      CALL MPI_F_SYNC_REG(memory)
      CALL must(memory(10) == 100 * round + from, 404)
      CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    END DO
    CALL MPI_WIN_UNLOCK_ALL(win, code)
    CALL MPI_REQUEST_FREE(come, code)
    CALL MPI_REQUEST_FREE(go, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPIX_WIN_FREE_SYNC_OBJECTS(2, mine, win, code)
    CALL must(code == MPI_SUCCESS .AND. ALL([mine(1) == MPIX_SYNC_NULL, mine(2) == MPIX_SYNC_NULL]), 405)
    CALL must(MPIX_MODE_WIN_ALL == MPIX_MODE_WIN_PUT + MPIX_MODE_WIN_GET + MPIX_MODE_WIN_ACCUMULATE, 406)
  END SUBROUTINE signals

  SUBROUTINE memory_handles()
    T_WIN :: parent, other
    CHARACTER(LEN=1) :: handle(MPIX_MAX_MEMORY_HANDLE_SIZE), theirs(MPIX_MAX_MEMORY_HANDLE_SIZE)
    INTEGER :: n
    INTEGER(KIND=long), ASYNCHRONOUS :: v
    INTEGER(KIND=long), ASYNCHRONOUS, SAVE :: exposed(4) = 0
    CALL MPI_WIN_CREATE_DYNAMIC(MPI_INFO_NULL, MPI_COMM_WORLD, parent, code)
    CALL MPIX_MEMHANDLE_CREATE(exposed, 32_long, MPI_INFO_NULL, parent, handle, n, code)
    CALL must(code == MPI_SUCCESS .AND. n > 0 .AND. n <= MPIX_MAX_MEMORY_HANDLE_SIZE, 501)
    theirs = ' '
    CALL MPI_SENDRECV(handle, n, MPI_BYTE, from, 0, theirs, MPIX_MAX_MEMORY_HANDLE_SIZE, MPI_BYTE, to, 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, code)
    CALL MPIX_WIN_FROM_MEMHANDLE(theirs, 32_long, 8, MPI_INFO_NULL, to, parent, other, code)
    CALL must(code == MPI_SUCCESS .AND. other /= MPI_WIN_NULL, 502)
    CALL MPI_WIN_LOCK(MPI_LOCK_SHARED, to, 0, parent, code)
    v = 30 + rank
    CALL MPI_PUT(v, 1, MPI_INTEGER8, to, 2_long, 1, MPI_INTEGER8, other, code)
    CALL must(code == MPI_SUCCESS, 503)
    CALL MPI_WIN_UNLOCK(to, parent, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_F_SYNC_REG(exposed)
    CALL must(exposed(3) == 30 + from, 504)
    CALL MPI_WIN_FREE(other, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPIX_MEMHANDLE_RELEASE(handle, parent, code)
    CALL must(code == MPI_SUCCESS, 505)
    CALL MPI_WIN_FREE(parent, code)
  END SUBROUTINE memory_handles

END PROGRAM extensions
