module github.com/halo-mpi/halo/tools
