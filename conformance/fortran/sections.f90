! FTN-04, FTN-18: sections of arrays that are not contiguous act as if they were copied to a
! contiguous buffer, in messages, collectives, reductions, one-sided communication and packing, also
! with datatypes that have gaps and with counts that do not fill the section.
PROGRAM sections
  USE mpi_f08
  IMPLICIT NONE
  INTEGER :: rank, size, left, right, i, j
  INTEGER, ASYNCHRONOUS :: a(12, 10), b(12, 10)
  INTEGER :: want(12, 10)
  TYPE(MPI_Comm) :: comm
  CALL MPI_Init()
  comm = MPI_COMM_WORLD
  CALL MPI_Comm_rank(comm, rank)
  CALL MPI_Comm_size(comm, size)
  left = MODULO(rank - 1, size)
  right = MODULO(rank + 1, size)
  IF (.NOT. MPI_SUBARRAYS_SUPPORTED .OR. .NOT. MPI_ASYNC_PROTECTS_NONBLOCKING) ERROR STOP 1
  CALL fill(a, rank)
  CALL messages()
  CALL gaps()
  CALL persistent()
  CALL collectives()
  CALL reductions()
  CALL later()
  CALL onesided()
  CALL packing()
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize()

CONTAINS

  ! Elements tell their place and their process.
  SUBROUTINE fill(x, of)
    INTEGER, INTENT(OUT) :: x(12, 10)
    INTEGER, INTENT(IN) :: of
    DO j = 1, 10
      DO i = 1, 12
        x(i, j) = 10000 * of + 100 * i + j
      END DO
    END DO
  END SUBROUTINE fill

  SUBROUTINE check(code)
    INTEGER, INTENT(IN) :: code
    IF (ANY(b /= want)) THEN
      PRINT *, 'rank', rank, 'case', code
      PRINT '(12I7)', b
      PRINT '(12I7)', want
      ERROR STOP 2
    END IF
  END SUBROUTINE check

  SUBROUTINE messages()
    TYPE(MPI_Request) :: r(2)
    TYPE(MPI_Status) :: status
    INTEGER :: n, theirs(12, 10)
    CALL fill(theirs, left)
    ! Whole sections of different shapes; strides may be negative.
    b = -1
    want = -1
    want(2:12:2, 1:10:3) = RESHAPE(theirs(12:1:-3, 1:6), [6, 4])
    CALL MPI_Sendrecv(a(12:1:-3, 1:6), 24, MPI_INTEGER, right, 1, b(2:12:2, 1:10:3), 24, MPI_INTEGER, left, 1, comm, status)
    CALL MPI_Get_count(status, MPI_INTEGER, n)
    IF (n /= 24) ERROR STOP 3
    CALL check(101)
    ! A part of a section, which ends within a column, and a message that is shorter.
    b = -1
    want = -1
    want(1:12:3, 2) = theirs(1:8:2, 1)
    want(1:7:3, 3) = [theirs(9, 1), theirs(11, 1), theirs(1, 3)]
    CALL MPI_Irecv(b(1:12:3, 2:10), 20, MPI_INTEGER, left, 2, comm, r(1))
    CALL MPI_Isend(a(1:12:2, 1:10:2), 7, MPI_INTEGER, right, 2, comm, r(2))
    CALL MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    CALL check(102)
    ! Large counts, and contiguous sections.
    b = -1
    want = -1
    want(:, 3:4) = theirs(:, 5:6)
    want(5, 7:10) = theirs(1:4, 10)
    CALL MPI_Irecv(b(:, 3:4), 24_MPI_COUNT_KIND, MPI_INTEGER, left, 3, comm, r(1))
    CALL MPI_Send(a(:, 5:6), 24_MPI_COUNT_KIND, MPI_INTEGER, right, 3, comm)
    CALL MPI_Wait(r(1), MPI_STATUS_IGNORE)
    CALL MPI_Irecv(b(5, 7:), 4_MPI_COUNT_KIND, MPI_INTEGER, left, 3, comm, r(1))
    CALL MPI_Send(a(1:4, 10), 4_MPI_COUNT_KIND, MPI_INTEGER, right, 3, comm)
    CALL MPI_Wait(r(1), MPI_STATUS_IGNORE)
    CALL check(103)
    ! Nothing is sent of an empty section.
    CALL MPI_Sendrecv(a(5:4, 1:3), 0, MPI_INTEGER, right, 4, b(12:1:2, :), 0, MPI_INTEGER, left, 4, comm, MPI_STATUS_IGNORE)
    CALL check(104)
  END SUBROUTINE messages

  ! Datatypes with gaps, negative displacements in between, and extents that are resized.
  SUBROUTINE gaps()
    TYPE(MPI_Datatype) :: vector, indexed, resized, sub
    INTEGER :: theirs(12, 10), flat(60)
    CALL fill(theirs, left)
    CALL MPI_Type_vector(3, 2, 4, MPI_INTEGER, vector) ! elements 0 1, 4 5, 8 9: extent 10
    CALL MPI_Type_commit(vector)
    flat = RESHAPE(theirs(1:12:2, 1:10), [60])
    b = -1
    want = -1
    want(1:12, 1) = [flat(1:2), flat(5:6), flat(9:10), flat(11:12), flat(15:16), flat(19:20)]
    CALL MPI_Sendrecv(a(1:12:2, 1:10), 2, vector, right, 1, b, 12, MPI_INTEGER, left, 1, comm, MPI_STATUS_IGNORE)
    CALL check(201)
    ! mpich#7932: a contiguous message to such a type in a section.
    b = -1
    want = -1
    flat = -1
    flat([1, 2, 5, 6, 9, 10, 11, 12, 15, 16, 19, 20]) = theirs(:, 7)
    want(1:12:2, 1:10) = RESHAPE(flat, [6, 10])
    CALL MPI_Sendrecv(a(:, 7), 12, MPI_INTEGER, right, 1, b(1:12:2, :), 2, vector, left, 1, comm, MPI_STATUS_IGNORE)
    CALL check(202)
    CALL MPI_Type_free(vector)
    CALL MPI_Type_indexed(3, [2, 1, 1], [5, 0, 2], MPI_INTEGER, indexed)
    CALL MPI_Type_create_resized(indexed, 0_MPI_ADDRESS_KIND, 32_MPI_ADDRESS_KIND, resized)
    CALL MPI_Type_commit(resized)
    flat = RESHAPE(theirs(1:12:2, 1:10), [60])
    b = -1
    want = -1
    want(1:12, 2) = [flat(6:7), flat(1), flat(3), flat(14:15), flat(9), flat(11), flat(22:23), flat(17), flat(19)]
    CALL MPI_Sendrecv(a(1:12:2, 1:10), 3, resized, right, 1, b(:, 2), 12, MPI_INTEGER, left, 1, comm, MPI_STATUS_IGNORE)
    CALL check(203)
    CALL MPI_Type_free(indexed)
    CALL MPI_Type_free(resized)
    CALL MPI_Type_create_subarray(2, [6, 10], [2, 3], [1, 4], MPI_ORDER_FORTRAN, MPI_INTEGER, sub)
    CALL MPI_Type_commit(sub)
    b = -1
    want = -1
    want(3:5:2, 5:7) = theirs(3:5:2, 5:7)
    CALL MPI_Sendrecv(a(1:12:2, :), 1, sub, right, 1, b(1:12:2, :), 1, sub, left, 1, comm, MPI_STATUS_IGNORE)
    CALL check(204)
    CALL MPI_Type_free(sub)
  END SUBROUTINE gaps

  SUBROUTINE persistent()
    TYPE(MPI_Request) :: r(2)
    INTEGER :: k, theirs(12, 10)
    CALL MPI_Recv_init(b(2:12:5, 1:10:4), 9, MPI_INTEGER, left, 5, comm, r(1))
    CALL MPI_Send_init(a(1:12:4, 2:10:3), 9, MPI_INTEGER, right, 5, comm, r(2))
    DO k = 1, 3
      CALL fill(a, rank + k)
      CALL fill(theirs, left + k)
      b = -1
      want = -1
      want(2:12:5, 1:10:4) = theirs(1:12:4, 2:10:3)
      CALL MPI_Startall(2, r)
      CALL MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
      CALL check(300 + k)
    END DO
    CALL fill(a, rank)
    CALL MPI_Request_free(r(1))
    CALL MPI_Request_free(r(2))
  END SUBROUTINE persistent

  SUBROUTINE collectives()
    INTEGER :: k, theirs(12, 10), counts(size), places(size), wide(2, 3 * size)
    TYPE(MPI_Request) :: r
    INTEGER, ASYNCHRONOUS :: all(2, 3 * size)
    ! Bcast, with a section at each process.
    CALL fill(theirs, 0)
    b = -1
    want = -1
    want(1:12:3, 1:10:2) = theirs(1:12:3, 1:10:2)
    IF (rank == 0) b(1:12:3, 1:10:2) = theirs(1:12:3, 1:10:2)
    CALL MPI_Bcast(b(1:12:3, 1:10:2), 20, MPI_INTEGER, 0, comm)
    CALL check(401)
    ! Gather and scatter: blocks in a section with one stride, blocking and not.
    all = -1
    wide = -1
    DO k = 0, size - 1
      CALL fill(theirs, k)
      wide(1, 3 * k + 1:3 * k + 3) = theirs(2:12:5, 4)
    END DO
    CALL MPI_Gather(a(2:12:5, 4), 3, MPI_INTEGER, all(1, :), 3, MPI_INTEGER, 0, comm)
    IF (rank == 0 .AND. ANY(all /= wide)) ERROR STOP 4
    all = -1
    CALL MPI_Iallgather(a(2:12:5, 4), 3, MPI_INTEGER, all(1, :), 3, MPI_INTEGER, comm, r)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    IF (ANY(all /= wide)) ERROR STOP 5
    b = -1
    want = -1
    CALL fill(theirs, rank)
    want(1, 1:5:2) = theirs(2:12:5, 4)
    CALL MPI_Scatter(all(1, :), 3, MPI_INTEGER, b(1, 1:5:2), 3, MPI_INTEGER, 0, comm)
    CALL check(402)
    ! With counts and displacements, which are of the virtual buffer: in reverse order.
    counts = 3
    places = [(3 * (size - 1 - k), k = 0, size - 1)]
    all = -1
    CALL MPI_Allgatherv(a(2:12:5, 4), 3, MPI_INTEGER, all(2, :), counts, places, MPI_INTEGER, comm)
    DO k = 0, size - 1
      IF (ANY(all(2, places(k + 1) + 1:places(k + 1) + 3) /= wide(1, 3 * k + 1:3 * k + 3))) ERROR STOP 6
    END DO
    IF (ANY(all(1, :) /= -1)) ERROR STOP 7
    all = -1
    CALL MPI_Ialltoall(wide(1, :), 3, MPI_INTEGER, all(1, :), 3, MPI_INTEGER, comm, r)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    DO k = 0, size - 1
      IF (ANY(all(1, 3 * k + 1:3 * k + 3) /= wide(1, 3 * rank + 1:3 * rank + 3))) ERROR STOP 8
    END DO
    ! Blocks that end within a column, w form: copied.
    CALL forms()
  END SUBROUTINE collectives

  SUBROUTINE forms()
    INTEGER :: k, n
    INTEGER :: counts(size), places(size)
    TYPE(MPI_Datatype) :: types(size)
    n = size
    b = -1
    want = -1
    counts = 2
    places = [(8 * k, k = 0, n - 1)]
    types = MPI_INTEGER
    want(1:12:4, 1:10:2) = RESHAPE([([val(k, 2 * rank + 1), val(k, 2 * rank + 2)], k = 0, n - 1), &
      [(-1, k = 1, 15 - 2 * n)]], [3, 5])
    CALL MPI_Alltoallw(a(1:12:4, 1:10:2), counts, places, types, b(1:12:4, 1:10:2), counts, places, types, comm)
    CALL check(501)
  END SUBROUTINE forms

  ! Element k, from 1 on, of the section (1:12:4, 1:10:2) of a process.
  INTEGER FUNCTION val(of, k)
    INTEGER, INTENT(IN) :: of, k
    val = 10000 * of + 100 * (1 + 4 * MODULO(k - 1, 3)) + 1 + 2 * ((k - 1) / 3)
  END FUNCTION val

  SUBROUTINE reductions()
    INTEGER :: k, theirs(12, 10), total(12, 10)
    total = 0
    DO k = 0, size - 1
      CALL fill(theirs, k)
      total = total + theirs
    END DO
    b = -1
    want = -1
    want(2:12:2, 1:10:3) = RESHAPE(total(1:12:2, 1:8:2), [6, 4])
    CALL MPI_Allreduce(a(1:12:2, 1:8:2), b(2:12:2, 1:10:3), 24, MPI_INTEGER, MPI_SUM, comm)
    CALL check(601)
    b = -1
    b(2:12:2, 1:10:3) = a(1:12:2, 1:8:2)
    CALL MPI_Allreduce(MPI_IN_PLACE, b(2:12:2, 1:10:3), 24, MPI_INTEGER, MPI_SUM, comm)
    CALL check(602)
    CALL MPI_Reduce_local(a(1, 1:10:9), b(1, 1:10:9), 2, MPI_INTEGER, MPI_MAX)
    want(1, 1:10:9) = MAX(a(1, 1:10:9), -1)
    CALL check(603)
  END SUBROUTINE reductions

  ! Calls that return before they are done, with sections of which the library has a copy: reductions,
  ! blocks that end within a column, w forms. The request moves the data.
  SUBROUTINE later()
    INTEGER :: k, round, total(12, 10), theirs(12, 10), counts(size), places(size), flags
    TYPE(MPI_Request) :: r, several(2)
    TYPE(MPI_Datatype) :: types(size)
    LOGICAL :: done
    total = 0
    DO k = 0, size - 1
      CALL fill(theirs, k)
      total = total + theirs
    END DO
    want = -1
    want(2:12:2, 1:10:3) = RESHAPE(total(1:12:2, 1:8:2), [6, 4])
    b = -1
    CALL MPI_Iallreduce(a(1:12:2, 1:8:2), b(2:12:2, 1:10:3), 24, MPI_INTEGER, MPI_SUM, comm, r)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    CALL check(651)
    b = -1
    CALL MPI_Iallreduce(a(1:12:2, 1:8:2), b(2:12:2, 1:10:3), 24, MPI_INTEGER, MPI_SUM, comm, r)
    done = .FALSE.
    DO WHILE (.NOT. done)
      CALL MPI_Test(r, done, MPI_STATUS_IGNORE)
    END DO
    CALL check(652)
    ! Persistent: each start takes what is in the section then.
    CALL MPI_Allreduce_init(MPI_IN_PLACE, b(2:12:2, 1:10:3), 24, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, several(1))
    CALL MPI_Bcast_init(flags, 1, MPI_INTEGER, 0, comm, MPI_INFO_NULL, several(2))
    DO round = 1, 3
      flags = rank
      b = -1
      b(2:12:2, 1:10:3) = a(1:12:2, 1:8:2) + round
      want(2:12:2, 1:10:3) = RESHAPE(total(1:12:2, 1:8:2), [6, 4]) + round * size
      CALL MPI_Startall(2, several)
      CALL MPI_Waitall(2, several, MPI_STATUSES_IGNORE)
      CALL MPI_Test(several(1), done, MPI_STATUS_IGNORE)
      CALL check(652 + round)
      b(2, 1) = 5
      CALL MPI_Wait(several(1), MPI_STATUS_IGNORE) ! inactive: nothing happens to the section
      IF (b(2, 1) /= 5) ERROR STOP 13
    END DO
    CALL MPI_Request_free(several(1))
    CALL MPI_Request_free(several(2))
    ! Blocks of 4 elements in columns of 3, and the w form.
    b = -1
    want = -1
    counts = 4
    places = [(4 * k, k = 0, size - 1)]
    IF (4 * size <= 15) THEN
      theirs = -1
      theirs(1:12:4, 1:10:2) = RESHAPE([([(val(k, i), i = 1, 4)], k = 0, size - 1), [(-1, k = 1, 15 - 4 * size)]], [3, 5])
      want = theirs
      CALL MPI_Iallgatherv(a(1:12:4, 1:10:2), 4, MPI_INTEGER, b(1:12:4, 1:10:2), counts, places, MPI_INTEGER, comm, r)
      CALL MPI_Wait(r, MPI_STATUS_IGNORE)
      CALL check(661)
    END IF
    counts = 2
    places = [(8 * k, k = 0, size - 1)]
    types = MPI_INTEGER
    b = -1
    want = -1
    want(1:12:4, 1:10:2) = RESHAPE([([val(k, 2 * rank + 1), val(k, 2 * rank + 2)], k = 0, size - 1), &
      [(-1, k = 1, 15 - 2 * size)]], [3, 5])
    CALL MPI_Ialltoallw(a(1:12:4, 1:10:2), counts, places, types, b(1:12:4, 1:10:2), counts, places, types, comm, r)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    CALL check(662)
  END SUBROUTINE later

  SUBROUTINE onesided()
    USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR, C_F_POINTER
    TYPE(MPI_Win) :: win
    TYPE(C_PTR) :: base
    INTEGER, POINTER :: memory(:)
    INTEGER :: theirs(12, 10), one, old
    CALL fill(theirs, left)
    CALL MPI_Win_allocate(480_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, base, win)
    CALL C_F_POINTER(base, memory, [120])
    memory = 0
    CALL MPI_Win_fence(0, win)
    CALL MPI_Put(a(1:12:5, 2:10:4), 9, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 9, MPI_INTEGER, win)
    CALL MPI_Win_fence(0, win)
    IF (ANY(memory(11:19) /= RESHAPE(theirs(1:12:5, 2:10:4), [9])) .OR. memory(10) /= 0 .OR. memory(20) /= 0) ERROR STOP 9
    CALL MPI_Barrier(comm)
    CALL MPI_Accumulate(a(1:12:5, 2:10:4), 9, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 9, MPI_INTEGER, MPI_SUM, win)
    CALL MPI_Win_fence(0, win)
    IF (ANY(memory(11:19) /= 2 * RESHAPE(theirs(1:12:5, 2:10:4), [9]))) ERROR STOP 10
    CALL MPI_Barrier(comm)
    b = -1
    want = -1
    want(3:12:4, 1:10:4) = 2 * a(1:12:5, 2:10:4)
    CALL MPI_Get(b(3:12:4, 1:10:4), 9, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 9, MPI_INTEGER, win)
    CALL MPI_Win_fence(0, win)
    CALL check(701)
    one = 5
    CALL MPI_Fetch_and_op(one, old, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, MPI_SUM, win)
    CALL MPI_Win_fence(0, win)
    IF (old /= 0 .OR. memory(1) /= 5) ERROR STOP 11
    CALL MPI_Win_free(win)
  END SUBROUTINE onesided

  SUBROUTINE packing()
    INTEGER :: packed(2, 40), position
    packed = -1
    position = 0
    CALL MPI_Pack(a(1:12:2, 1:10:2), 30, MPI_INTEGER, packed(1, :), 160, position, comm)
    IF (position /= 120 .OR. ANY(packed(2, :) /= -1)) ERROR STOP 12
    b = -1
    want = -1
    want(2:12:2, 2:10:2) = a(1:12:2, 1:10:2)
    position = 0
    CALL MPI_Unpack(packed(1, :), 160, position, b(2:12:2, 2:10:2), 30, MPI_INTEGER, comm)
    CALL check(801)
  END SUBROUTINE packing

END PROGRAM sections
