// The streams of the process: results go to stdout, messages for people to stderr, and an interrupt aborts a signal.

import { createInterface } from 'node:readline/promises'
import { painter, wantsColour } from '../output/colour.ts'
import { forTerminal, plain } from '../output/text.ts'

/** The abort reason of the terminal's signal after an interrupt. */
export class Interrupted extends Error {}

export type Terminal = ReturnType<typeof openTerminal>

/** The terminal of this process. Listens for SIGINT from now on. */
export function openTerminal() {
  const { stdin, stdout, stderr, env } = process
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort(new Interrupted('interrupted')))
  // The callback of the write reports the error.
  stdout.on('error', () => {})
  return {
    /** Writes lines of the result to stdout. Rejects with EPIPE when the reader has closed the pipe. */
    out: (lines: string) =>
      new Promise<void>((resolve, reject) => {
        stdout.write(`${forTerminal(lines)}\n`, error => (error ? reject(error) : resolve()))
      }),
    /** Writes text of a run to stdout unchanged; a terminal gets escape sequences for characters that it would interpret. */
    write: (text: string) =>
      new Promise<void>((resolve, reject) => {
        stdout.write(stdout.isTTY ? forTerminal(text) : text, error => (error ? reject(error) : resolve()))
      }),
    /** Writes a message for people to stderr. */
    say: (line: string) => void stderr.write(`${plain(line)}\n`),
    /** Prompts the user of an `interactive` terminal. Only a yes counts as one. */
    async confirm(question: string): Promise<boolean> {
      // With `terminal: false`, readline leaves SIGINT to the process.
      const reader = createInterface({ input: stdin, output: stderr, terminal: false })
      const closed = new Promise<string>(resolve => reader.once('close', () => resolve('')))
      const answered = reader.question(`${plain(question)} [y/N] `, { signal: interrupt.signal })
      try {
        return /^y(es)?$/i.test((await Promise.race([answered, closed])).trim())
      } finally {
        reader.close()
      }
    },
    /** Reads standard input to its end. Rejects when it is longer than `bytesMax`. */
    async input(bytesMax: number): Promise<string> {
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of stdin) {
        bytes += (chunk as Buffer).length
        if (bytes > bytesMax) throw new RangeError(`standard input is longer than ${bytesMax} bytes`)
        chunks.push(chunk as Buffer)
      }
      return Buffer.concat(chunks).toString('utf8')
    },
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    /** Width of stdout in columns; undefined when stdout is not a terminal. */
    width: stdout.isTTY ? stdout.columns || undefined : undefined,
    paint: painter(wantsColour(stdout, env)),
    /** Aborted by the first SIGINT; a second one ends the process. */
    signal: interrupt.signal as AbortSignal,
  }
}
