package documents

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent has the system kill the child when its parent dies.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// setData limits the writable memory of the process to its present size plus memory. The heap needs
// more than its live objects.
func setData(memory int64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmData:")
	had, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.ParseUint(had, 10, 40)
	if err != nil {
		kib = 256 << 10
	}
	limit(syscall.RLIMIT_DATA, kib<<10+uint64(memory)+64<<20)
}
