// The attempts of a delivery: when each was made, the answer it got, and the headers that were sent.

import type { Calls } from '@perdure/client'
import { coarse, durationText } from '../../ui/duration.ts'
import { veiledText } from '../../ui/json/veil-json.ts'
import { Moment } from '../../ui/moment.tsx'
import { Status } from '../../ui/status.tsx'
import { useVeil } from '../../ui/veil.ts'
import { Visible } from '../../ui/visible.tsx'
import { attemptPlan } from './attempt-plan.ts'
import css from './webhooks.module.css'

type Delivery = Pick<Calls['getWebhookDelivery']['reply'], 'attempts'>

const WORDS = {
  succeeded: 'succeeded',
  http_error: 'HTTP error',
  timeout: 'timeout',
  connection_error: 'connection error',
  skipped: 'skipped',
} as const satisfies Record<Delivery['attempts'][number]['outcome'], string>

/** The attempts on their schedule, from left to right: the pauses, the next one, and how many remain. */
export function AttemptSchedule({ delivery }: { delivery: Calls['getWebhookDelivery']['reply'] }) {
  const { made, next, left } = attemptPlan(delivery)
  const after = (pauseMs: number | undefined) =>
    pauseMs !== undefined && <small>after {durationText(pauseMs < 60_000 ? coarse(pauseMs) : pauseMs)}</small>
  return (
    <ol className={css.schedule} aria-label="Attempts on their schedule">
      {made.map(({ attempt: { id, attempt, outcome, statusCode }, pauseMs }) => (
        <li key={id}>
          {after(pauseMs)}
          <Status
            status={outcome === 'succeeded' ? 'succeeded' : 'failed'}
            word={`${attempt}. ${statusCode ?? WORDS[outcome]}`}
          />
        </li>
      ))}
      {next && (
        <li data-next="">
          {after(next.pauseMs)}
          <span>
            next <Moment at={next.at} />
          </span>
        </li>
      )}
      {left > 0 && <li className="mute">{left} more if it fails</li>}
    </ol>
  )
}

export function Attempts({ delivery: { attempts } }: { delivery: Delivery }) {
  const { isHidden } = useVeil()
  return (
    <ol className={`plain-list ${css.attempts}`}>
      {attempts.map(attempt => (
        <li key={attempt.id}>
          <span>
            <Status
              status={attempt.outcome === 'succeeded' ? 'succeeded' : 'failed'}
              word={`${attempt.attempt}. ${WORDS[attempt.outcome]}`}
            />{' '}
            <span className="mute">
              {attempt.statusCode ?? ''} after {durationText(attempt.durationMs)}, <Moment at={attempt.createdAt} />
            </span>
          </span>
          {attempt.error !== undefined && <Visible text={attempt.error} />}
          {attempt.responseSnippet !== undefined && (
            <pre>
              <Visible text={isHidden ? veiledText(attempt.responseSnippet) : attempt.responseSnippet} />
            </pre>
          )}
          {attempt.requestHeaders !== undefined && (
            <details>
              <summary>Request headers</summary>
              <pre>
                <Visible text={headerLines(attempt.requestHeaders)} />
              </pre>
            </details>
          )}
        </li>
      ))}
      {attempts.length === 0 && <li className="mute">No attempts yet.</li>}
    </ol>
  )
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
