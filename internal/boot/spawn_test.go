package boot

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
)

// A request for a job arrives as it was made, and several may be in progress: each gets its own answer,
// whatever the order.
func TestDYN05_RequestsAndAnswersOfSpawns(t *testing.T) {
	type asked struct {
		number uint32
		what   *Spawn
	}
	requests := make(chan asked, 8)
	h := &testHost{size: 1, spawn: func(_ int, number uint32, body []byte) {
		n, what, err := DecodeSpawn(body)
		if err != nil || n != number {
			t.Errorf("request %d: %d, %v", number, n, err)
		}
		requests <- asked{number, what}
	}}
	w := newWorld(t, h)
	want := []*Spawn{
		{Parent: "a port", Timeout: 1500 * time.Millisecond, Apart: true, Blocks: []SpawnBlock{
			{Program: "a", Args: []string{"", "x y"}, Max: 3, Soft: "1:3", Dir: "/", Path: []string{"/bin", "b"}, Env: []string{"A=1"}, Hosts: "h:2", HostFile: "f", Arch: "amd64", Bind: "core"},
			{Program: "b", Max: 1}}},
		{Blocks: []SpawnBlock{{Program: "c", Max: MaxRanks}}},
		{}, // how many slots are free
		{Blocks: []SpawnBlock{{Program: "long", Max: 1, Args: []string{string(make([]byte, 1<<20))}}}},
	}
	answers := []*Spawned{{Job: "x.1", Counts: []int{3, 1}}, {Why: "no room", Listen: "10.0.0.1"}, {Counts: []int{5}}, {Job: "x.2", Counts: []int{1}, Why: "because"}}
	var all sync.WaitGroup
	for i, what := range want {
		all.Go(func() {
			got, err := w.ranks[0].Spawn(t.Context(), what)
			if err != nil || !reflect.DeepEqual(got, answers[i]) {
				t.Errorf("answer to request %d: %+v, %v", i, got, err)
			}
		})
	}
	var list []asked
	for range want {
		list = append(list, <-requests)
	}
	for k := len(list) - 1; k >= 0; k-- {
		at := -1
		for i, what := range want {
			if reflect.DeepEqual(list[k].what, what) {
				at = i
			}
		}
		if at < 0 {
			t.Fatalf("request %+v", list[k].what)
		}
		w.sessions[0].Spawned(list[k].number, answers[at])
	}
	all.Wait()
}

// Who has started a job learns of its end, and of that of the launcher.
func TestDYN05_EndsOfSpawnedJobs(t *testing.T) {
	var w *world
	made := make(chan struct{})
	h := &testHost{size: 1, spawn: func(_ int, number uint32, _ []byte) {
		<-made
		go w.sessions[0].Spawned(number, &Spawned{Job: "x", Counts: []int{1}})
	}}
	w = newWorld(t, h)
	close(made)
	reasons := make(chan string, 1)
	what := &Spawn{Blocks: []SpawnBlock{{Program: "a", Max: 1}}, Ended: func(why string) { reasons <- why }}
	for range 2 {
		if _, err := w.ranks[0].Spawn(t.Context(), what); err != nil {
			t.Fatal(err)
		}
	}
	w.sessions[0].Spawned(1, &Spawned{Why: "it has ended"})
	if why := <-reasons; why != "it has ended" {
		t.Errorf("the first job: %s", why)
	}
	w.sessions[0].Over("the end")
	if why := <-reasons; why != ErrOver.Error() {
		t.Errorf("the second job: %s", why)
	}
}

// Who gives up tells the launcher, and gets the answer to that. The end of the job ends all requests.
func TestDYN05_WhoGivesUpASpawn(t *testing.T) {
	var w *world
	begun, made := make(chan struct{}, 1), make(chan struct{})
	h := &testHost{size: 1, spawn: func(int, uint32, []byte) { begun <- struct{}{} }}
	h.giveUp = func(_ int, number uint32) {
		<-made
		w.sessions[0].Spawned(number, &Spawned{Why: "given up"})
	}
	w = newWorld(t, h)
	close(made)
	what := &Spawn{Blocks: []SpawnBlock{{Program: "a", Max: 1}}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := w.ranks[0].Spawn(ctx, what); !errors.Is(err, context.Canceled) {
		t.Errorf("a spawn that was given up: %v", err)
	}
	go func() {
		<-begun
		w.sessions[0].Over("the end")
	}()
	if _, err := w.ranks[0].Spawn(t.Context(), what); !errors.Is(err, ErrOver) {
		t.Errorf("a spawn at the end of the job: %v", err)
	}
}

// A limit of time below a millisecond is not none.
func TestDYN05_ShortTimeoutsOfSpawns(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{0: 0, 1: time.Millisecond, time.Millisecond: time.Millisecond, 1500 * time.Microsecond: 2 * time.Millisecond} {
		_, s, err := DecodeSpawn((&Spawn{Timeout: limit}).encode(1)[frame.HeadSize:])
		if err != nil || s.Timeout != want {
			t.Errorf("a limit of %v arrives as %v: %v", limit, s.Timeout, err)
		}
	}
}

// Ranks that are goroutines cannot spawn, and say so.
func TestDYN05_WhoCannotSpawn(t *testing.T) {
	if _, err := Memory(1)[0].Spawn(t.Context(), &Spawn{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

func FuzzSpawn(f *testing.F) {
	f.Add((&Spawn{Parent: "p", Blocks: []SpawnBlock{{Program: "a", Max: 2, Args: []string{"b"}}, {Max: 1}}}).encode(7)[frame.HeadSize:])
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		number, s, err := DecodeSpawn(b)
		if err != nil {
			return
		}
		n, again, err := DecodeSpawn(s.encode(number)[frame.HeadSize:])
		if err != nil || n != number || !reflect.DeepEqual(s, again) {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
	})
}
