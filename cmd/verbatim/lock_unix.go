package main

import (
	"os"
	"syscall"
)

// lockFile keeps other processes that use a file out until unlock is called.
func lockFile(file string) (unlock func(), err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
