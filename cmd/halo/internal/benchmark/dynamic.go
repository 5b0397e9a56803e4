package benchmark

import (
	"context"
	"os"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/pool"
)

// Tags of the messages between a program and the processes that it spawns.
const (
	tagEcho = 1 // is sent back
	tagOver = 2 // ends the process
)

// isDynamic reports whether a benchmark starts or connects processes.
func isDynamic(name string) bool {
	return name == "spawn" || name == "connect" || name == "across" || name == "pool"
}

// dynamic measures one size of a benchmark that starts or connects processes.
func dynamic(world *mpi.Comm, p *Plan, size int, report *Report) error {
	r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: size}
	d := &dynamics{world: world, plan: p, size: size}
	var err error
	switch p.Name {
	case "spawn":
		r.US, err = p.measure(world, d.spawns)
	case "connect":
		r.US, err = d.connecting()
	case "across":
		r.US, err = d.crossing()
	case "pool":
		r.US, err = p.measure(world, d.pools)
	}
	if err != nil {
		return err
	}
	return report.Add(r)
}

// serve sends a message to the parents, answers those that it gets, and ends when they say so.
func serve(parent *mpi.Comm) error {
	if err := mpi.Send(parent, []byte{0}, 0, tagEcho); err != nil {
		return err
	}
	buf := make([]byte, maxEcho)
	for {
		st, err := mpi.Recv(parent, buf, 0, mpi.AnyTag)
		if err != nil {
			return err
		}
		if st.Tag == tagOver {
			return parent.Disconnect()
		}
		if err := mpi.Send(parent, buf[:st.Bytes()], 0, tagEcho); err != nil {
			return err
		}
	}
}

const (
	maxEcho    = 4 << 20 // bytes of a message of across
	maxSpawned = 1024    // processes of spawn and pool

	maxPortName = 1024 // bytes, more than any
)

// dynamics are the loops of benchmarks that start or connect processes.
type dynamics struct {
	world *mpi.Comm
	plan  *Plan
	size  int // spawn, pool: processes; across: bytes
	port  *mpi.Port
	name  string // of the port
	inter *mpi.Comm
}

// spawn starts n processes and receives a message from each.
func (d *dynamics) spawn(n int) (*mpi.Comm, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	inter, _, err := d.world.Spawn(context.Background(), 0, mpi.Command{Program: self, Args: []string{"bench", "-rank", d.plan.Name}, N: n})
	if err != nil {
		return nil, err
	}
	for i := range n {
		if _, err := mpi.Recv(inter, make([]byte, 1), i, tagEcho); err != nil {
			return nil, err
		}
	}
	return inter, nil
}

// end ends the processes of spawn.
func end(inter *mpi.Comm) error {
	for i := range inter.RemoteSize() {
		if err := mpi.Send(inter, []byte{}, i, tagOver); err != nil {
			return err
		}
	}
	return inter.Disconnect()
}

// spawns spawns and ends n times.
func (d *dynamics) spawns(n int) error {
	for range n {
		inter, err := d.spawn(d.size)
		if err == nil {
			err = end(inter)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// connecting measures rounds in which rank 1 connects to rank 0 and both disconnect.
func (d *dynamics) connecting() (us float64, err error) {
	name := make([]byte, maxPortName)
	if d.world.Rank() == 0 {
		d.port, err = mpi.OpenPort(d.world)
		if err != nil {
			return 0, err
		}
		copy(name, d.port.Name())
	}
	if err := mpi.Bcast(d.world, name, 0); err != nil {
		return 0, err
	}
	for n, b := range name {
		if b == 0 {
			d.name = string(name[:n])
			break
		}
	}
	us, err = d.plan.measure(d.world, d.connections)
	if err != nil || d.port == nil {
		return us, err
	}
	return us, d.port.Close()
}

func (d *dynamics) connections(n int) error {
	ctx, self := context.Background(), d.world.Self()
	for range n {
		var inter *mpi.Comm
		var err error
		if d.port != nil {
			inter, err = d.port.Accept(ctx, self, 0)
		} else {
			inter, err = mpi.Connect(ctx, d.name, self, 0)
		}
		if err == nil {
			err = inter.Disconnect()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// crossing measures half a round trip of messages to a spawned process.
func (d *dynamics) crossing() (us float64, err error) {
	d.inter, err = d.spawn(1)
	if err != nil {
		return 0, err
	}
	us, err = d.plan.measure(d.world, d.echoes)
	if err != nil {
		return 0, err
	}
	return us / 2, end(d.inter)
}

func (d *dynamics) echoes(n int) error {
	send, recv := written[byte](d.size), written[byte](d.size)
	for range n {
		if err := mpi.Send(d.inter, send, 0, tagEcho); err != nil {
			return err
		}
		if _, err := mpi.Recv(d.inter, recv, 0, tagEcho); err != nil {
			return err
		}
	}
	return nil
}

// pools makes a pool of processes n times, each until all workers have done a task.
func (d *dynamics) pools(n int) error {
	for range n {
		if err := pool.Spawn(context.Background(), d.world, d.size, func(p *pool.Pool) error {
			_, err := pool.Map(context.Background(), p, d.plan.Echo, make([]int, d.size))
			return err
		}, pool.InFlight(1)); err != nil {
			return err
		}
	}
	return nil
}
