package words

import (
	"strings"
)

// An Answer is what a person says to a question that wants a yes or a no.
type Answer uint8

// The answers.
const (
	// Other is everything that is not clearly one of those below: another
	// subject, a question, a quotation, a yes with a condition.
	Other Answer = iota
	// Agree is a yes and nothing else.
	Agree
	// Decline is a no, or a never mind, and nothing else.
	Decline
	// Change wants something, but not this: "no wait, make it Friday".
	Change
)

var answerNames = [...]string{"other", "agree", "decline", "change"}

func (a Answer) String() string { return answerNames[a] }

// answerWords are, by language, what agrees, what declines, what asks for
// something else, and what may stand beside an answer and changes nothing.
var answerWords = [...][4]string{
	English: {
		"yes,yes do,yes do it,yeah,yep,yup,ok,okay,sure,sure thing,correct,that is correct,that s correct,that is right,that s right,right,exactly,perfect,great,fine,that s fine,good,sounds good,looks good,that works,works for me,that suits me,go ahead,do it,do that,please do,confirm,confirmed,i confirm,agreed,i agree,approve,approved,absolutely,definitely,of course,certainly,send it,go for it,it does,it is,that will do,y,all right,alright,very well",
		"no,nope,nah,no thanks,no thank you,not ok,not okay,not good,not right,not now,not yet,don t,do not,don t do it,do not do it,don t do that,cancel,cancel it,cancel that,stop,stop it,abort,never mind,nevermind,forget it,forget about it,leave it,leave it be,decline,i decline,reject,rejected,wrong,that is wrong,that s wrong,incorrect,that s not right,i don t agree,i do not agree,i disagree,n,absolutely not,of course not,certainly not,definitely not,rather not,i d rather not,better not,no way",
		"make it,instead,rather,actually,but,change,change it,wait,hold on,i meant,i mean,should be,switch,move it,except,not that one,the other,another,different,correction,sorry i meant",
		"please,thanks,thank you,thank you very much,now,then,hi,hello,just,it,that,for me,so,oh,well,um,uh,ah,hm,for now,right away,immediately,today,all of it,everything,this,many thanks,cheers,dear,please and thank you,very much,me,too",
	},
	German: {
		"ja,jawohl,jep,ok,okay,in ordnung,alles klar,klar,na klar,sicher,genau,richtig,das stimmt,stimmt,stimmt so,passt,das passt,perfekt,super,prima,gut,sehr gut,einverstanden,bestatigt,ich bestatige,mach das,machen sie das,mach es,machen sie es,mach,tun sie das,gerne,gern,ja gerne,bitte ja,selbstverstandlich,naturlich,auf jeden fall,absenden,schick es,schicken sie es,j,so ist es,das ist richtig,das ist in ordnung,freilich,gewiss,ja das passt",
		"nein,ne,nee,no,nein danke,nicht ok,nicht okay,nicht in ordnung,nicht gut,nicht richtig,nicht jetzt,noch nicht,abbrechen,brich ab,brechen sie ab,stopp,stop,halt,lass es,lassen sie es,vergiss es,vergessen sie es,egal,schon gut,ablehnen,abgelehnt,ich lehne ab,falsch,das ist falsch,das stimmt nicht,stimmt nicht,passt nicht,das passt nicht,nicht einverstanden,n,auf keinen fall,lieber nicht,keinesfalls,bitte nicht",
		"lieber,stattdessen,sondern,doch,aber,eigentlich,andern,andere,warte,warten sie,moment,ich meinte,mach es auf,statt,anders,ein anderer,eine andere,ein anderes,korrektur,verschieben",
		"bitte,danke,danke schon,vielen dank,danke sehr,jetzt,dann,mal,so,hallo,gleich,sofort,es,das,nun,also,ach,ah,oh,na,auch,heute,alles,sehr",
	},
	French: {
		"oui,ouais,ok,okay,d accord,entendu,bien sur,c est bon,c est bien,c est correct,c est juste,c est ca,c est exact,exact,exactement,parfait,super,tres bien,bien,ca marche,ca me va,cela me convient,ca me convient,allez y,vas y,faites le,fais le,faites,je confirme,confirme,confirmez,je suis d accord,absolument,certainement,volontiers,envoyez,envoyez le,o,tout a fait,naturellement,evidemment,oui merci",
		"non,nan,non merci,pas d accord,pas ok,pas bon,pas maintenant,pas encore,annulez,annule,annuler,arretez,arrete,stop,laissez tomber,laisse tomber,laissez,oubliez,oublie,tant pis,peu importe,je refuse,refuse,refuser,faux,c est faux,ce n est pas correct,ce n est pas bon,ce n est pas ca,pas du tout,surtout pas,n,ne le faites pas,ne fais pas ca,plutot pas,je ne suis pas d accord,jamais de la vie",
		"plutot,mais,changez,change,changer,attendez,attends,je voulais dire,mettez,mets,un autre,une autre,a la place,en fait,sauf,autre,correction,au lieu",
		"s il vous plait,s il te plait,svp,stp,merci,merci beaucoup,maintenant,bonjour,alors,tout de suite,ca,cela,le,ah,oh,bon,eh bien,donc,aujourd hui,tout,beaucoup",
	},
	Spanish: {
		"si,claro,claro que si,vale,ok,okay,de acuerdo,correcto,es correcto,exacto,exactamente,perfecto,genial,muy bien,bien,esta bien,me parece bien,me va bien,adelante,hazlo,hagalo,confirmo,confirmado,confirmar,acepto,aceptado,estoy de acuerdo,por supuesto,desde luego,eso es,asi es,envialo,envielo,s,efectivamente,sin problema,conforme",
		"no,nop,no gracias,no esta bien,no es correcto,no vale,ahora no,todavia no,aun no,cancela,cancele,cancelar,cancelalo,cancelelo,para,pare,alto,dejalo,dejelo,olvidalo,olvidelo,da igual,no importa,rechazo,rechazar,rechazado,incorrecto,esta mal,no estoy de acuerdo,no lo hagas,no lo haga,n,de ninguna manera,mejor no,en absoluto,claro que no,por supuesto que no,nunca",
		"mejor,pero,cambia,cambie,cambialo,cambielo,espera,espere,queria decir,quise decir,pon,ponga,otro,otra,en vez,en lugar,en realidad,sino,salvo,correccion",
		"por favor,gracias,muchas gracias,ahora,entonces,hola,pues,eso,lo,ah,oh,bueno,ya,ahora mismo,hoy,todo,muy",
	},
}

type answerSet struct {
	words   map[string]Answer // what may stand beside is Other
	longest int
}

var answerSets = func() (sets [len(answerWords)]answerSet) {
	for l := range answerWords {
		sets[l] = answerSet{words: map[string]Answer{}}
		for i, a := range []Answer{Agree, Decline, Change, Other} {
			for w := range strings.SplitSeq(answerWords[l][i], ",") {
				if _, taken := sets[l].words[w]; !taken {
					sets[l].words[w] = a
				}
				sets[l].longest = max(sets[l].longest, 1+strings.Count(w, " "))
			}
		}
	}
	return sets
}()

// longestAnswer is how many bytes an answer may have; whoever says more says
// something else as well.
const longestAnswer = 400

// ReadAnswer reads the answer to a question that wants a yes or a no. It is
// strict: every word has to belong to a yes for it to be one. A yes with a
// question mark, in quotation marks, from a quoted message, with a condition or
// beside a no is none. A no is taken for one as strictly, since what is declined
// is not asked again.
func ReadAnswer(text string, in In) Answer {
	if len(text) > longestAnswer {
		return Other
	}
	switch trimmed := strings.TrimSpace(text); trimmed {
	case "👍", "✅", "✓", "✔":
		return Agree
	case "👎", "❌":
		return Decline
	case "":
		return Other
	}
	languages := in.Languages
	if len(languages) == 0 {
		languages = Languages[:]
	}
	s := scan{text: text}
	s.divide()
	quoted := false
	for i := range s.tokens {
		if s.tokens[i].hidden {
			return Other
		}
		switch s.tokens[i].mark {
		case '?', '"', '“', '”', '„', '«', '»', '>', '¿', '`', '‹', '›', '…', '(', '*', '~', '|', '=':
			quoted = true
		}
	}
	// What is said has to be the same in every language that it may be in.
	found, changes := Other, false
	for n, l := range languages {
		a := s.answer(&answerSets[l])
		if a == Change {
			changes = true
		}
		switch {
		case n == 0 || found == Other:
			found = a
		case a != Other && a != found:
			return Other
		}
	}
	switch {
	case quoted && found != Change:
		return Other
	case changes:
		return Change
	}
	return found
}

// answer reads an answer in one language.
func (s *scan) answer(set *answerSet) Answer {
	var agrees, declines, changes, unknown bool
	for i := 0; i < len(s.tokens); {
		t := &s.tokens[i]
		if t.kind == markToken {
			i++
			continue
		}
		if t.kind == numberToken {
			unknown = true
			i++
			continue
		}
		s.key = append(s.key[:0], s.plain[t.from:t.to]...)
		a, known := set.words[string(s.key)]
		next := i + 1
		for n, j := 1, i+1; n < set.longest && j < len(s.tokens); n++ {
			if c := s.tokens[j].mark; (c == '-' || c == '\'' || c == '’') && j+1 < len(s.tokens) {
				j++
			}
			if s.tokens[j].kind != wordToken || s.tokens[j].space == newLine {
				break
			}
			s.key = append(append(s.key, ' '), s.plain[s.tokens[j].from:s.tokens[j].to]...)
			j++
			if b, ok := set.words[string(s.key)]; ok {
				a, known, next = b, true, j
			}
		}
		switch {
		case !known:
			unknown = true
		case a == Agree:
			agrees = true
		case a == Decline:
			declines = true
		case a == Change:
			changes = true
		}
		i = next
	}
	switch {
	case changes && (unknown || agrees || declines):
		return Change
	case declines && unknown && !agrees:
		return Other
	case unknown || changes, agrees && declines, !agrees && !declines:
		return Other
	case agrees:
		return Agree
	}
	return Decline
}
