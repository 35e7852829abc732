package mcptools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts adds requests that people choose in their client, and the client gives to its model.
func addPrompts(m *mcp.Server, offers []offer) {
	var names []string
	for _, o := range offers {
		names = append(names, o.Name)
	}
	index := &mcp.PromptArgument{Name: "index", Title: "Index", Required: len(offers) > 1,
		Description: "One of " + strings.Join(names, ", ")}
	add := func(name, title, about string, args []*mcp.PromptArgument, text func(args map[string]string, index string) string) {
		m.AddPrompt(&mcp.Prompt{Name: name, Title: title, Description: about, Arguments: args},
			func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				in := r.Params.Arguments
				for _, a := range args {
					if a.Required && strings.TrimSpace(in[a.Name]) == "" {
						return nil, wrongPrompt("%s is missing", a.Name)
					}
				}
				of := in["index"]
				if of == "" && len(names) == 1 {
					of = names[0]
				}
				if !slices.Contains(names, of) {
					return nil, wrongPrompt("no index %q: want one of %s", of, strings.Join(names, ", "))
				}
				return &mcp.GetPromptResult{Description: about, Messages: []*mcp.PromptMessage{
					{Role: "user", Content: &mcp.TextContent{Text: text(in, of)}}}}, nil
			})
	}
	add("answer", "Answer from documents", "Answer a question from the documents of an index, with quotations",
		[]*mcp.PromptArgument{{Name: "question", Title: "Question", Required: true, Description: "What to answer"}, index},
		func(in map[string]string, of string) string {
			return fmt.Sprintf(`Answer this question from the documents of the index %q only: %s

Search with the words that the documents would use, several times if need be; notes say which words do not occur.
If the description of the tool says that documents are also found by meaning, search so, too.
Restrict by fields with the argument filter. Read around the best snippets with the tool document (around, neighbours)
before you rely on them. Quote word for word, and give the ID of the document with each quotation. If the documents
do not answer the question, say so.`, of, in["question"])
		})
	add("overview", "What is in an index", "Describe the documents of an index, and what one could ask of them",
		[]*mcp.PromptArgument{index}, func(_ map[string]string, of string) string {
			return fmt.Sprintf(`Tell in a few sentences what the documents of the index %q are: call the tool describe, look at the
examples, and name five questions that they could answer, with a search for each.`, of)
		})
}

func wrongPrompt(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
