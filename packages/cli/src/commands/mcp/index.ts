// `perdure mcp`: the engine as a server of the Model Context Protocol on standard input and output, for assistants that start their
// servers as processes. Every message goes to `POST /mcp` of the engine, which answers it.

import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { type EngineOptions, engineCommand } from '../../command-line/commands.ts'

interface McpOptions extends EngineOptions {
  allowWrite?: boolean
}

interface Message {
  id?: unknown
  method?: unknown
  params?: { name?: unknown; _meta?: Record<string, unknown> }
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
/** The code of JSON-RPC for a failure of the server. */
const INTERNAL = -32_603
/** The code for a line that is not JSON. */
const PARSE = -32_700
/** Longer than the engine needs for any tool. */
const TIMEOUT_MS = 90_000

/** Adds `perdure mcp` to the program. */
export function mcpCommand(program: Command): void {
  const command = program
    .command('mcp')
    .description('serve the Model Context Protocol on standard input and output, for assistants')
    .option('--allow-write', 'also offer tools that send, start, cancel, pause, resume, replay, retry and settle')
  engineCommand<McpOptions>(
    command,
    ['perdure mcp --url http://localhost:7000', 'perdure mcp --allow-write --api-key pdk_secret_...'],
    async ({ options, terminal, signal }) => {
      const open = new Set<Promise<void>>()
      const print = async (messages: AsyncIterable<string>) => {
        for await (const message of messages) await terminal.out(message)
      }
      const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })
      for await (const line of lines) {
        if (line.trim() === '') continue
        const answered = print(answers(line, options, signal)).finally(() => open.delete(answered))
        open.add(answered)
      }
      await Promise.all(open)
      return undefined
    },
  )
}

/** The answers to one line: notifications, then the reply, unless the message takes none. */
async function* answers(line: string, options: McpOptions, signal: AbortSignal): AsyncGenerator<string> {
  const message = parsed(line)
  if (message === undefined) {
    yield failure(null, PARSE, 'the line is not JSON')
    return
  }
  try {
    const response = await post(line, message, options, signal)
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      yield* dataOf(response)
      return
    }
    const text = await response.text()
    if (response.status === 202) return
    yield isReply(text) ? text : failure(message.id, INTERNAL, refusalOf(text, response.status))
  } catch (error) {
    const { cause, message: problem } = error as Error & { cause?: { code?: string; message?: string } }
    const why = cause?.code ?? cause?.message ?? problem
    yield failure(message.id, INTERNAL, `the engine at ${options.url} does not respond: ${why}`)
  }
}

/** The data of each event of a stream. The engine writes it on a single line. */
async function* dataOf({ body }: Response): AsyncGenerator<string> {
  let left = ''
  for await (const text of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const lines = (left + text).split('\n')
    left = lines.pop() as string
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length)
  }
}

const post = (body: string, message: Message, options: McpOptions, signal: AbortSignal): Promise<Response> =>
  fetch(`${options.url.replace(/\/+$/, '')}/mcp${options.allowWrite ? '?write=1' : ''}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(options.apiKey && { authorization: `Bearer ${options.apiKey}` }),
      ...mirrorsOf(message),
    },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  })

/** Since 2026-07-28 headers repeat parts of the body. */
function mirrorsOf({ method, params }: Message): Record<string, string> {
  const version = params?._meta?.[VERSION_KEY]
  if (typeof version !== 'string' || typeof method !== 'string') return {}
  const { name } = params ?? {}
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return undefined
  }
}

const isReply = (text: string): boolean => text.startsWith('{"jsonrpc":')

/** The sentence in an error body. */
function refusalOf(text: string, status: number): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message
  } catch {
    return `the engine answered ${status}`
  }
}

const failure = (id: unknown, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } })
