// Package sys may use the operating system.
package sys

import "golang.org/x/sys/unix"

// TODO: this. want unfinished "TODO"

const page = unix.PageSize /* FIXME want unfinished "FIXME" */

// Words such as mastodons and TODOs are none.

// Pages are as issue 7, section 3 wants them. want citations "issue 7"

func heads(n int) (k int) {
	if n--; n > 0 { // want heads "side effect"
		k = 1
	} else if k = n; k > 0 { // want heads "side effect"
		k = 2
	}
	switch heads(n); { // want heads "side effect"
	}
	for k += n; k < 3; { // want heads "side effect"
	}
	for k = n; k < 3; k++ {
	}
	if m := n; m > 0 {
		k = m
	}
	return k
}
