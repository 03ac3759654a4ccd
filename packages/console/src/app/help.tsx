// The page of shortcuts that `?` opens: all that work on this page, and the switch for single letters.

import { useState } from 'react'
import { groupsOf, keyText } from '../keys/help-text.ts'
import { areLettersOff, shortcutsNow, switchLetters } from '../keys/keys.ts'
import { Dialog } from '../ui/overlay/dialog.tsx'
import styles from './palette.module.css'

export default function Help({ onClose }: { onClose(): void }) {
  const [isOff, setOff] = useState(areLettersOff)
  const change = () => {
    switchLetters(!isOff)
    setOff(!isOff)
  }
  return (
    <Dialog title="Keyboard" onClose={onClose} isWide>
      <label className={styles.switch}>
        <input type="checkbox" checked={!isOff} onChange={change} /> Single-letter shortcuts
      </label>
      <div className={styles.groups}>
        {groupsOf(shortcutsNow()).map(({ group, shortcuts }) => (
          <section key={group}>
            <h2>{group}</h2>
            <dl className={styles.shortcuts}>
              {shortcuts.map(({ keys, label }) => (
                <div key={keys}>
                  <dt>
                    <kbd>{keyText(keys)}</kbd>
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
