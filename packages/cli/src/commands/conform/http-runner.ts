// The runner under test over HTTP: posts invokes to its URL, as an engine does. Called by suite.ts.

import {
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  RESPONSE_BYTES_MAX,
  recipientOf,
  SIGNATURE_HEADER,
  signBody,
  signFor,
} from '@perdure/protocol'
import { UnreachableError } from '../../command-line/exit.ts'
import type { SignatureOfPass } from './cases.ts'
import { type Answer, Fault, invokeOf, type PassRequest, parsed, type RunnerUnderTest } from './runner.ts'

interface HttpRunnerOptions {
  url: string
  app: string
  /** The id with which the runner registers; signatures may be for it. */
  runner?: string | undefined
  /** Signs every invoke; absent: invokes are not signed. */
  signingKey?: string | undefined
  timeoutMs: number
  signal: AbortSignal
}

/** A key that no runner has. */
export const OTHER_KEY = 'conform-other-key-conform-other-key-'

export class HttpRunner implements RunnerUnderTest {
  readonly options: HttpRunnerOptions

  constructor(options: HttpRunnerOptions) {
    this.options = options
  }

  async pass(pass: PassRequest): Promise<Answer> {
    const { url, app, timeoutMs, signal } = this.options
    const { version = String(PROTOCOL_VERSION), signature = {} } = pass
    const body = JSON.stringify(invokeOf(app, pass))
    const headers = new Headers({ 'content-type': 'application/json' })
    if (version !== null) headers.set(PROTOCOL_HEADER, version)
    if (signature !== null) headers.set(SIGNATURE_HEADER, this.#signatureOf(body, signature))
    const deadline = AbortSignal.timeout(timeoutMs)
    const aborted = AbortSignal.any([deadline, signal])
    try {
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: aborted })
      return { status: response.status, body: parsed(await bounded(response)) }
    } catch (error) {
      if (signal.aborted || error instanceof Fault) throw error
      if (deadline.aborted) throw new Fault(`expected an answer within ${timeoutMs} ms, got none`)
      const cause = (error as Error).cause ?? error
      throw new UnreachableError(`${url} cannot be reached: ${(cause as Error).message}`, { cause: error })
    }
  }

  #signatureOf(signed: string, signature: NonNullable<SignatureOfPass>): string {
    if (typeof signature === 'string') return signature
    const { app, runner, signingKey } = this.options
    const { keys = ['own'], recipient, offMs = 0, otherBody = false } = signature
    const common = {
      keys: keys.flatMap(key => (key === 'other' ? OTHER_KEY : (signingKey ?? []))),
      body: otherBody ? `${signed} ` : signed,
      nowMs: Date.now() + offMs,
    }
    if (recipient === undefined) return signBody(common)
    const id = recipient === 'own' ? runner : `${runner}-other`
    return signFor({ ...common, purpose: 'invoke', recipient: recipientOf(app, id ?? '') })
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
