//go:build linux || darwin

package documents

import "syscall"

// setLimits has the system keep to the limits. No file, pipe or connection can
// be opened that is not open by now, and so no other program be started.
func setLimits(l Limits) {
	setData(l.Memory)
	// A signal says that the time is over, and a second later another ends it.
	cpu := uint64(l.CPU.Seconds())
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: cpu, Max: cpu + 1})
	limit(syscall.RLIMIT_FSIZE, 0)
	limit(syscall.RLIMIT_CORE, 0)
	limit(syscall.RLIMIT_NOFILE, 0)
}

func limit(what int, to uint64) {
	// What cannot be set is stricter already.
	_ = syscall.Setrlimit(what, &syscall.Rlimit{Cur: to, Max: to})
}
