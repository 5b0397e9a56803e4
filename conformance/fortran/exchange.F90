! Handles of all kinds pass between a half in Fortran and one in C, which use them in turn: communicators,
! groups, datatypes, operations, requests, messages, windows, infos, error handlers and sessions. Functions
! of one language run when the other calls MPI (LNG-01, LNG-02, LNG-08, LNG-09, INF-09).
#include "method.inc"
MODULE fortran_half
  USE_MPI
  USE, INTRINSIC :: ISO_C_BINDING
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: calls = 0, last_code = 0
CONTAINS
  ! The largest of two integers by their absolute values.
#if defined(METHOD_F08)
  SUBROUTINE largest(invec, inoutvec, len, datatype)
    TYPE(C_PTR), VALUE :: invec, inoutvec
    INTEGER :: len
    TYPE(MPI_Datatype) :: datatype
    INTEGER, POINTER :: a(:), b(:)
    CALL C_F_POINTER(invec, a, [len])
    CALL C_F_POINTER(inoutvec, b, [len])
#else
  SUBROUTINE largest(a, b, len, datatype)
    INTEGER :: len
    INTEGER :: a(len), b(len)
    INTEGER :: datatype
#endif
    IF (datatype /= MPI_INTEGER .AND. datatype /= MPI_INT) ERROR STOP 101
    WHERE (ABS(a) > ABS(b)) b = a
  END SUBROUTINE largest

  SUBROUTINE handler(comm, error_code)
    T_COMM :: comm
    INTEGER :: error_code
    IF (comm == MPI_COMM_NULL) ERROR STOP 102
    calls = calls + 1
    last_code = error_code
  END SUBROUTINE handler
END MODULE fortran_half

PROGRAM exchange
  USE fortran_half
  IMPLICIT NONE
  EXTERNAL c_comm, c_group, c_type, c_reduce, c_op, c_wait, c_start, c_probe, c_put, c_info, c_fails, c_handler, c_session
  INTEGER :: rank, size, ierr, ok, n, numbers(6), got(6), most, value, code, bytes
  INTEGER, ASYNCHRONOUS :: buffer, window(2)
  INTEGER(KIND=MPI_ADDRESS_KIND) :: room
  LOGICAL :: flag
  CHARACTER(LEN=MPI_MAX_OBJECT_NAME) :: name
  CHARACTER(LEN=20) :: text
  T_COMM :: comm, made
  T_GROUP :: group
  T_DATATYPE :: datatype
  T_OP :: op
  T_REQUEST :: request
  T_MESSAGE :: message
  T_WIN :: win
  T_INFO :: info
  T_ERRHANDLER :: errhandler
  T_SESSION :: session
  T_STATUS :: status
  CALL MPI_Init(ierr)
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size, ierr)

  ! C uses a communicator of Fortran, and makes one for it
  CALL MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  CALL c_comm(comm, made, ok)
  IF (ok == 0) ERROR STOP 1
  CALL MPI_Comm_get_name(comm, name, n, ierr)
  IF (name /= 'named in C') ERROR STOP 2
  CALL MPI_Comm_rank(made, n, ierr)
  IF (n /= size - 1 - rank) ERROR STOP 3
  CALL MPI_Comm_free(made, ierr)

  CALL MPI_Comm_group(comm, group, ierr)
  CALL c_group(group, ok) ! which makes it the group of the last rank
  IF (ok == 0) ERROR STOP 4
  CALL MPI_Group_size(group, n, ierr)
  IF (n /= 1) ERROR STOP 5
  CALL MPI_Group_free(group, ierr)

  ! a datatype of C
  CALL c_type(datatype)
  numbers = [1, 2, 3, 4, 5, 6]
  got = 0
  CALL MPI_Sendrecv(numbers, 1, datatype, 0, 1, got, 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, ierr)
  IF (ANY(got /= [1, 3, 5, 0, 0, 0])) ERROR STOP 6
  CALL MPI_Type_free(datatype, ierr)

  ! operations: of Fortran in reductions of C, on types of both, and of C in one of Fortran
  CALL MPI_Op_create(largest, .TRUE., op, ierr)
  CALL c_reduce(op, comm, ok)
  IF (ok == 0) ERROR STOP 7
  CALL MPI_Op_free(op, ierr)
  CALL c_op(op)
  value = rank + 1
  CALL MPI_Allreduce(value, most, 1, MPI_INTEGER, op, comm, ierr)
  IF (most /= size * (size + 1) / 2) ERROR STOP 8
  CALL MPI_Op_free(op, ierr)

  ! requests and messages
  buffer = 0
  CALL MPI_Irecv(buffer, 1, MPI_INTEGER, rank, 2, comm, request, ierr)
  value = 77
  CALL MPI_Send(value, 1, MPI_INTEGER, rank, 2, comm, ierr)
  CALL c_wait(request, ok)
  CALL MPI_F_sync_reg(buffer)
  IF (ok == 0 .OR. request /= MPI_REQUEST_NULL .OR. buffer /= 77) ERROR STOP 9
  CALL c_start(buffer, comm, request)
  value = 78
  CALL MPI_Send(value, 1, MPI_INTEGER, rank, 3, comm, ierr)
  CALL MPI_Wait(request, status, ierr)
  CALL MPI_F_sync_reg(buffer)
  IF (TAG_OF(status) /= 3 .OR. buffer /= 78) ERROR STOP 10
  CALL MPI_Isend(value, 1, MPI_INTEGER, rank, 4, comm, request, ierr)
  CALL c_probe(comm, message)
  CALL MPI_Mrecv(buffer, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)
  IF (message /= MPI_MESSAGE_NULL .OR. buffer /= 78) ERROR STOP 11
  CALL MPI_Wait(request, MPI_STATUS_IGNORE, ierr)

  ! a window
  CALL MPI_Type_size(MPI_INTEGER, bytes, ierr)
  room = 2 * bytes
  window = -1
  CALL MPI_Win_create(window, room, bytes, MPI_INFO_NULL, comm, win, ierr)
  CALL MPI_Win_fence(0, win, ierr)
  CALL c_put(win, comm)
  CALL MPI_Win_fence(0, win, ierr)
  CALL MPI_F_sync_reg(window)
  IF (ANY(window /= [-1, MODULO(rank - 1, size)])) ERROR STOP 12
  CALL MPI_Win_free(win, ierr)

  ! hints, with spaces that Fortran adds or leaves out
  CALL MPI_Info_create(info, ierr)
  CALL MPI_Info_set(info, ' of fortran ', '  a value  ', ierr)
  CALL c_info(info, ok)
  IF (ok == 0) ERROR STOP 13
  n = LEN(text)
  CALL MPI_Info_get_string(info, 'of c', n, text, flag, ierr)
  IF (.NOT. flag .OR. text /= 'another value') ERROR STOP 14
  CALL MPI_Info_free(info, ierr)

  ! error handlers: of Fortran for an error of C, and of C for one of Fortran
  CALL MPI_Comm_create_errhandler(handler, errhandler, ierr)
  CALL c_fails(comm, errhandler, code)
  IF (calls /= 1 .OR. last_code /= code .OR. code /= MPI_ERR_RANK) ERROR STOP 15
  CALL MPI_Errhandler_free(errhandler, ierr)
  CALL c_handler(errhandler, n)
  CALL MPI_Comm_set_errhandler(comm, errhandler, ierr)
  CALL MPI_Errhandler_free(errhandler, ierr)
  CALL MPI_Send(value, 1, MPI_INTEGER, size, 0, comm, ierr)
  IF (ierr /= MPI_ERR_RANK) ERROR STOP 16
  CALL c_handler(errhandler, n)
  IF (n /= 1 .OR. calls /= 1) ERROR STOP 17
  CALL MPI_Errhandler_free(errhandler, ierr)

  CALL MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
  CALL c_session(session, ok) ! which ends it
  IF (ok == 0 .OR. session /= MPI_SESSION_NULL) ERROR STOP 18

  CALL MPI_Comm_free(comm, ierr)
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
END PROGRAM exchange
