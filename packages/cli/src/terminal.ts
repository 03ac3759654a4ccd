// The process's own streams: results go to stdout, everything said to people to stderr, and an interrupt is a signal.

import { createInterface } from 'node:readline/promises'
import { type Paint, painter, wantsColour } from './output/colour.ts'

/** The reason of the signal of a terminal that was interrupted. */
export class Interrupted extends Error {}

export interface Terminal {
  /** Writes a line of the result. Rejects when nobody reads any more (EPIPE). */
  out(line: string): Promise<void>
  /** Says something to whoever sits there. */
  say(line: string): void
  /** Asks a terminal that is `interactive`. No answer is a no. */
  confirm(question: string): Promise<boolean>
  /** All of standard input. Rejects when it is longer than `bytesMax`. */
  input(bytesMax: number): Promise<string>
  readonly interactive: boolean
  /** Columns of stdout; undefined when it is no terminal. */
  readonly width: number | undefined
  readonly paint: Paint
  /** Aborted by the first SIGINT; a second one ends the process. */
  readonly signal: AbortSignal
  now(): number
}

export function openTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort(new Interrupted('interrupted')))
  // Told to whoever writes, by the callback of the write.
  stdout.on('error', () => {})
  return {
    out: line =>
      new Promise((resolve, reject) => {
        stdout.write(`${line}\n`, error => (error ? reject(error) : resolve()))
      }),
    say: line => void stderr.write(`${line}\n`),
    async confirm(question) {
      // Not as a terminal: then an interrupt stays the signal it is.
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
    now: () => Date.now(),
  }
}
