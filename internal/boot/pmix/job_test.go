package pmix

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestXLCH01_NodesFromTheArraysOfNodes: the form of the servers that list the ranks of each node.
func TestXLCH01_NodesFromTheArraysOfNodes(t *testing.T) {
	text := func(s string) value { return value{kind: typeString, text: s} }
	node := func(peers string) kval {
		return kval{keyNode, value{kind: typeDataArray, infos: []kval{{keyHost, text("h")}, {keyPeers, text(peers)}}}}
	}
	hosts := []string{"", "", "", ""}
	for _, c := range []struct {
		arrays []kval
		hosts  []string
		want   []int
		err    string
	}{
		{arrays: []kval{node("1,3"), node("0,2")}, want: []int{0, 1, 0, 1}},
		{arrays: []kval{{keyNodes, value{kind: typeDataArray, infos: []kval{node("0"), node("1,2,3")}}}}, want: []int{0, 1, 1, 1}},
		{arrays: []kval{node("0,1,2,3"), node("")}, want: []int{0, 0, 0, 0}},
		{arrays: []kval{node("2,3"), node("0,1"), node("2,3")}, want: []int{0, 0, 1, 1}},
		{arrays: []kval{node("0,1")}, want: nil},
		{arrays: []kval{node("0,1")}, hosts: []string{"a", "b", "b", "a"}, want: []int{0, 1, 1, 0}},
		{hosts: []string{"a", "", "b", "a"}, want: nil},
		{arrays: []kval{node("0,1"), node("1,2,3")}, err: "rank 1 is on the nodes of the ranks \"0,1\" and \"1,2,3\""},
		{arrays: []kval{node("0,4")}, err: "in a job of 4"},
		{arrays: []kval{node("0,-1")}, err: "in a job of 4"},
		{arrays: []kval{node("0;1")}, err: "in a job of 4"},
	} {
		h := c.hosts
		if h == nil {
			h = hosts
		}
		got, err := numberNodes(c.arrays, h)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v %v: %v, %v", c.arrays, c.hosts, got, err)
		}
	}
}

func TestXLCH01_AJobThatContradictsItselfIsAnError(t *testing.T) {
	job := func(name string, list ...kval) []byte {
		var w buffer
		w.string(name)
		for _, k := range list {
			w.kval(k)
		}
		return w.b
	}
	size := func(n int64) kval { return kval{keySize, value{kind: typeUint32, number: n}} }
	var refused buffer
	refused.status(typeUnknown)
	unknown := append(job("j"), 0, 0, 0, 1, 0, 0, 0, 2, 'k', 0, 0xff, 0xff)
	for _, c := range []struct {
		message []byte
		want    string
	}{
		{nil, "no pmix.job.size"},
		{refused.b, "status -16 (unknown type)"},
		{job("j"), "no pmix.job.size"},
		{job("other", size(2)), "describes the job \"other\""},
		{job("j", size(0)), "no pmix.job.size"},
		{job("j", size(1<<20)), "no pmix.job.size of at most 65536"},
		{job("j", size(1)), "rank 1 in a job of 1"},
		{job("j", kval{keySize, value{kind: typeBool, number: 1}}), "no pmix.job.size"},
		{unknown, "the unknown type 65535"},
	} {
		if _, err := describe(c.message, "j", 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.message, err, c.want)
		}
	}
	// What is known before a value of an unknown type is used.
	d, err := describe(append(job("j", size(2)), unknown[len(job("j")):]...), "j", 1)
	if err != nil || d.size != 2 || d.universe != -1 || d.appnum != -1 || d.nodes != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestXLCH01_ThePlaceFromTheEnvironment(t *testing.T) {
	vars := func(pairs ...string) map[string]string {
		m := map[string]string{"PMIX_NAMESPACE": "job.1", "PMIX_RANK": "3", "PMIX_SERVER_URI21": "s.0;tcp4://127.0.0.1:99"}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, c := range []struct {
		vars map[string]string
		want string // the place, or a part of the error
		bad  bool
	}{
		{vars: vars("PMIX_SERVER_URI41", "s.0;tcp4://127.0.0.1:88"), want: "job.1 3 127.0.0.1 88 v41 native PMIx server (PMIx)"},
		{vars: vars(), want: "job.1 3 127.0.0.1 99 v21 native PMIx server (PMIx)"},
		{vars: vars("PMIX_SERVER_URI21", "", "PMIX_SERVER_URI61", "a.b.c.0;tcp6://[::1]:7"), want: "job.1 3 0:0:0:0:0:0:0:1 7 v21 native PMIx server (PMIx)"},
		{vars: vars("PMIX_SERVER_URI21", "a.0;tcp6://::1:7"), want: "job.1 3 0:0:0:0:0:0:0:1 7 v21 native PMIx server (PMIx)"},
		{vars: vars("PMIX_SECURITY_MODE", "munge,native", "OMPI_COMM_WORLD_SIZE", "2", "PMIX_VERSION", "5.0.7"), want: "job.1 3 127.0.0.1 99 v21 native Open MPI's mpirun (PMIx 5.0.7)"},
		{vars: vars("PMIX_SECURITY_MODE", "none", "PMIX_NAMESPACE", "slurm.pmix.6.0"), want: "slurm.pmix.6.0 3 127.0.0.1 99 v21 none Slurm (PMIx)"},
		{vars: vars("PMIX_SECURITY_MODE", "munge"), want: "srun --mpi=pmi2", bad: true},
		{vars: vars("PMIX_NAMESPACE", ""), want: "PMIX_NAMESPACE", bad: true},
		{vars: vars("PMIX_NAMESPACE", strings.Repeat("n", 256)), want: "PMIX_NAMESPACE", bad: true},
		{vars: vars("PMIX_RANK", ""), want: "PMIX_RANK", bad: true},
		{vars: vars("PMIX_RANK", "-1"), want: "PMIX_RANK", bad: true},
		{vars: vars("PMIX_RANK", "65536"), want: "PMIX_RANK", bad: true},
		{vars: vars("PMIX_SERVER_URI21", ""), want: "PMIX_SERVER_URI41", bad: true},
		{vars: vars("PMIX_SERVER_URI21", "tcp4://127.0.0.1:99"), want: "no semicolon", bad: true},
		{vars: vars("PMIX_SERVER_URI21", "a;usock:/tmp/x"), want: "transport", bad: true},
		{vars: vars("PMIX_SERVER_URI21", "a;tcp4://host:99"), want: "no address", bad: true},
		{vars: vars("PMIX_SERVER_URI21", "a;tcp4://127.0.0.1:99999"), want: "no address", bad: true},
	} {
		p, err := ReadPlace(lookup(c.vars))
		got := fmt.Sprint(p.nspace, " ", p.rank, " ", p.IP, " ", p.Port, " v", p.serializer, " ", p.security, " ", p.engine)
		if c.bad && (err == nil || !strings.Contains(err.Error(), c.want)) || !c.bad && (err != nil || got != c.want) {
			t.Errorf("%v: %s, %v, want %s", c.vars, got, err, c.want)
		}
	}
	if !Offered(lookup(vars())) || Offered(lookup(vars("PMIX_NAMESPACE", ""))) || Offered(lookup(vars("PMIX_SERVER_URI21", ""))) {
		t.Error("Offered is wrong")
	}
}

// TestXLCH01_RecordedAnswers: answers that servers have given to two processes on one node, or to four
// on two.
func TestXLCH01_RecordedAnswers(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		file, nspace string
		want         description
	}{
		{"job-openmpi4", "2069757953", description{size: 2, universe: 2, appnum: 0, nodes: []int{0, 0}}},
		{"job-slurm22", "slurm.pmix.1.0", description{size: 4, universe: 4, appnum: 0, nodes: []int{0, 0, 1, 1}}},
		{"job-openmpi5", "prterun-vm-2088@1", description{size: 2, universe: 2, appnum: 0, nodes: []int{0, 0}}},
		{"job-slurm24", "slurm.pmix.1.12", description{size: 4, universe: 4, appnum: 0, nodes: []int{0, 0, 1, 1}}},
		{"job-openmpi4-v41", "608436225", description{size: 2, universe: 2, appnum: 0, nodes: []int{0, 0}}},
		{"job-openmpi5-v41", "prterun-vm-18642@1", description{size: 2, universe: 2, appnum: 0, nodes: []int{0, 0}}},
		{"job-openmpi6-v41", "prterun-vm-18660@1", description{size: 2, universe: 2, appnum: 1, nodes: []int{0, 0}}},
		{"job-slurm22-v41", "slurm.pmix.1.0", description{size: 4, universe: 4, appnum: 0, nodes: []int{0, 0, 1, 1}}},
		{"job-slurm24-v41", "slurm.pmix.1.12", description{size: 4, universe: 4, appnum: 0, nodes: []int{0, 0, 1, 1}}},
	} {
		r := newReader(read(c.file))
		r.string()
		for r.more() {
			if k := r.kval(); r.err != nil {
				t.Errorf("%s: after %s: %v", c.file, k.key, r.err)
			}
		}
		d, err := describe(read(c.file), c.nspace, 1)
		if err != nil || !reflect.DeepEqual(d, c.want) {
			t.Errorf("%s: %+v, %v", c.file, d, err)
		}
	}
	for _, c := range []struct {
		file, nspace, key string
		rank              uint32
		want              string
	}{
		{"get-openmpi4", "2069757953", "addr", 1, "127.0.0.1:1001"},
		{"get-openmpi4", "2069757953", "addr", 0, ""},
		{"get-openmpi4", "2069757953", "name", 1, ""},
		{"get-slurm22", "slurm.pmix.1.0", "addr", 1, "127.0.0.1:1001"},
		{"get-openmpi5", "prterun-vm-2088@1", "addr", 1, "127.0.0.1:1001"},
		{"get-slurm24", "slurm.pmix.1.12", "addr", 1, "127.0.0.1:1001"},
		{"get-openmpi4-v41", "608436225", "addr", 1, "127.0.0.1:1001"},
		{"get-openmpi5-v41", "prterun-vm-18642@1", "addr", 1, "127.0.0.1:1001"},
		{"get-openmpi6-v41", "prterun-vm-18660@1", "addr", 1, "127.0.0.1:1001"},
		{"get-slurm22-v41", "slurm.pmix.1.0", "addr", 1, "127.0.0.1:1001"},
		{"get-slurm24-v41", "slurm.pmix.1.12", "addr", 1, "127.0.0.1:1001"},
		{"get-slurm22-waited", "slurm.pmix.1.0", "session", 3, "of-3"},
		{"get-slurm22-waited", "slurm.pmix.1.0", "addr", 3, "127.0.0.1:32799"},
		{"get-slurm22-waited", "slurm.pmix.1.0", "addr", 2, ""},
		{"get-slurm22-waited", "slurm.pmix.1.0", "other", 3, ""},
	} {
		r := newReader(read(c.file))
		if s := r.status(); s != success {
			t.Errorf("%s: %v, %v", c.file, s, r.err)
		}
		text, ok, err := stored(r, proc{c.nspace, c.rank}, c.key)
		if text != c.want || ok != (c.want != "") || err != nil {
			t.Errorf("%s: %s of %d is %q, %v, %v", c.file, c.key, c.rank, text, ok, err)
		}
	}
}

func TestXLCH01_ValuesThatContradictThemselvesAreErrors(t *testing.T) {
	proc1 := "\x02\x04a\x00\x01" // an item: rank 1 of a
	for _, c := range []struct{ b, want string }{
		{"\x02\x01\x02", "where 0 are left"},
		{"\x02\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "of 9223372036854775807 bytes"},
		{"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff", "of -1 bytes"},
		{"\x04", "where one is due"},
		{"\x02\x07" + proc1 + "\x02\x01", "of -1 bytes"},
		{"\x02\x0a" + proc1 + "\x02\x04k\x00\x7f", "unknown type 127"},
		{"\x02\x0c" + proc1 + "\x02\x04k\x00\xff\xff\x7f", "a type of the number"},
	} {
		if text, ok, err := stored(newReader([]byte(c.b)), proc{"a", 1}, "k"); ok || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %q, %v, %v, want %q", c.b, text, ok, err, c.want)
		}
	}
}

// TestXLCH01_IntegersOfBothSerializers: what is written is read again, and as long as it should be.
func TestXLCH01_IntegersOfBothSerializers(t *testing.T) {
	for _, compact := range []bool{false, true} {
		for _, c := range []struct {
			n    int64
			size int // in bytes, in a compact serializer
		}{{0, 1}, {1, 1}, {-1, 1}, {63, 1}, {64, 2}, {-64, 1}, {-65, 2}, {1<<31 - 1, 5}, {-1 << 31, 5}, {1<<63 - 1, 9}, {-1 << 63, 9}} {
			w := buffer{compact: compact}
			w.signed(c.n, 8)
			w.unsigned(uint64(c.n), 8)
			r := &reader{left: w.b, compact: compact}
			if got := r.signed(8); got != c.n || compact && len(w.b)-len(r.left) != c.size {
				t.Errorf("%d is read as %d, of %d bytes", c.n, got, len(w.b)-len(r.left))
			}
			if got := r.unsigned(8); got != uint64(c.n) || r.more() || r.err != nil {
				t.Errorf("%d is read as %d, %v", uint64(c.n), got, r.err)
			}
		}
	}
}
