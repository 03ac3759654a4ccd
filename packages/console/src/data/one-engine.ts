// Replaces the client's list of engines in the build (vite.config.ts): the console only calls the engine that served it.

export const DEFAULT_ENGINE_URL = ''

/** A list of one engine. */
export class EngineList {
  readonly size = 1
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  static of(url: string): EngineList {
    return new EngineList(url)
  }
}

interface EngineCall extends Omit<RequestInit, 'headers'> {
  path: string
  headers: Record<string, string>
  send(url: string, call: RequestInit): Promise<Response>
}

/** Calls the engine, and reads the whole answer. */
export async function callAnyEngine({ url: base }: EngineList, { path, send, ...request }: EngineCall) {
  const url = base + path
  const answer = await send(url, request)
  const { status, ok, headers } = answer
  return { url, status, ok, headers, text: await answer.text() }
}
