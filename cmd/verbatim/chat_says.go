package main

import (
	"errors"
	"io/fs"

	"verbatim/runtime/dialog"
	"verbatim/runtime/upload"
	"verbatim/runtime/words"
)

// What the conversation itself says to whoever talks, beside what runtime/dialog
// answers, in each language and to be read aloud together with it. What an operator
// is told, about flags and endpoints, is English.

var (
	sayBegin = words.Sentence{
		"Say what you would like, a line at a time. /why tells how an answer came about, /quit ends.",
		"Sagen Sie, was Sie möchten, Zeile für Zeile. /why erklärt, wie eine Antwort zustande kam, /quit beendet das Gespräch.",
		"Dites ce que vous souhaitez, une ligne à la fois. /why explique comment une réponse a été obtenue, /quit met fin à la conversation.",
		"Diga qué desea, línea por línea. /why explica cómo se llegó a una respuesta, /quit termina la conversación."}
	sayNoWhy = words.Sentence{
		"nothing was said yet",
		"es wurde noch nichts gesagt",
		"rien n’a encore été dit",
		"todavía no se ha dicho nada"}
	sayNoCommand = words.Sentence{
		"{} means nothing here. /why tells how an answer came about, /send FILE sends a file, /quit ends; anything else is said in plain words.",
		"{} gibt es hier nicht. /why erklärt, wie eine Antwort zustande kam, /send DATEI sendet eine Datei, /quit beendet das Gespräch; alles andere sagen Sie mit einfachen Worten.",
		"{} n’existe pas ici. /why explique comment une réponse a été obtenue, /send FICHIER envoie un fichier, /quit met fin à la conversation ; le reste se dit avec des mots simples.",
		"{} no existe aquí. /why explica cómo se llegó a una respuesta, /send ARCHIVO envía un archivo, /quit termina la conversación; lo demás se dice con palabras sencillas."}
	sayLineTooLong = words.Sentence{
		"that message is longer than 4 MB, and was not read",
		"diese Nachricht ist länger als 4 MB und wurde nicht gelesen",
		"ce message dépasse 4 Mo et n’a pas été lu",
		"ese mensaje ocupa más de 4 MB y no se ha leído"}
	saySendPart = words.Sentence{
		"send the part that matters",
		"senden Sie den Teil, auf den es ankommt",
		"envoyez la partie qui compte",
		"envíe la parte que importa"}

	// Files
	hereIs     = words.Sentence{"Here is {}: {}", "Hier ist {}: {}", "Voici {} : {}", "Aquí está {}: {}"}
	wasSent    = words.Sentence{"Sent: {}, {}, {}", "Gesendet: {}, {}, {}", "Envoyé : {}, {}, {}", "Enviado: {}, {}, {}"}
	sayNotSent = words.Sentence{
		"not sent: {}\nnext: {}",
		"nicht gesendet: {}\nwie weiter: {}",
		"non envoyé : {}\nensuite : {}",
		"no enviado: {}\nqué hacer: {}"}
	sayUnreadFile = words.Sentence{
		"{} cannot be read: {}",
		"{} lässt sich nicht lesen: {}",
		"{} est illisible : {}",
		"{} no se puede leer: {}"}
	sayFileLost = words.Sentence{
		"the file could not be kept or looked at",
		"die Datei konnte nicht behalten oder geprüft werden",
		"le fichier n’a pas pu être conservé ou vérifié",
		"el archivo no se ha podido guardar o comprobar"}

	// Meanwhile
	sayAsksModel = words.Sentence{"waiting for the model", "wartet auf das Sprachmodell", "en attente du modèle", "esperando al modelo"}
	sayMends     = words.Sentence{
		"waiting for the model, which is putting something right",
		"wartet auf das Sprachmodell, das etwas berichtigt",
		"en attente du modèle, qui corrige quelque chose",
		"esperando al modelo, que está corrigiendo algo"}
	sayLooks = words.Sentence{"looking: {}", "sieht nach: {}", "recherche : {}", "buscando: {}"}
	sayWorks = words.Sentence{"at work: {}", "arbeitet: {}", "en cours : {}", "en marcha: {}"}
)

// Why a file was not sent, and what to do.
var (
	notSendingHere = unsent{
		words.Sentence{"no file can be sent here", "hier können keine Dateien gesendet werden", "aucun fichier ne peut être envoyé ici", "aquí no se pueden enviar archivos"},
		words.Sentence{"begin with verbatim chat --send-from FOLDER", "beginnen Sie mit verbatim chat --send-from ORDNER", "commencez par verbatim chat --send-from DOSSIER", "empiece con verbatim chat --send-from CARPETA"}}
	noFileNamed = unsent{
		words.Sentence{"nothing says which file", "es fehlt, welche Datei", "le fichier n’est pas indiqué", "falta decir qué archivo"},
		words.Sentence{"/send passport.pdf", "/send reisepass.pdf", "/send passeport.pdf", "/send pasaporte.pdf"}}
	fileHarmful = unsent{
		words.Sentence{
			"something harmful was found in the file, and it was not kept",
			"in der Datei wurde etwas Schädliches gefunden; sie wurde nicht behalten",
			"un élément dangereux a été trouvé dans le fichier, qui n’a pas été conservé",
			"en el archivo se ha encontrado algo dañino y no se ha guardado"},
		words.Sentence{
			"send another, from a device that was checked",
			"senden Sie eine andere, von einem geprüften Gerät",
			"envoyez-en un autre, depuis un appareil vérifié",
			"envíe otro, desde un dispositivo comprobado"}}
	tryAgain   = words.Sentence{"try again", "versuchen Sie es noch einmal", "réessayez", "inténtelo de nuevo"}
	nameOfFile = words.Sentence{
		"name a file of the folder that --send-from names",
		"nennen Sie eine Datei aus dem Ordner, den --send-from nennt",
		"indiquez un fichier du dossier que --send-from désigne",
		"indique un archivo de la carpeta que indica --send-from"}
)

// An unsent is why a file was not sent, and what to do then.
type unsent struct{ why, next words.Sentence }

// unsentBy is what a file is refused for before a verb takes it, by its code. In
// English the refusal itself is told, which knows more.
var unsentBy = map[string]unsent{
	upload.CodeEmpty: {
		words.Sentence{"the file is empty", "die Datei ist leer", "le fichier est vide", "el archivo está vacío"},
		words.Sentence{"send one that has something in it", "senden Sie eine, in der etwas steht", "envoyez-en un qui contient quelque chose", "envíe uno que tenga contenido"}},
	upload.CodeTooLarge: {
		words.Sentence{"the file is larger than what is taken here", "die Datei ist größer, als hier angenommen wird", "le fichier est plus volumineux que ce qui est accepté ici", "el archivo es más grande de lo que se acepta aquí"},
		words.Sentence{"send a smaller one: fewer pages, or a picture of less detail", "senden Sie eine kleinere: weniger Seiten, oder ein Bild mit weniger Einzelheiten", "envoyez-en un plus petit : moins de pages, ou une image moins détaillée", "envíe uno más pequeño: menos páginas, o una imagen con menos detalle"}},
	upload.CodeNotPermitted: {
		words.Sentence{"you may not send files here", "Sie dürfen hier keine Dateien senden", "vous n’êtes pas autorisé à envoyer des fichiers ici", "usted no está autorizado a enviar archivos aquí"},
		words.Sentence{"ask somebody who may", "bitten Sie jemanden darum, der es darf", "demandez à quelqu’un qui l’est", "pídaselo a alguien que lo esté"}},
}

// unreadable says why a file cannot be read. What the system says of it is English.
func unreadable(l words.Language, err error) string {
	switch {
	case l == words.English:
		return reason(err)
	case errors.Is(err, fs.ErrNotExist):
		return words.Sentence{"it is not there", "es gibt sie nicht", "il n’existe pas", "no existe"}.In(l)
	case errors.Is(err, fs.ErrPermission):
		return words.Sentence{"it may not be read", "das Lesen ist nicht erlaubt", "la lecture n’est pas autorisée", "no está permitido leerlo"}.In(l)
	case errors.Is(err, errNoFile):
		return words.Sentence{"it is no file", "es ist keine Datei", "ce n’est pas un fichier", "no es un archivo"}.In(l)
	}
	return words.Sentence{"it is not in the folder", "sie liegt nicht in diesem Ordner", "il n’est pas dans ce dossier", "no está en esa carpeta"}.In(l)
}

// notSentFor words a refusal of the service that takes files.
func notSentFor(l words.Language, refused *upload.Refusal) (why, next string) {
	if says, ok := unsentBy[refused.Code]; ok && l != words.English {
		return says.why.In(l), says.next.In(l)
	}
	return refused.Text, refused.Next
}

var errNoFile = errors.New("it is no file")

// atWork says what a turn is at.
func atWork(e dialog.Event) string {
	switch e.Kind {
	case dialog.AskingModel:
		return sayAsksModel.In(e.Language)
	case dialog.Mending:
		return sayMends.In(e.Language)
	case dialog.Reading:
		return sayLooks.In(e.Language, e.About)
	case dialog.Doing:
		return sayWorks.In(e.Language, e.About)
	}
	return ""
}
