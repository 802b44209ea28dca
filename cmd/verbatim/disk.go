package main

import (
	"os"
	"path/filepath"
	"strings"

	"verbatim/runtime/frontends/http/server"
	"verbatim/stores/receipt"
)

// disks returns the free space of each folder on this machine into which a server writes. A database has a machine
// of its own, whose disk nobody can ask for from here.
func (a *app) disks(f *serveFlags) (all []server.Disk) {
	add := func(of, folder string) {
		for ; folder != ""; folder = filepath.Dir(folder) { // what is made when it is needed lies where its parent does
			if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
				break
			}
		}
		if free, known := freeSpace(folder); folder != "" && known {
			all = append(all, server.Disk{Of: of, Free: free, Wanted: f.room << 20})
		}
	}
	if at, err := a.storeAddress(f.store); err == nil && at.file != "" {
		add("store", filepath.Dir(at.file))
	}
	add("state", a.stateFolder())
	if where, err := a.filesAt("", f.store); err == nil {
		if kind, rest, ok := strings.Cut(where, "://"); !ok {
			add("files", where)
		} else if kind == "file" {
			add("files", rest)
		}
	}
	if key := a.env("VERBATIM_LOG_KEY"); key != "" {
		add("key", filepath.Dir(key))
	}
	return all
}

// small says which disks have less space than they should, "" if none.
func small(disks []server.Disk) string {
	var says []string
	for _, d := range disks {
		if d.Free < d.Wanted {
			says = append(says, "the disk of "+map[string]string{"store": "the store", "state": "the state folder", "files": "files", "key": "the journal's key"}[d.Of]+" has "+
				receipt.Thousands(int(d.Free>>20))+" MiB left")
		}
	}
	return strings.Join(says, "; ")
}
