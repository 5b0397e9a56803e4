// Latency prints what short collectives cost between real processes:
//
//	go build -o latency ./internal/coll/testdata/latency
//	halo run -n 4 ./latency [-form auto|cells|counter|messages] [-sizes 8,64]
//
// It calibrates and measures as bench/halobench.c does.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/world"
)

const (
	warm = 5 * time.Millisecond
	goal = 20 * time.Millisecond
	runs = 5
)

func main() {
	form := flag.String("form", "auto", "")
	sizes := flag.String("sizes", "8", "bytes of an allreduce, a bcast and a reduce")
	flag.Parse()
	b, err := boot.Connect(false)
	check(err)
	w, err := world.Open(b, world.Callers{})
	check(err)
	choice := coll.Defaults()
	choice.Slot = map[string]coll.SlotForm{
		"auto": coll.SlotAuto, "cells": coll.SlotCells, "counter": coll.SlotCounter, "messages": coll.SlotNone}[*form]
	w.Coll.Choose(choice)
	line := fmt.Sprintf("n %d %s", w.Comm.Size(), *form)
	line += fmt.Sprintf(" barrier %.3f", measure(w, func() { check(w.Coll.Barrier(w.Comm)) }))
	for _, f := range strings.Split(*sizes, ",") {
		size, err := strconv.Atoi(f)
		check(err)
		send, recv := make([]byte, size), make([]byte, size)
		line += fmt.Sprintf(" | %d B: allreduce %.3f", size, measure(w, func() {
			check(w.Coll.Allreduce(w.Comm, send, recv, op.Sum, op.Float64))
		}))
		line += fmt.Sprintf(" bcast %.3f", measure(w, func() { check(w.Coll.Bcast(w.Comm, recv, 0)) }))
		line += fmt.Sprintf(" reduce %.3f", measure(w, func() {
			check(w.Coll.Reduce(w.Comm, send, recv, op.Sum, op.Float64, 0))
		}))
	}
	if w.Comm.Rank == 0 {
		fmt.Println(line)
	}
	check(w.Coll.Barrier(w.Comm))
	check(w.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

func timed(w *world.World, fn func(), n int) time.Duration {
	check(w.Coll.Barrier(w.Comm))
	begin := time.Now()
	for range n {
		fn()
	}
	return time.Since(begin)
}

// measure returns microseconds per call.
func measure(w *world.World, fn func()) float64 {
	n, ready := 1, false
	for !ready {
		t := timed(w, fn, n)
		var next [16]byte
		if w.Comm.Rank == 0 {
			if ready = t >= warm; ready {
				n = max(int(float64(n)*float64(goal)/float64(t)), 4)
			} else {
				n *= 4
			}
			binary.LittleEndian.PutUint64(next[:], uint64(n))
			if ready {
				next[8] = 1
			}
		}
		check(w.Coll.Bcast(w.Comm, next[:], 0))
		n, ready = int(binary.LittleEndian.Uint64(next[:])), next[8] == 1
	}
	var per []float64
	for range runs {
		per = append(per, float64(timed(w, fn, n))/1e3/float64(n))
	}
	slices.Sort(per)
	return per[runs/2]
}
