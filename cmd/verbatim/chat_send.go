package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/state/uploads"
	"verbatim/verbs"
)

// A sender sends files of one folder into a conversation. It follows no path out of the folder,
// since the person may sit at another machine.
type sender struct {
	folder  *os.Root
	service *intake.Service
	session *engine.Session
}

func (a *app) newSender(ctx context.Context, f *chatFlags, engine *engine.Engine, session *engine.Session, clock func() time.Time, ends *[]func()) (*sender, error) {
	scanner, err := a.scanner("")
	if err != nil {
		return nil, err
	}
	where, err := a.filesAt("", f.store)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(f.from)
	if err != nil {
		return nil, usage(fmt.Sprintf("the folder %s cannot be used: %s", quoted(f.from), reason(err)), "check the path of --send-from")
	}
	*ends = append(*ends, func() { folder.Close() })
	kept, err := a.openFiles(ctx, where)
	if err != nil {
		return nil, err
	}
	*ends = append(*ends, func() { kept.Close() })
	return &sender{folder, &intake.Service{Engine: engine, Files: kept, Scanner: scanner, Clock: clock}, session}, nil
}

// sendFile sends a file and returns the message about it in the conversation's language. A file
// that cannot be sent is reported, and the result is "".
func (a *app) sendFile(ctx context.Context, s *sender, l values.Language, name string) (said string, err error) {
	tell := func(why, next string) { fmt.Fprintln(a.err, visibly(sayNotSent.In(l, why, next))) }
	tells := func(u unsent) { tell(u.why.In(l), u.next.In(l)) }
	switch {
	case s == nil:
		tells(notSendingHere)
		return "", nil
	case name == "":
		tells(noFileNamed)
		return "", nil
	}
	u, err := s.send(ctx, name)
	var refused *intake.Refusal
	var path *os.PathError
	switch {
	case ctx.Err() != nil:
		return "", a.halted(ctx.Err())
	case errors.As(err, &refused):
		tell(notSentFor(l, refused))
	case errors.As(err, &path):
		tell(sayUnreadFile.In(l, quoted(name), unreadable(l, err)), nameOfFile.In(l))
	case err != nil:
		why := sayFileLost.In(l)
		if l == values.English {
			why += ": " + err.Error() // which is English
		}
		tell(why, tryAgain.In(l))
	case u.Verdict == uploads.Infected:
		tells(fileHarmful)
	default:
		if !a.json {
			fmt.Fprintln(a.out, visibly(wasSent.In(l, u.Name, u.Type, verbs.SizeText(u.Size))))
		}
		return hereIs.In(l, u.Name, u.Reference()), nil
	}
	return "", nil
}

func (s *sender) send(ctx context.Context, name string) (uploads.Upload, error) {
	info, err := s.folder.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait
		err = &os.PathError{Op: "send", Path: name, Err: errNoFile}
	}
	if err != nil {
		return uploads.Upload{}, err
	}
	f, err := s.folder.Open(name)
	if err != nil {
		return uploads.Upload{}, err
	}
	defer f.Close()
	return s.service.Receive(ctx, s.session, info.Name(), f)
}
