package mpi

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
)

// spawnKeys takes the keys of an Info for Spawn into b. It returns the value of timeout.
func spawnKeys(i *Info, b *boot.SpawnBlock) (timeout time.Duration, err error) {
	for n := range i.NKeys() {
		key, err := i.NthKey(n)
		if err != nil {
			break // another goroutine has deleted a key
		}
		value, _ := i.Get(key)
		d, err := spawnKey(key, value, b)
		if err != nil {
			return 0, fmt.Errorf("info key %s: %w", key, err)
		}
		timeout = max(timeout, d)
	}
	return timeout, nil
}

// spawnKey takes one key.
func spawnKey(key, value string, b *boot.SpawnBlock) (timeout time.Duration, err error) {
	switch key {
	case "host":
		b.Hosts = value
	case "hostfile":
		b.HostFile = value
	case "arch":
		b.Arch, err = architecture(value)
		if err != nil {
			return 0, err
		}
	case "wdir":
		b.Dir = value
	case "path":
		b.Path = strings.Split(value, ":")
	case "soft":
		b.Soft = value
	case "bind":
		if !slices.Contains([]string{"core", "none", "auto"}, value) {
			return 0, fmt.Errorf("%q is not core, none or auto", value)
		}
		b.Bind = value
	case "env":
		for line := range strings.Lines(value) {
			line = strings.TrimSuffix(line, "\n")
			if name, _, ok := strings.Cut(line, "="); !ok || name == "" {
				return 0, fmt.Errorf("%q is not NAME=value", line)
			}
			b.Env = append(b.Env, line)
		}
	case keyTimeout:
		return parseTimeout(value)
	case "file":
		return spawnFile(value, b)
	case "mpi_initial_errhandler":
		if !slices.Contains([]string{"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"}, value) {
			return 0, fmt.Errorf("%q is not mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return", value)
		}
		b.Env = append(b.Env, errhandlerVariable+"="+value)
	case keyAllocKinds:
		b.Env = append(b.Env, kindsVariable+"="+value)
	}
	return 0, nil
}

// spawnFile takes the keys of a file: one a line, KEY=VALUE, and comments that begin with '#'.
func spawnFile(name string, b *boot.SpawnBlock) (timeout time.Duration, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "file" {
			return 0, fmt.Errorf("%s:%d: want KEY=VALUE, and no file", name, i+1)
		}
		d, err := spawnKey(key, strings.TrimSpace(value), b)
		if err != nil {
			return 0, fmt.Errorf("%s:%d: %s: %w", filepath.Base(name), i+1, key, err)
		}
		timeout = max(timeout, d)
	}
	return timeout, nil
}

// architecture translates the name of an architecture, by Go or by uname, to Go's.
func architecture(name string) (string, error) {
	switch name {
	case "":
		return "", fmt.Errorf("it is empty, want such as %s", runtime.GOARCH)
	case "x86_64":
		return "amd64", nil
	case "aarch64":
		return "arm64", nil
	}
	return name, nil
}

// parseTimeout reads a time in seconds, or with a unit.
func parseTimeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if seconds, e := strconv.ParseFloat(text, 64); e == nil {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no time such as 10 (seconds) or 500ms", text)
	}
	return d, nil
}
