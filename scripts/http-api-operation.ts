// Renders one operation of the HTTP API as Markdown, for `http-api-pages.ts`.

import { API_ERROR_STATUS } from '../packages/protocol/src/api/error-codes.ts'
import {
  type Example,
  errorsOf,
  type Operation,
  type QueryParam,
  type Reply,
} from '../packages/protocol/src/operations/index.ts'
import { accessText } from '../packages/protocol/src/operations/texts.ts'
import { ATTRIBUTES_MAX } from '../packages/protocol/src/wire/bounds.ts'
import { table, typeText } from './schema-text.ts'

export const headingOf = ({ method, path }: Operation) => `${method} ${path}`

/** Returns the section of an operation for the page of its group. */
export function operationText(operation: Operation): string {
  const { summary, description, query, body, reply, otherwise, examples } = operation
  return [
    `## \`${headingOf(operation)}\``,
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

/** Lists the operation's own codes first, in bold; then the codes that follow from its method and access. */
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

/** Returns a message of a stream in its form on the wire. */
function message(frame: unknown): string {
  const { kind, seq } = frame as { kind: string; seq?: number }
  return `${seq === undefined ? '' : `id: ${seq}\n`}event: ${kind}\ndata: ${JSON.stringify(frame)}`
}
