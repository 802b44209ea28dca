package values

import "testing"

// U36, SAFE-C7: a yes may say back what was asked, in words of the question, of its verb and of
// its values. A message with any other word, with half of a value or with another is no yes.
func TestAYesMaySayBackWhatWasAsked(t *testing.T) {
	t.Parallel()
	repairs := NewMatter("Shall I order repairs for Wind Two?", map[string]string{"what": "repairs", "project-id": "Wind Two"}, []string{"order {what} for {project-id}", "bestellen Sie {what} für {project-id}", "commandez {what} pour {project-id}", "pide {what} para {project-id}", "we are waiting for {what}"}, "order")
	paying := NewMatter("Shall I pay Hartley & Sons 1,480.50 euros for Wind Two on Friday 3 April 2026?", map[string]string{"payee": "Hartley & Sons", "amount": "1,480.50", "project-id": "Wind Two", "due": "Friday 3 April 2026"}, []string{"pay {payee} {amount} euros"}, "pay")
	moving := NewMatter("Shall I move €500 from Thomas to Karim?", map[string]string{"amount": "€500", "from": "Thomas", "to": "Karim"}, []string{"move {amount} from {from} to {to}"}, "move")
	several := NewMatter("Shall I order repairs and inspection for Wind Two?", map[string]string{"what": "repairs and inspection", "project-id": "Wind Two"}, nil, "order")
	spanish := NewMatter("¿Encargo las piezas para Wind Two?", map[string]string{"what": "las piezas", "project-id": "Wind Two"}, []string{"encarga {what} para {project-id}"}, "order")
	german := NewMatter("Soll ich Reparaturen für Wind Two bestellen?", map[string]string{"what": "Reparaturen", "project-id": "Wind Two"}, []string{"bestell {what} für {project-id}"}, "order")
	lease := map[string]string{"document-id": "Kwale lease.txt"}
	erase := []string{"delete {document-id}", "remove {document-id}", "löschen Sie {document-id}", "supprimez {document-id}", "borre {document-id}"}
	deleting := NewMatter("Shall I delete “Kwale lease.txt”, with its text and its links?", lease, erase, "delete-document")
	löschen := NewMatter("Soll ich „Kwale lease.txt“ mit Text und Verknüpfungen löschen?", lease, erase, "delete-document")
	supprimer := NewMatter("Dois-je supprimer « Kwale lease.txt », avec son texte et ses liens ?", lease, erase, "delete-document")
	borrar := NewMatter("¿Borro «Kwale lease.txt», con su texto y sus vínculos?", lease, erase, "delete-document")
	for _, two := range []string{"Shall I pay the invoice and close the account?", "Shall I pay with the card and close the account?", "Shall I pay with its money and tell Bob?", "Shall I pay Anna, with her card and receipt, and tell Bob?", "Soll ich mit Karte zahlen und Bob schreiben?", "Shall I pay with Card and Cash?"} {
		if NewMatter(two, map[string]string{"how": "Card"}, nil, "pay") != nil {
			t.Errorf("%q can be said back by halves", two)
		}
	}
	for _, c := range []struct {
		m    *Matter
		yes  []string
		none []string
	}{
		{repairs, []string{
			"Yes, please order the repairs for Wind Two.", "sure, order them. Thanks!", "yes, go ahead and order repairs", "Ja, bitte bestellen Sie repairs für Wind Two", "Oui, commandez-les.", "sí, pídelas" + "", "perfect, please order them", "No problem, order them please", "Yes to Wind Two",
			"ok, you can order the repairs of Wind Two", "yes, no objections at all, please order them as soon as possible", "Sounds good, order the repair", "yes pleae, order them",
		}, []string{
			"order repairs for Wind Two", "please order them", "Great order!", "Yes, please order the repairs for Wind One.", "Oui pour Wind Three, allez-y.", "yes, order repairs for Solar One", "Yes, order two repairs", "yes, order only the repairs", "yes, order them later", "Yes, order them on Friday",
			"yes, can you order them?", "yes, can you order them", "Yes, don't order them", "yes, I order repairs", "Yes, ordered", "yes, waiting for repairs", "yes, waiting", "yes, order the repairs first", "yes, order the repairs once Tom is back", "\"yes, order them\"", "yes, order (them)",
			"yes, order the repairs...", "yes, order 3 repairs", "yes, unless you order repairs", "ja, ich bestelle sie", "Oui, je commande", "yes, we order them", "yes, order the inspection", "order, yes, but not the repairs", "Yes, cancel the order", "did you order the repairs", "y\u200bes, order them",
			"yes, should I order them", "Yes, order repairs for Wind Two or Solar One", "yes and no, order them",
		}},
		{paying, []string{"Yes, pay them.", "yes, pay Hartley & Sons 1,480.50 euros on Friday 3 April 2026" + "", "ok, pay Hartley", "yes, pay 1480.50 euros", "yes, pay 1.480,5 euros"}, []string{
			"yes, pay 480.50 euros", "yes, pay 14,80.50 euros", "yes, pay 1.4805 euros", "yes, pay 148050 euros", "yes, pay 1,480 euros", "yes, pay 1,480.50 dollars", "yes, pay 50", "yes, pay them on 4 April", "yes, pay them on 3 April 2027", "yes, pay $1,480.50", "yes, pay Ben", "Yes, pay them 11,480.50 euros", "yes, pay half", "yes, Friday",
		}},
		{moving, []string{"Yes, move €500 from Thomas to Karim", "yes, move them"}, []string{"yes, from Karim to Thomas", "yes, move €500 from Karim to Thomas", "yes, Karim to Thomas", "yes, move $500", "yes, move €5", "yes, to Thomas"}},
		{several, []string{"yes, order repairs and inspection", "yes, order them"}, []string{"yes, order the repairs", "yes, the inspection"}},
		{spanish, []string{"sí, encárgalas", "Sí, encarga las piezas de Wind Two"}, []string{"sí, encargo las piezas", "sí, encargo", "sí, ya encargadas", "si encarga las piezas"}},
		{deleting, []string{"Yes, please delete it.", "Yes, delete it", "yes, remove it please", "yes, delete Kwale lease.txt. Thanks!", "Ja, bitte löschen."}, []string{
			"please delete it", "delete it", "Yes, delete its text", "Yes, delete the text and the links", "Yes, delete its links", "Yes, delete it and its links", "Yes, delete it and the permit", "Yes, delete it tomorrow", "Yes, delete the Kwale", "Yes, delete it, with its text", "Yes, delete all",
			"Yes, delete it once Ben agrees", "Yes, delete them all", "Yes, delete the old one", "Did you delete it?", "Yes, I will delete it", "She says yes, delete it",
		}},
		{löschen, []string{"Ja, bitte löschen.", "Ja, löschen Sie es bitte", "ja bitte, löschen. Danke!"}, []string{"Bitte löschen", "Ja, bitte den Text löschen", "Ja, Verknüpfungen löschen", "ja, erst morgen löschen", "ja, ist gelöscht", "Ja, ich lösche es"}},
		{supprimer, []string{"Oui, vous pouvez le supprimer.", "D'accord, supprimez-le", "Oui, supprimez-le, merci"}, []string{"supprimez-le", "oui, supprimez le texte", "oui, supprimez les liens", "oui, supprimez-le demain"}},
		{borrar, []string{"Sí, bórrelo.", "Sí, bórrelo, por favor"}, []string{"bórrelo", "sí, borre el texto", "sí, borre sus vínculos", "sí, borro", "sí, bórrelo mañana"}},
		{german, []string{"Ja, bestell die Reparatur", "Passt, bitte bestellen", "ja, bitte die Reparaturen bestellen", "Ja, kannst du bestellen"}, []string{"ja, bestellt", "ja, schon bestellt", "Ja, abbestellen", "ja, bestell nur die Reparatur", "ja, bestell Reparaturen für Wind Three", "ja, bestell sie aber erst Freitag", "ja, ist bestellt"}},
	} {
		for _, text := range c.yes {
			if got := ReadAnswerTo(text, c.m); got.Answer != Agree {
				t.Errorf("%q is %s", text, got.Answer)
			}
		}
		for _, text := range c.none {
			if got := ReadAnswerTo(text, c.m); got.Answer == Agree {
				t.Errorf("%q is taken for a yes", text)
			}
		}
	}
}

func TestNumbersAreComparedAsNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1,480.50": "1480.5", "1.480,50": "1480.5", "1'480.5": "1480.5", "300.00": "300", "1.480": "1.480", "1,480": "1,480", "3.4.2026": "3.4.2026", "1,234,567": "1234567", "12.50": "12.5", "1.23.45": "1.23.45", "03.04": "03.04"} {
		if got := sameFigure(text); got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
}

// U36: below a name stands who somebody is. What limits a yes is not skipped as such.
func TestSignaturesAreToldFromWhatIsSaid(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"Head of Assets": true, "Nordfeld Energy Ltd | +44 20 7946 0123 | www.nordfeld.example": true, "Directrice d'exploitation": true, "Leiter Betriebsführung": true, "ada@umza.example": true,
		"This e-mail is confidential. If you are not the intended recipient, please delete it.": true, "Diese E-Mail enthält vertrauliche Informationen. Wenn Sie nicht der richtige Adressat sind, löschen Sie diese Mail.": true,
		"Ce message est confidentiel. Si vous n'en êtes pas le destinataire, merci de le détruire.": true, "Si no es usted el destinatario de este mensaje, no lo copie. ¿Necesita imprimir este correo?": true,
		"next week please": false, "Next week please": false, "Monday morning": false, "Not before I have seen the quote": false, "PS: wait": false, "Max 2500": false, "Actually, wait": false, "Please print this e-mail and wait for me before you order.": false,
		"This message is confidential, and I do not want it": false, "Ist das teuer?": false, "Nur die Rotorblätter": false, "Ok?": false, "mañana": false, "Nachtrag: hat sich erledigt, Ben macht es selbst.": false,
	} {
		if got := Signature([]string{line}); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
