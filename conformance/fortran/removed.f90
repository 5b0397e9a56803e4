! DEP-02, DEP-03: procedures that MPI-3.0 has removed, in programs with mpif.h: addresses and strides are INTEGERs.
PROGRAM removed
  IMPLICIT NONE
  INCLUDE 'mpif.h'
  INTEGER :: code, made, other, n, lb, ub, extent, k, called, handler, old
  INTEGER :: from(12), to(12), places(2), lengths(2), types(2), ni, na, nd, combiner
  INTEGER(KIND=MPI_ADDRESS_KIND) :: low, wide
  COMMON /noted/ called
  EXTERNAL :: note
  CALL MPI_INIT(code)
  from = [(k, k = 1, 12)]
  ! 1, 4, 7 by a stride in bytes, and the same as from MPI_TYPE_CREATE_HVECTOR
  CALL MPI_TYPE_HVECTOR(3, 1, 12, MPI_INTEGER, made, code)
  CALL MPI_TYPE_COMMIT(made, code)
  CALL moved(made, [1, 4, 7])
  CALL MPI_TYPE_GET_ENVELOPE(made, ni, na, nd, combiner, code)
  IF (combiner /= MPI_COMBINER_HVECTOR .OR. na /= 1) ERROR STOP 1
  CALL MPI_TYPE_EXTENT(made, extent, code)
  CALL MPI_TYPE_LB(made, lb, code)
  CALL MPI_TYPE_UB(made, ub, code)
  CALL MPI_TYPE_GET_EXTENT(made, low, wide, code)
  IF (extent /= wide .OR. extent /= 28 .OR. lb /= low .OR. ub /= low + wide) ERROR STOP 2
  CALL MPI_TYPE_FREE(made, code)
  ! negative displacements
  lengths = [1, 2]
  places = [16, -4]
  CALL MPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, made, code)
  CALL MPI_TYPE_LB(made, lb, code)
  CALL MPI_TYPE_UB(made, ub, code)
  IF (lb /= -4 .OR. ub /= 20) ERROR STOP 3
  CALL MPI_TYPE_FREE(made, code)
  types = [MPI_INTEGER, MPI_REAL]
  places = [0, 8]
  CALL MPI_TYPE_STRUCT(2, lengths, places, types, made, code)
  CALL MPI_TYPE_SIZE(made, n, code)
  CALL MPI_TYPE_EXTENT(made, extent, code)
  IF (n /= 12 .OR. extent /= 16) ERROR STOP 4
  CALL MPI_TYPE_FREE(made, code)
  ! An error of the argument is that of the procedure that is called instead.
  CALL MPI_ERRHANDLER_CREATE(note, handler, code)
  CALL MPI_ERRHANDLER_GET(MPI_COMM_SELF, old, code)
  IF (old /= MPI_ERRORS_ARE_FATAL) ERROR STOP 5
  CALL MPI_ERRHANDLER_SET(MPI_COMM_SELF, handler, code)
  CALL MPI_ERRHANDLER_FREE(handler, code)
  called = 0
  CALL MPI_TYPE_HVECTOR(-3, 1, 12, MPI_INTEGER, other, code)
  IF (called == 0 .OR. code /= MPI_ERR_COUNT .AND. code /= MPI_ERR_ARG) ERROR STOP 6
  ! An address of this machine needs more bits than an INTEGER has.
  called = 0
  CALL MPI_ADDRESS(MPI_BOTTOM, n, code)
  IF (code /= MPI_SUCCESS .OR. n /= 0) ERROR STOP 7
  CALL MPI_ADDRESS(from, n, code)
  CALL MPI_GET_ADDRESS(from, low, code)
  IF (low > HUGE(n) .AND. called == 0) ERROR STOP 8
  IF (low <= HUGE(n) .AND. n /= low) ERROR STOP 9
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)

CONTAINS

  SUBROUTINE moved(datatype, want)
    INTEGER, INTENT(IN) :: datatype, want(3)
    INTEGER :: status(MPI_STATUS_SIZE)
    to = 0
    CALL MPI_SENDRECV(from, 1, datatype, 0, 1, to, 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, code)
    IF (code /= MPI_SUCCESS .OR. ANY(to(1:3) /= want) .OR. ANY(to(4:) /= 0)) ERROR STOP 20
  END SUBROUTINE moved

END PROGRAM removed

SUBROUTINE note(comm, error_code)
  IMPLICIT NONE
  INCLUDE 'mpif.h'
  INTEGER :: comm, error_code, called
  COMMON /noted/ called
  IF (comm == MPI_COMM_NULL) ERROR STOP 30
  called = error_code
END SUBROUTINE note
