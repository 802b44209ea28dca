package values

import "testing"

// O11: what is plainly no answer to a question for somebody's own words, what
// plainly is one, and what has to be asked about, in the Languages. None of the
// answers is taken for a remark.
func TestReadRemark(t *testing.T) {
	t.Parallel()
	for want, all := range map[Remark][]string{
		ARemark: {
			"I'm not sure I have that here", "one moment please", "why is this needed?", "why is this needed", "can we do this later", "I don’t know.", "hold on",
			"Let me check with our accountant.", "no idea, sorry", "I don't have it here", "just a second", "not now", "Later.", "I have to ask my husband", "What do you mean", "do you really need this", "I'll get back to you on that",
			"Das weiß ich leider nicht", "einen Moment bitte", "warum brauchen Sie das", "können wir das später machen", "Da bin ich mir nicht sicher", "Keine Ahnung", "da muss ich erst nachsehen", "Ich verstehe die Frage nicht",
			"je ne sais pas", "un instant s’il vous plaît", "pourquoi est-ce nécessaire", "peut-on faire cela plus tard", "je ne suis pas sûre de l'avoir ici", "aucune idée", "laissez-moi vérifier",
			"no lo sé", "un momento por favor", "por qué hace falta esto", "podemos hacer esto más tarde", "no estoy seguro de tenerlo aquí", "ni idea", "déjeme ver", "¿Y eso para qué?",
		},
		MaybeARemark: {
			"I think it was a bakery", "We sold it, I'm not sure when", "What's Cooking Ltd", "I will send you the contract", "Which Wich GmbH",
			"Ich glaube, es war eine Bäckerei", "Das schicke ich Ihnen später", "Je crois que c'était une boulangerie", "Creo que era una panadería",
		},
		NoRemark: {
			"Maybe 1998", "tomorrow", "next week", "I think 12 March 1972", "Dupont Logistics SA", "Founded a company in 1998, and sold it in 2015.", "We sold our house in Lyon.", "I inherited it from my father", "My salary as a surgeon over thirty years", "12 rue de la Paix, Paris", "Momentum Holdings", "Later Media BV is wrong? No: 1998. I founded the company in that year with my brother and sold it a long time after that in 2015.",
			"Ich habe von meinem Vater geerbt", "Verkauf der Firma 2015", "Wartenberg GmbH", "Un héritage de ma mère", "J'ai vendu mon entreprise", "Heredé de mi padre", "La venta de mi empresa", "Espérance SA", "Sé Tú Mismo SL", "no", "none", "", "Nosotros vendimos la casa",
		},
	} {
		for _, text := range all {
			if got := ReadRemark(text); got != want {
				t.Errorf("%q is %d, not %d", text, got, want)
			}
		}
	}
}

// It reads anything, and never two ways.
func FuzzReadRemark(f *testing.F) {
	f.Add("one moment please")
	f.Add("I think it was a bakery\x00?")
	f.Fuzz(func(t *testing.T, text string) {
		if a, b := ReadRemark(text), ReadRemark(text+" "); a != b {
			t.Errorf("%q is %d, and with a blank %d", text, a, b)
		}
	})
}
