! handler_timer: a timer of the C library interrupts calls of MPI with a handler of Fortran that has 64 KiB of local
! variables and no alternate stack (BRD-01).
module interrupts
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: locals = 8192
  integer, volatile :: handled = 0, damaged = 0
  type, bind(c) :: interval
    integer(c_long) :: every_seconds, every_micros, first_seconds, first_micros
  end type
  interface
    function signal(number, handler) bind(c)
      import :: c_int, c_funptr
      integer(c_int), value :: number
      type(c_funptr), value :: handler
      type(c_funptr) :: signal
    end function
    function setitimer(which, new, old) bind(c)
      import :: c_int, c_ptr, interval
      integer(c_int), value :: which
      type(interval), intent(in) :: new
      type(c_ptr), value :: old
      integer(c_int) :: setitimer
    end function
  end interface
contains
  recursive subroutine handle(number) bind(c)
    integer(c_int), value :: number
    real(c_double), volatile :: values(locals)
    integer :: i
    do i = 1, locals
      values(i) = handled + i + number
    end do
    do i = 1, locals
      if (values(i) < handled + i .or. values(i) > handled + i + 64) damaged = 1
    end do
    handled = handled + 1
  end subroutine
end module

program handler_timer
  use mpi_f08
  use interrupts
  implicit none
  integer, parameter :: words = 3000, sigalrm = 14
  integer :: rank, size, i, turn, wrong, all
  logical :: enough, mine
  integer :: out(words), in(words)
  double precision :: values(words), sums(words), until
  type(c_funptr) :: before
  type(MPI_Request) :: requests(2)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  before = signal(sigalrm, c_funloc(handle))
  if (setitimer(0, interval(0, 1000, 0, 1000), c_null_ptr) /= 0) error stop
  wrong = 0
  turn = 0
  enough = .false.
  until = MPI_Wtime() + 2
  do while (.not. enough)
    do i = 1, words
      out(i) = rank + turn + i
      values(i) = rank + i
    end do
    call MPI_Irecv(in, words, MPI_INTEGER, modulo(rank - 1, size), 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out, words, MPI_INTEGER, modulo(rank + 1, size), 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Allreduce(values, sums, words, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    do i = 1, words
      if (in(i) /= modulo(rank - 1, size) + turn + i) wrong = wrong + 1
      if (nint(sums(i)) /= size * (size - 1) / 2 + size * i) wrong = wrong + 1
    end do
    turn = turn + 1
    mine = MPI_Wtime() > until .and. handled > 100
    call MPI_Allreduce(mine, enough, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  end do
  wrong = wrong + damaged
  call MPI_Allreduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. all == 0) print '(a)', 'no errors'
  if (rank == 0 .and. all /= 0) print '(i0,a)', all, ' errors'
  call MPI_Finalize()
end program
