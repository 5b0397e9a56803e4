! TRM-09, TRM-11, TRM-12, TRM-15, ST-05, CST-02, CST-07, CST-09, CST-11, CHG-06, X-RMA-12: the constants that stand for no
! memory, where each is allowed, and memory of the same content, which is data; maxima of strings and addresses, as C has
! them; the derived types of handles and of statuses; the predefined functions for attributes.
! constants.c is the half in C, which sees the arguments of MPI_Comm_spawn.
#include "method.inc"
PROGRAM constants
  USE, INTRINSIC :: ISO_C_BINDING
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTERFACE
    SUBROUTINE maxima(n) BIND(C)
      IMPORT C_INT
      INTEGER(C_INT) :: n(7)
    END SUBROUTINE maxima
    INTEGER(C_INTPTR_T) FUNCTION address_in_c(x) BIND(C)
      IMPORT C_INTPTR_T, C_INT
      INTEGER(C_INT) :: x
    END FUNCTION address_in_c
    INTEGER(C_INT) FUNCTION spawned() BIND(C)
      IMPORT C_INT
    END FUNCTION spawned
  END INTERFACE
  INTEGER :: rank, size, code
  ! Constants have their values before MPI_INIT.
  T_COMM :: world = MPI_COMM_WORLD
  T_DATATYPE :: types(2) = [MPI_INTEGER, MPI_DATATYPE_NULL]
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(world, rank, code)
  CALL MPI_COMM_SIZE(world, size, code)
  CALL must(types(1) == MPI_INTEGER .AND. types(2) == MPI_DATATYPE_NULL, 1)
  CALL values()
  CALL types_of_f08()
  CALL contents()
  CALL ignored()
  CALL automatic()
  CALL attributes()
  CALL programs()
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

  SUBROUTINE values()
    INTEGER(C_INT) :: n(7)
    INTEGER(C_INT), TARGET :: x
    INTEGER(KIND=MPI_ADDRESS_KIND) :: at, bottom
    ! Maxima of strings count the final byte in C only.
    CALL maxima(n)
    CALL must(ALL(n == 1 + [MPI_MAX_PROCESSOR_NAME, MPI_MAX_ERROR_STRING, MPI_MAX_OBJECT_NAME, MPI_MAX_INFO_KEY, &
      MPI_MAX_INFO_VAL, MPI_MAX_PORT_NAME, MPI_MAX_LIBRARY_VERSION_STRING]), 101)
    ! An address is the same number in both languages; MPI_BOTTOM is where addresses begin.
    x = 0
    CALL MPI_GET_ADDRESS(x, at, code)
    CALL must(at == address_in_c(x) .AND. STORAGE_SIZE(at) == C_SIZEOF(C_NULL_PTR) * 8, 102)
    CALL MPI_GET_ADDRESS(MPI_BOTTOM, bottom, code)
    CALL must(bottom == 0, 103)
    bottom = MPI_AINT_ADD(at, 4_MPI_ADDRESS_KIND)
    CALL must(bottom == at + 4, 104)
    bottom = MPI_AINT_DIFF(at + 8, at)
    CALL must(bottom == 8, 105)
  END SUBROUTINE values

  ! Each kind of handle is a type of an INTEGER in mpi_f08, with comparisons. A status is eight INTEGERs.
  SUBROUTINE types_of_f08()
#ifdef METHOD_F08
    INTEGER :: k
    TYPE(MPI_Status) :: status
    TYPE, BIND(C) :: ints
      INTEGER(C_INT) :: all(8)
    END TYPE ints
    TYPE(ints) :: words
    CALL must(MPI_Comm(257) == MPI_COMM_WORLD .AND. MPI_COMM_WORLD /= MPI_COMM_NULL, 106)
    CALL must(MPI_Datatype(537) == MPI_INTEGER .AND. MPI_INTEGER /= MPI_DATATYPE_NULL, 106)
    CALL must(MPI_Errhandler(323) == MPI_ERRORS_RETURN .AND. MPI_ERRORS_RETURN /= MPI_ERRHANDLER_NULL, 106)
    CALL must(MPI_File(280) == MPI_FILE_NULL .AND. MPI_File(5) /= MPI_FILE_NULL, 106)
    CALL must(MPI_Group(265) == MPI_GROUP_EMPTY .AND. MPI_GROUP_EMPTY /= MPI_GROUP_NULL, 106)
    CALL must(MPI_Info(305) == MPI_INFO_ENV .AND. MPI_INFO_ENV /= MPI_INFO_NULL, 106)
    CALL must(MPI_Message(297) == MPI_MESSAGE_NO_PROC .AND. MPI_MESSAGE_NO_PROC /= MPI_MESSAGE_NULL, 106)
    CALL must(MPI_Op(33) == MPI_SUM .AND. MPI_SUM /= MPI_OP_NULL, 106)
    CALL must(MPI_Request(384) == MPI_REQUEST_NULL .AND. MPI_Request(5) /= MPI_REQUEST_NULL, 106)
    CALL must(MPI_Session(288) == MPI_SESSION_NULL .AND. MPI_Session(5) /= MPI_SESSION_NULL, 106)
    CALL must(MPI_Win(272) == MPI_WIN_NULL .AND. MPI_Win(5) /= MPI_WIN_NULL, 106)
    CALL must(ALL([STORAGE_SIZE(MPI_COMM_NULL), STORAGE_SIZE(MPI_DATATYPE_NULL), STORAGE_SIZE(MPI_ERRHANDLER_NULL), &
      STORAGE_SIZE(MPI_FILE_NULL), STORAGE_SIZE(MPI_GROUP_NULL), STORAGE_SIZE(MPI_INFO_NULL), STORAGE_SIZE(MPI_MESSAGE_NULL), &
      STORAGE_SIZE(MPI_OP_NULL), STORAGE_SIZE(MPI_REQUEST_NULL), STORAGE_SIZE(MPI_SESSION_NULL), STORAGE_SIZE(MPI_WIN_NULL)] &
      == STORAGE_SIZE(k)), 107)
    CALL must(C_SIZEOF(status) == C_SIZEOF(words) .AND. STORAGE_SIZE(status) == MPI_STATUS_SIZE * STORAGE_SIZE(k), 108)
    status%MPI_SOURCE = 11
    status%MPI_TAG = 12
    status%MPI_ERROR = 13
    words = TRANSFER(status, words)
    CALL must(words%all(MPI_SOURCE) == 11 .AND. words%all(MPI_TAG) == 12 .AND. words%all(MPI_ERROR) == 13, 109)
#endif
  END SUBROUTINE types_of_f08

  ! A variable with the content of a constant is data.
  SUBROUTINE contents()
    INTEGER :: same, got, both(2)
    T_STATUS :: status
    same = MPI_BOTTOM
    got = 0
    CALL MPI_SENDRECV(same, 1, MPI_INTEGER, rank, 1, got, 1, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE, code)
    CALL must(code == MPI_SUCCESS .AND. got == same .AND. got /= 0, 201)
    same = MPI_IN_PLACE
    both = 0
    CALL MPI_ALLREDUCE(same, both, 1, MPI_INTEGER, MPI_MAX, world, code)
    CALL must(ALL(both == [same, 0]), 202)
    both(1) = rank
    CALL MPI_ALLREDUCE(MPI_IN_PLACE, both, 1, MPI_INTEGER, MPI_SUM, world, code)
    CALL must(both(1) == size * (size - 1) / 2, 203)
    status = MPI_STATUS_IGNORE
    CALL MPI_SENDRECV(same, 1, MPI_INTEGER, rank, 7, got, 1, MPI_INTEGER, rank, 7, world, status, code)
    CALL must(SOURCE_OF(status) == rank .AND. TAG_OF(status) == 7 .AND. got == same, 204)
  END SUBROUTINE contents

  ! Every call that returns statuses takes the constants that ignore them.
  SUBROUTINE ignored()
    INTEGER, ASYNCHRONOUS :: got(2)
    INTEGER :: n, index, indices(2), k
    LOGICAL :: flag
    T_REQUEST :: r, rs(2)
    T_MESSAGE :: message
    got = 0
    DO k = 1, 13
      CALL MPI_ISEND(k, 1, MPI_INTEGER, rank, 1, world, r, code)
      SELECT CASE (k)
      CASE (1)
        CALL MPI_RECV(got, 1, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE, code)
      CASE (2)
        CALL MPI_PROBE(rank, 1, world, MPI_STATUS_IGNORE, code)
        CALL MPI_RECV(got, 1, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE, code)
      CASE (3)
        flag = .FALSE.
        DO WHILE (.NOT. flag)
          CALL MPI_IPROBE(rank, 1, world, flag, MPI_STATUS_IGNORE, code)
        END DO
        CALL MPI_RECV(got, 1, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE, code)
      CASE (4)
        CALL MPI_MPROBE(rank, 1, world, message, MPI_STATUS_IGNORE, code)
        CALL MPI_MRECV(got, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, code)
      CASE (5)
        flag = .FALSE.
        DO WHILE (.NOT. flag)
          CALL MPI_IMPROBE(rank, 1, world, flag, message, MPI_STATUS_IGNORE, code)
        END DO
        CALL MPI_IMRECV(got, 1, MPI_INTEGER, message, rs(1), code)
        flag = .FALSE.
        DO WHILE (.NOT. flag)
          CALL MPI_REQUEST_GET_STATUS(rs(1), flag, MPI_STATUS_IGNORE, code)
        END DO
        CALL MPI_WAIT(rs(1), MPI_STATUS_IGNORE, code)
      CASE (6)
        CALL MPI_SENDRECV(k, 1, MPI_INTEGER, rank, 2, got, 1, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE, code)
        CALL MPI_RECV(got, 1, MPI_INTEGER, rank, 2, world, MPI_STATUS_IGNORE, code)
      CASE (7)
        CALL MPI_SENDRECV_REPLACE(got, 1, MPI_INTEGER, rank, 2, rank, 1, world, MPI_STATUS_IGNORE, code)
        CALL MPI_RECV(n, 1, MPI_INTEGER, rank, 2, world, MPI_STATUS_IGNORE, code)
        CALL must(n == 6, 301)
      CASE DEFAULT
        CALL MPI_IRECV(got, 1, MPI_INTEGER, rank, 1, world, rs(1), code)
        rs(2) = MPI_REQUEST_NULL
        flag = .FALSE.
        n = 0
        DO WHILE (.NOT. flag)
          SELECT CASE (k)
          CASE (8)
            CALL MPI_TEST(rs(1), flag, MPI_STATUS_IGNORE, code)
          CASE (9)
            CALL MPI_TESTANY(2, rs, index, flag, MPI_STATUS_IGNORE, code)
          CASE (10)
            CALL MPI_TESTALL(2, rs, flag, MPI_STATUSES_IGNORE, code)
          CASE (11)
            CALL MPI_TESTSOME(2, rs, n, indices, MPI_STATUSES_IGNORE, code)
            flag = n == 1
          CASE (12)
            CALL MPI_WAITSOME(2, rs, n, indices, MPI_STATUSES_IGNORE, code)
            flag = n == 1 .AND. indices(1) == 1
          CASE (13)
            CALL MPI_WAITANY(2, rs, index, MPI_STATUS_IGNORE, code)
            flag = index == 1
          END SELECT
          CALL must(code == MPI_SUCCESS, 302)
        END DO
        CALL must(rs(1) == MPI_REQUEST_NULL, 303)
      END SELECT
      CALL must(code == MPI_SUCCESS .AND. got(1) == k, 300 + 10 * k)
      CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
    END DO
  END SUBROUTINE ignored

  ! Automatic buffering is asked for by a constant, and detaching gives it back.
  SUBROUTINE automatic()
    INTEGER :: got, n
#ifdef METHOD_F08
    TYPE(C_PTR) :: detached
#else
    INTEGER :: detached
#endif
    CALL MPI_BUFFER_ATTACH(MPI_BUFFER_AUTOMATIC, 0, code)
    CALL must(code == MPI_SUCCESS, 401)
    CALL MPI_BSEND(rank, 1, MPI_INTEGER, rank, 3, world, code)
    CALL MPI_RECV(got, 1, MPI_INTEGER, rank, 3, world, MPI_STATUS_IGNORE, code)
    CALL must(got == rank, 402)
    CALL MPI_BUFFER_DETACH(detached, n, code)
    CALL must(code == MPI_SUCCESS .AND. n == 0, 403)
  END SUBROUTINE automatic

  ! A duplicate has the attribute of the key whose function copies it. Deletion calls a function that does nothing.
  SUBROUTINE attributes()
    T_COMM :: comm
    T_DATATYPE :: made, copied
    T_WIN :: win
    INTEGER :: keys(2), memory(1), k
    LOGICAL :: flag
    INTEGER(KIND=MPI_ADDRESS_KIND) :: got
    INTEGER(KIND=MPI_ADDRESS_KIND), PARAMETER :: state = 0, stored(2) = [5000000000_MPI_ADDRESS_KIND, 6_MPI_ADDRESS_KIND]
    CALL MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keys(1), state, code)
    CALL MPI_COMM_CREATE_KEYVAL(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keys(2), state, code)
    CALL must(keys(1) /= MPI_KEYVAL_INVALID .AND. keys(2) /= keys(1), 404)
    DO k = 1, 2
      CALL MPI_COMM_SET_ATTR(MPI_COMM_SELF, keys(k), stored(k), code)
    END DO
    CALL MPI_COMM_DUP(MPI_COMM_SELF, comm, code)
    DO k = 1, 2
      got = 0
      CALL MPI_COMM_GET_ATTR(comm, keys(k), got, flag, code)
      CALL must(flag .EQV. k == 1, 405)
      CALL must(k == 2 .OR. got == stored(1), 406)
      CALL MPI_COMM_DELETE_ATTR(MPI_COMM_SELF, keys(k), code)
      CALL must(code == MPI_SUCCESS, 407)
      CALL MPI_COMM_GET_ATTR(MPI_COMM_SELF, keys(k), got, flag, code)
      CALL must(.NOT. flag, 408)
      CALL MPI_COMM_FREE_KEYVAL(keys(k), code)
      CALL must(keys(k) == MPI_KEYVAL_INVALID, 409)
    END DO
    CALL MPI_COMM_FREE(comm, code)
    CALL must(code == MPI_SUCCESS, 410)

    CALL MPI_TYPE_CONTIGUOUS(2, MPI_INTEGER, made, code)
    CALL MPI_TYPE_CREATE_KEYVAL(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keys(1), state, code)
    CALL MPI_TYPE_CREATE_KEYVAL(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, keys(2), state, code)
    DO k = 1, 2
      CALL MPI_TYPE_SET_ATTR(made, keys(k), stored(k), code)
    END DO
    CALL MPI_TYPE_DUP(made, copied, code)
    DO k = 1, 2
      got = 0
      CALL MPI_TYPE_GET_ATTR(copied, keys(k), got, flag, code)
      CALL must(flag .EQV. k == 1, 411)
      CALL must(k == 2 .OR. got == stored(1), 412)
      CALL MPI_TYPE_DELETE_ATTR(made, keys(k), code)
      CALL MPI_TYPE_GET_ATTR(made, keys(k), got, flag, code)
      CALL must(code == MPI_SUCCESS .AND. .NOT. flag, 413)
      CALL MPI_TYPE_FREE_KEYVAL(keys(k), code)
    END DO
    CALL MPI_TYPE_FREE(copied, code)
    CALL must(code == MPI_SUCCESS, 414)
    CALL MPI_TYPE_FREE(made, code)

    ! No procedure of the standard duplicates a window.
    CALL MPI_WIN_CREATE(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, code)
    CALL MPI_WIN_CREATE_KEYVAL(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, keys(1), state, code)
    CALL MPI_WIN_CREATE_KEYVAL(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keys(2), state, code)
    DO k = 1, 2
      CALL MPI_WIN_SET_ATTR(win, keys(k), stored(k), code)
      CALL MPI_WIN_GET_ATTR(win, keys(k), got, flag, code)
      CALL must(flag .AND. got == stored(k), 415)
    END DO
    CALL MPI_WIN_DELETE_ATTR(win, keys(1), code)
    CALL MPI_WIN_GET_ATTR(win, keys(1), got, flag, code)
    CALL must(code == MPI_SUCCESS .AND. .NOT. flag, 416)
    CALL MPI_WIN_FREE(win, code)
    CALL must(code == MPI_SUCCESS, 417)
    DO k = 1, 2
      CALL MPI_WIN_FREE_KEYVAL(keys(k), code)
    END DO
  END SUBROUTINE attributes

  SUBROUTINE programs()
    T_COMM :: children
    INTEGER :: codes(2)
    CHARACTER(LEN=6) :: arguments(3), several(2, 2)
    ! arguments and errors ignored
    CALL MPI_COMM_SPAWN('a program  ', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, MPI_ERRCODES_IGNORE, code)
    CALL must(spawned() == 1 .AND. children == MPI_COMM_NULL, 501)
    arguments = ['one   ', ' 2nd  ', '      ']
    codes = -1
    CALL MPI_COMM_SPAWN('a program', arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, codes, code)
    CALL must(spawned() == 2 .AND. ALL(codes == [7, 8]), 502)
    CALL MPI_COMM_SPAWN_MULTIPLE(2, ['p1', 'p2'], MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_SELF, &
      children, MPI_ERRCODES_IGNORE, code)
    CALL must(spawned() == 3, 503)
    several(1, :) = ['a     ', '      ']
    several(2, :) = ['b     ', '      ']
    CALL MPI_COMM_SPAWN_MULTIPLE(2, ['p1', 'p2'], several, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_SELF, &
      children, codes, code)
    CALL must(spawned() == 4, 504)
  END SUBROUTINE programs

END PROGRAM constants
