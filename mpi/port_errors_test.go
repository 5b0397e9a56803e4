package mpi_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// portError reports an error unless err has a class, and its text all the words.
func portError(t testing.TB, what string, err error, cl mpi.Class, words ...string) {
	t.Helper()
	if !errors.Is(err, cl) {
		t.Errorf("%s: %v, want %v", what, err, cl)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not say %q", what, err, w)
		}
	}
}

// X-DYN-01: names that are none of a port, ports that are closed, and ports of others are ErrPort at all members,
// and no error tells the secret of a port.
func TestXDYN01_WrongPorts(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		ctx := context.Background()
		port, err := mpi.OpenPort(world)
		if err != nil {
			t.Fatal(err)
		}
		name := port.Name()
		if len(name) > 255 {
			t.Errorf("a name of %d bytes", len(name))
		}
		secret := name[strings.LastIndex(name, "/")+1:]
		for what, wrong := range map[string]string{
			"empty": "", "other text": "localhost:80", "no secret": "halo://127.0.0.1:80", "cut": name[:len(name)-1], "no port": "halo://127.0.0.1/" + secret,
		} {
			_, err := mpi.Connect(ctx, wrong, world.Self(), 0)
			portError(t, what, err, mpi.ErrPort, "Connect", "no name of a port")
		}
		_, err = mpi.Connect(ctx, "nonsense", world, 1)
		portError(t, "at all members", err, mpi.ErrPort, "Connect on world", `"nonsense"`)

		if err := port.Close(); err != nil {
			t.Error(err)
		}
		err = port.Close()
		portError(t, "closed twice", err, mpi.ErrPort, "Close", "127.0.0.1")
		if strings.Contains(err.Error(), secret) {
			t.Error("the error contains the secret of the port")
		}
		_, err = port.Accept(ctx, world, world.Rank()/2)
		portError(t, "accept at a closed port", err, mpi.ErrPort, "Accept on world", "not opened")
		_, err = mpi.Connect(ctx, name, world.Self(), 0)
		portError(t, "connect to a closed port", err, mpi.ErrPort, "nobody serves")
		if strings.Contains(err.Error(), secret) {
			t.Error("the error contains the secret of the port")
		}
		// Nobody listens there any more.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		gone := l.Addr().String()
		l.Close()
		_, err = mpi.Connect(ctx, "halo://"+gone+"/"+secret, world.Self(), 0)
		portError(t, "nobody listens", err, mpi.ErrPort, "no process listens", gone)

		_, err = mpi.Connect(ctx, name, world, 2)
		portError(t, "root", err, mpi.ErrRoot, "root 2")
		_, err = mpi.OpenPort(world, mpi.PortAddress("nowhere"))
		portError(t, "ip_address", err, mpi.ErrArg, "nowhere")
		_, err = mpi.OpenPort(world, mpi.PortNumber(70000))
		portError(t, "ip_port", err, mpi.ErrArg, "70000")
		var none *mpi.Port
		portError(t, "nil", none.Close(), mpi.ErrPort)
	})
}

// X-DYN-01: hints choose the address and number at which a port listens.
func TestXDYN01_AddressAndNumber(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().(*net.TCPAddr).Port
	l.Close()
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		info := mpi.NewInfo()
		info.Set("ip_address", "127.0.0.1")
		port, err := mpi.OpenPort(world, info, mpi.PortNumber(free))
		if err != nil {
			t.Skipf("somebody has taken port %d meanwhile: %v", free, err)
		}
		defer port.Close()
		if want := l.Addr().String(); !strings.Contains(port.Name(), want+"/") {
			t.Errorf("%.30s..., want a port at %s", port.Name(), want)
		}
		_, err = mpi.OpenPort(world, mpi.PortNumber(free))
		portError(t, "taken", err, mpi.ErrPort, "address already in use")
	})
}

// X-DYN-01: a call ends with the context of its root, at all members: Accept when nobody connects, Connect when nobody
// accepts. The port can be used afterwards.
func TestXDYN01_Cancelled(t *testing.T) {
	cause := errors.New("no more patience")
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		port, err := mpi.OpenPort(world)
		if err != nil {
			t.Fatal(err)
		}
		defer port.Close()
		within := func() (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
			return ctx, func() { timer.Stop(); cancel(nil) }
		}
		ctx, stop := within()
		_, err = port.Accept(ctx, world, 0)
		stop()
		portError(t, "accept", err, mpi.ErrPort, "Accept on world", "nobody has connected", "no more patience")
		ctx, stop = within()
		_, err = mpi.Connect(ctx, port.Name(), world, 0)
		stop()
		portError(t, "connect", err, mpi.ErrPort, "Connect on world", "nobody has accepted", "no more patience")
		if world.Rank() == 0 && !errors.Is(err, cause) {
			t.Errorf("the error does not wrap the cause: %v", err)
		}
		limited, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		_, err = port.Accept(limited, world, 0)
		cancel()
		portError(t, "accept within a time", err, mpi.ErrPort, "before the time was over")
	})
}

// X-DYN-01: processes of one job connect, too. A process that is in both groups is ErrComm at both.
func TestXDYN01_WithinAJob(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		ctx := context.Background()
		names := make([]byte, 256)
		var port *mpi.Port
		if world.Rank() == 0 {
			var err error
			port, err = mpi.OpenPort(world)
			if err != nil {
				t.Fatal(err)
			}
			copy(names, port.Name())
		}
		if err := mpi.Bcast(world, names, 0); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimRight(string(names), "\x00")
		c, err := world.Split(world.Rank()/2, 0)
		if err != nil {
			t.Fatal(err)
		}
		var inter *mpi.Comm
		if world.Rank() < 2 {
			inter, err = port.Accept(ctx, c, 0)
		} else {
			inter, err = mpi.Connect(ctx, name, c, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if inter.RemoteSize() != world.Size()-c.Size() {
			t.Errorf("%d processes in the other group", inter.RemoteSize())
		}
		if err := inter.Barrier(); err != nil {
			t.Error(err)
		}
		if err := inter.Disconnect(); err != nil {
			t.Error(err)
		}
		// Rank 1 is in both groups: that of 0 and 1, and its own alone.
		switch world.Rank() {
		case 0:
			_, err = port.Accept(ctx, c, 0)
			portError(t, "overlap", err, mpi.ErrComm, "overlap")
		case 1:
			errs := make(chan error)
			go func() {
				_, err := mpi.Connect(ctx, name, world.Self(), 0)
				errs <- err
			}()
			_, err = port.Accept(ctx, c, 0)
			portError(t, "overlap", err, mpi.ErrComm, "overlap")
			portError(t, "overlap", <-errs, mpi.ErrComm, "overlap")
		}
		if err := world.Barrier(); err != nil {
			t.Error(err)
		}
	})
}

// X-DYN-01: names of services are published once, looked up by anybody of the user, and withdrawn by who
// has published them.
func TestXDYN01_Names(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		service := "halo test " + t.Name()
		step := func() {
			if err := world.Barrier(); err != nil {
				t.Fatal(err)
			}
		}
		port, err := mpi.OpenPort(world)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mpi.LookupName(world, service)
		portError(t, "before", err, mpi.ErrName, "LookupName", service[:20])
		step()
		if world.Rank() == 0 {
			if err := port.Publish(service); err != nil {
				t.Fatal(err)
			}
		}
		step()
		if world.Rank() == 1 {
			portError(t, "publish twice", port.Publish(service), mpi.ErrService, "already")
			portError(t, "unpublish another's", port.Unpublish(service), mpi.ErrService, "has not published")
		} else {
			portError(t, "publish twice", port.Publish(service), mpi.ErrService, "already")
			other, err := mpi.OpenPort(world)
			if err != nil {
				t.Fatal(err)
			}
			portError(t, "another port", other.Unpublish(service), mpi.ErrService, "another port")
		}
		name, err := mpi.LookupName(world, service)
		if err != nil || world.Rank() == 0 && name != port.Name() {
			t.Errorf("looked up %.30s: %v", name, err)
		}
		step()
		if world.Rank() == 0 {
			if err := port.Unpublish(service); err != nil {
				t.Error(err)
			}
			portError(t, "unpublish twice", port.Unpublish(service), mpi.ErrService)
		}
		step()
		_, err = mpi.LookupName(world, service)
		portError(t, "after", err, mpi.ErrName)
	})
}

// X-DYN-01: Join connects the ends of a socket and leaves it quiescent.
func TestXDYN01_Join(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			mpitest.JobsOn(t, fabric, []int{1, 1}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
				var conn net.Conn
				var err error
				if job == 0 {
					conn, err = l.Accept()
				} else {
					conn, err = net.Dial("tcp", l.Addr().String())
				}
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := conn.Write([]byte{byte(job)}); err != nil { // a byte that Join must not take
					t.Fatal(err)
				}
				b := make([]byte, 1)
				if _, err := conn.Read(b); err != nil || b[0] != byte(1-job) {
					t.Fatal(b, err)
				}
				inter, err := mpi.Join(ctx, world, conn.(*net.TCPConn))
				if err != nil {
					t.Fatal(err)
				}
				if inter.RemoteSize() != 1 || inter.Size() != 1 {
					t.Errorf("%d and %d processes", inter.Size(), inter.RemoteSize())
				}
				if err := inter.Barrier(); err != nil {
					t.Error(err)
				}
				if err := inter.Disconnect(); err != nil {
					t.Error(err)
				}
				if _, err := conn.Write([]byte{byte(10 + job)}); err != nil {
					t.Fatal(err)
				}
				if _, err := conn.Read(b); err != nil || b[0] != byte(11-job) {
					t.Errorf("the socket is not quiescent: %d, %v", b, err)
				}
			})
		})
	}
}

// X-DYN-01: the other end of a socket that is no process of Halo is an error of Join.
func TestXDYN01_JoinWithStrangers(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		for what, answer := range map[string]string{"closed": "", "other text": strings.Repeat("GET / HTTP/1.0\r\n", 40)} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan bool)
			go func() {
				defer close(done)
				if c, err := l.Accept(); err == nil {
					c.Write([]byte(answer))
					if answer != "" {
						c.Read(make([]byte, 1))
					}
					c.Close()
				}
			}()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_, err = mpi.Join(context.Background(), world, conn.(*net.TCPConn))
			portError(t, what, err, mpi.ErrOther, "Join")
			conn.Close()
			l.Close()
			<-done
		}
	})
}

// DYN-02: goroutines have no launcher, so they have no slots.
func TestDYN02_NoSlotsWithoutALauncher(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		_, err := world.FreeSlots(context.Background())
		portError(t, "goroutines", err, mpi.ErrSpawn, "FreeSlots on world", "goroutines")
		var none context.Context
		_, err = world.FreeSlots(none)
		portError(t, "no context", err, mpi.ErrArg, "nil")
	})
}
