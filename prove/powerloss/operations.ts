// Lists, in order, how one engine changed the files of its store and what it made known outside: the input for rebuilding a disk
// after a power loss.

import { basename, dirname } from 'node:path'
import type { SystemCall } from './trace.ts'

export type Operation =
  | { kind: 'write'; file: string; offset: number; bytes: Buffer }
  | { kind: 'truncate'; file: string; length: number }
  | { kind: 'create'; file: string }
  | { kind: 'remove'; file: string }
  /** A sync covers the operations that ended before it began: those before `covers`. */
  | { kind: 'sync'; file: string; covers: number }
  | { kind: 'syncFolder'; covers: number }
  | { kind: 'accepted'; eventId: string; runId: string }
  | { kind: 'invoked'; runId: string; results: Readonly<Record<string, string>> }

export interface ReadOptions {
  /** The folder of the store. */
  folder: string
  /** Operations of the engine's earlier lives on the same files. */
  earlier: readonly Operation[]
}

/** SQLite rebuilds the shared memory after a crash, and the lock file has no content. */
const IGNORED = /-shm$|\.lock(-journal)?$/

/** Returns the operations in the order in which they took effect. */
export function operationsOf(calls: readonly SystemCall[], { folder, earlier }: ReadOptions): Operation[] {
  const operations: Operation[] = [...earlier]
  const existing = new Set(filesAfter(earlier))
  /** By line of the trace: how many operations had ended before it. */
  const ended: { line: number; count: number }[] = []
  for (const call of calls) {
    const found = operationOf(call, { folder, existing, coversOf: line => countBefore(ended, line, earlier.length) })
    operations.push(...found)
    ended.push({ line: call.ended, count: operations.length })
  }
  return operations
}

function countBefore(ended: readonly { line: number; count: number }[], line: number, none: number): number {
  for (let i = ended.length - 1; i >= 0; i--) {
    const { line: at, count } = ended[i] as { line: number; count: number }
    if (at < line) return count
  }
  return none
}

function filesAfter(operations: readonly Operation[]): string[] {
  const files = new Set<string>()
  for (const operation of operations) {
    if (operation.kind === 'create') files.add(operation.file)
    else if (operation.kind === 'remove') files.delete(operation.file)
  }
  return [...files]
}

interface Context {
  folder: string
  existing: Set<string>
  coversOf(line: number): number
}

function operationOf(call: SystemCall, context: Context): Operation[] {
  const { name, result, path, strings, args } = call
  if (result < 0) return []
  const { folder, coversOf } = context
  const file = path !== undefined && dirname(path) === folder ? fileOf(path) : undefined
  switch (name) {
    case 'pwrite64':
      if (file === undefined) return []
      return [{ kind: 'write', file, offset: lastNumber(args), bytes: (strings[0] as Buffer).subarray(0, result) }]
    case 'ftruncate':
      return file === undefined ? [] : [{ kind: 'truncate', file, length: lastNumber(args) }]
    case 'fsync':
    case 'fdatasync':
      if (path === folder) return [{ kind: 'syncFolder', covers: coversOf(call.began) }]
      return file === undefined ? [] : [{ kind: 'sync', file, covers: coversOf(call.began) }]
    case 'openat':
      return created(call, context)
    case 'unlink':
    case 'unlinkat':
      return removed(call, context)
    case 'write':
    case 'writev':
    case 'sendto':
    case 'sendmsg':
      if (file !== undefined) throw new Error(`the engine wrote ${file} by ${name}, which is not understood`)
      return sent(Buffer.concat(strings).toString('utf8'))
    default:
      throw new Error(`the call ${name} is not understood`)
  }
}

function created({ args, returnedPath }: SystemCall, { folder, existing }: Context): Operation[] {
  if (returnedPath === undefined || dirname(returnedPath) !== folder) return []
  const file = fileOf(returnedPath)
  if (file === undefined) return []
  if (!existing.has(file)) {
    if (!args.includes('O_CREAT')) return []
    existing.add(file)
    return [{ kind: 'create', file }]
  }
  return args.includes('O_TRUNC') ? [{ kind: 'truncate', file, length: 0 }] : []
}

function removed({ strings }: SystemCall, { folder, existing }: Context): Operation[] {
  const path = strings.at(-1)?.toString() ?? ''
  const file = dirname(path) === folder ? fileOf(path) : undefined
  return file !== undefined && existing.delete(file) ? [{ kind: 'remove', file }] : []
}

function fileOf(path: string): string | undefined {
  return IGNORED.test(path) ? undefined : basename(path)
}

/** Returns the last argument: the offset of a write or the length of a truncation. */
function lastNumber(args: string): number {
  return Number(/(\d+)\)?\s*$/.exec(args)?.[1])
}

/** Reads from bytes on a socket the facts that others learn: that an event was accepted, or the results that an invoke carries. */
function sent(text: string): Operation[] {
  const body = text.slice(text.indexOf('\r\n\r\n') + 4)
  if (text.startsWith('HTTP/1.1 202 ')) {
    const { eventId, runId } = parsed<{ eventId?: string; runId?: string }>(body) ?? {}
    return eventId === undefined || runId === undefined ? [] : [{ kind: 'accepted', eventId, runId }]
  }
  const begins = body.indexOf('{')
  const invoke = begins < 0 ? undefined : parsed<SentInvoke>(body.slice(begins))
  if (invoke?.ctx?.runId === undefined || invoke.steps === undefined) return []
  const settled = Object.entries(invoke.steps).filter(([, entry]) => entry.pending !== true)
  const results = Object.fromEntries(settled.map(([id, { data }]) => [id, JSON.stringify(data)]))
  return [{ kind: 'invoked', runId: invoke.ctx.runId, results }]
}

interface SentInvoke {
  ctx?: { runId?: string }
  steps?: Record<string, { pending?: boolean; data?: unknown }>
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}
