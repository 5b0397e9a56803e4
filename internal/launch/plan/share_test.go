package plan

import (
	"reflect"
	"slices"
	"testing"
)

func sampleShare() *Share {
	return &Share{ID: "7-abc", Secret: [32]byte{1, 2, 3}, Fabric: "shm", Bind: "core", Hosts: []string{"a", "b"},
		Where: []int32{0, 1, 1, 0, 1}, Self: 1, Apps: []App{
			{N: 2, File: "/bin/p", Argv: []string{"p", "x y", ""}, Dir: "/d", Env: []string{"A=1", "B="}},
			{N: 3, File: "/bin/q", Argv: []string{"q"}}}, Reader: 3}
}

func TestShareArrivesAsItWasSent(t *testing.T) {
	s := sampleShare()
	got, err := DecodeShare(s.Encode())
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v; want %+v", got, err, s)
	}
	if ranks := got.Ranks(); !slices.Equal(ranks, []int{1, 2, 4}) {
		t.Errorf("ranks %v", ranks)
	}
	for rank, want := range []int{0, 0, 1, 1, 1, -1} {
		if app := got.AppOf(rank); app != want {
			t.Errorf("rank %d belongs to app %d, want %d", rank, app, want)
		}
	}
	if a, b := MarkOf("x", 0), MarkOf("x", 1); a == b {
		t.Error("two hosts of a job cannot be told apart")
	}
}

func TestShareThatContradictsItselfIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Share){
		"no hosts":                func(s *Share) { s.Hosts = nil },
		"another host":            func(s *Share) { s.Self = 2 },
		"no host":                 func(s *Share) { s.Self = -1 },
		"a rank on no host":       func(s *Share) { s.Where[2] = 2 },
		"a rank without program":  func(s *Share) { s.Where = append(s.Where, 0) },
		"a program without ranks": func(s *Share) { s.Apps[0].N = 0 },
		"no program":              func(s *Share) { s.Apps[1].File = "" },
		"no arguments":            func(s *Share) { s.Apps[1].Argv = nil },
	} {
		s := sampleShare()
		spoil(s)
		if got, err := DecodeShare(s.Encode()); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzShare(f *testing.F) {
	f.Add(sampleShare().Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeShare(b)
		if err != nil {
			return
		}
		for r := range s.Where {
			if s.AppOf(r) < 0 {
				t.Fatalf("rank %d of %+v has no program", r, s)
			}
		}
		again, err := DecodeShare(s.Encode())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
	})
}

func TestEnvironmentForOtherHosts(t *testing.T) {
	got := PassedOn([]string{"HALO_A=1", "HOME=/x", "HALO_BOOT_FD=3", "HALO_JOB=j", "HALO_RANK=1", "HALO_SIZE=2", "XHALO_=1", "HALO_B=a=b"})
	if want := []string{"HALO_A=1", "HALO_B=a=b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
