package pmi2

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
)

// recorded are frames of Slurm's server: 22.05.8, on two nodes.
var recorded = []string{
	"114   cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=0;size=2;appnum=-1;debugged=FALSE;pmiverbose=FALSE;",
	"38    cmd=job-getid-response;rc=0;jobid=6.0;",
	"71    cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,1));",
	"27    cmd=kvs-fence-response;rc=0;",
	"38    cmd=kvs-get-response;rc=0;found=FALSE;",
	"31    cmd=name-lookup-response;rc=1;",
}

func FuzzMessages(f *testing.F) {
	for _, s := range recorded {
		f.Add([]byte(s))
	}
	f.Add([]byte("    12cmd=a;b=;;c;"))
	f.Add([]byte("999999cmd="))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bufio.NewReader(bytes.NewReader(b))
		for {
			m, err := readMessage(in)
			if err != nil {
				return
			}
			if m[0][0] != "cmd" {
				t.Fatalf("%v has no command", m)
			}
			m.number("rank")
			found(m)
			// What has no semicolon in a value is sent as it was received.
			if !slices.ContainsFunc(m, func(p [2]string) bool { return strings.Contains(p[1], ";") }) && len(b) < 99999 {
				again, err := readMessage(bufio.NewReader(bytes.NewReader(m.encode())))
				if err != nil || !slices.Equal(again, m) {
					t.Fatalf("%v became %v, %v", m, again, err)
				}
			}
		}
	})
}
