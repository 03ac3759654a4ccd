// The parser of server-sent events, fed in pieces of any size.

import { expect, test } from 'vitest'
import { readMessages } from './sse.ts'

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

async function read(text: string, size: number): Promise<string[]> {
  const messages: string[] = []
  for await (const data of readMessages(inPieces(new TextEncoder().encode(text), size))) messages.push(data)
  return messages
}

test.each([1, 2, 3, 7, 1000])('reads the same messages from pieces of %i bytes', async size => {
  const text =
    'retry: 2000\n\n: hello\n\nid: 1\nevent: log\ndata: {"m":"zwölf ☃ 🎈"}\n\ndata:a\r\ndata: b\r\n\r\ndata: cut off'
  expect(await read(text, size)).toEqual(['{"m":"zwölf ☃ 🎈"}', 'a\nb'])
})

test('refuses a message that is too long', async () => {
  async function* endless() {
    const chunk = new Uint8Array(1024 * 1024).fill(97)
    for (;;) yield chunk
  }
  await expect(readMessages(endless()).next()).rejects.toThrow('too long')
})
