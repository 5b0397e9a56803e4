! FTN-03, TRM-06, CST-11: arguments that mean nothing, by each method: handles that are null, invented or stale, negative counts,
! sizes and ranks, strings that do not fit.
#include "method.inc"
#ifdef METHOD_F08
#define HANDLE(kind, value) kind(value)
#else
#define HANDLE(kind, value) value
#endif
PROGRAM wild
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: code, n, k, i
  INTEGER, PARAMETER :: invented(4) = [-5, 123456789, HUGE(1), 4097]
  T_COMM :: comm, stale
  T_DATATYPE :: datatype
  T_REQUEST :: r, rs(2)
  T_GROUP :: group, none
  T_OP :: op
  T_WIN :: win
  T_INFO :: info
  T_ERRHANDLER :: handler
  T_MESSAGE :: message
  T_SESSION :: session
  INTEGER :: buffer(8), got(8)
  LOGICAL :: flag
  CHARACTER(LEN=MPI_MAX_OBJECT_NAME) :: name
  CHARACTER(LEN=3) :: short
  CHARACTER(LEN=2 * MPI_MAX_OBJECT_NAME) :: long
  CALL MPI_INIT(code)
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
  buffer = 0
  got = -1
  CALL MPI_COMM_DUP(MPI_COMM_SELF, comm, code)
  stale = comm
  CALL MPI_COMM_FREE(comm, code)
  CALL MPI_COMM_SIZE(stale, n, code)
  CALL must(code == MPI_ERR_COMM, 1)
  DO i = 1, 4
    k = invented(i)
    comm = HANDLE(MPI_Comm, k)
    CALL MPI_COMM_SIZE(comm, n, code)
    CALL must(code == MPI_ERR_COMM, 10 * i + 100)
    CALL MPI_SEND(buffer, 1, MPI_INTEGER, 0, 0, comm, code)
    CALL must(code == MPI_ERR_COMM, 10 * i + 101)
    datatype = HANDLE(MPI_Datatype, k)
    CALL MPI_SEND(buffer, 1, datatype, MPI_PROC_NULL, 0, MPI_COMM_SELF, code)
    CALL must(code == MPI_ERR_TYPE, 10 * i + 102)
    CALL MPI_TYPE_FREE(datatype, code)
    CALL must(code == MPI_ERR_TYPE, 10 * i + 103)
    r = HANDLE(MPI_Request, k)
    CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
    CALL must(code == MPI_ERR_REQUEST, 10 * i + 104)
    rs(1) = MPI_REQUEST_NULL
    rs(2) = r
    CALL MPI_TESTALL(2, rs, flag, MPI_STATUSES_IGNORE, code)
    CALL must(code == MPI_ERR_REQUEST .OR. code == MPI_ERR_IN_STATUS, 10 * i + 105)
    op = HANDLE(MPI_Op, k)
    CALL MPI_ALLREDUCE(buffer, got, 1, MPI_INTEGER, op, MPI_COMM_SELF, code)
    CALL must(code == MPI_ERR_OP .AND. got(1) == -1, 10 * i + 106)
    group = HANDLE(MPI_Group, k)
    CALL MPI_GROUP_SIZE(group, n, code)
    CALL must(code == MPI_ERR_GROUP, 10 * i + 107)
    win = HANDLE(MPI_Win, k)
    CALL MPI_WIN_FENCE(0, win, code)
    CALL must(code == MPI_ERR_WIN, 10 * i + 108)
    info = HANDLE(MPI_Info, k)
    CALL MPI_INFO_SET(info, 'key', 'value', code)
    CALL must(code == MPI_ERR_INFO, 10 * i + 109)
    handler = HANDLE(MPI_Errhandler, k)
    CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, handler, code)
    CALL must(code == MPI_ERR_ERRHANDLER .OR. code == MPI_ERR_ARG, 10 * i + 200)
    message = HANDLE(MPI_Message, k)
    CALL MPI_MRECV(got, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, code)
    CALL must(code == MPI_ERR_REQUEST .OR. code == MPI_ERR_ARG, 10 * i + 201)
    session = HANDLE(MPI_Session, k)
    CALL MPI_SESSION_FINALIZE(session, code)
    CALL must(code == MPI_ERR_SESSION .OR. code == MPI_ERR_ARG, 10 * i + 202)
  END DO
  ! A handle of one kind for another: in mpi_f08 it does not compile, but for its integer.
#ifdef METHOD_F08
  comm%MPI_VAL = MPI_INTEGER%MPI_VAL
#else
  comm = MPI_INTEGER
#endif
  CALL MPI_COMM_SIZE(comm, n, code)
  CALL must(code == MPI_ERR_COMM, 300)
  ! A request that is complete, by a copy of its handle.
  CALL MPI_IRECV(got, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, r, code)
  rs(1) = r
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  CALL MPI_WAIT(rs(1), MPI_STATUS_IGNORE, code)
  CALL must(code == MPI_ERR_REQUEST, 301)

  CALL MPI_SEND(buffer, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, code)
  CALL must(code == MPI_ERR_COUNT, 310)
  CALL MPI_WAITALL(-1, rs, MPI_STATUSES_IGNORE, code)
  CALL must(code == MPI_ERR_COUNT .OR. code == MPI_ERR_ARG, 311)
  CALL MPI_GATHERV(buffer, -1, MPI_INTEGER, got, [1], [0], MPI_INTEGER, 0, MPI_COMM_SELF, code)
  CALL must(code == MPI_ERR_COUNT, 312)
  CALL MPI_TYPE_CONTIGUOUS(-1, MPI_INTEGER, datatype, code)
  CALL must((code == MPI_ERR_COUNT .OR. code == MPI_ERR_ARG) .AND. datatype == MPI_DATATYPE_NULL, 313)
  CALL MPI_TYPE_INDEXED(-1, [1], [0], MPI_INTEGER, datatype, code)
  CALL must(code == MPI_ERR_COUNT .OR. code == MPI_ERR_ARG, 314)
  CALL MPI_COMM_GROUP(MPI_COMM_SELF, group, code)
  CALL MPI_GROUP_INCL(group, -1, [0], none, code)
  CALL must(code == MPI_ERR_COUNT .OR. code == MPI_ERR_ARG .OR. code == MPI_ERR_RANK, 315)
  CALL MPI_GROUP_FREE(group, code)
  CALL MPI_WIN_CREATE(buffer, -8_MPI_ADDRESS_KIND, 1, MPI_INFO_NULL, MPI_COMM_SELF, win, code)
  CALL must(code == MPI_ERR_SIZE .AND. win == MPI_WIN_NULL, 316)

  ! Strings. A name is cut in the program's variable, and so is one that MPI cannot hold.
  CALL MPI_COMM_DUP(MPI_COMM_SELF, comm, code)
  CALL MPI_COMM_SET_NAME(comm, 'abcdef', code)
#ifndef METHOD_F08
  short = '...' ! in mpi_f08 the length is that of the interface
  CALL MPI_COMM_GET_NAME(comm, short, n, code)
  CALL must(short == 'abc' .AND. n == 6, 400)
#else
  short = 'abc'
  CALL must(short == 'abc', 400)
#endif
  long = REPEAT('n', LEN(long))
  CALL MPI_COMM_SET_NAME(comm, long, code)
  CALL MPI_COMM_GET_NAME(comm, name, n, i)
  CALL must(code == MPI_SUCCESS .AND. n == MPI_MAX_OBJECT_NAME .AND. name == long(1:LEN(name)), 401)
  CALL MPI_COMM_SET_NAME(comm, '', code)
  CALL MPI_COMM_GET_NAME(comm, name, n, code)
  CALL must(n == 0 .AND. name == '', 402)
  CALL MPI_COMM_FREE(comm, code)
  CALL MPI_INFO_CREATE(info, code)
  CALL MPI_INFO_SET(info, '   ', 'v', code)
  CALL must(code == MPI_ERR_INFO_KEY, 403)
  CALL MPI_INFO_DELETE(info, 'missing', code)
  CALL must(code == MPI_ERR_INFO_NOKEY, 404)
  CALL MPI_INFO_FREE(info, code)
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)

CONTAINS

  SUBROUTINE must(holds, n)
    LOGICAL, INTENT(IN) :: holds
    INTEGER, INTENT(IN) :: n
    INTEGER :: class, again
    IF (holds) RETURN
    CALL MPI_ERROR_CLASS(code, class, again)
    PRINT *, 'case', n, 'code', code, 'class', class
    ERROR STOP 1
  END SUBROUTINE must

END PROGRAM wild
