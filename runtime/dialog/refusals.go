package dialog

import (
	"sync"

	"verbatim/runtime/words"
)

// What a refusal means for the person who is served, by its code. In English they
// are told what the refusal says itself, which knows more; the model and the
// record have that in any case.
var refusals = sync.OnceValue(func() map[string]words.Sentence {
	all := map[string]words.Sentence{}
	for _, m := range meanings {
		for _, code := range m.codes {
			all[code] = m.says
		}
	}
	return all
})

// A call that was made wrongly is nobody's fault but ours: the person said
// something that could not be put into one.
var misspoken = []string{"unknown-verb", "unknown-argument", "duplicate-argument", "wrong-type", "bad-ref-kind", "ambiguous-name", "unknown-field", "duplicate-binding",
	"unused-binding", "binding-shadows-name", "cycle", "hard-coded-uuid", "deprecated-verb", "no-result", "needs-earlier-call", "out-of-order", "no-such-call", "bad-turn", "one-tool"}

var meanings = []struct {
	codes []string
	says  words.Sentence
}{
	{misspoken, sayTooHard},
	{[]string{"missing-argument", "value-needed"}, words.Sentence{
		"Something is still missing for that. Say it again with all that belongs to it.",
		"Dafür fehlt noch eine Angabe. Sagen Sie es noch einmal mit allem, was dazugehört.",
		"Il manque encore une information. Redites-le avec tout ce qu’il faut.",
		"Todavía falta algún dato. Dígalo de nuevo con todo lo necesario."}},
	{[]string{"unknown-name"}, words.Sentence{
		"I could not find that among what you can see.",
		"Das habe ich unter dem, was Sie sehen können, nicht gefunden.",
		"Je ne l’ai pas trouvé parmi ce que vous pouvez voir.",
		"No lo he encontrado entre lo que usted puede ver."}},
	{[]string{"unknown-code"}, words.Sentence{
		"That is none of the possible answers.",
		"Das ist keine der möglichen Angaben.",
		"Ce n’est pas l’une des réponses possibles.",
		"Esa no es una de las respuestas posibles."}},
	{[]string{"out-of-range", "wrong-value", "too-precise"}, words.Sentence{
		"That value is not possible here. Please check it.",
		"Dieser Wert ist hier nicht möglich. Bitte prüfen Sie ihn.",
		"Cette valeur n’est pas possible ici. Vérifiez-la, s’il vous plaît.",
		"Ese valor no es posible aquí. Por favor, revíselo."}},
	{[]string{"too-short"}, words.Sentence{
		"That is too short. Please say a little more.",
		"Das ist zu kurz. Bitte sagen Sie etwas mehr dazu.",
		"C’est trop court. Dites-en un peu plus, s’il vous plaît.",
		"Es demasiado corto. Por favor, dé algún detalle más."}},
	{[]string{"too-long", "too-much"}, words.Sentence{
		"That is too much at once. Say it more briefly, or in parts.",
		"Das ist zu viel auf einmal. Sagen Sie es kürzer oder in Teilen.",
		"C’est trop à la fois. Dites-le plus brièvement, ou en plusieurs fois.",
		"Es demasiado de una vez. Dígalo más brevemente, o por partes."}},
	{[]string{"pattern-mismatch", "schema-mismatch", "invalid-duration"}, words.Sentence{
		"That is not written as it has to be. Please check it.",
		"Das hat nicht die nötige Form. Bitte prüfen Sie es.",
		"Ce n’est pas écrit sous la forme voulue. Vérifiez-le, s’il vous plaît.",
		"No está escrito en la forma necesaria. Por favor, revíselo."}},
	{[]string{"invalid-email"}, words.Sentence{
		"That is no e-mail address. Please check it.",
		"Das ist keine E-Mail-Adresse. Bitte prüfen Sie sie.",
		"Ce n’est pas une adresse e-mail. Vérifiez-la, s’il vous plaît.",
		"Eso no es una dirección de correo. Por favor, revísela."}},
	{[]string{"invalid-phone"}, words.Sentence{
		"That is no telephone number. Please check it.",
		"Das ist keine Telefonnummer. Bitte prüfen Sie sie.",
		"Ce n’est pas un numéro de téléphone. Vérifiez-le, s’il vous plaît.",
		"Eso no es un número de teléfono. Por favor, revíselo."}},
	{[]string{"not-permitted", "role-lost", "unknown-principal"}, words.Sentence{
		"You may not do that. Ask somebody who may.",
		"Das dürfen Sie nicht. Bitten Sie jemanden darum, der es darf.",
		"Vous n’y êtes pas autorisé. Demandez à quelqu’un qui l’est.",
		"Usted no está autorizado a hacerlo. Pídaselo a alguien que lo esté."}},
	{[]string{"requirement-not-met", "not-possible", "no-step", "not-accepted"}, words.Sentence{
		"That cannot be done as things stand. Ask for the state, or ask to talk to a person.",
		"Das geht beim jetzigen Stand nicht. Fragen Sie nach dem Stand, oder bitten Sie darum, mit einem Menschen zu sprechen.",
		"Ce n’est pas possible dans l’état actuel. Demandez où en sont les choses, ou demandez à parler à quelqu’un.",
		"Tal como están las cosas, no es posible. Pregunte cómo va, o pida hablar con una persona."}},
	{[]string{"needs-agreement"}, words.Sentence{
		"Somebody else has to agree to that first.",
		"Dem muss zuerst jemand anderes zustimmen.",
		"Quelqu’un d’autre doit d’abord donner son accord.",
		"Antes tiene que dar su acuerdo otra persona."}},
	{[]string{"same-person"}, words.Sentence{
		"Somebody else has to agree to that, not the one who asked for it.",
		"Dem muss jemand anderes zustimmen als die Person, die es wollte.",
		"C’est à quelqu’un d’autre d’y consentir, pas à la personne qui l’a demandé.",
		"Eso tiene que aprobarlo otra persona, no quien lo pidió."}},
	{[]string{"declined-before"}, words.Sentence{
		"You said no to that before. Say it anew if you want it after all.",
		"Dazu haben Sie schon nein gesagt. Sagen Sie es noch einmal neu, wenn Sie es doch möchten.",
		"Vous avez déjà répondu non. Redemandez-le si vous le souhaitez malgré tout.",
		"A eso ya dijo que no. Pídalo de nuevo si al final lo desea."}},
	{[]string{"stale-preview", "changed-meanwhile", "agreement-expired", "other-palette", "rights-changed", "key-reused", "session-moved"}, words.Sentence{
		"Something has changed in the meantime. Please say again what you would like.",
		"Inzwischen hat sich etwas geändert. Bitte sagen Sie noch einmal, was Sie möchten.",
		"Quelque chose a changé entre-temps. Redites ce que vous souhaitez, s’il vous plaît.",
		"Entretanto ha cambiado algo. Por favor, diga de nuevo qué desea."}},
	{[]string{"already-exists", "already-used", "already-waits"}, words.Sentence{
		"That is there already.",
		"Das gibt es schon.",
		"Cela existe déjà.",
		"Eso ya existe."}},
	{[]string{"secret-would-wait"}, words.Sentence{
		"That cannot wait for somebody else, because it is secret.",
		"Das kann nicht auf jemand anderen warten, weil es vertraulich ist.",
		"Cela ne peut pas attendre quelqu’un d’autre, car c’est confidentiel.",
		"Eso no puede quedar a la espera de otra persona, porque es confidencial."}},
	{[]string{"unknown-confirmation"}, words.Sentence{
		"Nothing of that name waits for your answer.",
		"Unter diesem Namen wartet nichts auf Ihre Antwort.",
		"Rien de ce nom n’attend votre réponse.",
		"No hay nada con ese nombre que espere su respuesta."}},
	{[]string{"unknown-upload"}, words.Sentence{
		"I have no such file from you. Please send it again.",
		"Diese Datei liegt mir von Ihnen nicht vor. Bitte senden Sie sie noch einmal.",
		"Je n’ai pas reçu ce fichier de votre part. Renvoyez-le, s’il vous plaît.",
		"No tengo ese archivo de usted. Por favor, envíelo de nuevo."}},
	{[]string{"upload-not-scanned"}, words.Sentence{
		"The file is still being looked at for anything harmful. Wait a little, and ask again.",
		"Die Datei wird noch auf Schädliches geprüft. Warten Sie einen Augenblick, und fragen Sie dann noch einmal.",
		"Le fichier est encore en cours de vérification. Attendez un peu, puis réessayez.",
		"El archivo todavía se está comprobando. Espere un poco y vuelva a intentarlo."}},
	{[]string{"upload-harmful"}, words.Sentence{
		"Something harmful was found in that file, and it was not kept. Send another one, from a device that was checked.",
		"In dieser Datei wurde etwas Schädliches gefunden; sie wurde nicht behalten. Senden Sie eine andere, von einem geprüften Gerät.",
		"Un élément dangereux a été trouvé dans ce fichier, qui n’a pas été conservé. Envoyez-en un autre, depuis un appareil vérifié.",
		"En ese archivo se ha encontrado algo dañino y no se ha guardado. Envíe otro, desde un dispositivo comprobado."}},
	{[]string{"upload-type"}, words.Sentence{
		"Files of that type are not taken here. Send it in another form, such as PDF.",
		"Dateien dieser Art werden hier nicht angenommen. Senden Sie sie in einer anderen Form, zum Beispiel als PDF.",
		"Ce type de fichier n’est pas accepté ici. Envoyez-le sous une autre forme, par exemple en PDF.",
		"Aquí no se aceptan archivos de ese tipo. Envíelo en otra forma, por ejemplo en PDF."}},
	{[]string{"upload-too-large"}, words.Sentence{
		"That file is too large. Send a smaller one: fewer pages, or a picture of less detail.",
		"Diese Datei ist zu groß. Senden Sie eine kleinere: weniger Seiten, oder ein Bild mit weniger Einzelheiten.",
		"Ce fichier est trop volumineux. Envoyez-en un plus petit : moins de pages, ou une image moins détaillée.",
		"Ese archivo es demasiado grande. Envíe uno más pequeño: menos páginas, o una imagen con menos detalle."}},
	{[]string{"origin"}, words.Sentence{
		"That has to come from you. Please say it in your own words.",
		"Das muss von Ihnen selbst kommen. Bitte sagen Sie es mit Ihren eigenen Worten.",
		"Cela doit venir de vous. Dites-le avec vos propres mots, s’il vous plaît.",
		"Eso tiene que venir de usted. Por favor, dígalo con sus propias palabras."}},
	{[]string{"which-at-work", "nothing-at-work"}, words.Sentence{
		"I do not know which one this is about. Say its name first.",
		"Ich weiß nicht, worum es dabei geht. Nennen Sie zuerst den Namen.",
		"Je ne sais pas de quoi il s’agit. Donnez d’abord le nom.",
		"No sé de cuál se trata. Diga primero el nombre."}},
	{[]string{"no-session", "unknown-session", "session-too-large", "bad-session"}, words.Sentence{
		"This conversation is not kept, so nothing can be gone through step by step in it. Say it all in one message, or ask to talk to a person.",
		"Dieses Gespräch wird nicht aufbewahrt, deshalb geht darin nichts Schritt für Schritt. Sagen Sie alles in einer Nachricht, oder bitten Sie darum, mit einem Menschen zu sprechen.",
		"Cette conversation n’est pas conservée ; on ne peut donc rien y faire étape par étape. Dites tout en un seul message, ou demandez à parler à quelqu’un.",
		"Esta conversación no se guarda, así que en ella nada puede hacerse paso a paso. Dígalo todo en un solo mensaje, o pida hablar con una persona."}},
	{[]string{"tool-unfit", "tool-needs", "tool-silent", "tool-failed", "tool-answer", "tool-alone", "tool-otherwise", "tool-answers-later", "names-unread", "not-carried-out"}, words.Sentence{
		"Another system that this needs could not do it. Try again later, or ask to talk to a person.",
		"Ein anderes System, das dafür gebraucht wird, konnte es nicht ausführen. Versuchen Sie es später noch einmal, oder bitten Sie darum, mit einem Menschen zu sprechen.",
		"Un autre système, nécessaire pour cela, n’a pas pu le faire. Réessayez plus tard, ou demandez à parler à quelqu’un.",
		"Otro sistema que hace falta para esto no ha podido hacerlo. Inténtelo más tarde, o pida hablar con una persona."}},
	{[]string{"tool-unknown"}, sayUnknownEnd},
}
