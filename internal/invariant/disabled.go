//go:build !invariants

package invariant

// Enabled says whether this build checks invariants.
const Enabled = false
