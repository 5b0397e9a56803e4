// Package sys may use the operating system.
package sys

import "golang.org/x/sys/unix"

// TODO: this. want unfinished "TODO"

const page = unix.PageSize /* FIXME want unfinished "FIXME" */

// Words such as mastodons and TODOs are none.

// Pages are as issue 7, section 3 wants them. want citations "issue 7"
