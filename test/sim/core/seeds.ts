// Which random histories a test plays. `PERDURE_SEED=n` plays one, `PERDURE_SEEDS=n` the first n.

import { isNight } from '../../part.ts'

const ONE = process.env.PERDURE_SEED

/** Whether one history is played again. It does not need to show everything that the histories of a test show together. */
export const isOneSeed = ONE !== undefined

/** The seeds of a test's histories: by default `nightly` seeds at night, and a third of them otherwise. */
export function seedsOf(nightly: number): readonly number[] {
  if (ONE !== undefined) return [Number(ONE)]
  const usual = isNight ? nightly : Math.ceil(nightly / 3)
  return Array.from({ length: Number(process.env.PERDURE_SEEDS ?? usual) }, (_, i) => i + 1)
}
