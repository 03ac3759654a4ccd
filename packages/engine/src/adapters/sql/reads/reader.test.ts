import { expect, test } from 'vitest'
import { readRequest } from '../batches/requests.ts'
import type { Connection } from '../sqlite/connection.ts'
import { Reader } from '../sqlite/reader.ts'

test('a batch ends with the answer that makes it large, whose requests are answered in full', () => {
  const text = 'x'.repeat(3_000_000)
  const connection = { exec: () => {}, prepare: () => ({ all: () => [[1, text]] }) } as unknown as Connection
  const batch = Array.from({ length: 5 }, () => readRequest([{ sql: 'SELECT', params: [] }]))
  expect(new Reader(connection).run(batch).answers).toEqual([[[[1, text]]], [[[1, text]]]])
})
