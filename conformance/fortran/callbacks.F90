! TRM-17, LNG-08, COL-08, CBK-02, CBK-03, GRQ-01, GRQ-02, GRQ-03, GRQ-05, GRQ-06, ATT-04: procedures of the program that
! MPI calls: operations, error handlers, functions of attributes and of generalized requests. They get
! integers, logicals and handles as Fortran passes them.
#include "method.inc"
#ifdef METHOD_F08
#define HANDLE(type, name) TYPE(type) :: name
#else
#define HANDLE(type, name) INTEGER :: name
#endif
MODULE record
  IMPLICIT NONE
  INTEGER, PARAMETER :: address = SELECTED_INT_KIND(18)
  INTEGER :: called = 0, last = 0, queried = 0, freed = 0, cancelled = 0, copies = 0, deletes = 0
  INTEGER(KIND=address) :: passed = 0
  LOGICAL :: complete_then = .FALSE.
END MODULE record

PROGRAM callbacks
  USE_MPI
  USE record
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: rank, size, code
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)
  CALL operations()
  CALL handlers()
  CALL attributes()
  CALL generalized()
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)

CONTAINS

  SUBROUTINE must(holds, n)
    LOGICAL, INTENT(IN) :: holds
    INTEGER, INTENT(IN) :: n
    IF (.NOT. holds) THEN
      PRINT *, 'rank', rank, 'case', n
      ERROR STOP 1
    END IF
  END SUBROUTINE must

  SUBROUTINE operations()
    INTERFACE
#ifdef METHOD_F08
      SUBROUTINE compose(invec, inoutvec, len, datatype)
        USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR
        USE mpi_f08, ONLY : MPI_Datatype
        TYPE(C_PTR), VALUE :: invec, inoutvec
        INTEGER :: len
        TYPE(MPI_Datatype) :: datatype
      END SUBROUTINE compose
#else
      SUBROUTINE compose(invec, inoutvec, len, datatype)
        INTEGER :: len, datatype
        INTEGER :: invec(2, len), inoutvec(2, len)
      END SUBROUTINE compose
#endif
    END INTERFACE
    T_OP :: op
    T_DATATYPE :: pair
    INTEGER :: mine(2, 3), total(2, 3), want(2), k
    LOGICAL :: commutes
    ! Functions x -> a*x + b as pairs; their composition is associative and does not commute.
    CALL MPI_OP_CREATE(compose, .FALSE., op, code)
    CALL must(code == MPI_SUCCESS .AND. op /= MPI_OP_NULL, 101)
    CALL MPI_OP_COMMUTATIVE(op, commutes, code)
    CALL must(.NOT. commutes, 102)
    CALL MPI_TYPE_CONTIGUOUS(2, MPI_INTEGER, pair, code)
    CALL MPI_TYPE_COMMIT(pair, code)
    mine(1, :) = 2
    mine(2, :) = rank + [1, 2, 3]
    total = -1
    CALL MPI_ALLREDUCE(mine, total, 3, pair, op, MPI_COMM_WORLD, code)
    want = [1, 0]
    DO k = 0, size - 1
      want = [want(1) * 2, 2 * want(2) + k + 1]
    END DO
    CALL must(ALL(total(:, 1) == want), 103)
    called = 0
    CALL MPI_REDUCE_LOCAL(mine, total, 1, pair, op, code)
    CALL must(called == 1, 104)
#ifdef METHOD_F08
    CALL must(last == pair%MPI_VAL, 105)
#else
    CALL must(last == pair, 105)
#endif
    CALL MPI_OP_FREE(op, code)
    CALL MPI_TYPE_FREE(pair, code)
  END SUBROUTINE operations

  SUBROUTINE handlers()
    INTERFACE
      SUBROUTINE noted(object, error_code)
#ifdef METHOD_F08
        USE mpi_f08, ONLY : MPI_Comm
#endif
        HANDLE(MPI_Comm, object)
        INTEGER :: error_code
      END SUBROUTINE noted
      SUBROUTINE noted_win(object, error_code)
#ifdef METHOD_F08
        USE mpi_f08, ONLY : MPI_Win
#endif
        HANDLE(MPI_Win, object)
        INTEGER :: error_code
      END SUBROUTINE noted_win
    END INTERFACE
    T_ERRHANDLER :: handler
    T_COMM :: comm
    T_WIN :: win
    INTEGER :: memory(4)
    CALL MPI_COMM_DUP(MPI_COMM_WORLD, comm, code)
    CALL MPI_COMM_CREATE_ERRHANDLER(noted, handler, code)
    CALL MPI_COMM_SET_ERRHANDLER(comm, handler, code)
    CALL MPI_ERRHANDLER_FREE(handler, code)
    CALL must(handler == MPI_ERRHANDLER_NULL, 201)
    called = 0
    CALL MPI_SEND(1, 1, MPI_INTEGER, size, 1, comm, code)
    CALL must(called == MPI_ERR_RANK .AND. code == MPI_ERR_RANK, 202)
#ifdef METHOD_F08
    CALL must(last == comm%MPI_VAL, 203)
#else
    CALL must(last == comm, 203)
#endif
    CALL MPI_COMM_FREE(comm, code)
    CALL MPI_WIN_CREATE(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    CALL MPI_WIN_CREATE_ERRHANDLER(noted_win, handler, code)
    CALL MPI_WIN_SET_ERRHANDLER(win, handler, code)
    CALL MPI_ERRHANDLER_FREE(handler, code)
    called = 0
    CALL MPI_WIN_CALL_ERRHANDLER(win, MPI_ERR_RMA_RANGE, code)
    CALL must(called == MPI_ERR_RMA_RANGE .AND. code == MPI_SUCCESS, 204)
    CALL MPI_WIN_FREE(win, code)
  END SUBROUTINE handlers

  SUBROUTINE attributes()
    INTERFACE
      SUBROUTINE copied(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
        USE record, ONLY : address
#ifdef METHOD_F08
        USE mpi_f08, ONLY : MPI_Comm
#endif
        HANDLE(MPI_Comm, oldcomm)
        INTEGER :: comm_keyval, ierror
        INTEGER(KIND=address) :: extra_state, attribute_val_in, attribute_val_out
        LOGICAL :: flag
      END SUBROUTINE copied
      SUBROUTINE deleted(comm, comm_keyval, attribute_val, extra_state, ierror)
        USE record, ONLY : address
#ifdef METHOD_F08
        USE mpi_f08, ONLY : MPI_Comm
#endif
        HANDLE(MPI_Comm, comm)
        INTEGER :: comm_keyval, ierror
        INTEGER(KIND=address) :: attribute_val, extra_state
      END SUBROUTINE deleted
    END INTERFACE
    T_COMM :: comm, second
    INTEGER :: keyval, other
    INTEGER(KIND=MPI_ADDRESS_KIND) :: value
    LOGICAL :: flag
    CALL MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, code)
    CALL must(flag .AND. value >= 32767, 301)
    CALL MPI_COMM_CREATE_KEYVAL(copied, deleted, keyval, 12345678901_MPI_ADDRESS_KIND, code)
    CALL MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, other, 0_MPI_ADDRESS_KIND, code)
    CALL MPI_COMM_DUP(MPI_COMM_WORLD, comm, code)
    CALL MPI_COMM_GET_ATTR(comm, keyval, value, flag, code)
    CALL must(.NOT. flag, 302)
    CALL MPI_COMM_SET_ATTR(comm, keyval, -5000000000_MPI_ADDRESS_KIND, code)
    CALL MPI_COMM_SET_ATTR(comm, other, 77_MPI_ADDRESS_KIND, code)
    CALL MPI_COMM_DUP(comm, second, code)
    CALL must(copies == 1 .AND. passed == 12345678901_MPI_ADDRESS_KIND, 303)
    CALL MPI_COMM_GET_ATTR(second, keyval, value, flag, code)
    CALL must(flag .AND. value == -4999999999_MPI_ADDRESS_KIND, 304)
    CALL MPI_COMM_GET_ATTR(second, other, value, flag, code)
    CALL must(flag .AND. value == 77, 305)
    CALL MPI_COMM_DELETE_ATTR(comm, keyval, code)
    CALL must(deletes == 1, 306)
    CALL MPI_COMM_FREE(comm, code)
    ! An error of the function is the error of the call, and the attribute stays.
    CALL MPI_COMM_SET_ATTR(second, keyval, 99_MPI_ADDRESS_KIND, code)
    CALL must(deletes == 2, 307)
    CALL MPI_COMM_SET_ERRHANDLER(second, MPI_ERRORS_RETURN, code)
    CALL MPI_COMM_DELETE_ATTR(second, keyval, code)
    CALL must(code /= MPI_SUCCESS, 308)
    CALL MPI_COMM_GET_ATTR(second, keyval, value, flag, code)
    CALL must(flag .AND. value == 99, 309)
    CALL MPI_COMM_SET_ATTR(second, keyval, 1_MPI_ADDRESS_KIND, code)
    CALL MPI_COMM_DELETE_ATTR(second, keyval, code)
    CALL MPI_COMM_FREE(second, code)
    CALL MPI_COMM_DUP(MPI_COMM_SELF, comm, code)
    CALL MPI_COMM_SET_ERRHANDLER(comm, MPI_ERRORS_RETURN, code)
    CALL MPI_COMM_SET_ATTR(comm, keyval, 55_MPI_ADDRESS_KIND, code)
    CALL MPI_COMM_DUP(comm, second, code)
    CALL must(code == MPI_ERR_OTHER .AND. second == MPI_COMM_NULL, 311)
    CALL MPI_COMM_FREE(comm, code)
    CALL MPI_COMM_FREE_KEYVAL(keyval, code)
    CALL MPI_COMM_FREE_KEYVAL(other, code)
    CALL must(keyval == MPI_KEYVAL_INVALID, 310)
    CALL types()
    CALL deprecated()
  END SUBROUTINE attributes

  SUBROUTINE types()
    T_DATATYPE :: made, copy
    T_WIN :: win
    INTEGER :: keyval, memory(4)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: value, at
    LOGICAL :: flag
    CALL MPI_TYPE_CREATE_KEYVAL(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, code)
    CALL MPI_TYPE_CONTIGUOUS(2, MPI_INTEGER, made, code)
    CALL MPI_TYPE_SET_ATTR(made, keyval, 5_MPI_ADDRESS_KIND, code)
    CALL MPI_TYPE_DUP(made, copy, code)
    CALL MPI_TYPE_GET_ATTR(copy, keyval, value, flag, code)
    CALL must(flag .AND. value == 5, 401)
    CALL MPI_TYPE_FREE(made, code)
    CALL MPI_TYPE_FREE(copy, code)
    CALL MPI_TYPE_FREE_KEYVAL(keyval, code)
    CALL MPI_WIN_CREATE(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    CALL MPI_WIN_CREATE_KEYVAL(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, code)
    CALL MPI_WIN_SET_ATTR(win, keyval, 6_MPI_ADDRESS_KIND, code)
    CALL MPI_WIN_GET_ATTR(win, keyval, value, flag, code)
    CALL must(flag .AND. value == 6, 402)
    CALL MPI_WIN_GET_ATTR(win, MPI_WIN_BASE, value, flag, code)
    CALL MPI_GET_ADDRESS(memory, at, code)
    CALL must(flag .AND. value == at, 403)
    CALL MPI_WIN_GET_ATTR(win, MPI_WIN_SIZE, value, flag, code)
    CALL must(flag .AND. value == 16, 404)
    CALL MPI_WIN_GET_ATTR(win, MPI_WIN_DISP_UNIT, value, flag, code)
    CALL must(flag .AND. value == 4, 405)
    CALL MPI_WIN_GET_ATTR(win, MPI_WIN_CREATE_FLAVOR, value, flag, code)
    CALL must(flag .AND. value == MPI_WIN_FLAVOR_CREATE, 406)
    CALL MPI_WIN_FREE(win, code)
    CALL MPI_WIN_FREE_KEYVAL(keyval, code)
  END SUBROUTINE types

  SUBROUTINE deprecated()
#ifndef METHOD_F08
    T_COMM :: comm, second
    INTEGER :: keyval, value
    LOGICAL :: flag
    CALL MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, 0, code)
    CALL MPI_COMM_DUP(MPI_COMM_SELF, comm, code)
    CALL MPI_ATTR_PUT(comm, keyval, -8, code)
    CALL MPI_COMM_DUP(comm, second, code)
    CALL MPI_ATTR_GET(second, keyval, value, flag, code)
    CALL must(flag .AND. value == -8, 501)
    CALL MPI_ATTR_DELETE(comm, keyval, code)
    CALL MPI_ATTR_GET(comm, keyval, value, flag, code)
    CALL must(.NOT. flag, 502)
    CALL MPI_COMM_FREE(comm, code)
    CALL MPI_COMM_FREE(second, code)
    CALL MPI_KEYVAL_FREE(keyval, code)
#endif
  END SUBROUTINE deprecated

  SUBROUTINE generalized()
    INTERFACE
      SUBROUTINE query(extra_state, status, ierror)
        USE record, ONLY : address
        USE_MPI
        IMPLICIT NONE
        INCLUDE_MPI
        INTEGER(KIND=address) :: extra_state
        T_STATUS :: status
        INTEGER :: ierror
      END SUBROUTINE query
      SUBROUTINE release(extra_state, ierror)
        USE record, ONLY : address
        INTEGER(KIND=address) :: extra_state
        INTEGER :: ierror
      END SUBROUTINE release
      SUBROUTINE cancel(extra_state, complete, ierror)
        USE record, ONLY : address
        INTEGER(KIND=address) :: extra_state
        LOGICAL :: complete
        INTEGER :: ierror
      END SUBROUTINE cancel
    END INTERFACE
    T_REQUEST :: request, copy
    T_STATUS :: status
    LOGICAL :: flag
    INTEGER :: n
    CALL MPI_GREQUEST_START(query, release, cancel, 31_MPI_ADDRESS_KIND, request, code)
    CALL MPI_TEST(request, flag, status, code)
    CALL must(.NOT. flag .AND. queried == 0, 601)
    CALL MPI_CANCEL(request, code)
    CALL must(cancelled == 1 .AND. .NOT. complete_then, 602)
    copy = request
    CALL MPI_GREQUEST_COMPLETE(request, code)
    CALL must(request == copy, 603)
    CALL MPI_CANCEL(request, code)
    CALL must(cancelled == 2 .AND. complete_then, 604)
    CALL MPI_WAIT(request, status, code)
    CALL must(request == MPI_REQUEST_NULL .AND. queried == 1 .AND. freed == 1 .AND. passed == 31, 605)
    CALL must(code == MPI_SUCCESS .AND. TAG_OF(status) == 17, 606)
    CALL MPI_GET_COUNT(status, MPI_INTEGER, n, code)
    CALL MPI_TEST_CANCELLED(status, flag, code)
    CALL must(n == 3 .AND. flag, 607)
  END SUBROUTINE generalized

END PROGRAM callbacks

! a2*(a1*x + b1) + b2
#ifdef METHOD_F08
SUBROUTINE compose(invec, inoutvec, len, datatype)
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR, C_F_POINTER
  USE mpi_f08, ONLY : MPI_Datatype
  USE record
  IMPLICIT NONE
  TYPE(C_PTR), VALUE :: invec, inoutvec
  INTEGER :: len
  TYPE(MPI_Datatype) :: datatype
  INTEGER, POINTER :: a(:, :), b(:, :)
  CALL C_F_POINTER(invec, a, [2, len])
  CALL C_F_POINTER(inoutvec, b, [2, len])
  last = datatype%MPI_VAL
  b(2, :) = b(1, :) * a(2, :) + b(2, :)
  b(1, :) = a(1, :) * b(1, :)
  called = called + 1
END SUBROUTINE compose
#else
SUBROUTINE compose(a, b, len, datatype)
  USE record
  IMPLICIT NONE
  INTEGER :: len, datatype
  INTEGER :: a(2, len), b(2, len)
  last = datatype
  b(2, :) = b(1, :) * a(2, :) + b(2, :)
  b(1, :) = a(1, :) * b(1, :)
  called = called + 1
END SUBROUTINE compose
#endif

SUBROUTINE noted(object, error_code)
  USE_MPI
  USE record
  IMPLICIT NONE
  INCLUDE_MPI
  HANDLE(MPI_Comm, object)
  INTEGER :: error_code
#ifdef METHOD_F08
  last = object%MPI_VAL
#else
  last = object
#endif
  called = error_code
END SUBROUTINE noted

SUBROUTINE noted_win(object, error_code)
  USE_MPI
  USE record
  IMPLICIT NONE
  INCLUDE_MPI
  HANDLE(MPI_Win, object)
  INTEGER :: error_code
#ifdef METHOD_F08
  last = object%MPI_VAL
#else
  last = object
#endif
  called = error_code
END SUBROUTINE noted_win

! The copy is one more than the original; 55 cannot be copied.
SUBROUTINE copied(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
  USE_MPI
  USE record
  IMPLICIT NONE
  INCLUDE_MPI
  HANDLE(MPI_Comm, oldcomm)
  INTEGER :: comm_keyval, ierror
  INTEGER(KIND=address) :: extra_state, attribute_val_in, attribute_val_out
  LOGICAL :: flag
  IF (oldcomm == MPI_COMM_NULL .OR. comm_keyval == MPI_KEYVAL_INVALID) ERROR STOP 3
  copies = copies + 1
  passed = extra_state
  attribute_val_out = attribute_val_in + 1
  flag = .TRUE.
  ierror = MPI_SUCCESS
  IF (attribute_val_in == 55) ierror = MPI_ERR_OTHER
END SUBROUTINE copied

! 99 must not be deleted.
SUBROUTINE deleted(comm, comm_keyval, attribute_val, extra_state, ierror)
  USE_MPI
  USE record
  IMPLICIT NONE
  INCLUDE_MPI
  HANDLE(MPI_Comm, comm)
  INTEGER :: comm_keyval, ierror
  INTEGER(KIND=address) :: attribute_val, extra_state
  IF (comm == MPI_COMM_NULL .OR. comm_keyval == MPI_KEYVAL_INVALID) ERROR STOP 4
  IF (extra_state /= 12345678901_address) ERROR STOP 5
  ierror = MPI_SUCCESS
  deletes = deletes + 1
  IF (attribute_val == 99 .AND. deletes == 3) ierror = MPI_ERR_OTHER
END SUBROUTINE deleted

SUBROUTINE query(extra_state, status, ierror)
  USE_MPI
  USE record
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER(KIND=address) :: extra_state
  T_STATUS :: status
  INTEGER :: ierror
  passed = extra_state
  queried = queried + 1
  CALL MPI_STATUS_SET_ELEMENTS(status, MPI_INTEGER, 3, ierror)
  CALL MPI_STATUS_SET_CANCELLED(status, .TRUE., ierror)
  SOURCE_OF(status) = MPI_UNDEFINED
  TAG_OF(status) = 17
  ierror = MPI_SUCCESS
END SUBROUTINE query

SUBROUTINE release(extra_state, ierror)
  USE record
  IMPLICIT NONE
  INTEGER(KIND=address) :: extra_state
  INTEGER :: ierror
  passed = extra_state
  freed = freed + 1
  ierror = 0
END SUBROUTINE release

SUBROUTINE cancel(extra_state, complete, ierror)
  USE record
  IMPLICIT NONE
  INTEGER(KIND=address) :: extra_state
  LOGICAL :: complete
  INTEGER :: ierror
  passed = extra_state
  cancelled = cancelled + 1
  complete_then = complete
  ierror = 0
END SUBROUTINE cancel
