! FTN-01, FTN-07, LNG-02, ENV-06, ENV-08: one program uses mpi_f08, the module mpi (mixed_mpi.f90) and
! mpif.h (mixed_include.f): handles pass between them as their integers, and the constants are the
! same cells.
PROGRAM mixed
  USE mpi_f08
  IMPLICIT NONE
  INTERFACE
    SUBROUTINE by_module(comm, datatype, request, buffer, n)
      INTEGER, INTENT(INOUT) :: comm, datatype, request
      INTEGER, INTENT(IN) :: n
      INTEGER, INTENT(INOUT), ASYNCHRONOUS :: buffer(n)
    END SUBROUTINE by_module
    SUBROUTINE by_include(comm, datatype, status, buffer, n)
      INTEGER, INTENT(IN) :: comm, datatype, n
      INTEGER, INTENT(INOUT) :: status(*), buffer(n)
    END SUBROUTINE by_include
  END INTERFACE
  TYPE(MPI_Comm) :: comm
  TYPE(MPI_Datatype) :: datatype
  TYPE(MPI_Request) :: request
  TYPE(MPI_Status) :: status
  INTEGER :: plain(MPI_STATUS_SIZE), rank, size, count
  INTEGER, ASYNCHRONOUS :: buffer(6)
  LOGICAL :: begun
  CALL MPI_Initialized(begun)
  IF (begun) ERROR STOP 1
  CALL MPI_Init()
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size)
  buffer = rank
  ! The module mpi duplicates the communicator, makes a datatype, and begins to receive.
  CALL by_module(comm%MPI_VAL, datatype%MPI_VAL, request%MPI_VAL, buffer, 6)
  CALL by_include(comm%MPI_VAL, datatype%MPI_VAL, plain, buffer, 6)
  CALL MPI_Wait(request, status)
  IF (request /= MPI_REQUEST_NULL) ERROR STOP 2
  IF (buffer(2) /= MODULO(rank - 1, size) .OR. buffer(1) /= rank) ERROR STOP 3
  IF (status%MPI_SOURCE /= MODULO(rank - 1, size) .OR. status%MPI_TAG /= 7) ERROR STOP 4
  CALL MPI_Get_count(status, datatype, count)
  IF (count /= 1) ERROR STOP 5
  ! The status of a probe in mpif.h is one of mpi_f08 after its conversion.
  CALL MPI_Status_f2f08(plain, status)
  CALL MPI_Get_count(status, datatype, count)
  IF (status%MPI_TAG /= 7 .OR. count /= 1) ERROR STOP 6
  plain = 0
  CALL MPI_Status_f082f(status, plain)
  IF (plain(MPI_SOURCE) /= status%MPI_SOURCE .OR. plain(MPI_TAG) /= 7) ERROR STOP 7
  CALL MPI_Type_free(datatype)
  CALL MPI_Comm_free(comm)
  IF (comm /= MPI_COMM_NULL .OR. datatype /= MPI_DATATYPE_NULL) ERROR STOP 8
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM mixed
