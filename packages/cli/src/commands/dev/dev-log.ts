// The output of `perdure dev`: lines of the engine, of the runner, and of the command itself, each with a prefix.

import type { Colour, Paint } from '../../output/colour.ts'
import { plain } from '../../output/text.ts'

interface EngineLine {
  level: number
  time: number
  msg?: string
}

const LEVELS: Record<number, [name: string, colour: Colour | undefined]> = {
  10: ['trace', 'dim'],
  20: ['debug', 'dim'],
  30: ['info', undefined],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
}

/** Writes the lines of `perdure dev` to one stream. */
export class DevLog {
  readonly #to: { write(text: string): unknown }
  readonly #paint: Paint

  constructor(to: { write(text: string): unknown }, paint: Paint) {
    this.#to = to
    this.#paint = paint
  }

  /** A line of `perdure dev` itself. */
  say(line: string): void {
    this.#write('green', 'dev', line)
  }

  /** A line of the runner, unchanged, including its colours. */
  runner(line: string): void {
    this.#write('magenta', 'runner', line)
  }

  /** A line about a run. */
  run(line: string): void {
    this.#write('blue', 'run', line)
  }

  /** JSON lines of the engine's log. */
  engine(lines: string): void {
    for (const line of lines.split('\n')) if (line !== '') this.#write('cyan', 'engine', this.#readable(line))
  }

  #readable(text: string): string {
    const line = parse(text)
    if (!line) return plain(text)
    const { level, time, msg = '', ...fields } = line
    const [name, colour] = LEVELS[level] ?? [String(level), undefined]
    const at = new Date(time).toTimeString().slice(0, 8)
    const rest = Object.keys(fields).length === 0 ? '' : ` ${this.#paint('dim', plain(JSON.stringify(fields)))}`
    return `${this.#paint('dim', at)} ${this.#paint(colour, `${name.padEnd(5)} ${plain(msg)}`)}${rest}`
  }

  #write(colour: Colour, name: string, line: string): void {
    this.#to.write(`${this.#paint(colour, `${name.padEnd(6)} |`)} ${line}\n`)
  }
}

function parse(text: string): EngineLine | undefined {
  try {
    const line = JSON.parse(text) as EngineLine
    return typeof line === 'object' && line !== null && Number.isFinite(line.time) ? line : undefined
  } catch {
    return undefined
  }
}
