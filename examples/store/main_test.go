package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Clients of another job set values and get them, several at the same time, and one of them stops the server.
func TestClientsSetAndGet(t *testing.T) {
	const clients = 3
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			service := "halo-" + strings.ReplaceAll(t.Name(), "/", "-") + fmt.Sprint(t.TempDir())
			mpitest.JobsOn(t, fabric, []int{1, clients}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
				if job == 0 {
					if err := serve(world, service); err != nil {
						t.Error(err)
					}
					return
				}
				if _, err := call(ctx, world, service, []string{"get", "x"}); err == nil || err.Error() != `there is no value of "x"` {
					t.Errorf("get of an unknown key: %v", err)
				}
				if _, err := call(ctx, world, service, []string{"take"}); err == nil || !strings.Contains(err.Error(), "none of: ") {
					t.Errorf("an unknown request: %v", err)
				}
				if err := visit(ctx, world, service); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Ranks of one job are server and clients, too.
func TestRanksServeAndVisit(t *testing.T) {
	for n := 1; n <= 4; n++ {
		service := fmt.Sprint(t.TempDir(), n)
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			if err := demonstrate(t.Context(), world, service); err != nil {
				t.Error(err)
			}
		})
	}
}
