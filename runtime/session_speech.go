package runtime

import "sync/atomic"

// A speech is the language that somebody is heard to speak. It is nothing that
// they said of themselves, so it is not kept: whoever goes on with what was said
// hears it again.
type speech struct{ language atomic.Pointer[string] }

func (s *speech) heard() string {
	if l := s.language.Load(); l != nil {
		return *l
	}
	return ""
}

// Hears notes the language that the person speaks, such as "de". It counts where
// neither the session nor what is known of the person says one.
func (s *Session) Hears(language string) { s.speech.language.Store(&language) }

// Called is what people call a row that has a name in this session; "" where it
// knows no such name. Rows of several kinds may share one, and then share what
// they are called but for signs and capitals.
func (s *Session) Called(name string) string {
	called := ""
	for _, e := range s.e.entities {
		if key, ok := s.names.Key(e.Store, name); ok {
			if row, _ := s.names.Row(e.Store, key); row.Label != "" && (called == "" || row.Label < called) {
				called = row.Label
			}
		}
	}
	return called
}
