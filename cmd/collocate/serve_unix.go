//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyReload sends SIGHUP, which ends other commands, to a channel.
func notifyReload(told chan<- os.Signal) {
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Reset(syscall.SIGHUP)
		signal.Notify(told, syscall.SIGHUP)
	}
}
