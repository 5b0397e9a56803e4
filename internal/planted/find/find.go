package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// builds are test binaries with the tag faults, one for each package.
type builds struct {
	root string // of the repository
	dir  string // where they are
	made []string
}

func (b *builds) binary(pkg string) string {
	name, err := filepath.Abs(filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "-")+".test"))
	if err != nil {
		panic(err) // the working directory is gone
	}
	return name
}

// build makes the binaries of all tests in the list.
func (b *builds) build(list []sought) error {
	for _, p := range list {
		for _, t := range p.tests {
			if slices.Contains(b.made, t.pkg) {
				continue
			}
			c := exec.Command("go", "test", "-tags", "faults", "-c", "-o", b.binary(t.pkg), "./"+t.pkg)
			c.Dir = b.root
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", c, err, out)
			}
			b.made = append(b.made, t.pkg)
		}
	}
	return nil
}

// outcome is how a run of tests has ended.
type outcome struct {
	err   error  // nil: they have passed
	out   string // what they have said
	hangs bool   // they had not ended at the deadline
}

// run runs tests with a fault, or with none.
func (b *builds) run(t trial, name string, deadline time.Duration) outcome {
	// The tests end themselves at the deadline; the context ends those that cannot.
	ctx, cancel := context.WithTimeout(context.Background(), deadline+30*time.Second)
	defer cancel()
	// Their output goes to a file. If it went to a pipe, Run would wait as long as any process
	// that the tests have started holds the pipe.
	said, err := os.CreateTemp(b.dir, "said")
	if err != nil {
		return outcome{err: err}
	}
	defer os.Remove(said.Name())
	defer said.Close()
	c := exec.CommandContext(ctx, b.binary(t.pkg), "-test.run", t.run, "-test.failfast", "-test.timeout", deadline.String(), "-test.v")
	c.Dir = filepath.Join(b.root, filepath.FromSlash(t.pkg))
	c.Env = append(os.Environ(), "HALO_FAULT="+name)
	c.Stdout, c.Stderr = said, said
	err = c.Run()
	text, failed := os.ReadFile(said.Name())
	if failed != nil {
		return outcome{err: failed}
	}
	return outcome{err, string(text), ctx.Err() != nil || bytes.Contains(text, []byte("panic: test timed out"))}
}

// clean runs the tests that look for the faults in the list, without a fault, and returns the number
// of tests.
func (b *builds) clean(list []sought, limit time.Duration) (tests int, err error) {
	var done []trial
	for _, p := range list {
		for _, t := range p.tests {
			if slices.Contains(done, t) {
				continue
			}
			done = append(done, t)
			o := b.run(t, "", limit)
			if o.err != nil {
				return tests, fmt.Errorf("tests %s of %s fail though nothing is planted: %w\n%s", t.run, t.pkg, o.err, o.out)
			}
			n := len(regexp.MustCompile(`(?m)^--- PASS: `).FindAllString(o.out, -1))
			if n == 0 {
				return tests, fmt.Errorf("%s has no test %s", t.pkg, t.run)
			}
			tests += n
		}
	}
	return tests, nil
}

// finding is how a fault was found.
type finding struct {
	by   string // package and test; "": the fault was not found
	took time.Duration
	why  string // why it was not found
}

// find runs the tests for a fault, again and again, until one fails. A test that hangs has not
// found the fault: it has to detect the hang and fail.
func (b *builds) find(p sought, limit time.Duration) finding {
	begin := time.Now()
	for {
		for _, t := range p.tests {
			left := limit - time.Since(begin)
			if left < time.Second {
				return finding{why: fmt.Sprintf("not within %v", limit)}
			}
			switch o := b.run(t, p.name, left); {
			case o.hangs:
				return finding{why: fmt.Sprintf("%s of %s hangs", t.run, t.pkg)}
			case o.err != nil:
				return finding{by: t.pkg + " " + failed(o.out, t.run), took: time.Since(begin)}
			}
		}
	}
}

// failed returns the name of the test that has failed, by the output: the first that has ended with
// FAIL, or else the one that was running when the process ended. If there is none it returns otherwise.
func failed(out, otherwise string) string {
	if m := regexp.MustCompile(`(?m)^--- FAIL: (\S+)`).FindStringSubmatch(out); m != nil {
		return m[1]
	}
	running := ""
	for _, m := range regexp.MustCompile(`(?m)^=== RUN +([^/\s]+)`).FindAllStringSubmatch(out, -1) {
		running = m[1]
	}
	if running == "" {
		return otherwise
	}
	return running
}
