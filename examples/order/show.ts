// Shows a run's live timeline in the terminal.

import type { TimelineFrame } from '@perdure/protocol'

const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined
const paint = (code: number) => (text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
const [bold, dim, red, green, yellow, cyan] = [1, 2, 31, 32, 33, 36].map(paint) as [
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
]
type Paint = (text: string) => string

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

/** The frames of a run as they come, each shown; ends when the run has ended. */
export async function* followRun(engineUrl: string, runId: string): AsyncGenerator<TimelineFrame> {
  const response = await fetch(`${engineUrl}/runs/${runId}/stream`)
  if (!response.ok || !response.body) throw new Error(`The stream answered ${response.status}.`)
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const messages = (text + chunk).split('\n\n')
    text = messages.pop() as string
    for (const message of messages) {
      const data = message.split('\n').find(line => line.startsWith('data: '))
      if (data === undefined) continue
      const frame = JSON.parse(data.slice('data: '.length)) as TimelineFrame
      show(frame)
      yield frame
    }
  }
}

function show(frame: TimelineFrame): void {
  process.stdout.write(`  ${dim(frame.ts.slice(11, 23))}  ${describe(frame)}\n`)
}

function describe(frame: TimelineFrame): string {
  switch (frame.kind) {
    case 'run_status':
      return `${bold('run')}  ${status(frame.status)}`
    case 'step_status': {
      const attempt = frame.attempt > 1 ? dim(` attempt ${frame.attempt}`) : ''
      const error = frame.error ? `  ${red(frame.error.message)}` : ''
      return `step ${status(frame.status)} ${frame.name}${attempt}${error}`
    }
    case 'log':
      return `log  ${frame.level.padEnd(9)} ${dim(`[${frame.scope}]`)} ${frame.message} ${dim(JSON.stringify(frame.fields ?? {}))}`
  }
}

function status(name: string): string {
  return (STATUS_PAINT[name] ?? dim)(name.padEnd(9))
}
