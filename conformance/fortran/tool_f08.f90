! The part of tool.f90 that replaces procedures of mpi_f08.
SUBROUTINE MPI_Send_f08ts(buf, count, datatype, dest, tag, comm, ierror)
  USE mpi_f08, ONLY : MPI_Comm, MPI_Datatype, PMPI_Send
  IMPLICIT NONE
  TYPE(*), DIMENSION(..), INTENT(IN) :: buf
  INTEGER, INTENT(IN) :: count, dest, tag
  TYPE(MPI_Datatype), INTENT(IN) :: datatype
  TYPE(MPI_Comm), INTENT(IN) :: comm
  INTEGER, OPTIONAL, INTENT(OUT) :: ierror
  INTEGER :: sends, large, ranks, older, operations
  COMMON /seen/ sends, large, ranks, older, operations
  sends = sends + 1
  CALL PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
END SUBROUTINE MPI_Send_f08ts

SUBROUTINE MPI_Send_c_f08ts(buf, count, datatype, dest, tag, comm, ierror)
  USE mpi_f08, ONLY : MPI_Comm, MPI_COUNT_KIND, MPI_Datatype, PMPI_Send
  IMPLICIT NONE
  TYPE(*), DIMENSION(..), INTENT(IN) :: buf
  INTEGER(KIND=MPI_COUNT_KIND), INTENT(IN) :: count
  INTEGER, INTENT(IN) :: dest, tag
  TYPE(MPI_Datatype), INTENT(IN) :: datatype
  TYPE(MPI_Comm), INTENT(IN) :: comm
  INTEGER, OPTIONAL, INTENT(OUT) :: ierror
  INTEGER :: sends, large, ranks, older, operations
  COMMON /seen/ sends, large, ranks, older, operations
  large = large + 1
  CALL PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
END SUBROUTINE MPI_Send_c_f08ts

SUBROUTINE MPI_Comm_rank_f08(comm, rank, ierror)
  USE mpi_f08, ONLY : MPI_Comm, PMPI_Comm_rank
  IMPLICIT NONE
  TYPE(MPI_Comm), INTENT(IN) :: comm
  INTEGER, INTENT(OUT) :: rank
  INTEGER, OPTIONAL, INTENT(OUT) :: ierror
  INTEGER :: sends, large, ranks, older, operations
  COMMON /seen/ sends, large, ranks, older, operations
  ranks = ranks + 1
  CALL PMPI_Comm_rank(comm, rank, ierror)
END SUBROUTINE MPI_Comm_rank_f08

SUBROUTINE MPI_Op_create_f08(user_fn, commute, op, ierror)
  USE mpi_f08, ONLY : MPI_Op, MPI_User_function, PMPI_Op_create
  IMPLICIT NONE
  PROCEDURE(MPI_User_function) :: user_fn
  LOGICAL, INTENT(IN) :: commute
  TYPE(MPI_Op), INTENT(OUT) :: op
  INTEGER, OPTIONAL, INTENT(OUT) :: ierror
  INTEGER :: sends, large, ranks, older, operations
  COMMON /seen/ sends, large, ranks, older, operations
  operations = operations + 1
  CALL PMPI_Op_create(user_fn, commute, op, ierror)
END SUBROUTINE MPI_Op_create_f08
