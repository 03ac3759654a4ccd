// Output of the examples in the terminal: headings, notes, and the live timeline of a run.

import type { Client, FrameOf } from 'perdure/client'

type Frame = FrameOf<'streamRun'>
type Paint = (text: string) => string

const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined
const paint =
  (code: number): Paint =>
  text =>
    colour ? `\u001b[${code}m${text}\u001b[0m` : text
const bold = paint(1)
const dim = paint(2)
const red = paint(31)
const green = paint(32)
const yellow = paint(33)
const cyan = paint(36)

const STATUS_PAINT: Record<string, Paint> = {
  succeeded: green,
  failed: red,
  cancelled: red,
  retrying: red,
  waiting: yellow,
  running: cyan,
}

export function heading(text: string): void {
  process.stdout.write(`\n${bold(text)}\n`)
}

export function note(text: string): void {
  process.stdout.write(`  ${dim('*')} ${text}\n`)
}

/** Shows the frames of a run as they arrive, and yields them. Ends when the run has ended. */
export async function* followRun(client: Client, runId: string): AsyncGenerator<Frame> {
  for await (const frame of client.streamRun({ id: runId })) {
    process.stdout.write(`  ${dim(frame.ts.slice(11, 23))}  ${describe(frame)}\n`)
    yield frame
  }
}

/** Shows a run's timeline until the run ends, and returns the run. */
export async function watchRun(client: Client, runId: string) {
  for await (const _ of followRun(client, runId));
  return client.getRun({ id: runId })
}

function describe(frame: Frame): string {
  switch (frame.kind) {
    case 'run_status':
      return `${bold('run')}  ${status(frame.status)}`
    case 'step_status': {
      const attempt = frame.attempt > 1 ? dim(` attempt ${frame.attempt}`) : ''
      const error = frame.error ? `  ${red(frame.error.message)}` : ''
      return `step ${status(frame.status)} ${frame.name}${attempt}${error}`
    }
    case 'progress':
      return `${bold('run')}  progress  ${dim(JSON.stringify(frame.value))}`
    case 'log':
      return `log  ${frame.level.padEnd(9)} ${dim(`[${frame.scope}]`)} ${frame.message} ${dim(JSON.stringify(frame.fields ?? {}))}`
  }
}

function status(name: string): string {
  return (STATUS_PAINT[name] ?? dim)(name.padEnd(9))
}
