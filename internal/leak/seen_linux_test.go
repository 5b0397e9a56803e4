package leak

import (
	"net"
	"os"

	"github.com/halo-mpi/halo/internal/sys"
)

// seen are the things that this system shows.
func seen() []thing {
	return []thing{{"file", func() (func(), error) {
		f, err := os.Open("leak_test.go")
		return func() { f.Close() }, err
	}, "leak_test.go"}, {"socket", func() (func(), error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		return func() { l.Close() }, err
	}, "-> socket:"}, {"mapping", func() (func(), error) {
		f, err := sys.Memfd("halo-leak", 1<<12)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		mem, err := sys.Map(f, 1<<12)
		return func() { sys.Unmap(mem) }, err
	}, "1 mappings of shared memory, were 0"}}
}
