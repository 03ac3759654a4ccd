// Reads a setting that may be secret from a file (docs/operating.md#secrets-in-files), the way orchestrators mount secrets: other
// processes can see the environment of a process more easily than its files. Called by config.ts.

import { closeSync, openSync, readSync } from 'node:fs'

const FILE_BYTES_MAX = 64 * 1024

/** Returns the file's text without the line break at its end, or the problem with the file. */
export function readSecretFile(path: string): { text: string } | { fault: string } {
  let bytes: Buffer
  try {
    bytes = firstBytes(path)
  } catch (error) {
    return { fault: `names a file that cannot be read: ${path} (${(error as NodeJS.ErrnoException).code})` }
  }
  if (bytes.length > FILE_BYTES_MAX) return { fault: `names a file of more than ${FILE_BYTES_MAX / 1024} KiB: ${path}` }
  const text = bytes.toString('utf8').replace(/[\r\n]+$/, '')
  return text === '' ? { fault: `names an empty file: ${path}` } : { text }
}

/** Reads at most one byte more than is allowed: the file may be an endless device. */
function firstBytes(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(FILE_BYTES_MAX + 1)
    let length = 0
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null)
      if (read === 0) break
      length += read
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}
