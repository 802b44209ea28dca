package pack

import (
	"bytes"
	"encoding/json"
	"fmt"

	"golang.org/x/mod/semver"
)

// LockName is the file beside palettes that says which packs are installed there.
const LockName = "packs.lock"

// A Lock pins packs by their names. Its zero value pins none.
type Lock struct {
	Packs map[string]Pinned `json:"packs"`
}

// Pinned is the one pack that a name stands for.
type Pinned struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// FileName is that of a pack's archive beside palettes.
func FileName(name, version string) string { return name + "-" + version + ".zip" }

// ReadLock reads what Text wrote.
func ReadLock(text []byte) (l Lock, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, fmt.Errorf("%s cannot be read", LockName)
	}
	for name, is := range l.Packs {
		if !nameOf.MatchString(name) || semver.Canonical("v"+is.Version) != "v"+is.Version {
			return l, fmt.Errorf("%s pins %q at version %q, which names no pack", LockName, name, is.Version)
		}
	}
	return l, nil
}

// Text is what a file keeps of it.
func (l *Lock) Text() string {
	text, _ := json.MarshalIndent(l, "", "  ") // texts by names always can be written
	return string(text) + "\n"
}

// Check reports where a pack is not the one that its name stands for. One of another name is
// fine.
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

// Pin has the name of a pack stand for it. A version goes on and never back, and is given to
// one pack only.
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
