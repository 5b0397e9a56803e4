// Command store is a server that keeps values by keys, and its clients: processes of other jobs, which connect to it
// while it runs.
//
//	go build ./examples/store
//	./store serve &
//	./store set greeting hello
//	./store get greeting
//	./store stop
//
// No launcher is needed, and any number of clients may come at the same time. See docs/dynamic.md. Without a command
// rank 0 serves, and the others are its clients:
//
//	go run ./cmd/halo run -n 4 ./examples/store
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// Tags of messages.
const (
	tagRequest = iota // words, with zero bytes between them
	tagValue
	tagFailure
)

func main() {
	service := flag.String("service", "halo-store", "the name under which the server is known")
	wait := flag.Duration("wait", 10*time.Second, "how long a client waits for the server")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), *wait)
		defer cancel()
		switch flag.Arg(0) {
		case "":
			return demonstrate(ctx, world, *service)
		case "serve":
			return serve(world, *service)
		}
		value, err := call(ctx, world, *service, flag.Args())
		if err == nil && value != "" {
			fmt.Println(value)
		}
		return err
	})
}

// demonstrate has rank 0 serve the others.
func demonstrate(ctx context.Context, world *mpi.Comm, service string) error {
	pid := []int{os.Getpid()} // of rank 0: servers of other jobs have other names
	if err := mpi.Bcast(world, pid, 0); err != nil {
		return err
	}
	service = fmt.Sprint(service, " ", pid[0])
	half, err := world.Split(min(world.Rank(), 1), 0)
	if err != nil {
		return err
	}
	if world.Rank() > 0 {
		return visit(ctx, half, service)
	}
	if world.Size() > 1 {
		err = serve(half, service)
	}
	fmt.Printf("%d clients have come and gone\n", world.Size()-1)
	return err
}

// visit has each process of c set a value and get it, and then one of them stop the server.
func visit(ctx context.Context, c *mpi.Comm, service string) error {
	key, value := fmt.Sprint("key of ", c.Rank()), fmt.Sprint("value of ", c.Rank())
	if _, err := call(ctx, c, service, []string{"set", key, value}); err != nil {
		return err
	}
	if got, err := call(ctx, c, service, []string{"get", key}); err != nil || got != value {
		return fmt.Errorf("the %s is %q: %v", key, got, err)
	}
	err := c.Barrier()
	if err == nil && c.Rank() == 0 {
		_, err = call(ctx, c, service, []string{"stop"})
	}
	return err
}

// store is what the server keeps.
type store struct {
	mu     sync.Mutex
	values map[string]string
	stop   func()
}

// serve accepts clients until one of them stops it. A goroutine serves each, so that none waits for another one.
func serve(c *mpi.Comm, service string) error {
	port, err := mpi.OpenPort(c)
	if err != nil {
		return err
	}
	defer port.Close()
	if err := port.Publish(service); err != nil {
		return err
	}
	defer port.Unpublish(service)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s := &store{values: map[string]string{}, stop: stop}
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		client, err := port.Accept(ctx, c.Self(), 0)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		clients.Go(func() {
			if err := s.serve(client); err != nil {
				fmt.Fprintln(os.Stderr, "store: a client:", err) // it may have died; the others go on
			}
		})
	}
}

// serve answers the request of a client.
func (s *store) serve(client *mpi.Comm) error {
	request, _, err := mpi.RecvSlice[byte](client, 0, tagRequest)
	if err == nil {
		answer, tag := s.do(strings.Split(string(request), "\x00"))
		err = mpi.Send(client, []byte(answer), 0, tag)
	}
	return errors.Join(err, client.Disconnect())
}

// do executes a request, and returns the answer and its tag.
func (s *store) do(words []string) (answer string, tag int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case words[0] == "get" && len(words) == 2:
		value, known := s.values[words[1]]
		if !known {
			return fmt.Sprintf("there is no value of %q", words[1]), tagFailure
		}
		return value, tagValue
	case words[0] == "set" && len(words) == 3:
		s.values[words[1]] = words[2]
		return "", tagValue
	case words[0] == "stop" && len(words) == 1:
		s.stop()
		return "", tagValue
	}
	return fmt.Sprintf("%q is none of: serve, set KEY VALUE, get KEY, stop", words), tagFailure
}

// call connects to the server, and returns its answer to a request.
func call(ctx context.Context, c *mpi.Comm, service string, words []string) (string, error) {
	port, err := mpi.LookupName(c, service)
	for ; errors.Is(err, mpi.ErrName) && ctx.Err() == nil; port, err = mpi.LookupName(c, service) {
		time.Sleep(10 * time.Millisecond) // it may be about to start
	}
	if err != nil {
		return "", err
	}
	server, err := mpi.Connect(ctx, port, c.Self(), 0)
	if err != nil {
		return "", err
	}
	var answer []byte
	var st mpi.Status
	err = mpi.Send(server, []byte(strings.Join(words, "\x00")), 0, tagRequest)
	if err == nil {
		answer, st, err = mpi.RecvSlice[byte](server, 0, mpi.AnyTag)
	}
	if err == nil && st.Tag == tagFailure {
		err = errors.New(string(answer))
	}
	return string(answer), errors.Join(err, server.Disconnect())
}
