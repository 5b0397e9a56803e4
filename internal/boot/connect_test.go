package boot

import (
	"strings"
	"testing"
)

func TestSingleIsAWorldOfOne(t *testing.T) {
	b := Single(false)
	if j := b.Job(); j.Size != 1 || j.Rank != 0 || len(j.Local) != 1 || j.Fabric != "shm" || j.Cores < 1 {
		t.Errorf("job %+v", j)
	}
	exchangeAll(t, []Boot{b}, 1)
	if err := b.Finalize(); err != nil {
		t.Error(err)
	}
}

func TestConnectNamesADescriptorThatIsNoLink(t *testing.T) {
	t.Setenv(EnvFD, "x")
	if _, err := Connect(false, true); err == nil || !strings.Contains(err.Error(), EnvFD) {
		t.Errorf("no number: %v", err)
	}
	t.Setenv(EnvFD, "987")
	if _, err := Connect(false, true); err == nil || !strings.Contains(err.Error(), "keep descriptor 987 open") {
		t.Errorf("got %v", err)
	}
}
