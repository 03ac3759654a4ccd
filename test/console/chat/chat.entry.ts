// The example `chat` as processes that a test can kill: its engine, its runner and its server, and its page in a browser.

import { fileURLToPath } from 'node:url'
import type { Duration } from '@perdure/sdk'
import type { Locator, Page } from 'playwright-core'
import { openChatServer } from '../../../examples/chat/server.ts'
import { openPage, type PageOptions } from '../../kit/browser/page.ts'
import { type EngineProcess, onCleanup, startEngine, unique, until } from '../../kit/index.ts'
import { RunnerProcess } from '../../kit/runner/runner-process.ts'
import { freePort } from '../../kit/servers/free-port.ts'
import { TcpProxy } from '../../kit/servers/tcp-proxy.ts'

const KEY = 'secret-key-of-the-chat-0123456789'
const RUNNER = fileURLToPath(new URL('../../../examples/chat/runner.ts', import.meta.url))
const PROGRAM = `
  import { register } from 'tsx/esm/api'
  Object.assign(process.env, JSON.parse(process.argv[1]))
  register()
  await import('${RUNNER}')`
/** Runs in the page: records every text that the newest answer has shown. */
const KEEP_TEXTS = `
  globalThis.texts = []
  addEventListener('DOMContentLoaded', () => {
    new MutationObserver(() => {
      const answer = [...document.querySelectorAll('li.assistant')].at(-1)
      const text = [...(answer?.querySelectorAll(':scope > p') ?? [])].map(p => p.textContent).join('\\n\\n')
      if (text !== texts.at(-1)) texts.push(text)
    }).observe(document, { subtree: true, childList: true, characterData: true })
  })`

export interface ChatOptions {
  /** Pause before each word of the model. */
  wordMs?: number
  tokenTtl?: Duration
  /** Browsers reach the engine through a network that the test cuts. */
  hasNetwork?: boolean
}

interface OpenOptions extends Pick<PageOptions, 'colorScheme' | 'context' | 'width'> {
  chatId?: string
  /** Uses an address whose origin the engine does not list. */
  isForeign?: boolean
}

export interface Chat {
  engine: EngineProcess
  /** The network between browsers and the engine. */
  network: TcpProxy | undefined
  /** URL of the page's server. */
  url: string
  /** Starts a runner, and resolves once it is registered. The seed decides which story its model writes. */
  startRunner(seed?: number): Promise<RunnerProcess>
  /** Opens the page of a chat: a new chat each time, unless an id is given. */
  open(options?: OpenOptions): Promise<ChatPage>
}

/** Starts an engine and the server of the page. The engine keeps its file and its port over restarts. */
export async function openChat({ wordMs = 30, tokenTtl, hasNetwork = false }: ChatOptions = {}): Promise<Chat> {
  const port = await freePort()
  const engineUrl = `http://127.0.0.1:${port}`
  const network = hasNetwork ? await TcpProxy.open(engineUrl, port) : undefined
  const publicEngineUrl = network ? new URL(network.urlOf(engineUrl)).origin : engineUrl
  const server = await openChatServer({ engineUrl, publicEngineUrl, apiKey: KEY, ...(tokenTtl && { tokenTtl }) })
  onCleanup(() => server.close())
  const keys = [{ label: 'chat', namespace: 'default', kind: 'secret', key: KEY }]
  const env = {
    ENGINE_API_KEYS: JSON.stringify(keys),
    ENGINE_CORS_ORIGINS: server.url,
    ENGINE_LOG_LEVEL: 'debug',
  }
  const engine = await startEngine({ args: ['--port', String(port)], env })
  const api = engine.api.as(KEY)
  return {
    engine,
    network,
    url: server.url,
    async startRunner(seed = 1) {
      const settings = {
        ENGINE_URL: engineUrl,
        ENGINE_API_KEY: KEY,
        MODEL_WORD_MS: String(wordMs),
        MODEL_SEED: String(seed),
      }
      const runner = new RunnerProcess(PROGRAM, settings).start()
      const isRegistered = async () => (await api.get('/workflows')).text.includes('answer-chat')
      await until(isRegistered, { what: 'the registration' })
      return runner
    },
    async open({ chatId = unique('chat'), isForeign = false, ...options } = {}) {
      const url = isForeign ? server.url.replace('127.0.0.1', 'localhost') : server.url
      const expected = ['ERR_', '401', '403', 'blocked by CORS policy']
      const page = await openPage(url, { ...options, alsoCalls: [engineUrl, publicEngineUrl], expected })
      await page.addInitScript({ content: KEEP_TEXTS })
      await page.goto(`${url}/?chat=${chatId}`)
      return new ChatPage(page, `${server.url}/api/chats/${chatId}`, api)
    },
  }
}

type ChatApi = EngineProcess['api']

/** The page of one chat. */
export class ChatPage {
  readonly page: Page
  /** The notice that the connection is lost. */
  readonly isLost: Locator
  readonly #path: string
  readonly #api: ChatApi

  constructor(page: Page, path: string, api: ChatApi) {
    this.page = page
    this.isLost = page.getByText('The connection is lost')
    this.#path = path
    this.#api = api
  }

  /** Sends a question, and waits until the run has started. */
  async ask(text: string): Promise<void> {
    const isStart = (path: string, method: string) => method === 'POST' && this.#path.endsWith(path)
    const started = this.page.waitForResponse(
      response => isStart(new URL(response.url()).pathname, response.request().method()) && response.ok(),
    )
    await this.page.getByLabel('Your question').fill(text)
    await this.page.keyboard.press('Enter')
    await started
  }

  /** The run that answers the newest question, with a new token for it. */
  async run(): Promise<{ runId: string; token: string }> {
    return (await fetch(`${this.#path}/answer`)).json() as Promise<{ runId: string; token: string }>
  }

  /** Every text that the newest answer has shown on this page since the load. */
  texts(): Promise<string[]> {
    return this.page.evaluate('texts')
  }

  /** Resolves once the newest answer shows this many words, with its text. */
  shows(words: number): Promise<string> {
    const text = async () => (await this.texts()).at(-1) ?? ''
    return until(async () => (await text()).split(/\s+/).length > words && text(), { what: `${words} words` })
  }

  /** Waits for the end of the newest answer's run, and returns the stored answer. */
  async stored(): Promise<string> {
    const { result } = await this.#api.succeeded((await this.run()).runId)
    return (result as { answer: string }).answer
  }

  /** The same, and waits until the page has read all of it. */
  async ends(): Promise<string> {
    const answer = await this.stored()
    await this.page.locator('main[data-status=ready]').waitFor({ timeout: 60_000 })
    return answer
  }

  /** The texts of all messages. */
  messages(): Promise<string[]> {
    return this.page.locator('ol > li').allInnerTexts()
  }
}
