// The run in the form of the engine's answers: run, steps and frames as JSON, to read, copy and save; and the run as a bundle.

import { useMemo, useState } from 'react'
import { sourceOf } from '../../../data/json/parse.ts'
import { readClient } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { JsonTree } from '../../../ui/json/json-tree.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { Waiting } from '../../../ui/states/loaded.tsx'
import { useStepsWithResults } from '../model/steps.ts'
import type { RunView } from '../model/use-run.ts'
import { saveJson } from './save.ts'
import css from './tabs.module.css'

const PARTS = ['run', 'steps', 'frames'] as const
/** How long the engine may take to write a long bundle. */
const BUNDLE_MS_MAX = 150_000

/** Returns the engine's bundle. For a run from a file: the part that is shown. */
async function bundleText({ run, steps, frames, isBundle }: RunView, payloads: '0' | '1'): Promise<string> {
  if (isBundle)
    return `{"perdure-bundle":1,"run":${sourceOf(run)},"steps":${sourceOf(steps)},"timeline":${sourceOf(frames)}}`
  return sourceOf(await readClient().getRunBundle({ id: run.id, payloads }, { timeoutMs: BUNDLE_MS_MAX }))
}

export function RawTab({ view }: { view: RunView }) {
  const [part, setPart] = useState<(typeof PARTS)[number]>('run')
  const { data } = useStepsWithResults(view.run.id, !view.isBundle && part === 'steps')
  const steps = view.isBundle ? view.steps : data
  const value = part === 'steps' ? steps : view[part]
  const text = useMemo(() => (value === undefined ? undefined : sourceOf(value)), [value])
  const [isBusy, setBusy] = useState(false)
  const saveBundle = async (payloads: '0' | '1') => {
    setBusy(true)
    try {
      saveJson('perdure-bundle.json', await bundleText(view, payloads))
    } catch (error) {
      toast(`The bundle was not saved: ${(error as Error).message}`, { isError: true })
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className={css.tab}>
      <div className={css.tools} role="toolbar" aria-label="Raw data">
        {PARTS.map(name => (
          <Button key={name} aria-pressed={name === part} onClick={() => setPart(name)}>
            {name}
          </Button>
        ))}
        {text !== undefined && <Button onClick={() => saveJson(`perdure-${part}.json`, text)}>Save</Button>}
        <Button disabledBecause={isBusy ? 'Written by the engine' : undefined} onClick={() => void saveBundle('1')}>
          Save bundle
        </Button>
        {!view.isBundle && (
          <Button disabledBecause={isBusy ? 'Written by the engine' : undefined} onClick={() => void saveBundle('0')}>
            Save without payloads
          </Button>
        )}
      </div>
      {text === undefined ? <Waiting /> : <JsonTree key={part} text={text} label={part} />}
    </div>
  )
}
