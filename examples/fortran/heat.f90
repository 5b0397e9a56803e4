! heat lets the brightness of a picture spread like heat in a plate, as examples/heat does in Go: each
! rank has a block of the picture, and in every step puts the edges of its block into the halos of its
! neighbours. Edges are sections of an array: rows are contiguous, columns are not, and neither is
! copied. Any number of ranks computes the same bits as the program in Go; the checksum shows it.
!
!   mpifort examples/fortran/heat.f90 -o heat && mpiexec -n 4 ./heat [STEPS]
MODULE picture
  USE, INTRINSIC :: ISO_FORTRAN_ENV, ONLY : INT64, REAL64
  IMPLICIT NONE
  INTEGER, PARAMETER :: width = 512, height = 384
  REAL(REAL64), PARAMETER, PRIVATE :: moon_x = 300, moon_y = 150, moon_radius = 30, halo_radius = 115

CONTAINS

  ! The moon with its halo over mountains, in 256 greys: the picture that examples/heat starts from.
  SUBROUTINE paint(cells)
    REAL(REAL64), INTENT(OUT) :: cells(0:width - 1, 0:height - 1)
    REAL(REAL64) :: far(0:width - 1), near(0:width - 1), v
    INTEGER :: x, y
    far = ridge(250._REAL64, 46._REAL64, 7)
    near = ridge(305._REAL64, 34._REAL64, 3)
    DO y = 0, height - 1
      DO x = 0, width - 1
        v = sky(REAL(x, REAL64), REAL(y, REAL64))
        IF (y > near(x)) THEN
          v = 8
        ELSE IF (y > far(x)) THEN
          v = 34 + 0.14_REAL64 * (y - 180)
        END IF
        cells(x, y) = ANINT(MIN(MAX(v, 0._REAL64), 255._REAL64))
      END DO
    END DO
    CALL stars(cells, far)
  END SUBROUTINE paint

  REAL(REAL64) FUNCTION sky(x, y)
    REAL(REAL64), INTENT(IN) :: x, y
    REAL(REAL64) :: r, night, glow, fade
    sky = 250
    r = HYPOT(x - moon_x, y - moon_y)
    IF (r < moon_radius) RETURN
    night = 24 + 30 * y / height
    glow = 90 * EXP(-(r - moon_radius) / 22)
    fade = MERGE(4._REAL64, 16._REAL64, r < halo_radius)
    sky = night + glow + 150 * EXP(-((r - halo_radius) / fade)**2)
  END FUNCTION sky

  ! The height of a line of mountains: waves folded into peaks.
  FUNCTION ridge(base, amplitude, seed) RESULT(line)
    REAL(REAL64), INTENT(IN) :: base, amplitude
    INTEGER, INTENT(IN) :: seed
    REAL(REAL64) :: line(0:width - 1), scale, phase
    INTEGER :: x, octave
    line = base
    DO x = 0, width - 1
      DO octave = 1, 5
        scale = 2._REAL64**octave
        phase = (seed * octave) * 1.7_REAL64
        line(x) = line(x) - amplitude / scale * 2 * (1 - 2 * ABS(SIN(x * scale / 230 + phase)))
      END DO
    END DO
  END FUNCTION ridge

  SUBROUTINE stars(cells, far)
    REAL(REAL64), INTENT(INOUT) :: cells(0:width - 1, 0:height - 1)
    REAL(REAL64), INTENT(IN) :: far(0:width - 1)
    INTEGER(INT64) :: seed
    INTEGER :: k, x, y, bright, d
    seed = 2
    DO k = 1, 160
      x = next(width)
      y = next(height)
      bright = 120 + next(136)
      IF (HYPOT(x - moon_x, y - moon_y) <= halo_radius + 30 .OR. y >= far(x) - 4) CYCLE
      cells(x, y) = bright
      IF (bright <= 220) CYCLE
      DO d = -1, 1, 2 ! a star at the edge shines beyond the picture
        IF (x + d >= 0 .AND. x + d < width) cells(x + d, y) = bright / 2
        IF (y + d >= 0 .AND. y + d < height) cells(x, y + d) = bright / 2
      END DO
    END DO

  CONTAINS

    ! A linear congruential generator of 32 bits.
    INTEGER FUNCTION next(n)
      INTEGER, INTENT(IN) :: n
      seed = IAND(seed * 1664525 + 1013904223, INT(Z'FFFFFFFF', INT64))
      next = INT(MODULO(ISHFT(seed, -8), INT(n, INT64)))
    END FUNCTION next
  END SUBROUTINE stars

  ! A checksum that depends on every bit of every cell: FNV-1a of 64 bits. The two halves are apart,
  ! since integers of Fortran must not overflow; the factor is 2**40 + 435.
  FUNCTION checksum(cells) RESULT(text)
    REAL(REAL64), INTENT(IN) :: cells(width * height)
    CHARACTER(LEN=16) :: text
    INTEGER(INT64), PARAMETER :: half = INT(Z'FFFFFFFF', INT64)
    INTEGER(INT64) :: high, low, bits, product
    INTEGER :: i, k
    high = INT(Z'CBF29CE4', INT64)
    low = INT(Z'84222325', INT64)
    DO i = 1, width * height
      bits = TRANSFER(cells(i), bits)
      DO k = 0, 56, 8
        low = IEOR(low, IBITS(bits, k, 8))
        product = low * 435
        high = IAND(high * 435 + ISHFT(product, -32) + ISHFT(low, 8), half)
        low = IAND(product, half)
      END DO
    END DO
    WRITE (text, '(2Z8.8)') high, low
    DO i = 1, 16
      IF (text(i:i) >= 'A') text(i:i) = ACHAR(IACHAR(text(i:i)) + 32)
    END DO
  END FUNCTION checksum

END MODULE picture

PROGRAM heat
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_F_POINTER, C_PTR
  USE mpi_f08
  USE picture
  IMPLICIT NONE
  INTEGER, PARAMETER :: interval = 50 ! steps between two computations of the largest change
  REAL(REAL64), PARAMETER :: tolerance = 0.01_REAL64
  TYPE(MPI_Comm) :: plate
  TYPE(MPI_Win) :: window
  TYPE(MPI_Datatype) :: column(4) ! how a column lies in the block of a neighbour
  TYPE(C_PTR) :: memory
  ! The block with a frame around it, the halo. A step reads one of two layers and writes the other.
  REAL(REAL64), POINTER, CONTIGUOUS, ASYNCHRONOUS :: cells(:, :, :)
  REAL(REAL64), ALLOCATABLE :: whole(:, :)
  REAL(REAL64) :: change, start
  INTEGER :: rank, ranks, rows, columns, x0, y0, x1, y1, w, h, steps, step, now
  INTEGER :: north, south, west, east
  CHARACTER(LEN=20) :: argument

  CALL MPI_Init()
  steps = 1000
  IF (COMMAND_ARGUMENT_COUNT() > 0) THEN
    CALL GET_COMMAND_ARGUMENT(1, argument)
    READ (argument, *) steps
  END IF
  CALL MPI_Comm_size(MPI_COMM_WORLD, ranks)
  CALL cut(ranks, rows, columns)
  CALL MPI_Cart_create(MPI_COMM_WORLD, 2, [rows, columns], [.FALSE., .FALSE.], .FALSE., plate)
  IF (plate /= MPI_COMM_NULL) THEN
    CALL MPI_Comm_rank(plate, rank)
    CALL bounds(rank, x0, y0, x1, y1)
    w = x1 - x0
    h = y1 - y0
    CALL MPI_Cart_shift(plate, 0, 1, north, south)
    CALL MPI_Cart_shift(plate, 1, 1, west, east)
    CALL MPI_Win_allocate(16_MPI_ADDRESS_KIND * (w + 2) * (h + 2), 8, MPI_INFO_NULL, plate, memory, window)
    CALL C_F_POINTER(memory, cells, [w + 2, h + 2, 2])
    cells(0:, 0:, 1:) => cells
    ALLOCATE (whole(0:width - 1, 0:height - 1))
    CALL make_columns()
    CALL deal()
    start = MPI_Wtime()
    CALL diffuse()
    CALL collect()
    CALL MPI_Win_free(window)
  END IF
  CALL MPI_Finalize()

CONTAINS

  ! Divides the picture so that the edges between the blocks are shortest.
  SUBROUTINE cut(ranks, rows, columns)
    INTEGER, INTENT(IN) :: ranks
    INTEGER, INTENT(OUT) :: rows, columns
    INTEGER :: n, c, r, shortest
    DO n = ranks, 1, -1
      shortest = HUGE(shortest)
      DO c = 1, n
        r = n / c
        IF (r * c /= n .OR. c > width .OR. r > height) CYCLE
        IF ((c - 1) * height + (r - 1) * width >= shortest) CYCLE
        shortest = (c - 1) * height + (r - 1) * width
        rows = r
        columns = c
      END DO
      IF (shortest < HUGE(shortest)) RETURN
    END DO
  END SUBROUTINE cut

  ! The cells of the block of a rank: from x0 to x1 - 1, and from y0 to y1 - 1.
  SUBROUTINE bounds(of, x0, y0, x1, y1)
    INTEGER, INTENT(IN) :: of
    INTEGER, INTENT(OUT) :: x0, y0, x1, y1
    x0 = MODULO(of, columns) * width / columns
    y0 = of / columns * height / rows
    x1 = (MODULO(of, columns) + 1) * width / columns
    y1 = (of / columns + 1) * height / rows
  END SUBROUTINE bounds

  ! The width and height of the block of a rank.
  SUBROUTINE size_of(of, w, h)
    INTEGER, INTENT(IN) :: of
    INTEGER, INTENT(OUT) :: w, h
    INTEGER :: x0, y0, x1, y1
    CALL bounds(of, x0, y0, x1, y1)
    w = x1 - x0
    h = y1 - y0
  END SUBROUTINE size_of

  SUBROUTINE make_columns()
    INTEGER :: k, there(4), theirs, high
    there = [north, south, west, east]
    column = MPI_DATATYPE_NULL
    DO k = 3, 4
      IF (there(k) == MPI_PROC_NULL) CYCLE
      CALL size_of(there(k), theirs, high)
      CALL MPI_Type_vector(h, 1, theirs + 2, MPI_DOUBLE_PRECISION, column(k))
      CALL MPI_Type_commit(column(k))
    END DO
  END SUBROUTINE make_columns

  ! Rank 0 paints the picture and sends each rank its block.
  SUBROUTINE deal()
    INTEGER :: k, n, x0k, y0k, x1k, y1k
    IF (rank > 0) THEN
      CALL MPI_Recv(cells(1:w, 1:h, 1), w * h, MPI_DOUBLE_PRECISION, 0, 0, plate, MPI_STATUS_IGNORE)
      RETURN
    END IF
    CALL paint(whole)
    cells(1:w, 1:h, 1) = whole(:w - 1, :h - 1)
    CALL MPI_Comm_size(plate, n)
    DO k = 1, n - 1
      CALL bounds(k, x0k, y0k, x1k, y1k)
      CALL MPI_Send(whole(x0k:x1k - 1, y0k:y1k - 1), (x1k - x0k) * (y1k - y0k), MPI_DOUBLE_PRECISION, k, 0, plate)
    END DO
  END SUBROUTINE deal

  SUBROUTINE collect()
    INTEGER :: k, n, x0k, y0k, x1k, y1k
    IF (rank > 0) THEN
      CALL MPI_Send(cells(1:w, 1:h, now), w * h, MPI_DOUBLE_PRECISION, 0, 1, plate)
      RETURN
    END IF
    whole(:w - 1, :h - 1) = cells(1:w, 1:h, now)
    CALL MPI_Comm_size(plate, n)
    DO k = 1, n - 1
      CALL bounds(k, x0k, y0k, x1k, y1k)
      CALL MPI_Recv(whole(x0k:x1k - 1, y0k:y1k - 1), (x1k - x0k) * (y1k - y0k), MPI_DOUBLE_PRECISION, k, 1, plate, &
        MPI_STATUS_IGNORE)
    END DO
    PRINT '(I0,A,I0,A,I0,A,I0,A,I0,A,F0.2,2A)', step, ' steps of ', width, ' x ', height, ' cells on ', columns, ' x ', rows, &
      ' ranks: ', MPI_Wtime() - start, ' s, checksum ', checksum(whole)
  END SUBROUTINE collect

  ! Puts the edges of a layer into the halos of the neighbours. Where the picture ends the halo is a
  ! copy of the edge: no heat flows there.
  SUBROUTINE exchange(layer)
    INTEGER, INTENT(IN) :: layer
    cells(1:w, 0, layer) = cells(1:w, 1, layer)
    cells(1:w, h + 1, layer) = cells(1:w, h, layer)
    cells(0, 1:h, layer) = cells(1, 1:h, layer)
    cells(w + 1, 1:h, layer) = cells(w, 1:h, layer)
    CALL MPI_Win_fence(0, window)
    CALL put(cells(1:w, 1, layer), north, MPI_DOUBLE_PRECISION, w, 1, -1, layer)
    CALL put(cells(1:w, h, layer), south, MPI_DOUBLE_PRECISION, w, 1, 0, layer)
    CALL put(cells(1, 1:h, layer), west, column(3), 1, -1, 1, layer)
    CALL put(cells(w, 1:h, layer), east, column(4), 1, 0, 1, layer)
    CALL MPI_Win_fence(0, window)
  END SUBROUTINE exchange

  ! Puts an edge to where a neighbour has cell (x, y); -1 stands for its last column or row.
  SUBROUTINE put(edge, to, datatype, count, x, y, layer)
    REAL(REAL64), INTENT(IN), ASYNCHRONOUS :: edge(:)
    INTEGER, INTENT(IN) :: to, count, x, y, layer
    TYPE(MPI_Datatype), INTENT(IN) :: datatype
    INTEGER :: tw, th, tx, ty
    IF (to == MPI_PROC_NULL) RETURN
    CALL size_of(to, tw, th)
    tx = MERGE(tw + 1, x, x < 0)
    ty = MERGE(th + 1, y, y < 0)
    CALL MPI_Put(edge, SIZE(edge), MPI_DOUBLE_PRECISION, to, &
      INT(((layer - 1) * (th + 2) + ty) * (tw + 2) + tx, MPI_ADDRESS_KIND), count, datatype, window)
  END SUBROUTINE put

  SUBROUTINE diffuse()
    REAL(REAL64) :: largest
    largest = HUGE(largest)
    now = 1
    step = 0
    DO WHILE (step < steps .AND. largest > tolerance)
      CALL exchange(now)
      change = compute(cells(:, :, now), cells(:, :, 3 - now))
      now = 3 - now
      step = step + 1
      IF (MODULO(step, interval) /= 0 .AND. step /= steps) CYCLE
      CALL MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, plate)
      IF (rank == 0) PRINT '(A,I5,A,F0.6)', 'step ', step, '  residual ', largest
    END DO
  END SUBROUTINE diffuse

  ! Computes the next layer, and the largest change of a cell.
  REAL(REAL64) FUNCTION compute(old, new)
    REAL(REAL64), INTENT(IN), CONTIGUOUS :: old(0:, 0:)
    REAL(REAL64), INTENT(INOUT), CONTIGUOUS :: new(0:, 0:)
    REAL(REAL64) :: flow
    INTEGER :: x, y
    compute = 0
    DO y = 1, h
      DO x = 1, w
        flow = 0.2_REAL64 * (((old(x, y - 1) + old(x, y + 1)) + (old(x - 1, y) + old(x + 1, y))) - 4 * old(x, y))
        new(x, y) = old(x, y) + flow
        compute = MAX(compute, ABS(flow))
      END DO
    END DO
  END FUNCTION compute

END PROGRAM heat
