package main

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// alone is what one rank computes.
func alone(t *testing.T, particles, steps int) (all []particle) {
	t.Helper()
	err := mpi.Run(1, func(world *mpi.Comm) error {
		s := newStrip(world, particles)
		for range steps {
			s.fly()
		}
		all = s.particles
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestParticlesArriveAsTheyAre(t *testing.T) {
	const particles, steps = 500, 60
	want := alone(t, particles, steps)
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			s := newStrip(world, particles)
			before, err := s.total()
			if err != nil {
				t.Fatal(err)
			}
			moved := 0
			for range steps {
				s.fly()
				left, err := s.migrate()
				if err != nil {
					t.Fatal(err)
				}
				moved += left
			}
			after, err := s.total()
			if err != nil {
				t.Fatal(err)
			}
			if err := conserved(before, after, particles); err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(s.particles, func(a, b particle) int { return cmp.Compare(a.ID, b.ID) })
			var mine []particle
			for _, p := range want {
				if s.owner(p) == world.Rank() {
					mine = append(mine, p)
				}
			}
			if !slices.Equal(s.particles, mine) {
				t.Errorf("rank %d of %d has %d particles, which are not the %d it should have", world.Rank(), n, len(s.particles), len(mine))
			}
			if n > 1 && moved == 0 {
				t.Errorf("nothing has left rank %d of %d", world.Rank(), n)
			}
		})
	}
}

func TestWhatIsLostIsFound(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		s := newStrip(world, 50)
		before, err := s.total()
		if err != nil {
			t.Fatal(err)
		}
		if world.Rank() == 1 {
			s.particles[3].VY++
		}
		after, err := s.total()
		if err != nil {
			t.Fatal(err)
		}
		if err := conserved(before, after, 50); err == nil || !strings.Contains(err.Error(), "momentum") {
			t.Errorf("momentum has changed: %v", err)
		}
		s.particles = s.particles[1:]
		after, err = s.total()
		if err != nil {
			t.Fatal(err)
		}
		if err := conserved(before, after, 50); err == nil || !strings.Contains(err.Error(), "48 of 50 are left") {
			t.Errorf("two particles are lost: %v", err)
		}
	})
}

func TestRunReportsOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		var out bytes.Buffer
		if err := run(world, -1, 2, &out); (err != nil) != (world.Rank() == 0) {
			t.Errorf("rank %d: %v", world.Rank(), err)
		}
		for _, particles := range []int{0, 2, 300} { // ranks without any among them
			out.Reset()
			err := run(world, particles, 5, &out)
			if err != nil || strings.Contains(out.String(), "as before, checksum ") != (world.Rank() == 0) {
				t.Errorf("rank %d: %v, %q", world.Rank(), err, &out)
			}
		}
	})
}
