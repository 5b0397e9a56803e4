package op

// signalingFirst tells that a signaling NaN is the result rather than a quiet one (Arm ARM,
// FPProcessNaNs).
const signalingFirst = true
