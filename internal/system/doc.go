// Package system has the calls that operating systems name differently: maps of files, memory
// outside Go's heap, locks, and files without a name. On Windows a file that is open or mapped can
// be neither renamed nor removed, and folders can be neither locked nor synced; RenamesOpen and
// LocksFolders tell callers so.
package system
