//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyReload sends SIGUSR1 to a channel, and SIGHUP, which ends other commands. A SIGHUP that is
// ignored, as under nohup, stays ignored.
func notifyReload(told chan<- os.Signal) {
	signal.Notify(told, syscall.SIGUSR1)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Reset(syscall.SIGHUP)
		signal.Notify(told, syscall.SIGHUP)
	}
}
