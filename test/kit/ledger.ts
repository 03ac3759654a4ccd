// An append-only file of everything that one party saw. It is written outside of the engine's process, and read again for the
// verdict.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCleanup } from './cleanup.ts'

export class Ledger<Entry> {
  readonly #path: string
  readonly #file: number
  #length = 0

  constructor(name: string) {
    const directory = mkdtempSync(join(tmpdir(), 'perdure-ledger-'))
    this.#path = join(directory, `${name}.jsonl`)
    this.#file = openSync(this.#path, 'a')
    onCleanup(() => {
      closeSync(this.#file)
      rmSync(directory, { recursive: true, force: true })
    })
  }

  get length(): number {
    return this.#length
  }

  append(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
    this.#length++
  }

  /** Every entry, in the order of appending. */
  entries(): Entry[] {
    const lines = readFileSync(this.#path, 'utf8').split('\n')
    return lines.filter(line => line !== '').map(line => JSON.parse(line) as Entry)
  }
}
