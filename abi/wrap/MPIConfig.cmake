# MPIConfig.cmake is for find_package(MPI CONFIG), and defines what CMake's own FindMPI does: the
# targets MPI::MPI_C, MPI::MPI_CXX and MPI::MPI_Fortran, their variables, and those of mpiexec. It
# runs no compiler, and finds everything from its own place.
get_filename_component(_halo_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
set(_halo_libraries "${_halo_prefix}/lib/libmpi_f2c.so" "${_halo_prefix}/lib/libmpi_abi.so")
set(MPIEXEC_EXECUTABLE "${_halo_prefix}/bin/mpiexec" CACHE FILEPATH "the launcher of MPI programs")
set(MPIEXEC_NUMPROC_FLAG "-n" CACHE STRING "the option of MPIEXEC_EXECUTABLE before the number of processes")
set(MPIEXEC_PREFLAGS "" CACHE STRING "options of MPIEXEC_EXECUTABLE before the program")
set(MPIEXEC_POSTFLAGS "" CACHE STRING "options of MPIEXEC_EXECUTABLE behind the program")
include(ProcessorCount)
ProcessorCount(_halo_cores)
set(MPIEXEC_MAX_NUMPROCS "${_halo_cores}" CACHE STRING "the most processes that tests start")

# _halo_language LANGUAGE COMPILER LIBRARY... INCLUDES DIR... defines the target of a language.
function(_halo_language language compiler)
  cmake_parse_arguments(a "" "" "LIBRARIES;INCLUDES" ${ARGN})
  set(MPI_${language}_FOUND TRUE PARENT_SCOPE)
  set(MPI_${language}_COMPILER "${_halo_prefix}/bin/${compiler}" PARENT_SCOPE)
  set(MPI_${language}_LIBRARIES "${a_LIBRARIES}" PARENT_SCOPE)
  set(MPI_${language}_INCLUDE_DIRS "${a_INCLUDES}" PARENT_SCOPE)
  set(MPI_${language}_COMPILE_OPTIONS "" PARENT_SCOPE)
  set(MPI_${language}_COMPILE_DEFINITIONS "" PARENT_SCOPE)
  set(MPI_${language}_LINK_FLAGS "" PARENT_SCOPE)
  set(MPI_${language}_VERSION 5.0 PARENT_SCOPE)
  set(MPI_${language}_VERSION_MAJOR 5 PARENT_SCOPE)
  set(MPI_${language}_VERSION_MINOR 0 PARENT_SCOPE)
  if(NOT TARGET MPI::MPI_${language})
    add_library(MPI::MPI_${language} INTERFACE IMPORTED)
    set_target_properties(MPI::MPI_${language} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${a_INCLUDES}" INTERFACE_LINK_LIBRARIES "${a_LIBRARIES}")
  endif()
endfunction()

_halo_language(C mpicc LIBRARIES ${_halo_libraries} INCLUDES "${_halo_prefix}/include")
_halo_language(CXX mpicxx LIBRARIES ${_halo_libraries} INCLUDES "${_halo_prefix}/include")
set(MPI_MPICXX_FOUND FALSE) # the C++ bindings, which MPI-3.0 removed

# The modules of the project's Fortran compiler, if they are installed.
# Their folder is named after the family of the compiler, as mpifort finds it.
get_filename_component(_halo_compiler "${CMAKE_Fortran_COMPILER}" NAME)
foreach(_halo_family GNU=gfortran LLVMFlang=flang Flang=flang Intel=ifort IntelLLVM=ifx NVHPC=nvfortran NAG=nagfor)
  string(REPLACE "=" ";" _halo_family ${_halo_family})
  list(GET _halo_family 0 _halo_id)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL _halo_id)
    list(GET _halo_family 1 _halo_compiler)
  endif()
endforeach()
if(NOT _halo_compiler)
  set(_halo_compiler gfortran)
endif()
set(_halo_modules "${_halo_prefix}/include/fortran/${_halo_compiler}")
set(MPI_Fortran_FOUND FALSE)
if(EXISTS "${_halo_modules}" AND EXISTS "${_halo_prefix}/lib/libmpifort_abi.so")
  _halo_language(Fortran mpifort LIBRARIES "${_halo_prefix}/lib/libmpifort_abi.so" ${_halo_libraries}
    INCLUDES "${_halo_prefix}/include" "${_halo_modules}")
  set(MPI_Fortran_HAVE_F77_HEADER TRUE)
  set(MPI_Fortran_HAVE_F90_MODULE TRUE)
  set(MPI_Fortran_HAVE_F08_MODULE TRUE)
endif()

set(MPI_VERSION 5.0)
set(MPI_FOUND TRUE)
set(_halo_wanted ${MPI_FIND_COMPONENTS})
if(NOT _halo_wanted)
  get_property(_halo_wanted GLOBAL PROPERTY ENABLED_LANGUAGES)
  list(REMOVE_ITEM _halo_wanted NONE)
endif()
foreach(_halo_one IN LISTS _halo_wanted)
  if(MPI_FIND_COMPONENTS AND NOT MPI_${_halo_one}_FOUND AND MPI_FIND_REQUIRED_${_halo_one}
      OR NOT MPI_FIND_COMPONENTS AND _halo_one MATCHES "^(C|CXX|Fortran)$" AND NOT MPI_${_halo_one}_FOUND)
    set(MPI_FOUND FALSE)
    set(MPI_NOT_FOUND_MESSAGE "Halo in ${_halo_prefix} has no MPI for ${_halo_one}: make install FC=${CMAKE_Fortran_COMPILER} makes it")
  endif()
endforeach()
