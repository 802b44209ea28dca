package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"verbatim/runtime"
	"verbatim/runtime/upload"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// A sender sends files of one folder into a conversation, for whoever talks. A
// path that leads out of the folder leads nowhere: what is said may come from
// somebody who does not sit at this machine.
type sender struct {
	folder  *os.Root
	service *upload.Service
	session *runtime.Session
}

func (a *app) newSender(ctx context.Context, f *chatFlags, engine *runtime.Engine, session *runtime.Session, clock func() time.Time, ends *[]func()) (*sender, error) {
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
	return &sender{folder, &upload.Service{Engine: engine, Files: kept, Scanner: scanner, Clock: clock, Random: a.random}, session}, nil
}

// sendFile sends a file, and returns what is said of it. What cannot be sent is told,
// and the conversation goes on: then it returns "".
func (a *app) sendFile(ctx context.Context, s *sender, name string) (said string, err error) {
	switch {
	case s == nil:
		a.notSent("no file can be sent here", "begin with verbatim chat --send-from FOLDER")
		return "", nil
	case name == "":
		a.notSent("nothing says which file", "/send passport.pdf")
		return "", nil
	}
	u, err := s.send(ctx, name)
	var refused *upload.Refusal
	var path *os.PathError
	switch {
	case ctx.Err() != nil:
		return "", a.halted(ctx.Err())
	case errors.As(err, &refused):
		a.notSent(refused.Text, refused.Next)
	case errors.As(err, &path):
		a.notSent(fmt.Sprintf("%s cannot be read: %s", quoted(name), reason(err)), "name a file of the folder that --send-from names")
	case err != nil:
		a.notSent("the file could not be kept or looked at: "+safe(err.Error()), "try again")
	case u.Verdict == runtime.VerdictInfected:
		a.notSent("something harmful was found in the file, and it was not kept", "send another, from a device that was checked")
	default:
		if !a.json {
			fmt.Fprintln(a.out, wasSent.In(tongueOf(s.session), safe(u.Name), u.Type, verbs.SizeText(u.Size)))
		}
		return hereIs.In(tongueOf(s.session), u.Name, u.Reference()), nil
	}
	return "", nil
}

// What is told of a file that was sent, and said of it for the person.
var hereIs = words.Sentence{"Here is {}: {}", "Hier ist {}: {}", "Voici {} : {}", "Aquí está {}: {}"}

var wasSent = words.Sentence{"Sent: {}, {}, {}", "Gesendet: {}, {}, {}", "Envoyé : {}, {}, {}", "Enviado: {}, {}, {}"}

// tongueOf is the language of a session, as far as it is one that is spoken here.
func tongueOf(s *runtime.Session) words.Language {
	l, _ := words.ParseLanguage(s.Person().Language)
	return l
}

func (s *sender) send(ctx context.Context, name string) (runtime.Upload, error) {
	info, err := s.folder.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait
		err = &os.PathError{Op: "send", Path: name, Err: errors.New("it is no file")}
	}
	if err != nil {
		return runtime.Upload{}, err
	}
	f, err := s.folder.Open(name)
	if err != nil {
		return runtime.Upload{}, err
	}
	defer f.Close()
	return s.service.Receive(ctx, s.session, info.Name(), f)
}

func (a *app) notSent(why, next string) {
	fmt.Fprintf(a.err, "not sent: %s\nnext: %s\n", why, next)
}
