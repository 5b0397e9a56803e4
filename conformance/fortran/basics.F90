! TRM-17, TRM-15, CST-02, CST-09, ST-02, ST-03, ST-05, INF-06, FTN-02, FTN-06, FTN-08, FTN-14, E2-02, X-CONF-01: what converts
! arguments, by each of the three methods: handles and arrays of them, statuses, indices, logicals, strings.
#include "method.inc"
PROGRAM basics
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: rank, size, code
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)
  CALL constants()
  CALL completion()
  CALL accessors()
  CALL strings()
  CALL grids()
  CALL groups()
  CALL datatypes()
  CALL errors()
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

  SUBROUTINE constants()
    INTEGER(KIND=MPI_ADDRESS_KIND) :: address
    INTEGER(KIND=MPI_OFFSET_KIND) :: offset
    INTEGER(KIND=MPI_COUNT_KIND) :: count
    INTEGER(KIND=MPI_INTEGER_KIND) :: plain
    INTEGER :: version, subversion
    DOUBLE PRECISION :: time, tick
    LOGICAL, PARAMETER :: both(2) = [MPI_SUBARRAYS_SUPPORTED, MPI_ASYNC_PROTECTS_NONBLOCKING]
    CALL must(STORAGE_SIZE(address) == 64 .AND. STORAGE_SIZE(offset) == 64 .AND. STORAGE_SIZE(count) == 64, 101)
    CALL must(STORAGE_SIZE(plain) == STORAGE_SIZE(rank), 102)
    CALL must(MPI_MAX_OBJECT_NAME == 127 .AND. MPI_MAX_ERROR_STRING == 511 .AND. MPI_MAX_PROCESSOR_NAME == 255, 103)
    CALL must(MPI_MAX_INFO_KEY == 255 .AND. MPI_MAX_INFO_VAL == 1023 .AND. MPI_MAX_PORT_NAME == 1023, 104)
    CALL must(MPI_MAX_LIBRARY_VERSION_STRING == 8191 .AND. MPI_MAX_DATAREP_STRING == 127, 105)
    CALL MPI_GET_VERSION(version, subversion, code)
    CALL must(version == MPI_VERSION .AND. subversion == MPI_SUBVERSION .AND. version == 5, 106)
#ifdef METHOD_F08
    CALL must(ALL(both), 107)
#else
    CALL must(.NOT. ANY(both), 107)
#endif
    time = MPI_WTIME()
    tick = MPI_WTICK()
    address = MPI_AINT_ADD(100_MPI_ADDRESS_KIND, 23_MPI_ADDRESS_KIND)
    CALL must(address == 123 .AND. time > 0 .AND. tick > 0, 108)
    address = MPI_AINT_DIFF(100_MPI_ADDRESS_KIND, 23_MPI_ADDRESS_KIND)
    CALL must(address == 77, 109)
  END SUBROUTINE constants

  SUBROUTINE completion()
    T_REQUEST :: r(3), one
    T_STATUS :: status
    T_STATUS :: STATUSES(several, 3)
    T_MESSAGE :: message
    INTEGER, ASYNCHRONOUS :: values(3)
    INTEGER :: indices(3), k, n, index
    LOGICAL :: flag
    r = MPI_REQUEST_NULL
    CALL MPI_IRECV(values(2), 1, MPI_INTEGER, rank, 12, MPI_COMM_WORLD, r(2), code)
    CALL must(r(2) /= MPI_REQUEST_NULL, 201)
    CALL MPI_TESTANY(3, r, index, flag, MPI_STATUS_IGNORE, code)
    CALL must(.NOT. flag .AND. index == MPI_UNDEFINED, 202)
    CALL MPI_SEND(42, 1, MPI_INTEGER, rank, 12, MPI_COMM_WORLD, code)
    CALL MPI_WAITANY(3, r, index, status, code)
    CALL must(index == 2 .AND. r(2) == MPI_REQUEST_NULL .AND. values(2) == 42, 203)
    CALL must(SOURCE_OF(status) == rank .AND. TAG_OF(status) == 12, 204)
    CALL MPI_WAITANY(3, r, index, MPI_STATUS_IGNORE, code)
    CALL must(index == MPI_UNDEFINED, 205)
    DO k = 1, 3
      CALL MPI_IRECV(values(k), 1, MPI_INTEGER, rank, 20 + k, MPI_COMM_WORLD, r(k), code)
    END DO
    CALL MPI_SEND(3, 1, MPI_INTEGER, rank, 23, MPI_COMM_WORLD, code)
    indices = -7
    CALL MPI_WAITSOME(3, r, n, indices, several, code)
    CALL must(n == 1 .AND. indices(1) == 3 .AND. ALL(indices(2:) == -7) .AND. values(3) == 3, 206)
    CALL must(SOURCE_OF_NTH(several, 1) == rank, 207)
    CALL MPI_SEND(1, 1, MPI_INTEGER, rank, 21, MPI_COMM_WORLD, code)
    CALL MPI_SEND(2, 1, MPI_INTEGER, rank, 22, MPI_COMM_WORLD, code)
    CALL MPI_WAITALL(3, r, MPI_STATUSES_IGNORE, code)
    CALL must(ALL(values == [1, 2, 3]), 208)
    CALL MPI_TESTALL(3, r, flag, several, code)
    CALL must(flag .AND. SOURCE_OF_NTH(several, 3) == MPI_ANY_SOURCE, 209)
    CALL MPI_TESTSOME(3, r, n, indices, MPI_STATUSES_IGNORE, code)
    CALL must(n == MPI_UNDEFINED, 210)
    CALL MPI_ISEND(5, 1, MPI_INTEGER, rank, 30, MPI_COMM_WORLD, one, code)
    CALL MPI_MPROBE(MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, message, status, code)
    CALL must(message /= MPI_MESSAGE_NULL .AND. TAG_OF(status) == 30, 211)
    CALL MPI_MRECV(values, 1, MPI_INTEGER, message, status, code)
    CALL must(message == MPI_MESSAGE_NULL .AND. values(1) == 5, 212)
    CALL MPI_WAIT(one, MPI_STATUS_IGNORE, code)
    CALL MPI_IPROBE(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, code)
    CALL must(.NOT. flag, 213)
    CALL MPI_SENDRECV(7, 1, MPI_INTEGER, MPI_PROC_NULL, 1, values, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status, code)
    CALL must(SOURCE_OF(status) == MPI_PROC_NULL, 214)
    CALL MPI_TEST_CANCELLED(status, flag, code)
    CALL must(.NOT. flag, 215)
  END SUBROUTINE completion

  ! The procedures that read and set the fields of a status, which other implementations lack (ompi#14020).
  SUBROUTINE accessors()
    T_STATUS :: status
    INTEGER :: source, tag, error
    CALL MPI_SENDRECV(7, 1, MPI_INTEGER, rank, 41, error, 1, MPI_INTEGER, rank, 41, MPI_COMM_WORLD, status, code)
    CALL MPI_STATUS_GET_SOURCE(status, source, code)
    CALL MPI_STATUS_GET_TAG(status, tag, code)
    CALL must(code == MPI_SUCCESS .AND. source == rank .AND. tag == 41 .AND. error == 7, 216)
    CALL MPI_STATUS_SET_SOURCE(status, 5, code)
    CALL MPI_STATUS_SET_TAG(status, 6, code)
    CALL MPI_STATUS_SET_ERROR(status, MPI_ERR_TRUNCATE, code)
    CALL MPI_STATUS_GET_ERROR(status, error, code)
    CALL must(code == MPI_SUCCESS .AND. SOURCE_OF(status) == 5 .AND. TAG_OF(status) == 6 .AND. error == MPI_ERR_TRUNCATE, 217)
  END SUBROUTINE accessors

  SUBROUTINE strings()
    T_INFO :: info, copy
    T_COMM :: comm
    CHARACTER(LEN=MPI_MAX_OBJECT_NAME) :: name
    CHARACTER(LEN=MPI_MAX_INFO_VAL) :: value
    CHARACTER(LEN=MPI_MAX_INFO_KEY) :: key
    CHARACTER(LEN=MPI_MAX_ERROR_STRING) :: text
    CHARACTER(LEN=MPI_MAX_PROCESSOR_NAME) :: processor
    INTEGER :: n
    LOGICAL :: flag
    CALL MPI_COMM_DUP(MPI_COMM_WORLD, comm, code)
    CALL MPI_COMM_SET_NAME(comm, 'ours and  mine    ', code)
    name = REPEAT('x', LEN(name))
    CALL MPI_COMM_GET_NAME(comm, name, n, code)
    CALL must(n == 14 .AND. name == 'ours and  mine' .AND. name(15:) == ' ', 301)
    CALL MPI_COMM_FREE(comm, code)
    ! Blanks at both ends of keys and values do not count.
    CALL MPI_INFO_CREATE(info, code)
    CALL MPI_INFO_SET(info, '  key ', ' a  value  ', code)
    CALL MPI_INFO_SET(info, 'long', REPEAT('v', 600) // '   ', code)
    CALL MPI_INFO_GET_NKEYS(info, n, code)
    CALL must(n == 2, 302)
    key = REPEAT('x', LEN(key))
    CALL MPI_INFO_GET_NTHKEY(info, 0, key, code)
    CALL must(key == 'key', 303)
    CALL MPI_INFO_GET_VALUELEN(info, ' key', n, flag, code)
    CALL must(flag .AND. n == 8, 304)
    n = LEN(value)
    value = REPEAT('x', LEN(value))
    CALL MPI_INFO_GET_STRING(info, 'key   ', n, value, flag, code)
    CALL must(flag .AND. n == 8 .AND. value == 'a  value', 305)
    n = 0
    value = 'untouched'
    CALL MPI_INFO_GET_STRING(info, 'long', n, value, flag, code)
    CALL must(flag .AND. n == 600 .AND. value == 'untouched', 306)
    n = LEN(value)
    CALL MPI_INFO_GET_STRING(info, 'long', n, value, flag, code)
    CALL must(n == 600 .AND. value == REPEAT('v', 600), 307)
    CALL MPI_INFO_DUP(info, copy, code)
    CALL MPI_INFO_DELETE(copy, ' long ', code)
    value = 'untouched'
    n = LEN(value)
    CALL MPI_INFO_GET_STRING(copy, 'long', n, value, flag, code)
    CALL must(.NOT. flag .AND. value == 'untouched', 308)
    CALL MPI_INFO_FREE(info, code)
    CALL MPI_INFO_FREE(copy, code)
    CALL must(info == MPI_INFO_NULL, 309)
    text = REPEAT('x', LEN(text))
    CALL MPI_ERROR_STRING(MPI_ERR_TRUNCATE, text, n, code)
    CALL must(n > 0 .AND. n == LEN_TRIM(text), 310)
    processor = REPEAT('x', LEN(processor))
    CALL MPI_GET_PROCESSOR_NAME(processor, n, code)
    CALL must(n > 0 .AND. n == LEN_TRIM(processor), 311)
  END SUBROUTINE strings

  SUBROUTINE grids()
    T_COMM :: grid, line
    INTEGER :: dims(2), back(2), coords(2), from, to, n
    LOGICAL :: periods(3), flag
    dims = 0
    CALL MPI_DIMS_CREATE(size, 2, dims, code)
    CALL MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, [.TRUE., .FALSE.], .FALSE., grid, code)
    periods = [.FALSE., .TRUE., .TRUE.]
    CALL MPI_CART_GET(grid, 2, back, periods, coords, code)
    CALL must(ALL(back == dims) .AND. periods(1) .AND. .NOT. periods(2) .AND. periods(3), 401)
    CALL MPI_CART_SHIFT(grid, 0, dims(1), from, to, code)
    CALL must(from == rank .AND. to == rank, 402)
    CALL MPI_CART_SUB(grid, [.TRUE., .FALSE.], line, code)
    CALL MPI_COMM_SIZE(line, n, code)
    CALL must(n == dims(1), 403)
    CALL MPI_TOPO_TEST(line, n, code)
    CALL must(n == MPI_CART, 404)
    CALL MPI_COMM_FREE(line, code)
    CALL MPI_COMM_FREE(grid, code)
    CALL MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, [rank], MPI_UNWEIGHTED, 1, [rank], MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .FALSE., grid, code)
    CALL MPI_DIST_GRAPH_NEIGHBORS_COUNT(grid, from, to, flag, code)
    CALL must(from == 1 .AND. to == 1 .AND. .NOT. flag, 405)
    CALL MPI_COMM_FREE(grid, code)
    CALL MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, [rank], [7], 0, [rank], MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .FALSE., grid, code)
    CALL MPI_DIST_GRAPH_NEIGHBORS_COUNT(grid, from, to, flag, code)
    CALL must(from == 1 .AND. to == 0 .AND. flag, 406)
    CALL MPI_DIST_GRAPH_NEIGHBORS(grid, 1, back, coords, 0, dims, MPI_WEIGHTS_EMPTY, code)
    CALL must(back(1) == rank .AND. coords(1) == 7, 407)
    CALL MPI_COMM_FREE(grid, code)
  END SUBROUTINE grids

  SUBROUTINE groups()
    T_GROUP :: world, odd
    INTEGER :: n, ranks(2)
    INTEGER :: ranges(3, 1)
    CALL MPI_COMM_GROUP(MPI_COMM_WORLD, world, code)
    ranges(:, 1) = [0, size - 1, 2]
    CALL MPI_GROUP_RANGE_INCL(world, 1, ranges, odd, code)
    CALL MPI_GROUP_SIZE(odd, n, code)
    CALL must(n == (size + 1) / 2, 501)
    ranks = -7
    CALL MPI_GROUP_TRANSLATE_RANKS(odd, 1, [n - 1], world, ranks, code)
    CALL must(ranks(1) == 2 * (n - 1) .AND. ranks(2) == -7, 502)
    CALL MPI_GROUP_FREE(odd, code)
    CALL MPI_GROUP_FREE(world, code)
    CALL must(world == MPI_GROUP_NULL, 503)
  END SUBROUTINE groups

  SUBROUTINE datatypes()
    T_DATATYPE :: made, types(3), inner
    INTEGER :: ni, na, nd, combiner, integers(5)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: addresses(3), lb, extent
    INTEGER :: x, n
    DOUBLE PRECISION :: y
    CALL MPI_GET_ADDRESS(x, addresses(1), code)
    CALL MPI_GET_ADDRESS(y, addresses(2), code)
    x = rank
    y = 0.5D0 * rank
    CALL MPI_TYPE_CREATE_STRUCT(2, [1, 1], addresses, [MPI_INTEGER, MPI_DOUBLE_PRECISION], made, code)
    CALL MPI_TYPE_COMMIT(made, code)
    ! The compiler does not know that the call uses x and y.
    CALL MPI_F_SYNC_REG(x)
    CALL MPI_F_SYNC_REG(y)
    CALL MPI_BCAST(MPI_BOTTOM, 1, made, 0, MPI_COMM_WORLD, code)
    CALL MPI_F_SYNC_REG(x)
    CALL MPI_F_SYNC_REG(y)
    CALL must(x == 0 .AND. ABS(y) < 0.1D0, 601)
    CALL MPI_TYPE_GET_ENVELOPE(made, ni, na, nd, combiner, code)
    CALL must(ni == 3 .AND. na == 2 .AND. nd == 2 .AND. combiner == MPI_COMBINER_STRUCT, 602)
    types = MPI_DATATYPE_NULL
    integers = -7
    CALL MPI_TYPE_GET_CONTENTS(made, ni, na, 3, integers, addresses, types, code)
    CALL must(types(1) == MPI_INTEGER .AND. types(2) == MPI_DOUBLE_PRECISION .AND. types(3) == MPI_DATATYPE_NULL, 603)
    CALL must(ALL(integers == [2, 1, 1, -7, -7]), 604)
    CALL MPI_TYPE_FREE(made, code)
    CALL MPI_TYPE_CONTIGUOUS(3, MPI_REAL, inner, code)
    CALL MPI_TYPE_GET_EXTENT(inner, lb, extent, code)
    CALL MPI_TYPE_SIZE(inner, n, code)
    CALL must(lb == 0 .AND. extent == 12 .AND. n == 12, 605)
    CALL MPI_TYPE_FREE(inner, code)
    CALL MPI_TYPE_CREATE_F90_REAL(12, 30, inner, code)
    CALL MPI_TYPE_SIZE(inner, n, code)
    CALL must(n == 8, 606)
    CALL MPI_TYPE_MATCH_SIZE(MPI_TYPECLASS_INTEGER, 8, inner, code)
    CALL must(inner /= MPI_DATATYPE_NULL, 607)
  END SUBROUTINE datatypes

  ! What a call returns in ierror, and that a failing call makes null handles.
  SUBROUTINE errors()
    T_COMM :: comm
    T_ERRHANDLER :: handler
    T_INFO :: info
    INTEGER :: class, again
    CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
    CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
    CALL MPI_COMM_GET_ERRHANDLER(MPI_COMM_WORLD, handler, code)
    CALL must(handler == MPI_ERRORS_RETURN, 701)
    CALL MPI_SEND(1, -1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, code)
    CALL MPI_ERROR_CLASS(code, class, again)
    CALL must(class == MPI_ERR_COUNT, 702)
    CALL MPI_SEND(1, 1, MPI_INTEGER, size, 1, MPI_COMM_WORLD, code)
    CALL must(code == MPI_ERR_RANK, 703)
    comm = MPI_COMM_SELF
    CALL MPI_COMM_SPLIT(MPI_COMM_NULL, 1, 1, comm, code)
    CALL must(code == MPI_ERR_COMM .AND. comm == MPI_COMM_NULL, 704)
    CALL MPI_ADD_ERROR_CLASS(class, code)
    CALL MPI_ADD_ERROR_STRING(class, 'our own   ', code)
    CALL must(code == MPI_SUCCESS, 705)
    ! Strings that are longer than the maximum.
    CALL MPI_INFO_CREATE(info, code)
    CALL MPI_INFO_SET(info, REPEAT('k', 300), 'v', code)
    CALL must(code == MPI_ERR_INFO_KEY, 706)
    CALL MPI_INFO_SET(info, 'k', REPEAT('v', 2000), code)
    CALL must(code == MPI_ERR_INFO_VALUE, 707)
    CALL MPI_INFO_FREE(info, code)
    CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, code)
    CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, code)
  END SUBROUTINE errors

END PROGRAM basics
