// The sentences about schedules: one for each that is late or has missed instants, with the cause if it is known.

import type { Item } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { clockText, exactTime } from '../../ui/time.ts'
import { shortName } from '../../ui/visible-text.ts'
import { causeWords, countWords } from '../schedules/words.ts'
import { type Look, type LookWindow, shortened } from './looks.tsx'

const LATE_MS = 60_000

type Schedule = Item<'listSchedules'>

/** `soonest` begins with the late ones. `areMore`: there are more schedules than these. */
export function scheduleLooks(
  { soonest, missed, areMore }: { soonest: readonly Schedule[]; missed: readonly Schedule[]; areMore: boolean },
  { window: { until = '~' }, from = '' }: LookWindow,
): Look[] {
  const late = soonest.filter(({ lateMs = 0 }) => lateMs >= LATE_MS)
  const inWindow = missed.filter(each => each.missed && each.missed.until >= from && each.missed.until < until)
  const all = new Map([...late, ...inWindow].map(schedule => [schedule.id, schedule]))
  const looks = [...all.values()].map(schedule => ({
    key: `schedule ${schedule.id}`,
    sentence: <Sentence of={schedule} hasMissed={inWindow.includes(schedule) || inWindow.some(is(schedule))} />,
  }))
  const isEnd = !areMore || late.length < soonest.length
  return shortened(looks, count => (
    <>
      <Link target={{ to: 'schedules', query: { state: late.length > 0 ? 'late' : 'missed' } }}>
        {count}
        {isEnd ? '' : ' or more'} other {count === 1 ? 'schedule' : 'schedules'}
      </Link>{' '}
      {count === 1 ? 'is' : 'are'} late or missed a run
    </>
  ))
}

/** Names a single missed run by its time, and several by their number and the latest. */
function Missed({ gap }: { gap: NonNullable<Schedule['missed']> }) {
  if (gap.count !== 1)
    return (
      <>
        {countWords(gap)}, most recently <Moment at={gap.until} />
      </>
    )
  const atMs = Date.parse(gap.until)
  return (
    <>
      its <time title={exactTime(atMs)}>{clockText(atMs, Date.now())}</time> run
    </>
  )
}

const is = (schedule: Schedule) => (other: Schedule) => other.id === schedule.id

function Sentence({ of: { id, app, workflow, lateMs = 0, missed }, hasMissed }: { of: Schedule; hasMissed: boolean }) {
  const isLate = lateMs >= LATE_MS
  const state = isLate ? 'late' : 'missed'
  const earlier = missed?.earlier?.length ?? 0
  return (
    <>
      Schedule <Link target={{ to: 'schedules', query: { state, app, workflow } }}>{shortName(workflow ?? id)}</Link>
      {isLate && ` is ${durationText(lateMs)} late`}
      {isLate && hasMissed && ', and'}
      {hasMissed && missed && (
        <>
          {' '}
          missed <Missed gap={missed} />
          {causeWords(missed)}
          {earlier > 0 && `; ${earlier} earlier ${earlier === 1 ? 'gap' : 'gaps'}`}
        </>
      )}
    </>
  )
}
