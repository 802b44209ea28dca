//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// group makes a program the leader of a process group, so that its children can be killed with it.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
