// The parts that a seed uses besides plain workflows: each seed draws its own, so that common histories do not change and some
// have all extras at once.

import { Rng } from './random.ts'

/**
 * `cleanup`: steps have rollbacks. `slots`: workflows keep slots. `links`: runs continue as others. `settles`: a caller settles
 * steps by hand. `runWaits`: steps wait for other runs. `budgets`: runs have budgets. `signals`: steps wait for signals, which a
 * caller sends. `starts`: steps and a caller start runs directly, mostly with a key. `singletons`: workflows are singletons.
 * `limits`: steps share a limit of their app. `streams`: steps write to output streams, which readers follow.
 */
export const EXTRAS = [
  'cleanup',
  'slots',
  'links',
  'settles',
  'runWaits',
  'budgets',
  'signals',
  'starts',
  'singletons',
  'limits',
  'streams',
] as const
export type Extra = (typeof EXTRAS)[number]

/** `always`: extras that every seed has. */
export function extrasOf(seed: number, off: ReadonlySet<string>, always: readonly Extra[] = []): ReadonlySet<Extra> {
  const draw = new Rng(seed, 'extras')
  // Four seeds of ten have none.
  const share = draw.chance(0.4) ? 0 : draw.next()
  const drawn = EXTRAS.filter(() => draw.chance(share))
  return new Set(EXTRAS.filter(extra => always.includes(extra) || (drawn.includes(extra) && !off.has(extra))))
}

const FEATURES: Partial<Record<Extra, readonly string[]>> = {
  cleanup: ['cleanup'],
  links: ['continue-as'],
  runWaits: ['wait-for-run'],
  budgets: ['budgets', 'memo-attempt'],
  signals: ['signals'],
  starts: ['start-run'],
  limits: ['step-limits'],
  streams: ['streams'],
}

/** The protocol features that the seed's runners name for its extras. */
export function featuresOf(extras: ReadonlySet<Extra>): string[] {
  return [...extras].flatMap(extra => FEATURES[extra] ?? [])
}
