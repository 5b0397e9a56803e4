package mpi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/halo-mpi/halo/mpi"
)

// A server and a client, which are jobs of their own, meet at a port.
func ExampleConnect() {
	names := make(chan string, 1) // the client gets the name of the port by any means
	served := make(chan error)
	go func() {
		served <- mpi.Run(1, func(world *mpi.Comm) error {
			port, err := mpi.OpenPort(world)
			if err != nil {
				return err
			}
			defer port.Close()
			names <- port.Name()
			client, err := port.Accept(context.Background(), world, 0)
			if err != nil {
				return err
			}
			question := make([]int, 1)
			if _, err := mpi.Recv(client, question, 0, 0); err != nil {
				return err
			}
			if err := mpi.Send(client, []int{question[0] * 2}, 0, 0); err != nil {
				return err
			}
			return client.Disconnect()
		})
	}()
	err := mpi.Run(1, func(world *mpi.Comm) error {
		server, err := mpi.Connect(context.Background(), <-names, world, 0)
		if err != nil {
			return err
		}
		answer := make([]int, 1)
		if err := mpi.Send(server, []int{21}, 0, 0); err != nil {
			return err
		}
		if _, err := mpi.Recv(server, answer, 0, 0); err != nil {
			return err
		}
		fmt.Println("the answer is", answer[0])
		return server.Disconnect()
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := <-served; err != nil {
		log.Fatal(err)
	}
	// Output: the answer is 42
}
