! A token and a section of an array go around, with the module mpi_f08.
PROGRAM ring_f08
  USE mpi_f08
  IMPLICIT NONE
  INTEGER :: rank, size, token, left, right, i
  TYPE(MPI_Status) :: status
  TYPE(MPI_Comm) :: comm
  TYPE(MPI_Request) :: requests(2)
  INTEGER :: there(5, 4), here(5, 4), want(5, 4)
  CALL MPI_Init()
  comm = MPI_COMM_WORLD
  IF (comm /= MPI_COMM_WORLD .OR. .NOT. comm == MPI_COMM_WORLD .OR. comm == MPI_COMM_NULL) ERROR STOP 1
  CALL MPI_Comm_rank(comm, rank)
  CALL MPI_Comm_size(comm, size)
  left = MODULO(rank - 1, size)
  right = MODULO(rank + 1, size)
  token = rank
  CALL MPI_Sendrecv_replace(token, 1, MPI_INTEGER, right, 5, left, 5, comm, status)
  IF (token /= left .OR. status%MPI_SOURCE /= left .OR. status%MPI_TAG /= 5) ERROR STOP 2
  there = RESHAPE([(100 * rank + i, i = 1, 20)], [5, 4])
  here = -1
  want = -1
  want(2:4, 1:4:2) = there(1:5:2, 2:4:2) + 100 * (left - rank)
  CALL MPI_Irecv(here(2:4, 1:4:2), 6, MPI_INTEGER, left, 6, comm, requests(1))
  CALL MPI_Isend(there(1:5:2, 2:4:2), 6, MPI_INTEGER, right, 6, comm, requests(2))
  CALL MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  IF (ANY(here /= want)) ERROR STOP 3
  CALL MPI_Allreduce(MPI_IN_PLACE, token, 1, MPI_INTEGER, MPI_SUM, comm)
  IF (token /= size * (size - 1) / 2) ERROR STOP 4
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM ring_f08
