package pmix

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/leak"
)

// recordTo is the environment variable with a folder for answers of a server. The files in testdata
// were made with it: go test -c, then mpirun -np 2 ./pmix.test, with the name of the server behind
// the kind of the answer, and without what hwloc says of the machine.
const recordTo = "HALO_PMIX_RECORD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(recordTo); dir != "" {
		if err := record(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leak.Main(m)
}

// withoutMachine removes what hwloc says of the machine from the description of a job.
func withoutMachine(answer []byte) (b []byte) {
	r := newReader(answer)
	r.string()
	b = append(b, answer[:len(answer)-len(r.left)]...)
	for r.more() {
		from := r.left
		if k := r.kval(); k.key != "pmix.ltopo" && !strings.HasPrefix(k.key, "pmix.hwlocxml") {
			b = append(b, from[:len(from)-len(r.left)]...)
		}
	}
	return b
}

// record is a process of a job that stores the answers to its requests.
func record(dir string) error {
	p, err := ReadPlace(os.LookupEnv)
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", address.Join(p.IP.String(), p.Port))
	if err != nil {
		return err
	}
	c, err := Open(conn, p)
	if err != nil {
		return err
	}
	if err := c.Put("addr", fmt.Sprintf("127.0.0.1:%d", 1000+p.rank)); err != nil {
		return err
	}
	if err := c.Fence(); err != nil {
		return err
	}
	job, get := c.message(), c.message()
	job.command(cmdJob)
	get.command(cmdGet)
	get.string(p.nspace)
	get.rank(1)
	get.infos(kval{keyImmediate, value{kind: typeBool, number: 1}})
	get.string("addr")
	for kind, m := range map[string]buffer{"job": job, "get": get} {
		answer, err := c.request(context.Background(), m)
		if err != nil {
			return err
		}
		if kind == "job" {
			answer = withoutMachine(answer)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d", kind, p.rank)), answer, 0o644); err != nil {
			return err
		}
	}
	return c.Finalize()
}
