//go:build unix

package launch

import "fmt"

// Published is called with the value by which other ranks reach a rank that has opened a session.
func (j *job) Published(rank int, value []byte) {
	r := j.ranks[rank]
	r.published, r.value = true, value
	j.answerAll(r)
}

// Lookup is called when a rank wants the value of another one. It is answered when that has
// published it, or has ended.
func (j *job) Lookup(rank, of int) {
	if of < 0 || of >= len(j.ranks) {
		j.found(rank, of, nil, fmt.Sprintf("there is no rank %d in a job of %d", of, len(j.ranks)))
		return
	}
	r := j.ranks[of]
	r.asking = append(r.asking, rank)
	if r.published || r.ended {
		j.answerAll(r)
	}
}

// answerAll answers the ranks that wait for the value of r.
func (j *job) answerAll(r *rank) {
	why := ""
	if !r.published {
		why = fmt.Sprintf("%s has ended without a session", j.name(r))
	}
	for _, asker := range r.asking {
		j.found(asker, r.index, r.value, why)
	}
	r.asking = nil
}

// found tells a rank what another one has published, or why that has not.
func (j *job) found(rank, of int, value []byte, why string) {
	if h := j.ranks[rank].host; !h.gone() {
		h.node.Found(rank, of, value, why)
	}
}
