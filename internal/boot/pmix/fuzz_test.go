package pmix

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// recorded returns the messages of servers in testdata whose names begin with kind.
func recorded(t testing.TB, kind string) [][]byte {
	names, err := filepath.Glob("testdata/" + kind + "-*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded messages of the kind %s: %v", kind, err)
	}
	var all [][]byte
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func FuzzJob(f *testing.F) {
	for _, b := range recorded(f, "job") {
		f.Add(b, 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, rank int) {
		if rank < 0 {
			return
		}
		r := newReader(b)
		d, err := describe(b, r.string(), rank)
		if err == nil && (rank >= d.size || d.nodes != nil && len(d.nodes) != d.size) {
			t.Fatalf("%x became %+v", b, d)
		}
	})
}

func FuzzValues(f *testing.F) {
	for _, b := range recorded(f, "get") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newReader(b)
		if r.status() == success {
			stored(r, proc{"slurm.pmix.1.0", 3}, "addr")
		}
		stored(newReader(b), proc{"slurm.pmix.1.0", 3}, "addr")
		r = newReader(b)
		v := r.value()
		names(v)
		ranks(v, "a", 10)
		if r.err != nil && len(r.left) > 0 {
			t.Fatalf("%x can be read further after %v", b, r.err)
		}
	})
}

func FuzzMessages(f *testing.F) {
	f.Add(pack(1, 100, []byte("abc")))
	f.Add(pack(1, 100, nil)[:10])
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.NewReader(b)
		for {
			tag, body, err := unpack(in)
			if err != nil {
				return
			}
			if len(body) > len(b) || tag != 0 && len(b) < headSize {
				t.Fatalf("%x became %d %x", b, tag, body)
			}
		}
	})
}
