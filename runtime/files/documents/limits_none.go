//go:build !linux && !darwin

package documents

// setLimits has nothing to ask for: time, memory and output are limited by the
// parent and by the child itself, files and connections are not.
func setLimits(Limits) {}
