// Programs around the functions of docs/webhooks.md that check a signature in other languages. snippets.test.ts runs them.

/** Programs that check a webhook with the function of the page. Their arguments are the headers and the body. */
export const VERIFIERS = {
  python: {
    command: ['python3', 'verify.py'],
    file: 'verify.py',
    program: (code: string) => `${code}
import json, sys
print(verify(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode()))
`,
  },
  go: {
    command: ['go', 'run', 'verify.go'],
    file: 'verify.go',
    program: (code: string) => `package main

import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "encoding/json"; "fmt"; "net/http"; "os"; "strconv"; "strings"; "time")

${code}
func main() {
	plain := map[string]string{}
	if err := json.Unmarshal([]byte(os.Args[2]), &plain); err != nil { panic(err) }
	header := http.Header{}
	for name, value := range plain { header.Set(name, value) }
	fmt.Println(verify(os.Args[1], header, []byte(os.Args[3])))
}
`,
  },
}
