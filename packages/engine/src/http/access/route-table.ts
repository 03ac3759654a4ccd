// Which methods each path answers, so that a request no route took is told apart: wrong path or wrong method; and which
// literal paths the router would take for ids. Filled and asked by `app.ts`.

import { EngineError } from '../../domain/model/errors.ts'

export class RouteTable {
  readonly #methods = new Map<string, Set<string>>()

  add(pattern: string, methods: string | string[]): void {
    const known = this.#methods.get(pattern) ?? new Set()
    for (const method of [methods].flat()) known.add(method)
    this.#methods.set(pattern, known)
  }

  /** The methods that a literal path does not answer, but a pattern that it fits does: `/runs/stats` is no run. */
  get taken(): { url: string; methods: string[] }[] {
    const patterns = [...this.#methods].filter(([pattern]) => pattern.includes(':'))
    return [...this.#methods].flatMap(([url, own]) => {
      const others = url.includes(':') ? [] : patterns.filter(([pattern]) => matches(pattern, url))
      const methods = [...new Set(others.flatMap(([, theirs]) => [...theirs]))].filter(one => !own.has(one))
      return methods.length === 0 ? [] : [{ url, methods }]
    })
  }

  /** 405 naming the methods that a known path does answer, 404 for an unknown path. */
  refusal(path: string): EngineError {
    // `/runs/stream` is a path of its own, not one of `/runs/:id`.
    const allow = new Set(this.#methods.get(path))
    for (const [pattern, methods] of allow.size > 0 ? [] : this.#methods) {
      if (matches(pattern, path)) for (const method of methods) allow.add(method)
    }
    if (allow.size === 0) return new EngineError('not_found', 'no such path')
    return new EngineError('method_not_allowed', 'this path does not answer that method', {
      details: { allow: [...allow].sort() },
    })
  }
}

/** Segment by segment, as the router does: `:name` takes any one segment. */
function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const actual = path.split('/')
  if (expected.length !== actual.length) return false
  return expected.every((part, i) => part.startsWith(':') || part === actual[i])
}
