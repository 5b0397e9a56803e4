package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// phaseRows are the figures of operations between phases of computation, alone and beside strangers: processes of
// others that compute all the time. See bench/phases.h. The time of a whole step is what a program sees: beside strangers
// it also says how much of the cores the ranks have.
func phaseRows() (rows []row) {
	add := func(op, fabric, uneven string, ranks, us, strangers int) {
		r := row{bench: "phases", fabric: fabric, ranks: ranks, size: us, strangers: strangers, unit: "us", variant: op}
		bars := []bar{{factor: 1, of: "best"}}
		name := fmt.Sprintf("phases %s %d us", op, us)
		if ranks != 2 || fabric != "shm" {
			r.args = "-op " + op
			name += fmt.Sprintf(" %d ranks %s", ranks, fabric)
		}
		if uneven != "" {
			r.args = "-op " + op + " -uneven " + uneven
			r.variant = uneven + " " + op
			name += " " + uneven
		}
		if strangers > 0 {
			name += fmt.Sprintf(" beside %d", strangers)
		}
		if op == "notify" {
			bars = nil // the peers have none
		}
		for _, of := range []string{"", "p99", "processor", "step"} {
			r.name, r.of = name, of
			if of != "" {
				r.name += " " + of
			}
			r.bars = bars
			if of == "processor" {
				r.bars = nil
			}
			rows = append(rows, r)
		}
	}
	for _, strangers := range []int{0, 1, 2, 4} {
		for _, op := range []string{"exchange", "stencil", "allreduce", "barrier", "fence", "lock", "pscw", "notify"} {
			for _, us := range []int{5, 20, 60, 500} {
				add(op, "shm", "", 2, us, strangers)
			}
		}
		for _, op := range []string{"exchange", "allreduce"} {
			for _, uneven := range []string{"varied", "skewed"} {
				add(op, "shm", uneven, 2, 20, strangers)
			}
			for _, ranks := range []int{4, 8} {
				add(op, "shm", "", ranks, 20, strangers)
			}
			add(op, "tcp", "", 2, 20, strangers)
		}
	}
	return rows
}

// strangerArg is the only argument of a process that computes until it is killed.
const strangerArg = "-stranger"

// beStranger computes until the process is killed, or its parent has ended.
func beStranger() {
	parent := os.Getppid()
	for os.Getppid() == parent {
		for begin := time.Now(); time.Since(begin) < time.Second; {
		}
	}
}

// besideStrangers calls run while n processes compute.
func besideStrangers(n int, run func() ([]line, error)) ([]line, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for range n {
		c := exec.Command(self, strangerArg)
		if err := c.Start(); err != nil {
			return nil, err
		}
		defer func() {
			c.Process.Kill()
			c.Wait()
		}()
	}
	return run()
}
