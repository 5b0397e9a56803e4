package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

type options struct{ tiles, bytes, depth, rounds int }

func main() {
	var o options
	flag.IntVar(&o.tiles, "tiles", 400, "stream `N` tiles")
	flag.IntVar(&o.bytes, "bytes", 8192, "of `N` bytes")
	flag.IntVar(&o.depth, "depth", 4, "have room for `N` tiles between two ranks")
	flag.IntVar(&o.rounds, "rounds", 3, "`N` times in each way")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, o, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, o options, out io.Writer) error {
	if o.tiles < 0 || o.bytes < 8 || o.depth < 1 || o.rounds < 1 {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("signals: -tiles is %d, -bytes is %d, -depth is %d and -rounds is %d: want no negative ones, a number, a tile and a round",
			o.tiles, o.bytes, o.depth, o.rounds)
	}
	p := newPipe(world, o)
	ways := []struct {
		name string
		make func(*pipe) (stream, error)
	}{{"put_notify", byNotification}, {"send and receive", byMessages}, {"put, flush and send", byFlush}}
	best := make([]float64, len(ways)) // seconds
	for round := range o.rounds {
		for i, way := range ways {
			s, err := way.make(p)
			if err != nil {
				return err
			}
			seconds, err := p.run(s)
			if err != nil {
				return fmt.Errorf("signals: by %s: %w", way.name, err)
			}
			if round == 0 || seconds < best[i] {
				best[i] = seconds
			}
			if err := s.free(); err != nil {
				return err
			}
		}
	}
	if world.Rank() != 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "%d tiles of %d bytes through %d ranks, MB/s:", o.tiles, 8*p.numbers, world.Size())
	for i, way := range ways {
		_, e := fmt.Fprintf(out, " by %s %.1f,", way.name, float64(o.tiles)*float64(8*p.numbers)/max(best[i], mpi.Wtick())/1e6)
		err = errors.Join(err, e)
	}
	_, e := fmt.Fprintln(out, " all verified")
	return errors.Join(err, e)
}
