//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// group makes a command the first of a group of processes, which all end with it or, if the command
// has ended, with a call to end.
func group(cmd *exec.Cmd) (end func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return func() {
		if cmd.Process != nil {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error: there are none left
		}
	}
}
