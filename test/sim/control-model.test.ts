// Control actions in any order and at any moment: random histories, 500 of them or with `npm run test:night` 2,000, in
// which the engine and a reference model must agree after every step. `PERDURE_SEED=n` plays other histories,
// `PERDURE_SEEDS=10000` plays more. A failure prints its seed and the shortest failing history.

import { assert, asyncProperty, commands as histories } from 'fast-check'
import { it } from 'vitest'
import { isNight } from '../part.ts'
import { commands, play } from './control/commands.ts'
import { ControlledEngine } from './control/controlled-engine.ts'

const HISTORIES_DEFAULT = isNight ? 2000 : 500
const numRuns = Number(process.env.PERDURE_SEEDS ?? HISTORIES_DEFAULT)
const seed = Number(process.env.PERDURE_SEED ?? 1)

it(`control does as its model says in ${numRuns} histories`, {
  timeout: 180_000 + numRuns * 100,
}, async () => {
  const began = performance.now()
  let engine: ControlledEngine | undefined
  const property = asyncProperty(histories(commands, { maxCommands: 24, size: 'max' }), async history => {
    if (!(await engine?.next())) {
      await engine?.stop()
      engine = await ControlledEngine.open()
      await engine.next()
    }
    try {
      await play(history, engine as ControlledEngine)
    } catch (error) {
      // The failed history may have left anything behind.
      await engine?.stop()
      engine = undefined
      throw error
    }
  })
  await assert(property, { numRuns, seed })
  await engine?.stop()
  console.info(`${numRuns} histories in ${((performance.now() - began) / 1000).toFixed(1)} s`)
})
