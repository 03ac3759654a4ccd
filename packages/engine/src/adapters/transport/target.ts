// Reads a runner's URL once: where to connect and what to ask for. The HTTP transport asks for every call, so
// the answers are remembered; a registration rarely changes its URL.

export interface Target {
  origin: string
  /** Path and query. */
  path: string
}

const TARGETS_MAX = 1024

export class TargetCache {
  readonly #known = new Map<string, Target>()

  /** The target of a URL, or a sentence that says why there is none. */
  get(url: string): Target | string {
    const known = this.#known.get(url)
    if (known) return known
    const target = parseTarget(url)
    if (typeof target === 'string') return target
    if (this.#known.size >= TARGETS_MAX) this.#known.clear()
    this.#known.set(url, target)
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
    return `the URL is ${parsed.protocol} and not http: or https:`
  }
  // Dropping them silently would look like a runner that refuses its own credentials.
  if (parsed.username !== '' || parsed.password !== '')
    return 'the URL carries credentials, which are not sent'
  return { origin: parsed.origin, path: parsed.pathname + parsed.search }
}
