package pmix

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
)

// both runs a test with each serializer.
func both(t *testing.T, test func(t *testing.T, compact bool)) {
	t.Run("v21", func(t *testing.T) { test(t, false) })
	t.Run("v41", func(t *testing.T) { test(t, true) })
}

func TestXLCH01_ARankLearnsItsPlace(t *testing.T) { both(t, ranksLearn) }

func ranksLearn(t *testing.T, compact bool) {
	s := newServer(t, 3)
	s.compact = compact
	for rank, c := range s.clients(t) {
		want := engine.Identity{Job: "test.1", Rank: rank, Size: 3, AppNum: rank, Universe: 8, Engine: "PMIx server (PMIx 4.2.2)"}
		if !reflect.DeepEqual(c.Identity(), want) {
			t.Errorf("%+v, want %+v", c.Identity(), want)
		}
		if nodes, err := c.Nodes(); err != nil || !slices.Equal(nodes, []int{0, 0, 1}) {
			t.Errorf("nodes %v, %v", nodes, err)
		}
	}
}

func TestXLCH01_AFenceShowsValuesOfAllRanks(t *testing.T) { both(t, fenceShows) }

func fenceShows(t *testing.T, compact bool) {
	s := newServer(t, 3)
	s.compact = compact
	all := s.clients(t)
	if _, ok, err := all[0].Get("addr", 1); ok || err != nil {
		t.Errorf("a value before it was put: %v, %v", ok, err)
	}
	var group sync.WaitGroup
	for rank, c := range all {
		group.Go(func() {
			for _, text := range []string{"old", fmt.Sprintf("127.0.0.1:%d", rank)} {
				if err := c.Put("addr", text); err != nil {
					t.Error(err)
				}
			}
			if err := c.Fence(); err != nil {
				t.Error(err)
			}
			for peer := range all {
				value, ok, err := c.Get("addr", peer)
				if want := fmt.Sprintf("127.0.0.1:%d", peer); value != want || !ok || err != nil {
					t.Errorf("value of %d is %q, %v, %v", peer, value, ok, err)
				}
			}
			if _, ok, err := c.Get("other", 0); ok || err != nil {
				t.Errorf("a value that nobody has put: %v, %v", ok, err)
			}
			if err := c.Finalize(); err != nil {
				t.Error(err)
			}
			<-c.Lost()
			if err := c.Fence(); err == nil || !strings.Contains(err.Error(), "Finalize") {
				t.Errorf("fence after Finalize: %v", err)
			}
		})
	}
	group.Wait()
}

func TestXLCH01_NobodyLeavesAFenceBeforeTheLastEnters(t *testing.T) {
	s := newServer(t, 2)
	all := s.clients(t)
	left := make(chan error, 1)
	go func() { left <- all[0].Fence() }()
	select {
	case <-s.entered: // the server reports only fences that collect values
	case err := <-left:
		t.Fatalf("rank 0 leaves the fence alone: %v", err)
	}
	if err := all[1].Fence(); err != nil {
		t.Error(err)
	}
	if err := <-left; err != nil {
		t.Error(err)
	}
}

func TestXSES01_LookupWaitsForPublish(t *testing.T) {
	for _, before := range []bool{false, true} {
		s := newServer(t, 2)
		s.compact = before
		all := s.clients(t)
		if before { // the server has another value: it answers at once, and the client asks again
			if err := all[0].Put("other", "x"); err != nil {
				t.Fatal(err)
			}
		}
		found := make(chan string)
		go func() {
			value, err := all[1].Lookup(t.Context(), "session", 0)
			if err != nil {
				t.Error(err)
			}
			found <- value
		}()
		for s.asked(cmdGet) == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := all[1].Put("while", "waiting"); err != nil { // requests do not wait for the look-up
			t.Error(err)
		}
		if err := all[0].Publish("session", "10.0.0.1:99"); err != nil {
			t.Fatal(err)
		}
		if value := <-found; value != "10.0.0.1:99" {
			t.Errorf("%q", value)
		}
	}
}

func TestXSES01_LookupEndsWithItsContext(t *testing.T) {
	s := newServer(t, 2)
	c := s.clients(t)[0]
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := c.Lookup(ctx, "nobody", 1)
		left <- err
	}()
	for s.asked(cmdGet) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "lookup nobody of rank 1") {
		t.Error(err)
	}
	if len(c.pending) != 0 {
		t.Errorf("requests %v are left", c.pending)
	}
	if err := c.Publish("a", "b"); err != nil {
		t.Errorf("the connection does not work after a Lookup that was cancelled: %v", err)
	}
}

func TestXSES01_ProcessSetsOfTheEngine(t *testing.T) { both(t, processSets) }

func processSets(t *testing.T, compact bool) {
	s := newServer(t, 4)
	s.compact = compact
	c := s.clients(t)[2]
	if sets, err := c.Psets(); sets != nil || err != nil {
		t.Errorf("an engine without process sets has %v, %v", sets, err)
	}
	s.sets = map[string][]proc{"a": {{"test.1", 3}, {"test.1", 1}, {"other", 0}, {"test.1", 9}}, "b": {{"test.1", wildcard}}, "empty": {{"other", 1}}}
	sets, err := c.Psets()
	want := []engine.Pset{{Name: "a", Ranks: []int{1, 3}}, {Name: "b", Ranks: []int{0, 1, 2, 3}}}
	if err != nil || !reflect.DeepEqual(sets, want) {
		t.Errorf("%v, %v", sets, err)
	}
}

func TestXLCH01_AbortDoesNotWaitForAFence(t *testing.T) { both(t, abortPasses) }

func abortPasses(t *testing.T, compact bool) {
	s := newServer(t, 2)
	s.compact = compact
	c := s.clients(t)[0]
	left := make(chan error, 1)
	go func() { left <- c.Fence() }()
	<-s.entered
	if err := c.Abort(7, "a test"); err != nil {
		t.Error(err)
	}
	if got := <-s.aborted; got != "7 a test 0" {
		t.Errorf("%q", got)
	}
	if err := <-left; !errors.Is(err, engine.ErrLost) || !strings.Contains(err.Error(), "fence of rank 0") {
		t.Error(err)
	}
	<-c.Lost()
}

func TestXLCH01_ValuesThatOtherEnginesDoNotStoreAreNotSent(t *testing.T) {
	s := newServer(t, 1)
	c := s.clients(t)[0]
	for _, err := range []error{
		c.Put("a", "b;c"), c.Put("a;", "b"), c.Put("a", ""), c.Put("a", strings.Repeat("v", engine.MaxValue+1)),
		c.Put("pmix.key", "v"), c.Publish("a b", "c"),
		func() error { _, _, err := c.Get("", 0); return err }(),
		func() error { _, err := c.Lookup(t.Context(), ";", 0); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "PMIx 4.2.2") || !strings.Contains(err.Error(), "rank 0") {
			t.Errorf("error %v", err)
		}
	}
	if n := len(s.commands); n != 1 {
		t.Errorf("the server got %d requests, want that for the job only", n)
	}
}

func TestXLCH01_ARequestThatTheServerRefusesNamesItself(t *testing.T) {
	s := newServer(t, 2)
	s.instead = func(command byte) ([]byte, bool) {
		if command == cmdJob || command == cmdFinalize {
			return nil, false
		}
		var w buffer
		w.status(noPermissions)
		return w.b, false
	}
	c := s.clients(t)[1]
	_, _, get := c.Get("addr", 0)
	for _, e := range []struct {
		err  error
		want string
	}{
		{c.Put("addr", "x"), "put addr of rank 1"}, {c.Fence(), "fence of rank 1"}, {get, "get addr of rank 0 of rank 1"}, {c.Publish("a", "b"), "publish a of rank 1"},
	} {
		if e.err == nil || !strings.Contains(e.err.Error(), "PMIx server (PMIx 4.2.2): "+e.want+": the server answers with status -23 (no permission)") {
			t.Error(e.err)
		}
	}
	if err := c.Finalize(); err != nil {
		t.Errorf("a request that was refused ends the connection: %v", err)
	}
}

func TestXLCH01_TheEndOfTheServerEndsEveryRequest(t *testing.T) {
	for name, request := range map[byte]func(*Client) error{
		cmdJob:      nil,
		cmdCommit:   func(c *Client) error { return c.Put("a", "b") },
		cmdFence:    (*Client).Fence,
		cmdGet:      func(c *Client) error { _, err := c.Lookup(context.Background(), "a", 0); return err },
		cmdQuery:    func(c *Client) error { _, err := c.Psets(); return err },
		cmdFinalize: (*Client).Finalize,
	} {
		for _, b := range []string{"", "abc", string(pack(1, firstTag, make([]byte, 100))[:50])} {
			s := newServer(t, 1)
			s.instead = raw(name, []byte(b))
			c, err := s.connect(t, 0)
			if request != nil {
				if err != nil {
					t.Fatal(err)
				}
				err = request(c)
				<-c.Lost()
				if c.Put("a", "b") == nil {
					t.Errorf("a request after the end at %d has no error", name)
				}
			}
			if !errors.Is(err, engine.ErrLost) || !strings.Contains(err.Error(), "of rank 0") {
				t.Errorf("end at %d after %q: %v", name, b, err)
			}
		}
	}
}

func TestXLCH01_AHandshakeThatFailsIsExplained(t *testing.T) {
	for _, c := range []struct {
		answer []byte
		want   string
	}{
		{[]byte{}, "srun --mpi=pmi2"},
		{[]byte{0, 0}, "srun --mpi=pmi2"},
		{[]byte{0xff, 0xff, 0xff, 0xf4}, "status -12 (credentials refused)"},
		{[]byte{0, 0, 0, 0, 1}, "the server has closed"},
	} {
		s := newServer(t, 1)
		s.greet = c.answer
		_, err := s.connect(t, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "handshake of rank 0") {
			t.Errorf("after %x: %v, want %q", c.answer, err, c.want)
		}
	}
}

func TestXLCH01_AMessageThatIsTooLongEndsTheConnection(t *testing.T) {
	s := newServer(t, 1)
	head := pack(0, firstTag, nil)
	head[8] = 0xff
	s.instead = raw(cmdFence, head)
	c := s.clients(t)[0]
	if err := c.Fence(); err == nil || !strings.Contains(err.Error(), "the limit is") {
		t.Error(err)
	}
}

func TestXLCH01_AnswersThatContradictTheProtocolAreErrors(t *testing.T) {
	for _, answer := range [][]byte{{}, {0, 0, 0}, {0, 0, 0, 2, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0}} {
		s := newServer(t, 1)
		s.instead = func(command byte) ([]byte, bool) {
			if command == cmdJob {
				return nil, false
			}
			return answer, false
		}
		c := s.clients(t)[0]
		_, _, get := c.Get("a", 0)
		_, psets := c.Psets()
		for i, err := range []error{c.Put("a", "b"), c.Fence(), get, psets} {
			if err == nil {
				t.Errorf("request %d accepts the answer %x", i, answer)
			}
		}
	}
}
