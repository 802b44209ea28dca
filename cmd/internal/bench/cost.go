package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// A cost is what work takes of the machine besides time: processor time in this process
// and in those that it began, the server's and pgbench's, and memory that is asked for in
// this one. Unlike time it says what a call costs on a machine that others use as well.
type cost struct {
	here, there    time.Duration
	allocs, memory uint64
}

func (c cost) since(began cost) cost {
	return cost{c.here - began.here, c.there - began.there, c.allocs - began.allocs, c.memory - began.memory}
}

// spent is the cost of everything until now.
func spent() cost {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c := cost{here: used(syscall.RUSAGE_SELF), there: used(syscall.RUSAGE_CHILDREN), allocs: m.Mallocs, memory: m.TotalAlloc}
	for _, pid := range descendants() {
		c.there += ticks(pid)
	}
	return c
}

func used(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// stat are the fields of /proc/PID/stat behind the name: proc(5) counts from 1, and the
// first of these is its third.
func stat(pid int) [][]byte {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	at := bytes.LastIndexByte(b, ')')
	if err != nil || at < 0 {
		return nil
	}
	return bytes.Fields(b[at+1:])
}

// descendants are the processes that this one began, and those that they began.
func descendants() []int {
	parents := map[int]int{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if f := stat(pid); len(f) > 1 {
			parents[pid], _ = strconv.Atoi(string(f[1]))
		}
	}
	var found []int
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at == os.Getpid() {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// ticks is the processor time of a process and of its children that ended, which Linux
// tells in hundredths of a second.
func ticks(pid int) time.Duration {
	var sum int64
	if f := stat(pid); len(f) > 14 {
		for _, field := range f[11:15] {
			n, _ := strconv.ParseInt(string(field), 10, 64)
			sum += n
		}
	}
	return time.Duration(sum) * 10 * time.Millisecond
}

// load is how many processes wanted a processor in the last minute.
func machineLoad() string {
	b, err := os.ReadFile("/proc/loadavg")
	if f := bytes.Fields(b); err == nil && len(f) > 0 {
		return string(f[0])
	}
	return "unknown"
}
