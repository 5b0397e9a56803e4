! TRM-17, TRM-13, IO-01, IO-05, IO-11, IO-13, IO-14, IO-15, IO-21, IO-22, X-IO-01, ERR-13, CBK-01, CST-08, DT-30:
! files: views, every kind of access, pointers, sizes and offsets beyond 4 GiB, hints, error handlers, and
! data representations, whose functions are the program's.
#include "method.inc"
#ifdef METHOD_F08
#define HANDLE(type, name) TYPE(type) :: name
#else
#define HANDLE(type, name) INTEGER :: name
#endif
MODULE record
  IMPLICIT NONE
  INTEGER, PARAMETER :: wide = SELECTED_INT_KIND(18)
  INTEGER :: called = 0, last = 0, extents = 0, conversions = 0
  INTEGER(KIND=wide) :: passed = 0
END MODULE record

INCLUDE 'of_process.inc'

PROGRAM files
  USE_MPI
  USE of_process
  USE record
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER, PARAMETER :: rows = 30
  INTEGER(KIND=MPI_OFFSET_KIND), PARAMETER :: start = 0
  CHARACTER(LEN=80) :: name
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)
  name = file_name('fortran')
  CALL MPI_BCAST(name, LEN(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, code)
  CALL views()
  CALL pointers()
  CALL large()
  CALL handlers()
  CALL representations()
  CALL MPI_BARRIER(MPI_COMM_WORLD, code)
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)

CONTAINS

  ! Each rank has a column of a matrix of the file.
  SUBROUTINE views()
    T_FILE :: file
    T_DATATYPE :: column, element, filetype
    T_GROUP :: group
    T_INFO :: info
    T_REQUEST :: request
    T_STATUS :: status
    INTEGER, ASYNCHRONOUS :: mine(rows)
    INTEGER :: whole(rows * size), matrix(6, 5), k, n
    INTEGER(KIND=MPI_OFFSET_KIND) :: at, disp
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extent
    CHARACTER(LEN=MPI_MAX_DATAREP_STRING) :: representation
    CHARACTER(LEN=20) :: text
    LOGICAL :: flag
    CALL MPI_INFO_CREATE(info, code)
    CALL MPI_INFO_SET(info, 'cb_nodes', '1', code)
    CALL MPI_FILE_OPEN(MPI_COMM_WORLD, name, IOR(MPI_MODE_CREATE, MPI_MODE_RDWR), info, file, code)
    CALL must(code == MPI_SUCCESS .AND. file /= MPI_FILE_NULL, 101)
    CALL MPI_INFO_FREE(info, code)
    CALL MPI_FILE_GET_INFO(file, info, code)
    CALL MPI_INFO_GET(info, 'cb_nodes', LEN(text), text, flag, code)
    CALL must(flag .AND. text == '1', 102)
    CALL MPI_INFO_FREE(info, code)
    CALL MPI_TYPE_VECTOR(rows, 1, size, MPI_INTEGER, column, code)
    CALL MPI_TYPE_COMMIT(column, code)
    disp = 4 * rank
    CALL MPI_FILE_SET_VIEW(file, disp, MPI_INTEGER, column, 'native', MPI_INFO_NULL, code)
    CALL must(code == MPI_SUCCESS, 103)
    CALL MPI_TYPE_FREE(column, code)
    mine = [(k * size + rank, k = 0, rows - 1)]
    CALL MPI_FILE_WRITE_ALL(file, mine, rows, MPI_INTEGER, status, code)
    CALL MPI_GET_COUNT(status, MPI_INTEGER, n, code)
    CALL must(n == rows, 104)
    CALL MPI_FILE_GET_POSITION(file, at, code)
    CALL must(at == rows, 105)
    CALL MPI_FILE_GET_BYTE_OFFSET(file, 3_MPI_OFFSET_KIND, at, code)
    CALL must(at == 4 * (3 * size + rank), 106)
    CALL MPI_FILE_GET_VIEW(file, at, element, filetype, representation, code)
    CALL must(at == disp .AND. element == MPI_INTEGER .AND. representation == 'native', 107)
    CALL MPI_TYPE_FREE(filetype, code)
    CALL MPI_FILE_GET_TYPE_EXTENT(file, MPI_DOUBLE_PRECISION, extent, code)
    CALL must(extent == 8, 108)
    CALL MPI_FILE_SYNC(file, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_FILE_SYNC(file, code)
    mine = 0
    CALL MPI_FILE_IREAD_AT(file, 5_MPI_OFFSET_KIND, mine, 10, MPI_INTEGER, request, code)
    CALL MPI_WAIT(request, status, code)
    CALL MPI_GET_COUNT(status, MPI_INTEGER, n, code)
    CALL must(n == 10 .AND. ALL(mine(:10) == [((k + 5) * size + rank, k = 0, 9)]) .AND. ALL(mine(11:) == 0), 109)
    CALL MPI_FILE_IREAD_AT_ALL(file, start, mine, rows, MPI_INTEGER, request, code)
    CALL MPI_WAIT(request, MPI_STATUS_IGNORE, code)
    CALL must(ALL(mine == [(k * size + rank, k = 0, rows - 1)]), 110)
    mine = 0
    CALL MPI_FILE_READ_AT_ALL_BEGIN(file, 1_MPI_OFFSET_KIND, mine, rows - 1, MPI_INTEGER, code)
    CALL MPI_FILE_READ_AT_ALL_END(file, mine, status, code)
    CALL MPI_GET_COUNT(status, MPI_INTEGER, n, code)
    CALL must(n == rows - 1 .AND. mine(1) == size + rank, 111)
    ! A section in a blocking call: every method allows it.
    matrix = -1
    CALL MPI_FILE_READ_AT_ALL(file, start, matrix(1:6:2, 2:5:3), 6, MPI_INTEGER, status, code)
    CALL must(ALL(RESHAPE(matrix(1:6:2, 2:5:3), [6]) == [(k * size + rank, k = 0, 5)]), 112)
    CALL must(COUNT(matrix == -1) == 24, 113)
    CALL MPI_FILE_SET_VIEW(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
    CALL MPI_FILE_SEEK(file, -start, MPI_SEEK_END, code)
    CALL MPI_FILE_GET_POSITION(file, at, code)
    CALL must(at == rows * size, 114)
    CALL MPI_FILE_SEEK(file, -at, MPI_SEEK_CUR, code)
    CALL MPI_FILE_READ(file, whole, rows * size, MPI_INTEGER, status, code)
    CALL must(ALL(whole == [(k, k = 0, rows * size - 1)]), 115)
    CALL MPI_FILE_READ(file, whole, 5, MPI_INTEGER, status, code)
    CALL MPI_GET_COUNT(status, MPI_INTEGER, n, code)
    CALL must(code == MPI_SUCCESS .AND. n == 0, 116)
    CALL MPI_FILE_SET_ATOMICITY(file, .TRUE., code)
    CALL MPI_FILE_GET_ATOMICITY(file, flag, code)
    CALL must(flag, 117)
    CALL MPI_FILE_GET_AMODE(file, n, code)
    CALL must(n == IOR(MPI_MODE_CREATE, MPI_MODE_RDWR), 118)
    CALL MPI_FILE_GET_GROUP(file, group, code)
    CALL MPI_GROUP_SIZE(group, n, code)
    CALL must(n == size, 119)
    CALL MPI_GROUP_FREE(group, code)
    CALL MPI_FILE_CLOSE(file, code)
    CALL must(file == MPI_FILE_NULL, 120)
  END SUBROUTINE views

  ! Accesses at the individual and the shared pointer.
  SUBROUTINE pointers()
    T_FILE :: file
    T_REQUEST :: request
    T_STATUS :: status
    INTEGER, ASYNCHRONOUS :: pair(2), got(2)
    INTEGER(KIND=MPI_OFFSET_KIND) :: at
    INTEGER :: k, total, sums
    CALL MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
    CALL MPI_FILE_SET_SIZE(file, start, code)
    CALL MPI_FILE_SET_VIEW(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
    total = 0
    DO k = 1, 10
      pair = [rank, k]
      IF (MOD(k, 2) == 0) THEN
        CALL MPI_FILE_WRITE_SHARED(file, pair, 2, MPI_INTEGER, status, code)
      ELSE
        CALL MPI_FILE_IWRITE_SHARED(file, pair, 2, MPI_INTEGER, request, code)
        CALL MPI_WAIT(request, status, code)
      END IF
    END DO
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_FILE_GET_POSITION_SHARED(file, at, code)
    CALL must(at == 20 * size, 201)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_FILE_SEEK_SHARED(file, start, MPI_SEEK_SET, code)
    DO k = 1, 10
      CALL MPI_FILE_READ_SHARED(file, got, 2, MPI_INTEGER, status, code)
      total = total + got(2)
    END DO
    CALL MPI_ALLREDUCE(total, sums, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    CALL must(sums == 55 * size, 202)
    CALL MPI_FILE_SEEK_SHARED(file, start, MPI_SEEK_SET, code)
    pair = [100 + rank, 200 + rank]
    CALL MPI_FILE_WRITE_ORDERED(file, pair, 2, MPI_INTEGER, status, code)
    CALL MPI_FILE_WRITE_ORDERED_BEGIN(file, pair, 1, MPI_INTEGER, code)
    CALL MPI_FILE_WRITE_ORDERED_END(file, pair, status, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_FILE_READ_AT(file, 2_MPI_OFFSET_KIND * (size - 1 - rank), got, 2, MPI_INTEGER, status, code)
    CALL must(ALL(got == [100, 200] + size - 1 - rank), 203)
    CALL MPI_FILE_READ_AT(file, 2_MPI_OFFSET_KIND * size + rank, got, 1, MPI_INTEGER, status, code)
    CALL must(got(1) == 100 + rank, 204)
    CALL MPI_FILE_SEEK(file, 2_MPI_OFFSET_KIND * rank, MPI_SEEK_SET, code)
    CALL MPI_FILE_IREAD(file, got, 1, MPI_INTEGER, request, code)
    CALL MPI_WAIT(request, status, code)
    CALL must(got(1) == 100 + rank, 205)
    CALL MPI_FILE_READ_ALL_BEGIN(file, got, 1, MPI_INTEGER, code)
    CALL MPI_FILE_READ_ALL_END(file, got, status, code)
    CALL must(got(1) == 200 + rank, 206)
    CALL MPI_FILE_CLOSE(file, code)
  END SUBROUTINE pointers

  ! Offsets are integers of MPI_OFFSET_KIND.
  SUBROUTINE large()
    T_FILE :: file
    T_STATUS :: status
    INTEGER(KIND=MPI_OFFSET_KIND) :: at, bytes
    INTEGER :: got
    CALL MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
    at = 5368709120_MPI_OFFSET_KIND
    CALL MPI_FILE_SET_VIEW(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
    CALL MPI_FILE_WRITE_AT(file, at / 4 + rank, 7 * rank, 1, MPI_INTEGER, status, code)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_FILE_GET_SIZE(file, bytes, code)
    CALL must(bytes == 2 * at + 4 * size, 301)
    CALL MPI_FILE_SEEK(file, -1_MPI_OFFSET_KIND - rank, MPI_SEEK_END, code)
    CALL MPI_FILE_READ(file, got, 1, MPI_INTEGER, status, code)
    CALL must(got == 7 * (size - 1 - rank), 302)
    CALL MPI_FILE_GET_BYTE_OFFSET(file, at, bytes, code)
    CALL must(bytes == 5 * at, 303)
    CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    CALL MPI_FILE_SET_SIZE(file, 100_MPI_OFFSET_KIND, code)
    CALL MPI_FILE_PREALLOCATE(file, 200_MPI_OFFSET_KIND, code)
    CALL MPI_FILE_GET_SIZE(file, bytes, code)
    CALL must(bytes == 200, 304)
    CALL MPI_FILE_CLOSE(file, code)
  END SUBROUTINE large

  SUBROUTINE handlers()
    INTERFACE
      SUBROUTINE noted(object, error_code)
#ifdef METHOD_F08
        USE mpi_f08, ONLY : MPI_File
#endif
        HANDLE(MPI_File, object)
        INTEGER :: error_code
      END SUBROUTINE noted
    END INTERFACE
    T_FILE :: file, none
    T_ERRHANDLER :: handler, got
    INTEGER :: word(1)
    ! The default handler of files returns.
    CALL MPI_FILE_GET_ERRHANDLER(MPI_FILE_NULL, got, code)
    CALL must(got == MPI_ERRORS_RETURN, 401)
    CALL MPI_FILE_OPEN(MPI_COMM_WORLD, '/none/such', MPI_MODE_RDONLY, MPI_INFO_NULL, none, code)
    CALL must(code == MPI_ERR_NO_SUCH_FILE, 402)
    CALL MPI_FILE_OPEN(MPI_COMM_WORLD, name, IOR(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE), MPI_INFO_NULL, file, code)
    CALL MPI_FILE_CREATE_ERRHANDLER(noted, handler, code)
    CALL MPI_FILE_SET_ERRHANDLER(file, handler, code)
    CALL MPI_FILE_GET_ERRHANDLER(file, got, code)
    CALL must(got == handler, 403)
    CALL MPI_ERRHANDLER_FREE(got, code)
    called = 0
    CALL MPI_FILE_READ_AT(file, -1_MPI_OFFSET_KIND, word, 1, MPI_INTEGER, MPI_STATUS_IGNORE, code)
    CALL must(called == MPI_ERR_ARG .AND. code == MPI_ERR_ARG .AND. last == VALUE_OF(file), 404)
    CALL MPI_FILE_CALL_ERRHANDLER(file, MPI_ERR_QUOTA, code)
    CALL must(called == MPI_ERR_QUOTA .AND. code == MPI_SUCCESS, 405)
    CALL MPI_FILE_CLOSE(file, code)
    CALL MPI_FILE_SET_ERRHANDLER(MPI_FILE_NULL, handler, code)
    called = 0
    CALL MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, none, code)
    CALL must(called == MPI_ERR_NO_SUCH_FILE .AND. code == called .AND. last == VALUE_OF(MPI_FILE_NULL), 406)
    CALL MPI_FILE_DELETE(name, MPI_INFO_NULL, code)
    CALL must(code == MPI_ERR_NO_SUCH_FILE, 407)
    CALL MPI_FILE_SET_ERRHANDLER(MPI_FILE_NULL, MPI_ERRORS_RETURN, code)
    CALL MPI_ERRHANDLER_FREE(handler, code)
  END SUBROUTINE handlers

  ! A representation that stores integers with all bits inverted, one whose functions are none, and external32.
  SUBROUTINE representations()
    INTERFACE
      SUBROUTINE extent_of(datatype, extent, extra_state, ierror)
        USE record, ONLY : wide
#ifdef METHOD_F08
        USE mpi_f08, ONLY : MPI_Datatype
#endif
        HANDLE(MPI_Datatype, datatype)
        INTEGER(KIND=wide) :: extent, extra_state
        INTEGER :: ierror
      END SUBROUTINE extent_of
      SUBROUTINE from_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        USE record, ONLY : wide
#ifdef METHOD_F08
        USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR
        USE mpi_f08, ONLY : MPI_Datatype
        TYPE(C_PTR), VALUE :: userbuf, filebuf
#else
        INTEGER :: userbuf(*), filebuf(*)
#endif
        HANDLE(MPI_Datatype, datatype)
        INTEGER :: count, ierror
        INTEGER(KIND=wide) :: position, extra_state
      END SUBROUTINE from_file
      SUBROUTINE to_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        USE record, ONLY : wide
#ifdef METHOD_F08
        USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR
        USE mpi_f08, ONLY : MPI_Datatype
        TYPE(C_PTR), VALUE :: userbuf, filebuf
#else
        INTEGER :: userbuf(*), filebuf(*)
#endif
        HANDLE(MPI_Datatype, datatype)
        INTEGER :: count, ierror
        INTEGER(KIND=wide) :: position, extra_state
      END SUBROUTINE to_file
    END INTERFACE
    T_FILE :: file
    T_REQUEST :: request
    T_STATUS :: status
    INTEGER(KIND=MPI_ADDRESS_KIND), PARAMETER :: state = 12345678901_MPI_ADDRESS_KIND
    INTEGER, ASYNCHRONOUS :: got(4)
    INTEGER :: word(4)
    CHARACTER(LEN=1) :: bytes(4)
    CALL MPI_REGISTER_DATAREP('inverted', from_file, to_file, extent_of, state, code)
    CALL must(code == MPI_SUCCESS, 501)
    CALL MPI_REGISTER_DATAREP('inverted ', from_file, to_file, extent_of, state, code)
    CALL must(code == MPI_ERR_DUP_DATAREP, 502)
    CALL MPI_REGISTER_DATAREP('as it is', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, state, code)
    CALL must(code == MPI_SUCCESS, 503)
    CALL MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, code)
    CALL MPI_FILE_SET_VIEW(file, start, MPI_INTEGER, MPI_INTEGER, 'none', MPI_INFO_NULL, code)
    CALL must(code == MPI_ERR_UNSUPPORTED_DATAREP, 504)
    CALL MPI_FILE_SET_VIEW(file, start, MPI_INTEGER, MPI_INTEGER, 'inverted  ', MPI_INFO_NULL, code)
    CALL must(code == MPI_SUCCESS .AND. extents > 0 .AND. passed == state, 505)
    word = [1, 2, 3, 4] + 10 * rank
    CALL MPI_FILE_WRITE_AT_ALL(file, 4_MPI_OFFSET_KIND * rank, word, 4, MPI_INTEGER, status, code)
    CALL must(code == MPI_SUCCESS .AND. conversions == 1, 506)
    got = 0
    CALL MPI_FILE_IREAD_AT(file, 4_MPI_OFFSET_KIND * rank, got, 4, MPI_INTEGER, request, code)
    CALL MPI_WAIT(request, status, code)
    CALL must(ALL(got == word) .AND. conversions == 2, 507)
    CALL MPI_FILE_SET_VIEW(file, start, MPI_INTEGER, MPI_INTEGER, 'as it is', MPI_INFO_NULL, code)
    CALL MPI_FILE_READ_AT(file, 4_MPI_OFFSET_KIND * rank, word, 4, MPI_INTEGER, status, code)
    CALL must(ALL(got == NOT(word)), 508)
    CALL MPI_FILE_SET_VIEW(file, 16_MPI_OFFSET_KIND * rank, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL, code)
    CALL MPI_FILE_WRITE_AT(file, start, 258, 1, MPI_INTEGER, status, code)
    CALL MPI_FILE_SET_VIEW(file, 16_MPI_OFFSET_KIND * rank, MPI_BYTE, MPI_BYTE, 'internal', MPI_INFO_NULL, code)
    CALL MPI_FILE_READ(file, bytes, 4, MPI_BYTE, status, code)
    CALL must(ALL(ICHAR(bytes) == [0, 0, 1, 2]), 509)
    CALL MPI_FILE_CLOSE(file, code)
  END SUBROUTINE representations

END PROGRAM files

SUBROUTINE noted(object, error_code)
  USE record
#ifdef METHOD_F08
  USE mpi_f08, ONLY : MPI_File
#endif
  IMPLICIT NONE
  HANDLE(MPI_File, object)
  INTEGER :: error_code
  last = VALUE_OF(object)
  called = error_code
END SUBROUTINE noted

SUBROUTINE extent_of(datatype, extent, extra_state, ierror)
  USE record
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  T_DATATYPE :: datatype
  INTEGER(KIND=wide) :: extent, extra_state
  INTEGER :: ierror, bytes
  CALL MPI_TYPE_SIZE(datatype, bytes, ierror)
  extent = bytes
  passed = extra_state
  extents = extents + 1
END SUBROUTINE extent_of

SUBROUTINE from_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
  USE record
  USE_MPI
#ifdef METHOD_F08
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR, C_F_POINTER
#endif
  IMPLICIT NONE
  INCLUDE_MPI
  T_DATATYPE :: datatype
  INTEGER :: count, ierror
  INTEGER(KIND=wide) :: position, extra_state
#ifdef METHOD_F08
  TYPE(C_PTR), VALUE :: userbuf, filebuf
  INTEGER, POINTER :: memory(:), stored(:)
  CALL C_F_POINTER(userbuf, memory, [position + count])
  CALL C_F_POINTER(filebuf, stored, [count])
  memory(position + 1:) = NOT(stored)
#else
  INTEGER :: userbuf(*), filebuf(*)
  userbuf(position + 1:position + count) = NOT(filebuf(:count))
#endif
  passed = extra_state
  conversions = conversions + 1
  ierror = MERGE(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_INTEGER)
END SUBROUTINE from_file

SUBROUTINE to_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
  USE record
  USE_MPI
#ifdef METHOD_F08
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR, C_F_POINTER
#endif
  IMPLICIT NONE
  INCLUDE_MPI
  T_DATATYPE :: datatype
  INTEGER :: count, ierror
  INTEGER(KIND=wide) :: position, extra_state
#ifdef METHOD_F08
  TYPE(C_PTR), VALUE :: userbuf, filebuf
  INTEGER, POINTER :: memory(:), stored(:)
  CALL C_F_POINTER(userbuf, memory, [position + count])
  CALL C_F_POINTER(filebuf, stored, [count])
  stored = NOT(memory(position + 1:))
#else
  INTEGER :: userbuf(*), filebuf(*)
  filebuf(:count) = NOT(userbuf(position + 1:position + count))
#endif
  passed = extra_state
  conversions = conversions + 1
  ierror = MERGE(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_INTEGER)
END SUBROUTINE to_file
