// A simulated file and database. The database counts how many batches of a tenant are written at once.

import { setTimeout } from 'node:timers/promises'
import { NonRetriableError } from 'perdure'
import type { Batch } from './workflows.ts'

interface Row {
  number: number
  email: string
}

export const source = {
  /** `customers-1000.csv` has 1,000 rows. */
  async count(file: string) {
    const rows = Number(/-(\d+)\.csv$/.exec(file)?.[1])
    if (!(rows > 0)) throw new NonRetriableError(`There is no file ${file}`)
    return { rows }
  },
  /** Every 50th row has an invalid address. */
  async read({ from, to }: Batch): Promise<Row[]> {
    const numbers = Array.from({ length: to - from }, (_, index) => from + index)
    return numbers.map(number => ({ number, email: number % 50 === 49 ? 'n/a' : `c${number}@example.org` }))
  },
}

const underWay = new Map<string, number>()

export const database = {
  async write(tenant: string, rows: Row[]) {
    const batchesAtOnce = (underWay.get(tenant) ?? 0) + 1
    underWay.set(tenant, batchesAtOnce)
    await setTimeout(rows.length)
    underWay.set(tenant, (underWay.get(tenant) ?? 1) - 1)
    const imported = rows.filter(({ email }) => email.includes('@')).length
    return { imported, rejected: rows.length - imported, batchesAtOnce }
  },
}
