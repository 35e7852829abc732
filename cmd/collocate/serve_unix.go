//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyReload sends on a channel when the process gets SIGHUP, which ends other commands.
func notifyReload(told chan<- os.Signal) {
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Reset(syscall.SIGHUP)
		signal.Notify(told, syscall.SIGHUP)
	}
}
