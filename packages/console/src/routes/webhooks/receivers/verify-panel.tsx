// A form that checks the signature of a post in this tab: neither the secret nor the post leaves it.

import { type FormEvent, useState } from 'react'
import { engineNow } from '../../../data/time/clock.ts'
import { Button } from '../../../ui/button.tsx'
import css from '../../../ui/fields/form.module.css'
import { Polite } from '../../../ui/overlay/polite.tsx'
import { Panel } from '../../../ui/states/page.tsx'
import { Status } from '../../../ui/status.tsx'
import { type Scheme, type Verdict, verifyPost } from './verify-post.ts'

export function VerifyPanel({ scheme }: { scheme: Scheme }) {
  const [secret, setSecret] = useState('')
  const [headers, setHeaders] = useState('')
  const [body, setBody] = useState('')
  const [verdict, setVerdict] = useState<Verdict>()
  const check = (event: FormEvent) => {
    event.preventDefault()
    void verifyPost({ scheme, secret, headers, body, nowMs: engineNow() }).then(setVerdict)
  }
  return (
    <Panel title="Verify a request">
      <form className={css.form} onSubmit={check}>
        <p className={css.hint}>Checked in this tab with the {scheme} scheme. Nothing is sent.</p>
        <label>
          Secret
          <input type="password" autoComplete="off" value={secret} onChange={({ target }) => setSecret(target.value)} />
        </label>
        <label>
          Headers, one per line
          <textarea rows={4} value={headers} onChange={({ target }) => setHeaders(target.value)} />
        </label>
        <label>
          Exact body
          <textarea rows={4} value={body} onChange={({ target }) => setBody(target.value)} />
        </label>
        <div>
          <Button type="submit">Verify</Button>
        </div>
        <p>
          <Polite text={verdict?.text ?? ''}>
            {verdict && <Status status={verdict.isRight ? 'succeeded' : 'failed'} word={verdict.text} />}
          </Polite>
        </p>
      </form>
    </Panel>
  )
}
