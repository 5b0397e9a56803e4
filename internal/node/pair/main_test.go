package pair_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
