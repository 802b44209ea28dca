package lsp

import "encoding/json"

// The part of the protocol that is spoken here: version 3.17, with positions in UTF-16.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type diagnostic struct {
	Range    span      `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code,omitempty"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type published struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type folder struct {
	URI string `json:"uri"`
}

type initializeParams struct {
	RootURI      string   `json:"rootUri"`
	Folders      []folder `json:"workspaceFolders"`
	Capabilities struct {
		Workspace struct {
			Watched struct {
				Dynamic bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

type textDocument struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

type openParams struct {
	Document textDocument `json:"textDocument"`
}

type changeParams struct {
	Document textDocument `json:"textDocument"`
	Changes  []change     `json:"contentChanges"`
}

// A change replaces a range, or the whole text if there is no range.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type foldersParams struct {
	Event struct {
		Added   []folder `json:"added"`
		Removed []folder `json:"removed"`
	} `json:"event"`
}

// params are the parameters of every request about a place.
type params struct {
	Document textDocument `json:"textDocument"`
	Position position     `json:"position"`
	Range    span         `json:"range"`
	NewName  string       `json:"newName"`
	Query    string       `json:"query"`
	Context  struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics"`
	Preferred   bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

type completionList struct {
	Incomplete bool             `json:"isIncomplete"`
	Items      []completionItem `json:"items"`
}

type completionItem struct {
	Label    string    `json:"label"`
	Kind     int       `json:"kind"`
	Detail   string    `json:"detail,omitempty"`
	Doc      string    `json:"documentation,omitempty"`
	Filter   string    `json:"filterText,omitempty"`
	Sort     string    `json:"sortText,omitempty"`
	TextEdit *textEdit `json:"textEdit,omitempty"`
}

type signatureHelp struct {
	Signatures []signature `json:"signatures"`
	Active     int         `json:"activeSignature"`
	Parameter  int         `json:"activeParameter"`
}

type signature struct {
	Label      string           `json:"label"`
	Doc        string           `json:"documentation,omitempty"`
	Parameters []parameterLabel `json:"parameters"`
}

type parameterLabel struct {
	Label string `json:"label"`
	Doc   string `json:"documentation,omitempty"`
}

type symbol struct {
	Name     string    `json:"name"`
	Detail   string    `json:"detail,omitempty"`
	Kind     int       `json:"kind"`
	Range    *span     `json:"range,omitempty"`
	Select   *span     `json:"selectionRange,omitempty"`
	Location *location `json:"location,omitempty"` // of a symbol of the workspace, instead
	Children []symbol  `json:"children,omitempty"`
}

// Numbers that the protocol gives to kinds of completions and symbols.
const (
	itemFunction, itemField, itemVariable, itemClass, itemProperty, itemEnum, itemKeyword, itemEnumMember = 3, 5, 6, 7, 10, 13, 14, 20

	symbolClass, symbolField, symbolEnum, symbolFunction, symbolVariable, symbolEnumMember, symbolKey = 5, 8, 10, 12, 13, 22, 20
)

// capabilities are the supported features.
var capabilities = json.RawMessage(`{
	"positionEncoding": "utf-16",
	"textDocumentSync": {"openClose": true, "change": 2, "save": true},
	"completionProvider": {"triggerCharacters": [":", "@", ".", " "]},
	"hoverProvider": true,
	"signatureHelpProvider": {"triggerCharacters": [" ", ":"]},
	"definitionProvider": true,
	"referencesProvider": true,
	"renameProvider": {"prepareProvider": true},
	"documentFormattingProvider": true,
	"documentSymbolProvider": true,
	"workspaceSymbolProvider": true,
	"codeActionProvider": {"codeActionKinds": ["quickfix"]},
	"semanticTokensProvider": {"legend": {"tokenTypes": ["function", "parameter", "variable", "enumMember", "string", "number", "comment", "keyword", "type", "property"], "tokenModifiers": ["declaration"]}, "full": true},
	"workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}}
}`)
