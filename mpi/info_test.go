package mpi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A key has one value, and keys are case-sensitive.
func TestINF01_OneValuePerKey(t *testing.T) {
	i := mpi.NewInfo()
	for _, kv := range [][2]string{{"k", "1"}, {"k", "2"}, {"K", "3"}, {"empty", ""}} {
		ok(t, i.Set(kv[0], kv[1]))
	}
	for key, want := range map[string]string{"k": "2", "K": "3", "empty": ""} {
		if v, found := i.Get(key); !found || v != want {
			t.Errorf("%s is %q (%v), want %q", key, v, found, want)
		}
	}
	if v, found := i.Get("x"); found || v != "" || i.NKeys() != 3 {
		t.Errorf("%d keys, x is %q", i.NKeys(), v)
	}
	d := i.Dup()
	ok(t, i.Delete("k"))
	wantClass(t, i.Delete("k"), mpi.ErrInfoNoKey)
	if _, found := i.Get("k"); found || i.NKeys() != 2 {
		t.Error("a deleted key is there")
	}
	if v, found := d.Get("k"); !found || v != "2" || d.NKeys() != 3 {
		t.Error("a duplicate has changed with the original")
	}
	for n, want := range []string{"K", "empty"} {
		if k, err := i.NthKey(n); err != nil || k != want {
			t.Errorf("key %d is %q (%v), want %q", n, k, err, want)
		}
	}
	for _, n := range []int{-1, 2} {
		wantClass(t, second(i.NthKey(n)), mpi.ErrArg)
	}
}

// Any pairs can be set and read back.
func TestINF02_ArbitraryPairs(t *testing.T) {
	i := mpi.NewInfo()
	want := map[string]string{}
	for n := range 1000 {
		k, v := string(payload(1+n%200, uint64(n)))+fmt.Sprint(n), string(payload(n%1000, uint64(2*n)))
		want[k] = v
		ok(t, i.Set(k, v))
	}
	if i.NKeys() != len(want) {
		t.Fatalf("%d keys, want %d", i.NKeys(), len(want))
	}
	for n := range i.NKeys() {
		k, err := i.NthKey(n)
		ok(t, err)
		if v, found := i.Get(k); !found || v != want[k] {
			t.Fatalf("key %d is %q, want %q", n, v, want[k])
		}
		delete(want, k)
	}
	if len(want) != 0 {
		t.Errorf("%d keys did not come", len(want))
	}
}

// The longest key and value are accepted, longer ones are errors.
func TestINF05_Limits(t *testing.T) {
	i := mpi.NewInfo()
	key, value := strings.Repeat("k", mpi.MaxInfoKey), strings.Repeat("v", mpi.MaxInfoVal)
	ok(t, i.Set(key, value))
	if v, found := i.Get(key); !found || v != value || mpi.MaxInfoKey < 32 || mpi.MaxInfoKey > 255 {
		t.Error("the longest key or value is lost")
	}
	wantClass(t, i.Set(key+"k", "v"), mpi.ErrInfoKey)
	wantClass(t, i.Set("", "v"), mpi.ErrInfoKey)
	wantClass(t, i.Set("k", value+"v"), mpi.ErrInfoValue)
	if i.NKeys() != 1 {
		t.Errorf("%d keys after refusals", i.NKeys())
	}
	var none *mpi.Info
	wantClass(t, none.Set("k", "v"), mpi.ErrInfo)
	wantClass(t, none.Delete("k"), mpi.ErrInfo)
	wantClass(t, second(none.NthKey(0)), mpi.ErrArg)
	if _, found := none.Get("k"); found || none.NKeys() != 0 || none.Dup().NKeys() != 0 {
		t.Error("the nil info has a key")
	}
}

// InfoEnv contains what is known of the start of the process.
func TestXINF01_Env(t *testing.T) {
	i := mpi.InfoEnv()
	dir, err := os.Getwd()
	ok(t, err)
	for key, want := range map[string]string{"command": os.Args[0], "argv": strings.Join(os.Args[1:], " "), "wdir": dir,
		"host": mpi.GetProcessorName(), "thread_level": "MPI_THREAD_MULTIPLE"} {
		if v, _ := i.Get(key); v != want {
			t.Errorf("%s is %q, want %q", key, v, want)
		}
	}
	ok(t, i.Set("command", "mine"))
	if v, _ := mpi.InfoEnv().Get("command"); v != os.Args[0] {
		t.Error("changing one answer changes the next")
	}
}

// Hints are read, used and returned; other keys are ignored (INF-03), and the Info may be
// changed at once (INF-07).
func TestXP2P05_Hints(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		info := mpi.NewInfo()
		ok(t, info.Set("mpi_assert_no_any_tag", "true"))
		ok(t, info.Set("mpi_assert_no_any_source", "true"))
		ok(t, info.Set("mpi_assert_exact_length", "TRUE")) // INF-08, E2-19: not a boolean
		ok(t, info.Set("zzz", "true"))
		c, err := world.Dup(info)
		ok(t, err)
		i, r := world.Idup(info)
		ok(t, info.Set("mpi_assert_no_any_tag", "false"))
		ok(t, info.Set("mpi_assert_no_any_source", "false"))
		_, err = r.Wait()
		ok(t, err)
		d, err := c.Dup() // MPI 4: duplicates do not inherit hints
		ok(t, err)
		hints := func(c *mpi.Comm) string {
			info, err := c.Info()
			ok(t, err)
			s := ""
			for n := range info.NKeys() {
				k, err := info.NthKey(n)
				ok(t, err)
				v, _ := info.Get(k)
				s += strings.TrimPrefix(k, "mpi_assert_") + "=" + v + " "
			}
			return s
		}
		const none = "no_any_tag=false no_any_source=false exact_length=false allow_overtaking=false strict_persistent_collective_ordering=false mpi_memory_alloc_kinds=mpi,system "
		const both = "no_any_tag=true no_any_source=true exact_length=false allow_overtaking=false strict_persistent_collective_ordering=false mpi_memory_alloc_kinds=mpi,system "
		for name, k := range map[string]struct {
			c    *mpi.Comm
			want string
		}{"world": {world, none}, "dup with info": {c, both}, "idup with info": {i, both}, "dup": {d, none}} {
			if got := hints(k.c); got != k.want {
				t.Errorf("%s: hints %q, want %q", name, got, k.want)
			}
		}
		peer := 1 - c.Rank()
		for _, c := range []*mpi.Comm{c, i} {
			wantClass(t, second(mpi.Recv(c, []byte{0}, mpi.AnySource, 1)), mpi.ErrRank)
			wantClass(t, second(mpi.Recv(c, []byte{0}, peer, mpi.AnyTag)), mpi.ErrTag)
			wantClass(t, third(c.Iprobe(mpi.AnySource, 0)), mpi.ErrRank)
			_, err = mpi.Recv(c, []byte{0}, mpi.ProcNull, mpi.AnyTag)
			ok(t, err)
			_, err = mpi.Sendrecv(c, []byte{1}, peer, 1, []byte{0}, peer, 1)
			ok(t, err)
		}
		ok(t, c.SetInfo(info)) // changes the hints that it contains
		ok(t, c.SetInfo(nil, (*mpi.Info)(nil)))
		if got := hints(c); got != none {
			t.Errorf("hints %q, want %q", got, none)
		}
		_, err = mpi.Sendrecv(c, []byte{1}, peer, 1, []byte{0}, mpi.AnySource, mpi.AnyTag)
		ok(t, err)
		for _, d := range []*mpi.Comm{c, i, d} {
			ok(t, d.Free())
		}
	})
}
