! GRQ-01, GRQ-03, GRQ-04, GRQ-06, GRQ-07, GRQ-08: generalized requests: when their functions are called, and what
! becomes of the errors that these return.
#include "method.inc"
MODULE noted
  IMPLICIT NONE
  INTEGER, PARAMETER :: address = SELECTED_INT_KIND(18)
  INTEGER :: queried = 0, freed = 0, turn = 0, query_turn = 0, free_turn = 0
  INTEGER :: query_code = 0, free_code = 0, cancel_code = 0
END MODULE noted

PROGRAM generalized
  USE_MPI
  USE noted
  IMPLICIT NONE
  INCLUDE_MPI
  INTERFACE
    SUBROUTINE query(extra_state, status, ierror)
      USE noted, ONLY : address
      USE_MPI
      IMPLICIT NONE
      INCLUDE_MPI
      INTEGER(KIND=address) :: extra_state
      T_STATUS :: status
      INTEGER :: ierror
    END SUBROUTINE query
    SUBROUTINE release(extra_state, ierror)
      USE noted, ONLY : address
      INTEGER(KIND=address) :: extra_state
      INTEGER :: ierror
    END SUBROUTINE release
    SUBROUTINE cancel(extra_state, complete, ierror)
      USE noted, ONLY : address
      INTEGER(KIND=address) :: extra_state
      LOGICAL :: complete
      INTEGER :: ierror
    END SUBROUTINE cancel
  END INTERFACE
  T_REQUEST :: r, again, list(2)
  T_STATUS :: status
  T_STATUS :: STATUSES(several, 2)
  INTEGER :: code, n, indices(2)
  LOGICAL :: flag
  CALL MPI_INIT(code)
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)

  ! The request is complete when the program says so, and not before; the query function may be called
  ! more than once, also without a status of the program.
  CALL begin(r)
  CALL MPI_REQUEST_GET_STATUS(r, flag, MPI_STATUS_IGNORE, code)
  CALL must(.NOT. flag .AND. queried == 0, 101)
  CALL MPI_GREQUEST_COMPLETE(r, code)
  CALL MPI_REQUEST_GET_STATUS(r, flag, MPI_STATUS_IGNORE, code)
  CALL must(flag .AND. queried >= 1 .AND. freed == 0, 102)
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  CALL must(r == MPI_REQUEST_NULL .AND. freed == 1 .AND. query_turn < free_turn, 103)

  ! The error that the query function stores in the status is not that of the status.
  CALL begin(r)
  CALL MPI_GREQUEST_COMPLETE(r, code)
  CALL set_error(status, 4711)
  CALL MPI_WAIT(r, status, code)
  CALL must(code == MPI_SUCCESS .AND. error_of(status) == 4711, 201)

  ! Freed before it is complete: the functions are called by MPI_GREQUEST_COMPLETE, and the copy of the handle is
  ! valid until then. Freed afterwards: by MPI_REQUEST_FREE.
  CALL begin(r)
  again = r
  CALL MPI_REQUEST_FREE(r, code)
  CALL must(code == MPI_SUCCESS .AND. r == MPI_REQUEST_NULL .AND. freed == 0, 301)
  CALL MPI_GREQUEST_COMPLETE(again, code)
  CALL must(code == MPI_SUCCESS .AND. freed == 1, 302)
  CALL begin(r)
  CALL MPI_GREQUEST_COMPLETE(r, code)
  CALL must(freed == 0, 303)
  CALL MPI_REQUEST_FREE(r, code)
  CALL must(freed == 1, 304)

  ! The error of the last function that is called is the error of the call.
  CALL begin(r)
  free_code = MPI_ERR_IO
  CALL MPI_GREQUEST_COMPLETE(r, code)
  CALL MPI_WAIT(r, status, code)
  CALL must(code == MPI_ERR_IO .AND. freed == 1, 401)
  CALL begin(r)
  query_code = MPI_ERR_OTHER
  free_code = MPI_ERR_IO
  list = MPI_REQUEST_NULL
  list(2) = r
  CALL MPI_GREQUEST_COMPLETE(r, code)
  CALL MPI_WAITANY(2, list, n, MPI_STATUS_IGNORE, code)
  CALL must(code == MPI_ERR_IO .AND. n == 2, 402)
  CALL begin(r)
  cancel_code = MPI_ERR_OTHER
  CALL MPI_CANCEL(r, code)
  CALL must(code == MPI_ERR_OTHER, 403)
  CALL MPI_GREQUEST_COMPLETE(r, code)
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  CALL must(code == MPI_SUCCESS, 404)

  ! Among several the error is in the status.
  CALL begin(list(1))
  list(2) = MPI_REQUEST_NULL
  free_code = MPI_ERR_IO
  CALL MPI_GREQUEST_COMPLETE(list(1), code)
#ifdef METHOD_F08
  several%MPI_ERROR = -1
#else
  several(MPI_ERROR, :) = -1
#endif
  CALL MPI_WAITALL(2, list, several, code)
#ifdef METHOD_F08
  CALL must(code == MPI_ERR_IN_STATUS .AND. several(1)%MPI_ERROR == MPI_ERR_IO .AND. several(2)%MPI_ERROR == MPI_SUCCESS, 501)
#else
  CALL must(code == MPI_ERR_IN_STATUS .AND. several(MPI_ERROR, 1) == MPI_ERR_IO .AND. several(MPI_ERROR, 2) == MPI_SUCCESS, 501)
#endif
  CALL begin(list(1))
  free_code = MPI_ERR_IO
  CALL MPI_GREQUEST_COMPLETE(list(1), code)
  CALL MPI_WAITSOME(2, list, n, indices, MPI_STATUSES_IGNORE, code)
  CALL must(code == MPI_ERR_IN_STATUS .AND. freed == 1, 502)

  ! Only a generalized request is completed by the program.
  CALL MPI_IRECV(n, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, r, code)
  CALL MPI_GREQUEST_COMPLETE(r, code)
  CALL must(code == MPI_ERR_REQUEST, 601)
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)

CONTAINS

  SUBROUTINE must(holds, n)
    LOGICAL, INTENT(IN) :: holds
    INTEGER, INTENT(IN) :: n
    IF (.NOT. holds) THEN
      PRINT *, 'case', n, 'code', code, queried, freed
      ERROR STOP 1
    END IF
  END SUBROUTINE must

  SUBROUTINE begin(request)
    T_REQUEST, INTENT(OUT) :: request
    queried = 0
    freed = 0
    query_code = MPI_SUCCESS
    free_code = MPI_SUCCESS
    cancel_code = MPI_SUCCESS
    CALL MPI_GREQUEST_START(query, release, cancel, 7_MPI_ADDRESS_KIND, request, code)
    CALL must(code == MPI_SUCCESS .AND. request /= MPI_REQUEST_NULL, 1)
  END SUBROUTINE begin

  SUBROUTINE set_error(status, error)
    T_STATUS, INTENT(INOUT) :: status
    INTEGER, INTENT(IN) :: error
#ifdef METHOD_F08
    status%MPI_ERROR = error
#else
    status(MPI_ERROR) = error
#endif
  END SUBROUTINE set_error

  INTEGER FUNCTION error_of(status)
    T_STATUS, INTENT(IN) :: status
#ifdef METHOD_F08
    error_of = status%MPI_ERROR
#else
    error_of = status(MPI_ERROR)
#endif
  END FUNCTION error_of

END PROGRAM generalized

SUBROUTINE query(extra_state, status, ierror)
  USE_MPI
  USE noted
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER(KIND=address) :: extra_state
  T_STATUS :: status
  INTEGER :: ierror
  IF (extra_state /= 7) ERROR STOP 2
  turn = turn + 1
  query_turn = turn
  queried = queried + 1
  CALL MPI_STATUS_SET_ELEMENTS(status, MPI_INTEGER, 0, ierror)
  CALL MPI_STATUS_SET_CANCELLED(status, .FALSE., ierror)
#ifdef METHOD_F08
  status%MPI_ERROR = MPI_ERR_TAG
#else
  status(MPI_ERROR) = MPI_ERR_TAG
#endif
  ierror = query_code
END SUBROUTINE query

SUBROUTINE release(extra_state, ierror)
  USE noted
  IMPLICIT NONE
  INTEGER(KIND=address) :: extra_state
  INTEGER :: ierror
  IF (extra_state /= 7) ERROR STOP 3
  turn = turn + 1
  free_turn = turn
  freed = freed + 1
  ierror = free_code
END SUBROUTINE release

SUBROUTINE cancel(extra_state, complete, ierror)
  USE noted
  IMPLICIT NONE
  INTEGER(KIND=address) :: extra_state
  LOGICAL :: complete
  INTEGER :: ierror
  IF (extra_state /= 7 .OR. complete) ERROR STOP 4
  ierror = cancel_code
END SUBROUTINE cancel
