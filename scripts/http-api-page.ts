// Generates `docs/http-api.md` from the operations and schemas of the protocol. `docs.ts` saves the page; a test of the
// engine checks that the saved page is up to date.

import { API_ERROR_STATUS } from '../packages/protocol/src/api/error-codes.ts'
import { NAMED_SCHEMAS } from '../packages/protocol/src/openapi/schema-names.ts'
import {
  type Example,
  errorsOf,
  type Operation,
  operationList,
  type QueryParam,
  type Reply,
} from '../packages/protocol/src/operations/index.ts'
import { accessText, TAGS } from '../packages/protocol/src/operations/texts.ts'
import { ATTRIBUTES_MAX } from '../packages/protocol/src/wire/bounds.ts'
import { fieldsTable, linked, table, typeText } from './schema-text.ts'

const INTRO = `# HTTP API

<!-- Written by \`npm run docs\` from packages/protocol/src/operations. Change it there. -->

This page describes every operation of the engine's HTTP API. The engine serves the same description as an OpenAPI 3.1
document, \`GET /openapi.json\`. Paths are relative to the engine's address, by default \`http://127.0.0.1:4777\`.

- **Keys** are sent as \`Authorization: Bearer <key>\`. A key belongs to one namespace and has no access to others: an id
  of another namespace is 404. The kind of the key (\`secret\`, \`read\`, \`event\`, \`runner\`) decides which operations it
  may call. While no key exists, the engine listens on a loopback address only, and operations need no key, except where
  this page says otherwise; they use the namespace \`default\`.
- **Bodies** are JSON with \`Content-Type: application/json\`, at most 1 MiB (\`POST /register\`: 4 MiB) and at most 200
  levels deep. Payloads are stored and returned exactly as they were sent. An unknown query
  parameter or member of a body is 400, except where [errors.md](errors.md#how-requests-are-checked) says otherwise.
  Clients must ignore unknown fields of replies.
- **Times** are RFC 3339 in UTC, with milliseconds; a more precise time in a request is rounded up. Fields whose names end
  in \`Ms\` are in milliseconds.
- **\`field?\`** may be absent. A field that does not apply is left out, never \`null\`.
- **Lists** are newest first. If an answer has the header \`X-Next-Cursor\`, there are more rows: pass the header's value as
  \`cursor\`, with the same filters. A \`limit\` out of range is clamped to the range.
- **Streams** are server-sent events. The engine sends a comment every 15 s, and requests that clients such as
  \`EventSource\` reconnect after 2 s.
- **Errors** have one body, [\`{"error": {"code", "message", "details"?, "requestId"}}\`](errors.md). Every answer has the
  header \`X-Request-Id\`. A known path with another method is 405 \`method_not_allowed\`.`

/** The whole page. */
export function httpApiPage(): string {
  const groups = Object.entries(TAGS).map(([tag, { title }]) => ({
    title,
    members: operationList.filter(({ group }) => group === tag),
  }))
  const contents = groups.map(({ title, members }) => `\n**${title}**\n\n${members.map(contentsLine).join('\n')}`)
  const chapters = groups.map(({ title, members }) => [`## ${title}`, ...members.map(section)].join('\n\n'))
  return `${[INTRO, ...contents, ...chapters, schemas(operationList)].join('\n\n').replace(/\n{3,}/g, '\n\n')}\n`
}

const heading = ({ method, path }: Operation) => `${method} ${path}`
const anchor = (operation: Operation) =>
  heading(operation)
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

function contentsLine(operation: Operation): string {
  return `- [\`${heading(operation)}\`](#${anchor(operation)}): ${operation.summary}`
}

function section(operation: Operation): string {
  const { summary, description, query, body, reply, otherwise, examples } = operation
  return [
    `### \`${heading(operation)}\``,
    `${summary}. ${description ? `${description} ` : ''}${accessText(operation)}`,
    ...(query ? [parameters(query)] : []),
    ...(body ? [`Body${body.required ? '' : ' (optional)'}: ${typeText(body.schema)}`] : []),
    `Answers ${[reply, ...(otherwise ? [otherwise] : [])].map(replyText).join('; or ')}.`,
    ...errorLine(operation),
    ...(examples ?? []).map(example => exampleText(operation, example)),
  ].join('\n\n')
}

function parameters(query: Record<string, QueryParam>): string {
  const rows = Object.entries(query).map(([name, param]) => [
    `\`${name}\`${param.required ? ' (required)' : ''}`,
    parameterType(param),
    'default' in param ? `\`${param.default}\`` : '',
    param.description,
  ])
  return table(['parameter', 'type', 'default', 'meaning'], rows)
}

const LISTED = 'separated by commas or each a parameter of its own'

function parameterType(param: QueryParam): string {
  switch (param.kind) {
    case 'name':
      return `string, 1 to ${param.maxLength} characters`
    case 'pattern':
      return `string that matches \`${param.pattern}\``
    case 'text':
      return `string, up to ${param.maxLength} characters`
    case 'enum':
      return param.values.map(value => `\`${value}\``).join(' ')
    case 'enums':
      return `one or more of ${param.values.map(value => `\`${value}\``).join(' ')}, ${LISTED}`
    case 'names':
      return `up to ${param.maxItems} strings of 1 to ${param.maxLength} characters, ${LISTED}`
    case 'attributes':
      return `up to ${ATTRIBUTES_MAX} texts \`key:value\`, each a parameter of its own`
    case 'integer':
      return param.maximum === Number.MAX_SAFE_INTEGER
        ? `integer from ${param.minimum}`
        : `integer, ${param.minimum} to ${param.maximum}`
    case 'timestamp':
      return 'timestamp'
    case 'duration':
      return `duration up to ${param.maximumMs / 1000} s`
    case 'flag':
      return '`1` or `0`'
  }
}

function replyText({ status, description, schema, contentType, stream, pages }: Reply): string {
  const none = contentType ? `, as \`${contentType}\`` : ', without a body'
  const what = schema ? `, ${stream ? 'a stream of ' : ''}${typeText(schema)}` : none
  return `**${status}** ${description}${what}${pages ? ', with `X-Next-Cursor` when there are more' : ''}`
}

/** The operation's own codes first, in bold; then the codes that follow from its method and access. */
function errorLine(operation: Operation): string[] {
  const { errors: own = [] } = operation
  const codes = errorsOf(operation).sort((a, b) => API_ERROR_STATUS[a] - API_ERROR_STATUS[b])
  if (codes.length === 0) return []
  const show = (list: readonly (keyof typeof API_ERROR_STATUS)[]) =>
    list.map(code => `${API_ERROR_STATUS[code]} \`${code}\``).join(', ')
  const others = codes.filter(code => !own.includes(code))
  if (own.length === 0) return [`Errors: ${show(others)}.`]
  return [`Errors: **${show(own)}**, ${show(others)}.`]
}

function exampleText(operation: Operation, example: Example): string {
  const { reply } = operation
  const parts = ['```sh', `# ${example.summary}`, curl(operation, example), '```']
  if (example.reply !== undefined && !reply.stream) {
    parts.push('', '```json', JSON.stringify(example.reply, null, 2), '```')
  }
  if (reply.stream) parts.push('', '```', message(example.reply), '```')
  return parts.join('\n')
}

function curl(operation: Operation, { path = {}, query = {}, headers = {}, body }: Example): string {
  const { method, access, reply } = operation
  const filled = operation.path.replace(/\{(\w+)\}/g, (_, name) => path[name] ?? `{${name}}`)
  const search = new URLSearchParams(query).toString()
  const url = `http://127.0.0.1:4777${filled}${search === '' ? '' : `?${search}`}`
  const lines = [`curl ${reply.stream ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}'${url}'`]
  if (access !== 'public') lines.push(`-H "Authorization: Bearer $KEY"`)
  for (const [name, value] of Object.entries(headers)) lines.push(`-H '${name}: ${value}'`)
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`)
  return lines.join(' \\\n  ')
}

/** A message of a stream as it is on the wire. */
function message(frame: unknown): string {
  const { kind, seq } = frame as { kind: string; seq?: number }
  return `${seq === undefined ? '' : `id: ${seq}\n`}event: ${kind}\ndata: ${JSON.stringify(frame)}`
}

/** The chapter of the schemas that the operations link to, directly or through other schemas. */
function schemas(all: readonly Operation[]): string {
  const known = linked(
    all
      .flatMap(({ body, reply, otherwise }) => [body?.schema, reply.schema, otherwise?.schema])
      .filter(schema => !!schema),
  )
  const chapters = Object.entries(NAMED_SCHEMAS)
    .filter(([name]) => known.has(name))
    .map(([name, schema]) => `### ${name}\n\n${fieldsTable(schema)}`)
  return ['## Schemas', ...chapters].join('\n\n')
}
