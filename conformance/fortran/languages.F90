! INF-09, LNG-09: hints that one language has set are read in another, with blanks as each means them; an
! operation and an error handler serve objects and datatypes of both.
#include "method.inc"
#ifdef METHOD_F08
#define INTEGER_OF(h) h%MPI_VAL
#else
#define INTEGER_OF(h) h
#endif
PROGRAM languages
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTERFACE
    INTEGER(C_INT) FUNCTION hints_in_c(info) BIND(C)
      IMPORT :: C_INT
      INTEGER(C_INT) :: info
    END FUNCTION hints_in_c
    INTEGER(C_INT) FUNCTION reduce_in_c(op) BIND(C)
      IMPORT :: C_INT
      INTEGER(C_INT) :: op
    END FUNCTION reduce_in_c
    SUBROUTINE op_of_c(op) BIND(C)
      IMPORT :: C_INT
      INTEGER(C_INT) :: op
    END SUBROUTINE op_of_c
    SUBROUTINE fail_in_c(comm) BIND(C)
      IMPORT :: C_INT
      INTEGER(C_INT) :: comm
    END SUBROUTINE fail_in_c
  END INTERFACE
  EXTERNAL :: largest, noted
  T_INFO :: info
  T_OP :: op
  T_COMM :: comm
  T_ERRHANDLER :: handler
  CHARACTER(LEN=20) :: value
  INTEGER :: code, n, a, b
  INTEGER :: seen
  COMMON /calls/ seen
  LOGICAL :: flag
  CALL MPI_INIT(code)
  CALL MPI_INFO_CREATE(info, code)
  CALL MPI_INFO_SET(info, 'of Fortran ', '  4 words of it   ', code)
  IF (hints_in_c(INTEGER_OF(info)) /= 0) ERROR STOP 1
  n = LEN(value)
  value = REPEAT('x', n)
  CALL MPI_INFO_GET_STRING(info, 'of C', n, value, flag, code)
  IF (.NOT. flag .OR. n /= 6 .OR. value /= '  of C') ERROR STOP 2
  CALL MPI_INFO_FREE(info, code)
  ! An operation of Fortran in C, on datatypes of both languages, and one of C in Fortran.
  seen = 0
  CALL MPI_OP_CREATE(largest, .TRUE., op, code)
  IF (reduce_in_c(INTEGER_OF(op)) /= 0 .OR. seen /= 2) ERROR STOP 3
  CALL MPI_OP_FREE(op, code)
  CALL op_of_c(INTEGER_OF(op))
  a = 3
  b = 4
  CALL MPI_REDUCE_LOCAL(a, b, 1, MPI_INTEGER, op, code)
  IF (b /= 34) ERROR STOP 4
  CALL MPI_OP_FREE(op, code)
  ! A handler of Fortran for an error in C.
  CALL MPI_COMM_DUP(MPI_COMM_SELF, comm, code)
  CALL MPI_COMM_CREATE_ERRHANDLER(noted, handler, code)
  CALL MPI_COMM_SET_ERRHANDLER(comm, handler, code)
  CALL MPI_ERRHANDLER_FREE(handler, code)
  seen = 0
  CALL fail_in_c(INTEGER_OF(comm))
  IF (seen /= MPI_ERR_RANK) ERROR STOP 5
  CALL MPI_COMM_FREE(comm, code)
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)
END PROGRAM languages

! The larger of two integers, of any of the datatypes that it is called with.
SUBROUTINE largest(invec, inoutvec, len, datatype)
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT
  IMPLICIT NONE
  INTEGER :: len, datatype
  INTEGER(C_INT) :: invec(len), inoutvec(len)
  INTEGER :: seen
  COMMON /calls/ seen
  IF (datatype == 0) ERROR STOP 6
  seen = seen + 1
  inoutvec = MAX(invec, inoutvec)
END SUBROUTINE largest

SUBROUTINE noted(comm, error_code)
  IMPLICIT NONE
  INTEGER :: comm, error_code
  INTEGER :: seen
  COMMON /calls/ seen
  IF (comm == 0) ERROR STOP 7
  seen = error_code
END SUBROUTINE noted
