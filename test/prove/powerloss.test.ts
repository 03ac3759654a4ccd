// The disk that the suite `powerloss` rebuilds from a recorded engine, on traces small enough to read.

import { expect, it } from 'vitest'
import { rebuild, type Unsynced } from '../../prove/powerloss/disk.ts'
import { operationsOf } from '../../prove/powerloss/operations.ts'
import { readTrace } from '../../prove/powerloss/trace.ts'
import { seeded } from '../kit/index.ts'

const FOLDER = '/d'
const hex = (text: string) => [...Buffer.from(text)].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
const at = (descriptor: number, path: string) => `${descriptor}<${hex(path)}>`
const created = `7 openat(AT_FDCWD, "${hex('/d/a')}", O_RDWR|O_CREAT, 0644) = ${at(3, '/d/a')}`
const written = (text: string, offset: number) =>
  `7 pwrite64(${at(3, '/d/a')}, "${hex(text)}", ${text.length}, ${offset}) = ${text.length}`
const accepted = `8 write(${at(9, 'socket:[1]')}, "${hex('HTTP/1.1 202 Accepted\r\n\r\n{"eventId":"e","runId":"r"}')}", 40) = 40`
const syncedFolder = `7 fdatasync(${at(4, FOLDER)}) = 0`
const synced = `7 fdatasync(${at(3, '/d/a')}) = 0`

function operations(...lines: string[]) {
  return operationsOf(readTrace(lines.join('\n')), { folder: FOLDER, earlier: [] })
}

/** The text of the file after a power loss at the end of the trace. Undefined if there is no file. */
function left(lines: string[], unsynced: Unsynced, lies = false): string | undefined {
  const done = operations(...lines)
  return rebuild(done, { cut: done.length, unsynced, random: seeded(1), lies })
    .get('a')
    ?.toString()
}

it('keeps what a sync covers, and loses the rest or keeps it', () => {
  const lines = [created, syncedFolder, written('one', 0), synced, written('two', 3)]
  expect(left(lines, 'lost')).toBe('one')
  expect(left(lines, 'kept')).toBe('onetwo')
  expect(left(lines, 'lost', true)).toBeUndefined()
})

it('loses a file whose folder was not synced', () => {
  expect(left([created, written('one', 0), synced], 'lost')).toBeUndefined()
  expect(left([created, written('one', 0), synced], 'kept')).toBe('one')
})

it('does not cover a write that came while the sync was under way', () => {
  const began = `7 fdatasync(${at(3, '/d/a')} <unfinished ...>`
  const during = written('two', 3).replace('7', '8')
  const ended = '7 <... fdatasync resumed>) = 0'
  expect(left([created, syncedFolder, written('one', 0), began, during, ended], 'lost')).toBe('one')
})

it('tears a write at the borders of sectors only', () => {
  const text = 'x'.repeat(512 * 8)
  const torn = left([created, syncedFolder, written(text, 0)], 'torn') as string
  const sectors = torn.match(/[\s\S]{1,512}/g) as string[]
  expect(new Set(sectors.map(sector => new Set(sector).size))).toEqual(new Set([1]))
  expect(torn).not.toBe(text)
})

it('has each answer at its place among the writes', () => {
  const kinds = operations(created, written('one', 0), synced, accepted, written('two', 0)).map(({ kind }) => kind)
  expect(kinds).toEqual(['create', 'write', 'sync', 'accepted', 'write'])
})

it('skips calls that failed, and refuses calls that it does not know', () => {
  const failed = written('one', 0).replace('= 3', '= -1 EIO (Input/output error)')
  expect(operations(created, failed).map(({ kind }) => kind)).toEqual(['create'])
  expect(() => operations(`7 fallocate(${at(3, '/d/a')}, 0, 0, 4096) = 0`)).toThrow('fallocate')
})
