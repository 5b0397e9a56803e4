! E2-25, FTN-15, FTN-27, MEM-08, X-FTN-01, X-CNT-01, CHG-01, CHG-02, CHG-05: names of arguments, memory that calls return in both
! forms, sizes of types, and what overloads a name, by each method.
#include "method.inc"
PROGRAM keywords
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_F_POINTER, C_PTR
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: code
  CALL MPI_INIT(code)
  CALL names()
  CALL memory()
  CALL sizes()
  CALL large()
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)

CONTAINS

  SUBROUTINE must(holds, n)
    LOGICAL, INTENT(IN) :: holds
    INTEGER, INTENT(IN) :: n
    IF (.NOT. holds) THEN
      PRINT *, 'case', n
      ERROR STOP 1
    END IF
  END SUBROUTINE must

  ! mpif.h has no interfaces, and so no names.
  SUBROUTINE names()
#ifndef METHOD_MPIF
    EXTERNAL :: sum_of, noted, noted_win
    T_OP :: op
    T_ERRHANDLER :: handler
    T_DATATYPE :: made, copy
    T_COMM :: inter, intra
    T_WIN :: win
    INTEGER :: memory(2)
    LOGICAL :: flag
    INTEGER(KIND=MPI_ADDRESS_KIND) :: lb, extent
    CALL MPI_OP_CREATE(user_fn=sum_of, commute=.TRUE., op=op, ierror=code)
    CALL MPI_OP_FREE(op=op, ierror=code)
    CALL MPI_COMM_CREATE_ERRHANDLER(comm_errhandler_fn=noted, errhandler=handler, ierror=code)
    CALL MPI_ERRHANDLER_FREE(errhandler=handler, ierror=code)
    CALL MPI_WIN_CREATE_ERRHANDLER(win_errhandler_fn=noted_win, errhandler=handler, ierror=code)
    CALL MPI_ERRHANDLER_FREE(errhandler=handler, ierror=code)
    CALL MPI_TYPE_DUP(oldtype=MPI_INTEGER, newtype=made, ierror=code)
    CALL MPI_TYPE_CREATE_RESIZED(oldtype=made, lb=0_MPI_ADDRESS_KIND, extent=8_MPI_ADDRESS_KIND, newtype=copy, ierror=code)
    CALL MPI_TYPE_GET_EXTENT(datatype=copy, lb=lb, extent=extent, ierror=code)
    CALL must(lb == 0 .AND. extent == 8, 101)
    CALL MPI_TYPE_FREE(datatype=copy, ierror=code)
    CALL MPI_TYPE_FREE(datatype=made, ierror=code)
    memory = [3, 4]
    CALL MPI_REDUCE_LOCAL(inbuf=memory(1:1), inoutbuf=memory(2:2), count=1, datatype=MPI_INTEGER, op=MPI_SUM, ierror=code)
    CALL must(memory(2) == 7, 102)
    CALL MPI_COMM_DUP(comm=MPI_COMM_SELF, newcomm=intra, ierror=code)
    CALL MPI_COMM_TEST_INTER(comm=intra, flag=flag, ierror=code)
    CALL must(.NOT. flag, 103)
    inter = intra
    CALL MPI_COMM_FREE(comm=inter, ierror=code)
    CALL MPI_WIN_CREATE(base=memory, size=8_MPI_ADDRESS_KIND, disp_unit=4, info=MPI_INFO_NULL, comm=MPI_COMM_SELF, win=win, &
      ierror=code)
    CALL MPI_WIN_FREE(win=win, ierror=code)
    CALL must(win == MPI_WIN_NULL, 104)
#endif
  END SUBROUTINE names

  SUBROUTINE memory()
    T_WIN :: win
    TYPE(C_PTR) :: pointer
    INTEGER, POINTER :: a(:)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: size
    INTEGER :: unit
#ifndef METHOD_F08
    INTEGER(KIND=MPI_ADDRESS_KIND) :: address, other
#endif
#ifdef METHOD_MPIF
    ! Without interfaces there is one form.
    CALL MPI_ALLOC_MEM(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, code)
    pointer = TRANSFER(address, pointer)
#else
    CALL MPI_ALLOC_MEM(size=40_MPI_ADDRESS_KIND, info=MPI_INFO_NULL, baseptr=pointer, ierror=code)
#endif
    CALL C_F_POINTER(pointer, a, [10])
    a = 7
    CALL must(SUM(a) == 70, 201)
    CALL MPI_FREE_MEM(a, code)
#ifdef METHOD_MPI
    CALL MPI_ALLOC_MEM(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, code)
    CALL C_F_POINTER(TRANSFER(address, pointer), a, [10])
    a = 8
    CALL MPI_FREE_MEM(a, code)
    CALL MPI_WIN_ALLOCATE(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, address, win, code)
    CALL must(address /= 0, 202)
    CALL MPI_WIN_FREE(win, code)
    CALL MPI_WIN_ALLOCATE_SHARED(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, address, win, code)
    CALL MPI_WIN_SHARED_QUERY(win, 0, size, unit, other, code)
    CALL must(address == other .AND. size == 40 .AND. unit == 4, 203)
    CALL MPI_WIN_SHARED_QUERY(win, 0, size, unit, pointer, code)
    CALL must(TRANSFER(pointer, other) == address, 204)
    CALL MPI_WIN_FREE(win, code)
#endif
#ifdef METHOD_MPIF
    CALL MPI_WIN_ALLOCATE_SHARED(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, other, win, code)
    pointer = TRANSFER(other, pointer)
#else
    CALL MPI_WIN_ALLOCATE_SHARED(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, pointer, win, code)
#endif
    CALL C_F_POINTER(pointer, a, [10])
    a = 9
#ifdef METHOD_MPIF
    CALL MPI_WIN_SHARED_QUERY(win, 0, size, unit, other, code)
    pointer = TRANSFER(other, pointer)
#else
    CALL MPI_WIN_SHARED_QUERY(win, 0, size, unit, pointer, code)
#endif
    CALL C_F_POINTER(pointer, a, [10])
    CALL must(SUM(a) == 90, 205)
    CALL MPI_WIN_FREE(win, code)
#ifndef METHOD_MPIF
    CALL MPI_WIN_ALLOCATE(size=40_MPI_ADDRESS_KIND, disp_unit=4, info=MPI_INFO_NULL, comm=MPI_COMM_SELF, baseptr=pointer, win=win, &
      ierror=code)
    CALL C_F_POINTER(pointer, a, [10])
    a = 6
    CALL must(code == MPI_SUCCESS .AND. SUM(a) == 60, 206)
    CALL MPI_WIN_FREE(win, code)
#endif
  END SUBROUTINE memory

  SUBROUTINE sizes()
#ifndef METHOD_MPIF
    REAL(KIND=8) :: cube(2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1)
    COMPLEX :: c(3)
    INTEGER(KIND=2) :: i
    LOGICAL(KIND=1) :: l
    CHARACTER :: s
    INTEGER :: n(5), k
    cube = 0
    c = 0
    i = 0
    l = .TRUE.
    s = ' '
    CALL MPI_SIZEOF(cube, n(1), code)
    CALL MPI_SIZEOF(c, n(2), code)
    CALL MPI_SIZEOF(i, n(3), code)
    CALL MPI_SIZEOF(l, n(4), code)
    CALL MPI_SIZEOF(s, n(5), code)
    CALL must(ALL(n == [8, 8, 2, 1, 1]) .AND. code == MPI_SUCCESS, 301)
    CALL MPI_SIZEOF(cube(1:2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), k, code)
    CALL must(k == 8, 302)
#endif
  END SUBROUTINE sizes

  ! In mpi_f08 counts of both kinds have the same name, and ierror may be left out.
  SUBROUTINE large()
#ifdef METHOD_F08
    INTEGER(KIND=MPI_COUNT_KIND) :: n, ni, na, nl, nd
    INTEGER :: k, combiner, integers(1)
    INTEGER(KIND=MPI_COUNT_KIND) :: counts(1)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: addresses(1)
    TYPE(MPI_Datatype) :: made, types(1)
    CALL MPI_Type_size(MPI_REAL8, k)
    CALL MPI_Type_size(MPI_REAL8, n)
    CALL must(k == 8 .AND. n == 8, 401)
    CALL MPI_Type_contiguous(5000000000_MPI_COUNT_KIND, MPI_REAL8, made)
    CALL MPI_Type_size(made, n)
    CALL MPI_Type_size(made, k)
    CALL must(n == 40000000000_MPI_COUNT_KIND .AND. k == MPI_UNDEFINED, 402)
    CALL MPI_Type_get_envelope(made, ni, na, nl, nd, combiner)
    CALL must(ni == 0 .AND. na == 0 .AND. nl == 1 .AND. nd == 1 .AND. combiner == MPI_COMBINER_CONTIGUOUS, 403)
    CALL MPI_Type_get_contents(made, ni, na, nl, nd, integers, addresses, counts, types)
    CALL must(counts(1) == 5000000000_MPI_COUNT_KIND .AND. types(1) == MPI_REAL8, 404)
    CALL MPI_Type_free(made)
#endif
  END SUBROUTINE large

END PROGRAM keywords

SUBROUTINE sum_of()
END SUBROUTINE sum_of

SUBROUTINE noted()
END SUBROUTINE noted

SUBROUTINE noted_win()
END SUBROUTINE noted_win
