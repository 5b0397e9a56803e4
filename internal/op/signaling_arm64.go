package op

// signalingFirst says that of two NaNs a signaling one comes out (Arm ARM,
// FPProcessNaNs).
const signalingFirst = true
