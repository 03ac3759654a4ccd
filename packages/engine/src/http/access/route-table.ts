// The methods that each path answers: separates wrong methods (405) from wrong paths (404), and finds the literal paths that the
// router would take for ids. Filled and used by app.ts.

import { nearestName } from '@perdure/protocol'
import { EngineError } from '../../domain/model/errors.ts'

/** Longer paths get no suggestion. */
const COMPARED_CHARS_MAX = 256

export class RouteTable {
  readonly #methods = new Map<string, Set<string>>()

  add(pattern: string, methods: string | string[]): void {
    const known = this.#methods.get(pattern) ?? new Set()
    for (const method of [methods].flat()) known.add(method)
    this.#methods.set(pattern, known)
  }

  /** By literal path: the methods that it does not answer, but that a matching pattern does (`/runs/stats` is no run). */
  get ambiguous(): { url: string; methods: string[] }[] {
    const patterns = [...this.#methods].filter(([pattern]) => pattern.includes(':'))
    return [...this.#methods].flatMap(([url, own]) => {
      const others = url.includes(':') ? [] : patterns.filter(([pattern]) => matches(pattern, url))
      const methods = [...new Set(others.flatMap(([, theirs]) => [...theirs]))].filter(one => !own.has(one))
      return methods.length === 0 ? [] : [{ url, methods }]
    })
  }

  /**
   * Returns the pattern that the path was probably meant for: it has one slash too many at its end, has a prefix, or is misspelt.
   */
  #nearest(path: string): string | undefined {
    if (path.length > COMPARED_CHARS_MAX) return undefined
    const patterns = [...this.#methods.keys()].filter(pattern => !pattern.includes('*'))
    const bare = path.replace(/\/+$/, '')
    const withoutFirst = bare.replace(/^\/[^/]*/, '')
    const exact = [bare, withoutFirst].filter(one => one.length > 1)
    const known = exact.flatMap(
      one => patterns.find(pattern => pattern === one) ?? patterns.find(p => matches(p, one)) ?? [],
    )
    if (known.length > 0) return known[0]
    const near = patterns.filter(pattern => pattern !== '/' && isNear(pattern, bare))
    const best = nearestName(bare, near)
    return best ?? near[0]
  }

  /** The error for a request without a route: 405 with the methods that a known path answers, or 404. */
  refusal(path: string): EngineError {
    // `/runs/stream` is its own path, not a run.
    const allow = new Set(this.#methods.get(path))
    for (const [pattern, methods] of allow.size > 0 ? [] : this.#methods) {
      if (matches(pattern, path)) for (const method of methods) allow.add(method)
    }
    if (allow.size === 0) {
      const nearest = this.#nearest(path)
      return new EngineError(
        'not_found',
        `no such path${nearest === undefined ? '' : `; did you mean ${shown(nearest)}?`}`,
      )
    }
    return new EngineError('method_not_allowed', 'this path does not support that method', {
      details: { allow: [...allow].sort() },
    })
  }
}

/** Returns a pattern as the documentation writes it. */
function shown(pattern: string): string {
  return pattern.replace(/:(\w+)/g, '{$1}')
}

/** Whether each segment equals the pattern's, or is a misspelling of it. */
function isNear(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const actual = path.split('/')
  if (expected.length !== actual.length) return false
  return expected.every((part, i) => part.startsWith(':') || nearestName(actual[i] as string, [part]) !== undefined)
}

/** Compares segment by segment, as the router does: `:name` matches any segment. */
function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const actual = path.split('/')
  // `*` stands for the rest of the path.
  if (expected.at(-1) === '*') expected.splice(-1, 1, ...actual.slice(expected.length - 1).map(() => ':rest'))
  if (expected.length !== actual.length) return false
  return expected.every((part, i) => part.startsWith(':') || part === actual[i])
}
