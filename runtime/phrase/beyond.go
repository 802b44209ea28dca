package phrase

import "strings"

// Some things are asked of any house: to delete an account, to cancel a card. Where
// no verb does such a thing, what comes nearest by its other words is not meant, and
// is not offered: whoever asks is told that it cannot be done here.

// deeds are words for such things, as they are said of what is to be done.
var deeds = wordSet(`delete erase remove close cancel revoke forget block freeze unblock transfer refund unsubscribe deactivate terminate
loschen losche loscht entfernen entferne entfernt schliessen schliesse kundigen kundige auflosen sperren sperre entsperren uberweisen uberweise stornieren storniere annullieren vergessen abmelden
supprimer supprimez effacer effacez fermer fermez cloturer cloturez annuler annulez resilier resiliez bloquer bloquez debloquer transferer transferez virer virez rembourser remboursez oublier oubliez retirer retirez
borrar borre borren borra eliminar elimine eliminen cerrar cierre cierren cancelar cancele cancelen anular anule anulen bloquear bloquee bloqueen desbloquear transferir transfiera transfieran reembolsar olvidar olvide olviden`)

// beforeDeeds are words that such a word may follow.
var beforeDeeds = wordSet(`please kindly i we you can could would will want wish like to need d ll have must help me us
bitte konnen konnten konnte kann wurden wurde sie ich wir mochte mochten will wollen muss mussen
pouvez pourriez vous je j veux voudrais aimerais nous voulons s il plait est ce que dois peux
puede pueden podria podrian quiero quisiera quisieramos queremos necesito por favor me ustedes usted`)

func wordSet(list string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		all[w] = true
	}
	return all
}

// deed is the word of a clause that says what is to be done, -1 where it says no such
// thing. In German it may come last.
func (c *clause) deed() int {
	for i := range c.words {
		switch {
		case c.quoted[i]:
			return -1
		case deeds[c.words[i].Plain]:
			return i
		case !beforeDeeds[c.words[i].Plain]:
			last := len(c.words) - 1
			if last > i && c.words[last].Plain == "bitte" {
				last--
			}
			if i > 0 && beforeDeeds[c.words[0].Plain] && deeds[c.words[last].Plain] && !c.quoted[last] {
				return last
			}
			return -1
		}
	}
	return -1
}

// related are, of some verbs, those that have something to do with a deed.
func (r *Reader) related(all []scored, c *clause, deed int) (left []scored) {
	var buf [48]match
	near := map[int32]bool{}
	for _, m := range r.ix.matches(buf[:0], c.stems[deed], c.ownStem(deed)) {
		if m.weight != 1 {
			continue // a word that is used for it elsewhere says little here: to take, for to delete
		}
		for _, a := range r.ix.about[m.stem] {
			near[a.verb] = true
		}
	}
	does := false
	for _, s := range all {
		if near[s.verb] {
			left = append(left, s)
			does = does || len(r.ix.verbs[s.verb].Effects) > 0
		}
	}
	if !does {
		return nil // what only answers does no deed, though it may tell of one: which requests are closed
	}
	return left
}
