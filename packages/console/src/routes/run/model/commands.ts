// The page's reads and actions as commands: `perdure` and `curl`. Every action shows its commands before it is done.

export interface Command {
  perdure: string
  curl: string
}

export type RunAction = 'cancel' | 'pause' | 'resume' | 'replay' | 'retry'

/** The commands that read the run. */
export function readCommands(engineUrl: string, runId: string): Command {
  return { perdure: `perdure runs get ${runId}`, curl: `curl ${auth}${quote(`${engineUrl}/runs/${runId}`)}` }
}

/** The commands of an action. `inputText` is JSON; `step` is the step of a retry. */
export function actionCommands(
  engineUrl: string,
  runId: string,
  action: RunAction,
  given: { inputText?: string | undefined; step?: string | undefined } = {},
): Command {
  const path = action === 'retry' ? 'retry-from-step' : action
  const body =
    given.step !== undefined
      ? JSON.stringify({ step: given.step })
      : given.inputText === undefined
        ? undefined
        : `{"input":${given.inputText}}`
  const sent = body === undefined ? '' : ` -H 'content-type: application/json' -d ${quote(body)}`
  const flags =
    given.step !== undefined
      ? ` --step ${quote(given.step)}`
      : given.inputText === undefined
        ? ''
        : ` --input ${quote(given.inputText)}`
  return {
    perdure: `perdure runs ${action} ${runId}${flags}`,
    curl: `curl ${auth}-X POST ${quote(`${engineUrl}/runs/${runId}/${path}`)}${sent}`,
  }
}

const auth = '-H "Authorization: Bearer $ENGINE_API_KEY" '

/** A word for a shell: in single quotes unless it is plain. */
function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
