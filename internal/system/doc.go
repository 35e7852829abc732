// Package system has calls that differ between operating systems: maps of files, memory outside
// Go's heap, locks, and unnamed files. On Windows, a file that is open or mapped can be neither
// renamed nor removed, and folders can be neither locked nor synced; RenamesOpen and LocksFolders
// say so.
package system
