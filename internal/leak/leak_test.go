package leak

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/sys"
)

// Each kind of thing that is left shows, and shows no more when it is gone.
func TestWhatIsLeftIsTold(t *testing.T) {
	type thing struct {
		name string
		make func() (end func(), err error)
		says string
	}
	things := []thing{{"goroutine", func() (func(), error) {
		stop := make(chan struct{})
		go func() { <-stop }()
		return func() { close(stop) }, nil
	}, "goroutines, were"}}
	if runtime.GOOS == "linux" { // elsewhere the system does not tell of the rest
		things = append(things, thing{"file", func() (func(), error) {
			f, err := os.Open("leak_test.go")
			return func() { f.Close() }, err
		}, "leak_test.go"}, thing{"socket", func() (func(), error) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			return func() { l.Close() }, err
		}, "-> socket:"}, thing{"mapping", func() (func(), error) {
			f, err := sys.Memfd("halo-leak", 1<<12)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			mem, err := sys.Map(f, 1<<12)
			return func() { sys.Unmap(mem) }, err
		}, "1 mappings of shared memory, were 0"})
	}
	for _, x := range things {
		before := Take()
		end, err := x.make()
		if err != nil {
			t.Fatal(err)
		}
		left := before.compare(Take())
		end()
		if !strings.Contains(left, x.says) {
			t.Errorf("a %s that is left is told as %q, want %q", x.name, left, x.says)
		}
		if left := before.Left(); left != "" {
			t.Errorf("a %s that has ended is left: %s", x.name, left)
		}
	}
}
