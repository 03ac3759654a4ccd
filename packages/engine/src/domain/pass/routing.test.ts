// Which runner takes a pass (docs/wire-protocol.md#routing).

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { run, runner } from '../testkit/nouns.testkit.ts'
import { type Route, type RouteInput, route } from './routing.ts'

const [a, b, c] = [runner('a'), runner('b'), runner('c')]
const knowsOther = runner('other', { workflows: ['another'] })

function to(input: Partial<RouteInput>): string {
  const chosen: Route = route({
    run: run(),
    runners: [a, b, c],
    isLive: () => true,
    isAvoided: () => false,
    random: 0,
    ...input,
  })
  return chosen.kind === 'runner' ? chosen.runner.runnerId : chosen.kind
}

describe('an anycast run', () => {
  it('goes to one of the live runners at random', () => {
    expect([0, 0.34, 0.67, 0.999_999].map(random => to({ random }))).toEqual(['a', 'b', 'c', 'c'])
    expect([0, 0.5].map(random => to({ random, isLive: runner => runner !== a }))).toEqual(['b', 'c'])
  })

  it('goes to one with room, and to any when none has', () => {
    expect([0, 0.99].map(random => to({ random, hasRoom: runner => runner === b }))).toEqual(['b', 'b'])
    expect([0, 0.99].map(random => to({ random, hasRoom: () => false }))).toEqual(['a', 'c'])
    expect(to({ hasRoom: runner => runner === b, isLive: runner => runner === c })).toBe('c')
  })

  it('is held when those that know its workflow refused: the others would reject it for good', () => {
    expect(to({ runners: [knowsOther, b], isAvoided: runner => runner === b })).toBe('none')
  })

  it.each([[[]], [[knowsOther]], [[knowsOther, runner('third', { workflows: [] })]]])(
    'is held when none of the runners %j knows its workflow',
    runners => expect(to({ runners })).toBe('none'),
  )

  it('goes to a stale runner that knows its workflow, and to no live one that does not', () => {
    expect(to({ runners: [knowsOther, b], isLive: runner => runner === knowsOther })).toBe('b')
  })

  it('always goes to a registered runner that knows its workflow and is not avoided', () => {
    const runners = fc.array(
      fc.record({ id: fc.string(), live: fc.boolean(), avoided: fc.boolean(), knows: fc.boolean() }),
    )
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(runners, random, (specs, random) => {
        const runners = specs.map(({ id, knows }) => runner(id, { workflows: knows ? ['order'] : [] }))
        const spec = (of: (typeof runners)[number]) => specs[runners.indexOf(of)]
        const chosen = route({
          run: run(),
          runners,
          random,
          isLive: runner => spec(runner)?.live === true,
          isAvoided: runner => spec(runner)?.avoided === true,
        })
        if (chosen.kind === 'runner') expect(spec(chosen.runner)).toMatchObject({ avoided: false, knows: true })
        else expect(specs.every(({ avoided, knows }) => avoided || !knows)).toBe(true)
      }),
    )
  })
})

describe('a pinned run', () => {
  const pinned = { run: run({ runner: 'b' }) }

  it('goes to that runner only, live or not', () => {
    expect(to(pinned)).toBe('b')
    expect(to({ ...pinned, isLive: () => false })).toBe('b')
  })

  it('is held while it does not know the workflow, also when another does', () => {
    expect(to({ run: run({ runner: 'other' }), runners: [a, knowsOther] })).toBe('none')
    expect(to({ run: run({ runner: 'other' }), runners: [knowsOther] })).toBe('none')
  })

  it('is held while it refuses', () => {
    expect(to({ ...pinned, isAvoided: runner => runner === b })).toBe('none')
  })

  it('has nowhere to go when it is not registered', () => {
    expect(to({ ...pinned, runners: [a, c] })).toBe('pinMissing')
    expect(to({ run: run({ runner: '' }), runners: [a] })).toBe('pinMissing')
  })
})
