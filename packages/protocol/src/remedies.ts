// Remedies for an engine that cannot be reached, or that refuses the key. The SDK and the client add them to the messages of
// their errors. Browsers have no environment, and their bundles leave out the remedies.

/** The remedy for a connection that failed with this code of the operating system; empty for any other code. */
export function connectionRemedy(code: unknown): string {
  if (globalThis.process === undefined) return ''
  if (code === 'ECONNREFUSED') {
    return '. Is the engine running? `npx perdure dev` starts one; ENGINE_URL says where it listens'
  }
  return code === 'ENOTFOUND' ? '. Check the host name in ENGINE_URL' : ''
}

/** The remedy if another server answered in place of the engine. */
export function foreignRemedy(status: number): string {
  if (globalThis.process === undefined) return ''
  const isGateway = status >= 502 && status <= 504
  return isGateway ? ' Is the engine behind this proxy running?' : ' Is this the engine? Check ENGINE_URL'
}

/** The remedy for a 401, to append to the engine's reason. */
export function keyRemedy(isKeySent: boolean): string {
  if (globalThis.process === undefined) return ''
  const make = 'a key of the engine, which `perdure keys create` makes'
  return isKeySent ? `. Check ENGINE_API_KEY: it must be ${make}` : `. Set ENGINE_API_KEY to ${make}`
}
