// Random histories of passes and outsiders: the invariants of `world.testkit.ts` hold in every order.

import fc from 'fast-check'
import { it } from 'vitest'
import {
  brokeOff,
  emits,
  ran,
  rejected,
  reported,
  returned,
  runsChild,
  sends,
  sleeps,
  sleepsUntil,
  threw,
  waitsFor,
} from '../testkit/nouns.testkit.ts'
import { type Control, World } from '../testkit/world.testkit.ts'
import type { Outcome, Reported } from './answer/outcome.ts'
import { giveBack, holdForRunner } from './begin.ts'
import type { PassOpcode } from './opcodes/opcode.ts'

const opcode: fc.Arbitrary<PassOpcode> = fc.nat({ max: 30 }).chain(number => {
  const name = `step ${number}`
  return fc.constantFrom(
    ran(name, '1'),
    threw(name),
    threw(name, { retriable: false, catchable: true }),
    threw(name, { retryAfterMs: 0 }),
    sleeps(name, 20),
    sleepsUntil(name, 0),
    waitsFor(name, 'paid'),
    waitsFor(name, 'paid', { timeoutMs: 30 }),
    runsChild(name, 'pack'),
    emits(name, 'paid'),
    sends(name, 'https://partner.test/'),
  )
})
const news = fc.array(opcode, { minLength: 1, maxLength: 4 }).map(opcodes => reported(...opcodes))
const end = fc.constantFrom(returned('1'), rejected, reported(threw('last', { retriable: false })))
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const control = fc.constantFrom<Control>('pause', 'resume', 'resume', 'resume')

type Action = (world: World) => void
const always = (...actions: Action[]): fc.Arbitrary<Action> => fc.constantFrom(...actions)
const map = <T>(values: fc.Arbitrary<T>, act: (world: World, value: T) => void): fc.Arbitrary<Action> =>
  values.map(value => world => act(world, value))
const answers = (outcome: fc.Arbitrary<Outcome>) =>
  map(fc.tuple(outcome, random), (world, [outcome, random]) => world.answer(outcome, random))

const checkpoints = map(fc.tuple(news, random), (world, [reported, random]) =>
  world.checkpoint(reported as Reported, random),
)

const goingOn = fc.oneof(
  { weight: 8, arbitrary: checkpoints },
  { weight: 20, arbitrary: answers(news) },
  { weight: 2, arbitrary: answers(fc.constantFrom(brokeOff, reported())) },
  { weight: 16, arbitrary: always(world => world.lease('runner')) },
  { weight: 1, arbitrary: always(world => world.lease('none')) },
  { weight: 4, arbitrary: map(fc.nat({ max: 40_000 }), (world, ms) => world.later(ms)) },
  { weight: 6, arbitrary: map(fc.nat({ max: 20 }), (world, index) => world.wake(index)) },
  { weight: 5, arbitrary: map(control, (world, control) => world.outsider(control)) },
  {
    weight: 4,
    arbitrary: always(
      world => world.letGo(holdForRunner),
      world => world.letGo(giveBack),
      world => world.crash(),
    ),
  },
)
const ending = fc.oneof(
  answers(end),
  always(world => world.outsider('cancel')),
  always(world => world.requestCancel()),
)
const overtaken = fc
  .tuple(fc.constantFrom<Control>('cancel', 'pause', 'resume'), fc.oneof(answers(news), answers(end), goingOn))
  .map(
    ([control, meanwhile]): Action =>
      world =>
        world.overtaken(control, meanwhile),
  )

const story = fc
  .tuple(
    fc.array(goingOn, { minLength: 2, maxLength: 30, size: 'max' }),
    fc.oneof(overtaken, ending),
    fc.array(fc.oneof({ weight: 9, arbitrary: goingOn }, overtaken, ending), { maxLength: 15, size: 'max' }),
  )
  .map(([before, turn, after]) => [...before, turn, ...after])

it('a terminal status and a settled step never change, seqs strictly rise, and every live run has a reason to wake', () => {
  fc.assert(
    fc.property(story, actions => {
      const world = new World()
      for (const act of actions) act(world)
    }),
    { numRuns: 600 },
  )
})
