subroutine half(comm, type, op, total, status)
  implicit none
  integer, intent(in) :: comm, op
  integer :: type
  integer, intent(out) :: total
  integer, intent(inout) :: status(8)
  integer, parameter :: mpi_integer = int(z'219')
  integer :: me(1), sum(1), code, v(1)
  call c_comm_rank(comm, me)
  call c_allreduce(me, sum, 1, mpi_integer, op, comm, code)
  if (code /= 0) stop 1
  call c_type_commit(type, code)
  if (code /= 0) stop 2
  v = me + 100
  call c_sendrecv(v, type, me, comm, status, code)
  if (code /= 0 .or. v(1) /= me(1) + 100) stop 3
  if (status(1) /= me(1) .or. status(2) /= 5) stop 4
  total = sum(1)
end subroutine
