// Which part of the tests runs, by `PERDURE_TESTS`: `gate` (`npm test`), `rest` (`npm run test:rest`), or `night`
// (`npm run test:night`), which runs all of them with larger counts. Without it all run.

const given = process.env.PERDURE_TESTS
const PARTS = ['gate', 'rest', 'night', undefined] as const

export const part = PARTS.find(each => each === given)
if (part !== given) throw new Error(`PERDURE_TESTS must be gate, rest or night, and is "${given}"`)

export const isNight = part === 'night'

/**
 * The seed of tests that choose at random, which they print: `PERDURE_SEED`, or else the same seed in each run except those of
 * the night.
 */
export const SEED = Number(process.env.PERDURE_SEED ?? (isNight ? Date.now() % 1_000_000 : 1))
