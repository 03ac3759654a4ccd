// Builds the OpenAPI 3.1 document of the HTTP API from the operations. The engine serves it at `/openapi.json`.

import { API_ERROR_STATUS, type ApiErrorCode } from '../api/error-codes.ts'
import { API_ERROR_MEANING } from '../api/error-meanings.ts'
import { errorsOf, type ListedOperation, type Operation, operationList, type Reply } from '../operations/index.ts'
import { accessText, TAGS } from '../operations/texts.ts'
import { parameterSchema, plain } from './arguments.ts'
import { type JsonSchema, NAMED_SCHEMAS, schemaName } from './schema-names.ts'

const DESCRIPTION = `Every error answer is an ErrorBody; its request id is also in the \`X-Request-Id\` header, which
every answer carries. A known path with another method is 405 \`method_not_allowed\`, an unknown path 404
\`not_found\`. Unknown query parameters (but for names that begin with
\`_\`) and unknown members of bodies are \`invalid_request\`, except where the operation says otherwise. Clients must
ignore unknown fields of replies. An optional field that does not apply is left out,
never null. While no API key is configured, the engine listens on a loopback address only, and every operation except
the webhook configuration is open.`

export { argumentSchema } from './arguments.ts'

export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; [key: string]: unknown }
  paths: Record<string, Record<string, JsonSchema>>
  components: { schemas: Record<string, JsonSchema>; [key: string]: unknown }
  [key: string]: unknown
}

/** The document of an engine of this version. */
export function openApiDocument(version: string): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of operationList) {
    const item = paths[operation.path] ?? {}
    paths[operation.path] = item
    item[operation.method.toLowerCase()] = describe(operation)
  }
  const schemas = Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [name, parts(plain(schema))])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Perdure',
      version,
      summary: 'A durable workflow engine',
      description: DESCRIPTION.replaceAll('\n', ' '),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, { description }]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      headers: {
        NextCursor: {
          description: 'The `cursor` of the next page; absent on the last page',
          schema: { type: 'string' },
        },
        FirstEventId: {
          description: 'Where a dedupe id was used before: the event that used it first',
          schema: { type: 'string' },
        },
        FirstRunId: {
          description: 'Where a dedupe id was used before: the run that the first event started, if it started one',
          schema: { type: 'string' },
        },
        ScannedTo: {
          description:
            'On a page of a search that was answered in part: all runs created after this time were looked at',
          schema: { type: 'string', format: 'date-time' },
        },
      },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, or the token of a run' },
        runToken: { type: 'apiKey', in: 'query', name: 'token', description: 'The token of a run' },
      },
    },
  }
}

function describe(operation: ListedOperation): JsonSchema {
  const { id, group, summary, description, access, runToken, body, rawBody, reply, otherwise, examples } = operation
  const ofReply = (isOtherwise: boolean) => examples?.filter(example => (example.otherwise ?? false) === isOtherwise)
  const responses: Record<string, JsonSchema> = { [reply.status]: response(reply, ofReply(false)) }
  if (otherwise) responses[otherwise.status] = response(otherwise, ofReply(true))
  return {
    operationId: id,
    tags: [group],
    summary,
    description: [description, accessText(operation)].filter(Boolean).join('\n\n'),
    ...(access === 'public' ? { security: [] } : {}),
    ...(runToken ? { security: [{ apiKey: [] }, { runToken: [] }] } : {}),
    parameters: [...pathParameters(operation), ...queryParameters(operation)],
    ...(body ? { requestBody: requestBody(body, examples) } : {}),
    ...(rawBody ? { requestBody: { content: { '*/*': {} } } } : {}),
    responses: { ...responses, ...refusals(operation) },
  }
}

function pathParameters({ path, examples }: Operation): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const example = examples?.[0]?.path?.[name]
    return { name, in: 'path', required: true, schema: { type: 'string' }, ...(example ? { example } : {}) }
  })
}

function queryParameters({ query = {} }: Operation): JsonSchema[] {
  return Object.entries(query).map(([name, param]) => ({
    name,
    in: 'query',
    ...(param.required ? { required: true } : {}),
    description: param.kind === 'integer' ? `${param.description}; clamped to the range` : param.description,
    schema: parameterSchema(param),
  }))
}

type Examples = Operation['examples']

function requestBody({ schema, required }: NonNullable<Operation['body']>, examples: Examples): JsonSchema {
  return {
    required,
    content: { 'application/json': { schema: refer(plain(schema)), ...named(examples, 'body') } },
  }
}

function response(reply: Reply, examples?: Examples): JsonSchema {
  const { description, schema, contentType, stream, pages, partial, repeats } = reply
  const next = { 'X-Next-Cursor': { $ref: '#/components/headers/NextCursor' } }
  const scannedTo = partial ? { 'X-Scanned-To': { $ref: '#/components/headers/ScannedTo' } } : {}
  const first = {
    'X-Event-Id': { $ref: '#/components/headers/FirstEventId' },
    'X-Run-Id': { $ref: '#/components/headers/FirstRunId' },
  }
  const headers = pages ? { headers: { ...next, ...scannedTo } } : repeats ? { headers: first } : {}
  if (contentType) return { description, content: { [contentType]: { schema: { type: 'string' } } } }
  if (!schema) return { description, ...headers }
  if (stream) {
    const line = 'The JSON of each `data:` line; the `event:` line before it repeats the `kind`'
    return {
      description,
      content: {
        'text/event-stream': { schema: { ...(refer(plain(schema)) as JsonSchema), description: line } },
      },
    }
  }
  const content = { schema: refer(plain(schema)), ...named(examples, 'reply') }
  return { description, ...headers, content: { 'application/json': content } }
}

/** The bodies or replies of the examples, under numbered keys: a summary cannot be a key. */
function named(examples: Examples, part: 'body' | 'reply'): JsonSchema {
  const entries = (examples ?? []).filter(example => example[part] !== undefined)
  if (entries.length === 0) return {}
  const list = entries.map((example, i) => [`example${i + 1}`, { summary: example.summary, value: example[part] }])
  return { examples: Object.fromEntries(list) }
}

/** The error answers, one per status, each with its codes. */
function refusals(operation: Operation): Record<string, JsonSchema> {
  const codes = new Map<number, ApiErrorCode[]>()
  for (const code of errorsOf(operation)) {
    const status = API_ERROR_STATUS[code]
    codes.set(status, [...(codes.get(status) ?? []), code])
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } }
  const answers = [...codes].map(([status, list]) => {
    const description = list.map(code => `\`${code}\`: ${API_ERROR_MEANING[code]}`).join('\n\n')
    return [String(status), { description, content }]
  })
  return Object.fromEntries(answers)
}

/** A reference if the value is a named schema; else the value, with references inside it. */
function refer(value: unknown): unknown {
  const name = typeof value === 'object' && value !== null ? schemaName(value as JsonSchema) : undefined
  return name === undefined ? parts(value) : { $ref: `#/components/schemas/${name}` }
}

function parts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(refer)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, refer(part)]))
}
