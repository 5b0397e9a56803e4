package mpi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// In checking mode an unknown key that begins with mpi_ or halo_ is reported once in each
// process, with the call, its place and the nearest known key. Other keys are not reported, nor
// are keys for objects of other kinds. The known keys of the same Info are used.
func TestCheckingReportsUnknownInfoKeys(t *testing.T) {
	for _, check := range []string{"1", ""} {
		t.Setenv("HALO_CHECK", check)
		for _, fabric := range mpitest.Fabrics() {
			t.Run(fabric, func(t *testing.T) {
				var want [2][]string
				text := printed(t, func() {
					ok(t, mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
						here := func(call, at, key, nearest string) {
							if check == "" {
								return
							}
							var n int
							fmt.Sscan(at[strings.Index(at, ":")+1:], &n)
							want[c.Rank()] = append(want[c.Rank()], fmt.Sprintf("halo: rank %d: unknown info key %q of %s at infokey_test.go:%d: the nearest known one is %q", c.Rank(), key, call, n-1, nearest))
						}
						info := pairs(t, "mpi_win_ordr", "true", "mpi_win_scope", "thread", "zzz", "1", "mpi_assert_no_any_tag", "true",
							"mpi_initial_errhandler", "mpi_errors_return", "mpi_size", "4", "no_lock", "true")
						w, err := mpi.WinAllocate[int64](c, 4, info)
						here("WinAllocate", line(), "mpi_win_ordr", "mpi_win_order")
						ok(t, err)
						if got := hintsOf(t, w.Info); got["mpi_win_scope"] != "thread" || got["mpi_win_order"] != "false" {
							t.Errorf("the window has %v", got)
						}
						ok(t, w.SetInfo(info)) // reported only once
						ok(t, w.SetInfo(mpi.WinOrder(true), pairs(t, "halo_win_scope", "thread", "mpi_win_ordr", "true"), nil))
						here("SetInfo", line(), "halo_win_scope", "mpi_win_scope")
						d, err := c.Dup(info, pairs(t, "mpi_assert_no_any_tags", "true"))
						here("Dup", line(), "mpi_assert_no_any_tags", "mpi_assert_no_any_tag")
						ok(t, err)
						ok(t, d.SetInfo(pairs(t, "mpi_assert_exact_len", "true")))
						here("SetInfo", line(), "mpi_assert_exact_len", "mpi_assert_exact_length")
						mem, err := mpi.AllocMem[byte](c, 4, pairs(t, "mpi_minimum_alignment", "128"))
						here("AllocMem", line(), "mpi_minimum_alignment", "mpi_minimum_memory_alignment")
						ok(t, err)
						e, err := c.SplitType(mpi.CommTypeHwGuided, 0, pairs(t, "mpi_hw_resource", "hwloc://Core"))
						here("SplitType", line(), "mpi_hw_resource", "mpi_hw_resource_type")
						ok(t, err)
						if e != nil {
							t.Error("a split by what nobody knows")
						}
						_, err = w.AllocSyncObjects(1, pairs(t, "mpi_a", ""))
						here("AllocSyncObjects", line(), "mpi_a", "mpi_size") // no known key is similar
						ok(t, err)
						ok(t, mpi.FreeMem(c, mem))
						ok(t, d.Free())
						return w.Free()
					}))
				})
				var got []string
				for l := range strings.Lines(text) {
					got = append(got, strings.TrimSuffix(l, "\n"))
				}
				all := append(want[0], want[1]...)
				slices.Sort(got)
				slices.Sort(all)
				if !slices.Equal(got, all) {
					t.Errorf("HALO_CHECK=%s: %s\nwant %s", check, strings.Join(got, "\n"), strings.Join(all, "\n"))
				}
			})
		}
	}
}

// All info keys that the standard reserves with the prefix mpi_ (MPI-5, annex A.1.5) are known: checking mode does
// not report them.
func TestCheckingKnowsTheKeysOfTheStandard(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	fabric := mpitest.Fabrics()[0]
	text := printed(t, func() {
		ok(t, mpitest.RunOver(fabric, 1, func(c *mpi.Comm) error {
			info := mpi.NewInfo()
			for _, key := range []string{
				"mpi_accumulate_granularity", "mpi_aint_size", "mpi_assert_allow_overtaking", "mpi_assert_exact_length",
				"mpi_assert_memory_alloc_kinds", "mpi_assert_no_any_source", "mpi_assert_no_any_tag",
				"mpi_assert_strict_persistent_collective_ordering", "mpi_complex16_supported", "mpi_complex32_supported",
				"mpi_complex4_supported", "mpi_complex8_supported", "mpi_count_size", "mpi_double_complex_supported",
				"mpi_double_precision_size", "mpi_hw_resource_type", "mpi_initial_errhandler", "mpi_integer16_supported",
				"mpi_integer1_supported", "mpi_integer2_supported", "mpi_integer4_supported", "mpi_integer8_supported",
				"mpi_integer_size", "mpi_logical16_supported", "mpi_logical1_supported", "mpi_logical2_supported",
				"mpi_logical4_supported", "mpi_logical8_supported", "mpi_logical_size", "mpi_memory_alloc_kinds",
				"mpi_minimum_memory_alignment", "mpi_offset_size", "mpi_pset_name", "mpi_real16_supported",
				"mpi_real2_supported", "mpi_real4_supported", "mpi_real8_supported", "mpi_real_size", "mpi_size",
			} {
				ok(t, info.Set(key, "x"))
			}
			d, err := c.Dup(info)
			ok(t, err)
			return d.Free()
		}))
	})
	if text != "" {
		t.Error(text)
	}
}
