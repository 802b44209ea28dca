package runtime

import (
	"strings"

	"verbatim/dsl"
)

const agreedExample = "; as kim, agreed to by bo\nlending.extend :loan-id @saw-bob :new-date 2025-03-20"

// Codes explains every code that the engine can answer with. The first line of
// an example says who runs it and what they agree to; examples that begin with
// `domain:` are palettes, beside a program that registers a handler for
// shop.price which takes :name, a string.
func Codes() []dsl.CodeDoc {
	return []dsl.CodeDoc{
		{
			Code:    codeUnknownPrincipal,
			Meaning: "A session is for somebody that the store knows: a principal with roles and with rows that they hold. Nobody of this name is known.",
			Wrong:   "; as eve\nlending.list-items",
			Right:   "; as kim\nlending.list-items",
		},
		{
			Code:    codeNotPermitted,
			Meaning: "A verb names the roles that may use it, and you have none of them. A script of verbs needs the right to each of them. Nothing of the script was done.",
			Wrong:   "; as kim\nlending.board-only :item-id @saw",
			Right:   "; as bo\nlending.board-only :item-id @saw",
		},
		{
			Code:    codeUnknownName,
			Meaning: "A reference must name something that you can see. Whether there is no such thing, or it belongs to somebody else, is not said.",
			Wrong:   "; as kim\nlending.lose :item-id 00000000-0000-4000-8000-000000000025",
			Right:   "; as kim\nlending.lose :item-id @drill",
		},
		{
			Code:    codeNoResult,
			Meaning: "What a name from `:as` stands for is known once its call was made. This call gave no row, or several where one is needed.",
			Wrong:   "; as kim\nlending.list-items :as @all\nlending.note :loan-id @saw-bob :note @all.name",
			Right:   "; as kim\nlending.get-item :item-id @saw :as @one\nlending.note :loan-id @saw-bob :note @one.name",
		},
		{
			Code:    codeWrongValue,
			Meaning: "An argument was given a field or a result, and what it held is not of the argument's type; or what is reckoned from the arguments is out of range.",
			Wrong:   "; as kim\nlending.look :item-id @drill :as @x\nlending.remind :loan-id @saw-bob :on @x.name",
			Right:   "; as kim\nlending.look :item-id @drill :as @x\nlending.note :loan-id @saw-bob :note @x.name",
		},
		{
			Code:    codeNeedsAgreement,
			Meaning: "Some calls ask first. Look at the preview, and agree to it by its id. Where somebody else has to agree, your own agreement is not enough.",
			Wrong:   "; as kim, agreeing to nothing\nlending.forget :reminder-id @saw-2025-01-11",
			Right:   "; as kim, agreeing to what was shown\nlending.forget :reminder-id @saw-2025-01-11",
		},
		{
			Code:    codeRequirementNotMet,
			Meaning: "A palette says what must hold before a verb may be used, and this did not. What is told is the palette's own sentence, and the place is where it stands there.",
			Wrong:   "; as kim\nlending.return :loan-id @saw-bob\nlending.return :loan-id @saw-bob",
			Right:   "; as kim\nlending.return :loan-id @saw-bob",
		},
		{
			Code:    codeStalePreview,
			Meaning: "You agreed to a preview, and what would happen now is something else: a row changed since, or the script did. What is shown is what runs, so nothing was done.",
			Wrong:   "; as kim, agreeing to 0000-0000\nlending.forget :reminder-id @saw-2025-01-11",
			Right:   "; as kim, agreeing to what was shown\nlending.forget :reminder-id @saw-2025-01-11",
		},
		{
			Code:    codeNotCarriedOut,
			Meaning: "The palette declares the verb, but what carries it out is not part of this program: a handler in Go, or a tool of another server.",
			Wrong:   "; as kim\ncrafted.appraise :item-id @saw :worth 300.00",
			Right:   "; as kim\nlending.lose :item-id @drill",
		},
		{
			Code:    codeValueNeeded,
			Meaning: "A row needs a value for this field, or a condition needs it to be decided, and the arguments that it comes from were left out.",
			Wrong:   "; as kim\nlending.plan :loan-id @saw-bob",
			Right:   "; as kim\nlending.plan :loan-id @saw-bob :on 2025-02-01",
		},
		{
			Code:    codeNotAccepted,
			Meaning: "The database, or a closed list of codes, does not take what would be stored. Something may still refer to what would be deleted.",
			Wrong:   "; as kim, agreeing to what was shown\nlending.drop-loan :loan-id @saw-bob",
			Right:   "; as kim, agreeing to what was shown\nlending.drop-loan :loan-id @tent-ann",
		},
		{
			Code:    codeAlreadyExists,
			Meaning: "A value that must be unique is taken already by something that you can see.",
			Wrong:   "; as kim\nlending.add-item :club-id @north :name \"Drill\"",
			Right:   "; as kim\nlending.add-item :club-id @north :name \"Axe\"",
		},
		{
			Code:    codeWorkWaits,
			Meaning: "The palette says by which arguments one piece of work for later is told from another, and that there is one of them at a time. One waits, or is being done.",
			Wrong:   "; as kim\nlending.ask-later :loan-id @saw-bob :on 2030-01-01\nlending.ask-later :loan-id @saw-bob :on 2030-02-02",
			Right:   "; as kim\nlending.ask-later :loan-id @saw-bob :on 2030-01-01",
		},
		{
			Code:    codeSecretWaits,
			Meaning: "What a trigger runs is kept until its time, and what is kept must not be secret. The value was taken from something sensitive: a field, the answer of another call, or an argument of a macro.",
			Wrong:   "; as kim\nlending.note-later :loan-id @saw-bob :text @ann.phone :on 2030-01-01",
			Right:   "; as kim\nlending.note-later :loan-id @saw-bob :text \"call him\" :on 2030-01-01",
		},
		{
			Code:    codeChangedMeanwhile,
			Meaning: "Somebody else was changing the same rows at the same moment, several times over. Nothing was done.",
			Wrong:   "; as kim, while somebody else writes\nlending.lose :item-id @drill",
			Right:   "; as kim\nlending.lose :item-id @drill",
		},
		{
			Code:    codeTooMuch,
			Meaning: "A call would go through more rows than one call may, or a script would make more calls than one script may.",
			Wrong:   "; as kim, while there are very many rows\nlending.clean :before 2030-01-01",
			Right:   "; as kim\nlending.clean :before 2030-01-01",
		},
		{
			Code:    codeNamesUnread,
			Meaning: "Names such as @saw stand for rows, and the store did not answer when they were looked up.",
			Wrong:   "; as kim, while the store does not answer\nlending.lose :item-id @drill",
			Right:   "; as kim\nlending.lose :item-id @drill",
		},
		{
			Code:    codeHandlerRefused,
			Meaning: "The program that carries the verb out looked at what was asked for, and declined. It says why.",
			Wrong:   "; as kim, with handlers\ncrafted.appraise :item-id @saw :worth 0",
			Right:   "; as kim, with handlers\ncrafted.appraise :item-id @saw :worth 300.00",
		},
		{
			Code:    codeNoStep,
			Meaning: "A palette says which state of a row may follow which, and this does not follow the one that it is in.",
			Wrong:   "; as kim, at the desk in the session today\ndesk.finish :job-id @paint desk.start :job-id @paint",
			Right:   "; as kim, at the desk in the session today\ndesk.finish :job-id @paint",
		},
		{
			Code:    codeNoSession,
			Meaning: "A verb that sets something in the session begins what later calls go on with. Under a name a session is kept, from process to process; without one it keeps nothing, and neither can anything be said in it.",
			Wrong:   "; as kim, at the desk\ndesk.take :item-id @drill",
			Right:   "; as kim, at the desk in the session today\ndesk.take :item-id @drill",
		},
		{
			Code:    codeWhichAtWork,
			Meaning: "An argument that was left out stands for the row that you are at work on. You see several such rows and have chosen none, so that it is for you to say which. Only where a session that has a name does nothing but look is the first of them shown, and told to be.",
			Wrong:   "; as ada, at the desk\ndesk.buy :name \"hammer\"",
			Right:   "; as ada, at the desk\ndesk.buy :name \"hammer\" :club-id @north",
		},
		{
			Code:    codeNothingAtWork,
			Meaning: "An argument that was left out stands for the row that you are at work on, and there is none that you can see.",
			Wrong:   "; as ada, at the desk holding nothing\ndesk.shelf",
			Right:   "; as kim, at the desk\ndesk.shelf",
		},
		{
			Code:    codeUnknownSession,
			Meaning: "There is no session of yours with this id. Whether somebody else has one is not said. A session that nobody came back to for long is tidied away.",
			Wrong:   "; as kim, at the desk in the session of sam\ndesk.take :item-id @drill",
			Right:   "; as kim, at the desk in the session today\ndesk.take :item-id @drill",
		},
		{
			Code:    codeSessionMoved,
			Meaning: "What you sent was made for the session as you last saw it, and it went on without you: in another window, or on another device. Both cannot be right, so that yours was not done. Nothing of the other is lost.",
			Wrong:   "; as kim, at the desk in a session that went on\ndesk.take :item-id @drill",
			Right:   "; as kim, at the desk in the session today\ndesk.take :item-id @drill",
		},
		{
			Code:    codeSessionTooLarge,
			Meaning: "A session keeps where somebody is: which row, which question. What somebody says or sends is kept in rows.",
			Wrong:   "; as kim, at the desk in a session that is full\ndesk.jot :text \"and one more\"",
			Right:   "; as kim, at the desk in the session today\ndesk.jot :text \"a word\"",
		},
		{
			Code:    codeBadSession,
			Meaning: "The name, the time zone or the language of a session is none.",
			Wrong:   "; as kim, at the desk in the zone Europe/Nowhere\ndesk.take :item-id @drill",
			Right:   "; as kim, at the desk in the zone Europe/Luxembourg\ndesk.take :item-id @drill",
		},
		{
			Code:    codeBadTurn,
			Meaning: "What was said cannot be kept as a turn of the conversation: it is too long, it is not text, or the turn that it comes of does not exist.",
			Wrong:   "; as kim, at the desk saying too much\ndesk.take :item-id @drill",
			Right:   "; as kim, at the desk saying little\ndesk.take :item-id @drill",
		},
		{
			Code:    codeUnknownConfirmation,
			Meaning: "Nothing under this id waits for somebody like you: there is nothing, or it needs a role that you do not have, or it is about rows that are not yours to see.",
			Wrong:   "; as kim, agreed to by mia\nlending.extend :loan-id @saw-bob :new-date 2025-03-20",
			Right:   agreedExample,
		},
		{
			Code:    codeAlreadyUsed,
			Meaning: "An agreement is good for one time. It was used: what was agreed to has been carried out.",
			Wrong:   "; as kim, agreed to by bo twice\nlending.extend :loan-id @saw-bob :new-date 2025-03-20",
			Right:   agreedExample,
		},
		{
			Code:    codeAgreementExpired,
			Meaning: "What waits for an agreement waits as long as the palette's rule says, a day when it does not say. Afterwards it has to be proposed or looked at again.",
			Wrong:   "; as kim, agreed to by bo a week later\nlending.extend :loan-id @saw-bob :new-date 2025-03-20",
			Right:   agreedExample,
		},
		{
			Code:    codeDeclinedBefore,
			Meaning: "Somebody who was asked said no, and nothing about the question has changed since: not the calls, and not the rows that they stand on.",
			Wrong:   "; as kim, declined by bo and proposed again\nlending.extend :loan-id @saw-bob :new-date 2025-03-20",
			Right:   agreedExample,
		},
		{
			Code:    codeSamePerson,
			Meaning: "A rule demands that somebody else agrees. Whoever asked cannot, in whatever session.",
			Wrong:   "; as kim, agreed to by kim\nlending.extend :loan-id @saw-bob :new-date 2025-03-20",
			Right:   agreedExample,
		},
		{
			Code:    codeRoleLost,
			Meaning: "Who may ask and who may agree is looked up when it counts. One of them has lost the role that it needs since the question was asked.",
			Wrong:   "; as kim, agreed to by bo, who has lost the role\nlending.extend :loan-id @saw-bob :new-date 2025-03-20",
			Right:   agreedExample,
		},
		{
			Code:    codeRightsChanged,
			Meaning: "What somebody may do is read when their session begins, and looked at again while it lasts. A role or a row was given or taken since, so that what was shown in this session may not be theirs to do or to see any more.",
			Wrong:   "; as kim, whose rights change\nlending.lose :item-id @drill",
			Right:   "; as kim\nlending.lose :item-id @drill",
		},
		{
			Code:    codeOtherPalette,
			Meaning: "The palettes are not those under which the question was asked, so that the same words might do something else.",
			Wrong:   "; as kim, agreed to by bo under other palettes\nlending.extend :loan-id @saw-bob :new-date 2025-03-20",
			Right:   agreedExample,
		},
		{
			Code:    codeKeyReused,
			Meaning: "A key makes it safe to send a script again: it is done once. This key was used for another script.",
			Wrong:   "; as kim, sent with the key of another script\nlending.lose :item-id @drill",
			Right:   "; as kim, sent twice with one key\nlending.lose :item-id @drill",
		},
		{
			Code:    codeUnknownUpload,
			Meaning: "A file is named by the reference that whoever sent it was given, and only they can use it. Whether there is no such file, or it is somebody else's, or it was not used in time and is gone, is not said.",
			Wrong:   "; as sam, with files\nfiling.file :paper \"upload://kims-letter\"",
			Right:   "; as kim, with files\nfiling.file :paper \"upload://kims-letter\"",
		},
		{
			Code:    codeUploadUnscanned,
			Meaning: "A file is used only once a scanner has looked at it for anything harmful. That has not happened yet, or it did not work; it is tried again.",
			Wrong:   "; as kim, with files\nfiling.file :paper \"upload://kims-new-letter\"",
			Right:   "; as kim, with files\nfiling.file :paper \"upload://kims-letter\"",
		},
		{
			Code:    codeUploadHarmful,
			Meaning: "A scanner found something harmful in the file. Its bytes are not kept, and nothing can use it.",
			Wrong:   "; as kim, with files\nfiling.file :paper \"upload://kims-virus\"",
			Right:   "; as kim, with files\nfiling.file :paper \"upload://kims-letter\"",
		},
		{
			Code:    codeUploadType,
			Meaning: "An argument says which types of files it takes. What is in the file decides, not how its name ends.",
			Wrong:   "; as kim, with files\nfiling.file :paper \"upload://kims-song\"",
			Right:   "; as kim, with files\nfiling.file :paper \"upload://kims-letter\"",
		},
		{
			Code:    codeUploadTooLarge,
			Meaning: "An argument says how large a file may be.",
			Wrong:   "; as kim, with files\nfiling.file :paper \"upload://kims-atlas\"",
			Right:   "; as kim, with files\nfiling.file :paper \"upload://kims-letter\"",
		},
		{
			Code:    codeOrigin,
			Meaning: "An argument can say where its value may come from: the script, a person's own words, a record, the model, a tool, a document. This value came from elsewhere. A value keeps its origin through names, lists and macros, and when it is saved and read back; of several it has all. It is not about what the value is: the same one is accepted from the right place.",
			Wrong:   "; as kim, out of letter.pdf\nlending.rename-member :member-id @ann :name \"Mallory\"",
			Right:   "; as kim, in a person's words\nlending.rename-member :member-id @ann :name \"Anna\"",
		},
		{
			Code:    codeNeedsEarlierCall,
			Meaning: "A script is continued from one of its calls, and a call uses what a call before that gave. What it gave is not known any more; the row that it stands for has a name.",
			Wrong:   "; as kim, from call 2\nlending.lend :item-id @drill :member-id @ann :as @l\nlending.remind :loan-id @l :on 2025-02-02",
			Right:   "; as kim, from call 2\nlending.lose :item-id @drill\nlending.remind :loan-id @saw-bob :on 2025-02-02",
		},
		{
			Code:    codeNoSuchCall,
			Meaning: "A script is continued from a call that it does not have. Calls are counted from 1; one that stands inside another counts with it.",
			Wrong:   "; as kim, from call 3\nlending.lose :item-id @drill\nlending.lose :item-id @tent",
			Right:   "; as kim, from call 2\nlending.lose :item-id @drill\nlending.lose :item-id @tent",
		},
		{
			Code:    codeOutOfOrder,
			Meaning: "Call by call, calls are done in the order in which they are written, so that one can say where it stopped. A call that uses a result must come after the call that gives it.",
			Wrong:   "; as kim, call by call\nlending.remind :loan-id @l :on 2025-02-02\nlending.lend :item-id @drill :member-id @ann :as @l",
			Right:   "; as kim, call by call\nlending.lend :item-id @drill :member-id @ann :as @l\nlending.remind :loan-id @l :on 2025-02-02",
		},
		{
			Code:    codeHandlerUnknownVerb,
			Meaning: "A program registers a handler for a verb that no palette declares.",
			Wrong:   "domain: shop\nverbs:\n  - {verb: prize, description: What it costs, handler: true, args: [{name: name, type: string, required: true}], effects: [{returns: price}]}\n",
			Right:   rightPalette,
		},
		{
			Code:    codeHandlerMissing,
			Meaning: "A palette says that a handler carries the verb out, and the program registers none for it.",
			Wrong:   rightPalette + "  - {verb: audit, description: Count everything, handler: true, effects: [{returns: report}]}\n",
			Right:   rightPalette,
		},
		{
			Code:    codeHandlerNotWanted,
			Meaning: "A program registers a handler for a verb whose palette says all of what it does. Which of the two should be carried out is not guessed.",
			Wrong:   "domain: shop\nverbs:\n  - {verb: price, description: What it costs, args: [{name: name, type: string, required: true}], effects: [{notifies: till}]}\n",
			Right:   rightPalette,
		},
		{
			Code:    codeHandlerArgumentMissing,
			Meaning: "The palette declares an argument that the handler does not take. It would be given and never looked at.",
			Wrong:   "domain: shop\nverbs:\n  - {verb: price, description: What it costs, handler: true, args: [{name: name, type: string, required: true}, {name: size, type: integer}], effects: [{returns: price}]}\n",
			Right:   rightPalette,
		},
		{
			Code:    codeHandlerArgumentExtra,
			Meaning: "The handler takes an argument that the palette does not declare. It would never be given.",
			Wrong:   "domain: shop\nverbs:\n  - {verb: price, description: What it costs, handler: true, effects: [{returns: price}]}\n",
			Right:   rightPalette,
		},
		{
			Code:    codeHandlerArgumentType,
			Meaning: "The handler takes an argument as a Go type that cannot hold every value the palette allows. An argument that may be left out needs a type that can say so.",
			Wrong:   "domain: shop\nverbs:\n  - {verb: price, description: What it costs, handler: true, args: [{name: name, type: integer, required: true}], effects: [{returns: price}]}\n",
			Right:   rightPalette,
		},
		{
			Code:    codeGeneratesUnknown,
			Meaning: "An effect promises a call of a verb, which its handler makes, and no palette declares that verb, or only the work of a trigger may call it.",
			Wrong:   strings.Replace(rightPalette, "effects: [", "effects: [{generates: shop.prise}, ", 1),
			Right:   rightPalette,
		},
		{
			Code:    codeBadQuery,
			Meaning: "A query must be one SELECT over tables of declared entities: it can do nothing but read, and reads only what its caller may see.",
			Wrong:   rightPalette + "  - verb: count\n    description: How many\n    query: {sql: DELETE FROM shop.things, columns: {n: integer}}\n",
			Right:   rightPalette,
		},
		{
			Code:    codeToolUnfit,
			Meaning: "The verb is carried out by a tool of another server, and the tool is not there, does not fit the palette, or says something else of itself than what whoever looks after this system accepted. Nothing was asked of it.",
			Wrong:   "; as kim, with a workshop that says something else of itself\ndesk.order :item-id @drill :text \"new blade\"",
			Right:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"",
		},
		{
			Code:    codeToolNeeds,
			Meaning: "What a tool of another server cannot do without has to be sent, and the row or argument that it is taken from is empty. Nothing was asked of it.",
			Wrong:   "; as kim, with a workshop\ndesk.compare :item-id @ladder",
			Right:   "; as kim, with a workshop\ndesk.compare :item-id @drill",
		},
		{
			Code:    codeToolSilent,
			Meaning: "The server of a tool could not be reached, so that it is certain that the tool did nothing; or a tool that only reads did not answer.",
			Wrong:   "; as kim, with a workshop that does not answer\ndesk.order :item-id @drill :text \"new blade\"",
			Right:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"",
		},
		{
			Code:    codeToolFailed,
			Meaning: "The tool answered that it did not do what it was asked. Nothing was changed here. What it says is quoted: it is somebody else's word.",
			Wrong:   "; as kim, with a workshop that has no blades\ndesk.order :item-id @drill :text \"new blade\"",
			Right:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"",
		},
		{
			Code:    codeToolAnswer,
			Meaning: "A tool that only reads answered with something else than its palette says that it does.",
			Wrong:   "; as kim, with a workshop that answers in prose\ndesk.prices :text \"saws\"",
			Right:   "; as kim, with a workshop\ndesk.prices :text \"saws\"",
		},
		{
			Code:    codeToolUnknown,
			Meaning: "A tool was asked to do something, and its answer was lost or cannot be understood, so that nobody knows whether it did it. Nothing was changed here, and the tool is not asked again unless its palette says that it does a thing once. Look at the other system before you ask again.",
			Wrong:   "; as kim, with a workshop that is cut off\ndesk.order :item-id @drill :text \"new blade\"",
			Right:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"",
		},
		{
			Code:    codeToolAlone,
			Meaning: "A tool did what it was asked, and meanwhile something changed that the script stands on, so that nothing was changed here. Sent again under the same key, the tool is not asked again.",
			Wrong:   "; as kim, with a workshop while somebody else writes\ndesk.order :item-id @drill :text \"new blade\"",
			Right:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"",
		},
		{
			Code:    codeToolOtherwise,
			Meaning: "Under this key a tool was asked for something before, and what it would be asked now is not the same, because a row or the time that it is taken from has changed. It is not asked for both.",
			Wrong:   "; as kim, with a workshop that was asked under the same key at another time\ndesk.order :item-id @drill :text \"new blade\"",
			Right:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"",
		},
		{
			Code:    codeOneTool,
			Meaning: "What a tool does on another system cannot be taken back here. So a script holds at most one call of one: when a second failed, the first would stand.",
			Wrong:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"\ndesk.order :item-id @saw :text \"new handle\"",
			Right:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\"",
		},
		{
			Code:    codeToolAnswerLater,
			Meaning: "A tool that does something is asked after the script was shown and agreed to, so that nothing in the script can use what it answers. What a tool that only reads answers can be used.",
			Wrong:   "; as kim, with a workshop\ndesk.order :item-id @drill :text \"new blade\" :as @order\nlending.note :loan-id @saw-bob :note @order.number",
			Right:   "; as kim, with a workshop\ndesk.say :text \"hello\" :as @word\nlending.note :loan-id @saw-bob :note @word",
		},
		{
			Code:    codeToolMissing,
			Meaning: "A palette names a server that the configuration does not know, or a tool that the server does not have.",
			Wrong:   shopTool("server: desk, name: opne"),
			Right:   shopTool("server: desk, name: open"),
		},
		{
			Code:    codeToolUnreached,
			Meaning: "A server could not be asked what its tools are: it does not run, does not answer in time, or does not speak the protocol.",
			Wrong:   shopTool("server: down, name: open"),
			Right:   shopTool("server: desk, name: open"),
		},
		{
			Code:    codeToolUnaccepted,
			Meaning: "What a tool says of itself can steer whoever reads it, so somebody has to read it first. It is accepted as it is, and whenever it changes it has to be accepted again.",
			Wrong:   shopTool("server: desk, name: unread"),
			Right:   shopTool("server: desk, name: open"),
		},
		{
			Code:    codeToolChanged,
			Meaning: "A tool says something else of itself than when it was accepted: its description, what it takes or what it answers. That may be an update, and it may be somebody who has taken its place.",
			Wrong:   shopTool("server: desk, name: rewritten"),
			Right:   shopTool("server: desk, name: open"),
		},
		{
			Code:    codeToolWrites,
			Meaning: "The palette says that the tool only reads, so that previews may call it, and the tool says of itself that it does not.",
			Wrong:   shopTool("server: desk, name: close, read-only: true"),
			Right:   shopTool("server: desk, name: open, read-only: true"),
		},
		{
			Code:    codeToolMismatch,
			Meaning: "A tool does not take what the palette sends, needs something that it does not send, or does not answer with what the palette wants.",
			Wrong:   shopTool("server: desk, name: open, with: {titel: text}"),
			Right:   shopTool("server: desk, name: open, with: {title: text}"),
		},
	}
}

const rightPalette = `domain: shop
verbs:
  - {verb: price, description: What it costs, handler: true, args: [{name: name, type: string, required: true}], effects: [{returns: price}]}
`

// shopTool is a palette whose verb is carried out by a tool. The program beside
// it reaches a server called desk, with the tools open, close, unread and
// rewritten, and none called down.
func shopTool(tool string) string {
	args := ""
	if strings.Contains(tool, "with") {
		args = "\n    args: [{name: text, type: string}]"
	}
	return "domain: shop\nroles: [{name: clerk}]\nverbs:\n  - {verb: price, roles: [clerk], handler: true, args: [{name: name, type: string, required: true}]}\n  - verb: ask\n    roles: [clerk]" + args +
		"\n    confirm: always\n    tool: {" + tool + "}\n"
}
