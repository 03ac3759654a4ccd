// An error of a run or step: its message, and its stack with the frames of the user's own code first. Nothing in it
// becomes a link.

import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/overlay/copy.tsx'
import { Visible } from '../../../ui/visible.tsx'
import css from './error-text.module.css'
import { orderedStack } from './stack.ts'

const MESSAGE_CHARS = 2048

export interface ErrorTextProps {
  error: { message: string; name?: string | undefined; code?: string | undefined; stack?: string | undefined }
  isShort?: boolean
}

export function ErrorText({ error, isShort = false }: ErrorTextProps) {
  const [isWhole, setIsWhole] = useState(false)
  const { message, name, code, stack } = error
  const isLong = message.length > MESSAGE_CHARS
  const shown = isLong && !isWhole ? message.slice(0, MESSAGE_CHARS) : message
  return (
    <div className={css.error}>
      <p className={css.message}>
        {name !== undefined && (
          <strong>
            <Visible text={name.slice(0, 200)} />:{' '}
          </strong>
        )}
        <Visible text={shown} />
      </p>
      {isLong && !isWhole && (
        <Button onClick={() => setIsWhole(true)}>{message.length - MESSAGE_CHARS} more characters</Button>
      )}
      {code !== undefined && <code className={css.code}>{code}</code>}
      {!isShort && stack !== undefined && <Stack error={{ ...error, stack }} />}
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
        <CopyButton text={error.stack} label="Copy the stack" />
      </div>
      {others.length > 0 && (
        <details>
          <summary>
            {others.length} {others.length === 1 ? 'frame' : 'frames'} of libraries
          </summary>
          <pre>
            <Visible text={others.join('\n')} />
          </pre>
        </details>
      )}
    </div>
  )
}
