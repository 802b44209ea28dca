package documents

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent has the system kill the child when its parent dies.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// setData limits the writable memory of the process so that what is resident of it never exceeds memory.
// What is mapped and was never touched, as Go's tables for a larger heap, is not resident and stays so.
func setData(memory int64) {
	status, _ := os.ReadFile("/proc/self/status")
	kib := func(field string) int64 {
		_, rest, _ := strings.Cut(string(status), field+":")
		text, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, _ := strconv.ParseInt(text, 10, 64)
		return n << 10
	}
	untouched := kib("VmData") - kib("RssAnon")
	limit(syscall.RLIMIT_DATA, uint64(max(0, memory+untouched)))
}
