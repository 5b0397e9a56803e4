package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/boot/pmi2"
	"github.com/halo-mpi/halo/internal/boot/pmix"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/testrun"
)

// The environment variables that make this binary a program of a job: how it reaches its engine, what
// it does, and a directory that all processes see.
const (
	probeKind = "HALO_PROBE"
	probeWhat = "HALO_PROBE_DOES"
	probeDir  = "HALO_PROBE_DIR"
)

// probeTimeout is how long a program may take.
const probeTimeout = testrun.Long

func TestMain(m *testing.M) {
	if kind := os.Getenv(probeKind); kind != "" {
		time.AfterFunc(probeTimeout, func() {
			fmt.Println("the program takes too long")
			os.Exit(1)
		})
		if err := probe(kind, os.Getenv(probeWhat)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leak.Main(m)
}

// connect connects to the engine.
func connect(kind string) (engine.Client, error) {
	if kind == "pmix" {
		p, err := pmix.ReadPlace(os.LookupEnv)
		if err != nil {
			return nil, err
		}
		conn, err := net.Dial("tcp", address.Join(p.IP.String(), p.Port))
		if err != nil {
			return nil, err
		}
		return pmix.Open(conn, p)
	}
	fd, err := strconv.Atoi(os.Getenv("PMI_FD"))
	if err != nil {
		return nil, fmt.Errorf("PMI_FD: %w", err)
	}
	file := os.NewFile(uintptr(fd), "PMI_FD")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return pmi2.Open(conn, os.LookupEnv)
}

func probe(kind, what string) error {
	if what == "asleep" { // a process that does not use MPI yet
		name := os.Getenv("SLURM_PROCID") + os.Getenv("OMPI_COMM_WORLD_RANK")
		if rank, _ := strconv.Atoi(name); rank == 1 || rank == 2 {
			for {
				if _, err := os.Stat(os.Getenv(probeDir) + "/met"); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	c, err := connect(kind)
	if err != nil {
		return err
	}
	if err := map[string]func(engine.Client) error{"exchange": exchange, "asleep": meet, "abort": abort,
		"late": late, "psets": psets, "fence": fence}[what](c); err != nil {
		return err
	}
	if err := c.Finalize(); err != nil {
		return err
	}
	<-c.Lost()
	return nil
}

// exchange lets every process connect to every process.
func exchange(c engine.Client) error {
	id := c.Identity()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := c.Put("addr", l.Addr().String()); err != nil {
		return err
	}
	if err := c.Put("name", fmt.Sprintf("rank-%d", id.Rank)); err != nil {
		return err
	}
	if err := c.Fence(); err != nil {
		return err
	}
	for rank := range id.Size {
		address, ok, err := c.Get("addr", rank)
		if err != nil || !ok {
			return fmt.Errorf("address of %d: %v, %w", rank, ok, err)
		}
		name, ok, err := c.Get("name", rank)
		if err != nil || !ok || name != fmt.Sprintf("rank-%d", rank) {
			return fmt.Errorf("name of %d: %q, %v, %w", rank, name, ok, err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		fmt.Fprintf(conn, "%d", id.Rank)
		conn.Close()
	}
	if _, ok, err := c.Get("nothing", (id.Rank+1)%id.Size); ok || err != nil {
		return fmt.Errorf("a value that nobody has put: %v, %w", ok, err)
	}
	var callers []int
	for range id.Size {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		var rank int
		fmt.Fscan(conn, &rank)
		callers = append(callers, rank)
		conn.Close()
	}
	slices.Sort(callers)
	for i, rank := range callers {
		if i != rank {
			return fmt.Errorf("processes %v have connected to %d", callers, id.Rank)
		}
	}
	nodes, err := c.Nodes()
	if err != nil {
		return err
	}
	fmt.Printf("rank %d of %d: block %d, room for %d, nodes %v, %s, job %s\n", id.Rank, id.Size, id.AppNum, id.Universe, nodes, id.Engine, id.Job)
	return nil
}

// meet lets the first and the last process find each other, while the others do nothing.
func meet(c engine.Client) error {
	id := c.Identity()
	first, last := 0, id.Size-1
	peer := first + last - id.Rank
	if id.Rank != first && id.Rank != last {
		return nil
	}
	if id.Rank == first { // the lookup of the last one begins early
		time.Sleep(100 * time.Millisecond)
	}
	if err := c.Publish("session", fmt.Sprintf("of-%d", id.Rank)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout/2)
	defer cancel()
	value, err := c.Lookup(ctx, "session", peer)
	if err != nil || value != fmt.Sprintf("of-%d", peer) {
		return fmt.Errorf("rank %d finds %q of %d: %w", id.Rank, value, peer, err)
	}
	fmt.Printf("rank %d has met %d\n", id.Rank, peer)
	if id.Rank == last {
		return os.WriteFile(os.Getenv(probeDir)+"/met", nil, 0o644)
	}
	return nil
}

// late publishes after a fence that has collected values.
func late(c engine.Client) error {
	if err := exchange(c); err != nil {
		return err
	}
	if err := meet(c); err != nil {
		return err
	}
	return c.Fence() // the server of a process that has ended does not answer look-ups
}

// fence shows that no process leaves a fence before the last has entered.
func fence(c engine.Client) error {
	id := c.Identity()
	if id.Rank == 0 {
		time.Sleep(300 * time.Millisecond)
		if err := os.WriteFile(os.Getenv(probeDir)+"/entered", nil, 0o644); err != nil {
			return err
		}
	}
	if err := c.Fence(); err != nil {
		return err
	}
	if _, err := os.Stat(os.Getenv(probeDir) + "/entered"); err != nil {
		return fmt.Errorf("rank %d leaves the fence before rank 0 has entered: %w", id.Rank, err)
	}
	return nil
}

// abort ends the job, in which the others wait. All have started before: Slurm does not end processes
// that it is about to start.
func abort(c engine.Client) error {
	if err := c.Fence(); err != nil {
		return err
	}
	id := c.Identity()
	if id.Rank == 1 {
		return c.Abort(7, "a test")
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout/2)
	defer cancel()
	_, err := c.Lookup(ctx, "nobody", 1)
	return fmt.Errorf("rank %d has outlived the job: %w", id.Rank, err)
}

// psets prints the process sets.
func psets(c engine.Client) error {
	p, ok := c.(engine.PsetClient)
	if !ok {
		return errors.New("no process sets")
	}
	sets, err := p.Psets()
	if err != nil {
		return err
	}
	var lines []string
	for _, s := range sets {
		lines = append(lines, fmt.Sprintf("%s=%v", s.Name, s.Ranks))
	}
	fmt.Printf("rank %d: sets %s\n", c.Identity().Rank, strings.Join(lines, " "))
	return nil
}
