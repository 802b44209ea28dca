//go:build unix

package guard

import (
	"os"
	"os/exec"
	"syscall"
)

// group makes a program the leader of a process group, so that its children can be killed with it.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// lock waits until no other process holds the file.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}

// runs reports whether a process exists.
func runs(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
