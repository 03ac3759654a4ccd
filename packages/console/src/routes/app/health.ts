// The health of an app in one sentence: the first problem of its runners, its workflows and its runs, or that there is none. Pure.

import { disagreements, type Serving } from '../runners/disagreements.ts'
import { keyOf, serversOf } from '../workflows/served.ts'

/** The statistics of a workflow that matter here. */
export interface Ends {
  succeeded: number
  failed: number
  heldBy: Readonly<Record<string, number>>
}

export interface AppFacts {
  workflows: readonly { app: string; name: string; pausedAt?: string }[]
  runners: readonly Serving[]
  /** By workflow, in the page's window. */
  stats: readonly Ends[]
}

export interface Health {
  /** The status whose glyph and colour the sentence has. */
  status: 'succeeded' | 'waiting' | 'failed'
  word: 'healthy' | 'degraded' | 'down'
  sentence: string
}

/** Above this share of failed runs the app is degraded. */
const FAILED_SHARE_MAX = 0.1
/** Maximum number of workflows that a sentence names. */
const NAMES_MAX = 3

const down = (sentence: string): Health => ({ status: 'failed', word: 'down', sentence })
const degraded = (sentence: string): Health => ({ status: 'waiting', word: 'degraded', sentence })

/** The most serious problem counts. */
export function healthOf(facts: AppFacts): Health {
  return (
    withoutRunner(facts) ??
    withoutServers(facts) ??
    withFailures(facts) ??
    withDisagreements(facts) ??
    withSilence(facts) ??
    withPauses(facts) ?? { status: 'succeeded', word: 'healthy', sentence: healthySentence(facts) }
  )
}

function withoutRunner({ workflows, runners, stats }: AppFacts): Health | undefined {
  if (workflows.length === 0) return degraded('No workflow is registered.')
  if (runners.some(({ live }) => live)) return undefined
  const waiting = stats.reduce((sum, { heldBy }) => sum + (heldBy.runner ?? 0), 0)
  if (waiting === 0) return down('No runner is live.')
  return down(`No runner is live, and ${waiting} ${waiting === 1 ? 'run waits' : 'runs wait'} for one.`)
}

function withoutServers({ workflows, runners }: AppFacts): Health | undefined {
  const servers = serversOf(runners)
  const missing = workflows.filter(workflow => !servers.has(keyOf(workflow)))
  if (missing.length === 0) return undefined
  const named = missing.slice(0, NAMES_MAX).map(({ name }) => name)
  const others = missing.length - named.length
  const names = [...named, ...(others > 0 ? [`${others} others`] : [])].join(', ')
  return degraded(`${partOf(missing.length, workflows.length, 'workflow')} no live runner: ${names}.`)
}

function withFailures({ stats }: AppFacts): Health | undefined {
  const { failed, ended } = endsOf(stats)
  if (ended === 0 || failed / ended < FAILED_SHARE_MAX) return undefined
  return degraded(`${failed} of the ${count(ended, 'run')} that ended in this window failed.`)
}

function withDisagreements({ runners }: AppFacts): Health | undefined {
  const names = disagreements(runners).map(({ workflow }) => workflow)
  if (names.length === 0) return undefined
  const shown = names.length > NAMES_MAX ? count(names.length, 'workflow') : names.join(', ')
  return degraded(`Live runners disagree on the definition of ${shown}.`)
}

function withSilence({ runners }: AppFacts): Health | undefined {
  const silent = runners.filter(({ live }) => !live).length
  if (silent === 0) return undefined
  return degraded(`${silent} of ${count(runners.length, 'runner')} ${silent === 1 ? 'is' : 'are'} not live.`)
}

function withPauses({ workflows }: AppFacts): Health | undefined {
  const paused = workflows.filter(({ pausedAt }) => pausedAt !== undefined).length
  if (paused === 0) return undefined
  return degraded(`${paused} of ${count(workflows.length, 'workflow')} ${paused === 1 ? 'is' : 'are'} paused.`)
}

function healthySentence({ workflows, runners, stats }: AppFacts): string {
  const { failed, ended } = endsOf(stats)
  const served = workflows.length === 1 ? 'The workflow has' : `All ${workflows.length} workflows have`
  const runs = ended === 0 ? 'no runs ended' : `${failed === 0 ? 'none' : failed} of ${count(ended, 'run')} failed`
  return `${served} a live runner (${runners.length} in total), and ${runs} in this window.`
}

function endsOf(stats: readonly Ends[]): { failed: number; ended: number } {
  const failed = stats.reduce((sum, each) => sum + each.failed, 0)
  return { failed, ended: stats.reduce((sum, each) => sum + each.succeeded, failed) }
}

const count = (number: number, what: string) => `${number} ${number === 1 ? what : `${what}s`}`

const partOf = (part: number, all: number, what: string) =>
  `${part} of ${count(all, what)} ${part === 1 ? 'has' : 'have'}`
