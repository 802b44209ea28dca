package a2a

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// The messages of the protocol, as https://a2a-protocol.org/v1.0 has them. What is not given
// is left out.

// A State is the state of a task.
type State string

// The states.
const (
	Submitted     State = "TASK_STATE_SUBMITTED"
	Working       State = "TASK_STATE_WORKING"
	Completed     State = "TASK_STATE_COMPLETED"
	Failed        State = "TASK_STATE_FAILED"
	Canceled      State = "TASK_STATE_CANCELED"
	InputRequired State = "TASK_STATE_INPUT_REQUIRED"
	Rejected      State = "TASK_STATE_REJECTED"
	AuthRequired  State = "TASK_STATE_AUTH_REQUIRED"
)

var states = []State{Submitted, Working, Completed, Failed, Canceled, InputRequired, Rejected, AuthRequired}

// Ended reports whether nothing becomes of the task any more.
func (s State) Ended() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// rests reports whether the task does not change before somebody outside acts.
func (s State) rests() bool { return s.Ended() || s == InputRequired || s == AuthRequired }

// A Role is the role of a speaker.
type Role string

// The roles.
const (
	User  Role = "ROLE_USER"
	Other Role = "ROLE_AGENT"
)

// A Part is a part of a message: text, data, or a file, which is raw or stands at a URL.
type Part struct {
	Text      *string         `json:"text,omitempty"`
	Raw       *string         `json:"raw,omitempty"` // in base64
	URL       *string         `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// TextPart makes a part with text.
func TextPart(text string) Part { return Part{Text: &text, MediaType: "text/plain"} }

// DataPart makes a part with a value that json can encode.
func DataPart(value any) Part {
	data, err := json.Marshal(value)
	if err != nil {
		data = []byte("null")
	}
	return Part{Data: data, MediaType: "application/json"}
}

// A Message is a message from one agent to another.
type Message struct {
	MessageID        string          `json:"messageId"`
	ContextID        string          `json:"contextId,omitempty"`
	TaskID           string          `json:"taskId,omitempty"`
	Role             Role            `json:"role"`
	Parts            []Part          `json:"parts"`
	Metadata         json.RawMessage `json:"metadata,omitempty"`
	Extensions       []string        `json:"extensions,omitempty"`
	ReferenceTaskIDs []string        `json:"referenceTaskIds,omitempty"`
}

// A TaskStatus is the state of a task, with its agent's message about it.
type TaskStatus struct {
	State     State    `json:"state"`
	Message   *Message `json:"message,omitempty"`
	Timestamp string   `json:"timestamp,omitempty"`
}

// Stamp writes an instant as the protocol has it; "" for the zero time.
func Stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// A Task is a task that an agent was given.
type Task struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId"`
	Status    TaskStatus      `json:"status"`
	Artifacts []Artifact      `json:"artifacts,omitempty"`
	History   []Message       `json:"history,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// An Artifact is a result of a task.
type Artifact struct {
	ArtifactID  string          `json:"artifactId"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parts       []Part          `json:"parts"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Extensions  []string        `json:"extensions,omitempty"`
}

// A StreamResponse is one event of a stream, or of a notification: exactly one of these.
type StreamResponse struct {
	Task           *Task           `json:"task,omitempty"`
	Message        *Message        `json:"message,omitempty"`
	StatusUpdate   *StatusUpdate   `json:"statusUpdate,omitempty"`
	ArtifactUpdate *ArtifactUpdate `json:"artifactUpdate,omitempty"`
}

// A StatusUpdate says how far a task is now.
type StatusUpdate struct {
	TaskID    string     `json:"taskId"`
	ContextID string     `json:"contextId"`
	Status    TaskStatus `json:"status"`
}

// An ArtifactUpdate announces a result of a task.
type ArtifactUpdate struct {
	TaskID    string   `json:"taskId"`
	ContextID string   `json:"contextId"`
	Artifact  Artifact `json:"artifact"`
	Append    bool     `json:"append,omitempty"`
	LastChunk bool     `json:"lastChunk,omitempty"`
}

// Changes returns the events that lead from one state of a task to another. The status comes last:
// if it ends the task, nothing follows.
func Changes(was, now *Task) (all []StreamResponse) {
	for _, a := range now.Artifacts {
		if i := slices.IndexFunc(was.Artifacts, func(b Artifact) bool { return b.ArtifactID == a.ArtifactID }); i < 0 || !same(was.Artifacts[i], a) {
			all = append(all, StreamResponse{ArtifactUpdate: &ArtifactUpdate{TaskID: now.ID, ContextID: now.ContextID, Artifact: a, LastChunk: true}})
		}
	}
	if !same(was.Status, now.Status) {
		all = append(all, StreamResponse{StatusUpdate: &StatusUpdate{now.ID, now.ContextID, now.Status}})
	}
	return all
}

// same reports whether two messages are written alike.
func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// A SendMessageRequest hands a message to an agent.
type SendMessageRequest struct {
	Tenant        string          `json:"tenant,omitempty"`
	Message       *Message        `json:"message"`
	Configuration Configuration   `json:"configuration,omitzero"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`

	stream bool
}

// A Configuration says how a message is to be answered.
type Configuration struct {
	AcceptedOutputModes []string    `json:"acceptedOutputModes,omitempty"`
	Push                *PushConfig `json:"taskPushNotificationConfig,omitempty"`
	HistoryLength       *int        `json:"historyLength,omitempty"`
	ReturnImmediately   bool        `json:"returnImmediately,omitempty"`
}

// A SendMessageResponse is a task, or a message if there is nothing to follow.
type SendMessageResponse struct {
	Task    *Task    `json:"task,omitempty"`
	Message *Message `json:"message,omitempty"`
}

// A GetTaskRequest asks for a task.
type GetTaskRequest struct {
	Tenant        string `json:"tenant,omitempty"`
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength,omitempty"`
}

// A ListTasksRequest asks for tasks, a page at a time.
type ListTasksRequest struct {
	Tenant               string `json:"tenant,omitempty"`
	ContextID            string `json:"contextId,omitempty"`
	Status               State  `json:"status,omitempty"`
	PageSize             *int   `json:"pageSize,omitempty"`
	PageToken            string `json:"pageToken,omitempty"`
	HistoryLength        *int   `json:"historyLength,omitempty"`
	StatusTimestampAfter string `json:"statusTimestampAfter,omitempty"`
	IncludeArtifacts     bool   `json:"includeArtifacts,omitempty"`
}

// A ListTasksResponse is a page of tasks, with the token of the next page.
type ListTasksResponse struct {
	Tasks         []Task `json:"tasks"`
	NextPageToken string `json:"nextPageToken"`
	PageSize      int    `json:"pageSize"`
	TotalSize     int    `json:"totalSize"`
}

// A CancelTaskRequest asks for a task to be ended.
type CancelTaskRequest struct {
	Tenant   string          `json:"tenant,omitempty"`
	ID       string          `json:"id"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// A SubscribeToTaskRequest asks for the changes of a task.
type SubscribeToTaskRequest struct {
	Tenant string `json:"tenant,omitempty"`
	ID     string `json:"id"`
}

// A GetExtendedAgentCardRequest asks for the agent's card for its caller.
type GetExtendedAgentCardRequest struct {
	Tenant string `json:"tenant,omitempty"`
}

// A PushConfig is an address at which a peer is notified of a task.
type PushConfig struct {
	Tenant         string          `json:"tenant,omitempty"`
	ID             string          `json:"id,omitempty"`
	TaskID         string          `json:"taskId,omitempty"`
	URL            string          `json:"url"`
	Token          string          `json:"token,omitempty"`
	Authentication *Authentication `json:"authentication,omitempty"`
}

// An Authentication holds the credentials that a push notification presents to its receiver.
type Authentication struct {
	Scheme      string `json:"scheme"`
	Credentials string `json:"credentials,omitempty"`
}

type getPushRequest struct {
	Tenant string `json:"tenant,omitempty"`
	TaskID string `json:"taskId"`
	ID     string `json:"id"`
}

type dropPushRequest getPushRequest

type listPushRequest struct {
	Tenant    string `json:"tenant,omitempty"`
	TaskID    string `json:"taskId"`
	PageSize  int    `json:"pageSize,omitempty"`
	PageToken string `json:"pageToken,omitempty"`
}

type pushConfigs struct {
	Configs       []PushConfig `json:"configs"`
	NextPageToken string       `json:"nextPageToken"`
}

// An AgentCard is an agent's description of itself.
type AgentCard struct {
	Name                 string                    `json:"name"`
	Description          string                    `json:"description"`
	SupportedInterfaces  []AgentInterface          `json:"supportedInterfaces"`
	Provider             *AgentProvider            `json:"provider,omitempty"`
	Version              string                    `json:"version"`
	Capabilities         AgentCapabilities         `json:"capabilities"`
	SecuritySchemes      map[string]SecurityScheme `json:"securitySchemes"`
	SecurityRequirements []SecurityRequirement     `json:"securityRequirements"`
	DefaultInputModes    []string                  `json:"defaultInputModes"`
	DefaultOutputModes   []string                  `json:"defaultOutputModes"`
	Skills               []AgentSkill              `json:"skills"`
}

// An AgentInterface is an address of an agent, and its protocol binding.
type AgentInterface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"` // "JSONRPC" or "HTTP+JSON"
	ProtocolVersion string `json:"protocolVersion"`
	Tenant          string `json:"tenant,omitempty"`
}

// An AgentProvider is whose the agent is.
type AgentProvider struct {
	URL          string `json:"url"`
	Organization string `json:"organization"`
}

// AgentCapabilities are an agent's optional capabilities.
type AgentCapabilities struct {
	Streaming         bool `json:"streaming"`
	PushNotifications bool `json:"pushNotifications"`
	ExtendedAgentCard bool `json:"extendedAgentCard"`
}

// A SecurityScheme is the way in which a caller authenticates.
type SecurityScheme struct {
	HTTP *HTTPAuthScheme `json:"httpAuthSecurityScheme,omitempty"`
	MTLS *MTLSScheme     `json:"mtlsSecurityScheme,omitempty"`
}

// An MTLSScheme is a client's certificate.
type MTLSScheme struct {
	Description string `json:"description,omitempty"`
}

// An HTTPAuthScheme is one of the header Authorization.
type HTTPAuthScheme struct {
	Description  string `json:"description,omitempty"`
	Scheme       string `json:"scheme"`
	BearerFormat string `json:"bearerFormat,omitempty"`
}

// A SecurityRequirement names schemes that are needed together.
type SecurityRequirement struct {
	Schemes map[string]StringList `json:"schemes"`
}

// A StringList is a list of scopes.
type StringList struct {
	List []string `json:"list"`
}

// An AgentSkill is something that an agent does.
type AgentSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`
}
