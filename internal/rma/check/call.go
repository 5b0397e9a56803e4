package check

import "github.com/halo-mpi/halo/internal/callsite"

// Call is a call of the program, and Locator describes such calls.
type (
	Call    = callsite.Call
	Locator = callsite.Locator
)
