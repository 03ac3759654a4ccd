// The placeholders of the shared SQL in PostgreSQL's forms: numbered for a query, elements of an array inside the write
// function.

const PLACEHOLDER = /\?([ir])?(?![\w?])/g
const CASTS = { i: '::bigint', r: '::double precision' } as const

/** `?` as `$1`, `$2` and so on. Their types come from the context. */
export function numbered(sql: string): string {
  let n = 0
  return sql.replace(PLACEHOLDER, () => `$${++n}`)
}

/**
 * Turns every placeholder into a parameter of the write function: an element of the array `a` after position `p`, cast to its
 * type. The first one is the parameter at `from`.
 */
export function fromParameters(sql: string, { from = 0 }: { from?: number } = {}): string {
  let index = from
  return sql.replace(PLACEHOLDER, (_, type: keyof typeof CASTS | undefined) => {
    return `a[p + ${index++}]${type === undefined ? '' : CASTS[type]}`
  })
}
