// Package operator shows what Kubernetes' MPI operator makes of Halo's MPIJob. Its test runs the operator's
// controller on a cluster that exists in memory only, and compares the objects that the controller makes
// with those in ../testdata/mpijob, which a test of package launch plays as hosts:
//
//	go test .           # compares
//	go test . -update   # writes
//
// It is a module of its own, which make soak builds: the operator needs most of Kubernetes' libraries.
package operator
