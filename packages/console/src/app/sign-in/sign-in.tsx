// The page that asks for a key: at the start, for a namespace without a session, and above a page whose session has ended.

import { useEffect, useRef, useState } from 'react'
import { navigate } from '../../router/history.ts'
import { Link, useLocation } from '../../router/router.tsx'
import { buildUrl } from '../../router/routes.ts'
import { signIn, unlock, useSession } from '../../session/session.ts'
import { Polite } from '../../ui/overlay/polite.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Snippet } from '../../ui/states/empty.tsx'
import { KeyForm } from './key-form.tsx'
import styles from './sign-in.module.css'

const TITLE = 'Sign in · Perdure'

export default function SignIn() {
  const { notice, namespace } = useSession()
  const { match } = useLocation()
  const [other, setOther] = useState<string>()
  const heading = useRef<HTMLHeadingElement>(null)
  const unlocks = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const before = document.title
    document.title = TITLE
    document.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => {
      // A page that was frozen continues; its title may have changed in the meantime.
      if (document.title === TITLE) document.title = before
      document.querySelector<HTMLElement>('[data-page] h1')?.focus({ preventScroll: true })
    }
  }, [])
  const enter = async (key: string) => {
    // The form disappears with the sign-in.
    const isUnlocking = unlocks.current?.checked
    const opened = await signIn({ key })
    if (opened === namespace) return isUnlocking ? unlockToo(key) : undefined
    if (match.kind !== 'page') return navigate(buildUrl(opened, 'runs', {}), { replace: true })
    setOther(opened)
    throw new Error(`This key is for the namespace ${opened}, not ${namespace}.`)
  }
  return (
    <div className={styles.screen}>
      <div className={styles.card}>
        <h1 ref={heading}>Sign in to {namespace}</h1>
        {notice !== undefined && (
          <p>
            <Polite text={notice} />
          </p>
        )}
        <KeyForm label="API key" action="Sign in" onKey={enter}>
          <label className={styles.unlocks}>
            <input ref={unlocks} type="checkbox" /> Unlock actions for 15 minutes (secret key)
          </label>
        </KeyForm>
        {other !== undefined && (
          <p>
            <Link target={{ to: 'runs', namespace: other }}>Switch to "{other}"</Link>
          </p>
        )}
        <p>
          A <code>read</code> or <code>secret</code> key. It is exchanged for a read-only session in this tab, valid for
          12 hours; the key itself is not stored. On the engine's machine, this command signs in:
        </p>
        <Snippet text="perdure console" />
      </div>
    </div>
  )
}

/** Does not ask a signed-in user for the key again: without the right to act, the actions stay locked. */
async function unlockToo(key: string): Promise<void> {
  try {
    await unlock(key)
  } catch (error) {
    toast(`You are signed in. Actions stay locked: ${(error as Error).message}`, { isError: true })
  }
}
