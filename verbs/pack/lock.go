package pack

import (
	"encoding/json"
	"fmt"

	"golang.org/x/mod/semver"

	"verbatim/verbs/strict"
)

// LockName is the file in a palette directory that says which packs are installed there.
const LockName = "packs.lock"

// A Lock pins packs by their names. Its zero value pins none.
type Lock struct {
	Packs map[string]Pinned `json:"packs"`
}

// Pinned identifies the only pack that a name may mean.
type Pinned struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// FileName returns the name of a pack's archive in a palette directory.
func FileName(name, version string) string { return name + "-" + version + ".zip" }

// ReadLock reads what Text wrote.
func ReadLock(text []byte) (l Lock, err error) {
	if err := strict.JSON(text, &l); err != nil {
		return l, err
	}
	for name, is := range l.Packs {
		if !nameOf().MatchString(name) || semver.Canonical("v"+is.Version) != "v"+is.Version {
			return l, fmt.Errorf("%s pins %q at version %q, which names no pack", LockName, name, is.Version)
		}
	}
	return l, nil
}

// Text returns the content of the lock file.
func (l *Lock) Text() string {
	text, _ := json.MarshalIndent(l, "", "  ") // texts by names can always be written
	return string(text) + "\n"
}

// Check returns an error if a pack is not the one that is pinned under its name. A pack with
// another name is accepted.
func (l *Lock) Check(p *Pack) error {
	switch is, pinned := l.Packs[p.Name]; {
	case !pinned:
		return nil
	case is.Version != p.Version:
		return fmt.Errorf("%s pins %s at version %s, and this is %s", LockName, p.Name, is.Version, p.Version)
	case is.Digest != p.Digest:
		return fmt.Errorf("%s pins %s %s with the digest %s, and that of this one is %s", LockName, p.Name, p.Version, is.Digest, p.Digest)
	}
	return nil
}

// Pin pins a pack under its name. Versions only increase, and each is given to only one pack.
func (l *Lock) Pin(p *Pack) error {
	if is, pinned := l.Packs[p.Name]; pinned {
		switch c := semver.Compare("v"+p.Version, "v"+is.Version); {
		case c < 0:
			return fmt.Errorf("%s %s is installed, and a version does not go back to %s", p.Name, is.Version, p.Version)
		case c == 0 && is.Digest != p.Digest:
			return fmt.Errorf("%s %s is installed with the digest %s, and that of this one is %s: a version is given to one pack", p.Name, p.Version, is.Digest, p.Digest)
		}
	}
	if l.Packs == nil {
		l.Packs = map[string]Pinned{}
	}
	l.Packs[p.Name] = Pinned{p.Version, p.Digest}
	return nil
}
