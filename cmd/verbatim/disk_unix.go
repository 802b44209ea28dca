//go:build linux || darwin

package main

import "syscall"

// freeSpace returns the bytes that this user may still write where a folder is. A file system without blocks, such
// as /proc, has no free space to speak of.
func freeSpace(folder string) (free int64, known bool) {
	var is syscall.Statfs_t
	if err := syscall.Statfs(folder, &is); err != nil || is.Blocks == 0 {
		return 0, false
	}
	return int64(is.Bavail) * int64(is.Bsize), true
}
