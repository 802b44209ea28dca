package values

import "testing"

// A text that only says that it is not known is no answer, in whatever words, and one that says what
// there is or is not is one. (T23)
func TestTextsThatAbstain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "  ", "...", "-", "?", "I do not know.", "I don't know", "I really don’t know, sorry.", "Sorry, I cannot say.", "I'm not sure about that.", "No idea.",
		"There is no information about this in the text.", "The text does not mention the cause of the grounding.", "No information available.", "Unfortunately, I could not find the vessel.",
		"The cause is unknown.", "It is not stated in the report.", "The berth has not yet been found? Please ask again.", "Not available", "N/A", "n.a.", "unknown", "null",
		"Error: no such vessel", "no such vessel", "Internal Server Error", "500 Internal Server Error", "HTTP 404: not found", "Vessel not found", "timeout", "Request timed out after 30 s", "connection refused: 10.0.0.1",
		"Traceback (most recent call last)", "java.lang.NullPointerException: null", "Access denied.", "Hello!", "Good morning, captain.", "Hi there! How can I help you today?", "As an AI model I cannot answer that.",
		"I am sorry. I do not have that information. Please contact the harbour master.", "Which vessel do you mean?",
		"Ich weiß es leider nicht.", "Das weiß ich nicht.", "Dazu gibt es keine Angaben.", "Der Text enthält dazu keine Informationen.", "Der Grund ist im Text nicht angegeben.", "Keine Ahnung", "Fehler: Schiff nicht gefunden", "Guten Tag!",
		"Je ne sais pas.", "Je n'ai aucune information à ce sujet.", "Le texte ne le précise pas.", "La cause n'est pas connue.", "Erreur : délai dépassé", "Bonjour !",
		"No lo sé.", "No hay información sobre esto.", "El texto no menciona la causa.", "La causa es desconocida.", "Error: acceso denegado", "Hola",
	} {
		if !Abstains(text) {
			t.Errorf("%q counts as an answer", text)
		}
	}
	for _, text := range []string{
		"K lies at berth 1.", "K has left.", "No leak was found.", "No connection between Nobody and Nothing was found.", "The pilot had left early.", "Both ratings are A1.", "The two ratings differ: A1 and D4.",
		"500 tons of cotton", "None", "0", "A1", "off Hamburg", "Port Halden", "yes", "The documents speak of transparency duties, of high-risk systems and of fines for breaches.", "Transparency duties\nHigh-risk systems\nFines for breaches",
		"I do not know the port. The vessel is the Albatros.", "The error was corrected on 3 May.", "He did not know that the chart was of 2019.", "Twistlocks were worn and the swell was 9 metres.", "Unknown Pleasures is a record of 1979.",
		"Hello to you, who read this text with care.", "Zebras Quagga 77 Okapi Tapir", "The crew left because nobody knew the way.", "There are no vessels in port.", "There is no way of at most 3 links.",
		"Kein Leck wurde gefunden.", "Das Schiff liegt in Hamburg.", "Der Lotse war früh gegangen.", "Aucune fuite n'a été trouvée à bord.", "Le navire est à Brest.", "No se encontró ninguna fuga a bordo.", "El barco está en Vigo.",
	} {
		if Abstains(text) {
			t.Errorf("%q counts as no answer", text)
		}
	}
	for text, want := range map[string]bool{"The Albatros touched ground off Texel because the": true, "It lies at": true, "Es liegt an der": true, "Il est au": true, "K lies at berth 1": false, "What is it made of?": false, "at": false, "Grounding off Texel": false} {
		if Unended(text) != want {
			t.Errorf("%q ends otherwise", text)
		}
	}
}
