module example.com/calls

go 1.26.0

require github.com/halo-mpi/halo v0.0.0

require golang.org/x/sys v0.49.0 // indirect

replace github.com/halo-mpi/halo => ../../..
