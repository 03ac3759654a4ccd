// Lists of the API that have several pages.

import { until } from '../until.ts'
import type { Answer, Api } from './api.ts'

/** Every row of a paged list. Repeats reads that a busy engine refuses with 503. */
export async function pages<Row>(api: Api, path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const read = async () => {
      const answer = await api.get(`${path}${cursor}`)
      return answer.status !== 503 && answer
    }
    const answer: Answer = await until(read, { what: path })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    rows.push(...(answer.json as Row[]))
    const next = answer.headers.get('x-next-cursor')
    if (next === null) return rows
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
}
