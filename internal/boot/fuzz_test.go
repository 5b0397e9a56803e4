package boot

import (
	"bytes"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/frame"
)

func FuzzFrames(f *testing.F) {
	f.Add(greeting{ownVersions(), "v9", false, true}.encode())
	f.Add(frame.New(kindSegment).U32(0).Bytes())
	f.Add([]byte{0xff, 0xff, 0xff, 0x7f, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		for {
			k, body, n, err := frame.Cut(b, maxRequest)
			if err != nil || n == 0 {
				return
			}
			if n > len(b) || len(body) > maxRequest || n != len(body)+frame.HeadSize {
				t.Fatalf("frame of %d bytes with a body of %d out of %d", n, len(body), len(b))
			}
			if again := frame.New(k).Raw(body).Bytes(); !bytes.Equal(again, b[:n]) {
				t.Fatalf("%x encodes to %x", b[:n], again)
			}
			if k == kindHello {
				decodeHello(body)
			}
			b = b[n:]
		}
	})
}

func FuzzJob(f *testing.F) {
	f.Add((&Job{ID: "a", Size: 3, Rank: 1, Hosts: []string{"h"}, Host: []int32{0, 0, 0},
		Fabric: "shm", Listen: Loopback, Cores: 2}).encode()[frame.HeadSize:])
	f.Add((&Job{ID: "b", Size: 9, Rank: 8, Hosts: []string{"a", "b"},
		Host: []int32{0, 1, 0, 0, 1, 1, 1, 1, 0}, Fabric: "tcp", Listen: "fd00::1"}).encode()[frame.HeadSize:])
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := decodeJob(b)
		if err != nil {
			return
		}
		if j.Rank >= j.Size || len(j.Host) != j.Size || !slices.Contains(j.Local, j.Rank) {
			t.Fatalf("%+v", j)
		}
		k, err := decodeJob(j.encode()[frame.HeadSize:])
		if err != nil || k.Rank != j.Rank || k.Size != j.Size || !slices.Equal(k.Local, j.Local) || !slices.Equal(k.Hosts, j.Hosts) {
			t.Fatalf("%+v became %+v, %v", j, k, err)
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add(EncodeTable([][]byte{{1}, nil, {2, 3}})[frame.HeadSize:], 3)
	f.Add([]byte{0xff, 0xff}, 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > 100 {
			return
		}
		values, err := decodeTable(b, n)
		if err == nil && !bytes.Equal(EncodeTable(values)[frame.HeadSize:], b) {
			t.Fatalf("%x became %x", b, values)
		}
	})
}
