! DT-02, DT-03, DT-17, DT-18, DT-19, DT-20, DT-21, DT-22, DT-23, DT-24, DT-27, DT-28: the datatypes of Fortran: their
! sizes are those of the compiler; types by precision and range, and by class and size, which are predefined.
#include "method.inc"
PROGRAM types
  USE, INTRINSIC :: ISO_FORTRAN_ENV, ONLY : INT8, INT16, INT32, INT64, REAL32, REAL64, REAL128
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: rank, size, code
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
  CALL sizes()
  CALL quads()
  CALL ranges()
  CALL contents()
  CALL by_size()
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

  INTEGER FUNCTION bytes(datatype)
    T_DATATYPE, INTENT(IN) :: datatype
    bytes = -1
    IF (datatype /= MPI_DATATYPE_NULL) CALL MPI_TYPE_SIZE(datatype, bytes, code)
  END FUNCTION bytes

  SUBROUTINE sizes()
    CALL must(bytes(MPI_INTEGER) == STORAGE_SIZE(0) / 8, 101)
    CALL must(bytes(MPI_REAL) == STORAGE_SIZE(0.) / 8, 102)
    CALL must(bytes(MPI_DOUBLE_PRECISION) == STORAGE_SIZE(0.D0) / 8, 103)
    CALL must(bytes(MPI_COMPLEX) == STORAGE_SIZE((0., 0.)) / 8, 104)
    CALL must(bytes(MPI_DOUBLE_COMPLEX) == STORAGE_SIZE((0.D0, 0.D0)) / 8, 105)
    CALL must(bytes(MPI_LOGICAL) == STORAGE_SIZE(.TRUE.) / 8, 106)
    CALL must(bytes(MPI_CHARACTER) == STORAGE_SIZE('c') / 8, 107)
    CALL must(bytes(MPI_AINT) == STORAGE_SIZE(0_MPI_ADDRESS_KIND) / 8, 108)
    CALL must(bytes(MPI_OFFSET) == STORAGE_SIZE(0_MPI_OFFSET_KIND) / 8, 109)
    CALL must(bytes(MPI_COUNT) == STORAGE_SIZE(0_MPI_COUNT_KIND) / 8, 110)
    CALL must(ALL([bytes(MPI_BYTE), bytes(MPI_PACKED)] == 1), 111)
    CALL must(ALL([bytes(MPI_2INTEGER), bytes(MPI_2REAL), bytes(MPI_2DOUBLE_PRECISION)] == [8, 8, 16]), 112)
    CALL must(ALL([bytes(MPI_INTEGER1), bytes(MPI_INTEGER2), bytes(MPI_INTEGER4), bytes(MPI_INTEGER8)] == [1, 2, 4, 8]), 113)
    CALL must(ALL([bytes(MPI_LOGICAL1), bytes(MPI_LOGICAL2), bytes(MPI_LOGICAL4), bytes(MPI_LOGICAL8)] == [1, 2, 4, 8]), 114)
    CALL must(ALL([bytes(MPI_REAL4), bytes(MPI_REAL8), bytes(MPI_COMPLEX8), bytes(MPI_COMPLEX16)] == [4, 8, 8, 16]), 115)
    ! Those that a compiler may lack have their size, or are null.
    CALL optional(MPI_INTEGER16, 16, 116)
    CALL optional(MPI_REAL2, 2, 117)
    CALL optional(MPI_COMPLEX4, 4, 118)
    CALL optional(MPI_REAL16, 16, 119)
    CALL optional(MPI_COMPLEX32, 32, 120)
  END SUBROUTINE sizes

  SUBROUTINE optional(datatype, want, which)
    T_DATATYPE, INTENT(IN) :: datatype
    INTEGER, INTENT(IN) :: want, which
    CALL must(ANY(bytes(datatype) == [-1, want]), which)
  END SUBROUTINE optional

  ! A sum of reals of 16 bytes has all of their digits.
  SUBROUTINE quads()
    REAL(KIND=REAL128) :: mine, total
    T_DATATYPE :: datatype
    CALL must(bytes(MPI_REAL16) == 16, 201)
    mine = 1 / (3.0_REAL128 + rank)
    CALL MPI_ALLREDUCE(mine, total, 1, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD, code)
    CALL must(ABS(total - expected()) < 1.0E-33_REAL128, 202)
    ! So has the type by precision, which is in no need of MPI_TYPE_COMMIT.
    CALL MPI_TYPE_CREATE_F90_REAL(30, MPI_UNDEFINED, datatype, code)
    CALL MPI_ALLREDUCE(mine, total, 1, datatype, MPI_SUM, MPI_COMM_WORLD, code)
    CALL must(code == MPI_SUCCESS .AND. ABS(total - expected()) < 1.0E-33_REAL128, 203)
  END SUBROUTINE quads

  REAL(KIND=REAL128) FUNCTION expected()
    INTEGER :: k
    expected = 0
    DO k = 0, size - 1
      expected = expected + 1 / (3.0_REAL128 + k)
    END DO
  END FUNCTION expected

  SUBROUTINE ranges()
    T_DATATYPE :: datatype, again
    INTEGER :: k
    INTEGER, PARAMETER :: r(5) = [2, 4, 9, 18, 38], is(5) = [1, 2, 4, 8, 16]
    DO k = 1, 5
      CALL MPI_TYPE_CREATE_F90_INTEGER(r(k), datatype, code)
      CALL must(code == MPI_SUCCESS, 300)
      CALL must(bytes(datatype) == is(k), 300 + k)
    END DO
    CALL MPI_TYPE_CREATE_F90_REAL(6, 37, datatype, code)
    CALL must(bytes(datatype) == 4, 306)
    CALL MPI_TYPE_CREATE_F90_REAL(15, 307, datatype, code)
    CALL must(bytes(datatype) == 8, 307)
    CALL MPI_TYPE_CREATE_F90_REAL(MPI_UNDEFINED, 307, datatype, code)
    CALL must(bytes(datatype) == 8, 308)
    CALL MPI_TYPE_CREATE_F90_COMPLEX(6, 37, datatype, code)
    CALL must(bytes(datatype) == 8, 309)
    CALL MPI_TYPE_CREATE_F90_COMPLEX(15, MPI_UNDEFINED, datatype, code)
    CALL must(bytes(datatype) == 16, 310)
    ! The kinds are those of the compiler.
    CALL MPI_TYPE_CREATE_F90_REAL(7, 37, datatype, code)
    CALL must(bytes(datatype) == STORAGE_SIZE(REAL(0, SELECTED_REAL_KIND(7, 37))) / 8, 311)
    CALL MPI_TYPE_CREATE_F90_INTEGER(5, datatype, code)
    CALL must(bytes(datatype) == STORAGE_SIZE(INT(0, SELECTED_INT_KIND(5))) / 8, 312)
    ! The same parameters give the same handle, others another one.
    DO k = 1, 1000
      CALL MPI_TYPE_CREATE_F90_REAL(15, 307, again, code)
      IF (k == 1) datatype = again
      CALL must(again == datatype, 313)
    END DO
    CALL MPI_TYPE_CREATE_F90_REAL(14, 307, again, code)
    CALL must(again /= datatype .AND. again /= MPI_REAL8, 314)
    ! What the compiler has not, and what cannot be.
    CALL MPI_TYPE_CREATE_F90_REAL(100, MPI_UNDEFINED, again, code)
    CALL must(code == MPI_ERR_ARG .AND. again == MPI_DATATYPE_NULL, 315)
    CALL MPI_TYPE_CREATE_F90_REAL(MPI_UNDEFINED, MPI_UNDEFINED, again, code)
    CALL must(code == MPI_ERR_ARG, 316)
    CALL MPI_TYPE_CREATE_F90_INTEGER(100, again, code)
    CALL must(code == MPI_ERR_ARG, 317)
    again = datatype
    CALL MPI_TYPE_FREE(again, code)
    CALL must(code == MPI_ERR_TYPE, 318)
    CALL must(bytes(datatype) == 8, 319)
  END SUBROUTINE ranges

  SUBROUTINE contents()
    T_DATATYPE :: datatype, none(1)
    INTEGER :: ni, na, nd, combiner, integers(2)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: addresses(1)
    CALL MPI_TYPE_CREATE_F90_REAL(MPI_UNDEFINED, 307, datatype, code)
    CALL MPI_TYPE_GET_ENVELOPE(datatype, ni, na, nd, combiner, code)
    CALL must(ni == 2 .AND. na == 0 .AND. nd == 0 .AND. combiner == MPI_COMBINER_F90_REAL, 401)
    CALL MPI_TYPE_GET_CONTENTS(datatype, 2, 0, 0, integers, addresses, none, code)
    CALL must(ALL(integers == [MPI_UNDEFINED, 307]), 402)
    CALL MPI_TYPE_CREATE_F90_COMPLEX(6, 37, datatype, code)
    CALL MPI_TYPE_GET_ENVELOPE(datatype, ni, na, nd, combiner, code)
    CALL must(ni == 2 .AND. combiner == MPI_COMBINER_F90_COMPLEX, 403)
    CALL MPI_TYPE_CREATE_F90_INTEGER(9, datatype, code)
    CALL MPI_TYPE_GET_ENVELOPE(datatype, ni, na, nd, combiner, code)
    CALL must(ni == 1 .AND. combiner == MPI_COMBINER_F90_INTEGER, 404)
    CALL MPI_TYPE_GET_CONTENTS(datatype, 1, 0, 0, integers, addresses, none, code)
    CALL must(integers(1) == 9, 405)
    CALL MPI_TYPE_GET_ENVELOPE(MPI_REAL8, ni, na, nd, combiner, code)
    CALL must(combiner == MPI_COMBINER_NAMED, 406)
  END SUBROUTINE contents

  SUBROUTINE by_size()
    T_DATATYPE :: datatype
    INTEGER(KIND=INT64) :: long, back
    REAL(KIND=REAL32) :: x
    REAL(KIND=REAL64) :: y
    CALL match(MPI_TYPECLASS_REAL, STORAGE_SIZE(x) / 8, MPI_REAL4, 501)
    CALL match(MPI_TYPECLASS_REAL, STORAGE_SIZE(y) / 8, MPI_REAL8, 502)
    CALL match(MPI_TYPECLASS_INTEGER, STORAGE_SIZE(0_INT8) / 8, MPI_INTEGER1, 503)
    CALL match(MPI_TYPECLASS_INTEGER, STORAGE_SIZE(0_INT16) / 8, MPI_INTEGER2, 504)
    CALL match(MPI_TYPECLASS_INTEGER, STORAGE_SIZE(0_INT32) / 8, MPI_INTEGER4, 505)
    CALL match(MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8, 506)
    CALL match(MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16, 507)
    CALL MPI_TYPE_MATCH_SIZE(MPI_TYPECLASS_INTEGER, 3, datatype, code)
    CALL must(code == MPI_ERR_ARG .AND. datatype == MPI_DATATYPE_NULL, 508)
    CALL MPI_TYPE_MATCH_SIZE(MPI_TYPECLASS_REAL, 8, datatype, code)
    CALL MPI_TYPE_FREE(datatype, code)
    CALL must(code == MPI_ERR_TYPE, 509)
    long = 2_INT64**40 + rank
    CALL MPI_SENDRECV(long, 1, MPI_INTEGER8, rank, 1, back, 1, MPI_INTEGER8, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    CALL must(back == long, 510)
  END SUBROUTINE by_size

  SUBROUTINE match(typeclass, n, want, which)
    INTEGER, INTENT(IN) :: typeclass, n, which
    T_DATATYPE, INTENT(IN) :: want
    T_DATATYPE :: datatype
    CALL MPI_TYPE_MATCH_SIZE(typeclass, n, datatype, code)
    CALL must(code == MPI_SUCCESS .AND. datatype == want, which)
    CALL must(bytes(datatype) == n, which)
  END SUBROUTINE match

END PROGRAM types
