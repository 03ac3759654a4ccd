// The streams of the process: results go to stdout, messages for people to stderr, and an interrupt aborts a signal.

import { createInterface } from 'node:readline/promises'
import { type Paint, painter, wantsColour } from '../output/colour.ts'

/** The abort reason of the terminal's signal after an interrupt. */
export class Interrupted extends Error {}

export interface Terminal {
  /** Writes a line of the result to stdout. Rejects with EPIPE when the reader has closed the pipe. */
  out(line: string): Promise<void>
  /** Writes a message for people to stderr. */
  say(line: string): void
  /** Prompts the user of an `interactive` terminal. Only a yes counts as one. */
  confirm(question: string): Promise<boolean>
  /** Reads standard input to its end. Rejects when it is longer than `bytesMax`. */
  input(bytesMax: number): Promise<string>
  readonly interactive: boolean
  /** Width of stdout in columns; undefined when stdout is not a terminal. */
  readonly width: number | undefined
  readonly paint: Paint
  /** Aborted by the first SIGINT; a second one ends the process. */
  readonly signal: AbortSignal
}

/** The terminal of this process. Listens for SIGINT from now on. */
export function openTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort(new Interrupted('interrupted')))
  // The callback of the write reports the error.
  stdout.on('error', () => {})
  return {
    out: line =>
      new Promise((resolve, reject) => {
        stdout.write(`${line}\n`, error => (error ? reject(error) : resolve()))
      }),
    say: line => void stderr.write(`${line}\n`),
    async confirm(question) {
      // With `terminal: false`, readline leaves SIGINT to the process.
      const reader = createInterface({ input: stdin, output: stderr, terminal: false })
      const closed = new Promise<string>(resolve => reader.once('close', () => resolve('')))
      const answered = reader.question(`${question} [y/N] `, { signal: interrupt.signal })
      try {
        return /^y(es)?$/i.test((await Promise.race([answered, closed])).trim())
      } finally {
        reader.close()
      }
    },
    async input(bytesMax) {
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
    width: stdout.isTTY ? stdout.columns || undefined : undefined,
    paint: painter(wantsColour(stdout, env)),
    signal: interrupt.signal,
  }
}
