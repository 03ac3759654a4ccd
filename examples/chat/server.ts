// The server of the chat: it serves the page, starts runs with its API key, and gives the browser tokens that read one run each.
// The browser reads the answers directly from the engine. Opened by main.ts.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { convertToModelMessages, type UIMessage } from 'ai'
import { ApiError, type Client, createClient, type Duration } from 'perdure/client'
import { bundlePage } from './page/bundle.ts'

export interface ChatServerOptions {
  engineUrl: string
  /** URL of the engine for browsers. Default: `engineUrl`. */
  publicEngineUrl?: string
  /** A key of kind `secret`. It never reaches the browser. */
  apiKey?: string
  /** Default: a free port. */
  port?: number
  /** How long a token is valid. */
  tokenTtl?: Duration
}

export interface ChatServer {
  readonly url: string
  close(): void
}

interface Chat {
  /** The messages up to the newest question. The page adds the answer from the engine. */
  messages: UIMessage[]
  /** The run that answers the newest question. */
  runId: string
}

interface Answer {
  status: number
  type: string
  body: string
}

const PATH = /^\/api\/chats\/([\w-]{1,64})(?:\/(answer|stop))?$/
const BODY_CHARS_MAX = 1_000_000
const ENDED = ['succeeded', 'failed', 'cancelled']

const json = (body: unknown, status = 200): Answer => ({ status, type: 'application/json', body: JSON.stringify(body) })
const refusal = (status: number, message: string) => json({ error: { message } }, status)

/** Serves the page and its calls. A real server also knows its users, and who owns each chat. */
export async function openChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const { engineUrl, publicEngineUrl = engineUrl, apiKey, port = 0, tokenTtl = '1h' } = options
  const files = await bundlePage(publicEngineUrl)
  const chats = new Chats(createClient({ url: engineUrl, apiKey }), tokenTtl)
  const server = createServer(async (request, response) => {
    const { status, type, body } = await answer(request).catch(refused)
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
  })

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const file = files.get(pathname)
    if (file && request.method === 'GET') return { status: 200, ...file }
    const [, chatId, part = ''] = PATH.exec(pathname) ?? []
    if (chatId === undefined) return refusal(404, 'There is no such page.')
    switch (`${request.method} ${part}`) {
      case 'GET ':
        return json(chats.messagesOf(chatId))
      case 'GET answer':
        return json(await chats.answerOf(chatId))
      case 'POST ':
        return chats.ask(chatId, (await bodyOf(request)) as { messages: UIMessage[] })
      case 'POST stop':
        return json(await chats.stop(chatId))
      default:
        return refusal(405, 'This page has no such method.')
    }
  }

  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The chats of this process. Keep yours in a table: id, user, messages, run. */
class Chats {
  readonly #chats = new Map<string, Chat>()
  readonly #client: Client
  readonly #tokenTtl: Duration

  constructor(client: Client, tokenTtl: Duration) {
    this.#client = client
    this.#tokenTtl = tokenTtl
  }

  messagesOf(chatId: string): UIMessage[] {
    return this.#chats.get(chatId)?.messages ?? []
  }

  /** Returns the run of the newest answer, with a new token; null if there has been no question yet. */
  async answerOf(chatId: string): Promise<{ runId: string; token: string } | null> {
    const chat = this.#chats.get(chatId)
    if (!chat) return null
    const { token } = await this.#client.createRunToken({ id: chat.runId, body: { ttl: this.#tokenTtl } })
    return { runId: chat.runId, token }
  }

  /** Starts a run for the question at the end of the messages. */
  async ask(chatId: string, { messages }: { messages: UIMessage[] }): Promise<Answer> {
    if (!Array.isArray(messages)) return refusal(400, 'The messages are missing.')
    const before = this.#chats.get(chatId)
    if (before && !ENDED.includes((await this.#client.getRun({ id: before.runId })).status))
      return refusal(409, 'An answer of this chat is under way.')
    const asked = { chatId, messages: await convertToModelMessages(messages, { ignoreIncompleteToolCalls: true }) }
    const { runId, token } = await this.#client.send('chat/asked', asked, { token: this.#tokenTtl })
    if (runId === undefined || token === undefined) return refusal(503, 'No runner serves the chat yet.')
    this.#chats.set(chatId, { messages, runId })
    return json({ runId, token })
  }

  /** Ends the run. `stop` of `useChat` would only end the connection. */
  async stop(chatId: string): Promise<null> {
    const chat = this.#chats.get(chatId)
    if (chat) await this.#client.cancelRun({ id: chat.runId })
    return null
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk
    if (body.length > BODY_CHARS_MAX) throw new Error('The messages are too long.')
  }
  return JSON.parse(body)
}

function refused(error: unknown): Answer {
  if (error instanceof ApiError) return refusal(error.status, error.message)
  return refusal(500, error instanceof Error ? error.message : String(error))
}
