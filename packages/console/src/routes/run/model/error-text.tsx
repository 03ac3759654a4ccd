// An error of a run or step: its message, code, own fields and causes, and its stack with the frames of the user's own code
// first. None of it becomes a link.

import { cutText, type ErrorCause, type ErrorFields } from '@perdure/protocol/portable'
import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/overlay/copy.tsx'
import { Visible } from '../../../ui/visible.tsx'
import css from './error-text.module.css'
import { orderedStack } from './stack.ts'

const MESSAGE_CHARS = 2048

export interface ErrorTextProps {
  error: {
    message: string
    name?: string | undefined
    code?: string | undefined
    stack?: string | undefined
    fields?: ErrorFields | undefined
    /** An {@link ErrorCause}, unless the error comes from the page itself and is shown short. */
    cause?: unknown
  }
  isShort?: boolean
}

export function ErrorText({ error, isShort = false }: ErrorTextProps) {
  const [isWhole, setIsWhole] = useState(false)
  const { message, name, code, stack, fields, cause } = error
  const short = cutText(message, MESSAGE_CHARS)
  const isLong = short !== message
  const shown = isWhole ? message : short
  return (
    <div className={css.error}>
      <p className={css.message}>
        {name !== undefined && (
          <strong>
            <Visible text={cutText(name, 200)} />:{' '}
          </strong>
        )}
        <Visible text={shown} />
      </p>
      {isLong && !isWhole && (
        <Button onClick={() => setIsWhole(true)}>{message.length - short.length} more characters</Button>
      )}
      {code !== undefined && <code className="mute">{code}</code>}
      {!isShort && fields !== undefined && <Fields fields={fields} />}
      {!isShort && cause !== undefined && <Cause cause={cause as ErrorCause} />}
      {!isShort && stack !== undefined && <Stack error={{ ...error, stack }} />}
    </div>
  )
}

function Fields({ fields }: { fields: ErrorFields }) {
  return (
    <dl className={css.fields}>
      {Object.entries(fields).map(([name, value]) => (
        <div key={name}>
          <dt>
            <Visible text={name} />
          </dt>
          <dd>
            <Visible text={String(value)} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A cause, and its own causes inside it. */
function Cause({ cause: { message, name = 'Error', code, fields, cause } }: { cause: ErrorCause }) {
  return (
    <div className={css.cause}>
      <p>
        Caused by{' '}
        <strong>
          <Visible text={name} />
        </strong>
        : <Visible text={message} /> {code !== undefined && <code className="mute">{code}</code>}
      </p>
      {fields !== undefined && <Fields fields={fields} />}
      {cause !== undefined && <Cause cause={cause} />}
    </div>
  )
}

function Stack({ error }: { error: Parameters<typeof orderedStack>[0] }) {
  const { own, others } = orderedStack(error)
  if (own.length === 0) return null
  return (
    <div className={css.stack}>
      <div className={css.own}>
        <pre>
          <Visible text={own.join('\n')} />
        </pre>
        <CopyButton text={error.stack} label="Copy stack" />
      </div>
      {others.length > 0 && (
        <details>
          <summary>
            {others.length} library {others.length === 1 ? 'frame' : 'frames'}
          </summary>
          <pre>
            <Visible text={others.join('\n')} />
          </pre>
        </details>
      )}
    </div>
  )
}
