// Starts the real engine for every kind of simulation, on the simulation's ports and without a socket. Requests are injected, and
// errors that the engine logs are passed on.

import { pino } from 'pino'
import { type Bounds, createEngine, type Engine, type Ports } from '../../../packages/engine/src/compose/engine.ts'
import type { Config } from '../../../packages/engine/src/config/config.ts'

export interface HttpAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the type depends on the route
  body: any
}

export interface LoggedError {
  msg?: string
  err?: { type?: string; message?: string; stack?: string }
}

export interface SimEngineOptions {
  config: Config
  ports: Partial<Ports>
  bounds?: Bounds
  /** Called with each error that the engine logs, and with its log line. */
  onError(error: LoggedError, line: string): void
}

/** Resolves with an engine that has started its lanes. */
export async function startSimEngine({ config, ports, bounds, onError }: SimEngineOptions): Promise<Engine> {
  const write = (line: string) => onError(JSON.parse(line) as LoggedError, line)
  const log = pino({ level: 'error', base: null, timestamp: false }, { write })
  const engine = await createEngine(config, log, ports, bounds)
  await engine.app.ready()
  engine.start()
  return engine
}

/** Sends a request to the engine's HTTP interface. */
export async function inject(
  { app }: Engine,
  request: { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; url: string; body?: unknown; key?: string },
): Promise<HttpAnswer> {
  const { method, url, body, key } = request
  const response = await app.inject({
    method,
    url,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { payload: body as object }),
  })
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() }
}
