// The attempts of a delivery: when each was made, the answer that it got, and the headers that were sent.

import type { Calls } from '@perdure/client'
import { durationText } from '../../ui/duration.ts'
import { veiledText } from '../../ui/json/veil-json.ts'
import { Moment } from '../../ui/moment.tsx'
import { Status } from '../../ui/status.tsx'
import { useVeil } from '../../ui/veil.ts'
import { Visible } from '../../ui/visible.tsx'
import css from './webhooks.module.css'

type Delivery = Pick<Calls['getWebhookDelivery']['reply'], 'attempts'>

export function Attempts({ delivery: { attempts } }: { delivery: Delivery }) {
  const { isHidden } = useVeil()
  return (
    <ol className={css.attempts}>
      {attempts.map(attempt => (
        <li key={attempt.id}>
          <span>
            <Status
              status={attempt.outcome === 'succeeded' ? 'succeeded' : 'failed'}
              word={`${attempt.attempt}. ${attempt.outcome.replaceAll('_', ' ')}`}
            />{' '}
            <span className={css.mute}>
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
              <summary>Headers that were sent</summary>
              <pre>
                <Visible text={headerLines(attempt.requestHeaders)} />
              </pre>
            </details>
          )}
        </li>
      ))}
      {attempts.length === 0 && <li className={css.mute}>Not tried yet.</li>}
    </ol>
  )
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
