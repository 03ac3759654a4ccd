// The runner under test over HTTP: posts invokes to its URL, as an engine does. Called by suite.ts.

import { PROTOCOL_HEADER, PROTOCOL_VERSION, RESPONSE_BYTES_MAX, SIGNATURE_HEADER, signBody } from '@perdure/protocol'
import { UnreachableError } from '../../../command-line/exit.ts'
import { requestsOf } from './requests.ts'
import { type Answer, Fault, type PassRequest, type RunnerUnderTest } from './runner.ts'

export interface HttpRunnerOptions {
  url: string
  app: string
  /** Signs every invoke; absent: invokes are not signed. */
  signingKey?: string | undefined
  timeoutMs: number
  signal: AbortSignal
}

/** The headers of an invoke; a missing one is not sent. */
type Headers = (body: string) => Record<string, string>

export class HttpRunner implements RunnerUnderTest {
  readonly options: HttpRunnerOptions
  readonly #requestOf: (pass: PassRequest) => object

  constructor(options: HttpRunnerOptions) {
    this.options = options
    this.#requestOf = requestsOf({ app: options.app, features: [] })
  }

  pass(request: PassRequest): Promise<Answer> {
    return this.post(request, body => ({ ...this.version(), ...this.signed(body) }))
  }

  /** Sends a pass with headers of the check's own. */
  post(request: PassRequest, headersOf: Headers): Promise<Answer> {
    const body = JSON.stringify(this.#requestOf(request))
    return this.send(body, headersOf(body))
  }

  version(): Record<string, string> {
    return { [PROTOCOL_HEADER]: String(PROTOCOL_VERSION) }
  }

  signed(body: string): Record<string, string> {
    const { signingKey } = this.options
    const keys = signingKey === undefined ? [] : [signingKey]
    return { [SIGNATURE_HEADER]: signBody({ keys, body, nowMs: Date.now() }) }
  }

  async send(body: string, headers: Record<string, string>): Promise<Answer> {
    const { url, timeoutMs, signal } = this.options
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([deadline, signal]),
      })
      return { status: response.status, body: parsed(await bounded(response)) }
    } catch (error) {
      if (signal.aborted || error instanceof Fault) throw error
      if (deadline.aborted) throw new Fault(`expected an answer within ${timeoutMs} ms, got none`)
      const cause = (error as Error).cause ?? error
      throw new UnreachableError(`${url} cannot be reached: ${(cause as Error).message}`, { cause: error })
    }
  }
}

/** The text of the answer, up to the size that an engine reads. */
async function bounded(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX)
      throw new Fault(`expected an answer of at most ${RESPONSE_BYTES_MAX} bytes, got more`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
