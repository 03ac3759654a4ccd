// The run as the engine answers it: run, steps and frames as JSON, to read, copy and save.

import { useState } from 'react'
import { sourceOf } from '../../../data/json/parse.ts'
import { Button } from '../../../ui/button.tsx'
import { JsonTree } from '../../../ui/json/json-tree.tsx'
import type { RunView } from '../model/use-run.ts'
import { saveJson } from './save.ts'
import css from './tabs.module.css'

const PARTS = ['run', 'steps', 'frames'] as const

/** The run and its parts as one document, which the page of bundles reads. */
function bundleText({ run, steps, frames }: RunView): string {
  return `{"perdure-bundle":1,"run":${sourceOf(run)},"steps":${sourceOf(steps)},"timeline":${sourceOf(frames)}}`
}

export function RawTab({ view }: { view: RunView }) {
  const [part, setPart] = useState<(typeof PARTS)[number]>('run')
  const text = sourceOf(view[part])
  return (
    <div className={css.tab}>
      <div className={css.tools} role="toolbar" aria-label="Raw data">
        {PARTS.map(name => (
          <Button key={name} aria-pressed={name === part} onClick={() => setPart(name)}>
            {name}
          </Button>
        ))}
        <Button onClick={() => saveJson(`perdure-${part}.json`, text)}>Save</Button>
        <Button onClick={() => saveJson('perdure-bundle.json', bundleText(view))}>Save as a bundle</Button>
      </div>
      <JsonTree key={part} text={text} label={part} />
    </div>
  )
}
