package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

// line64 is the limit that tells the phase of the machine: half of the time in which a cache line travels to
// another core and back.
const line64 = "cache line"

// limitsArg is the first argument of the process that measures limits, before their names.
const limitsArg = "-limits-of"

// limitsTime bounds the time to measure the limits of one benchmark.
const limitsTime = time.Minute

// limitNames are what is measured beside a job.
func limitNames(rows []row, j job) []string {
	names := []string{line64}
	for i := range rows {
		if r := &rows[i]; r.from(j) && r.limit != "" && !slices.Contains(names, r.limit) {
			names = append(names, r.limit)
		}
	}
	return names
}

// measureLimits measures limits in a process of its own: the loops have threads that wait for each other
// without a system call, and a process can be ended if they do not meet. What is not measured in time
// is missing.
func measureLimits(names []string) (map[string]float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limitsTime)
	defer cancel()
	return limitsBy(exec.CommandContext(ctx, self, append([]string{limitsArg}, names...)...))
}

// limitsBy returns what a process that measures limits prints.
func limitsBy(c *exec.Cmd) (map[string]float64, error) {
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	limits := map[string]float64{}
	d := json.NewDecoder(out)
	for err == nil {
		err = d.Decode(&limits) // each adds to those before
	}
	if ended := c.Wait(); ended != nil {
		return limits, fmt.Errorf("limits: %w", ended)
	}
	if err != io.EOF {
		return limits, fmt.Errorf("limits: %w", err)
	}
	return limits, nil
}

// printLimits is the process that measures.
func printLimits(names []string, out io.Writer) {
	e := json.NewEncoder(out)
	for _, name := range names {
		e.Encode(measureHere([]string{name}))
	}
}
