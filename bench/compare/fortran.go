package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// fortran is the column of Halo's Fortran library: the program of the C library with the loops of
// bench/fortran.f90.
const fortran = "halo-fortran"

// perFortranCall is how much a call from Fortran may take beyond one from C, in us.
const perFortranCall = 0.01

// buildFortran builds the Fortran library in bin, and the program with it. The C library is there.
func buildFortran(root, bin, program string) error {
	object := filepath.Join(bin, "fortran.o")
	for _, args := range [][]string{
		{"abi/fortran/build", bin},
		{"gfortran", "-O2", "-std=f2018", "-I", bin, "-J", bin, "-c", "-o", object, "bench/fortran.f90"},
		{"gcc", "-O2", "-std=gnu11", "-pthread", "-DFORTRAN", "-I", "abi/include", "-o", program, "bench/halobench.c", object,
			filepath.Join(bin, "libmpifort_abi.so.1"), filepath.Join(bin, "libmpi_abi.so.1"), "-lgfortran", "-Wl,-rpath," + bin},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "PREFIX_INCLUDE="+filepath.Join(root, "abi/include"), "PREFIX_LIB="+bin)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// inFortran reports whether the loop of a job is in Fortran.
func inFortran(j job) bool {
	short := j.fabric == "shm" && j.ranks == 2 && slices.Contains(j.sizes, 8)
	return j.bench == "section" || short && (j.bench == "latency" || j.bench == "put" || j.bench == "allreduce")
}

// fortranRows are a section of an array, as an argument and by a datatype of the same places.
func fortranRows() []row {
	r := row{bench: "section", fabric: "shm", ranks: 2, size: 1000, unit: "us"}
	direct, typed := r, r
	direct.name, direct.variant = "section 1000 x 1000", "direct"
	typed.name, typed.variant = "section 1000 x 1000, datatype", "datatype"
	return []row{direct, typed}
}

// fortranNotes say whether the Fortran library meets its bars: a short call takes at most
// perFortranCall more than from C, and a section is as fast as the datatype.
func (r *results) fortranNotes() []string {
	if r.figures[fortran] == nil {
		return nil
	}
	var notes, calls []string
	direct := -1
	for i := range r.rows {
		rw, f, c := &r.rows[i], r.figuresOf(fortran, i), r.figuresOf(clibrary, i)
		switch {
		case rw.name == "section 1000 x 1000":
			direct = i
		case rw.name == "section 1000 x 1000, datatype" && direct >= 0:
			if q := over(r.figuresOf(fortran, direct), f); !math.IsNaN(median(q)) {
				notes = append(notes, fmt.Sprintf("%s: a section takes %s x the time of the datatype (%s), the bar is 1.", fortran, number(median(q)), ranged(q)))
			}
		case c != nil && rw.size == 8 && !rw.more:
			var more []float64
			for k := range f {
				more = append(more, 1e3*(f[k]-c[k])/rw.calls())
			}
			if m := median(more); !math.IsNaN(m) {
				calls = append(calls, fmt.Sprintf("%s %s (%s)", rw.name, number(m), ranged(more)))
			}
		}
	}
	if len(calls) > 0 {
		notes = append(notes, fmt.Sprintf("%s: ns that a call takes beyond one from C (median, min-max), the bar is %g: %s.", fortran, 1e3*perFortranCall, strings.Join(calls, ", ")))
	}
	return notes
}
