// Generates `docs/http-api` from the operations and schemas of the protocol: a page for each group of operations, one for the
// schemas that several groups use, and a table of contents. `docs.ts` saves the pages; a test checks that they are up to date.

import { NAMED_SCHEMAS } from '../packages/protocol/src/openapi/schema-names.ts'
import { type Operation, operationList } from '../packages/protocol/src/operations/index.ts'
import { TAGS } from '../packages/protocol/src/operations/texts.ts'
import { slugOf } from '../test/tidy/markdown.ts'
import { headingOf, operationText } from './http-api-operation.ts'
import { fieldsTable, linked } from './schema-text.ts'

const WRITTEN = '<!-- Written by `npm run docs` from packages/protocol/src/operations. Change it there. -->'

const INTRO = `# HTTP API

${WRITTEN}

These pages describe every operation of the engine's HTTP API. The engine serves the same description as an OpenAPI 3.1
document, \`GET /openapi.json\`. Paths are relative to the engine's address, by default \`http://127.0.0.1:4777\`.

- **Keys** are sent as \`Authorization: Bearer <key>\`. A key belongs to one namespace and has no access to others: an id
  of another namespace is 404. The kind of the key (\`secret\`, \`read\`, \`event\`, \`runner\`) decides which operations it
  may call. While no key exists, the engine listens on a loopback address only, and operations need no key, except where
  a section says otherwise; they use the namespace \`default\`.
- **Bodies** are JSON with \`Content-Type: application/json\`, at most 1 MiB (\`POST /register\`: 4 MiB) and at most 200
  levels deep. Payloads are stored and returned exactly as they were sent. An unknown query
  parameter or member of a body is 400, except where [errors.md](../errors.md#how-requests-are-checked) says otherwise.
  Clients must ignore unknown fields of replies.
- **Times** are RFC 3339 in UTC, with milliseconds; a more precise time in a request is rounded up. Fields whose names end
  in \`Ms\` are in milliseconds.
- **\`field?\`** may be absent. A field that does not apply is left out, never \`null\`.
- **Lists** are newest first. If an answer has the header \`X-Next-Cursor\`, there are more rows: pass the header's value as
  \`cursor\`, with the same filters. A \`limit\` out of range is clamped to the range.
- **Streams** are server-sent events. The engine sends a comment every 15 s, and requests that clients such as
  \`EventSource\` reconnect after 2 s.
- **Errors** have one body, [\`{"error": {"code", "message", "details"?, "requestId"}}\`](../errors.md). Every answer has the
  header \`X-Request-Id\`. A known path with another method is 405 \`method_not_allowed\`.`

const CONTENTS = 'README.md'
const SHARED = 'schemas.md'

interface Group {
  title: string
  description: string
  /** Name of the page's file. */
  file: string
  members: readonly Operation[]
}

const groups: readonly Group[] = Object.entries(TAGS).map(([tag, { title, description }]) => ({
  title,
  description,
  file: `${slugOf(title)}.md`,
  members: operationList.filter(({ group }) => group === tag),
}))

/** Returns the pages by the names of their files in `docs/http-api`. */
export function httpApiPages(): Map<string, string> {
  const schemas = schemasByFile()
  const files = new Map<string, string>()
  for (const { file, members } of groups) {
    for (const operation of members) files.set(slugOf(headingOf(operation)), file)
  }
  for (const [file, names] of schemas) for (const name of names) files.set(slugOf(name), file)
  const shared = [
    `# Schemas`,
    WRITTEN,
    'Schemas that operations of several pages use.',
    ...texts(schemas, SHARED, '##'),
  ]
  const pages = new Map([
    [CONTENTS, [INTRO, ...groups.map(contentsOf)]],
    [SHARED, shared],
  ])
  for (const group of groups) pages.set(group.file, pageOf(group, texts(schemas, group.file, '###')))
  return new Map([...pages].map(([file, parts]) => [file, relinked(parts.join('\n\n'), file, files)]))
}

function contentsOf({ title, description, file, members }: Group): string {
  return [`**[${title}](${file})**: ${description}`, ``, ...members.map(line)].join('\n')
}

const line = (operation: Operation) =>
  `- [\`${headingOf(operation)}\`](#${slugOf(headingOf(operation))}): ${operation.summary}`

function pageOf({ title, description, members }: Group, schemas: readonly string[]): string[] {
  return [
    `# ${title}`,
    WRITTEN,
    `${description}. [What holds for all operations](${CONTENTS})`,
    members.map(line).join('\n'),
    ...members.map(operationText),
    ...(schemas.length > 0 ? ['## Schemas', ...schemas] : []),
  ]
}

/**
 * Returns the schemas that operations link to, by the file that contains them: the page of the only group that uses it, or the
 * shared one.
 */
function schemasByFile(): Map<string, string[]> {
  const users = new Map<string, string[]>()
  for (const { file, members } of groups) {
    const schemas = members.flatMap(({ body, reply, otherwise }) =>
      [body?.schema, reply.schema, otherwise?.schema].filter(schema => schema !== undefined),
    )
    for (const name of linked(schemas)) users.set(name, [...(users.get(name) ?? []), file])
  }
  const byFile = new Map<string, string[]>()
  for (const name of Object.keys(NAMED_SCHEMAS)) {
    const [only = SHARED, ...others] = users.get(name) ?? []
    const file = others.length === 0 ? only : SHARED
    if (users.has(name)) byFile.set(file, [...(byFile.get(file) ?? []), name])
  }
  return byFile
}

function texts(schemas: Map<string, string[]>, file: string, level: string): string[] {
  const own = Object.entries(NAMED_SCHEMAS).filter(([name]) => schemas.get(file)?.includes(name))
  return own.map(([name, schema]) => `${level} ${name}\n\n${fieldsTable(schema)}`)
}

/** Makes each link name the page that has its heading. The other pages of `docs` are one folder up. */
function relinked(text: string, file: string, files: Map<string, string>): string {
  const linkOf = (anchor: string) => {
    const target = files.get(anchor)
    return target === undefined || target === file ? `](#${anchor})` : `](${target}#${anchor})`
  }
  return `${text
    .replace(/\]\(#([\w-]+)\)/g, (_, anchor: string) => linkOf(anchor))
    .replace(/\]\(errors\.md/g, '](../errors.md')
    .replace(/\n{3,}/g, '\n\n')}\n`
}
