package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
)

// spawn starts this program as a job: N;KEY=VALUE;...|STEP|STEP... Steps of what that job spawns have ^ for |, and
// ^^ for what that spawns. It prints the answer.
func (p *process) spawn(arg string) error {
	head, steps, _ := strings.Cut(arg, "|")
	words := strings.Split(head, ";")
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	dir, _ := os.Getwd()
	self, _ := os.Executable()
	b := boot.SpawnBlock{Program: self, Max: n, Dir: dir}
	what := &boot.Spawn{Parent: "the port"}
	ctx := context.Background()
	var ended chan string // nil: nobody waits for the end of the job
	for _, kv := range words[1:] {
		key, value, _ := strings.Cut(kv, "=")
		switch key {
		case "soft":
			b.Soft = value
		case "host":
			b.Hosts = value
		case "prog":
			b.Program = value
		case "wdir":
			b.Dir = value
		case "hostfile":
			b.HostFile = value
		case "bind":
			b.Bind = value
		case "arch":
			b.Arch = value
		case "env":
			b.Env = append(b.Env, strings.Replace(value, ":", "=", 1))
		case "apart":
			what.Apart = true
		case "ended":
			ended = make(chan string, 1)
			what.Ended = func(why string) { ended <- why }
		case "timeout":
			what.Timeout, err = time.ParseDuration(value)
		case "cancel":
			var d time.Duration
			d, err = time.ParseDuration(value)
			var end context.CancelFunc
			ctx, end = context.WithTimeout(ctx, d)
			defer end()
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return err
		}
	}
	if steps != "" {
		for _, s := range strings.Split(steps, "|") {
			b.Args = append(b.Args, regexp.MustCompile(`\^+`).ReplaceAllStringFunc(s, func(up string) string {
				if up = up[1:]; up == "" {
					return "|"
				}
				return up
			}))
		}
	}
	what.Blocks = []boot.SpawnBlock{b}
	a, err := p.boot.Spawn(ctx, what)
	switch {
	case err != nil:
		fmt.Println("spawn:", err)
	case a.Job == "":
		fmt.Println("not spawned:", a.Why)
	case a.Why != "":
		fmt.Println("spawned", a.Counts, a.Why)
	default:
		fmt.Println("spawned", a.Counts)
	}
	if ended != nil {
		select {
		case why := <-ended:
			fmt.Println("ended:", why)
		case <-time.After(20 * time.Minute): // the test finds out before that nothing happens
			fmt.Println("nobody tells of the end")
		}
	}
	return nil
}

// spawnAll makes several calls of spawn at the same time: COUNT;N|STEP|...
func (p *process) spawnAll(arg string) error {
	count, rest, _ := strings.Cut(arg, ";")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for range n {
		all.Go(func() { p.check(p.spawn(rest)) })
	}
	all.Wait()
	return nil
}
