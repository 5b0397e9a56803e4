package pmi2

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

func TestXLCH01_ARankLearnsItsPlace(t *testing.T) {
	for _, left := range []bool{false, true} {
		s := newServer(t, 5)
		s.left = left
		s.mapping = "(vector,(0,2,2),(0,1,1))"
		for rank, c := range s.clients(t) {
			want := engine.Identity{Job: "6.0", Rank: rank, Size: 5, AppNum: -1, Universe: 5, Engine: "Slurm (PMI 2.0)"}
			if !reflect.DeepEqual(c.Identity(), want) {
				t.Errorf("%+v, want %+v", c.Identity(), want)
			}
			nodes, err := c.Nodes()
			if err != nil || !slices.Equal(nodes, []int{0, 0, 1, 1, 0}) {
				t.Errorf("nodes %v, %v", nodes, err)
			}
		}
	}
}

func TestXLCH01_WhatTheServerDoesNotSayIsUnknown(t *testing.T) {
	s := newServer(t, 1)
	s.mapping, s.universe, s.appnum = "", "", "3"
	c := s.clients(t)[0]
	if id := c.Identity(); id.Universe != -1 || id.AppNum != 3 {
		t.Errorf("%+v", id)
	}
	if nodes, err := c.Nodes(); nodes != nil || err != nil {
		t.Errorf("nodes %v, %v", nodes, err)
	}
}

func TestXLCH01_ARequeuedJobHasAnotherName(t *testing.T) {
	s := newServer(t, 1)
	c, err := s.connect(t, 0, "SLURM_RESTART_COUNT", "2")
	if err != nil {
		t.Fatal(err)
	}
	if id := c.Identity(); id.Job != "6.0-2" {
		t.Errorf("job %q", id.Job)
	}
}

func TestXLCH01_AFenceShowsValuesOfAllRanks(t *testing.T) {
	s := newServer(t, 4)
	all := s.clients(t)
	if _, ok, err := all[0].Get("addr", 1); ok || err != nil {
		t.Errorf("a value before it was put: %v, %v", ok, err)
	}
	var group sync.WaitGroup
	for rank, c := range all {
		group.Go(func() {
			if err := c.Put("addr", fmt.Sprintf("127.0.0.1:%d", rank)); err != nil {
				t.Error(err)
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
			if err := c.Finalize(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestXSES01_LookupWaitsForPublish(t *testing.T) {
	s := newServer(t, 2)
	all := s.clients(t)
	found := make(chan string)
	go func() {
		value, err := all[1].Lookup(t.Context(), "leader", 0)
		if err != nil {
			t.Error(err)
		}
		found <- value
	}()
	for { // until the server has answered that there is no such name
		s.mu.Lock()
		asked := len(s.requests)
		s.mu.Unlock()
		if asked > 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := all[0].Publish("leader", "10.0.0.1:99"); err != nil {
		t.Fatal(err)
	}
	if value := <-found; value != "10.0.0.1:99" {
		t.Errorf("%q", value)
	}
}

func TestXSES01_LookupEndsWithItsContext(t *testing.T) {
	s := newServer(t, 1)
	c := s.clients(t)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Lookup(ctx, "nobody", 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := c.Publish("a", "b"); err != nil {
		t.Errorf("the connection does not work after a Lookup that was cancelled: %v", err)
	}
}

func TestXLCH01_AbortDoesNotWaitForAFence(t *testing.T) {
	s := newServer(t, 2)
	c := s.clients(t)[0]
	left := make(chan error)
	go func() { left <- c.Fence() }()
	<-s.entered
	if err := c.Abort(7, "a;b=c\n"+strings.Repeat("x", 500)); err != nil {
		t.Fatal(err)
	}
	msg, _ := (<-s.aborted).get("msg")
	if want := "code 7: a.b.c." + strings.Repeat("x", maxReason-len("code 7: a.b.c.")); msg != want {
		t.Errorf("reason %q", msg)
	}
	c.conn.Close()
	if err := <-left; !errors.Is(err, engine.ErrLost) {
		t.Error(err)
	}
	<-c.Lost()
}

func TestXLCH01_WhatTheServerDoesNotSurviveIsNotSent(t *testing.T) {
	s := newServer(t, 1)
	c := s.clients(t)[0]
	long := strings.Repeat("k", engine.MaxKey-1)
	for _, err := range []error{
		c.Put("a", "b;c"), c.Put("a;", "b"), c.Put("a", ""), c.Put("a", strings.Repeat("v", engine.MaxValue+1)), c.Put(long, "v"),
		c.Publish("a b", "c"), c.Publish("a", "c\n"), c.Publish("PMI_process_mapping", "c"),
		func() error { _, _, err := c.Get(long, 0); return err }(),
		func() error { _, err := c.Lookup(t.Context(), ";", 0); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "Slurm (PMI 2.0)") || !strings.Contains(err.Error(), "rank 0") {
			t.Errorf("error %v", err)
		}
	}
	if len(s.requests) != 0 {
		t.Errorf("the server got %v", s.requests)
	}
	if err := c.Put(long[1:], strings.Repeat("v", engine.MaxValue)); err != nil {
		t.Errorf("the longest key and value: %v", err)
	}
}

func TestXLCH01_ARequestThatTheServerRefusesNamesItself(t *testing.T) {
	s := newServer(t, 2)
	s.instead = func(m message) ([]byte, bool) {
		if m.cmd() == "kvs-put" || m.cmd() == "kvs-fence" {
			return newMessage(m.cmd()+"-response", "rc", "14", "errmsg", "no memory").encode(), false
		}
		return nil, false
	}
	c := s.clients(t)[1]
	err := c.Put("addr", "x")
	if err == nil || err.Error() != "pmi2: Slurm (PMI 2.0): kvs-put addr-1 of rank 1: the server answers rc=14 no memory" {
		t.Error(err)
	}
	if err := c.Fence(); err == nil || !strings.Contains(err.Error(), "kvs-fence of rank 1") {
		t.Error(err)
	}
	if err := c.Publish("a", "b"); err != nil {
		t.Errorf("a request that was refused ends the connection: %v", err)
	}
}

func TestXLCH01_AnswersThatContradictTheProtocolAreErrors(t *testing.T) {
	full := func(rank, size string) string {
		return string(newMessage("fullinit-response", "rc", "0", "rank", rank, "size", size).encode())
	}
	for _, c := range []struct{ cmd, answer, want string }{
		{"init", "nonsense\n", "PMI_FD"},
		{"init", "cmd=a\n", "another program"},
		{"init", strings.Repeat("x", 10000), "PMI_FD"},
		{"init", "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1\n", "another program"},
		{"init", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n", "another program"},
		{"fullinit", "abcdef", "length"},
		{"fullinit", "-00001", "length"},
		{"fullinit", "      ", "length"},
		{"fullinit", "     0", "begin with a command"},
		{"fullinit", "     8cmd=a;b;", "no key=value"},
		{"fullinit", "     5cmd=a", "semicolon"},
		{"fullinit", "     4a=b;", "begin with a command"},
		{"fullinit", "    13cmd=kvs-get;a", "no key=value"},
		{"fullinit", string(newMessage("kvs-get-response").encode()), "not fullinit-response"},
		{"fullinit", string(newMessage("fullinit-response").encode()), "rc="},
		{"fullinit", full("0", "0"), "names no rank"},
		{"fullinit", full("-1", "2"), "names no rank"},
		{"fullinit", full("2", "2"), "names no rank"},
		{"fullinit", full("0", "999999999"), "names no rank"},
		{"fullinit", full("0", "99999999999999999999"), "names no rank"},
		{"job-getid", string(newMessage("job-getid-response", "rc", "0").encode()), "names no job"},
	} {
		s := newServer(t, 1)
		s.instead = func(m message) ([]byte, bool) {
			if m.cmd() == c.cmd {
				return []byte(c.answer), false
			}
			return nil, false
		}
		_, err := s.connect(t, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.cmd+" of rank 0") {
			t.Errorf("after %q: error %v, want %q", c.answer, err, c.want)
		}
	}
}

func TestXLCH01_ANodeListThatContradictsItselfIsAnError(t *testing.T) {
	for _, mapping := range []string{"(vector", "(vector,(0,0,1))", "(vector,(0,1,99999999))"} {
		s := newServer(t, 2)
		s.mapping = mapping
		c := s.clients(t)[0]
		if nodes, err := c.Nodes(); err == nil || nodes != nil || !strings.Contains(err.Error(), "info-getjobattr of rank 0") {
			t.Errorf("%s: %v, %v", mapping, nodes, err)
		}
	}
}

func TestXLCH01_TheEndOfTheServerEndsEveryRequest(t *testing.T) {
	requests := func(c *Client) error {
		for _, request := range []func() error{
			func() error { return c.Put("a", "b") },
			c.Fence,
			func() error { _, _, err := c.Get("a", 0); return err },
			func() error { return c.Publish("a", "b") },
			func() error { _, err := c.Lookup(t.Context(), "a", 0); return err },
			c.Finalize,
		} {
			if err := request(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, last := range []string{"init", "fullinit", "job-getid", "info-getjobattr", "kvs-put", "kvs-fence", "kvs-get", "name-publish", "name-lookup", "finalize"} {
		for _, answer := range []string{"", "12", "    99cmd=a"} {
			s := newServer(t, 1)
			s.instead = func(m message) ([]byte, bool) {
				if m.cmd() == last {
					return []byte(answer), true
				}
				return nil, false
			}
			c, err := s.connect(t, 0)
			if err == nil {
				err = requests(c)
			}
			if !errors.Is(err, engine.ErrLost) || !strings.Contains(err.Error(), "Slurm (PMI 2.0): "+last+" ") {
				t.Errorf("end at %s after %q: %v", last, answer, err)
			}
			if c != nil {
				<-c.Lost()
				if c.Put("a", "b") == nil {
					t.Errorf("a request after the end at %s has no error", last)
				}
			}
		}
	}
}

func TestXLCH01_ARequestAfterFinalizeIsAnError(t *testing.T) {
	s := newServer(t, 1)
	c := s.clients(t)[0]
	if err := c.Finalize(); err != nil {
		t.Fatal(err)
	}
	if err := c.Fence(); err == nil || !strings.Contains(err.Error(), "Finalize") {
		t.Error(err)
	}
}
