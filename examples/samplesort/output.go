package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

// partial is what the output is called until it is known to be right.
func partial(name string) string { return name + ".part" }

// create makes the file, on rank 0, before the work, so that a path that cannot be written
// is reported at once.
func create(world *mpi.Comm, name string) error {
	if world.Rank() != 0 || name == "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("samplesort: %s is not a regular file", name)
	}
	f, err := os.Create(partial(name))
	if err != nil {
		return fmt.Errorf("samplesort: %w", err)
	}
	return f.Close()
}

// output merges the runs, and writes this rank's part of the file behind those of
// lower ranks. It returns what the merged lines are like.
func output(world *mpi.Comm, texts [][]byte, name string) (result, error) {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	at, err := mpi.ExscanOne(world, size, mpi.Sum)
	if err != nil {
		return result{}, err
	}
	if name == "" {
		return write(io.Discard, texts)
	}
	after, err := writeAt(partial(name), int64(at), texts)
	if err != nil {
		err = fmt.Errorf("samplesort: %w", err)
	}
	return after, agree(world, err)
}

func writeAt(name string, at int64, texts [][]byte) (result, error) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return result{}, err
	}
	after, err := write(io.NewOffsetWriter(f, at), texts)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return after, err
}

func write(to io.Writer, texts [][]byte) (result, error) {
	var after result
	buffered := bufio.NewWriterSize(to, 1<<16)
	for line := range merged(texts) {
		after.add(line)
		buffered.Write(line)
		buffered.WriteByte('\n')
	}
	return after, buffered.Flush() // knows of earlier errors, too
}

// settle gives the file its name if nothing has failed, and removes it otherwise.
func settle(world *mpi.Comm, name string, err error) error {
	if world.Rank() == 0 && name != "" {
		if err != nil {
			os.Remove(partial(name))
		} else {
			err = os.Rename(partial(name), name)
			if err != nil {
				err = fmt.Errorf("samplesort: %w", err)
			}
		}
	}
	return agree(world, err)
}
