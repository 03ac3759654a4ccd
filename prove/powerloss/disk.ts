// Rebuilds the files of a store in a state that a power loss may leave: everything that a sync covered, and of the rest nothing,
// all of it, some writes, or some sectors of writes.

import type { Seeded } from '../../test/kit/seeded.ts'
import type { Operation } from './operations.ts'

/** The fate of operations that no sync has covered. */
export type Unsynced = 'lost' | 'kept' | 'some' | 'torn'
export const UNSYNCED: readonly Unsynced[] = ['lost', 'torn', 'some', 'kept']

export interface PowerLoss {
  /** The power loss happens before the operation with this index. */
  cut: number
  unsynced: Unsynced
  random: Seeded
  /** A planted bug of the disk: it acknowledges syncs and carries out none. */
  lies?: boolean
}

const SECTOR_BYTES = 512

/** Returns the files by name. */
export function rebuild(operations: readonly Operation[], loss: PowerLoss): Map<string, Buffer> {
  const before = operations.slice(0, loss.cut)
  const covered = new Covered(loss.lies ? [] : before)
  const entries = survivingEntries(before, covered, loss)
  const files = new Map<string, Content>()
  for (const [i, operation] of before.entries()) {
    switch (operation.kind) {
      case 'create':
        if (entries.has(i)) files.set(operation.file, new Content())
        break
      case 'remove':
        if (entries.has(i)) files.delete(operation.file)
        break
      case 'write':
      case 'truncate':
        apply(files, operation, covered.hasData(i, operation.file) ? 'kept' : loss.unsynced, loss.random)
    }
  }
  return new Map([...files].map(([name, content]) => [name, content.bytes]))
}

/** The bytes of a file, with space to grow. */
class Content {
  #room = Buffer.alloc(1 << 16)
  #length = 0

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  write(bytes: Buffer, offset: number): void {
    const end = offset + bytes.length
    if (end > this.#room.length) this.#room = Buffer.concat([this.bytes, Buffer.alloc(end * 2 - this.#length)])
    bytes.copy(this.#room, offset)
    this.#length = Math.max(this.#length, end)
  }

  resize(length: number): void {
    if (length > this.#length) this.write(Buffer.alloc(length - this.#length), this.#length)
    this.#room.fill(0, length, this.#length)
    this.#length = length
  }
}

/** The operations that a sync covers, by the last sync of each file and of the folder. */
class Covered {
  readonly #files = new Map<string, number>()
  #folder = 0

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      if (operation.kind === 'sync') this.#files.set(operation.file, operation.covers)
      else if (operation.kind === 'syncFolder') this.#folder = operation.covers
    }
  }

  hasData(index: number, file: string): boolean {
    return index < (this.#files.get(file) ?? 0)
  }

  hasEntry(index: number): boolean {
    return index < this.#folder
  }
}

/** Returns the entries that survive: file systems with a journal write creations and removals in order, so the first ones do. */
function survivingEntries(
  operations: readonly Operation[],
  covered: Covered,
  { unsynced, random }: PowerLoss,
): Set<number> {
  const entries = operations.flatMap(({ kind }, i) => (kind === 'create' || kind === 'remove' ? [i] : []))
  const durable = entries.filter(i => covered.hasEntry(i)).length
  const open = entries.length - durable
  const kept = unsynced === 'lost' ? 0 : unsynced === 'kept' ? open : random.between(0, open)
  return new Set(entries.slice(0, durable + kept))
}

function apply(
  files: ReadonlyMap<string, Content>,
  operation: Extract<Operation, { kind: 'write' | 'truncate' }>,
  fate: Unsynced,
  random: Seeded,
): void {
  const content = files.get(operation.file)
  if (content === undefined || fate === 'lost') return
  const isTorn = fate === 'torn'
  if (fate === 'some' && random.next() < 0.5) return
  if (operation.kind === 'truncate') {
    if (!isTorn || random.next() < 0.5) content.resize(operation.length)
    return
  }
  const { offset, bytes } = operation
  if (!isTorn) {
    content.write(bytes, offset)
    return
  }
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES))
    if (random.next() < 0.5) content.write(bytes.subarray(at, end), offset + at)
    at = end
  }
}
