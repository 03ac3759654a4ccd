// The placeholders of the shared SQL in PostgreSQL's forms: numbered for a query, elements of an array inside the
// write function.

const PLACEHOLDER = /\?([ir])?(?![\w?])/g

/** `?` as `$1`, `$2` and so on. Types come from where they stand. */
export function numbered(sql: string): string {
  let n = 0
  return sql.replace(PLACEHOLDER, () => `$${++n}`)
}

/** The k-th placeholder as the element `a[p + k]` of a text array, cast to what it stands for. */
export function fromArray(sql: string): { sql: string; count: number } {
  let count = 0
  const text = sql.replace(PLACEHOLDER, (_, type: 'i' | 'r' | undefined) => {
    const cast = type === 'i' ? '::bigint' : type === 'r' ? '::double precision' : ''
    return `a[p + ${count++}]${cast}`
  })
  return { sql: text, count }
}
