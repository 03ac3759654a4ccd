// A JSON value as a tree: numbers with every digit, keys as they were sent, large values folded. Everything is text; nothing in a
// value becomes a link.

import { cutText } from '@perdure/protocol/portable'
import { lazy, Suspense, useMemo, useState } from 'react'
import { Button } from '../button.tsx'
import { copyText } from '../overlay/copy.tsx'
import { CopyIcon } from '../overlay/copy-icon.tsx'
import { useVeil } from '../veil.ts'
import { Visible } from '../visible.tsx'
import css from './json-tree.module.css'
import type { JsonNode } from './parse.ts'
import { printJson } from './print.ts'
import { treeRows } from './rows.ts'
import { FIRST_STATE, TEXT_STEP_CHARS, TreeView } from './tree-view.tsx'
import { LARGE_CHARS, readJson, veiledText } from './veil-json.ts'

const WorkerTree = lazy(() => import('./worker-tree.tsx'))

export interface JsonTreeProps {
  /** JSON text, as it was sent. */
  text: string
  /** Names the value for screen readers: "input". */
  label: string
  /** Whether it is shown even while payloads are hidden. */
  isPublic?: boolean
}

/** Shows a JSON text. A text that is not JSON is shown as it is. */
export function JsonTree({ text, label, isPublic = false }: JsonTreeProps) {
  const isVeiled = useVeil().isHidden && !isPublic
  const isLarge = text.length > LARGE_CHARS
  const [wantsTree, setWantsTree] = useState(false)
  const node = useMemo(() => (isLarge ? undefined : readJson(text, isVeiled)), [text, isLarge, isVeiled])
  const asText = <LongText text={isVeiled ? veiledText(text) : text} />
  return (
    <div className={css.json}>
      <div className={css.tools}>
        {isLarge && !wantsTree && <Button onClick={() => setWantsTree(true)}>Show as a tree</Button>}
        <Button
          kind="bare"
          aria-label={`Copy ${label}`}
          title={`Copy ${label}`}
          onClick={() => void copyText(node ? printJson(node) : isVeiled ? veiledText(text) : text)}
        >
          <CopyIcon />
        </Button>
      </div>
      {isLarge && wantsTree ? (
        <Suspense fallback={asText}>
          <WorkerTree key={text} text={text} isVeiled={isVeiled} label={label} instead={asText} />
        </Suspense>
      ) : node ? (
        <Tree key={text} root={node} label={label} />
      ) : (
        asText
      )}
    </div>
  )
}

function Tree({ root, label }: { root: JsonNode; label: string }) {
  const [state, setState] = useState(FIRST_STATE)
  const rows = useMemo(() => treeRows(root, state), [root, state])
  return <TreeView rows={rows} label={label} setState={setState} />
}

/** Shows a text that is too long for a page in parts. */
function LongText({ text }: { text: string }) {
  const [shown, setShown] = useState(16 * 1024)
  return (
    <div>
      <pre className={css.text}>
        <Visible text={cutText(text, shown)} />
      </pre>
      {shown < text.length && (
        <button type="button" onClick={() => setShown(shown + TEXT_STEP_CHARS)}>
          {text.length - shown} more characters
        </button>
      )}
    </div>
  )
}
