! FTN-04, FTN-18, IO-01, IO-05, IO-11, X-IO-01: sections of arrays that are not contiguous, in every family of
! accesses to files. A split or nonblocking access uses the section itself, or moves a copy when it completes.
INCLUDE 'of_process.inc'
PROGRAM file_sections
  USE mpi_f08
  USE of_process
  IMPLICIT NONE
  INTEGER, PARAMETER :: families = 14, n = 20
  INTEGER :: k
  INTEGER(KIND=MPI_OFFSET_KIND) :: mine
  CHARACTER(LEN=80) :: name
  TYPE(MPI_File) :: file
  CALL MPI_Init()
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size)
  name = file_name('sections')
  CALL MPI_Bcast(name, LEN(name), MPI_CHARACTER, 0, MPI_COMM_WORLD)
  CALL MPI_File_open(MPI_COMM_WORLD, TRIM(name), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
  CALL MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  mine = n * rank
  DO k = 1, families
    CALL family(k)
  END DO
  CALL torn()
  CALL MPI_File_close(file)
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize()

CONTAINS

  ! Writes a section and reads it as a contiguous array, then reads the section.
  SUBROUTINE family(k)
    INTEGER, INTENT(IN) :: k
    INTEGER, ASYNCHRONOUS :: a(12, 10), b(12, 10)
    INTEGER :: flat(n), want(12, 10), i, code
    TYPE(MPI_Status) :: status
    a = RESHAPE([(1000 * k + 200 * rank + i, i = 1, 120)], [12, 10])
    CALL ready(k)
    CALL store(k, a(12:1:-3, 1:9:2))
    CALL MPI_Barrier(MPI_COMM_WORLD)
    CALL MPI_File_read_at(file, mine, flat, n, MPI_INTEGER, status)
    CALL must(ALL(flat == RESHAPE(a(12:1:-3, 1:9:2), [n])), k)
    b = -k
    want = b
    want(2:12:3, 10:1:-2) = RESHAPE(flat, [4, 5])
    CALL ready(k)
    CALL load(k, b(2:12:3, 10:1:-2), code)
    CALL must(code == n, 100 + k)
    CALL must(ALL(b == want), 200 + k)
  END SUBROUTINE family

  ! Sets the pointers to where the part of this process begins.
  SUBROUTINE ready(k)
    INTEGER, INTENT(IN) :: k
    CALL MPI_File_seek(file, mine, MPI_SEEK_SET)
    IF (k > 10) CALL MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
    CALL MPI_Barrier(MPI_COMM_WORLD)
  END SUBROUTINE ready

  SUBROUTINE store(k, x)
    INTEGER, INTENT(IN) :: k
    INTEGER, ASYNCHRONOUS, INTENT(IN) :: x(:, :)
    TYPE(MPI_Request) :: request
    TYPE(MPI_Status) :: status
    INTEGER :: turn, got
    request = MPI_REQUEST_NULL
    SELECT CASE (k)
    CASE (1)
      CALL MPI_File_write_at(file, mine, x, n, MPI_INTEGER, status)
    CASE (2)
      CALL MPI_File_write_at_all(file, mine, x, n, MPI_INTEGER, status)
    CASE (3)
      CALL MPI_File_iwrite_at(file, mine, x, n, MPI_INTEGER, request)
    CASE (4)
      CALL MPI_File_iwrite_at_all(file, mine, x, n, MPI_INTEGER, request)
    CASE (5)
      CALL MPI_File_write_at_all_begin(file, mine, x, n, MPI_INTEGER)
      CALL MPI_File_write_at_all_end(file, x, status)
    CASE (6)
      CALL MPI_File_write(file, x, n, MPI_INTEGER, status)
    CASE (7)
      CALL MPI_File_write_all(file, x, n, MPI_INTEGER, status)
    CASE (8)
      CALL MPI_File_iwrite(file, x, n, MPI_INTEGER, request)
    CASE (9)
      CALL MPI_File_iwrite_all(file, x, n, MPI_INTEGER, request)
    CASE (10)
      CALL MPI_File_write_all_begin(file, x, n, MPI_INTEGER)
      CALL MPI_File_write_all_end(file, x, status)
    CASE (11, 12)
      DO turn = 0, size - 1
        IF (turn == rank) THEN
          IF (k == 11) THEN
            CALL MPI_File_write_shared(file, x, n, MPI_INTEGER, status)
          ELSE
            CALL MPI_File_iwrite_shared(file, x, n, MPI_INTEGER, request)
            CALL MPI_Wait(request, status)
          END IF
        END IF
        CALL MPI_Barrier(MPI_COMM_WORLD)
      END DO
    CASE (13)
      CALL MPI_File_write_ordered(file, x, n, MPI_INTEGER, status)
    CASE (14)
      CALL MPI_File_write_ordered_begin(file, x, n, MPI_INTEGER)
      CALL MPI_File_write_ordered_end(file, x, status)
    END SELECT
    IF (request /= MPI_REQUEST_NULL) CALL MPI_Wait(request, status)
    CALL MPI_Get_count(status, MPI_INTEGER, got)
    CALL must(got == n, 300 + k)
  END SUBROUTINE store

  SUBROUTINE load(k, x, got)
    INTEGER, INTENT(IN) :: k
    INTEGER, ASYNCHRONOUS, INTENT(INOUT) :: x(:, :)
    INTEGER, INTENT(OUT) :: got
    TYPE(MPI_Request) :: request
    TYPE(MPI_Status) :: status
    INTEGER :: turn
    request = MPI_REQUEST_NULL
    SELECT CASE (k)
    CASE (1)
      CALL MPI_File_read_at(file, mine, x, n, MPI_INTEGER, status)
    CASE (2)
      CALL MPI_File_read_at_all(file, mine, x, n, MPI_INTEGER, status)
    CASE (3)
      CALL MPI_File_iread_at(file, mine, x, n, MPI_INTEGER, request)
    CASE (4)
      CALL MPI_File_iread_at_all(file, mine, x, n, MPI_INTEGER, request)
    CASE (5)
      CALL MPI_File_read_at_all_begin(file, mine, x, n, MPI_INTEGER)
      CALL MPI_File_read_at_all_end(file, x, status)
    CASE (6)
      CALL MPI_File_read(file, x, n, MPI_INTEGER, status)
    CASE (7)
      CALL MPI_File_read_all(file, x, n, MPI_INTEGER, status)
    CASE (8)
      CALL MPI_File_iread(file, x, n, MPI_INTEGER, request)
    CASE (9)
      CALL MPI_File_iread_all(file, x, n, MPI_INTEGER, request)
    CASE (10)
      CALL MPI_File_read_all_begin(file, x, n, MPI_INTEGER)
      CALL MPI_File_read_all_end(file, x, status)
    CASE (11, 12)
      DO turn = 0, size - 1
        IF (turn == rank) THEN
          IF (k == 11) THEN
            CALL MPI_File_read_shared(file, x, n, MPI_INTEGER, status)
          ELSE
            CALL MPI_File_iread_shared(file, x, n, MPI_INTEGER, request)
            CALL MPI_Wait(request, status)
          END IF
        END IF
        CALL MPI_Barrier(MPI_COMM_WORLD)
      END DO
    CASE (13)
      CALL MPI_File_read_ordered(file, x, n, MPI_INTEGER, status)
    CASE (14)
      CALL MPI_File_read_ordered_begin(file, x, n, MPI_INTEGER)
      CALL MPI_File_read_ordered_end(file, x, status)
    END SELECT
    IF (request /= MPI_REQUEST_NULL) CALL MPI_Wait(request, status)
    CALL MPI_Get_count(status, MPI_INTEGER, got)
  END SUBROUTINE load

  ! Elements of two integers, which the section tears: a call with a request moves a copy, the halves of a
  ! split access cannot.
  SUBROUTINE torn()
    INTEGER, ASYNCHRONOUS :: a(12), b(12)
    INTEGER :: i, code, class
    INTEGER(KIND=MPI_COUNT_KIND) :: three = 3
    TYPE(MPI_Request) :: request
    TYPE(MPI_Status) :: status
    a = [(50 * rank + i, i = 1, 12)]
    CALL MPI_File_iwrite_at(file, mine, a(1:12:2), three, MPI_2INTEGER, request)
    CALL MPI_Wait(request, status)
    b = 0
    CALL MPI_File_iread_at(file, mine, b(12:1:-2), 3, MPI_2INTEGER, request)
    CALL MPI_Wait(request, status)
    CALL must(ALL(b(12:1:-2) == a(1:12:2)) .AND. ALL(b(1:12:2) == 0), 401)
    CALL MPI_File_read_at_all(file, mine, b(1:12:2), 3, MPI_2INTEGER, status)
    CALL must(ALL(b(1:12:2) == a(1:12:2)), 402)
    CALL MPI_File_read_at_all_begin(file, mine, b(1:12:2), 3, MPI_2INTEGER, code)
    CALL MPI_Error_class(code, class)
    CALL must(class == MPI_ERR_BUFFER, 403)
    ! A section with fewer elements than the call is told.
    CALL MPI_File_write_at(file, mine, a(1:12:2), 7, MPI_INTEGER, status, code)
    CALL MPI_Error_class(code, class)
    CALL must(class == MPI_ERR_BUFFER, 404)
  END SUBROUTINE torn

END PROGRAM file_sections
