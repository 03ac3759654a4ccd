// Colours for terminals.

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const

export type Colour = keyof typeof CODES
export type Paint = (colour: Colour | undefined, text: string) => string

/** Whether to colour the output to `stream` (https://no-color.org). */
export function wantsColour(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** Colours text if `on`; else returns it unchanged. */
export function painter(on: boolean): Paint {
  return (colour, text) =>
    on && colour !== undefined && text !== '' ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}

const STATUS: Record<string, Colour> = {
  queued: 'dim',
  running: 'blue',
  waiting: 'cyan',
  retrying: 'yellow',
  paused: 'yellow',
  succeeded: 'green',
  failed: 'red',
  cancelled: 'magenta',
  pending: 'dim',
  delivering: 'blue',
  exhausted: 'red',
  dead: 'red',
  debug: 'dim',
  warn: 'yellow',
  error: 'red',
}

/** The colour of a status of a run, step or delivery, or of a log level. */
export const colourOf = (word: string): Colour | undefined => STATUS[word]
