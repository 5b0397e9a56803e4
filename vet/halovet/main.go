// Halovet reports calls of package mpi that fail whenever they are made, and requests that are
// dropped: see package vet, which has the analyzers. It runs as a tool of go vet, or by itself:
//
//	go install github.com/halo-mpi/halo/vet/halovet@latest
//	go vet -vettool=$(which halovet) ./...
//	halovet ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/halo-mpi/halo/vet"
)

func main() { multichecker.Main(vet.PlainData, vet.DroppedRequest) }
