// Splits a URL into the origin to connect to and the path to request. The HTTP transport and the webhook sender do this for every
// call, so the results are cached.

export interface Target {
  origin: string
  /** Path and query. */
  path: string
}

const TARGETS_MAX = 1024

export class TargetCache {
  readonly #targets = new Map<string, Target>()

  /** The target of a URL, or the reason why it cannot be called. */
  get(url: string): Target | string {
    const cached = this.#targets.get(url)
    if (cached) return cached
    const target = parseTarget(url)
    if (typeof target === 'string') return target
    if (this.#targets.size >= TARGETS_MAX) this.#targets.clear()
    this.#targets.set(url, target)
    return target
  }
}

function parseTarget(url: string): Target | string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    return 'the URL cannot be read'
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return `the URL must begin with http: or https:, not ${parsed.protocol}`
  }
  // If they were dropped silently, the runner would seem to refuse its own credentials.
  if (parsed.username !== '' || parsed.password !== '')
    return 'the URL contains credentials, which the engine does not send: remove them'
  return { origin: parsed.origin, path: parsed.pathname + parsed.search }
}
